"""XPath over the trees of a message: the texts that values have there."""

from decimal import Decimal

import pytest

from engine.message.xpath import XPath
from tests.nodes.bench import message_of

TEXTS: list[tuple[str, object, str]] = [
    ("$Environment/v", True, "true"),
    ("$Environment/v = 'false'", False, "true"),
    ("$Environment/v", Decimal("1E+3"), "1000"),
    ("$Environment/v", 1e20, "100000000000000000000"),
    ("$Environment/v + 1", 0.5, "1.5"),
    ("$Environment/v div 10", 0.000001, "0.0000001"),
    ("number($Environment/v)", "x", "NaN"),
    ("1 div number($Environment/v)", 0, "Infinity"),
    ("$Environment/v", b"\xff", "FF"),
]


@pytest.mark.parametrize(("path", "value", "expected"), TEXTS)
def test_texts_of_values(path: str, value: object, expected: str) -> None:
    """A value is text as XPath writes it: truths in lower case, numbers without an exponent."""
    message = message_of(b"<m/>")
    message.environment.add("v", value)

    assert expected == XPath(path).string(message)
