"""Bodies in the store: kept once for all messages of a unit that have them, and compressed by COMPLOG where it pays."""

from __future__ import annotations

import random
import zlib
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager, memory
from engine.mq.store import body_compression, records
from engine.mq.store.body_compression import packed, unpacked
from engine.mq.store.checking import check
from engine.mq.store.environment import Environment

CODECS = ("RLE", "ZLIBFAST", "ZLIBHIGH", "ANY")
LASTING = Descriptor(persistence=1)
LONG = 100_000


def compressible(size: int, part: float, seed: int = 1) -> bytes:
    """Returns a body of which a part, in pieces spread over it, is one byte again and again."""
    chosen, piece = random.Random(seed), 100  # noqa: S311
    kept = round(piece * (1 - part))
    return b"".join(chosen.randbytes(kept) + b"x" * (piece - kept) for _ in range(size // piece))


def stored_bytes(folder: Path) -> int:
    """Returns how many bytes of a store are in use, in chunks of bodies and in messages."""
    environment = Environment(folder / "store", read_only=True)
    used = environment.used()
    environment.close()
    return used


@pytest.mark.parametrize(("part", "most"), [(0.5, 0.53), (0.9, 0.15), (0.0, 1.02)])
@pytest.mark.parametrize("codec", CODECS)
def test_stored_bytes(tmp_path: Path, codec: str, part: float, most: float) -> None:
    """A store has little more of a body than cannot be compressed, and gives it back whole, by every codec."""
    sizes: dict[str, int] = {}
    for name in ("NONE", codec):
        folder = tmp_path / name
        QueueManager.create(folder)
        empty = stored_bytes(folder)
        with QueueManager.open(folder) as queues:
            queues.define("QLOCAL", "Q", {})
            queues.alter("QMGR", "", {"COMPLOG": name})
            bodies = [compressible(LONG, part, seed) for seed in range(20)]
            for body in bodies:
                queues.work().put("Q", LASTING, body, syncpoint=False)
        sizes[name] = stored_bytes(folder) - empty
        assert [] == check(folder)
        with QueueManager.open(folder) as queues:
            assert bodies == [arrival.body for arrival in queues.browse("Q")]
    assert sizes[codec] / sizes["NONE"] <= most


def test_mixed_stores(tmp_path: Path) -> None:
    """Each record says its codec, so that messages from before a change are read behind it."""
    QueueManager.create(tmp_path / "QM")
    bodies = []
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        for number, codec in enumerate(("NONE", *CODECS, "NONE")):
            queues.mqsc(f"ALTER QMGR COMPLOG({codec})")
            for size in (10, 1_023, 1_024, 3_000, LONG):
                bodies.append(compressible(size, 0.9, number))
                queues.work().put("Q", LASTING, bodies[-1], syncpoint=False)
    with QueueManager.open(tmp_path / "QM") as queues:
        work = queues.work()
        assert bodies == [arrival.body for _ in bodies if (arrival := work.get("Q")) is not None]
        work.commit()
    assert [] == check(tmp_path / "QM")


@given(
    body=st.binary(max_size=3_000) | st.builds(bytes.__mul__, st.binary(min_size=1, max_size=50), st.integers(1, 900))
)
@settings(max_examples=100, deadline=None)
def test_codecs(body: bytes) -> None:
    """What is compressed is the body again, and less than it, by ISA-L and without it."""
    for writer in (body_compression.ISAL, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(body_compression, "ISAL", writer)
            for name in CODECS:
                for codec, data in packed([body], name).values():
                    assert len(data) < len(body)
                    assert body == unpacked(codec, data)


@pytest.mark.parametrize("name", CODECS)
def test_without_isal(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Where there is no ISA-L, bodies are compressed as well as with it, within a tenth, to what either reads."""
    body = Path(__file__).with_name("test_model.py").read_bytes()
    ((codec, data),) = packed([body], name).values()
    monkeypatch.setattr(body_compression, "ISAL", None)
    ((_, other),) = packed([body], name).values()
    assert 0.9 < len(data) / len(other) < 1.1
    assert body == unpacked(codec, data)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:4], lambda data: data[:20] + b"\xff" * 9]
)
@pytest.mark.parametrize("name", CODECS)
def test_damage(name: str, damage) -> None:  # type: ignore[no-untyped-def]
    """Compressed bytes that are not what was written are refused."""
    ((codec, data),) = packed([bytes(5_000)], name).values()
    with pytest.raises(MessageException, match="damaged"):
        unpacked(codec, damage(data))


@pytest.mark.parametrize("name", ["RLE", "ANY"])
def test_bodies_of_before(name: str) -> None:
    """What RLE wrote in zlib's format is read, and what it writes now says another codec where there is zstd."""
    body, length = bytes(5_000), (5_000).to_bytes(8)
    ((codec, _),) = packed([body], name).values()
    assert codec == (1 if body_compression.ZSTD is None else 4)
    assert [body] * 3 == [unpacked(number, length + zlib.compress(body)) for number in (1, 2, 3)]


def test_without_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that was compressed by zstd is refused where there is none, with the package to install."""
    monkeypatch.setattr(body_compression, "ZSTD", None)
    with pytest.raises(MessageException, match="install the package zstandard"):
        unpacked(4, bytes(20))


@pytest.mark.parametrize(("name", "kept"), [("RLE", 1), ("ZLIBFAST", 1), ("ANY", 1), ("ZLIBHIGH", 0)])
def test_what_does_not_pay(name: str, kept: int) -> None:
    """A body that would be little smaller is stored as it is, unless the smallest is asked for."""
    assert kept == (packed([compressible(LONG, 0.1)], name) == {})


@pytest.mark.parametrize("codec", CODECS)
def test_many_threads_compress_at_once(codec: str) -> None:
    """Each of many threads gets its own bodies back, whichever share what compresses."""

    def passed(seed: int) -> bool:
        bodies = [compressible(LONG, 0.5, 10 * seed + number) for number in range(10)]
        found = packed(bodies, codec)
        return [unpacked(*found[id(body)]) for body in bodies] == bodies

    with ThreadPoolExecutor(40) as threads:
        assert [True] * 40 == list(threads.map(passed, range(40)))


def test_one_body_for_all_copies(tmp_path: Path) -> None:
    """A message, its copy and a publication's messages have one body in the store, there until the last is got."""
    chunks = sum(1 for _ in records.chunks(1, bytes(LONG)))
    for order in permutations("QSAB"):
        folder = tmp_path / "".join(order)
        QueueManager.create(folder)
        with QueueManager.open(folder) as queues:
            script = "DEFINE QL(S)\nDEFINE QL(Q) STREAMQ(S)\nDEFINE QL(A)\nDEFINE QL(B)\n"
            queues.mqsc(script + "DEFINE SUB(A) TOPICSTR(T) DEST(A)\nDEFINE SUB(B) TOPICSTR(T) DEST(B)")
            body = compressible(LONG, 0)
            queues.work().put("Q", LASTING, body, syncpoint=False)
            queues.publish("T", LASTING, body)
            assert queues.store is not None
            entries = queues.store.store.entries()
        assert entries["chunks"] == 2 * chunks
        with QueueManager.open(folder) as queues:
            for queue in order:
                arrival = queues.work().get(queue, syncpoint=False)
                assert arrival is not None
                assert body == arrival.body
            assert queues.store is not None
            assert 0 == queues.store.store.entries()["chunks"]
        assert [] == check(folder)


def test_bodies_that_are_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of one body that memory has no room for keep it, where some are got, backed out and written again."""
    monkeypatch.setattr(memory, "BUDGET", 1_000_000)
    body, count = bytes(6_000), 200
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        for _ in range(count):
            queues.work().put("Q", Descriptor(), body, syncpoint=False)
    for _ in range(40):
        with QueueManager.open(tmp_path / "QM") as queues:
            work = queues.work()
            work.get("Q")
            work.back_out()
    with QueueManager.open(tmp_path / "QM") as queues:
        work = queues.work()
        assert count == sum(work.get("Q", syncpoint=False) == (found.descriptor, body) for found in queues.browse("Q"))
        assert queues.store is not None
        assert {0} == set(queues.store.store.entries().values())


@pytest.mark.parametrize(("size", "copies", "chunks"), [(2_500, 3, 0), (2_500, 4, 1), (1_500, 9, 0), (4_000, 2, 1)])
def test_few_messages_of_a_short_body_have_it_each(tmp_path: Path, size: int, copies: int, chunks: int) -> None:
    """A body that fits a page stands with each of up to three messages of a unit; of more, or a longer one, once."""
    QueueManager.create(tmp_path / "QM")
    body = compressible(size, 0)
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.define("QLOCAL", "Q", {})
        work = queues.work()
        for _ in range(copies):
            work.put("Q", LASTING, body)
        work.put("Q", LASTING, compressible(size, 0, 2))
        work.commit()
        assert queues.store is not None
        assert chunks + (size > 3_500) == queues.store.store.entries()["chunks"]
    assert [] == check(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        assert [body] * copies == [found.body for found in queues.browse("Q")][:copies]
        queues.purge("Q")
    assert [] == check(tmp_path / "QM")
