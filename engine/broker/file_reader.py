"""Reads broker files: the one definition that brokers on this machine and Spark run.

    broker: ARCHIVE
    queueManager: QM1
    deadLetterQueue: SYSTEM.DEAD.LETTER.QUEUE
    queues:
      ORDERS.IN: {BOTHRESH: 3, BOQNAME: ORDERS.BACKOUT, MAXDEPTH: 5000}
    dataSources:
      SHOP: {url: postgresql:///shop, password: {env: SHOP_PASSWORD}}
    executionGroups:
      Default:
        - orders.yaml
        - {flow: audit.yaml, additionalInstances: 3, copies: 2, properties: {Out.queueName: AUDIT}}
      Heavy:
        executors: {cores: 2, memory: 4g}
        limits: {memory: 512m, cpuSecondsPerMessage: 5, messagesPerSecond: 100}
        flows: [reports.yaml]
    rights:
      - {user: ada, may: [read, deploy, operate]}
    amqp:
      Heavy: {url: amqps://broker:5671, user: shop, password: {env: AMQP_PASSWORD}}
    collective: {name: NEWS, url: amqp://broker:5672, user: shop, password: {env: NEWS_PASSWORD}}

Flows are named from where the file is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import abspath, dirname, join, normpath
from typing import Any, Final

from engine.broker.amqp_broker import of_group
from engine.broker.collective import collective_of
from engine.broker.definition import PLAIN_NAMES, Definition, Executors, FlowUse, Grant, Limits, Settings
from engine.broker.file_values import duration, memory, number, of_tree, placed, value_of
from engine.broker.user_rights import read_rights
from engine.catalog import did_you_mean
from engine.databases.definitions import definitions_in
from engine.errors import ConfigurationException
from engine.flow.queue_options import QUEUE_MANAGER, QUEUE_NAME
from flows.yaml_document import LARGEST, Complaints, Mapping, Scalar, Sequence, Tree, read_document

_KEYS: Final = (
    *("broker", "queueManager", "deadLetterQueue", "queues", "executionGroups", "dataSources", "rights", "users"),
    *("topics", "subscriptions", "repository", "log", "traces", "statisticsSeconds", "archiveMinutes", "stopSeconds"),
    *("collective", "amqp"),
)
_NUMBERS: Final = ("backoutThreshold", "defaultPersistence", "defaultPriority")
_FLOW_KEYS: Final = ("flow", "additionalInstances", "copies", "properties")
_GROUP_KEYS: Final = ("executors", "limits", "flows")
_EXECUTOR_KEYS: Final = ("cores", "memory", "taskCpus")
_LIMIT_KEYS: Final = ("memory", "cpuSecondsPerMessage", "messagesPerSecond")
_MEMORY: Final = re.compile(r"[1-9][0-9]{0,8}[kmgt]", re.IGNORECASE)
_MQSC: Final = re.compile(r"[A-Za-z]{2,12}")


def definition_of(file: str) -> Definition | None:
    """Returns what a broker file says, or None where the file is not one."""
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(4 * LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationException(f"{file} cannot be read: {reason}") from error
    complaints = Complaints(file, text)
    document = read_document(text, file, complaints, kind="broker", start="broker: NAME")
    if not isinstance(document, Mapping) or not any(
        key.text in {"broker", "executionGroups"} for key, _ in document.entries
    ):
        return None
    made = _Reader(document, file, complaints).read()
    if complaints.found:
        problems = tuple(sorted(complaints.found))
        raise ConfigurationException(f"{file} cannot be deployed: {problems[0].text}", problems)
    return made


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the document of one broker, and notes what is wrong with it."""

    document: Mapping
    file: str
    complaints: Complaints

    @property
    def _complain(self) -> Callable[..., None]:
        return self.complaints.add

    def read(self) -> Definition:
        self._known(self.document, _KEYS, "a broker file")
        plain = Definition()
        groups = list(self._groups())
        return Definition(
            tuple(use for group, said in groups for use in self._uses(group, said)),
            self._text("broker", plain.broker),
            self._text("queueManager", plain.queue_manager),
            self._text("deadLetterQueue", plain.dead_letter_queue),
            dict(self._queues()),
            dict(self._parts(groups, "executors", self._executors_of)),
            dict(self._parts(groups, "limits", self._limits_of)),
            tuple(group.text for group, _ in groups),
            self._data_sources(),
            self._data("topics"),
            self._data("subscriptions"),
            rights=self._rights(),
            settings=self._settings(),
        )

    def _known(self, table: Mapping, names: tuple[str, ...], what: str) -> None:
        for key, _ in table.entries:
            if key.text not in names:
                self._complain(key.place, f"{what} has no {key.text}{did_you_mean(key.text, names)}", about=key.text)

    def _text(self, name: str, otherwise: str) -> str:
        found = self.document.get(name)
        if found is None:
            return otherwise
        if not isinstance(found, Scalar):
            self._complain(found.place, f"{name} must be a text")
            return otherwise
        if name == "deadLetterQueue" and found.text:
            self._named(found)
        if name == "queueManager" and not re.fullmatch(QUEUE_MANAGER.regex, found.text):
            self._complain(found.place, f"{found.text[:60]!r} is not {QUEUE_MANAGER.words}", about=found.text)
        return found.text

    def _settings(self) -> Settings:
        plain = Settings()
        log, traces = self._text("log", plain.log), self._text("traces", "")
        if log not in {"text", "json"}:
            self._complain(self.document.place, f"log is text or json, not {log:.40}", about=log)
        return Settings(
            str(placed({"url": self._text("repository", plain.repository)}, dirname(self.file))["url"]),
            abspath(self._beside(users)) if (users := self._text("users", "")) else "",
            "json" if log == "json" else "text",
            self._seconds("statisticsSeconds", plain.statistics_interval),
            self._seconds("archiveMinutes", plain.archive_interval),
            self._seconds("stopSeconds", plain.stop_limit),
            traces if "://" in traces or not traces else abspath(self._beside(traces)),
            self._collective(),
            self._amqp(),
        )

    def _collective(self) -> dict[str, Any]:
        """Returns the collective as plain data; files are named from where the broker file is."""
        table = self._table("collective")
        found = placed(of_tree(table), dirname(self.file)) if table else {}
        try:
            collective_of(found)
        except ConfigurationException as error:
            self._complain((table or self.document).place, error.text, is_secret=True)
        return found

    def _amqp(self) -> dict[str, dict[str, Any]]:
        """Returns the AMQP brokers of groups as plain data; files are named from where the broker file is."""
        found = {name: placed(said, dirname(self.file)) for name, said in self._data("amqp").items()}
        table = self._table("amqp")
        groups = self._table("executionGroups")
        known = [key.text for key, _ in groups.entries] if groups else []
        for name in found:
            try:
                of_group(name, found)
            except ConfigurationException as error:
                self._complain((table or self.document).place, error.text, is_secret=True)
            if name not in known:
                text = f"amqp is by execution group, and there is no {name}{did_you_mean(name, tuple(known))}"
                self._complain((table or self.document).place, text, is_secret=True)
        return found

    def _seconds(self, name: str, otherwise: float) -> float:
        found = self.document.get(name)
        if found is None:
            return otherwise
        value = duration(found)
        if value is None or not value:
            self._complain(found.place, f"{name} must be a number above 0")
            return otherwise
        return value

    def _table(self, name: str) -> Mapping | None:
        found = self.document.get(name)
        if found is None or isinstance(found, Mapping) or (isinstance(found, Scalar) and found.is_null):
            return found if isinstance(found, Mapping) else None
        self._complain(found.place, f"{name} must be a table, `name: value`")
        return None

    def _data(self, name: str) -> dict[str, dict[str, Any]]:
        """Returns a table of tables as plain data; what it means is for those to say who use it."""
        table = self._table(name)
        found = {}
        for key, tree in table.entries if table else ():
            if isinstance(tree, Mapping):
                found[key.text] = of_tree(tree)
            elif name == "dataSources" and isinstance(tree, Scalar) and tree.text:
                found[key.text] = {"url": tree.text}
            else:
                self._complain(tree.place, f"{key.text} must be a table", is_secret=True)
        return found

    def _data_sources(self) -> dict[str, dict[str, Any]]:
        """Returns the data sources; files are named from where the broker file is."""
        found = {name: placed(said, dirname(self.file)) for name, said in self._data("dataSources").items()}
        try:
            definitions_in(found)
        except ConfigurationException as error:
            table = self.document.get("dataSources")
            self._complain((table or self.document).place, error.text, is_secret=True)
        return found

    def _queues(self) -> Iterator[tuple[str, dict[str, str | int]]]:
        table = self._table("queues")
        for key, tree in table.entries if table else ():
            self._named(key)
            if isinstance(tree, Mapping):
                kind = "QALIAS" if tree.get("TARGET") is not None else "QLOCAL"
                yield key.text, dict(self._attribute(kind, name, value) for name, value in tree.entries)
            elif isinstance(tree, Scalar) and tree.is_null:
                yield key.text, {}
            else:
                self._complain(tree.place, f"queue {key.text} must be a table of its attributes")

    def _attribute(self, kind: str, key: Scalar, tree: Tree) -> tuple[str, str | int]:
        name = key.text
        if name not in PLAIN_NAMES and not (_MQSC.fullmatch(name) and name == name.upper()):
            text = f"a queue has no {name}{did_you_mean(name, tuple(PLAIN_NAMES))}"
            self._complain(key.place, f"{text}; other attributes have the names of MQSC, in capitals", about=name)
        text = tree.text if isinstance(tree, Scalar) else ""
        if not isinstance(tree, Scalar):
            self._complain(tree.place, f"{name} must be a text or a number")
        elif name in _NUMBERS:
            return PLAIN_NAMES[name], self._number(name, tree)
        elif PLAIN_NAMES.get(name, name) in {"BOQNAME", "TARGET", "STREAMQ"} and text:
            self._named(tree)
        elif wrong := _refusal_of(kind, name, value_of(tree)):
            self._complain(key.place, wrong, about=name)
        return PLAIN_NAMES.get(name, name), value_of(tree) if isinstance(tree, Scalar) else text

    def _named(self, queue: Scalar) -> None:
        if not re.fullmatch(QUEUE_NAME.regex, queue.text):
            self._complain(queue.place, f"{queue.text[:60]!r} is not {QUEUE_NAME.words}", about=queue.text)

    def _number(self, name: str, tree: Tree) -> int:
        value = number(tree)
        if value is None:
            text = tree.text if isinstance(tree, Scalar) else ""
            self._complain(tree.place, f"{name} must be a number from 0 to 999999", about=text)
        return value or 0

    def _groups(self) -> Iterator[tuple[Scalar, Tree]]:
        table = self._table("executionGroups")
        for group, said in table.entries if table else ():
            if isinstance(said, Mapping):
                self._known(said, _GROUP_KEYS, "an execution group")
            yield group, said

    def _uses(self, group: Scalar, said: Tree) -> Iterator[FlowUse]:
        flows = said.get("flows") if isinstance(said, Mapping) else said
        if isinstance(flows, Sequence):
            for item in flows.items:
                yield from self._use(group.text, item)
        elif not (flows is None or (isinstance(flows, Scalar) and flows.is_null)) or said is flows is None:
            self._complain(said.place, f"execution group {group.text} must be a list of flows")

    def _parts(
        self, groups: list[tuple[Scalar, Tree]], name: str, read: Callable[[Mapping], Any]
    ) -> Iterator[tuple[str, Any]]:
        for group, said in groups:
            wanted = said.get(name) if isinstance(said, Mapping) else None
            if isinstance(wanted, Mapping):
                yield group.text, read(wanted)
            elif wanted is not None:
                self._complain(wanted.place, f"{name} must be a table: `{{memory: 4g}}`")

    def _executors_of(self, wanted: Mapping) -> Executors:
        self._known(wanted, _EXECUTOR_KEYS, "a group's executors")
        plain = Executors()
        given = {key.text: tree for key, tree in wanted.entries}
        cores, task = (self._number(n, given[n]) if n in given else 1 for n in ("cores", "taskCpus"))
        size = given.get("memory")
        if size is not None and not (isinstance(size, Scalar) and _MEMORY.fullmatch(size.text)):
            self._complain(size.place, "memory must be a size with its unit, such as 512m or 4g")
            size = None
        if not 0 < task <= cores:
            self._complain(wanted.place, "an executor needs a core or more, and at least those that a task takes")
        return Executors(cores, size.text if isinstance(size, Scalar) else plain.memory, task)

    def _limits_of(self, wanted: Mapping) -> Limits:
        self._known(wanted, _LIMIT_KEYS, "a group's limits")
        readers = {"memory": memory, "cpuSecondsPerMessage": duration, "messagesPerSecond": duration}
        values = {}
        for key, tree in wanted.entries:
            values[key.text] = value = readers[key.text](tree) if key.text in readers else None
            if value is None and key.text in readers:
                what = "a size with its unit, such as 512m" if key.text == "memory" else "a number"
                self._complain(tree.place, f"{key.text} must be {what}")
        return Limits(
            int(values.get("memory") or 0),
            values.get("cpuSecondsPerMessage") or 0.0,
            values.get("messagesPerSecond") or 0.0,
        )

    def _use(self, group: str, item: Tree) -> Iterator[FlowUse]:
        if isinstance(item, Scalar) and item.text:
            yield FlowUse(self._beside(item.text), group)
            return
        flow = item.get("flow") if isinstance(item, Mapping) else None
        if not (isinstance(item, Mapping) and isinstance(flow, Scalar) and flow.text):
            self._complain(item.place, "a deployed flow is a file, or a table with `flow: file`")
            return
        self._known(item, _FLOW_KEYS, "a deployed flow")
        numbers = {k.text: self._number(k.text, t) for k, t in item.entries if k.text in {*_FLOW_KEYS[1:3]}}
        laid = item.get("properties")
        if laid is not None and not isinstance(laid, Mapping):
            self._complain(laid.place, "properties must be a table: `{Node.property: value}`")
        values = {k.text: t.text for k, t in laid.entries if isinstance(t, Scalar)} if isinstance(laid, Mapping) else {}
        yield FlowUse(
            self._beside(flow.text), group, numbers.get("additionalInstances"), max(1, numbers.get("copies", 1)), values
        )

    def _rights(self) -> tuple[Grant, ...]:
        found = self.document.get("rights")
        return () if found is None else tuple(read_rights(found, self._complain))

    def _beside(self, file: str) -> str:
        return normpath(join(dirname(self.file), file))


def _refusal_of(kind: str, name: str, value: str | int) -> str:
    from engine.broker.queues import refusal_of  # noqa: PLC0415  # what queue managers are made of, where it is asked

    return refusal_of(kind, name, value)
