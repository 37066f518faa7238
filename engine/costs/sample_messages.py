"""The messages that everything is measured on; the same bytes every time, and as many of them as they are called by."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple

from engine.costs.hand_written import Values, cwf_record, tds_record, xml_record
from engine.descriptor import Descriptor

SIZES: Final = (1024, 4096, 16384, 65536)
KIBIBYTE: Final = 1024
FIELDS: Final = 10  # of each kind in the record that is converted; with what fills it up these are 31
HEADER: Final = "MQHRF2"
TEXT: Final = "MQSTR"
_RFH2: Final = struct.Struct("<4siiii8sii")  # with the order of bytes of encoding 546
_VALUES: Final = (
    *(f"string-{n:05d}" for n in range(1, FIELDS + 1)),
    *(n + 0.125 for n in range(1, FIELDS + 1)),
    *(1000 * n for n in range(1, FIELDS + 1)),
)
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
    return _filled_up("<Order><Id>1</Id><Status>NEW</Status>", _line, "</Order>", size)


def _filled_up(head: str, field: Callable[[int, int], str], tail: str, size: int) -> bytes:
    """Returns a document of numbered fields, the last of them so much longer that it has its size."""
    pieces, room = [head], size - len(head) - len(tail)
    for number in count():
        made = field(number, 0)
        if room < 2 * len(made) + 2:  # a further one would not fit behind this
            break
        pieces.append(made)
        room -= len(made)
    pieces.append(field(number, max(0, room - len(made))))
    return ("".join(pieces) + tail).encode()


def _line(number: int, more: int) -> str:
    name = f"Line{number:04d}"
    return f"<{name}><Sku>SKU{number:0{6 + more}d}</Sku><Qty>{number}</Qty></{name}>"


def complex_path(size: int) -> bytes:
    """A test case of `size` bytes: a processing path of twenty elements, then fields of which the last fills it up."""
    path = "".join(
        f"<Element><COMPONENT>COMP{n:04d}</COMPONENT><QUEUE>QUEUE.NAME.{n:04d}</QUEUE></Element>" for n in range(1, 21)
    )
    head = (
        "<CSIM><TestCase><Name>Complex</Name><Version>1.0</Version>"
        f"<Stack><ProcessingPath>{path}</ProcessingPath></Stack><Payload>"
    )
    return _filled_up(head, _field, "</Payload></TestCase></CSIM>", size)


def _field(number: int, more: int) -> str:
    return f"<Field{number:04d}>value-{number:06d}-abcdefghijklmnop{'x' * more}</Field{number:04d}>"


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


def _record(domain: str, format_: str, following: str, written: Callable[[Values], bytes], size: int) -> Sample:
    """The record in one of its forms, with a payload so long that all of it has its size."""
    front = header(mcd(domain, size, format_), following)
    room = size - len(front) - len(written([*_VALUES, ""]))
    return Sample(Descriptor(format=HEADER), front + written([*_VALUES, _filled(room).decode()]))


# The record as a document that describes itself, as its fields in binary, as a document that the message set describes,
# and as its fields behind tags, between delimiters.
FORMS: Final[Mapping[str, Callable[[int], Sample]]] = MappingProxyType(
    {
        "xml": partial(_record, "xml", "", TEXT, xml_record),
        "cwf": partial(_record, "mrm", "CWF", "", cwf_record),
        "mrm_xml": partial(_record, "mrm", "XML", TEXT, xml_record),
        "tds": partial(_record, "mrm", "TDS", TEXT, tds_record),
    }
)
