"""Print the texts of vLLM's tests of tool parsers, with the calls that the tests expect, as lines of JSON.

``parser_texts.py FOLDER``: the unpacked source of vLLM. Its test modules are imported, not run; what they import from vLLM and from
packages that are not installed is replaced, but for constants, which are read from vLLM's own modules.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

_FOLDERS: Final = ("tests/tool_parsers", "tests/parser", "tests/tool_use")
_INSTALLED: Final = frozenset({"pytest", "_pytest", *sys.stdlib_module_names})
Call = dict[str, Any]
"""A call; the name or the arguments are None if the test does not say them."""
Row = tuple[str, list[Call]]


class _Anything(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Record()

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


class Record(metaclass=_Anything):
    """Any object of another package; it has what it was built with."""

    def __init__(self, *_: Any, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Record()

    def __call__(self, *_: Any, **fields: Any) -> Any:
        """Return a record."""
        return Record(**fields)


class Replacement(ModuleType):
    """A module that is not installed: its constants, if vLLM's source has it, and records."""

    __path__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        file = Path(*self.__name__.split(".")).with_suffix(".py")
        for node in ast.parse(file.read_text("utf-8")).body if file.exists() else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                if name in names:
                    return node.value.value
        return type(name, (Record,), {})


class Finder:
    """The finder of replacements."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """Return a replacement, unless the module is installed or one of the tests' own."""
        place = Path(*name.split("."))
        is_own = name.partition(".")[0] == "tests" and (place.exists() or place.with_suffix(".py").exists())
        return None if is_own or name.partition(".")[0] in _INSTALLED else ModuleSpec(name, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the replacement."""
        return Replacement(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is."""


def main(folder: str) -> None:
    """Print a line for each text, which several tests may have."""
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
    printed: set[str] = set()
    for file in sorted(file for folder in _FOLDERS for file in Path(folder).rglob("test_*.py")):
        module = _imported(file)
        for text, calls in _rows(module) if module else ():
            if text not in printed:
                printed.add(text)
                print(json.dumps([str(file), text, calls]))


def _imported(file: Path) -> ModuleType | None:
    """Import a module of tests; None if it needs more of vLLM than records."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 - whatever a test module does with a record
        print(f"{file} is left out: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    return module


def _rows(holder: Any) -> Iterator[Row]:
    for name, value in sorted(vars(holder).items()):
        if isinstance(value, type) and value.__module__ == getattr(holder, "__name__", None):
            yield from _rows(value)
        elif name == "test_config":
            fixture = value._get_wrapped_function()  # noqa: SLF001 - pytest has no public way to the function
            yield from _of_config(fixture(None))
        for mark in getattr(value, "pytestmark", ()) if name.startswith("test") else ():
            if mark.name == "parametrize":
                yield from _of_table(*mark.args, **mark.kwargs)


def _of_config(config: Any) -> Iterator[Row]:
    """Return the texts of the tests that vLLM's parsers share."""
    unknown = {"name": None, "arguments": None}
    name, arguments = config.single_tool_call_expected_name, config.single_tool_call_expected_args
    yield config.no_tool_calls_output, []
    yield config.single_tool_call_output, [{"name": name, "arguments": arguments}]
    yield (
        config.parallel_tool_calls_output,
        [{**unknown, "name": name} for name in config.parallel_tool_calls_names],
    )
    yield config.various_data_types_output, [unknown]
    yield config.empty_arguments_output, [{**unknown, "arguments": {}}]
    yield config.surrounding_text_output, [unknown]
    yield config.escaped_strings_output, [unknown]


def _of_table(argnames: Any, argvalues: Any, **_: Any) -> Iterator[Row]:
    names = argnames.replace(" ", "").split(",") if isinstance(argnames, str) else argnames
    for values in argvalues if "model_output" in names and isinstance(argvalues, list) else ():
        row = dict(zip(names, getattr(values, "values", values), strict=False))
        # A test of a stream that ends early expects a part of the arguments, which is not JSON.
        with contextlib.suppress(KeyError, ValueError):
            yield row["model_output"], _expected(row)


def _expected(row: dict[str, Any]) -> list[Call]:
    if "expected_names" in row:
        named = zip(row["expected_names"], row["expected_args_list"], strict=True)
        return [{"name": name, "arguments": arguments} for name, arguments in named]
    functions = [vars(call).get("function", call) for call in row["expected_tool_calls"]]
    return [{"name": each.name, "arguments": json.loads(each.arguments)} for each in functions]


if __name__ == "__main__":
    assert pytest.__version__
    main(sys.argv[1])
