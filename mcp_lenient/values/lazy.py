"""Public names that not everybody needs: the module that holds one is imported when it is asked for.

A package that has such names imports them under ``TYPE_CHECKING``, for people and type checkers to read, and
says in one table where they are. What stands inside a function of ours, and is not for all calls, is listed
in ``pyproject.toml`` under ``banned-module-level-imports``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def loaded_by_name(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package.

    Args:
        package: The package's name.
        homes: By module, the names in it, with blanks between them.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in modules:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(modules[name]), name)

    return load
