"""``mcp-lenient definitions``: the tools of a server as a definitions file, or as text for a prompt."""

from __future__ import annotations

import re
from typing import Annotated

from cyclopts import Parameter

from mcp_lenient.cli.errors import fail
from mcp_lenient.cli.files import Config, check_target


def definitions(
    *target: str,
    prompt: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    config: Config = None,
    server: str | None = None,
) -> None:
    """Write the tools of a server as a definitions file in YAML, or as text for a prompt. No tool is called.

    `mcp-lenient definitions server.py > tools.yaml`

    Args:
        target: A Python file (`server.py`, `server.py:name`), a URL, a client configuration (`servers.json`),
            or a command line after `--`.
        prompt: Write text for a model's prompt: how to write a call, and every parameter of each tool.
        config: YAML or TOML file whose descriptions and defaults replace the published ones in the prompt.
        server: Server whose tag is to be around each call in the prompt: `<server><tool>{...}</tool></server>`.
    """
    if config is not None and not prompt:
        fail("--config is used for a prompt only: add --prompt")
    if server is not None and not prompt:
        fail("--server is used for a prompt only: add --prompt")
    if server is not None and not re.fullmatch(r"[A-Za-z_][\w.-]*", server):
        fail(f"--server must be the name of a tag, such as browser_use, not {server!r}")
    check_target(target)

    from mcp_lenient.adapters.sdk_caller import field
    from mcp_lenient.cli.targets import tools_of
    from mcp_lenient.declare.definitions import load_definitions, unknown_names
    from mcp_lenient.devtools.inventory import as_definitions, as_prompt
    from mcp_lenient.devtools.printing import put

    declared = None if config is None else load_definitions(config)
    tools = [surface.tool for surface in tools_of(target)]
    if declared is not None:
        published = {tool.name: field(tool, "input_schema").get("properties", {}) for tool in tools}
        if unknown := unknown_names(declared, published):
            fail(f"{config}: {' '.join(unknown)}")
    put(as_prompt(tools, declared, server) if prompt else as_definitions(tools))
