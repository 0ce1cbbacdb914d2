"""Where events are read from: files, globs, addresses and streams, by how they are compressed."""

from __future__ import annotations

import glob
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from mcp_lenient.report.errors import ReportError

Compression = Literal["none", "gzip", "zstd", "auto"]

STDIN: Final = "-"
"""The name of standard input."""

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BLOCK: Final = 2**20
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Files that are read in one go.

    ``paths`` are patterns as DuckDB reads them: local names in which nothing is special, or addresses.
    """

    paths: tuple[str, ...]
    compression: Compression

    @property
    def names(self) -> tuple[str, ...]:
        """The same as their names are written, without what keeps a pattern from being one."""
        return self.paths if self.remote else tuple(map(_unescaped, self.paths))

    @property
    def remote(self) -> bool:
        """Whether they lie on another machine."""
        return self.compression == "auto"


def find_logs(names: Sequence[str | Path], folder: Path, stdin: BinaryIO | None) -> tuple[LogFiles, ...]:
    """The files that names stand for, sorted by how they are compressed; a file is read once.

    Args:
        names: Files, patterns with ``*``, ``?``, ``[]`` and ``**``, ``s3://`` and other addresses, and
            ``-`` for standard input.
        folder: Where what comes as a stream is kept while it is read.
        stdin: Standard input.

    Raises:
        ReportError: Where a name stands for nothing that can be read.
    """
    sorts: dict[Compression, dict[str, None]] = {}
    for number, name in enumerate(dict.fromkeys(map(str, names))):
        if _ADDRESS.match(name):
            sorts.setdefault("auto", {})[name] = None
            continue
        for file in _local(name, folder / f"stream-{number}", stdin):
            sorts.setdefault(_compression(file), {})[glob.escape(str(file))] = None
    if not sorts:
        msg = "no log is named: give files, patterns or - for standard input"
        raise ReportError(msg)
    return tuple(LogFiles(tuple(paths), compression) for compression, paths in sorts.items())


def unpacked(path: str, target: Path) -> bool:
    """Write what a gzip file holds, up to where it is whole; whether that is its end.

    Args:
        path: A path of :class:`LogFiles`.
        target: The file to write.
    """
    with Path(_unescaped(path)).open("rb") as packed, target.open("wb") as plain:
        return _keep(_blocks(packed), plain)


def _local(name: str, spool: Path, stdin: BinaryIO | None) -> Iterator[Path]:
    if name == STDIN:
        if stdin is None:
            msg = "standard input is not there to be read"
            raise ReportError(msg)
        yield _spooled(stdin, spool)
        return
    found = [name] if Path(name).exists() else sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - absolute patterns too
    files = [Path(each) for each in found if each == name or Path(each).is_file()]
    if not files:
        msg = f"{name}: there is no such file" + (
            ", nor one that fits the pattern" if glob.has_magic(name) else ""
        )
        raise ReportError(msg)
    for file in files:
        if file.is_dir():
            msg = f"{file}: this is a folder; name its files, as in {file}/*.jsonl"
            raise ReportError(msg)
        yield file.resolve() if file.is_file() else _piped(file, spool)


def _piped(pipe: Path, spool: Path) -> Path:
    with pipe.open("rb") as stream:
        return _spooled(stream, spool)


def _spooled(stream: BinaryIO, spool: Path) -> Path:
    with spool.open("wb") as plain:
        _keep(_blocks(stream), plain)
    return spool


def _compression(file: Path) -> Compression:
    try:
        with file.open("rb") as opened:
            start = opened.read(len(_ZSTD))
    except OSError as error:
        msg = f"{file}: this cannot be read: {error.strerror}"
        raise ReportError(msg) from None
    if start.startswith(_GZIP):
        return "gzip"
    return "zstd" if start == _ZSTD else "none"


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.read(_BLOCK):
        yield block


def _keep(blocks: Iterable[bytes], plain: BinaryIO) -> bool:
    """Write blocks of a stream, unpacked where it starts as a gzip file does; whether it is whole."""
    packed, unpack = False, None
    for number, block in enumerate(blocks):
        packed = packed or (number == 0 and block.startswith(_GZIP))
        if not packed:
            plain.write(block)
            continue
        try:
            unpack = _unpack(unpack, block, plain)
        except zlib.error:  # damaged from here on
            return False
    return unpack is None


def _unpack(unpack: zlib._Decompress | None, block: bytes, plain: BinaryIO) -> zlib._Decompress | None:
    """What goes on with the next block; None at the end of a file, of which there may be several in a row."""
    waiting = block
    while waiting:
        unpack = unpack or zlib.decompressobj(_GZIP_WINDOW)
        plain.write(unpack.decompress(waiting, 4 * _BLOCK))
        waiting = unpack.unconsumed_tail
        if unpack.eof:
            waiting, unpack = unpack.unused_data, None
    return unpack


def _unescaped(path: str) -> str:
    return re.sub(r"\[([*?[])\]", r"\1", path)
