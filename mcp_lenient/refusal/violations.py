"""Tell a caller what is wrong with a refused call: faults that are alike in one violation, with one message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from mcp_lenient.refusal import sentences as say
from mcp_lenient.refusal.locations import MAX_TOLD, Location, Refused, without_format
from mcp_lenient.refusal.sentences import quoted
from mcp_lenient.rules.likely import is_command, is_echo
from mcp_lenient.rules.rules import WRAPPERS, is_free_object
from mcp_lenient.rules.words import is_identifier
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Fault, Path, Violation, ViolationCode
from mcp_lenient.values.display import HIDDEN, cut, fits_json, in_json, name_words, place, short_scalar, shown
from mcp_lenient.values.json_values import break_of, json_type, looks_like_json, number_in_text, pointer
from mcp_lenient.values.language import ONE_OF_A_TYPE, marked, marked_plural
from mcp_lenient.values.markup import names_in_markup
from mcp_lenient.values.names import fold_name
from mcp_lenient.values.patches import Patch, entries, path_at

MAX_VIOLATIONS: Final = 20
_MAX_SAMPLES: Final = 8
_MAX_POINTER: Final = 300
_MAX_MESSAGE: Final = 800
_MAX_DETAIL: Final = 300
_MAX_NEAR: Final = 3
_MOST_CALLS: Final = 100
_PLACES_TOLD: Final = 3
_CONTAINERS: Final = frozenset({"array", "object"})
_CODES: Final[Mapping[str, ViolationCode]] = {
    "type": "type",
    "enum": "enum",
    "pattern": "pattern",
    "format": "format",
    "size": "size",
    "ambiguous": "ambiguous",
    "required": "missing",
    "additionalProperties": "unknown",
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(), "range"),
    **dict.fromkeys("minLength maxLength minItems maxItems minProperties maxProperties".split(), "length"),
}
_RECEIVED: Final = {
    "string": marked("the string {value}"),
    "integer": marked("the integer {value}"),
    "number": marked("the number {value}"),
    "boolean": marked("the boolean {value}"),
}
_MUST: Final = marked_plural("{places} must {asked}.", "{places} must each {asked}.")
_MUST_NOT_AS: Final = marked_plural(
    "{places} must {asked}, but got {received}.", "{places} must each {asked}, but got {received}."
)
_IF_MEANT: Final = marked("Leave it out only if the tool then does what you mean.")
_TIME_ZONE: Final = marked("Z stands for UTC; another time zone is written like +02:00.")
_IS_NOT: Final = marked_plural("{places} is not accepted: {reason}.", "{places} are not accepted: {reason}.")
_IS_NOT_BY_TOOL: Final = marked_plural(
    "{places} is not accepted by the tool; got {received}.",
    "{places} are not accepted by the tool; got {received}.",
)


def _code(fault: Fault) -> ViolationCode:
    return _CODES.get(fault.keyword or fault.kind, "value")


class Offered(NamedTuple):
    """The patches that correct a group of faults, likeliest first, and also those of a name whose value is still refused.

    Of an undeclared name also whether its value ``is_several`` missing ones.
    """

    fixes: tuple[Patch, ...] = ()
    likely: tuple[Patch, ...] = ()
    is_several: bool = False


def grouped(refused: Refused, faults: Iterable[Fault]) -> list[FaultGroup]:
    """Return the first groups of faults that are alike; the last one knows how many are ``untold``."""
    by_place: dict[tuple[Path, bool], dict[str | None, Fault]] = {}
    for fault in faults:
        by_place.setdefault((fault.path, fault.kind == "key"), {}).setdefault(fault.keyword, fault)
    alike: dict[Any, tuple[Iterable[Fault], list[Path]]] = {}
    for (path, is_key), found in by_place.items():
        if None in found:
            found[None] = found.pop(None)  # what the author says comes last
        said = frozenset(
            [(_code(each), each.keyword, each.node, each.detail, each.reason) for each in found.values()]
        )
        pattern = tuple([part if isinstance(part, str) else -1 for part in path])
        _, paths = alike.setdefault((pattern, is_key, said), (found.values(), []))
        paths.append(path)
    groups = [FaultGroup(refused, *each) for each in islice(alike.values(), MAX_VIOLATIONS)]
    groups[0].names_ignored = all(group.code != "unknown" for group in groups)
    told = {path for group in groups for path in group.paths}
    texts = map(refused.look, without_format(refused.top, refused.arguments))
    groups[0].unformatted = [each for each in texts if each.declared and each.path not in told]
    begun: set[tuple[str, Path]] = set()
    for group in groups:
        above = (group.code, group.first.path[:-1])
        group.at_length = above not in begun
        begun.add(above)
    if len(alike) > MAX_VIOLATIONS:
        groups[-1].untold = len(alike) - MAX_VIOLATIONS
    return groups


class FaultGroup:
    """Faults of one kind, at places that differ in list indices only, and what their caller is told.

    ``faults`` are those at the first of the ``places``: of each keyword, and last what the author says; ``rivals`` is what
    an ambiguous value can be read as. Of several groups in one object the first is told ``at_length``, as the others
    would repeat it; one that ``names_ignored`` also tells which names the tool may ignore, and of texts ``unformatted`` their
    format; ``untold`` is the number of groups that are not told.
    """

    at_length = True
    names_ignored = False
    unformatted: Sequence[Location] = ()
    untold = 0

    def __init__(self, refused: Refused, faults: Iterable[Fault], paths: Sequence[Path]) -> None:
        self.refused, self.words, self.total = refused, refused.words, len(paths)
        self.faults, self.paths = [*faults], paths[:_MAX_SAMPLES]
        self.places = [refused.look(path) for path in self.paths]
        self.first, self.own, self.keyword = self.places[0], self.faults[-1], self.faults[0].keyword
        # Of a key of a map, the fault's bound is what the schema of keys refuses.
        self.is_of_key = self.keyword == "propertyNames"
        self.code = _code(self.faults[0])
        self.rivals: Sequence[Any] = self.faults[0].bound if self.code == "ambiguous" else ()
        is_of_any = self.code in ("unknown", "size")
        said = () if is_of_any else (*[each.node for each in self.faults], self.first.node)
        self.node: Node = next(filter(None, said), None) or refused.top.tree.node(True)  # noqa: FBT003 - a schema of anything
        if self.is_of_key and self.node.once(say.allowed_values):
            self.code = "enum"
        self.kinds = self.node.accepted_types - {"null"}
        # A prompt's arguments can be nothing but strings.
        self.takes_text_alone = refused.as_texts and len(self.first.path) == 1
        self.sends_json_text = self.takes_text_alone and bool(self.kinds & _CONTAINERS)
        self.is_of_value = self.code not in ("missing", "unknown", "size") and not self.is_of_key
        self.types = dict.fromkeys([json_type(each.value) for each in self.places if each.present])
        is_one_value = self.is_of_value and self.total == 1 and self.code != "ambiguous"
        self.echoes = is_one_value and refused.may_echo(self.first)
        is_text = self.total == 1 and self.code == "type" and isinstance(self.first.value, str)
        self.broken = break_of(self.first.value) if is_text and self.kinds & _CONTAINERS else None

    @property
    def _name(self) -> str | None:
        return next((part for part in reversed(self.first.path) if isinstance(part, str)), None)

    def _or_left_out(self, otherwise: str = _IF_MEANT) -> str:
        """Return what the value is if it is left out; without a default that this must be what is meant, as for "all"."""
        if not self.first.optional or self.refused.destructive:
            return ""
        default = next(filter(short_scalar, self.node.says("default")), None)
        told = marked("Left out, it is {value}.")
        return self.words(otherwise) if default is None else self.words(told, value=in_json(default))

    def violation(self, offered: Offered) -> Violation:
        """Return what is told, with the patches that were found."""
        first, here = self.first, pointer(self.first.path)
        operations = (each for patch in offered.likely for each in patch)
        self.changes = [each for each in operations if here in (each["path"], each.get("from"))]
        self.fixes, self.near, self.is_several = offered.fixes, self._likely_meant(), offered.is_several
        is_known = self.code == "unknown" or self.refused.look(first.path[:1]).declared
        return Violation(
            shown(pointer(first.shown), _MAX_POINTER),
            shown(first.shown[0]) if first.path and is_known else None,
            self.code,
            self._message(),
            received_type=next(iter(self.types)) if self.is_of_value and len(self.types) == 1 else None,
            expected_types=self.own.expected_types or self.node.once(say.type_words),
            received_value=first.value if self.echoes else None,
            has_received_value=self.echoes,
            did_you_mean=tuple(self.near if self.keyword == "enum" else map(shown, self.near)),
            allowed_values=self.node.once(say.allowed_values)[: say.MAX_VALUES],
            fixes=offered.fixes,
            error_code=self.own.error_code or ("CUT_OFF" if self.broken and self.broken.is_end else None),
        )

    def _likely_meant(self) -> Sequence[Any]:
        """Return the allowed values, or the declared names beside it, that are likely meant."""
        if self.keyword == "enum":
            allowed = self.node.once(say.allowed_values) if self.total == 1 else ()
            written = {in_json(each["value"]): each["value"] for each in self.changes if "value" in each}
            return [value for value in written.values() if value in allowed][:_MAX_NEAR]
        if self.code != "unknown":
            return ()
        beside = [path for path in self._ends("from", "path") if path[:-1] == self.first.path[:-1]]
        return list(dict.fromkeys(path[-1] for path in beside))[:_MAX_NEAR]

    def _ends(self, here: str, there: str) -> list[Path]:
        """Return the other ends of the likely moves to or from this place."""
        own, moves = pointer(self.first.path), [each for each in self.changes if each["op"] == "move"]
        return [path_at(self.refused.arguments, each[there]) for each in moves if each[here] == own]

    def _message(self) -> str:
        words, told = self.words, [self._where(path) for path in self.paths[:_PLACES_TOLD]]
        named = say.and_more(told, self.total - len(told), words)
        own = {"missing": self._missing, "unknown": self._unknown, "ambiguous": self._ambiguous}
        if self.code in own:
            said = own[self.code](named)
        elif self.code == "size":
            said = words("{place} is too large or too deeply nested. Send less at once.", place=named)
        else:
            said = words.sentences(self._refusal(named), self._hint())
        undeclared = self._undeclared(self.refused.look(())) if self.names_ignored else ""
        rest = words.plural(*say.MORE_FAULTS, self.untold) if self.untold else ""
        return words.sentences(cut(words.sentences(said, undeclared, self._formats()), _MAX_MESSAGE), rest)

    def _formats(self) -> str:
        """Return which texts are no fault, but lack their format, so that the tool may fail with them."""
        words, places = self.words, dict[str, list[str]]()
        for text in self.unformatted[:_PLACES_TOLD]:
            form = next(way.format for way in text.ways if way.format)
            places.setdefault(say.requirement("format", form, words), []).append(self._where(text.path))
        must = ((words.all_of(names), len(names), asked) for asked, names in places.items())
        return words.sentences(*[words.plural(*_MUST, n, places=at, asked=asked) for at, n, asked in must])

    def _where(self, path: Path) -> str:
        told = place(self.refused.look(path).shown, quoted=True)
        return f"'{told}'" if path else self.words("the arguments")

    def _or_meant(self) -> str:
        names = [*map(in_json if self.keyword == "enum" else quoted, self.near)]
        return self.words("Did you mean {names}?", names=self.words.either(names)) if names else ""

    def _refusal(self, named: str) -> str:
        """Return what a value must be, and what was sent."""
        asked, reason, received = self._asked(), self._reason(), self._received()
        if reason and received and self.code == "format":
            received = f"{received} ({reason})"
        must = _MUST_NOT_AS if received and not self.is_of_key and not self.sends_json_text else _MUST
        return self.words.plural(
            *(must if asked else _IS_NOT if reason else _IS_NOT_BY_TOOL),
            self.total if asked or self.first.path else 2,
            places=self.words("the key {name}", name=named) if self.is_of_key else named,
            asked=asked,
            received=received,
            reason=reason.rstrip(".。"),
        )

    def _asked(self) -> str:
        """Return what the schema asks of a value, to follow "must"."""
        words, faults = self.words, self.faults[0].bound if self.is_of_key else self.faults
        if not any(fault.keyword in ("type", "enum") for fault in faults):
            return self._range() or words.all_of(
                [text for fault in faults if (text := say.limit(fault, words))]
            )
        wanted = self._wanted()
        return words("be {thing}", thing=wanted) if wanted else ""

    def _range(self) -> str:
        """Return both ends of the range that a number is outside of; empty if it has not two, or is refused for more."""
        least, most = self.node.says("minimum")[:1], self.node.says("maximum")[:1]
        is_outside = [each.keyword for each in self.faults] in (["minimum"], ["maximum"])
        if not (is_outside and least and most and fits_json([*least, *most], MAX_TOLD)):
            return ""
        return self.words("be from {least} to {most}", least=in_json(least[0]), most=in_json(most[0]))

    def _wanted(self) -> str:
        words, wanted = self.words, self.node.once(say.expected, self.words)
        if not wanted or not self.sends_json_text:
            return wanted
        wanted = words("{expected}, sent as a string that holds JSON", expected=wanted)
        sample = self.node.once(say.example)
        return words("{thing} such as {sample}", thing=wanted, sample=in_json(sample)) if sample else wanted

    def _reason(self) -> str:
        """Return the author's sentence, or the validator's in our words, unless the type says it."""
        own, above = self.own, [path[:-1] for path in self.paths]
        places = [self.refused.look(path) for path in above] if self.is_of_key else self.places
        detail = self.refused.safe_sentence(places, own.detail, _MAX_DETAIL) if own.detail else ""
        is_of_type = self.code == "type" and self.first.node is not None
        return detail or ("" if is_of_type else self.words.of(own.reason or ""))

    def _received(self) -> str:
        """Return the value or type, with its size if that is limited; empty if its type alone is right."""
        words, value = self.words, self.first.value
        if self.is_of_key:
            return words(ONE_OF_A_TYPE["string"])
        is_told = self.echoes and value is not None
        if is_told:
            told = words(_RECEIVED[json_type(value)], value=in_json(value))
        else:
            told = words.either([words(ONE_OF_A_TYPE[each]) for each in self.types])
        names = [each.keyword[3:] for each in self.faults if each.keyword is not None]
        sizes = [say.SIZES[name] for name in names if name in say.SIZES]
        if sizes and self.total == 1 and isinstance(value, (str, list, Mapping)):
            size = words.plural(*sizes[0], len(value))
            return words("{received} of {size}", received=told, size=size)
        return told if is_told or self.keyword in ("type", "enum", None) else ""

    def _ambiguous(self, named: str) -> str:
        """Name the readings; one that is long, or that may hold a secret, is masked."""
        refused, rivals = self.refused, self.rivals[:_MAX_NEAR]
        readings = [in_json(each) if refused.may_tell(self.first, each) else HIDDEN for each in rivals]
        text = marked("{place} can be read as {readings}. Send the one that is meant, as JSON.")
        return self.words(text, place=named, readings=self.words.either(readings))

    def _hint(self) -> str:
        words, value, without = self.words, self.first.value, self._leave_out()
        if self.keyword == "enum":
            return words.sentences(self._or_meant(), self._several(value), without)
        if self.code in ("length", "pattern", "format", "range"):
            return without or self._beyond_limit()
        if without or self.keyword != "type" or value is None:
            return without
        if isinstance(value, str):
            return self._not_as_text()
        if self.kinds & _CONTAINERS:
            is_told = self.node.once(say.names_items)
            holders = (way for way in self.node.ways if way.is_only("array") and way.items.takes(value))
            sample = None if is_told or not self._sample() else next(holders, self.node).once(say.example)
            like = words("Write it like {sample}.", sample=sample) if sample else ""
            shape = self.node.once(say.shape, words)
            return self.node.once(say.choice, words) or words.sentences(self._about(), shape, like)
        if isinstance(value, (Mapping, list)):
            return self._several(value) or self._not_as_container(value)
        if isinstance(value, float) and self.kinds == {"integer"}:
            return words.sentences(self._about(), words("Send a whole number."))
        is_short = self.kinds == {"string"} and short_scalar(value)
        return self._about() if is_short and not self.node.takes(in_json(value)) else ""

    def _beyond_limit(self) -> str:
        """Say what to do about a value of the right type; no message to a destructive tool advises more calls."""
        words, value = self.words, self.first.value
        if self.code in ("pattern", "range"):
            return self._about()
        if self.code == "format":
            return words(_TIME_ZONE) if self.faults[0].bound == "date-time" and not self._reason() else ""
        is_list = (
            isinstance(value, list)
            and self.keyword == "maxItems"
            and not any(way.prefix for way in self.node.ways)
        )
        is_split = is_list and len(self.first.path) == 1 and not self.refused.destructive
        return words("If each item stands alone, send the rest in another call.") if is_split else ""

    def _sample(self) -> str | None:
        """Return the value as it should be sent, if a fix says it; else an example that is not taken for a real value."""
        patch = self.fixes[0] if self.fixes else ()
        items = patch[0].get("value") if [each["op"] for each in patch] == ["replace"] else None
        if isinstance(items, list) and all(isinstance(each, str) for each in items):
            return in_json(items)  # `1,234` may be one number
        is_risky = self.refused.destructive or is_identifier(self._name)
        return None if is_risky else self.node.once(say.example)

    def _not_as_text(self) -> str:
        words, kinds = self.words, self.kinds
        if self.broken is not None:
            return str(words.of(say.broken(self.broken)))
        if self.takes_text_alone and (kinds & _CONTAINERS or "boolean" in kinds):
            return ""
        sample = self._sample()
        if kinds & _CONTAINERS:
            shape = self.node.once(say.choice if sample else say.shape, words)
            form = sample or ("{…}" if "object" in kinds else "[…]")
            like = marked("Write it like {sample}.")
            if "object" not in kinds or looks_like_json(self.first.value):
                like = marked("Write it as JSON, like {sample}, not as text.")
            return shape or words.sentences(self._about(), words(like, sample=form))
        if not kinds <= {"boolean", "number", "integer"} or say.allowed_values(self.node, partly=True):
            return ""
        if "boolean" in kinds:
            or_nothing = "" if self.fixes else self._or_left_out()
            return words.sentences(words("Write true or false, without quotes."), or_nothing)
        text = self.first.value
        if any(map(str.isdigit, text)):  # `2026-01-31` for a time stamp is more than another spelling
            return words("Send a whole number.") if number_in_text(text) is not None else self._about()
        return words.sentences(self._about(), self._or_left_out())

    def _several(self, value: Any) -> str:
        """Say how to send several values where one is taken; no message to a destructive tool advises more calls."""
        is_list = isinstance(value, list) and 1 < len(value) <= _MOST_CALLS and not self.refused.destructive
        fits = [self.node.takes(item) for item in value] if is_list else []
        if not any(fits) or len(self.first.path) > 1:
            return ""
        if is_command(value) and self.node.takes(" "):
            return self.words("Write the command as one string.")
        is_free = not any(way.format for way in self.node.ways) and all(
            isinstance(item, str) for item in value
        )
        advice = marked("Send one value; call once for each only if each needs its own call.")
        if is_free and all(fits) and self.node.takes("\n".join(value)):
            advice = marked("Join it if it is one text; else call once for each.")
        return self.words.sentences("" if self.code == "missing" else self._about(), self.words(advice))

    def _not_as_container(self, value: Mapping[str, Any] | list[Any]) -> str:
        if is_echo(self.node, value):
            return self.words("This is the schema of the value: send the value itself.")
        formats = {way.format for way in self.node.ways}
        if isinstance(value, Mapping) and len(formats) == 1 and formats <= say.SAMPLES.keys() - {"json"}:
            like = self.words("Write it like {sample}.", sample=self.node.once(say.example) or "")
            return self.words.sentences(like, self.words(_TIME_ZONE) if formats == {"date-time"} else "")
        is_any_text = formats == {None} and not any(way.enum for way in self.node.ways)
        is_flat = isinstance(value, list) and not any(isinstance(each, (Mapping, list)) for each in value)
        is_whole = len(self.first.path) == 1
        if (
            is_whole
            and self.kinds == {"string"}
            and ((is_any_text and not is_flat) or formats & {"json", "json-string"})
        ):
            is_json = marked("Send a string, and JSON text only if JSON is asked for.")
            return self.words.sentences(self._about(), self.words(is_json))
        return self.words("Send one value.") if self.kinds else ""

    def _leave_out(self) -> str:
        """Say whether a value may be left out that means "no value" or no allowed one; never of a destructive tool."""
        first, words = self.first, self.words
        if first.optional and any(each["op"] == "remove" for each in self.changes):
            return self._or_left_out(marked("Leave it out if you have no value."))
        is_none_of_several = len(self.node.once(say.allowed_values)) > 1 and not self.near
        if (
            is_none_of_several
            and len(first.path) == 1
            and first.value is not None
            and not _CONTAINERS.intersection(self.types)
        ):
            return self._or_left_out()
        is_named = bool(first.path) and isinstance(first.path[-1], str)
        is_null = first.value is None and first.declared and is_named and not first.optional
        return words("It cannot be left out: send a value.") if is_null and self.total == 1 else ""

    def _missing(self, named: str) -> str:
        words, needed = self.words, self.faults[0].bound
        if needed:
            names = words.either([words.all_of(list(map(quoted, each))) for each in needed])
            around = self._where(self.first.path[:-1])
            return words("either {names} must be sent in {place}.", place=around, names=names)
        wanted = self._wanted()
        told = words.plural(
            "{places} is required but was not sent.",
            "{places} are required but were not sent.",
            self.total,
            places=named,
        )
        if self.at_length and not self.refused.arguments:
            told = words("the arguments arrived empty. {rest}", rest=told)
        return words.sentences(
            told,
            words("It must be {expected}.", expected=wanted) if wanted else "",
            self.node.once(say.shape, words) if wanted else "",
            self._about(),
            self._sent_elsewhere(),
        )

    def _about(self, node: Node | None = None) -> str:
        about = (node or self.node).once(say.description).rstrip(".。, ")
        return self.words("It means: {about}.", about=about) if about else ""

    def _sent_elsewhere(self) -> str:
        words, (*above, name) = self.words, self.first.path
        around = self.refused.look((*above,))
        if echoed := self._echoed(around):
            return echoed if self.at_length else ""
        sent = self._ends("path", "from")
        if (inside := sent[0][:-1] if sent else ()) and not above:
            return words("It was sent inside {place}: send it at the top.", place=self._where(inside))
        for key, content in entries(around.value):
            if isinstance(name, str) and fold_name(name) in map(fold_name, names_in_markup(content)):
                said = marked("It came as markup inside {place}: send each as a parameter of its own.")
                return words(said, place=self._where((*above, key)))
            holder = self.refused.look((*above, key))
            is_other = not any(name in way.properties for way in holder.ways)
            if isinstance(content, Mapping) and name in content and holder.declared and is_other:
                said = marked("It was sent inside {place}: if that is the one, send it beside {place}.")
                return words(said, place=self._where(holder.path))
        beside = dict.fromkeys(path for path in sent if path[:-1] == (*above,) and self._may_take(path))
        told = words.either([self._where(path) for path in beside][:_MAX_NEAR])
        if told:
            said = words("If {names} is meant, send it under this name.", names=told)
            several = self._several(self.refused.look(next(iter(beside))).value) if len(beside) == 1 else ""
            return words.sentences(said, several)
        return self._undeclared(around) if self.at_length and above else ""

    def _may_take(self, path: Path) -> bool:
        """Return whether a value may be sent here: it is accepted, or is of another type, which may be repaired."""
        value = self.refused.look(path).value
        is_taken = self.node.takes(value) and not any(without_format(self.node, value, path))
        return is_taken or json_type(value) not in self.kinds

    def _echoed(self, around: Location) -> str:
        is_echoed = any(is_echo(way, around.value) for way in around.ways)
        return (
            self.words("What was sent is the schema: send the values that it describes.") if is_echoed else ""
        )

    def _undeclared(self, around: Location) -> str:
        """Name what was sent under undeclared names, where that is allowed and so no violation of its own."""
        ways = self.refused.meant(around)
        if not isinstance(around.value, Mapping) or any(way.closed for way in ways):
            return ""
        ends = [path for path in self._ends("path", "from") if self._may_take(path)]
        moved = {path[-1] for path in ends if path[:-1] == around.path}
        names_sent = (key for key in around.value if isinstance(key, str) and key not in moved)
        sent = [key for key in names_sent if not any(way.declares(key) for way in ways)]
        places = [self.refused.look((*around.path, key)) for key in sent[:_MAX_NEAR]]
        names = [self._where(each.path) for each in places if HIDDEN not in each.shown]
        text = marked(
            "The tool does not know {names} and may ignore it; it may belong under a declared name."
        )
        return self.words(text, names=self.words.all_of(names)) if names else ""

    def _unknown(self, named: str) -> str:
        words, above = self.words, self.refused.look(self.first.path[:-1])
        told = words.plural(
            "unknown parameter {names}.", "unknown parameters {names}.", self.total, names=named
        )
        ways, meant, below = self.refused.meant(above), self._or_meant(), len(self.first.path)
        inside = [each[:below] for each in self._ends("from", "path") if len(each) > below]
        if echoed := self._echoed(above):
            meant = echoed if self.at_length else ""
        elif not meant and inside and inside[0][:-1] == above.path:
            node = self.refused.look((*inside[0], self.first.path[-1])).node
            is_of_type = node is None or node.accepted_types >= self.types.keys()
            wanted = "" if node is None or is_of_type else node.once(say.expected, words)
            must = words("It must be {expected}.", expected=wanted) if wanted else ""
            meant = words.sentences(words("It belongs inside {place}.", place=self._where(inside[0])), must)
        elif not meant and (holder := _open_holder(ways, self.first.path[-1])):
            meant = words("It may belong inside {place}.", place=self._where((*above.path, holder)))
        if len(self.near) == 1 and is_identifier(self.near[0]) and not is_identifier(self._name):
            meant = words.sentences(meant, self._about(ways[0].child(self.near[0])))  # `list` may be no ID
        accepted = self._accepted(ways) if self.at_length else ""
        is_lost = not meant and self.at_length and not self.changes
        rest = words("Leave out only what nothing needs.") if is_lost else ""
        if self.is_several:
            rest = words("It may hold several of what is missing: send each under its own name.")
        return words.sentences(told, meant, accepted, rest)

    def _accepted(self, ways: Sequence[Node]) -> str:
        """Name the parameters of the branches that may be meant, but not of those that declare this name."""
        words, sent = self.words, self.first.path[-1]
        others = [way for way in ways if sent not in way.properties]
        names = list(dict.fromkeys(name for way in others for name in way.properties))
        if not names:
            return words("No parameters are accepted here.")
        some = say.first_of(list(map(quoted, names)), say.NAMES_TEXT, words)
        return words.plural("Accepted is {names}.", "Accepted are {names}.", len(names), names=some)


def _open_holder(ways: Sequence[Node], sent: object) -> str:
    """Return the only parameter for arguments of any names, or of names that its description gives; empty if there is none."""
    nodes = ways[0].property_nodes if ways else {}
    free = {name: node for name, node in nodes.items() if is_free_object(node)}
    found = [name for name in free if name in WRAPPERS]
    described = [name for name, node in free.items() if sent in name_words(say.description(node))]
    holders = found or described
    return holders[0] if len(holders) == 1 else ""
