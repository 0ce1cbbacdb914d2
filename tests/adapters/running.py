"""Run the tests of a file in a separate environment, and print the failure of each."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import sys
import traceback
from collections.abc import Awaitable, Mapping
from typing import Any

_PATIENCE = 60


def rules(result: Any) -> list[str]:
    """Return the rules that repaired a call."""
    assert not result.isError, result
    return [each["rule"] for each in (result.meta or {}).get("mcp_lenient", {}).get("repairs", [])]


async def failure_of(test: Awaitable[None]) -> str | None:
    """Return the traceback of a running test, or None if it passes in time."""
    try:
        await asyncio.wait_for(test, _PATIENCE)
    except BaseException:  # noqa: BLE001 - any failure is the result
        return traceback.format_exc()
    return None


def print_outcomes(names: Mapping[str, Any]) -> None:
    """Print the failure of each test by name, or None."""
    logging.disable(logging.CRITICAL)
    reported: dict[str, str | None] = {}
    for name, test in names.items():
        if not (name.startswith("test_") and inspect.iscoroutinefunction(test)):
            continue
        reported[name] = asyncio.run(failure_of(test()))
    sys.stdout.write(json.dumps(reported) + "\n")
