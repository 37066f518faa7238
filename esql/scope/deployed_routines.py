"""The programs that are deployed together: the routines and variables that they offer, and what calls may lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from esql import syntax
from esql.scope.references import DeclaredRoutine, Resolution, Scope, Variable
from esql.text import split_lines

Schema = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class File:
    """A program, the name of its file, its text, which problems show a line of, and its kind if a node has it.

    What the text of a node's property declares is its own; what a file declares, others see.
    """

    name: str
    program: syntax.Program
    text: str = ""
    kind: str | None = None

    def lines(self) -> tuple[str, ...]:
        """Returns the lines of the text."""
        return split_lines(self.text)

    @property
    def schema(self) -> Schema:
        """The schema that its names belong to."""
        return schema_of(self.program)


@dataclass(slots=True)
class Routines:
    """Routines by name: as written first, then in any case."""

    exact: dict[str, DeclaredRoutine] = field(default_factory=dict)
    folded: dict[str, DeclaredRoutine] = field(default_factory=dict)

    def add(self, routine: DeclaredRoutine) -> None:
        """Add a routine; one of the same name that came before it stays."""
        self.exact.setdefault(routine.node.name, routine)
        self.folded.setdefault(routine.node.name.lower(), routine)

    def find(self, name: str, *, exactly: bool) -> DeclaredRoutine | None:
        """Find a routine by its name."""
        return self.exact.get(name) if exactly else self.folded.get(name.lower())


@dataclass(slots=True)
class Offer:
    """The declarations outside modules in the files of one schema."""

    routines: Routines = field(default_factory=Routines)
    variables: dict[str, Variable] = field(default_factory=dict)


class Library:
    """Files that are deployed together; a routine or variable of a schema is one object, whichever file asks for it.

    >>> Library().file(syntax.Program(())).name
    ''
    """

    __slots__ = ("_declared", "_files", "_offers", "files")

    def __init__(self, files: tuple[File, ...] = ()) -> None:
        self.files = files
        self._files = {id(file.program): file for file in files}
        self._offers: dict[Schema, Offer] = {}
        self._declared: dict[tuple[int, str], Variable] = {}
        for file in files:
            if file.kind is None:
                self._offer(file)

    def _offer(self, file: File) -> None:
        offer = self._offers.setdefault(file.schema, Offer())
        for statement in file.program.statements:
            if isinstance(statement, syntax.Routine):
                offer.routines.add(DeclaredRoutine(statement, file.name, file.schema))
            elif isinstance(statement, syntax.Declare):
                for name in statement.names:
                    variable = declared(statement, name, "schema")
                    self._declared.setdefault((id(statement), name), variable)
                    offer.variables.setdefault(name, variable)

    def file(self, program: syntax.Program) -> File:
        """Give the file of a program; one that the library does not hold has no name and no text."""
        return self._files.get(id(program)) or File("", program)

    def has(self, schema: Schema) -> bool:
        """Say whether there is a file of a schema."""
        return schema in self._offers

    def routines(self, schema: Schema) -> Routines:
        """Give the routines that a schema offers."""
        return self._offers.get(schema, Offer()).routines

    def variable(self, declaration: syntax.Declare, name: str) -> Variable:
        """Give the variable that a declaration outside modules makes."""
        return self._declared.get((id(declaration), name)) or declared(declaration, name, "schema")

    def scope(self, schemas: tuple[Schema, ...]) -> Scope:
        """Make the scope that files of other names share: the variables of these schemas, the first one's foremost."""
        scope = Scope()
        for schema in reversed(schemas):
            for variable in self._offers.get(schema, Offer()).variables.values():
                scope.declare(variable)
        return scope


def schema_of(program: syntax.Program) -> Schema:
    """Give the schema of a program, empty for the default schema."""
    return () if program.prologue is None else program.prologue.schema or ()


def declared(declaration: syntax.Declare, name: str, role: str) -> Variable:
    """Make the variable that a declaration declares under one of its names.

    A text of EVAL is given correlation names of SELECT and of quantified predicates by declarations without a type.
    """
    if not declaration.type.name:
        return Variable(name, None, "select", declaration)
    return Variable(name, declaration.type, role, declaration, declaration.lifetime, declaration.constant)


Calls = dict[int, set[int]]


@dataclass(frozen=True, slots=True)
class RoutineFacts:
    """A routine, and what it may do itself or by its calls."""

    routine: DeclaredRoutine
    may_propagate: bool
    is_recursive: bool


def routine_facts(resolutions: Iterable[Resolution]) -> dict[int, RoutineFacts]:
    """Find the facts of all routines of some programs, by the identity of their syntax.

    Give the resolutions of all programs that call each other: what is called in one that is not given counts as doing
    nothing of the kind. Statements outside routines have no facts here; see `body_may_propagate`.
    """
    routines: dict[int, DeclaredRoutine] = {}
    calls: Calls = {}
    callers: Calls = {}
    propagating: set[int] = set()
    for resolution in resolutions:
        routines.update((id(routine.node), routine) for routine in resolution.routines)
        for visit in resolution.each(syntax.Propagate, syntax.Eval, syntax.Call, syntax.CallStatement):
            if visit.place.routine is None:
                continue
            caller, called = id(visit.place.routine.node), resolution.of(visit.node)
            if isinstance(visit.node, syntax.Propagate) or evaluates(visit.node):  # the text of an EVAL may PROPAGATE
                propagating.add(caller)
            if isinstance(called, DeclaredRoutine):
                calls.setdefault(caller, set()).add(id(called.node))
                callers.setdefault(id(called.node), set()).add(caller)
    may_propagate, recursive = _reached(propagating, lambda key: callers.get(key, ())), _recursive(calls, callers)
    return {key: RoutineFacts(one, key in may_propagate, key in recursive) for key, one in routines.items()}


def body_may_propagate(resolution: Resolution, facts: Mapping[int, RoutineFacts]) -> bool:
    """Say whether the statements of a node's property, outside its routines, may propagate."""
    for visit in resolution.each(syntax.Propagate, syntax.Eval, syntax.Call, syntax.CallStatement):
        called = facts.get(id(getattr(resolution.of(visit.node), "node", None)))
        if visit.place.routine is None and (
            isinstance(visit.node, syntax.Propagate) or evaluates(visit.node) or (called and called.may_propagate)
        ):
            return True
    return False


def evaluates(node: syntax.Node) -> bool:
    """Say whether this is an EVAL, which can do anything."""
    return isinstance(node, syntax.Eval) or (isinstance(node, syntax.Call) and node.name[-1].upper() == "EVAL")


def _reached(start: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(start)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting.extend(following(key))
    return found


def _recursive(calls: Calls, callers: Calls) -> set[int]:
    """Find the routines that can come to call themselves."""
    recursive: set[int] = set()
    seen: set[int] = set()
    for key in reversed(_finished(calls)):
        # those that call this one and are called by it, without those that were seen before
        circle = _reached((key,), lambda at: [caller for caller in callers.get(at, ()) if caller not in seen]) - seen
        seen.update(circle)
        if len(circle) > 1 or key in calls.get(key, ()):
            recursive |= circle
    return recursive


def _finished(calls: Calls) -> list[int]:
    """List routines in the order in which a walk depth first leaves them."""
    order: list[int] = []
    entered: set[int] = set()
    for start in calls:
        waiting = [(start, False)]
        while waiting:
            key, left = waiting.pop()
            if left:
                order.append(key)
            elif key not in entered:
                entered.add(key)
                waiting.append((key, True))
                waiting.extend((called, False) for called in calls.get(key, ()))
    return order
