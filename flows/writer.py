"""A flow as the YAML of its file, always the same for the same flow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import yaml

from engine.flow.definition import Flow, NodeUse, Row, Setting, Value, Wire
from flows.reader import ARROW

NULL_WORDS: Final = ("", "~", "null", "Null", "NULL")
PLAIN: Final = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]*")
SHORT: Final = 100  # a node that fits this many characters is written on its own line


def write_flow(flow: Flow) -> str:
    """The YAML of a flow; reading it gives an equal flow.

    >>> print(write_flow(Flow("Empty", nodes=(NodeUse("In", "MQInput"),))), end="")
    flow: Empty
    nodes:
      In: {type: MQInput}
    """
    text: str = yaml.emit(_document(flow), Dumper=yaml.SafeDumper, allow_unicode=True, width=1 << 30)
    return text


def _document(flow: Flow) -> Iterator[yaml.Event]:
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    yield _begin_table()
    yield from _text("subflow" if flow.is_subflow else "flow")
    yield from _text(flow.name)
    if flow.schema:
        yield from _text("schema")
        yield from _text(flow.schema)
    yield from _section("properties", (_setting(setting) for setting in flow.properties))
    yield from _section("userProperties", (_setting(setting) for setting in flow.user_properties))
    yield from _section("promote", (_list(p.name, map(str, p.targets)) for p in flow.promotions))
    yield from _section("nodes", (_node(use) for use in flow.nodes))
    if flow.wires:
        labels = {use.label for use in flow.nodes}
        yield from _list("wires", (_wire(wire, labels) for wire in flow.wires), on_one_line=False)
    yield yaml.MappingEndEvent()
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _begin_table(*, on_one_line: bool = False) -> yaml.Event:
    return yaml.MappingStartEvent(None, None, implicit=True, flow_style=on_one_line)


def _section(name: str, entries: Iterable[Iterable[yaml.Event]]) -> Iterator[yaml.Event]:
    events = [event for entry in entries for event in entry]
    if events:
        yield from _text(name)
        yield _begin_table()
        yield from events
        yield yaml.MappingEndEvent()


def _text(text: str) -> Iterator[yaml.Event]:
    yield scalar(text)


def scalar(text: str) -> yaml.Event:
    """A text that is read back as it is: in block style where it has lines, quoted only where YAML needs it."""
    style = None
    if text in NULL_WORDS or text == "<<":  # which would merge tables
        style = "'"
    elif not PLAIN.fullmatch(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return yaml.ScalarEvent(None, None, (True, True), text, style=style)


def _list(name: str, texts: Iterable[str], *, on_one_line: bool = True) -> Iterator[yaml.Event]:
    yield from _text(name)
    yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=on_one_line)
    for text in texts:
        yield from _text(text)
    yield yaml.SequenceEndEvent()


def _setting(setting: Setting) -> Iterator[yaml.Event]:
    yield from _text(setting.name)
    yield from _value(setting.value)


def _value(value: Value) -> Iterator[yaml.Event]:
    if isinstance(value, str):
        yield from _text(value)
        return
    yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=all(isinstance(item, str) for item in value))
    for item in value:
        yield from _text(item) if isinstance(item, str) else _row(item)
    yield yaml.SequenceEndEvent()


def _row(row: Row) -> Iterator[yaml.Event]:
    yield _begin_table(on_one_line=not row)
    for setting in row:
        yield from _setting(setting)
    yield yaml.MappingEndEvent()


def _node(use: NodeUse) -> Iterator[yaml.Event]:
    kind = ("subflow", use.subflow) if use.subflow else ("type", use.type)
    texts: list[Any] = [use.label, *kind, *(part for s in use.settings for part in (s.name, s.value))]
    on_one_line = all(isinstance(text, str) and "\n" not in text for text in texts) and sum(map(len, texts)) < SHORT
    yield from _text(use.label)
    yield _begin_table(on_one_line=on_one_line)
    for text in kind:
        yield from _text(text)
    for setting in use.settings:
        yield from _setting(setting)
    yield yaml.MappingEndEvent()


def _wire(wire: Wire, labels: set[str]) -> str:
    short = wire.target_terminal == "in" and wire.target in labels
    target = wire.target if short else f"{wire.target}.{wire.target_terminal}"
    return f"{wire.source}.{wire.source_terminal} {ARROW} {target}"
