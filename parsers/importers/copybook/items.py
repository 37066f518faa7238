"""Entries as written, with what a PICTURE string says, and items as COBOL lays them out, as frozen data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from parsers.importers.copybook.source import Spot
from parsers.importers.copybook.tokens import Word

Category: TypeAlias = Literal[
    "alphabetic",
    "alphanumeric",
    "alphanumeric-edited",
    "numeric",
    "numeric-edited",
    "floating-edited",
    "dbcs",
    "national",
    "national-edited",
    "utf-8",
]

MOST_DIGITS: Final = 38
LONGEST: Final = 256
LARGEST: Final = 999_999_999

_RUN: Final = re.compile(r"(CR|DB|.)(?:\((\d+)\))?", re.IGNORECASE | re.DOTALL)
_CURRENCIES: Final = str.maketrans("£¥€¤", "$$$$")
_FLOATING: Final = re.compile(r"[+-]9*[.,V]?9*E[+-]99")
_NUMERIC: Final = re.compile(r"S?(?:9*V?9*|P+V?9+|V?P+9+|9+P+V?)")
_FIXED_EDITS: Final = re.compile(r"[ZP9*V.,B0/+\-$]*")


class PictureError(ValueError):
    """A picture string that says nothing that could be laid out."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An analysed picture: `positions` are its characters in storage, without a separate sign.

    `digits` are those of a number, `scale` how many of them stand behind the decimal point; it is negative where the
    number ends before it, as P says.
    """

    text: str
    category: Category
    positions: int
    digits: int = 0
    scale: int = 0
    signed: bool = False


@lru_cache(maxsize=4096)
def picture(text: str, currency: str = "$", *, comma: bool = False) -> Picture:
    """Returns what a picture string says; `comma` exchanges the roles of decimal point and comma.

    >>> picture("S9(5)V99")
    Picture(text='S9(5)V99', category='numeric', positions=7, digits=7, scale=2, signed=True)
    >>> picture("ZZ,ZZ9.99-").category, picture("X(10)").positions
    ('numeric-edited', 10)
    """
    symbols = _symbols(text, currency)
    total = sum(count for symbol, count in symbols if symbol not in "SVP" or symbol == "")
    total += sum(count for symbol, count in symbols if symbol in {"CR", "DB"})
    if total > LARGEST:
        raise PictureError(f"has {total:,} positions, and no item is that long")
    if total == 0 and not any(symbol == "P" for symbol, _ in symbols):
        raise PictureError("has no position for a character or digit")
    kinds = {symbol for symbol, _ in symbols}
    texts = _text_category(kinds)
    if texts is not None:
        return Picture(text, texts, total)
    return _number(text, symbols, kinds, total, comma=comma)


def _symbols(text: str, currency: str) -> list[tuple[str, int]]:
    """The symbols with their counts; a currency sign is $."""
    if len(text) > LONGEST:
        raise PictureError(f"has {len(text)} characters: at most {LONGEST} can be read")
    plain = text.upper().translate(_CURRENCIES).replace(currency, "$")
    symbols = []
    at = 0
    while at < len(plain):
        found = _RUN.match(plain, at)
        symbol = found[1] if found else plain[at]
        if found is None or symbol not in {*"AXGNU9SVPZ*.,+-B0/$E1", "CR", "DB"}:
            raise PictureError(f"has {symbol!r}, which is no picture symbol")
        count = int(found[2] or 1) if len(found[2] or "") < 12 else LARGEST + 1
        if count == 0:
            raise PictureError(f"repeats {symbol} no times")
        symbols.append((symbol, count))
        at = found.end()
    return symbols


def _text_category(kinds: set[str]) -> Category | None:
    """The category of a picture of characters; None where it is one of numbers."""
    edits = kinds & {"B", "0", "/"}
    main = kinds - edits
    if main & {"A", "X"} and main <= {"A", "X", "9"}:
        if edits:
            return "alphanumeric-edited"
        return "alphabetic" if main == {"A"} else "alphanumeric"
    if main == {"G"}:
        return "dbcs"
    if main == {"N"}:
        return "national-edited" if edits else "national"
    if main == {"U"}:
        return "utf-8"
    return "alphanumeric" if kinds == {"1"} else None


def _number(text: str, symbols: list[tuple[str, int]], kinds: set[str], total: int, *, comma: bool) -> Picture:
    if kinds & set("AXGNU1"):
        mixed = ", ".join(sorted(kinds))
        raise PictureError(f"mixes {mixed}: characters and the editing of numbers do not go together")
    if sum(count for _, count in symbols) > 4 * LONGEST:
        raise PictureError(f"has {total:,} positions: a number has at most {MOST_DIGITS} digits")
    flat = "".join(symbol * count for symbol, count in symbols)
    if _FLOATING.fullmatch(flat):
        return Picture(text, "floating-edited", total, signed=True)
    if kinds <= set("9SVP"):
        return _plain_number(text, flat, total)
    point = "," if comma else "."
    _check_editing(flat, point)
    scale = _scale(flat.replace(point, "V"), point)
    return Picture(
        text, "numeric-edited", total, _edited_digits(flat, point), scale, bool(kinds & {"+", "-", "CR", "DB"})
    )


def _plain_number(text: str, flat: str, total: int) -> Picture:
    if not _NUMERIC.fullmatch(flat) or "9" not in flat:
        raise PictureError(_why_not_plain(flat))
    digits, scaled = flat.count("9"), flat.count("P")
    if digits + scaled > MOST_DIGITS:
        raise PictureError(f"has {digits + scaled} digits: a number has at most {MOST_DIGITS}")
    bare = flat.lstrip("S")
    if scaled:
        leading = bare.lstrip("V").startswith("P")
        scale = digits + scaled if leading else -scaled
    else:
        scale = len(bare.partition("V")[2]) if "V" in bare else 0
    return Picture(text, "numeric", total, digits, scale, flat.startswith("S"))


def _why_not_plain(flat: str) -> str:
    if flat.count("V") > 1:
        return "has V twice: a number has one decimal point"
    if "S" in flat[1:]:
        return "has S behind its beginning: the sign comes first, and once"
    return "has no 9" if "9" not in flat else "has P where digits are on both sides: P scales at one end"


def _check_editing(flat: str, point: str) -> None:
    """Refuse what no compiler takes for an edited number."""
    if "S" in flat and "." not in flat:
        raise PictureError("has S in an edited number: use + or -")
    if flat.count(point) + flat.count("V") > 1:
        raise PictureError("has more than one decimal point")
    body = flat.removeprefix("S")
    for ending in ("CR", "DB"):
        body = body.removesuffix(ending)
    if "C" in body or "D" in body:
        raise PictureError("has CR or DB before its end")
    if not _FIXED_EDITS.fullmatch(body):
        raise PictureError("is no picture of an edited number")
    if "Z" in body and "*" in body:
        raise PictureError("has both Z and *: blanks or asterisks stand for leading zeros")
    if "+" in body and "-" in body:
        raise PictureError("has both + and -")


def _scale(flat: str, point: str) -> int:
    behind = flat.partition("V")[2] if "V" in flat else ""
    return sum(symbol in "9Z*+-$" for symbol in behind)


def _edited_digits(flat: str, point: str) -> int:
    """The digits that an edited number has room for; the first of a floating string holds none."""
    floating = next((symbol for symbol in "+-$" if flat.count(symbol) > 1), "")
    digits = sum(symbol in "9Z*P" for symbol in flat)
    return digits + (flat.count(floating) - 1 if floating else 0)


@dataclass(frozen=True, slots=True)
class Occurs:
    """The OCCURS clause of an item; `most` is None where it is unbounded, `depending` a name and its qualifiers."""

    least: int
    most: int | None
    depending: tuple[str, ...] = ()


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
    the name of what it shares its storage with, `start` that item's place among its brothers. A table that is `open`
    goes to the end of its record: what it depends on is not in it.
    """

    entry: Entry
    usage: str = "DISPLAY"
    picture: Picture | None = None
    sign: Sign | None = None
    offset: int = 0
    length: int = 0
    children: tuple[DataItem, ...] = ()
    conditions: tuple[Condition, ...] = ()
    redefines: DataItem | None = None
    counter: DataItem | None = None
    slack: int = 0
    open: bool = False

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
    """A record: a level 01 or 77, or what stands without one."""

    name: str
    top: DataItem
    renamings: tuple[Renaming, ...] = ()

    @property
    def length(self) -> int:
        """The bytes of the longest such record."""
        return self.top.total


@dataclass(frozen=True, slots=True)
class Copybook:
    """The records of a copybook; `files` are all files that were read for it, those that it copies among them."""

    file: str
    records: tuple[Record, ...]
    files: tuple[Path, ...] = ()
