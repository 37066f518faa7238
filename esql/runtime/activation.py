"""Activation: one invocation of a node as emitted code sees it: trees, variables, limits, and what lies around it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from engine.budget import Budget, current
from engine.databases.statements import Answer, Procedure, Select, Statement
from engine.errors import BrokerError, LimitExceeded, UserException
from engine.message.assembly import Message
from engine.message.received import ROOT, RootDomain, domain_of
from engine.tree.element import Element
from engine.tree.sharing import copy, hand_over
from esql.database import NO_ERROR, Connection, executed, results_of, rows_apart, rows_of, value_from_database
from esql.functions.arguments import character, integer
from esql.runtime.invocation import Invocation, Zone, local_zone, system_clock
from esql.runtime.limits import Limits, Nodes
from esql.runtime.program_library import insert_of, label_of, terminal_of
from esql.text import SyntaxProblems
from esql.values.errors import wrong_argument
from esql.values.literals import shown, to_text
from esql.values.types import Value

if TYPE_CHECKING:
    from engine.parser import Parser
    from engine.work import UnitOfWork

TOO_MANY_TURNS: Final = 2571
TOO_DEEP: Final = 2572
TOO_LONG: Final = 2573
NO_EVAL: Final = 2902
NO_EXTERNAL: Final = 2907
THROWN: Final = 2951
_TURNS: Final = 100  # until the budget of the message is looked at for the first time
_TAKEN_BY_A_TURN: Final = 4096  # bytes that a turn of a loop may make without paying for them otherwise
_CHARACTERS_OF_A_STEP: Final = 256  # that are copied while a loop turns once
_LONG: Final = 4096  # characters of a string from which on it is paid for


class Shared:
    """The state that all invocations of a flow share: its SHARED variables, and the lock of BEGIN ATOMIC."""

    __slots__ = ("lock", "started", "values")

    def __init__(self, places: int = 0) -> None:
        self.values: list[Any] = [None] * places
        self.lock = threading.RLock()
        self.started: set[str] = set()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of a node: values of EXTERNAL variables, properties, limits, and ways to the outside."""

    external: Mapping[str, Value] = field(default_factory=dict)
    properties: Mapping[str, Value] = field(default_factory=dict)
    callables: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], Any] = system_clock
    displace: Zone = local_zone
    database: Connection | None = None
    log: Callable[[bool, str], None] = lambda trace, text: None
    sends: frozenset[str] = frozenset(("Root",))  # the output trees that go out in the place of the input's
    trace: Callable[[int, str], None] = lambda number, text: None


class Activation(Invocation):
    """One invocation; `shared` outlives it."""

    __slots__ = (
        "_budget",
        "_output_exceptions",
        "_output_local_environment",
        "_output_root",
        "_spent",
        "around",
        "database",
        "deepest",
        "has_output",
        "input_root",
        "longest",
        "message",
        "nodes",
        "own_local_environment",
        "quantum",
        "reenter",
        "shared",
        "shared_storage",
        "sql",
        "told",
        "turned",
        "variables",
        "work",
    )

    told: dict[str, str]  # what expressions have come to, where that is traced

    def __init__(
        self,
        message: Message,
        around: Surroundings,
        shared: Shared,
        places: int = 0,
        reenter: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(around.clock, around.displace)
        limits = around.limits
        self.around = around
        self.reenter = reenter
        self.message = message
        self.input_root = message.root
        self.own_local_environment: Element | None = None
        self.shared_storage = shared
        self.shared = shared.values
        self.variables: list[Any] = [None] * places
        self.database = around.database
        self.work: UnitOfWork | None = None  # of the message, in a flow
        self.nodes = Nodes(limits.nodes)
        self.deepest = limits.depth
        self.has_output = True
        self.longest = min(limits.string, _LONG)
        self.quantum = min(_TURNS, limits.turns)
        self.turned = 0
        self._budget: Budget | None = None
        self.sql = NO_ERROR
        self._spent = 0
        self._output_root: Element | None = None
        self._output_local_environment: Element | None = None
        self._output_exceptions: Element | None = None

    @property
    def output_root(self) -> Element:
        """The OutputRoot, made when it is first asked for: a Filter has none."""
        known = self._output_root
        return self.begin_output() if known is None else known

    def begin_output(self) -> Element:
        """Begin an empty OutputRoot."""
        self._output_root = made = Element("OutputRoot")
        domain = self.input_root.domain
        made.domain = domain if domain.__class__ is RootDomain else ROOT
        return made

    def parser(self, name: str) -> Parser | None:
        """The parser of a name that the deployment of the message knows."""
        return domain_of(self.input_root).inner(name)

    @property
    def input_exceptions(self) -> Element:
        """The ExceptionList of the message."""
        return self.message.exceptions

    @property
    def output_local_environment(self) -> Element:
        """The OutputLocalEnvironment, made when it is first asked for."""
        if self._output_local_environment is None:
            self._output_local_environment = Element("OutputLocalEnvironment")
        return self._output_local_environment

    @property
    def output_exceptions(self) -> Element:
        """The OutputExceptionList, made when it is first asked for."""
        if self._output_exceptions is None:
            self._output_exceptions = Element("OutputExceptionList")
        return self._output_exceptions

    @property
    def environment(self) -> Element:
        """The Environment, which every node may change."""
        return self.message.environment

    @property
    def local_environment(self) -> Element:
        """The LocalEnvironment as the program may change it: its own copy, made when it is first asked for."""
        if self.own_local_environment is None:
            self.own_local_environment = copy(self.message.local_environment)
        return self.own_local_environment

    @property
    def input_local_environment(self) -> Element:
        """The InputLocalEnvironment of a Compute node, which its program may change as well."""
        return self.local_environment

    def spend(self, turns: int) -> int:
        """Count turns of loops, and what has turned or was called before; returns after how many more to come again."""
        self._spent += turns + self.turned
        taken = (turns + self.turned) * _TAKEN_BY_A_TURN
        self.turned = 0
        limit = self.around.limits.turns
        if self._spent > limit:
            text = f"loops have turned more than {limit} times for this message: end them, or raise the limit"
            raise LimitExceeded(TOO_MANY_TURNS, text, str(limit))
        budget = self.budget
        budget.look()
        budget.take(taken)
        self.quantum = min(budget.turns, limit - self._spent)
        return self.quantum

    def renew(self) -> None:
        """Have it spend a budget of its own from now on, as much as one message may."""
        self._budget = Budget(self.around.limits.allowance)
        self._spent = self.turned = 0
        self.quantum = min(_TURNS, self.around.limits.turns)

    @property
    def budget(self) -> Budget:
        """The budget of the message, or that of this invocation where there is none around it."""
        if self._budget is None:
            self._budget = current() or Budget(self.around.limits.allowance)
        return self._budget

    def too_deep(self, depth: int) -> NoReturn:
        """A routine called itself too often."""
        text = f"routines have called each other {depth} deep, and {self.deepest} is the limit: end the recursion"
        raise LimitExceeded(TOO_DEEP, text, str(self.deepest))

    def long(self, text: Value) -> Value:
        """A string that is to be paid for, if it is not too long."""
        self.grow(len(text))
        return text

    def grow(self, size: int) -> None:
        """Pay for a string of so many characters before it is made; one that is too long is an error."""
        if size > self.around.limits.string:
            longest = self.around.limits.string
            message = f"a string of {size} characters is longer than the limit of {longest}"
            raise LimitExceeded(TOO_LONG, message, str(longest))
        if size > _LONG:
            budget = self.budget
            budget.pay(size // _CHARACTERS_OF_A_STEP)
            budget.take(size)

    def limited(self, text: Value) -> Value:
        """A string, or NULL, that is not too long."""
        return self.long(text) if text is not None and len(text) > self.longest else text

    def atomic(self) -> threading.RLock:
        """The lock of BEGIN ATOMIC: one invocation of the flow at a time."""
        return self.shared_storage.lock

    def alone(self, look: Callable[[], Any]) -> Any:
        """Evaluates an expression while no other invocation of the flow changes the variables that they share."""
        with self.shared_storage.lock:
            return look()

    def property(self, name: str) -> Value:
        """A property of the broker, the flow or the node; the queue manager is that of the unit of work."""
        if name == "QueueManagerName" and self.work is not None:
            return self.work.queue_manager or None
        return self.around.properties.get(name)

    def external_value(self, name: str) -> Value:
        """The value that was given to an EXTERNAL variable at deploy; None where none was."""
        return self.around.external.get(name)

    def external(self, language: str, name: str, arguments: tuple[Value, ...]) -> Any:
        """Call a routine that lies outside ESQL: a Python callable that is registered under its name."""
        known = self.around.callables.get(name)
        if known is None:
            text = f"no Python callable is registered under {name}, which stands for a {language} routine"
            raise BrokerError(NO_EXTERNAL, text, name)
        return known(*arguments)

    def execute(self, statement: Statement, place: tuple[str, ...], values: tuple[Value, ...]) -> list[Element]:
        """Do a statement of a database, and give its rows."""
        return rows_of(executed(self, statement, place, values))

    def rows_named(
        self, statement: Statement, place: tuple[str, ...], values: tuple[Value, ...], names: tuple[str, ...]
    ) -> list[Element]:
        """Do a SELECT, and give its rows with these names for its columns."""
        return rows_of(Answer(names, executed(self, statement, place, values).rows), is_loose=False)

    def joined(self, statement: Select, place: tuple[str, ...], values: tuple[Value, ...]) -> list[tuple[Element, ...]]:
        """Do a SELECT of several tables, and give the rows of each beside one another."""
        tables = [getattr(column, "table", 0) for column in statement.columns]
        return rows_apart(executed(self, statement, place, values), tables)

    def aggregate(self, statement: Statement, place: tuple[str, ...], values: tuple[Value, ...]) -> Value:
        """Do a SELECT that gives one value."""
        rows = executed(self, statement, place, values).rows
        return value_from_database(rows[0][0]) if rows else None

    def procedure(self, statement: Procedure, place: tuple[str, ...], values: tuple[Value, ...]) -> Any:
        """Call a stored procedure: what it returns, and behind it OUT, INOUT and result sets where it has any."""
        return results_of(statement, executed(self, statement, place, values))

    def thrown(self, severity: Value, catalog: Value, number: Value, values: tuple[Value, ...]) -> BrokerError:
        """The exception that THROW raises."""
        inserts = tuple(insert_of(value) for value in values)
        said = THROWN if number is None else integer("MESSAGE", number, "value")
        text = ", ".join(inserts) or f"message {said} of {catalog or 'BIPmsgs'}"
        grade = 1 if severity is None else integer("SEVERITY", severity, "value")
        named = "" if catalog is None else character("CATALOG", catalog, "value")
        return UserException(said, text, *inserts, severity=grade, catalog=named)

    def log(  # noqa: PLR0913, PLR0917 - the clauses of LOG
        self,
        severity: Value,
        catalog: Value,
        number: Value,
        values: tuple[Value, ...],
        trace: object,
        full: object,
        exception: object,
    ) -> None:
        """LOG: a line for the event log, or for the user trace."""
        said = "" if number is None else f"{catalog or 'BIPmsgs'} {integer('MESSAGE', number, 'value')}: "
        text = said + ", ".join(insert_of(value) for value in values)
        if exception and self.sql.sqlerrortext:
            text += f" ({self.sql.sqlerrortext})"
        self.around.log(bool(trace), text)

    def evaluated(
        self, text: Value, kind: str, given: tuple[Any, ...], contents: tuple[Any, ...], is_expression: object
    ) -> Generator[Any, Any, Any]:
        """EVAL, which may PROPAGATE: the value of an expression, or what variables hold behind statements."""
        run, yields = self._entered(text, kind, given, bool(is_expression))
        return (yield from run(self, 1, *contents)) if yields else run(self, 1, *contents)

    def _entered(
        self, text: Value, kind: str, given: tuple[Any, ...], is_expression: bool
    ) -> tuple[Callable[..., Any], bool]:
        if text is None:
            raise wrong_argument("EVAL", "text", "CHARACTER", shown(text))
        if self.reenter is None:
            raise BrokerError(NO_EVAL, "EVAL needs a program that was compiled from text")
        said = to_text(text)
        try:
            found: tuple[Callable[..., Any], bool] = self.reenter(said, kind, given, is_expression)
        except SyntaxProblems as problems:
            first = problems.problems[0]
            where = f"EVAL:{first.line}:{first.column}"
            raise BrokerError(NO_EVAL, f"{where}: {first.text}", said) from problems
        return found

    def propagated(
        self,
        where: Value,
        is_label: object,
        environment: Element | None,
        message: Element | None,
        exception: Element | None,
        keeps: object,
    ) -> tuple[str, Message]:
        """PROPAGATE: where to, and what; the output trees start anew, or with DELETE NONE go on as they are."""
        to = f"label {label_of(where)}" if is_label else terminal_of(where)
        if not self.has_output:  # a node without output trees sends its message on, whatever the clauses say
            changed = self.own_local_environment
            return to, self.message.replaced(local_environment=None if changed is None else copy(changed))
        # these stay what references point to, whether they are emptied or not
        own = (self.output_root, self.output_local_environment, self.output_exceptions)
        leaving = [copy(tree) if keeps else hand_over(tree) for tree in own]
        anew = dict(zip(map(id, own), leaving, strict=True))
        self._output_root, self._output_local_environment, self._output_exceptions = leaving
        given = (anew.get(id(tree), tree) for tree in (environment, message, exception))
        sent = self.outgoing(*given)
        self._output_root, self._output_local_environment, self._output_exceptions = own
        return to, sent

    def outgoing(
        self,
        environment: Element | None = None,
        root: Element | None = None,
        exceptions: Element | None = None,
        *,
        as_it_is: bool = True,
    ) -> Message:
        """The message that the node sends, of the trees that its Compute mode says; PROPAGATE finalizes it, or not."""
        sends, local = self.around.sends, None
        if environment is not None:
            local = copy(environment)
        elif "LocalEnvironment" in sends:
            local = self.output_local_environment
        elif self.own_local_environment is not None:
            local = copy(self.own_local_environment)  # of the input, which may be changed again behind a PROPAGATE
        thrown = self.output_exceptions if "ExceptionList" in sends else None
        return self.message.replaced(
            root=copy(root) if root is not None else self.output_root if "Root" in sends else None,
            local_environment=local,
            exceptions=thrown if exceptions is None else copy(exceptions),
            as_it_is=as_it_is,
        )

    def onward(self) -> Message:
        """The message as a node without output trees sends it on."""
        if self.own_local_environment is None:
            return self.message
        return self.message.replaced(local_environment=self.own_local_environment)
