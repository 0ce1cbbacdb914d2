"""Send the calls through the example's LiteLLM gateway with the official SDK's client, and print the answers.

Runs in an environment with LiteLLM.
"""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.hosts.log import reported
from benchmarks.hosts.sdk_2 import answer
from examples.litellm_gateway.run import connected, started


async def answers() -> Mapping[str, Any]:
    """Return the answer and the events of each call."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        with started(str(log)) as (url, key):
            async with connected(url, key) as client:
                return await reported(partial(answer, client, prefix="notes-"), log)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(answers())))
