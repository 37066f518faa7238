"""Files become messages: what stands in them, where they are cut, and what is no message."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.errors import ConfigurationException
from engine.mq.message_json import from_line
from spark_exec.readers import Kind, Origin, files_in, kind_of, messages, messages_in, pieces

CUT: list[tuple[Kind, bytes, int]] = [
    ("text", b"".join(b"line %d%s" % (n, b"\r\n" if n % 2 else b"\n") for n in range(200)) + b"end", 0),
    ("json", b"".join(b'{"body": "%d"}\n' % n for n in range(200)), 0),
    ("fixed", b"".join(b"%05d" % n for n in range(200)), 5),
    ("rdw", b"".join((4 + n).to_bytes(2, "big") + b"\0\0" + b"x" * n for n in range(90)), 0),
]


def read(file: Path, kind: Kind, length: int, least: int, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The messages of a file that is cut into pieces of so many bytes or more."""
    monkeypatch.setattr("spark_exec.readers._LEAST", least)
    origin = Origin(str(file), kind, record_length=length)
    cut = pieces([file], kind, length, 1000)
    return [len(cut), [found for piece in cut for found in messages_in(piece, origin)]]


@pytest.mark.parametrize(("kind", "data", "length"), CUT, ids=[case[0] for case in CUT])
def test_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind, data: bytes, length: int) -> None:
    """A file gives the same messages, with the same sequences, wherever it is cut."""
    file = tmp_path / "file"
    file.write_bytes(data)
    whole = read(file, kind, length, len(data) + 1, monkeypatch)
    assert whole[0] == 1
    for least in (1, 2, 3, 7, 11, 64, 100, 1000):
        count, found = read(file, kind, length, least, monkeypatch)
        assert found == whole[1]
        assert count > 1 or len(data) < 2 * least


PROBLEMS: list[tuple[Kind, bytes, int, list[bytes], str]] = [
    ("json", b'{"body": "a"}\n{"body": \n{"body": "b"}\n', 0, [b"a", b'{"body": \n', b"b"], "offset 14: the line"),
    ("json", b'{"sequence": 1}\n', 0, [b'{"sequence": 1}\n'], "follows from the place of its line: leave it out"),
    ("json", b'{"bodi": "a"}\n', 0, [b'{"bodi": "a"}\n'], "there is no column called bodi; did you mean body?"),
    ("json", b'{"properties": {"a": []}, "body": ""}', 0, [b'{"properties": {"a": []}, "body": ""}'], "property a"),
    ("json", b'{"body": 1}', 0, [b'{"body": 1}'], "body must be a text"),
    ("json", b'[1]', 0, [b"[1]"], "a line holds an object"),
    ("json", b'{"body64": "?"}', 0, [b'{"body64": "?"}'], "the line is no message"),
    ("json", b'{"body": "a", "priority": "high"}', 0, [b'{"body": "a", "priority": "high"}'], "priority must be"),
    ("json", b'{"body": "a", "msg_id": "xyz"}', 0, [b'{"body": "a", "msg_id": "xyz"}'], "msg_id must be hexadecimal"),
    ("fixed", b"onetwox", 3, [b"one", b"two", b"x"], "offset 6: the last record has 1 of 3 bytes"),
    ("rdw", b"\0\5\0\0a\0\3\0\0", 0, [b"a", b"\0\3\0\0"], "offset 5: the record descriptor word X'00030000'"),
]  # fmt: skip


@pytest.mark.parametrize("case", PROBLEMS, ids=lambda case: case[4][:30])
def test_what_is_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Any) -> None:
    """What cannot be read is a row that says where and why, with its bytes, and what can be read is read."""
    kind, data, length, bodies, why = case
    (tmp_path / "file").write_bytes(data)
    found = read(tmp_path / "file", kind, length, 1 << 20, monkeypatch)[1]
    assert [body for _, body, _ in found] == bodies
    said = [told["problem"] for _, _, told in found if "problem" in told]
    assert len(said) == 1
    assert why in said[0]


def test_what_a_line_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A JSON line may say every field of the descriptor, the queue and properties; ids are filled up with zeros."""
    line = {"body64": "AP8=", "queue": "Q", "correl_id": "0a", "expiry": 5, "properties": {"a": "b"}, "format": None}
    (tmp_path / "file").write_text(json.dumps(line), encoding="utf-8")
    ((at, body, said),) = read(tmp_path / "file", "json", 0, 1 << 20, monkeypatch)[1]
    assert (at, body) == (0, b"\0\xff")
    assert said == {"queue": "Q", "correl_id": b"\n".ljust(24, b"\0"), "expiry": 5, "properties": [("a", "b")]}


def test_properties_of_other_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that `penstock get --json` has written is the same message here, whatever the types of its properties."""
    values = {"text": "r & <", "n": -3, "big": 1 << 40, "yes": True, "f": 1.5, "bytes": {"hex": "00ff"}}
    line = json.dumps({"body": "x", "format": "MQSTR", "properties": values, "pcf": {"Command": 1}})
    (tmp_path / "file").write_text(line, encoding="utf-8")
    ((_, body, said),) = read(tmp_path / "file", "json", 0, 1 << 20, monkeypatch)[1]
    descriptor, expected = from_line(line)
    assert (expected, {"format": descriptor.format}) == (body, said)


def test_kinds(tmp_path: Path) -> None:
    """What a path holds is told by its name, and by the names inside it."""
    for folder, name in (("p", "x.parquet"), ("f", "x.xml"), ("j", "x.jsonl")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).touch()
    names = ("a.jsonl", "a.json", "a.txt", "a.parquet", "a.bin", "p", "f", "j")
    found = [kind_of(str(tmp_path / name)) for name in names]
    assert found == ["json", "json", "text", "parquet", "files", "parquet", "files", "json"]


def test_where_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are named from where the command runs are found by executors, which run elsewhere."""
    (tmp_path / "messages").mkdir()
    (tmp_path / "messages" / "a.xml").touch()
    monkeypatch.chdir(tmp_path)
    assert files_in("messages") == [tmp_path / "messages" / "a.xml"]
    with pytest.raises(ConfigurationException, match="is a URI"):
        files_in("hdfs://host/messages")


def test_what_is_not_there(tmp_path: Path) -> None:
    """A path without files is refused before anything runs."""
    with pytest.raises(ConfigurationException, match="is not there"):
        files_in(str(tmp_path / "none"))
    with pytest.raises(ConfigurationException, match="holds no files"):
        files_in(str(tmp_path))


@pytest.mark.parametrize("kind", ["text", "json"])
def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind) -> None:
    """A line that no message can be is told of with its first bytes, and what stands behind it is read."""
    monkeypatch.setattr("spark_exec.readers._LONGEST_LINE", 20)
    monkeypatch.setattr("spark_exec.readers._SHOWN", 3)
    (tmp_path / "file").write_bytes(b"x" * 30 + b'\n{"body": "1234567"}\n' + b"y" * 45)
    for least in (1 << 20, 1, 10, 25):
        found = read(tmp_path / "file", kind, 0, least, monkeypatch)[1]
        bodies = [b"xxx", b"1234567" if kind == "json" else b'{"body": "1234567"}', b"yyy"]
        assert [(at, body) for at, body, _ in found] == list(zip((0, 31, 51), bodies, strict=True))
        assert ["longer than 20 bytes" in said.get("problem", "") for _, _, said in found] == [True, False, True]


def test_text_in_the_ccsid_of_its_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a JSON line becomes bytes in the CCSID that its message has; what that cannot say is a problem."""
    said = ({"coded_char_set_id": 500}, {"coded_char_set_id": 1200, "encoding": 273}, {}, {"coded_char_set_id": 437})
    lines = [json.dumps({"body": "É", **one}) for one in said] + ['{"body": "€", "coded_char_set_id": 819}']
    (tmp_path / "file").write_text("\n".join(lines), encoding="utf-8")
    found = read(tmp_path / "file", "json", 0, 1 << 20, monkeypatch)[1]
    assert [body for _, body, _ in found[:4]] == [b"\x71", b"\x00\xc9", "É".encode(), b"\x90"]
    assert "U+20AC" in found[4][2]["problem"]


@pytest.mark.parametrize("ccsid", [500, 1200])
def test_lines_that_do_not_end_in_a_line_feed(spark: Any, tmp_path: Path, ccsid: int) -> None:
    """Text whose lines cannot be told by their bytes is refused, and what to do is said."""
    (tmp_path / "file").write_bytes(b"x")
    origin = Origin(str(tmp_path / "file"), "text", descriptor=Descriptor(coded_char_set_id=ccsid))
    with pytest.raises(ConfigurationException, match=f"lines in CCSID {ccsid} do not end in X'0A'"):
        messages(spark, origin)
