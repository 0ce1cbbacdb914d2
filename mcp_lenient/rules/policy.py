"""The policy: rules, limits and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeVar, get_args, runtime_checkable

from mcp_lenient.errors import PolicyError
from mcp_lenient.rules import DEFAULT_RULES, NameRule, Rule
from mcp_lenient.rules.dispatchers import Dispatcher
from mcp_lenient.rules.rules import RENAME_TOOL, TIER_OF
from mcp_lenient.values.language import ENGLISH, languages, resolved
from mcp_lenient.values.limits import Limits

Mode = Literal["repair", "observe", "off"]
Unrepairable = Literal["forward", "refuse"]
LogValues = Literal["none", "shapes"]
BodyErrors = Literal["raise", "envelope"]
LeakedMarkup = Literal["warn", "refuse"]
Unsaid = Literal["if_marked", "unless_read_only"]
Destructive = Unsaid | bool
_Aliases = Mapping[str, Sequence[str]]


class _DefaultRules(tuple[Rule, ...]):
    """The default rules, shown in signatures as ``DEFAULT_RULES``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "DEFAULT_RULES"


@runtime_checkable
class Face(Protocol):
    """What the core asks of the form in which a schema is published: a :class:`mcp_lenient.Form`."""

    @property
    def name(self) -> str:
        """Its name, as events have it."""

    def contract(self, inner: Any, listed: Mapping[str, Any], warn: Callable[..., None]) -> Any:
        """Return the contract of a tool whose schema is published in this form.

        Args:
            inner: The contract in the author's form.
            listed: The schema to publish.
            warn: Called with an event, the tool's name and the reason if it cannot be published so.
        """


def faces() -> Mapping[str, Face]:
    """Return the forms by their names."""
    # The only place where the core looks for a leaf, and only once somebody asks for a form.
    forms: Mapping[str, Face] = import_module("mcp_lenient.portable.forms").FORMS
    return forms


def face_named(face: str | Face) -> Face:
    """Return a form by its name; a form is returned unchanged.

    Raises:
        PolicyError: When there is no such form.
    """
    if isinstance(face, Face):
        return face
    forms = faces()
    if face not in forms:
        msg = f"publish must be one of {', '.join(map(repr, forms))}, or a Form; got {face!r}."
        raise PolicyError(msg)
    return forms[face]


PolicyT = TypeVar("PolicyT")


def _remembers_stated(policy: type[PolicyT]) -> type[PolicyT]:
    """Let each object of a dataclass know which of its fields were given to the constructor."""
    initialize: Any = policy.__init__

    @wraps(initialize)
    def __init__(self: PolicyT, **stated: Any) -> None:  # noqa: N807 - it becomes the method
        initialize(self, **stated)
        object.__setattr__(self, "stated", frozenset(stated))

    policy.__init__ = __init__  # type: ignore[method-assign, assignment]
    return policy


@_remembers_stated
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Policy:
    """The leniency of a server, or of some of its tools; frozen, and validated when built.

    What a policy for some tools does not state is that of the server: :meth:`under`. The how-to on policies has more of each field.

    >>> Policy(mode="observe", disable={"fold_enum"})
    Policy(mode='observe', disable={'fold_enum'})
    >>> Policy(disable={"fold_enum"}).allows("fold_enum")
    False

    Args:
        mode: ``"repair"``; ``"observe"`` changes nothing and logs what it would have done; ``"off"`` lets every call through.
        unrepairable: What happens to a call that cannot be repaired where only a published schema speaks: ``"forward"``,
            ``"refuse"``, or None for what is usual there: the proxy refuses, all else forwards.
        rules: The rules in force; yours is a :class:`mcp_lenient.ValueRule`, :class:`mcp_lenient.NameRule` or
            :class:`mcp_lenient.CallRule`. With any rule for names, names of tools are repaired too (``rename_tool``).
        disable: Names of disabled rules.
        limits: Bounds on size, depth and parsed text.
        aliases: Other names of top-level parameters, ``{"task": ("query", "q")}``.
        drop: Top-level keys to drop where the schema forbids them, in addition to those that known clients add.
        secret: Additional parameter names whose values the envelope never echoes.
        echo_values: Whether the envelope repeats short scalar values to the caller who sent them.
        destructive: Which tools are destructive: ``"if_marked"``, those with ``destructiveHint: true``;
            ``"unless_read_only"``, all without ``readOnlyHint: true``; True or False, all or none.
        tell_model: Whether a repaired result gets a text block that describes the repairs.
        language: The language of messages, such as ``"zh"``.
        closed: Whether unknown names count as refused wherever a schema does not say whether others may come.
        publish_statements: Whether FastMCP servers list what a definitions file says of tools and their parameters.
        infer_untyped: Whether :func:`mcp_lenient.normalizers.infer` applies to every parameter without a type or normalizer.
        publish: The form in which FastMCP servers list schemas: a :class:`mcp_lenient.Form` or the name of one;
            ``"unchanged"`` for a tool that keeps its schema where others have a form.
        log_values: What an event says of the arguments: ``"none"``, or ``"shapes"``: types, lengths and kinds of characters.
        body_errors: What the caller gets if a FastMCP tool raises an unexpected exception: ``"raise"``, what FastMCP makes of
            it; ``"envelope"``, the code ``TOOL_FAILED`` and an id that the log event has too.
        leaked_markup: What happens to an accepted call with a text that goes on with the call's markup: ``"warn"``, ``"refuse"``.
        repeats: Whether refused calls are counted, so that the same call again gets another answer.
        dispatches: How a tool calls the tool that its arguments name: :func:`mcp_lenient.dispatcher`. For single tools.

    Attributes:
        stated: The names of the fields that were given, even if with their defaults.

    Raises:
        PolicyError: When a field has an invalid value; names the field and the allowed values.
    """

    mode: Mode = "repair"
    unrepairable: Unrepairable | None = None
    rules: tuple[Rule, ...] = _DefaultRules(DEFAULT_RULES)
    disable: AbstractSet[str] = frozenset()
    limits: Limits = field(default_factory=Limits)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drop: AbstractSet[str] = frozenset()
    secret: AbstractSet[str] = frozenset()
    echo_values: bool = True
    destructive: Destructive = "if_marked"
    tell_model: bool = False
    language: str = ENGLISH
    closed: bool = False
    publish_statements: bool = False
    infer_untyped: bool = False
    log_values: LogValues = "none"
    body_errors: BodyErrors = "raise"
    leaked_markup: LeakedMarkup = "warn"
    repeats: bool = True
    publish: Face | str | None = None
    dispatches: Dispatcher | None = None
    stated: frozenset[str] = field(default=frozenset(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            is_right = any(type(value) is type(item) and value == item for item in allowed)  # 1 is not True
            _check(name, value, f"one of {', '.join(map(repr, allowed))}", is_right=is_right)
        _check("limits", self.limits, "a Limits", is_right=isinstance(self.limits, Limits))
        for name in ("disable", "drop", "secret"):
            object.__setattr__(self, name, frozenset(_names(name, getattr(self, name))))
        for name, read in _CONVERTERS.items():
            object.__setattr__(self, name, read(getattr(self, name)))
        _check_disabled(self.disable, {*TIER_OF, *(rule.name for rule in self.rules)})

    def __repr__(self) -> str:
        return _written(self)

    @classmethod
    def strict(cls) -> Policy:
        """Return a policy without repairs: every call that the tool refuses is answered with the envelope."""
        return cls(rules=(), unrepairable="refuse")

    def allows(self, rule: str) -> bool:
        """Return whether a rule is in force."""
        names_of_tools = rule == RENAME_TOOL and any(isinstance(entry, NameRule) for entry in self.rules)
        return rule not in self.disable and (names_of_tools or rule in [entry.name for entry in self.rules])

    def is_destructive(self, *, marked: bool, read_only: bool) -> bool:
        """Return whether a tool counts as destructive.

        >>> Policy(destructive="unless_read_only").is_destructive(marked=False, read_only=False)
        True

        Args:
            marked: Whether its annotations say ``destructiveHint: true``.
            read_only: Whether they say ``readOnlyHint: true``.
        """
        if isinstance(self.destructive, bool):
            return self.destructive
        return marked or (self.destructive == "unless_read_only" and not read_only)

    def changed(self, **changes: Any) -> Policy:
        """Return a copy with changed fields, which it states, validated like a new policy."""
        return self._stating(self.stated | changes.keys(), changes)

    def under(self, upper: Policy) -> Policy:
        """Return a copy in which every field that ``upper`` states is that of ``upper``, even if it is the default.

        Aliases add up, limits count one by one, and what either keeps secret stays secret.

        >>> Policy(mode="off", drop={"trace"}).under(Policy(mode="repair", secret={"pin"}))
        Policy(mode='repair', drop={'trace'}, secret={'pin'})
        """
        together = {
            "aliases": added_aliases(self.aliases, upper.aliases),
            "limits": replace(self.limits, **_differing_from_default(upper.limits)),
            "secret": self.secret | upper.secret,
        }
        stated = {name: getattr(upper, name) for name in upper.stated}
        return self._stating(self.stated | upper.stated, {**stated, **together})

    def _stating(self, stated: frozenset[str], changes: Mapping[str, Any]) -> Policy:
        policy = replace(self, **changes)
        object.__setattr__(policy, "stated", stated)
        return policy


_CHOICES: Final[Mapping[str, tuple[object, ...]]] = {
    "mode": get_args(Mode),
    "unrepairable": (None, *get_args(Unrepairable)),
    "log_values": get_args(LogValues),
    "body_errors": get_args(BodyErrors),
    "leaked_markup": get_args(LeakedMarkup),
    "destructive": (*get_args(Unsaid), True, False),
    **dict.fromkeys(
        ("echo_values", "tell_model", "closed", "publish_statements", "infer_untyped", "repeats"),
        (True, False),
    ),
}


def _check(name: str, value: object, expected: str, *, is_right: bool) -> None:
    if not is_right:
        msg = f"Policy.{name} must be {expected}, got {value!r}."
        raise PolicyError(msg)


def _language(tag: object) -> str | None:
    if tag == ENGLISH:
        return ENGLISH
    language = resolved(tag) if isinstance(tag, str) else None
    _check("language", tag, f"one of {', '.join(map(repr, languages()))}", is_right=language is not None)
    return language


def _dispatches(form: object) -> object:
    is_right = form is None or isinstance(form, Dispatcher)
    _check("dispatches", form, "a dispatcher(...)", is_right=is_right)
    return form


def _rules(rules: Any) -> tuple[Rule, ...]:
    if isinstance(rules, _DefaultRules):
        return DEFAULT_RULES
    is_right = isinstance(rules, (tuple, list)) and all(isinstance(rule, Rule) for rule in rules)
    _check("rules", rules, "a tuple of ValueRule, NameRule and CallRule", is_right=is_right)
    return tuple(rules)


def _check_disabled(disabled: AbstractSet[str], rule_names: set[str]) -> None:
    for name in sorted(disabled - rule_names):
        near = get_close_matches(name, sorted(rule_names), cutoff=0.8)
        names = map(repr, near or sorted(rule_names))
        hint = f"Did you mean {' or '.join(names)}?" if near else f"The rules are {', '.join(names)}."
        msg = f"Policy.disable names {name!r}, which is not a rule. {hint}"
        raise PolicyError(msg)


def added_aliases(aliases: _Aliases, added: _Aliases) -> Mapping[str, tuple[str, ...]]:
    """Return aliases with others added; an alias that both give belongs to the parameter that the added ones name."""
    taken = {other for others in added.values() for other in others}
    rest = {name: [other for other in others if other not in taken] for name, others in aliases.items()}
    return {name: (*rest.get(name, ()), *dict.fromkeys(added.get(name, ()))) for name in {**aliases, **added}}


def _differing_from_default(settings: Policy | Limits) -> dict[str, Any]:
    default = type(settings)()
    values = {entry.name: getattr(settings, entry.name) for entry in fields(settings) if entry.init}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def _written(settings: Policy | Limits) -> str:
    """Return the call that makes a policy or limits, with the fields that are stated or differ from the default."""
    different = _differing_from_default(settings)
    stated = settings.stated if isinstance(settings, Policy) else frozenset[str]()
    names = [entry.name for entry in fields(settings) if entry.name in different or entry.name in stated]
    return f"{type(settings).__name__}({', '.join(f'{name}={_shown(getattr(settings, name))}' for name in names)})"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return repr(tuple(rule.name for rule in value))
    if isinstance(value, frozenset):
        return f"{{{', '.join(map(repr, sorted(value)))}}}"
    if isinstance(value, Limits):
        return _written(value)
    if isinstance(value, Face):
        return repr(value.name)
    return repr(dict(value) if isinstance(value, Mapping) else value)


def _names(field_name: str, names: Any) -> list[str]:
    is_right = hasattr(names, "__iter__") and not isinstance(names, (str, bytes, Mapping))
    _check(field_name, names, "a collection of names", is_right=is_right)
    collected = list(names)
    for name in collected:
        is_name = isinstance(name, str) and name != ""
        _check(field_name, name, "a collection of non-empty names", is_right=is_name)
    return collected


def _aliases(aliases: Any) -> Mapping[str, tuple[str, ...]]:
    is_right = isinstance(aliases, Mapping) and all(isinstance(name, str) and name for name in aliases)
    _check("aliases", aliases, "a map of parameters to their other names", is_right=is_right)
    checked = {name: tuple(_names(f"aliases[{name!r}]", other)) for name, other in aliases.items()}
    owners: dict[str, str] = {}
    for name, others in checked.items():
        for other in others:
            if owners.setdefault(other, name) != name:
                msg = f"Policy.aliases gives {other!r} to both {owners[other]!r} and {name!r}."
                raise PolicyError(msg)
    return MappingProxyType(checked)


_CONVERTERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "publish": lambda face: None if face is None else face_named(face),
    "language": _language,
    "rules": _rules,
    "aliases": _aliases,
    "dispatches": _dispatches,
}
