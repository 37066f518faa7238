"""The files of a store on full disks and in processes with little address space."""

import os
import resource
import subprocess
from pathlib import Path

from engine.broker.statistics.metering import Pool
from engine.mq import QueueManager
from tests.cli.command_line import PROGRAM, ROOT


def missing_blocks(file: Path) -> int:
    """Returns the bytes of a file that the disk has no blocks for: who maps them on a full disk is ended."""
    found = file.stat()
    return max(0, found.st_size - 512 * found.st_blocks)


def test_what_is_mapped_has_its_blocks(tmp_path: Path) -> None:
    """Files that are mapped to be written have all their blocks, so that a full disk ends no process."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM"):
        Pool(tmp_path / "flow", 1, 2)
        os.sync()
        mapped = [*tmp_path.glob("QM/*/lock.mdb"), tmp_path / "flow/pool"]
        assert [("lock.mdb", 0), ("lock.mdb", 0), ("pool", 0)] == [(file.name, missing_blocks(file)) for file in mapped]


def test_little_address_space(tmp_path: Path) -> None:
    """A store without a limit of its own maps no more than a part of what its process may map."""

    def limited() -> None:
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        room = 6 << 30 if most == resource.RLIM_INFINITY else min(6 << 30, most)
        resource.setrlimit(resource.RLIMIT_AS, (room, room))

    command = [*PROGRAM, "queue-manager", "create", str(tmp_path / "QM")]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=around, preexec_fn=limited
    )
    assert (0, "") == (ended.returncode, ended.stderr)
