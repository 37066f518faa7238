"""The scenarios of the WMQI report: the table of their flows, messages and programs by hand; the messages as files.

A scenario is set up with its flow, found by name, its queues and its database, or says what it still waits for.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from engine.costs import hand_written
from engine.costs.hand_written import complex_path_by_hand
from engine.costs.measuring import BROKEN
from engine.costs.queue_programs import lasting
from engine.costs.results import published
from engine.costs.sample_messages import FORMS, HEADER, Sample, on_topic, paths, plain, tagged
from engine.databases.coordination import Coordinator
from engine.databases.definitions import Definition
from engine.databases.sources import Sources
from engine.databases.work import with_databases
from engine.errors import BrokerError, ConfigurationException
from engine.files.output_files import OutputFolder
from engine.flow.definition import Flow, NodeUse, Setting, Wire
from engine.mq import QueueManager
from engine.node import node_catalog
from engine.runtime.deployment import DeployedFlow, deploy
from engine.transports.memory import MemoryQueues, subscribe
from flows.files import load_flow
from flows.flow_yaml import read_flow
from flows.programs import binder

if TYPE_CHECKING:
    import sqlalchemy as sa

    from engine.work import UnitOfWork


Make: TypeAlias = Callable[[int], Sample]
ByHand: TypeAlias = Callable[[bytes], bytes]

INSTANCES: Final = (1, 2, 4)
SUBSCRIBERS: Final = (1, 10, 30, 50, 70, 100, 1000)
VERY_COMPLEX: Final = "compute_very_complex"
PUBLICATION: Final = "publication"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One line of the report's tables: what a flow is measured on, and what its output must be.

    `flow` names its flow file, where that is not called as the scenario is. What comes out must be what `by_hand` makes
    of the message; where that works with a database, `on_database` makes it for one.
    Of the messages that come of one the drivers read that on COSTS.OUT; `subscribers` says on how many further queues
    others arrive, which are emptied beside.
    """

    name: str
    message: Make
    by_hand: ByHand | None
    flow: str = ""
    copies: int = 1
    groups: int = 1
    subscribers: int = 0
    on_database: Callable[[sa.Engine], ByHand] | None = None

    @property
    def flow_name(self) -> str:
        """Returns what its flow file is called: as the scenario, where nothing else is said."""
        return self.flow or self.name


@cache
def scenarios() -> Mapping[str, Scenario]:
    """Every scenario by its name, in the report's order."""
    declared = {scenario.name: scenario for scenario in _declared()}
    return MappingProxyType({key.scenario: declared[key.scenario] for key in published()})


def _declared() -> Iterator[Scenario]:
    yield Scenario("mq_input_output", plain, hand_written.pass_on)
    yield Scenario("mq_input_output_transactional", plain, hand_written.pass_on)
    yield Scenario("compute_simple", plain, hand_written.change_one_field)
    yield Scenario("compute_complex", paths, complex_path_by_hand)
    yield Scenario("compute_complex_x5_nodes", paths, complex_path_by_hand)
    yield Scenario(VERY_COMPLEX, paths, complex_path_by_hand)
    yield Scenario("filter", tagged, hand_written.pass_on_if_north)
    for entries in (1, 100):
        yield Scenario(f"route_to_label_{entries}", plain, partial(hand_written.pass_on_by_list, entries))
    for given, message in FORMS.items():
        for wanted in FORMS:
            by_hand = partial(hand_written.convert, given, wanted)
            yield Scenario(f"convert_{given}_to_{wanted}", message, by_hand)
    for number in INSTANCES:
        very_complex = partial(Scenario, message=paths, by_hand=complex_path_by_hand)
        yield very_complex(f"additional_instances_{number}")
        yield very_complex(f"flow_copies_{number}", flow=VERY_COMPLEX, copies=number)
        yield very_complex(f"execution_groups_{number}", flow=VERY_COMPLEX, groups=number)
    yield Scenario("database_insert_delete_coordinated", plain, None, on_database=hand_written.insert_and_delete)
    for answer in ("no", "yes"):
        yield Scenario(f"database_update_coordinated_{answer}", plain, None, on_database=hand_written.update)
    for number in SUBSCRIBERS:
        name = f"publication_{number}_subscriber" + ("s" if number > 1 else "")
        yield Scenario(name, on_topic, hand_written.pass_on, flow=PUBLICATION, subscribers=number - 1)


INDEX: Final = "index.json"
_LENGTH: Final = struct.Struct("<i")


def write_messages(directory: Path) -> tuple[Path, ...]:
    """Write the message of each scenario and size as SCENARIO-SIZE, and what they are into index.json."""
    files, entries = [], []
    with closing(OutputFolder(directory)) as folder:
        for name, size in dict.fromkeys((key.scenario, key.message_bytes) for key in published()):
            sample = scenarios()[name].message(size)
            file = folder.add((f"{name}-{size}.{'bin' if _front(sample) else 'xml'}",), sample.body)
            files.append(file)
            entries.append(_entry(name, size, file.name, sample))
        index = json.dumps({"format": 1, "messages": entries}, indent=1) + "\n"
        folder.add((INDEX,), index.encode())
        folder.publish()
    return tuple(files)


def _front(sample: Sample) -> int:
    """Returns how many bytes at the start are an MQRFH2; what they announce follows them."""
    return int(_LENGTH.unpack_from(sample.body, 8)[0]) if sample.descriptor.format == HEADER else 0


def _entry(scenario: str, size: int, file: str, sample: Sample) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "message_bytes": size,
        "file": file,
        "mqrfh2_bytes": _front(sample),
        "format": sample.descriptor.format,
        "encoding": sample.descriptor.encoding,
        "ccsid": sample.descriptor.coded_char_set_id,
        "sha256": hashlib.sha256(sample.body).hexdigest(),
    }


IN: Final = "COSTS.IN"
OUT: Final = "COSTS.OUT"


def own_folders() -> tuple[Path, ...]:
    """Returns where the flows of scenarios are that ship."""
    return tuple(sorted(path for path in Path(str(files("engine.costs") / "flows")).iterdir() if path.is_dir()))


def flow_file(scenario: Scenario) -> Path:
    """Returns the file of a scenario's flow; raises where there is none yet."""
    name = f"{scenario.flow_name}.yaml"
    for folder in own_folders():
        if (found := folder / name).is_file():
            return found
    raise ConfigurationException(f"needs its flow: {name}")


def hindrance(scenario: Scenario) -> str:
    """Why a scenario cannot be measured; nothing where it can."""
    try:
        file = flow_file(scenario)
    except ConfigurationException as error:
        return error.text
    missing = ", ".join(dict.fromkeys(_missing_types(file)))
    return f"needs the node {missing}" if missing else ""


def _missing_types(file: Path) -> Iterator[str]:
    flow = read_flow(file.read_bytes(), str(file)).flow
    for use in flow.nodes if flow else ():
        if use.type and node_catalog.get(use.type) is None:
            yield use.type


def deployed(scenario: Scenario, sources: Sources | None = None) -> DeployedFlow:
    """Returns an instance of the scenario's flow."""
    flow = load_flow(str(flow_file(scenario)))
    return deploy(flow, bind=binder(flow, sources=sources))


@contextmanager
def opened(scenario: Scenario, *, persistent: bool) -> Iterator[QueueManager]:
    """Opens the queues that the flow and its drivers work with: in memory, or durable for persistent messages."""
    if not persistent:
        yield queues(scenario)
        return
    names = (IN, OUT, *subscriptions(scenario))
    with TemporaryDirectory(prefix=_FOLDER) as place, lasting(Path(place) / "queues", *names) as made:
        _subscribe(made, scenario)
        yield made


def queues(scenario: Scenario) -> QueueManager:
    """Returns the queues of a scenario in memory."""
    made = MemoryQueues(IN, OUT, *subscriptions(scenario))
    _subscribe(made, scenario)
    return made


def _subscribe(made: QueueManager, scenario: Scenario) -> None:
    if scenario.flow_name == PUBLICATION:
        subscribe(made, (), dict.fromkeys((OUT, *subscriptions(scenario)), "costs/#"))


def subscriptions(scenario: Scenario) -> tuple[str, ...]:
    """The queues of subscribers that no driver reads."""
    return tuple(f"COSTS.SUBSCRIBER.{number}" for number in range(1, scenario.subscribers + 1))


SOURCE: Final = "COSTS"
_FOLDER: Final = "penstock-costs-"


@contextmanager
def database(made_by_hand: Callable[[sa.Engine], ByHand]) -> Iterator[tuple[Sources, ByHand]]:
    """Opens a database for a flow, and gives it with the program by hand on one like it of its own."""
    from sqlalchemy import create_engine  # noqa: PLC0415 - most scenarios do without

    from engine.costs.hand_written import fill  # noqa: PLC0415 - as above

    with TemporaryDirectory(prefix=_FOLDER) as place:
        engines = [create_engine(f"sqlite:///{place}/{name}.db") for name in ("flow", "hand")]
        sources = Sources([Definition(SOURCE, f"sqlite:///{place}/flow.db")])
        try:
            for engine in engines:
                fill(engine)
            yield sources, made_by_hand(engines[1])
        finally:
            sources.close()
            for engine in engines:
                engine.dispose()


def with_data_sources(
    queues: QueueManager, work: UnitOfWork, sources: Sources | None, flow: DeployedFlow
) -> UnitOfWork:
    """Returns a unit of work with data sources, the queue manager as its coordinator where the flow asks for that."""
    coordinated = sources is not None and flow.properties.coordinated_transaction
    return with_databases(work, sources, flow.properties, Coordinator(queues) if coordinated else None)


INPUT: Final = NodeUse("In", "MQInput", (Setting("queueName", "IN"), Setting("messageDomainProperty", "XMLNSC")))
OUTPUT: Final = NodeUse("Out", "MQOutput", (Setting("queueName", "OUT"),))


def in_a_row(name: str, *nodes: NodeUse, properties: tuple[Setting, ...] = ()) -> Flow:
    """Returns a flow of nodes each of which is wired to the next."""
    wires = tuple(Wire(one.label, "out", other.label) for one, other in pairwise(nodes))
    return Flow(name, properties=properties, nodes=nodes, wires=wires)


def round_trip(
    flow: DeployedFlow, work: UnitOfWork, sample: Sample, reads: str = IN, writes: str = OUT, driver: Any = None
) -> Callable[[], bytes]:
    """Returns a program that puts a message, has a flow carry it, and gets the body of what comes of it."""
    entrance, own = flow.entrances[0], driver or work

    def run() -> bytes:
        own.put(reads, sample.descriptor, sample.body, syncpoint=False)
        outcome = flow.process(entrance, work, patient=False)
        arrival = own.get(writes, syncpoint=False)
        if outcome is None or outcome.error is not None or arrival is None:
            raise BrokerError(BROKEN, f"the flow that is measured failed: {outcome}")
        return arrival.body

    return run
