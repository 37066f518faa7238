"""Models: message sets made of choices, with a message for each: TDS, CWF and MRM XML.

What was read and changed, and what is built of the same names and values, is written and can be read; of CWF it is the
same tree. TDS and XML have models that mean two things by one text: tests/parsers/mrm/test_any_model.py has the others.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any, Final

from engine.dates.patterns import in_gmt
from engine.parser import Form
from engine.tree.element import Element
from parsers.mrm.cwf.properties import CwfField, CwfFormat
from parsers.mrm.model import (
    Codec,
    Definition,
    Field,
    Group,
    Message,
    MessageSet,
    SimpleType,
    WireFormatUse,
    fields_of,
    wire_format_catalog,
)
from parsers.mrm.tds.properties import TdsField, TdsFormat, TdsGroup
from parsers.mrm.xml.values import XmlField, XmlFormat
from tests.fuzz.choices import Choices
from tests.fuzz.target import Target
from tests.fuzz.trees import Anything, opened, rebuilt, rewritten, seen

KINDS: Final = (
    *("string", "integer", "decimal", "boolean", "dateTime", "date", "time", "gYear", "gMonthDay", "float", "int"),
    *("binary", "byte", "duration"),
)
CCSIDS: Final = (1208, 819, 500, 37, 943, 1200, 954)
_SEPARATIONS: Final = (
    *("fixedLength", "taggedDelimited", "taggedFixedLength", "taggedEncodedLength", "allElementsDelimited"),
    *("variableLengthElementsDelimited", "useDataPattern", "fixedLengthAL3"),
)
_PATTERNS: Final = ("", "", "yyyyMMddHHmmssZ", "HHmmssZZZ", "MMdd", "yyyy-MM-dd'T'HH:mm:ss.SSS", "I", "dd MMM yy")
_IN_BYTES: Final = ("integer", "packedDecimal", "externalDecimal", "lengthEncodedString1", "nullTerminatedString")
_RENDERINGS: Final = ("XMLElement", "XMLElement", "XMLAttribute", "XMLElementAttrID", "XMLElementAttrVal")
_STORED: Final = (
    *("", "", "fixedLengthString", "lengthEncodedString1", "nullTerminatedString", "integer", "packedDecimal"),
    *("externalDecimal", "float", "binary", "timeSeconds"),
)


def _tds_field(draw: Choices, name: str) -> TdsField:
    said: dict[str, Any] = {
        "tag": f"T{name}",
        "length": draw.of((0, 3, 8, 1, 20)),
        "date_time_format": draw.of(_PATTERNS),
    }
    if draw.chance(4):
        said["physical_type"] = draw.of(_IN_BYTES)
    if draw.chance(3):
        said["length_units"] = "bytes"
    if draw.chance(6):
        said |= {"length_reference": "a0", "inclusive_length_reference": draw.chance(2)}
    if draw.chance(4):
        said["data_pattern"] = draw.of(("[0-9]+", ".", "[a-zé]{1,3}", "x*"))
    if draw.chance(4):
        said |= {
            "encoding_null": draw.of(("nullPadFill", "nullLiteralFill", "nullLiteralValue")),
            "encoding_null_value": "9",
        }
    if draw.chance(5):
        said |= {"repeating_element_delimiter": draw.of(("/", "§")), "padding_character": draw.of(("x", "é", "0"))}
    return TdsField(**said)


def _tds_group(draw: Choices, depth: int) -> TdsGroup:
    separated = draw.chance(2)
    return TdsGroup(
        data_element_separation=draw.of(_SEPARATIONS),  # type: ignore[arg-type]
        group_indicator=draw.of(("", "[{("[depth])),
        group_terminator=draw.of(("", "]})"[depth])),
        delimiter=draw.of(("|;,"[depth], "¬")),
        tag_data_separator=":" if separated else "",
        tag_length=-1 if separated else 3,
        length_of_encoded_length=2,
        observe_element_length=draw.chance(3),
    )


def _cwf_field(draw: Choices, _: str) -> CwfField:
    said: dict[str, Any] = {"physical_type": draw.of(_STORED), "length": draw.of((4, 2, 1, 8, 20, 0))}
    said["date_time_format"] = draw.of(_PATTERNS)
    if draw.chance(3):
        said["length_units"] = draw.of(("characters", "characterUnits"))
    if draw.chance(4):
        said |= {"length_reference": "a0", "inclusive_length_reference": draw.chance(2)}
    if draw.chance(6):
        said |= {
            "byte_alignment": draw.of((2, 4)),
            "leading_skip_count": draw.below(3),
            "trailing_skip_count": draw.below(3),
        }
    return CwfField(**said)


def _xml_field(draw: Choices, _: str) -> XmlField:
    said: dict[str, Any] = {"render": draw.of(_RENDERINGS), "date_time_format": draw.of(_PATTERNS)}
    if draw.chance(4):
        said["xml_name"] = draw.of(("X", "a0", "b1", "é"))
    return XmlField(encoding=draw.of(("hex", "base64")), **said)  # type: ignore[arg-type]


_GMT: Final = in_gmt(datetime(2003, 1, 2, 10, 11, 12, 345000), timedelta(hours=1))
_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    **dict.fromkeys(("string", "duration"), ("x", "", "é", "a|b", "abc", "it's", "?:", " x ", "{?", "<&>", "1", "\n")),
    **dict.fromkeys(("integer", "int"), (0, 1, -1, 42, 123456, -(2**31))),
    "byte": (0, 1, -128, 127),
    "decimal": (Decimal("1.5"), Decimal("-0.01"), Decimal("1E+2"), Decimal("123456.789"), Decimal(0)),
    "float": (1.5, -0.0, 1e-5, 123456.75, 1e30),
    "boolean": (True, False),
    "binary": (b"", b"\0\xff", b"abc|", "é".encode()),
    "dateTime": (datetime(2004, 10, 7, 11, 16, 56), datetime(1999, 12, 31, 23, 59, 59, 123000), _GMT),
    "time": (time(11, 16, 56), time(0), time(9, 11, 12, tzinfo=UTC)),
    **dict.fromkeys(("date", "gYear", "gMonthDay"), (date(2004, 10, 7), date(1972, 2, 29), date(1970, 1, 1))),
}


Said = Callable[[Choices, str], Any]


def _group(draw: Choices, said: Said, depth: int = 0) -> Group:
    members: list[Any] = []
    for number in range(1 + draw.below(4)):
        name = f"{'abc'[depth]}{number}"
        own: dict[str, Any] = {"physical": {"F": said(draw, name)}, "nullable": draw.chance(5)}
        if draw.chance(5):
            own |= {"max_occurs": draw.of((-1, 3, 0, 2**31 - 1)), "min_occurs": 0}
            own |= {"repeat_reference": "a0"} if draw.chance(2) and number + depth else {}
        if depth < 2 and draw.chance(4):
            members.append(Field(name, _group(draw, said, depth + 1), **own))
        else:
            kind = "integer" if name == "a0" else draw.of(KINDS)
            members.append(Field(name, SimpleType(kind), **own))  # type: ignore[arg-type]
    composition = draw.of(("sequence", "sequence", "sequence", "choice", "unorderedSet"))
    physical = {"F": _tds_group(draw, depth)} if said is _tds_field else {}
    return Group(tuple(members), composition, physical=physical)  # type: ignore[arg-type]


def _fill(element: Element, group: Group, draw: Choices) -> None:
    """Give an element fields that its model has, with values of their kinds."""
    members = group.members if group.composition != "choice" else (draw.of(group.members),)
    for field in fields_of(Group(tuple(members))):
        most = field.max_occurs if field.max_occurs >= 0 else 3
        for _ in range(1 if most == 1 else draw.below(min(most, 3) + 1)):
            if isinstance(field.type, Group):
                _fill(element.add(field.name), field.type, draw)
            else:
                element.add(field.name, _value(field, draw))


def _value(field: Field, draw: Choices) -> Any:
    assert isinstance(field.type, SimpleType)
    if field.nullable and draw.chance(4):
        return None
    if field.name == "a0":
        return draw.of((1, 2, 3, 0, 8))
    return draw.of(_VALUES[field.type.kind])


def _codec(kind: str, draw: Choices) -> tuple[Codec, Group]:
    said, settings = {
        "TDS": (_tds_field, TdsFormat(escape_character=draw.of(("", "?")), quote_character=draw.of(("", "'")))),
        "CWF": (_cwf_field, CwfFormat()),
        "XML": (_xml_field, XmlFormat()),
    }[kind]
    content = _group(draw, said)
    made = MessageSet("SET", formats={"F": WireFormatUse("F", kind, settings)}, messages={"M": Message("M", content)})
    return wire_format_catalog.find(kind).compile(Definition(made, made.messages["M"], "F")), content


def _attempt(kind: str, data: bytes) -> None:
    """Read what the bytes hold behind the choices of a model, or what is written of values that choices make."""
    draw = Choices(data[:64])
    codec, content = _codec(kind, draw)
    ccsid, encoding, message = draw.of(CCSIDS), draw.of((273, 546, 785)), data[64:]
    parser = Anything(codec)
    if message.startswith(_MAKE):
        made = Element("MRM")
        _fill(made, content, Choices(message[len(_MAKE) :]))
        message = codec.write(made, Form(encoding, ccsid))
    tree = opened(parser, message, encoding, ccsid)
    before = seen(tree)
    for made in (rewritten(codec.write, tree, encoding, ccsid, len(data)), _built(codec, tree, encoding, ccsid)):
        after = seen(opened(parser, made, encoding, ccsid))
        assert kind != "CWF" or before == after, f"{before!r:.500} became {after!r:.500} in {made!r:.300}"


def _built(codec: Codec, tree: Element, encoding: int, ccsid: int) -> bytes:
    return codec.write(rebuilt(tree), Form(encoding, ccsid))


_MAKE: Final = b"make"
_MESSAGES: Final = (
    "1abc", "12", "Ta01|Ta12", "Ta0:1|Ta1:x", "1|x|2004-10-07", "[1;2]", "3é  xyz", "20030102101112+0100",
    "<M><a0>1</a0><a1>x</a1><X>2</X></M>", '<M a0="1"><a1 id="a1">x<q l="1">t</q></a1></M>', "Ta00112Ta103xyz",
    "<M><a0>1</a0><a1 val='2003-12-31T24:00:00'/><b1>y</b1></M>",
)  # fmt: skip


def _seeds() -> list[bytes]:
    read = [bytes([place] * 64) + text.encode() for place in range(8) for text in _MESSAGES]
    return [
        *read,
        *(bytes((place * step) % 256 for step in range(64)) + _MAKE + bytes(range(9)) for place in range(32)),
    ]


def _generate(random: Random) -> bytes:
    return random.randbytes(64) + _MAKE + random.randbytes(32)


_WORDS: Final = (
    *(b"|", b";", b",", b"Ta0", b"Ta1", b"Tb0", b":", b"[", b"]", b"?", b"'", b"2004-10-07", b"24:00:00", b"+01:00"),
    *(b"<a1>", b"</a1>", b"<b1 l='1'>", b"</b1>", b"<M>", b"</M>", b"\0\0\0\1", b"\x1c", "é".encode()),
)

TARGETS: Final = tuple(
    Target(name, partial(_attempt, kind), _seeds, _WORDS, _generate)
    for name, kind in (("tds", "TDS"), ("cwf", "CWF"), ("mrm_xml", "XML"))
)
