"""Deployments: the file that says which flows run in which execution groups, and what queues there are.

    broker: ARCHIVE
    queueManager: QM1
    deadLetterQueue: SYSTEM.DEAD.LETTER.QUEUE
    queues:
      ORDERS.IN: {backoutThreshold: 3, backoutRequeueQueue: ORDERS.BACKOUT}
    executionGroups:
      Default:
        - orders.yaml
        - {flow: audit.yaml, additionalInstances: 3}
      Heavy:
        executors: {cores: 2, memory: 4g}
        flows: [reports.yaml]

Flows are named from where the file is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final

from engine.catalog import did_you_mean
from engine.destinations import QUEUE_MANAGER, QUEUE_NAME
from engine.errors import ConfigurationException
from engine.work import QueueAttributes
from flows.document import LARGEST, Complaints, Scalar, Sequence, Tree, read_document
from flows.document import Mapping as Table

_KEYS: Final = ("broker", "queueManager", "deadLetterQueue", "queues", "executionGroups")
_QUEUE_KEYS: Final = {
    "backoutThreshold": "backout_threshold",
    "backoutRequeueQueue": "backout_requeue_queue",
    "defaultPersistence": "default_persistence",
    "defaultPriority": "default_priority",
}
_NUMBERS: Final = (
    *("backoutThreshold", "defaultPersistence", "defaultPriority", "additionalInstances"),
    *("cores", "taskCpus"),
)
_FLOW_KEYS: Final = ("flow", "additionalInstances")
_GROUP_KEYS: Final = ("executors", "flows")
_EXECUTOR_KEYS: Final = ("cores", "memory", "taskCpus")
_MEMORY: Final = re.compile(r"[1-9][0-9]{0,8}[kmgt]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Executors:
    """What the executors of a group are like: the cores and the memory of each, and how many cores a task takes.

    >>> str(Executors(2, "4g"))
    'executors of 2 cores and 4g'
    """

    cores: int = 1
    memory: str = "1g"
    task_cpus: int = 1

    def __str__(self) -> str:
        cores = f"{self.cores} core{'s' if self.cores > 1 else ''}"
        each = f", {self.task_cpus} a task" if self.task_cpus > 1 else ""
        return f"executors of {cores} and {self.memory}{each}"


@dataclass(frozen=True, slots=True)
class Use:
    """A flow of an execution group; `additional_instances` is None where the flow itself says how many."""

    file: str
    group: str
    additional_instances: int | None = None


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a broker runs."""

    uses: tuple[Use, ...]
    broker: str = "PENSTOCK"
    queue_manager: str = "QM"
    dead_letter_queue: str = "SYSTEM.DEAD.LETTER.QUEUE"
    queues: Mapping[str, QueueAttributes] = field(default_factory=dict)
    executors: Mapping[str, Executors] = field(default_factory=dict)  # by group, where a group says it


def deployment_of(*files: str) -> Deployment:
    """The deployment that files say: one broker file, or flow files for one execution group."""
    if not files:
        raise ConfigurationException("nothing is to be deployed: name a broker file, or flow files")
    if len(files) == 1 and (found := _read(files[0])) is not None:
        return found
    return Deployment(tuple(Use(file, "default") for file in files))


def _read(file: str) -> Deployment | None:
    """The deployment of a broker file; None where the file is no such."""
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(4 * LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationException(f"{file} cannot be read: {reason}") from error
    complaints = Complaints(file, text)
    document = read_document(text, file, complaints)
    if not isinstance(document, Table) or not any(
        key.text in {"broker", "executionGroups"} for key, _ in document.entries
    ):
        return None
    made = _Reader(document, file, complaints).read()
    if complaints.found:
        problems = tuple(sorted(complaints.found))
        raise ConfigurationException(f"{file} cannot be deployed: {problems[0].text}", problems)
    return made


class _Reader:
    """Reads the document of one broker."""

    def __init__(self, document: Table, file: str, complaints: Complaints) -> None:
        self._document = document
        self._file = file
        self._complain = complaints.add

    def read(self) -> Deployment:
        self._known(self._document, _KEYS, "a broker file")
        plain = Deployment(())
        made = Deployment(
            tuple(self._uses()),
            self._text("broker", plain.broker),
            self._text("queueManager", plain.queue_manager),
            self._text("deadLetterQueue", plain.dead_letter_queue),
            dict(self._queues()),
            dict(self._executors()),
        )
        if not made.uses:
            self._complain(self._document.place, "the broker has no flows: list them under executionGroups")
        return made

    def _known(self, table: Table, names: tuple[str, ...], what: str) -> None:
        for key, _ in table.entries:
            if key.text not in names:
                self._complain(key.place, f"{what} has no {key.text}{did_you_mean(key.text, names)}", about=key.text)

    def _text(self, name: str, otherwise: str) -> str:
        found = self._document.get(name)
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

    def _table(self, name: str) -> Table | None:
        found = self._document.get(name)
        if found is None or isinstance(found, Table):
            return found
        self._complain(found.place, f"{name} must be a table, `name: value`")
        return None

    def _queues(self) -> Iterator[tuple[str, QueueAttributes]]:
        table = self._table("queues")
        for key, tree in table.entries if table else ():
            self._named(key)
            if not isinstance(tree, Table):
                self._complain(tree.place, f"queue {key.text} must be a table of its attributes")
                continue
            self._known(tree, tuple(_QUEUE_KEYS), "a queue")
            said = {
                _QUEUE_KEYS[name.text]: self._value(name, value)
                for name, value in tree.entries
                if name.text in _QUEUE_KEYS
            }
            yield key.text, QueueAttributes(**said)  # type: ignore[arg-type]  # _value has looked at the types

    def _named(self, queue: Scalar) -> None:
        if not re.fullmatch(QUEUE_NAME.regex, queue.text):
            self._complain(queue.place, f"{queue.text[:60]!r} is not {QUEUE_NAME.words}", about=queue.text)

    def _value(self, key: Scalar, tree: Tree) -> str | int:
        text = tree.text if isinstance(tree, Scalar) else ""
        if key.text not in _NUMBERS:
            if key.text == "backoutRequeueQueue" and isinstance(tree, Scalar) and text:
                self._named(tree)
            return text
        if text.isascii() and text.isdigit() and len(text) < 7:
            return int(text)
        self._complain(tree.place, f"{key.text} must be a number from 0 to 999999", about=text)
        return 0

    def _uses(self) -> Iterator[Use]:
        table = self._table("executionGroups")
        for group, said in table.entries if table else ():
            flows = said
            if isinstance(said, Table):
                self._known(said, _GROUP_KEYS, "an execution group")
                flows = said.get("flows") or said
            if not isinstance(flows, Sequence):
                self._complain(flows.place, f"execution group {group.text} must be a list of flows")
                continue
            for item in flows.items:
                yield from self._use(group.text, item)

    def _executors(self) -> Iterator[tuple[str, Executors]]:
        table = self._table("executionGroups")
        for group, said in table.entries if table else ():
            wanted = said.get("executors") if isinstance(said, Table) else None
            if isinstance(wanted, Table):
                self._known(wanted, _EXECUTOR_KEYS, "a group's executors")
                yield group.text, self._executors_of(wanted)
            elif wanted is not None:
                self._complain(wanted.place, "executors must be a table: `{cores: 2, memory: 4g}`")

    def _executors_of(self, wanted: Table) -> Executors:
        plain = Executors()
        numbers = {
            key.text: self._value(key, tree) for key, tree in wanted.entries if key.text in {"cores", "taskCpus"}
        }
        memory = wanted.get("memory")
        if memory is not None and not (isinstance(memory, Scalar) and _MEMORY.fullmatch(memory.text)):
            self._complain(memory.place, "memory must be a size with its unit, such as 512m or 4g")
            memory = None
        made = Executors(
            int(numbers.get("cores", plain.cores)),
            memory.text if isinstance(memory, Scalar) else plain.memory,
            int(numbers.get("taskCpus", plain.task_cpus)),
        )
        if not 0 < made.task_cpus <= made.cores:
            self._complain(wanted.place, "an executor needs a core or more, and at least those that a task takes")
        return made

    def _use(self, group: str, item: Tree) -> Iterator[Use]:
        if isinstance(item, Scalar):
            yield Use(self._beside(item.text), group)
            return
        if isinstance(item, Table):
            self._known(item, _FLOW_KEYS, "a deployed flow")
            flow = item.get("flow")
            if isinstance(flow, Scalar) and flow.text:
                said = [self._value(key, tree) for key, tree in item.entries if key.text == "additionalInstances"]
                yield Use(self._beside(flow.text), group, int(said[0]) if said else None)
                return
        self._complain(item.place, "a deployed flow is a file, or a table with `flow: file`")

    def _beside(self, file: str) -> str:
        return normpath(join(dirname(self._file), file))
