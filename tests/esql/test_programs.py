"""Every program in tests/programs gives what its head says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.esql.programs import FOLDER, Expected, gives, programs, with_expected


@pytest.mark.parametrize("path", programs(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_program(path: Path, accept: bool) -> None:
    """The program sends these messages, or fails with this error."""
    text = path.read_text("utf-8")
    found = gives(text, path.name)
    if accept:
        path.write_text(with_expected(text, found), "utf-8")
        return
    assert list(Expected.of(text).gives) == found


@pytest.mark.parametrize("path", programs(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_traced_program(path: Path) -> None:
    """A program that tells the user trace all it does sends the same messages, or fails with the same error."""
    text = path.read_text("utf-8")
    assert list(Expected.of(text).gives) == gives(text, path.name, trace="debug")


def test_there_are_many() -> None:
    """The folder is found."""
    assert len(programs()) > 150
