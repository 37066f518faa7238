"""Headers with many names: what a lookup costs does not grow with how many there are, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from engine.parser import Form, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import Step, step
from parsers.headers.folders import Folder
from tests.parsers.folder_samples import rfh2
from tests.parsers.samples import LITTLE

MANY, SOME = 5000, 500
FORM = Form(LITTLE, 1208)


def in_a_folder() -> Element:
    usr = rfh2("<usr>" + "".join(f"<n{number}>v</n{number}>" for number in range(MANY)) + "</usr>").at("usr")
    assert usr is not None
    return copy(usr)


def as_folders() -> Element:
    return copy(rfh2("".join(f"<n{number}>v</n{number}>" for number in range(MANY))))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a step is compared and a folder is told from the rest."""
    counts: Counter[str] = Counter()

    def count(owner: type, name: str) -> None:
        plain = getattr(owner, name)

        def counting(*given: Any) -> Any:
            counts[owner.__name__] += 1
            return plain(*given)

        monkeypatch.setattr(owner, name, counting)

    count(Step, "matches")
    count(Folder, "__init__")
    return counts


@pytest.mark.parametrize("made", [in_a_folder, as_folders])
def test_lookups(made: Callable[[], Element], counted: Counter[str]) -> None:
    """Names are read, set and found missing without a look at all the others."""
    header = made()
    counted.clear()
    for number in range(0, MANY, MANY // SOME):
        field = header.ensure(step(f"n{number}"))
        assert field.value == "v"
        field.value = "w"
        assert header.nth(step(f"n{number}"), 2) is None
        assert header.child(step(f"x{number}")) is None
    assert counted["Step"] <= 20 * SOME


def test_writing_many_folders(counted: Counter[str]) -> None:
    """Folders that came in one piece of data are told apart once, however many of them are written."""
    header = as_folders()
    header.ensure(step("n7")).value = "w"
    written = parser_catalog.find("MQRFH2").write(header, FORM)
    assert b"<n6>v</n6>" in written
    assert b"<n7>w</n7>" in written
    assert counted["Folder"] == MANY
