"""Threads: copies of one document that several threads change and write do not get into each other's way."""

from __future__ import annotations

import threading
from copy import deepcopy

import pytest

from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.markup import tree_patch
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
    threads = [threading.Thread(target=_change, args=(read, *one)) for one in enumerate(found)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone: list[list[bytes]] = [[], [], [], []]
    for number, written in enumerate(alone):
        _change(body(domain, document.encode()), number, written)
    assert [sorted(set(written)) for written in alone] == [sorted(set(written)) for written in found]


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
    """Beside other threads, what is copied of a document so that it is written is no more than is written of it."""
    copied: list[int] = []
    monkeypatch.setattr(tree_patch, "active_count", lambda: 2)
    monkeypatch.setattr(tree_patch, "deepcopy", lambda node: copied.append(len(list(node.iter()))) or deepcopy(node))
    changed = copy(body("XMLNSC", f"<O xmlns:p='u'>\n {'<L>x<A>1</A></L> ' * 100}</O>".encode()))
    changed.ensure(step("O")).change(name="P")
    assert b"<P" in write(changed)
    assert sum(copied) <= 200
