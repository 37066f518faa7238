"""Entries: the sentences of a data description, each with its clauses, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.importers.copybook.words import Word


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
