"""What `penstock run` refuses before it reads a message."""

from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, penstock

ORDERS = ROOT / "flows/samples/orders"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--ccsid", "99999", "99999"),
        ("--encoding", "-1", "--encoding -1 is no MQ encoding"),
        ("--encoding", "99", "--encoding 99 is no MQ encoding: 546 is little endian, 273 big endian"),
        ("--encoding", "4642", "--encoding 4642 is no MQ encoding"),
        (
            "--queue-manager-name",
            "Q M",
            "is the name of a queue manager: up to 48 ASCII characters",
        ),
        ("--queue-manager-name", "Q" * 49, "--queue-manager-name is the name of a queue manager"),
        ("--queue", "A B", "does not read A B"),
        ("--format", "TOOLONGFORMAT", "at most 8 ASCII characters"),
        ("--input", "", "an empty name"),
        ("--output", "", "--output names no directory"),
    ],
)
def test_descriptors_that_cannot_be(
    option: str, value: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that no message descriptor could hold ends the command with one line."""
    options = {"--input": str(ORDERS / "messages"), "--output": str(tmp_path), option: value}
    done = penstock(capsys, "run", str(ORDERS / "orders.yaml"), *[word for pair in options.items() for word in pair])
    assert (1, 1) == (done.code, len(done.err.splitlines()))
    assert said in done.err
