"""IBM's programs for brokers as a whole: made, started, stopped, listed, deployed to, and taken away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.mqsi import INVALID, MISSING, Given, Misused, told

if TYPE_CHECKING:
    from engine.broker.administration import Broker
    from engine.broker.changes import Planned
    from engine.broker.repository.repository import Change
    from engine.broker.state import BrokerState, GroupState


def create(given: Given) -> None:
    """Makes a broker with a queue manager and a repository of its own, whatever users and data sources are named."""
    from engine.broker.administration import create as make
    from engine.broker.folder import place_of

    make(place_of(given.component), name=Path(given.component).name, queue_manager=given.value("q"))


def delete(given: Given) -> None:
    """Deletes a broker; -q deletes its queues with their messages too."""
    from engine.broker.administration import broker_of

    broker_of(given.component).delete(purge=given.has("q"))


def start(given: Given) -> None:
    """Starts a broker, and returns once it is ready."""
    from engine.broker.folder import found
    from engine.broker.start import start_apart

    start_apart(found(given.component))
    told("BIP8096I: Successful command initiation, the component has started; its log is in its folder.")


def stop(given: Given) -> None:
    """Stops a broker."""
    from engine.broker.administration import broker_of
    from engine.errors import ConfigurationException

    broker = broker_of(given.component)
    broker.load("operate")
    if not broker.stop():
        raise ConfigurationException(f"the broker {given.component} does not run", number=8019)


def list_(given: Given) -> None:
    """Lists all brokers, the groups of one, or the flows of a group; -r and -d 2 say more."""
    from engine.broker.administration import broker_of
    from engine.broker.folder import known

    if not given.component:
        for folder in known():
            _say_node(broker_of(str(folder.path)))
        return
    if given.value("d") not in {"", "0", "1", "2"}:
        raise Misused(INVALID, f"-d {given.value('d')} is no level of detail: 0, 1 or 2")
    broker = broker_of(given.component)
    state, runs = broker.load("read"), broker.runs
    groups = [group for group in state.groups if given.value("e") in {"", group.name}]
    if not given.value("e"):
        _say_node(broker)
    elif not groups:
        from engine.errors import ConfigurationException

        raise ConfigurationException(f"{state.name} has no execution group {given.value('e')}", number=8013)
    for group in groups:
        _say_group(state, group, runs=runs)
        if given.value("e") or given.has("r") or given.value("d") == "2":
            _say_flows(group, runs=runs, in_detail=given.value("d") == "2")


def _say_node(broker: Broker) -> None:
    name = broker.repository.broker
    if broker.runs:
        where = f"file://{broker.folder.control}"
        told(f"BIP1325I: Integration node '{name}' with administration URI '{where}' is running.")
    else:
        told(f"BIP1326I: Integration node '{name}' is stopped.")


def _say_group(state: BrokerState, group: GroupState, *, runs: bool) -> None:
    on = runs and group.running
    number, is_ = ("1286", "running") if on else ("1287", "stopped")
    told(f"BIP{number}I: Integration server '{group.name}' on integration node '{state.name}' is {is_}.")


def _say_flows(group: GroupState, *, runs: bool, in_detail: bool) -> None:
    for use in group.flows:
        on = runs and group.running and use.running
        number, is_ = ("1277", "running") if on else ("1288", "stopped")
        told(f"BIP{number}I: Message flow '{use.name}' on integration server '{group.name}' is {is_}.")
        if in_detail:
            told(f"  Additional thread instances: '{use.additional_instances}'  Copies: '{use.copies}'")
            told(f"  Deployed: '{use.file}'  Content: '{use.content[:12]}'")


def create_group(given: Given) -> None:
    """Makes an execution group, in which no flows are yet."""
    from engine.broker.administration import broker_of
    from engine.broker.changes import with_new_group
    from engine.broker.repository.repository import Change

    group = given.needed("e")
    broker_of(given.component).change(
        lambda state: with_new_group(state, group), lambda _: Change("create-group", group)
    )


def delete_group(given: Given) -> None:
    """Deletes an execution group with its flows."""
    from engine.broker.administration import broker_of
    from engine.broker.changes import without_group
    from engine.broker.repository.repository import Change

    group = given.needed("e")
    broker_of(given.component).change(
        lambda state: without_group(state, group), lambda _: Change("delete-group", group)
    )


def deploy(given: Given) -> None:
    """Deploys the flow files of -a, several behind commas; -m replaces all, -d takes flows away."""
    from engine.broker.administration import broker_of
    from engine.broker.changes import undeployed
    from engine.broker.definition import FlowUse
    from engine.broker.deployment import deployed
    from engine.broker.flow_builds import flow_files
    from engine.broker.repository.repository import Change

    broker, group = broker_of(given.component), given.needed("e")
    files = [name for name in given.value("a").split(",") if name]
    leaving = [name for name in given.value("d").replace(":", ",").split(",") if name]
    if not (files or leaving):
        raise Misused(MISSING, "one of the flags -a and -d must be given")

    def plan(state: BrokerState) -> Planned:
        if leaving:
            return undeployed(state, [Path(name).stem if "/" in name else name for name in leaving], group)
        uses = [FlowUse(file, group) for file in flow_files(files)]
        return deployed(state, uses, complete=[group] if given.has("m") else ())

    def change(planned: Planned) -> Change:
        return Change("deploy", ", ".join(f"{c.sign}{c.group}/{c.flow}" for c in planned.changes))

    planned = broker.change(plan, change)
    for one in planned.changes:
        told(f"BIP1152I: {one}")
    told(f"BIP1092I: The deployment to '{group}' was successful.")
