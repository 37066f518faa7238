"""Node costs: which rows are measured, by which formula, and what is said of those that cannot be yet."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from engine.costs import measuring, nodes
from engine.costs.nodes import How, Stand, chosen, rows, taken
from engine.costs.results import PROCESSORS, Key, Row, Run, published
from engine.costs.sample_messages import plain
from engine.costs.scenarios import hindrance, own_folders, scenarios
from engine.descriptor import PERSISTENT
from engine.errors import BrokerError, ConfigurationException
from engine.mq import QueueManager
from engine.runtime.accounting import AROUND
from tests.databases.programs import rows as rows_of

QUICK = How(seconds=0.001, runs=2, drivers=3)
Folders: TypeAlias = tuple[Path, ...]
PASSING = """flow: {name}
nodes:
  In: {{type: MQInput, queueName: COSTS.IN, transactionMode: automatic}}
{outputs}
wires:
{wires}
"""


def with_flow(folder: Path, name: str, queues: tuple[str, ...] = ("COSTS.OUT",), kind: str = "MQOutput") -> Folders:
    """The folders of scenarios with one more, in which a flow puts the message on these queues as it came."""
    outputs = "\n".join(f"  Out {number}: {{type: {kind}, queueName: {queue}}}" for number, queue in enumerate(queues))
    wires = "\n".join(f"  - In.out -> Out {number}" for number in range(len(queues)))
    text = PASSING.format(name=name, outputs=outputs, wires=wires)
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return (folder, *own_folders())


def rows_with(wanted: list[Key], folders: Folders) -> list[Row]:
    """The rows, where flows of scenarios are in these folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.costs.scenarios.own_folders", lambda: folders)
        return list(rows(wanted, QUICK))


def row(name: str, folders: Folders | None = None, size: int = 1024) -> Row:
    """The row of a scenario that is not persistent, measured as briefly as can be."""
    (found,) = (key for key in chosen([name], [size]) if not key.persistent)
    (made,) = rows_with([found], folders or own_folders())
    return made


def test_the_formula_gives_the_published_figures() -> None:
    """The busy share of all processors over the rate is what the report's tables have."""
    for key, line in published().items():
        by_formula = measuring.cpu_ms(line.cpu_percent, PROCESSORS, line.rate)
        assert by_formula == pytest.approx(line.cpu_ms, rel=0.02), key


def test_what_is_taken_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates, shares and costs are each run's own; of them stand the median and the quartiles."""
    monkeypatch.setattr(nodes, "processors", lambda: 2)
    runs = [Run(1.0, 0.5, 100), Run(2.0, 1.2, 400), Run(1.0, 0.8, 100)]
    found = taken(runs, [0.1], drivers=15, nodes=(), rss_mib=10.0)
    assert (3, 600) == (found.runs, found.messages)
    assert 100 == found.rate.median
    assert 30 == pytest.approx(found.cpu_percent.median)
    assert 5.0 == pytest.approx(found.cpu_ms.median)
    assert (4.0, 6.5) == pytest.approx((found.cpu_ms.low, found.cpu_ms.high))
    assert found.limit_ms is not None
    assert 0.1 == found.limit_ms.median


def test_a_row_that_is_measured() -> None:
    """It has runs, messages, drivers, a limit, memory, and the cost of each node and of all around them."""
    found = row("compute_simple").taken
    assert found is not None
    assert (2, 3) == (found.runs, found.drivers)
    assert found.messages >= 2
    assert {AROUND, "In", "Compute", "Out"} == {node.label for node in found.nodes}
    assert all(node.cpu_ms > 0 for node in found.nodes)
    assert found.rate.median > 0
    assert found.cpu_ms.median > 0
    assert found.limit_ms is not None
    assert found.rss_mib > 1


def test_nodes_that_no_message_comes_to() -> None:
    """Of a hundred Labels, the one that messages go to has a cost."""
    found = row("route_to_label_100").taken
    assert found is not None
    assert {AROUND, "In", "List", "Route", "Label 100", "Out"} == {node.label for node in found.nodes}


def test_every_row_is_measured_or_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """All 192 rows of the report are there, in its order."""
    once = [Run(1.0, 1.0, 1)]
    monkeypatch.setattr(nodes, "measured", lambda *_: taken(once, [], drivers=1, nodes=(), rss_mib=1.0))
    monkeypatch.setattr(nodes, "runs_of", lambda *_: (once, 1.0))
    found = list(rows(chosen(), QUICK))
    assert list(published()) == [each.key for each in found]
    assert all((each.taken is None) == bool(each.reason) for each in found)
    assert 192 == sum(each.taken is not None for each in found)
    parallel = {each.key.section for each in found if each.place == "broker"}
    assert ({"7.8.1", "7.8.2", "7.8.3"}, 36) == (parallel, sum(each.place == "broker" for each in found))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mq_input_output", ""),
        ("execution_groups_1", ""),
        ("execution_groups_2", ""),
        ("database_update_coordinated_no", ""),
        ("publication_30_subscribers", ""),
    ],
)
def test_reasons(name: str, reason: str) -> None:
    """What cannot be measured in this process says what it waits for."""
    found = hindrance(scenarios()[name])
    assert reason in found
    assert bool(reason) == bool(found)


def test_a_flow_that_is_added_runs(tmp_path: Path) -> None:
    """A scenario without a flow is measured as soon as there is a file of its name."""
    name = "mq_input_output"
    (key,) = (key for key in chosen([name], [1024]) if not key.persistent)
    (made,) = rows_with([key], (tmp_path,))
    assert (None, "needs its flow: mq_input_output.yaml") == (made.taken, made.reason)
    (made,) = rows_with([key], with_flow(tmp_path, name)[:1])
    assert made.taken is not None


def test_subscribers() -> None:
    """A flow that publishes serves the queues of all its subscribers."""
    assert row("publication_10_subscribers").taken is not None


def test_a_flow_for_several_subscribers_runs(tmp_path: Path) -> None:
    """Messages for other subscribers than the drivers' are taken off their queues, and missed where they are not."""
    queues = ("COSTS.OUT", *(f"COSTS.SUBSCRIBER.{number}" for number in range(1, 10)))
    name = "publication_10_subscribers"
    assert row(name, with_flow(tmp_path, "publication", queues)).taken is not None
    with pytest.raises(BrokerError, match=r"publication_10_subscribers, 1024 bytes.*COSTS\.SUBSCRIBER\.9"):
        row(name, with_flow(tmp_path, "publication", queues[:-1]))


def test_a_flow_with_a_node_that_is_not_there(tmp_path: Path) -> None:
    """The catalogue of nodes decides: the node that is missing is named, until it is there."""
    name = "publication_1_subscriber"
    assert "needs the node Shouting" == row(name, with_flow(tmp_path, "publication", kind="Shouting")).reason


@pytest.mark.parametrize(
    "name",
    [
        *("mq_input_output", "mq_input_output_transactional", "compute_simple", "convert_xml_to_cwf"),
        *("database_insert_delete_coordinated", "database_update_coordinated_yes", "publication_10_subscribers"),
    ],
)
def test_persistent_messages(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of persistent messages are measured on a durable queue manager, of whose folder nothing is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (key,) = (key for key in chosen([name]) if key.persistent)
    (found,) = rows([key], QUICK)
    assert found.taken is not None
    assert found.taken.messages >= 2
    assert not list(tmp_path.iterdir())


def test_persistent_messages_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages on their way survive the queue manager's end, and are there when its folder is opened again."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scenario, sample = scenarios()["mq_input_output"], plain(1024)
    sample = sample._replace(descriptor=sample.descriptor._replace(persistence=PERSISTENT))
    with closing(Stand(scenario, sample, drivers=3)) as stand:
        stand.run(0.001)
        (folder,) = tmp_path.glob("*/queues")
        stand._queues.close()
        with QueueManager.open(folder) as again:
            assert 3 == again.depth("COSTS.IN")


@pytest.mark.parametrize("name", [f"database_update_coordinated_{answer}" for answer in ("no", "yes")])
def test_rows_of_databases_work_with_a_database(name: str) -> None:
    """Each message has updated its row once, and the program by hand works with a database of its own."""
    with closing(Stand(scenarios()[name], plain(1024), drivers=2)) as stand:
        assert stand.by_hand is not None
        sent = 1 + stand.run(0.01).messages  # one proves what the flow does
        work: Any = stand._work
        sources = work.databases.sources
        assert [(sent, "NEW")] == rows_of(sources, "SELECT TIMES, STATUS FROM ITEM", "COSTS")


def test_a_flow_that_does_not_do_its_work(tmp_path: Path) -> None:
    """An output that is not what the program by hand makes stops the suite, with the name of the scenario."""
    with pytest.raises(BrokerError, match="compute_simple, 1024 bytes: its flow does not write"):
        row("compute_simple", with_flow(tmp_path, "compute_simple"))


def test_a_flow_that_puts_nothing(tmp_path: Path) -> None:
    """A message that does not come back is missed."""
    with pytest.raises(BrokerError, match="filter, 1024 bytes"):
        row("filter", with_flow(tmp_path, "filter", ("ELSEWHERE",)))


@pytest.mark.parametrize(
    ("patterns", "sizes", "message"),
    [
        (["compute_simpel"], [], "no scenario called compute_simpel; did you mean compute_simple?"),
        (["nothing_*"], [], r"no scenario called nothing_\*"),
        ([], [2048], "no scenario has messages of 2048 bytes: 1024, 4096, 16384, 65536"),
        (["compute_complex"], [1024], "compute_complex has no messages of that size"),
    ],
)
def test_what_is_not_there(patterns: list[str], sizes: list[int], message: str) -> None:
    """Unknown names and sizes are refused, with what is known."""
    with pytest.raises(ConfigurationException, match=message):
        chosen(patterns, sizes)


def test_patterns() -> None:
    """A pattern stands for all names that fit it."""
    names = {key.scenario for key in chosen(["convert_cwf_*"])}
    assert {f"convert_cwf_to_{form}" for form in ("xml", "cwf", "mrm_xml", "tds")} == names
    assert {4096} == {key.message_bytes for key in chosen(["convert_cwf_*"], [4096])}
    assert [Key("7.4", "filter", False, 1024), Key("7.4", "filter", True, 1024)] == list(chosen(["filter"], [1024]))


def test_processor_time_of_this_process_and_its_children() -> None:
    """What this process does counts, and what its children have done when they have ended."""
    before = measuring.own_cpu_seconds()
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    alone = measuring.own_cpu_seconds() - before
    assert 0.04 < alone < 5
    busy = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-c", busy], timeout=120, check=True)
    assert measuring.own_cpu_seconds() - before - alone > 0.15


def test_the_family_of_this_process() -> None:
    """Children that run are seen, their time and their memory too."""
    alone = measuring.family_rss_mib()
    waiting = "import sys, time\nwhile time.process_time() < 0.2: pass\nprint(flush=True)\nsys.stdin.read()"
    pipe = subprocess.PIPE
    before = measuring.family_cpu_seconds()
    with subprocess.Popen([sys.executable, "-c", waiting], stdin=pipe, stdout=pipe) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert {os.getpid(), child.pid} <= {each.pid for each in measuring.family()}
        assert measuring.family_cpu_seconds() - before > 0.15
        assert measuring.family_rss_mib() > alone + 2
        child.communicate(timeout=60)


def test_machine() -> None:
    """What the figures were taken on is told."""
    found = measuring.machine()
    assert {"processor", "processors", "memory", "system", "Python", "lxml"} == set(found)
    assert all(found.values())


def test_a_driver_has_its_message_on_its_way() -> None:
    """Runs one after the other go on with the same messages, and none is lost."""
    with closing(Stand(scenarios()["mq_input_output"], plain(1024), drivers=15)) as stand:
        assert all(stand.run(0.001).messages for _ in range(3))
        assert 15 == stand._queues.depth("COSTS.IN")
        assert 0 == stand._queues.depth("COSTS.OUT")
