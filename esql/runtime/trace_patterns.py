"""Patterns of Trace: texts in which ${...} stand for paths of a message and for expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.message.assembly import Message
from esql.runtime.program import Routine

TREES: Final = ("Root", "Body", "Properties", "LocalEnvironment", "DestinationList", "Environment", "ExceptionList")

_INSERT: Final = re.compile(r"""\$\{((?>[^{}'"]|'[^']*'|"[^"]*"|\{[^{}]*\})*+)\}""")
_STEP: Final = r'(?:"[^"]+"|[\w:]+)(?:\[(?:[<>]|[<>]?[0-9]{1,9})\])?'
_PATH: Final = re.compile(rf"({'|'.join(TREES)})(?:\.(?:\*|{_STEP}))*")
_PART: Final = re.compile(r'\.(?:"([^"]+)"|([\w:]+|\*))(?:\[([<>]?)([0-9]*)\])?')


@dataclass(frozen=True, slots=True)
class Part:
    """A step of a path: a name, None for any, and which of those that are called so; counted from the end if `last`."""

    name: str | None
    number: int = 1
    last: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A tree of a message, and the way in it."""

    tree: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """ESQL that is more than a path."""

    text: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A text with inserts, and what its expressions have become."""

    text: str
    routines: Mapping[str, Routine]


def pieces(text: str) -> Iterator[str | Path | Expression]:
    """A text cut at its inserts.

    >>> list(pieces("a ${Root.XMLNSC.Item[<2]} b ${CURRENT_DATE}"))[1:]
    [Path(tree='Root', parts=(Part(name='XMLNSC', number=1, last=False), Part(name='Item', number=2, last=True))), \
' b ', Expression(text='CURRENT_DATE'), '']
    """
    at = 0
    for found in _INSERT.finditer(text):
        yield text[at : found.start()]
        at = found.end()
        inside = found[1].strip()
        path = _PATH.fullmatch(inside)
        yield Expression(inside) if path is None else Path(path[1], tuple(_parts(inside[path.end(1) :])))
    yield text[at:]


def _parts(text: str) -> Iterator[Part]:
    for quoted, plain, end, number in _PART.findall(text):
        yield Part(quoted or (None if plain == "*" else plain), int(number or 1), end == "<")


def value_of(routine: Routine, message: Message) -> Any:
    """The value of an expression for a message."""
    return routine.program.returned(routine.entrance, routine.program.activation(message, routine.around))
