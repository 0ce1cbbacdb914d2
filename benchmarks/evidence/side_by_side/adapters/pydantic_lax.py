"""Pydantic in its default, lax mode: a model from the schema, ``model_validate``."""

from functools import partial

from loop import RefusedError, serve
from pydantic import ValidationError

from benchmarks.signatures import Annotator, UnsupportedError, bounded, make_model, plain


def build(schemas, _request):
    """Return calls with one model per schema."""
    return [partial(_call, _model(schema).model_validate) for schema in schemas]


def _model(schema):
    annotation = Annotator({**schema}, make_model, bounded).annotation(schema, "value")
    if not hasattr(annotation, "model_validate"):
        raise UnsupportedError("no declared property")
    return annotation


def _call(validate, arguments):
    try:
        return validate(arguments)
    except ValidationError:
        raise RefusedError from None


if __name__ == "__main__":
    serve(build, plain, ("pydantic",))
