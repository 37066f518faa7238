"""The file of groups in the folder of a queue manager, as it is read and as it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from engine.mq import QueueManager
from engine.mq.security.principals import Principals


def test_groups_that_are_listed(tmp_path: Path) -> None:
    """Lines have the form of /etc/group, or leave out what is not looked at; others are notes."""
    file = tmp_path / "groups"
    file.write_text("# who is what\n\nclerks:x:100:bob, ann\nauditors:ann,\nnobody:\n")
    known = Principals(file)
    assert [["auditors", "clerks"], ["clerks"]] == [known.groups("ann"), known.groups("bob")]


@pytest.mark.parametrize(
    ("said", "problem"),
    [(b"# notes\nclerks\n", "groups:2: no group: write it as"), (b"\xff:ann\n", "write it in UTF-8")],
)
def test_a_file_that_is_wrong_says_so_and_keeps_nobody_from_the_folder(
    tmp_path: Path, said: bytes, problem: str
) -> None:
    """A queue manager that cannot be opened by it, or refreshed, can be as soon as the file is right."""
    QueueManager.create(tmp_path / "QM")
    file = tmp_path / "QM" / "groups"
    file.write_bytes(said)
    with pytest.raises(ConfigurationException, match=problem):
        QueueManager.open(tmp_path / "QM")
    file.write_bytes(b"")
    with QueueManager.open(tmp_path / "QM") as queues:
        file.write_bytes(said)
        assert problem in str(queues.mqsc("REFRESH SECURITY")[0])
        file.write_bytes(b"clerks:ann\n")
        assert "AMQ8560I" == queues.mqsc("REFRESH SECURITY")[0].code
