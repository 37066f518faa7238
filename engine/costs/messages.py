"""The messages that everything is measured on; the same bytes every time."""

from __future__ import annotations

from itertools import count
from typing import Final

SIZES: Final = (1024, 4096, 16384, 65536)


def simple(size: int) -> bytes:
    """An order of about `size` bytes: its id, its status, and numbered lines of two fields.

    >>> simple(130)
    b'<Order><Id>1</Id><Status>NEW</Status><Line0000><Sku>SKU000000</Sku><Qty>0</Qty></Line0000></Order>'
    """
    pieces = ["<Order><Id>1</Id><Status>NEW</Status>"]
    room = size - len(pieces[0]) - len("</Order>") - 60
    for number in count():
        if room <= 0:
            break
        name = f"Line{number:04d}"
        pieces.append(f"<{name}><Sku>SKU{number:06d}</Sku><Qty>{number}</Qty></{name}>")
        room -= len(pieces[-1])
    return ("".join(pieces) + "</Order>").encode()


def complex_path(size: int, elements: int = 20) -> bytes:
    """A test case of `size` bytes or a little less: a processing path of elements, then fields that fill it up."""
    path = "".join(
        f"<Element><COMPONENT>COMP{n:04d}</COMPONENT><QUEUE>QUEUE.NAME.{n:04d}</QUEUE></Element>"
        for n in range(1, elements + 1)
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
        if len(field) > room:
            break
        fields.append(field)
        room -= len(field)
    return "".join([head, *fields, tail]).encode()
