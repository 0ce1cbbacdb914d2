"""Import public names lazily: for type checkers, a package also imports them under ``TYPE_CHECKING``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_getattr(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a package's ``__getattr__``; ``homes`` has the names in each module, separated by spaces."""
    modules = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in modules:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(modules[name]), name)

    return load
