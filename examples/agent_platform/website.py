"""The pages that the browser of the example opens: a shop, and a search over the documents."""

from __future__ import annotations

from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from agent_platform.documents import Library, best_sentences

PAGES = Path(__file__).with_name("site")


class Website:
    """A web server on a free port of this machine, from its making until it is closed."""

    def __init__(self, library: Library) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, library))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Handler(SimpleHTTPRequestHandler):
    """Answers with a page, the results of a search, or a document."""

    def __init__(self, library: Library, *args: Any) -> None:
        self._library = library
        super().__init__(*args, directory=str(PAGES))

    def do_GET(self) -> None:
        """Answer a request."""
        address = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        documents = {path.relative_to(self._library.root).as_posix(): path for path in self._library.files()}
        if address.path == "/search":
            self._answer(f"Search: {asked.get('q', '')}", self._results(asked.get("q", "")))
        elif asked.get("document") in documents:
            text = documents[asked["document"]].read_text("utf-8", "replace")
            self._answer(asked["document"], f"<pre>{escape(text)}</pre>")
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Keep standard error for the MCP server."""

    def _results(self, query: str) -> str:
        return "".join(
            f'<p><a class="result" href="/?document={quote(hit.source)}">{escape(hit.heading)}</a> '
            f"{escape(' '.join(best_sentences(hit.text, query)))}</p>"
            for hit in self._library.search(query, 10)
        )

    def _answer(self, title: str, content: str) -> None:
        head = f"<!doctype html><meta charset=utf-8><title>{escape(title)}</title><h1>{escape(title)}</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"{head}{content or '<p>Nothing was found.</p>'}".encode())
