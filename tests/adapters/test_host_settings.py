"""The settings of every host: the decision hook, and definition files that change while it runs."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from contextlib import suppress

import pytest
from adapters.hosts import EACH, LISTING, REFUSING, SCHEMA, fastmcp
from calls import Log
from tables import each_row
from waiting import PATIENCE

from mcp_lenient import LenientCalls, LenientMiddleware, Policy, lenient_session
from mcp_lenient.adapters.gate import Gate
from mcp_lenient.adapters.settings import HostSettings, Operator
from mcp_lenient.errors import DefinitionError

ALIAS = "tools: {store: {parameters: {text: {aliases: [%s]}}}}"
pytestmark = pytest.mark.usefixtures("events")


@pytest.fixture
def file(tmp_path):
    """Return a file that declares the alias ``body``."""
    path = tmp_path / "lenient.yaml"
    path.write_text(ALIAS % "body", encoding="utf-8")
    return path


@EACH
@pytest.mark.parametrize("values", [False, True])
async def test_each_decision_is_reported(host, values):
    """A decision has the tool, the status and pointers; values of the call only on request."""
    decisions = []
    async with host(on_decision=decisions.append, decision_values=values) as call:
        for tags in (["b"], "['b']", 5):
            await call({"text": "a", "tags": tags})
    statuses = ["accepted", "repaired", "refused"]
    assert [(each.tool, each.status, each.mode) for each in decisions] == [
        ("store", status, "repair") for status in statuses
    ]
    rules = [[repair.rule for repair in each.repairs] for each in decisions]
    assert rules == [[], ["json5_text_to_array"], []]
    tags = [each.arguments.get("tags") for each in decisions]
    assert tags == ([["b"], ["b"], 5] if values else [None] * 3)
    (violation,) = decisions[2].violations
    assert violation.pointer == "/tags"
    assert (bool(violation.message), violation.has_received_value) == (values, values)


async def test_a_failing_or_mutating_hook_has_no_effect_on_calls(caplog):
    """Calls run as without the hook, and its first error is logged."""

    def hook(decision):
        decision.arguments.clear()
        for violation in decision.violations:
            violation.allowed_values[0].clear()
        raise RuntimeError

    async with fastmcp(on_decision=hook, decision_values=True) as call:
        with caplog.at_level(logging.WARNING, "mcp_lenient"):
            reported = [(await call({"text": "a", "tags": tags})).status for tags in (["b"], "['b']", 5)]
    assert reported == ["ran", "ran", "refused"]
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("mcp_lenient")]
    assert ours == ["on_decision raised RuntimeError. Further errors are not reported."]


@pytest.mark.parametrize("values", [False, True])
def test_a_hook_cannot_change_the_schema(values):
    """A hook gets copies of an enum's values."""

    def hook(decision):
        for violation in decision.violations:
            for value in violation.allowed_values:
                value.clear()

    tool = {"name": "pick", "inputSchema": {"properties": {"one": {"enum": [[1], [2]]}}}}
    lenient = LenientCalls(REFUSING, on_decision=hook, decision_values=values)
    first, second = (lenient.check(tool, {"one": [3]}).refusal for _ in range(2))
    assert first == second
    assert lenient.check(tool, {"one": [1]}).refusal is None


@EACH
async def test_a_changed_file_applies(host, file, later, events: Log):
    """The next call uses the new definitions, and no longer the old ones."""
    async with host(definitions=file, reload=True) as call:
        assert (await call({"body": "a"})).status == "ran"
        file.write_text(ALIAS % "words", encoding="utf-8")
        assert (await call({"words": "a"})).status == "refused", "it is checked once a second"
        later()
        assert (await call({"words": "a"})).status == "ran"
        assert (await call({"body": "a"})).status == "refused"
    assert not {"definitions_kept", "definition_unused"} & set(events.names)


async def test_a_file_is_read_once_without_reload(file, later):
    """Without ``reload`` the file is read only once."""
    async with fastmcp(definitions=file) as call:
        file.write_text(ALIAS % "words", encoding="utf-8")
        later()
        assert (await call({"body": "a"})).status == "ran"


def _wrong(file):
    file.write_text("tools: {store: {parameters: {text: {alias: [words]}}}}", encoding="utf-8")


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.write_text(""), id="emptied"),
        pytest.param(_wrong, id="wrong"),
        pytest.param(lambda file: file.write_bytes(b"\xff\xfe\x00"), id="binary"),
        pytest.param(lambda file: file.write_text("tools: " + "[" * 2_000), id="deep"),
        pytest.param(lambda file: file.mkdir(), id="folder"),
        pytest.param(lambda _: None, id="gone"),
    ],
)
async def test_an_unusable_file_changes_nothing(spoil, file, later, events: Log):
    """The old definitions stay in force, and one event reports the reason, until the file changes again."""
    async with fastmcp(definitions=file, reload=True) as call:
        file.unlink()
        spoil(file)
        for _ in range(2):
            later()
            assert (await call({"body": "a"})).status == "ran"
        (kept,) = [each for each in events if each["event"] == "definitions_kept"]
        assert kept["subject"] == str(file)
        assert spoil is not _wrong or "alias" in kept["reason"]
        with suppress(OSError):
            file.rmdir()
        file.write_text(ALIAS % "words", encoding="utf-8")
        later()
        assert (await call({"words": "a"})).status == "ran"


async def test_a_canceled_reload_is_repeated(file, later):
    """If the call that reloads the file is canceled, the next call reloads it."""
    operator = Operator(definitions=file, reload=True)
    file.write_text(ALIAS % "words", encoding="utf-8")
    later()

    async def cancelled(_policies):
        raise asyncio.CancelledError

    async def checked(_policies):
        """Find nothing."""

    with pytest.raises(asyncio.CancelledError):
        await operator.reload(cancelled)
    later()
    assert await operator.reload(checked)
    assert operator.policies.declared("store").aliases == {"text": ("words",)}


async def test_only_one_caller_loads_a_file(file, later):
    """A slow check cannot replace newer definitions with older ones."""
    operator = Operator(definitions=file, reload=True)
    file.write_text(ALIAS % "words", encoding="utf-8")
    later()

    async def slow(_policies):
        file.write_text(ALIAS % "newest", encoding="utf-8")
        later()
        assert not await operator.reload(slow)

    assert await operator.reload(slow)
    later()
    assert not await operator.reload(lambda _policies: _contradiction())
    assert operator.policies.declared("store").aliases == {"text": ("words",)}


async def _contradiction():
    msg = "no"
    raise DefinitionError(msg)


def test_a_file_is_found_after_the_working_directory_changes(file, later, monkeypatch):
    """A relative path is resolved when the file is given, not when it is reloaded."""
    monkeypatch.chdir(file.parent)
    operator = Operator(definitions=file.name, reload=True)
    monkeypatch.chdir("/")
    file.write_text(ALIAS % "words", encoding="utf-8")
    later()
    operator.reload_at_once()
    assert operator.policies.declared("store").aliases == {"text": ("words",)}


@each_row("properties", [None, [], "text", 5])
def test_names_are_checked_in_any_schema(file, properties, events: Log):
    """Declared names are checked against third-party schemas of any shape."""
    events.clear()
    Operator(definitions=file).warn_of_unused({"store": {"properties": properties}})
    assert _unused(events) == ["Tool 'store' has no parameter 'text'."]


@LISTING
async def test_unknown_names_in_a_file_are_logged(host, file, later, events: Log):
    """Unknown tools and parameters are logged without a client's list, also after a change."""
    file.write_text("tools: {stor: {}}", encoding="utf-8")
    tool = "There is no tool 'stor'; did you mean 'store'?"
    async with host(definitions=file, reload=True) as call:
        await call({"text": "a"})
        assert _unused(events) == [tool]
        events.clear()
        file.write_text("tools: {stor: {}, store: {parameters: {txt: {}}}}", encoding="utf-8")
        later()
        await call({"text": "a"})
    assert _unused(events)[-1] == "Tool 'store' has no parameter 'txt'; did you mean 'text'?"


@LISTING
async def test_a_pattern_without_a_tool_is_logged(host, events: Log):
    """A pattern of ``tools`` that matches no tool is logged once, and one that matches is not."""
    async with host(tools={"sotre*": Policy(), "st*": Policy()}) as call:
        await call({"text": "a"})
        await call({"text": "a"})
    assert _unused(events) == ["The pattern 'sotre*' of `tools` matches no tool; did you mean 'store'?"]


def _unused(events: Log) -> list[str]:
    return [each["reason"] for each in events if each["event"] == "definition_unused"]


@pytest.mark.parametrize(
    "function",
    [Gate, LenientCalls, LenientMiddleware, lenient_session],
    ids=lambda function: function.__qualname__,
)
def test_help_shows_every_setting(function):
    """The signatures list all settings with defaults, instead of ``**settings``."""
    shown = inspect.signature(function).parameters
    if function is Gate:
        shown = inspect.signature(Operator).parameters
    assert set(HostSettings.__annotations__) <= shown.keys()
    assert shown["reload"].default is False
    assert not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in shown.values())


def test_threads_may_share_calls(file, later):
    """While the file changes, each call uses one version of it."""
    lenient = LenientCalls(REFUSING, definitions=file, reload=True)
    tool = {"name": "store", "inputSchema": SCHEMA}
    reported: list[object] = []

    def work() -> None:
        for number in range(200):
            made = lenient.check(tool, {("body", "words")[number % 2]: "a"})
            reported.append(made.arguments if made.refusal is None else "refused")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for word in ("words", "body") * 10:
        file.write_text(ALIAS % word, encoding="utf-8")
        later()
    for thread in threads:
        thread.join(timeout=PATIENCE)
    assert len(reported) == 800
    assert all(each in ({"text": "a"}, "refused") for each in reported)


@pytest.mark.parametrize("host", [LenientMiddleware, LenientCalls])
def test_a_misspelled_setting_is_named_with_its_class_and_the_likely_name(host):
    """A setting that a host does not have is a TypeError that names the host and the likely setting."""
    with pytest.raises(TypeError, match=rf"^{host.__name__}\(\) .* 'polcy'. Did you mean 'policy'\?$"):
        host(polcy=Policy())


def test_an_absent_definitions_file_is_named(tmp_path):
    """The error for a file that does not exist says what it would have been."""
    with pytest.raises(FileNotFoundError, match=r"The definitions file does not exist: .*nofile\.yaml"):
        LenientMiddleware(definitions=tmp_path / "nofile.yaml")
