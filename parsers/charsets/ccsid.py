"""Coded character set identifiers (CCSIDs): codecs, text to bytes and back, and a hint where a CCSID looks wrong."""

from __future__ import annotations

import codecs
import importlib
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engine.descriptor import BIG_ENDIAN, UTF_8
from engine.errors import ConversionException, ParserException
from engine.parser import codec_catalog
from parsers.charsets import east_asian_ebcdic

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
    for names, name in _FAMILIES:
        if any(head.decode(one, "replace").lstrip(_BLANK)[:1] in set(opening) for one in names):
            return f", and looks like {name}"
    return ""


QUEUE_MANAGER: Final = 0  # MQCCSI_Q_MGR, in a header after the MQMD MQCCSI_UNDEFINED: as the queue manager's
EMBEDDED: Final = -1  # MQCCSI_EMBEDDED: the data says it itself
INHERIT: Final = -2  # MQCCSI_INHERIT: as the structure that comes before
BINARY: Final = 65535  # these bytes are no characters

_INTEGERS: Final = 0x0000000F
_REVERSED: Final = 0x00000002

# UCS-2 and UTF-16 without a byte order of their own: MQ takes it from the Encoding beside the CCSID.
_BY_ENCODING: Final = frozenset({1200, 13488, 17584})

_CODECS: Final = {
    # Unicode
    **dict.fromkeys((1208, 1209), "utf-8"),
    1201: "utf-16-be",
    **dict.fromkeys((1202, 1203), "utf-16-le"),
    **dict.fromkeys((1204, 1205), "utf-16"),
    **dict.fromkeys((1232, 1233), "utf-32-be"),
    **dict.fromkeys((1234, 1235), "utf-32-le"),
    **dict.fromkeys((1236, 1237), "utf-32"),
    # ISO 8859 and its kin
    367: "ascii",
    819: "iso8859-1",
    912: "iso8859-2",
    913: "iso8859-3",
    914: "iso8859-4",
    915: "iso8859-5",
    1089: "iso8859-6",
    813: "iso8859-7",
    4909: "iso8859-7",
    916: "iso8859-8",
    920: "iso8859-9",
    919: "iso8859-10",
    921: "iso8859-13",
    923: "iso8859-15",
    878: "koi8-r",
    1168: "koi8-u",
    1051: "hp-roman8",
    1275: "mac-roman",
    1280: "mac-greek",
    1281: "mac-turkish",
    1282: "mac-latin2",
    1283: "mac-cyrillic",
    # Windows; the second row are the versions with a euro sign, which Python's codecs have
    **{ccsid: f"cp{ccsid}" for ccsid in range(1250, 1259)},
    **{5346 + number: f"cp{1250 + number}" for number in range(9)},
    1162: "cp874",
    # PC code pages
    **{page: f"cp{page}" for page in (437, 720, 737, 775, 850, 852, 855, 856, 857, 858)},
    **{page: f"cp{page}" for page in (860, 861, 862, 863, 864, 865, 866, 869, 874, 1125)},
    # East Asia
    **dict.fromkeys((943, 932, 942, 5039), "cp932"),
    **dict.fromkeys((954, 33722, 5050), "euc-jp"),
    **dict.fromkeys((1386, 936, 1381), "gbk"),
    1383: "gb2312",
    **dict.fromkeys((5488, 1392), "gb18030"),
    **dict.fromkeys((1363, 949), "cp949"),
    970: "euc-kr",
    **dict.fromkeys((950, 1370), "cp950"),
    1375: "big5hkscs",
    # EBCDIC
    **{page: f"cp{page:03}" for page in (37, 273, 277, 278, 280, 284, 285, 290, 297, 420, 424, 500, 833, 838)},
    **{page: f"cp{page}" for page in (870, 871, 875, 1025, 1026, 1047, 1097, 1112, 1122, 1123)},
    **{page: f"cp{page}" for page in range(1140, 1150)},
    **east_asian_ebcdic.NAMES,
}

_OF_ONE_BYTE: Final = ("cp", "iso8859", "latin", "ascii", "koi8", "mac", "hp-roman")  # how their codecs' names begin
_OF_MORE: Final = frozenset({"cp932", "cp949", "cp950"})

_NL, _LF = 0x15, 0x25  # of all pages of EBCDIC
_UNDEFINED: Final = "\ufffe"  # in a table: a byte without a character

_SPECIAL: Final = {
    EMBEDDED: "CCSID -1 (MQCCSI_EMBEDDED) says that the data names its own CCSID: read that first",
    INHERIT: "CCSID -2 (MQCCSI_INHERIT) means that of the structure before, and there is none: name one",
    BINARY: "CCSID 65535 says that these bytes are no characters: take them as a BLOB, or name a CCSID",
}


def is_little_endian(encoding: int) -> bool:
    """Returns True where an MQ encoding has integers with the least significant byte first.

    >>> is_little_endian(546), is_little_endian(273), is_little_endian(785)
    (True, False, False)
    """
    return encoding & _INTEGERS == _REVERSED


def inherited(ccsid: int, above: int) -> int:
    """The CCSID that a header's field means: its own, or that of the structure above it.

    >>> inherited(-2, 500), inherited(819, 500)
    (500, 819)
    """
    return above if ccsid in {QUEUE_MANAGER, INHERIT} else ccsid


@lru_cache(maxsize=512)
def codec(ccsid: int, encoding: int = BIG_ENDIAN) -> codecs.CodecInfo:
    """The codec of a CCSID; the encoding gives UTF-16 its byte order.

    >>> codec(500).name, codec(1200, 546).name
    ('cp500', 'utf-16-le')
    """
    if ccsid in _SPECIAL:
        raise ConversionException(2130, _SPECIAL[ccsid], str(ccsid))
    if ccsid == QUEUE_MANAGER:
        ccsid = UTF_8
    if ccsid in _BY_ENCODING:
        return codecs.lookup("utf-16-le" if is_little_endian(encoding) else "utf-16-be")
    name = _CODECS.get(ccsid)
    if name is None:
        raise ConversionException(
            2130,
            f"CCSID {ccsid} is not one that can be converted: convert the message before it is put,"
            f" or name another CCSID where it is read",
            str(ccsid),
        )
    try:
        found = codecs.lookup(name)
    except LookupError:
        importlib.import_module("ebcdic")  # brings the EBCDIC codecs that the standard library lacks
        found = codecs.lookup(name)
    return _with_lines(found) if found.name.startswith("cp") else found


def _with_lines(known: codecs.CodecInfo) -> codecs.CodecInfo:
    """The codec of a page, in which EBCDIC has the ends of lines of IBM's tables: NL is U+0085, LF is U+000A."""
    table = known.decode(bytes(range(256)), "replace")[0].replace("\ufffd", _UNDEFINED)
    lines = {_NL: "\x85", _LF: "\n"}
    if not _is_table_of_ebcdic(table) or all(table[byte] == character for byte, character in lines.items()):
        return known
    decoding = "".join(lines.get(byte, character) for byte, character in enumerate(table))
    encoding = codecs.charmap_build(decoding)
    return codecs.CodecInfo(
        name=known.name,
        encode=lambda text, errors="strict": codecs.charmap_encode(text, errors, encoding),
        decode=lambda data, errors="strict": codecs.charmap_decode(data, errors, decoding),
    )


def _is_table_of_ebcdic(table: str) -> bool:
    return len(table) == 256 and table[0xF0] == "0"


@lru_cache(maxsize=512)
def is_single_byte(ccsid: int) -> bool:
    """Returns whether names, digits and blanks take one byte each in this CCSID, as fixed fields of headers need.

    >>> is_single_byte(500), is_single_byte(1208), is_single_byte(1200), is_single_byte(300)
    (True, True, False, False)
    """
    return len(codec(ccsid).encode("A ", "ignore")[0]) == 2


@lru_cache(maxsize=512)
def is_ebcdic(ccsid: int) -> bool:
    """Returns whether digits of a CCSID are EBCDIC's.

    >>> is_ebcdic(37), is_ebcdic(819)
    (True, False)
    """
    return is_single_byte(ccsid) and codec(ccsid).encode("0")[0] == b"\xf0"


@lru_cache(maxsize=512)
def is_charmap(ccsid: int) -> bool:
    """Returns whether each byte is a character by itself in this CCSID, or none.

    >>> is_charmap(500), is_charmap(1208), is_charmap(943), is_charmap(930)
    (True, False, False, False)
    """
    name = codec(ccsid).name
    return is_single_byte(ccsid) and name.startswith(_OF_ONE_BYTE) and name not in _OF_MORE


@lru_cache(maxsize=512)
def blank(ccsid: int) -> bytes:
    """Returns what pads a character field: one blank, or where there is none an ideographic one.

    >>> blank(500).hex(), blank(819).hex()
    ('40', '20')
    """
    return codec(ccsid).encode("\u3000" if ccsid in east_asian_ebcdic.DOUBLE else " ")[0]


def decode(data: bytes, ccsid: int, encoding: int = BIG_ENDIAN, *, offset: int = 0, what: str = "text") -> str:
    """The text of bytes; `offset` is where they stand in their message and `what` they are called, for the error.

    >>> decode(bytes.fromhex("c885939396"), 500)
    'Hello'
    """
    try:
        return codec(ccsid, encoding).decode(data, "strict")[0]
    except UnicodeDecodeError as error:
        found = data[error.start : max(error.end, error.start + 1)][:8].hex()
        raise ConversionException(
            2130,
            f"{what}: the bytes X'{found}' at offset {offset + error.start} are no characters of CCSID {ccsid}",
            str(ccsid),
        ) from error


def encode(text: str, ccsid: int, encoding: int = BIG_ENDIAN, *, what: str = "text") -> bytes:
    """The bytes of text; `what` it is called, for the error.

    >>> encode("Hello", 500).hex()
    'c885939396'
    """
    try:
        return codec(ccsid, encoding).encode(text, "strict")[0]
    except UnicodeEncodeError as error:
        raise ConversionException(
            2136,
            f"{what}: the character U+{ord(text[error.start]):04X} at position {error.start + 1}"
            f" cannot be converted to CCSID {ccsid}",
            str(ccsid),
        ) from error


codec_catalog.register("ccsid")(sys.modules[__name__])
