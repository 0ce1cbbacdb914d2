"""``python -m benchmarks.evidence.plot FIGURES.json IMAGE.svg``: draw the figures of ``side_by_side``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

# Readable on a white and on a black page, since GitHub shows the same image on both.
_PARTS: Final = {
    "right": ("#2da44e", "right"),
    "refused": ("#8c959f", "refused, though it has one reading"),
    "unsupported": ("#c4a000", "cannot be expressed"),
    "crashed": ("#8250df", "no answer"),
    "corrupted": ("#e5534b", "ran with wrong arguments"),
}
_TEXT: Final = "#768390"
_ROW, _TOP, _LEFT, _WIDTH, _RIGHT = 30, 74, 244, 500, 90
_ORDER: Final = "Contenders that ran a call with wrong arguments come last. Measured by: python -m benchmarks side_by_side"


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence.plot")
    parser.add_argument("figures", type=Path, help="the file written by side_by_side --json")
    parser.add_argument("image", type=Path, help="the SVG file to write")
    chosen = parser.parse_args()
    figures = json.loads(chosen.figures.read_text(encoding="utf-8"))
    chosen.image.write_text(picture(figures), encoding="utf-8")


def picture(figures: Mapping[str, Any]) -> str:
    """Return an SVG with a bar for each contender, most right answers first."""
    rows = {each["name"]: _counts(each["verdicts"]) for each in figures["contenders"] if not each["skipped"]}
    order = sorted(rows, key=lambda name: (rows[name]["corrupted"] > 0, -rows[name]["right"]))
    total = sum(rows[order[0]].values())
    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + _ROW * len(rows) + 40
    body = [
        _said(12, 22, f"The outcomes of {total} tool calls", size=16, weight=600),
        *_legend(),
        _said(_LEFT + _WIDTH + 12, 64, "corrupted"),
        *(part for at, name in enumerate(order) for part in _row(name, rows[name], _TOP + at * _ROW)),
        _said(12, height - 12, _ORDER, size=11),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif">'
    )
    return "\n".join([head, "<title>mcp-lenient side by side with others</title>", *body, "</svg>\n"])


def _counts(verdicts: Mapping[str, int]) -> dict[str, int]:
    counts = {name: verdicts.get(name, 0) for name in _PARTS}
    return counts | {"right": counts["right"] + verdicts.get("miscoded", 0)}


def _legend() -> Iterator[str]:
    x = 12.0
    for color, reported in _PARTS.values():
        yield f'<rect x="{x}" y="34" width="11" height="11" rx="2" fill="{color}"/>'
        yield _said(x + 16, 44, reported, size=12)
        x += 16 + 6.6 * len(reported) + 16


def _row(name: str, counts: Mapping[str, int], y: int) -> Iterator[str]:
    weight = 600 if name.startswith("mcp-lenient") else 400
    yield _said(_LEFT - 10, y + 16, name, anchor="end", weight=weight)
    x = float(_LEFT)
    for (color, reported), count in zip(_PARTS.values(), counts.values(), strict=True):
        wide = _WIDTH * count / sum(counts.values())
        yield f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="22" fill="{color}">'
        yield f"<title>{count} {escape(reported)}</title></rect>"
        if wide > 30:
            yield _said(x + wide / 2, y + 16, str(count), anchor="middle", fill="#ffffff", size=12)
        x += wide
    yield _said(_LEFT + _WIDTH + 12, y + 16, str(counts["corrupted"]), weight=600)


def _said(
    x: float, y: float, text: str, anchor: str = "start", size: int = 13, weight: int = 400, fill: str = _TEXT
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


if __name__ == "__main__":
    main()
