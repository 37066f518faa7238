"""penstock broker: brokers made, started, stopped, looked at, taken away, and shown at work."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import app
from engine.cli.shared_options import BrokerName, Json, OwnNodes, broker_named, show
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.broker.administration import Broker
    from engine.broker.state import BrokerState


broker = typer.Typer(help="Make, start, stop and look at brokers.", no_args_is_help=True)
app.add_typer(broker, name="broker")


@broker.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The folder that broker.yaml is written to.")],
    flows: Annotated[list[str], typer.Argument(help="Flow files, and folders of them.")],
    data_source: Annotated[
        list[str] | None, typer.Option("--data-source", help="A data source that flows name, as NAME=URL.")
    ] = None,
    nodes: OwnNodes = None,
    as_json: Json = False,
) -> None:
    """Write a broker.yaml for flows, with the queues and data sources that they name.

    Example: penstock broker init shop flows/samples/orders/orders.yaml
    """
    from engine.broker.file_writer import broker_text
    from engine.broker.folder import write_synced
    from engine.broker.initial_file import definition_for
    from flows.files import own_nodes

    file = folder / "broker.yaml"
    if file.exists():
        raise ConfigurationException(f"{file} is there already: edit it, or name another folder")
    sources = dict(_source(text) for text in data_source or ())
    definition, _ = definition_for(folder, flows, sources, own_nodes(nodes or ()))
    folder.mkdir(parents=True, exist_ok=True)
    write_synced(file, broker_text(definition))
    said = f"{file}: {len(definition.flows)} flows, {len(definition.queues)} queues"
    show({"file": str(file)}, [said, f"next: penstock broker create {folder}"], as_json=as_json)


def _source(text: str) -> tuple[str, str]:
    name, separator, url = text.partition("=")
    if not (name and separator and url):
        raise ConfigurationException(f"--data-source {name or text} is no data source: write NAME=URL")
    return name, url


@broker.command()
def create(
    name: BrokerName,
    queue_manager: Annotated[str, typer.Option(help="The name of its queue manager.")] = "",
    nodes: OwnNodes = None,
    as_json: Json = False,
) -> None:
    """Make a broker in a folder, of the broker.yaml in it if there is one; it is read this once.

    Example: penstock broker create shop
    """
    from engine.broker.administration import create as make
    from engine.broker.folder import place_of
    from flows.files import own_nodes

    made = make(place_of(name, is_new=Path(name).is_dir()), queue_manager=queue_manager, own=own_nodes(nodes or ()))
    state = made.repository.load()
    count = sum(len(group.flows) for group in state.groups)
    said = f"broker {state.name} in {made.folder.path}: {count} flows in {len(state.groups)} execution groups"
    show(
        {"broker": state.name, "folder": str(made.folder.path)},
        [said, f"next: penstock broker start {name}"],
        as_json=as_json,
    )


@broker.command()
def start(
    name: BrokerName,
    detach: Annotated[bool, typer.Option("--detach", help="Return when it is ready, and leave it running.")] = False,
    as_json: Json = False,
) -> None:
    """Run a broker's flows until SIGTERM; a line says when it is ready.

    Example: penstock broker start shop --detach
    """
    from engine.broker.folder import found
    from engine.broker.start import start_apart, start_here

    folder = found(name)
    if not detach:
        start_here(folder, as_json=as_json)
    *differences, ready = start_apart(folder)
    for line in differences:
        typer.echo(line, err=True)
    data = {"ready": True, "folder": str(folder.path), "process": folder.holder}
    show(data, [ready.removeprefix("penstock: ")], as_json=as_json)


@broker.command()
def stop(
    name: BrokerName,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Give messages in hand no time: they are backed out, and come again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Stop a broker; messages in hand are finished, or backed out.

    Example: penstock broker stop shop
    """
    found = broker_named(name)
    found.load("operate")
    if not found.stop(at_once=at_once):
        raise ConfigurationException(f"the broker in {found.folder.path} does not run", number=8019)
    show({"stopped": True}, [f"the broker in {found.folder.path} has stopped"], as_json=as_json)


@broker.command()
def delete(
    name: BrokerName,
    purge: Annotated[
        bool, typer.Option("--purge", help="Also where its queues hold messages, which are lost.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take a broker away with its queues and its repository; its broker.yaml stays.

    Example: penstock broker delete shop --purge
    """
    found = broker_named(name)
    found.delete(purge=purge)
    show({"deleted": True}, [f"the broker in {found.folder.path} is deleted"], as_json=as_json)


@broker.command("list")
def list_(
    name: Annotated[str, typer.Argument(metavar="[BROKER]", help="One broker, with its groups and flows.")] = "",
    as_json: Json = False,
) -> None:
    """List the brokers below PENSTOCK_HOME, or the groups and flows of one.

    Example: penstock broker list
    """
    from engine.broker.folder import known

    if name:
        _show(broker_named(name), as_json=as_json)
        return
    rows = [{"name": f.path.name, "folder": str(f.path), "running": bool(f.holder)} for f in known()]
    lines = [f"{row['name']}: {'running' if row['running'] else 'stopped'}, {row['folder']}" for row in rows]
    show(rows, lines, as_json=as_json)


@broker.command("show")
def show_(name: BrokerName, as_json: Json = False) -> None:
    """Show what a broker runs: its groups, flows, queues, processes, and where broker.yaml says otherwise.

    Example: penstock broker show shop
    """
    _show(broker_of_reader(name), as_json=as_json)


def broker_of_reader(name: str) -> Broker:
    """Returns a broker to a user who may read it."""
    found = broker_named(name)
    found.load("read")
    return found


def _show(found: Broker, *, as_json: bool) -> None:
    from engine.broker.file_differences import differences
    from engine.broker.overview import standstills

    state, status = found.load("read"), found.status()
    data = {**_as_data(state), "folder": str(found.folder.path), "running": found.runs, "processes": status}
    data["collective"] = _collective(found, state)
    data["differences"] = differences(found.folder, state)
    data["notRunning"] = [one._asdict() for one in standstills(state, status)] if status else []
    show(data, _lines(data), as_json=as_json)


def _collective(found: Broker, state: BrokerState) -> dict[str, Any] | None:
    """Returns the collective that a broker is in, with its members and how many publications wait to be sent."""
    from engine.broker import queues
    from engine.broker.collective import collective_of

    collective = collective_of(state.settings.collective)
    if collective is None:
        return None
    with queues.reached(found.folder) as reached:
        waiting = reached.depth(queues.TRANSMIT)
    said = {"name": collective.name, "url": collective.where, "queue": collective.queue(state.name)}
    return {**said, "members": found.repository.members(collective.name), "waiting": waiting}


def _as_data(state: BrokerState) -> dict[str, Any]:
    return {
        "broker": state.name,
        "uuid": state.uuid,
        "queueManager": state.queue_manager,
        "generation": state.generation,
        "digest": state.digest,
        "groups": [
            {
                "name": group.name,
                "running": group.running,
                "flows": [
                    {
                        "name": use.name,
                        "running": use.running,
                        "content": use.content,
                        "instances": use.instances,
                        "how": use.how,
                        "reads": list(use.reads),
                    }
                    for use in group.flows
                ],
            }
            for group in state.groups
        ],
        "queues": sorted(state.queues),
        "dataSources": sorted(state.data_sources),
    }


def _lines(data: dict[str, Any]) -> list[str]:
    runs = "running" if data["running"] else "stopped"
    lines = [f"broker {data['broker']} in {data['folder']}: {runs}, queue manager {data['queueManager']}"]
    processes = {one["name"]: one for one in (data["processes"] or {}).get("processes", ())}
    reasons = {(one["group"], one["flow"]): one["reason"] for one in data["notRunning"]}
    if (collective := data["collective"]) is not None:
        link = processes.get("collective link")
        where = f", process {link['process']}, {link['state']}" if link else ""
        lines.append(
            f"collective {collective['name']} of {', '.join(collective['members'])} by {collective['url']}:"
            f" {collective['waiting']} publications wait{where}"
        )
    for group in data["groups"]:
        own = processes.get(group["name"])
        where = f", process {own['process']}, {own['state']}" if own else ""
        lines.append(f"execution group {group['name']}{where}")
        for flow in group["flows"]:
            reason = reasons.get((group["name"], flow["name"]), "")
            wanted = flow["running"] and group["running"] and data["running"]
            state = f"stopped, as {reason}" if reason else "running" if wanted else "stopped"
            reads = ", ".join(flow["reads"])
            lines.append(f"  {flow['name']} reads {reads}: {state}, {flow['how']}, {flow['content'][:12]}")
    return [*lines, *(f"differs: {line}" for line in data["differences"])]


@broker.command()
def doctor(name: BrokerName, as_json: Json = False) -> None:
    """Check what a broker needs, and say what to do; the exit code is 1 where something is wrong.

    Example: penstock broker doctor shop
    """
    from engine.broker.doctor import examined
    from engine.broker.folder import found

    findings = examined(found(name))
    rows = [{"ok": finding.ok, "what": finding.what, "advice": finding.advice} for finding in findings]
    show(rows, [str(finding) for finding in findings], as_json=as_json)
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@broker.command()
def history(name: BrokerName, as_json: Json = False) -> None:
    """Show who changed what of a broker, and when.

    Example: penstock broker history shop
    """
    entries = broker_of_reader(name).repository.history()
    rows = [{"at": e.at, "user": e.user, "action": e.action, "what": e.what, "digest": e.digest} for e in entries]
    show(rows, [f"{e.at} {e.user} {e.action}: {e.what} ({e.digest[:16]})" for e in entries], as_json=as_json)


@broker.command()
def logs(
    name: BrokerName,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on with what is written, until interrupted.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print a broker's log; with --json as a list of its lines, and with -f too each as a line of JSON.

    Example: penstock broker logs shop -f
    """
    from engine.broker.logs import as_data, followed, lines_of

    found = broker_of_reader(name)
    if follow:
        for line in followed(found.folder):
            typer.echo(json.dumps(as_data(line)) if as_json else line)
        return
    lines = list(lines_of(found.folder))
    show([as_data(line) for line in lines] if as_json else [], lines, as_json=as_json)


@broker.command()
def export(
    name: BrokerName,
    target: Annotated[
        Path | None, typer.Argument(help="A folder, or a file whose name ends in .yaml.  [default: standard output]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write what a broker runs as a broker file, with its flows beside it; Spark takes that too.

    Example: penstock broker export shop exported
    """
    import yaml

    from engine.broker import queues
    from engine.broker.file_reader import definition_of
    from engine.broker.file_writer import export as write
    from engine.files.output_files import OutputFolder

    found = broker_of_reader(name)
    state = found.load("read")
    with queues.reached(found.folder) as reached:
        state = replace(state, queues=queues.definitions_in(reached, state.queues))
    contents = found.repository.contents({use.content for group in state.groups for use in group.flows})
    if target is None:
        with closing(OutputFolder(found.folder.path / "content" / state.digest[:16])) as folder:
            text = write(state, contents, folder)
        show(yaml.safe_load(text) if as_json else {}, [text.removesuffix("\n")], as_json=as_json)
        return
    file = target if target.suffix in {".yaml", ".yml"} else target / "broker.yaml"
    if file.is_file() and definition_of(str(file)) is None:
        raise ConfigurationException(f"{file} is no broker file, and would be written over: name another")
    with closing(OutputFolder(file.parent)) as folder:
        write(state, contents, folder, file.name)
    count = sum(len(group.flows) for group in state.groups)
    show({"file": str(file), "flows": count}, [f"{file}: {count} flows"], as_json=as_json)


@broker.command()
def units(
    name: BrokerName,
    folder: Annotated[Path, typer.Option("--output", help="The folder that they are written to.")] = Path(),
    as_json: Json = False,
) -> None:
    """Write a systemd unit, a Containerfile and a compose file that run a broker.

    Example: penstock broker units shop --output deploy
    """
    from engine.broker.folder import found
    from engine.broker.service_files import files_for
    from engine.files.output_files import OutputFolder

    with closing(OutputFolder(folder)) as opened:
        written = [str(opened.add((file,), text.encode())) for file, text in files_for(found(name)).items()]
        opened.publish()
    show({"files": written}, written, as_json=as_json)


@broker.command()
def demo(
    output: Annotated[Path, typer.Option(help="The broker's folder, which is not there yet.")] = Path("out/demo"),
    as_json: Json = False,
) -> None:
    """Make a broker of sample flows, kill one of its groups in the middle of its work, and tell what comes of it.

    Example: penstock broker demo --output out/demo
    """
    from engine.broker.demonstration import demonstrate

    for line in demonstrate(output):
        typer.echo(json.dumps({"line": line}) if as_json else line)
