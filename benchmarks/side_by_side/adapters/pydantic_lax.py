"""Pydantic in its default, lax mode: a model from the schema, ``model_validate``."""

from functools import partial

from loop import RefusedError, UnsupportedError, serve
from pydantic import ValidationError
from pydantic_types import bounded, make_model, plain
from python_types import Annotator


def build(schemas, request):
    """Return calls with one model per schema."""
    if request.get("declared"):
        msg = "aliases and keys to drop"
        raise UnsupportedError(msg)
    return [partial(_call, _model(schema).model_validate) for schema in schemas]


def _model(schema):
    annotation = Annotator({**schema}, make_model, bounded).annotation(schema, "value")
    if not hasattr(annotation, "model_validate"):
        msg = "no declared property"
        raise UnsupportedError(msg)
    return annotation


def _call(validate, arguments):
    try:
        return validate(arguments)
    except ValidationError:
        raise RefusedError from None


if __name__ == "__main__":
    serve(build, plain, ("pydantic",))
