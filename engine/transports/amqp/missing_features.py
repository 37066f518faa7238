"""The parts of MQ that an AMQP broker does not have: refused when a flow is deployed, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from engine.descriptor import NO_ID
from engine.errors import BrokerError, Place
from engine.node import Publishes, camel_case
from engine.transports.amqp.links import Peer
from engine.transports.amqp.messages import MESSAGE_ID, Identifiers
from engine.work import Selection

if TYPE_CHECKING:
    from engine.transports.amqp import AmqpQueues

OPTION_NOT_SUPPORTED = 2046

# Properties of nodes that ask a queue for more than the next message, each with the part of a broker that it needs.
_NEEDS = {
    "match_message_id": "selectors",
    "match_correl_id": "selectors",
    "get_with_msg_id": "selectors",
    "get_with_correl_id": "selectors",
    "use_complete_input_mqmd": "selectors",
    "browse": "browsing",
}
_NEVER = {
    "all_msgs_available": "whole groups (allMsgsAvailable)",
    "commit_by_message_group": "units of work by message group (commitByMessageGroup)",
}


def find_problems(nodes: Iterable[tuple[Place, object]], peer: Peer) -> Iterator[tuple[Place, str]]:
    """The nodes of a deployed flow that a broker cannot serve, each with the reason."""
    for place, node in nodes:
        for attribute, needed in _NEEDS.items():
            if getattr(node, attribute, False) and not getattr(peer, needed):
                name = camel_case(attribute)
                yield place, f"{name} needs {needed}, which {peer.product} {peer.version} does not have: leave it away"
        for attribute, words in _NEVER.items():
            if getattr(node, attribute, False):
                yield place, f"no AMQP broker has {words}: use the queue manager, or leave it away"
        if isinstance(node, Publishes):
            yield place, "it publishes for subscribers of the queue manager, which no AMQP broker knows: use MQOutput"
        if getattr(node, "order_mode", "default") == "byUserID":
            yield place, "no AMQP broker keeps the order of each user (orderMode byUserID): use byQueueOrder or default"


def refuse_flow(nodes: Iterable[tuple[Place, object]], peer: Peer) -> None:
    """Raises an error for the first node that a broker cannot serve."""
    for place, problem in find_problems(nodes, peer):
        raise BrokerError(OPTION_NOT_SUPPORTED, problem, place=place)


class Deployed(Protocol):
    """A deployed flow, as far as it is to be known what it asks of a broker."""

    @property
    def stations(self) -> Mapping[str, Any]:
        """The nodes by their labels, each with its place."""

    @property
    def entrances(self) -> Iterable[Any]:
        """The nodes at which messages enter."""

    @property
    def properties(self) -> Any:
        """The properties of the flow."""


def check_flow(queues: AmqpQueues, deployed: Deployed) -> Peer:
    """Returns the broker that a flow is to work on; raises where the flow asks for more, or its queue is not there."""
    peer = queues.introduce()
    refuse_flow(((station.place, station.node) for station in deployed.stations.values()), peer)
    if deployed.properties.coordinated_transaction:
        raise not_coordinated()
    work = queues.work()
    try:
        for entrance in deployed.entrances:
            work.find(str(getattr(entrance.node, "queue_name", "")))
    finally:
        work.close()
    return peer


def not_coordinated() -> BrokerError:
    """Returns the error for a flow whose databases are to commit together with queues."""
    text = "no AMQP broker coordinates databases: use the queue manager, or leave coordinatedTransaction away"
    return BrokerError(OPTION_NOT_SUPPORTED, text)


def at_least_once(flow: str, peer: Peer) -> str:
    """Returns what is to be known of a flow on a broker without transactions, or an empty text."""
    if peer.transactions:
        return ""
    return (
        f"flow {flow}: {peer.product} has no transactions over AMQP 1.0: after a failure in the middle of a unit of"
        " work, messages come once more (at least once)"
    )


def refuse_selection(wanted: Selection, peer: Peer, ids: Identifiers) -> str:
    """Returns the selector for a selection; raises an error where the broker cannot select so."""
    if wanted.plain and not (wanted.msg_id or wanted.correl_id or wanted.group_id or wanted.selector):
        return ""
    if wanted.whole_groups:
        raise BrokerError(OPTION_NOT_SUPPORTED, "no AMQP broker gives groups only when they are whole")
    if wanted.browse and not peer.browsing:
        raise BrokerError(OPTION_NOT_SUPPORTED, f"{peer.product} {peer.version} has no browsing over AMQP 1.0")
    terms = [f"({wanted.selector})"] if wanted.selector else []
    if wanted.msg_id and wanted.msg_id != NO_ID:
        own = f"{MESSAGE_ID} = '{wanted.msg_id.hex().upper()}'"
        terms.append(f"({own} OR JMSMessageID = '{_as_jms(ids.sent(wanted.msg_id))}')")
    if wanted.correl_id and wanted.correl_id != NO_ID:
        terms.append(f"JMSCorrelationID = '{_as_jms(ids.sent(wanted.correl_id))}'")
    if wanted.group_id and wanted.group_id != NO_ID:
        terms.append(f"JMSXGroupID = '{wanted.group_id.hex().upper()}'")
    if terms and not peer.selectors:
        text = f"{peer.product} {peer.version} gives messages in their order alone: it has no selectors over AMQP 1.0"
        raise BrokerError(OPTION_NOT_SUPPORTED, text)
    return " AND ".join(terms)


def _as_jms(given: Any) -> str:
    """An AMQP id as selectors name it, by the mapping of AMQP to JMS."""
    if isinstance(given, bytes):
        return f"ID:AMQP_BINARY:{given.hex().upper()}"
    if isinstance(given, UUID):
        return f"ID:AMQP_UUID:{given}"
    if isinstance(given, int):
        return f"ID:AMQP_ULONG:{given}"
    return str(given).replace("'", "''")
