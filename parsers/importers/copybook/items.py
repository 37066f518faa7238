"""Items: a record as COBOL lays it out, each item with its usage, picture, offset and length, as frozen data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parsers.importers.copybook.entries import Entry, Occurs, Sign, Values
from parsers.importers.copybook.findings import Spot
from parsers.importers.copybook.pictures import Picture


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition name (level 88) with its values as written."""

    name: str
    values: tuple[Values, ...]


@dataclass(frozen=True, slots=True)
class Renaming:
    """A level 66: another name for an item, or for the items from one to another."""

    name: str
    first: str
    last: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """An item of a record; offset and length are in bytes, the length that of one occurrence.

    Where something depends on a count, offsets and lengths are the largest. `name` is empty for FILLER. `redefines` is
    the name of what it shares its storage with, `start` that item's place among its brothers.
    """

    entry: Entry
    usage: str = "DISPLAY"
    picture: Picture | None = None
    sign: Sign | None = None
    synchronized: bool = False
    offset: int = 0
    length: int = 0
    children: tuple[Item, ...] = ()
    conditions: tuple[Condition, ...] = ()
    redefines: Item | None = None
    counter: Item | None = None
    slack: int = 0

    @property
    def name(self) -> str:
        """The name, empty for FILLER."""
        return self.entry.name

    @property
    def level(self) -> int:
        """The level number."""
        return self.entry.level

    @property
    def spot(self) -> Spot:
        """Returns where it is described."""
        return self.entry.word.spot

    @property
    def occurs(self) -> Occurs | None:
        """Returns how often it occurs, where it has an OCCURS clause."""
        return self.entry.occurs

    @property
    def most(self) -> int:
        """Returns how often it occurs at most."""
        return 1 if self.occurs is None or self.occurs.most is None else self.occurs.most

    @property
    def least(self) -> int:
        """Returns how often it occurs at least."""
        return 1 if self.occurs is None else self.occurs.least

    @property
    def total(self) -> int:
        """The bytes of all its occurrences."""
        return self.length * self.most

    @property
    def is_group(self) -> bool:
        """Returns whether it has items under it."""
        return bool(self.children)

    @property
    def type(self) -> str:
        """The picture and usage, as a copybook would say it; GROUP for a group.

        A usage that is DISPLAY goes without saying.
        """
        if self.is_group:
            return "GROUP"
        words = [self.picture.text.upper()] if self.picture else []
        if self.usage != "DISPLAY" or not words:
            words.append(self.usage + (" UNSIGNED" if self.entry.unsigned else ""))
        if self.sign is not None and self.picture and self.picture.signed and self.usage in {"DISPLAY", "NATIONAL"}:
            words.append("LEADING" if self.sign.leading else "TRAILING")
            words += ["SEPARATE"] if self.sign.separate else []
        return " ".join(words)

    def walk(self) -> Iterator[Item]:
        """The item and all under it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Record:
    """A record: a level 01 or 77, or what stands without one; `implied` says that the copybook does not name it."""

    name: str
    top: Item
    renamings: tuple[Renaming, ...] = ()
    implied: bool = False

    @property
    def length(self) -> int:
        """The bytes of the longest such record."""
        return self.top.total


@dataclass(frozen=True, slots=True)
class Copybook:
    """The records of a copybook; `files` are all files that were read for it, those that it copies among them."""

    file: str
    records: tuple[Record, ...]
    decimal_point_is_comma: bool = False
    files: tuple[Path, ...] = ()
