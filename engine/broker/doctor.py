"""The doctor: checks what a broker needs, and says what to do about what is wrong."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from engine.broker import queues
from engine.broker.administration import Broker, rights_of
from engine.broker.amqp_broker import of_group
from engine.broker.collective import collective_of
from engine.broker.deployment import shipped_of
from engine.broker.file_differences import differences
from engine.broker.flow_builds import given_to, queues_of
from engine.broker.folder import Folder
from engine.broker.overview import standstills
from engine.broker.repository.repository import opened
from engine.broker.state import BrokerState
from engine.broker.user_rights import system_user
from engine.broker.worker import loaded
from engine.errors import BrokerError

_LEAST_ROOM: Final = 100 << 20
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` is what to do where it is not well."""

    ok: bool
    what: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f": {self.advice}" if self.advice else ""
        return f"{'ok  ' if self.ok else 'FAIL'} {self.what}{advice}"


def examined(folder: Folder) -> list[Finding]:
    """Returns what was found of a broker."""
    findings = [_python(), _room(folder), *_writing(folder)]
    try:
        known = folder.read()
        broker = Broker(folder, opened(known["repository"], known["name"]))
        state = broker.repository.load()
        findings.append(Finding(True, f"the repository {broker.repository.url} is of generation {state.generation}"))
    except BrokerError as error:
        return [*findings, Finding(False, "the repository cannot be read", error.text)]
    checks: tuple[Callable[[Broker, BrokerState], Iterator[Finding]], ...] = (
        *(_rights, _processes, _queues, _amqp, _collective, _contents, _sources, _packages, _file),
    )
    for check in checks:
        try:
            findings += check(broker, state)
        except (BrokerError, OSError) as error:
            findings.append(Finding(False, "a check could not be made", str(error)))
    return findings


def _python() -> Finding:
    return Finding(True, f"Python {sys.version_info.major}.{sys.version_info.minor}")


def _room(folder: Folder) -> Finding:
    free = shutil.disk_usage(folder.path).free
    what = f"{free // _MIB:,} MiB are free where the broker is"
    return Finding(free >= _LEAST_ROOM, what, "" if free >= _LEAST_ROOM else "make room: queues and logs need it")


def _writing(folder: Folder) -> Iterator[Finding]:
    if not os.access(folder.path, os.W_OK):
        advice = "change its permissions, or mount its disk for writing: it cannot be started or changed"
        yield Finding(False, f"{system_user()} cannot write in {folder.path}", advice)


def _rights(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    user = system_user()
    lacking = []
    for right in ("read", "deploy", "operate"):
        try:
            rights_of(state).demand(right)
        except BrokerError:
            lacking.append(right)
    what = f"{user} may do everything" if not lacking else f"{user} may not {', '.join(lacking)}"
    yield Finding(True, what, "it is given under rights in broker.yaml" if lacking else "")


def _processes(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    status = broker.status()
    if status is None:
        yield Finding(True, "the broker is stopped")
        return
    for process in status["processes"]:
        well, goes_on = process["state"] == "running", process["state"].startswith(("starting", "restarting"))
        advice = "look again in a few seconds" if goes_on else "begin anew with penstock flow start"
        where = f", process {process['process']}" if process["process"] else ""
        what = f"{process['name']}{where}: {process['state']}"
        yield Finding(well, what, "" if well else f"see penstock broker logs, and {advice}")
    for one in standstills(state, status):
        yield Finding(False, f"{one.group}/{one.flow} does not run", one.reason)


def _queues(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    with queues.reached(broker.folder) as reached:
        yield Finding(True, f"the queue manager {state.queue_manager} answers, with {len(reached.names())} queues")
        wanted = {}
        contents = broker.repository.contents({use.content for group in state.groups for use in group.flows})
        for group in state.groups:
            for use in group.flows if group.name not in state.settings.amqp else ():
                flow = shipped_of(contents[use.content]).flow()
                wanted[use.name] = queues_of(flow, state.queue_manager)
        for text in queues.missing(reached, wanted):
            yield Finding(False, "a queue is missing", text)
        for text in queues.altered(reached, state):
            yield Finding(True, text, "deployments change no queue that is there; ALTER in penstock mqsc does")
        if state.dead_letter_queue and (depth := reached.depth(state.dead_letter_queue)):
            what = f"{depth} messages are on the dead-letter queue {state.dead_letter_queue}"
            yield Finding(True, what, f"look at them with penstock browse {state.dead_letter_queue} --broker …")


def _amqp(_: Broker, state: BrokerState) -> Iterator[Finding]:
    for group in state.groups:
        outside = of_group(group.name, state.settings.amqp)
        if outside is None:
            continue
        try:
            peer = outside.queues(state.name).introduce()
        except BrokerError as error:
            yield Finding(False, f"the AMQP broker of {group.name} is not reached at {outside.where}", error.text)
        else:
            yield Finding(True, f"{group.name} works on {peer.product} {peer.version} at {outside.where}")


def _collective(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    collective = collective_of(state.settings.collective)
    if collective is None:
        return
    members = broker.repository.members(collective.name)
    yield Finding(True, f"the collective {collective.name} has {', '.join(members)}")
    with queues.reached(broker.folder) as reached:
        if depth := reached.depth(queues.TRANSMIT):
            yield Finding(True, f"{depth} publications wait to be sent to the collective")
    address = collective.address()
    from engine.transports.amqp import AmqpQueues  # noqa: PLC0415  # for brokers of a collective alone

    with closing(AmqpQueues(address).work()) as work:
        for queue in map(collective.queue, members):
            try:
                work.find(queue)
            except BrokerError as error:
                advice = f"{error.text}; have the AMQP broker be there, with this queue"
                yield Finding(False, f"the queue {queue} is not reached at {address.url}", advice)
            else:
                yield Finding(True, f"the queue {queue} is at {address.url}")


def _contents(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    for group in state.groups:
        for use in group.flows:
            try:
                content = broker.repository.contents([use.content])[use.content]
                loaded(use, shipped_of(content), given_to(state.name, group.name))
            except BrokerError as error:
                yield Finding(False, f"{group.name}/{use.name} cannot be built", str(error))
            else:
                yield Finding(True, f"{group.name}/{use.name} builds, {use.how}")


def _sources(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    for name, said in state.data_sources.items():
        has_url = bool(said.get("url"))
        advice = "" if has_url else "say its url"
        yield Finding(
            has_url, f"the data source {name} is defined", advice or f"try it with penstock data-source test {name}"
        )


def _packages(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    wanted = {"prometheus_client": "stats --prometheus", "opentelemetry": "traces"}
    for package, use in wanted.items():
        there = find_spec(package) is not None
        needed = package == "opentelemetry" and bool(state.settings.traces)
        advice = "" if there else f"for {use}: pip install 'penstock[telemetry]'"
        yield Finding(there or not needed, f"the package {package} is {'there' if there else 'not there'}", advice)


def _file(broker: Broker, state: BrokerState) -> Iterator[Finding]:
    for line in differences(broker.folder, state):
        yield Finding(
            True, line, "penstock deploy BROKER broker.yaml applies the file, penstock broker export writes what runs"
        )
