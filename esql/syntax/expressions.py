"""Expressions: literals, operators, functions with a form of their own, calls, SELECT."""

from __future__ import annotations

from dataclasses import dataclass

from esql.syntax.node import Node
from esql.syntax.paths import Path, RelativePath


@dataclass(frozen=True, slots=True)
class Qualifier(Node):
    """`DAY` or `DAY TO SECOND`: the fields of an interval."""

    largest: str
    smallest: str | None = None


@dataclass(frozen=True, slots=True)
class DataType(Node):
    """A type by its long name (INTEGER, not INT); REFERENCE, ROW, NAMESPACE and NAME are types here too."""

    name: str
    precision: int | None = None
    scale: int | None = None
    qualifier: Qualifier | None = None

    @property
    def is_scalar(self) -> bool:
        """Returns whether a variable of it holds one value that can be changed."""
        return self.name not in ("REFERENCE", "ROW", "LIST", "NAMESPACE", "NAME")


@dataclass(frozen=True, slots=True)
class Integer(Node):
    """`42` or `0x2A`; of any size, the type is decided later."""

    value: int
    hexadecimal: bool = False


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number with a point or an exponent, as written: FLOAT or DECIMAL, the release decides."""

    text: str


@dataclass(frozen=True, slots=True)
class String(Node):
    """`'O''Brien'`; the value has its quotes undone."""

    value: str


@dataclass(frozen=True, slots=True)
class HexString(Node):
    """`X'0A0B'`: a BLOB."""

    digits: str


@dataclass(frozen=True, slots=True)
class BitString(Node):
    """`B'101'`: a BIT."""

    digits: str


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """TRUE, FALSE, or None for UNKNOWN."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Null(Node):
    """NULL."""


@dataclass(frozen=True, slots=True)
class TypedLiteral(Node):
    """`DATE '2000-02-29'`; the type is DATE, TIME, TIMESTAMP, GMTTIME, GMTTIMESTAMP or DECIMAL."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class IntervalLiteral(Node):
    """`INTERVAL '2-06' YEAR TO MONTH`."""

    text: str
    qualifier: Qualifier


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`NOT`, `-` or `+` before an operand."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """Two or more operands joined by one of `* / || + - AND OR`, applied from the left.

    A chain of the same operator is one node, however long; `(a + b) + c`, written so, stays two.
    """

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """One of `= <> < <= > >=`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Is(Node):
    """`IS [NOT] state`: NULL, TRUE, FALSE, UNKNOWN, INF, +INF, -INF, NAN or NUM."""

    operand: Expression
    state: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Between(Node):
    """`[NOT] BETWEEN [SYMMETRIC] low AND high`."""

    operand: Expression
    low: Expression
    high: Expression
    symmetric: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In(Node):
    """`[NOT] IN (choices)`; a choice may be a list."""

    operand: Expression
    choices: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(Node):
    """`[NOT] LIKE pattern [ESCAPE escape]`."""

    operand: Expression
    pattern: Expression
    escape: Expression | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class CaseBranch(Node):
    """`WHEN condition THEN result`; with an operand before it the condition is a value to compare."""

    condition: Expression
    result: Expression


@dataclass(frozen=True, slots=True)
class Case(Node):
    """CASE as an expression; simple with an operand, searched without."""

    operand: Expression | None
    branches: tuple[CaseBranch, ...]
    otherwise: Expression | None = None


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """`CAST(sources AS type [CCSID e] [ENCODING e] [FORMAT e] [DEFAULT e])`."""

    sources: tuple[Expression, ...]
    type: DataType
    ccsid: Expression | None = None
    encoding: Expression | None = None
    format: Expression | None = None
    default: Expression | None = None


@dataclass(frozen=True, slots=True)
class Extract(Node):
    """`EXTRACT(part FROM source)`; the part in capitals."""

    part: str
    source: Expression


@dataclass(frozen=True, slots=True)
class PositionCall(Node):
    """`POSITION(search IN source [FROM start] [REPEAT count])`."""

    search: Expression
    source: Expression
    start: Expression | None = None
    repeat: Expression | None = None


@dataclass(frozen=True, slots=True)
class Substring(Node):
    """`SUBSTRING(source FROM|BEFORE|AFTER start [FOR length])`."""

    source: Expression
    preposition: str
    start: Expression
    length: Expression | None = None


@dataclass(frozen=True, slots=True)
class Overlay(Node):
    """`OVERLAY(source PLACING replacement FROM start [FOR length])`."""

    source: Expression
    replacement: Expression
    start: Expression
    length: Expression | None = None


@dataclass(frozen=True, slots=True)
class Trim(Node):
    """`TRIM([LEADING|TRAILING|BOTH] [singleton] FROM source)`."""

    source: Expression
    side: str | None = None
    singleton: Expression | None = None


@dataclass(frozen=True, slots=True)
class Round(Node):
    """`ROUND(source, places [MODE mode])`; the mode as written."""

    source: Expression
    places: Expression
    mode: str | None = None


# Functions with words between their arguments; their fields are called as the parameters of the function are.
FORMS = {
    Extract: "EXTRACT",
    PositionCall: "POSITION",
    Substring: "SUBSTRING",
    Overlay: "OVERLAY",
    Trim: "TRIM",
    Round: "ROUND",
}


@dataclass(frozen=True, slots=True)
class BitstreamClauses(Node):
    """The clauses of ASBITSTREAM and PARSE about the bytes, whichever way they were written."""

    options: Expression | None = None
    encoding: Expression | None = None
    ccsid: Expression | None = None
    set: Expression | None = None
    type: Expression | None = None
    format: Expression | None = None


@dataclass(frozen=True, slots=True)
class AsBitstream(Node):
    """`ASBITSTREAM(source clauses)`."""

    source: Expression
    clauses: BitstreamClauses


@dataclass(frozen=True, slots=True)
class PassthruCall(Node):
    """`PASSTHRU(sql [TO database] [VALUES(values)])` as an expression; `PASSTHRU(sql, values)` is the same."""

    sql: Expression
    values: tuple[Expression, ...] = ()
    database: Path | None = None


@dataclass(frozen=True, slots=True)
class Column(Node):
    """`expression [AS name]` in SELECT and ROW, in SELECT also `expression INSERT`."""

    expression: Expression
    name: RelativePath | None = None
    insert: bool = False


@dataclass(frozen=True, slots=True)
class AllColumns(Node):
    """`*` as a column of SELECT."""


@dataclass(frozen=True, slots=True)
class Row(Node):
    """`ROW(columns)`."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    """`LIST{elements}`."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """`FOR ALL|ANY|SOME source [AS correlation] (condition)`."""

    quantifier: str
    source: Path
    correlation: str | None
    condition: Expression


@dataclass(frozen=True, slots=True)
class FromItem(Node):
    """A list, or a table, that SELECT goes through."""

    source: Expression
    correlation: str | None = None


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """COUNT, MAX, MIN or SUM in the clause of a SELECT; without an operand it is `COUNT(*)`."""

    function: str
    operand: Expression | None


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`SELECT columns FROM sources [WHERE condition]`; with an item it is SELECT ITEM, and has no columns."""

    columns: tuple[Column | AllColumns, ...]
    item: Expression | None
    sources: tuple[FromItem, ...]
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class InUnits(Node):
    """`(a - b) DAY TO SECOND`: the difference of two dates or times, in these units."""

    expression: Expression
    qualifier: Qualifier


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A call of a routine or a function: `schema.name(arguments)`, the name in parts."""

    name: tuple[str, ...]
    arguments: tuple[Expression, ...]


Literal = Integer | Number | String | HexString | BitString | Truth | Null | TypedLiteral | IntervalLiteral
Condition = Comparison | Is | Between | In | Like | Quantified
StringFunction = Extract | PositionCall | Substring | Overlay | Trim | Round
Complex = Case | Cast | AsBitstream | PassthruCall | Row | ListOf | Select | Aggregate | InUnits
Expression = Literal | Path | Unary | Operation | Condition | StringFunction | Complex | Call
