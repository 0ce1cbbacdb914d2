"""Run the tests of a file in a separate environment, and print the failure of each."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import sys
import traceback
from collections.abc import Mapping
from typing import Any

_PATIENCE = 60


def print_outcomes(names: Mapping[str, Any]) -> None:
    """Print the failure of each test by name, or None."""
    logging.disable(logging.CRITICAL)
    reported: dict[str, str | None] = {}
    for name, test in names.items():
        if not (name.startswith("test_") and inspect.iscoroutinefunction(test)):
            continue
        reported[name] = None
        try:
            asyncio.run(asyncio.wait_for(test(), _PATIENCE))
        except BaseException:  # noqa: BLE001 - any failure is the result
            reported[name] = traceback.format_exc()
    sys.stdout.write(json.dumps(reported) + "\n")
