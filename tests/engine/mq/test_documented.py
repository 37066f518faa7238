"""The examples of docs/queues.md."""

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "queues.md"


def test_examples() -> None:
    """What the page on queues shows is what happens."""
    found = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert (found.attempted > 20, found.failed) == (True, 0)
