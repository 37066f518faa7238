"""The desk: a flow run over messages from files, its queues in memory, what it puts written to files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.dead_letters import BLOCKED
from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException
from engine.flow import Flow
from engine.runtime import Bind, DeployedFlow, deploy
from engine.transports.memory import MemoryQueues
from engine.usertrace import UserTrace
from engine.work import Arrival, UnitOfWork

MOST_ROUNDS: Final = 100_000  # a message that has gone through the flow so often goes round for ever
LONGEST_NAME: Final = 200  # bytes of a file's name; file systems have 255


class Letter(NamedTuple):
    """A message that is to go through a flow, and what it is called."""

    name: str
    descriptor: Descriptor
    body: bytes


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a flow left on a queue."""

    queue: str
    arrival: Arrival


@dataclass(frozen=True, slots=True)
class Passage:
    """What became of one message: the wires it took, what was put, and why it failed if it did."""

    name: str
    wires: tuple[tuple[str, str, str], ...]
    sent: tuple[Sent, ...]
    error: BrokerError | None = None


@dataclass(slots=True)
class _Steps:
    """The wires that the message in hand has taken."""

    taken: list[tuple[str, str, str]] = field(default_factory=list)

    def watch(self, label: str, terminal: str, target: str) -> None:
        self.taken.append((label, terminal, target))


def run(  # noqa: PLR0913 - what is around a run
    flow: Flow,
    letters: Iterable[Letter],
    *,
    queue: str = "",
    bind: Bind | None = None,
    queue_manager: str = "QM",
    trace: UserTrace | None = None,
    sources: Sources | None = None,
) -> Iterator[Passage]:
    """Send messages through an expanded flow one after the other; `queue` says where they enter, if there is a choice.

    A message is followed until every queue that the flow reads is empty, so a flow that feeds itself is run to its end.
    """
    steps = _Steps()
    deployed = deploy(flow, bind=bind, watch=steps.watch, trace=trace)
    entries = {str(getattr(e.node, "queue_name", e.label)): e for e in deployed.entrances}
    entry = _entry(flow, list(entries), queue)
    queues = MemoryQueues(*entries, name=queue_manager, open_=True)
    work, posting = with_databases(queues.work(), sources, deployed.properties), queues.work()
    for letter in letters:
        steps.taken = []
        posting.put(entry, letter.descriptor, letter.body)
        posting.commit()
        error = _followed(deployed, work)
        yield Passage(letter.name, tuple(steps.taken), tuple(_sent(queues, entries)), error)


def _followed(deployed: DeployedFlow, work: UnitOfWork) -> BrokerError | None:
    """Run the flow until its queues are empty; the first error, if there was one."""
    error: BrokerError | None = None
    rounds, before = 0, -1
    while rounds > before:
        before = rounds
        for entrance in deployed.entrances:
            batch = deployed.batch(entrance)
            while (outcome := deployed.process(entrance, work, batch, patient=False)) is not None:
                rounds += 1
                error = error or outcome.error
                if outcome.error is not None and outcome.error.number == BLOCKED:
                    raise outcome.error
                if rounds > MOST_ROUNDS:
                    text = f"a message went round more than {MOST_ROUNDS:,} times: the flow feeds its own queue"
                    raise BrokerError(2230, text, place=entrance.place)
    return error


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


def letters_from(files: Iterable[Path], descriptor: Descriptor) -> Iterator[Letter]:
    """Each file as one message."""
    for file in files:
        yield Letter(file.name, descriptor, file.read_bytes())


class Outbox:
    """Writes what was sent into a directory: a folder a queue, a file a message, named after what came in."""

    def __init__(self, directory: Path) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise ConfigurationException(f"{directory} cannot hold messages: name a directory, not a file") from error
        self._directory = directory
        self._taken: dict[Path, int] = {}  # names, each with the number that its next namesake gets

    def write(self, name: str, sent: Sent) -> Path:
        """Write one message; the answer is its file."""
        folder = self._directory / _safe(sent.queue)
        folder.mkdir(exist_ok=True)
        given = Path(_safe(name))
        first = file = folder / given.name
        while file in self._taken:
            number = self._taken[first]
            self._taken[first] = number + 1
            file = folder / f"{given.stem}-{number}{given.suffix}"
        self._taken[file] = 2
        file.write_bytes(sent.arrival.body)
        return file

    def others(self) -> int:
        """How many files stand in the folders of queues that this outbox has not written: those of a former run."""
        folders = [folder for folder in self._directory.iterdir() if folder.is_dir() and not folder.is_symlink()]
        return sum(file not in self._taken for folder in folders for file in folder.iterdir())


def _safe(name: str) -> str:
    """A name that is one plain name in any file system; queue names may come from messages.

    >>> _safe("ORDERS.OUT"), _safe("Prüfung 1.xml"), _safe("../x"), _safe(".."), _safe("")
    ('ORDERS.OUT', 'Prüfung 1.xml', '..%2Fx', '%2E%2E', '%')
    """
    safe = "".join(c if c.isalnum() or c in " .-_+,=@()" else quote(c, safe="", errors="surrogatepass") for c in name)
    safe = safe.encode()[:LONGEST_NAME].decode(errors="ignore")
    return safe if safe.strip(". ") else safe.replace(".", "%2E").replace(" ", "%20") or "%"
