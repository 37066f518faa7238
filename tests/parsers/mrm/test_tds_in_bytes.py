"""TDS: fields that are no text, in messages that otherwise are."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BrokerError, ConfigurationException, ParserException
from engine.parser import Form
from engine.tree.element import Element
from engine.tree.source import NAME
from parsers.mrm.tds import TaggedText
from tests.parsers.mrm.texts import built, codec, complex_, group, part_of, plain, simple

BIG, LITTLE, S390 = 273, 546, 785
LATIN, UTF_8, EBCDIC = 819, 1208, 500


def read(own: TaggedText, data: bytes, ccsid: int = LATIN, encoding: int = BIG) -> Element:
    return Element("MRM", "", NAME, part_of(own, data, ccsid, encoding))


def write(own: TaggedText, values: list[Any], ccsid: int = LATIN, encoding: int = BIG) -> bytes:
    return own.write(built(values), Form(encoding, ccsid))


PACKED = {"physical_type": "packedDecimal", "length": 3}
ZONED = {"physical_type": "externalDecimal"}

# The kind, what TDS says of the field, the encoding and the CCSID, its bytes, its value.
KINDS: list[tuple[str, dict[str, Any], tuple[int, int], str, Any]] = [
    ("int", {"physical_type": "integer", "length": 4}, (BIG, LATIN), "0000002a", 42),
    ("int", {"physical_type": "integer"}, (LITTLE, LATIN), "d6ffffff", -42),
    ("short", {"physical_type": "integer"}, (BIG, EBCDIC), "002a", 42),
    ("integer", PACKED, (BIG, LATIN), "00042c", 42),
    ("integer", PACKED, (LITTLE, LATIN), "2c0400", 42),
    ("decimal", {**PACKED, "virtual_decimal_point": 2}, (BIG, LATIN), "01250d", Decimal("-12.50")),
    ("integer", {**ZONED, "length": 3, "sign_orientation": "trailing"}, (BIG, EBCDIC), "f0f4d2", -42),
    ("integer", {**ZONED, "length": 4, "sign_orientation": "leadingSeparate"}, (BIG, LATIN), "2d303432", -42),
    ("float", {"physical_type": "float"}, (BIG, LATIN), "3fc00000", 1.5),
    ("double", {"physical_type": "float"}, (LITTLE, LATIN), "000000000000f83f", 1.5),
    ("double", {"physical_type": "float"}, (S390, EBCDIC), "4118000000000000", 1.5),
    ("date", {**PACKED, "length": 5, "date_time_format": "yyyyMMdd"}, (BIG, LATIN), "020041007c", date(2004, 10, 7)),
    ("dateTime", {"physical_type": "timeSeconds"}, (BIG, LATIN), "00000001", datetime(1970, 1, 1, 0, 0, 1)),
    (
        "dateTime",
        {"physical_type": "timeMilliseconds"},
        (BIG, LATIN),
        "00000000000003e8",
        datetime(1970, 1, 1, 0, 0, 1),
    ),
    ("string", {"physical_type": "lengthEncodedString1"}, (BIG, LATIN), "03612c62", "a,b"),
    ("string", {"physical_type": "lengthEncodedString2"}, (LITTLE, UTF_8), "0200c3a9", "é"),
    ("string", {"physical_type": "nullTerminatedString"}, (BIG, EBCDIC), "818200", "ab"),
]
SEPARATIONS = {
    "allElementsDelimited": ("", ",", ","),
    "variableLengthElementsDelimited": ("", ",", ""),
    "fixedLength": ("", "", ""),
    "taggedDelimited": ("X=", ",Y=", ""),
}


@pytest.mark.parametrize("separation", SEPARATIONS)
@pytest.mark.parametrize(("kind", "said", "form", "data", "value"), KINDS)
def test_kinds(separation: str, kind: str, said: dict[str, Any], form: tuple[int, int], data: str, value: Any) -> None:
    """A field that is no text is read and written among text, however elements are separated."""
    encoding, ccsid = form
    codepage = {LATIN: "latin-1", UTF_8: "utf-8", EBCDIC: "cp500"}[ccsid]
    is_tagged = separation == "taggedDelimited"
    members = (
        simple("t", "string", length=1, **({"tag": "X"} if is_tagged else {})),
        simple("x", kind, **said, **({"tag": "Y"} if is_tagged else {})),
        *(() if is_tagged else (simple("u", "string", length=1),)),
    )
    own = codec(group(*members, data_element_separation=separation, delimiter=",", tag_data_separator="="))
    front, middle, back = (text.encode(codepage) for text in SEPARATIONS[separation])
    last = b"" if is_tagged else back + "w".encode(codepage)
    if separation == "variableLengthElementsDelimited":
        middle = b""
    whole = front + "v".encode(codepage) + middle + bytes.fromhex(data) + last
    values = [("t", "v"), ("x", value), *([] if is_tagged else [("u", "w")])]
    assert plain(read(own, whole, ccsid, encoding)) == values
    assert write(own, values, ccsid, encoding) == whole


NUMBERS = codec(
    group(
        simple("n", "int", physical_type="integer"),
        simple("s", "string"),
        simple("p", "integer", physical_type="packedDecimal", length=4),
        data_element_separation="allElementsDelimited",
        delimiter="|",
    )
)


@given(
    st.integers(-(2**31), 2**31 - 1),
    st.text(st.characters(codec="cp500", exclude_characters="|"), min_size=1, max_size=9),
    st.integers(-(10**7) + 1, 10**7 - 1),
    st.sampled_from([LATIN, UTF_8, EBCDIC]),
)
def test_nothing_in_it_is_markup(number: int, text: str, packed: int, ccsid: int) -> None:
    """Bytes of numbers may be those of delimiters, and no characters at all: what is read is what was written."""
    values = [("n", number), ("s", text), ("p", packed)]
    assert plain(read(NUMBERS, write(NUMBERS, values, ccsid), ccsid)) == values


def test_a_change_leaves_the_rest() -> None:
    """What is not changed keeps its bytes."""
    data = b"\x00\x00|\x01|abc|\x00\x00\x01\x2f"
    top = read(NUMBERS, data)
    assert [child.value for child in top] == [0x7C01, "abc", 12]
    top.at("s").value = "x"  # type: ignore[union-attr]  # it is there
    assert NUMBERS.write(top, Form(BIG, LATIN)) == data.replace(b"abc", b"x")


def test_the_length_of_another() -> None:
    """A number in bytes may say how long a field is, and how often one occurs."""
    own = codec(
        group(
            simple("n", "byte", physical_type="integer"),
            simple("s", "string", length_reference="n"),
            simple("c", "byte", physical_type="integer"),
            simple("r", "short", physical_type="integer", max_occurs=9, min_occurs=0, repeat_reference="c"),
            data_element_separation="fixedLength",
        )
    )
    values = [("n", 3), ("s", "abc"), ("c", 2), ("r", 1), ("r", 2)]
    assert plain(read(own, b"\x03abc\x02\x00\x01\x00\x02")) == values


def test_in_a_group() -> None:
    """It may stand in a type of its own."""
    inner = group(simple("n", "short", physical_type="integer"), data_element_separation="fixedLength")
    own = codec(group(complex_("g", inner), simple("s"), data_element_separation="allElementsDelimited", delimiter=","))
    values = [("g", [("n", 0x012C)]), ("s", "z")]
    assert plain(read(own, b"\x01,,z")) == values
    assert write(own, values) == b"\x01,,z"


def test_null() -> None:
    """NULL is a value that says so, or a character that fills the field."""
    for said, data in (
        ({"encoding_null": "nullLogicalValue", "encoding_null_value": "99"}, b"\x63"),
        ({"encoding_null": "nullLiteralFill", "encoding_null_value": "?"}, b"?"),
    ):
        field = simple("n", "byte", nullable=True, physical_type="integer", **said)
        own = codec(group(field, data_element_separation="fixedLength"))
        assert plain(read(own, data)) == [("n", None)]
        assert write(own, [("n", None)]) == data


WRONG: list[tuple[str, dict[str, Any], int, bytes, type[BrokerError], str]] = [
    ("integer", {"physical_type": "packedDecimal"}, LATIN, b"\x1c", ConfigurationException, "needs a length"),
    ("string", {"physical_type": "integer"}, LATIN, b"\x1c", ConfigurationException, "cannot keep a string"),
    ("int", {"physical_type": "timeSeconds"}, LATIN, b"\x1c", ConfigurationException, "cannot keep a int"),
    ("float", {"physical_type": "float", "length": 3}, LATIN, b"\x1c", ConfigurationException, "has 4 or 8 bytes"),
    ("integer", {"physical_type": "packedDecimal", "length": 2}, LATIN, b"\x1c\xff", ParserException, "offset 0"),
    ("integer", {"physical_type": "packedDecimal", "length": 4}, LATIN, b"\x1c", ParserException, "1 are left"),
    ("string", {"physical_type": "nullTerminatedString"}, LATIN, b"ab", ParserException, "has no X'00' at its end"),
    ("int", {"physical_type": "integer"}, 1200, b"\0\0\0\1", ParserException, "cannot be of CCSID 1200"),
    ("int", {"physical_type": "integer"}, 930, b"\0\0\0\1", ParserException, "cannot be of CCSID 930"),
]


@pytest.mark.parametrize(("kind", "said", "ccsid", "data", "error", "text"), WRONG)
def test_what_cannot_be(
    kind: str, said: dict[str, Any], ccsid: int, data: bytes, error: type[BrokerError], text: str
) -> None:
    """Models and bytes that cannot be are told."""
    own = codec(group(simple("x", kind, **said), data_element_separation="fixedLength"))
    with pytest.raises(error, match=text):
        plain(read(own, data, ccsid))


# The kind and what TDS says of a field that another gives the length of; what its bytes are, and what is wrong then.
SIZES: list[tuple[str, dict[str, Any], bytes, str]] = [
    ("integer", {"physical_type": "packedDecimal"}, b"", "is no packed decimal"),
    ("integer", {"physical_type": "externalDecimal"}, b"", "has no digits"),
    ("integer", {"physical_type": "externalDecimal", "sign_orientation": "leading"}, b"", "has no digits"),
    ("integer", {"physical_type": "externalDecimal", "sign_orientation": "leadingSeparate"}, b"", "has no digits"),
    ("integer", {"physical_type": "externalDecimal", "sign_orientation": "trailingSeparate"}, b"", "has no digits"),
    ("int", {"physical_type": "integer"}, b"", "F has 0 bytes, and it takes 4"),
    ("int", {"physical_type": "integer"}, b"\0\1", "F has 2 bytes, and it takes 4"),
    ("double", {"physical_type": "float"}, b"\0", "F has 1 bytes, and it takes 8"),
    ("dateTime", {"physical_type": "timeSeconds"}, b"\0", "F has 1 bytes, and it takes 4"),
]


@pytest.mark.parametrize(("kind", "said", "data", "problem"), SIZES)
@pytest.mark.parametrize("behind", [b"", b"9876543210"])
@pytest.mark.parametrize("encoding", [BIG, S390])
def test_too_few_bytes(
    kind: str, said: dict[str, Any], data: bytes, problem: str, behind: bytes, encoding: int
) -> None:
    """A number of too few bytes is refused, and takes none of what stands in front of it or behind."""
    fields = [
        simple("N", "integer", length=1),
        simple("F", kind, **said, length_reference="N"),
        simple("T", "string", length=len(behind) or 1),
    ]
    own = codec(group(*(fields if behind else fields[:2]), data_element_separation="fixedLength"))
    tree = read(own, str(len(data)).encode() + data + behind, encoding=encoding)
    with pytest.raises(ParserException, match=problem):
        plain(tree)


@pytest.mark.parametrize(("kind", "data"), [("integer", "7fc00000"), ("integer", "ff800000"), ("decimal", "7f800000")])
def test_a_float_that_is_no_number(kind: str, data: str) -> None:
    """What no integer and no decimal can be is refused."""
    own = codec(group(simple("F", kind, physical_type="float", length=4), data_element_separation="fixedLength"))
    with pytest.raises(ParserException, match="and the field takes numbers"):
        plain(read(own, bytes.fromhex(data)))
