"""Test when two values are the same for a tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from tables import each_row

from mcp_lenient.testing.trial import identical


@dataclass
class _Data:
    x: Any


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: Any


@each_row(
    ("left", "right", "same"),
    [
        pytest.param(1, 1, True, id="integers"),
        pytest.param(1, 1.0, False, id="integer-and-float"),
        pytest.param(1, True, False, id="integer-and-boolean"),
        pytest.param(float("nan"), float("nan"), True, id="nan"),
        pytest.param([1, [2]], [1, [2]], True, id="lists"),
        pytest.param([1], (1,), False, id="list-and-tuple"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="order-of-keys"),
        pytest.param({"a": 1}, {"a": True}, False, id="another-type-inside"),
        pytest.param({1, 2}, {2, 1}, True, id="sets"),
        pytest.param({1}, {1.0}, False, id="sets-of-other-types"),
        pytest.param(_Data(1), _Data(1.0), False, id="another-type-in-a-dataclass"),
        pytest.param(_Model(x=1), _Model(x=1), True, id="models"),
        pytest.param(_Model(x=1), _Model(x=True), False, id="another-type-in-a-model"),
        pytest.param(_Model(x=1), _Model(x=1, y=2), False, id="more-in-a-model"),
    ],
)
def test_equality_is_by_type_and_value(left, right, same):
    """Values are identical if they are equal and have the same types throughout."""
    assert identical(left, right) is same
