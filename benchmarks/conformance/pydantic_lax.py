"""Pydantic in its default, lax mode as an adapter: ``model_validate`` of a model made from the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from benchmarks.conformance import Reply, serve
from benchmarks.signatures import Annotator, UnsupportedError, plain


def call(request: Mapping[str, Any]) -> Reply:
    """Answer a request."""
    if request["declared"]:
        return Reply("unsupported", reason="aliases and keys to drop")
    try:
        model = Annotator(request["schema"]).annotation(request["schema"], "value")
        return Reply("ran", plain(model.model_validate(request["arguments"])))
    except AttributeError:
        return Reply("unsupported", reason="no declared property")
    except UnsupportedError as reason:
        return Reply("unsupported", reason=str(reason))
    except ValidationError:
        return Reply("refused")


if __name__ == "__main__":
    serve(call)
