"""Find faults to put into the code: every place for a small change, and the change."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

Change = Callable[[Any], Iterator[tuple[str, ast.AST]]]
"""Maps a part of the code to its possible replacements, each with a name."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one file: the index of the part, in the order of the walk, and of the change."""

    file: Path
    part: int
    change: int
    line: int
    words: str

    @property
    def title(self) -> str:
        """Return the place and the change, for the list of survivors."""
        return f"{self.file}:{self.line} {self.words}"

    @property
    def is_remarked(self) -> bool:
        """Return whether a remark in the file says why no test can notice a fault in this line."""
        return self.line in _remarked(self.file.read_text())

    @property
    def function(self) -> tuple[str, ...]:
        """Return the qualified name of its outermost function; empty for code that runs when the module is loaded."""
        tree = ast.parse(self.file.read_text())
        wanted = _parts(tree)[self.part]
        for names, function in _functions(tree, ()):
            if any(part is wanted for statement in function.body for part in ast.walk(statement)):
                return names
        return ()

    def compiled(self) -> str:
        """Return the source of the file with the change."""
        tree = ast.parse(self.file.read_text())
        if self.part < 0:
            return ast.unparse(tree)
        wanted = _parts(tree)[self.part]
        new = list(_changes(wanted))[self.change][1]
        return ast.unparse(ast.fix_missing_locations(_Replaced(wanted, new).visit(tree)))


def unchanged(file: Path) -> Mutant:
    """Return a mutant without a change, to check that no test fails for another reason."""
    return Mutant(file, -1, 0, 0, "nothing")


def mutants_of(file: Path) -> list[Mutant]:
    """Return all possible changes to a file, in the order of its lines."""
    return [
        Mutant(file, at, number, _line(part), words)
        for at, part in enumerate(_parts(ast.parse(file.read_text())))
        for number, (words, _) in enumerate(_changes(part))
    ]


_REMARK: Final = "# mutant:"


def _remarked(source: str) -> set[int]:
    """Return the lines of each statement below a remark; of a statement with a body, only the head."""
    lines = source.splitlines()
    starts = {
        next(at for at in range(remark, len(lines)) if not lines[at].lstrip().startswith("#")) + 1
        for remark, line in enumerate(lines)
        if line.lstrip().startswith(_REMARK)
    }
    heads = [
        range(part.lineno, part.body[0].lineno if hasattr(part, "body") else (part.end_lineno or 0) + 1)
        for part in ast.walk(ast.parse(source))
        if isinstance(part, ast.stmt) and part.lineno in starts
    ]
    return starts.union(*heads)


def _line(part: ast.AST) -> int:
    return int(getattr(part.target if isinstance(part, ast.comprehension) else part, "lineno", 0))


def _functions(
    part: ast.Module | ast.ClassDef, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef | ast.AsyncFunctionDef]]:
    for statement in part.body:
        if isinstance(statement, ast.ClassDef):
            yield from _functions(statement, (*above, statement.name))
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (*above, statement.name), statement


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        if node is self._old:
            return ast.copy_location(self._new, node)
        return self.generic_visit(node)


def _parts(tree: ast.Module) -> list[ast.AST]:
    """Yield the parts of the code that have an effect: no annotations, docstrings, imports or types."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        part = waiting.pop()
        found.append(part)
        waiting += [
            below
            for name, value in ast.iter_fields(part)
            if name not in {"annotation", "returns", "decorator_list"}
            for below in (value if isinstance(value, list) else [value])
            if isinstance(below, ast.AST) and not _says_nothing(below)
        ]
    return found


def _says_nothing(part: ast.AST) -> bool:
    if isinstance(part, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(part, ast.Expr):
        return isinstance(part.value, ast.Constant)
    if isinstance(part, ast.If):
        return isinstance(part.test, ast.Name) and part.test.id == "TYPE_CHECKING"
    if isinstance(part, ast.Subscript):
        return isinstance(part.value, ast.Name) and part.value.id == "Literal"
    if isinstance(part, ast.Call):
        return isinstance(part.func, ast.Name) and part.func.id == "TypeVar"
    if isinstance(part, ast.keyword):
        # It asserts that two lists have the same length.
        return part.arg == "strict" and isinstance(part.value, ast.Constant) and part.value.value is True
    return isinstance(part, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id in _NO_BEHAVIOR for target in part.targets
    )


_NO_BEHAVIOR: Final = {"__slots__", "__all__", "msg"}
"""Names that have no effect on behavior: ``msg`` is the text of an exception."""


def _changes(part: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for change in _CHANGES.get(type(part), ()):
        yield from change(part)


# --- the changes --------------------------------------------------------------------------------------

_SWAPS: Final[Mapping[type, tuple[type, ...]]] = MappingProxyType(
    {
        ast.Eq: (ast.NotEq,),
        ast.NotEq: (ast.Eq,),
        ast.Lt: (ast.LtE, ast.GtE),
        ast.LtE: (ast.Lt, ast.Gt),
        ast.Gt: (ast.GtE, ast.LtE),
        ast.GtE: (ast.Gt, ast.Lt),
        ast.Is: (ast.IsNot,),
        ast.IsNot: (ast.Is,),
        ast.In: (ast.NotIn,),
        ast.NotIn: (ast.In,),
        ast.And: (ast.Or,),
        ast.Or: (ast.And,),
        ast.Add: (ast.Sub,),
        ast.Sub: (ast.Add,),
        ast.Mult: (ast.Add,),
        ast.BitOr: (ast.BitAnd,),
        ast.BitAnd: (ast.BitOr,),
        ast.Break: (ast.Continue,),
        ast.Continue: (ast.Break,),
    }
)


def _swapped(part: Any) -> Iterator[tuple[str, ast.AST]]:
    for kind in _SWAPS[type(part)]:
        yield f"{type(part).__name__} -> {kind.__name__}", kind()


def _compared(part: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for at, operator in enumerate(part.ops):
        for words, new in _swapped(operator) if type(operator) in _SWAPS else ():
            made = copy.deepcopy(part)
            made.ops[at] = new  # type: ignore[call-overload]
            yield words, made


def _with_operator(part: Any) -> Iterator[tuple[str, ast.AST]]:
    for words, new in _swapped(part.op) if type(part.op) in _SWAPS else ():
        made = copy.deepcopy(part)
        made.op = new
        yield words, made


def _shortened(part: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
    for at, value in enumerate(part.values):
        rest = part.values[:at] + part.values[at + 1 :]
        made = rest[0] if len(rest) == 1 else ast.BoolOp(part.op, rest)
        yield f"without `{ast.unparse(value)}`", copy.deepcopy(made)


def _negated(part: ast.UnaryOp) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(part.op, ast.Not):
        yield "without not", copy.deepcopy(part.operand)


def _constant(part: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = part.value
    if isinstance(value, bool):
        yield f"{value} -> {not value}", ast.Constant(not value)
    elif isinstance(value, int):
        yield f"{value} -> {value + 1}", ast.Constant(value + 1)
    elif isinstance(value, str):
        yield f"{value[:40]!r} -> 'XX'", ast.Constant("XX")


def _decided(part: Any) -> Iterator[tuple[str, ast.AST]]:
    for decision in (True, False):
        made = copy.deepcopy(part)
        made.test = ast.Constant(decision)
        yield f"if {ast.unparse(part.test)[:60]} -> if {decision}", made


def _returned(part: ast.Return) -> Iterator[tuple[str, ast.AST]]:
    # False and None are both falsy; another change makes it True.
    says_no = isinstance(part.value, ast.Constant) and part.value.value in {False, None}
    if part.value is not None and not says_no:
        yield f"return {ast.unparse(part.value)[:40]} -> None", ast.Return(ast.Constant(None))


def _left_out(part: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    yield f"without {ast.unparse(part)[:60]}", ast.Pass()


def _unfiltered(part: ast.comprehension) -> Iterator[tuple[str, ast.AST]]:
    for at, test in enumerate(part.ifs):
        made = copy.deepcopy(part)
        del made.ifs[at]
        yield f"without if {ast.unparse(test)[:60]}", made


_CHANGES: Final[Mapping[type, tuple[Change, ...]]] = MappingProxyType(
    {
        ast.Compare: (_compared,),
        ast.BoolOp: (_with_operator, _shortened),
        ast.BinOp: (_with_operator,),
        ast.AugAssign: (_with_operator, _left_out),
        ast.UnaryOp: (_negated,),
        ast.Constant: (_constant,),
        ast.If: (_decided,),
        ast.IfExp: (_decided,),
        ast.Return: (_returned,),
        ast.Expr: (_left_out,),
        ast.Break: (_swapped,),
        ast.Continue: (_swapped,),
        ast.comprehension: (_unfiltered,),
    }
)
