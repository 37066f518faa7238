"""Values in TDS: strings, numbers, dates and times as its texts have them; lengths and repeats that fields declare."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from engine.dates.patterns import MomentError
from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.source import Value
from engine.tree.step import step
from parsers.mrm.dates import DEFAULT_FORMATS, text_of, value_of
from parsers.mrm.model import Field, SimpleType
from parsers.mrm.simple_values import LARGEST, as_decimal, as_float, as_integer, as_text, integer_of, number_of
from parsers.mrm.tds.properties import TdsField, expand

if TYPE_CHECKING:
    from parsers.mrm.tds.message_plan import FieldPlan


UNREADABLE: Final = 5285
UNWRITABLE: Final = 5286

_FORMATS: Final = {**DEFAULT_FORMATS, "time": "HH:mm:ss"}
Measure: TypeAlias = Callable[[str], int]
_EXACT: Final = Context(prec=200)  # no number of a message has as many digits


@dataclass(frozen=True, slots=True)
class Style:
    """The ways of writing that all values of a format share."""

    decimal_point: str = "."
    strict: bool = False
    trim: str = "noTrim"
    truncate: bool = False
    true: str = "1"
    false: str = "0"
    null: str = "0"
    date_time_format: str = ""
    century: int = 53
    offset: timedelta | None = None


class TdsValues:
    """Reads and writes the values of one field; those of binary fields are given as the characters of their bytes."""

    __slots__ = (
        *("_field", "_plus", "_read", "_said", "_scale", "_style", "_trailing", "_type", "_write"),
        *("fill", "is_binary", "right"),
    )

    def __init__(self, field: Field, type_: SimpleType, said: TdsField, style: Style) -> None:
        self._field = field
        self._type = type_
        self._said = said
        self._style = style
        self._trailing = said.sign_orientation.startswith("trailing")
        self._plus = expand(said.positive_sign)
        self._scale = 10 ** max(-said.virtual_decimal_point, 0)  # of integers
        family = type_.family
        self.is_binary = family == "binary"  # it holds bytes, which are no characters
        numeric = family in {"integer", "decimal", "float"}
        self.fill = _character(said.padding_character) or ("0" if numeric else " ")
        self.right = (said.justification or ("right" if numeric else "left")) == "right"
        self._read, self._write = _KINDS[family]

    def read(self, text: str, *, fixed: bool) -> Value:
        """The value that text means; of fixed length, what pads it is no part of it."""
        if self._field.nullable and self.is_null(text):
            return None
        try:
            return self._read(self, self._unpadded(text) if fixed else text)
        except MomentError as error:
            raise self._unreadable(text, error.why) from error
        except (ValueError, ArithmeticError) as error:
            raise self._unreadable(text, f"it is no {self._type.kind}") from error

    def write(self, value: Value, length: int = 0, measure: Measure = len) -> str:
        """The text of a value, as long as it has to be by that measure."""
        if value is None:
            return self._null(length, measure)
        try:
            text: str = self._write(self, value)
        except MomentError as error:
            raise self._unwritable(value, error.why) from error
        except (ValueError, TypeError, ArithmeticError) as error:
            raise self._unwritable(value, f"it takes a {self._type.kind}") from error
        return self.fitted(text, length, measure) if length else text

    def fitted(self, text: str, length: int, measure: Measure = len) -> str:
        """Text padded to a length; what is too long is cut, where the format says so, and else refused."""
        if measure(text) > length:
            if not self._style.truncate:
                units = "characters" if measure is len else "bytes"
                raise self._unwritable(text, f"it has room for {length} {units}")
            text = self._cut(text, length, measure)
        filling = self._filling(length - measure(text), measure, text)
        if not self.right:
            return text + filling
        if self.fill == "0" and text[:1] in {"+", "-"}:
            return text[0] + filling + text[1:]
        return filling + text

    def _cut(self, text: str, length: int, measure: Measure) -> str:
        """As much of a text as has room, from the side that it is justified to."""
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            part = text[-middle:] if self.right else text[:middle]
            low, high = (middle, high) if measure(part) <= length else (low, middle - 1)
        return text[len(text) - low :] if self.right else text[:low]

    def _filling(self, length: int, measure: Measure, value: Value, fill: str = "") -> str:
        """Returns fill characters of a length that `measure` counts; raises an error where they do not fit exactly."""
        fill = fill or self.fill
        if measure is len:
            return fill * length
        count, rest = divmod(length, max(measure(fill), 1))
        if rest:
            raise self._unwritable(value, f"{fill!r} does not fill up the {length} bytes that are left of it")
        return fill * count

    # NULL

    def is_null(self, text: str) -> bool:
        """Returns whether text stands for NULL."""
        if not self._field.nullable:
            return False
        said = self._said
        if self._type.family == "boolean":
            return self._unpadded(text) == self._style.null and self._style.null not in {
                self._style.true,
                self._style.false,
            }
        wanted = expand(said.encoding_null_value)
        match said.encoding_null:
            case "nullEmpty":
                return not text
            case "nullPadFill":
                return bool(text) and text == self.fill * len(text) if self._said.length else not text
            case "nullLiteralFill":
                return bool(wanted) and bool(text) and text == wanted[0] * len(text)
            case "nullLiteralValue":
                return text.lower() == wanted.lower() or self._unpadded(text).lower() == wanted.lower()
        try:
            return bool(self._read(self, self._unpadded(text)) == self._read(self, wanted))
        except (MomentError, ValueError, ArithmeticError):
            return False

    def _null(self, length: int, measure: Measure) -> str:
        if not self._field.nullable:
            raise self._unwritable(None, "it may not be NULL")
        if self._type.family == "boolean":
            return self.fitted(self._style.null, length, measure) if length else self._style.null
        said, wanted = self._said, expand(self._said.encoding_null_value)
        match said.encoding_null:
            case "nullEmpty" | "nullPadFill":
                return self._filling(length, measure, None)
            case "nullLiteralFill":
                return self._filling(length, measure, None, wanted[:1])
        return self.fitted(wanted, length, measure) if length else wanted

    # Padding

    def _unpadded(self, text: str) -> str:
        if self._type.family == "string":
            trim = self._style.trim
            if trim in {"leading", "both"}:
                text = text.lstrip(self.fill)
            return text.rstrip(self.fill) if trim in {"trailing", "both"} else text
        if not self.right:
            return text.rstrip(self.fill)
        return text if self.fill == "0" else text.lstrip(self.fill)

    # Errors

    def _unreadable(self, text: str, why: str) -> ParserException:
        return ParserException(UNREADABLE, f"{self._field.name}: {text!r:.60} cannot be read: {why}", self._field.name)

    def _unwritable(self, value: Value, why: str) -> ParserException:
        return ParserException(
            UNWRITABLE, f"{self._field.name}: {value!r:.60} cannot be written: {why}", self._field.name
        )

    # Numbers

    def _digits(self, text: str) -> str:
        """A number's text with a sign in front and a point."""
        if not self._style.strict:
            text = text.strip()
        if self._trailing and text[-1:] in {"+", "-"}:
            text = text[-1] + text[:-1]
        if text[:1] == "-" and not self._said.signed:
            raise ValueError(text)
        point = self._style.decimal_point
        if point != ".":
            if "." in text:
                raise ValueError(text)
            text = text.replace(point, ".", 1)
        return text

    def read_integer(self, text: str) -> Value:
        return integer_of(self._digits(text)) * self._scale

    def read_decimal(self, text: str) -> Decimal:
        digits = self._digits(text)
        number = number_of(digits)
        precision = self._said.precision
        if self._style.strict and 0 <= precision < len(digits.partition(".")[2]):
            raise ValueError(text)
        return _EXACT.scaleb(number, -self._said.virtual_decimal_point)

    def read_float(self, text: str) -> Value:
        return float(self.read_decimal(text))

    def write_integer(self, value: Any) -> str:
        number, rest = divmod(as_integer(value), self._scale)
        if rest:
            raise ValueError(value)
        return self._signed(str(number))

    def write_decimal(self, value: Any) -> str:
        number, said = as_decimal(value), self._said
        if said.virtual_decimal_point:
            number = _EXACT.scaleb(number, said.virtual_decimal_point)
            return self._signed(f"{number.quantize(Decimal(1), context=_EXACT):f}")
        text = f"{number:f}" if said.precision < 0 else f"{number:.{said.precision}f}"
        return self._signed(text.replace(".", self._style.decimal_point))

    def write_float(self, value: Any) -> str:
        number = as_float(value)
        if not math.isfinite(number):
            raise ValueError(value)
        return self.write_decimal(Decimal(repr(number)))

    def _signed(self, text: str) -> str:
        negative = text.startswith("-")
        if negative and not self._said.signed:
            raise ValueError(text)
        sign = "-" if negative else self._plus
        digits = text.lstrip("-")
        return digits + sign if self._trailing else sign + digits

    # All else

    def read_boolean(self, text: str) -> Value:
        for value, spelled in ((True, self._style.true), (False, self._style.false)):
            if text.strip() == spelled:
                return value
        raise ValueError(text)

    def write_boolean(self, value: Any) -> str:
        if not isinstance(value, bool):
            raise TypeError(value)
        return self._style.true if value else self._style.false

    def read_moment(self, text: str) -> Value:
        style, said = self._style, self._pattern()
        pattern, kind = said or _FORMATS[self._type.kind], self._type.kind
        return value_of(text, pattern, kind, century=style.century, offset=style.offset, whole=not said)

    def write_moment(self, value: Any) -> str:
        said = self._pattern()
        return text_of(value, said or _FORMATS[self._type.kind], offset=self._style.offset, whole=not said)

    def _pattern(self) -> str:
        """The format; empty where nothing is said, and dates and times have the form of their kind."""
        return self._said.date_time_format or self._style.date_time_format


_KINDS: Final[Mapping[str, tuple[Callable[[TdsValues, str], Any], Callable[[TdsValues, Any], str]]]] = {
    **dict.fromkeys(("string", "duration", "binary"), (lambda _, text: text, lambda _, value: as_text(value))),
    "integer": (TdsValues.read_integer, TdsValues.write_integer),
    "decimal": (TdsValues.read_decimal, TdsValues.write_decimal),
    "float": (TdsValues.read_float, TdsValues.write_float),
    "boolean": (TdsValues.read_boolean, TdsValues.write_boolean),
    "dateTime": (TdsValues.read_moment, TdsValues.write_moment),
}


def _character(text: str) -> str:
    """A padding character: itself, SPACE or NUL, or 0xHH."""
    if text.startswith("0x") and len(text) == 4:
        return chr(int(text[2:], 16))
    return {"SPACE": " ", "NUL": "\0"}.get(text, expand(text))[:1]


class DeclaredLengths:
    """The elements around what is being written, and the lengths of those whose lengths count themselves."""

    __slots__ = ("_lasts", "above", "lengths")

    def __init__(self) -> None:
        self.above: list[Element] = []
        self.lengths: dict[int, int] = {}
        self._lasts: dict[tuple[int, str], Element | None] = {}

    def of(self, path: tuple[str, ...]) -> tuple[int | None, int]:
        """Returns the number that a field written before gives for another, or None, and the length of that field."""
        for above in reversed(self.above):
            found: Element | None = above
            for name in path:
                found = None if found is None else self._last(found, name)
            if found is not None:
                value = found.value
                is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
                return (value if is_number else None), self.lengths.get(id(found), 0)  # type: ignore[return-value]
        return None, 0

    def _last(self, above: Element, name: str) -> Element | None:
        key = id(above), name
        if key not in self._lasts:
            self._lasts[key] = next(iter(above.every(step(name))[-1:]), None)
        return self._lasts[key]

    def length(self, plan: FieldPlan) -> int:
        """Returns the length that a field must have; 0 where nothing fixes it."""
        length = self._length(plan)
        if length > LARGEST:
            why = f"{plan.name} is to be {length:,} long, and a field is at most {LARGEST:,}"
            raise ParserException(UNWRITABLE, why, plan.name)
        return length

    def _length(self, plan: FieldPlan) -> int:
        if not plan.length_reference:
            return plan.length
        said, own = self.of(plan.length_reference)
        if said is None:
            return 0
        if plan.inclusive and said < own:
            name = ".".join(plan.length_reference)
            raise ParserException(UNWRITABLE, f"{plan.name}: {name} says {said}, and takes {own} itself", plan.name)
        return said - own if plan.inclusive else said
