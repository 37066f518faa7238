"""A look at a running broker: its processes, what flows have done or why they do not run, how deep queues are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.broker import queues
from engine.broker.state import BrokerState
from engine.broker.statistics import slots
from engine.broker.statistics.snapshots import done_by

if TYPE_CHECKING:
    from engine.broker.administration import Broker


_KIB: Final = 1024


def looked(broker: Broker) -> dict[str, Any]:
    """Returns one look as data."""
    state, status = broker.repository.load(), broker.status()
    with queues.reached(broker.folder) as reached:
        depths = [{"queue": name, "depth": reached.depth(name)} for name in reached.names()]
    flows = [
        {
            "group": group.name,
            "flow": use.name,
            "messages": counts[slots.MESSAGES],
            "errors": counts[slots.FAILED],
            "cpuMicroseconds": counts[slots.CPU] // 1000,
        }
        for group in state.groups
        for use in group.flows
        for counts in (done_by(broker.folder, group.name, use).counts,)
    ]
    return {
        "broker": state.name,
        "running": status is not None,
        "processes": list(_processes(status)) if status else [],
        "flows": flows,
        "queues": depths,
    }


def _processes(status: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield _process("supervisor", status["process"], "running")
    for one in status["processes"]:
        yield _process(one["name"], one["process"], one["state"])
        for worker in one["workers"]:
            state = "running" if worker["ready"] else "starting"
            yield _process(f"{one['name']}/{worker['flow']}", worker["process"], state, threads=worker["threads"])


def _process(name: str, pid: int | None, state: str, threads: int = 1) -> dict[str, Any]:
    return {"name": name, "process": pid, "state": state, "threads": threads, "memoryMiB": _memory(pid)}


def _memory(pid: int | None) -> float:
    """The memory of a process that it shares with no other, in MiB, where the system tells."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    own = (line.split() for line in text.splitlines() if line.startswith(("Private_Clean:", "Private_Dirty:")))
    return sum(int(words[1]) for words in own) / _KIB


class Standstill(NamedTuple):
    """A flow that is to run and does not."""

    group: str
    flow: str
    reason: str

    def __str__(self) -> str:
        return f"{self.group}/{self.flow} does not run: {self.reason}"


def standstills(state: BrokerState, status: Mapping[str, Any]) -> Iterator[Standstill]:
    """Yields the flows that a running broker should run and does not, as its supervisor's `status` tells."""
    processes = {one["name"]: one for one in status["processes"]}
    for group in state.groups:
        if not group.running:
            continue
        process = processes.get(group.name) or {"state": "there is no process of its execution group"}
        for use in group.flows:
            if use.running and (reason := _reason(use.name, process)):
                yield Standstill(group.name, use.name, reason)


def _reason(flow: str, process: Mapping[str, Any]) -> str:
    """Why a flow does not run in a group's process, or nothing where it does or is about to."""
    if reason := process.get("wrong", {}).get(flow):
        return str(reason)
    if process["state"].startswith(("running", "starting", "restarting")):
        return ""
    works = any(worker["flow"] == flow and worker["ready"] for worker in process.get("workers", ()))
    return "" if works else f"its execution group is in this state: {process['state']}"
