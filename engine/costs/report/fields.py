"""Fields of JSON, taken strictly: what is missing, unknown or of another type is an error that names the field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

from engine.catalog import did_you_mean
from engine.costs.report.wording import printable
from engine.errors import ConfigurationException, Place

LONGEST_TEXT: Final = 10_000
MOST_ITEMS: Final = 100_000
LARGEST_NUMBER: Final = 10**15
_KINDS: Final = (
    (bool, "a truth value"),
    ((int, float), "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "fields"),
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Value:
    """Something read, and where it stands: the file, and the way to it within."""

    data: Any
    file: str
    path: str = ""

    def fail(self, problem: str) -> NoReturn:
        """Say what is wrong with this value."""
        where = printable(self.path[:200]) or "the document"
        raise ConfigurationException(f"{where}: {problem}").at(Place(file=self.file))

    def expected(self, what: str) -> NoReturn:
        """Say what it should be, and what it is."""
        self.fail(f"{what} is expected here, and it is {_kind(self.data)}")

    def text(self) -> str:
        """It as a text."""
        if not isinstance(self.data, str):
            self.expected("a text")
        if len(self.data) > LONGEST_TEXT:
            self.fail(f"a text of {len(self.data):,} characters is longer than the {LONGEST_TEXT:,} allowed")
        return self.data

    def truth(self) -> bool:
        """It as a truth value."""
        if not isinstance(self.data, bool):
            self.expected("true or false")
        return self.data

    def number(self) -> float:
        """It as a number that is finite and not absurd."""
        if isinstance(self.data, bool) or not isinstance(self.data, int | float):
            self.expected("a number")
        if not abs(self.data) <= LARGEST_NUMBER:  # which is no number is not either
            self.fail("the number is too large")
        return self.data

    def count(self, least: int = 0) -> int:
        """It as a whole number that is not negative."""
        if isinstance(self.data, bool) or not isinstance(self.data, int):
            self.expected("a whole number")
        if not least <= self.data <= LARGEST_NUMBER:
            self.fail(f"a whole number from {least} to {LARGEST_NUMBER} is expected here")
        return self.data

    def amount(self) -> float:
        """It as a number that is not negative."""
        if self.number() < 0:
            self.fail(f"it cannot be negative: {self.data}")
        return self.number()

    def one_of(self, known: tuple[T, ...]) -> T:
        """It as one of the values that are known."""
        found = [value for value in known if type(value) is type(self.data) and value == self.data]
        if not found:
            self.fail(f"one of {', '.join(map(str, known))} is expected here")
        return found[0]

    def items(self) -> Iterator[Value]:
        """The items of it as a list."""
        if not isinstance(self.data, list):
            self.expected("a list")
        if len(self.data) > MOST_ITEMS:
            self.fail(f"{len(self.data):,} items are more than the {MOST_ITEMS:,} allowed")
        return (Value(item, self.file, f"{self.path}[{number}]") for number, item in enumerate(self.data))

    def mapping(self) -> Mapping[str, Value]:
        """The fields of it, whatever they are called."""
        if not isinstance(self.data, dict):
            self.expected("an object")
        if len(self.data) > MOST_ITEMS:
            self.fail(f"{len(self.data):,} fields are more than the {MOST_ITEMS:,} allowed")
        return {name: Value(each, self.file, f"{self.path}.{name}".lstrip(".")) for name, each in self.data.items()}

    def fields(self, *names: str) -> tuple[Value, ...]:
        """The values of these fields, all of which must be there and no others."""
        found = self.mapping()
        for name in names:
            if name not in found:
                self.fail(f"the field {name} is missing")
        for name in found:
            if name not in names:
                self.fail(f"there is no field called {printable(name[:100])}{did_you_mean(name[:100], names)}")
        return tuple(found[name] for name in names)

    def unless_null(self, read: Callable[[Value], T]) -> T | None:
        """It as `read` reads it, or None for null."""
        return None if self.data is None else read(self)


def _kind(data: object) -> str:
    return "null" if data is None else next(name for types, name in _KINDS if isinstance(data, types))
