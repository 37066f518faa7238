"""The values of ESQL as Python values: the types BIT and INTERVAL, the names of all types, the limits of numbers."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, TypeAlias

INTEGER_LOW: Final = -(2**63)
INTEGER_HIGH: Final = 2**63 - 1

# DECIMAL as the manual has it: 34 digits, half-even; INF and NAN are values, not errors.
DECIMAL: Final = decimal.Context(
    prec=34, rounding=decimal.ROUND_HALF_EVEN, Emin=-999_999_999, Emax=999_999_999, traps=[]
)

# Names of types, as declarations and checks have them.
NUMBERS: Final = frozenset(("INTEGER", "FLOAT", "DECIMAL"))
STRINGS: Final = frozenset(("CHARACTER", "BLOB", "BIT"))
DATES: Final = frozenset(("DATE", "TIME", "TIMESTAMP", "GMTTIME", "GMTTIMESTAMP"))
SCALARS: Final = NUMBERS | STRINGS | DATES | {"BOOLEAN", "INTERVAL"}

FIELDS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
SECOND: Final = 1_000_000
MICROSECONDS: Final = {"DAY": 86_400 * SECOND, "HOUR": 3_600 * SECOND, "MINUTE": 60 * SECOND, "SECOND": SECOND}


@dataclass(frozen=True, slots=True)
class Qualifier:
    """The fields of an interval, from the largest to the smallest.

    >>> str(Qualifier("DAY", "SECOND")), str(Qualifier("YEAR", "YEAR"))
    ('DAY TO SECOND', 'YEAR')
    """

    largest: str
    smallest: str

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields, the largest first."""
        return FIELDS[FIELDS.index(self.largest) : FIELDS.index(self.smallest) + 1]

    @property
    def has_months(self) -> bool:
        """Returns whether it is of the kind that counts in months; the other counts in seconds."""
        return self.smallest in {"YEAR", "MONTH"}

    def __str__(self) -> str:
        return self.largest if self.largest == self.smallest else f"{self.largest} TO {self.smallest}"


def qualifier(largest: str, smallest: str | None = None) -> Qualifier:
    """The qualifier of these fields; without a smallest it has one field.

    >>> qualifier("DAY") == qualifier("DAY", "DAY")
    True
    """
    return Qualifier(largest, smallest or largest)


@dataclass(frozen=True, slots=True)
class Interval:
    """An INTERVAL: a number of months, or of microseconds, with the qualifier it is written by."""

    amount: int
    qualifier: Qualifier

    def __str__(self) -> str:
        """The contents of its literal, which is what a message says for it; fields behind the first have two digits.

        >>> str(Interval(-30, qualifier("YEAR", "MONTH")))
        '-2-06'
        """
        text = ""
        for name, number in zip(self.qualifier.fields, interval_fields(self), strict=True):
            whole, rest = divmod(number, SECOND) if name == "SECOND" else (number, 0)
            text += {"MONTH": "-", "HOUR": " "}.get(name, ":") + f"{whole:02d}" if text else str(whole)
            text += fraction_text(rest)
        return f"-{text}" if self.amount < 0 else text

    @property
    def unit(self) -> int:
        """Returns what one of the smallest field comes to, in months or microseconds."""
        if self.qualifier.has_months:
            return 12 if self.qualifier.smallest == "YEAR" else 1
        return MICROSECONDS[self.qualifier.smallest]


@dataclass(frozen=True, slots=True)
class Bit:
    """A BIT string: its length, and its bits as a number.

    >>> Bit.of("0101")[1:3].digits
    '10'
    """

    length: int
    number: int

    @classmethod
    def of(cls, digits: str) -> Bit:
        """The bits that these digits stand for."""
        return cls(len(digits), int(digits, 2) if digits else 0)

    @property
    def digits(self) -> str:
        """The bits as digits."""
        return format(self.number, f"0{self.length}b") if self.length else ""

    def __str__(self) -> str:
        """Returns what a message says for it: its digits."""
        return self.digits

    def __len__(self) -> int:
        return self.length

    def __bool__(self) -> bool:
        return self.length > 0

    def __getitem__(self, part: slice) -> Bit:
        return Bit.of(self.digits[part])

    def __add__(self, other: Bit) -> Bit:
        return Bit(self.length + other.length, self.number << other.length | other.number)


Strings: TypeAlias = str | bytes | Bit
Number: TypeAlias = int | float | Decimal
Moment: TypeAlias = date | time  # a datetime is a date
Value: TypeAlias = Any  # any of the above, bool, Interval or None: operators and functions sort them out

_NAMES: Final = {
    str: "CHARACTER",
    int: "INTEGER",
    Decimal: "DECIMAL",
    float: "FLOAT",
    bool: "BOOLEAN",
    bytes: "BLOB",
    Bit: "BIT",
    date: "DATE",
    Interval: "INTERVAL",
    type(None): "NULL",
}


def type_of(value: Value) -> str:
    """The name of a value's type.

    >>> from datetime import UTC
    >>> type_of(True), type_of(time(1, 2, tzinfo=UTC)), type_of(None)
    ('BOOLEAN', 'GMTTIME', 'NULL')
    """
    name = _NAMES.get(type(value))
    if name is not None:
        return name
    if isinstance(value, datetime):
        return "TIMESTAMP" if value.tzinfo is None else "GMTTIMESTAMP"
    if isinstance(value, time):
        return "TIME" if value.tzinfo is None else "GMTTIME"
    found = next((name for kind, name in _NAMES.items() if isinstance(value, kind)), None)
    return type(value).__name__ if found is None else found


def is_gmt(value: Moment) -> bool:
    """Returns whether a value is a GMTTIME or a GMTTIMESTAMP.

    >>> from datetime import UTC
    >>> is_gmt(time(1, tzinfo=UTC)), is_gmt(date(2000, 1, 1))
    (True, False)
    """
    return getattr(value, "tzinfo", None) is not None


def fraction_text(microseconds: int) -> str:
    """A fraction of a second with its point: none, three digits, or six.

    >>> fraction_text(0), fraction_text(500000), fraction_text(1)
    ('', '.500', '.000001')
    """
    if not microseconds:
        return ""
    if microseconds % 1000 == 0:
        return f".{microseconds // 1000:03d}"
    return f".{microseconds:06d}"


def fits_integer(number: int) -> bool:
    """Returns whether a number is in the range of INTEGER.

    >>> fits_integer(2**63 - 1), fits_integer(2**63)
    (True, False)
    """
    return INTEGER_LOW <= number <= INTEGER_HIGH


def interval_fields(value: Interval) -> list[int]:
    """The fields of an interval's magnitude, the largest first; seconds are in microseconds.

    >>> interval_fields(Interval(30, qualifier("YEAR", "MONTH")))
    [2, 6]
    """
    rest = abs(value.amount)
    fields = value.qualifier.fields
    if value.qualifier.has_months:
        parts = {"YEAR": divmod(rest, 12)[0], "MONTH": rest % 12 if fields[0] == "YEAR" else rest}
        return [parts[name] for name in fields]
    found = []
    for name in fields[:-1]:
        count, rest = divmod(rest, MICROSECONDS[name])
        found.append(count)
    return [*found, rest if fields[-1] == "SECOND" else rest // MICROSECONDS[fields[-1]]]
