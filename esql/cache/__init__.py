"""The compile cache: what programs became when they were last compiled, so that a second start does not read them.

An entry is found by the digest of everything that it depends on: names and contents of the files, the kind of node, the
source of Penstock, and the version of Python. So it is never out of date; the oldest ones go when there is too much.
Programs with problems are not kept, for their problems are to be told each time.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from esql.cache import directory
from esql.cache.program_bytes import from_bytes, to_bytes
from esql.runtime.linker import Parts, link
from esql.runtime.program import Compiled
from esql.text.source import check_length, decode

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

        def make() -> Parts:
            from esql.compile import parts_of_sources  # it brings the reader of ESQL, half a second of work

            return parts_of_sources(sources, trace=trace)

        return self._found(("", trace), sources, make)

    def text(self, data: bytes | str, kind: str, name: str = "ESQL", *, trace: str = "") -> Compiled:
        """Compile the text of a node's property; the kind is COMPUTE, FILTER or DATABASE."""

        def make() -> Parts:
            from esql.compile import parts_of_text

            return parts_of_text(data, kind, name, trace=trace)

        return self._found((kind, trace), [(name, data)], make)

    def expression(self, text: str, name: str = "expression") -> Compiled:
        """Compile an expression; its value is what the program returns."""

        def make() -> Parts:
            from esql.compile import parts_of_expression

            return parts_of_expression(text, name)

        return self._found(("EXPRESSION", ""), [(name, text)], make)

    def _found(self, how: tuple[str, str], sources: Sources, make: Callable[[], Parts]) -> Compiled:
        if self.folder is None:
            return link(make())
        check_length(sources)
        kind, trace = how
        key = key_of(kind, sources, trace)
        data = directory.read(self.folder, key)
        parts = (
            None if data is None else from_bytes(key, data, {name: decode(text, name).text for name, text in sources})
        )
        if parts is None:
            parts = make()
            directory.write(self.folder, key, to_bytes(key, parts))
        return link(parts)


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
    root = Path(__file__).resolve().parents[2]
    for file in sorted(file for package in _PACKAGES for file in (root / package).rglob("*.py")):
        data = file.read_bytes()
        digest.update(f"{file.relative_to(root)}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()
