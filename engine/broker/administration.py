"""Administration: brokers created, changed and asked, whether they run or not."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from engine.broker import queues
from engine.broker.channel import Channel, connect, failure
from engine.broker.definition import Definition, Right
from engine.broker.file_reader import definition_of
from engine.broker.folder import EXISTS, Folder, found
from engine.broker.repository.repository import Change, Repository, opened
from engine.broker.state import BrokerState, GroupState
from engine.broker.supervisor_plan import plan_of
from engine.broker.user_rights import NOT_AUTHORIZED, Rights, name_of
from engine.errors import BrokerError, ConfigurationException
from engine.files.input_files import read_file
from engine.files.output_files import write_file
from flows.content_filters import filtering

if TYPE_CHECKING:
    from engine.broker.changes import Planned
    from flows.files import OwnNodes

RUNS: Final = 8018
_ANSWERS_WITHIN: Final = 90.0
_CREATED: Final = ("repository.sqlite", "queues", "log", "creating.json")  # how names begin that a creation makes


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that exists: its folder and its repository."""

    folder: Folder
    repository: Repository

    def load(self, right: Right = "read", *, group: str = "", flow: str = "") -> BrokerState:
        """Returns the broker's state to a user who may have it."""
        state = self.repository.load()
        rights_of(state).demand(right, group=group, flow=flow)
        return state

    @property
    def runs(self) -> bool:
        """True while a supervisor has the folder."""
        return bool(self.folder.holder)

    @property
    def is_foreign(self) -> bool:
        """True while a supervisor runs that does not answer this user."""
        return self.runs and self.folder.control.exists() and not os.access(self.folder.control, os.W_OK)

    def status(self) -> dict[str, Any] | None:
        """Returns which processes a running broker has, or None."""
        if not self.runs or self.is_foreign:
            return None
        try:
            with self.session() as channel:
                channel.send({"do": "status"})
                return (channel.receive(5.0) or {}).get("status")
        except ConfigurationException:  # it starts or ends
            return None

    @contextmanager
    def session(self) -> Iterator[Channel]:
        """Connects with the supervisor; raises where it does not answer."""
        if self.is_foreign:
            user = name_of(self.folder.control.stat().st_uid)
            raise BrokerError(NOT_AUTHORIZED, f"the broker in {self.folder.path} runs for {user}: ask it as that user")
        until = time.monotonic() + queues.WAIT
        while True:
            try:
                channel = connect(self.folder.control)
                break
            except OSError as error:
                if time.monotonic() > until or not self.runs:
                    text = f"the broker in {self.folder.path} does not answer: see penstock broker logs"
                    raise ConfigurationException(text) from error
                time.sleep(0.05)
        try:
            yield channel
        finally:
            channel.close()

    def change(
        self,
        plan: Callable[[BrokerState], Planned],
        change: Callable[[Planned], Change],
        *,
        right: Right = "deploy",
        deploys: bool = True,
        dry_run: bool = False,
    ) -> Planned:
        """Carry out what `plan` makes of the broker's state: everywhere at once, or not at all.

        `deploys` says that the groups it touches get a new version, which a rollback leads back from.
        """
        with self.folder.changing():
            before = self.repository.load()
            rights = rights_of(before)
            planned = plan(before)
            parts = {(c.group, c.flow) for c in planned.changes}
            for group, flow in parts | {("", "")} if planned.others or not parts else parts:
                rights.demand(right, group=group, flow=flow)
            self._check(planned)
            if dry_run:
                return planned
            after = self._numbered(before, planned) if deploys else planned.after
            if deploys:
                with queues.reached(self.folder) as reached:
                    queues.define_missing(reached, after)
            self._carry_out(after, change(planned), planned.contents)
            return replace(planned, after=after)

    def _numbered(self, before: BrokerState, planned: Planned) -> BrokerState:
        """The state with new numbers for the versions of groups that have changed."""
        after = planned.after
        for group in after.groups:
            old = before.group(group.name) or GroupState(group.name)
            if group.number == old.number and group.digest != old.digest:
                number = self.repository.next_number(group.name)
                after = after.with_group(replace(group, number=number, parent=old.number))
        return after

    def _check(self, planned: Planned) -> None:
        """Refuse a state whose flows name queues or data sources that are not there."""
        wrong = []
        if planned.queues:
            with queues.reached(self.folder) as reached:
                wrong = queues.missing(reached, planned.queues, planned.after.queues)
        known = planned.after.data_sources
        wrong += [
            f"{flow} needs the data source {name}, which is not there: say its url under dataSources in broker.yaml"
            for flow, names in planned.data_sources.items()
            for name in names
            if name not in known
        ]
        if wrong:
            raise ConfigurationException("; ".join(wrong))

    def _carry_out(self, after: BrokerState, change: Change, contents: Mapping[str, tuple[str, bytes]]) -> None:
        if not self.runs:
            self.repository.save(after, change, contents)
            return

        def content(hashes: Any) -> dict[str, bytes]:
            new = {key: contents[key][1] for key in hashes if key in contents}
            return {**new, **self.repository.contents([key for key in hashes if key not in new])}

        plan = plan_of(replace(after, generation=after.generation + 1), content)
        with self.session() as channel:
            channel.send({"do": "prepare", "plan": plan.as_data()})
            _expect(channel)
            self.repository.save(after, change, contents)
            channel.send({"do": "commit"})
            _expect(channel)

    def stop(self, *, at_once: bool = False) -> bool:
        """Stop the broker, and wait until it has; returns False where it does not run.

        `at_once` has messages in hand backed out, rather than finished.
        """
        if not self.runs:
            return False
        with self.session() as channel:
            channel.send({"do": "stop", "atOnce": at_once})
            _expect(channel)
        until = time.monotonic() + self.repository.load().settings.stop_limit + 15
        while self.runs:
            if time.monotonic() > until:
                text = f"the broker in {self.folder.path} does not stop: look for what holds it with penstock top"
                raise ConfigurationException(text)
            time.sleep(0.02)
        return True

    def delete(self, *, purge: bool = False) -> None:
        """Take the broker away, with its folder's content; messages are only lost where `purge` says so."""
        self.load("deploy")
        if self.runs:
            text = f"the broker in {self.folder.path} runs: stop it with penstock broker stop first"
            raise ConfigurationException(text, number=RUNS)
        held = self.folder.hold()
        try:
            self._refuse_messages(purge=purge)
            self.repository.delete()
            for path in sorted(self.folder.path.iterdir()):
                if path.name in {"queues", "log", "statistics", "trace", "content"}:
                    shutil.rmtree(path)
                elif path.name != "broker.yaml" and path.is_file() and _is_ours(path):
                    path.unlink()
        finally:
            held.close()
        (self.folder.path / "lock").unlink(missing_ok=True)
        if not any(self.folder.path.iterdir()):
            self.folder.path.rmdir()

    def _refuse_messages(self, *, purge: bool) -> None:
        queue_manager = filtering(queues.queue_managers().open(self.folder.queues))
        try:
            count = queues.messages_in(queue_manager)
        finally:
            queue_manager.close()
        if count and not purge:
            text = f"the queues of {self.folder.path} hold {count} messages: get them, or delete it with --purge"
            raise ConfigurationException(text)


def _is_ours(path: Path) -> bool:
    names = ("identity.json", "deploying", "control", "repository.sqlite", "broker.lock")
    return path.name.startswith(names)


def _expect(channel: Channel) -> None:
    """Wait for the supervisor to have done what it was asked; raises with what it says otherwise."""
    answer = channel.receive(_ANSWERS_WITHIN)
    if answer is None:
        raise ConfigurationException("the broker has ended, or does not answer: see penstock broker logs")
    if "error" in answer:
        raise failure(answer["error"])


def rights_of(state: BrokerState) -> Rights:
    """Returns the rights that a broker gives."""
    return Rights(state.rights, state.name, state.settings.users)


def broker_of(name: str) -> Broker:
    """Returns a broker by its name or its folder; raises where there is none."""
    folder = found(name)
    known = folder.read()
    return Broker(folder, opened(known["repository"], known["name"]))


def create(
    path: Path,
    *,
    name: str = "",
    queue_manager: str = "",
    own: tuple[OwnNodes, ...] = (),
    archive_minutes: float = 0,
) -> Broker:
    """Make a broker in a folder, of the broker.yaml in it if there is one: all of it, or nothing."""
    path = path.absolute()
    folder = Folder(path)
    if folder.is_created:
        raise ConfigurationException(f"there is a broker in {path} already", number=EXISTS)
    definition = definition_of(str(folder.file)) if os.path.lexists(folder.file) else Definition(broker=path.name)
    if definition is None:
        raise ConfigurationException(f"{folder.file} is no broker file: it begins with `broker: NAME`")
    minutes = archive_minutes or definition.settings.archive_interval
    definition = replace(
        definition,
        broker=name or definition.broker,
        queue_manager=queue_manager or definition.queue_manager,
        settings=replace(definition.settings, archive_interval=minutes),
    )
    killed = _undo_killed(folder)
    there = {entry.name for entry in path.iterdir()} if path.is_dir() else None
    uuid = str(uuid4())
    path.mkdir(parents=True, exist_ok=True)
    write_file(folder.creating, json.dumps({"uuid": uuid, "there": sorted(there or ())}))
    try:
        made = _create(folder, definition, own, BrokerState(definition.broker, uuid), killed)
    except BaseException:
        _undo(path, there)
        raise
    folder.creating.unlink()
    return made


def _undo_killed(folder: Folder) -> str:
    """Takes away what a creation that was killed has left in a folder; returns the identity of its broker."""
    if not folder.creating.is_file():
        return ""
    left = json.loads(read_file(folder.creating))
    foreign = {entry.name for entry in folder.path.iterdir() if not entry.name.startswith(_CREATED)}
    _undo(folder.path, foreign | set(left["there"]))
    return str(left["uuid"])


def _forget_killed(repository: Repository, uuid: str) -> None:
    """Takes the broker of a creation that was killed out of a repository elsewhere."""
    with suppress(BrokerError):
        if uuid and repository.load().uuid == uuid:
            repository.delete()


def _create(
    folder: Folder, definition: Definition, own: tuple[OwnNodes, ...], state: BrokerState, killed: str
) -> Broker:
    from engine.broker.deployment import defined  # noqa: PLC0415  # what flows are made of is not for all commands

    url = definition.settings.repository or folder.own_repository
    repository = opened(url, definition.broker)
    _forget_killed(repository, killed)
    state = replace(state, queue_manager=definition.queue_manager)
    planned = defined(state, definition, own)
    queues.created(folder, planned.after)
    with queues.reached(folder) as reached:
        wrong = queues.missing(reached, planned.queues, (*planned.after.queues, planned.after.dead_letter_queue))
        if wrong:
            raise ConfigurationException("; ".join(wrong))
        queues.define_missing(reached, planned.after)
    after = planned.after
    for group in after.groups:
        after = after.with_group(replace(group, number=1))
    repository.create(state)
    try:
        repository.save(after, Change("create", f"broker {after.name}"), planned.contents)
    except BrokerError:
        repository.delete()
        raise
    folder.log.mkdir(exist_ok=True)
    folder.write(definition.broker, definition.settings.repository)
    return Broker(folder, repository)


def _undo(path: Path, there: set[str] | None) -> None:
    """Take away what a creation that failed has left in a folder."""
    if there is None:
        shutil.rmtree(path, ignore_errors=True)
        return
    for entry in path.iterdir():
        if entry.name in there:
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
