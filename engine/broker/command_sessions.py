"""Sessions: what commands ask of a running broker, and deployments, which count in all groups at once or in none."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from engine.broker.channel import Channel
from engine.broker.supervisor_plan import Plan
from engine.broker.user_rights import name_of
from engine.errors import BrokerError

if TYPE_CHECKING:
    from engine.broker.supervisor import Supervisor

_CREDENTIALS: Final = struct.Struct("3i")
_LONGEST: Final = 60.0  # seconds that groups are given to prepare, or to change over


@dataclass(slots=True)
class Deployment:
    """A deployment that is under way: what it waits for, and who is told."""

    client: Channel
    plan: Plan
    asked: set[str] = field(default_factory=set)
    waits: set[str] = field(default_factory=set)
    committing: bool = False


class Sessions:
    """The connections of commands to a supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._deployment: Deployment | None = None

    def open(self, client: Channel) -> None:
        """Hear what a command has to say."""
        self._supervisor.loop.watch(client, partial(self._told, client))

    def _told(self, client: Channel) -> None:
        try:
            messages = client.arrived()
        except (ValueError, TypeError, RecursionError):  # not what a command of ours says
            client.is_open = False
            messages = []
        for message in messages:
            self._act(client, message)
        if not client.is_open:
            self._supervisor.loop.forget(client)
            if self._deployment is not None and self._deployment.client is client:
                self._left(self._deployment)
            client.close()

    def _act(self, client: Channel, message: dict[str, Any]) -> None:
        what = message.get("do")
        if what == "status":
            client.send({"status": self._supervisor.status()})
        elif what == "stop":
            at_once = bool(message.get("atOnce"))
            self._supervisor.log.tell(f"{_user_of(client)} stops the broker{' at once' if at_once else ''}")
            client.send({"ok": True})
            self._supervisor.stop(at_once=at_once)
        elif what == "prepare":
            self._prepare(client, message)
        elif what == "commit" and self._deployment is not None and self._deployment.client is client:
            self._commit(self._deployment)
        else:
            client.send({"error": f"a broker cannot {what} now"})

    def _prepare(self, client: Channel, message: dict[str, Any]) -> None:
        if self._deployment is not None:
            client.send({"error": "another deployment is under way: try again when it is done"})
            return
        try:
            plan = Plan.of_data(message["plan"])
        except (KeyError, TypeError):
            client.send({"error": "the plan is none of this Penstock's: start the broker again with the one you use"})
            return
        now = self._supervisor.plan
        changed = {name for name in plan.running if now.groups.get(name) != plan.groups[name]}
        stopped = {
            name for name, kept in self._supervisor.groups.items() if kept.child is None and name in plan.running
        }
        made = self._deployment = Deployment(client, plan, changed | stopped, changed | stopped)
        self._supervisor.loop.after(_LONGEST, partial(self._too_late, made))
        for name in sorted(made.asked):
            self._supervisor.tell(name, {"do": "prepare", **plan.of_group(name)})
        self._go_on(made)

    def heard(self, group: str, message: dict[str, Any]) -> None:
        """The process of a group has said something."""
        made = self._deployment
        if made is None or group not in made.waits:
            return
        if "failed" in message:
            self._refuse(made, message["failed"])
        elif message.get("committed" if made.committing else "prepared"):
            made.waits.discard(group)
            self._go_on(made)

    def ended(self, group: str) -> None:
        """The process of a group has ended."""
        made = self._deployment
        if made is None or group not in made.waits:
            return
        if made.committing:  # it starts again, with what counts now
            made.waits.discard(group)
            self._go_on(made)
        else:
            self._refuse(made, f"the process of {group} ended while it prepared: see penstock broker logs")

    def _go_on(self, made: Deployment) -> None:
        if made.waits:
            return
        made.client.send({"ok": True})
        if made.committing:
            self._deployment = None

    def _refuse(self, made: Deployment, text: str) -> None:
        self._deployment = None
        now = self._supervisor.plan.running
        for name in made.asked:
            if name in now:
                self._supervisor.tell(name, {"do": "abort"})
            else:
                self._supervisor.drop(name)
        made.client.send({"error": text})

    def _commit(self, made: Deployment) -> None:
        made.committing = True
        before = self._supervisor.plan
        self._supervisor.plan = made.plan
        self._supervisor.log.form = made.plan.settings.log
        self._supervisor.relink(before)
        self._supervisor.intervals.change(before, made.plan)
        removed = [name for name in self._supervisor.groups if name not in made.plan.running]
        made.waits = made.asked | {name for name in removed if self._supervisor.groups[name].child is not None}
        for name in sorted(made.asked):
            self._supervisor.tell(name, {"do": "commit"})
        for name in removed:
            self._supervisor.drop(name)
        what = f"generation {before.generation} gives way to {made.plan.generation}"
        self._supervisor.log.tell(f"{_user_of(made.client)} deploys: {what}")
        self._go_on(made)

    def _left(self, made: Deployment) -> None:
        """The command has ended in the middle: what the repository says counts."""
        if made.committing:
            made.client = Channel(socket.socketpair()[0])
            return
        try:
            counts = self._supervisor.repository.load().generation == made.plan.generation
        except BrokerError:
            counts = False
        if counts:
            self._commit(made)
        else:
            self._refuse(made, "the command has ended")

    def _too_late(self, made: Deployment) -> None:
        if self._deployment is not made:
            return
        if made.committing:
            made.waits.clear()
            self._go_on(made)
        else:
            self._refuse(made, f"{', '.join(sorted(made.waits))} took longer than {_LONGEST:.0f} s to prepare")


def _user_of(client: Channel) -> str:
    """The user at the other end, as the kernel knows it."""
    if not hasattr(socket, "SO_PEERCRED"):
        return "someone"
    try:
        said = client.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return "someone"
    return name_of(_CREDENTIALS.unpack(said)[1])
