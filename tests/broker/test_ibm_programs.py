"""Programs under IBM's names: their flags, their BIP lines and their exit codes, at a broker that does not run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.broker.administration import Broker
from engine.cli import mqsi
from tests.broker.running import flow

IBM = [
    (("mqsicreatebroker", "N", "-q", "QM1", "-i", "user", "-a", "pw"), 0, "BIP8071I: Successful command completion."),
    (("mqsicreatebroker", "N", "-q", "QM1"), 87, "BIP8087E"),
    (("mqsilist",), 0, "BIP1285I: Integration node 'N' on queue manager 'QM1' is stopped."),
    (("mqsilist", "nope"), 13, "BIP8013E"),
    (("mqsilist", "N", "-z"), 1, "BIP8001E"),
    (("mqsideploy", "N", "-a", "x.yaml"), 5, "BIP8005E"),
    (("mqsideploy", "N", "-e", "eg", "-a", "FLOW"), 66, "needs the queue IN"),
    (("mqsilist", "N", "-d", "7"), 4, "BIP8004E"),
    (("mqsicreateexecutiongroup", "N"), 5, "BIP8005E"),
    (("mqsicreateexecutiongroup", "N", "-e", "eg"), 0, "BIP8071I"),
    (("mqsicreateexecutiongroup", "N", "-e", "eg"), 87, "BIP8087E"),
    (("mqsilist", "N", "-e", "eg"), 0, "BIP1287I: Integration server 'eg' on integration node 'N' is stopped."),
    (("mqsistopmsgflow", "N", "-e", "eg"), 0, "BIP8071I"),
    (("mqsistopmsgflow", "N", "-e", "other"), 13, "BIP8013E: N has no execution group other"),
    (("mqsistartmsgflow", "N", "-e", "eg", "-m", "none"), 13, "BIP8013E: there is no flow none"),
    (("mqsireportproperties", "N", "-e", "eg", "-o", "none", "-a"), 13, "BIP8013E: there is no flow none"),
    (("mqsichangeflowstats", "N", "-s", "-e", "eg", "-f", "none", "-c", "active"), 13, "BIP8013E"),
    (("mqsireportflowstats", "N", "-s", "-e", "other", "-j"), 13, "BIP8013E: N has no execution group other"),
    (("mqsilist", "N", "-e", "other"), 13, "BIP8013E: N has no execution group other"),
    (("mqsilist", "N", "-e", "eg", "-k", "App"), 13, "BIP8013E: the flag -k cannot be used: there are no applications"),
    (("mqsistopmsgflow", "N", "-e", "eg", "-y", "Lib"), 13, "BIP8013E: the flag -y cannot be used"),
    (("mqsideploy", "N", "-e", "eg", "-i", "host", "-a", "FLOW"), 4, "BIP8004E: the flag -i cannot be used"),
    (("mqsistopmsgflow", "N", "-e", "eg", "-w", "0"), 4, "BIP8004E: -w 0 is no number of seconds"),
    (("mqsistopmsgflow", "N", "-e", "eg", "-w", "60"), 0, "BIP8071I"),
    (("mqsistopmsgflow", "N", "-e", "eg", "-g"), 5, "BIP8005E: one of the flags -e and -g must be given"),
    (("mqsilist", "N", "-rw60"), 0, "BIP8071I"),
    (("mqsilist", "-r"), 0, "BIP1287I: Integration server 'eg' on integration node 'N' is stopped."),
    (("mqsilist", "-e", "eg"), 10, "BIP8010E: -e eg is an execution group of a broker: name that too"),
    (("mqsilist", "-d", "7"), 4, "BIP8004E"),
    (("mqsilist", "N", "--r"), 1, "BIP8001E: the flag --r is unknown"),
    (("mqsilist", "N", "-rr"), 3, "BIP8003E"),
    (("mqsilist", "-a"), 0, "BIP1285I: Integration node 'N' on queue manager 'QM1' is stopped."),
    (("mqsicreatebroker", "P"), 0, "BIP8071I"),
    (("mqsilist", "P"), 0, "BIP1326I: Integration node 'P' is stopped."),
    (("mqsideletebroker", "P"), 0, "BIP8071I"),
    (("mqsicreatebroker", "M", "-v", "5"), 4, "BIP8004E: -v 5 is no number of minutes from 10 to 14400"),
    (("mqsicreatebroker", "M", "-g", "300"), 4, "BIP8004E: the flag -g cannot be used"),
    (("mqsicreatebroker", "M", "-q", "QM3", "-t", "-v", "20"), 0, "mqsicreatebroker: -t not used"),
    (("mqsideletebroker", "M", "-w"), 0, "BIP8071I"),
    (("mqsichangetrace", "N", "-u", "-e", "eg"), 5, "BIP8005E: the flag -l is missing"),
    (("mqsideploy", "N", "-e", "eg", "-a", "BROKEN"), 66, "H.yaml:4:"),
    (("mqsicreatebroker", "SHOP", "-q", "QM2"), 0, "BIP8071I"),
    (("mqsireportproperties", "SHOP", "-e", "eg", "-o", "F", "-n", "copies"), 0, "copies='1'"),
    (("mqsireportproperties", "SHOP", "-e", "eg", "-o", "F", "-n", "none"), 4, "BIP8004E: F has no property none"),
    (("mqsireportproperties", "SHOP", "-e", "eg", "-o", "F", "-a"), 0, "Out.queueName='OUT'"),
    (("mqsireportproperties", "SHOP", "-e", "eg", "-o", "F", "-a", "-n", "copies"), 4, "BIP8004E: -n names properties"),
    (("mqsichangeproperties", "SHOP", "-e", "eg", "-o", "F", "-n", "copies", "-p", "VALUE"), 0, "BIP8071I"),
    (("mqsireportproperties", "SHOP", "-e", "eg", "-o", "F", "-n", "copies"), 0, "copies='3'"),
    (
        ("mqsichangeproperties", "SHOP", "-e", "eg", "-o", "F", "-n", "copies"),
        5,
        "BIP8005E: one of the flags -v and -p",
    ),
    (("mqsireadlog", "SHOP", "-ufeeg"), 0, "BIP8071I"),
    (("mqsireadlog", "SHOP", "-t"), 4, "BIP8004E: the flag -t cannot be used: there is no service trace"),
    (("mqsichangetrace", "SHOP", "-u", "-e", "eg", "-l", "none", "-c", "9"), 4, "BIP8004E: the flag -c cannot be used"),
    (("mqsilist", "SHOP", "-e", "eg", "-h"), 0, "usage: mqsilist [BROKER]"),
    (("mqsideleteexecutiongroup", "N", "-e", "eg"), 0, "BIP8071I"),
    (("mqsideleteexecutiongroup", "N", "-e", "eg"), 13, "BIP8013E"),
    (("mqsistop", "N"), 19, "BIP8019E"),
    (("mqsideletebroker", "N"), 0, "BIP8071I"),
    (("mqsideletebroker", "N"), 13, "BIP8013E"),
]
SHOP = "broker: SHOP\nqueues: {IN: {}, OUT: {}}\nexecutionGroups: {eg: [F.yaml]}\n"


def test_programs_under_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """IBM's programs print BIP lines, and end with the last two digits of the message's number."""
    home = tmp_path / "home" / "SHOP"
    files = {"FLOW": str(flow(home, "F")), "BROKEN": str(flow(tmp_path, "H", program="SET OutputRoot. = ;"))}
    files["VALUE"] = str(home / "value.txt")
    (home / "broker.yaml").write_text(SHOP, encoding="utf-8")
    (home / "value.txt").write_text("3\n", encoding="utf-8")
    monkeypatch.setenv("PENSTOCK_HOME", str(home.parent))
    monkeypatch.chdir(tmp_path)
    for words, code, said in IBM:
        monkeypatch.setattr(sys, "argv", [files.get(word, word) for word in words])
        with pytest.raises(SystemExit) as ended:
            mqsi.main()
        shown = capsys.readouterr()
        assert (code, True) == (ended.value.code, said in shown.out + shown.err), (words, shown)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "BIP1325I: Integration node 'N' with administration URI 'file://"),
        (
            ("-q", "QM1"),
            "BIP1284I: Integration node 'N' with default queue manager 'QM1' and administration URI 'file://",
        ),
    ],
)
def test_a_broker_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, flags, said) -> None:
    """The list of brokers tells the queue manager of a broker that was given one, and never fails over it."""
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path))
    monkeypatch.setattr(Broker, "runs", True)
    for words in (("mqsicreatebroker", "N", *flags), ("mqsilist", "N")):
        monkeypatch.setattr(sys, "argv", list(words))
        with pytest.raises(SystemExit) as ended:
            mqsi.main()
        assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert said in shown
    assert "' is running.\n" in shown
    (tmp_path / "N" / "queues" / "queue-manager.json").write_text("{")
    with pytest.raises(SystemExit) as ended:
        mqsi.main()
    assert (0, True) == (ended.value.code, "BIP1325I" in capsys.readouterr().out)
