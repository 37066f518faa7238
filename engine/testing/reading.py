"""Test files: read from YAML, with what is wrong where a key holds something else.

flow: ../orders.yaml               # seen from this file
userProperties: {limit: 100}       # what stands here is true of all cases; a case may say it again
cases:
  - name: a large order
    stubs: {Look up: {terminal: out, body: <Customer/>}}
    input: {queue: ORDERS.IN, body: <Order><Total>2000</Total></Order>}
    expect:
      queues: {ORDERS.LARGE: [{OutputRoot.XMLNSC.Order.Total: 2000}]}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path
from typing import Final

from engine.errors import Place, Problem
from engine.flow.definition import Setting
from engine.mq.definitions import QueueDefinition
from engine.testing.case import (
    Call,
    Case,
    Expected,
    Input,
    Propagations,
    Send,
    Stub,
    Throw,
)
from engine.testing.databases import expected_tables, given_tables
from engine.testing.messages import Messages, Tables
from engine.work import QueueAttributes
from flows.yaml_document import Complaints, Mapping, Scalar, Tree, content_or_problem, decoded, read_document

SETTINGS: Final = ("flow", "properties", "userProperties", "queues", "stubs", "tables")
KEYS: Final = (*SETTINGS, "cases")
CASE: Final = ("name", *SETTINGS, "input", "expect")
EXPECT: Final = ("queues", "terminals", "order", "exception", "tables")
QUEUE: Final = (
    *("backoutThreshold", "backoutRequeueQueue", "defaultPersistence", "defaultPriority"),
    *("maxDepth", "maxMessageLength"),
)
_TEXTS: Final = ("backoutRequeueQueue",)
THROW: Final = ("type", "number", "text", "inserts")


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a file: its cases, and every problem found; with problems nothing is run.

    `messages` are the files that have bodies of its messages.
    """

    file: str
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...]
    messages: tuple[Path, ...] = ()


def read_file(file: str) -> Reading:
    """The cases of a file."""
    content = content_or_problem(file)
    text = content if isinstance(content, Problem) else decoded(content, file)
    return Reading(file, (), (text,)) if isinstance(text, Problem) else read_cases(text, file)


def read_cases(text: str, file: str) -> Reading:
    """The cases that a text holds; `file` is how problems name it, and from where it names files."""
    complaints = Complaints(file, text)
    document = read_document(text, file, complaints, kind="test", start="flow: ../name.yaml")
    cases: tuple[Case, ...] = ()
    tables = Tables(complaints)
    messages = Messages(tables, Path(file).parent)
    if document is not None:
        cases = _Cases(tables, messages, file).read(document)
    return Reading(file, cases, tuple(sorted(complaints.found)), tuple(messages.read))


class _Cases:
    """Reads the document of one test file."""

    def __init__(self, tables: Tables, messages: Messages, file: str) -> None:
        self._tables = tables
        self._messages = messages
        self._file = file

    def read(self, document: Tree) -> tuple[Case, ...]:
        top = self._tables.table(document, "a test file", KEYS)
        items = self._tables.items(top.get("cases"))
        if isinstance(document, Mapping) and not items:
            self._tables.complain(document.place, "a test file needs cases, a list: `cases:`, then `- name: ...`")
        cases: dict[str, Case] = {}
        for item in items:
            made = self._case(item, top)
            if made.name in cases:
                self._tables.complain(item.place, f"two cases are called {made.name}; rename one of them")
            cases[made.name] = made
        return tuple(cases.values())

    def _case(self, tree: Tree, top: dict[str, Tree]) -> Case:
        tables = self._tables
        found = tables.table(tree, "a case", CASE)
        for key in ("name", "input", "expect"):
            if key not in found and isinstance(tree, Mapping):
                tables.complain(tree.place, f"a case needs {key}: {_NEEDED[key]}")
        flow = tables.text(found.get("flow", top.get("flow")), "flow")
        if not flow:
            tables.complain(tree.place, "a test needs `flow:`, the file of the flow as seen from this file")
        elif not isfile(Path(self._file).parent / flow):
            place = found.get("flow", top.get("flow", tree)).place
            tables.complain(place, f"there is no flow file {flow}, seen from this file", flow)
        both = (top, found)
        return Case(
            name=tables.text(found.get("name"), "name", "unnamed"),
            flow=(Path(self._file).parent / flow).as_posix(),
            inputs=tuple(self._input(item) for item in tables.items(found.get("input"))),
            expected=self._expected(found.get("expect")),
            stubs=tuple({s.label: s for part in both for s in self._stubs(part.get("stubs"))}.values()),
            properties=tuple({s.name: s for part in both for s in self._settings(part, "properties")}.values()),
            user_properties=tuple({s.name: s for p in both for s in self._settings(p, "userProperties")}.values()),
            queues=tuple({q.name: q for part in both for q in self._queues(part.get("queues"))}.values()),
            tables=tuple({(t.source, t.name): t for p in both for t in given_tables(tables, p.get("tables"))}.values()),
            file=self._file,
            place=tree.place,
        )

    def _settings(self, found: dict[str, Tree], name: str) -> list[Setting]:
        entries = self._tables.entries(found.get(name), name)
        return [Setting(key.text, self._tables.text(value, key.text), key.place, value.place) for key, value in entries]

    def _queues(self, tree: Tree | None) -> list[QueueDefinition]:
        made = []
        for key, value in self._tables.entries(tree, "queues"):
            found = self._tables.table(value, "a queue", QUEUE)
            number = {
                name: self._tables.number(found.get(name), name, None)
                for name in QUEUE
                if name in found and name not in _TEXTS
            }
            attributes = QueueAttributes(
                number.get("backoutThreshold") or 0,
                self._tables.text(found.get("backoutRequeueQueue"), "backoutRequeueQueue"),
                number.get("defaultPersistence") or 0,
                number.get("defaultPriority") or 0,
            )
            own = QueueDefinition(key.text, attributes)
            if (depth := number.get("maxDepth")) is not None:
                own = replace(own, max_depth=depth)
            if (length := number.get("maxMessageLength")) is not None:
                own = replace(own, max_message_length=length)
            made.append(own)
        return made

    def _input(self, tree: Tree) -> Input:
        message = self._messages.description(tree, tree.place, apart=("queue", "node"))
        ends = {key.text: value for key, value in self._tables.entries(tree, "an input")}
        queue, node = (self._tables.text(ends.get(name), name) for name in ("queue", "node"))
        if queue and node:
            self._tables.complain(ends["node"].place, "a message goes in by a queue or at a node, not by both")
        if message.exception is not None:
            self._tables.complain(message.exception.place, "an input has no exception; write what ExceptionList holds")
        return Input(message, queue, node, tree.place)

    def _stubs(self, tree: Tree | None) -> list[Stub]:
        return [Stub(key.text, self._calls(value), key.place) for key, value in self._tables.entries(tree, "stubs")]

    def _calls(self, tree: Tree) -> tuple[Call, ...]:
        calls = tree.get("calls") if isinstance(tree, Mapping) else None
        if calls is None:
            return (self._call(tree),)
        self._tables.table(tree, "a stub with calls", ("calls",))
        return tuple(self._call(item) for item in self._tables.items(calls)) or ((),)

    def _call(self, tree: Tree) -> Call:
        """Returns what a stub does once: one message, a list of them, an exception, or nothing."""
        return tuple(self._deed(item) for item in self._tables.items(tree))

    def _deed(self, tree: Tree) -> Send | Throw:
        tables = self._tables
        thrown = tree.get("throw") if isinstance(tree, Mapping) else None
        if thrown is not None:
            tables.table(tree, "a stub that throws", ("throw",))
            found = tables.table(thrown, "throw", THROW) if isinstance(thrown, Mapping) else {"text": thrown}
            own = Throw()
            return Throw(
                tables.text(found.get("type"), "type", own.type),
                tables.number(found.get("number"), "number", own.number),
                tables.text(found.get("text"), "text", own.text),
                tuple(tables.text(item, "an insert") for item in tables.items(found.get("inserts"))),
            )
        message = self._messages.description(tree, tree.place, apart=("terminal",))
        terminal = tree.get("terminal") if isinstance(tree, Mapping) else None
        return Send(tables.text(terminal, "terminal", "out"), message)

    def _expected(self, tree: Tree | None) -> Expected:
        tables = self._tables
        found = tables.table(tree, "expect", EXPECT)
        order = found.get("order")
        if isinstance(tree, Mapping) and not tree.entries:
            tables.complain(tree.place, f"expect says nothing; it may have {', '.join(EXPECT)}")
        return Expected(
            queues=self._propagations(found["queues"], "queues") if "queues" in found else None,
            terminals=self._propagations(found.get("terminals"), "terminals"),
            order=None if order is None else tuple(tables.text(item, "order") for item in tables.items(order)),
            exceptions=tuple(self._messages.exception(item) for item in tables.items(found.get("exception"))),
            tables=expected_tables(tables, found.get("tables")),
            place=tree.place if tree is not None else Place(),
        )

    def _propagations(self, tree: Tree | None, what: str) -> tuple[Propagations, ...]:
        made = []
        for key, value in self._tables.entries(tree, what):
            if isinstance(value, Scalar) and not value.is_null:
                made.append(Propagations(key.text, self._tables.number(value, key.text, 0), (), key.place))
                continue
            items = tuple(self._messages.description(item, item.place) for item in self._tables.items(value))
            made.append(Propagations(key.text, len(items), items, key.place))
        return tuple(made)


_NEEDED: Final = {
    "name": "what it shows, in a few words",
    "input": "the message that goes in, or a list of them",
    "expect": "what is to come out",
}
