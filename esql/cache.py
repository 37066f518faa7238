"""The compile cache: what programs became when they were last compiled, so that a second start does not read them.

An entry is found by the digest of everything that it depends on: names and contents of the files, the kind of node, the
source of Penstock, and the version of Python. So it is never out of date; the oldest ones go when there is too much.
Programs with problems are not kept, for their problems are to be told each time. An entry has the code as Python
marshals it, and beside it what code refers to, as plain data; bytes that were damaged, or that belong to something
else, are no entry.
"""

from __future__ import annotations

import hashlib
import logging
import marshal
import os
import secrets
import stat
import sys
import time as system
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

from engine.databases import statements as database
from engine.databases.driver import ColumnType
from engine.tree.step import Step, step
from esql.cast.request import Target
from esql.functions import function_catalog
from esql.runtime.linker import EntryPoint, Parts, link
from esql.runtime.program import Compiled
from esql.text import StatementSpan, check_length, decode
from esql.values.types import Bit, Interval, Qualifier

VARIABLE: Final = "PENSTOCK_CACHE"
OFF: Final = "off"
_PACKAGES: Final = ("esql", "engine", "parsers")  # what programs become depends on nothing else of Penstock

Sources = Sequence[tuple[str, bytes | str]]


@dataclass(frozen=True, slots=True)
class Cache:
    """Compiles programs, or finds what they became before; without a folder it only compiles."""

    folder: Path | None = None

    def sources(self, sources: Sources, *, trace: str = "") -> Compiled:
        """Compile .esql files that are deployed together; with `trace` they tell the user trace what they do.

        >>> Cache().sources([("a.esql", "SET OutputRoot = InputRoot;")]).entrance().kind
        'COMPUTE'
        """
        return self._found(("", trace), sources, lambda compiler: compiler.parts_of_sources(sources, trace=trace))

    def text(self, data: bytes | str, kind: str, name: str = "ESQL", *, trace: str = "") -> Compiled:
        """Compile the text of a node's property; the kind is COMPUTE, FILTER or DATABASE."""
        how = (kind, trace)
        return self._found(how, [(name, data)], lambda compiler: compiler.parts_of_text(data, kind, name, trace=trace))

    def expression(self, text: str, name: str = "expression") -> Compiled:
        """Compile an expression; its value is what the program returns."""
        how = ("EXPRESSION", "")
        return self._found(how, [(name, text)], lambda compiler: compiler.parts_of_expression(text, name))

    def _found(self, how: tuple[str, str], sources: Sources, make: Callable[[Any], Parts]) -> Compiled:
        """Programs from the folder, or what `make` has of the compiler."""
        if self.folder is None:
            return link(make(_compiler()))
        check_length(sources)
        kind, trace = how
        key = key_of(kind, sources, trace)
        data = read(self.folder, key)
        parts = (
            None if data is None else from_bytes(key, data, {name: decode(text, name).text for name, text in sources})
        )
        if parts is None:
            parts = make(_compiler())
            write(self.folder, key, to_bytes(key, parts))
        return link(parts)


def _compiler() -> ModuleType:
    """The compiler, which brings the reader of ESQL: half a second of work."""
    from esql import compile as compiler

    return compiler


def users_cache(environment: Mapping[str, str] = os.environ) -> Cache:
    """The cache of who runs this: where PENSTOCK_CACHE says, or XDG_CACHE_HOME, or in .cache at home.

    >>> users_cache({"PENSTOCK_CACHE": "off"}).folder is None
    True
    >>> users_cache({"XDG_CACHE_HOME": "/var/cache/me"}).folder.as_posix()
    '/var/cache/me/penstock/esql'
    """
    said = environment.get(VARIABLE, "")
    if said == OFF or not hasattr(os, "geteuid"):  # where files have no owner, nothing can be trusted
        return Cache()
    if said:
        return Cache(Path(said).absolute() / "esql")
    home = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(home):
        return Cache(Path(home) / "penstock" / "esql")
    try:
        return Cache(Path.home() / ".cache" / "penstock" / "esql")
    except RuntimeError:  # who runs this has no home
        return Cache()


def key_of(kind: str, sources: Sources, trace: str = "") -> str:
    """The name of an entry: a digest of all that it depends on."""
    digest = hashlib.sha256(version().encode())
    for part in (kind.encode(), trace.encode(), *_pieces(sources)):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def _pieces(sources: Sources) -> Iterator[bytes]:
    for name, data in sources:
        yield os.fsencode(name)
        yield b"text" if isinstance(data, str) else b"bytes"
        yield data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data


@cache
def version() -> str:
    """A digest of the source that compiles, and the version of Python: entries of any other are not found."""
    digest = hashlib.sha256(sys.version.encode())
    root = Path(__file__).resolve().parents[1]
    for file in sorted(file for package in _PACKAGES for file in (root / package).rglob("*.py")):
        data = file.read_bytes()
        digest.update(f"{file.relative_to(root)}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


SUFFIX: Final = ".compiled"
LARGEST: Final = 32 * 1024 * 1024  # bytes of one entry
MOST: Final = 256 * 1024 * 1024  # bytes of all entries
_DAY: Final = 86_400
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_OLD: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


class RefusedError(OSError):
    """A directory or a file that someone else could have written."""


def read(folder: Path, name: str) -> bytes | None:
    """The bytes of an entry; None where there is none that can be trusted."""
    with _quietly(folder), _opened(folder) as at:
        file = os.open(name + SUFFIX, _OLD, dir_fd=at)
        with os.fdopen(file, "rb") as opened:
            known = _own(file, f"{folder}/{name}{SUFFIX}")
            if not stat.S_ISREG(known.st_mode) or known.st_size > LARGEST:
                return None
            if system.time() - known.st_mtime > _DAY:
                os.utime(file)  # what is used is not what goes when there is too much
            return opened.read(LARGEST)
    return None


def write(folder: Path, name: str, data: bytes, most: int = MOST) -> None:
    """Write an entry, and remove the oldest ones where there are too many; what cannot be written is left."""
    if len(data) > min(LARGEST, most):
        return
    with _quietly(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened(folder) as at:
            _put(at, name + SUFFIX, data)
            _remove_oldest(at, most)


def _put(at: int, name: str, data: bytes) -> None:
    """Another process sees the whole file or none."""
    draft = f"{secrets.token_hex(16)}{SUFFIX}"
    try:
        with os.fdopen(os.open(draft, _NEW, 0o600, dir_fd=at), "wb") as opened:
            opened.write(data)
        os.replace(draft, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=at)
        raise


def _remove_oldest(at: int, most: int) -> None:
    """Make room for more, so that not every new entry has to."""
    found = []
    with os.scandir(at) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX):
                with suppress(OSError):  # another process has removed it
                    known = entry.stat(follow_symlinks=False)
                    found.append((known.st_mtime, known.st_size, entry.name))
    total = sum(size for _, size, _ in found)
    if total <= most:
        return
    for _, size, name in sorted(found)[:-1]:
        with suppress(OSError):
            os.unlink(name, dir_fd=at)
        total -= size
        if total <= most * 3 // 4:
            return


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    at = os.open(folder, _FOLDER)
    try:
        _own(at, str(folder))
        yield at
    finally:
        os.close(at)


def _own(file: int, name: str) -> os.stat_result:
    """Refuse what is another user's, or what others can write."""
    known = os.fstat(file)
    if known.st_uid != os.geteuid():
        raise RefusedError(0, f"{name} belongs to another user")
    if known.st_mode & _WRITABLE_BY_OTHERS:
        raise RefusedError(0, f"{name} can be written by others: chmod go-w {name}")
    return known


@contextmanager
def _quietly(folder: Path) -> Iterator[None]:
    """A cache that does not work costs time and nothing else; one that is not safe is worth a word."""
    log = logging.getLogger("penstock.cache")
    try:
        yield
    except FileNotFoundError:
        return
    except RefusedError as error:
        log.warning("the cache is not used: %s", error.strerror)
    except OSError as error:
        log.info("the cache in %s is not used: %s", folder, error.strerror)


_MARK: Final = b"penstock esql 2\n"
_DIGEST: Final = hashlib.sha256().digest_size


class _Kind(NamedTuple):
    """A type of constants: into plain data, and back."""

    of: type
    data: Callable[[Any], Any]
    value: Callable[[Any], Any]


_DATACLASSES: Final = (
    *(database.Select, database.Insert, database.Update, database.Delete, database.Passthru, database.Procedure),
    *(database.Commit, database.Rollback, database.Column, database.Parameter, database.Computed, database.Query),
    *(database.Converted, ColumnType, Bit, Interval, Qualifier, Target),
)


def _fields_of(kind: type) -> _Kind:
    """A dataclass by what its fields hold, in their order."""
    titles = tuple(one.name for one in fields(kind))
    return _Kind(
        kind,
        lambda value: tuple(_data(getattr(value, title)) for title in titles),
        lambda data: kind(*map(_value, data)),
    )


_KINDS: Final[Mapping[str, _Kind]] = {
    "step": _Kind(Step, lambda one: (one.name, one.namespace, one.types), lambda data: step(*data)),
    "decimal": _Kind(Decimal, str, Decimal),
    "datetime": _Kind(datetime, datetime.isoformat, datetime.fromisoformat),  # in front of date, as it is one
    "date": _Kind(date, date.isoformat, date.fromisoformat),
    "time": _Kind(time, time.isoformat, time.fromisoformat),
    **{kind.__name__: _fields_of(kind) for kind in _DATACLASSES},
    "tuple": _Kind(tuple, lambda one: tuple(map(_data, one)), lambda data: tuple(map(_value, data))),
}
_PLAIN: Final = (str, bytes, int, float, bool, type(None))


def to_bytes(key: str, parts: Parts) -> bytes:
    """Write an entry; the key says what it was compiled from."""
    constants = tuple((slot, _constant(slot, value)) for slot, value in parts.constants.items())
    entry_points = tuple(
        (entry.kind, entry.name, entry.slot, entry.yields, entry.starts, entry.shares) for entry in parts.entry_points
    )
    placed: Any = tuple((file, tuple(map(tuple, found))) for file, found in parts.statements.items())
    body = marshal.dumps((key, parts.codes, constants, entry_points, parts.places, placed))
    return _MARK + hashlib.sha256(body).digest() + body


def from_bytes(key: str, data: bytes, texts: Mapping[str, str]) -> Parts | None:
    """Read the entry of a key; None if the bytes are something else."""
    start = len(_MARK) + _DIGEST
    if not data.startswith(_MARK) or hashlib.sha256(data[start:]).digest() != data[len(_MARK) : start]:
        return None
    found, codes, constants, entry_points, places, placed = marshal.loads(data[start:])  # noqa: S302 - see the architecture test
    if found != key or not all(isinstance(code, CodeType) for code in codes):
        return None
    known = {slot: _value(one) for slot, one in constants}
    statements = {file: tuple(StatementSpan(*one) for one in spans) for file, spans in placed}
    return Parts(codes, known, tuple(EntryPoint(*entry) for entry in entry_points), places, texts, statements)


def _constant(slot: str, value: object) -> Any:
    """A function of the catalogue is known by its name; all else is a value."""
    return ("function", slot) if isinstance(value, FunctionType) else _data(value)


def _data(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    word, kind = next((word, kind) for word, kind in _KINDS.items() if type(value) is kind.of)
    return word, kind.data(value)


def _value(data: Any) -> Any:
    if type(data) is not tuple:
        return data
    word, inside = data
    return function_catalog.find(inside).body if word == "function" else _KINDS[word].value(inside)
