"""A broker as frozen data: its queues, data sources, execution groups with their flows, users and rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from engine.work import QueueAttributes

Right: TypeAlias = Literal["read", "deploy", "operate"]

RIGHTS: Final[tuple[Right, ...]] = ("read", "deploy", "operate")
DEFAULT_GROUP: Final = "default"
DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"

# What broker files called attributes of queues before they took those of MQSC, and MQSC's names.
PLAIN_NAMES: Final = {
    "backoutThreshold": "BOTHRESH",
    "backoutRequeueQueue": "BOQNAME",
    "defaultPersistence": "DEFPSIST",
    "defaultPriority": "DEFPRTY",
}


@dataclass(frozen=True, slots=True)
class Executors:
    """The cores and the memory of each Spark executor of a group, and how many cores a task takes.

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
class Limits:
    """The limits of a group's processes; 0 stands for no limit.

    `memory` is in bytes for each process, `cpu_seconds` for each message, `rate` in messages a second for each flow.
    """

    memory: int = 0
    cpu_seconds: float = 0.0
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class FlowUse:
    """A flow of an execution group; `additional_instances` is None where the flow itself says how many.

    `properties` are laid over those of its file: `NAME` is a property of the flow, `Node.property` one of a node.
    """

    file: str
    group: str
    additional_instances: int | None = None
    copies: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of a user or of the members of a user group; `group` and `flow` limit them to a part of the broker."""

    user: str
    may: tuple[Right, ...]
    group: str = ""
    flow: str = ""
    is_group: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the whole broker, beside its flows and queues."""

    repository: str = ""  # a URL; without one the repository is a SQLite file in the broker's folder
    users: str = ""  # a file of users and their groups; without one they are the system's
    log: Literal["text", "json"] = "text"
    statistics_interval: float = 20.0  # seconds between snapshots
    archive_interval: float = 60.0  # minutes after which an archive record is complete
    stop_limit: float = 30.0  # seconds that messages in hand are given to finish
    traces: str = ""  # an OTLP endpoint, or a file that spans are written to
    collective: Mapping[str, Any] = field(default_factory=dict)  # as the broker file says it
    amqp: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by group, as the broker file says it


SETTINGS: Final = {  # the names of settings in broker files
    "repository": "repository",
    "users": "users",
    "log": "log",
    "statistics_interval": "statisticsSeconds",
    "archive_interval": "archiveMinutes",
    "stop_limit": "stopSeconds",
    "traces": "traces",
    "collective": "collective",
    "amqp": "amqp",
}


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a broker: the content of broker.yaml, and of an export."""

    flows: tuple[FlowUse, ...] = ()
    broker: str = "PENSTOCK"
    queue_manager: str = "QM"
    dead_letter_queue: str = DEAD_LETTER_QUEUE
    queues: Mapping[str, Mapping[str, str | int]] = field(default_factory=dict)  # attributes under MQSC's names
    executors: Mapping[str, Executors] = field(default_factory=dict)  # by group, where a group says it
    limits: Mapping[str, Limits] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    data_sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    topics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    subscriptions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rights: tuple[Grant, ...] = ()
    settings: Settings = field(default_factory=Settings)


def queue_attributes(attributes: Mapping[str, str | int]) -> QueueAttributes:
    """Returns what a flow may know of a queue that has these MQSC attributes.

    >>> queue_attributes({"BOTHRESH": 3, "MAXDEPTH": 10}).backout_threshold
    3
    >>> queue_attributes({"DEFPSIST": True}).default_persistence
    1
    """

    def number(name: str) -> int:
        value = attributes.get(name, 0)
        return int(value) if isinstance(value, int) else int(value.upper() == "YES")

    return QueueAttributes(
        number("BOTHRESH"), str(attributes.get("BOQNAME", "")), number("DEFPSIST"), number("DEFPRTY")
    )
