"""Write the JSON Schema of the log event into ``reference/``; ``make format`` runs this."""

from __future__ import annotations

import json
from pathlib import Path

from mcp_lenient.telemetry.events import line_schema

FILE = Path(__file__).parent / "reference" / "event.schema.json"


def written() -> str:
    """Return the text of the file, in an order that does not depend on Pydantic's version."""
    return json.dumps(line_schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
