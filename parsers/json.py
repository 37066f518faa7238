"""JSON: documents in JavaScript Object Notation, as objects, arrays and values below Data."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from engine.errors import ParserException
from engine.parser import Form, Parser, Portion, parser
from engine.tree.sharing import written
from engine.tree.source import NAME_VALUE, VALUE, Handle, Source
from parsers.charsets.ccsid import codec
from parsers.charsets.wrong_ccsid import with_ccsid
from parsers.json_text.document import DOCUMENT, Node
from parsers.json_text.plain import ARRAY, OBJECT
from parsers.json_text.reading import read_document
from parsers.json_text.writing import plain_of, text_of, unwritable

if TYPE_CHECKING:
    from engine.tree.element import Element

DATA: Final = "Data"
PADDING: Final = "Padding"


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
    """What of an element is to be written, and its padding; one that stands below the top is written by itself."""
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
        return info.encode(text)[0]
    except UnicodeEncodeError as error:
        if info.name.startswith("utf-"):
            raise unwritable(data, f"{text[error.start]!a} is half of a character") from error
    pieces = []
    while True:
        try:
            pieces.append(info.encode(text)[0])
        except UnicodeEncodeError as error:
            units = text[error.start : error.end].encode("utf-16-be")
            escapes = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
            pieces.append(info.encode(text[: error.start] + escapes)[0])
            text = text[error.end :]
        else:
            return b"".join(pieces)
