"""MQRFH2, the rules and formatting header of version 2: what JMS, publish/subscribe and brokers say of a message."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

from engine.errors import ParserException
from engine.parser import Follow, Form, Header, Portion, Template, parser, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME, NAME_VALUE, VALUE, Handle, Source
from engine.tree.states import EDITED
from engine.tree.step import step
from parsers.charsets.ccsid import codec, encode
from parsers.headers import fields
from parsers.headers.fields import TOP, long
from parsers.headers.folders import ATTRIBUTE, Folder, Folders, Segment, render, value_of
from parsers.headers.layout import ANNOUNCING, Extended, Laid, lay_out, whole

_INHERIT: Final = -2  # MQCCSI_INHERIT, which is where the field starts from in this header alone

LAYOUT: Final = lay_out(
    "MQRFH2",
    "RFH ",
    (
        *(long("CodedCharSetId", _INHERIT) if field.name == "CodedCharSetId" else field for field in ANNOUNCING),
        long("NameValueCCSID", 1208),
    ),
    first=2,
)

# What mcd.Msd calls a domain; what JMS clients say of text, bytes and objects leaves the choice to the input node.
_DOMAINS: Final = {
    "mrm": "MRM",
    "xml": "XML",
    "xmlns": "XMLNS",
    "xmlnsc": "XMLNSC",
    "json": "JSON",
    "blob": "BLOB",
    "none": "BLOB",
    "jms_map": "JMSMap",
    "jms_stream": "JMSStream",
    "dfdl": "DFDL",
    "mime": "MIME",
    "idoc": "IDOC",
    "soap": "SOAP",
    "dataobject": "DataObject",
}
_FROM_DOMAIN: Final = {"BLOB": "none", "JMSMap": "jms_map", "JMSStream": "jms_stream"}  # others in lower case
_OF_MCD: Final = ("Set", "Type", "Fmt")
_TO_INPUT_NODE: Final = frozenset({"", "jms_text", "jms_bytes", "jms_object", "jms_none"})
_WITHOUT: Final = {"JMSMap": "XML", "JMSStream": "XML"}  # their bodies are XML


@parser
class MqRfh2(Header):
    """The header of 36 bytes and its folders, each with its length in front.

    The tree is as IBM's parser documents it and Trace nodes print it: Version, Format, Encoding, CodedCharSetId,
    Flags and NameValueCCSID, no StrucId and no StrucLength, then the folders. A dt attribute is the type of a value
    and not an element of its own; xsi:nil='true' is NULL.
    """

    __slots__ = ()
    name = "MQRFH2"
    formats = ("MQHRF2",)
    constants = MappingProxyType({"Field": NAME_VALUE})
    type_names = MappingProxyType({NAME: "Name", VALUE: "Value", NAME_VALUE: "NameValue", ATTRIBUTE: "Attribute"})

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        laid = LAYOUT.open(portion)
        follow = laid.follow(portion.follow)
        return laid.length, follow._replace(template=_template(laid, portion))

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        laid = LAYOUT.open(portion)
        return Extended(laid, Folders(_segments(laid, portion.follow.encoding))), TOP

    def describe(self, element: Element, said: Template) -> bool:
        mcd = element.at("mcd")
        if mcd is None:
            return False
        domain = _text(mcd, "Msd")
        changes = {
            name: text for name, text in zip(_OF_MCD, said[1:], strict=True) if text != _text(mcd, name) and text
        }
        if said.domain and domain.lower() not in _TO_INPUT_NODE and _named(domain) != said.domain:
            changes["Msd"] = _msd(said.domain)
        for name, text in changes.items():
            mcd.ensure(step(name)).value = text
        return bool(changes)

    def introduce(self, element: Element, said: Template) -> None:
        mcd = element.at("mcd") or _first_folder(element, "mcd")
        if not _text(mcd, "Msd"):
            mcd.ensure(step("Msd")).value = _msd(said.domain)
        self.describe(element, said)

    def write(self, element: Element, form: Form) -> bytes:
        fixed = LAYOUT.fixed(element, form)
        own = fields.form_of(form.encoding, form.ccsid)
        ccsid = own.integer(fixed, LAYOUT.newest.named["NameValueCCSID"].at)
        origin, source = LAYOUT.origin(element), whole(element)
        same: Folders | None = None
        if origin is not None and isinstance(source, Extended) and isinstance(source.rest, Folders):
            before = codec(origin.integer("NameValueCCSID"), 546 if origin.form.little_endian else 273)
            same = source.rest if before.name == codec(ccsid, form.encoding).name else None
        if origin is not None and same is not None and not LAYOUT.has_changes_beside(element, origin):
            kept = [segment.data for segment in same.segments]
        else:
            kept = _pieces(element, same, ccsid, form.encoding)
        pieces = []
        for data in kept:
            pieces += [own.packed(len(data)), data]
        return LAYOUT.complete(fixed, b"".join(pieces), form)


def _segments(laid: Laid, encoding: int) -> list[Segment]:
    """The pieces of name/value data, each checked to lie within the header."""
    ccsid = laid.integer("NameValueCCSID")
    at, end = laid.start + laid.shape.length, laid.start + laid.length
    segments = []
    while at < end:
        if end - at < 4:
            text = f"MQRFH2.NameValueLength at offset {at} is cut off: {end - at} bytes of the header are left"
            raise ParserException(5009, text, "MQRFH2")
        length = laid.form.integer(laid.data, at)
        if not 0 <= length <= end - at - 4:
            raise ParserException(
                5009, f"MQRFH2.NameValueLength at offset {at} is {length}, and {end - at - 4} bytes are left", "MQRFH2"
            )
        segments.append(Segment(laid.data[at + 4 : at + 4 + length], ccsid, encoding, at + 4))
        at += 4 + length
    return segments


def _template(laid: Laid, portion: Portion) -> Template | None:
    """Returns what the mcd folder says of the body, if there is one."""
    encoding, ccsid = portion.follow.encoding, laid.integer("NameValueCCSID")
    if encode("<mcd", ccsid, encoding) not in laid.after_fields:
        return None
    said: dict[str, str] = {}
    for segment in _segments(laid, encoding):
        if any(folder.name == "mcd" for folder in segment.folders):
            said = _said_in(segment.data, ccsid, encoding, segment.offset)
            break
    else:
        return None
    domain = said.get("Msd", "")
    known = [said.get(name, "") for name in _OF_MCD]
    if domain.lower() not in _TO_INPUT_NODE:
        return Template(_named(domain), *known)
    above = portion.template
    return Template(above.domain, *(own or name for own, name in zip(known, above[1:], strict=True)))


@lru_cache(maxsize=1024)
def _said_in(data: bytes, ccsid: int, encoding: int, offset: int) -> dict[str, str]:
    """Returns what the mcd folder in a piece of name/value data says; messages of one kind say the same."""
    nodes = Segment(data, ccsid, encoding, offset).nodes
    mcd = next(node for node in nodes if node.name == "mcd")
    return {node.name: str(value_of(node) or "").strip() for node in mcd.children}


def _text(folder: Element, name: str) -> str:
    found = folder.at(name)
    return "" if found is None or found.value is None else str(found.value).strip()


def _msd(domain: str) -> str:
    return _FROM_DOMAIN.get(domain, domain.lower())


def _first_folder(element: Element, name: str) -> Element:
    made = Element(name)
    before = next((child for child in element if not LAYOUT.is_own(child)), None)
    if before is None:
        element.append(made)
    else:
        element.insert(made, before=before)
    return made


def _named(domain: str) -> str:
    name = _DOMAINS.get(domain.lower(), domain)
    return name if name not in _WITHOUT or parser_catalog.get(name) is not None else _WITHOUT[name]


def _pieces(element: Element, same: Folders | None, ccsid: int, encoding: int) -> list[bytes]:
    """The name/value data of each folder; those that nobody has touched as they came."""
    pieces = []
    for folder in element:
        if LAYOUT.is_own(folder):
            continue
        held = written(folder)
        came = held.handle if same is not None and not held.state & EDITED else None
        if isinstance(came, Folder) and len(came.segment.folders) == 1:
            pieces.append(came.segment.data)
            continue
        text = render(folder)
        data = encode(text, ccsid, encoding, what=f"MQRFH2.{folder.name}")
        blank = encode(" ", ccsid, encoding)
        pieces.append(data + blank * (-len(data) % 4 // len(blank)))
    return pieces
