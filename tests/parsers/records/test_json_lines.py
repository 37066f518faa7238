"""JSON lines: what is no record is refused, and soon."""

import pytest

from engine.errors import ParserException
from parsers.records.json_lines import from_json
from tests.limits import bounded


def test_doubled_keys() -> None:
    """A line with many fields of which one is there twice is refused in time that grows as the line does."""
    fields = ", ".join(f'"field{number}": 1' for number in range(100_000))
    with bounded(seconds=2), pytest.raises(ParserException, match="the field field7 is there twice"):
        from_json(f'{{{fields}, "field7": 2}}', 1)
