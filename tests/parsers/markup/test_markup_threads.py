"""Threads: copies of one document that several threads change and write do not get into each other's way."""

from __future__ import annotations

import _thread
import threading
from copy import copy as copy_node

import pytest

from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.markup import document_changes
from tests.parsers.markup.documents import body, write

ROUNDS = 60
LINES = "".join(f"<L{number}>{{}}<A>a</A><B>b</B></L{number}>" for number in range(200))
DOCUMENTS = [
    f"<O>{LINES.format(*[''] * 200)}</O>",
    f"<O k='1'>\r\n{LINES.format(*[''] * 200)}</O>",
    f"<O xmlns:p='u'><!-- c -->{LINES.format(*['x'] * 200)}</O>",
]


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("domain", ["XML", "XMLNSC"])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_threads_write_what_they_have_changed(document: str, domain: str) -> None:
    """What a thread writes has its own changes, each time, and nobody else's."""
    read = body(domain, document.encode())
    found: list[list[bytes]] = [[], [], [], []]
    ended = threading.Semaphore(0)
    for one in enumerate(found):
        _thread.start_new_thread(_change_then_tell, (ended, read, *one))
    for _ in found:
        assert ended.acquire(timeout=60)
    alone: list[list[bytes]] = [[], [], [], []]
    for number, written in enumerate(alone):
        _change(body(domain, document.encode()), number, written)
    assert [sorted(set(written)) for written in alone] == [sorted(set(written)) for written in found]


def _change_then_tell(ended: threading.Semaphore, read: Element, number: int, written: list[bytes]) -> None:
    """Change a document in a thread that was not started by `threading`, which does not count it as active."""
    try:
        _change(read, number, written)
    finally:
        ended.release()


def _change(read: Element, number: int, written: list[bytes]) -> None:
    """Write a copy of a document with changes of one's own, some of which take no plan."""
    for _ in range(ROUNDS):
        changed = copy(read)
        order = changed.ensure(step("O"))
        order.ensure(step(f"L{number}")).ensure(step("A")).value = f"by {number}"
        if number % 2:
            order.ensure(step(f"L{number + 100}")).detach()
        written.append(write(changed))


def test_a_document_that_is_written_in_many_pieces_is_not_copied_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is copied of a document so that it is written is no more than is written of it."""
    copied: list[int] = []
    monkeypatch.setattr(document_changes, "copy", lambda node: copied.append(len(list(node.iter()))) or copy_node(node))
    changed = copy(body("XMLNSC", f"<O xmlns:p='u'>\n {'<L>x<A>1</A></L> ' * 100}</O>".encode()))
    changed.ensure(step("O")).change(name="P")
    assert b"<P" in write(changed)
    assert sum(copied) <= 200
