"""MQRFH, the rules and formatting header: name and value pairs in a string, as the first publish/subscribe had them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from engine.errors import ParserException
from engine.parser import Form, Portion, parser
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME_VALUE, Handle, Source, Value, kept
from engine.tree.states import EDITED
from parsers.charsets.ccsid import blank, decode, encode
from parsers.headers import fields
from parsers.headers.fields import TOP, Beside, Besides
from parsers.headers.folders import Named
from parsers.headers.layout import ANNOUNCING, Extended, Laid, LaidOut, lay_out

LAYOUT: Final = lay_out("MQRFH", "RFH ", ANNOUNCING)

# A quoted word with its quotation marks doubled, or all up to the next blank.
_WORD: Final = re.compile(r' *(?:"((?:[^"]|"")*)"(?= |\Z)|([^ "][^ ]*))')
_PLAIN: Final = re.compile(r'[^ "\0]+')


@dataclass(frozen=True, slots=True, eq=False)
class _Pair(Beside):
    """A name and its value, and where the two stand in the string."""

    name: str
    value: str
    start: int
    end: int


class _Pairs(Besides):
    """The name/value string of a header as a source; a handle is a _Pair, TOP is the header."""

    __slots__ = ("_named", "_pairs", "_text", "laid")

    def __init__(self, laid: Laid) -> None:
        self.laid = laid
        self._named = Named[_Pair]()
        self._pairs: list[_Pair] | None = None
        self._text = ""

    @property
    def text(self) -> str:
        """The string up to the null that may end it."""
        if self._pairs is None:
            self.pairs()
        return self._text

    def pairs(self) -> list[_Pair]:
        """The pairs, read once."""
        if self._pairs is None:
            laid = self.laid
            at = laid.start + laid.shape.length
            text = decode(laid.after_fields, laid.form.ccsid, offset=at, what="MQRFH.NameValueString")
            self._text = text.partition("\0")[0].rstrip(" ")
            return kept(self, "_pairs", _read_pairs(self._text, at))
        return self._pairs

    def value(self, handle: _Pair) -> Value:
        return handle.value

    def children(self, handle: _Pair | None) -> Sequence[_Pair]:
        return self.pairs() if handle is TOP else ()

    def called(self, handle: _Pair | None, name: str | None) -> Sequence[_Pair]:
        return self._named.among(TOP, self.pairs(), name) if handle is TOP else ()


@parser
class MqRfh(LaidOut):
    """The rules and formatting header: 32 bytes and the string; a name may come again."""

    __slots__ = ()
    name = "MQRFH"
    formats = ("MQHRF",)
    constants = MappingProxyType({"Field": NAME_VALUE})
    layout = LAYOUT

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        laid = LAYOUT.open(portion)
        return Extended(laid, _Pairs(laid)), TOP

    def write(self, element: Element, form: Form) -> bytes:
        fixed, origin = LAYOUT.fixed(element, form), LAYOUT.same_form(element, form)
        if origin is not None and not LAYOUT.has_changes_beside(element, origin):
            return LAYOUT.complete(fixed, origin.after_fields, form)
        own = fields.form_of(form.encoding, form.ccsid)
        pairs = [_written(child) for child in element if not LAYOUT.is_own(child)]
        rest = encode(" ".join(pairs), own.ccsid, what="MQRFH.NameValueString")
        return LAYOUT.complete(fixed, rest + blank(own.ccsid) * (-len(rest) % 4), form)


def _read_pairs(text: str, at: int) -> list[_Pair]:
    pairs, words, end = [], list[tuple[str, int]](), 0
    while end < len(text):
        found = _WORD.match(text, end)
        if found is None:
            raise ParserException(
                5009, f"MQRFH.NameValueString at offset {at}: there is no end to what is quoted at {text[end:][:20]!r}"
            )
        quoted, plain = found.groups()
        words.append((plain if quoted is None else quoted.replace('""', '"'), found.end() - len(found[0].lstrip(" "))))
        end = found.end()
        if len(words) == 2:
            (name, start), (value, _) = words
            pairs.append(_Pair(name, value, start, end))
            words.clear()
    if words:
        raise ParserException(
            5009, f"MQRFH.NameValueString at offset {at}: {words[0][0]!r:.60} is a name with no value"
        )
    return pairs


def _written(pair: Element) -> str:
    held = written(pair)
    if isinstance(held.handle, _Pair) and isinstance(held.source, _Pairs) and not held.state & EDITED:
        return held.source.text[held.handle.start : held.handle.end]
    value = pair.value
    return f"{_word(pair.name, pair.name)} {_word('' if value is None else value, pair.name)}"


def _word(value: Value, name: str) -> str:
    what = f"MQRFH.{name}"
    text = fields.characters(value, what)
    if _PLAIN.fullmatch(text):
        return text
    if "\0" in text:
        raise ParserException(5010, f"{what} has a null character, which would end the string of names and values")
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
