"""Emitted programs as data, and how they become what can be run: the one place where their code is executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Final

from esql.runtime.activation import Shared
from esql.runtime.emitted_names import library
from esql.runtime.program import Compiled, Entrance
from esql.text.statement_places import Stretch

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Door:
    """An entrance of emitted code of which the function is known by name only."""

    kind: str
    name: str
    slot: str
    yields: bool
    starts: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of programs that are deployed together: code, constants, entrances, and the number of variables.

    `texts` are their files, by name, and `statements` where in them what stands. `trees` are the Python that the code
    was made of, for people to read; a cache does not keep them.
    """

    codes: tuple[CodeType, ...]
    constants: Mapping[str, object]
    doors: tuple[Door, ...]
    places: int
    texts: Mapping[str, str]
    statements: Mapping[str, tuple[Stretch, ...]] = field(default_factory=dict)
    trees: tuple[ast.Module, ...] = field(default=(), compare=False)


def link(parts: Parts) -> Compiled:
    """The programs, ready to run, with SHARED variables of their own."""
    namespace = executed(parts.codes, parts.constants)
    entrances = {
        door.name: Entrance(door.kind, door.name, namespace[door.slot], door.yields, door.starts, door.shares)
        for door in parts.doors
        if door.slot  # a module that nothing enters by Main has none
    }
    files = {name: split_lines(text) for name, text in parts.texts.items()}
    shared = Shared(parts.places)
    return Compiled(entrances, namespace, files, parts.places, parts.statements, parts.trees, shared, _reenter)


def executed(codes: Sequence[CodeType], constants: Mapping[str, object]) -> dict[str, Any]:
    """The functions that code defines, and all that they use."""
    namespace: dict[str, Any] = {**library(), **constants}
    for code in codes:
        exec(code, namespace)  # noqa: S102 - see the architecture test
    return namespace


def split_lines(text: str) -> tuple[str, ...]:
    """The lines of a text as ESQL counts them; a position counts from 1."""
    return tuple(_LINE_END.split(text))


def _reenter(text: str, kind: str, given: tuple[Any, ...], is_expression: bool) -> tuple[Callable[..., Any], bool]:
    """Returns what EVAL runs. Nothing else of a program that is deployed from a cache needs the reader of ESQL."""
    from esql.compile import compile_given

    return compile_given(text, kind, given, is_expression)
