"""The supervisor: the process that starts a broker's queue manager and its groups, and keeps them running."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

from engine.broker import queues
from engine.broker.changes import begun
from engine.broker.channel import Channel, listen
from engine.broker.child_processes import Child, Loop, ended_children, fork, nonblocking
from engine.broker.command_sessions import Sessions
from engine.broker.file_differences import differences
from engine.broker.folder import Folder
from engine.broker.logs import Log, hand_to
from engine.broker.repository.repository import Change, opened
from engine.broker.statistics.intervals import Intervals
from engine.broker.supervisor_plan import Plan, plan_of
from engine.broker.user_rights import Rights
from engine.broker.workload_limits import Event
from engine.errors import BrokerError, reason

_SOONEST: Final = 0.1
_LATEST: Final = 10.0
_STEADY: Final = 60.0  # seconds that a process runs for its earlier ends to be forgotten
_PATIENCE: Final = 60.0  # seconds behind which a start whose queue manager has always ended again has failed
_NOT_THERE: Final = 8093
_MOST_DEATHS: Final = 8  # ends in a row behind which a group is stopped
_QUEUE_MANAGER: Final = "queue manager"
_LINK: Final = "collective link"
_OWN: Final = (_QUEUE_MANAGER, _LINK)
_PIECE: Final = 1 << 14  # bytes of lines that are taken before the supervisor sees to all else
_PIPE: Final = 1 << 16  # bytes that processes may have handed over and are not taken yet


@dataclass(slots=True)
class Kept:
    """A process that is to run, whatever ends it."""

    name: str
    child: Child | None = None
    deaths: int = 0
    wanted: bool = True
    state: str = "starting"
    workers: list[dict[str, Any]] = field(default_factory=list)
    wrong: dict[str, str] = field(default_factory=dict)  # flows that cannot run, and why


class Supervisor:
    """The process that runs a broker; it calls `started` once all parts of the broker are ready."""

    def __init__(self, folder: Folder, started: Callable[[list[str]], None]) -> None:
        self.folder = folder
        self._held: IO[str] = folder.hold()
        self._started: Callable[[list[str]], None] | None = started
        self._began = time.monotonic()
        known = folder.read()
        self.repository = opened(known["repository"], known["name"])
        self.log = Log(folder, "text")
        self.loop = Loop()
        self._pipe, self._log_end = os.pipe()
        nonblocking(self._pipe)
        self._kept: dict[str, Kept] = {}
        self._dropped: list[Kept] = []  # processes that are to end, beside which one of their name may begin
        self.plan = Plan()
        self._ending = False
        self.intervals = Intervals(self, self._log_end)
        self._sessions = Sessions(self)

    def run(self) -> None:
        """Run the broker until it is told to stop."""
        state = self.repository.load()
        Rights(state.rights, state.name, state.settings.users).demand("operate")
        if (planned := begun(state)).changes:
            said = ", ".join(f"{changed.group}/{changed.flow} {changed.text}" for changed in planned.changes)
            self.repository.save(planned.after, Change("start", f"startMode: {said}"))
        self.loop.on_signal(signal.SIGTERM, self.stop)
        self.loop.on_signal(signal.SIGINT, self.stop)
        self.loop.on_signal(signal.SIGCHLD, self._bury)
        self.loop.watch(_Descriptor(self._pipe), self._take_lines)
        listening = listen(self.folder.control)
        listening.setblocking(False)
        self.loop.watch(listening, partial(self._accept, listening))
        queues.prepare(self.folder)  # once: the queue manager, groups and workers are forked with it
        self._keep(_QUEUE_MANAGER)
        self.plan = self.load()
        import_module("engine.broker.group")  # once, for all groups, also those that start again
        self.log.form = self.plan.settings.log
        self.log.tell(f"the broker {self.plan.broker} starts with {len(self.plan.groups)} execution groups")
        for name in self.plan.running:
            self._keep(name)
        self.relink(self.plan)
        self.intervals.begin()
        self._look()
        self.loop.run()
        self.folder.control.unlink(missing_ok=True)
        self._take_lines(_PIPE)
        self.log.tell("the broker has stopped")

    def load(self) -> Plan:
        """Returns what the repository says that is to run."""
        state = self.repository.load()
        return plan_of(state, self.repository.contents)

    # Processes.

    @property
    def groups(self) -> dict[str, Kept]:
        """The processes of groups, by name."""
        return {name: kept for name, kept in self._kept.items() if name not in _OWN}

    def tell(self, group: str, message: dict[str, Any]) -> None:
        """Say something to the process of a group; one that is not there is started first."""
        kept = self._kept.get(group)
        if kept is None or kept.child is None:
            kept = self._keep(group, prepared=False)
        assert kept.child is not None
        kept.child.channel.send(message)

    def drop(self, group: str) -> None:
        """Have the process of a group end."""
        if (kept := self._kept.pop(group, None)) is not None and kept.child is not None:
            kept.wanted = False
            self._dropped.append(kept)
            self._end(kept)

    def _keep(self, name: str, *, prepared: bool = True) -> Kept:
        kept = self._kept.setdefault(name, Kept(name))
        kept.wanted, kept.state = True, "starting"
        own = {_QUEUE_MANAGER: self._serve, _LINK: self._join}
        run = own.get(name) or partial(self._group, name)
        child = kept.child = fork(run, [self._log_end])
        self.loop.watch(child.channel, partial(self._heard, kept, child))
        if name not in own and prepared:
            child.channel.send({"do": "run", **self.plan.of_group(name)})
        return kept

    def _serve(self, channel: Channel) -> None:
        """The queue manager's process."""
        hand_to(self._log_end, _QUEUE_MANAGER)

        def stopped(stop: Callable[[], None]) -> None:
            signal.signal(signal.SIGTERM, lambda *_: stop())

        queues.serve(self.folder, lambda: channel.send({"ready": True}), stopped)

    def _join(self, channel: Channel) -> None:
        """The process that exchanges publications with the other brokers of the collective."""
        from engine.broker.collective import collective_of  # noqa: PLC0415  # most brokers are in none
        from engine.broker.collective_link import Link, Member  # noqa: PLC0415  # nor need AMQP

        hand_to(self._log_end, _LINK)
        collective = collective_of(self.plan.settings.collective)
        assert collective is not None  # there is no link without one
        known = self.folder.read()
        repository = opened(known["repository"], known["name"])  # with connections of this process
        members = partial(repository.members, collective.name)
        Link(self.folder, Member(self.plan.broker, self.plan.uuid, collective, members), channel).run()

    def relink(self, before: Plan) -> None:
        """Have the link be there where the broker is in a collective, and begin anew where it is in another one."""
        now = self.plan.settings.collective
        link = self._kept.get(_LINK)
        if not now:
            self.drop(_LINK)
        elif link is None or link.child is None:
            self._keep(_LINK)
        elif now != before.settings.collective:
            link.child.tell(signal.SIGTERM)  # it starts again, with what counts now

    def _group(self, name: str, channel: Channel) -> None:
        from engine.broker.group import Group  # noqa: PLC0415  # nodes and ESQL are for the processes that run them
        from engine.broker.worker import Place  # noqa: PLC0415

        limit = self.plan.settings.stop_limit
        place = Place(str(self.folder.path), self.plan.broker, name, stop_limit=limit)
        Group(channel, place, self._log_end).run()

    def _heard(self, kept: Kept, child: Child) -> None:
        for message in child.channel.arrived():
            self._note(kept, message)
            if kept.wanted:
                self._sessions.heard(kept.name, message)
        if not child.channel.is_open:
            self.loop.forget(child.channel)
        self._look()

    def _note(self, kept: Kept, message: dict[str, Any]) -> None:
        """Note what a process says of itself."""
        if "say" in message:
            self.log.tell(message["say"], "WARNING", kept.name)
        if "event" in message:
            self.intervals.tell(Event(**message["event"]))
        kept.state = message.get("state", kept.state)
        kept.workers = message.get("workers", kept.workers)
        kept.wrong = message.get("wrong", kept.wrong)
        if "failed" in message:
            self.log.tell(message["failed"], "ERROR", kept.name)
            if not message.get("goesOn"):
                kept.state = f"failed: {message['failed']}"
        if message.get("ready") or message.get("committed"):
            wrong = "; ".join(f"{flow} cannot run: {why}" for flow, why in kept.wrong.items())
            kept.state = f"running, but {wrong}" if wrong else "running"

    def _look(self) -> None:
        """See whether all that is to start is there."""
        if self._ending or self._started is None:
            return
        if all(kept.state != "starting" for kept in self._kept.values()):
            failed = [f"{kept.name} {kept.state}" for kept in self._kept.values() if kept.state != "running"]
            self.log.tell("the broker is ready" + (f", but {'; '.join(failed)}" if failed else ""))
            started, self._started = self._started, None
            started(differences(self.folder, self.repository.load()))

    def _bury(self) -> None:
        for pid, status in ended_children():
            kept = next((k for k in self._there() if k.child is not None and k.child.pid == pid), None)
            if kept is not None and kept.child is not None:
                self._ended(kept, kept.child, status)
        if self._ending and not self._there():
            self.loop.end()
        elif self._ending:
            self._end_next()

    def _there(self) -> list[Kept]:
        """The processes that there are."""
        return [kept for kept in (*self._kept.values(), *self._dropped) if kept.child is not None]

    def _ended(self, kept: Kept, child: Child, status: int) -> None:
        self._take_lines(_PIPE)
        self.loop.forget(child.channel)
        child.channel.close()
        kept.child, kept.workers, kept.wrong = None, [], {}
        if kept.wanted or kept.name not in self._kept:
            self._sessions.ended(kept.name)
        if self._ending or not kept.wanted:
            kept.state = "stopped"
            self._dropped = [other for other in self._dropped if other is not kept]
            return
        lived = time.monotonic() - child.started
        kept.deaths = 1 if lived > _STEADY else kept.deaths + 1
        how = f"was killed by signal {-status}" if status < 0 else f"ended with {status}"
        what = f"{kept.name}, process {child.pid}, {how} after {lived:.1f} s"
        if kept.name == _QUEUE_MANAGER and self._started is not None and time.monotonic() > self._began + _PATIENCE:
            raise BrokerError(_NOT_THERE, f"{what}, as each time before: see penstock broker logs {self.folder.path}")
        if kept.deaths >= _MOST_DEATHS and kept.name not in _OWN:
            kept.state = f"stopped, as it ended {kept.deaths} times in a row"
            self.log.tell(f"{what}; the group keeps dying and is stopped: flow start begins anew", "ERROR")
            self._look()
            return
        pause = min(_SOONEST * 2 ** (kept.deaths - 1), _LATEST)
        self.log.tell(f"{what}; it starts again in {pause:.1f} s", "WARNING")
        kept.state = "restarting"
        self.loop.after(pause, partial(self._again, kept))

    def _again(self, kept: Kept) -> None:
        if kept.child is None and kept.wanted and not self._ending and self._kept.get(kept.name) is kept:
            self._keep(kept.name)

    # The end.

    def stop(self, *, at_once: bool = False) -> None:
        """Stop in order: the groups first, then the link to a collective, then the queue manager.

        `at_once` has groups kill their workers, also where they are about to end.
        """
        for kept in self._there() if at_once else ():
            if kept.child is not None and kept.name not in _OWN:
                kept.child.channel.send({"do": "kill"})
        if self._ending:
            return
        self._ending = True
        self.log.tell("the broker stops")
        self._end_next()
        if not self._there():
            self.loop.end()

    def _end_next(self) -> None:
        left = self._there()
        others = [kept for kept in left if kept.name != _QUEUE_MANAGER]
        groups = [kept for kept in others if kept.name != _LINK]
        if not groups and left and self.intervals.end():
            return  # once that is published the rest may end
        for kept in groups or others or left:
            if kept.state != "ending":
                self._end(kept)

    def _end(self, kept: Kept) -> None:
        """Tell a process to end; one that does not in good time is killed."""
        child = kept.child
        assert child is not None
        kept.state = "ending"
        child.tell(signal.SIGTERM)
        self.loop.after(self.plan.settings.stop_limit + 5, partial(self._kill, kept, child))

    @staticmethod
    def _kill(kept: Kept, child: Child) -> None:
        if kept.child is child:
            child.tell(signal.SIGKILL)

    # What comes in.

    def _accept(self, listening: Any) -> None:
        with suppress(BlockingIOError):
            connected, _ = listening.accept()
            connected.setblocking(True)
            self._sessions.open(Channel(connected))

    def _take_lines(self, most: int = _PIECE) -> None:
        """Writes lines that processes have handed over, of so many bytes: who prints without end is not waited for."""
        with suppress(BlockingIOError):
            for _ in range(0, most, _PIECE):
                self.log.take(os.read(self._pipe, _PIECE))

    def status(self) -> dict[str, Any]:
        """Returns which processes there are."""
        return {
            "process": os.getpid(),
            "broker": self.plan.broker,
            "generation": self.plan.generation,
            "settings": asdict(self.plan.settings),
            "processes": [
                {
                    "name": kept.name,
                    "process": kept.child.pid if kept.child else None,
                    "state": kept.state,
                    "workers": kept.workers,
                    "wrong": kept.wrong,
                }
                for kept in self._kept.values()
            ],
        }


@dataclass(frozen=True, slots=True)
class _Descriptor:
    """A descriptor that the loop can watch."""

    number: int

    def fileno(self) -> int:
        return self.number


def main(path: str, ready: str = "", form: str = "") -> None:
    """Run the broker of a folder; `ready` is a descriptor that is written to when it is, instead of standard output.

    `form` is that of the line on standard output: json, or nothing for words.
    """

    def started(differences: list[str]) -> None:
        told = "".join(f"penstock: {line}\n" for line in differences)
        line = f"penstock: broker in {path} is ready, process {os.getpid()}\n"
        if ready:
            with suppress(OSError):
                os.write(int(ready), f"{told}{line}".encode())
                os.close(int(ready))
        else:
            sys.stderr.write(told)
            data = {"ready": True, "folder": path, "process": os.getpid()}
            sys.stdout.write(json.dumps(data) + "\n" if form else line)
            sys.stdout.flush()

    try:
        Supervisor(Folder(Path(path)), started).run()
    except (BrokerError, OSError) as error:
        said = f"{error.filename or path}: {reason(error)}" if isinstance(error, OSError) else str(error)
        if ready:
            with suppress(OSError):
                os.write(int(ready), f"penstock: {said}\n".encode())
        sys.stderr.write(f"penstock: {said}\n")
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
