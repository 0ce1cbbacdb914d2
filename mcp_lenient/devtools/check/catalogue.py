"""The rules of the linter, in the order in which the findings of a tool are listed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal, get_args

from mcp_lenient.devtools.check.surface import Spot, Surface, within
from mcp_lenient.engine.tool import says_effect
from mcp_lenient.errors import LenientError
from mcp_lenient.portable.provider_limits import ListedTool, rejections
from mcp_lenient.schema.compile import readable
from mcp_lenient.schema.drafts import ANNOTATIONS
from mcp_lenient.schema.node import Node
from mcp_lenient.values.display import cut, first_sentences, name_words
from mcp_lenient.values.json_values import pointer, tokens_of
from mcp_lenient.values.language import Language
from mcp_lenient.values.names import fold_name, is_slip, singular

Level = Literal["note", "warning", "error"]
"""How much a finding matters.

``note``: right as it is, and some callers will still get it wrong. ``warning``: callers will be
misunderstood. ``error``: no call can be right, or none can be validated.
"""
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


class UnknownNameError(LenientError, ValueError):
    """A code, pattern or provider that names nothing; the message lists the names."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule finds in a tool, at a place of its arguments if there is one; ``level`` if it differs from the rule's."""

    reason: str
    fix: str
    place: str = ""
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of the linter.

    Attributes:
        level: The severity of its findings, unless a finding has its own.
        why: What goes wrong if nothing is changed.
        find: The function that looks at one tool. Its docstring is the rule's summary.
    """

    level: Level
    why: str
    find: Callable[[Surface], Iterable[Hit]]

    @property
    def code(self) -> str:
        """Return its stable name, used to select and ignore it."""
        return self.find.__name__

    @property
    def summary(self) -> str:
        """Return what it looks for, in one sentence."""
        return self.find.__doc__ or ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that callers of a tool will misunderstand.

    Attributes:
        code: The rule that found it.
        level: Its severity.
        tool: The tool.
        place: The parameter, such as ``rows[].age``; empty for the whole tool.
        reason: What will go wrong.
        mend: How to fix it.
        file: The file of the tool's function, if known.
        line: The first line of that function.
    """

    code: str
    level: Level
    tool: str
    place: str
    reason: str
    mend: str
    file: str | None = None
    line: int | None = None


def _check(level: Level, why: str) -> Callable[[Callable[[Surface], Iterable[Hit]]], Check]:
    return lambda find: Check(level, why, find)


@_check("error", "No call can be validated, so nothing is repaired and callers do not learn what is wrong.")
def schema_unusable(surface: Surface) -> Iterator[Hit]:
    """The input schema is not valid, or refers to something outside it."""
    read = readable(surface.input_schema)
    if read.unread:
        yield Hit(
            f"Part of the input schema cannot be read: {read.summary}.",
            "Make it valid JSON Schema that refers to nothing outside itself.",
        )


_LONGEST_REASON: Final = 200
_TYPE_NAMES: Final = "array, boolean, integer, null, number, object or string"
_BOUND: Final = "Write the bound itself under '{0}', as a number, and take '{1}' out."
_CORRECTIONS: Final[Mapping[str, str]] = {
    "type": f"A type is {_TYPE_NAMES}, or a list of some of these.",
    "required": "List the names that must be sent under 'required' of the object that declares them.",
    "enum": "List the allowed values under 'enum'.",
    "items": "Write one schema under 'items'; where each place of a list has its own, list them under 'prefixItems'.",
    "properties": "Write an object under 'properties', with a schema for each name.",
    "exclusiveMinimum": _BOUND.format("exclusiveMinimum", "minimum"),
    "exclusiveMaximum": _BOUND.format("exclusiveMaximum", "maximum"),
}
"""What to change, by the keyword that is written wrong."""


@_check(
    "warning",
    "Clients that compile the schema drop the tool or the keyword, and each model reads it differently.",
)
def schema_invalid(surface: Surface) -> Iterator[Hit]:
    """A keyword of the input schema has a value that JSON Schema does not allow."""
    fault = _fault(surface.input_schema)
    if fault is None:
        return
    path, words = fault
    keyword = next((part for part in reversed(path) if isinstance(part, str)), "type")
    correction = _CORRECTIONS.get(keyword, f"Write '{keyword}' as JSON Schema 2020-12 has it.")
    yield Hit(
        f"The input schema is not valid JSON Schema at {pointer(path) or '/'}: {cut(words, _LONGEST_REASON)}.",
        correction,
        str(path[1]) if len(path) > 1 and path[0] == "properties" else "",
    )


def _fault(schema: Mapping[str, Any]) -> tuple[tuple[str | int, ...], str] | None:
    """Return the place and message of the most relevant error in a schema, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    # Nothing is fetched: a meta-schema only refers to itself, and the schema's references are not followed.
    dialect = validator_for(schema, default=Draft202012Validator)
    try:
        fault = best_match(dialect(dialect.META_SCHEMA).iter_errors(schema))
    except RecursionError:
        return None  # nested too deeply to read; `schema_unusable` reports it
    if fault is None:
        return None
    # None of several forms is closer, and jsonschema's message for that does not describe this schema.
    words = f"{fault.instance!r} is not allowed there" if fault.validator == "anyOf" else fault.message
    return tuple(fault.absolute_path), words


_PROVIDERS: Final = ("anthropic", "openai")
_TESTED: Final = frozenset({"tool_name", "property_names", "not_at_root"})


@_check("warning", "The whole request gets an error, and some clients drop the tool.")
def request_rejected(surface: Surface) -> Iterator[Hit]:
    """Anthropic or OpenAI rejects the tool's name, a parameter's name, or a keyword at the root of the schema."""
    listed = [ListedTool(surface.tool.name, surface.input_schema)]
    failed = (entry for of in _PROVIDERS for entry in rejections(listed, of) if entry.limit.test in _TESTED)
    for breach in {(entry.limit.test, entry.pointer): entry for entry in failed}.values():
        path = tokens_of(breach.pointer)
        yield Hit(
            f"{breach.limit.of} rejects each request with this tool, since it asks for this: {breach.limit.rule}.",
            breach.limit.change + ("" if breach.limit.test == "tool_name" else ' Or use publish="portable".'),
            path[1] if path[:1] == ["properties"] else "",
        )


@_check("warning", "Callers cannot know what to send under it.")
def required_undeclared(surface: Surface) -> Iterator[Hit]:
    """A required name is not declared; an error if other names are forbidden."""
    for place, node in surface.objects:
        for name in sorted(node.required - node.properties.keys()):
            if node.child(name) is not None or node.declares(name):
                continue
            where = within(place, name)
            yield Hit(
                f"'{where}' is required, but not declared: callers cannot know what it is"
                + (", and no call can be right, since other names are forbidden." if node.closed else "."),
                "Declare it under properties, or take it out of required.",
                where,
                "error" if node.closed else None,
            )


_DEPRECATED: Final = re.compile(r"\bdeprecated\b", re.IGNORECASE)


@_check("warning", "Models call either of them, and the list costs tokens for both.")
def deprecated_listed(surface: Surface) -> Iterator[Hit]:
    """A tool that its description calls deprecated is listed beside the one that it names instead."""
    description = surface.tool.description or ""
    if _DEPRECATED.search(description) is None:
        return
    others = surface.listed - {surface.tool.name}
    named = [word for word in re.findall(r"[A-Za-z0-9_.-]+", description) if word.rstrip(".") in others]
    if named:
        yield Hit(
            f"The tool calls itself deprecated, and is listed beside '{named[0].rstrip('.')}', which it names instead.",
            "Take it out of the list, by tags or a version of the server.",
        )


@_check("warning", "Models choose a tool and its arguments by its description.")
def tool_without_description(surface: Surface) -> Iterator[Hit]:
    """A tool has no description."""
    if not (surface.tool.description or "").strip():
        yield Hit(
            "The tool has no description, so callers only know its name.",
            "Give its function a docstring that says what it does and when to use it.",
        )


@_check("warning", "Clients do not see it, and take the tool for one that says nothing.")
def hint_misspelled(surface: Surface) -> Iterator[Hit]:
    """An annotation is not in MCP's spelling, as with ToolAnnotations(destructive_hint=True) on FastMCP 3."""
    for written, name in surface.misspelled_hints.items():
        yield Hit(
            f"Clients do not know the annotation '{written}'.",
            f"Write '{name}', such as annotations={{\"{name}\": True}}.",
        )


_VERBS: Final = frozenset(
    "delete destroy erase purge remove uninstall unlink wipe send buy pay refund".split()
)
_NAME_VERBS: Final = _VERBS | frozenset(
    "clear truncate notify post publish reply tweet charge purchase transfer withdraw".split()
)
"""Words of deleting, sending and paying, which only add findings. Sentences also use some of them for other things."""
_LONGEST_SENTENCE: Final = 200


@_check("warning", "It gets every repair, and clients may run it without asking.")
def effect_unsaid(surface: Surface) -> Iterator[Hit]:
    """A tool's name or first sentence speaks of deleting, sending or paying, and no annotation says what it does."""
    if surface.destructive or says_effect(surface.tool.annotations):
        return
    sentence = name_words(first_sentences(surface.tool.description, _LONGEST_SENTENCE, 1))
    verbs = [word for word in name_words(surface.tool.name) if word in _NAME_VERBS]
    verbs += (word for word in sentence if {word, word.removesuffix("s")} & _VERBS)
    if verbs:
        yield Hit(
            f"The tool says '{verbs[0]}', but no annotation says whether it is destructive.",
            'Add annotations={"destructiveHint": True}; False if it destroys nothing, or {"readOnlyHint": True} '
            "if it changes nothing.",
        )


@_check(
    "note",
    "What is not a call of that function is not seen: all arguments as one text, a tool's name in another spelling, and right calls in the log.",
)
def decorator_alone(surface: Surface) -> Iterator[Hit]:
    """The function has `@lenient`, and the server has no LenientMiddleware."""
    if surface.decorated_alone and surface.spots:
        reason = "@lenient sees calls of this function; only the middleware sees what does not reach it."
        yield Hit(reason, "Add LenientMiddleware() to the server.")


_SAYS_NOTHING: Final = ANNOTATIONS | {"$ref"}


@_check("warning", "A list or number sent as text is accepted as text, so it is not repaired.")
def untyped_parameter(surface: Surface) -> Iterator[Hit]:
    """A parameter takes any JSON value; a note if it is described, and for the items of a list."""
    for spot in surface.spots:
        if surface.is_normalized(spot):
            continue
        if spot.name is not None and _is_untyped(spot.node):
            level: Level | None = "note" if spot.description else None
            yield Hit(
                f"'{spot.place}' takes any JSON value, so a list that a caller writes as text arrives as text.",
                "Give it a type. If it really may be anything, describe how to write it.",
                spot.place,
                level,
            )
        elif any(_has_untyped_items(node) for node in spot.node.branches):
            yield Hit(
                f"The items of '{spot.place}' may be anything, so a number sent as text stays text.",
                "Give the items a type, such as list[str].",
                f"{spot.place}[]",
                "note",
            )


def _is_untyped(node: Node) -> bool:
    parts = [part for branch in (node, *node.branches) for part in branch.parts]
    return node.accepts({}) and node.accepts("") and all(_SAYS_NOTHING.issuperset(part) for part in parts)


def _has_untyped_items(node: Node) -> bool:
    if not node.is_only("array") or node.prefix_items or node.enum is not None:
        return False
    return node.items.schema in (None, True, {})


_TEXTS: Final[Mapping[str, str]] = {"array": '["a"]', "object": '{"a": 1}'}
_ARTICLES: Final = {"array": "a list", "object": "an object"}


@_check("warning", "A list sent as JSON text is accepted as text: the most frequent mistake goes unnoticed.")
def text_or_container(surface: Surface) -> Iterator[Hit]:
    """A parameter takes a list or an object, and also any text."""
    for spot in surface.spots:
        if surface.is_normalized(spot) or _is_untyped(spot.node):
            continue
        kinds = [kind for kind in _TEXTS if _takes_as_text(spot, kind)]
        if kinds:
            kind = kinds[0]
            yield Hit(
                f"'{spot.place}' takes {_ARTICLES[kind]} and also any text, so {_ARTICLES[kind]} sent as "
                f"JSON text ({_TEXTS[kind]!r}) is accepted as text, and nothing can tell it was not meant as text.",
                f"Take only {_ARTICLES[kind]}: the middleware then repairs a single value"
                + (", or declare tags() or parse_json() for it." if kind == "array" else "."),
                spot.place,
            )


def _takes_as_text(spot: Spot, kind: str) -> bool:
    has_kind = any(kind in (node.declared_types or ()) for node in spot.node.branches)
    text = any("string" in (node.declared_types or ()) and node.enum is None for node in spot.node.branches)
    return has_kind and text and spot.node.accepts(_TEXTS[kind])


_JSON_TEXT: Final = re.compile(
    r"\bJSON[- ](?:encoded |formatted )?(?:string|text)\b|\bJSON[- ](?:encoded|serialized|stringified)\b"
    r"|\bstringified JSON\b|\b(?:as|in) JSON format\b",
    re.IGNORECASE,
)


@_check("note", "Callers send the JSON itself or escape it wrongly, and the schema cannot describe it.")
def json_in_text(surface: Surface) -> Iterator[Hit]:
    """A text parameter must contain JSON."""
    for spot in surface.spots:
        only_text = [node for node in spot.node.branches if not node.is_only("null")]
        if not only_text or not all(node.is_only("string") for node in only_text):
            continue
        formats = {node.format for node in only_text}
        if surface.is_normalized(spot) or any(node.enum for node in only_text):
            continue
        if formats & {"json-string", "json"} or _JSON_TEXT.search(spot.description):
            yield Hit(
                f"'{spot.place}' is a text that holds JSON: callers send the JSON itself, or escape it wrongly.",
                "Take the list or object itself; the middleware then reads JSON text sent for it.",
                spot.place,
            )


@_check("warning", "Callers guess the keys, and a misspelled key is silently accepted.")
def free_form_object(surface: Surface) -> Iterator[Hit]:
    """An object declares neither its properties nor the type of its values; a note if it is described."""
    has_example = '{"' in (surface.tool.description or "")
    for spot in surface.spots:
        if not _is_untyped(spot.node) and any(_is_free_form(node) for node in spot.node.branches):
            yield Hit(
                f"'{spot.place}' is an object with any keys: callers have to guess them, and a misspelled key is accepted.",
                "Declare its properties (a Pydantic model or TypedDict), or the type of its values, "
                "such as dict[str, str].",
                spot.place,
                "note" if spot.description or has_example else None,
            )


def _is_free_form(node: Node) -> bool:
    if not node.is_only("object") or node.properties or node.patterns or node.closed or node.enum:
        return False
    return not (isinstance(node.additional, Mapping) and node.additional)


_FORBIDDING: Final = (
    'Add {}"additionalProperties": false to its schema; or have such names repaired by Policy(closed=True).'
)


@_check("note", "A misspelled name is silently accepted, and the tool runs without its value.")
def optional_overlooked(surface: Surface) -> Iterator[Hit]:
    """An object with optional names takes any other name too; a warning for an object inside the arguments."""
    if surface.closed:
        return
    reported: set[tuple[int, ...]] = set()
    for place, node in surface.objects:
        optional = [name for name in node.properties if name not in node.required]
        model = tuple(map(id, node.properties.values()))
        if not optional or node.closed or node.additional is not None or model in reported:
            continue
        reported.add(model)
        whose = f"'{place}' takes" if place else "The arguments take"
        yield Hit(
            f"{whose} any name, so a caller who misspells '{optional[0]}' is not told, and the tool runs without it.",
            _FORBIDDING.format(
                'the line model_config = ConfigDict(extra="forbid") to its Pydantic model, or ' * bool(place)
            ),
            place,
            "warning" if place else None,
        )


_LONGEST_DEFAULT: Final = 60


@_check("warning", "Callers copy defaults from the schema, and the call is refused.")
def default_refused(surface: Surface) -> Iterator[Hit]:
    """A parameter's own default does not fit its type."""
    for spot in surface.spots:
        for default in spot.node.default:
            # A server of which only the schema is known may take its other defaults, and so does the middleware before it.
            is_certain = surface.file is not None or default is None
            if is_certain and not spot.node.accepts(default):
                written = cut(json.dumps(default, default=repr), _LONGEST_DEFAULT)
                correction = (
                    "Let it be null (such as list[str] | None = None)."
                    if default is None
                    else "Make the default one of the values that the type allows."
                )
                yield Hit(
                    f"The default of '{spot.place}', {written}, is refused when sent, and callers copy defaults.",
                    correction,
                    spot.place,
                )


@_check(
    "note", "Many callers send null instead of leaving it out; without the middleware the call is refused."
)
def optional_not_nullable(surface: Surface) -> Iterator[Hit]:
    """Parameters may be left out, but not null."""
    if surface.drops_null:
        return
    names = [
        f"'{spot.place}'"
        for spot in surface.parameters
        if spot.optional
        and not surface.is_normalized(spot)
        and not spot.node.accepts(None)
        and None not in spot.node.default
    ]
    if names:
        yield Hit(
            f"{Language().all_of(names)} may be left out but not null, and many callers send null instead of leaving it out.",
            # In destructive tools the middleware never leaves out null.
            "Take null as well."
            if surface.destructive
            else "Put LenientMiddleware or its proxy in front, which leaves such a null out; or take null as well.",
            names[0].strip("'") if len(names) == 1 else "",
        )


_SHORT: Final = 2


@_check("note", "Callers can only guess from the spelling of a value.")
def enum_without_description(surface: Surface) -> Iterator[Hit]:
    """Nothing says what the allowed values mean; a warning if a value is a number or a short code."""
    description = (surface.tool.description or "").casefold()
    for spot in surface.spots:
        values = _values(spot)
        name = spot.name or spot.place.rpartition(".")[2].partition("[")[0]
        if len(values) < 2 or spot.description or _is_mentioned(name, values, description):
            continue
        opaque = [value for value in values if not isinstance(value, str) or len(value) <= _SHORT]
        yield Hit(
            f"Nothing says what the {len(values)} allowed values of '{spot.place}' mean"
            + (f", and {opaque[0]!r} does not say it by itself." if opaque else "."),
            "Describe them (Annotated[..., Field(description=...)]), or name the parameter in the tool's description.",
            spot.place,
            "warning" if opaque else None,
        )


def _values(spot: Spot) -> list[Any]:
    return [
        value
        for node in spot.node.branches
        for value in node.enum or ()
        if value is not None and not isinstance(value, bool)
    ]


def _is_mentioned(name: str, values: list[Any], description: str) -> bool:
    def has(word: str) -> bool:
        return re.search(rf"\b{re.escape(word.casefold())}\b", description) is not None

    return has(name) or has(name.replace("_", " ")) or sum(map(has, map(str, values))) * 2 >= len(values)


_MOST_NAMES: Final = 100


@_check("warning", "A caller who mixes them up gets no error, and no repair can notice.")
def names_one_slip_apart(surface: Surface) -> Iterator[Hit]:
    """Two names of one object differ by a letter, by singular and plural, or by case style."""
    for place, node in surface.objects:
        names = list(node.property_nodes)[:_MOST_NAMES]
        for one, other in combinations(names, 2):
            if apart := _apart(one, other):
                lists = {_takes_lists(node.property_nodes[name]) for name in (one, other)}
                yield Hit(
                    f"'{one}' and '{other}' differ only by {apart}: callers mix them up, and both are accepted.",
                    "Give one of them a clearly different name.",
                    within(place, one),
                    "note" if len(lists) == 2 else None,  # where only one is a list, a mix-up is refused
                )


def _takes_lists(node: Node) -> bool:
    return any("array" in (branch.declared_types or ()) for branch in node.branches)


def _apart(one: str, other: str) -> str | None:
    if fold_name(one) == fold_name(other):
        return "case style"
    if singular(one) == singular(other):
        return "singular and plural"
    if is_slip(one, other):
        return "a letter"
    return None


_PYTHON: Final = (
    re.compile(r"`(None|True|False)`"),
    re.compile(r"['\"](None|True|False)['\"]"),
    re.compile(
        r"(?:\bor|\|\||\||=|\bis|\bto|\buse|\bpass|\bif|\bset|\bdefaults?:?|\bas|\bbe|\bset:)\s+(None)\b"
    ),
    re.compile(r"(?:\||=|\bto|\buse|\bpass|\bset|\bdefaults?:?|\bis|\bor|\bbe)\s+(True|False)\b"),
    re.compile(r"(\b(?:Optional|List|Dict|Union|Tuple|list|dict|tuple)\[[\w\[\], |.]+\])"),
    re.compile(r"(?<![\w\])])(\[\s*'[^'\n]{0,80}'(?:\s*,\s*'[^'\n]{0,80}')*\s*,?\s*\])"),
    re.compile(r"(\{\s*'[^'\n]{1,80}'\s*:[^}\n]{0,80}\}?)"),
    re.compile(r"(>>> [^\n]{1,60})"),
)
_AFTER_ARGUMENTS: Final = re.compile(
    r"^\s*(?:Returns?|Yields|Raises|Output)\s*:?\s*$.*", re.MULTILINE | re.DOTALL
)
_INSTEAD: Final = {"None": "null", "True": "true", "False": "false"}


@_check("warning", "Callers copy it into their JSON, where it becomes text or invalid JSON.")
def python_in_description(surface: Surface) -> Iterator[Hit]:
    """A description shows Python: None, True, single quotes, Optional[...]."""
    shown = _python_in(_AFTER_ARGUMENTS.sub("", surface.tool.description or ""))
    if shown is not None:
        yield _python_hit("", "The tool's description", shown)
    for spot in surface.spots:
        shown = _python_in(spot.direct_description)
        if shown is not None:
            yield _python_hit(spot.place, f"The description of '{spot.place}'", shown)


def _python_in(text: str) -> str | None:
    matches = [match for pattern in _PYTHON for match in [pattern.search(text)] if match is not None]
    return min(matches, key=lambda match: match.start(1)).group(1) if matches else None


def _python_hit(place: str, what: str, shown: str) -> Hit:
    short = " ".join(shown.split())
    json_word = _INSTEAD.get(short)
    return Hit(
        f"{what} shows Python ({short}): callers copy it into their JSON as text.",
        f"Write {json_word}."
        if json_word
        else "Show it in JSON: double quotes, true, false, null, array, object.",
        place,
    )


@_check(
    "note", "Callers cannot know what comes back, and clients validate every result against it for nothing."
)
def output_forbids_nothing(surface: Surface) -> Iterator[Hit]:
    """The output schema allows everything."""
    schema = surface.output_schema
    if schema is not None and _allows_all(schema):
        yield Hit(
            "The output schema allows everything, so callers cannot know what comes back.",
            "Return a Pydantic model or TypedDict; or publish no output schema (output_schema=None).",
        )


def _allows_all(schema: Mapping[str, Any]) -> bool:
    if schema.get("x-fastmcp-wrap-result"):
        inner = (schema.get("properties") or {}).get("result")
        return isinstance(inner, Mapping) and _SAYS_NOTHING.issuperset(inner)
    keywords = {name: value for name, value in schema.items() if name not in _SAYS_NOTHING}
    extra = keywords.pop("additionalProperties", True)
    return keywords in ({}, {"type": "object"}, {"type": "object", "properties": {}}) and extra in (True, {})


CHECKS: Final = tuple(entry for entry in tuple(globals().values()) if isinstance(entry, Check))
"""Every rule, in the order above, in which the findings of a tool are listed."""
