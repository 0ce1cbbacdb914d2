"""The library of the LangChain example reads a PDF."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError

from langchain_agent import servers


def _pdf(*pages: str) -> bytes:
    """Write a PDF with a line of text on each page."""
    kids = " ".join(f"{3 + 2 * at} 0 R" for at in range(len(pages)))
    parts = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>"]
    font = "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    for at, text in enumerate(pages):
        stream = f"BT /F 12 Tf 72 720 Td ({text}) Tj ET"
        parts.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources{font}/Contents {4 + 2 * at} 0 R>>"
        )
        parts.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    written, offsets = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        offsets.append(len(written))
        written += f"{number} 0 obj{part}endobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(parts) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(written)}\n%%EOF"
    return written + end.encode()


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PDF of two pages as the library's documents."""
    path = tmp_path / "guide.pdf"
    path.write_bytes(_pdf("The kettle boils in four minutes.", "Green tea is steeped at 70 degrees."))
    monkeypatch.setenv("LIBRARY_DB", str(tmp_path / "library.db"))
    monkeypatch.setattr(servers, "DOCUMENTS", path)
    return path


async def _found(query: str) -> Any:
    async with Client(servers.library) as client:
        return (await client.call_tool("retrieve", {"query": query})).structured_content["result"]


async def test_the_pages_of_a_pdf_are_found(guide):
    """A question finds the page that answers it."""
    pytest.importorskip("pypdf")
    assert await _found("how long is green tea steeped?") == [
        {"title": f"{guide.name}, page 2", "text": "Green tea is steeped at 70 degrees."}
    ]


async def test_without_the_package_one_line_says_so(guide, monkeypatch):
    """The error names the package."""
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(ToolError, match=f"To read {guide.name}, the library needs pypdf: pip install pypdf"):
        await _found("tea")
