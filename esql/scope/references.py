"""References of names: the declaration that a name means, and the record of all of them for a whole program.

A declaration that is written exactly as the name is meant, wherever it is in sight, before any in another case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from esql import syntax
from esql.functions import Function
from esql.names.constants import element_type
from esql.names.predefined import TERMINALS, Predefined, Terminal, find_function, predefined, property_of_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from esql.scope.deployed_routines import Library, Routines, Schema

_N = TypeVar("_N", bound=syntax.Node)


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """Something declared; one object a variable, so that it can be a key.

    The role is local, text (outermost in a node's property), parameter, module, schema, for, select, quantified or
    table (the last four are correlation names; their type is None, but a FOR's is a REFERENCE).
    """

    name: str
    type: syntax.DataType | None
    role: str
    declaration: syntax.Node
    lifetime: str | None = None
    constant: bool = False
    direction: str | None = None

    @property
    def type_name(self) -> str:
        """The name of its type, empty where it is not known."""
        return "" if self.type is None else self.type.name

    @property
    def is_reference(self) -> bool:
        """Returns whether it points to a field."""
        return self.type_name == "REFERENCE"

    @property
    def is_fixed(self) -> bool:
        """Returns whether it keeps the value it is declared with."""
        return self.constant or self.lifetime == "EXTERNAL" or self.type_name in ("NAMESPACE", "NAME")


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredRoutine:
    """A routine and where it is declared: its file, its schema, and the module or None."""

    node: syntax.Routine
    file: str = ""
    schema: tuple[str, ...] = ()
    module: syntax.Module | None = None

    @property
    def outputs(self) -> tuple[int, ...]:
        """The indexes of its OUT and INOUT parameters."""
        found = enumerate(self.node.parameters)
        return tuple(index for index, parameter in found if parameter.direction in ("OUT", "INOUT"))

    @property
    def is_external(self) -> bool:
        """Returns whether its code lies outside ESQL."""
        return isinstance(self.node.body, syntax.External)


Reference = Variable | Predefined | Terminal | DeclaredRoutine | Function | syntax.Block


@dataclass(slots=True)
class Scope:
    """The names declared in one block so far, and the block around it."""

    parent: Scope | None = None
    names: dict[str, Variable] = field(default_factory=dict)
    folded: dict[str, Variable] = field(default_factory=dict)

    def inner(self) -> Scope:
        """Make the scope of a block inside; nothing more is declared here before that block has ended."""
        return Scope(self if self.names or self.parent is None else self.parent)

    def declare(self, variable: Variable, alias: str = "") -> bool:
        """Declare a variable, or another name of it; say whether the name was free."""
        title = alias or variable.name
        free = title not in self.names
        self.names[title] = variable
        self.folded[title.lower()] = variable
        return free

    def find(self, name: str, *, exactly: bool) -> Variable | None:
        """Find the innermost variable of that name."""
        scope: Scope | None = self
        name = name if exactly else name.lower()
        while scope is not None:
            found = (scope.names if exactly else scope.folded).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def find_either(self, name: str) -> Variable | None:
        """Find a variable as it is written, or the innermost in another case."""
        return self.find(name, exactly=True) or self.find(name, exactly=False)

    def visible(self) -> Iterator[Variable]:
        """Go through all variables in sight, inner ones first."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names.values()
            scope = scope.parent


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a block around a place, and the next one outwards."""

    name: str
    block: syntax.Block
    outer: Label | None


@dataclass(frozen=True, slots=True)
class Place:
    """The surroundings of a piece of syntax; the kind is empty outside modules."""

    kind: str
    scope: Scope
    module: syntax.Module | None = None
    routine: DeclaredRoutine | None = None
    label: Label | None = None
    in_handler: bool = False
    continues: bool = False

    @property
    def is_outermost(self) -> bool:
        """Returns whether this is outside routines."""
        return self.routine is None


@dataclass(frozen=True, slots=True)
class Visit:
    """A piece of syntax and what is around it."""

    node: syntax.Node
    place: Place


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that refers to nothing: a variable, routine, label, prefix or element type; with the known routines."""

    what: str
    name: str
    node: syntax.Node
    place: Place
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A name that is declared a second time in the same place: a variable, parameter, routine, module or label."""

    what: str
    name: str
    node: syntax.Node


def scalar_behind(node: syntax.Declare, references: Mapping[int, Reference]) -> Variable | None:
    """The scalar variable that a REFERENCE points to from the beginning: for earlier releases' sake it may."""
    found = references.get(id(node.initial))
    if node.type.name != "REFERENCE" or not isinstance(found, Variable):
        return None
    if isinstance(node.initial, syntax.Path) and node.initial.steps:
        return None
    return found if found.type is not None and found.type.is_scalar else None


@dataclass(frozen=True, slots=True)
class Resolution:
    """A program with what each name in it refers to; keys are identities of nodes, which the program keeps alive.

    The absent are schemas that PATH names, of which the library has no file.
    """

    program: syntax.Program
    kind: str
    references: Mapping[int, Reference]
    types: Mapping[int, str]
    sequence: tuple[Visit, ...]
    visits: Mapping[type, tuple[Visit, ...]]
    routines: tuple[DeclaredRoutine, ...]
    missing: tuple[Missing, ...]
    duplicates: tuple[Duplicate, ...]
    absent: tuple[tuple[str, ...], ...] = ()

    def of(self, node: syntax.Node) -> Reference | None:
        """Give what a node's name refers to, None where it has none or it is unknown."""
        return self.references.get(id(node))

    def type_of(self, node: syntax.Node | None) -> str:
        """Give the type of an expression, empty where it is not known before the program runs."""
        return self.types.get(id(node), "")

    def variable(self, node: syntax.Node | None) -> Variable | None:
        """Give the variable that a path starts with, None where it starts with something else."""
        found = self.references.get(id(node))
        return found if isinstance(found, Variable) else None

    def scalar_behind(self, node: syntax.Declare) -> Variable | None:
        """Give the scalar variable that a declared REFERENCE is another name of."""
        return scalar_behind(node, self.references)

    def is_scalar_reference(self, node: syntax.Node | None) -> bool:
        """Returns whether a path is the name of a REFERENCE to a scalar variable, and so another name of that."""
        known = self.variable(node)
        if known is None or not isinstance(node, syntax.Path) or node.steps or known.is_reference:
            return False
        return known.name.lower() != node.root.lower()

    def nodes(self, kind: type[_N]) -> Iterator[_N]:
        """Go through the nodes of a kind."""
        return (node for node, _ in self.placed(kind))

    def placed(self, kind: type[_N]) -> Iterator[tuple[_N, Place]]:
        """Go through the nodes of a kind, each with what is around it."""
        for visit in self.visits.get(kind, ()):
            assert isinstance(visit.node, kind)
            yield visit.node, visit.place

    def each(self, *kinds: type) -> Iterator[Visit]:
        """Go through the visits of some kinds of node."""
        for kind in kinds:
            yield from self.visits.get(kind, ())


@dataclass(frozen=True, slots=True)
class Callables:
    """The routines that a program may call: those of its modules, of its schema, of the schemas of its path."""

    library: Library
    own: Routines
    modules: dict[int, Routines]
    schemas: tuple[Schema, ...]

    def _in_sight(self, place: Place) -> Iterator[Routines]:
        if place.module is not None:
            yield self.modules[id(place.module)]
        yield self.own
        for schema in self.schemas:
            yield self.library.routines(schema)

    def find(self, name: tuple[str, ...], place: Place) -> DeclaredRoutine | Function | None:
        """Find the routine, or the built-in function, that a call means."""
        schema, last = name[:-1], name[-1]
        candidates = list(self._candidates(schema, place))
        for exactly in (True, False):
            for routines in candidates:
                found = routines.find(last, exactly=exactly)
                if found is not None:
                    return found
        return None if schema else find_function(last)

    def _candidates(self, schema: Schema, place: Place) -> Iterator[Routines]:
        if not schema:
            yield from self._in_sight(place)
            return
        if schema == self.schemas[0]:
            yield self.own
        yield self.library.routines(schema)

    def names(self, name: tuple[str, ...], place: Place) -> tuple[str, ...]:
        """List the names of the routines among which one was looked for."""
        return tuple(known for routines in self._candidates(name[:-1], place) for known in routines.exact)


def find_name(name: str, place: Place) -> Variable | Predefined | None:
    """Find what a name that a path starts with means."""
    for exactly in (True, False):
        found = place.scope.find(name, exactly=exactly) or predefined(name, place.kind, exactly=exactly)
        if found is not None:
            return found
    return None


def find_terminal(given: syntax.Expression | None) -> Terminal | None:
    """Find the terminal that a literal means, by its exact name or its number."""
    match given:
        case syntax.String(value=name):
            return next((terminal for terminal in TERMINALS if terminal.name == name), None)
        case syntax.Integer(value=number) | syntax.Unary("-", syntax.Integer(value=number)):
            number = -number if isinstance(given, syntax.Unary) else number
            return next((terminal for terminal in TERMINALS if terminal.number == number), None)
    return None


def find_label(name: str, place: Place) -> Label | None:
    """Find the block around a place that has this label."""
    folded, label = None, place.label
    while label is not None:
        if label.name == name:
            return label
        if folded is None and label.name.lower() == name.lower():
            folded = label
        label = label.outer
    return folded


def find_qualified(path: syntax.Path) -> Predefined | None:
    """Find what a path such as XMLNSC.Attribute or SQL.NodeName means."""
    if len(path.steps) != 1 or path.index is not None or not path.root:
        return None
    name = getattr(path.steps[0].name, "text", "")
    return property_of_sql(name) if path.root.upper() == "SQL" else element_type(path.root, name)
