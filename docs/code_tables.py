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
from mcp_lenient.portable.limits import address, limits_of, providers
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
    """Return one row for each family of rules, with a call that it repairs and a link to its page."""
    rows = (
        (
            str(_TIERS[_first(family)]),
            f"[{_title(family)}](rules/{_first(family)}.md)",
            *(_sample(family) if family.repaired else _tool_name("storeContext")),
        )
        for family in CATALOGUE
    )
    return _table(("tier", "rules", "sent", "the tool gets"), rows)


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
    rows = ((_code(each), sent) for each, sent in family.rules.items())
    return "\n\n".join(
        (
            f"**Repairs**: {family.does}.",
            f"**Exceptions**: {family.unless}.",
            f"**[Tier](../rules.md#how-a-repair-is-chosen)**: {_TIERS[name]}.",
            _table(("rule", "the mistake"), rows),
            "## Examples",
            _examples(family),
            "## Turn it off",
            f"`Policy(disable={{{', '.join(map(_quoted, family.rules))}}})`.",
        )
    )


def error_codes() -> str:
    """Return the error code of the envelope for each kind of violation, of a parameter and inside its value."""
    rows = (
        (_code(code), _code(_error_code(code, "/parameter")), _code(_error_code(code, "/parameter/0")))
        for code in get_args(ViolationCode)
    )
    return _table(("violation", "of a parameter", "inside its value"), rows)


def options(command: str) -> str:
    """Return the options of one command: how each is written, what it does, and its default."""
    arguments = app[command].assemble_argument_collection(parse_docstring=True)
    rows = (
        (_written(each), " ".join((each.parameter.help or "").split()), _default(each))
        for each in arguments
        if each.names[0].startswith("-")
    )
    return _table(("option", "what it does", "default"), rows)


def limits() -> str:
    """Return what each provider and client rejects or ignores, what happens then, where this is said, and when."""
    rows = (
        (
            _code(of),
            _plain(limit.rule),
            EFFECTS[limit.effect],
            ", ".join(map(_source, limit.sources)),
            limit.seen,
        )
        for of in providers()
        for limit in limits_of(of)
    )
    return _table(("provider or client", "what it asks for", "otherwise", "source", "seen"), rows)


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


def _source(source: str) -> str:
    url = address(source)
    return source if url is None else f"[{source}]({url})"


def _written(argument: Argument) -> str:
    choices = argument.get_choices()
    takes = "" if argument.hint is bool else f" {'|'.join(choices) if choices else _KINDS[argument.hint]}"
    return ", ".join(_code(f"{name}{takes}") for name in argument.names)


def _default(argument: Argument) -> str:
    default = argument.field_info.default
    if isinstance(default, bool):
        return _code(argument.names[0]) if default else ""
    return "" if default is None or default == () else _code(str(default))


def _error_code(code: ViolationCode, pointer: str) -> str:
    shown = error_code([Violation(pointer, "parameter", code, "")])
    return (
        shown.replace("PARAMETER_", "<PARAMETER>_")
        .replace("_PARAMETER", "_<PARAMETER>")
        .replace("UNKNOWN_<PARAMETER>", "UNKNOWN_PARAMETER")
    )


def _quoted(name: str) -> str:
    return f'"{name}"'


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


def _tool_name(sent: str) -> tuple[str, str]:
    """Return a tool's name as sent and the outcome on the server ``notes``, which has one tool."""
    meant = tool_target(sent, ["store_context"], ["notes"])
    return f"tool {_code(sent)}", "refused" if meant is None else f"tool {_code(meant.name)}"


def _examples(family: Family) -> str:
    if not family.repaired:
        sent = (
            "storeContext",
            "store-context",
            "mcp__notes__store_context",
            "mcp__mail__store_context",
            "store",
        )
        table = _table(("sent", "outcome"), map(_tool_name, sent))
        return f"On the server `notes`, which has the tool `store_context`:\n\n{table}"
    rows = (_outcome(_schema(family), sent) for sent in (*family.repaired, *family.refused))
    types = "; ".join(f"`{name}`: {_type(node)}" for name, node in family.properties.items())
    return f"With {types}:\n\n{_table(('sent', 'outcome'), rows)}"


def _outcome(schema: Mapping[str, Any], sent: Mapping[str, Any]) -> tuple[str, str]:
    normalized = normalize(schema, sent, policy=_DECLARED)
    if normalized.violations:
        return _code(_json(sent)), f"refused: {normalized.violations[0].message}"
    repairs = ", ".join(dict.fromkeys(_code(repair.rule) for repair in normalized.repairs))
    return _code(_json(sent)), f"{_code(_json(normalized.arguments))} by {repairs}"


def _type(node: Mapping[str, Any]) -> str:
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
