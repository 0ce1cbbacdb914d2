"""Report the repairs of a call in its result: as a record in ``_meta``, and as a note for the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcp_lenient.types import Repair
from mcp_lenient.values.display import escaped_pointer, first_fitting, shown, shown_key
from mcp_lenient.values.json_values import tokens_of
from mcp_lenient.values.language import ENGLISH, ONE_OF_A_TYPE, Language, load_language, marked_plural

_MAX_POINTER: Final = 300
_MAX_REPAIRS: Final = 50
_MAX_NOTED: Final = 3


def repair_record(repairs: Sequence[Repair], max_bytes: int | None = None) -> dict[str, Any]:
    """Return the record of repairs in a result's ``_meta``: the first 50, or those within ``max_bytes`` bytes."""
    records = [
        {
            "rule": shown(repair.rule, _MAX_POINTER),
            "pointer": shown(escaped_pointer(repair.pointer), _MAX_POINTER),
            "before": repair.before,
            "after": repair.after,
        }
        for repair in repairs[:_MAX_REPAIRS]
    ]
    listed = records if max_bytes is None else first_fitting(records, max_bytes)
    omitted_count = len(repairs) - len(listed)
    return {"repairs": listed, "repairs_omitted": omitted_count} if omitted_count else {"repairs": listed}


def repairs_note(repairs: Sequence[Repair], *, language: str = ENGLISH) -> str:
    """Describe the repairs in one short text, for a model that does not see ``_meta``.

    >>> repairs_note([Repair("json_text_to_array", "/tags", "string", "array")])
    "Note: 'tags' was sent as a string and read as an array. Send an array."
    """
    say = load_language(language)
    notes = [_note(repair, say) for repair in repairs[:_MAX_NOTED]]
    rest = len(repairs) - len(notes)
    if rest:
        more = marked_plural("{count} more value was corrected.", "{count} more values were corrected.")
        notes.append(say.plural(*more, rest))
    return say("Note: {repairs}", repairs=say.sentences(*dict.fromkeys(notes)))


def _note(repair: Repair, say: Language) -> str:
    if repair.rule == "rename_tool":
        return say("The tool was called by another spelling of its name. Use its name as it is listed.")
    name = f"'{'.'.join(map(shown_key, tokens_of(repair.pointer))) or 'arguments'}'"
    if repair.before in (repair.after, "absent"):
        return say("{name} was read in another form. Send it as the schema has it.", name=name)
    sent = say(ONE_OF_A_TYPE[repair.before])
    if repair.after == "absent":
        return say("{name} was sent as {sent} and left out. Leave it out.", name=name, sent=sent)
    read = say(ONE_OF_A_TYPE[repair.after])
    return say("{name} was sent as {sent} and read as {read}. Send {read}.", name=name, sent=sent, read=read)
