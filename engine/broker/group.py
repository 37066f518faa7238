"""An execution group: the process that starts the workers of its flows, watches them, and replaces them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

from engine.broker.channel import Channel
from engine.broker.child_processes import Child, Loop, ended_children, fork
from engine.broker.definition import Limits
from engine.broker.logs import hand_to
from engine.broker.state import DeployedUse, use_of_data
from engine.broker.worker import Job, Loaded, Place, Worker, jobs_of, loaded
from engine.broker.workload_limits import event_of_overrun
from engine.errors import BrokerError
from flows.files import Shipped

_SOONEST: Final = 0.05  # seconds until a worker that died is started again; twice as many each time
_LATEST: Final = 10.0
_STEADY: Final = 30.0  # seconds that a worker lives for its earlier ends to be forgotten
_DOUBTFUL: Final = 3  # ends in a row behind which what a worker has in hand is taken for their cause


@dataclass(slots=True)
class Staffed:
    """A version of a flow, and the processes that work on it."""

    key: str
    use: DeployedUse
    shipped: Shipped
    load: Callable[[], Loaded]
    jobs: list[Job] = field(default_factory=list)
    workers: dict[int, Worked] = field(default_factory=dict)  # by process
    goes: bool = False
    retired: bool = False


@dataclass(slots=True)
class Worked:
    """A worker as its group sees it."""

    job: Job
    child: Child
    ready: bool = False
    deaths: int = 0


class Group:
    """The process of one group; its supervisor tells it what to run."""

    def __init__(self, channel: Channel, place: Place, log: int) -> None:
        self._channel = channel
        self._place = place
        self._log = log
        self._running: dict[str, Staffed] = {}
        self._coming: dict[str, Staffed] = {}
        self._leaving: list[Staffed] = []
        self._goal: frozenset[str] = frozenset()  # the flows that are to run once what is prepared counts
        self._waits = ""  # for "prepared" or "committed" to be said
        self._tried: dict[str, Staffed] = {}  # flows that are read and compiled already
        self._wrong: dict[str, str] = {}  # the flows that cannot run, and why
        self._has_committed = False
        self._ending = False
        self._loop = Loop()
        hand_to(log, place.group)

    def run(self) -> None:
        """Do as the supervisor says until it says stop, or is gone."""
        self._loop.on_signal(signal.SIGTERM, self._stop)
        self._loop.on_signal(signal.SIGCHLD, self._bury)
        self._loop.watch(self._channel, self._told)
        self._loop.run()

    def _told(self) -> None:
        for message in self._channel.arrived():
            act: Callable[[dict[str, Any]], object] = {
                "run": self._run,
                "prepare": self._prepare,
                "commit": self._commit,
                "abort": self._abort,
                "kill": self._end_at_once,
            }[message["do"]]
            act(message)
        if not self._channel.is_open:  # the supervisor is gone, and with it the queue manager of what is in hand
            self._loop.forget(self._channel)
            self._end_at_once({})

    def _run(self, message: dict[str, Any]) -> None:
        """Run what the supervisor starts this process with; a flow that cannot run keeps no other from it."""
        self._wrong = {}
        able = [flow for flow in message["flows"] if self._is_able(flow)]
        if self._prepare({**message, "flows": able}):
            self._commit(message)

    def _is_able(self, flow: dict[str, Any]) -> bool:
        """Read and compile a flow; what is wrong with it is told."""
        try:
            self._tried[flow["use"]["name"]] = self._staffed(flow["key"], use_of_data(flow["use"]), flow["content"])
        except (BrokerError, OSError) as error:
            self._wrong[flow["use"]["name"]] = str(error)
            self._say(f"{flow['use']['name']} cannot run: {error}")
            return False
        return True

    def _prepare(self, message: dict[str, Any]) -> bool:
        """Start the workers of what is new, which wait for the word to go."""
        self._abort(message)
        limits = Limits(**message["limits"])
        around = {"data_sources": message["dataSources"], "traces": message["traces"], "amqp": message["amqp"]}
        self._place = replace(self._place, limits=limits, **around)
        self._goal = frozenset(flow["use"]["name"] for flow in message["flows"])
        self._waits = "prepared"
        try:
            for flow in message["flows"]:
                name, key = flow["use"]["name"], flow["key"]
                if name not in self._running or self._running[name].key != key:
                    known = self._tried.pop(name, None)
                    self._coming[name] = known or self._staffed(key, use_of_data(flow["use"]), flow["content"])
            for staffed in self._coming.values():
                for job in staffed.jobs:
                    self._start(staffed, job)
        except (BrokerError, OSError) as error:
            self._refuse(str(error))
            return False
        self._report()
        return True

    def _staffed(self, key: str, use: DeployedUse, content: dict[str, Any]) -> Staffed:
        """A version of a flow, read and compiled here, so that its workers need not, unless it brings its own nodes."""
        shipped = Shipped.of_data(content)
        load = partial(loaded, use, shipped, self._place.given)
        found = load()
        jobs = jobs_of(use, found.deployed())
        return Staffed(key, use, shipped, load if shipped.own_nodes else partial(_as_it_is, found), jobs)

    def _start(self, staffed: Staffed, job: Job, deaths: int = 0) -> None:
        place, log, load = self._place, self._log, staffed.load
        counted = deaths >= _DOUBTFUL

        def work(channel: Channel) -> None:
            Worker(place, job, log, counted=counted).run(channel, load)

        child = fork(work, [log])
        worked = Worked(job, child, deaths=deaths)
        staffed.workers[child.pid] = worked
        self._loop.watch(child.channel, partial(self._heard, staffed, worked))

    def _heard(self, staffed: Staffed, worked: Worked) -> None:
        """A worker says that it is ready, or that it cannot be."""
        for message in worked.child.channel.arrived():
            if "overrun" in message:
                self._overrun(staffed, worked, message["overrun"])
                continue
            if "failed" in message:
                if staffed.goes:
                    self._wrong[staffed.use.name] = message["failed"]
                self._refuse(message["failed"], gives_up=not staffed.goes)
                return
            self._wrong.pop(staffed.use.name, None)
            worked.ready = bool(message.get("ready"))
            if worked.ready and staffed.goes:
                worked.child.channel.send({"go": True})
        if not worked.child.channel.is_open:
            self._loop.forget(worked.child.channel)
        self._report()

    def _overrun(self, staffed: Staffed, worked: Worked, said: dict[str, Any]) -> None:
        """Tell of a message that takes longer than it may; where the group is to start again, this process ends."""
        self._channel.send({"event": asdict(event_of_overrun(said, self._place.group, staffed.use.name))})
        if said["restarts"]:
            worked.child.tell(signal.SIGKILL)  # its queue manager backs the message out
            self._stop()

    def _refuse(self, text: str, *, gives_up: bool = True) -> None:
        if gives_up:
            self._abort({})
        goes_on = gives_up and self._has_committed  # with what ran before
        self._channel.send({"failed": text, "wrong": self._wrong, "goesOn": goes_on})

    def _abort(self, _: dict[str, Any]) -> None:
        """Give up what is prepared."""
        for staffed in self._coming.values():
            self._retire(staffed)
        self._coming = {}
        self._waits = ""

    def _commit(self, message: dict[str, Any]) -> None:
        """Let what is prepared go, and what it replaces end."""
        if message["do"] == "commit":
            self._wrong = {}
        self._waits, self._has_committed = "committed", True
        for name, staffed in self._coming.items():
            if name in self._running:
                self._retire(self._running[name])
            self._running[name] = staffed
            staffed.goes = True
            for worked in staffed.workers.values():
                if worked.ready:
                    worked.child.channel.send({"go": True})
        self._coming = {}
        for name in [name for name in self._running if name not in self._goal]:
            self._retire(self._running.pop(name))
        self._report()

    def _retire(self, staffed: Staffed) -> None:
        staffed.retired = True
        if not staffed.workers:
            return
        self._leaving.append(staffed)
        for worked in staffed.workers.values():
            worked.child.tell(signal.SIGTERM)
        self._loop.after(self._place.stop_limit, partial(self._kill, staffed))

    @staticmethod
    def _kill(staffed: Staffed) -> None:
        for worked in staffed.workers.values():
            worked.child.tell(signal.SIGKILL)

    def _report(self) -> None:
        """Tell the supervisor how far things are."""
        if self._waits == "prepared":
            workers = [worked for staffed in self._coming.values() for worked in staffed.workers.values()]
            if all(worked.ready for worked in workers):
                self._waits = ""
                self._channel.send({"prepared": True})
        elif self._waits == "committed":
            running = [worked for staffed in self._running.values() for worked in staffed.workers.values()]
            if self._leaving or not all(worked.ready for worked in running):
                return
            self._waits = ""
            self._channel.send({"committed": True, "workers": self._workers(), "wrong": self._wrong})
        elif not self._waits:
            self._channel.send({"workers": self._workers(), "wrong": self._wrong})

    def _workers(self) -> list[dict[str, Any]]:
        return [
            {"flow": name, "process": pid, "threads": len(worked.job.entrances), "ready": worked.ready}
            for name, staffed in self._running.items()
            for pid, worked in staffed.workers.items()
        ]

    def _bury(self) -> None:
        """See to workers that have ended: those that were not told to are started again."""
        for pid, status in ended_children():
            for staffed in (*self._running.values(), *self._coming.values(), *self._leaving):
                if pid in staffed.workers:
                    self._ended(staffed, staffed.workers.pop(pid), pid, status)
                    break
        self._leaving = [staffed for staffed in self._leaving if staffed.workers]
        if self._ending and not self._leaving:
            self._loop.end()
        self._report()

    def _ended(self, staffed: Staffed, worked: Worked, pid: int, status: int) -> None:
        self._loop.forget(worked.child.channel)
        worked.child.channel.close()
        if staffed.retired:
            return
        if not staffed.goes:
            self._refuse(f"a worker of {staffed.use.name} ended with {status} before it was ready: see the log")
            return
        lived = time.monotonic() - worked.child.started
        deaths = 1 if lived > _STEADY else worked.deaths + 1
        pause = min(_SOONEST * 2 ** (deaths - 1), _LATEST)
        how = f"was killed by signal {-status}" if status < 0 else f"ended with {status}"
        self._say(f"worker {pid} of {staffed.use.name} {how} after {lived:.1f} s; another starts in {pause:.2f} s")
        self._loop.after(pause, partial(self._again, staffed, worked.job, deaths))

    def _again(self, staffed: Staffed, job: Job, deaths: int) -> None:
        if not staffed.retired and not self._ending:
            self._start(staffed, job, deaths)

    def _say(self, text: str) -> None:
        self._channel.send({"say": text})

    def _end_at_once(self, _: dict[str, Any]) -> None:
        """End without waiting for workers, whose queue manager backs out what they have in hand."""
        self._stop()
        for staffed in self._leaving:
            self._kill(staffed)

    def _stop(self) -> None:
        """End in order: workers finish what they have in hand."""
        if self._ending:
            return
        self._ending = True
        for staffed in (*self._running.values(), *self._coming.values()):
            self._retire(staffed)
        self._running, self._coming = {}, {}
        if not self._leaving:
            self._loop.end()


def _as_it_is(found: Loaded) -> Loaded:
    return found
