"""The parsers' benchmarks: a COBOL record of 167 fields, read whole and in part, beside struct and codecs by hand."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from itertools import chain, cycle, islice
from typing import Any, Final

from engine.costs.measuring import BROKEN, Measured, Row, cost_beside
from engine.errors import BrokerError
from engine.message.received import Part, part_element
from engine.parser import Follow, Form, Portion, Template
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.mrm import Library, Mrm
from parsers.mrm.cwf.properties import CwfField
from parsers.mrm.model import Field, Group, Message, MessageSet, SimpleType, WireFormatUse

GROUP: Final = "parsers"
_THREE: Final = 3, 80, 160  # fields
_MORE: Final = 1670  # that nobody reads
EBCDIC: Final = 37
BIG_ENDIAN: Final = 785

# What the fields are, over and over: a name for the kind, the logical type, what CWF says, the struct code.
_TEXT: Final = ("T", SimpleType("string"), CwfField(length=12), "12s")
_ZONED: Final = ("Z", SimpleType("integer"), CwfField(physical_type="externalDecimal", length=7), "7s")
_PACKED: Final = (
    "P",
    SimpleType("decimal"),
    CwfField(physical_type="packedDecimal", length=5, virtual_decimal_point=2),
    "5s",
)
_BINARY: Final = ("B", SimpleType("int"), CwfField(), "i")
_LONG_TEXT: Final = ("L", SimpleType("string"), CwfField(length=18), "18s")
_COUNTS: Final = ((_TEXT, 60), (_ZONED, 40), (_PACKED, 45), (_BINARY, 20), (_LONG_TEXT, 2))


def _kinds() -> list[Any]:
    """The 167 fields, the kinds among each other."""
    left = [[kind] * count for kind, count in _COUNTS]
    turns = cycle(range(len(left)))
    return list(chain.from_iterable(islice(_dealt(left, turns), 167)))


def _dealt(left: list[list[Any]], turns: Iterator[int]) -> Iterator[list[Any]]:
    for turn in turns:
        if left[turn]:
            yield [left[turn].pop()]


def message_set(more: int = 0) -> MessageSet:
    """The record as a message of a set; with so many fields more that nobody reads."""
    fields = tuple(
        Field(f"{name}{number:03d}", type_, physical={"CWF": cwf})
        for number, (name, type_, cwf, _) in enumerate([*_kinds(), *[_TEXT] * more])
    )
    message = Message("Record", Group(fields))
    return MessageSet("COSTS", formats={"CWF": WireFormatUse("CWF", "CWF")}, messages={"Record": message})


def record(more: int = 0) -> bytes:
    """The bytes of such a record.

    >>> len(record())
    1341
    """
    values = {
        "T": "SOME TEXT   ".encode("cp037"),
        "Z": bytes.fromhex("f0f0f1f2f3f4c5"),
        "P": bytes.fromhex("001234567c"),
        "B": struct.pack(">i", 123456),
        "L": "LONGER TEXT HERE  ".encode("cp037"),
    }
    return b"".join(values[name] for name, *_ in [*_kinds(), *[_TEXT] * more])


def tree(data: bytes, more: int = 0) -> Callable[[], Element]:
    """Returns what makes a new tree over a record."""
    parser = Mrm(Library([message_set(more)]))
    portion = Portion(data, 0, len(data), Follow("", BIG_ENDIAN, EBCDIC), Template("MRM", "COSTS", "Record", "CWF"))
    return lambda: part_element(Part(parser, portion))


_DIGITS: Final = bytes.maketrans(bytes(range(0xF0, 0xFA)) + bytes(range(0xC0, 0xCA)), b"0123456789" * 2)


def _zoned(raw: bytes) -> int:
    number = int(raw.translate(_DIGITS))
    return -number if raw[-1] >> 4 == 0xD else number


def _packed(raw: bytes) -> Decimal:
    text = raw.hex()
    return Decimal(("-" if text[-1] in "bd" else "") + text[:-3] + "." + text[-3:-1])


def _text(raw: bytes) -> str:
    return raw.decode("cp037")


def _by_hand() -> Callable[[bytes], dict[str, Any]]:
    """Struct cuts the record, codecs and short functions read its pieces."""
    kinds = _kinds()
    names = [f"{kind[0]}{number:03d}" for number, kind in enumerate(kinds)]
    cut = struct.Struct(">" + "".join(kind[3] for kind in kinds)).unpack
    functions: dict[str, Callable[[Any], Any]] = {"T": _text, "L": _text, "Z": _zoned, "P": _packed, "B": int}
    readers: list[Callable[[Any], Any]] = [functions[kind[0]] for kind in kinds]

    def read(data: bytes) -> dict[str, Any]:
        return {name: reader(raw) for name, reader, raw in zip(names, readers, cut(data), strict=True)}

    return read


def _all(made: Callable[[], Element]) -> dict[str, object]:
    return {child.name: child.value for child in made()}


def _some(made: Callable[[], Element], names: tuple[str, ...]) -> list[object]:
    top = made()
    return [child.value for name in names if (child := top.child(step(name))) is not None]


def benchmarks() -> Iterator[Measured]:
    """All of them."""
    data, hand, kinds = record(), _by_hand(), _kinds()
    made, names = tree(data), tuple(f"{kinds[at][0]}{at:03d}" for at in _THREE)
    every, three = partial(_all, made), partial(_some, made, names)
    if len(three()) != len(_THREE):
        raise BrokerError(BROKEN, "the three fields are not found")
    whole = "167 fields of a record of 1,341 bytes"
    yield cost_beside(Row(GROUP, whole, 3.0), partial(hand, data), every, alike=whole)
    yield cost_beside(Row(GROUP, "3 of the 167 beside all", 0.1), every, three)
    unread = partial(_some, tree(record(_MORE), _MORE), names)
    yield cost_beside(Row(GROUP, f"3 fields, {_MORE:,} more unread", 1.2), three, unread)
    changed = Row(GROUP, "one field changed beside all read", 0.25)
    yield cost_beside(changed, every, _changing(data, names[1]))


def _changing(data: bytes, name: str) -> Callable[[], bytes]:
    """Returns a program that changes one field and writes the record."""
    made, field = tree(data), step(name)
    parser = made().owner
    assert isinstance(parser, Mrm)
    form = Form(BIG_ENDIAN, EBCDIC, Template("MRM", "COSTS", "Record", "CWF"))

    def change() -> bytes:
        changed = copy(made())
        changed.ensure(field).value = 7
        return parser.write(changed, form)

    if len(change()) != len(data) or change() == data:
        raise BrokerError(BROKEN, "the record is not written as it was changed")
    return change
