"""Let an HTTP client ask for a form of the schemas in the server's URL."""

from __future__ import annotations

from typing import Final

from fastmcp.server.dependencies import get_http_request

from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.portable.forms import FORMS, Form

_NAME: Final = "publish"


def form_in_query() -> Form | None:
    """Return the form that the URL of the current request asks for, as in ``/mcp?publish=gemini``; None without one.

    Raises:
        MCPError: When there is no such form.
    """
    try:
        request = get_http_request()
    except RuntimeError:
        return None
    name = request.query_params.get(_NAME)
    if name is None:
        return None
    if name not in FORMS:
        msg = f"{_NAME} in the URL must be one of {', '.join(FORMS)}"
        raise host.invalid_params(msg, None)
    return FORMS[name]
