"""Reading: bytes to an lxml tree, safely: no DTD or entity is fetched, entities do not explode, limits hold."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from lxml import etree

from engine.errors import Insert, ParserException
from parsers.ccsid import decode

if TYPE_CHECKING:
    from engine.parser import Portion
    from parsers.markup.flavour import Retention

MAX_DEPTH: Final = 512
_UNDERSTOOD: Final = {1208: "UTF-8", 819: "ISO-8859-1"}
_TOO_DEEP: Final = etree.XPath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")", smart_strings=False)
_SNIPPET: Final = 24


@lru_cache(maxsize=256)
def _parser(encoding: str | None, keep: Retention, deep: bool) -> etree.XMLParser:
    return etree.XMLParser(
        encoding=encoding,
        resolve_entities=False if keep.references else "internal",  # type: ignore[arg-type]  # newer than the stubs
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        recover=False,
        huge_tree=deep,
        strip_cdata=False,
        remove_blank_text=not keep.blanks,
        remove_comments=not keep.comments,
        remove_pis=not keep.instructions,
        collect_ids=False,
    )


def read_document(portion: Portion, keep: Retention) -> tuple[etree._Element, bytes]:
    """The root element of a document, and its bytes in UTF-8 or another encoding that extends ASCII."""
    data, start, ccsid = portion.bytes, portion.start, portion.follow.ccsid
    encoding = _UNDERSTOOD.get(ccsid)
    if encoding is None:
        text = decode(data, ccsid, portion.follow.encoding, offset=start, what="the XML document")
        data, encoding = text.removeprefix("\ufeff").encode(), "UTF-8"
    return _root(data, encoding, start, keep, ccsid), data


def _root(data: bytes, encoding: str, start: int, keep: Retention, ccsid: int) -> etree._Element:
    try:
        return etree.fromstring(data, _parser(encoding, keep, False))
    except etree.XMLSyntaxError as error:
        if "Excessive depth" in str(error) and b"<!DOCTYPE" not in data:
            return _read_deep(data, encoding, start, keep)
        raise _syntax_error(error, data, start, ccsid) from None


def _read_deep(data: bytes, encoding: str, start: int, keep: Retention) -> etree._Element:
    """Documents between libxml2's own limit of depth and ours."""
    try:
        root = etree.fromstring(data, _parser(encoding, keep, True))
    except etree.XMLSyntaxError as error:
        raise _syntax_error(error, data, start, 0) from None
    if _TOO_DEEP(root):
        raise _parser_exception(f"elements are nested deeper than {MAX_DEPTH} levels", start, 0, 0, 0)
    return root


def _syntax_error(error: etree.XMLSyntaxError, data: bytes, start: int, ccsid: int) -> ParserException:
    line, column = error.position
    lines = data.split(b"\n", max(line, 1))
    at = min(sum(len(text) + 1 for text in lines[: line - 1]) + max(column - 1, 0), len(data))
    near = data[max(0, at - _SNIPPET) : at + _SNIPPET].decode("utf-8", "backslashreplace")
    text = (error.msg or "the document is empty").split(", line ")[0]
    hint = ""
    if "encoding" in text.lower() or "not proper UTF" in text:
        hint = f"; the message says its CCSID is {ccsid}: give it the one it was written in"
    return _parser_exception(
        f"{text}, near {near!r}{hint}", start + at, line, column, int(getattr(error, "code", 0) or 0)
    )


def _parser_exception(text: str, offset: int, line: int, column: int, code: int) -> ParserException:
    cause = ParserException(
        5004,
        f"an XML parsing error occurred at offset {offset} (line {line}, column {column}): {text}",
        Insert(str(code), 2),
        Insert("2", 2),
        Insert(str(line), 2),
        Insert(str(column), 2),
        text,
    )
    error = ParserException(5009, f"XML parsing errors have occurred: {cause.text}")
    error.__cause__ = cause
    return error
