"""Sandboxes for code that an agent wrote: each tool returns the arguments it was given."""

from __future__ import annotations

from typing import Any


def microsandbox_execute(
    code: str, session_id: str | None = None, timeout: int | None = None
) -> dict[str, Any]:
    """Run Python code in a sandbox, a new one unless a session is named; timeout in seconds."""
    return {"code": code, "session_id": session_id, "timeout": timeout}


def microsandbox_install_package(
    package_name: str, version: str | None = None, session_id: str | None = None
) -> dict[str, Any]:
    """Install a Python package in a sandbox, its newest version unless one is named."""
    return {"package_name": package_name, "version": version, "session_id": session_id}


def microsandbox_list_sessions() -> dict[str, Any]:
    """List the sandboxes that are running."""
    return {}


def microsandbox_close_session(session_id: str) -> dict[str, Any]:
    """Stop a sandbox."""
    return {"session_id": session_id}


def microsandbox_cleanup_expired(max_age: int | None = None) -> dict[str, Any]:
    """Stop all sandboxes that have been idle for longer than max_age seconds."""
    return {"max_age": max_age}


def microsandbox_get_performance_stats() -> dict[str, Any]:
    """Tell how much the sandboxes use of the machine."""
    return {}


def microsandbox_get_health_status() -> dict[str, Any]:
    """Tell whether new sandboxes can be started."""
    return {}


TOOLS = (
    microsandbox_execute,
    microsandbox_install_package,
    microsandbox_list_sessions,
    microsandbox_close_session,
    microsandbox_cleanup_expired,
    microsandbox_get_performance_stats,
    microsandbox_get_health_status,
)
