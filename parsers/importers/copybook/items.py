"""Entries as written and items as COBOL lays them out, with usage, picture, offset and length, as frozen data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parsers.importers.copybook.pictures import Picture
from parsers.importers.copybook.source import Spot
from parsers.importers.copybook.tokens import Word


@dataclass(frozen=True, slots=True)
class Occurs:
    """The OCCURS clause of an item; `most` is None where it is unbounded, `depending` a name and its qualifiers."""

    least: int
    most: int | None
    depending: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sign:
    """The place of a number's sign."""

    leading: bool = False
    separate: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    """Literals of a VALUE clause, as written; one with an end stands for a range."""

    first: str
    last: str = ""

    def __str__(self) -> str:
        return f"{self.first} THRU {self.last}" if self.last else self.first


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A data description entry as written: a clause that is not there is None, empty or false.

    One that is `faulty` could not be read to its end, which has been told.
    """

    word: Word
    level: int
    name: str = ""
    redefines: Word | None = None
    picture: Word | None = None
    usage: str = ""
    unsigned: bool = False
    sign: Sign | None = None
    occurs: Occurs | None = None
    synchronized: bool = False
    justified: bool = False
    blank_when_zero: bool = False
    values: tuple[Values, ...] = ()
    renames: tuple[str, ...] = ()
    external: bool = False
    national_group: bool = False
    faulty: bool = False


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
class DataItem:
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
    children: tuple[DataItem, ...] = ()
    conditions: tuple[Condition, ...] = ()
    redefines: DataItem | None = None
    counter: DataItem | None = None
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

    def walk(self) -> Iterator[DataItem]:
        """The item and all under it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Record:
    """A record: a level 01 or 77, or what stands without one; `implied` says that the copybook does not name it."""

    name: str
    top: DataItem
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
