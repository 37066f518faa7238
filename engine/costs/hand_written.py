"""The work of scenarios written by hand with lxml, struct and SQLAlchemy, as fast as a programmer would write it."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import sqlalchemy as sa
from lxml import etree

_LENGTH: Final = struct.Struct("<i")  # of an MQRFH2, behind its StrucId and its Version
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)


def change_one_field(body: bytes) -> bytes:
    """Parse an order, change its status, write it."""
    root = etree.fromstring(body, _PARSER)
    status = root.find("Status")
    assert status is not None
    status.text = "DONE"
    return etree.tostring(root)


def complex_path_by_hand(body: bytes) -> bytes:
    """Parse a test case, give it a processing path made of another one, write it."""
    root = etree.fromstring(body, _PARSER)
    case = root.find("TestCase")
    assert case is not None
    out = etree.SubElement(case, "ProcessingPath")
    for element in case.findall("Stack/ProcessingPath/Element"):
        component = etree.SubElement(out, "Component")
        etree.SubElement(component, "Name").text = element.findtext("COMPONENT")
        transport = etree.SubElement(component, "Transport", Type="A")
        etree.SubElement(transport, "Queue").text = element.findtext("QUEUE")
    return etree.tostring(root)


def pass_on(body: bytes) -> bytes:
    """Take a message from one queue and put it on another."""
    source, target = deque((body,)), deque[bytes]()
    target.append(source.popleft())
    return target[0]


def pass_on_if_north(body: bytes) -> bytes:
    """Find the document behind an MQRFH2, parse it, and pass the message on if its tag says so."""
    (length,) = _LENGTH.unpack_from(body, 8)
    root = etree.fromstring(body[length:], _PARSER)
    return body if root.findtext("Region") == "north" else b""


def pass_on_by_list(entries: int, body: bytes) -> bytes:
    """Make a list of destinations, and pass the message on to the last of them."""
    destinations = [f"DESTINATION.{number:03d}" for number in range(1, entries + 1)]
    known = {destinations[-1]: pass_on}
    return known[destinations[-1]](body)


Values: TypeAlias = list[Any]  # ten texts, ten floats, ten integers and a payload

_RFH2: Final = struct.Struct("<4siiii8sii")
_NUMBERED: Final = tuple(f"{n:02d}" for n in range(1, 11))
_NAMES: Final = (*(kind + n for kind in ("text", "float", "number") for n in _NUMBERED), "payload")
_TAGS: Final = (*(kind + n for kind in "TFN" for n in _NUMBERED), "P01")
_FORMATS: Final[Mapping[str, bytes]] = MappingProxyType({"cwf": b"CWF", "mrm_xml": b"XML", "tds": b"TDS"})
_FIXED: Final = struct.Struct("<" + "12s" * 10 + "10d10i")
_PAYLOADS: Final[Mapping[str, int]] = MappingProxyType({"Record4": 3740, "Record16": 16028, "Record64": 65180})
_DECLARATION: Final = b'<?xml version="1.0" encoding="UTF-8"?>'
_CHANGED: Final = 20  # number01, where the form stays


def convert(given: str, wanted: str, body: bytes) -> bytes:
    """A message in one form as one in another; where that is the same, with one field changed."""
    (length,) = _LENGTH.unpack_from(body, 8)
    said = _said(body, length)
    if given == wanted == "xml":
        return body[:length] + _changed(body[length:])
    values = _READERS[given](body[length:])
    if given == wanted:
        values[_CHANGED] += 1
    record = _WRITERS[wanted](values, said["Type"])
    return _header(body, length, wanted, said) + record


def _said(body: bytes, length: int) -> dict[str, str]:
    """Returns what the mcd folder says of the record."""
    folder = etree.fromstring(body[_RFH2.size + 4 : length].rstrip(), _PARSER)
    return {str(child.tag): child.text or "" for child in folder}


def _header(body: bytes, length: int, wanted: str, said: Mapping[str, str]) -> bytes:
    """The MQRFH2 with the folder as the other form wants it."""
    says = dict(said)
    says["Msd"] = "xml" if wanted == "xml" else "mrm"
    if wanted != "xml":
        says["Fmt"] = _FORMATS[wanted].decode()
    if says == said:
        return body[:length]
    folder = "<mcd>" + "".join(f"<{name}>{text}</{name}>" for name, text in says.items()) + "</mcd>"
    data = folder.encode()
    data = data.ljust(-4 * (-len(data) // 4))
    fixed = list(_RFH2.unpack_from(body))
    fixed[2] = _RFH2.size + 4 + len(data)
    return _RFH2.pack(*fixed) + _LENGTH.pack(len(data)) + data


def _from_xml(data: bytes) -> Values:
    return _typed([child.text or "" for child in etree.fromstring(data, _PARSER)])


def _changed(data: bytes) -> bytes:
    """A document that describes itself, with the same field changed; to it all fields are texts."""
    root = etree.fromstring(data, _PARSER)
    number = root[_CHANGED]
    number.text = str(int(number.text or "") + 1)
    written: bytes = etree.tostring(root)
    return written


def _from_tds(data: bytes) -> Values:
    return _typed([field.partition(":")[2] for field in data.decode().split("*")])


def _typed(texts: list[str]) -> Values:
    return [*texts[:10], *map(float, texts[10:20]), *map(int, texts[20:30]), texts[30]]


def _from_cwf(data: bytes) -> Values:
    values: Values = list(_FIXED.unpack_from(data))
    values[:10] = [text.decode() for text in values[:10]]
    values.append(data[_FIXED.size :].decode())
    return values


def _texts(values: Values) -> list[str]:
    return [*values[:10], *map(repr, values[10:20]), *map(str, values[20:30]), values[30]]


def _document(texts: list[str]) -> bytes:
    root = etree.Element("Record")
    for name, text in zip(_NAMES, texts, strict=True):
        etree.SubElement(root, name).text = text
    written: bytes = etree.tostring(root, encoding="utf-8")
    return written


def xml_record(values: Values) -> bytes:
    """Returns the record as a document that describes itself."""
    return _document(_texts(values))


def tds_record(values: Values) -> bytes:
    """Returns the record as its fields behind tags, between delimiters."""
    return "*".join(f"{tag}:{text}" for tag, text in zip(_TAGS, _texts(values), strict=True)).encode()


def cwf_record(values: Values) -> bytes:
    """Returns the record as its fields in binary."""
    texts = [text.encode() for text in values[:10]]
    payload: bytes = values[30].encode()
    return _FIXED.pack(*texts, *values[10:30]) + payload


def _to_xml(values: Values, _: str) -> bytes:
    texts = _texts(values)
    texts[10:20] = [_as_esql(value) for value in values[10:20]]
    return _document(texts)


def _as_esql(value: float) -> str:
    """A float as ESQL casts it to text: a number from 1 to 10, and a power of ten."""
    digits, _, power = f"{value:.15E}".partition("E")
    return f"{digits.rstrip('0').rstrip('.')}E{int(power):+d}"


_READERS: Final[Mapping[str, Callable[[bytes], Values]]] = MappingProxyType(
    {"xml": _from_xml, "mrm_xml": _from_xml, "cwf": _from_cwf, "tds": _from_tds}
)
_WRITERS: Final[Mapping[str, Callable[[Values, str], bytes]]] = MappingProxyType(
    {
        "xml": _to_xml,
        "mrm_xml": lambda values, _: _DECLARATION + xml_record(values),
        "cwf": lambda values, kind: cwf_record(values).ljust(_FIXED.size + _PAYLOADS[kind]),
        "tds": lambda values, _: tds_record(values),
    }
)


_ITEM: Final = sa.Table(
    "ITEM",
    sa.MetaData(),
    sa.Column("ID", sa.Integer, primary_key=True),
    sa.Column("STATUS", sa.String(40)),
    sa.Column("TIMES", sa.Integer),  # that it was updated: SQLite writes nothing where nothing has changed
)


def fill(engine: sa.Engine) -> None:
    """Create the table that the flows work with, and a row for the order to update."""
    with engine.begin() as connection:
        _ITEM.create(connection)
        connection.execute(sa.insert(_ITEM), {"ID": 1, "STATUS": "OPEN", "TIMES": 0})


def insert_and_delete(engine: sa.Engine) -> Callable[[bytes], bytes]:
    """Returns a program that inserts the status of an order and deletes it again, in one transaction."""
    insert, delete = sa.insert(_ITEM), sa.delete(_ITEM).where(_ITEM.c.ID == sa.bindparam("key"))

    def program(body: bytes) -> bytes:
        root = etree.fromstring(body, _PARSER)
        with engine.begin() as connection:
            connection.execute(insert, {"ID": -1, "STATUS": root.findtext("Status")})
            connection.execute(delete, {"key": -1})
        return body

    return program


def update(engine: sa.Engine) -> Callable[[bytes], bytes]:
    """Returns a program that gives the row of an order its status, in a transaction."""
    statement = sa.update(_ITEM).where(_ITEM.c.ID == sa.bindparam("key")).values(TIMES=_ITEM.c.TIMES + 1)

    def program(body: bytes) -> bytes:
        root = etree.fromstring(body, _PARSER)
        with engine.begin() as connection:
            connection.execute(statement, {"key": int(root.findtext("Id") or 0), "STATUS": root.findtext("Status")})
        return body

    return program
