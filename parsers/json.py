"""JSON: documents in JavaScript Object Notation, as objects, arrays and values below Data, and how they are read."""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn

from engine.descriptor import UTF_8
from engine.errors import ConversionException, Insert, ParserException
from engine.parser import Form, Parser, Portion, parser
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME_VALUE, VALUE, Handle, Source
from parsers.charsets.ccsid import QUEUE_MANAGER, codec, decode, with_ccsid
from parsers.json_tree import ARRAY, DOCUMENT, MAX_DEPTH, OBJECT, Node, members, plain_of, text_of, unwritable

DATA: Final = "Data"
PADDING: Final = "Padding"
_ESCAPING: Final = "penstock.json"  # the name under which codecs know how to write what they lack


@parser
class Json(Parser):
    """Reads and writes JSON: the document is below Data, the name of a JSONP function in Padding.

    The items of an array are called Item. A whole number is an INTEGER, any other a FLOAT where a FLOAT is exactly
    that number, else a DECIMAL. null is NULL. On writing, a field below JSON.Array loses its name; a field without a
    value and without fields below it is {}; names that repeat in an object are written as often as they are there.
    A FLOAT is written with an exponent, as 9.81E+0; a BLOB in hexadecimal; dates and times as ESQL writes them.
    """

    __slots__ = ()
    name = "JSON"
    constants = MappingProxyType({"Array": ARRAY, "Object": OBJECT})
    type_names = MappingProxyType({OBJECT: "Object", ARRAY: "Array", VALUE: "Value", NAME_VALUE: "NameValue"})

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        try:
            read = read_document(portion)
        except ParserException as error:
            told = with_ccsid(error, portion, "{[")
            raise told from told.__cause__
        shown: dict[str, Any] = {}
        if read is not None:
            if read.padding is not None:
                shown[PADDING] = read.padding
            shown[DATA] = read.data
        return DOCUMENT, Node(self.name, shown)

    def write(self, element: Element, form: Form) -> bytes:
        data, padding = _parts(element)
        if data is None:
            return b""
        document = plain_of(data)
        if document.__class__ is not list and not isinstance(document, dict):
            raise unwritable(data, "a document is an object or an array: SET the value into a field below it")
        try:
            text = text_of(document)
        except RecursionError as error:
            raise unwritable(data, "objects and arrays are nested too deeply") from error
        return _encoded(f"{padding}({text})" if padding else text, data, form)


def _parts(element: Element) -> tuple[Element | None, str]:
    """Returns the part of an element to write, and its padding; one that stands below the top is written by itself."""
    above = element.parent
    if above is not None and above.owner is element.owner:
        return element, ""
    children = list(written(element))
    if above is None and len(children) == 1 and children[0].name != PADDING:
        return children[0], ""
    data = [child for child in children if child.name == DATA]
    stray = next((child for child in children if child.name not in {DATA, PADDING}), None)
    if stray is not None or len(data) > 1:
        name = DATA if stray is None else stray.name
        raise ParserException(
            5010, f"JSON.{name} has no place in a document: JSON holds one Data, and all else is below that", name
        )
    paddings = [child.value for child in children if child.name == PADDING and child.value is not None]
    return (data[0] if data else None), str(paddings[0]) if paddings else ""


def _encoded(text: str, data: Element, form: Form) -> bytes:
    """The bytes of a document; characters that the CCSID lacks are escaped."""
    info = codec(form.ccsid, form.encoding)
    try:
        return info.encode(text, _ESCAPING)[0]
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        why = "is half of a character" if _SURROGATE.match(lacking) else f"cannot be written in CCSID {form.ccsid}"
        raise unwritable(data, f"{lacking!a} {why}") from error


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Returns the escapes for characters that a codec lacks; UTF-16 has bytes for all but half a character."""
    assert isinstance(error, UnicodeEncodeError)
    units = error.object[error.start : error.end].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


codecs.register_error(_ESCAPING, _escaped)


_PARSING: Final = 5705
_INVALID: Final = 5701
_ENDED: Final = 5702

_BLANKS: Final = " \t\r\n"
_PADDED: Final = re.compile(
    r"[ \t\r\n]*+(?P<name>[A-Za-z_$][\w$.]*+)[ \t\r\n]*+\((?P<data>.*)\)[ \t\r\n]*+;?+[ \t\r\n]*+", re.DOTALL
)
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?+', re.DOTALL)
_NO_BRACKET: Final = re.compile(r"[^\[\]{}]++")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
_MARKED: Final = frozenset({"utf-8-sig", "utf-16", "utf-32"})  # what a byte order mark says
_SNIPPET: Final = 24


class Read(NamedTuple):
    """A document, and the name of the function that it was wrapped in; None is no document at all."""

    data: Any
    padding: str | None


class _Text(NamedTuple):
    """The text of a portion, and how a place in it becomes an offset in the message."""

    text: str
    encoding: str
    start: int

    def offset(self, at: int) -> int:
        return self.start + len(self.text[:at].encode(self.encoding, "replace"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=members, parse_float=Decimal, parse_constant=_refuse_constant)


def read_document(portion: Portion) -> Read | None:
    """A document with its padding; None where there are only blanks."""
    whole = _text(portion)
    text = whole.text
    start = len(text) - len(text.lstrip(_BLANKS))
    if start == len(text):
        return None
    if text[start] in "{[":
        return Read(_decoded(whole, text, 0), None)
    padded = _PADDED.fullmatch(text)
    if padded is None:
        return _refuse(whole, start, "a document starts with { or [")
    return Read(_decoded(whole, padded["data"], padded.start("data")), padded["name"])


def _text(portion: Portion) -> _Text:
    """The text of a portion; in UTF-8, and where no CCSID is known, the first bytes may say another Unicode form."""
    data, ccsid, encoding = portion.bytes, portion.follow.ccsid, portion.follow.encoding
    name = codec(ccsid, encoding).name if ccsid not in {QUEUE_MANAGER, UTF_8} else "utf-8"
    start = portion.start
    if name.startswith("utf-"):
        found = json.detect_encoding(data)
        if found in _MARKED or ccsid in {QUEUE_MANAGER, UTF_8}:
            name = found
    if name == "utf-8-sig":
        name, start, data = "utf-8", start + len(codecs.BOM_UTF8), data.removeprefix(codecs.BOM_UTF8)
    try:
        if name.startswith("utf-"):
            return _Text(data.decode(name), name, start)
        return _Text(decode(data, ccsid, encoding, what="the JSON document"), name, start)
    except (UnicodeDecodeError, ConversionException) as error:
        cause = error if isinstance(error, UnicodeDecodeError) else error.__cause__
        at = cause.start if isinstance(cause, UnicodeDecodeError) else 0
        before = data[:at].decode(name, "replace")
        text = f"the bytes X'{data[at : at + 8].hex()}' are no characters of CCSID {ccsid}"
        _fail(_INVALID, text, start + at, before, len(before), why=error)


def _decoded(whole: _Text, text: str, start: int) -> Any:
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _limit_depth(whole, text, start)
    try:
        data = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        if "\x85" in text and not whole.encoding.startswith("utf-"):  # the line end of EBCDIC
            return _decoded(whole._replace(text=whole.text.replace("\x85", "\n")), text.replace("\x85", "\n"), start)
        at, said = _said(text, error)
        _refuse(whole, start + at, said, ended=said.startswith("Unterminated string"), why=error)
    except RecursionError as error:
        _refuse(whole, start, f"objects and arrays are nested deeper than {MAX_DEPTH} levels", why=error)
    except (InvalidOperation, ValueError) as error:
        _refuse_number(whole, text, start, error)
    if data.__class__ is not list and not isinstance(data, dict):
        _refuse(whole, start, "a document is an object or an array")
    if "\\u" in text and "\\ud" in text.lower():
        _refuse_surrogates(whole, text, start, data)
    return data


def _said(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    """Returns where and what is wrong, the same whether or not this Python knows commas that nothing follows."""
    if not error.msg.startswith("Illegal trailing comma"):
        return error.pos, error.msg
    at = next(at for at in range(error.pos + 1, len(text)) if text[at] not in _BLANKS)
    return at, "Expecting value" if text[at] == "]" else "Expecting property name enclosed in double quotes"


def _limit_depth(whole: _Text, text: str, start: int) -> None:
    brackets = _NO_BRACKET.sub("", _STRING.sub("", text))
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        depth = 0
        for found in re.finditer(rf"{_STRING.pattern}|[\[\]{{}}]", text, re.DOTALL):
            depth += _STEPS.get(found[0], 0)
            if depth > MAX_DEPTH:
                at = start + found.start()
                _refuse(whole, at, f"objects and arrays are nested deeper than {MAX_DEPTH} levels")


def _refuse_number(whole: _Text, text: str, start: int, error: Exception) -> NoReturn:
    """A number that no type can hold, or a word for one that JSON does not have; the scanner does not say where."""
    for found in re.finditer(rf"{_STRING.pattern}|-?Infinity|NaN|[-+.\dEe]++", text, re.DOTALL):
        if found[0][0] == '"':
            continue
        try:
            _DECODER.decode(found[0])
        except (InvalidOperation, ValueError):
            shown = found[0] if len(found[0]) <= _SNIPPET else f"{found[0][:_SNIPPET]}… ({len(found[0])} characters)"
            _refuse(whole, start + found.start(), f"{shown} is no number that can be held", why=error)
    _refuse(whole, start, str(error), why=error)


def _refuse_surrogates(whole: _Text, text: str, start: int, data: object) -> None:
    for found in _STRING.finditer(text):
        if "\\" in found[0] and _SURROGATE.search(json.loads(found[0])):
            _refuse(whole, start + found.start(), f"half of a surrogate pair stands alone in {found[0][:_SNIPPET]}")


def _refuse(whole: _Text, at: int, text: str, *, ended: bool = False, why: Exception | None = None) -> NoReturn:
    near = whole.text[max(0, at - _SNIPPET) : at + _SNIPPET]
    ended = ended or at >= len(whole.text.rstrip(_BLANKS))
    said = f"{text}, near {near!r}" if not ended else f"the message ends before the document does: {text}"
    _fail(_ENDED if ended else _INVALID, said, whole.offset(at), whole.text, at, why=why)


def _fail(number: int, text: str, offset: int, whole: str, at: int, *, why: Exception | None) -> NoReturn:
    line, column = whole.count("\n", 0, at) + 1, at - whole.rfind("\n", 0, at)
    cause = ParserException(
        number,
        f"a JSON parsing error occurred at offset {offset} (line {line}, column {column}): {text}",
        *(Insert(str(each), 2) for each in (line, column)),
        text,
    )
    cause.__cause__ = why
    raise ParserException(_PARSING, f"JSON parsing errors have occurred: {cause.text}") from cause
