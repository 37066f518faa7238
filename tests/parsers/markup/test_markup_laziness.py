"""Laziness, by counting: what is not looked at is not made, and what is not opened is not parsed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from engine.descriptor import Descriptor
from engine.message.received import Received
from engine.message.writer import write_message
from engine.parser import Template
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers import xml as markup
from parsers.markup.document import Document
from tests.parsers.markup.documents import body, write

DOMAINS = ["XML", "XMLNS", "XMLNSC"]
BODY = b"<Order><Head><Id>1</Id></Head>" + b"<Item><Code>x</Code><Text>some text</Text></Item>" * 1400 + b"</Order>"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the elements that documents make while a test runs."""
    names: list[str] = []
    make = Document.element

    def spy(self: Document, handle: object, parent: Element) -> Element:
        element = make(self, handle, parent)
        names.append(element.name)
        return element

    monkeypatch.setattr(Document, "element", spy)
    return names


@pytest.mark.parametrize("domain", DOMAINS)
def test_one_field_makes_the_elements_on_its_path(domain: str, made: list[str]) -> None:
    """Reading, and changing, one field of a 64 KiB body makes three elements."""
    assert len(BODY) > 64 * 1024
    root = Received(Descriptor(), BODY, template=Template(domain)).root()
    field = root.at(domain, "Order", "Head", "Id")
    assert field is not None
    assert field.value == "1"
    assert made == ["Order", "Head", "Id"]
    twin = copy(root)
    assert made == ["Order", "Head", "Id"]
    changed = twin.at(domain, "Order", "Head", "Id")
    assert changed is not None
    changed.value = "2"
    assert write_message(twin)[1] == BODY.replace(b"<Id>1", b"<Id>2")
    assert made == ["Order", "Head", "Id"] * 2


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_message_that_passes_is_not_parsed(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Received, copied and written, with the body unseen: the parser is never called; one look calls it once."""
    calls = []
    read = markup.read_document
    monkeypatch.setattr(markup, "read_document", lambda *args, **facts: calls.append(1) or read(*args, **facts))
    root = Received(Descriptor(), BODY, template=Template(domain)).root()
    twin = copy(root)
    assert write_message(twin)[1] is BODY
    twin.append(Element("Other"))
    assert calls == []
    assert root.at(domain, "Order") is not None
    assert twin.at(domain, "Order") is not None
    assert calls == [1]


def loop(domain: str, count: int) -> tuple[float, int]:
    """The seconds of WHILE i <= CARDINALITY(Item[]) ... Item[i] over so many items, and the sum of what it read."""
    order = body(domain, b"<Order>" + b"<Item>1</Item>" * count + b"</Order>").child(step("Order"))
    assert order is not None
    wanted, total, number, start = step("Item"), 0, 1, time.process_time()
    while number <= order.count(wanted):
        item = order.nth(wanted, number)
        assert item is not None
        total += int(str(item.value))
        item.value = "2"
        number += 1
    assert write(order.parent) == b"<Order>" + b"<Item>2</Item>" * count + b"</Order>"  # type: ignore[arg-type]
    return time.process_time() - start, total


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_loop_by_subscript_is_linear(domain: str) -> None:
    """Twice as many repetitions take about twice as long, in a new process and without the garbage collector."""
    program = f"import gc; gc.disable(); from {__name__} import _assert_linear; _assert_linear({domain!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def _assert_linear(domain: str) -> None:
    (small, ten), (large, twenty) = (min(loop(domain, count) for _ in range(5)) for count in (10_000, 20_000))
    assert (ten, twenty) == (10_000, 20_000)
    assert large < 3 * small


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_loop_makes_each_element_once(domain: str, made: list[str]) -> None:
    """CARDINALITY makes nothing, a subscript one element, however often."""
    order = body(domain, b"<Order>" + b"<Item>1</Item>" * 100 + b"</Order>").child(step("Order"))
    assert order is not None
    assert order.count(step("Item")) == 100
    seventh, _, again = (order.nth(step("Item"), number) for number in (7, 100, 7))
    assert seventh is again
    assert made == ["Order", "Item", "Item"]
