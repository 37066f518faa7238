"""Encoding: the text of a document to bytes; characters that the character set lacks become references."""

from __future__ import annotations

import re
from codecs import CodecInfo
from typing import Final

from engine.errors import ParserException

_MARKS: Final = re.compile(
    r"(?P<section><!\[CDATA\[.*?\]\]>)|(?P<fixed><!--.*?-->|<\?.*?\?>)"
    r"""|(?P<doctype><!DOCTYPE(?>[^"'\[>]|"[^"]*"|'[^']*')*+(?>\[(?>"[^"]*"|'[^']*'|<!--.*?-->|<\?.*?\?>|[^\]"'])*+\]\s*+)?+>)"""
    r"""|(?P<tag><(?>[^"'>]|"[^"]*"|'[^']*')*+>)""",
    re.DOTALL,
)
_QUOTED: Final = re.compile(r""""[^"]*"|'[^']*'""")
_NAMES: Final = {
    "ascii": "US-ASCII",
    "big5hkscs": "Big5-HKSCS",
    "cp858": "IBM00858",
    "cp874": "windows-874",
    "cp932": "Windows-31J",
    "cp949": "windows-949",
    "cp950": "Big5",
    "gb2312": "GB2312",
    "gbk": "GBK",
    "mac-roman": "macintosh",
}


def name_of_codec(name: str) -> str:
    """The name by which an XML declaration calls a codec.

    >>> [name_of_codec(name) for name in ("utf-8", "utf-16-be", "iso8859-2", "cp1252", "cp037", "cp1140", "euc_jp")]
    ['UTF-8', 'UTF-16BE', 'ISO-8859-2', 'windows-1252', 'IBM037', 'IBM01140', 'EUC-JP']
    """
    if name in _NAMES:
        return _NAMES[name]
    if name.startswith("cp"):
        page = name[2:]
        if page.startswith("125"):
            return f"windows-{page}"
        return f"IBM0{page}" if page.startswith("114") else f"IBM{page}"
    if name.startswith("utf-"):
        return name[:6].upper() + name[7:].upper()
    return name.upper().replace("_", "-").replace("ISO8859", "ISO-8859")


def encode(text: str, codec: CodecInfo, ccsid: int) -> bytes:
    """The bytes of a document; characters that the character set lacks become references."""
    try:
        return codec.encode(text)[0]
    except UnicodeEncodeError:
        return _referring(text, codec, ccsid)


def _referring(text: str, codec: CodecInfo, ccsid: int) -> bytes:
    """The bytes with references; names, comments and instructions cannot be helped out so."""
    return codec.encode(_MARKS.sub(lambda mark: _mark(mark, codec, ccsid), text), "xmlcharrefreplace")[0]


def _mark(mark: re.Match[str], codec: CodecInfo, ccsid: int) -> str:
    text = mark[0]
    if mark.lastgroup == "section":
        return _lacking(text, codec, "]]>&#{};<![CDATA[")
    names = _QUOTED.sub("", text) if mark.lastgroup == "tag" else text
    try:
        codec.encode(names)
    except UnicodeEncodeError as error:
        lacking = names[error.start]
        raise ParserException(
            5010,
            f"CCSID {ccsid} lacks the character U+{ord(lacking):04X} of {names[:60]!r}, where XML takes no reference:"
            " write the message in CCSID 1208",
        ) from error
    return text


def _lacking(text: str, codec: CodecInfo, instead: str) -> str:
    """Text with something else instead of each character that the codec lacks."""
    pieces = []
    while True:
        try:
            codec.encode(text)
        except UnicodeEncodeError as error:
            at = error.start
            pieces += [text[:at], instead.format(ord(text[at]))]
            text = text[at + 1 :]
        else:
            return "".join([*pieces, text])
