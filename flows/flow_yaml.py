"""A flow from the YAML of its file and back: what every key may hold, and what is wrong with it.

    flow: Orders                      # or `subflow: Audit`
    schema: com.example
    properties: {commitCount: 10}     # of the flow, and values for what it promotes
    userProperties: {limit: 100}      # ESQL reads them by DECLARE limit EXTERNAL
    promote:
      queueName: [In.queueName]
    nodes:
      In: {type: MQInput, queueName: ORDERS.IN}
      Check 1: {type: Filter, filterExpression: Check.Main}
      Audit: {subflow: audit.yaml, queueName: AUDIT}
    wires:
      - In.out -> Check 1.in
      - Check 1.true -> Audit         # `.in` may be left out

The terminal of a wire follows the last dot, so labels may hold dots and blanks; a target that is a label as a whole is
that label. Texts need quotes only where YAML wants them. Values stay text: `yes` is the word yes where a property has
such a choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import yaml

from engine.errors import Place, Problem
from engine.flow.definition import Flow, NodeUse, Promoted, Promotion, Row, Setting, Value, Wire
from flows.yaml_document import NULL_WORDS, Complaints, Mapping, Scalar, Sequence, Tree, read_table

KEYS: Final = ("flow", "subflow", "schema", "properties", "userProperties", "promote", "nodes", "wires")
ARROW: Final = "->"
PLAIN: Final = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]*")
SHORT: Final = 100  # a node that fits this many characters is written on its own line

Data: TypeAlias = "str | list[Data] | dict[str, Data]"
Way: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a file: a flow where its text has the shape of one, and every problem found.

    `unread` are the wires that could not be read; an empty one says that any wire or node may be missing.
    """

    flow: Flow | None
    problems: tuple[Problem, ...]
    unread: tuple[str, ...] = ()


def read_flow(content: str | bytes, file: str) -> Reading:
    """The flow that a text holds; `file` is how problems name it, and where its subflows are looked for."""
    wrong = "a flow file must be a table that begins with `flow: Name`"
    document, complaints = read_table(content, file, wrong)
    flow = None
    unread: tuple[str, ...] = ()
    if document is not None:
        reader = _Flow(document, file, complaints)
        flow, unread = reader.read(), tuple(reader.unread)
    return Reading(flow, tuple(sorted(complaints.found)), unread)


class _Flow:
    """Reads the document of one flow."""

    def __init__(self, document: Mapping, file: str, complaints: Complaints) -> None:
        self._document = document
        self._file = file
        self._complaints = complaints
        self._complain = complaints.add
        self.unread = ["" for _ in document.dropped]

    def read(self) -> Flow:
        self.unread += ["" for _ in self._complaints.check_keys(self._document, KEYS, "a flow file")]
        kind, name = self._own_name()
        nodes = tuple(self._nodes())
        labels = frozenset(use.label for use in nodes)
        return Flow(
            name=name.text,
            schema=self._schema(),
            properties=self._settings("properties"),
            user_properties=self._settings("userProperties"),
            promotions=tuple(self._promotions()),
            nodes=nodes,
            wires=tuple(self._wires(labels)),
            is_subflow=kind == "subflow",
            file=self._file,
            place=name.place,
        )

    def _own_name(self) -> tuple[str, Scalar]:
        """Returns whether this is a flow or a subflow, and its name; where that cannot be told, an empty one."""
        named = [(key, value) for key, value in self._document.entries if key.text in ("flow", "subflow")]
        place = named[-1][0].place if named else self._document.place
        name = None
        if len(named) == 1:
            name = self._name(named[0][1], f"the name of the {named[0][0].text}")
        else:
            self._complain(place, "a flow file must say either `flow: Name` or `subflow: Name`")
        if name is None:
            self.unread.append("")
        return named[0][0].text if named else "flow", name or Scalar("", True, place)

    def _name(self, tree: Tree, what: str) -> Scalar | None:
        if not isinstance(tree, Scalar) or tree.is_null:
            self._complain(tree.place, f"{what} must be a text")
        elif not is_name(tree.text):
            self._complain(tree.place, f"{what} must be printable, without blanks at its ends and without {ARROW}")
        else:
            return tree
        return None

    def _schema(self) -> str:
        schema = self._document.get("schema")
        if schema is None or (isinstance(schema, Scalar) and schema.is_null):
            return ""
        name = self._name(schema, "the schema")
        return name.text if name else ""

    def _table(self, name: str) -> tuple[tuple[Scalar, Tree], ...]:
        return self._complaints.entries(self._document.get(name), name)

    def _settings(self, name: str) -> tuple[Setting, ...]:
        return tuple(self._setting_list(self._table(name)))

    def _setting_list(self, entries: tuple[tuple[Scalar, Tree], ...]) -> Iterator[Setting]:
        for key, tree in entries:
            value = self._value(key, tree)
            if value is not None:
                items = tuple(item.place for item in tree.items) if isinstance(tree, Sequence) else ()
                yield Setting(key.text, value, key.place, tree.place, items)

    def _value(self, key: Scalar, tree: Tree) -> Value | None:
        if isinstance(tree, Sequence):
            items = [self._item(key, item) for item in tree.items]
            good = tuple(item for item in items if item is not None)
            return good if len(good) == len(items) else None
        if isinstance(tree, Mapping):
            self._complain(tree.place, f"{key.text} must be a value or a list; begin each row of a table with a dash")
            return None
        return self._text(key, tree)

    def _item(self, key: Scalar, item: Tree) -> str | Row | None:
        if isinstance(item, Mapping):
            return tuple(self._setting_list(item.entries))
        if isinstance(item, Scalar):
            return self._text(key, item)
        self._complain(item.place, f"{key.text} holds texts or tables, not lists of lists")
        return None

    def _text(self, key: Scalar, scalar: Scalar) -> str | None:
        if scalar.is_null:
            self._complain(key.place, f"{key.text} has no value; write '' for an empty text", about=key.text)
            return None
        return scalar.text

    def _nodes(self) -> Iterator[NodeUse]:
        found = self._document.get("nodes")
        if not isinstance(found, Mapping) or "" in found.dropped:
            self.unread.append("")
        for label, tree in self._table("nodes"):
            if self._name(label, "a label") is None:
                self.unread.append("")
                continue
            if not isinstance(tree, Mapping):
                self._complain(label.place, f"{label.text} must be a table with a type", about=label.text)
                yield NodeUse(label.text, "", place=label.place)
            else:
                yield self._node(label, tree)

    def _node(self, label: Scalar, table: Mapping) -> NodeUse:
        """The node, without a type where its type cannot be read: its label is still one that wires lead to."""
        kinds = [(key, value) for key, value in table.entries if key.text in ("type", "subflow")]
        if len(kinds) != 1:
            self._complain(label.place, f"{label.text} must have either a type or a subflow", about=label.text)
            return NodeUse(label.text, "", place=label.place)
        key, value = kinds[0]
        name = self._name(value, f"the {key.text} of {label.text}")
        settings = self._setting_list(tuple(entry for entry in table.entries if entry[0] is not key))
        return NodeUse(
            label=label.text,
            type=name.text if name and key.text == "type" else "",
            settings=tuple(settings),
            subflow=name.text if name and key.text == "subflow" else "",
            place=label.place,
            type_place=value.place,
        )

    def _texts(self, tree: Tree, what: str) -> Iterator[tuple[str, Place]]:
        if not isinstance(tree, Sequence):
            self._complain(tree.place, f"{what} must be a list; begin each line with a dash")
            return
        for item in tree.items:
            if isinstance(item, Scalar) and not item.is_null and item.text.isprintable():
                yield item.text, item.place
            else:
                self._complain(item.place, f"each line of {what} must be a text")

    def _promotions(self) -> Iterator[Promotion]:
        for key, tree in self._table("promote"):
            targets = []
            for text, place in self._texts(tree, f"promote {key.text}"):
                label, dot, name = text.rpartition(".")
                if dot and is_name(label) and is_name(name):
                    targets.append(Promoted(label, name, place))
                else:
                    self._complain(place, f"a promoted property is written Label.property, not {text}", about=text)
            yield Promotion(key.text, tuple(targets), key.place)

    def _wires(self, labels: frozenset[str]) -> Iterator[Wire]:
        tree = self._document.get("wires")
        if tree is None or (isinstance(tree, Scalar) and tree.is_null):
            return
        texts = list(self._texts(tree, "wires"))
        if not isinstance(tree, Sequence) or len(texts) < len(tree.items):
            self.unread.append("")
        for text, place in texts:
            wire = parse_wire(text, labels, place)
            if wire:
                yield wire
            else:
                self.unread.append(text)
                self._complain(
                    place, f"a wire is written Label.terminal {ARROW} Label.terminal, not {text}", about=text
                )


def is_name(text: str) -> bool:
    """Returns whether a text can be a label, a terminal or another name in a flow file."""
    return bool(text) and text.isprintable() and text == text.strip() and ARROW not in text


def parse_wire(text: str, labels: frozenset[str], place: Place) -> Wire | None:
    """The wire that a text describes, or None where it describes none.

    >>> str(parse_wire("Check 1.true -> Out", frozenset(["Out"]), Place()))
    'Check 1.true -> Out.in'
    """
    start, _, end = (part.strip() for part in text.partition(ARROW))
    source, _, source_terminal = start.rpartition(".")
    target, _, target_terminal = end.rpartition(".")
    if end in labels or not target:
        target, target_terminal = end, "in"
    parts = (source, source_terminal, target, target_terminal)
    return Wire(*parts, place) if all(is_name(part) for part in parts) else None


def write_flow(flow: Flow) -> str:
    """The YAML of a flow; reading it gives an equal flow.

    >>> print(write_flow(Flow("Empty", nodes=(NodeUse("In", "MQInput"),))), end="")
    flow: Empty
    nodes:
      In: {type: MQInput}
    """
    document: dict[str, Data] = {"subflow" if flow.is_subflow else "flow": flow.name}
    parts: dict[str, Data] = {
        "schema": flow.schema,
        "properties": _values(flow.properties),
        "userProperties": _values(flow.user_properties),
        "promote": {promotion.name: [str(target) for target in promotion.targets] for promotion in flow.promotions},
        "nodes": {use.label: _kind(use) | _values(use.settings) for use in flow.nodes},
        "wires": _wires(flow),
    }
    return yaml_text(document | {name: part for name, part in parts.items() if part}, _on_one_line)


def _kind(use: NodeUse) -> dict[str, Data]:
    return {"subflow": use.subflow} if use.subflow else {"type": use.type}


def _values(settings: Iterable[Setting]) -> dict[str, Data]:
    return {setting.name: _written(setting.value) for setting in settings}


def _written(value: Value) -> Data:
    if isinstance(value, str):
        return value
    return [item if isinstance(item, str) else _values(item) for item in value]


def _wires(flow: Flow) -> Data:
    labels = {use.label for use in flow.nodes}
    return [_wire(wire, labels) for wire in flow.wires]


def _wire(wire: Wire, labels: set[str]) -> str:
    short = wire.target_terminal == "in" and wire.target in labels
    target = wire.target if short else f"{wire.target}.{wire.target_terminal}"
    return f"{wire.source}.{wire.source_terminal} {ARROW} {target}"


def _on_one_line(way: Way, data: Data) -> bool:
    """Returns True for lists of texts but the wires, and for nodes that are short."""
    if isinstance(data, list):
        return way != ("wires",) and all(isinstance(item, str) for item in data)
    if way[:1] != ("nodes",) or len(way) != 2 or isinstance(data, str):
        return False
    texts = [way[1], *(part for entry in data.items() for part in entry)]
    lengths = [len(text) for text in texts if isinstance(text, str) and "\n" not in text]
    return len(lengths) == len(texts) and sum(lengths) < SHORT


def yaml_text(document: Data, on_one_line: Callable[[Way, Data], bool]) -> str:
    """The text of a YAML document; `on_one_line` is asked of each list and table, with the keys that lead to it."""
    events = [
        *(yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False)),
        *_events(document, (), on_one_line),
        *(yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()),
    ]
    text: str = yaml.emit(events, Dumper=yaml.SafeDumper, allow_unicode=True, width=1 << 30)
    return text


def _events(data: Data, way: Way, on_one_line: Callable[[Way, Data], bool]) -> Iterator[yaml.Event]:
    if isinstance(data, str):
        yield _scalar(data)
    elif isinstance(data, list):
        yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=on_one_line(way, data))
        for item in data:
            yield from _events(item, way, on_one_line)
        yield yaml.SequenceEndEvent()
    else:
        yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=on_one_line(way, data))
        for key, value in data.items():
            yield _scalar(key)
            yield from _events(value, (*way, key), on_one_line)
        yield yaml.MappingEndEvent()


def _scalar(text: str) -> yaml.Event:
    """A text that is read back as it is: in block style where it has lines, quoted only where YAML needs it."""
    style = None
    if text in NULL_WORDS or text == "<<":  # which would merge tables
        style = "'"
    elif not PLAIN.fullmatch(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return yaml.ScalarEvent(None, None, (True, True), text, style=style)
