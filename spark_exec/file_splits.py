"""Pieces: large files cut so that several tasks read one, without looking at more than is needed to cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, NamedTuple

from engine.errors import ConfigurationException

Kind = Literal["parquet", "files", "json", "text", "fixed", "rdw"]
KINDS: Final[tuple[Kind, ...]] = ("parquet", "files", "json", "text", "fixed", "rdw")

OFFSETS: Final = 40  # bits of a sequence that say where in its file a message begins; those above number the file
MOST_FILES: Final = 1 << (63 - OFFSETS)
_LEAST: Final = 1 << 20  # a piece that is smaller is not worth a task
_MOST: Final = 64 << 20
_WORD: Final = 4


class Piece(NamedTuple):
    """A part of a file that one task reads: what begins from `start` on and before `end`."""

    number: int
    file: str
    start: int
    end: int


def files_in(path: str) -> list[Path]:
    """A file, or the files of a directory, in the order of their names; executors find them wherever they work."""
    if "://" in path:
        raise ConfigurationException(f"{path} is a URI, by which only message sets in Parquet are read: name a path")
    place = Path(path).absolute()
    if not place.exists():
        raise ConfigurationException(f"{path} is not there: name a file, or a directory of messages")
    if not place.is_dir():
        return [place]
    found = sorted(inner for inner in place.rglob("*") if inner.is_file() and not inner.name.startswith((".", "_")))
    if not found:
        raise ConfigurationException(f"{path} holds no files: name a directory with messages in it")
    if len(found) > MOST_FILES:
        raise ConfigurationException(f"{path} holds more than {MOST_FILES:,} files: carry it in parts")
    return found


def pieces(files: Iterable[Path], kind: Kind, record_length: int, tasks: int) -> list[Piece]:
    """The files, cut so that about so many tasks have about the same to read."""
    sizes = [(file, file.stat().st_size) for file in files]
    size = min(max(sum(length for _, length in sizes) // max(tasks, 1), _LEAST), _MOST)
    made: list[Piece] = []
    for number, (file, length) in enumerate(sizes):
        cuts = [0, *_cuts(file, length, kind, (size, record_length)), length]
        made += [Piece(number, str(file), start, end) for start, end in pairwise(cuts)]
    return made


def _cuts(file: Path, length: int, kind: Kind, sizes: tuple[int, int]) -> Iterator[int]:
    """Yields where a file may be cut; lines are put right by who reads them."""
    size, record_length = sizes
    if kind == "files" or length <= size:
        return
    if kind == "rdw":
        yield from _words(file, length, size)
        return
    if kind == "fixed":
        size = max(size // record_length, 1) * record_length
    yield from range(size, length, size)


def _words(file: Path, length: int, size: int) -> Iterator[int]:
    """Yields where records begin, at least `size` bytes apart: only their descriptor words are read."""
    at, wanted = 0, size
    with file.open("rb") as opened:
        while at < length:
            if at >= wanted:
                yield at
                wanted = at + size
            opened.seek(at)
            word = opened.read(_WORD)
            if len(word) < _WORD or int.from_bytes(word[:2]) < _WORD:
                return  # who reads it says what is wrong
            at += int.from_bytes(word[:2])
