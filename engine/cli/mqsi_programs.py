"""IBM's programs, each a function of its arguments: those for brokers and groups first, then those for flows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

from engine.cli.mqsi import INVALID, MISSING, NO_COMPONENT, Given, Misused, told
from engine.cli.shared_options import broker_named, change_flows, switch_flows
from engine.errors import BrokerError, ConfigurationException
from engine.files.input_files import read_file, refuse_inputs
from engine.files.output_files import write_file

if TYPE_CHECKING:
    from engine.broker.administration import Broker
    from engine.broker.changes import Planned
    from engine.broker.state import BrokerState, DeployedUse, GroupState

_LARGEST_VALUE: Final = 1 << 20  # bytes of a file with a property
_MINUTES: Final = range(10, 14_401)  # of an archive record, as IBM has them
_OF_STATISTICS: Final = {
    "c": ("active", "inactive"),
    "n": ("none", "basic", "advanced"),
    "b": ("none", "basic"),
    "t": ("basic",),  # threads are always told
    "o": ("xml", "json"),  # both are always published
}


def create(given: Given) -> None:
    """Makes a broker with a queue manager (-q) and a repository of its own; -v: minutes of an archive record."""
    from engine.broker.administration import create as make
    from engine.broker.folder import place_of

    minutes = given.value("v")
    if minutes and not (minutes.isascii() and minutes.isdigit() and int(minutes) in _MINUTES):
        raise Misused(INVALID, f"-v {minutes:.40} is no number of minutes from {_MINUTES.start} to {_MINUTES.stop - 1}")
    make(
        place_of(given.component, is_new=Path(given.component, "broker.yaml").is_file()),
        name=Path(given.component).name,
        queue_manager=given.value("q"),
        archive_minutes=int(minutes or 0),
    )


def delete(given: Given) -> None:
    """Deletes a broker with its files, -w or not; -q deletes its queues with their messages too."""
    broker_named(given.component).delete(purge=given.has("q"))


def start(given: Given) -> None:
    """Starts a broker, and returns once it is ready."""
    from engine.broker.folder import found
    from engine.broker.start import start_apart

    start_apart(found(given.component))
    told("BIP8096I: Successful command initiation, the component has started; its log is in its folder.")


def stop(given: Given) -> None:
    """Stops a broker with its queue manager, -q or not; -i gives messages in hand no time, and backs them out."""
    broker = broker_named(given.component)
    broker.load("operate")
    if not broker.stop(at_once=given.has("i")):
        raise ConfigurationException(f"the broker {given.component} does not run", number=8019)


def list_(given: Given) -> None:
    """Lists all brokers (-a), the groups of one, or the flows of a group; -r and -d 2 say more."""
    from engine.broker.folder import known

    if given.value("d") not in {"", "0", "1", "2"}:
        raise Misused(INVALID, f"-d {given.value('d')} is no level of detail: 0, 1 or 2")
    if given.component:
        if given.has("a"):
            raise Misused(INVALID, f"-a lists all brokers: leave it out, or {given.component}")
        _list_one(given, broker_named(given.component))
        return
    if given.has("e"):
        raise Misused(NO_COMPONENT, f"-e {given.value('e')} is an execution group of a broker: name that too")
    for folder in known():
        broker = broker_named(str(folder.path))
        if given.has("r"):
            _list_one(given, broker)
        else:
            _say_node(broker)


def _list_one(given: Given, broker: Broker) -> None:
    from engine.broker.overview import standstills

    state, runs, status = broker.load("read"), broker.runs, broker.status()
    halted = {(one.group, one.flow) for one in standstills(state, status)} if status else set[tuple[str, str]]()
    groups = [group for group in state.groups if given.value("e") in {"", group.name}]
    if not given.value("e"):
        _say_node(broker)
    elif not groups:
        raise ConfigurationException(f"{state.name} has no execution group {given.value('e')}", number=8013)
    for group in groups:
        _say_group(state, group, runs=runs)
        if given.value("e") or given.has("r") or given.value("d") == "2":
            running = {use.name for use in group.flows if use.running and (group.name, use.name) not in halted}
            _say_flows(group, running if runs and group.running else set(), in_detail=given.value("d") == "2")


def _say_node(broker: Broker) -> None:
    name, where = broker.repository.broker, f"administration URI 'file://{broker.folder.control}'"
    queue_manager = _named_queue_manager(broker)
    if broker.runs:
        with_ = f"default queue manager '{queue_manager}' and {where}" if queue_manager else where
        told(f"BIP{1284 if queue_manager else 1325}I: Integration node '{name}' with {with_} is running.")
    elif queue_manager:
        told(f"BIP1285I: Integration node '{name}' on queue manager '{queue_manager}' is stopped.")
    else:
        told(f"BIP1326I: Integration node '{name}' is stopped.")


def _named_queue_manager(broker: Broker) -> str:
    """Returns the name that a broker's queue manager was given, which IBM's lines tell; nothing where it was not."""
    from engine.broker.definition import Definition
    from engine.mq.store.environment import format_of

    try:
        _, name, _ = format_of(broker.folder.queues)
    except BrokerError:  # it is another user's, or damaged, which says nothing of whether the broker runs
        return ""
    return "" if name == Definition().queue_manager else name


def _say_group(state: BrokerState, group: GroupState, *, runs: bool) -> None:
    on = runs and group.running
    number, is_ = ("1286", "running") if on else ("1287", "stopped")
    told(f"BIP{number}I: Integration server '{group.name}' on integration node '{state.name}' is {is_}.")


def _say_flows(group: GroupState, running: set[str], *, in_detail: bool) -> None:
    for use in group.flows:
        number, is_ = ("1277", "running") if use.name in running else ("1288", "stopped")
        told(f"BIP{number}I: Message flow '{use.name}' on integration server '{group.name}' is {is_}.")
        if in_detail:
            told(f"  Additional thread instances: '{use.additional_instances}'  Copies: '{use.copies}'")
            told(f"  Deployed: '{use.file}'  Content: '{use.content[:12]}'")


def create_group(given: Given) -> None:
    """Makes an execution group, in which no flows are yet."""
    from engine.broker.changes import with_new_group

    group = given.needed("e")
    broker = broker_named(given.component)
    change_flows(broker, lambda state: with_new_group(state, group), "create-group", lambda _: group)


def delete_group(given: Given) -> None:
    """Deletes an execution group with its flows."""
    from engine.broker.changes import without_group

    group = given.needed("e")
    broker = broker_named(given.component)
    change_flows(broker, lambda state: without_group(state, group), "delete-group", lambda _: group)


def deploy(given: Given) -> None:
    """Deploys the flow files of -a, several behind commas; -m replaces all, -d takes flows away."""
    from engine.broker.changes import undeployed
    from engine.broker.definition import FlowUse
    from engine.broker.deployment import deployed
    from engine.broker.flow_builds import flow_files

    broker, group = broker_named(given.component), given.needed("e")
    files = [name for name in given.value("a").split(",") if name]
    leaving = [name for name in given.value("d").replace(":", ",").split(",") if name]
    if not (files or leaving):
        raise Misused(MISSING, "one of the flags -a and -d must be given")

    def plan(state: BrokerState) -> Planned:
        if leaving:
            return undeployed(state, [Path(name).stem if "/" in name else name for name in leaving], group)
        uses = [FlowUse(file, group) for file in flow_files(files)]
        return deployed(state, uses, complete=[group] if given.has("m") else ())

    def told_of(planned: Planned) -> str:
        return ", ".join(f"{c.sign}{c.group}/{c.flow}" for c in planned.changes)

    planned = change_flows(broker, plan, "deploy", told_of)
    for one in planned.changes:
        told(f"BIP1152I: {one}")
    told(f"BIP1092I: The deployment to '{group}' was successful.")


def change_properties(given: Given) -> None:
    """Changes properties: -o names the flow, -n and -v (or the file -p) properties and values, behind commas."""
    from engine.broker.deployment import changed

    flow, names = given.needed("o"), given.needed("n").split(",")
    given.check_one("v", "p")
    said = given.value("v") if given.has("v") else _content_of(given.value("p"))
    values = said.split(",") if len(names) > 1 else [said]
    if len(names) != len(values):
        raise Misused(INVALID, f"-n names {len(names)} properties, for which there are {len(values)} values")
    broker, laid = broker_named(given.component), dict(zip(names, values, strict=True))

    def plan(state: BrokerState) -> Planned:
        return changed(state, flow, given.value("e"), laid, lambda key: broker.repository.contents([key])[key])

    change_flows(broker, plan, "change-properties", lambda _: f"{flow}: {given.value('n')}={said}")


def _content_of(file: str) -> str:
    try:
        return read_file(Path(file), _LARGEST_VALUE, "no property has so many").decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise Misused(INVALID, f"{file} is not UTF-8") from error


def report_properties(given: Given) -> None:
    """Reports the properties of a flow with those of its nodes (-a, -r), or those that -n names."""
    from engine.broker.changes import uses_of
    from engine.broker.property_report import report

    broker, flow = broker_named(given.component), given.needed("o")
    wanted = [name for name in given.value("n").split(",") if name]
    if wanted and (given.has("a") or given.has("r")):
        raise Misused(INVALID, "-n names properties, and -a and -r are for all of them: leave out all but one")
    for group, use in uses_of(broker.load("read"), flow, given.value("e")):
        said = report(group, use, broker.repository.contents([use.content])[use.content])
        if unknown := [name for name in wanted if name not in said["properties"]]:
            raise Misused(INVALID, f"{use.name} has no property {', '.join(unknown)}")
        told(f"{use.name}")
        told(f"  uuid='{use.content[:32]}'")
        told(f"  instances='{said['instances']}'")
        for name, value in said["properties"].items():
            if not wanted or name in wanted:
                told(f"  {name}='{value}'")


def _parts(given: Given) -> tuple[str, list[str]]:
    """The group and the flows that are meant; with -g and -j all of them."""
    given.check_one("e", "g")
    given.check_one("f", "j")
    return given.value("e"), [given.value("f")] if given.has("f") else []


def change_statistics(given: Given) -> None:
    """Switches statistics by -c; -n counts each node, -b each accounting origin; -a -r begins the archive anew."""
    from engine.broker.statistics.snapshots import count_otherwise

    group, flows = _parts(given)
    given.check_one("a", "s")
    if given.has("r") and not given.has("a"):
        raise Misused(MISSING, "-r resets the archive: give -a with it")
    values = _how_to_count(given)
    broker = broker_named(given.component)
    if given.has("r"):
        for own, use in list(_uses(given.component, flows, group)):
            for level in dict.fromkeys(("none", use.statistics)):  # what was counted ends with the switch
                count_otherwise(broker, [use.name], own.name, "-r", {"statistics": level})
    if values or not given.has("r"):
        said = " ".join(f"-{flag} {given.value(flag)}" for flag in "cnb" if given.has(flag))
        count_otherwise(broker, flows, group, said, values)


def _how_to_count(given: Given) -> dict[str, Any]:
    """Returns what the flags say of a flow's statistics; refuses values that none of them has."""
    for flag, known in _OF_STATISTICS.items():
        if given.has(flag) and given.value(flag) not in known:
            raise Misused(INVALID, f"-{flag} {given.value(flag)} is none of {', '.join(known)}")
    values: dict[str, Any] = {}
    if given.value("c") == "inactive":
        values["statistics"] = "none"
    elif given.has("c") or given.has("n"):
        values["statistics"] = "nodes" if given.value("n") in {"basic", "advanced"} else "basic"
    if given.has("b"):
        values["by_origin"] = given.value("b") == "basic"
    return values


def report_statistics(given: Given) -> None:
    """Reports what is counted of each flow."""
    group, flows = _parts(given)
    which = "Archive" if given.has("a") else "SnapShot"
    for own, use in _uses(given.component, flows, group):
        on = "inactive" if use.statistics == "none" else "active"
        nodes = "basic" if use.statistics == "nodes" else "none"
        origin = "basic" if use.by_origin else "none"
        told(
            f"BIP8187I: Statistics {which} settings for flow {use.name} in execution group {own.name} - On?: {on},"
            f" ThreadDataLevel: basic, NodeDataLevel: {nodes}, OutputFormat: xml, AccountingOrigin: {origin}"
        )


def start_flows(given: Given) -> None:
    """Starts a flow, or all of a group."""
    switch_flows(given.component, _flows(given), given.value("e"), "start", running=True)


def stop_flows(given: Given) -> None:
    """Stops a flow, or all of a group."""
    switch_flows(given.component, _flows(given), given.value("e"), "stop", running=False)


def _flows(given: Given) -> list[str]:
    given.check_one("e", "g")
    if given.has("m") and given.has("j"):
        raise Misused(INVALID, "-m names a flow, and -j is for all of them: leave out one of the two")
    return [given.value("m")] if given.value("m") else []


def change_trace(given: Given) -> None:
    """Switches the user trace; -r forgets what was traced before."""
    from engine.broker.tracing import forget

    level = given.value("l") if given.has("r") else given.needed("l")
    if given.has("l") and level not in {"none", "normal", "debug"}:
        raise Misused(INVALID, f"-l {level} is none of none, normal, debug")
    flows = [given.value("f")] if given.value("f") else []
    if given.has("r"):
        broker = broker_named(given.component)
        for own, use in _uses(given.component, flows, given.value("e")):
            forget(broker.folder, own.name, use.name)
    if given.has("l"):
        switch_flows(given.component, flows, given.value("e"), "trace", trace=level)


def read_log(given: Given) -> None:
    """Writes the user trace (-u) to standard output as text, or to the file of -o as XML for mqsiformatlog.

    -f names a flow; without a flow it has the trace read from its file, as it always is.
    """
    from engine.broker.tracing import trace_lines, trace_parts

    broker = broker_named(given.component)
    flows = [given.value("f")] if given.value("f") else []
    uses = tuple(_uses(given.component, flows, given.value("e")))
    parts = [part for own, use in uses for part in trace_parts(broker.folder, own.name, use.name)]
    refuse_inputs((Path(given.value("o")),) if given.value("o") else (), parts)
    lines = [line for own, use in uses for line in trace_lines(broker.folder, own.name, use.name)]
    if not given.value("o"):
        for line in lines:
            told(line)
        return
    text = "".join(f" <UserTrace text={quoteattr(line)}/>\n" for line in lines)
    write_file(Path(given.value("o")), f'<?xml version="1.0" encoding="UTF-8"?>\n<Log>\n{text}</Log>\n')


def format_log(given: Given) -> None:
    """Writes what mqsireadlog wrote as text."""
    from lxml import etree

    try:
        data = read_file(Path(given.needed("i")), remedy="have mqsireadlog write the log of one flow")
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False))
    except etree.XMLSyntaxError as error:
        raise Misused(INVALID, f"{given.value('i')} is no log that mqsireadlog has written: {error}") from error
    text = "".join(f"{entry.get('text')}\n" for entry in root.iter("UserTrace"))
    if given.value("o"):
        refuse_inputs((Path(given.value("o")),), (Path(given.needed("i")),))
        write_file(Path(given.value("o")), text)
    else:
        sys.stdout.write(text)


def _uses(component: str, flows: list[str], group: str) -> Iterator[tuple[GroupState, DeployedUse]]:
    from engine.broker.changes import check_group, uses_of

    state = broker_named(component).load("read")
    check_group(state, group)
    named = flows or [use.name for own in state.groups for use in own.flows if group in {"", own.name}]
    for flow in dict.fromkeys(named):
        yield from uses_of(state, flow, group)
