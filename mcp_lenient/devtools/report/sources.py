"""Find files, folders, patterns, addresses and streams of events, and how to read them."""

from __future__ import annotations

import codecs
import glob
import gzip
import os
import re
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from mcp_lenient.devtools.printing import why_not_opened
from mcp_lenient.devtools.report.database import ReportError
from mcp_lenient.devtools.report.model import SkippedFile

Compression = Literal["none", "gzip", "zstd", "auto"]
FileKind = Literal["lines", "parquet"]

STORE_FILE: Final = "counts.duckdb"
"""The file of a store of counts."""
_STDIN: Final = "-"
STANDARD_INPUT: Final = "standard input"
"""What ``-`` is called."""

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PARQUET_ADDRESS: Final = re.compile(r"\.parquet(\?.*)?$", re.IGNORECASE)
_PACKED_PARQUET: Final = re.compile(r"\.parquet\.(gz|zstd?)$", re.IGNORECASE)
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_PARQUET: Final = b"PAR1"
"""The bytes that a Parquet file begins and ends with."""
_BLOCK: Final = 2**20
"""The bytes that are unpacked at a time."""
_HEAD: Final = 2**16
# Spark and Hive give their own files such names.
_HIDDEN: Final = (".", "_")


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file to read: its path or address, how to read it, and what the user calls it."""

    path: str
    shown: str
    compression: Compression
    kind: FileKind = "lines"
    named: bool = False
    """Whether the user wrote its whole name, so that it must be readable."""

    @property
    def remote(self) -> bool:
        """Return whether it is an address."""
        return self.compression == "auto"

    @property
    def pattern(self) -> str:
        """Return the path as the pattern that DuckDB takes."""
        return self.path if self.remote else glob.escape(self.path)


@dataclass(frozen=True, slots=True)
class FoundLogs:
    """The files to read, and the unreadable ones from folders and patterns."""

    files: tuple[LogFile, ...]
    skipped: tuple[SkippedFile, ...] = ()


def is_store(folder: Path) -> bool:
    """Return whether a folder keeps what was counted, for ``--store``."""
    return (folder / STORE_FILE).is_file()


def find_logs(names: Sequence[str | Path], folder: Path, stdin: BinaryIO | None) -> FoundLogs:
    """Find the files that names refer to, each once.

    Streams are saved in the folder while they are read.

    Raises:
        ReportError: If a name refers to nothing readable.
    """
    files: dict[str, LogFile] = {}
    skipped: dict[str, str] = {}
    for number, name in enumerate(dict.fromkeys(map(str, names))):
        if _ADDRESS.match(name):
            kind: FileKind = "parquet" if _PARQUET_ADDRESS.search(name) else "lines"
            files[name] = LogFile(name, name, "auto", kind, named=True)
            continue
        spool = folder / f"stream-{number}"
        paths, named = ([_spooled(stdin, spool)], True) if name == _STDIN else _files_of(name)
        for path in paths:
            shown = STANDARD_INPUT if name == _STDIN else str(path)
            try:
                file = _opened(path, spool, shown, named=named)
            except ReportError as error:
                if named:
                    msg = f"{shown}: {error}"
                    raise ReportError(msg) from None
                skipped[shown] = str(error)
            else:
                if named or file.path not in files:
                    files[file.path] = file
    if not files:
        raise ReportError(nothing_readable(skipped))
    return FoundLogs(
        tuple(files.values()),
        tuple(SkippedFile(file=file, reason=reason) for file, reason in sorted(skipped.items())),
    )


def nothing_readable(skipped: Mapping[str, str]) -> str:
    """Say that nothing can be read, and why for each file found."""
    if not skipped:
        return "no log is named: give files, folders, patterns or - for standard input"
    (file, reason), *others = sorted(skipped.items())
    return f"no file can be read: {file}: {reason}" + (f", and {len(others)} more" if others else "")


def unpacked(path: str, target: Path) -> bool:
    """Unpack the intact part of a gzip file; return whether it is complete."""
    try:
        with gzip.open(path) as packed, target.open("wb") as plain:
            while block := packed.read1(_BLOCK):
                plain.write(block)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False
    return True


def _files_of(name: str) -> tuple[list[Path], bool]:
    """Return the files that a name refers to, and whether the name is itself a file."""
    try:
        folder = stat.S_ISDIR(os.stat(name).st_mode)  # noqa: PTH116 - a Path raises for fewer names
    except (OSError, ValueError) as error:
        if glob.has_magic(name) and not os.path.lexists(name):
            return _fitting(name), False
        msg = f"{name}: {why_not_opened(error)}"
        raise ReportError(msg) from None
    if not folder:
        return [Path(name)], True
    paths = list(_below(Path(name)))
    if not paths:
        msg = f"{name}: the folder has no files"
        raise ReportError(msg)
    return paths, False


def _fitting(pattern: str) -> list[Path]:
    """Return the files that match a pattern; follow circular links only once."""
    start = Path(Path(pattern).anchor)
    parts = [part for part in Path(pattern).parts if part != start.anchor]
    if parts[-1] == "**":
        parts.append("*")
    level = [start]
    for part in parts:
        level = list(dict.fromkeys(child for folder in level for child in _step(folder, part)))
    paths: list[Path] = []
    for path in sorted(level):
        if not path.is_dir():
            paths.append(path)
        elif path.suffix.lower() == ".parquet":  # Spark writes a folder of this name
            paths += _below(path)
    if not paths:
        msg = f"{pattern}: no such file, and no file matches the pattern"
        raise ReportError(msg)
    return paths


def _step(folder: Path, part: str) -> Iterator[Path]:
    """Yield what one part of a pattern matches in a folder."""
    if part == "**":
        return (below for below, _ in _folders(folder))
    return (folder / name for name in sorted(glob.glob(part, root_dir=folder)))  # noqa: PTH207 - a Path finds hidden files too


def _below(top: Path) -> Iterator[Path]:
    """Yield the visible files in and below a folder, and the folders that cannot be listed."""
    failed: list[OSError] = []
    for folder, files in _folders(top, failed.append):
        yield from (folder / name for name in files)
    yield from (Path(error.filename) for error in failed)


def _folders(
    top: Path, on_error: Callable[[OSError], None] | None = None
) -> Iterator[tuple[Path, list[str]]]:
    """Yield a folder and its visible subfolders with their files, each once even if linked, without stores of counts."""
    visited = set()
    for name, folders, files in os.walk(top, onerror=on_error, followlinks=True):
        try:
            at = Path(name).stat()
        except OSError:  # removed in the meantime
            continue
        if (at.st_dev, at.st_ino) in visited:
            folders.clear()
            continue
        visited.add((at.st_dev, at.st_ino))
        if is_store(Path(name)):
            folders.clear()
            continue
        folders[:] = sorted(folder for folder in folders if not folder.startswith(_HIDDEN))
        yield Path(name), sorted(file for file in files if not file.startswith(_HIDDEN))


def _opened(file: Path, spool: Path, shown: str, *, named: bool) -> LogFile:
    """Return the file to read instead of the found one, and how to read it."""
    try:
        if file.is_dir():
            msg = "the folder cannot be read"
            raise ReportError(msg)
        if not file.is_file():  # a pipe is only read if the user named it
            if not named:
                msg = "it is a pipe or a device"
                raise ReportError(msg)
            with file.open("rb") as stream:
                file = _spooled(stream, spool)
        with file.open("rb") as opened:
            head = opened.read(_HEAD)
            opened.seek(-min(len(head), len(_PARQUET)), os.SEEK_END)
            compression, kind = _kind(file.name, head, opened.read())
            return LogFile(str(file.resolve()), shown, compression, kind, named)
    except OSError as error:
        raise ReportError(why_not_opened(error)) from None


def _kind(name: str, head: bytes, tail: bytes) -> tuple[Compression, FileKind]:
    """Return how to read a file."""
    if head.startswith((_GZIP, _ZSTD)):
        if _PACKED_PARQUET.search(name):
            msg = "a compressed Parquet file cannot be read: unpack it first"
            raise ReportError(msg)
        return ("gzip" if head.startswith(_GZIP) else "zstd"), "lines"
    if head.startswith(_PARQUET):
        if tail != _PARQUET:
            msg = "the Parquet file is truncated or still being written"
            raise ReportError(msg)
        return "none", "parquet"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        msg = "it is UTF-16, but logs are UTF-8"
        raise ReportError(msg)
    if not _is_text(head) and not re.search(rb"(?m)^(\xef\xbb\xbf)?\s*\{", head):
        msg = "it is not text"
        raise ReportError(msg)
    return "none", "lines"


def _is_text(head: bytes) -> bool:
    try:
        return "\0" not in codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False


def _spooled(stream: BinaryIO | None, spool: Path) -> Path:
    if stream is None:
        msg = "standard input is not available"
        raise ReportError(msg)
    with spool.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return spool
