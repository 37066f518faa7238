"""penstock put, publish and subscribe: messages onto a queue, to all who subscribe to a topic, and subscriptions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engine.cli import app
from engine.cli.command_failures import OR_STANDARD_INPUT, existing, read_input, standard_input
from engine.cli.gets import body_line, hand_on, printer
from engine.cli.put_units import Given, Units, before_commit, put_units
from engine.cli.queue_manager_access import PATIENCE, KeyStore, Reach, User, begin, done_once, reached
from engine.cli.shared_options import Json, Selector, given_id, identifier, pair_of
from engine.errors import BrokerError, ConfigurationException, MessageException
from engine.files.input_files import MOST, NO_MESSAGE

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.work import Arrival


_LONGEST_EXPIRY: Final = (2**31 - 1) / 10  # seconds
_AS_THE_QUEUE: Final = 2  # the persistence that leaves it to the queue
_MESSAGE: Final = "a message"


Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="NAME=VALUE", help="A property, which is text; may be given several times."),
]


@dataclass(frozen=True, slots=True)
class Options:
    """The options that say what each message is like."""

    persistent: bool
    priority: int | None
    expiry: float | None
    msg_id: str
    correl_id: str
    group_id: str
    properties: tuple[str, ...]

    def message(self, place: str, descriptor: Descriptor, body: bytes) -> Given:
        """Returns a message as the options want it; what they do not say stays."""
        from engine.mq.properties import join
        from engine.mq.property_names import check_names

        changes: dict[str, object] = {"persistence": 1} if self.persistent else {}
        if self.priority is not None:
            changes["priority"] = self.priority
        if self.expiry is not None:
            changes["expiry"] = max(1, round(self.expiry * 10))
        ids = {"msg_id": self.msg_id, "correl_id": self.correl_id, "group_id": self.group_id}
        changes |= {name: identifier(name, digits) for name, digits in ids.items() if digits}
        descriptor = descriptor._replace(**changes)  # type: ignore[arg-type]  # fields of their types
        if self.properties:
            given = dict(map(_property, self.properties))
            check_names(given)
            descriptor, body = join(given, descriptor, body)
        return Given(place, descriptor, body)

    def check(self) -> None:
        """Refuse what no message can have."""
        if self.priority is not None and not 0 <= self.priority <= 9:
            raise ConfigurationException(f"--priority {self.priority} is none: it is 0 to 9")
        if self.expiry is not None and not 0 < self.expiry <= _LONGEST_EXPIRY:
            text = f"--expiry {self.expiry} is no number of seconds: it is more than 0, and {_LONGEST_EXPIRY} at most"
            raise ConfigurationException(text)
        for text in self.properties:
            _property(text)


@app.command()
def put(
    queue: Annotated[str, typer.Argument(help="The queue.")],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE…|-]", help="Files, a message each; - is standard input.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="The body, in place of a file.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How often each message is put.")] = 1,
    unit: Annotated[int, typer.Option(min=1, help="How many messages are committed together.")] = 100,
    persistent: Annotated[bool, typer.Option("--persistent", help="Messages are on disk before this ends.")] = False,
    priority: Annotated[int | None, typer.Option(help="0 to 9; otherwise the queue's default.")] = None,
    expiry: Annotated[float | None, typer.Option(help="Seconds after which a message may be discarded.")] = None,
    msg_id: Annotated[
        str, typer.Option(metavar="HEX", callback=given_id, help="The message id, as hexadecimal digits.")
    ] = "",
    correl_id: Annotated[str, typer.Option(metavar="HEX", callback=given_id, help="The correlation id.")] = "",
    group_id: Annotated[str, typer.Option(metavar="HEX", callback=given_id, help="The group id.")] = "",
    properties: Properties = None,
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line a message, and read lines of this form where FILE is -.")
    ] = False,
) -> None:
    """Put messages on a queue.

    With --json, standard input holds a message a line, in the form that `penstock get --json` prints. Messages are
    committed in units; when one is refused, those of its unit are not put, and it is said how many are in.

    Example: penstock put ORDERS order.xml --queue-manager qm
    """
    options = Options(persistent, priority, expiry, msg_id, correl_id, group_id, tuple(properties or ()))
    options.check()
    if (text is None) == (not files):
        raise ConfigurationException("name files, or - for standard input, or give --text: one of the three")
    units: Units | None = None
    goes_on, patience = True, 0.0
    while goes_on:  # again where a process had the folder, and ended before it had done a unit
        with reached(queue_manager, user, patience) as manager:
            if units is None:
                lines = _lines(options, manager, queue) if as_json else None
                sources = _sources(files or [], text, options, lines)
                units = Units((given for given in sources for _ in range(count)), unit)
            goes_on = not put_units(begin(manager), queue, units, as_json=as_json)
            patience = PATIENCE if getattr(manager, "is_lasting", False) else 0.0


def _sources(files: list[str], text: str | None, options: Options, lines: Iterator[Given] | None) -> Iterator[Given]:
    """Yields the messages that are given; `lines` are those of standard input where that holds JSON."""
    from engine.descriptor import Descriptor

    plain = Descriptor(priority=-1, persistence=_AS_THE_QUEUE)
    if text is not None:
        yield options.message("", plain, text.encode("utf-8", "surrogateescape"))
    for name in files:
        if name == "-" and lines is not None:
            yield from lines
            continue
        if name != "-" and existing(name, OR_STANDARD_INPUT).is_dir():
            raise ConfigurationException(f"{name} is a directory: name the files in it")
        place = "standard input" if name == "-" else name
        yield options.message(place, plain, read_input(name, _MESSAGE, MOST, NO_MESSAGE, shown="stdin"))


def _lines(options: Options, manager: Any, queue: str) -> Iterator[Given]:
    from engine.mq.message_json import from_line, numbered_lines

    for number, line in numbered_lines(standard_input(_MESSAGE), manager, queue):
        place = f"line {number}"
        try:
            descriptor, body = from_line(line)
        except BrokerError as error:
            error.text = f"{place}: {error.text}"
            raise
        yield options.message(place, descriptor, body)


def _property(text: str) -> tuple[str, str]:
    return pair_of(text, f"--property {text!r:.60} is none: write NAME=VALUE")


@app.command()
def publish(
    topic: Annotated[str, typer.Argument(help="The topic, such as prices/NYSE/XYZ.")],
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="A file with the message; - is standard input.")] = "",
    text: Annotated[str | None, typer.Option(help="The body, in place of a file.")] = None,
    retain: Annotated[
        bool, typer.Option("--retain", help="Keep it for those who subscribe later, in place of the one before.")
    ] = False,
    point: Annotated[str, typer.Option(help="The subscription point.")] = "",
    persistent: Annotated[bool, typer.Option("--persistent", help="It is on disk before this ends.")] = False,
    priority: Annotated[int | None, typer.Option(help="0 to 9; otherwise the topic's default.")] = None,
    expiry: Annotated[float | None, typer.Option(help="Seconds after which it may be discarded.")] = None,
    properties: Properties = None,
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Json = False,
) -> None:
    """Publish a message.

    That nobody subscribes to its topic is no error.

    Example: penstock publish prices/NYSE/XYZ --text 120 --retain --queue-manager qm
    """
    from engine.descriptor import Descriptor

    options = Options(persistent, priority, expiry, "", "", "", tuple(properties or ()))
    options.check()
    body = _body(file, text)
    given = options.message("", Descriptor(priority=-1, persistence=2), body)

    def put_in_unit(manager: Any) -> Descriptor:
        with closing(begin(manager)) as work:
            try:
                full: Descriptor = work.publish(topic, given.descriptor, given.body, retain=retain, point=point)
            except MessageException as error:
                raise before_commit(error) from error
            work.commit()
        return full

    published = done_once(queue_manager, user, put_in_unit)
    if as_json:
        typer.echo(json.dumps({"topic": topic, "retained": retain, "msg_id": published.msg_id.hex()}))


def _body(file: str, text: str | None) -> bytes:
    """Returns the body that is given in one of the ways there are; where none is, it is empty."""
    if text is not None and file:
        raise ConfigurationException("--text and a file are both given: leave one of them out")
    if text is not None:
        return text.encode("utf-8", "surrogateescape")
    return read_input(file, _MESSAGE, MOST, NO_MESSAGE) if file else b""


_TOPIC: Final = "mqps.Top"
_RETAINED: Final = "mqps.Ret"


@app.command()
def subscribe(
    topic: Annotated[str, typer.Argument(help="The topic, with + for one level and # for any number, or without.")],
    queue: Annotated[
        str, typer.Option(help="The queue that publications go to; one is made where none is named.")
    ] = "",
    durable: Annotated[str, typer.Option(metavar="NAME", help="Subscribe for good, by this name.")] = "",
    selector: Selector = "",
    point: Annotated[str, typer.Option(help="The subscription point.")] = "",
    count: Annotated[int | None, typer.Option(min=1, help="How many publications at most; otherwise all.")] = None,
    wait: Annotated[
        float | None, typer.Option(min=0, help="Seconds that are waited for each; otherwise without end.")
    ] = None,
    queue_manager: Reach = None,
    user: User = "",
    _key_store: KeyStore = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a publication as a line of JSON.")] = False,
) -> None:
    """Subscribe to a topic.

    With --durable this ends at once, and publications go to the queue until `DELETE SUB(NAME)` in MQSC ends that.
    Otherwise they are printed as they come, what is retained first, and the subscription ends with this command.

    Example: penstock subscribe prices/# --json --count 2 --wait 10 --queue-manager qm
    """
    attributes: dict[str, Any] = {"TOPICSTR": topic, "SELECTOR": selector, "SUBPOINT": point, "SUBTYPE": "API"}
    attributes |= {"DEST": queue} if queue else {"DESTCLAS": "MANAGED"}
    if durable:
        if count is not None or wait is not None:
            raise ConfigurationException("--durable ends at once: leave --count and --wait out, and get from the queue")
        done_once(queue_manager, user, lambda manager: manager.define("SUB", durable, attributes, replace=True))
        return
    if queue:
        raise ConfigurationException("--queue goes with --durable NAME: give both, or none to print publications")
    name = f"penstock subscribe {os.getpid()} {os.urandom(8).hex()}"
    with reached(queue_manager, user) as manager:
        manager.define("SUB", name, attributes | {"PROPCTL": "ALL", "DURABLE": "NO"})
        try:
            _print(manager, str(manager.display("SUB", name)[0]["DEST"]), count, wait, as_json=as_json)
        finally:
            manager.delete("SUB", name)


def _print(manager: Any, queue: str, count: int | None, wait: float | None, *, as_json: bool) -> None:
    """Print publications as they come; each is taken off its queue once it is printed."""
    work, printed, take = manager.work(), 0, printer(_json_line if as_json else body_line)
    while count is None or printed < count:
        arrival = work.get(queue, wait=-1.0 if wait is None else wait)
        if arrival is None:
            return
        hand_on(work, arrival, take)
        printed += 1


def _json_line(arrival: Arrival) -> bytes:
    """Returns a publication as a line of JSON with its topic."""
    from engine.mq.message_json import to_object
    from engine.mq.properties import split

    found, told = to_object(*arrival), split(*arrival)[0]
    properties: Any = found["properties"]
    said = {"topic": told.get(_TOPIC, ""), "retained": told.get(_RETAINED, False)}
    found["properties"] = {name: value for name, value in properties.items() if name not in {_TOPIC, _RETAINED}}
    return json.dumps(said | found, ensure_ascii=False).encode() + b"\n"
