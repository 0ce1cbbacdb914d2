"""``python -m benchmarks.evidence.plot FIGURES.json IMAGE.svg``: draw the figures of ``side_by_side``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

# Readable on a white and on a black page, since GitHub shows the same image on both.
_COLORS: Final = {
    "right": "#2da44e",
    "refused": "#8c959f",
    "unsupported": "#c4a000",
    "crashed": "#8250df",
    "corrupted": "#e5534b",
}
_TOLD: Final = {
    "right": "right",
    "refused": "refused, though it has one reading",
    "unsupported": "cannot be expressed",
    "crashed": "no answer",
    "corrupted": "ran with wrong arguments",
}
_TEXT: Final = "#768390"
_ROW, _TOP, _LEFT, _WIDTH, _RIGHT = 30, 74, 244, 500, 90


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
    rows = sorted(
        (each for each in figures["contenders"] if not each["skipped"]),
        key=lambda each: (each["verdicts"].get("corrupted", 0) > 0, -_parts(each)["right"]),
    )
    total = sum(rows[0]["verdicts"].values())
    height = _TOP + _ROW * len(rows) + 40
    width = _LEFT + _WIDTH + _RIGHT
    reported = "Contenders that ran a call with wrong arguments come last. Measured by: python -m benchmarks side_by_side"
    body = [
        _said(12, 22, f"The outcomes of {total} tool calls", size=16, weight=600),
        *_legend(),
        _said(_LEFT + _WIDTH + 12, 64, "corrupted"),
        *(part for at, row in enumerate(rows) for part in _row(row, _TOP + at * _ROW, total)),
        _said(12, height - 12, reported, size=11),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif">'
    )
    return "\n".join([head, "<title>mcp-lenient side by side with others</title>", *body, "</svg>\n"])


def _parts(row: Mapping[str, Any]) -> dict[str, int]:
    verdicts = row["verdicts"]
    return {
        "right": verdicts.get("right", 0) + verdicts.get("miscoded", 0),
        "refused": verdicts.get("refused", 0),
        "unsupported": verdicts.get("unsupported", 0),
        "crashed": verdicts.get("crashed", 0),
        "corrupted": verdicts.get("corrupted", 0),
    }


def _legend() -> Iterator[str]:
    x = 12.0
    for name, reported in _TOLD.items():
        yield f'<rect x="{x}" y="34" width="11" height="11" rx="2" fill="{_COLORS[name]}"/>'
        yield _said(x + 16, 44, reported, size=12)
        x += 16 + 6.6 * len(reported) + 16


def _row(row: Mapping[str, Any], y: int, total: int) -> Sequence[str]:
    parts = _parts(row)
    ours = row["name"].startswith("mcp-lenient")
    drawn = [_said(_LEFT - 10, y + 16, row["name"], anchor="end", weight=600 if ours else 400)]
    x = float(_LEFT)
    for name, count in parts.items():
        wide = _WIDTH * count / total
        drawn.append(
            f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="22" fill="{_COLORS[name]}">'
            f"<title>{count} {escape(_TOLD[name])}</title></rect>"
        )
        if wide > 30:
            drawn.append(_said(x + wide / 2, y + 16, str(count), anchor="middle", fill="#ffffff", size=12))
        x += wide
    drawn.append(_said(_LEFT + _WIDTH + 12, y + 16, str(parts["corrupted"]), weight=600))
    return drawn


def _said(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = 13,
    weight: int = 400,
    fill: str = _TEXT,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


if __name__ == "__main__":
    main()
