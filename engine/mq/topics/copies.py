"""Copies of a publication: a message for each subscription, with one body for all of a form; and what queues refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.descriptor import DATAGRAM, NO_ID, NO_TOKEN, UNLIMITED, UTF_8, Descriptor
from engine.errors import MessageException
from engine.flow.dead_letters import FORMAT, header
from engine.flow.put_rules import ASK_NOTHING, MAX_PRIORITY, check_put, defaulted
from engine.mq.admission import (
    ID_LENGTH,
    LARGEST,
    ORDER_BITS,
    expires_at,
    limited,
)
from engine.mq.message_numbers import identifier
from engine.mq.packed_descriptor import pack, with_whole_ids
from engine.mq.properties import RFH2, folder_texts, folders_of, opened, properties_of, with_folders
from engine.mq.property_types import Property
from engine.mq.queued_message import Stored
from engine.mq.refusals import MSG_TOO_BIG_FOR_Q_MGR, PUT_INHIBITED, full, refusal, too_long
from engine.mq.topics.subscription import INFORM
from engine.mq.turns import interruption, wait_for

if TYPE_CHECKING:
    from engine.message.topics import TopicAddress
    from engine.mq.admission import Target
    from engine.mq.manager import QueueManager
    from engine.mq.protection.policies import Policy
    from engine.mq.queue import Queue
    from engine.mq.topics.settings import TopicSettings
    from engine.mq.topics.subscription import Identity, Subscription
    from engine.mq.unit import Work

Moved = list[tuple["Queue", Stored]]
Shape = tuple[str, str, str, "Identity"]  # of a message: its policy, its form, the subscriber's data and identity
Formed = tuple[Descriptor, bytes]
_BROKER: Final = 26  # MQAT_BROKER
_IDENTITY: Final = slice(14, 17)  # of a descriptor: the user, accounting token and identity data
_NOBODY: Final = ("", NO_TOKEN, "")
_LEFT_TO_THE_TOPIC: Final = (0, 1)
_OF_COMMANDS: Final = frozenset({"psc", "pscr", "mqps", "mqpse"})
_OF_PROGRAMS: Final = frozenset(
    {"usr", "mcd", "jms", "mqext"}
)  # folders that PROPCTL(COMPAT) gives all properties with
PROPERTY_CONTROL: Final = "PROPCTL"
NONE: Final = "NONE"
PROPERTIES: Final = "MSGPROP"
COMMANDED: Final = "RFH2"
UNINFORMED: Final = "RFH2 UNINFORMED"  # the same, which does not say that a publication was retained
_QUEUED: Final = (COMMANDED, UNINFORMED)
COMPATIBLE: Final = (
    "COMPAT"  # MSGPROP to a queue whose PROPCTL is this: the topic is told beside other properties alone
)
_TOLD: Final = {"mqpse.Pts": "psc.PubTime", "mqpse.Seq": "psc.SeqNum"}  # by the publisher, as commands name it
_AS_PROPERTY: Final = {said: name for name, said in _TOLD.items()} | {name: name for name in _TOLD}


class Copy:
    """The properties that the copies for one subscription have of their own."""

    __slots__ = (
        *("correl_id", "default_priority", "hears", "identity", "last", "longest", "longest_expiry", "persistence"),
        *("compatible", "is_as_published", "plain", "policy"),
        *("priority", "queue", "rank", "refused", "sent", "shape", "subscription"),
    )

    def __init__(
        self,
        subscription: Subscription,
        target: Target | None,
        refused: MessageException | None,
        policy: Policy | None = None,
        *,
        identity: Identity = _NOBODY,
        hears: bool = True,
    ) -> None:
        self.subscription = subscription
        self.sent = self.last = 0  # messages beside those of all on its route, and the microsecond of the last of them
        self.hears = hears and subscription.values["SUBSCOPE"] == "ALL"  # what other queue managers publish
        self.policy = policy  # by which messages of its queue are protected
        self.queue = None if target is None else target.queue
        self.longest = 0 if target is None else target.longest
        self.longest_expiry = 0 if target is None else target.longest_expiry
        self.default_priority = 0 if target is None else target.attributes.default_priority
        # what stands for the priority in the order of its queue, where that is by arrival
        self.rank = self.default_priority if target is not None and target.queue.definition.fifo else None
        self.refused = refused  # why its queue takes nothing
        self.correl_id = subscription.correl_id
        said = str(subscription.values["PUBPRTY"])
        self.priority = None if said == "ASPUB" else self.default_priority if said == "ASQDEF" else int(said)
        said = str(subscription.values["PUBPSIST"])
        as_queue = 0 if target is None else target.attributes.default_persistence
        self.persistence = {"YES": 1, "NO": 0, "ASQDEF": as_queue}.get(said)
        if not subscription.durable and subscription.values["DESTCLAS"] == "MANAGED":
            self.persistence = 0  # its queue ends with it, and is not in the store
        self.is_as_published = self.priority is None and self.persistence is None and self.rank is None
        form = _form(subscription, target)
        own = str(subscription.values["USERDATA"]) if form != NONE else ""
        self.identity = identity  # the subscriber's, as MQ has it
        self.plain = policy is None and form == NONE  # its message is the publication's, as it is
        self.compatible = policy is None and form == COMPATIBLE  # the same, where that has no properties
        self.shape: Shape = ("" if policy is None else policy.name, form, own, identity)

    def forbid_persistence(self) -> None:
        """Make no message of the subscription last."""
        self.persistence, self.is_as_published = 0, False

    def fields(self, common: Sequence[Any]) -> list[Any]:
        """Returns the fields of its descriptor, by those of its shape: with a priority and a persistence of its own."""
        fields = list(common)
        if self.priority is not None:
            fields[7] = self.priority
        if self.persistence is not None:
            fields[8] = self.persistence
        return fields


def _form(subscription: Subscription, target: Target | None) -> str:
    """Returns the form of a subscription's messages; what its queue gives of properties decides with it."""
    form = subscription.form
    if form == COMMANDED and subscription.values.get(INFORM) == "NO":
        return UNINFORMED
    if form != PROPERTIES or target is None:
        return form
    return COMPATIBLE if target.queue.definition.values.get(PROPERTY_CONTROL, COMPATIBLE) == COMPATIBLE else form


class Publication(NamedTuple):
    """A message that is published, its descriptor complete but for the ids."""

    topic: str
    point: str
    descriptor: Descriptor
    body: bytes
    expires: int
    retained: bool = False  # it was published before, and is sent again
    at: int = 0  # the microsecond when it was published

    def shaped(self, form: str, user_data: str) -> tuple[Descriptor, bytes]:
        """Returns descriptor and body in the form that a subscription asks for."""
        if form == NONE:
            return self.descriptor, self.body
        folders = folders_of(self.descriptor, self.body)
        kept = [text for name, text in folders if name not in _OF_COMMANDS]
        leaves, descriptor, body = opened(self.descriptor, self.body)
        if form == COMPATIBLE and not any(name in _OF_PROGRAMS for name, _ in folders):
            if len(kept) == len(folders):
                return self.descriptor, self.body
            return with_folders(kept, descriptor, body) if kept else (descriptor, body)
        if form in _QUEUED:  # of queued publish/subscribe, where a reply to the publisher is the queue manager's
            descriptor = descriptor._replace(
                msg_type=DATAGRAM, reply_to_q="", reply_to_q_mgr=self.descriptor.put_appl_name
            )
        told = {_AS_PROPERTY[name]: value for name, value in leaves if name in _AS_PROPERTY}
        return with_folders([*folder_texts(self._said(form, user_data, told)), *kept], descriptor, body)

    def _said(self, form: str, user_data: str, told: Mapping[str, Property]) -> dict[str, Property]:
        if form in _QUEUED:
            said: dict[str, Property] = {"psc.Command": "Publish"}
            if self.retained and form != UNINFORMED:
                said["psc.PubOpt"] = "IsRetainedPub"
            said["psc.Topic"] = self.topic
            if self.point:
                said["psc.SubPoint"] = self.point
            said |= {_TOLD[name]: str(value) for name, value in told.items()}
            return said | ({"psc.SubUserData": user_data} if user_data else {})
        said = {"mqps.Top": self.topic, **told}
        if self.retained:
            said["mqps.Ret"] = True
        return said | ({"mqps.Sud": user_data} if user_data else {})


def wanted(copies: Iterable[Copy], publication: Publication) -> list[Copy]:
    """Returns the copies whose subscriptions select a publication."""
    known: list[dict[str, Property]] = []
    descriptor, body = publication.descriptor, publication.body

    def properties() -> dict[str, Property]:
        if not known:
            known.append(properties_of(descriptor, body))
        return known[0]

    found: list[Copy] = []
    for copy in copies:
        select = copy.subscription.select
        if select is None or select(descriptor, body, properties) is True:
            found.append(copy)
    return found


def published(
    manager: QueueManager,
    address: TopicAddress,
    settings: TopicSettings,
    descriptor: Descriptor,
    body: bytes,
    given: tuple[int, str, str],
) -> Publication:
    """Returns a publication with what is given to it: its number, its user, and its user where it says none."""
    topic, point, at = address.topic, address.point, address.at
    admission = manager.admission
    if not settings.publishes:
        raise refusal(PUT_INHIBITED, f"publications on {topic} are inhibited: ALTER the TOPIC", topic)
    if len(body) > admission.longest:
        text = f"a message of {len(body)} bytes is longer than the queue manager allows ({admission.longest})"
        raise refusal(MSG_TOO_BIG_FOR_Q_MGR, text, topic)
    now = admission.clock()
    # fmt: off
    (report, kind, expiry, feedback, encoding, ccsid, form, priority, persistence, msg_id, correl_id, _, queue,
     queue_manager, user, token, identity, _, _, date, hour, origin, group_id, sequence, offset, flags,
     length) = descriptor
    if not len(msg_id) == len(correl_id) == len(group_id) == ID_LENGTH:
        whole = with_whole_ids(descriptor)
        msg_id, correl_id, group_id = whole.msg_id, whole.correl_id, whole.group_id
    if not date:
        date, hour = admission.stamped(int(now * 100))
    if not 0 <= priority <= MAX_PRIORITY or persistence not in _LEFT_TO_THE_TOPIC:
        priority, persistence = defaulted((priority, persistence), (settings.priority, settings.persistence))
    if msg_id == NO_ID:
        msg_id = admission.numbers.identifier(given[0])
    expires = 0 if expiry == UNLIMITED else expires_at(expiry, now)
    if not 0 <= kind | feedback | encoding | ccsid | sequence | offset | flags | length + 1 <= LARGEST:
        pack(descriptor)  # some that are negative are good; it refuses others
    if report or feedback or flags or not ccsid or kind not in ASK_NOTHING:
        descriptor = check_put(descriptor)
        ccsid, flags = descriptor.coded_char_set_id, descriptor.msg_flags
    own = tuple.__new__(Descriptor, (
        0, kind, expiry, feedback, encoding, ccsid, form, priority, persistence, msg_id, correl_id, 0, queue,
        queue_manager, given[1] or user or given[2], token, identity, _BROKER, manager.name, date, hour,
        origin, group_id, sequence, offset, flags, length,
    ))
    # fmt: on
    return tuple.__new__(Publication, (topic, point, own, body, expires, False, at or int(now * 1_000_000)))


def admitted(
    manager: QueueManager, copies: list[Copy], publication: Publication, first: int
) -> tuple[Moved, list[tuple[Copy, MessageException]]]:
    """Returns the messages for those subscriptions' queues that take them, and what the others refused.

    They have the numbers from `first` on.
    """
    moved: Moved = []
    failed: list[tuple[Copy, MessageException]] = []
    new, lock, expires, numbers = tuple.__new__, manager.lock, publication.expires, manager.admission.numbers
    prefix, start, number = numbers.prefix, numbers.start, first - 1
    shape: Shape | None = None
    length, common = 0, list[Any]()
    sealed = _sealed(manager, copies, publication) if copies and copies[-1].policy is not None else {}
    try:
        lock.acquire(False) or wait_for(lock)
        for copy in copies:
            number += 1
            queue = copy.queue
            if copy.shape is not shape:  # those of a shape stand together, so that this is seldom so behind the first
                shaped = _shaped(copy, publication, sealed)
                if isinstance(shaped, MessageException):
                    failed.append((copy, shaped))
                    continue
                shape, (own, body) = copy.shape, shaped
                length, common = len(body), list(own)
                common[14], common[15], common[16] = copy.identity
            if queue is None or length > copy.longest or queue.depth + queue.reserved >= queue.most:
                failed.append((copy, _refused(copy, length)))
                continue
            queue.reserved += 1
            fields = common if copy.is_as_published else copy.fields(common)
            counts, persistence = queue.counts, fields[8]
            counts.puts[persistence] += 1
            counts.put_bytes[persistence] += length
            fields[9], fields[10] = identifier(prefix, start + number), copy.correl_id
            order = (MAX_PRIORITY - (fields[7] if copy.rank is None else copy.rank) << ORDER_BITS) + number
            stored = Stored(order, new(Descriptor, fields), body, expires)
            moved.append((queue, _limited(manager, copy, stored) if copy.longest_expiry else stored))
    finally:
        try:
            lock.release()
        except RuntimeError as error:
            raise interruption(error) from None
    return moved, failed


def _shaped(
    copy: Copy, publication: Publication, sealed: Mapping[Shape, Formed | MessageException]
) -> Formed | MessageException:
    """Returns descriptor and body as those of a copy's shape have them, or why they cannot be made."""
    if copy.plain or (copy.compatible and publication.descriptor.format != RFH2):
        return publication.descriptor, publication.body
    return sealed.get(copy.shape) or publication.shaped(*copy.shape[1:3])


def _sealed(
    manager: QueueManager, copies: Iterable[Copy], publication: Publication
) -> dict[Shape, Formed | MessageException]:
    """Returns the messages of the shapes that are protected, each sealed once, or why one cannot be."""
    found: dict[Shape, Formed | MessageException] = {}
    for copy in copies:
        if copy.policy is not None and copy.shape not in found:
            try:
                found[copy.shape] = formed(manager, copy, publication)
            except MessageException as error:
                found[copy.shape] = error
    return found


def formed(manager: QueueManager, copy: Copy, publication: Publication) -> Formed:
    """Returns descriptor and body of a copy in the form of its subscription, sealed where its queue has a policy."""
    descriptor, body = publication.shaped(*copy.shape[1:3])
    fields = list(descriptor)
    fields[_IDENTITY] = copy.identity
    own = tuple.__new__(Descriptor, fields)
    return (own, body) if copy.policy is None else manager.protection.published(copy.policy, own, body)


def _limited(manager: QueueManager, copy: Copy, stored: Stored) -> Stored:
    """Returns a copy for a queue that limits how long messages stay."""
    descriptor = limited(stored.descriptor, copy.longest_expiry)
    if descriptor is stored.descriptor:
        return stored
    return Stored(stored.order, descriptor, stored.body, expires_at(descriptor.expiry, manager.admission.clock()))


def _refused(copy: Copy, length: int) -> MessageException:
    """Returns why a queue does not take a copy."""
    if copy.refused is not None:
        return copy.refused
    assert copy.queue is not None  # one without a queue was refused when it was looked for
    name = copy.queue.definition.name
    return too_long(name, length, copy.longest) if length > copy.longest else full(name, copy.queue.most)


PUBLICATION_FAILURE: Final = 2502


def settle(
    failed: list[tuple[Copy, MessageException]],
    publication: Publication,
    settings: TopicSettings,
    moved: Moved,
    work: Work,
) -> None:
    """Send what queues refused to the dead-letter queue, or refuse the publication, as the topic has it."""
    mode = settings.delivery[publication.descriptor.persistence]
    for copy, error in failed:
        if settings.dead_letters and _is_put_away(copy, error, publication, moved, work):
            continue
        if mode == "ALL" or (mode == "ALLDUR" and copy.subscription.durable):
            queue = copy.subscription.queue
            text = f"a publication on {publication.topic} cannot be delivered to {queue} ({error.text}), and"
            problem = f"{text} {mode} of its TOPIC asks for that: let the queue take it, or ALTER the TOPIC"
            raise refusal(PUBLICATION_FAILURE, problem, publication.topic) from error


def _is_put_away(copy: Copy, error: MessageException, publication: Publication, moved: Moved, work: Work) -> bool:
    """Returns True where the dead-letter queue takes a copy that its own queue does not."""
    manager = work.manager
    name = manager.dead_letter_queue
    if name in {"", copy.subscription.queue}:
        return False
    try:
        descriptor, body = formed(manager, copy, publication)
        above = header(copy.subscription.queue, descriptor, work, error.reason, UTF_8)
        letter = descriptor._replace(format=FORMAT, coded_char_set_id=UTF_8, msg_id=NO_ID, correl_id=copy.correl_id)
        target = manager.target(name)
        moved.append((target.queue, manager.admission.admit(target, letter, above + body, ("", ""))))
    except MessageException:
        return False
    return True
