"""The table of attributes: what values they take, and what is refused with its reason."""

from __future__ import annotations

import re

import pytest

from engine.errors import MessageException
from engine.mq.attributes import ATTRIBUTES, checked, defaults, find

TAKEN = (
    ("QLOCAL", "MAXDEPTH", "0", 0),
    ("QLOCAL", "maxmsgl", 104_857_600, 104_857_600),
    ("QLOCAL", "GET", "disabled", "DISABLED"),
    ("QLOCAL", "BOQNAME", "APP.BACKOUT", "APP.BACKOUT"),
    ("QLOCAL", "BOQNAME", " ", ""),
    ("QLOCAL", "DESCR", "It's here ", "It's here"),
    ("QLOCAL", "HARDENBO", False, False),
    ("QLOCAL", "USAGE", "NORMAL", "NORMAL"),
    ("QALIAS", "TARGQ", "Q", "Q"),
    ("QMGR", "DEADQ", "DLQ", "DLQ"),
)
REFUSED = (
    ("QLOCAL", "MAXDEPTH", "-1", 4005, "0 to 999999999"),
    ("QLOCAL", "MAXDEPTH", "many", 4005, "a whole number"),
    ("QLOCAL", "MAXDEPTH", True, 4005, "a whole number"),
    ("QLOCAL", "GET", "maybe", 4005, "one of ENABLED, DISABLED"),
    ("QLOCAL", "HARDENBO", "YES", 4005, "HARDENBO or NOHARDENBO"),
    ("QLOCAL", "DESCR", "x" * 65, 4005, "at most 64"),
    ("QLOCAL", "BOQNAME", "NOT A NAME", 2152, "no name of an object"),
    ("QLOCAL", "USAGE", "XMITQ", 3213, "no channels"),
    ("QLOCAL", "TRIGGER", True, 3213, "start no programs"),
    ("QLOCAL", "CURDEPTH", 3, 3213, "shown only"),
    ("QLOCAL", "MAXDEPHT", 3, 2067, "did you mean MAXDEPTH?"),
    ("QMGR", "MAXUMSGS", 0, 4005, "1 to 999999999"),
)


@pytest.mark.parametrize(("kind", "name", "given", "expected"), TAKEN)
def test_taken(kind: str, name: str, given: object, expected: object) -> None:
    """A value that an attribute can have is kept as a number, a text or a truth value."""
    assert {find(kind, name).name: expected} == checked(kind, {name: given})


@pytest.mark.parametrize(("kind", "name", "given", "reason", "text"), REFUSED)
def test_refused(kind: str, name: str, given: object, reason: int, text: str) -> None:
    """A value that an attribute cannot have is refused by its name, with what to do."""
    with pytest.raises(MessageException, match=re.escape(text)) as caught:
        checked(kind, {name: given})
    assert caught.value.reason == reason
    assert str(reason) in caught.value.text


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_defaults(kind: str) -> None:
    """Every default is a value that its attribute takes."""
    assert defaults(kind) == checked(kind, defaults(kind))
