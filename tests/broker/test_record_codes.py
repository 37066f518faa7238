"""Archive records of statistics say why they were made."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from tests.broker.running import broker, flow, until


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
