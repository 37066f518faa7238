"""Scanning: where data ends in text that has delimiters, escapes and quotes; and what data looks like inside those."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import regex

from engine.errors import ConfigurationException, ParserException
from parsers.mrm.regex_time import LONGEST, Patience


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
        found = next((mark for mark in (*stops, *self.reserved, quote, escape) if mark and mark in data), None)
        if found is None:
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

    def end(self, text: str, start: int, limit: int, patience: Patience | None = None) -> int | None:
        """Returns where the data that starts there ends, None where it does not match.

        >>> Pattern("[0-9]+").end("31758934info", 0, 12)
        8
        """
        try:
            found = (patience or Patience()).match(self._compiled, text, start, limit)
        except TimeoutError as error:
            why = f"searches for more than {LONGEST:g} s, which those of a message have in all"
            raise ParserException(5423, f"the data pattern {self.text!r} {why}, at offset {start}") from error
        return None if found is None else found.end()
