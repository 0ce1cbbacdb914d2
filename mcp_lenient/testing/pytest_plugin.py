"""``pytest --lenient-stress package.server:mcp``: stress a server as an additional test."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcp_lenient.testing import StressReport


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, which may be repeated for several servers."""
    parser.getgroup("mcp-lenient").addoption(
        "--lenient-stress",
        action="append",
        default=[],
        metavar="MODULE:SERVER",
        help="call every tool of this FastMCP server with damaged arguments, without running the tools, "
        "and fail where a repair gives a call another meaning",
    )


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add one test per server, after all others."""
    for where in config.getoption("--lenient-stress"):
        items.append(_Stress.from_parent(session, name=f"lenient-stress[{where}]", where=where))  # noqa: PERF401


class _CorruptedError(Exception):
    """Calls were repaired to the wrong meaning, or no call could be made."""


class _Stress(pytest.Item):
    def __init__(self, *, where: str, **options: Any) -> None:
        super().__init__(**options)
        self._where = where

    def runtest(self) -> None:
        # Imported late: pytest loads the plugin in every run, but it is rarely used.
        from mcp_lenient.testing import stress

        report: StressReport = stress(_loaded(self._where))
        self.add_report_section("call", "lenient-stress", str(report))
        if report.unprotected:
            msg = (
                f"no LenientMiddleware for {', '.join(report.unprotected)}, so the middleware was not tested."
            )
            raise _CorruptedError(msg)
        if not report.calls:
            raise _CorruptedError(report.headline + "; see the report.")
        if report.corrupted:
            msg = f"{len(report.corrupted)} calls were repaired to something other than was meant; see the report."
            raise _CorruptedError(msg)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        if isinstance(excinfo.value, (_CorruptedError, pytest.UsageError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[str, None, str]:
        return self._where, None, self.name


def _loaded(where: str) -> Any:
    module, _, attribute = where.partition(":")
    try:
        server = getattr(import_module(module), attribute, None) if attribute else None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        msg = f"--lenient-stress {where}: no module named {error.name!r}. `python -m pytest` also searches this folder."
        raise pytest.UsageError(msg) from None
    if server is None:
        msg = f"--lenient-stress takes MODULE:SERVER, like package.server:mcp; {where!r} names nothing."
        raise pytest.UsageError(msg)
    return server
