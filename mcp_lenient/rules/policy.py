"""The policy: rules, limits and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from mcp_lenient.errors import PolicyError
from mcp_lenient.rules import DEFAULT_RULES, Rule
from mcp_lenient.values.language import ENGLISH, languages, resolved
from mcp_lenient.values.limits import Limits

Mode = Literal["repair", "observe", "off"]
Unrepairable = Literal["forward", "refuse"]
LogValues = Literal["none", "shapes"]
Unsaid = Literal["if_marked", "unless_read_only"]
Destructive = Unsaid | bool
_NEAR: Final = 0.8


class _DefaultRules(tuple[Rule, ...]):
    """The default rules, shown in signatures as ``DEFAULT_RULES``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "DEFAULT_RULES"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Policy:
    """The leniency of a server; frozen, and validated when built.

    >>> Policy(mode="observe", disable={"rename_plural"})
    Policy(mode='observe', disable={'rename_plural'})
    >>> Policy(disable={"rename_plural"}).allows("rename_plural")
    False

    Args:
        mode: ``"repair"`` repairs and refuses; ``"observe"`` changes nothing and logs what it would have
            done; ``"off"`` lets every call through untouched and unlogged.
        unrepairable: What happens to a call that cannot be repaired where only a published schema
            speaks (proxied, OpenAPI and custom tools, which often accept more than they publish):
            ``"forward"`` sends it on as it came, ``"refuse"`` answers with the envelope; None for what
            is usual there: the proxy refuses, and all else forwards. A function tool's own validator
            leaves no doubt, so its unrepairable calls are always refused.
        rules: The rules in force. A rule of your own is a :class:`mcp_lenient.Rule`.
        disable: Names of disabled rules.
        limits: Bounds on size, depth and parsed text.
        aliases: Other names of top-level parameters, ``{"task": ("query", "q")}``.
        drop: Top-level keys to drop where the schema forbids them, in addition to those that known clients add.
        secret: Additional parameter names whose values the envelope never echoes.
        echo_values: Whether the envelope repeats short scalar values to the caller who sent them.
        destructive: Which tools are destructive, so that only rules of tiers 1 and 2 that keep every value may be used:
            ``"if_marked"``, those with ``destructiveHint: true``; ``"unless_read_only"``, all without
            ``readOnlyHint: true``; True or False, all or none, whatever they say.
        tell_model: Whether a repaired result gets an additional text block that describes the repairs, for agent
            frameworks that drop ``_meta``.
        language: The language of messages, such as ``"zh"`` or ``"zh-CN"``; codes, names, values and JSON's own words stay
            as they are.
        closed: Whether unknown names count as refused, and are repaired, wherever a schema declares properties and
            does not say whether others may come: servers of the official SDKs drop these in silence.
        log_values: What an event says of the arguments themselves: ``"none"``, or ``"shapes"``: types, lengths and kinds
            of characters, never a value.

    Raises:
        PolicyError: When a field has an invalid value; names the field and the allowed values.
    """

    mode: Mode = "repair"
    unrepairable: Unrepairable | None = None
    rules: tuple[Rule, ...] = _DefaultRules(DEFAULT_RULES)
    disable: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()
    secret: frozenset[str] = frozenset()
    echo_values: bool = True
    destructive: Destructive = "if_marked"
    tell_model: bool = False
    language: str = ENGLISH
    closed: bool = False
    log_values: LogValues = "none"

    def __post_init__(self) -> None:
        _one_of("mode", self.mode, get_args(Mode))
        if self.unrepairable is not None:
            _one_of("unrepairable", self.unrepairable, get_args(Unrepairable))
        _one_of("log_values", self.log_values, get_args(LogValues))
        _instance("limits", self.limits, Limits)
        _instance("echo_values", self.echo_values, bool)
        _instance("tell_model", self.tell_model, bool)
        _instance("closed", self.closed, bool)
        if self.language != ENGLISH:
            _set(self, "language", _language(self.language))
        _one_of("destructive", self.destructive, (*get_args(Unsaid), True, False))
        _set(self, "rules", _rules(self.rules))
        for name in ("disable", "drop", "secret"):
            _set(self, name, frozenset(_names(name, getattr(self, name))))
        _check_disabled(self.disable, {rule.name for rule in (*DEFAULT_RULES, *self.rules)})
        _set(self, "aliases", _aliases(self.aliases))

    def __repr__(self) -> str:
        """Return the fields that differ from the defaults, with rules by name."""
        return _differing(self)

    @classmethod
    def strict(cls) -> Policy:
        """Return a policy without repairs: every call that the tool refuses is answered with the envelope."""
        return cls(rules=(), unrepairable="refuse")

    def allows(self, rule: str) -> bool:
        """Return whether a rule is in force."""
        return rule not in self.disable and any(known.name == rule for known in self.rules)

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
        """Return a copy with changed fields, validated like a new policy."""
        return replace(self, **changes)

    def under(self, upper: Policy) -> Policy:
        """Return a copy in which every field that ``upper`` states, other than its default, is that of ``upper``.

        Aliases add up, and what either keeps secret stays secret.

        >>> Policy(mode="off", drop={"trace"}).under(Policy(mode="observe", secret={"pin"}))
        Policy(mode='observe', drop={'trace'}, secret={'pin'})
        """
        together = {
            "aliases": added_aliases(self.aliases, upper.aliases),
            "limits": replace(self.limits, **stated(upper.limits)),
            "secret": self.secret | upper.secret,
        }
        return replace(self, **{**stated(upper), **together})


def _set(policy: Policy, name: str, value: object) -> None:
    object.__setattr__(policy, name, value)


def _one_of(name: str, value: object, allowed: Sequence[object]) -> None:
    # 1 equals True.
    if not any(value == each and type(value) is type(each) for each in allowed):
        msg = f"Policy.{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}."
        raise PolicyError(msg)


def _language(tag: object) -> str:
    known = resolved(tag) if isinstance(tag, str) else None
    if known is None:
        msg = f"Policy.language must be one of {', '.join(map(repr, languages()))}, got {tag!r}."
        raise PolicyError(msg)
    return known


def _instance(name: str, value: object, expected: type) -> None:
    if not isinstance(value, expected):
        msg = f"Policy.{name} must be a {expected.__name__}, got {value!r}."
        raise PolicyError(msg)


def _rules(rules: object) -> tuple[Rule, ...]:
    if isinstance(rules, _DefaultRules):
        return DEFAULT_RULES
    if isinstance(rules, str) or not isinstance(rules, (tuple, list)):
        msg = f"Policy.rules must be a tuple of Rule, got {rules!r}."
        raise PolicyError(msg)
    for rule in rules:
        _instance("rules", rule, Rule)
    return tuple(rules)


def _check_disabled(disabled: frozenset[str], known: set[str]) -> None:
    for name in sorted(disabled - known):
        near = get_close_matches(name, sorted(known), cutoff=_NEAR)
        names = map(repr, near or sorted(known))
        hint = f"Did you mean {' or '.join(names)}?" if near else f"The rules are {', '.join(names)}."
        msg = f"Policy.disable names {name!r}, which is not a rule. {hint}"
        raise PolicyError(msg)


def added_aliases(
    aliases: Mapping[str, Sequence[str]], added: Mapping[str, Sequence[str]]
) -> Mapping[str, tuple[str, ...]]:
    """Return aliases with others added; an alias that both give belongs to the parameter that the added ones name.

    >>> added_aliases({"query": ["q", "text"]}, {"body": ["text"]})
    {'query': ('q',), 'body': ('text',)}
    """
    taken = {other for others in added.values() for other in others}
    found = {name: tuple(other for other in others if other not in taken) for name, others in aliases.items()}
    for name, others in added.items():
        found[name] = (*found.get(name, ()), *dict.fromkeys(others))
    return found


def stated(given: Policy | Limits) -> dict[str, Any]:
    """Return the fields that differ from the defaults.

    >>> stated(Policy(mode="observe", echo_values=True))
    {'mode': 'observe'}
    """
    default = type(given)()
    values = {entry.name: getattr(given, entry.name) for entry in fields(given)}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def _differing(given: Policy | Limits) -> str:
    shown = [f"{name}={_shown(each)}" for name, each in stated(given).items()]
    return f"{type(given).__name__}({', '.join(shown)})"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return repr(tuple(rule.name for rule in value))
    if isinstance(value, frozenset):
        return f"{{{', '.join(map(repr, sorted(value)))}}}"
    if isinstance(value, Limits):
        return _differing(value)
    return repr(dict(value) if isinstance(value, Mapping) else value)


def _names(field_name: str, names: object) -> list[str]:
    if isinstance(names, (str, bytes, Mapping)) or not hasattr(names, "__iter__"):
        msg = f"Policy.{field_name} must be a collection of names, got {names!r}."
        raise PolicyError(msg)
    collected = list(names)
    for name in collected:
        if not isinstance(name, str) or not name:
            msg = f"Policy.{field_name} must contain non-empty names, got {name!r}."
            raise PolicyError(msg)
    return collected


def _aliases(aliases: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(aliases, Mapping) or not all(isinstance(name, str) and name for name in aliases):
        msg = f"Policy.aliases must map a parameter to its other names, got {aliases!r}."
        raise PolicyError(msg)
    checked = {name: tuple(_names(f"aliases[{name!r}]", other)) for name, other in aliases.items()}
    owners: dict[str, str] = {}
    for name, others in checked.items():
        for other in others:
            if owners.setdefault(other, name) != name:
                msg = f"Policy.aliases gives {other!r} to both {owners[other]!r} and {name!r}."
                raise PolicyError(msg)
    return MappingProxyType(checked)
