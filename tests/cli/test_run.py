"""penstock run: what is written, what is said, and how it ends, for every kind of input."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import pytest

from engine.descriptor import Descriptor
from engine.runtime.file_run import Outbox, Sent, letters_from, run
from engine.work import Arrival
from flows.files import load_flow
from tests.cli.command_line import ROOT, penstock, process
from tests.cli.conftest import FLOW

ORDERS = "flows/samples/orders"
MESSAGES = f"{ORDERS}/messages"


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the samples are."""
    monkeypatch.chdir(ROOT)


def files(directory: Path) -> dict[str, bytes]:
    return {str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def messages(tmp_path: Path, *bodies: bytes) -> str:
    """A directory of messages, called 1.xml and so on."""
    folder = tmp_path / "messages"
    folder.mkdir()
    for number, body in enumerate(bodies, 1):
        (folder / f"{number}.xml").write_bytes(body)
    return str(folder)


def test_names_are_shown_not_obeyed(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file whose name holds what a terminal would obey is shown with the numbers of such characters."""
    source = tmp_path / "in"
    source.mkdir()
    (source / "a\x1b[31m\nb.xml").write_bytes(b"<a/>")
    (source / "c\x1b[0m\n.xml").write_bytes(b"<a")
    ended = penstock(capsys, "run", flow, "--input", str(source), "--output", str(tmp_path / "out"))
    assert "a\\x1b[31m\\nb.xml\n    In.out -> Look\n" in ended.out
    assert "\x1b" not in ended.out + ended.err
    assert all(": BIP5009" in line for line in ended.err.splitlines())


def test_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sample does what its comment says: accepted with a copy for the auditors, rejected as it came."""
    ended = penstock(capsys, "run", f"{ORDERS}/orders.yaml", "--input", MESSAGES, "--output", str(tmp_path))
    given = {file.name: file.read_bytes() for file in Path(MESSAGES).iterdir()}
    expected = {}
    for name, body in given.items():
        for queue in ("ORDERS.REJECTED",) if "broken" in name else ("ORDERS.ACCEPTED", "ORDERS.AUDIT"):
            expected[f"{queue}/{name}"] = body
    assert expected == files(tmp_path)
    assert ended.code == 0
    assert ended.err.startswith("order-4-broken.xml: BIP5009 samples.orders.Orders.Orders in: XML parsing errors")
    assert "samples.orders.Orders: 4 in, 7 out, 0 failed" in ended.out


def test_several_sources(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is given several times as input goes through, one after the other; none of it is left out."""
    folder = messages(tmp_path, b"<a/>", b"<b/>")
    (tmp_path / "1.xml").write_bytes(b"<c/>")
    given = ("--input", folder, "--input", str(tmp_path / "1.xml"))
    ended = penstock(capsys, "run", flow, *given, "--output", str(tmp_path / "out"))
    assert (ended.code, "3 in, 3 out, 0 failed" in ended.out) == (0, True)
    assert files(tmp_path / "out") == {"OUT/1.xml": b"<a/>", "OUT/2.xml": b"<b/>", "OUT/1-2.xml": b"<c/>"}


def test_what_is_shown(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each of a few messages is shown with its way and its files, then the sums."""
    source = messages(tmp_path, b"<a><id>1</id></a>", b"<a/>")
    out = tmp_path / "out"
    ended = penstock(capsys, "run", flow, "--input", source, "--output", str(out))
    expected = f"""1.xml
    In.out -> Look
    Look.out -> Out
    => {out}/OUT/1.xml
2.xml
    In.out -> Look
    Look.out -> Out
    => {out}/OUT/2.xml
Pass: 2 in, 2 out, 0 failed
  2  In.out -> Look
  2  Look.out -> Out
  2  on OUT, in {out}/OUT
"""
    assert (0, expected, "") == ended


def test_trace(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --trace, what Trace nodes write is on stderr; without it, it is not even made."""
    source = messages(tmp_path, b"<a><id>1</id></a>", b"<a>")
    silent = penstock(capsys, "run", flow, "--input", source, "--output", str(tmp_path / "out"))
    traced = penstock(capsys, "run", flow, "--input", source, "--output", str(tmp_path / "out"), "--trace")
    assert (silent.code, silent.err) == (0, "")
    first, second, third, *_ = (line.split("   ")[-1] for line in traced.err.splitlines())
    assert first == "BIP2632I: Message received and propagated to 'out' terminal of MQ Input node 'Pass.In'."
    assert second == "BIP3051I: id '1'"
    assert third == "BIP4015I: Message propagated to the 'out' terminal of node 'Pass.Look'."
    assert traced.code == 1


def test_failures(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A message that fails is on the dead-letter queue with its bytes, and stderr says where and why, one line each."""
    broken = flow.replace("pass", "broken")
    Path(broken).write_text(FLOW.replace("queueName: OUT", "destinationMode: reply"))
    source = messages(tmp_path, b"one", b"two")
    ended = penstock(capsys, "run", broken, "--input", source, "--output", str(tmp_path / "out"))
    text = "BIP2635 Pass.Out: the MQMD names no ReplyToQ to put the reply on: set it, or use another destinationMode"
    assert ended.code == 1
    assert ended.err == f"1.xml: {text}\n2.xml: {text}\n"
    assert "Pass: 2 in, 2 out, 2 failed" in ended.out
    letters = files(tmp_path / "out")
    assert [letters[f"SYSTEM.DEAD.LETTER.QUEUE/{n}.xml"][172:] for n in (1, 2)] == [b"one", b"two"]


def test_many_failures_are_not_all_listed(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of many messages only the sums are shown, and of many failures the first."""
    Path(flow).write_text(FLOW.replace("queueName: OUT", "destinationMode: reply"))
    source = messages(tmp_path, *[b"x"] * 25)
    ended = penstock(capsys, "run", flow, "--input", source, "--output", str(tmp_path / "out"))
    assert ended.out.startswith("Pass: 25 in, 25 out, 25 failed\n")
    assert len(ended.err.splitlines()) == 21
    assert ended.err.endswith("and 5 more\n")
    assert "\x1b" not in ended.err


def test_json(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--json says all that the text says, also of failures, and nothing else is on stdout."""
    Path(flow).write_text(FLOW.replace("Look.out -> Out", "Look.out -> Out\n  - In.failure -> Bad"))
    Path(flow).write_text(
        Path(flow).read_text().replace("nodes:", "nodes:\n  Bad: {type: MQOutput, destinationMode: reply}")
    )
    out = tmp_path / "out"
    sound = messages(tmp_path, b"<a/>")
    ended = penstock(capsys, "run", flow, "--input", sound, "--output", str(out), "--json")
    data = json.loads(ended.out)
    assert data.pop("seconds") >= 0
    expected = {
        "flow": "Pass",
        "messages": 1,
        "wires": {"In.out -> Look": 1, "Look.out -> Out": 1},
        "queues": {"OUT": {"messages": 1, "directory": f"{out}/OUT"}},
        "failures": [],
        "reasons": [],
        "unsent": 0,
        "others": 0,
        "by_reason": [],
        "incidents": [],
        "first": [{"message": "1.xml", "wires": ["In.out -> Look", "Look.out -> Out"], "files": [f"{out}/OUT/1.xml"]}],
    }
    assert expected == data
    Path(flow).write_text(FLOW.replace("queueName: OUT", "destinationMode: reply"))
    ended = penstock(capsys, "run", flow, "--input", sound, "--output", str(out), "--json")
    assert (ended.code, ended.err) == (1, "")
    assert [failure["message"] for failure in json.loads(ended.out)["failures"]] == ["1.xml"]


def test_a_file_that_cannot_be_read(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be read is a message that failed: the line on stderr names it, and the next ones are sent."""
    source = Path(messages(tmp_path, b"<a/>", b"<a/>", b"<a/>"))
    gone = source / "2.xml"
    original = Path.open

    def opened(file: Path, mode: str = "r") -> IO[Any]:
        if file == gone:
            raise PermissionError(13, "Permission denied", str(file))
        return original(file, mode)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "open", opened)
        ended = penstock(capsys, "run", flow, "--input", str(source), "--output", str(tmp_path / "out"))
    text = f"{gone} cannot be read: Permission denied; change its permissions, or name another"
    assert (1, f"2.xml: BIP2066: {text}\n") == (ended.code, ended.err)
    assert "Pass: 3 in, 2 out, 1 failed" in ended.out


MISTAKES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "no flow": (
        ("nix.yaml", "--input", "{in}", "--output", "{out}"),
        1,
        "penstock: BIP2087 nix.yaml: cannot be read: No such file or directory; name one that exists",
    ),
    "the flow is a directory": (
        (ORDERS, "--input", "{in}", "--output", "{out}"),
        1,
        f"penstock: BIP2087 {ORDERS}: cannot be read: Is a directory; name a file in it",
    ),
    "no input": (
        ("{flow}", "--input", "nix", "--output", "{out}"),
        1,
        "penstock: BIP2066: nix does not exist: name a file, a directory, or - for standard input",
    ),
    "an empty directory": (
        ("{flow}", "--input", "{empty}", "--output", "{out}"),
        1,
        "penstock: BIP2066: {empty} holds no files: name a directory with a message in each of its files",
    ),
    "the output is a file": (
        ("{flow}", "--input", "{in}", "--output", "{flow}"),
        1,
        "penstock: BIP2066: {flow} cannot hold messages: name a directory, not a file",
    ),
    "the output is in a file": (
        ("{flow}", "--input", "{in}", "--output", "{flow}/out"),
        1,
        "penstock: BIP2066: {flow}/out cannot hold messages: name a directory, not a file",
    ),
    "no such queue": (
        ("{flow}", "--input", "{in}", "--output", "{out}", "--queue", "Q"),
        1,
        "penstock: BIP2066: flow Pass does not read Q; it reads IN",
    ),
}
MISUSES = {
    "an option that is none": (("{flow}", "--inptu", "x"), "no such option: --inptu"),
    "no input": (("{flow}",), "missing option '--input'"),
    "no flow": ((), "missing argument 'flow…'"),
    "a number that is none": (
        ("{flow}", "--input", "-", "--output", "x", "--ccsid", "y"),
        "invalid value for '--ccsid'",
    ),
    "an argument too many": (("{flow}", "x", "--input", "-", "--output", "x"), "got unexpected extra argument"),
}


@pytest.mark.parametrize(("arguments", "text"), MISUSES.values(), ids=MISUSES.keys())
def test_misuses(arguments: tuple[str, ...], text: str, flow: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A command line that makes no sense is one line on stderr that says what is wrong and where to read on."""
    ended = penstock(capsys, "run", *(argument.format(flow=flow) for argument in arguments))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.lower().startswith(f"penstock run: {text}")
    assert ended.err.endswith("(see penstock run --help)\n")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "code", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(
    arguments: tuple[str, ...], code: int, text: str, flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake is one line on stderr that says where, what and what to do; nothing is on stdout."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").touch()
    names = {"flow": flow, "in": f"{MESSAGES}/order-1.xml", "out": f"{tmp_path}/out", "empty": f"{tmp_path}/empty"}
    ended = penstock(capsys, "run", *(argument.format(**names) for argument in arguments))
    assert (code, "", text.format(**names) + "\n") == ended


def test_problems_of_a_flow(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All problems of a flow file are shown where they are, and their number last."""
    Path(flow).write_text(FLOW.replace("Trace", "Trase").replace("queueName: IN", "queueNam: IN"))
    ended = penstock(capsys, "run", flow, "--input", MESSAGES, "--output", str(tmp_path / "out"))
    lines = ended.err.splitlines()
    assert (1, "", f"penstock: 2 problems in {flow}") == (ended.code, ended.out, lines[-1])
    assert sum(line.startswith("BIP") for line in lines) == 2
    assert not (tmp_path / "out").exists()


def test_two_entrances(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A flow that reads two queues needs to be told which, and is told by --queue."""
    Path(flow).write_text(
        FLOW.replace("wires:", "  Also: {type: MQInput, queueName: TOO}\nwires:\n  - Also.out -> Out")
    )
    arguments = ("run", flow, "--input", f"{MESSAGES}/order-1.xml", "--output", str(tmp_path / "out"))
    ended = penstock(capsys, *arguments)
    assert ended == (1, "", "penstock: BIP2066: flow Pass reads IN, TOO: say which by --queue\n")
    ended = penstock(capsys, *arguments, "--queue", "TOO")
    assert "Also.out -> Out" in ended.out
    assert ended.code == 0


def test_binary_standard_input(flow: str, tmp_path: Path) -> None:
    """Any bytes may come on standard input; they come out as they are."""
    body = bytes(range(256)) * 3
    Path(flow).write_text(FLOW.replace(", messageDomainProperty: XMLNSC", ""))
    running = process("run", flow, "--input", "-", "--output", str(tmp_path / "out"))
    _, err = running.communicate(body, timeout=60)
    assert (running.returncode, err) == (0, b"")
    assert files(tmp_path / "out") == {"OUT/stdin": body}


def test_interrupt(flow: str, tmp_path: Path) -> None:
    """Ctrl-C ends with the exit code 130, without a traceback, and says how many messages were not sent."""
    running = process("run", flow, "--input", "-", "--output", str(tmp_path / "out"))
    assert running.stdin is not None
    running.stdin.write(bytes(500_000))  # more than a pipe holds: once it is written, the command is reading
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"1 of 1 messages were not sent\n")


def test_a_closed_pipe() -> None:
    """Who reads only the beginning, as head does, sees no traceback."""
    running = process("describe", "node", "--json")
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    err = running.stderr.read()
    running.wait(60)
    assert err == b""
    assert running.returncode != 0
    assert running.stdin is not None
    running.stdin.close()
    running.stderr.close()


HOSTILE: list[Callable[[str], str]] = [
    lambda _: "../../escaped",
    lambda outside: f"{outside}/escaped",
    lambda _: "..",
    lambda _: "a/../../../escaped",
    lambda _: "nul\0byte",
    lambda _: "x" * 400,
    lambda _: "ü" * 300,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: Callable[[str], str], tmp_path: Path) -> None:
    """A queue or a message of any name is written below the output directory, and nothing is written over."""
    out = tmp_path / "in" / "out"
    outbox, hostile = Outbox(out), name(str(tmp_path))
    made = [
        outbox.write(message, Sent(queue, Arrival(Descriptor(), b"x")))
        for queue in (hostile, "\udcff", "Q")
        for message in (hostile, "m.xml", "m.xml")
    ]
    assert len(set(made)) == 9
    assert not any(file.exists() for file in made)
    outbox.publish()
    assert set(made) == {file for file in tmp_path.rglob("*") if file.is_file()}
    assert all(file.resolve().parent.parent == out.resolve() for file in made)


def test_a_file_with_a_name_that_is_no_text(flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File names that are no UTF-8 are shown by their numbers and carried through."""
    source = tmp_path / "odd"
    source.mkdir()
    (source / "a\udcff.xml").write_bytes(b"<a/>")
    ended = penstock(capsys, "run", flow, "--input", str(source), "--output", str(tmp_path / "out"))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("a\\udcff.xml\n")


def test_files_are_not_all_in_memory(flow: str) -> None:
    """Each message is read when its turn comes, and is not kept."""
    count = 10_000
    read: list[str] = []

    class Counted(type(Path())):  # type: ignore[misc]  # the class that Path makes here
        def open(self, mode: str = "r") -> BytesIO:
            read.append(self.name)
            return BytesIO(b"<a/>")

    letters = letters_from((Counted(f"{n}.xml") for n in range(count)), Descriptor())
    for done, passage in enumerate(run(load_flow(flow), letters), 1):
        assert len(read) == done
        assert len(passage.sent) == 1
        if done == 50:
            break
    assert len(read) == 50


def test_a_flow_that_feeds_itself(
    flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that goes round for ever is stopped with a line that says why."""
    monkeypatch.setattr("engine.runtime.file_run.MOST_ROUNDS", 50)
    Path(flow).write_text(FLOW.replace("queueName: OUT", "queueName: IN"))
    ended = penstock(capsys, "run", flow, "--input", f"{MESSAGES}/order-1.xml", "--output", str(tmp_path / "out"))
    text = "order-1.xml: BIP2230 Pass.In: a message went round more than 50 times: the flow feeds its own queue\n"
    assert (1, text) == (ended.code, ended.err)
