"""Coding: a message as the text that is scanned; where not all of it is text, with a character for each byte."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

from engine.errors import ParserException
from parsers.charsets import ccsid as characters

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
