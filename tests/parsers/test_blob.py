"""BLOB: bodies that are bytes."""

from typing import Any

import pytest

from engine.errors import ParserException
from engine.tree.source import VALUE
from tests.parsers.samples import BIG, LITTLE, built, fields, tree, write


@pytest.mark.parametrize("body", [b"", b"\0\xff\x80body"])
def test_bytes_come_back_whatever_the_form(body: bytes) -> None:
    """The body is one field, and is written as it is in every CCSID and encoding."""
    found = tree("BLOB", b"head" + body, BIG, 500, start=4)
    assert fields(found) == {"BLOB": body}
    assert write(found, LITTLE, 1208) == body


BUILT: list[tuple[dict[str, Any], bytes]] = [
    ({"BLOB": b"ab"}, b"ab"),
    ({"UnknownParserName": "", "BLOB": b"ab"}, b"ab"),
    ({"BLOB": b"ab", "More": b"cd"}, b"abcd"),
    ({"BLOB": None}, b""),
    ({}, b""),
]


@pytest.mark.parametrize(("values", "expected"), BUILT)
def test_what_is_written(values: dict[str, Any], expected: bytes) -> None:
    """What is written are the bytes below BLOB, one after the other."""
    assert write(built("BLOB", values), LITTLE, 1208) == expected


def test_a_blob_set_on_the_folder_itself() -> None:
    """A BLOB that was set on the folder is its body."""
    found = built("BLOB", {})
    found.value = b"ab"
    assert write(found, LITTLE, 1208) == b"ab"
    leading = built("BLOB", {})
    leading.add("", b"cd", type_=VALUE)
    assert write(leading, LITTLE, 1208) == b"cd"


def test_characters_are_no_bytes() -> None:
    """Characters in a BLOB are an error that says what to do."""
    with pytest.raises(ParserException, match=r"BLOB.BLOB takes a BLOB, not 'text': CAST it with a CCSID"):
        write(built("BLOB", {"BLOB": "text"}), LITTLE, 1208)
