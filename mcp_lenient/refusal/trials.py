"""Whether patches help a refused call, asked of the judge for many patches at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_lenient.pointers import tokens_of
from mcp_lenient.refusal.findings import findings
from mcp_lenient.refusal.patches import Operation, Patch, applied
from mcp_lenient.refusal.places import Place
from mcp_lenient.refusal.refused import Refusal
from mcp_lenient.types import Fault, FaultKind, Path

Question = tuple[Patch, Sequence[Path]]
"""A patch, and the places of the violation that it is for."""
Left = Callable[[Mapping[str, Any]], Sequence[Fault]]
"""What is still wrong with arguments."""
_Asked = tuple[int, Patch, Sequence[Path]]
_Faults = dict[Any, list[Fault]]


@dataclass(frozen=True, slots=True)
class Trial:
    """Patches tried on one refused call.

    A judge looks at each parameter by itself, so that patches which change different parameters are tried
    together: one question for all of them, and not one for each.
    """

    refusal: Refusal
    _before: frozenset[tuple[Path, FaultKind]]

    @staticmethod
    def of(refusal: Refusal) -> Trial:
        """Return the trial of a refused call."""
        return Trial(refusal, frozenset((fault.path, fault.kind) for fault in refusal.outcome.faults))

    def helps(self, questions: Sequence[Question]) -> list[bool]:
        """Whether each patch gives arguments that are accepted, or takes its violation away and adds none."""
        verdicts: dict[int, bool] = {}
        waiting = [
            (at, patch, paths)
            for at, (patch, paths) in enumerate(questions)
            if all(_is_published(self.refusal, operation) for operation in patch)
        ]
        while waiting:
            together, waiting = _apart(waiting)
            answers = self._tried([(patch, paths) for _, patch, paths in together])
            verdicts.update(zip((at for at, _, _ in together), answers, strict=True))
        return [verdicts.get(at, False) for at in range(len(questions))]

    def _tried(self, questions: Sequence[Question]) -> list[bool]:
        """Return the verdicts by the judge and, of what is moved, by what a repair makes of the call sent again."""
        verdicts = self._judged(questions, self.refusal.judge.faults)
        again = self.refusal.again
        open_still = [at for at, (patch, _) in enumerate(questions) if not verdicts[at] and _moves(patch)]
        if again is not None and open_still:
            retried = self._judged([questions[at] for at in open_still], again)
            for at, verdict in zip(open_still, retried, strict=True):
                verdicts[at] = verdict
        return verdicts

    def _judged(self, questions: Sequence[Question], left: Left) -> list[bool]:
        if len(questions) == 1:
            return [self._alone(*questions[0], left)]
        patched = self.refusal.outcome.arguments
        for at, (patch, _) in enumerate(questions):
            if all(patch != other for other, _ in questions[:at]):
                patched = applied(patched, patch)
        before = _by_parameter(self.refusal.outcome.faults)
        after = _by_parameter(left(patched) if isinstance(patched, Mapping) else ())
        if None in before or None in after:
            return [self._alone(*each, left) for each in questions]
        return [self._follows(patch, paths, before, after, left) for patch, paths in questions]

    def _follows(
        self, patch: Patch, paths: Sequence[Path], before: _Faults, after: _Faults, left_by: Left
    ) -> bool:
        """The verdict on one of several patches, by the faults that are left after all of them."""
        own = _parameters(patch)
        elsewhere = {path[0] for path in paths} - own
        left = [fault for name in own for fault in after.get(name, ())]
        if not left and before.keys() <= own:
            return self._alone(patch, paths, left_by)
        left += (fault for name in elsewhere for fault in before.get(name, ()))
        return self._only_others(left, paths)

    def _alone(self, patch: Patch, paths: Sequence[Path], left: Left) -> bool:
        patched = applied(self.refusal.outcome.arguments, patch)
        return isinstance(patched, Mapping) and self._only_others(left(patched), paths)

    def _only_others(self, after: Sequence[Fault], paths: Sequence[Path]) -> bool:
        """Whether all faults were there before, elsewhere; one around a place may still speak of this place."""
        return all(
            (fault.path, fault.kind) in self._before and not any(_related(fault.path, path) for path in paths)
            for fault in after
        )


def _moves(patch: Patch) -> bool:
    return any(operation["op"] == "move" for operation in patch)


def _apart(waiting: list[_Asked]) -> tuple[list[_Asked], list[_Asked]]:
    """The first patches that change different parameters, or are the same patch, and the others."""
    taken: dict[str, Patch] = {}
    together: list[_Asked] = []
    later: list[_Asked] = []
    for each in waiting:
        own = _parameters(each[1])
        if all(taken.get(name, each[1]) == each[1] for name in own):
            together.append(each)
            taken.update(dict.fromkeys(own, each[1]))
        else:
            later.append(each)
    return together, later


def _parameters(patch: Patch) -> set[str]:
    """The names of the parameters that a patch changes."""
    ends = (operation[end] for operation in patch for end in ("path", "from") if end in operation)
    return {tokens_of(end)[0] for end in ends}


def _by_parameter(faults: Sequence[Fault]) -> _Faults:
    found: _Faults = {}
    for fault in faults:
        found.setdefault(fault.path[0] if fault.path else None, []).append(fault)
    return found


def _related(one: Path, other: Path) -> bool:
    return one[: len(other)] == other or other[: len(one)] == one


def _is_published(refusal: Refusal, operation: Operation) -> bool:
    """Whether a value that is put somewhere is one that the published schema takes there: a judge may take more.

    An object that is made to move fields into it is judged with the fields.
    """
    if "value" not in operation or operation["op"] == "add":
        return True
    place = refusal.look(_path(refusal.outcome.arguments, operation["path"]))
    return is_taken(refusal, place, operation["value"])


def _path(arguments: Mapping[str, Any], pointer: str) -> Path:
    """The place in the arguments that a JSON Pointer names."""
    here: Any = arguments
    path: Path = ()
    for token in tokens_of(pointer):
        part = int(token) if isinstance(here, list) else token
        here = here[part]
        path = (*path, part)
    return path


def is_taken(refusal: Refusal, place: Place, value: object) -> bool:
    """Whether the published schema has nothing against a value at a place."""
    exact_integers = refusal.judge.exact_integers
    return not findings(refusal.schema, place.forms, value, place.path, exact_integers=exact_integers)
