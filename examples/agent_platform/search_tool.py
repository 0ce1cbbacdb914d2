"""Searching files, and finding tools for a task: each tool returns the arguments it was given."""

from __future__ import annotations

from typing import Any


def search_file_content(file_path: str, regex_pattern: str) -> dict[str, Any]:
    """Find the lines of a file that a regular expression matches."""
    return {"file_path": file_path, "regex_pattern": regex_pattern}


def list_code_definitions(file_path: str | None = None, directory_path: str | None = None) -> dict[str, Any]:
    """List the functions and classes of a file, or of all files in a folder."""
    return {"file_path": file_path, "directory_path": directory_path}


def analyze_tool_needs(task_description: str) -> dict[str, Any]:
    """Say which kinds of tools a task needs."""
    return {"task_description": task_description}


def search_and_install_tools(task_description: str, reason: str | None = None) -> dict[str, Any]:
    """Find tools for a task and install them; reason says why those at hand do not do."""
    return {"task_description": task_description, "reason": reason}


TOOLS = (search_file_content, list_code_definitions, analyze_tool_needs, search_and_install_tools)
