"""Replay the recorded answers of a benchmark through its own checker, as they are and with repaired arguments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator

from benchmarks.conformance import Subject
from benchmarks.environments import NotInstalledError, interpreter
from benchmarks.evidence.recorded.judges import JUDGES
from benchmarks.evidence.recorded.methods import Method, Outcome
from mcp_lenient.values.json_values import same_json

_PARSERS = "tree_sitter==0.21.3 tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4"
_VENDORS = "openai==1.35.13 anthropic==0.31.1 cohere==5.5.8 mistralai==0.4.2 httpx<0.28 requests==2.32.3"
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
"""The benchmark's names of JSON types; it says ``any`` for any value."""
_PATIENCE = 120
"""Seconds that a judge may take for one answer; reading a file may take a minute."""
_UNTOUCHED = Outcome(None)
"""The outcome for a call that is not JSON, or of an unknown function: it never reaches a method."""

Effect = Literal["gained", "lost", "still wrong", "still right"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark whose recorded answers can be replayed.

    Attributes:
        name: Its name in the tables.
        judge: The program that runs its checker.
        results: The name of a file of answers, with a place for the category.
        scores: The name of the file with their published score; without it, none was published.
        categories: The categories of single calls in Python terms.
        requirements: The pinned packages of its environment.
        code: The folder of a checkout of its code, if its code is no package.
    """

    name: str
    judge: str
    results: str
    scores: str
    categories: tuple[str, ...]
    requirements: tuple[str, ...]
    code: str = ""


BFCL_2024 = Benchmark(
    "BFCL, August 2024",
    "bfcl_2024.py",
    "gorilla_openfunctions_v1_test_{}_result.json",
    "{}_score.json",
    tuple("simple multiple_function parallel_function parallel_multiple_function".split()),
    (*_VENDORS.split(), *_PARSERS.split()),
    code="berkeley-function-call-leaderboard",
)
BFCL_4 = Benchmark(
    "BFCL v4",
    "bfcl_4.py",
    "BFCL_v4_{}_result.json",
    "BFCL_v4_{}_score.json",
    tuple("simple_python multiple parallel parallel_multiple".split())
    + tuple("live_simple live_multiple live_parallel live_parallel_multiple".split()),
    ("bfcl-eval==2025.11.10", "--no-deps", *_PARSERS.split()),
)
BFCL_SUBSET = replace(
    BFCL_4, name="BFCL, 100 questions, 2026", results="*_scored.csv", scores="", categories=()
)
"""Answers of three hosts' Llama-3.1-8B and a Qwen2.5-7B, with the verdicts of a looser checker of their author."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A file of recorded answers and the file with their published score, if there is one."""

    benchmark: Benchmark
    run: str
    model: str
    category: str
    answers: Path
    score: Path | None


@dataclass(frozen=True, slots=True)
class Change:
    """An answer that a method changed.

    ``written`` says how the model wrote it. ``calls`` are the changed calls, as sent and as changed; ``accepted`` of them are calls that the schema accepts.
    """

    method: str
    recorded: Recorded
    id: int | str
    effect: Effect
    written: str
    rules: frozenset[str]
    calls: tuple[tuple[Any, Any], ...]
    accepted: int


@dataclass(slots=True)
class Replayed:
    """What came out of a benchmark's sets.

    Attributes:
        sets: The sets whose published score came out.
        skipped: The others, with the reasons.
        answers: The number of answers.
        questions: The questions, each by its category and id.
        right_by_model: The number of right answers as recorded.
        valid_calls: The number of calls that their schema accepts.
        refused: The number of right answers that a method refuses, by method.
        changes: The changed answers.
    """

    sets: list[Recorded] = field(default_factory=list)
    skipped: list[tuple[Recorded, str]] = field(default_factory=list)
    answers: int = 0
    questions: set[tuple[str, Any]] = field(default_factory=set)
    right_by_model: Counter[str] = field(default_factory=Counter)
    valid_calls: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list)

    @property
    def right(self) -> int:
        """Return the number of right answers as recorded."""
        return self.right_by_model.total()


class SkippedError(Exception):
    """A set is not replayed; gives the reason, which mostly is that the published score does not come out."""


def recorded_sets(benchmark: Benchmark, folders: Sequence[Path]) -> Iterator[Recorded]:
    """Return the sets of a benchmark that the folders contain."""
    if not benchmark.scores:
        for above in folders:
            for file in sorted(above.rglob(benchmark.results)):
                run, model = str(file.parent.relative_to(above)), file.stem.removesuffix("_scored")
                yield Recorded(benchmark, run, model, "all", file, None)
        return
    scores = [(folder, at) for folder in folders for at in sorted(folder.rglob("score")) if at.is_dir()]
    for (folder, at), category in product(scores, benchmark.categories):
        for score in sorted(at.rglob(benchmark.scores.format(category))):
            place = score.relative_to(at)
            answers = at.parent / "result" / place.with_name(benchmark.results.format(category))
            if answers.exists():
                run = str(at.parent.relative_to(folder))
                yield Recorded(benchmark, run, place.parts[0], category, answers, score)


def replay(benchmark: Benchmark, folders: Sequence[Path], methods: Sequence[Method]) -> Replayed:
    """Return what comes out of all sets of a benchmark in these folders."""
    replayed = Replayed()
    sets = list(recorded_sets(benchmark, folders))
    codes = (at.parent for folder in folders for at in folder.rglob(benchmark.code or "-") if at.is_dir())
    code = next(codes, None)
    if not sets:
        return replayed
    try:
        judging = _judge(benchmark, code)
    except (NotInstalledError, SkippedError) as reason:
        replayed.skipped = [(recorded, str(reason)) for recorded in sets]
        return replayed
    with judging as judge:
        for recorded in sets:
            try:
                answers = _read(judge, recorded, code)
            except SkippedError as reason:
                replayed.skipped.append((recorded, str(reason)))
                continue
            replayed.sets.append(recorded)
            replayed.answers += len(answers)
            replayed.questions |= {(recorded.category, answer["id"]) for answer in answers}
            replayed.right_by_model[recorded.model] += sum(answer["valid"] for answer in answers)
            for at, answer in enumerate(answers):
                _replay_answer(replayed, recorded, judge, at, answer, methods)
    return replayed


def _judge(benchmark: Benchmark, code: Path | None) -> Subject:
    """Return the benchmark's checker in its environment."""
    if benchmark.code and code is None:
        raise SkippedError(f"none of the folders has the benchmark's code, {benchmark.code}/")
    command = [interpreter(benchmark.requirements), str(JUDGES / benchmark.judge)]
    return Subject(command, patience=_PATIENCE)


def _read(judge: Subject, recorded: Recorded, code: Path | None) -> list[dict[str, Any]]:
    """Return the answers of a set with the benchmark's verdicts, which are those published."""
    request = {"id": "read", "op": "read", "file": str(recorded.answers.resolve()), "code": str(code)}
    reply = judge.ask({**request, "model": recorded.model, "category": recorded.category})
    if "answers" not in reply:
        raise SkippedError("the benchmark's code cannot read it")
    answers: list[dict[str, Any]] = reply["answers"]
    if recorded.score is not None:
        _check_published(recorded.score, answers)
    return answers


def _check_published(score: Path, answers: Sequence[Mapping[str, Any]]) -> None:
    with score.open(encoding="utf-8") as rows:
        published, *wrong = map(json.loads, rows)
    right = sum(answer["valid"] for answer in answers)
    if (right, len(answers)) != (published["correct_count"], published["total_count"]):
        raise SkippedError(
            f"{right} of {len(answers)} are right, published were {published['correct_count']} of {published['total_count']}"
        )
    if {answer["id"] for answer in answers if not answer["valid"]} != {row["id"] for row in wrong}:
        raise SkippedError("other answers are wrong than was published")


def _replay_answer(
    replayed: Replayed,
    recorded: Recorded,
    judge: Subject,
    at: int,
    answer: Mapping[str, Any],
    methods: Sequence[Method],
) -> None:
    calls = [call and (json_schema(call["parameters"]), call["arguments"]) for call in answer["calls"]]
    accepted = [bool(call) and Draft202012Validator(call[0]).is_valid(call[1]) for call in calls]
    replayed.valid_calls += sum(accepted)
    for method in methods:
        outcomes = [method(*call) if call else _UNTOUCHED for call in calls]
        if answer["valid"] and any(outcome.refused for outcome in outcomes):
            replayed.refused[method.name] += 1
        new = [
            None if outcome.arguments is None or same_json(call[1], outcome.arguments) else outcome.arguments
            for call, outcome in zip(calls, outcomes, strict=True)
        ]
        changed = [position for position, arguments in enumerate(new) if arguments is not None]
        if changed:
            checked = judge.ask({"id": "check", "op": "check", "at": at, "calls": new})
            change = Change(
                method.name,
                recorded,
                answer["id"],
                _effect(was=answer["valid"], now=checked["valid"]),
                answer["written"],
                frozenset(rule for position in changed for rule in outcomes[position].rules),
                tuple((calls[position][1], new[position]) for position in changed),
                sum(accepted[position] for position in changed),
            )
            replayed.changes.append(change)


def _effect(*, was: bool, now: bool) -> Effect:
    if was:
        return "still right" if now else "lost"
    return "gained" if now else "still wrong"


def json_schema(node: Any) -> Any:
    """Return the benchmark's description of parameters as JSON Schema.

    >>> json_schema({"type": "dict", "properties": {"side": {"type": "float"}, "note": {"type": "any"}}})
    {'type': 'object', 'properties': {'side': {'type': 'number'}, 'note': {}}}
    """
    schema = {key: value for key, value in node.items() if (key, value) != ("type", "any")}
    if isinstance(schema.get("type"), str):
        schema["type"] = _TYPES.get(schema["type"], schema["type"])
    if "properties" in schema:
        schema["properties"] = {name: json_schema(child) for name, child in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        schema["items"] = json_schema(schema["items"])
    return schema
