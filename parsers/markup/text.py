"""Text: values as the XML domains and XML Schema write them, escaping, and characters that a CCSID lacks."""

from __future__ import annotations

import re
from base64 import b64encode
from codecs import CodecInfo
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.source import Value
from parsers.markup import element_types
from parsers.markup.element_types import Flavour

_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LARGEST_EXPONENT: Final = 6144  # of numbers that are written without one
_START: Final = "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"  # noqa: E501
_NAME: Final = re.compile(f"[:{_START}][-.0-9\u00b7\u0300-\u036f\u203f-\u2040:{_START}]*")


class Unwritable(ValueError):
    """A value that XML cannot hold, with what to do; whoever knows the element makes a ParserException of it."""


def text_of(value: Value, *, compact: bool) -> str:
    """A value as text: XMLNSC writes XML Schema's forms, the older domains write ESQL's.

    >>> text_of(True, compact=True), text_of(True, compact=False), text_of(Decimal("1.50"), compact=True)
    ('true', 'TRUE', '1.50')
    """
    if value.__class__ is str:
        return value  # type: ignore[return-value, unused-ignore]
    if value is None:
        return ""
    written = (_COMPACT if compact else _GENERIC).get(value.__class__)
    return str(value) if written is None else written(value)


def _float(value: float) -> str:
    """A FLOAT in the form of its literals: one digit before the point, up to 15 significant ones.

    >>> _float(44.72), _float(1.0), _float(float("inf"))
    ('4.472E+1', '1E+0', 'INF')
    """
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124  NaN alone differs from itself
        return {"inf": "INF", "-inf": "-INF", "nan": "NAN"}[str(value)]
    mantissa, _, exponent = f"{value:.14E}".partition("E")
    return f"{mantissa.rstrip('0').rstrip('.')}E{exponent[0]}{exponent[1:].lstrip('0') or '0'}"


def _decimal(value: Decimal) -> str:
    """A DECIMAL in plain digits, unless it would be longer than any number that is meant to be read.

    >>> _decimal(Decimal("1.5E+3")), _decimal(Decimal("1E+999999"))
    ('1500', '1E+999999')
    """
    return format(value, "f") if abs(value.adjusted()) <= _LARGEST_EXPONENT else str(value)


def _moment(separator: str) -> Callable[[Any], str]:
    return lambda value: value.replace(tzinfo=None).isoformat(separator) + ("Z" if value.tzinfo else "")


_GENERIC: Final[dict[type, Callable[[Any], str]]] = {
    bool: lambda value: str(value).upper(),
    bytes: lambda value: value.hex().upper(),
    float: _float,
    Decimal: _decimal,
    datetime: _moment(" "),
    time: lambda value: value.replace(tzinfo=None).isoformat() + ("Z" if value.tzinfo else ""),
    date: date.isoformat,
}
_COMPACT: Final = {**_GENERIC, bool: lambda value: str(value).lower(), datetime: _moment("T")}


def escape(text: str) -> str:
    """Text as the content of an element.

    >>> escape("a < b & c")
    'a &lt; b &amp; c'
    """
    if text.isprintable() and not ("&" in text or "<" in text or ">" in text):
        return text
    check(text)
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    if "\r" in text:
        text = text.replace("\r", "&#13;")
    return text


def quote(text: str, *, single: bool = False) -> str:
    """Text as the value of an attribute, in double quotes, or in single ones.

    >>> quote('say "hi"')
    '"say &quot;hi&quot;"'
    """
    if text.isalnum():
        return f"'{text}'" if single else f'"{text}"'
    text = escape(text).replace("\n", "&#10;").replace("\t", "&#9;")
    if single:
        return "'" + text.replace("'", "&apos;") + "'"
    return '"' + text.replace('"', "&quot;") + '"'


def check(text: str) -> str:
    """A text, unless it has characters that no XML document can hold."""
    if text.isprintable():
        return text
    found = _ILLEGAL.search(text)
    if found is not None:
        at = found.start()
        near = text[max(0, at - 20) : at + 20]
        raise Unwritable(
            f"XML cannot hold the character U+{ord(found[0]):04X}, at position {at + 1} of {near!r}:"
            " take it out, or send the bytes in hexadecimal"
        )
    return text


@lru_cache(maxsize=65536)
def name_of(name: str) -> str:
    """A name, if it is one that XML allows."""
    if _NAME.fullmatch(name) is None:
        raise Unwritable(
            f"{name[:60]!r} cannot be a name in XML: start it with a letter or '_',"
            " and go on with letters, digits, '-', '_' and '.'"
        )
    return name


def comment(text: str) -> str:
    """A comment of this text."""
    check(text)
    if "--" in text or text.endswith("-"):
        raise Unwritable(
            f"an XML comment cannot hold '--' or end in '-': {text[:40]!r}; put blanks between the hyphens"
        )
    return f"<!--{text}-->"


def instruction(name: str, text: str) -> str:
    """A processing instruction of this target and text."""
    check(text)
    if name.lower() == "xml":
        raise Unwritable("a processing instruction cannot be called xml: an XML declaration has a type of its own")
    if "?>" in text:
        raise Unwritable(f"a processing instruction cannot hold '?>': {text[:40]!r}; put a blank between the two")
    return f"<?{name_of(name)} {text}?>" if text else f"<?{name_of(name)}?>"


def section(text: str) -> str:
    """A CDATA section of this text; a text that holds the end of one is cut in two."""
    check(text)
    text = text.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
    return f"<![CDATA[{text}]]>"


_DATES: Final[dict[int, Callable[[str], str]]] = {
    element_types.G_YEAR: lambda day: day[:4],
    element_types.G_MONTH: lambda day: f"--{day[5:7]}",
    element_types.G_DAY: lambda day: f"---{day[8:]}",
    element_types.G_YEAR_MONTH: lambda day: day[:7],
    element_types.G_MONTH_DAY: lambda day: f"--{day[5:]}",
}


def formed(element: Element, value: Value, flavour: Flavour) -> str:
    """A value in the form that the type of its element asks for, or as the domain writes such values."""
    if flavour.compact and (form := element.raw_type & element_types.FORM):
        if form == element_types.BASE64 and value.__class__ is bytes:
            return b64encode(value).decode("ascii")
        if form in _DATES and value.__class__ is date:
            return _DATES[form](value.isoformat())
    return text_of(value, compact=flavour.compact)


DOCTYPE: Final = (
    r"""<!DOCTYPE(?>[^"'\[>]|"[^"]*"|'[^']*')*+"""
    r"""(?>\[(?>"[^"]*"|'[^']*'|<!--.*?-->|<\?.*?\?>|[^\]"'])*+\]\s*+)?+>"""
)
_MARKS: Final = re.compile(
    r"(?P<section><!\[CDATA\[.*?\]\]>)|(?P<fixed><!--.*?-->|<\?.*?\?>)"
    rf"|(?P<doctype>{DOCTYPE})"
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
        # names, comments and instructions cannot be helped out with references
        return codec.encode(_MARKS.sub(lambda mark: _mark(mark, codec, ccsid), text), "xmlcharrefreplace")[0]


def _mark(mark: re.Match[str], codec: CodecInfo, ccsid: int) -> str:
    text = mark[0]
    if mark.lastgroup == "section":
        return _with_references(text, codec)
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


def _with_references(text: str, codec: CodecInfo) -> str:
    """A CDATA section that is interrupted by a reference for each character that the codec lacks."""
    pieces = []
    while True:
        try:
            codec.encode(text)
        except UnicodeEncodeError as error:
            at = error.start
            pieces += [text[:at], f"]]>&#{ord(text[at])};<![CDATA["]
            text = text[at + 1 :]
        else:
            return "".join([*pieces, text])
