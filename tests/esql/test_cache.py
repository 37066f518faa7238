"""The compile cache: what comes from it is what was compiled, and what is not its user's own is never run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

from engine.tree.step import step
from esql import cache
from esql import compile as compiling
from esql.cache import Cache, from_bytes, key_of, to_bytes, users_cache
from esql.cast import Target
from esql.compile import parts_of_sources, parts_of_text, problems_in
from esql.functions import function_catalog
from esql.runtime.interactive_session import message_of, outcomes
from esql.runtime.linker import Parts, link
from esql.text import SyntaxProblems
from esql.values.types import Bit, Interval, Qualifier
from tests.esql import programs as running
from tests.esql.programs import FOLDER, gives, programs

TEXT = "DECLARE x INTEGER 1; SET OutputRoot.XMLNSC.a.b = x + 1;"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory for a cache, which is not there yet."""
    return tmp_path / "esql"


@pytest.fixture
def never_compiles(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when this is called, nothing can be compiled any more."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("this was to come from the cache")

    def start() -> None:
        monkeypatch.setattr(compiling, "parts_of_text", refuse)
        monkeypatch.setattr(compiling, "parts_of_sources", refuse)

    return start


def ran(cache: Cache, text: str = TEXT) -> list[str]:
    return list(outcomes(cache.text(text, "COMPUTE", "a.esql"), message_of(None, "")))


@pytest.mark.parametrize("path", programs(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_program_from_cache(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program does the same whether it was just compiled or its parts were bytes in between."""

    def again(parts: Parts, key: str) -> Parts:
        found = from_bytes(key, to_bytes(key, parts), parts.texts)
        assert found == parts
        return found

    text, name = path.read_text("utf-8"), path.name
    expected = gives(text, name)
    monkeypatch.setattr(
        running, "compile_text", lambda *given, trace: link(again(parts_of_text(*given, trace=trace), "k"))
    )
    monkeypatch.setattr(
        running, "compile_sources", lambda given, trace: link(again(parts_of_sources(given, trace=trace), "k"))
    )
    assert gives(text, name) == expected


CONSTANTS = {
    "s1": step("a", None, ((1, 2),)),
    "k1": Decimal("1.50"),
    "k2": Decimal("NaN"),
    "k3": date(2000, 2, 29),
    "k4": time(1, 2, 3, 4, tzinfo=UTC),
    "k5": datetime(2000, 2, 29, 1, 2, 3),
    "k6": datetime(2000, 2, 29, tzinfo=UTC),
    "k7": Bit.of("0101"),
    "k8": Interval(30, Qualifier("YEAR", "MONTH")),
    "k9": Target("INTERVAL", units=Qualifier("DAY", "SECOND")),
    "k10": (("SQLSTATE", "U00001", "\\"), ()),
    "k11": (("x", "DECIMAL", 3, 1, None, None),),
    "k12": float("-inf"),
    "TRIM": function_catalog.find("TRIM").body,
}


def test_constants() -> None:
    """Constants of every type come back as they were, of their type; a step is the one step there is."""
    parts = Parts((), CONSTANTS, (), 3, {"a": "b"})
    found = from_bytes("key", to_bytes("key", parts), {"a": "b"})
    assert found is not None
    assert repr(dict(found.constants)) == repr(CONSTANTS)
    assert found.constants["s1"] is CONSTANTS["s1"]
    assert found.constants["TRIM"] is CONSTANTS["TRIM"]


def test_second_start(folder: Path, never_compiles: Callable[[], None]) -> None:
    """What was compiled once is not compiled again, and SHARED variables start anew."""
    text = "CREATE COMPUTE MODULE M DECLARE n SHARED INTEGER 0; CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
    text += "SET n = n + 1; SET OutputRoot.XMLNSC.n = n; RETURN TRUE; END; END MODULE;"
    cache = Cache(folder)
    first = cache.sources([("m.esql", text)])
    assert [list(outcomes(first, message_of(None, ""), "M")) for _ in "12"] == [["out|<n>1</n>"], ["out|<n>2</n>"]]
    never_compiles()
    assert list(outcomes(cache.sources([("m.esql", text)]), message_of(None, ""), "M")) == ["out|<n>1</n>"]


def test_errors_name_the_line(folder: Path) -> None:
    """An error says the same place whether the program was compiled or came from the cache."""
    text, told = "\nSET OutputRoot.XMLNSC.é = 1 / 0;", []
    for _ in "12":
        with pytest.raises(Exception, match="zero") as caught:
            ran(Cache(folder), text)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "a.esql:2:27" in told[0]


@pytest.mark.parametrize(
    ("kind", "sources"),
    [
        ("FILTER", [("a", "x")]),
        ("", [("b", "x")]),
        ("", [("a", "y")]),
        ("", [("a", b"x")]),
        ("", [("a", "x"), ("b", "")]),
        ("", [("ax", "")]),
    ],
)
def test_key(kind: str, sources: list[tuple[str, bytes | str]]) -> None:
    """Another kind, name, content or number of files is another entry."""
    assert key_of(kind, sources) != key_of("", [("a", "x")])


def test_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of Penstock or Python finds nothing."""
    before = key_of("", [("a", "x")])
    monkeypatch.setattr("esql.cache.version", lambda: "another")
    assert key_of("", [("a", "x")]) != before


def test_problems_are_not_kept(folder: Path) -> None:
    """A program that is wrong is told to be so each time."""
    for _ in "12":
        with pytest.raises(SyntaxProblems):
            ran(Cache(folder), "SET x = ;")
    assert not folder.exists()
    assert problems_in([("a", "SET x = ;")])


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
        lambda data: b"another thing altogether",
        lambda data: to_bytes("another key", parts_of_text("THROW USER EXCEPTION;", "COMPUTE")),
    ],
)
def test_damaged(folder: Path, damage: Callable[[bytes], bytes], never_compiles: Callable[[], None]) -> None:
    """An entry that is damaged, or that belongs elsewhere, is not used, and is written again."""
    expected = ran(Cache(folder))
    (entry,) = folder.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    assert ran(Cache(folder)) == expected
    never_compiles()
    assert ran(Cache(folder)) == expected


def forged(folder: Path) -> Path:
    """Put an entry where it will be looked for that does something else."""
    key = key_of("COMPUTE", [("a.esql", TEXT)])
    cache.write(folder, key, to_bytes(key, parts_of_text("SET OutputRoot.XMLNSC.forged = 1;", "COMPUTE")))
    assert ran(Cache(folder)) == ["out|<forged>1</forged>"]
    return folder / f"{key}{cache.SUFFIX}"


def test_file_that_others_can_write(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that others can write is not run, but written again so that they cannot."""
    entry = forged(folder)
    entry.chmod(0o666)
    assert ran(Cache(folder)) == ["out|<a><b>2</b></a>"]
    assert "can be written by others" in caplog.text
    assert entry.stat().st_mode & 0o777 == 0o600


def test_folder_that_others_can_write(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of a directory that others can write is run, and nothing written to it."""
    entry = forged(folder)
    before = entry.read_bytes()
    folder.chmod(0o770)
    assert ran(Cache(folder)) == ["out|<a><b>2</b></a>"]
    assert f"{folder} can be written by others: chmod go-w {folder}" in caplog.text
    assert entry.read_bytes() == before


def test_another_users(folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of a directory that belongs to another user is run."""
    forged(folder)
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    assert ran(Cache(folder)) == ["out|<a><b>2</b></a>"]
    assert "belongs to another user" in caplog.text


def test_links(folder: Path, tmp_path: Path) -> None:
    """A directory or an entry that is a link to something else is not followed."""
    entry = forged(folder)
    moved = entry.rename(tmp_path / "moved")
    entry.symlink_to(moved)
    assert ran(Cache(folder)) == ["out|<a><b>2</b></a>"]
    assert not entry.is_symlink()
    forged(folder)
    link_to = tmp_path / "link"
    link_to.symlink_to(folder)
    assert ran(Cache(link_to)) == ["out|<a><b>2</b></a>"]


def test_bounded(folder: Path) -> None:
    """The oldest entries go when there is too much, and what is larger than all may be is not kept."""
    for number in range(10):
        cache.write(folder, f"{number}", b"x" * 10, most=50)
    kept = sorted(entry.name.removesuffix(cache.SUFFIX) for entry in folder.iterdir())
    assert "9" in kept
    assert "0" not in kept
    assert sum(entry.stat().st_size for entry in folder.iterdir()) <= 50
    cache.write(folder, "large", b"x" * 51, most=50)
    assert cache.read(folder, "large") is None


def test_no_room(tmp_path: Path) -> None:
    """Where nothing can be written programs run all the same."""
    (tmp_path / "file").write_bytes(b"")
    assert ran(Cache(tmp_path / "file" / "esql")) == ["out|<a><b>2</b></a>"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"PENSTOCK_CACHE": "/a"}, "/a/esql"),
        ({"PENSTOCK_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a/esql"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/penstock/esql"),
        ({"PENSTOCK_CACHE": "", "XDG_CACHE_HOME": "/b"}, "/b/penstock/esql"),
        ({"XDG_CACHE_HOME": "relative"}, "HOME/.cache/penstock/esql"),
        ({}, "HOME/.cache/penstock/esql"),
        ({"PENSTOCK_CACHE": "off", "XDG_CACHE_HOME": "/b"}, "None"),
    ],
)
def test_where(environment: dict[str, str], expected: str) -> None:
    """PENSTOCK_CACHE moves the cache or turns it off; otherwise it is where XDG says."""
    assert str(users_cache(environment).folder) == expected.replace("HOME", str(Path.home()))


def test_reader_is_not_needed(folder: Path) -> None:
    """A start from the cache does not even import what reads ESQL."""
    ran(Cache(folder))
    script = (
        "import sys; from pathlib import Path; from esql.cache import Cache\n"
        f"program = Cache(Path({str(folder)!r})).text({TEXT!r}, 'COMPUTE', 'a.esql')\n"
        "print(program.entrance().kind, 'antlr4' in sys.modules, 'esql.compile' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["COMPUTE", "False", "False"]
