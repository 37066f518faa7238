"""The Driver protocol: what differs from one kind of database to another; and markers in SQL that programs write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

# Strings, quoted names, comments and dollar quotes, in which a question mark is no parameter.
_PIECES: Final = re.compile(
    r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\2\$)|(\?)|(%)""", re.DOTALL
)
BINARY: Final = frozenset(("=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "||", "AND", "OR"))


@dataclass(frozen=True, slots=True)
class Duration:
    """An interval: a number of months, and one of microseconds."""

    months: int = 0
    microseconds: int = 0

    def __str__(self) -> str:
        """The interval as SQL writes it: years and months, or days to seconds.

        >>> str(Duration(30)), str(Duration(0, -90_000_000))
        ('2-06', '-0 00:01:30')
        """
        if self.months:
            years, months = divmod(abs(self.months), 12)
            return f"{'-' if self.months < 0 else ''}{years}-{months:02d}"
        seconds, rest = divmod(abs(self.microseconds), 1_000_000)
        fraction = f".{rest:06d}" if rest else ""
        days, seconds = divmod(seconds, 86_400)
        clock = f"{days} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"
        return f"-{clock}" if self.microseconds < 0 else clock


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column or of a term as far as it is known: its kind of value, and the digits of a decimal.

    The kind `number` is that of an operand of arithmetic of which no more is known. A value that is `stored` in a
    column is rounded to its type, one that is compared with it is not. A term that is `computed` is no column.
    """

    kind: str = ""
    scale: int | None = None
    precision: int | None = None
    stored: bool = False
    computed: bool = False


class State(NamedTuple):
    """An error in the database's words: SQLSTATE, its own number, and its text."""

    state: str
    native: int
    text: str


Binder = Callable[[Any], Any]
Reader = Callable[[Any], Any]


class Driver(Protocol):
    """One kind of database: how it is connected to, what its SQL looks like, and how its units of work end."""

    @property
    def name(self) -> str:
        """The name of the dialect."""
        ...

    @property
    def prepares(self) -> bool:
        """Returns True if it can take part in a two-phase commit."""
        ...

    @property
    def converts(self) -> bool:
        """Returns True if it gives a value that is assigned the type of its column by itself."""
        ...

    @property
    def single_writer(self) -> bool:
        """Returns True if one unit of work at a time can write."""
        ...

    @property
    def errors(self) -> tuple[type[BaseException], ...]:
        """The exceptions that its statements may raise."""
        ...

    def arguments(self, url: Any) -> dict[str, Any]:
        """Further arguments of SQLAlchemy's create_engine."""
        ...

    def opened(self, connection: Any) -> None:
        """Set a connection up that is new."""
        ...

    def cursor(self, connection: Any) -> Any:
        """A cursor that rows are fetched from."""
        ...

    def execute(self, cursor: Any, sql: str, values: Sequence[Any], *, prepared: bool) -> None:
        """Execute a statement."""
        ...

    def binder(self, type_: ColumnType) -> Binder | None:
        """A function for values that are bound to parameters of a type; None where all are taken as they are."""
        ...

    def reader(self, type_: ColumnType) -> Reader | None:
        """A function for the values of a column that the driver itself does not give as they should be."""
        ...

    def quoted(self, name: str) -> str:
        """A name as it stands in SQL."""
        ...

    def marker(self, number: int) -> str:
        """The parameter of this number, from 1."""
        ...

    def operation(self, operator: str, operands: Sequence[str], types: Sequence[ColumnType]) -> str:
        """An operator or a function on operands, which have these types."""
        ...

    def converted(self, sql: str, to: ColumnType) -> str:
        """A value cast to a type."""
        ...

    def passthru(self, sql: str, *, has_values: bool) -> str:
        """SQL as a program writes it, with the driver's own markers in place of question marks."""
        ...

    def begin(self, connection: Any) -> None:
        """Begin a unit of work."""
        ...

    def protect(self, connection: Any, *, first: bool) -> None:
        """Keep what the unit has done from a statement that may fail."""
        ...

    def restore(self, connection: Any) -> bool:
        """Make a unit usable behind a statement that failed; answers whether it is."""
        ...

    def command(self, connection: Any, sql: str) -> None:
        """Execute SQL that has neither parameters nor rows."""
        ...

    def commit(self, connection: Any) -> None:
        """Make the unit last."""
        ...

    def rollback(self, connection: Any) -> None:
        """Undo the unit."""
        ...

    def room(self, connection: Any) -> int:
        """Returns the number of units of work that can still be prepared."""
        ...

    def prepare(self, connection: Any, gid: str) -> None:
        """End the first phase of a two-phase commit: the unit survives this process under its gid."""
        ...

    def resolve(self, connection: Any, gid: str, *, commits: bool) -> bool:
        """Commit or roll back what was prepared under a gid; False where nothing is."""
        ...

    def prepared(self, connection: Any, prefix: str) -> list[str]:
        """The gids under which something is prepared, by how they begin."""
        ...

    def lock(self, connection: Any, name: str, *, is_shared: bool) -> None:
        """Wait for the lock of that name, which the connection then has until `unlock` or its end."""
        ...

    def unlock(self, connection: Any) -> None:
        """Give all locks back."""
        ...

    def state(self, error: BaseException) -> State:
        """Returns the SQLSTATE, the code and the text that the database gives for an error."""
        ...

    def is_broken(self, connection: Any, error: BaseException) -> bool:
        """Returns True if the connection cannot be used any more."""
        ...


class WithoutFirstPhase:
    """The part of a driver that all databases share which cannot prepare a unit of work."""

    name: str
    prepares = False

    def room(self, connection: Any) -> int:
        """Returns 0: nothing can be prepared."""
        return 0

    def prepare(self, connection: Any, gid: str) -> None:
        """Raises an error, as nobody asks for it who has looked at `prepares`."""
        raise TypeError(f"{self.name} cannot prepare a unit of work")

    def resolve(self, connection: Any, gid: str, *, commits: bool) -> bool:
        """Returns False: nothing is prepared."""
        return False

    def prepared(self, connection: Any, prefix: str) -> list[str]:
        """Returns no gids."""
        return []

    def lock(self, connection: Any, name: str, *, is_shared: bool) -> None:
        """Nothing is prepared here that a lock could guard."""

    def unlock(self, connection: Any) -> None:
        """There are no locks."""


def with_markers(sql: str, marker: Callable[[int], str], percent: str = "%") -> str:
    """SQL with each question mark that is a parameter replaced by the marker of its number.

    >>> with_markers("SELECT '?' FROM T WHERE A = ? AND B = ?", "${}".format)
    "SELECT '?' FROM T WHERE A = $1 AND B = $2"
    """
    count = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal count
        if found[3]:
            count += 1
            return marker(count)
        return percent if found[4] else found[0].replace("%", percent)

    return _PIECES.sub(replaced, sql)


def operation(operator: str, operands: Sequence[str], names: Mapping[str, str]) -> str:
    """An operator or a function as SQL has it; `names` are those of functions that a database calls otherwise.

    >>> operation("AND", ["A", "B"], {}), operation("NOT IN", ["A", "?", "?"], {}), operation("UCASE", ["A"], {})
    ('(A AND B)', '(A NOT IN (?, ?))', 'UCASE(A)')
    """
    first, *others = operands or ("*",)
    if operator in BINARY and others:
        return "(" + f" {operator} ".join(operands) + ")"
    if operator in {"NOT", "-", "+"}:
        return f"({operator} {first})"
    if operator.startswith("IS "):
        return f"({first} {operator.replace('UNKNOWN', 'NULL')})"
    if operator.endswith("BETWEEN"):
        return f"({first} {operator} {others[0]} AND {others[1]})"
    if operator in {"IN", "NOT IN"}:
        return f"({first} {operator} ({', '.join(others)}))"
    if operator == "CASE":
        return _case(operands)
    if operator.endswith("LIKE") and operator not in names:
        escape = f" ESCAPE {others[1]}" if others[1:] else ""
        return f"({first} {operator} {others[0]}{escape})"
    made = f"{names.get(operator, operator)}({', '.join((first, *others))})"
    return f"({made})" if operator.endswith("LIKE") else made


def _case(operands: Sequence[str]) -> str:
    """CASE of conditions and results in turn; what is left over at the end is the ELSE."""
    pairs = zip(operands[:-1:2], operands[1::2], strict=False)
    made = "".join(f" WHEN {condition} THEN {result}" for condition, result in pairs)
    return f"(CASE{made}{f' ELSE {operands[-1]}' if len(operands) % 2 else ''} END)"
