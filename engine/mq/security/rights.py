"""Rights: what users may do, found once for each user and object and remembered until an authority record changes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from engine.message.topics import ADDRESS, levels_of, wildcards
from engine.mq.addresses import owner_name
from engine.mq.security.authorities import (
    BROWSE,
    GET,
    INQ,
    PASSALL,
    PASSID,
    PERSIST,
    PUB,
    PUT,
    QMGR,
    QUEUE,
    SETALL,
    SETID,
    TOPIC,
)
from engine.mq.security.principals import Principals
from engine.mq.security.records import GROUP, PRINCIPAL, PUBLIC, SELF, Entity, Granted, Key, Records, authority_error

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.admission import Target
    from engine.mq.topics.objects import Objects
    from engine.mq.unit import Work
    from engine.work import Selection

_LOG: Final = logging.getLogger("penstock.queues.authority")
_LOG.addHandler(logging.NullHandler())
SECURITY: Final = "SECURITY"  # what REFRESH names
_ROOT: Final = "SYSTEM.BASE.TOPIC"  # the profile of the root of the topic tree
_OWN: Final = GET | BROWSE | INQ  # of the queue that a subscription of the user's was given
_MOST: Final = 10_000  # objects that are remembered of a user
_TIME_OUT: Final = 54 * 60.0  # seconds without use after which a user is forgotten
_INTERVAL: Final = 12 * 60.0  # seconds between two looks for such users
_IDENTITY: Final = slice(14, 17)  # fields of a descriptor: user, accounting token, application's identity data


class Rights:
    """The rights of one user. Each check compares the generation of the records, and asks what it remembers."""

    __slots__ = ("_generation", "_groups", "_masks", "_own", "_security", "_topics", "_topics_changed", "idle", "user")

    def __init__(self, security: Security, user: str) -> None:
        self.user = user
        self.idle = 0  # looks at which it had not been used
        self._security = security
        self._generation = -1
        self._topics_changed = -1
        self._masks: dict[str, int] = {}
        self._topics: dict[str, tuple[int, int]] | None = None  # what a topic's records grant and say at all
        self._own: Entity = (PRINCIPAL, user)
        self._groups: list[Entity] = []

    def check(self, queue: str, wanted: int) -> None:
        """Refuse what the user may not do to a queue."""
        if self._generation != self._security.records.generation:
            self._renew()
        granted = self._masks.get(queue)
        if granted is None:
            granted = self._found(self._masks, QUEUE, queue)
        if not granted & wanted and not (wanted & _OWN and self._security.subscriber(queue) == self.user):
            raise self.refused(wanted, QUEUE, queue)
        self.idle = 0

    def check_get(self, queue: str, selection: Selection | None) -> None:
        """Refuse to get from a queue, or to browse it."""
        self.check(queue, BROWSE if selection is not None and selection.browse else GET)

    def check_manager(self, wanted: int) -> None:
        """Refuse what the user may not do to the queue manager."""
        if not self.of_manager() & wanted:
            raise self.refused(wanted, QMGR, SELF)

    def of_manager(self) -> int:
        """Returns the authorities that the user has of the queue manager."""
        return self.of(QMGR, SELF)

    def of(self, kind: str, name: str) -> int:
        """Returns the authorities that the user has of an object other than a topic in its tree."""
        self._renew()
        return self._found({}, kind, name)

    def check_topic(self, topic: str, wanted: int, *, opened: bool = False) -> None:
        """Refuse what the user may not do on a topic; `opened` says that one without any records is open to all."""
        if not self.may(topic, wanted, opened=opened):
            raise self.refused(wanted, TOPIC, topic)

    def may(self, topic: str, wanted: int, *, opened: bool = False) -> bool:
        """Returns True where the user may do something on a topic."""
        self.idle = 0
        granted, restricted = self._of_topic(topic)
        return bool(granted & wanted) or (opened and not restricted)

    def check_put(self, target: Target) -> None:
        """Refuse a put to a queue, by the name's own profile, or a publication on a topic."""
        if target.topic is None:
            self.check(target.name, PUT)
            return
        if not target.name.startswith(ADDRESS):
            self.check(target.name, PUT)
        self.check_topic(target.topic.topic, PUB)

    def admitted(self, target: Target, descriptor: Descriptor, work: Work) -> Descriptor:
        """Returns the descriptor of a message that may be put, without what the user may not say of its origin."""
        self.check_put(target)
        granted = 0 if target.topic is not None else self._masks.get(target.name, 0)
        if granted & SETALL:
            return descriptor
        identity = descriptor[_IDENTITY]
        passed = [got.descriptor for _, got in work.taken if got.descriptor[_IDENTITY] == identity]
        if granted & PASSALL and any(taken[14:22] == descriptor[14:22] for taken in passed):
            return descriptor
        changes: dict[str, object] = {"put_appl_type": 0, "put_appl_name": "", "put_date": "", "put_time": ""}
        changes["appl_origin_data"] = ""
        if not (granted & SETID or (granted & (PASSID | PASSALL) and passed)):
            changes |= {"user_identifier": self.user, "accounting_token": bytes(32), "appl_identity_data": ""}
        return descriptor._replace(**changes)  # type: ignore[arg-type]  # fields of their types

    def refused(self, wanted: int, kind: str, name: str) -> Exception:
        """Returns the refusal, after the event is logged."""
        error = authority_error(self.user, wanted, kind, name or _ROOT)
        _LOG.warning("AMQ8077W: %s (reason 2035)", error.text)
        return error

    def _renew(self) -> None:
        """Forget what was found by records that have changed since."""
        generation = self._security.records.generation
        if self._generation == generation:
            return
        self._groups = [(GROUP, name) for name in self._security.principals.groups(self.user)]
        self._masks, self._topics = {}, None
        self._generation = generation

    def _found(self, masks: dict[str, int], kind: str, name: str) -> int:
        """Returns what the records of the user and of the groups grant together, and remembers that."""
        records = self._security.records
        granted = 0
        for entity in (self._own, *self._groups, (GROUP, PUBLIC)):
            found = records.find(kind, entity, name)
            if found is not None:
                granted |= found.allowed
        if len(masks) >= _MOST:
            masks.clear()
        masks[name] = granted
        return granted

    def _of_topic(self, topic: str) -> tuple[int, int]:
        """Returns the rights on a topic, and True in the second place where it or one above has records at all."""
        self._renew()
        tree = self._security.tree
        if self._topics is None or self._topics_changed != tree.changes or len(self._topics) > _MOST:
            self._topics_changed, self._topics = tree.changes, {}
        topics = self._topics
        found = topics.get(topic)
        if found is None:
            found = topics[topic] = self._inherited(topic)
        return found

    def _inherited(self, topic: str) -> tuple[int, int]:
        """Returns the rights on a topic: what the nearest record at it or above says of each."""
        granted, settled, restricted = 0, 0, False
        levels = levels_of(topic)
        for length in range(len(levels), -1, -1):
            names = self._security.names_at(levels[:length])
            restricted = restricted or self._security.is_restricted(names)
            allowed, denied = self._said(names)
            granted |= allowed & ~settled
            settled |= allowed | denied
        if not settled & PERSIST:
            granted |= PERSIST  # what nobody has taken away
        return granted, restricted

    def _said(self, names: list[str]) -> Granted:
        """Returns what is granted and taken away at one topic: by the user's own record, else a group's, else all's."""
        allowed = denied = 0
        for entities in ([self._own], self._groups, [(GROUP, PUBLIC)]):
            found = [one for entity in entities for name in names if (one := self._security.said(entity, name))]
            more = 0
            for one in found:
                more |= one.allowed
            less = 0
            for one in found:
                less |= one.denied & ~more
            settled = allowed | denied
            allowed |= more & ~settled
            denied |= less & ~settled
        return Granted(allowed, denied)


class Security:
    """The security of a queue manager: its records, the rights found by them, and who belongs to which group."""

    __slots__ = ("_clock", "_looked", "_users", "is_lasting", "owner", "principals", "records", "subscriber", "tree")

    def __init__(self, records: Records, topics: Objects, clock: Callable[[], float] = time.monotonic) -> None:
        self.records = records
        self.tree = topics.topics
        self.subscriber = topics.subscriber  # to whose publications a queue was made
        self.owner = owner_name()
        self.principals = Principals()
        self.is_lasting = False  # the queue manager is no desk's
        self._clock = clock
        self._looked = clock()
        self._users: dict[str, Rights] = {}

    def rights(self, user: str) -> Rights:
        """Returns the rights of a user, which all of the user's units of work share."""
        if self._clock() - self._looked >= _INTERVAL:
            self.forget_idle()
        found = self._users.get(user)
        if found is None:
            found = self._users.setdefault(user, Rights(self, user))
        return found

    def authorise(self, user: str, target: Target) -> None:
        """Refuse a put that a user may not make; where nobody has any record and nothing lasts, all may.

        On the topic of an address all may publish where neither it nor one above has records.
        """
        if self.is_owner(user) or not (self.is_lasting or self.records):
            return
        if target.topic is not None and target.name.startswith(ADDRESS):
            self.check_publisher(user, target.topic.topic)
        else:
            self.rights(user).check_put(target)

    def check_publisher(self, user: str, topic: str) -> None:
        """Refuse a publication on a topic by a user whom its records, or those above it, do not allow that."""
        if not self.subscribes(user, topic, PUB):
            raise self.rights(user).refused(PUB, TOPIC, topic)

    def is_owner(self, user: str) -> bool:
        """Returns True for the user who may do all."""
        return user == self.owner

    def forget_idle(self) -> None:
        """Forget users who were not seen for 54 minutes: each look, 12 minutes apart, counts."""
        looks = (self._clock() - self._looked) / _INTERVAL
        self._looked = self._clock()
        for user, rights in list(self._users.items()):
            rights.idle += max(1, int(looks))
            if rights.idle * _INTERVAL > _TIME_OUT:
                del self._users[user]

    def refresh(self) -> None:
        """Read again who belongs to which group, and forget what was found."""
        self.principals.refresh()
        self._users.clear()
        self.records.generation += 1

    def users(self) -> int:
        """Returns how many users are remembered."""
        return len(self._users)

    def names_at(self, levels: tuple[str, ...]) -> list[str]:
        """Returns the profiles that stand for a topic: its object's name, its address, and the topic itself."""
        if not levels:
            return [_ROOT]
        topic = "/".join(levels)
        named = self.tree.name_at(levels)
        plain = [topic] if topic not in self.tree.named else []
        return [*([named] if named else []), ADDRESS + "//" + topic, *plain]

    def said(self, entity: Entity, name: str) -> Granted | None:
        """Returns what the record of a user or group says of a topic's profile."""
        if name == _ROOT or name in self.tree.named:
            return self.records.find(TOPIC, entity, name)
        return self.records.exactly(Key(TOPIC, entity, name))

    def is_restricted(self, names: list[str]) -> bool:
        """Returns True where anyone has a record of one of the profiles."""
        return any(self.said(entity, name) for entity in self.records.entities(TOPIC) for name in names)

    def subscribes(self, user: str, topic: str, wanted: int) -> bool:
        """Returns True where publications on a topic may go to what a user has subscribed to."""
        return user in {"", self.owner} or self.rights(user).may(topic, wanted, opened=True)

    def sends_to(self, user: str, queue: str) -> bool:
        """Returns True where a user may have publications put on a queue; one without any records is open to all."""
        restricted = any(self.records.find(QUEUE, entity, queue) for entity in self.records.entities(QUEUE))
        return user in {"", self.owner} or not restricted or bool(self.rights(user).of(QUEUE, queue) & PUT)


def base_of(pattern: str) -> str:
    """Returns the topic at which the right to subscribe by a pattern is looked for: what is in front of wildcards.

    >>> base_of("prices/+/XYZ"), base_of("#")
    ('prices', '')
    """
    levels = levels_of(pattern)
    return "/".join(levels[: wildcards(levels)])
