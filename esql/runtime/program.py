"""Programs that are compiled: running them when a message comes, what they send, and the statements that fail."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, get_args

from engine.databases.sql import shown
from engine.databases.statements import Statement
from engine.errors import BrokerError, ConfigurationException, Insert, LimitExceeded, Place
from engine.message.assembly import Message
from esql.cast import Target, assign
from esql.database import Connection
from esql.runtime.activation import TOO_DEEP, Activation, Shared, Surroundings
from esql.text import StatementSpan, innermost_statement
from esql.values.errors import CAST, CHARACTER_CASTS, ValueFailure

if TYPE_CHECKING:
    from engine.work import UnitOfWork


Evaluation: TypeAlias = Generator[tuple[str, Message], bool, None]

_BOOLEAN: Final = Target("BOOLEAN")
_WITHOUT_OUTPUT: Final = frozenset(("FILTER", "DATABASE", "DATABASEEVENT"))
_STATEMENTS: Final = get_args(Statement)
_TERMINALS: Final = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Entrance:
    """An entrance of compiled code: its kind, its function, and those that start variables."""

    kind: str
    name: str
    run: Callable[..., Any]
    yields: bool
    starts: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compiled:
    """A deployment of programs, compiled."""

    entrances: Mapping[str, Entrance]
    namespace: Mapping[str, Any]
    files: Mapping[str, Sequence[str]]
    places: int
    statements: Mapping[str, Sequence[StatementSpan]] = field(default_factory=dict)
    trees: tuple[ast.Module, ...] = ()
    shared: Shared = field(default_factory=Shared)
    reenter: Callable[..., Any] | None = None

    @property
    def text(self) -> str:
        """The Python as people read it, and the constants that it uses."""
        return self.text_with(shown)

    @property
    def database_statements(self) -> list[Statement]:
        """The statements of databases among the constants."""
        return [one for one in self.namespace.values() if isinstance(one, _STATEMENTS)]

    def text_with(self, sql_of: Callable[[Statement], str]) -> str:
        """Returns the text, with the SQL that a function gives for each statement of a database."""
        names = {word.id for tree in self.trees for word in ast.walk(tree) if isinstance(word, ast.Name)}
        slots = [slot for slot in self.namespace if slot in names and slot[1:].isdecimal() and slot[0] in "ks"]
        known = [f"# {slot} = {_shown(self.namespace[slot], sql_of)}" for slot in slots]
        return "\n".join([*known, *(ast.unparse(tree) for tree in self.trees)])

    def entrance(self, name: str = "") -> Entrance:
        """A module by its name; without one the only one there is."""
        if name in self.entrances:
            return self.entrances[name]
        folded = {known.lower(): one for known, one in self.entrances.items()}
        if name.lower() in folded:
            return folded[name.lower()]
        inside = [one for known, one in folded.items() if name and known.endswith(f".{name.lower()}")]
        if len(inside) == 1:  # whatever its schema
            return inside[0]
        if not name and len(self.entrances) == 1:
            return next(iter(self.entrances.values()))
        known = ", ".join(self.entrances) or "none"
        if not name:
            raise BrokerError(2432, f"name the module to run; the modules are: {known}")
        raise BrokerError(2432, f"there is no module called {name}; the modules are: {known}", name)

    def activation(self, message: Message, around: Surroundings | None = None) -> Activation:
        """Returns what an invocation of a node starts with."""
        return Activation(message, Surroundings() if around is None else around, self.shared, self.places, self.reenter)

    def evaluate(self, message: Message, around: Surroundings | None = None, module: str = "") -> Evaluation:
        """Run a module, or the text of a node, for a message: yield terminals and what goes out of them."""
        return self.entered(self.entrance(module), self.activation(message, around))

    def entered(self, entrance: Entrance, here: Activation) -> Evaluation:
        """Run an entrance: yield terminals and what goes out of them."""
        try:
            result = yield from self.results(entrance, here)
            if entrance.kind == "FILTER" and result is not None and result.__class__ is not bool:
                result = _truth(entrance, result, here)
        except BrokerError as error:
            raise self.placed(error) from error.__cause__
        if entrance.kind == "FILTER":
            yield _TERMINALS[result], here.onward()
        elif result is not True:
            return
        elif entrance.kind == "COMPUTE":
            yield "out", here.outgoing(as_it_is=False)
        else:
            yield "out", here.onward()

    def results(
        self, entrance: Entrance, here: Activation, *, goes_on: bool = False
    ) -> Generator[tuple[str, Message], bool, Any]:
        """Run the code of an entrance, whose OutputRoot `goes_on` or begins; the result is what it returned."""
        here.has_output = entrance.kind not in _WITHOUT_OUTPUT
        if here.has_output and not goes_on:
            here.begin_output()
        try:
            if entrance.starts or entrance.shares:
                yield from self._start(entrance, here)
            if entrance.yields:
                return (yield from entrance.run(here, 1))
            return entrance.run(here, 1)
        except RecursionError as error:
            raise LimitExceeded(TOO_DEEP, "routines have called each other too deep: end the recursion") from error
        except MemoryError as error:
            raise LimitExceeded(2573, "the message needs more memory than there is") from error

    def returned(self, entrance: Entrance, here: Activation) -> Any:
        """Run the code of an entrance that sends nothing, and give what it returns."""
        results = self.results(entrance, here)
        try:
            while True:
                next(results)
        except StopIteration as stop:
            return stop.value
        except BrokerError as error:
            raise self.placed(error) from error.__cause__

    def _start(self, entrance: Entrance, here: Activation) -> Generator[tuple[str, Message], bool, None]:
        """Start the variables that stand outside routines; a routine that is called for one may PROPAGATE."""
        for title in entrance.shares:
            with self.shared.lock:
                if title not in self.shared.started:
                    started = self.namespace[title](here, 1)
                    for _ in started or ():
                        started.throw(BrokerError(2402, "what a SHARED variable starts with cannot PROPAGATE"))
                    self.shared.started.add(title)
        for title in entrance.starts:
            yield from self.namespace[title](here, 1) or ()

    def _column(self, file: str, line: int, offset: int | None) -> int:
        """A column in characters, from an offset in bytes."""
        lines = self.files[file]
        if offset is None or not 0 < line <= len(lines):
            return 0
        return len(lines[line - 1].encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1

    def placed(self, error: BrokerError) -> BrokerError:
        """An error with the line of ESQL where it was raised, if that is not known yet, and the statements it has left.

        One that has come from another node, behind a PROPAGATE, has left those that lead to the PROPAGATE.
        """
        spots = list(self._spots(error.__traceback__))
        if not spots:
            return error
        left = rethrown(spots, self.statements, self.files)
        if error.place.node:
            return error.within(*until_sent(left))
        last = spots[-1]
        error.at(Place(file=last.file, line=last.line, column=last.column))
        return error.within(*left, *evaluated(error, last, self.statements))

    def _spots(self, traceback: TracebackType | None) -> Iterator[Spot]:
        """The places in files that a failure has come from, outermost first."""
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename in self.files:
                line = traceback.tb_lineno or 0
                offset = next(islice(code.co_positions(), traceback.tb_lasti // 2, None))[2]
                yield Spot(code.co_filename, line, self._column(code.co_filename, line, offset))
            traceback = traceback.tb_next


def _shown(value: object, sql_of: Callable[[Statement], str]) -> str:
    """A constant for people to read; a statement of a database as its SQL."""
    if not isinstance(value, _STATEMENTS):
        return repr(value)
    rest = "   (the rest of WHERE is tested on the rows that come)" if getattr(value, "rest", False) else ""
    return sql_of(value) + rest


def _truth(entrance: Entrance, result: Any, here: Activation) -> Any:
    """Returns what a Filter's text has returned, which may be a field with the characters TRUE, as a BOOLEAN."""
    try:
        return assign(result, _BOOLEAN, here)
    except BrokerError as error:
        code = entrance.run.__code__
        raise error.at(Place(file=code.co_filename, line=code.co_firstlineno)) from error.__cause__


@dataclass(frozen=True, slots=True)
class Routine:
    """A module, or the text of a property, with all that it needs but the message: what a node calls."""

    program: Compiled
    entrance: Entrance
    around: Surroundings

    def __call__(
        self, message: Message, work: UnitOfWork | None = None, database: Connection | None = None
    ) -> Evaluation:
        """Run it for a message, in its unit of work: yield terminals and what goes out of them."""
        program = self.program
        here = Activation(message, self.around, program.shared, program.places, program.reenter)
        here.work = work
        if database is not None:
            here.database = database
        return program.entered(self.entrance, here)

    @property
    def may_ask_databases(self) -> bool:
        """Returns True also where it has an EVAL, which may come to such a statement."""
        return any(isinstance(found, _STATEMENTS) or found == "evaluated" for found in self._reached())

    def statements(self) -> list[Any]:
        """The statements of databases that it and what it calls have."""
        return [found for found in self._reached() if isinstance(found, _STATEMENTS)]

    def _reached(self) -> Iterator[Any]:
        """Constants, and names of attributes, of the code that it runs and of all that this calls."""
        namespace = self.program.namespace
        pending: list[Any] = [self.entrance.run, *(namespace[title] for title in self.entrance.starts)]
        pending += [namespace[title] for title in self.entrance.shares]
        seen: set[int] = set()
        while pending:
            found = pending.pop()
            code = getattr(found, "__code__", found)
            if not isinstance(code, CodeType):
                yield found
            elif id(code) not in seen:
                seen.add(id(code))
                pending += [namespace.get(name, name) for name in code.co_names]
                pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]

    def sending(self, mode: str) -> Routine:
        """The same for a node of another Compute mode."""
        return replace(self, around=replace(self.around, sends=sends_of(mode)))


def sends_of(mode: str) -> frozenset[str]:
    """Returns the output trees that a Compute mode sends.

    >>> sorted(sends_of("destinationAndMessage"))
    ['LocalEnvironment', 'Root']
    """
    words = {"message": "Root", "destination": "LocalEnvironment", "exception": "ExceptionList"}
    return frozenset(tree for word, tree in words.items() if mode == "all" or word in mode.lower())


def bound(value: object, name: str) -> Routine:
    """Returns what a node was given for a property that is ESQL; raises if it was deployed without what compiles it."""
    if isinstance(value, Routine):
        return value
    text = f"{name} was not compiled: deploy the flow with bind=flows.programs.binder(flow)"
    raise ConfigurationException(text)


STATEMENT: Final = 2488
EXPRESSION: Final = 2439
_NUMBER: Final = 2  # the insert type of numbers
_MOST: Final = 50  # statements that are told of one failure
_SENDING: Final = ("PROPAGATE", "EVAL")
_CASTS: Final = frozenset((*CHARACTER_CASTS.values(), CAST))  # these say themselves what could not be evaluated


class Spot(NamedTuple):
    """A place in a file that code was at when it failed."""

    file: str
    line: int
    column: int


def rethrown(
    spots: Sequence[Spot], statements: Mapping[str, Sequence[StatementSpan]], files: Mapping[str, Sequence[str]]
) -> list[BrokerError]:
    """One for each statement that a failure has left, outermost first; a statement that called itself counts once."""
    left: list[tuple[Spot, StatementSpan]] = []
    for spot in spots:
        span = innermost_statement(statements.get(spot.file, ()), spot.line, spot.column)
        if span is not None and (not left or left[-1][1] != span):
            left.append((spot, span))
    return [_of_statement(spot.file, span, files[spot.file]) for spot, span in left[-_MOST:]]


def until_sent(errors: Sequence[BrokerError]) -> list[BrokerError]:
    """Those up to the statement that sent a message on, behind which another node failed."""
    found = []
    for error in errors:
        found.append(error)
        if error.inserts[2].text.upper().startswith(_SENDING):
            break
    return found


def evaluated(error: BrokerError, spot: Spot, statements: Mapping[str, Sequence[StatementSpan]]) -> list[BrokerError]:
    """Returns what an operation on values adds: the expression that it was part of, by its place in the routine."""
    if not isinstance(error, ValueFailure) or error.number in _CASTS:
        return []
    span = innermost_statement(statements.get(spot.file, ()), spot.line, spot.column)
    first = 1 if span is None else span.first
    inserts = (Insert(str(spot.line - first + 1), _NUMBER), Insert(str(spot.column), _NUMBER))
    place = Place(file=spot.file, line=spot.line, column=spot.column)
    return [BrokerError(EXPRESSION, "error evaluating expression", *inserts, place=place)]


def _of_statement(file: str, span: StatementSpan, lines: Sequence[str]) -> BrokerError:
    place = Place(file=file, line=span.line, column=span.column)
    inserts = (span.routine, span.position, span.text(lines))
    return BrokerError(STATEMENT, "Error detected, rethrowing", *inserts, place=place)
