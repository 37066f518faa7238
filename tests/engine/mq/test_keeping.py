"""Stores that are checked, damaged, copied while they are used, and kept from version to version."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.mq import QueueManager
from engine.mq.store import copying
from engine.mq.store.checking import check
from engine.mq.store.copying import back_up, restore, upgrade
from engine.mq.store.environment import FORMAT, WRITTEN, Environment, format_of, write_format

KEPT = Path(__file__).parent / "formats"
FLIPS = int(os.environ.get("PENSTOCK_FLIPS", "12"))
BODIES = [b"%d " % number * size for number, size in enumerate([1, 10, 500, 800, 3_000, 40_000])]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A queue manager whose queue Q holds a message of each size."""
    made = tmp_path / "QM"
    QueueManager.create(made)
    with QueueManager.open(made) as queues:
        queues.define("QLOCAL", "Q", {})
        work = queues.work()
        for number, body in enumerate(BODIES):
            own = Descriptor(persistence=1, correl_id=number.to_bytes(24), priority=number, expiry=36_000_000)
            work.put("Q", own, body)
        work.commit()
    return made


def bodies(folder: Path) -> list[bytes]:
    with QueueManager.open(folder) as queues:
        return [arrival.body for arrival in queues.cursor("Q")]


def test_a_store_as_it_was_written_passes(folder: Path) -> None:
    """A check of a sound store finds nothing, also while the queue manager runs."""
    assert [] == check(folder)
    with QueueManager.open(folder) as queues:
        assert queues.work().get("Q", syncpoint=False) is not None
        assert [] == check(folder)


def test_what_is_backed_up_can_be_restored(folder: Path, tmp_path: Path) -> None:
    """A backup has what was committed when it was made, and is restored to a folder that is not there yet."""
    with QueueManager.open(folder) as queues:
        queues.work().put("Q", Descriptor(persistence=1), b"uncommitted")
        back_up(folder, tmp_path / "backup")
        queues.purge("Q")
    assert [] == bodies(folder)
    with pytest.raises(BrokerError, match="not empty"):
        restore(tmp_path / "backup", folder)
    restore(tmp_path / "backup", tmp_path / "again")
    assert BODIES[::-1] == bodies(tmp_path / "again")
    assert [] == check(tmp_path / "again")
    assert upgrade(folder) is None


def served(folder: Path) -> list[bytes] | None:
    """What a process serves of the queue; None where it refuses, or dies of the damage."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            found = bodies(folder)
            os.write(writing, b"".join(b"%d\n" % BODIES.index(body) if body in BODIES else b"-1\n" for body in found))
            os._exit(0)
        except BaseException:  # whatever a damaged file leads to
            os._exit(1)
    os.close(writing)
    with open(reading, "rb") as answers:
        numbers = [int(line) for line in answers]
    _, status = os.waitpid(child, 0)
    return [BODIES[number] if number >= 0 else b"wrong" for number in numbers] if status == 0 else None


def pages_of(folder: Path) -> dict[str, list[int]]:
    """Returns the pages of a store's file by kind: those by which it begins, branches, leaves, and long values."""
    data, found = (folder / "store" / "data.mdb").read_bytes(), dict[str, list[int]]()
    for number in range(len(data) // 4096):
        kind = {1: "branch", 2: "leaf", 4: "overflow", 8: "meta"}.get(data[number * 4096 + 10], "other")
        found.setdefault(kind, []).append(number)
    return found


@pytest.mark.crash
def test_flipped_bits_are_found(folder: Path, tmp_path: Path) -> None:
    """A bit that is flipped in any kind of page leads to a check that fails, or to nothing; what is wrong is never
    served.
    """
    with QueueManager.open(folder) as queues:
        work = queues.work()
        for number in range(600):  # so many that the tables have branches, and pages that are free
            work.put("Q", Descriptor(persistence=1, correl_id=number.to_bytes(24), priority=9, expiry=36_000_000), b"x")
        work.commit()
        for _ in range(600):
            assert work.get("Q", syncpoint=False if _ < 3 else None) is not None
        work.commit()
    chosen, sound, found = random.Random(22), (folder / "store" / "data.mdb").read_bytes(), 0  # noqa: S311
    kinds = pages_of(folder)
    assert {"meta", "leaf", "overflow"} <= kinds.keys()
    for turn in range(FLIPS):
        damaged = tmp_path / f"damaged{turn}"
        shutil.copytree(folder, damaged)
        at = sound.find(BODIES[turn % len(BODIES)]) + turn % 9
        if turn % 3:
            page = chosen.choice(kinds[chosen.choice(sorted(kinds))])
            at = 4096 * page + chosen.randrange(chosen.choice((16, 120, 4096)))
        flipped = bytearray(sound)
        flipped[at] ^= 1 << chosen.randrange(8)
        (damaged / "store" / "data.mdb").write_bytes(flipped)
        problems, answered = check(damaged), served(damaged)
        found += bool(problems)
        assert b"wrong" not in (answered or []), f"byte {at}"
        assert answered in (None, BODIES[::-1]), f"byte {at} was flipped, and messages are left out without a word"
        shutil.rmtree(damaged)
    assert found > FLIPS // 4


@pytest.mark.parametrize("version", sorted(int(path.name) for path in KEPT.iterdir()))
def test_folders_of_earlier_versions(version: int, tmp_path: Path) -> None:
    """A folder that an earlier version wrote is refused until it is upgraded, and then has all that it held; as it was,
    it is in the backup, from which an upgrade that was killed begins again.
    """
    folder = tmp_path / "QM"
    shutil.copytree(KEPT / str(version), folder)
    if version < FORMAT:
        with pytest.raises(BrokerError, match="queue-manager upgrade"):
            bodies(folder)
    before = (folder / "store" / "data.mdb").read_bytes()
    backup = upgrade(folder)
    assert (version < FORMAT) == (backup is not None)
    if backup is not None:
        assert before == (backup / "store" / "data.mdb").read_bytes()
        write_format(folder, "KEPT", 0, number=version)  # as if it had been killed before this was written
        assert upgrade(folder) is not None
    assert [b"short", b"long" * 5_000] == bodies(folder)
    assert [] == check(folder)
    assert upgrade(folder) is None


def test_a_message_that_cannot_be_kept_costs_no_other(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Texts beyond what a record holds are refused where they should last, and lost alone at an orderly end."""
    endless = Descriptor(user_identifier="u" * 70_000)
    with QueueManager.open(folder) as queues:
        queues.define("QLOCAL", "P", {})
        work = queues.work()
        for descriptor, body in ((Descriptor(), b"before"), (endless, b"never"), (Descriptor(), b"behind")):
            work.put("P", descriptor, body)
        work.commit()
        work.put("P", endless._replace(persistence=1), b"never")
        with pytest.raises(MessageException) as refused:
            work.commit()
        assert 2026 == refused.value.reason
    with QueueManager.open(folder) as queues:
        assert [b"before", b"behind"] == [arrival.body for arrival in queues.cursor("P")]
    assert "cannot be kept" in caplog.text


def full(folder: Path, number: int) -> int:
    """Fill a queue manager until it takes no more, make its store one of an earlier format, and return its depth."""
    size = 1 << 20
    QueueManager.create(folder, max_size=size)
    with QueueManager.open(folder) as queues:
        queues.define("QLOCAL", "Q", {})
        work, is_full = queues.work(), False
        while not is_full:
            for _ in range(20):
                work.put("Q", Descriptor(persistence=1, correl_id=os.urandom(24)), bytes(100))
            try:
                work.commit()
            except MessageException:
                is_full = True
        depth = queues.depth("Q")
    environment = Environment(folder / "store", 4 * size)
    with environment.begin() as transaction:
        for name in ("ids", *copying._CHECKED_SINCE_2 * (number == 1), "meta"):
            table = environment.db[name]
            with transaction.cursor(db=table) as cursor:
                known = [(bytes(key), bytes(value)) for key, value in cursor]
            transaction.drop(table, delete=False)
            for key, value in known:
                aged = (key[9:13] + key[:9] + key[13:], value) if name == "ids" else (key, value[4:])
                if name == "meta":
                    aged = (key, b"%d" % number if key == WRITTEN else value[4 * (number == 1) :])
                transaction.put(*aged, db=table)
    (folder / "aged").mkdir()
    environment.lmdb.copy(str(folder / "aged"), compact=True)
    environment.close()
    (folder / "aged" / "data.mdb").replace(folder / "store" / "data.mdb")
    (folder / "aged").rmdir()
    write_format(folder, "QM", size, number)
    return depth


@pytest.mark.parametrize("number", [1, 2])
def test_an_upgrade_of_a_full_store(tmp_path: Path, number: int) -> None:
    """A store that takes no more messages is upgraded where the disk has room, and otherwise left as it was."""
    folder, (soft, hard) = tmp_path / "QM", resource.getrlimit(resource.RLIMIT_FSIZE)
    depth = full(folder, number)
    size = (folder / "store" / "data.mdb").stat().st_size
    for limit, state in ((size - 4096, "as it was, and there is no backup"), (size, "is as it was"), (size + 8192, "")):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(BrokerError, match=r"make room for [0-9,]+ bytes on its disk, and run `penstock") as no:
                upgrade(folder)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert state in no.value.text
        assert number == format_of(folder)[0]
        assert [folder] == list(tmp_path.iterdir())
    assert upgrade(folder) is not None
    assert [] == check(folder)
    with QueueManager.open(folder) as queues:
        assert depth == queues.purge("Q")


def test_an_upgrade_that_fails_behind_its_first_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backup stays where something is done already, and the next upgrade does the rest."""
    folder = tmp_path / "QM"
    shutil.copytree(KEPT / "1", folder)

    def no_room(path: Path, size: int) -> None:
        raise OSError(28, "No space left on device", str(path), size)

    with monkeypatch.context() as patches:
        patches.setattr(copying, "STEPS", {**copying.STEPS, 2: no_room})
        with pytest.raises(BrokerError, match=r"a part is done, .* in .*\.backup; make room"):
            upgrade(folder)
    assert 2 == len(list(tmp_path.iterdir()))
    assert upgrade(folder) is not None
    assert [b"short", b"long" * 5_000] == bodies(folder)
