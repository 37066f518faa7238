"""Findings: what a pass of lint is given, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.errors import Place
from engine.flow.definition import Flow, Types
from engine.flow.label_routes import Names
from engine.node import NodeType

UNFIT: Final = 2087


class Finding(NamedTuple):
    """A problem that a pass has found; `about` is the word of the source line that it is about."""

    place: Place
    text: str
    about: str = ""
    number: int = UNFIT


@dataclass(frozen=True, slots=True)
class Subject:
    """A flow under examination, with all that its nodes turn out to be, and the wires that could not be read."""

    flow: Flow
    types: Mapping[str, NodeType | None]
    known: Types
    labels: Names
    unread: tuple[str, ...] = ()
