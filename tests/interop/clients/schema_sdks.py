"""Hand schemas to the SDKs of providers, as their MCP clients do; print the names of the tools that each one refuses.

Reads a JSON object of lists of tools by name, and prints one of lists of names, by list and SDK.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from agents.strict_schema import ensure_strict_json_schema
from anthropic import transform_schema
from google.genai._mcp_utils import mcp_to_gemini_tools
from mcp.types import Tool


def _google(name: str, schema: dict[str, Any]) -> None:
    mcp_to_gemini_tools([Tool(name=name, description="A tool.", input_schema=schema)])


def _openai(_name: str, schema: dict[str, Any]) -> None:
    # As MCPUtil.to_function_tool converts them to the strict mode.
    ensure_strict_json_schema(schema, _reject_open_objects=True)


def _anthropic(_name: str, schema: dict[str, Any]) -> None:
    transform_schema(schema)


SDKS: dict[str, Callable[[str, dict[str, Any]], None]] = {
    "google-genai": _google,
    "openai-agents": _openai,
    "anthropic": _anthropic,
}


def _refused(take: Callable[[str, dict[str, Any]], None], tools: list[dict[str, Any]]) -> list[str]:
    names = []
    for tool in tools:
        try:
            take(tool["name"], deepcopy(tool["schema"]))
        except Exception:  # noqa: BLE001 - whatever an SDK raises
            names.append(tool["name"])
    return names


if __name__ == "__main__":
    lists = json.load(sys.stdin)
    found = {
        name: {sdk: _refused(take, tools) for sdk, take in SDKS.items()} for name, tools in lists.items()
    }
    json.dump(found, sys.stdout)
