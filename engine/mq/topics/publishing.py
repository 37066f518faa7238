"""Publishing: the subscriptions that a topic fits, and their messages in the publisher's unit of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from engine.descriptor import PERSISTENT, Descriptor
from engine.errors import BrokerError, MessageException
from engine.message.topics import ADDRESS, LOCAL, NO_SUBS_MATCHED, REMOTE, TopicAddress, read_address
from engine.mq import stream_rules
from engine.mq.admission import Target, by_default, limited
from engine.mq.attributes import checked, defaults
from engine.mq.definitions import QueueDefinition, queue_of
from engine.mq.directory import check_gate
from engine.mq.queue import Queue
from engine.mq.refusals import (
    ALIAS_BASE_Q_TYPE_ERROR,
    OBJECT_ALREADY_EXISTS,
    PUT_INHIBITED,
    refusal,
)
from engine.mq.security.authorities import PERSIST, PUB
from engine.mq.security.authorities import SUB as SUBSCRIBE
from engine.mq.topics.commands import QUEUES, Listeners, check_mode, takes_commands
from engine.mq.topics.copies import (
    COMPATIBLE,
    PROPERTY_CONTROL,
    Copy,
    Moved,
    Publication,
    admitted,
    published,
    settle,
    wanted,
)
from engine.mq.topics.forwarding import TRANSMIT, Forwarded, of_publication, packed
from engine.mq.topics.objects import SUB
from engine.mq.topics.retained import (
    RETAINED,
    Replacement,
    Replacements,
    forget,
    retain,
    retained,
    retained_at,
    retained_fitting,
)
from engine.mq.topics.routes import Counts, Route, Traffic
from engine.mq.topics.subscription import API, ATTRIBUTE_VALUE, SUBTYPE, identity_of, subscription_id
from engine.work import QueueAttributes

if TYPE_CHECKING:
    from engine.mq.attribute_values import Value
    from engine.mq.directory import Directory
    from engine.mq.manager import QueueManager
    from engine.mq.queued_message import Stored
    from engine.mq.topics.settings import TopicSettings
    from engine.mq.topics.subscription import Subscription
    from engine.mq.unit import Work

    Without = Callable[[Subscription], bool] | None

RETAINED_NOT_DELIVERED: Final = 2526
_MOST_ROUTES: Final = 10_000
_SYSTEM: Final = "$"  # begins the topics of the system
_MANAGED: Final = {"YES": "SYSTEM.MANAGED.DURABLE.", "NO": "SYSTEM.MANAGED.NDURABLE."}


class Topics:
    """Publish/subscribe of a queue manager."""

    __slots__ = ("_counts", "_directory", "_listeners", "_manager", "_routes", "_version", "objects", "replacements")

    def __init__(self, manager: QueueManager, directory: Directory) -> None:
        self._manager = manager
        self._directory = directory
        self.objects = directory.topics
        self.objects.check = self.check_destination
        self.replacements = Replacements()
        self._listeners = Listeners(manager)
        self._counts = Counts()
        self._routes: dict[tuple[str, str], Route] = {}
        self._version = -1

    def listen(self) -> None:
        """Work on the queues that take commands, those that are there, unless PSMODE says otherwise."""
        if takes_commands(self._manager):
            self._listeners.listen(self._directory.queues.keys())

    def drain(self) -> None:
        """Wait until the commands that were put are carried out."""
        self._listeners.drain()

    def make_ready(self, queue: str) -> None:
        """Define a queue of commands when something is first put to it."""
        if queue in QUEUES and takes_commands(self._manager):
            self._define_once(queue, {})

    def define(self, kind: str, name: str, attributes: Mapping[str, object], *, replace: bool) -> None:
        """Define a topic or a subscription; a new subscription is sent what is retained on the topics it fits."""
        given, managed = dict(attributes), ""
        new_only, control = given.pop("NEWONLY", False) is True, str(given.pop(PROPERTY_CONTROL, COMPATIBLE))
        there = kind != SUB or name in self.objects.subscriptions
        if kind == SUB and given.get(SUBTYPE) == API:
            check_mode(self._manager, str(given.get("TOPICSTR", "")))
        if not there and str(given.get("DESTCLAS", "")).upper() == "MANAGED":
            if str(given.get("DEST", "")).strip():
                problem = "DESTCLAS(MANAGED) is a queue of the subscription's own: leave it out, or DEST"
                raise refusal(ATTRIBUTE_VALUE, f"{problem} ({ATTRIBUTE_VALUE})", name)
            durable = str(given.get("DURABLE", "YES"))
            given["DEST"] = managed = _MANAGED[durable] + subscription_id(name).hex().upper()[8:28]
            self._add_managed(managed, {PROPERTY_CONTROL: control}, lasts=durable == "YES")
        try:
            self.objects.define(kind, name, given, replace=replace)
        except BrokerError:
            if managed:
                self._directory.delete("QLOCAL", managed, [], purged=True)
            raise
        if not there:
            self._manager.changed()
            try:
                if not new_only:
                    self.send_retained(self.objects.subscriptions[name])
            except MessageException:
                self.delete(kind, name)
                self._manager.changed()
                raise

    def delete(self, kind: str, name: str) -> None:
        """Delete a topic, or a subscription with its queue where that is managed."""
        values = self.objects.delete(kind, name)
        if kind == SUB:
            self.counted().sent.pop(name, None)
        queue = str(values.get("DEST", ""))
        if values.get("DESTCLAS") == "MANAGED" and queue in self._directory.queues:
            self._manager.purge(queue)
            self._directory.delete("QLOCAL", queue, [], purged=True)

    def _add_managed(self, name: str, attributes: Mapping[str, object], *, lasts: bool) -> None:
        """Define the queue of a subscription that names none; that of one that does not last is not kept."""
        if lasts:
            self._directory.define("QLOCAL", name, attributes, replace=True)
        elif name not in self._directory.queues:
            longest: dict[str, Value] = {"MAXMSGL": self._manager.admission.longest}
            self._directory.add(queue_of(name, defaults("QLOCAL") | longest | checked("QLOCAL", attributes)))
        self._manager.changed()

    def check_destination(self, queue: str) -> None:
        """Refuse what publications cannot be sent to; that puts are inhibited now is no matter."""
        stream_rules.check_destination(self._directory, queue)
        try:
            target = self._manager.target(queue)
        except MessageException as error:
            if error.reason != PUT_INHIBITED:
                raise
            return
        if target.topic is not None:
            text = f"{queue} leads to a topic, and no subscription does: name a queue"
            raise refusal(ALIAS_BASE_Q_TYPE_ERROR, text, queue)

    def target(self, name: str, alias: QueueDefinition | None) -> Target:
        """Returns what messages are put to by the address of a topic, or an alias of one."""
        check_mode(self._manager, name)
        if alias is None:
            said = read_address(name)
        else:
            check_gate(alias, "PUT")
            said = TopicAddress(self.objects.topic_behind(name, alias.target))
        settings = self.objects.settings(said.topic)
        own = QueueAttributes(default_persistence=settings.persistence, default_priority=settings.priority)
        if alias is not None:
            own = alias.attributes  # the first definition on the way to the topic, as in MQ
        limits = {settings.longest_expiry, 0 if alias is None else alias.longest_expiry} - {0}
        definition = QueueDefinition(name, own, longest_expiry=min(limits, default=0))
        if said.asks:
            definition = replace(definition, max_depth=0)  # so that each put is answered: queues with room answer some
        target = Target(name, Queue(definition), definition, self._manager.admission.longest)
        target.topic = said
        return target

    def put(self, target: Target, descriptor: Descriptor, body: bytes, work: Work, *, syncpoint: bool) -> Descriptor:
        """Put the messages of a publication in a unit; with what is retained they are one unit in any case."""
        assert target.topic is not None  # it is asked for those that lead to one
        topic = target.topic
        if (topic.retains or topic.forgets) and not syncpoint:
            apart = self._manager.work(work.user)
            own = apart.put(target.name, descriptor, body)
            apart.commit()
            return own
        if topic.forgets:
            for found in retained_fitting(self._manager, topic.topic, topic.point):
                if work.rights is not None:
                    work.rights.check_topic(found, PUB)
                self._manager.security.check_publisher(descriptor.user_identifier, found)
                self.forget(found, topic.point, work, everywhere=topic.scope != LOCAL)
            return descriptor
        if not target.name.startswith(ADDRESS):
            descriptor = by_default(descriptor, target.attributes)
        own, puts = self.publish(
            target, descriptor, body, work, None if topic.without is None else _sends(topic.without)
        )
        work.add(puts, syncpoint=syncpoint)
        return own

    def route(self, topic: str, point: str) -> Route:
        """Returns where publications on a topic go."""
        version = self._manager.version
        if self._version != version or len(self._routes) > _MOST_ROUTES:
            former, self._routes, self._version = self._routes, {}, version
            self._counts.retire(former)
            with self._manager.lock:
                self._manager.targets = {}  # which have those routes
        routes = self._routes  # what is found now is not for those that are there after a change
        if (found := routes.get((topic, point))) is None:
            fitting = [one for one in self.objects.fitting(topic, point) if not one.on_request]
            copies = [self._copy(one, topic) for one in fitting if self._may(one, topic)]
            shapes = {copy.shape: copy.shape for copy in copies}
            copies.sort(key=lambda copy: copy.shape)
            for copy in copies:
                copy.shape = shapes[copy.shape]  # the same object for all of a shape
            selective = any(copy.subscription.select is not None for copy in copies)
            settings = self.objects.settings(topic)
            onward = self._onward(topic, settings)
            found = routes.setdefault((topic, point), Route(copies, selective, settings, onward, Traffic()))
            if routes is not self._routes:
                found.traffic.is_retired = True
        return found

    def counted(self) -> Counts:
        """Returns what was published, and sent to subscriptions, until now."""
        self._counts.add(self._routes)
        return self._counts

    def _onward(self, topic: str, settings: TopicSettings) -> Target | None:
        """Returns the queue of publications for other queue managers; those of the system itself stay here."""
        queue = self._directory.queues.get(TRANSMIT)
        if queue is None or not queue.definition.put_enabled or not settings.forwards or topic.startswith(_SYSTEM):
            return None
        return self._manager.target(TRANSMIT)

    def _may(self, subscription: Subscription, topic: str) -> bool:
        """Returns True where the user of a subscription may have what is published on a topic."""
        return self._manager.security.subscribes(str(subscription.values["SUBUSER"]), topic, SUBSCRIBE)

    def _copy(self, subscription: Subscription, topic: str) -> Copy:
        hears = self.objects.settings(subscription.topic).hears
        identity = identity_of(subscription.values, self.objects.owner)
        try:
            policy = self._manager.policies["PUT"].get(subscription.queue)
            target = self._manager.target(subscription.queue)
            made = Copy(subscription, target, None, policy, identity=identity, hears=hears)
        except MessageException as refused:
            return Copy(subscription, None, refused, identity=identity, hears=hears)
        if not self._manager.security.subscribes(str(subscription.values["SUBUSER"]), topic, PERSIST):
            made.forbid_persistence()
        return made

    def publish(
        self,
        target: Target,
        descriptor: Descriptor,
        body: bytes,
        work: Work,
        without: Without = None,
        *,
        user: str = "",
    ) -> tuple[Descriptor, Moved]:
        """Returns the descriptor of a publication, and its messages, admitted to the queues of those that want it.

        `without` says which subscriptions it does not go to; `user` publishes it, whatever its descriptor says. What is
        retained is put in the publisher's unit of work at once.
        """
        assert target.topic is not None  # it is asked for those that lead to one
        said, route, scope = target.topic, target.route, target.topic.scope
        if route is None:
            route = target.route = self.route(said.topic, said.point)
        number = self._manager.admission.numbers.next(1 + len(route.copies))
        if target.longest_expiry:
            descriptor = limited(descriptor, target.longest_expiry)
        publication = published(self._manager, said, route.settings, descriptor, body, (number, user, work.user))
        copies = wanted(route.copies, publication) if route.selective else route.copies
        if without is not None or scope == REMOTE:
            copies = [copy for copy in copies if _is_meant(copy, without, scope)]
        moved, failed = admitted(self._manager, copies, publication, number + 1) if copies else ([], [])
        try:
            if failed:
                settle(failed, publication, route.settings, moved, work)
            if said.retains:
                self._retain(publication, work, remote=scope == REMOTE)
            if (onward := None if scope else route.onward) is not None:
                moved.append(self._sent_on(onward, of_publication(publication, retains=said.retains)))
        except BrokerError:
            self._manager.admission.undo(moved, [])
            raise
        traffic = route.traffic
        traffic.count += 1
        traffic.last, traffic.publisher = publication.at, id(work)
        if failed or copies is not route.copies or traffic.is_retired:
            self._counts.note((said.topic, said.point), route, copies, [copy for copy, _ in failed])
        if said.asks:  # where others subscribe elsewhere, somebody may
            fits = bool(copies) or onward is not None
            return publication.descriptor._replace(feedback=0 if fits else NO_SUBS_MATCHED), moved
        return publication.descriptor, moved

    def _retain(self, publication: Publication, work: Work, *, remote: bool) -> None:
        """Keep a publication for later subscribers, unless another queue manager's is older than what is kept."""
        self._ready()
        if not (remote and retained_at(self._manager, publication.topic, publication.point) >= publication.at):
            work.as_manager(partial(retain, work, publication))

    def _sent_on(self, onward: Target, message: tuple[Descriptor, bytes]) -> tuple[Queue, Stored]:
        """Returns a message for other queue managers, admitted to the queue where they wait to be sent."""
        return onward.queue, self._manager.admission.admit(onward, *message, ("", ""))

    def send_retained(self, subscription: Subscription, *, asked: bool = False) -> int:
        """Send a subscription what is retained on the topics that it fits, and return how many publications that is.

        They are sent together, or none is.
        """
        if subscription.on_request and not asked:
            return 0
        work = self._manager.work()
        try:
            sent = sum(
                self._send(subscription, publication, work) for publication in retained(self._manager, subscription)
            )
        except MessageException as error:
            work.back_out()
            problem = f"what is retained cannot be sent to subscription {subscription.name}: {error.text}"
            raise refusal(RETAINED_NOT_DELIVERED, problem, subscription.name) from error
        work.commit()
        return sent

    def send_late(self, replacement: Replacement, work: Work) -> None:
        """Have a unit send what it retains to those who have subscribed since, as far as their queues take it."""
        for name, publication in replacement.take_late():
            subscription = self.objects.subscriptions.get(name)
            if subscription is not None:
                with suppress(MessageException):
                    self._send(subscription, publication, work)

    def _send(self, subscription: Subscription, publication: Publication, work: Work) -> bool:
        """Put a publication to one subscription in a unit of work; False where it does not want it."""
        manager, topic = self._manager, publication.topic
        if not self._may(subscription, topic):
            return False
        copies = wanted([self._copy(subscription, topic)], publication)
        moved, failed = admitted(manager, copies, publication, manager.admission.numbers.next())
        try:
            settle(failed, publication, self.objects.settings(topic), moved, work)
        except MessageException:
            manager.admission.undo(moved, [])
            raise
        work.add(moved)
        self._counts.send(subscription.name, len(moved), int(manager.admission.clock() * 1_000_000) if moved else 0)
        return bool(moved)

    def forget(self, topic: str, point: str, work: Work, *, everywhere: bool = False) -> bool:
        """Remove what is retained on a topic in a unit of work, here or `everywhere`; False where nothing is."""
        self._ready()
        onward = self._onward(topic, self.objects.settings(topic)) if everywhere else None
        if onward is not None:
            now = int(self._manager.admission.clock() * 1_000_000)
            told = Forwarded(topic, point, False, now, Descriptor(persistence=PERSISTENT), b"", "forget")
            work.add([self._sent_on(onward, packed(told))])
        found: list[bool] = []
        work.as_manager(lambda: found.append(forget(work, topic, point)))
        return found[0]

    def _ready(self) -> None:
        """Define the queue of retained publications where it is not there yet."""
        self._define_once(RETAINED, {"MSGDLVSQ": "FIFO", "MAXMSGL": 104_857_600})

    def _define_once(self, queue: str, attributes: Mapping[str, object]) -> None:
        """Define a queue of the system, unless it is there, or another thread is quicker."""
        if queue in self._directory.queues:
            return
        try:
            self._manager.define("QLOCAL", queue, attributes)
        except MessageException as error:
            if error.reason != OBJECT_ALREADY_EXISTS:
                raise


def _sends(to: tuple[str, bytes]) -> Callable[[Subscription], bool]:
    """Returns a test for subscriptions that send to a queue with a correlation id."""
    return lambda one: (one.queue, one.correl_id) == to


def _is_meant(copy: Copy, without: Without, scope: str) -> bool:
    """Returns True for a subscription that is not left out, and hears other queue managers where they publish."""
    return (scope != REMOTE or copy.hears) and (without is None or not without(copy.subscription))
