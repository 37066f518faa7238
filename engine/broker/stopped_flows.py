"""Flows that are to run and do not: which they are, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from engine.broker.state import BrokerState


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
