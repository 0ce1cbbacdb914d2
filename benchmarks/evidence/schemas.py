"""Publish real schemas for each provider: what is rejected before and after, and what calls lose on the way back."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from rich.table import Table

from benchmarks import data
from benchmarks.evidence import attacks
from benchmarks.printing import wide_console
from mcp_lenient import Policy, read_back
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.portable import FORMS, CannotSayError, Published, publish
from mcp_lenient.portable.codecs import same_values
from mcp_lenient.portable.provider_limits import ListedTool, providers, rejections
from mcp_lenient.portable.published_contract import PublishedContract
from mcp_lenient.schema.compile import readable
from mcp_lenient.testing.example_arguments import NoValueError, valid_arguments

_CALLS = 20_000
_LISTED = 1_000
_NULLS = 0.3
_SERVER = re.compile(r"\(server (.+?) ?(?:v?\d[\w.-]*)?\)")
_STRICT = sorted(set(providers()) - set(providers(strict=False)))
Json = dict[str, Any]


def main() -> None:
    """Print all tables."""
    console = wide_console()
    try:
        tools = real_tools()
        calls = [*_generated(tools, _CALLS), *_recorded()]
    except data.MissingCasesError as missing:
        console.print(f"schemas skipped: {missing}")
        return
    console.print(rejected_table("Real tools", tools))
    shapes = complaints()
    if shapes:
        console.print(rejected_table("Reported schemas", shapes))
    console.print(_calls_table([*calls, *_generated(shapes, 25 * len(shapes))]))
    console.print(_authors_table(calls))
    console.print(_strict_table(tools))
    console.print(_costs_table(tools))
    console.print(_attacks_table())


def real_tools() -> list[ListedTool]:
    """Return the recorded tools of real servers.

    Raises:
        MissingCasesError: When they are not there.
    """
    rows = data.rows(data.cases_folder(), "real_tool_schemas")
    return [ListedTool(row["tool"], row["schema"], server=_server(row["source"])) for row in rows]


def _server(source: str) -> str:
    found = _SERVER.search(source)
    return found[1] if found is not None else ""


def complaints() -> list[ListedTool]:
    """Return the reported schemas, if they are there: a folder ``portable`` beside that of the cases."""
    path = data.cases_folder().parent / "portable" / "complaints.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return [ListedTool(f"t{at}", row["schema"]) for at, row in enumerate(rows)]


@cache
def _published(schema: str, form: str) -> Published:
    return publish(json.loads(schema), form)


def _in(form: str, schema: Mapping[str, Any]) -> Published:
    return _published(json.dumps(schema), form)


# What is rejected


def rejected_table(title: str, tools: list[ListedTool]) -> Table:
    """Return how many of these tools each provider or client rejects, as published and in forms."""
    table = Table(
        "provider or client", "rejects", "ignores parts", "portable: rejects", "ignores", "own form: rejects"
    )
    table.title = f"{title}: {len(tools)} tools"
    portable = _all_in("portable", tools)
    for of in providers():
        own = _all_in(of, tools) if of in FORMS else None
        before, after = _counted(tools, of), _counted(portable, of)
        table.add_row(of, *before, *after, "" if own is None else _counted(own, of)[0])
    return table


def _all_in(form: str, tools: Iterable[ListedTool]) -> list[ListedTool]:
    """Return the tools that can have a form, in it."""
    made = [(each, _in(form, each.schema)) for each in tools]
    return [replace(each, schema=published.schema) for each, published in made if not published.lost]


def _counted(tools: list[ListedTool], of: str) -> tuple[str, str]:
    """Return how many single tools one rejects, and of how many others it ignores parts, whatever the server's name."""
    found = [rejections([replace(each, server="")], of) for each in tools]
    failing = [any(rejection.fails for rejection in own) for own in found]
    ignored = [bool(own) and not fails for own, fails in zip(found, failing, strict=True)]
    return str(sum(failing)), str(sum(ignored))


# What calls lose


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that the author's schema accepts."""

    kind: str
    schema: Json
    arguments: Json


def _generated(tools: list[ListedTool], number: int) -> Iterator[_Call]:
    """Yield about as many generated calls, in turn for each tool."""
    random = Random(1)  # noqa: S311 - the same calls each time
    kind = "generated" if number >= _CALLS else "of the reported schemas"
    for at in range(number):
        tool = tools[at % len(tools)]
        try:
            arguments = valid_arguments(tool.schema, random, optional=random.random())
        except NoValueError:
            continue
        yield _Call(kind, dict(tool.schema), _with_nulls(tool.schema, arguments, random))


def _with_nulls(schema: Mapping[str, Any], arguments: Json, random: Random) -> Json:
    """Return arguments with null for about a third of the parameters that take it."""
    accepts = _validator(json.dumps(schema)).accepts
    for name in schema.get("properties") or ():
        changed = {**arguments, name: None}
        if random.random() < _NULLS and accepts(changed):
            arguments = changed
    return arguments


@cache
def _validator(schema: str) -> PublishedSchemaValidator:
    return PublishedSchemaValidator(readable(json.loads(schema)))


def _recorded() -> Iterator[_Call]:
    for case in data.real_calls(data.cases_folder(), "valid"):
        if isinstance(case.sent, dict):
            yield _Call("recorded", case.row["schema"], case.sent)


def _outcome(call: _Call, form: str) -> str:
    """Return the outcome of a call that is written in a published form and read back."""
    published = _in(form, call.schema)
    if published.lost:
        return "not in this form"
    try:
        said = published.say(call.arguments)
    except CannotSayError:
        return "cannot be said"
    read = read_back(published, said)
    if read.unreadable:
        return "lost or different"
    if _dumped(read.arguments) == _dumped(call.arguments):
        return "exact"
    same = _same_but_defaults(call.schema, call.arguments, read.arguments)
    return "a null that is the default" if same else "lost or different"


def _same_but_defaults(schema: Json, sent: Json, read: Mapping[str, Any]) -> bool:
    """Return whether only nulls are left out whose parameters have no other default."""
    properties = schema.get("properties") or {}
    for name, value in sent.items():
        own = properties.get(name)
        if name not in read:
            if value is not None or (isinstance(own, dict) and own.get("default") is not None):
                return False
        elif _dumped(value) != _dumped(read[name]) and (
            not same_values(read[name], value) or _other_defaults({**schema, "properties": {name: own}})
        ):
            return False
    return read.keys() <= sent.keys()


def _other_defaults(schema: Json) -> bool:
    """Return whether somewhere null is accepted and the default is another value, so that a dropped null may count."""
    tool = ListedTool("", schema)
    return any(each.get("default") is not None and _says_null(each) for _, each in tool.places)


def _says_null(schema: Mapping[str, Any]) -> bool:
    return '"null"' in json.dumps([schema.get("type"), schema.get("anyOf"), schema.get("oneOf")])


def _dumped(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


_OUTCOMES = ("exact", "a null that is the default", "lost or different", "cannot be said", "not in this form")


def _calls_table(calls: list[_Call]) -> Table:
    table = Table("calls", "form", "number", *_OUTCOMES, title="Calls said in a form, and read back")
    for kind in dict.fromkeys(each.kind for each in calls):
        own = [each for each in calls if each.kind == kind]
        for form in FORMS if kind == "generated" else ("portable",):
            counts = Counter(_outcome(each, form) for each in own)
            table.add_row(kind, form, str(len(own)), *(str(counts[each]) for each in _OUTCOMES))
    return table


def _authors_table(calls: list[_Call]) -> Table:
    """Return how many calls in the author's own form are taken as something else under each form."""
    table = Table(
        "form", "calls in the author's form", "taken as something else", title="The author's own form"
    )
    for form in FORMS:
        wrong = sum(_is_misread(each, form) for each in calls)
        table.add_row(form, str(len(calls)), str(wrong))
    return table


def _is_misread(call: _Call, form: str) -> bool:
    read = read_back(_in(form, call.schema), call.arguments)
    return bool(read.unreadable) or not same_values(read.arguments, call.arguments)


# Strict forms, costs, attacks


def _strict_table(tools: list[ListedTool]) -> Table:
    table = Table("form", "left as they are", "which", "why", title="Tools that a strict form cannot have")
    for form in _STRICT:
        if form in FORMS:
            lost = [(each.name, _in(form, each.schema).lost or "") for each in tools]
            kept = [(name, why) for name, why in lost if why]
            whys = Counter(re.sub(r"^at \S+, |\d+ (?=[a-z])", "", why) for _, why in kept)
            told = "; ".join(f"{why} ({count})" for why, count in whys.most_common())
            table.add_row(form, str(len(kept)), ", ".join(name for name, _ in kept), told)
    return table


def _costs_table(tools: list[ListedTool]) -> Table:
    table = Table("what", "figure", "at most", title="Size and cost")
    listed = (tools * (_LISTED // len(tools) + 1))[:_LISTED]
    begin = time.process_time()
    made = [publish(each.schema, "portable").schema for each in listed]
    spent = time.process_time() - begin
    table.add_row(f"publishing {_LISTED:,} tools, seconds of CPU", f"{spent:.2f}", "1")
    before, after = (
        sum(len(json.dumps(each, separators=(",", ":"))) for each in schemas)
        for schemas in ([each.schema for each in listed], made)
    )
    table.add_row("size of the published schemas, of the author's", f"{after / before:.2f}", "")
    for of in ("claude-code", "cursor"):
        long = [
            each
            for each in tools
            if any(found.limit.test == "prefixed_name" for found in rejections([each], of))
        ]
        servers = {each.server for each in long}
        table.add_row(
            f"names too long with the server's, for {of}", f"{len(long)} of {len(servers)} servers", ""
        )
    return table


def _attacks_table() -> Table:
    rows = data.rows(data.cases_folder(), "attacks_3")
    calls, texts = ([row for row in rows if name in row] for name in ("schema", "text"))
    broken = [row["id"] for row in calls if _is_run(row["schema"], row["arguments"])]
    ran = [row["id"] for row in texts if asyncio.run(attacks.is_run(row["text"], publish="portable"))]
    table = Table("attacks", "number", "broken", "which", title="Recorded attacks, under portable")
    table.add_row("calls to refuse", str(len(calls)), str(len(broken)), ", ".join(broken))
    table.add_row("texts not to run", str(len(texts)), str(len(ran)), ", ".join(ran))
    return table


def _is_run(schema: Json, arguments: Any) -> bool:
    contract = Contract.of_schema(schema, Policy())
    published = PublishedContract.around(contract, publish(schema, "portable"))
    return published.decide(arguments).status != "refused"
