"""Every physical type of CWF, at its edges: what its bytes mean, and what bytes a value has."""

import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from engine.errors import BrokerError, ConfigurationException, ParserException
from parsers.mrm.cwf.properties import CwfFormat
from tests.parsers.mrm.records import BIG, LITTLE, built, field, parser, plain, read, write

EXTERNAL = "externalDecimal"
PACKED = "packedDecimal"


def zoned(length: int, **said: Any) -> dict[str, Any]:
    return {"physical_type": EXTERNAL, "length": length, **said}


def packed(length: int, **said: Any) -> dict[str, Any]:
    return {"physical_type": PACKED, "length": length, **said}


# The kind of a field, what CWF says of it, encoding, CCSID, bytes in hexadecimal, and the value that they have.
VALUES: list[tuple[str, dict[str, Any], int, int, str, Any]] = [
    ("string", {"length": 5}, BIG, 819, "4142432020", "ABC  "),
    ("string", {"length": 3}, BIG, 37, "c1c2c3", "ABC"),
    ("string", {"length": 2, "length_units": "characters"}, BIG, 1200, "00410042", "AB"),
    ("string", {"length": 2, "length_units": "characters"}, LITTLE, 1200, "41004200", "AB"),
    ("string", {"length": 3, "length_units": "characters"}, BIG, 1208, "41c3a9e282ac", "Aé€"),
    ("string", {"length": 2, "ccsid": 1200}, BIG, 37, "0041", "A"),
    ("string", {"physical_type": "lengthEncodedString1"}, BIG, 819, "03414243", "ABC"),
    ("string", {"physical_type": "lengthEncodedString1"}, BIG, 819, "00", ""),
    ("string", {"physical_type": "lengthEncodedString2"}, BIG, 819, "0003414243", "ABC"),
    ("string", {"physical_type": "lengthEncodedString2"}, LITTLE, 819, "0300414243", "ABC"),
    ("string", {"physical_type": "nullTerminatedString"}, BIG, 819, "41424300", "ABC"),
    ("string", {"physical_type": "nullTerminatedString"}, BIG, 1200, "0041010000420000", "A\u0100B"),
    ("string", {"length_units": "endOfBitstream"}, BIG, 819, "414243", "ABC"),
    ("int", {}, BIG, 819, "7fffffff", 2**31 - 1),
    ("int", {}, LITTLE, 819, "00000080", -(2**31)),
    ("short", {}, BIG, 819, "fffe", -2),
    ("byte", {}, BIG, 819, "80", -128),
    ("unsignedByte", {}, BIG, 819, "ff", 255),
    ("unsignedShort", {}, LITTLE, 819, "ffff", 65535),
    ("unsignedInt", {}, BIG, 819, "ffffffff", 2**32 - 1),
    ("long", {}, BIG, 819, "8000000000000000", -(2**63)),
    ("unsignedLong", {}, BIG, 819, "f" * 16, 2**64 - 1),
    ("long", {"byte_order": "littleEndian"}, BIG, 819, "fe" + "ff" * 7, -2),
    ("integer", {"length": 2, "signed": False}, BIG, 819, "8000", 32768),
    ("decimal", {"physical_type": "integer", "length": 4, "virtual_decimal_point": 2}, BIG, 819, "ffffff85", "-1.23"),
    ("integer", packed(3), BIG, 819, "12345c", 12345),
    ("integer", packed(3), BIG, 819, "12345d", -12345),
    ("integer", packed(3), LITTLE, 819, "5c3412", 12345),
    ("decimal", packed(2, virtual_decimal_point=3), BIG, 819, "123c", "0.123"),
    ("decimal", packed(3, virtual_decimal_point=-2), BIG, 819, "00012c", "1200"),
    ("decimal", packed(16, virtual_decimal_point=31), BIG, 819, "9" * 31 + "d", "-0." + "9" * 31),
    ("integer", packed(2, signed=False), BIG, 819, "123f", 123),
    ("integer", zoned(3), BIG, 819, "313233", 123),
    ("integer", zoned(3), BIG, 819, "313273", -123),
    ("integer", zoned(3, sign_orientation="leading"), BIG, 819, "713233", -123),
    ("integer", zoned(4, sign_orientation="leadingSeparate"), BIG, 819, "2d313233", -123),
    ("integer", zoned(4, sign_orientation="trailingSeparate"), BIG, 819, "3132332b", 123),
    ("integer", zoned(3, sign_ebcdic_custom=True), BIG, 819, "31327d", -120),
    ("integer", zoned(3, sign_ebcdic_custom=True), BIG, 819, "313243", 123),
    ("integer", zoned(3), BIG, 37, "f1f2c3", 123),
    ("integer", zoned(3), BIG, 37, "f1f2d0", -120),
    ("integer", zoned(3, sign_orientation="leading"), BIG, 37, "d1f2f3", -123),
    ("integer", zoned(4, sign_orientation="leadingSeparate"), BIG, 37, "60f1f2f3", -123),
    ("integer", zoned(4, sign_orientation="trailingSeparate"), BIG, 37, "f1f2f34e", 123),
    ("integer", zoned(3, signed=False), BIG, 37, "f0f0f7", 7),
    ("decimal", zoned(4, virtual_decimal_point=3), BIG, 819, "31323334", "1.234"),
    ("decimal", zoned(31), BIG, 37, "f9" * 30 + "d9", "-" + "9" * 31),
    ("integer", zoned(3, padding_character="SPACE", signed=False), BIG, 819, "202037", 7),
    ("integer", zoned(3, ccsid=1200, length_units="characters"), BIG, 37, "003100320073", -123),
    ("float", {}, BIG, 819, "c276a000", -118.625),
    ("float", {}, 273, 819, "3f800000", 1.0),
    ("double", {}, LITTLE, 819, "000000000000f03f", 1.0),
    ("double", {}, BIG, 819, "4110000000000000", 1.0),
    ("double", {}, BIG, 819, "c276a00000000000", -118.625),
    ("double", {"float_format": "ieee"}, BIG, 819, "3ff0000000000000", 1.0),
    ("float", zoned(4, virtual_decimal_point=2), BIG, 819, "31323334", 12.34),
    ("boolean", {}, BIG, 819, "00000001", True),
    ("boolean", {}, LITTLE, 819, "01000000", True),
    ("boolean", {}, BIG, 819, "00000000", False),
    ("binary", {"length": 3}, BIG, 819, "000102", b"\0\1\2"),
    ("binary", {"length_units": "endOfBitstream"}, BIG, 819, "000102", b"\0\1\2"),
    ("date", {}, BIG, 819, b"2004-02-29".hex(), date(2004, 2, 29)),
    ("date", {"length": 6, "date_time_format": "yyMMdd"}, BIG, 819, b"530101".hex(), date(1953, 1, 1)),
    ("date", {"length": 6, "date_time_format": "yyMMdd"}, BIG, 819, b"520101".hex(), date(2052, 1, 1)),
    ("dateTime", {}, BIG, 37, "2004-02-29T12:30:00".encode("cp037").hex(), datetime(2004, 2, 29, 12, 30)),
    ("time", {"length": 6, "date_time_format": "HHmmss"}, BIG, 819, b"235959".hex(), time(23, 59, 59)),
    ("gYear", {}, BIG, 819, b"2004".hex(), date(2004, 1, 1)),
    ("date", packed(5, date_time_format="yyyyMMdd"), BIG, 819, "020040229c", date(2004, 2, 29)),
    (
        "date",
        {"physical_type": "binary", "date_time_format": "yyMMdd"},
        BIG,
        819,
        "07d40002001d",
        date(2004, 2, 29),
    ),
    ("dateTime", {"physical_type": "timeSeconds"}, BIG, 819, "00015180", datetime(1970, 1, 2)),
    ("dateTime", {"physical_type": "timeMilliseconds"}, LITTLE, 819, "e803000000000000", datetime(1970, 1, 1, 0, 0, 1)),
]


@pytest.mark.parametrize(("kind", "cwf", "encoding", "ccsid", "data", "value"), VALUES)
def test_value(kind: str, cwf: dict[str, Any], encoding: int, ccsid: int, data: str, value: Any) -> None:
    """The bytes mean the value, and the value is written as the bytes."""
    expected = Decimal(value) if kind == "decimal" else value
    mrm = parser(field("F", kind, cwf))
    found = read(mrm, bytes.fromhex(data), encoding, ccsid).at("F")
    assert found is not None
    assert (expected, type(expected)) == (found.value, type(found.value))
    assert data == write(mrm, built(mrm, F=expected), encoding, ccsid).hex()


# Bytes that other compilers and programs leave: the kind of a field, what CWF says of it, CCSID, bytes, and the value.
READ: list[tuple[str, dict[str, Any], int, str, Any]] = [
    ("integer", zoned(3), 819, b"12L".hex(), -123),
    ("integer", zoned(3), 819, b"12C".hex(), 123),
    ("integer", zoned(3, sign_orientation="leading"), 819, b"J23".hex(), -123),
    ("integer", zoned(3, sign_ebcdic_custom=True), 819, b"12s".hex(), -123),
    ("integer", zoned(3), 37, "f1f2f3", 123),
    ("integer", zoned(3), 37, "f1f2b3", -123),
    ("integer", zoned(3, signed=False), 37, "f1f2c3", 123),
    ("integer", packed(2, signed=False), 819, "123c", 123),
    ("integer", packed(2, signed=False), 819, "000d", 0),
]


@pytest.mark.parametrize(("kind", "cwf", "ccsid", "data", "value"), READ)
def test_other_bytes_of_a_value(kind: str, cwf: dict[str, Any], ccsid: int, data: str, value: Any) -> None:
    """Signs of other compilers are read in a tree as well, and written as the model has them."""
    found = read(parser(field("F", kind, cwf)), bytes.fromhex(data), BIG, ccsid).at("F")
    assert found is not None
    assert value == found.value


# Bytes that are not what their field says, and what is said of them.
GARBLED: list[tuple[str, dict[str, Any], int, str, str]] = [
    ("integer", packed(3), 819, "123457", "its sign is 7"),
    ("integer", packed(3), 819, "1b345c", "it has a letter among its digits"),
    ("integer", packed(3, signed=False), 819, "12345d", "is a negative packed decimal, and the field has no sign"),
    ("integer", zoned(3), 819, "312033", "has X'20' where a digit should be"),
    ("integer", zoned(3), 819, "31325a", "has X'5a' where a digit with a sign should be"),
    ("integer", zoned(3), 37, "404040", "has X'40' where a digit with a sign should be"),
    ("integer", zoned(3, signed=False), 37, "f1f2d3", "has X'd3' where a digit should be"),
    ("integer", zoned(3, sign_orientation="leadingSeparate"), 819, "313233", "has X'31' where + or - should be"),
    ("boolean", {}, 819, "00000002", "neither TRUE nor FALSE"),
    ("date", {}, 819, b"2004-02-30".hex(), "there is no such day"),
    ("date", packed(5, date_time_format="yyyyMMdd"), 819, "120040229c", "is no packed decimal of 8 digits"),
    ("string", {"physical_type": "nullTerminatedString"}, 819, "4142", "has no X'00' at its end"),
    ("string", {"physical_type": "lengthEncodedString1"}, 819, "0541", "is cut off: it takes 6 bytes and 2 are left"),
    ("int", {}, 819, "000001", "is cut off: it takes 4 bytes and 3 are left"),
]


@pytest.mark.parametrize(("kind", "cwf", "ccsid", "data", "said"), GARBLED)
def test_garbled(kind: str, cwf: dict[str, Any], ccsid: int, data: str, said: str) -> None:
    """Bytes that are not what the field holds are an error with the field, its offset and its bytes."""
    mrm = parser(field("A", "byte"), field("F", kind, cwf))
    tree = read(mrm, bytes.fromhex("01" + data), BIG, ccsid)
    with pytest.raises(ParserException) as caught:
        plain(tree)
    assert said in caught.value.text
    assert f"M.F at offset 1: X'{data}'" in caught.value.text


# Values that a field cannot hold.
UNFIT: list[tuple[str, dict[str, Any], Any, str]] = [
    ("string", {"length": 2}, "ABC", "has room for 2 bytes"),
    ("string", {"length": 2}, b"AB", "takes text"),
    ("byte", {}, 128, "takes -128 to 127, not 128"),
    ("unsignedInt", {}, -1, "takes 0 to 4294967295, not -1"),
    ("int", {}, Decimal("1.5"), "takes at most 0 digits behind the decimal point"),
    ("int", {}, "one", "takes a number"),
    ("int", {}, True, "takes a number"),
    ("integer", packed(2), 1000, "has room for 3 digits"),
    ("integer", packed(2, signed=False), -1, "takes a number that is not negative"),
    ("integer", zoned(2), 100, "has room for 2 digits"),
    ("float", {}, 1e300, "takes a number below 16**63"),
    ("float", {"float_format": "ieee"}, 1e300, "takes a float of 4 bytes"),
    ("double", {}, math.inf, "takes a number"),
    ("binary", {"length": 1}, b"AB", "has room for 1 bytes"),
    ("boolean", {}, "maybe", "takes TRUE or FALSE"),
    ("date", {}, 5, "takes a date or time"),
    ("date", {}, time(1), "takes what 'yyyy-MM-dd' has"),
    ("string", {"physical_type": "lengthEncodedString1"}, "A" * 256, "has room for 255 units"),
    ("string", {"physical_type": "nullTerminatedString"}, "A\0B", "ends at its first X'00'"),
    ("int", {}, None, "takes a value"),
]


@pytest.mark.parametrize(("kind", "cwf", "value", "said"), UNFIT)
def test_unfit(kind: str, cwf: dict[str, Any], value: Any, said: str) -> None:
    """A value that does not fit is an error that names the field and says what fits."""
    mrm = parser(field("F", kind, cwf))
    with pytest.raises(ParserException, match=r"M\.F") as caught:
        write(mrm, built(mrm, F=value))
    assert said in caught.value.text


# How NULL is represented: what CWF says, the bytes, whether they are read as NULL.
LOGICAL = {"encoding_null": "nullLogicalValue", "encoding_null_value": "N"}
NULLS: list[tuple[str, dict[str, Any], str]] = [
    ("string", {"length": 3}, "202020"),
    ("string", {"length": 3, "padding_character": "*"}, "2a2a2a"),
    ("string", {"length": 3, "encoding_null": "nullLiteralValue", "encoding_null_value": "N/A"}, "4e2f41"),
    ("string", {"length": 3, "encoding_null": "nullLiteralFill", "encoding_null_value": "?"}, "3f3f3f"),
    ("string", {"length": 3, "encoding_null": "nullLogicalValue", "encoding_null_value": "-"}, "2d2020"),
    ("string", LOGICAL | {"length": 3, "justification": "right"}, "20204e"),
    ("string", LOGICAL | {"length": 3, "padding_character": "*"}, "4e2a2a"),
    ("string", LOGICAL | {"physical_type": "lengthEncodedString1"}, "014e"),
    ("binary", {"length": 2, "encoding_null": "nullLogicalValue", "encoding_null_value": "ff"}, "ff00"),
    ("integer", packed(2, encoding_null="nullLogicalValue", encoding_null_value="0"), "000c"),
    ("integer", zoned(3, encoding_null="nullLiteralFill", encoding_null_value=" "), "202020"),
    ("int", {"encoding_null": "nullLogicalValue", "encoding_null_value": "-1"}, "ffffffff"),
    ("binary", {"length": 2, "encoding_null": "nullLogicalValue", "encoding_null_value": "ffff"}, "ffff"),
]


@pytest.mark.parametrize("kind", ["integer", "decimal", "float", "date", "binary"])
def test_a_null_value_that_is_none_of_its_type(kind: str) -> None:
    """A value for NULL that the field could not have is refused with its model."""
    cwf = {"length": 4, "encoding_null": "nullLogicalValue", "encoding_null_value": "none"}
    with pytest.raises(ConfigurationException, match=f"encodingNullValue 'none' is no {kind}"):
        read(parser(field("F", kind, cwf, nullable=True)), b"0000").at("F")


@pytest.mark.parametrize(("kind", "cwf", "data"), NULLS)
def test_null(kind: str, cwf: dict[str, Any], data: str) -> None:
    """A field that may be NULL is read as NULL where its bytes say so, and NULL is written as them."""
    mrm = parser(field("F", kind, cwf, nullable=True), field("G", "byte"))
    found = read(mrm, bytes.fromhex(data + "01")).at("F")
    assert found is not None
    assert found.value is None
    assert data + "01" == write(mrm, built(mrm, F=None, G=1)).hex()


def test_booleans_of_the_set() -> None:
    """A set says which bytes are TRUE, FALSE and NULL."""
    settings = CwfFormat(boolean_true_value="01", boolean_false_value="00", boolean_null_value="FF")
    mrm = parser(field("F", "boolean", nullable=True, max_occurs=3), settings=settings)
    assert [True, False, None] == [child.value for child in read(mrm, bytes.fromhex("0100ff"))]
    assert "0100ff" == write(mrm, built(mrm, F=[True, False, None])).hex()


def test_positive_code() -> None:
    """A set says which sign positive packed decimals have; all are read."""
    mrm = parser(field("F", "integer", packed(1)), settings=CwfFormat(packed_decimal_positive_code="F"))
    assert b"\x7f" == write(mrm, built(mrm, F=7))
    found = [read(mrm, bytes([code])).at("F") for code in b"\x7a\x7c\x7e\x7f\x7b\x7d"]
    assert [7, 7, 7, 7, -7, -7] == [one and one.value for one in found]


def test_truncation() -> None:
    """Where the set says so, texts that are too long are cut."""
    mrm = parser(field("F", "string", {"length": 2}), settings=CwfFormat(truncate_fixed_length_strings=True))
    assert b"AB" == write(mrm, built(mrm, F="ABC"))


@pytest.mark.parametrize(
    ("kind", "cwf", "said"),
    [
        ("string", {}, "needs a length"),
        ("integer", {"physical_type": PACKED}, "packedDecimal needs a length"),
        ("string", {"physical_type": PACKED, "length": 2}, "string cannot be kept as packedDecimal"),
        ("integer", {"physical_type": "timeSeconds"}, "integer cannot be kept as timeSeconds"),
        ("float", {"length": 5}, "a float has 4 or 8 bytes"),
        ("string", {"length": 1, "byte_alignment": 3}, "byteAlignment is one of"),
        ("string", {"length_reference": "G"}, "no field before it is called G"),
    ],
)
def test_refused(kind: str, cwf: dict[str, Any], said: str) -> None:
    """A model that cannot be is refused when it is compiled."""
    mrm = parser(field("F", kind, cwf))
    with pytest.raises(BrokerError) as caught:
        read(mrm, b"").at("F")
    assert said in caught.value.text


@pytest.mark.parametrize("kind", ["int", "decimal", "double"])
@pytest.mark.parametrize("text", ["1_000", "\u0661\u0662", "\uff11", "9" * 5000])
def test_texts_that_only_python_takes_for_numbers(kind: str, text: str) -> None:
    """A text is a number where ASCII digits say one that the field can hold; any other is refused."""
    mrm = parser(field("F", kind, zoned(3) if kind != "double" else {"length": 4, "float_format": "ieee"}))
    with pytest.raises(ParserException, match=r"M\.F"):
        write(mrm, built(mrm, F=text))


def test_numbers_that_are_too_long() -> None:
    """A number has at most 1,000 bytes, whether the model says how many or another field does."""
    with pytest.raises(ConfigurationException, match="at most 1,000 bytes"):
        read(parser(field("F", "integer", zoned(1001))), b"1").at("F")
    by_reference = {"physical_type": "externalDecimal", "length_reference": "N"}
    mrm = parser(field("N", "int"), field("F", "integer", by_reference))
    found = read(mrm, (5000).to_bytes(4, "big") + b"1" * 5000).at("F")
    assert found is not None
    with pytest.raises(ParserException, match="5,000 bytes, more than a number may have"):
        assert found.value
