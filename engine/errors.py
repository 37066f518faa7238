"""BrokerError and its few children, the places where things go wrong, and problems shown with their source lines."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass, replace
from errno import EISDIR, ENOENT, ENOSPC
from typing import ClassVar, Final, Self


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an error: a node of a flow, a position in a file, or both; lines and columns count from 1.

    `type` is that of the node, as the ExceptionList names it: ComIbmComputeNode.
    """

    flow: str = ""
    node: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    type: str = ""

    def __str__(self) -> str:
        """The place as file:line:column, or as flow.node where there is no file."""
        if self.file:
            return ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])
        return self.of_node

    @property
    def of_node(self) -> str:
        """The node as flow.node."""
        return ".".join(part for part in (self.flow, self.node) if part)


NOWHERE = Place()
LOCAL_ERROR: Final = "penstock.localerror"  # the logger of what fails,
USER_TRACE: Final = "penstock.usertrace"  # and that of what users trace


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong with a definition or a program, found without running it.

    The kind is syntax, name, type or flow where a program is wrong, and empty elsewhere. One that does not stop a
    program is told, and the program runs all the same.
    """

    file: str
    line: int
    column: int
    number: int
    text: str
    source_line: str = ""
    width: int = 1
    kind: str = ""
    stops: bool = True

    def __str__(self) -> str:
        """The problem in one line, as compilers print it."""
        place = Place(file=self.file, line=self.line, column=self.column)
        return f"BIP{self.number:04d} {place}: {_shown(self.text)}"

    def render(self) -> str:
        """The problem with its source line and a marker under the place."""
        if not self.source_line:
            return str(self)
        before = "".join(c if c == "\t" else " " for c in self.source_line[: max(0, self.column - 1)])
        return f"{self}\n    {_shown(self.source_line)}\n    {before}{'^' * max(1, self.width)}"


def reason(error: OSError, missing: str = "name one that exists") -> str:
    """Why a file cannot be used, and what to do; `missing` is what to do where there is none.

    >>> reason(PermissionError(13, "Permission denied"))
    'Permission denied; change its permissions, or name another'
    """
    if not error.errno:  # one that says itself what is wrong
        return error.strerror or str(error)
    remedies = {ENOENT: missing, EISDIR: "name a file in it", ENOSPC: "make room, or name another place"}
    remedy = remedies.get(error.errno, "name another")
    if isinstance(error, PermissionError):
        remedy = "change its permissions, or name another"
    return f"{error.strerror or error}; {remedy}"


def has_left_debugger(error: BaseException) -> bool:
    """Returns True for what pdb raises when a person quits it: that ends the program, and is no failure of it."""
    debugger = sys.modules.get("bdb")  # which nobody needs who does not debug
    return debugger is not None and isinstance(error, debugger.BdbQuit)


def printable(text: str, keep: str = "") -> str:
    r"""Returns a text without what a terminal would obey or XML cannot hold, but for what is to be kept.

    It has as many characters, so that columns stay.

    >>> printable("a\0b\tc", keep="\t")
    'a\ufffdb\tc'
    """
    return "".join(c if c.isprintable() or c in keep else "\N{REPLACEMENT CHARACTER}" for c in text)


def _shown(text: str) -> str:
    return printable(text, "\t")


@dataclass(frozen=True, slots=True)
class Insert:
    """A value that an error's text speaks of, as the ExceptionList carries it; types are IBM's insert type numbers."""

    text: str
    type: int = 5


class BrokerError(Exception):
    """Something failed while a message ran; `number` is IBM's BIP number where one is known.

    `passed` are the nodes that it went through on its way up, outermost first, and what was thrown in them around it.

    >>> str(BrokerError(2230, "the flow failed").at(Place(flow="F", node="In")))
    'BIP2230 F.In: the flow failed'
    """

    kind: ClassVar[str] = "RecoverableException"
    catalog: str = "BIPmsgs"
    passed: tuple[Place | BrokerError, ...] = ()

    def __init__(
        self,
        number: int,
        text: str,
        *inserts: str | Insert,
        place: Place = NOWHERE,
        severity: int = 3,
        catalog: str = "",
    ) -> None:
        """`catalog` is another than the class's that explains the number."""
        super().__init__(number, text)
        self.number = number
        self.text = text
        self.inserts = tuple(Insert(i) if isinstance(i, str) else i for i in inserts)
        self.place = place
        self.severity = severity
        if catalog:
            self.catalog = catalog

    def at(self, place: Place) -> Self:
        """Say where it happened; what an inner part has said already stays."""
        own = self.place
        self.place = replace(
            place,
            **{field: value for field in Place.__slots__ if (value := getattr(own, field))},
        )
        return self

    def through(self, place: Place) -> Self:
        """Say that it has left a node; each node says so once, the innermost first."""
        self.passed = (place, *self.passed)
        return self

    def within(self, *errors: BrokerError) -> Self:
        """Say what a program has thrown around it, outermost first, in the node that it will leave next."""
        self.passed = (*errors, *self.passed)
        return self

    def __str__(self) -> str:
        """The error in one line: number, place, text."""
        place = str(self.place)
        return f"BIP{self.number:04d} {place}: {self.text}" if place else f"BIP{self.number:04d}: {self.text}"


class LimitExceeded(BrokerError):
    """A message that needs more than it may have; no handler of ESQL goes on behind it."""


class ParserException(BrokerError):
    """Bytes that cannot be read as what they are said to be, or a tree that cannot be written so."""

    kind = "ParserException"


class ConversionException(BrokerError):
    """Characters that cannot be converted to or from a CCSID."""

    kind = "ConversionException"


class MessageException(BrokerError):
    """A queue refused a message or had none to give; `reason` is MQ's reason code."""

    kind = "MessageException"

    def __init__(self, number: int, text: str, *inserts: str | Insert, reason: int = 0, place: Place = NOWHERE) -> None:
        super().__init__(number, text, *inserts, place=place)
        self.reason = reason


class ConfigurationException(BrokerError):
    """A definition that cannot be deployed; `problems` lists everything that is wrong with it."""

    kind = "ConfigurationException"

    def __init__(self, text: str, problems: tuple[Problem, ...] = (), *, number: int = 2066) -> None:
        super().__init__(number, text)
        self.problems = problems


class UserException(BrokerError):
    """An exception that a flow throws by itself: the Throw node or ESQL's THROW."""

    kind = "UserException"


LONGEST_SHOWN_LINE: Final = 200


def marked(place: Place, text: str, about: str, number: int, line: str) -> Problem:
    """A problem with its source line, its column moved to the word that it is about."""
    if len(line) > LONGEST_SHOWN_LINE:
        line = ""
    start = line.find(about, place.column - 1) if about else -1
    column, width = (start + 1, len(about)) if start >= 0 else (place.column, 1)
    return Problem(place.file, place.line, column, number, _without_tabs(text), _without_tabs(line.rstrip()), width)


def _without_tabs(text: str) -> str:
    return printable(text.replace("\t", " "))


def line_of_file(place: Place) -> str:
    """The line of a place, as its file has it now."""
    linecache.checkcache(place.file)
    return linecache.getline(place.file, place.line)
