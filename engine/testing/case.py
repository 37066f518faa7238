"""Test files as data: cases, each with messages that go in, nodes that are stubbed, and what is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.errors import NOWHERE, Place
from engine.flow.definition import Setting
from engine.mq.definitions import QueueDefinition
from engine.parser import NO_TEMPLATE, Template


@dataclass(frozen=True, slots=True)
class Text:
    """A value as it is written: `is_plain` without quotes, so that it may be a number or a truth; None is NULL."""

    text: str | None
    is_plain: bool = True
    place: Place = NOWHERE


Tree: TypeAlias = "Text | tuple[Tree, ...] | dict[str, Tree]"


@dataclass(frozen=True, slots=True)
class Field:
    """A place in one of a message's trees, and what stands there: a value, further fields, or a list of either."""

    path: str
    tree: str
    names: tuple[str, ...]
    value: Tree
    counts: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a message: as text, which is written in the CCSID of its message, or as they are."""

    content: str | bytes
    compare: str = ""


@dataclass(frozen=True, slots=True)
class ExpectedException:
    """An exception that a case expects; what is empty may be anything."""

    type: str = ""
    number: int = 0
    text: str = ""
    node: str = ""
    inserts: tuple[str, ...] | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Description:
    """A message: its body and fields of its trees; as what goes in it is made, as what is expected it is compared."""

    body: Body | None = None
    fields: tuple[Field, ...] = ()
    ccsid: int | None = None
    encoding: int | None = None
    format: str | None = None
    template: Template = NO_TEMPLATE
    exception: ExpectedException | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Input:
    """A message that goes in, by a queue or at the `in` terminal of a node."""

    message: Description
    queue: str = ""
    node: str = ""
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Throw:
    """An exception that a stubbed node raises."""

    type: str = "RecoverableException"
    number: int = 2230
    text: str = "thrown by a stub"
    inserts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Send:
    """A message that a stubbed node sends: the one that came, with what the description says."""

    terminal: str
    message: Description


Call: TypeAlias = "tuple[Send | Throw, ...]"


@dataclass(frozen=True, slots=True)
class Stub:
    """A node that only pretends: what it does each time it is reached; the last is repeated."""

    label: str
    calls: tuple[Call, ...]
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Propagations:
    """The messages that are expected on a queue or out of a terminal, in order, or only how many."""

    name: str
    count: int
    messages: tuple[Description, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class GivenTable:
    """A table as a test wants it: columns with their SQL types, and rows."""

    source: str
    name: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[dict[str, Text], ...]
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """All rows that a table is to have in the end, in any order; columns that a row does not name may hold anything."""

    source: str
    name: str
    rows: tuple[dict[str, Text], ...]
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Expected:
    """The results that a case expects; None where it says nothing of one."""

    queues: tuple[Propagations, ...] | None = None
    terminals: tuple[Propagations, ...] = ()
    order: tuple[str, ...] | None = None
    exceptions: tuple[ExpectedException, ...] = ()
    tables: tuple[ExpectedTable, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a flow."""

    name: str
    flow: str
    inputs: tuple[Input, ...]
    expected: Expected
    stubs: tuple[Stub, ...] = ()
    properties: tuple[Setting, ...] = ()
    user_properties: tuple[Setting, ...] = ()
    queues: tuple[QueueDefinition, ...] = ()
    tables: tuple[GivenTable, ...] = ()
    file: str = ""
    place: Place = NOWHERE
