"""Scanning: a message as text, and the ends of data in text that has delimiters, escapes and quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

import regex

from engine.errors import ConfigurationException, ParserException
from parsers.charsets import ccsid as characters
from parsers.mrm.model import LONGEST, RegexTimeLimit

_UNSUITABLE: Final = 5421
_ALONE: Final = frozenset({"utf-8", "euc_jp", "euc_kr", "gb2312"})  # in which no part of a character is another
_LONGEST: Final = 4  # bytes of a character
_NO_CHARACTER: Final = 0xF0000  # and the byte: what stands for one that its CCSID has no character for


class Coding:
    """The coding of text in bytes of one CCSID, both ways.

    Text that is scanned is that of the CCSID. Where a model has fields that are no text, it has one character for each
    byte: that of the CCSID where a byte is a character there, and else that of its number; `inner` and `outer` lead
    from there to text of fields and back. Where characters take several bytes there, they are `parted`, and `length`
    and `span` count them.
    """

    __slots__ = ("_by_byte", "_by_character", "ccsid", "encoding", "mixed", "parted")

    def __init__(self, ccsid: int, encoding: int, *, mixed: bool) -> None:
        self.ccsid = ccsid
        self.encoding = encoding
        self.mixed = mixed
        self.parted = mixed and not characters.is_charmap(ccsid)
        self._by_byte: dict[int, str] = {}
        if mixed and not self.parted:
            self._by_byte = _table(ccsid)
        elif mixed and characters.codec(ccsid, encoding).name not in _ALONE:
            text = f"a TDS message with fields that are no text cannot be of CCSID {ccsid}: convert it to another"
            raise ParserException(_UNSUITABLE, text, str(ccsid))
        self._by_character = {ord(character): byte for byte, character in self._by_byte.items()}

    def text(self, data: bytes, start: int = 0, what: str = "the TDS message") -> str:
        """The text to be scanned."""
        if self.mixed:
            return data.decode("latin-1").translate(self._by_byte)
        return characters.decode(data, self.ccsid, self.encoding, offset=start, what=what)

    def data(self, text: str, what: str = "the TDS message") -> bytes:
        """The bytes of scanned text."""
        if self.mixed:
            try:
                return text.translate(self._by_character).encode("latin-1")
            except UnicodeEncodeError:
                pass  # markup that the CCSID lacks, which is told like any text that it lacks
        return characters.encode(text, self.ccsid, self.encoding, what=what)

    def length(self, text: str) -> int:
        """Returns the number of characters of scanned text; a byte that is no part of one counts as one."""
        return len(self._whole(text)) if self.parted else len(text)

    def span(self, text: str, start: int, count: int, limit: int) -> int:
        """Returns the end of `count` characters from `start` on; a place behind `limit` where there are not as many."""
        if not self.parted or count <= 0:
            return start + count
        found = self._whole(text[start : min(start + _LONGEST * count, limit)])
        return start + len(self._parts(found[:count])) + max(count - len(found), 0)

    def characters(self, text: str) -> tuple[str, list[int]]:
        """The characters of scanned text that has them in parts, and where each starts, and the text ends."""
        whole = self._whole(text)
        return whole, [0, *accumulate(len(self._parts(character)) for character in whole)]

    def _whole(self, text: str) -> str:
        """The characters that scanned text has a part at a time."""
        return characters.codec(self.ccsid).decode(text.encode("latin-1"), "surrogateescape")[0]

    def _parts(self, text: str) -> bytes:
        return characters.codec(self.ccsid).encode(text, "surrogateescape")[0]

    def inner(self, text: str, what: str) -> str:
        """Returns what scanned text means as the text of a field."""
        return characters.decode(self.data(text), self.ccsid, self.encoding, what=what) if self.mixed else text

    def outer(self, text: str, what: str) -> str:
        """The text of a field as it is scanned."""
        return self.text(characters.encode(text, self.ccsid, self.encoding, what=what)) if self.mixed else text


def _table(ccsid: int) -> dict[int, str]:
    """The characters of all bytes; those of bytes without one, or with that of another, are of no other use."""
    decode = characters.codec(ccsid).decode
    found: dict[int, str] = {}
    seen: set[str] = set()
    for byte in range(256):
        character = decode(bytes((byte,)), "ignore")[0]
        if len(character) != 1 or character in seen:
            character = chr(_NO_CHARACTER + byte)
        seen.add(character)
        found[byte] = character
    return found


@dataclass(frozen=True, slots=True)
class Markup:
    """The marks that take from characters their meaning as markup: an escape before each, quotes around all."""

    escape: str = ""
    quote: str = ""
    reserved: str = ""

    def end(self, text: str, start: int, limit: int, stops: tuple[str, ...]) -> int:
        """Returns where the data that starts there ends: at the first of the stops that stands as itself.

        >>> Markup(escape="?").end("a?+b+c", 0, 6, ("+",))
        4
        >>> Markup(quote='"').end('"a,b",c', 0, 7, (",",))
        5
        """
        at = start
        if self.quote and text.startswith(self.quote, start, limit):
            quoted = _quoted(self.quote).match(text, start, limit)
            if quoted is None:
                raise ParserException(5421, f"the quote at offset {start} is not closed")
            at = quoted.end()
        if not self.escape:
            if len(stops) == 1:
                stop = text.find(stops[0], at, limit)
                return limit if stop < 0 else stop
            found = _tokens("", stops).search(text, at, limit)
            return limit if found is None else found.start()
        for found in _tokens(self.escape, stops).finditer(text, at, limit):
            if found.lastgroup == "stop":
                return found.start()
        return limit

    def plain(self, data: str) -> str:
        """Data without its quotes and escapes.

        >>> Markup(escape="?").plain("a?+b"), Markup(quote="'").plain("'it''s'")
        ('a+b', "it's")
        """
        quote = self.quote
        if quote and len(data) > 1 and data.startswith(quote) and data.endswith(quote):
            return data[len(quote) : -len(quote)].replace(quote + quote, quote)
        if self.escape and self.escape in data:
            return _escaped(self.escape).sub(r"\1", data)
        return data

    def guarded(self, data: str, stops: tuple[str, ...], what: str) -> str:
        """Data such that nothing in it is taken for markup.

        >>> Markup(escape="?").guarded("a+b?", ("+",), "x"), Markup(quote='"').guarded("a,b", (",",), "x")
        ('a?+b??', '"a,b"')
        """
        quote, escape = self.quote, self.escape
        for found in (*stops, *self.reserved, quote, escape):
            if found and found in data:
                break
        else:
            return data
        if quote:
            return quote + data.replace(quote, quote + quote) + quote
        if escape:
            return _meant(escape, (*stops, *self.reserved)).sub(lambda mark: escape + escape.join(mark[0]), data)
        raise ParserException(
            5422, f"{what}: {data!r:.60} holds the markup {found!r}, and the format has no escape or quote character"
        )


@lru_cache(maxsize=64)
def _quoted(quote: str) -> re.Pattern[str]:
    one = re.escape(quote)
    return re.compile(f"{one}(?:(?!{one}).|{one}{one})*{one}", re.DOTALL)


@lru_cache(maxsize=64)
def _escaped(escape: str) -> re.Pattern[str]:
    return re.compile(re.escape(escape) + "(.)", re.DOTALL)


def _alternatives(marks: tuple[str, ...]) -> str:
    return "|".join(re.escape(mark) for mark in sorted({mark for mark in marks if mark}, key=len, reverse=True))


@lru_cache(maxsize=1024)
def _tokens(escape: str, stops: tuple[str, ...]) -> re.Pattern[str]:
    skipped = f"{re.escape(escape)}.|" if escape else ""
    return re.compile(f"{skipped}(?P<stop>{_alternatives(stops) or '(?!)'})", re.DOTALL)


@lru_cache(maxsize=1024)
def _meant(escape: str, marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_alternatives((escape, *marks)))


class Pattern:
    """A data pattern; where those of a message search for too long, that is an error, not a hang."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._compiled = regex.compile(text)
        except regex.error as error:
            raise ConfigurationException(f"the data pattern {text!r} is no regular expression: {error}") from error

    def end(self, text: str, start: int, limit: int, time_limit: RegexTimeLimit | None = None) -> int | None:
        """Returns where the data that starts there ends, None where it does not match.

        >>> Pattern("[0-9]+").end("31758934info", 0, 12)
        8
        """
        try:
            found = (time_limit or RegexTimeLimit()).match(self._compiled, text, start, limit)
        except TimeoutError as error:
            why = f"searches for more than {LONGEST:g} s, which those of a message have in all"
            raise ParserException(5423, f"the data pattern {self.text!r} {why}, at offset {start}") from error
        return None if found is None else found.end()
