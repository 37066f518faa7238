"""The programs that are deployed together: which routines and variables they offer each other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from esql import syntax
from esql.scope.references import DeclaredRoutine, Scope, Variable

Schema = tuple[str, ...]
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class File:
    """A program, the name of its file, its text, which problems show a line of, and its kind if a node has it.

    What the text of a node's property declares is its own; what a file declares, others see.
    """

    name: str
    program: syntax.Program
    text: str = ""
    kind: str | None = None

    def lines(self) -> list[str]:
        """Give the lines of the text."""
        return _LINE_END.split(self.text)

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
    """Make the variable that a declaration declares under one of its names."""
    return Variable(
        name,
        declaration.type,
        role,
        declaration,
        declaration.lifetime,
        declaration.constant,
    )
