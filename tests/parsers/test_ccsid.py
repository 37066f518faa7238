"""CCSIDs: their codecs, text to bytes and back, and what goes wrong."""

import subprocess
import sys

import pytest

from engine.errors import ConversionException
from parsers.charsets import ccsid

# CCSID, text, its bytes; for EBCDIC the brackets and braces are what tells code pages apart.
KNOWN = [
    (1208, "é€", "c3a9e282ac"),
    (0, "é", "c3a9"),
    (1201, "é€", "00e920ac"),
    (1202, "é€", "e900ac20"),
    (819, "é", "e9"),
    (923, "€", "a4"),
    (912, "ł", "b3"),
    (915, "Ж", "b6"),
    (1250, "€ł", "80b3"),
    (1251, "Ж", "c6"),
    (1252, "€", "80"),
    (5348, "€", "80"),
    (437, "é", "82"),
    (850, "é", "82"),
    (858, "€", "d5"),
    (866, "Ж", "86"),
    (874, "ก", "a1"),
    (943, "あ", "82a0"),
    (932, "あ", "82a0"),
    (954, "あ", "a4a2"),
    (1386, "中", "d6d0"),
    (936, "中", "d6d0"),
    (950, "中", "a4a4"),
    (970, "한", "c7d1"),
    (949, "한", "c7d1"),
    (5488, "€", "a2e3"),
    (37, "A[]{}", "c1babbc0d0"),
    (500, "A[]{}", "c14a5ac0d0"),
    (1047, "A[]{}", "c1adbdc0d0"),
    (273, "Ä{}", "4a43dc"),
    (277, "Ø", "7c"),
    (285, "£", "5b"),
    (290, "ｱ", "81"),
    (297, "é", "c0"),
    (424, "א", "41"),
    (870, "ł", "9a"),
    (875, "Α", "41"),
    (1025, "ж", "ae"),
    (1026, "Ğ", "5a"),
    (1140, "€", "9f"),
    (1141, "€", "9f"),
    (1148, "€", "9f"),
    # East Asian EBCDIC: X'0E' shifts to characters of two bytes, X'0F' back
    (930, "ｱ日本A1", "810e456245660fc1f1"),
    (5026, "日本", "0e456245660f"),
    (939, "a日b", "810e45620f82"),
    (1390, "€日", "e10e45620f"),
    (1399, "か゚", "0eecb50f"),
    (933, "한", "0ed0650f"),
    (1364, "한", "0ed0650f"),
    (935, "中", "0e5bcf0f"),
    (1388, "中", "0e5bcf0f"),
    (937, "中", "0e4c840f"),
    (1371, "中", "0e4c840f"),
    (300, "日本\u3000", "456245664040"),
    (834, "한", "d065"),
    (835, "中", "4c84"),
    (837, "中", "5bcf"),
]


@pytest.mark.parametrize(("number", "text", "data"), KNOWN)
def test_text_and_bytes(number: int, text: str, data: str) -> None:
    """Characters have their bytes in each CCSID, and the bytes are read as these characters."""
    assert ccsid.encode(text, number).hex() == data
    assert ccsid.decode(bytes.fromhex(data), number) == text


@pytest.mark.parametrize("number", [1200, 13488, 17584])
@pytest.mark.parametrize(("encoding", "data"), [(273, "00e920ac"), (546, "e900ac20"), (785, "00e920ac")])
def test_utf_16_goes_by_the_encoding(number: int, encoding: int, data: str) -> None:
    """UTF-16 without a byte order of its own takes that of the encoding's integers."""
    assert ccsid.encode("é€", number, encoding).hex() == data
    assert ccsid.decode(bytes.fromhex(data), number, encoding) == "é€"


PAGES = (
    *(37, 273, 277, 278, 280, 284, 285, 290, 297, 420, 424, 500, 838, 870, 871, 875, 1025, 1026, 1047),
    *range(1140, 1150),
    *(437, 819, 850, 852, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874, *range(912, 917), 920, 921, 923),
    *range(1250, 1259),
    *(930, 939, 1390, 1399, 5026, 5035, 933, 1364, 935, 1388, 937, 1371),
    *(932, 936, 943, 949, 950, 954, 970, 1381, 1386, 1200, 1201, 1202, 1208, 13488, 17584),
)


@pytest.mark.parametrize("number", PAGES)
def test_names_and_digits_come_back(number: int) -> None:
    """What names of queues are made of can be written and read in every CCSID."""
    text = "ABC XYZ 0123456789 ._/"
    assert ccsid.decode(ccsid.encode(text, number), number) == text


@pytest.mark.parametrize("number", [page for page in PAGES if ccsid.encode("0", page) == b"\xf0"])
def test_ends_of_lines(number: int) -> None:
    """NL and LF are two characters in each page of EBCDIC, as in IBM's tables, and each comes back."""
    assert ccsid.decode(b"\x15\x25\x0d", number) == "\x85\n\r"
    assert ccsid.encode("\x85\n\r", number) == b"\x15\x25\x0d"


REFUSED = [
    (4711, "CCSID 4711 is not one that can be converted: convert the message before it is put"),
    (905, "CCSID 905 is not"),
    (-1, "CCSID -1 (MQCCSI_EMBEDDED) says that the data names its own CCSID"),
    (-2, "CCSID -2 (MQCCSI_INHERIT) means that of the structure before"),
    (65535, "CCSID 65535 says that these bytes are no characters: take them as a BLOB"),
]


@pytest.mark.parametrize(("number", "expected"), REFUSED)
def test_ccsids_without_a_codec(number: int, expected: str) -> None:
    """A CCSID that nothing can be converted from says so, and what to do."""
    for attempt in (lambda: ccsid.decode(b"x", number), lambda: ccsid.encode("x", number)):
        with pytest.raises(ConversionException) as caught:
            attempt()
        assert expected in str(caught.value)


UNREADABLE = [
    (b"ab\xffc", 1208, "order: the bytes X'ff' at offset 102 are no characters of CCSID 1208"),
    (b"ab\xe2\x82", 1208, "order: the bytes X'e282' at offset 102 are"),
    (b"ab\x81", 1252, "order: the bytes X'81' at offset 102"),
    (b"a", 1201, "order: the bytes X'61' at offset 100"),
    (b"\xd8\x00", 1201, "order: the bytes X'd800' at offset 100"),
    (b"\xc1\x0e\x45\x62\x45", 930, "order: the bytes X'45' at offset 104 are no characters of CCSID 930"),
    (b"\xc1\x0e\x45\x20\x0f", 939, "order: the bytes X'4520' at offset 102"),
    (b"\x45", 300, "order: the bytes X'45' at offset 100"),
]


@pytest.mark.parametrize(("data", "number", "expected"), UNREADABLE)
def test_bytes_that_are_no_characters(data: bytes, number: int, expected: str) -> None:
    """Bytes that cannot be read are named with their offset in the message."""
    with pytest.raises(ConversionException) as caught:
        ccsid.decode(data, number, offset=100, what="order")
    assert expected in str(caught.value)


@pytest.mark.parametrize(("text", "number"), [("ab€", 819), ("ab\ud800", 1208), ("abа", 500)])
def test_characters_that_a_ccsid_lacks(text: str, number: int) -> None:
    """A character that a CCSID does not have is named with its position."""
    with pytest.raises(ConversionException) as caught:
        ccsid.encode(text, number, what="order")
    expected = f"order: the character U+{ord(text[2]):04X} at position 3 cannot be converted to CCSID {number}"
    assert expected in str(caught.value)


def test_ebcdic_codecs_are_loaded_when_they_are_needed() -> None:
    """Common CCSIDs do not bring the package of EBCDIC codecs in; one that only it has does."""
    script = (
        "import sys; from parsers.charsets.ccsid import codec; "
        "[codec(n) for n in (1208, 819, 37, 500, 273, 1140)]; before = 'ebcdic' in sys.modules; "
        "codec(1047); assert (before, 'ebcdic' in sys.modules) == (False, True)"
    )
    subprocess.run([sys.executable, "-c", script], timeout=120, check=True)
