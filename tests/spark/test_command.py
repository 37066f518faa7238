"""What penstock spark run refuses before Spark is started, in one line that says what to do."""

from pathlib import Path

import pytest

from tests.cli.command_line import penstock
from tests.spark.flows import order, written

REFUSED = [
    (("--kind", "xml"), "--kind xml is none of parquet, files, json, text, fixed, rdw"),
    (("--conf", "cores"), "--conf cores is no setting: write key=value"),
    (("--moment", "yesterday"), "yesterday is no date and time: write it as 2026-01-02T03:04:05"),
    (("--queue", "INN"), "no flow reads INN: the queues that are read are IN, OUT"),
    ((), "the flows read IN, OUT: say by --queue where the messages are"),
    (("--queue", "IN", "--messages", "{}/none"), "none does not exist: name a file"),
    (("--queue", "IN", "--output", "{}"), "is not empty: name a directory that is, or that is not there yet"),
    (("--queue", "IN", "--output", "{}/broker.yaml"), "broker.yaml is not empty"),
    (("--queue", "IN", "--output", ""), "no directory is named for the output"),
    (("--queue", "IN", "--record-length", "80"), "--record-length is for --kind fixed, and the messages are of kind"),
    (("--kind", "parquet", "--ccsid", "37"), "--ccsid: a message set in Parquet says this itself, in its columns"),
    (("--queue", "IN", "--ccsid", "99999"), "99999"),
    (("--queue", "IN", "--format", "MUCHTOOLONG"), "--format MUCHTOOLONG is no MQ format"),
]


@pytest.mark.parametrize(("options", "why"), REFUSED, ids=[" ".join(case[0]) or "no queue" for case in REFUSED])
def test_what_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], why: str
) -> None:
    """What cannot be run is refused in one line, and nothing is written."""
    (tmp_path / "message.xml").write_bytes(order(1))
    given = {"--messages": str(tmp_path / "message.xml"), "--output": str(tmp_path / "out")}
    given |= dict(zip(options[::2], (text.replace("{}", str(tmp_path)) for text in options[1::2]), strict=True))
    words = [word for pair in given.items() for word in pair]
    ended = penstock(capsys, "spark", "run", str(written(tmp_path)), *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert why in ended.err
    assert not (tmp_path / "out").exists()
