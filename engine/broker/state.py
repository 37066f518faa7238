"""The state of a broker as its repository keeps it: frozen data that deployments make anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from engine.broker.definition import DEAD_LETTER_QUEUE, Executors, Grant, Limits, Settings

StatisticsLevel: TypeAlias = Literal["none", "basic", "nodes"]
TraceLevel: TypeAlias = Literal["none", "normal", "debug"]

STATISTICS_LEVELS: Final[tuple[StatisticsLevel, ...]] = ("none", "basic", "nodes")
ORIGINS: Final = ("none", "basic")  # whether statistics are kept by accounting origin, in IBM's words
TRACE_LEVELS: Final[tuple[TraceLevel, ...]] = ("none", "normal", "debug")


@dataclass(frozen=True, slots=True)
class DeployedUse:
    """A flow as it is deployed into a group: its content by hash, and how it runs there."""

    name: str
    content: str
    file: str = ""
    additional_instances: int = 0
    instances_said: bool = True  # by the broker; otherwise the flow itself says additionalInstances
    copies: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)
    promotions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    message_sets: tuple[str, ...] = ()
    order: str = "default"
    shares: bool = False  # SHARED variables keep its instances threads of one process
    running: bool = True
    trace: TraceLevel = "none"
    statistics: StatisticsLevel = "basic"
    by_origin: bool = False  # statistics are kept for each accounting origin
    notified_rate: int = 0  # messages a second above which there is an event; 0: none
    start_mode: str = "Maintained"
    deployed: str = ""

    @property
    def instances(self) -> int:
        """Returns the number of messages that the flow works on at a time at each of the queues that it reads."""
        return 1 if self.order == "byQueueOrder" else self.copies * (1 + self.additional_instances)

    @property
    def how(self) -> str:
        """Describes in words how many processes or threads run the flow, and why."""
        count = self.instances
        if self.order == "byQueueOrder":
            return "1 process, as orderMode byQueueOrder takes one message after the other"
        if self.shares:
            return f"{count} thread{'s' if count > 1 else ''} of one process, as it declares SHARED variables"
        return f"{count} process{'es' if count > 1 else ''}"

    @property
    def counting(self) -> str:
        """Returns how the flow is counted; what is counted otherwise begins at nothing."""
        return f"{self.statistics}-by-origin" if self.by_origin and self.statistics != "none" else self.statistics

    @property
    def version(self) -> str:
        """Returns a hash of the content and of the settings it runs with; processes of another version are replaced."""
        content = [self.content, self.additional_instances, self.copies, sorted(self.properties.items())]
        content += [self.trace, self.counting]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class GroupState:
    """An execution group: its flows by name, and whether it is to run."""

    name: str
    uuid: str = ""
    running: bool = True
    number: int = 0  # of the version of its deployment, and of the one before
    parent: int = 0
    flows: tuple[DeployedUse, ...] = ()
    limits: Limits = field(default_factory=Limits)
    executors: Executors | None = None

    def flow(self, name: str) -> DeployedUse | None:
        """The flow of that name, or None."""
        return next((use for use in self.flows if use.name == name), None)

    def with_flow(self, use: DeployedUse) -> GroupState:
        """The group with a flow in place of the one that has its name, or behind the others."""
        others = [use if other.name == use.name else other for other in self.flows]
        return replace(self, flows=tuple(others if self.flow(use.name) else [*others, use]))

    @property
    def deployed(self) -> list[dict[str, Any]]:
        """Returns the group's deployed flows as JSON has them, each marked as running."""
        return [{**asdict(use), "running": True} for use in self.flows]

    @property
    def digest(self) -> str:
        """The hash of what is deployed in it."""
        return digest_of([[self.name, use.name, use.version] for use in self.flows])


@dataclass(frozen=True, slots=True)
class BrokerState:
    """All that the repository says of one broker; `generation` counts its changes."""

    name: str
    uuid: str = ""
    generation: int = 0
    queue_manager: str = "QM"
    dead_letter_queue: str = DEAD_LETTER_QUEUE
    groups: tuple[GroupState, ...] = ()
    queues: Mapping[str, Mapping[str, str | int]] = field(default_factory=dict)
    data_sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    topics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    subscriptions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rights: tuple[Grant, ...] = ()
    settings: Settings = field(default_factory=Settings)

    def group(self, name: str) -> GroupState | None:
        """The execution group of that name, or None."""
        return next((group for group in self.groups if group.name == name), None)

    def with_group(self, group: GroupState) -> BrokerState:
        """The broker with a group in place of the one that has its name, or behind the others."""
        others = [group if other.name == group.name else other for other in self.groups]
        return replace(self, groups=tuple(others if self.group(group.name) else [*others, group]))

    def uses_of(self, flow: str, group: str = "") -> list[tuple[GroupState, DeployedUse]]:
        """Returns a flow's deployments with their groups; its qualified name or the last part of it will do."""
        found = [(own, use) for own in self.groups for use in own.flows if group in {"", own.name}]
        named = [pair for pair in found if pair[1].name == flow]
        return named or [pair for pair in found if pair[1].name.rpartition(".")[2] == flow]

    @property
    def digest(self) -> str:
        """The hash of all that is deployed."""
        return digest_of([group.digest for group in self.groups])


def digest_of(data: Any) -> str:
    """Returns the SHA-256 of data as JSON, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def use_of_data(data: Mapping[str, Any]) -> DeployedUse:
    """Returns the flow that `asdict` and JSON have made data of."""
    lists = {name: tuple(data[name]) for name in ("reads", "message_sets")}
    promotions = {name: tuple(targets) for name, targets in data["promotions"].items()}
    return DeployedUse(**{**data, **lists, "promotions": promotions})
