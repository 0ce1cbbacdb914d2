"""DSPy's JSON adapter: a signature with one output field for each property, ``JSONAdapter().parse``."""

import json
from functools import partial

import dspy
from dspy.utils.exceptions import AdapterParseError
from loop import RefusedError, serve
from pydantic import PydanticUserError, ValidationError

from benchmarks.signatures import ABSENT, Annotator, UnsupportedError, bounded, make_model, plain

ADAPTER = dspy.JSONAdapter()


def build(schemas, _request):
    """Return calls with one signature per schema."""
    return [partial(_call, _signature(schema)) for schema in schemas]


def _signature(schema):
    annotations = Annotator(schema, make_model, bounded).fields(schema, "value")
    required = schema.get("required", ())
    if not annotations:
        raise UnsupportedError("no declared property")
    fields = {}
    for name, node in schema["properties"].items():
        optional = {} if name in required else {"default": node.get("default", ABSENT)}
        fields[name] = (annotations[name], dspy.OutputField(**optional))
    try:
        return dspy.make_signature({"asked_of_the_model": (str, dspy.InputField()), **fields})
    except (ValueError, TypeError, NameError, PydanticUserError) as error:
        raise UnsupportedError(str(error)) from error


def _call(signature, arguments):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    try:
        return ADAPTER.parse(signature, text)
    except (AdapterParseError, ValidationError, ValueError, TypeError, SyntaxError, RecursionError):
        raise RefusedError from None


if __name__ == "__main__":
    serve(build, plain, ("dspy",))
