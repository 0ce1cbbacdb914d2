"""Pydantic models for the annotator, and their values as JSON."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Annotated, Any

from loop import UnsupportedError
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import to_jsonable_python
from python_types import ABSENT

_NAMES = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}


def bounded(annotation: Any, bounds: Mapping[str, Any]) -> Any:
    """Return the annotation with bounds."""
    return Annotated[annotation, Field(**{_NAMES[key]: value for key, value in bounds.items()})]


def make_model(
    name: str, fields: Mapping[str, Any], required: frozenset[str], defaults: Mapping[str, Any], closed: bool
) -> type[BaseModel]:
    """Return a model with these fields."""
    hidden = {key: f"field_{at}" for at, key in enumerate(fields) if _is_hidden(key)}
    made: dict[str, Any] = {
        hidden.get(key, key): (
            annotation,
            Field(
                ... if key in required else defaults.get(key, ABSENT),
                alias=key if key in hidden else None,
            ),
        )
        for key, annotation in fields.items()
    }
    config = ConfigDict(extra="forbid" if closed else "allow", protected_namespaces=())
    try:
        return create_model(name, __config__=config, **made)
    except Exception as error:
        msg = f"no model: {error}"
        raise UnsupportedError(msg) from error


def _is_hidden(key: str) -> bool:
    return not key.isidentifier() or keyword.iskeyword(key) or key.startswith("_") or hasattr(BaseModel, key)


def plain(value: Any) -> Any:
    """Return what a tool received as JSON, without omitted parameters."""
    if isinstance(value, BaseModel):
        return {key: plain(each) for key, each in _sent(value).items()}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if each is not ABSENT}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return to_jsonable_python(value)


def _sent(model: BaseModel) -> dict[str, Any]:
    names = {name: info.alias or name for name, info in type(model).model_fields.items()}
    values = {names[name]: getattr(model, name) for name in names if name in model.model_fields_set}
    return {**values, **(model.model_extra or {})}
