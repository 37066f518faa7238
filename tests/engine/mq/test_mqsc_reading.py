"""MQSC scripts: lines that go on, comments, quotes and values."""

from __future__ import annotations

import pytest

from engine.mq.mqsc.reading import Value, read

READ: tuple[tuple[str, list[tuple[int, str]]], ...] = (
    ("", []),
    ("\n  \n* a comment\n   * another\n", []),
    ("DEFINE QLOCAL(A)", [(1, "DEFINE QLOCAL(A)")]),
    ("\nDEFINE QLOCAL(A) +\n   REPLACE\nDIS QMGR", [(2, "DEFINE QLOCAL(A) REPLACE"), (4, "DIS QMGR")]),
    ("DEFINE QLOCAL(LONG+\n   NAME) -\nREPLACE", [(1, "DEFINE QLOCAL(LONGNAME) REPLACE")]),
    ("ALTER QLOCAL(A) DESCR('a -\n b')", [(1, "ALTER QLOCAL(A) DESCR('a  b')")]),
    ("DIS QMGR\r\nquit\nNO MORE", [(1, "DIS QMGR")]),
    ("DEFINE QLOCAL(A) +\n* comment\n\n REPLACE", [(1, "DEFINE QLOCAL(A) REPLACE")]),
    ("DIS QMGR; DIS Q(*) ;", [(1, "DIS QMGR"), (1, "DIS Q(*)")]),
    ("ALTER QMGR DESCR('a;b')", [(1, "ALTER QMGR DESCR('a;b')")]),
    ("DIS QMGR\nend\nDIS Q(*)", [(1, "DIS QMGR")]),
    ("DIS QMGR +", [(1, "DIS QMGR")]),
    ("DIS QMGR\r\nEND\r\n", [(1, "DIS QMGR")]),
)


@pytest.mark.parametrize(("script", "expected"), READ)
def test_commands(script: str, expected: list[tuple[int, str]]) -> None:
    """Lines that end in + or - go on, * begins a comment, end ends; a command knows its line."""
    assert expected == [(command.line, command.text) for command in read(script)]


VALUES: tuple[tuple[str, tuple[Value, ...] | None], ...] = (
    ("DESCR('It''s (here), abc')", (Value("It's (here), abc", True),)),
    ("DESCR( '' )", (Value("", True),)),
    ("NAME(abc.def)", (Value("ABC.DEF"),)),
    ("NAME('abc.def')", (Value("abc.def", True),)),
    ("NAME ( abc )", (Value("ABC"),)),
    ("WHERE(CURDEPTH GT 0)", (Value("CURDEPTH"), Value("GT"), Value("0"))),
    ("LIST(a,'b',c)", (Value("A"), Value("b", True), Value("C"))),
    ("EMPTY()", ()),
    ("WORD", None),
)


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values(text: str, expected: tuple[Value, ...] | None) -> None:
    """A value in quotes is as it stands, one without them is in capitals."""
    assert expected == next(read(f"X {text}")).parameters[1].values
