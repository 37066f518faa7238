"""Misread: what is to be said of a CCSID in which bytes do not even begin as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.descriptor import UTF_8
from engine.errors import ConversionException, ParserException
from parsers.charsets.ccsid import codec

if TYPE_CHECKING:
    from engine.parser import Portion

_BLANK: Final = " \t\r\n\0\ufeff"
_HEAD: Final = 64  # bytes in which a document has begun
_FAMILIES: Final = (
    (("utf-16-be", "utf-16-le"), "UTF-16: 1200"),
    (("utf-8",), "ASCII or UTF-8: 1208"),
    (("cp037", "cp500"), "EBCDIC: 37, 500, 1047 or another"),
)


def with_ccsid(error: ParserException, portion: Portion, opening: str) -> ParserException:
    """The error of a document that cannot be read, saying its CCSID where that may be what is wrong.

    `opening` are the characters that a document may begin with.
    """
    text = _in_doubt(portion, error, opening)
    if not text:
        return error
    told = ParserException(error.number, f"{error.text}; {text}", *error.inserts)
    told.__cause__ = error.__cause__
    return told


def _in_doubt(portion: Portion, error: ParserException, opening: str) -> str:
    ccsid, head = portion.follow.ccsid, portion.bytes[:_HEAD]
    try:
        text = codec(ccsid, portion.follow.encoding).decode(head, "replace")[0]
    except ConversionException:
        return f"the CCSID is what {_field(portion)} says"
    if text.lstrip(_BLANK)[:1] not in opening:
        likely = _looks_like(head, opening)
        if likely or ccsid != UTF_8:
            return f"it was read in CCSID {ccsid}, which {_field(portion)} says{likely}"
    undecoded = error.__cause__ is not None and isinstance(error.__cause__.__cause__, ConversionException)
    return f"CCSID {ccsid} is what {_field(portion)} says" if undecoded else ""


def _field(portion: Portion) -> str:
    """Returns what says the CCSID: a field of the MQMD or of the header in front, or who had these bytes parsed."""
    if portion.received is None:
        return "its CREATE statement"
    before = [part for part in portion.received.parts if part.portion.data and part.portion.end <= portion.start]
    return f"{before[-1].parser.name if before else 'MQMD'}.CodedCharSetId"


def _looks_like(head: bytes, opening: str) -> str:
    """Returns what the bytes look like, if that is plain."""
    for codecs, name in _FAMILIES:
        if any(head.decode(one, "replace").lstrip(_BLANK)[:1] in set(opening) for one in codecs):
            return f", and looks like {name}"
    return ""
