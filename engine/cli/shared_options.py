"""Options that several commands share, groups of options, and what such options stand for."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from engine.cli.command_failures import existing, standard_input
from engine.errors import BrokerError, ConfigurationException
from engine.files.allowed_folders import SAID
from engine.files.input_files import read_stream

if TYPE_CHECKING:
    from engine.broker.administration import Broker
    from engine.broker.changes import Planned
    from engine.broker.state import BrokerState
    from engine.databases.definitions import Definition
    from engine.databases.sources import Sources
    from engine.descriptor import Descriptor
    from engine.files.input_files import Place
    from engine.runtime.file_run import Letter
    from engine.work import Selection

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
OwnNodes = Annotated[
    list[str] | None,
    typer.Option("--nodes", help="A Python file that defines nodes of your own; may be given several times."),
]


def _allowed(context: typer.Context, folders: list[Path] | None) -> list[Path] | None:
    """Lets links lead to these folders for as long as the command runs."""
    token = SAID.set(tuple(folders or ()))
    context.call_on_close(lambda: SAID.reset(token))
    return folders


AllowFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--allow-files",
        envvar="PENSTOCK_ALLOW_FILES",
        callback=_allowed,
        help="A folder whose files flows may write, and links may lead to; may be given several times.",
    ),
]
MaxInput = Annotated[
    str, typer.Option("--max-input", metavar="SIZE", help="The most bytes that an input may have, such as 4096 or 2G.")
]
MAX_INPUT = "100M"

DataSources = Annotated[
    list[str] | None,
    typer.Option(
        "--data-source",
        metavar="NAME=URL",
        help="A database: NAME=sqlite:///FILE, NAME=postgresql+psycopg://USER@HOST/DB, or NAME=@FILE with the URL in"
        " it; may be given several times, the first is the default one.",
    ),
]


Input = Annotated[str | None, typer.Option("--input", help="A file with the body of the message.")]
Domain = Annotated[str, typer.Option("--domain", help="The parser of the body, such as XMLNSC.")]
Cases = Annotated[
    str | None, typer.Option("--cases", help="A file with a JSON object a line: id, esql, input, domain.")
]
Limited = Annotated[
    str | None,
    typer.Option("--limits", help="What a message may take, such as turns=1000,depth=50,cpu=5,memory=100_000_000."),
]


@dataclasses.dataclass(frozen=True, slots=True)
class MessageOptions:
    """Options of commands that run something: the message, or cases in its place, and what it may take."""

    source: Input = None
    domain: Domain = ""
    cases: Cases = None
    limits: Limited = None
    data_sources: DataSources = None
    max_input: MaxInput = MAX_INPUT


@contextmanager
def opened(options: list[str] | None, further: Sequence[Definition] = ()) -> Iterator[Sources | None]:
    """The data sources of --data-source, and further ones of other names, closed at the end; None without any."""
    if not options and not further:
        yield None
        return
    from engine.databases.definitions import definitions_of
    from engine.databases.sources import Sources

    with closing(Sources(definitions_of(options or (), further))) as sources:
        yield sources


@contextmanager
def opened_some(options: list[str] | None) -> Iterator[Sources]:
    """The data sources of --data-source, of which there must be one at least, closed at the end."""
    with opened(options) as sources:
        if sources is None:
            raise ConfigurationException("no data source is named: give --data-source NAME=URL")
        yield sources


def pair_of(text: str, wrong: str) -> tuple[str, str]:
    """Returns the name and the value of NAME=VALUE; `wrong` is what is said of a text that is none."""
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise ConfigurationException(wrong)
    return name, value


def known_brokers(incomplete: str) -> list[str]:
    """Returns the names of brokers below PENSTOCK_HOME that begin so, for shells that complete them."""
    from engine.broker.folder import known

    return [folder.path.name for folder in known() if folder.path.name.startswith(incomplete)]


def broker_named(name: str) -> Broker:
    """Returns a broker by its name or its folder; what brokers are made of is imported where one is asked for."""
    from engine.broker.administration import broker_of

    return broker_of(name)


def change_flows(
    broker: Broker,
    plan: Callable[[BrokerState], Planned],
    action: str,
    said: Callable[[Planned], str],
    *,
    deploys: bool = True,
    dry_run: bool = False,
) -> Planned:
    """Carry out what `plan` makes of a broker's state; its history says the action, and what is `said` of it.

    What deploys nothing, such as a switch, needs no right to deploy, but one to operate.
    """
    from engine.broker.repository.repository import Change

    def change(planned: Planned) -> Change:
        return Change(action, said(planned))

    return broker.change(plan, change, right="deploy" if deploys else "operate", deploys=deploys, dry_run=dry_run)


def switch_flows(name: str, flows: Sequence[str], group: str, action: str, **values: Any) -> Planned:
    """Switch flows of a broker, or all of them where none is named, to these values; nothing is deployed."""
    from engine.broker.changes import switched

    def said(planned: Planned) -> str:
        changed = ", ".join(f"{c.group}/{c.flow}" for c in planned.changes)
        return changed or f"{', '.join(flows) or 'all flows'}, as before"

    def plan(state: BrokerState) -> Planned:
        return switched(state, flows, group, **values)

    return change_flows(broker_named(name), plan, action, said, deploys=False)


def known_flows(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the flows of the broker that is named, for shells that complete them."""
    try:
        groups = broker_named(context.params.get("name") or "").load("read").groups
    except BrokerError:  # there is nothing to choose from
        return []
    names = {use.name for group in groups for use in group.flows}
    return sorted(name for name in names if name.startswith(incomplete))


BrokerName = Annotated[
    str,
    typer.Argument(
        metavar="BROKER", help="A broker's folder, or its name below PENSTOCK_HOME.", autocompletion=known_brokers
    ),
]
GroupName = Annotated[
    str,
    typer.Option("-e", "--group", help="The execution group.  [default: the only one]"),
]
FlowName = Annotated[str, typer.Argument(help="The flow.", autocompletion=known_flows)]
SomeFlow = Annotated[
    str, typer.Argument(metavar="[FLOW]", help="The flow.  [default: all of them]", autocompletion=known_flows)
]
SomeGroup = Annotated[str, typer.Option("-e", "--group", help="The execution group.  [default: all of them]")]


def show(data: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print data as JSON, or the lines that say the same."""
    if as_json:
        typer.echo(json.dumps(data, indent=2))
        return
    for line in lines:
        typer.echo(line)


def given_id(context: typer.Context, option: typer.CallbackParam, digits: str) -> str:
    """Returns the digits of an id; an option that is given without any, as by a script that lacks it, is refused."""
    source = context.get_parameter_source(str(option.name))
    if not digits and source is not None and source.name != "DEFAULT":
        raise ConfigurationException(f"{option.opts[0]} is empty: give hexadecimal digits, or leave it out")
    return digits


MsgId = Annotated[
    str, typer.Option("--msg-id", metavar="HEX", callback=given_id, help="Only messages with this message id.")
]
CorrelId = Annotated[
    str, typer.Option("--correl-id", metavar="HEX", callback=given_id, help="Only messages with this correlation id.")
]
GroupId = Annotated[
    str, typer.Option("--group-id", metavar="HEX", callback=given_id, help="Only messages of this group.")
]
Selector = Annotated[
    str, typer.Option("--selector", metavar="CONDITION", help="Only messages that fit, such as \"colour = 'red'\".")
]
_LENGTH: Final = 24


def identifier(name: str, digits: str) -> bytes:
    """Returns an id that an option gives; a short one is filled with zeros.

    >>> identifier("msg_id", "0aFF")[:3].hex()
    '0aff00'
    """
    option = f"--{name.replace('_', '-')}"
    if len(digits) > 2 * _LENGTH or not re.fullmatch("([0-9a-fA-F]{2})*", digits):
        raise ConfigurationException(
            f"{option} {digits:.60} is no id: it is up to {2 * _LENGTH} hexadecimal digits, two for each byte"
        )
    return bytes.fromhex(digits).ljust(_LENGTH, b"\0")


def selection(msg_id: str, correl_id: str, group_id: str, selector: str) -> Selection:
    """Returns what the options select."""
    from engine.work import Selection

    return Selection(
        identifier("msg_id", msg_id) if msg_id else b"",
        identifier("correl_id", correl_id) if correl_id else b"",
        identifier("group_id", group_id) if group_id else b"",
        selector=selector,
    )


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Returns a command that has the fields of its groups as options, and is given the groups made of them.

    >>> @dataclasses.dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> @with_groups
    ... def area(unit: str, size: Size) -> None:
    ...     print(size.width * size.height, unit)
    >>> area(unit="m2", width=5, height=2)
    10 m2
    >>> list(signature(area).parameters)
    ['unit', 'width', 'height']
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        group = groups.get(parameter.name)
        if group is None:
            parameters.append(parameter.replace(annotation=hints[parameter.name], kind=Parameter.KEYWORD_ONLY))
        else:
            parameters += _options(group)

    @wraps(command)
    def run(**given: Any) -> None:
        made = {name: _made(group, given) for name, group in groups.items()}
        command(**given, **made)

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what inspect.signature looks for first
    return run


def _options(group: Any) -> list[Parameter]:
    """Returns the options that the fields of a group are, and those of groups among them."""
    found: list[Parameter] = []
    for field, hint in _fields(group):
        if dataclasses.is_dataclass(hint):
            found += _options(hint)
        else:
            found.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hint))
    return found


def _made(group: Any, given: dict[str, Any]) -> Any:
    """Returns a group made of what is given, which is taken out of there."""
    values = {
        field.name: _made(hint, given) if dataclasses.is_dataclass(hint) else given.pop(field.name)
        for field, hint in _fields(group)
    }
    return group(**values)


def _fields(group: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = get_type_hints(group, include_extras=True)
    return [(field, hints[field.name]) for field in dataclasses.fields(group)]


def check_descriptor(ccsid: int, encoding: int, format_: str) -> None:
    """Refuse what no message descriptor could say of a message."""
    from engine.descriptor import is_encoding
    from parsers.charsets.ccsid import codec

    codec(ccsid)
    if not is_encoding(encoding):
        raise ConfigurationException(f"--encoding {encoding} is no MQ encoding: 546 is little endian, 273 big endian")
    if len(format_) > 8 or not format_.isascii():
        raise ConfigurationException(f"--format {format_} is no MQ format: it has at most 8 ASCII characters")


def check_queue_manager(name: str) -> None:
    """Refuse what is no name of a queue manager."""
    from engine.flow.queue_options import QUEUE_MANAGER

    if not re.fullmatch(QUEUE_MANAGER.regex, name):
        raise ConfigurationException(f"--queue-manager-name is {QUEUE_MANAGER.words}, not {name!r:.60}")


def inputs_of(sources: list[str]) -> list[Place]:
    """Returns the files and folders that messages come from, standard input by its descriptor."""
    return [0 if source == "-" else Path(source) for source in sources]


def letters_of(sources: list[str], descriptor: Descriptor, most: int) -> tuple[Iterator[Letter], int]:
    """Returns the messages of all sources, one after the other, and how many there are."""
    from engine.runtime.file_run import files_of, letter_of, letters_from

    letters: list[Iterable[Letter]] = []
    count = 0
    for source in sources:
        if source != "-":
            files = files_of(existing(source, "a file, a directory, or - for standard input"))
            letters.append(letters_from(files, descriptor, most))
            count += len(files)
        else:
            read = partial(read_stream, standard_input("a message"), "stdin", most)
            letters.append(letter_of("stdin", descriptor, own) for own in (read,))  # it is read in its turn
            count += 1
    return chain.from_iterable(letters), count
