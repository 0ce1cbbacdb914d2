"""msgspec in its lax mode: a Struct from the schema, ``msgspec.convert(..., strict=False)``."""

from functools import partial
from typing import Annotated

import msgspec
from loop import RefusedError, serve

from benchmarks.signatures import Annotator, UnsupportedError, hidden


def _bounded(annotation, bounds):
    return Annotated[annotation, msgspec.Meta(**bounds)]


def _struct(name, fields, required, defaults, closed):
    if not closed:
        raise UnsupportedError("a Struct with further keys")
    aliased = {key: f"field_{at}" for at, key in enumerate(fields) if hidden(key)}
    made = []
    for key, annotation in fields.items():
        field = aliased.get(key, key)
        if key in required:
            made.append((field, annotation))
        elif key in defaults:
            made.append((field, annotation, msgspec.field(default=defaults[key])))
        else:
            made.append((field, annotation | msgspec.UnsetType, msgspec.field(default=msgspec.UNSET)))
    rename = {field: key for key, field in aliased.items()}
    return msgspec.defstruct(name, made, forbid_unknown_fields=True, kw_only=True, rename=rename or None)


def build(schemas, _request):
    """Return calls with one Struct per schema."""
    calls = []
    for schema in schemas:
        kind = Annotator(schema, _struct, _bounded).annotation(schema, "value")
        try:
            msgspec.convert({}, kind, strict=False)
        except msgspec.ValidationError:
            pass
        except TypeError as error:  # a union whose branches msgspec cannot distinguish
            raise UnsupportedError(str(error)) from error
        calls.append(partial(_call, kind))
    return calls


def _call(kind, arguments):
    try:
        return msgspec.convert(arguments, kind, strict=False)
    except msgspec.ValidationError:
        raise RefusedError from None


if __name__ == "__main__":
    serve(build, msgspec.to_builtins, ("msgspec",))
