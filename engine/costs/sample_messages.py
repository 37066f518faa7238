"""The messages that everything is measured on; the same bytes every time, and as many of them as they are called by."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple

from engine.descriptor import Descriptor

SIZES: Final = (1024, 4096, 16384, 65536)
KIBIBYTE: Final = 1024
FIELDS: Final = 10  # of each kind in the record that is converted; with what fills it up these are 31
HEADER: Final = "MQHRF2"
TEXT: Final = "MQSTR"
_RFH2: Final = struct.Struct("<4siiii8sii")  # with the order of bytes of encoding 546
_TEXTS: Final = tuple(f"string-{n:05d}" for n in range(1, FIELDS + 1))
_FLOATS: Final = tuple(n + 0.125 for n in range(1, FIELDS + 1))
_NUMBERS: Final = tuple(1000 * n for n in range(1, FIELDS + 1))
_VALUES: Final = (*_TEXTS, *_FLOATS, *_NUMBERS)
_FILLER: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


class Sample(NamedTuple):
    """A message as a driver puts it: what its descriptor says, and all bytes behind that."""

    descriptor: Descriptor
    body: bytes


def plain(size: int) -> Sample:
    """An order by itself."""
    return Sample(Descriptor(format=TEXT), simple(size))


def paths(size: int) -> Sample:
    """A test case by itself."""
    return Sample(Descriptor(format=TEXT), complex_path(size))


def simple(size: int) -> bytes:
    """An order of `size` bytes: its id, its status, and numbered lines of two fields; the last fills it up.

    >>> simple(98)
    b'<Order><Id>1</Id><Status>NEW</Status><Line0000><Sku>SKU000000</Sku><Qty>0</Qty></Line0000></Order>'
    """
    pieces = ["<Order><Id>1</Id><Status>NEW</Status>"]
    room = size - len(pieces[0]) - len("</Order>")
    for number in count():
        line = _line(number, 6)
        if room < 2 * len(line) + 2:  # a further line would not fit behind this one
            break
        pieces.append(line)
        room -= len(line)
    pieces.append(_line(number, max(6, 6 + room - len(line))))
    return ("".join(pieces) + "</Order>").encode()


def _line(number: int, digits: int) -> str:
    name = f"Line{number:04d}"
    return f"<{name}><Sku>SKU{number:0{digits}d}</Sku><Qty>{number}</Qty></{name}>"


def complex_path(size: int) -> bytes:
    """A test case of `size` bytes: a processing path of twenty elements, then fields of which the last fills it up."""
    path = "".join(
        f"<Element><COMPONENT>COMP{n:04d}</COMPONENT><QUEUE>QUEUE.NAME.{n:04d}</QUEUE></Element>" for n in range(1, 21)
    )
    head = (
        "<CSIM><TestCase><Name>Complex</Name><Version>1.0</Version>"
        f"<Stack><ProcessingPath>{path}</ProcessingPath></Stack><Payload>"
    )
    tail = "</Payload></TestCase></CSIM>"
    room = size - len(head) - len(tail)
    fields = []
    for number in count():
        field = f"<Field{number:04d}>value-{number:06d}-abcdefghijklmnop</Field{number:04d}>"
        if room < 2 * len(field):
            break
        fields.append(field)
        room -= len(field)
    fields.append(field.replace("p</", "p" + "x" * max(0, room - len(field)) + "</"))
    return "".join([head, *fields, tail]).encode()


def header(folder: str, following: str = TEXT) -> bytes:
    r"""An MQRFH2 with one folder, which announces the format of what follows.

    >>> header("<mcd/>", "")[36:]
    b'\x08\x00\x00\x00<mcd/>  '
    """
    data = folder.encode()
    data = data.ljust(-4 * (-len(data) // 4))
    length = _RFH2.size + 4 + len(data)
    fixed = _RFH2.pack(b"RFH ", 2, length, 546, 1208, following.encode().ljust(8), 0, 1208)
    return fixed + struct.pack("<i", len(data)) + data


def tagged(size: int) -> Sample:
    """A document of two tags behind an MQRFH2: one that a filter asks for, and one that fills it up."""
    front = header("<mcd><Msd>xml</Msd></mcd>") + b"<Message><Region>north</Region><Content>"
    tail = b"</Content></Message>"
    return Sample(Descriptor(format=HEADER), front + _filled(size - len(front) - len(tail)) + tail)


def on_topic(size: int) -> Sample:
    """An order behind an MQRFH2 that publishes it on a topic."""
    front = header("<psc><Command>Publish</Command><Topic>costs/orders</Topic></psc>")
    return Sample(Descriptor(format=HEADER), front + simple(size - len(front)))


def _filled(length: int) -> bytes:
    return (_FILLER * (length // len(_FILLER) + 1))[: max(0, length)].encode()


def kind_of_record(size: int) -> str:
    """Returns what the message set calls a record of so many bytes."""
    return f"Record{size // KIBIBYTE}"


def mcd(domain: str, size: int, format_: str) -> str:
    """The folder that says which message follows: the domain, the set, the message, and its wire format."""
    named = f"<Fmt>{format_}</Fmt>" if format_ else ""
    return f"<mcd><Msd>{domain}</Msd><Set>COSTS</Set><Type>{kind_of_record(size)}</Type>{named}</mcd>"


def _numbered(kinds: Iterable[str]) -> list[str]:
    return [f"{kind}{number:02d}" for kind in kinds for number in range(1, FIELDS + 1)]


def _in_xml(payload: bytes) -> bytes:
    named = zip(_numbered(("text", "float", "number")), _VALUES, strict=True)
    fields = "".join(f"<{name}>{value}</{name}>" for name, value in named)
    return b"<Record>" + fields.encode() + b"<payload>" + payload + b"</payload></Record>"


def _in_cwf(payload: bytes) -> bytes:
    texts = "".join(_TEXTS).encode()
    return texts + struct.pack(f"<{FIELDS}d{FIELDS}i", *_FLOATS, *_NUMBERS) + payload


def _in_tds(payload: bytes) -> bytes:
    fields = "*".join(f"{tag}:{value}" for tag, value in zip(_numbered("TFN"), _VALUES, strict=True))
    return fields.encode() + b"*P01:" + payload


def _record(domain: str, format_: str, following: str, written: Callable[[bytes], bytes], size: int) -> Sample:
    """The record in one of its forms, with a payload so long that all of it has its size."""
    front = header(mcd(domain, size, format_), following)
    room = size - len(front) - len(written(b""))
    return Sample(Descriptor(format=HEADER), front + written(_filled(room)))


# The record as a document that describes itself, as its fields in binary, as a document that the message set describes,
# and as its fields behind tags, between delimiters.
FORMS: Final[Mapping[str, Callable[[int], Sample]]] = MappingProxyType(
    {
        "xml": partial(_record, "xml", "", TEXT, _in_xml),
        "cwf": partial(_record, "mrm", "CWF", "", _in_cwf),
        "mrm_xml": partial(_record, "mrm", "XML", TEXT, _in_xml),
        "tds": partial(_record, "mrm", "TDS", TEXT, _in_tds),
    }
)
