"""Threads: what several of them read for the first time at the same time is one and the same for all."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.message.received import Part
from engine.parser import Follow, Form, Portion, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import NAME
from engine.tree.step import Step, step

ROOT = Path(__file__).resolve().parents[2]
FIELDS = 60
THREADS = 4
TRIES = 25


def folder() -> bytes:
    """An MQRFH2 with a folder of many names."""
    header = Element("MQRFH2")
    header.domain = parser_catalog.find("MQRFH2")
    usr = header.add("usr")
    for number in range(FIELDS):
        usr.add(f"f{number}", "1")
    return parser_catalog.find("MQRFH2").write(header, Form())


BODIES = {
    ("JSON", "Data"): json.dumps({f"f{number}": "1" for number in range(FIELDS)}).encode(),
    ("MQRFH2", "usr"): folder(),
    ("XMLNSC", "O"): f"<O>{''.join(f'<f{number}>1</f{number}>' for number in range(FIELDS))}</O>".encode(),
}


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("place", "data"), BODIES.items(), ids=lambda value: value[0] if isinstance(value, tuple) else ""
)
def test_first_reads_at_the_same_time(place: tuple[str, str], data: bytes) -> None:
    """A change is found where it was made, although others read the same at that moment for the first time."""
    domain, top = place
    for _ in range(TRIES):
        read, written = fresh(domain, data), [b""] * THREADS
        threads = [threading.Thread(target=_change, args=(read, top, number, written)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone = [b""] * THREADS
        for number in range(THREADS):
            _change(fresh(domain, data), top, number, alone)
        assert alone == written


def fresh(domain: str, data: bytes) -> Element:
    """A body that nobody has looked into."""
    parser = parser_catalog.find(domain)
    read = Element(domain, "", NAME, Part(parser, Portion(data, 0, len(data), Follow())))
    read.domain = parser
    return read


def _change(read: Element, top: str, number: int, written: list[bytes]) -> None:
    changed = copy(read)
    field = changed.at(top, f"f{number}")
    assert field is not None
    field.value = f"by {number}"
    written[number] = parser_catalog.find(read.name).write(changed, Form())


class Interrupted(Step):
    """A step at whose first look at a field another thread looks for the same."""

    def __init__(self, shared: Element, found: list[int]) -> None:
        super().__init__("a", "", ())
        self.then = lambda: found.append(shared.count(self))

    def matches(self, element: Element) -> bool:  # type: ignore[override]
        then, self.then = self.then, lambda: None
        then()
        return super().matches(element)


def test_fields_that_two_threads_count() -> None:
    """Fields of a tree that threads share are counted once, by who finds another counting them too."""
    shared, found = Element("shared"), list[int]()
    for number in range(5):
        shared.add("a", number)
    step = Interrupted(shared, found)
    assert [5, 5, 5] == [shared.count(step), *found, len(shared.every(step))]


# Each thread begins with what could give it the names of another, then reads documents whose names are new.
READERS = """
import sys, threading, time
from engine.message.assembly import Message
from engine.message.xpath import XPath
from engine.parser import Follow, Portion
from parsers.headers.folders import _read
from parsers.markup.element_types import Retention
from parsers.markup.reading import How, _parser, read_document
from engine.tree.element import Element
from lxml import etree

def begin(number):
    if sys.argv[1] == "folders":
        _read(b"<usr><a>1</a></usr>", "usr")
    elif sys.argv[1] == "new documents":
        XPath("1").value(Message(Element("Root")))
    else:
        etree.fromstring(b"<a/>", _parser(How("utf-8", Retention())))

def carry(number):
    begin(number)
    end, turn = time.monotonic() + 3, 0
    while time.monotonic() < end and not wrong:
        turn += 1
        names = [f"n{number}-{turn}-{field}" for field in range(100)]
        data = f"<r>{''.join(f'<{name}/>' for name in names)}</r>".encode()
        root = read_document(Portion(data, 0, len(data), Follow()), Retention())[0]
        wrong.extend(set(names).symmetric_difference(node.tag for node in root))

wrong = []
begin(0)
threads = [threading.Thread(target=carry, args=(number,)) for number in range(1, 4)]
for thread in threads:
    thread.start()
carry(0)
for thread in threads:
    thread.join()
print(len(wrong))
"""


@pytest.mark.parametrize("first", ["folders", "documents", "new documents"])
def test_threads_have_names_of_their_own(first: str) -> None:
    """Threads that read new names at the same time read those of their own documents, and the process lives on."""
    done = subprocess.run(
        [sys.executable, "-c", READERS, first], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (0, "0\n", "") == (done.returncode, done.stdout, done.stderr)


DOCUMENTS = (
    "<r><a>1</a><b>2</b><c/><d/><e/><a>3</a><z>4</z></r>",
    "<r xmlns='u' xmlns:p='v'><p:a k='1'>1</p:a><b/><c/><d/><e/><f/><p:a>2</p:a><a>3</a><z>4</z></r>",
    "<r k='1' a='2'><b/><c/><d/><e/><a>1</a><a>2</a><g><a>5</a></g><z k='2'>4</z></r>",
    "<?xml version='1.0'?><r><g><a>1</a><z/></g><g><a>3</a></g><b/><c/><d/><!-- c --><a><![CDATA[4]]></a><z>5</z></r>",
)
PATHS = [
    (("r", ""), *path)
    for first in ("", "u", None)
    for path in (
        *((("a", first),), (("z", first),), (("p:a", first),), (("k", first),), (("none", first),)),
        (("g", first), ("a", first)),
    )
] + [(("r", None), ("a", "v")), (("r", None), ("a", None)), (("r", "u"), ("a", "v")), (("p:r", ""), ("a", ""))]


def answers(read: Element) -> list[object]:
    """Returns what is found in a document by names, and how it is written with other values."""
    found: list[object] = []
    for path in PATHS:
        at: list[Element] = [read]
        for name, namespace in path:
            at = [one for above in at for one in above.every(step(name, namespace))]
        found.append([(one.name, one.namespace, one.value) for one in at])
        changed = copy(read)
        field: Element | None = changed
        for name, namespace in path:
            field = None if field is None else field.child(step(name, namespace))
        found.append(None if field is None else (field.name, field.value))
        if field is not None:
            field.value = "x & y"
            found.append(parser_catalog.find(read.name).write(changed, Form()))
    return found


@pytest.mark.parametrize("domain", ["XMLNSC", "XMLNS", "XML"])
@pytest.mark.parametrize("text", DOCUMENTS)
def test_what_another_thread_has_read_is_the_same(domain: str, text: str) -> None:
    """What one thread has read others find and write as that thread does."""
    own, read = fresh(domain, text.encode()), fresh(domain, text.encode())
    reader = threading.Thread(target=lambda: [one.name for one in read])
    reader.start()
    reader.join()
    assert answers(own) == answers(read)


# One thread goes on reading documents whose names are new, while others look for names in one that it has read.
SHARERS = """
import threading, time
from engine.message.received import Part
from engine.parser import Follow, Portion, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import NAME
from engine.tree.step import step

def document(names):
    data = f"<r>{''.join(f'<{name}>1</{name}>' for name in names)}</r>".encode()
    parser = parser_catalog.find("XMLNSC")
    read = Element("XMLNSC", "", NAME, Part(parser, Portion(data, 0, len(data), Follow())))
    read.domain = parser
    read.at("r", names[-1])
    return read

def carry():
    turn = 0
    while time.monotonic() < end:
        turn += 1
        document([f"n{turn}-{number}" for number in range(300)])

def look(read):
    wrong = 0
    while time.monotonic() < end:
        top = copy(read).at("r")
        wrong += sum(top.child(step(name)) is None for name in names)
    found.append(wrong)

names, found = [f"k{number}" for number in range(100)], []
shared, end = document(names), time.monotonic() + 3
threads = [threading.Thread(target=look, args=(shared,)) for _ in range(2)]
for thread in threads:
    thread.start()
carry()
for thread in threads:
    thread.join()
print(found)
"""


def test_documents_that_threads_share_are_looked_through_safely() -> None:
    """A thread may look names up in a document that another has read, which reads others meanwhile."""
    done = subprocess.run(
        [sys.executable, "-c", SHARERS], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (0, "[0, 0]\n", "") == (done.returncode, done.stdout, done.stderr)
