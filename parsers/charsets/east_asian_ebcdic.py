"""East Asian EBCDIC: codecs of CCSIDs that mix characters of one byte and of two, and of those of two bytes alone."""

from __future__ import annotations

import codecs
import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

# Each of the first has the characters of one byte that it is named for, and those of two bytes of the second.
MIXED: Final = MappingProxyType(
    {930: "930", 5026: "930", 939: "939", 5035: "939", 1390: "1390", 1399: "1399"}
    | {933: "933", 1364: "1364", 935: "935", 1388: "1388", 937: "937", 1371: "1371"}
)
DOUBLE: Final = {ccsid: str(ccsid) for ccsid in (300, 16684, 834, 4930, 837, 4933, 835, 9027)}
NAMES: Final = {ccsid: f"ibm{name}" for ccsid, name in (MIXED | DOUBLE).items()}

_SHIFT_OUT: Final = 0x0E  # to characters of two bytes
_SHIFT_IN: Final = 0x0F
_FIRST, _WIDTH = 0x40, 0xFF - 0x40  # of both bytes of such a character
_NONE: Final = "\uffff"


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters of a code by their bytes, and their bytes; some characters are two of Unicode."""

    name: str
    by_bytes: Mapping[bytes, str]
    by_text: Mapping[str, bytes]
    single: bool = True

    def decode(self, data: Any, errors: str = "strict") -> tuple[str, int]:
        """The text of bytes, and how many bytes were read."""
        text, _ = self.decoded(bytes(data), not self.single, errors)
        return text, len(data)

    def decoded(self, data: bytes, wide: bool, errors: str) -> tuple[str, bool]:
        """The text of bytes that begin among characters of two bytes or not, and whether they end among them."""
        found: list[str] = []
        at = 0
        while at < len(data):
            if self.single and data[at] == (_SHIFT_IN if wide else _SHIFT_OUT):
                wide = not wide
                at += 1
                continue
            size = 1 + wide
            character = self.by_bytes.get(data[at : at + size]) if at + size <= len(data) else None
            if character is None:
                why = "no character has these bytes"
                error = UnicodeDecodeError(self.name, data, at, min(at + size, len(data)), why)
                character, at = codecs.lookup_error(errors)(error)  # type: ignore[assignment]  # text, of a decoding
                found.append(str(character))
                continue
            found.append(character)
            at += size
        return "".join(found), wide

    def encode(self, text: str, errors: str = "strict") -> tuple[bytes, int]:
        """The bytes of a text, and how long it is."""
        made = bytearray()
        wide = False
        at = 0
        while at < len(text):
            size = 2 if text[at : at + 2] in self.by_text else 1
            code = self.by_text.get(text[at : at + size])
            if code is None:
                error = UnicodeEncodeError(self.name, text, at, at + 1, "it has no bytes")
                instead, at = codecs.lookup_error(errors)(error)
                if wide and self.single and instead and isinstance(instead, str):
                    wide = False
                    made.append(_SHIFT_IN)
                made += self.encode(instead)[0] if isinstance(instead, str) else instead
                continue
            if self.single and (len(code) == 2) != wide:
                wide = not wide
                made.append(_SHIFT_OUT if wide else _SHIFT_IN)
            made += code
            at += size
        if wide:
            made.append(_SHIFT_IN)
        return bytes(made), len(text)


class _Incremental(codecs.BufferedIncrementalDecoder):
    """Decodes bytes as they come: it knows whether it is among characters of two bytes."""

    def __init__(self, errors: str = "strict", *, characters: Characters) -> None:
        super().__init__(errors)
        self._characters = characters
        self._wide = not characters.single

    def _buffer_decode(self, data: Any, errors: str, final: bool) -> tuple[str, int]:
        given = bytes(data)
        if not final and len(given) > 0 and self._is_cut(given):
            given = given[:-1]
        text, self._wide = self._characters.decoded(given, self._wide, errors)
        return text, len(given)

    def _is_cut(self, data: bytes) -> bool:
        """Returns whether the first half of a character stands at the end."""
        wide, at = self._wide, 0
        while at < len(data):
            shift = self._characters.single and data[at] in {_SHIFT_IN, _SHIFT_OUT}
            wide = data[at] == _SHIFT_OUT if shift else wide
            at += 1 if shift else 1 + wide
        return at > len(data)

    def reset(self) -> None:
        super().reset()
        self._wide = not self._characters.single


def find(name: str) -> codecs.CodecInfo | None:
    """The codec of a name, such as ibm930; None of any other.

    >>> found = find("ibm930")
    >>> found.decode(bytes.fromhex("81 0e45624566 0f f1"))[0] if found else ""
    'ｱ日本1'
    """
    return _codec(name) if name in NAMES.values() else None


@cache
def _codec(name: str) -> codecs.CodecInfo:
    known = _characters(name)
    return codecs.CodecInfo(
        name=name,
        encode=known.encode,
        decode=known.decode,
        incrementaldecoder=lambda errors="strict": _Incremental(errors, characters=known),
    )


def _characters(name: str) -> Characters:
    tables = _tables()
    number = name.removeprefix("ibm")
    single = tables["single"].get(number)
    double = tables["double"][number if single is None else single["double"]]
    wide = {
        bytes((_FIRST + place // _WIDTH, _FIRST + place % _WIDTH)): character
        for place, character in enumerate(double["grid"])
        if character != "\0"
    } | {bytes.fromhex(code): text for code, text in double["sequences"].items()}
    narrow = {}
    if single is not None:
        narrow = {bytes((byte,)): character for byte, character in enumerate(single["single"]) if character != _NONE}
    # Of several codes of a character the shortest and lowest is written, but for those that say otherwise.
    by_text = {text: code for known in (wide, narrow) for code, text in reversed(known.items())}
    also = {character: code.to_bytes(2) for character, code in double["also"].items()}
    if single is not None:
        also |= {character: bytes((code,)) for character, code in single["also"].items()}
    by_bytes = wide | narrow
    # A character that has a code of its own is not written by that of another, which would be read as the other.
    by_text |= {text: code for text, code in also.items() if text not in by_text or by_bytes.get(code) == text}
    return Characters(name, by_bytes, by_text, single=single is not None)


@lru_cache(maxsize=1)
def _tables() -> Any:
    """The characters of all codes, as lists: of one byte by their place, of two bytes by rows of 191."""
    packed = files(__package__).joinpath("east_asian_ebcdic.json.xz").read_bytes()
    return json.loads(lzma.decompress(packed))


codecs.register(find)
