"""JSON lines: what is no record is refused, and soon."""

import pytest

from engine.errors import ParserException
from parsers.mrm.numbers import from_hexadecimal, to_hexadecimal
from parsers.records.json_fields import from_json, to_json
from tests.limits import bounded


def test_doubled_keys() -> None:
    """A line with many fields of which one is there twice is refused in time that grows as the line does."""
    fields = ", ".join(f'"field{number}": 1' for number in range(100_000))
    with bounded(seconds=2), pytest.raises(ParserException, match="the field field7 is there twice"):
        from_json(f'{{{fields}, "field7": 2}}', 1)


@pytest.mark.parametrize("data", ["a2fe5025937e3f40", "2d3100072d31002d", "c276a00000000000", "4110000000000001"])
def test_hexadecimal_floats_in_json(data: str) -> None:
    """A hexadecimal float has 56 bits: its text in JSON is written as the same bytes, also where a float holds it."""
    told = from_json(to_json({"a": from_hexadecimal(bytes.fromhex(data))}), 1)["a"]
    assert data == to_hexadecimal(told, 8).hex()
