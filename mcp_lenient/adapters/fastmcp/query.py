"""Let an HTTP client ask for a form of the schemas in the server's URL."""

from __future__ import annotations

from typing import Final

from fastmcp.server.dependencies import get_http_request

from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.rules.policy import Face, faces

_NAME: Final = "publish"


def form_in_query() -> Face | None:
    """Return the form that the URL of the current request asks for, as in ``/mcp?publish=gemini``; None without one.

    Raises:
        MCPError: When there is no such form, or the URL names several or spells the name in another way.
    """
    try:
        request = get_http_request()
    except RuntimeError:
        return None
    named = [(key, value) for key, value in request.query_params.multi_items() if _is_publish_key(key)]
    forms = faces()
    form = forms.get(named[0][1]) if [key for key, _ in named] == [_NAME] else None
    if named and form is None:
        msg = f"the URL must name the form once, as in ?{_NAME}=portable; the forms are {', '.join(forms)}"
        raise host.invalid_params(msg, None)
    return form


def _is_publish_key(key: str) -> bool:
    """Return whether a key is the name in other letters or with signs, such as ``publish[]``."""
    return "".join(filter(str.isalpha, key.casefold())) == _NAME
