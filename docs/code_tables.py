"""Parts of the documentation that are generated; ``cog -r`` writes them into the pages.

Each example is run when its table is written, so that the pages show what the library does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args

from cyclopts.argument import Argument

from mcp_lenient import Policy, Violation, normalize
from mcp_lenient.cli import app
from mcp_lenient.devtools.check.providers import EFFECTS
from mcp_lenient.devtools.rule_catalogue import CATALOGUE, FAMILY_OF, Family
from mcp_lenient.portable.provider_limits import like, limits_of, providers
from mcp_lenient.refusal.envelope import error_code
from mcp_lenient.rules.rules import TIER_OF
from mcp_lenient.types import ViolationCode
from mcp_lenient.values.names import tool_target

_DECLARED = Policy(aliases={"query": ("q",)})
_KINDS: Final[Mapping[Any, str]] = MappingProxyType(
    {
        int: "N",
        **dict.fromkeys((str, str | None, tuple[str, ...]), "TEXT"),
        **dict.fromkeys((Path, Path | None), "FILE"),
        **dict.fromkeys((float, float | None), "SECONDS"),
    }
)
_TIERS = TIER_OF


def rules() -> str:
    """Return the families of rules by tier, each with a call that it repairs and a link to its page."""
    parts = []
    for tier in sorted(set(_TIERS.values())):
        families = [family for family in CATALOGUE if _TIERS[_first(family)] == tier]
        parts += [f"### Tier {tier}", "\n".join(map(_line, families))]
    return "\n\n".join(parts)


def _line(family: Family) -> str:
    sent, received = _sample(family) if family.repaired else ("`storeContext`", "`store_context`")
    return f"- [{_title(family)}](rules/{_first(family)}.md): {sent} becomes {received}"


def changelog() -> str:
    """Return the versions in ``CHANGELOG.md``, with links that lead to pages of the site."""
    text = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = text.partition("<!-- releases -->")[2].strip()
    return re.sub(r"^## \[(.+?)\]", r"## \1", versions, flags=re.MULTILINE).replace("](docs/", "](")


def _sample(family: Family) -> tuple[str, str]:
    sent = family.repaired[0]
    return _code(_json(sent)), _code(_json(normalize(_schema(family), sent, policy=_DECLARED).arguments))


def rule(name: str) -> str:
    """Return the page of a rule's family, below the heading."""
    family = FAMILY_OF[name]
    parts = (
        f"**Repairs**: {family.does}.",
        f"**Exceptions**: {family.unless}.",
        f"**[Tier](../rules.md#how-a-repair-is-chosen)**: {_TIERS[name]}.",
        _examples(family),
    )
    return "\n\n".join(parts)


def error_codes() -> str:
    """Return the error code of the envelope for each kind of violation, of a parameter and inside its value."""
    violations: dict[tuple[str, str], list[str]] = {}
    for code in get_args(ViolationCode):
        error_codes = _error_code(code, "/parameter"), _error_code(code, "/parameter/0")
        violations.setdefault(error_codes, []).append(_code(code))
    rows = ((", ".join(codes), *map(_code, error_codes)) for error_codes, codes in violations.items())
    return _table(("violation", "of a parameter", "inside its value"), rows)


def options(command: str) -> str:
    """Return the options of one command: how each is written, its default, and what it does."""
    arguments = app[command].assemble_argument_collection(parse_docstring=True)
    rows = (
        f"- {_written(argument)}{_default(argument)}: {' '.join((argument.parameter.help or '').split())}"
        for argument in arguments
        if argument.names[0].startswith("-")
    )
    return "\n".join(rows)


def limits() -> str:
    """Return what each provider and client asks for, below what happens otherwise."""
    parts = []
    for effect, words in EFFECTS.items():
        rows = [f"- {_code(of)}: {'; '.join(asked)}" for of in providers() if (asked := _asked(of, effect))]
        parts += [f"## Otherwise {words}", "\n".join(rows)]
    return "\n\n".join(parts)


def _asked(of: str, effect: str) -> list[str]:
    """Return what one asks for, with a reference in place of what another asks for too."""
    shared = () if (other := like(of)) is None else [limit.rule for limit in limits_of(other)]
    asked = (
        f"as {_code(str(other))}" if limit.rule in shared else _plain(limit.rule)
        for limit in limits_of(of)
        if limit.effect == effect
    )
    return list(dict.fromkeys(asked))


def suites() -> str:
    """Return what others' suites counted without and with mcp-lenient, when they last ran."""
    results = json.loads((Path(__file__).parents[1] / "benchmarks/suites/results.json").read_text("utf-8"))
    rows = (
        (row["suite"], *(_count(row[key]) for key in ("tests", "alone", "lenient", "differences")))
        for row in results["rows"]
    )
    table = _table(("suite", "tests", "pass alone", "pass with mcp-lenient", "differences"), rows)
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    return f"{table}\n\nRun with {versions}."


def _count(count: int | None) -> str:
    return "not compared" if count is None else f"{count:,}"


def _plain(text: str) -> str:
    """Return a sentence with what Markdown would read otherwise as code."""
    return re.sub(r"\$\w+|\"[^\"]+\"|mcp__\w+", lambda found: _code(found[0].strip('"')), text)


def _written(argument: Argument) -> str:
    choices = argument.get_choices()
    takes = "" if argument.hint is bool else f" {'|'.join(choices) if choices else _KINDS[argument.hint]}"
    return ", ".join(_code(f"{name}{takes}") for name in argument.names)


def _default(argument: Argument) -> str:
    default = argument.field_info.default
    if default is None or default is False or default == ():
        return ""
    return f" ({_code(argument.names[0] if default is True else str(default))})"


def _error_code(code: ViolationCode, pointer: str) -> str:
    shown = error_code([Violation(pointer, "parameter", code, "")])
    return (
        shown.replace("PARAMETER_", "<PARAMETER>_")
        .replace("_PARAMETER", "_<PARAMETER>")
        .replace("UNKNOWN_<PARAMETER>", "UNKNOWN_PARAMETER")
    )


def _first(family: Family) -> str:
    return next(iter(family.rules))


def _title(family: Family) -> str:
    return ", ".join(map(_code, family.rules))


def _schema(family: Family) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": family.properties,
        "required": list(family.required),
        "additionalProperties": False,
    }


def _renamed(sent: str) -> tuple[str, str] | None:
    """Return a tool's name as sent and as called on the server ``notes``, which has one tool; None if it is refused."""
    target = tool_target(sent, ["store_context"], ["notes"])
    return None if target is None else (_code(sent), _code(target.name))


def _examples(family: Family) -> str:
    if not family.repaired:
        sent = (
            "storeContext",
            "store-context",
            "mcp__notes__store_context",
            "mcp__mail__store_context",
            "store",
        )
        condition = "Names of tools on the server `notes`, which has `store_context`"
        repaired = [renamed for name in sent if (renamed := _renamed(name))]
        refused = [_code(name) for name in sent if not _renamed(name)]
    else:
        condition = "With " + "; ".join(
            f"`{name}`: {_type(node)}" for name, node in family.properties.items()
        )
        repaired = [_repaired(family, sent) for sent in family.repaired]
        refused = [_code(_json(sent)) for sent in family.refused]
    lines = "\n".join(f"- {sent} becomes {received}" for sent, received in repaired)
    return f"{condition}:\n\n{lines}\n\nRefused: {', '.join(refused)}."


def _repaired(family: Family, sent: Mapping[str, Any]) -> tuple[str, str]:
    """Return arguments as sent and as repaired, with the rule where the family has several."""
    normalized = normalize(_schema(family), sent, policy=_DECLARED)
    names = dict.fromkeys(repair.rule for repair in normalized.repairs)
    rules = "" if list(names) == list(family.rules) else f" by {', '.join(map(_code, names))}"
    return _code(_json(sent)), f"{_code(_json(normalized.arguments))}{rules}"


def _type(node: Mapping[str, Any]) -> str:
    if "description" in node:
        return f'{node["type"]} "{node["description"]}"'
    if "enum" in node:
        return "one of " + ", ".join(_code(_json(member)) for member in node["enum"])
    if "anyOf" in node:
        return " or ".join(map(_type, node["anyOf"]))
    if "properties" in node:
        return "object with " + ", ".join(map(_code, node["properties"]))
    return f"{node['type']} of {_type(node['items'])}" if "items" in node else str(node["type"])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(head), *map(tuple, rows)]
    lines.insert(1, ("---",) * len(lines[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
