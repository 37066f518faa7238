"""Plans: which flows read which queues, in which groups and partitions, and in which order messages stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from engine.broker.definition import FlowUse
from engine.broker.overrides import flow_of_file
from engine.descriptor import NO_ID
from engine.errors import ConfigurationException
from engine.node import node_catalog
from flows.files import OwnNodes, Shipped, ship
from spark_exec.deployment import Deployment, built

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


Order = Literal["default", "byUserID", "byQueueOrder"]
ORDERS: Final[tuple[Order, ...]] = ("default", "byUserID", "byQueueOrder")

_QUEUE_ORDER: Final = "not more, as orderMode byQueueOrder takes one message after the other"

# Nodes that need what an executor does not have, and the reasons.
_REFUSED: Final = {
    "MQGet": "it gets messages by itself, and executors have no queues: make them a message set of their own",
}


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """One flow of one group: the queues it reads, its partitions, and how messages are dealt out to them."""

    group: str
    shipped: Shipped
    reads: tuple[str, ...]
    instances: int
    order: Order
    groups: bool = False  # whether the messages of a group stay together
    why: str = ""  # why it has so many instances and not more; empty where it may have one for each core
    changes: tuple[str, ...] = ()  # the data sources that it may change, where its changes are prepared

    @property
    def partitions(self) -> int:
        """The number of partitions of its messages: one for each instance, but one a queue where their order counts."""
        return len(self.reads) if self.order == "byQueueOrder" else self.instances

    def as_data(self) -> dict[str, Any]:
        """Returns what is to run, as JSON has it."""
        return {
            "flow": self.shipped.name,
            "group": self.group,
            "hash": self.shipped.content_hash,
            "reads": list(self.reads),
            "partitions": self.partitions,
            "why": self.why,
            "order": self.order,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The flows that are to run, in their groups."""

    deployment: Deployment
    flows: tuple[FlowPlan, ...]

    @property
    def reads(self) -> Mapping[str, FlowPlan]:
        """The flow that reads each queue."""
        return {queue: flow for flow in self.flows for queue in flow.reads}

    @property
    def only_queue(self) -> str:
        """The queue that is read, if it is only one."""
        reads = tuple(self.reads)
        return reads[0] if len(reads) == 1 else ""

    def entry(self, queue: str = "", *, needed: bool = False) -> str:
        """The queue that messages are on which do not say it: the one that is named, else the only one."""
        reads = ", ".join(self.reads)
        if queue and queue not in self.reads:
            raise ConfigurationException(f"no flow reads {queue}: the queues that are read are {reads}")
        if needed and not queue and not self.only_queue:
            raise ConfigurationException(f"the flows read {reads}: say by --queue where the messages are")
        return queue or self.only_queue

    def scaled(self, instances: int) -> Plan:
        """The plan with so many instances of every flow, and so many partitions where these may be any number."""
        flows = (replace(flow, instances=instances, why=_why(flow, "as --instances says")) for flow in self.flows)
        return replace(self, flows=tuple(flows))

    def spread(self, cores: int) -> Plan:
        """The plan with an instance for each core of every flow that nothing holds to another number."""
        many = (
            flow if flow.why else replace(flow, instances=cores, why=f"one for each of {cores} cores")
            for flow in self.flows
        )
        return replace(self, flows=tuple(many))

    def as_data(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        executors = self.deployment.executors
        groups = {group: asdict(wanted) for group, wanted in executors.items()}
        return {"broker": self.deployment.broker, "executors": groups, "flows": [flow.as_data() for flow in self.flows]}

    def lines(self) -> Iterable[str]:
        """The plan in words, a line each."""
        for group in dict.fromkeys(flow.group for flow in self.flows):
            own = [flow for flow in self.flows if flow.group == group]
            yield f"execution group {group}: {_partitions(sum(flow.partitions for flow in own))}"
            for flow in own:
                queues = ", ".join(flow.reads)
                why = f" ({flow.why})" if flow.why else ""
                yield f"  {flow.shipped.name} reads {queues}: {_partitions(flow.partitions)}, order {flow.order}{why}"


def _partitions(count: int) -> str:
    return f"{count} partition{'' if count == 1 else 's'}"


def _why(flow: FlowPlan, otherwise: str) -> str:
    return _QUEUE_ORDER if flow.order == "byQueueOrder" else otherwise


def plan(deployment: Deployment, own_nodes: tuple[OwnNodes, ...] = ()) -> Plan:
    """Load every flow of a deployment, and decide how it runs; raises where one cannot."""
    found = [_planned(use, deployment, own_nodes) for use in deployment.uses]
    readers: dict[str, str] = {}
    for flow in found:
        for queue in flow.reads:
            if queue in readers:
                names = f"{readers[queue]} and {flow.shipped.name}"
                raise ConfigurationException(
                    f"{names} both read {queue}: deploy one of them, with additional instances"
                )
            readers[queue] = flow.shipped.name
    return Plan(deployment, tuple(found))


def _planned(deployed_as: FlowUse, deployment: Deployment, own_nodes: tuple[OwnNodes, ...]) -> FlowPlan:
    flow, group = flow_of_file(deployed_as.file, deployed_as.properties), deployed_as.group
    given = {"BrokerName": deployment.broker, "ExecutionGroupLabel": group, "ExecutionGroupName": group}
    for use in flow.nodes:
        if use.type in _REFUSED:
            text = f"{use.label} is a {use.type} node, which does not run on Spark: {_REFUSED[use.type]}"
            raise ConfigurationException(text).at(use.place)
        if use.type == "Trace" and use.values.get("destination") == "file":
            text = f"{use.label} is a Trace node that writes a file, which does not run on Spark: each executor would"
            raise ConfigurationException(f"{text} write its own, and again when a task is tried again").at(use.place)
    entrances = [use for use in flow.nodes if (known := node_catalog.get(use.type)) is not None and known.is_source]
    reads = tuple(str(use.values.get("queueName", "")) for use in entrances)
    if not reads:
        raise ConfigurationException(f"flow {flow.qualified_name} reads no queue: give it an MQInput node").at(
            flow.place
        )
    used = {use.type for use in flow.nodes}
    shipped = ship(flow, given, [file for file in own_nodes if used.intersection(file.types)])
    made = built(shipped, deployment.databases, looked_up=False)  # what is broken is found here, before anything starts
    deployed = made.flow
    instances = max(deployed.instances(entrance) for entrance in deployed.entrances)
    orders = [deployed.order(entrance) for entrance in deployed.entrances]
    asked = {order.mode for order in orders}
    order = max((known for known in ORDERS if known in asked), key=ORDERS.index)
    whole = any(getattr(entrance.node, "all_msgs_available", False) for entrance in deployed.entrances)
    groups = whole or any(order.groups for order in orders)
    if deployed_as.additional_instances is not None:
        instances = 1 + deployed_as.additional_instances
    instances *= deployed_as.copies
    said = instances > 1 or deployed_as.additional_instances is not None
    return FlowPlan(
        group,
        shipped,
        reads,
        instances,
        order,
        groups,
        _held(order, said=said, shares=made.shares),
        made.changes,
    )


def _held(order: Order, *, said: bool, shares: bool) -> str:
    """Says what holds a flow to its number of instances; nothing where it may have one for each core."""
    if order == "byQueueOrder":
        return _QUEUE_ORDER
    if said:
        return "as additionalInstances says"
    if shares:
        return "not more, as it declares SHARED variables"
    return "" if order == "default" else f"not more, as orderMode {order} keeps an order: --instances N deals by it"


def dealt(frame: DataFrame, flow: FlowPlan) -> DataFrame:
    """The messages of a flow, spread and sorted as its order wants.

    What is kept together has a key: a user, a queue, a group. All else is spread by what tells messages apart, so that
    a user or a queue with many messages weighs on no partition more than on others.
    """
    from pyspark.sql import functions as f

    columns, count = frame.columns, f.lit(flow.partitions)
    if flow.order == "default":
        key = f.xxhash64("sequence", "lineage")
        if flow.groups:
            key = f.when(_grouped(), f.xxhash64("queue", "group_id")).otherwise(key)
        spread = frame.repartitionById(flow.partitions, f.pmod(key, count).cast("int"))
        return spread.sortWithinPartitions(*(_in_group() if flow.groups else ()), *_in_turn())
    anchored = _anchored(frame) if flow.groups else frame
    turn = [f.coalesce(f"first_{name}", name) for name in ("sequence", "turn")] if flow.groups else []
    if flow.order == "byQueueOrder":
        partition = f.coalesce(f.array_position(f.lit(list(flow.reads)), f.col("queue")) - 1, f.lit(0))
        partition = f.greatest(partition, f.lit(0))
    else:
        user = f.coalesce(*(["first_user"] if flow.groups else []), "user_identifier", f.lit(""))
        partition = f.pmod(f.xxhash64(user), count)
    spread = anchored.repartitionById(flow.partitions, partition.cast("int"))
    return spread.sortWithinPartitions(*turn, *(_in_group() if flow.groups else ()), *_in_turn()).select(*columns)


def first(frame: DataFrame, limit: int) -> DataFrame:
    """So many messages, those that stand first."""
    return frame.orderBy(*_in_turn()).limit(limit)


def _grouped() -> Column:
    """Returns whether a message is of a group."""
    from pyspark.sql import functions as f

    return f.col("group_id").isNotNull() & (f.col("group_id") != f.lit(NO_ID))


def _in_group() -> tuple[Column, ...]:
    """Returns what puts the messages of a group one behind the other, by their numbers."""
    from pyspark.sql import functions as f

    return f.when(_grouped(), f.col("group_id")), f.when(_grouped(), f.col("msg_seq_number"))


def _in_turn() -> tuple[Column, ...]:
    """The order of messages: by their places in the set, and what came of one as it was put."""
    from pyspark.sql import functions as f

    return f.col("sequence"), _turn(), f.col("lineage")


def _turn() -> Column:
    from pyspark.sql import functions as f

    return f.expr("try_cast(split(lineage, '[.#]') AS array<bigint>)")


def _anchored(frame: DataFrame) -> DataFrame:
    """Messages with the place and the user of the first of their group: where the group has its turn."""
    from pyspark.sql import functions as f

    later = f.when(f.col("msg_seq_number") == 1, 0).otherwise(1)
    first = f.struct(later.alias("later"), "sequence", _turn().alias("turn"), "user_identifier")
    firsts = frame.where(_grouped()).groupBy("queue", "group_id").agg(f.min(first).alias("first"))
    named = firsts.select(
        f.col("queue").alias("group_queue"),
        f.col("group_id").alias("group_of"),
        f.col("first.sequence").alias("first_sequence"),
        f.col("first.turn").alias("first_turn"),
        f.col("first.user_identifier").alias("first_user"),
    )
    own = frame.withColumn("turn", _turn())
    same = (own["queue"] == named["group_queue"]) & (own["group_id"] == named["group_of"])
    return own.join(f.broadcast(named), same, "left")
