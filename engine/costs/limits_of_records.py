"""Limits of conversions: the record of 31 fields from one form to another by hand, with struct, lxml and split."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from lxml import etree

Values: TypeAlias = list[Any]  # ten texts, ten floats, ten integers and a payload

_PARSER: Final = etree.XMLParser(resolve_entities=False, no_network=True)
_RFH2: Final = struct.Struct("<4siiii8sii")
_LENGTH: Final = struct.Struct("<i")
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


def _to_xml(values: Values, _: str) -> bytes:
    texts = _texts(values)
    texts[10:20] = [_as_esql(value) for value in values[10:20]]
    return _document(texts)


def _as_esql(value: float) -> str:
    """A float as ESQL casts it to text: a number from 1 to 10, and a power of ten."""
    digits, _, power = f"{value:.15E}".partition("E")
    return f"{digits.rstrip('0').rstrip('.')}E{int(power):+d}"


def _to_mrm_xml(values: Values, _: str) -> bytes:
    return _DECLARATION + _document(_texts(values))


def _to_tds(values: Values, _: str) -> bytes:
    return "*".join(f"{tag}:{text}" for tag, text in zip(_TAGS, _texts(values), strict=True)).encode()


def _to_cwf(values: Values, kind: str) -> bytes:
    texts = [text.encode() for text in values[:10]]
    payload: bytes = values[30].encode()
    return _FIXED.pack(*texts, *values[10:30]) + payload.ljust(_PAYLOADS[kind])


_READERS: Final[Mapping[str, Callable[[bytes], Values]]] = MappingProxyType(
    {"xml": _from_xml, "mrm_xml": _from_xml, "cwf": _from_cwf, "tds": _from_tds}
)
_WRITERS: Final[Mapping[str, Callable[[Values, str], bytes]]] = MappingProxyType(
    {"xml": _to_xml, "mrm_xml": _to_mrm_xml, "cwf": _to_cwf, "tds": _to_tds}
)
