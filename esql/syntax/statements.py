"""Statements, those that declare routines and modules excepted."""

from __future__ import annotations

from dataclasses import dataclass, field

from esql.syntax.expressions import BitstreamClauses, DataType, Expression
from esql.syntax.node import NOWHERE, Node
from esql.syntax.paths import AnyName, Path, RelativePath
from esql.syntax.routines import Module, Routine
from esql.text import Position


@dataclass(frozen=True, slots=True)
class Empty(Node):
    """A `;` alone."""


@dataclass(frozen=True, slots=True)
class Attach(Node):
    """`ATTACH source TO target AS placement`; the placement is such as FIRSTCHILD or NEXTSIBLING."""

    source: Path
    target: Path
    placement: str


@dataclass(frozen=True, slots=True)
class Compound(Node):
    """`[label:] BEGIN [[NOT] ATOMIC] … END`; atomic is None when it is not said."""

    body: tuple[Statement, ...]
    atomic: bool | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class CallStatement(Node):
    """`CALL name(arguments) [IN database] [EXTERNAL SCHEMA schema] [INTO target]`."""

    name: tuple[str, ...]
    arguments: tuple[Expression, ...]
    database: Path | None = None
    schema: Expression | None = None
    target: Path | None = None


@dataclass(frozen=True, slots=True)
class CaseStatementBranch(Node):
    """`WHEN condition THEN …`."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class CaseStatement(Node):
    """CASE as a statement; without ELSE, otherwise is None."""

    operand: Expression | None
    branches: tuple[CaseStatementBranch, ...]
    otherwise: tuple[Statement, ...] | None = None
    else_position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Commit(Node):
    """`COMMIT [database]`."""

    database: Path | None = None


@dataclass(frozen=True, slots=True)
class Rollback(Node):
    """`ROLLBACK [database]`."""

    database: Path | None = None


@dataclass(frozen=True, slots=True)
class Parse(Node):
    """`PARSE(bits clauses)` of CREATE."""

    bits: Expression
    clauses: BitstreamClauses


@dataclass(frozen=True, slots=True)
class CreateField(Node):
    """`CREATE FIELD target …` or `CREATE placement OF target …`; a namespace may be `*`."""

    target: Path
    placement: str | None = None
    alias: str | None = None
    domain: Expression | None = None
    repeat: bool = False
    type: Expression | None = None
    namespace: Expression | AnyName | None = None
    name: Expression | None = None
    identity: RelativePath | None = None
    value: Expression | None = None
    source: Path | None = None
    parse: Parse | None = None


@dataclass(frozen=True, slots=True)
class Declare(Node):
    """`DECLARE names [SHARED|EXTERNAL] [CONSTANT] type [initial]`; for a REFERENCE initial is its target."""

    names: tuple[str, ...]
    type: DataType
    initial: Expression | None = None
    lifetime: str | None = None
    constant: bool = False


@dataclass(frozen=True, slots=True)
class HandlerCondition(Node):
    """`SQLSTATE 'state'`, `SQLSTATE LIKE 'pattern' [ESCAPE 'e']`, SQLEXCEPTION, SQLWARNING or NOT FOUND.

    The kind is SQLSTATE, LIKE, SQLEXCEPTION, SQLWARNING or FOUND.
    """

    kind: str
    text: str | None = None
    escape: str | None = None


@dataclass(frozen=True, slots=True)
class DeclareHandler(Node):
    """`DECLARE CONTINUE|EXIT HANDLER FOR conditions statement`."""

    kind: str
    conditions: tuple[HandlerCondition, ...]
    body: Statement


@dataclass(frozen=True, slots=True)
class DeleteField(Node):
    """`DELETE FIELD target` or `DELETE placement OF target`."""

    target: Path
    placement: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteFrom(Node):
    """`DELETE FROM table [AS correlation] [WHERE condition]`."""

    table: Path
    correlation: str | None = None
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Detach(Node):
    """`DETACH source`."""

    source: Path


@dataclass(frozen=True, slots=True)
class Eval(Node):
    """`EVAL(text)` as a statement."""

    text: Expression


@dataclass(frozen=True, slots=True)
class For(Node):
    """`[label:] FOR correlation AS source DO … END FOR`."""

    correlation: str
    source: Expression
    body: tuple[Statement, ...]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class IfBranch(Node):
    """`IF condition THEN …` and each ELSEIF."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    """IF with its ELSEIF branches in order; without ELSE, otherwise is None."""

    branches: tuple[IfBranch, ...]
    otherwise: tuple[Statement, ...] | None = None
    else_position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Insert(Node):
    """`INSERT INTO table [(columns)] VALUES(values)`."""

    table: Path
    columns: tuple[str, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Iterate(Node):
    """`ITERATE label`."""

    label: str


@dataclass(frozen=True, slots=True)
class Leave(Node):
    """`LEAVE label`."""

    label: str


@dataclass(frozen=True, slots=True)
class Log(Node):
    """`LOG EVENT|USER TRACE [FULL] [EXCEPTION] [SEVERITY e] [CATALOG e] [MESSAGE e] [VALUES(…)]`."""

    trace: bool
    full: bool = False
    exception: bool = False
    severity: Expression | None = None
    catalog: Expression | None = None
    message: Expression | None = None
    values: tuple[Expression, ...] | None = None


@dataclass(frozen=True, slots=True)
class Throw(Node):
    """`THROW [USER] EXCEPTION [SEVERITY e] [CATALOG e] [MESSAGE e] [VALUES(…)]`."""

    severity: Expression | None = None
    catalog: Expression | None = None
    message: Expression | None = None
    values: tuple[Expression, ...] | None = None


@dataclass(frozen=True, slots=True)
class Loop(Node):
    """`[label:] LOOP … END LOOP`."""

    body: tuple[Statement, ...]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class While(Node):
    """`[label:] WHILE condition DO … END WHILE`."""

    condition: Expression
    body: tuple[Statement, ...]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """`[label:] REPEAT … UNTIL condition END REPEAT`."""

    body: tuple[Statement, ...]
    condition: Expression
    label: str | None = None


LOOPS = (For, Loop, Repeat, While)


@dataclass(frozen=True, slots=True)
class MoveTo(Node):
    """`MOVE reference TO target`."""

    reference: Path
    target: Path


@dataclass(frozen=True, slots=True)
class MoveBy(Node):
    """`MOVE reference direction [TYPE e] [NAMESPACE e|*] [NAME e] [IDENTITY path]`; the direction may be PARENT."""

    reference: Path
    direction: str
    type: Expression | None = None
    namespace: Expression | AnyName | None = None
    name: Expression | None = None
    identity: RelativePath | None = None


@dataclass(frozen=True, slots=True)
class MoveRepeat(Node):
    """`MOVE reference direction REPEAT [TYPE] [NAME]`: to the next of the same type and name."""

    reference: Path
    direction: str
    same_type: bool = False
    same_name: bool = False


@dataclass(frozen=True, slots=True)
class Passthru(Node):
    """`PASSTHRU sql [TO database] [VALUES(values)]`; `PASSTHRU(sql, values)` is the same."""

    sql: Expression
    values: tuple[Expression, ...] = ()
    database: Path | None = None


@dataclass(frozen=True, slots=True)
class Propagate(Node):
    """`PROPAGATE` and its clauses; finalize and delete are DEFAULT, NONE, or None when not said."""

    terminal: Expression | None = None
    label: Expression | None = None
    environment: Expression | None = None
    message: Expression | None = None
    exception: Expression | None = None
    finalize: str | None = None
    delete: str | None = None


@dataclass(frozen=True, slots=True)
class Resignal(Node):
    """RESIGNAL."""


@dataclass(frozen=True, slots=True)
class Return(Node):
    """`RETURN [result]`."""

    result: Expression | None = None


@dataclass(frozen=True, slots=True)
class SetStatement(Node):
    """`SET target [attribute] = source`; the attribute is TYPE, NAMESPACE, NAME or VALUE."""

    target: Path
    source: Expression
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnChange(Node):
    """`column = source` of UPDATE."""

    column: Path
    source: Expression


@dataclass(frozen=True, slots=True)
class Update(Node):
    """`UPDATE table [AS correlation] SET changes [WHERE condition]`."""

    table: Path
    changes: tuple[ColumnChange, ...]
    correlation: str | None = None
    condition: Expression | None = None


Block = Compound | For | Loop | Repeat | While
Control = Block | If | CaseStatement | CallStatement | Return | Leave | Iterate | Propagate | Empty
Raising = Throw | Resignal | DeclareHandler | Log
Tree = SetStatement | CreateField | DeleteField | Attach | Detach | MoveTo | MoveBy | MoveRepeat | Eval
Store = Insert | Update | DeleteFrom | Passthru | Commit | Rollback
Statement = Control | Raising | Tree | Store | Declare | Routine | Module
