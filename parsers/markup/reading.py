"""Reading: bytes to an lxml tree, safely: no DTD or entity is fetched, entities do not explode, limits hold."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeAlias

from lxml import etree

from engine.errors import ConversionException, Insert, ParserException
from engine.message.thread_parsers import PARSERS
from parsers.charsets.ccsid import codec, decode

if TYPE_CHECKING:
    from engine.parser import Portion
    from parsers.markup.element_types import Retention

MAX_DEPTH: Final = 512
_UNDERSTOOD: Final = {1208: "utf-8", 819: "iso-8859-1"}
_TOO_DEEP: Final = etree.XPath("/*" * (MAX_DEPTH + 1), smart_strings=False)
_UNDEFINED_PREFIX: Final = 201  # libxml2's XML_NS_ERR_UNDEFINED_NAMESPACE
_NO_URI: Final = 99  # libxml2's XML_WAR_NS_URI: a namespace's name is any text, whatever URIs are
MAX_ATTRIBUTES: Final = 1024  # of one element: libxml2 looks through all of them for each
_CROWDED: Final = etree.XPath(f"//*[@*[{MAX_ATTRIBUTES + 1}]]", smart_strings=False)
MAX_DEFAULTS: Final = 50_000_000  # characters of a DTD, times the elements that could have them as defaults
_SNIPPET: Final = 24
_BLANK: Final = b" \t\r\n\0"
_ORDER_MARKS: Final = {b"\xfe\xff": 1201, b"\xff\xfe": 1202}
_NEXT_LINE: Final = "\x85".encode()
_MOST_FED: Final = 1 << 20  # bytes; libxml2 refuses to look ahead further than ten times that


class How(NamedTuple):
    """The way in which lxml reads one document."""

    encoding: str
    keep: Retention
    defaults: bool = False
    deep: bool = False
    recover: bool = False


# A document as lxml has it, its bytes in an encoding that extends ASCII, that encoding, and whether there may be more
# in the bytes than tags, text, and a declaration at their start.
Read: TypeAlias = tuple[etree._Element, bytes, str, bool]


def _parser(how: How) -> etree.XMLParser:
    return PARSERS.kept.get(how) or PARSERS.made(how, _new_parser)


def _new_feeder(kind: tuple[str, Retention]) -> etree.XMLParser:
    return _new_parser(How(*kind))


def _fed(data: bytes, encoding: str, keep: Retention) -> etree._Element | None:
    """A document that was read the quick way: libxml2 takes 12 to 18 percent less for what it is fed whole.

    None says that it is to be read the other way, which alone tells what is wrong with a document.
    """
    kind = encoding, keep
    parser = PARSERS.kept.get(kind) or PARSERS.made(kind, _new_feeder)
    try:
        parser.feed(data)
        return parser.close()
    except etree.XMLSyntaxError:
        return None
    except BaseException:  # an interruption may have left the parser in the middle of this document
        PARSERS.forget()
        raise


def _new_parser(how: How) -> etree.XMLParser:
    """A parser that opens nothing: collect_ids=False is left out, for it makes libxml2 load external DTDs."""
    keep = how.keep
    return etree.XMLParser(
        encoding=how.encoding,
        resolve_entities=False if keep.references else "internal",  # type: ignore[arg-type]  # newer than the stubs
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=how.defaults,
        recover=how.recover,
        huge_tree=how.deep,
        strip_cdata=False,
        remove_blank_text=not keep.blanks,
        remove_comments=not keep.comments,
        remove_pis=not keep.instructions,
    )


def read_document(portion: Portion, keep: Retention, *, spaces: bool = True) -> Read | None:
    """A document; None where there are only blanks. Without `spaces`, prefixes need no declaration."""
    data = portion.data[portion.start : portion.end]
    encoding = _UNDERSTOOD.get(portion.follow.ccsid)
    if encoding is None:
        data, encoding = _text(portion, data).encode(), "utf-8"
    marked = (b"!" in data or b"?" in data) and _has_marks(data)
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
    if marked and not keep.blanks:
        keep = keep._replace(blanks=True)
    thorough = len(data) > _MOST_FED or (marked and b"<!DOCTYPE" in data)
    root = None if thorough else _fed(lines, encoding, keep)
    if root is not None:
        read: Read | None = (root, lines, encoding, marked)
    else:
        how = How(encoding, keep, marked and _has_defaults(data))
        read = _read(portion, lines, how, data, marked=marked, spaces=spaces)
    if len(data) > 2 * MAX_ATTRIBUTES and read is not None:
        _limit_attributes(portion, read, data)
    return read


def _read(portion: Portion, data: bytes, how: How, came: bytes, *, marked: bool, spaces: bool) -> Read | None:
    """A document that is read the thorough way; as it came, before its lines were made to end alike, tells errors."""
    if how.defaults and data.rfind(b"]") * data.count(b"<") > MAX_DEFAULTS:
        _refuse("the defaults of attributes could be larger than the document by far", portion.start, 1, 1)
    try:
        return etree.fromstring(data, _parser(how)), data, how.encoding, marked
    except etree.XMLSyntaxError as error:
        if not data.strip(_BLANK):
            return None
        if data is not came:
            return _read(
                portion, came, how._replace(keep=how.keep._replace(blanks=True)), came, marked=True, spaces=spaces
            )
        return _read_again(portion, data, how, error, spaces=spaces)


def _text(portion: Portion, data: bytes) -> str:
    """The document as text, by its CCSID; a byte order mark says more about UTF-16 than the MQMD does."""
    ccsid, encoding = portion.follow.ccsid, portion.follow.encoding
    try:
        if codec(ccsid, encoding).name.startswith("utf-16"):
            ccsid = _ORDER_MARKS.get(data[:2], ccsid)
        return decode(data, ccsid, encoding, offset=portion.start, what="the XML document")
    except ConversionException as error:
        at = error.__cause__.start if isinstance(error.__cause__, UnicodeDecodeError) else 0
        before = codec(ccsid, encoding).decode(data[:at], "replace")[0] if at else ""
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        _refuse(error.text, portion.start + at, line, column, why=error)


def _has_marks(data: bytes) -> bool:
    """Returns True where there may be more than tags and text, so that blanks like layout may be part of a value."""
    at = data.find(b"?", 2)
    if at > 0 and data[at + 1 : at + 2] == b">" and data.startswith(b"<?xml"):  # the end of a declaration
        at = data.find(b"?", at + 1)
    return (at > 0 and data.find(b"<?", at - 1) > 0) or (b"!" in data and b"<!" in data)


def _has_defaults(data: bytes) -> bool:
    """Returns whether the document itself declares defaults of attributes; one that points elsewhere is left alone."""
    if b"<!ATTLIST" not in data:
        return False
    return b"SYSTEM" not in data and b"PUBLIC" not in data


def _read_again(portion: Portion, data: bytes, how: How, error: etree.XMLSyntaxError, *, spaces: bool) -> Read:
    """Reads what the first attempt refused and the domains admit: deep documents, prefixes, EBCDIC lines."""
    admitted = {_NO_URI} if spaces else {_NO_URI, _UNDEFINED_PREFIX}
    if _code(error) in admitted:
        parser = _new_parser(how._replace(recover=True))
        root = etree.fromstring(data, parser)
        if root is not None and all(entry.type in admitted for entry in parser.error_log):
            if any(len(set(names)) < len(names) for names in map(etree._Element.keys, root.iter(etree.Element))):
                error.msg = (
                    "an element has an attribute twice"  # of prefixes that are not declared libxml2 does not look
                )
                _refuse_syntax(error, data, portion, how.encoding)
            return root, data, how.encoding, True
    if b"<!DOCTYPE" in data and b"%" in data and (found := _read_apart(data, how)) is not None:
        return found
    if "Excessive depth" in str(error) and not how.deep:
        return _read_deep(portion, data, how, spaces=spaces)
    if how.encoding == "utf-8" and _NEXT_LINE in data and portion.follow.ccsid not in _UNDERSTOOD:
        data = data.replace(_NEXT_LINE, b"\n")
        try:
            return etree.fromstring(data, _parser(how)), data, how.encoding, True
        except etree.XMLSyntaxError as again:
            error = again
    return _refuse_syntax(error, data, portion, how.encoding)


def _read_apart(data: bytes, how: How) -> Read | None:
    """A document whose DTD uses parameter entities, which lxml takes for undefined where it expands entities.

    None where there are references to expand: what they stand for may come by way of a parameter entity.
    """
    if how.keep.references:
        return None
    try:
        root = etree.fromstring(data, _new_parser(how._replace(keep=how.keep._replace(references=True))))
    except etree.XMLSyntaxError:
        return None
    referring = next(root.iter(etree.Entity), None)
    return None if referring is not None else (root, data, how.encoding, True)


def _read_deep(portion: Portion, data: bytes, how: How, *, spaces: bool) -> Read:
    """Documents between libxml2's own limit of depth and ours, unless their entities could use the missing limits."""
    how = how._replace(deep=True)
    refused = f"elements are nested deeper than {MAX_DEPTH} levels"
    if b"<!DOCTYPE" in data:
        _refuse("elements are nested too deeply for a document with a DTD", portion.start, 1, 1)
    try:
        read = etree.fromstring(data, _parser(how)), data, how.encoding, True
    except etree.XMLSyntaxError as error:
        if "Excessive depth" in str(error):
            error.msg = refused
        read = _read_again(portion, data, how, error, spaces=spaces)
    _limit(portion, read, _TOO_DEEP, refused)
    return read


def _limit_attributes(portion: Portion, read: Read, came: bytes) -> None:
    root, data, encoding, marked = read
    if came.count(b"=") > MAX_ATTRIBUTES or (marked and _has_defaults(came)):
        if b"\r" in came and b"\r" not in data:  # lines as libxml2 has counted them, in as many bytes as came
            data = came.replace(b"\r\n", b" \n").replace(b"\r", b"\n")
        read = root, data, encoding, marked
        _limit(portion, read, _CROWDED, f"an element has more than {MAX_ATTRIBUTES} attributes")


def _limit(portion: Portion, read: Read, excess: etree.XPath, text: str) -> None:
    """Refuse a document in which something is found that is beyond a limit."""
    root, data, encoding, _ = read
    found: Any = excess(root)
    if not found:
        return
    line: int = found[0].sourceline or 1
    at = sum(len(before) + 1 for before in data.split(b"\n", line)[: line - 1])
    _refuse(text, portion.start + _original(data, at, portion, encoding), line, 1)


def _code(error: etree.XMLSyntaxError) -> int:
    return int(getattr(error, "code", 0) or 0)


def _original(data: bytes, at: int, portion: Portion, encoding: str) -> int:
    """Returns where a place in what libxml2 read stands in the bytes that came."""
    ccsid = portion.follow.ccsid
    if ccsid in _UNDERSTOOD:
        return at
    return len(codec(ccsid, portion.follow.encoding).encode(data[:at].decode(encoding, "ignore"), "replace")[0])


def _bytes_before(text: bytes, column: int, encoding: str) -> int:
    """Returns the number of bytes of a line before a column, which libxml2 counts in characters without a BOM."""
    mark = len(codecs.BOM_UTF8) if encoding == "utf-8" and text.startswith(codecs.BOM_UTF8) else 0
    line = text[mark:].decode(encoding, "surrogateescape")
    return mark + len(line[: column - 1].encode(encoding, "surrogateescape"))


def _refuse_syntax(error: etree.XMLSyntaxError, data: bytes, portion: Portion, encoding: str) -> NoReturn:
    line, column = (max(number, 1) for number in error.position)
    lines = data.split(b"\n", line)
    at = min(sum(len(text) + 1 for text in lines[: line - 1]), len(data))
    at += _bytes_before(data[at : at + 4 * column + 4].partition(b"\n")[0], column, encoding)
    near = data[max(0, at - _SNIPPET) : at + _SNIPPET].decode(encoding, "backslashreplace")
    text = (error.msg or "the document is empty").split(", line ")[0].strip()
    hint = ""
    if "encoding" in text.lower() or "not proper UTF" in text:
        hint = f"; the message says its CCSID is {portion.follow.ccsid}: give it the one it was written in"
    at = portion.start + _original(data, at, portion, encoding)
    _refuse(f"{text}, near {near!r}{hint}", at, line, column, code=_code(error))


def _refuse(text: str, offset: int, line: int, column: int, *, code: int = 0, why: Exception | None = None) -> NoReturn:
    cause = ParserException(
        5004,
        f"an XML parsing error occurred at offset {offset} (line {line}, column {column}): {text}",
        *(Insert(str(number), 2) for number in (code, 2, line, column)),
        text,
    )
    cause.__cause__ = why
    raise ParserException(5009, f"XML parsing errors have occurred: {cause.text}") from cause
