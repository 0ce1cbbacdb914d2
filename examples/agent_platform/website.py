"""The pages that the browser of the example opens: a shop, and a search over the documents."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from shared.documents import Library, best_sentences

SITE = "http://platform.example"
PAGES = Path(__file__).with_name("site")


def page_at(url: str, library: Library) -> str | None:
    """Return the page at an address of the site; None where there is none."""
    address = urlsplit(url)
    asked = dict(parse_qsl(address.query))
    if address.path == "/search":
        return _results(asked.get("q", ""), library)
    if address.path == "/document":
        found = {path.relative_to(library.root).as_posix(): path for path in library.files()}
        source = asked.get("source", "")
    else:
        found = {f"/{path.name}": path for path in PAGES.iterdir()}
        source = "/index.html" if address.path == "/" else address.path
    if source not in found:
        return None
    text = found[source].read_text("utf-8", "replace")
    return text if found[source].suffix == ".html" else _page(source, f"<pre>{escape(text)}</pre>")


def _results(query: str, library: Library) -> str:
    found = "".join(
        f'<p><a class="result" href="/document?source={quote(hit.source)}">{escape(hit.heading)}</a> '
        f"{escape(' '.join(best_sentences(hit.text, query)))}</p>"
        for hit in library.search(query, 10)
    )
    return _page(f"Search: {query}", found or "<p>Nothing was found.</p>")


def _page(title: str, content: str) -> str:
    return f"<!doctype html><title>{escape(title)}</title><h1>{escape(title)}</h1>{content}"
