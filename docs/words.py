"""Print the words of each page, the most first: ``python docs/words.py``. Tables and code count as words too."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parent

if __name__ == "__main__":
    counts = {page: len(page.read_text(encoding="utf-8").split()) for page in sorted(FOLDER.rglob("*.md"))}
    for page, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        sys.stdout.write(f"{count:7,}  {page.relative_to(FOLDER)}\n")
    sys.stdout.write(f"{sum(counts.values()):7,}  {len(counts)} pages\n")
