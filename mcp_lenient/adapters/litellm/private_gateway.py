"""Private APIs of LiteLLM's MCP gateway, used nowhere else.

If one of them is gone, less is known about a tool, or a refusal starts with ``Error: ``; everything else keeps working.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from mcp_lenient.engine.tool import is_destructive, is_read_only

_GATEWAY: Final = "litellm.proxy._experimental.mcp_server"
_MODEL: Final = "MCP: "


def refusal(server: str | None, error_code: str, text: str) -> Exception:
    """Return the exception that makes the gateway answer with this text.

    The gateway prefixes every exception text with ``Error: ``, except that of the exception for missing user settings.

    Args:
        server: The name of the MCP server, for the gateway's own log.
        error_code: The envelope's code, for the gateway's own log.
        text: The text for the model.
    """
    try:
        plain = import_module(f"{_GATEWAY}.utils").MCPMissingUserEnvVarsError
        error: Exception = plain(
            server_id=server or "",
            server_name=server,
            missing=[f"(none; mcp-lenient refused the arguments: {error_code})"],
            setup_url="",
        )
        error.args = (text,)
    except (ImportError, AttributeError, TypeError):
        return _http_error(text)
    return error if str(error) == text else _http_error(text)


def _http_error(text: str) -> Exception:
    from fastapi import HTTPException

    error: Exception = HTTPException(status_code=400, detail=text)
    return error


def called_name(data: Mapping[str, Any], tool: str) -> str:
    """Return the tool name that the client used, with the server prefix if it wrote one."""
    model = getattr(data.get("litellm_logging_obj"), "model", None)
    called = model.removeprefix(_MODEL) if isinstance(model, str) else tool
    return called if called.endswith(tool) else tool


def hints(server: str | None, tool: str) -> dict[str, bool]:
    """Return what a listed tool says in its annotations, which hooks do not receive."""
    listed = [getattr(entry, "annotations", None) for entry in _listed(server, tool)]
    return {
        "destructiveHint": any(map(is_destructive, listed)),
        "readOnlyHint": bool(listed) and all(map(is_read_only, listed)),
    }


def _listed(server: str | None, tool: str) -> Iterator[Any]:
    """Yield the tool from the gateway's list for each of its callers."""
    try:
        manager = import_module(f"{_GATEWAY}.mcp_server_manager").global_mcp_server_manager
        servers = manager.get_registry().values()
        by_server: Mapping[str, Any] = manager._listed_tools_by_server_id  # noqa: SLF001 - see above
    except (ImportError, AttributeError):
        return
    for host in servers:
        if server in (host.alias, host.server_name, host.name):
            yield from (
                tools[tool] for tools in by_server.get(host.server_id, {}).values() if tools and tool in tools
            )
