"""Conversations with the context store."""

from __future__ import annotations

from pathlib import Path

from fastmcp import FastMCP

import context_store
from transcripts.play import Call, Scene, Transcript

SCENES = (
    Scene("Remember that the release is on Friday, for work",
        Call("store_context", {"content": "The release is on Friday", "tags": '["work", "release"]'},
             "json_text_to_array", gives='["release", "work"]'),
        answer="I will remember it."),
    Scene("Note my trip to Lisbon, too, under travel",
        Call("store_context", {"content": "A trip to Lisbon", "tags": 123}, "INVALID_TAGS_TYPE"),
        Call("store_context", {"content": "A trip to Lisbon", "tags": "travel"}, "scalar_to_array", gives='"tags": ["travel"]'),
        answer="Noted."),
    Scene("What do I have for work?",
        Call("search_context", {"query": "", "tags": "work", "limit": None}, "scalar_to_array null_to_absent",
             gives='"context_id": 1'),
        answer="The release is on Friday."),
    Scene("The trip is off: tag it so",
        Call("update_context", {"contextId": 7, "tags": "off"}, "UNKNOWN_CONTEXT"),
        Call("update_context", {"contextId": 2, "tags": ["travel", 1]}, "INVALID_TAGS_TYPE"),
        Call("update_context", {"contextId": 2, "tags": "['travel', 'off']"}, "rename_case tags", gives='["off", "travel"]'),
        answer="The trip is tagged as off."),
    Scene("Then delete it",
        Call("delete_context", {"context_ids": "2", "confirm": True}, "INVALID_CONTEXT_IDS_TYPE"),
        Call("delete_context", {"context_ids": "[2]", "confirm": False}, "NOT_CONFIRMED"),
        Call("delete_context", {"context_ids": "[2]", "confirm": True}, "json_text_to_array", gives="[2]"),
        answer="It is gone."),
)  # fmt: skip


def build(folder: Path, *, lenient: bool) -> FastMCP:
    """Make a server for the store in a folder."""
    return context_store.build_server(folder / "context_store.db", lenient=lenient)


TRANSCRIPT = Transcript("Context store", context_store.__doc__ or "", build, SCENES)
