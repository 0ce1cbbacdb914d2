"""The tools of tau2-bench as its environments publish them: domain, name and schema of each."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType


def listed(code):
    """Return the tools of all domains whose packages are installed."""
    package = ModuleType("tau2")  # its own start imports what runs a benchmark
    package.__path__ = [str(code)]
    sys.modules["tau2"] = package
    from tau2.environment.toolkit import ToolKitBase

    for file in sorted(code.glob("domains/*/*tools.py")):
        try:
            module = importlib.import_module(
                ".".join(("tau2", *file.relative_to(code).with_suffix("").parts))
            )
        except ImportError:  # a domain with packages of its own
            continue
        for kit in vars(module).values():
            if isinstance(kit, type) and issubclass(kit, ToolKitBase) and kit.__module__ == module.__name__:
                for name, tool in kit(None).get_tools().items():
                    yield file.parent.name, name, tool.openai_schema["function"]["parameters"]


if __name__ == "__main__":
    json.dump(list(listed(Path(sys.argv[1]))), sys.stdout)
