"""Publish a tool's schema in a form that a provider takes, and read calls made for that form back to the author's."""

from mcp_lenient.portable.codecs import CannotSayError, ReadBack
from mcp_lenient.portable.forms import FORMS, Form
from mcp_lenient.portable.publishing import Change, Published, publish, read_back

__all__ = [
    "FORMS",
    "CannotSayError",
    "Change",
    "Form",
    "Published",
    "ReadBack",
    "publish",
    "read_back",
]
