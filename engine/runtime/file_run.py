"""The desk: a flow run over messages from files, its queues in memory, what it puts written to files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException, Place, reason
from engine.files.input_files import MOST, read_file
from engine.files.input_files import Place as Input
from engine.files.output_files import OutputFolder
from engine.flow.dead_letters import BLOCKED
from engine.flow.definition import Flow
from engine.message.received import Received
from engine.runtime.deployment import Bind, DeployedFlow, Outcome, deploy
from engine.runtime.incidents import Incident, put_away_heard
from engine.runtime.user_trace import UserTrace
from engine.transports.memory import MemoryQueues, subscribe
from engine.work import Arrival, UnitOfWork

MOST_ROUNDS: Final = 100_000  # a message that has gone through the flow so often goes round for ever
LONGEST_NAME: Final = 200  # bytes of a file's name; file systems have 255


class Letter(NamedTuple):
    """A message that is to go through a flow, and what it is called; `refused` says why it cannot be read."""

    name: str
    descriptor: Descriptor
    body: bytes
    refused: BrokerError | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a flow left on a queue."""

    queue: str
    arrival: Arrival


@dataclass(frozen=True, slots=True)
class Passage:
    """The result of one message: the wires it took, its puts, the error it failed with if any, and all others."""

    name: str
    wires: tuple[tuple[str, str, str], ...]
    sent: tuple[Sent, ...]
    error: BrokerError | None = None
    incidents: tuple[Incident, ...] = ()


@dataclass(slots=True)
class _Steps:
    """The wires that the message in hand has taken, and the errors that it has met."""

    taken: list[tuple[str, str, str]] = field(default_factory=list)
    met: list[Incident] = field(default_factory=list)

    def watch(self, label: str, terminal: str, target: str) -> None:
        self.taken.append((label, terminal, target))

    def catch(self, place: Place, error: BrokerError) -> None:
        self.met.append(Incident("caught", error, str(place)))


def run(  # noqa: PLR0913 - what is around a run
    flow: Flow,
    letters: Iterable[Letter],
    *,
    queue: str = "",
    bind: Bind | None = None,
    queue_manager: str = "QM",
    trace: UserTrace | None = None,
    sources: Sources | None = None,
    subscribers: Mapping[str, str] | None = None,
) -> Iterator[Passage]:
    """Send messages through an expanded flow one after the other; `queue` says where they enter, if there is a choice.

    `subscribers` names queues with the topics that they subscribe to; where there are none, PUBLICATIONS takes all.
    A message is followed until every queue that the flow reads is empty, so a flow that feeds itself is run to its end.
    One that has none, or that no queue takes, fails, and the next one is sent.
    """
    steps = _Steps()
    deployed = deploy(flow, bind=bind, watch=steps.watch, trace=trace)
    deployed.tell_caught(steps.catch)
    entries = {str(getattr(e.node, "queue_name", e.label)): e for e in deployed.entrances}
    entry = _entry(flow, list(entries), queue)
    queues = MemoryQueues(*entries, name=queue_manager, open_=True)
    subscribe(queues, (station.node for station in deployed.stations.values()), subscribers)
    work, posting = with_databases(queues.work(), sources, deployed.properties), queues.work()
    with put_away_heard() as put_away:
        for letter in letters:
            steps.taken, steps.met = [], []
            error = letter.refused or _posted(entry, letter, posting)
            if error is None:
                errors = _followed(deployed, work, entries)
                error = errors[0] if errors else None
                steps.met += (Incident("failed", each) for each in errors)
                steps.met += (Incident("put away", each) for each in put_away.taken(error))
            else:
                steps.met.append(Incident("failed", error))
            yield Passage(letter.name, tuple(steps.taken), tuple(_sent(queues, entries)), error, tuple(steps.met))


def _posted(entry: str, letter: Letter, posting: UnitOfWork) -> BrokerError | None:
    """Puts a message where it enters; returns why its queue does not take it."""
    try:
        posting.put(entry, letter.descriptor, letter.body)
        posting.commit()
    except BrokerError as error:
        posting.back_out()
        return error
    return None


def _followed(deployed: DeployedFlow, work: UnitOfWork, entries: Iterable[str]) -> list[BrokerError]:
    """Runs the flow until its queues are empty, or until it cannot go on; returns the first error of each message."""
    errors: dict[bytes, BrokerError] = {}
    rounds, before = 0, -1
    while rounds > before:
        before = rounds
        for entrance in deployed.entrances:
            batch = deployed.batch(entrance)
            while (outcome := deployed.process(entrance, work, batch, patient=False)) is not None:
                rounds += 1
                if outcome.error is not None:
                    number = outcome.error.number
                    errors.setdefault(b"" if number == BLOCKED else _id(outcome), outcome.error)
                    if number == BLOCKED:  # it would be tried for ever, with all that waits behind it
                        _drain(work, entries)
                        return list(errors.values())
                if rounds > MOST_ROUNDS:
                    text = f"a message went round more than {MOST_ROUNDS:,} times: the flow feeds its own queue"
                    _drain(work, entries)
                    return [*errors.values(), BrokerError(2230, text, place=entrance.place)]
    return list(errors.values())


def _id(outcome: Outcome) -> bytes:
    """Returns the id of the message that came in: a retry of it is not another failure."""
    source = outcome.message.root.source
    return source.descriptor.msg_id if isinstance(source, Received) else b""


def _drain(work: UnitOfWork, entries: Iterable[str]) -> None:
    """Takes what a message has left on the flow's own queues, which would else stand before the next one."""
    work.back_out()
    for name in entries:
        while work.get(name) is not None:
            pass
    work.commit()


def _entry(flow: Flow, names: list[str], queue: str) -> str:
    if queue:
        if queue in names:
            return queue
        raise ConfigurationException(f"flow {flow.name} does not read {queue}; it reads {', '.join(names)}")
    if not names:
        raise ConfigurationException(f"flow {flow.name} reads no queue: give it an MQInput node")
    if len(names) != 1:
        raise ConfigurationException(f"flow {flow.name} reads {', '.join(names)}: say which by --queue")
    return names[0]


def _sent(queues: MemoryQueues, entries: Iterable[str]) -> Iterator[Sent]:
    """Take what stands on the queues that the flow does not read itself."""
    work = queues.work()
    for name in queues.names():
        if name in entries:
            continue
        while (arrival := work.get(name)) is not None:
            yield Sent(name, arrival)
    work.commit()


def files_of(path: Path) -> list[Path]:
    """A file, or every file of a directory in the order of their names; hidden ones are left out."""
    if not path.is_dir():
        return [path]
    found = sorted(inner for inner in path.iterdir() if inner.is_file() and not inner.name.startswith("."))
    if not found:
        raise ConfigurationException(f"{path} holds no files: name a directory with a message in each of its files")
    return found


def letters_from(files: Iterable[Path], descriptor: Descriptor, most: int = MOST) -> Iterator[Letter]:
    """Each file as one message; one that cannot be read, or has more bytes than `most`, is refused."""
    for file in files:
        yield letter_of(file.name, descriptor, partial(read_file, file, most))


def letter_of(name: str, descriptor: Descriptor, read: Callable[[], bytes]) -> Letter:
    """Returns a message with the bytes that are read, or with the reason why they cannot be."""
    try:
        return Letter(name, descriptor, read())
    except OSError as error:
        text = f"{error.filename or name} cannot be read: {reason(error)}"
        return Letter(name, descriptor, b"", ConfigurationException(text))
    except ConfigurationException as error:
        return Letter(name, descriptor, b"", error)


class Outbox:
    """Writes what was sent into a directory: a folder a queue, a file a message, named after what came in.

    The files take their places when they are published, which is at the end of a run.
    """

    def __init__(self, directory: Path, inputs: Iterable[Input] = ()) -> None:
        self.directory = directory
        self._folder = OutputFolder(directory, inputs)
        self._taken: dict[Path, int] = {}  # names, each with the number that its next namesake gets
        self.remains = self._folder.remains
        self.publish, self.discard, self.close = self._folder.publish, self._folder.discard, self._folder.close

    def write(self, name: str, sent: Sent) -> Path:
        """Write one message; the answer is the file that it will be."""
        folder = _safe(sent.queue)
        given = Path(_safe(name))
        first = file = Path(folder, given.name)
        while file in self._taken:
            number = self._taken[first]
            self._taken[first] = number + 1
            file = Path(folder, f"{given.stem}-{number}{given.suffix}")
        self._taken[file] = 2
        return self._folder.add(file.parts, sent.arrival.body)

    def others(self) -> int:
        """Returns how many files in the folders of queues are of a former run, not written by this outbox."""
        top = self._folder.folder
        folders = [one for one in top.iterdir() if one.is_dir() and not one.is_symlink() and one.name[0] != "."]
        return sum(file.relative_to(top) not in self._taken for folder in folders for file in folder.iterdir())


def _safe(name: str) -> str:
    """A name that is one plain name in any file system; queue names may come from messages.

    >>> _safe("ORDERS.OUT"), _safe("Prüfung 1.xml"), _safe("../x"), _safe(".."), _safe("")
    ('ORDERS.OUT', 'Prüfung 1.xml', '..%2Fx', '%2E%2E', '%')
    """
    safe = "".join(c if c.isalnum() or c in " .-_+,=@()" else quote(c, safe="", errors="surrogatepass") for c in name)
    safe = safe.encode()[:LONGEST_NAME].decode(errors="ignore")
    return safe if safe.strip(". ") else safe.replace(".", "%2E").replace(" ", "%20") or "%"
