"""A server that can have no more connections: who comes then is told so at once."""

import resource
import sys
import time

import pytest

from engine.errors import MessageException
from engine.mq import QueueManager
from tests.cli.queues import command, eventually, made, running


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are changed on Linux alone")
def test_who_comes_when_there_are_no_more_connections_is_told_so(tmp_path):
    """It is refused by 2025, and nobody waits for an answer that does not come; others come in when some have gone."""
    folder = made(tmp_path / "qm", "A")
    with running("queue-manager", "start", str(folder), folder=folder) as process:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (48, 48))
        client, works, reasons = QueueManager.connect(folder), [], set()
        for _ in range(60):
            work = client.work()
            try:
                work.attributes("A")
                works.append(work)
            except MessageException as error:
                reasons.add(error.reason)
        assert {2025} == reasons
        assert 10 < len(works) < 48
        assert "2025" in command(folder, "put", "A", "--text", "x").stderr
        used = processor_seconds(process.pid)
        time.sleep(0.5)
        assert processor_seconds(process.pid) - used < 0.2
        for work in works:
            work.close()
        eventually(lambda: command(folder, "put", "A", "--text", "x").returncode == 0)
        client.close()


def processor_seconds(process: int) -> float:
    """Returns the seconds for which processors were at work for a process."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
