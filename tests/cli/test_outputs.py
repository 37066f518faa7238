"""What commands write: never over an input, and never less than the whole of it, whatever ends them."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.broker.running import NAMED
from tests.cli.command_line import PROGRAM, ROOT, penstock

BOOK = "       01 R.\n          05 A PIC X(4).\n"
RECORDS = b"abcd" * 500
EARLIER = b"what an earlier run has written\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run among files that they may destroy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.cpy").write_text(BOOK)
    (tmp_path / "top.cpy").write_text("       01 T.\n       COPY INNER.\n")
    (tmp_path / "inner.cpy").write_text("          05 A PIC X(4).\n")
    (tmp_path / "x.bin").write_bytes(RECORDS)
    (tmp_path / "x.json").write_text('{"A": "abcd"}\n' * 500)
    (tmp_path / "e.esql").write_text("declare A integer 1;\ndeclare B integer   2;\n")
    (tmp_path / "to-x").symlink_to("x.bin")
    os.link(tmp_path / "x.bin", tmp_path / "also-x")
    for sample in ("orders", "splitting"):
        shutil.copytree(ROOT / "flows/samples" / sample, tmp_path / sample)


REFUSED = {
    "decode onto its input": "decode x.bin --copybook c.cpy --output x.bin",
    "by another way": "decode x.bin --copybook c.cpy --output orders/../x.bin",
    "through a link": "decode x.bin --copybook c.cpy --output to-x",
    "through a hard link": "decode x.bin --copybook c.cpy --output also-x",
    "the input is a link": "decode to-x --copybook c.cpy --output x.bin",
    "onto the copybook": "decode x.bin --copybook c.cpy --output c.cpy",
    "onto what it copies": "decode x.bin --copybook top.cpy --output inner.cpy",
    "quarantine onto the input": "decode x.bin --copybook c.cpy --output o --quarantine x.bin",
    "output and quarantine": "decode x.bin --copybook c.cpy --output o --quarantine o",
    "encode onto its input": "encode x.json --copybook c.cpy --output x.json",
    "encode, quarantine": "encode x.json --copybook c.cpy --output o --quarantine x.json",
    "import onto the copybook": "messageset import c.cpy --out c.cpy",
    "import onto what it copies": "messageset import top.cpy --out inner.cpy",
    "a picture onto its flow": "flow show orders/orders.yaml --svg orders/orders.yaml",
    "a report onto its cases": "test orders --junit orders/tests/orders.yaml",
    "a report onto the flow": "test orders --junit orders/orders.yaml",
    "a report onto a program": "test splitting --junit splitting/splitting.esql",
    "a report onto a message": "test splitting --junit splitting/messages/day.xml",
    "a picture onto a program": "flow show splitting/splitting.yaml --svg splitting/splitting.esql",
    "a run into its inputs": "run orders/orders.yaml --input orders/messages --output orders/messages",
    "a run around its inputs": "run orders/orders.yaml --input orders/messages --output orders",
    "results over what they are compared with": "costs nodes --compare old/results.json --output old",
}


def everything(folder: Path) -> dict[str, bytes]:
    """The files of a folder, and of those in it."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("command", REFUSED.values(), ids=REFUSED.keys())
def test_an_output_is_no_input(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An output that is, holds or links to an input is refused in one line before anything is written."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "results.json").write_text("{}")
    before = everything(tmp_path)
    ended = penstock(capsys, *command.split())
    assert (1, "", 1) == (ended.code, ended.out, ended.err.count("\n"))
    assert "name another" in ended.err
    assert before == everything(tmp_path)


def test_a_run_is_not_written_over_what_it_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A message whose place is that of the flow, or of a program that it runs, is not delivered."""
    (tmp_path / "flows").mkdir()
    (tmp_path / "splitting").rename(tmp_path / "flows" / "SALES.TOTALS")
    for name in ("splitting.yaml", "splitting.esql"):
        shutil.copy(tmp_path / "flows/SALES.TOTALS/messages/day.xml", tmp_path / name)
        before = everything(tmp_path)
        run = ("run", "flows/SALES.TOTALS/splitting.yaml", "--input", name, "--output", "flows")
        ended = penstock(capsys, *run)
        assert (1, True) == (ended.code, "is the input" in ended.err)
        assert before == everything(tmp_path)


def test_standard_streams_are_inputs_and_outputs(tmp_path: Path) -> None:
    """Records that come from a file by standard input are not written over, nor does standard output feed itself."""
    for arguments, given, shown in (
        (["decode", "-", "--copybook", "c.cpy", "--output", "x.bin"], "x.bin", None),
        (["decode", "x.bin", "--copybook", "c.cpy"], None, "x.bin"),
    ):
        with (
            (tmp_path / (given or "x.json")).open("rb") as source,
            (tmp_path / (shown or "nothing")).open("ab") as out,
        ):
            ended = subprocess.run(
                [*PROGRAM, *arguments],
                stdin=source,
                stdout=out,
                stderr=subprocess.PIPE,
                timeout=120,
                check=False,
                env=around(),
            )
        assert (1, True) == (ended.returncode, b"would be written over" in ended.stderr)
        assert RECORDS == (tmp_path / "x.bin").read_bytes()


def around() -> dict[str, str]:
    """The environment of a command that is started elsewhere."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PENSTOCK_CACHE": "off"}


RUN = "run orders/orders.yaml --input orders/messages --output"
WRITERS: dict[str, tuple[str, str]] = {
    "decode": ("decode x.bin --copybook c.cpy --output {}", "out.json"),
    "quarantine": ("decode x.bin --copybook n.cpy --output /dev/null --quarantine {}", "bad.bin"),
    "encode": ("encode x.json --copybook c.cpy --output {}", "out.bin"),
    "import": ("messageset import c.cpy --out {}", "set.yaml"),
    "flow show": ("flow show orders/orders.yaml --svg {}", "orders.svg"),
    "test": ("test orders --junit {}", "junit.xml"),
    "format": ("esql format --write {}", "e.esql"),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_earlier_result(writer: str, tmp_path: Path) -> None:
    """Where a file cannot be written whole, the earlier one is as it was, and the line on stderr names it."""
    command, file = WRITERS[writer]
    (tmp_path / "n.cpy").write_text("       01 R.\n          05 A PIC 9(4).\n")
    earlier = (tmp_path / file).read_bytes() if file == "e.esql" else EARLIER
    (tmp_path / file).write_bytes(earlier)

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    ended = subprocess.run(
        [*PROGRAM, *command.format(file).split()],
        capture_output=True,
        timeout=120,
        check=False,
        env=around(),
        preexec_fn=full,
    )
    assert 1 == ended.returncode
    assert f"penstock: {file if file != 'e.esql' else tmp_path / file}: File too large" in ended.stderr.decode()
    assert earlier == (tmp_path / file).read_bytes()
    assert [] == [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_a_full_disk_leaves_the_earlier_run(tmp_path: Path) -> None:
    """A run whose messages cannot be written leaves those of another run as they were, and no part of its own."""
    out = tmp_path / "out" / "ORDERS.ACCEPTED"
    out.mkdir(parents=True)
    (out / "order-1.xml").write_bytes(EARLIER)

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    ended = subprocess.run(
        [*PROGRAM, *RUN.split(), "out"], capture_output=True, timeout=120, check=False, env=around(), preexec_fn=full
    )
    assert (1, True) == (ended.returncode, b"order-1.xml: File too large" in ended.stderr)
    assert {"ORDERS.ACCEPTED/order-1.xml": EARLIER} == everything(tmp_path / "out")


# Ends a command as a kill does, when it has made so many calls that change files.
KILLED = """
import os, sys
left = int(sys.argv.pop(1))
def counted(call):
    def counting(*given, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        return call(*given, **named)
    return counting
for name in ("rename", "replace", "fsync", "unlink", "mkdir", "rmdir", "fchmod"):
    setattr(os, name, counted(getattr(os, name)))
from engine.files import output_files
output_files.NamedOutput.write = counted(output_files.NamedOutput.write)
from engine.cli import main
main()
"""


def killed_at(calls: int, arguments: list[str]) -> int:
    """Runs a command that is killed behind so many calls; the answer is its exit code."""
    program = [PROGRAM[0], "-c", KILLED, str(calls), *arguments]
    return subprocess.run(program, capture_output=True, timeout=120, check=False, env=around()).returncode


@pytest.mark.crash
@pytest.mark.parametrize("writer", ["decode", "format"])
def test_a_kill_leaves_one_result_whole(writer: str, tmp_path: Path) -> None:
    """Wherever a command is killed, its output is the earlier one whole or the new one whole."""
    command, file = WRITERS[writer]
    arguments = command.format(file).split()
    earlier = (tmp_path / file).read_bytes() if file == "e.esql" else EARLIER
    seen = set()
    for calls in range(50):
        (tmp_path / file).write_bytes(earlier)
        code = killed_at(calls, arguments)
        seen.add((tmp_path / file).read_bytes())
        if code == 0:
            break
        assert -signal.SIGKILL == code
    assert code == 0
    assert {earlier, (tmp_path / file).read_bytes()} == seen


@pytest.mark.crash
def test_a_kill_leaves_one_run_whole(tmp_path: Path) -> None:
    """Wherever a run is killed, the earlier messages are there or all of its own; the next run completes a move."""
    out, earlier = tmp_path / "out", {"ORDERS.ACCEPTED/order-1.xml": EARLIER}
    done: dict[str, bytes] = {}
    for calls in (*range(0, 60, 1 if os.environ.get("PENSTOCK_KILLS") else 7), 1000):
        shutil.rmtree(out, ignore_errors=True)
        (out / "ORDERS.ACCEPTED").mkdir(parents=True)
        (out / "ORDERS.ACCEPTED" / "order-1.xml").write_bytes(EARLIER)
        code = killed_at(calls, [*RUN.split(), "out"])
        moving = [folder for folder in out.iterdir() if folder.name.endswith(".moving")]
        if code == 0:
            done = everything(out)
            break
        if moving:
            assert 0 == killed_at(1000, ["run", "orders/orders.yaml", "--input", "x.json", "--output", "out"])
            found = {name: data for name, data in everything(out).items() if "x.json" not in name}
            assert len(found) == 7
        else:
            shown = {name: data for name, data in everything(out).items() if not name.startswith(".")}
            assert shown == earlier or len(shown) == 7
    assert len(done) == 7


def test_a_link_in_the_output_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A link where a file is to be written is replaced, one where a folder is to be is refused."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_bytes(EARLIER)
    (tmp_path / "link").symlink_to("elsewhere/file")
    assert 0 == penstock(capsys, "decode", "x.bin", "--copybook", "c.cpy", "--output", "link").code
    assert (EARLIER, False) == ((tmp_path / "elsewhere/file").read_bytes(), (tmp_path / "link").is_symlink())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ORDERS.ACCEPTED").symlink_to("../elsewhere")
    ended = penstock(capsys, *RUN.split(), "out")
    assert (1, True) == (ended.code, "out/ORDERS.ACCEPTED is a link, which is not followed" in ended.err)
    assert {"file": EARLIER} == everything(tmp_path / "elsewhere")


def test_a_link_in_a_folder_of_programs_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of programs in a folder, one that is a link is not written through; one that is named by itself is."""
    program = (tmp_path / "e.esql").read_bytes()
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "l.esql").symlink_to("../e.esql")
    ended = penstock(capsys, "esql", "format", "--write", "programs")
    assert (1, program) == (ended.code, (tmp_path / "e.esql").read_bytes())
    ended = penstock(capsys, "esql", "format", "--write", "programs/l.esql")
    assert (0, True) == (ended.code, (tmp_path / "programs/l.esql").is_symlink())
    assert program != (tmp_path / "e.esql").read_bytes()


def test_what_fails_leaves_the_earlier_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Records that stop a command leave the earlier output; a run without failures empties an earlier quarantine."""
    (tmp_path / "n.cpy").write_text("       01 R.\n          05 A PIC 9(4).\n")
    (tmp_path / "out").write_bytes(EARLIER)
    (tmp_path / "bad").write_bytes(EARLIER)
    assert 1 == penstock(capsys, "decode", "x.bin", "--copybook", "n.cpy", "--output", "out").code
    assert EARLIER == (tmp_path / "out").read_bytes()
    command = ("decode", "x.bin", "--copybook", "c.cpy", "--output", "out", "--quarantine", "bad")
    assert 0 == penstock(capsys, *command).code
    assert (b"", True) == ((tmp_path / "bad").read_bytes(), EARLIER != (tmp_path / "out").read_bytes())


def test_permissions_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is replaced keeps its permissions; a new one gets those that the umask leaves."""
    (tmp_path / "out").touch(0o640)
    command = ("decode", "x.bin", "--copybook", "c.cpy", "--output")
    penstock(capsys, *command, "out")
    penstock(capsys, *command, "new")
    mask = os.umask(0)
    os.umask(mask)
    found = [(tmp_path / name).stat().st_mode & 0o777 for name in ("out", "new")]
    assert [0o640, 0o666 & ~mask] == found


SIGNALS: list[Callable[[subprocess.Popen[bytes]], None]] = [
    lambda running: running.send_signal(signal.SIGTERM),
    lambda running: running.send_signal(signal.SIGINT),
    lambda running: (running.send_signal(signal.SIGINT), running.send_signal(signal.SIGINT), None)[2],
]


@pytest.mark.parametrize("number", range(len(SIGNALS)), ids=["SIGTERM", "SIGINT", "SIGINT twice"])
def test_signals_leave_the_earlier_result(number: int, tmp_path: Path) -> None:
    """A command that is told to end while it writes leaves the earlier result, and no traceback."""
    (tmp_path / "out").write_bytes(EARLIER)
    command = [*PROGRAM, "decode", "-", "--copybook", "c.cpy", "--output", "out"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=around()) as running:
        assert running.stdin is not None
        running.stdin.write(RECORDS * 1000)  # more than a pipe holds: once it is written, the command is at work
        running.stdin.flush()
        SIGNALS[number](running)
        out, err = running.communicate(timeout=60)
    assert running.returncode in {130, 143, -signal.SIGINT}
    assert (b"", EARLIER) == (out, (tmp_path / "out").read_bytes())
    assert b"Traceback" not in err or number == 2


@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
@pytest.mark.parametrize(
    "command",
    ["decode x.bin --copybook c.cpy", "esql eval 1+1", "describe node", "flow show orders/orders.yaml", f"{RUN} out"],
)
def test_a_standard_output_that_takes_nothing(command: str, where: str, tmp_path: Path) -> None:
    """A standard output that is closed or full is one line on stderr that names it, and no success."""
    shell = ["sh", "-c", f'exec "$0" "$@" {where}', PROGRAM[0], *PROGRAM[1:], *command.split()]
    ended = subprocess.run(shell, stderr=subprocess.PIPE, timeout=120, check=False, env=around())
    assert 1 == ended.returncode
    assert (True, 1) == (
        ended.stderr.startswith(b"penstock: standard output cannot be written: "),
        ended.stderr.count(b"\n"),
    )
    assert not command.startswith("run") or len(everything(tmp_path / "out")) == 7


@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_a_program_of_ibm_whose_standard_output_takes_nothing(where: str) -> None:
    """Programs under IBM's names say so too, with their own exit code."""
    shell = ["sh", "-c", f'exec "$0" "$@" {where}', PROGRAM[0], "-c", NAMED, "mqsilist", "-h"]
    ended = subprocess.run(shell, capture_output=True, timeout=120, check=False, env=around())
    assert (81, 1) == (ended.returncode, ended.stderr.count(b"\n"))
    assert ended.stderr.startswith(b"BIP8081E: standard output: ")


def test_an_export_is_not_written_over_a_flow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a broker runs is exported over an earlier export, and over no file of another kind."""
    before = (tmp_path / "orders/orders.yaml").read_bytes()
    for command, code in (
        ("init shop orders/orders.yaml", 0),
        ("create shop", 0),
        ("export shop orders/orders.yaml", 1),
        ("export shop out", 0),
        ("export shop out/broker.yaml", 0),
    ):
        ended = penstock(capsys, "broker", *command.split())
        assert (code, code == 1) == (ended.code, "is no broker file" in ended.err), ended.err
    assert before == (tmp_path / "orders/orders.yaml").read_bytes()


def test_a_file_does_not_get_the_place_of_a_closed_standard_output(tmp_path: Path) -> None:
    """What is printed to a closed standard output does not end up in a file that is open."""
    shell = ["sh", "-c", 'exec "$0" "$@" >&-', *PROGRAM, "messageset", "import", "c.cpy", "--out", "set.yaml"]
    ended = subprocess.run(shell, stderr=subprocess.PIPE, timeout=120, check=False, env=around())
    assert 1 == ended.returncode
    assert b"1 message" not in (tmp_path / "set.yaml").read_bytes()
