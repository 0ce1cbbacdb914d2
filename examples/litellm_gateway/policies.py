"""What the gateway may repair, by server and tool."""

from __future__ import annotations

import os

from mcp_lenient import Policy, configure_logging
from mcp_lenient.adapters.litellm import LenientCallback

if "GATEWAY_LOG" in os.environ:
    configure_logging(file=os.environ["GATEWAY_LOG"], accepted=1.0)

lenient = LenientCallback(
    # What a schema forbids is refused here, and never reaches a server.
    Policy(unrepairable="refuse"),
    tools={"*/delete_*": Policy.strict(), "legacy/*": Policy(mode="off")},
)
