"""json_repair with a schema: ``json_repair.loads(text, schema=schema)``."""

import json
from functools import partial

import json_repair
from loop import RefusedError, serve


def build(schemas, _request):
    """Return calls with one partial per schema."""
    return [partial(_call, schema) for schema in schemas]


def _call(schema, arguments):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    try:
        value = json_repair.loads(text, schema=schema)
    except ValueError:  # its error for a text that does not fit the schema
        raise RefusedError from None
    if not isinstance(value, dict):
        raise RefusedError
    return value


if __name__ == "__main__":
    serve(build, dict, ("json_repair", "jsonschema"))
