"""Records of statistics say why they were made, and for whom messages were worked on."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from engine.broker.statistics import slots
from engine.broker.statistics.metering import Pool
from engine.broker.statistics.origins import OriginMeter
from engine.broker.statistics.slots import NodeShape, file_of, slots_in
from engine.broker.statistics.totals import Extremes, totals_of
from engine.message.assembly import Message
from engine.runtime.deployment import Outcome
from engine.tree.element import Element
from engine.tree.step import step
from tests.broker.running import broker, flow, until

FOR_WHOM = "SET OutputRoot = InputRoot; SET Environment.Broker.Accounting.Origin = InputRoot.XMLNSC.a.for;"


@pytest.mark.crash
def test_archives_say_why_they_were_made(tmp_path: Path) -> None:
    """A flow that is deployed anew, counted otherwise or stopped leaves a record with the reason, as a broker does."""
    file = flow(tmp_path, "F1")
    with broker(tmp_path, file) as made:
        with closing(made.queues()) as manager:
            manager.define("QLOCAL", "TOLD", {})
            topic = "$SYS/Broker/shop/Statistics/JSON/Archive/default/F1"
            manager.define("SUB", "TELL", {"TOPICSTR": topic, "DEST": "TOLD"})
        made.put("IN", b"<a/>")
        assert made.get("OUT", 1)
        told: list[tuple[str, int]] = []

        def expect(code: str, count: int) -> None:
            (body,) = made.get("TOLD", 1)
            found = json.loads(body)["WMQIStatisticsAccounting"]
            told.append((found["RecordCode"], found["MessageFlow"]["TotalInputMessages"]))
            assert (code, count) == told[-1]

        flow(tmp_path, "F1", by="2")
        made.run("deploy", str(made.folder), str(file))
        expect("ReDeploy", 1)
        made.run("stats", str(made.folder), "F1", "--level", "nodes")
        expect("StatsSettingsModified", 1)
        made.run("flow", "stop", str(made.folder), "F1")
        expect("Shutdown", 0)
        made.run("flow", "start", str(made.folder), "F1")
        made.put("IN", b"<a/>")
        assert made.get("OUT", 1)
        made.run("broker", "stop", str(made.folder))
        until(lambda: not (made.folder / "control").exists())
        made.start()
        expect("Shutdown", 1)


@pytest.mark.crash
def test_records_by_accounting_origin(tmp_path: Path) -> None:
    """Each origin has records of its own, also on the topics; what failed counts for whom it was worked on."""
    file = flow(tmp_path, "F1", program=FOR_WHOM + " IF InputRoot.XMLNSC.a.fails THEN THROW USER EXCEPTION; END IF;")
    with broker(tmp_path, file) as made:
        name = str(made.folder)
        made.named("mqsichangeflowstats", name, "-s", "-e", "default", "-f", "F1", "-n", "advanced", "-b", "basic")
        assert "AccountingOrigin: basic" in made.named("mqsireportflowstats", name, "-s", "-e", "default", "-f", "F1")
        with closing(made.queues()) as manager:
            manager.define("QLOCAL", "TOLD", {})
            topic = "$SYS/Broker/shop/Statistics/JSON/Archive/default/F1"
            manager.define("SUB", "TELL", {"TOPICSTR": topic, "DEST": "TOLD"})
        made.put("IN", *(b"<a><for>%s</for></a>" % who for who in (b"A", b"B/C", b"A", b"A")), b"<a/>")
        made.put("IN", b"<a><for>B/C</for><fails>1</fails></a>")
        assert 5 == len(made.get("OUT", 5))

        def archives() -> dict[str, tuple[int, int, int]]:
            found = [one["WMQIStatisticsAccounting"] for one in made.json("stats", name, "F1")]
            return {
                one["MessageFlow"]["AccountingOrigin"]: (
                    one["MessageFlow"]["TotalInputMessages"] - one["MessageFlow"]["TotalNumberOfMessagesWithErrors"],
                    one["MessageFlow"]["TotalNumberOfBackouts"],
                    next(node["CountOfInvocations"] for node in one["Nodes"] if node["Label"] == "Out"),
                )
                for one in found
                if one["RecordType"] == "Archive"
            }

        until(lambda: archives()["Anonymous"][0] == 2)  # the message that failed is put away for nobody
        assert {"A": (3, 0, 3), "Anonymous": (2, 0, 1), "B/C": (1, 1, 1)} == archives()
        assert "F1 for A: 3 messages" in made.run("stats", name, "F1")
        samples = made.run("stats", name, "--prometheus")
        assert 'accounting_origin="A",broker="shop",execution_group="default",flow="F1"} 3.0' in samples
        assert {"A", "Anonymous", "B/C"} == {
            line.rsplit(",", 1)[1] for line in made.run("stats", name, "--csv").splitlines()[1:]
        }
        made.named("mqsichangeflowstats", name, "-a", "-e", "default", "-f", "F1", "-n", "none", "-b", "none")
        told: set[str] = set()
        while "B/C" not in told:  # the last of them
            (body,) = made.get("TOLD", 1)
            told.add(json.loads(body)["WMQIStatisticsAccounting"]["MessageFlow"]["AccountingOrigin"])
        assert {"A", "Anonymous", "B/C"} == told
        made.put("IN", b"<a><for>A</for></a>")
        assert made.get("OUT", 1)
        assert {"Anonymous": 1} == {
            one["WMQIStatisticsAccounting"]["MessageFlow"]["AccountingOrigin"]: one["WMQIStatisticsAccounting"][
                "MessageFlow"
            ]["TotalInputMessages"]
            for one in made.json("stats", name, "F1")
            if one["WMQIStatisticsAccounting"]["RecordType"] == "Archive"
        }


def test_what_is_counted_goes_to_the_origin_of_its_message(tmp_path: Path) -> None:
    """Sums are added, the largest and the smallest kept, and the next message begins at nothing."""
    shape = NodeShape("Work", "ComputeNode", ("in",), ("out",))
    meter = OriginMeter(lambda origin: file_of(tmp_path, 1, "In", "f" * 64, origin), [shape])
    words, place = meter.staged.words, meter.staged.places["Work"]
    for origin, size in (("A", 5), ("B", 7), ("A", 3)):
        message = Message(Element("Root"))
        accounting = message.environment.ensure(step("Broker")).ensure(step("Accounting"))
        accounting.ensure(step("Origin")).value = origin
        words[slots.MESSAGES] += 1
        words[slots.SIZE] += size
        words[place + slots.COUNT] += 2
        words[place + slots.NODE_TERMINALS] += 1
        words[slots.EXTREMES + 4], words[slots.EXTREMES + 5] = size, size
        meter.done(Outcome(message))
    found = {slot.origin: totals_of(slot) for slot in slots_in(tmp_path)}
    assert {"A": (2, 8), "B": (1, 7)} == {
        origin: (totals.counts[slots.MESSAGES], totals.counts[slots.SIZE]) for origin, totals in found.items()
    }
    assert {"A": Extremes(5, 3), "B": Extremes(7, 7)} == {origin: one.extremes[2] for origin, one in found.items()}
    assert (4, {"out": 2}) == (found["A"].nodes["Work"].count, found["A"].nodes["Work"].outputs)


def test_threads_that_all_have_a_message(tmp_path: Path) -> None:
    """The thread that takes the last place of its flow says so; one that begins anew has nothing in hand."""
    one, two = Pool(tmp_path, 1, 2), Pool(tmp_path, 2, 2)
    assert [False, True] == [one.begin(), two.begin()]
    one.end()
    assert [True, True] == [one.begin(), two.begin()]
    again = Pool(tmp_path, 1, 2)
    assert [False, True] == [two.begin(), again.begin()]


@pytest.mark.crash
def test_an_archive_is_reset(tmp_path: Path) -> None:
    """With -a -r a flow is counted from nothing, as it was counted before; -r alone is refused."""
    with broker(tmp_path, flow(tmp_path, "F1")) as made:
        name = str(made.folder)
        made.named("mqsichangeflowstats", name, "-a", "-e", "default", "-f", "F1", "-n", "basic")
        for _ in range(2):
            made.put("IN", b"<a/>", b"<a/>")
            assert 2 == len(made.get("OUT", 2))

            def archived() -> list[tuple[int, int]]:
                records = [one["WMQIStatisticsAccounting"] for one in made.json("stats", name, "F1")]
                return [
                    (one["MessageFlow"]["TotalInputMessages"], len(one["Nodes"]))
                    for one in records
                    if one["RecordType"] == "Archive"
                ]

            until(lambda: [count for count, _ in archived()] == [2])
            nodes = archived()[0][1]
            assert nodes
            made.named("mqsichangeflowstats", name, "-a", "-g", "-j", "-r")
            assert sum(count for count, _ in archived()) == 0
        made.named("mqsichangeflowstats", name, "-s", "-g", "-j", "-r", code=5)
