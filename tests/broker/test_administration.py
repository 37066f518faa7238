"""Brokers that do not run: created, deployed to, refused, rolled back and deleted by commands."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.broker import queues
from engine.broker.definition import Grant
from engine.broker.folder import Folder
from engine.broker.user_rights import Rights, is_granted, system_user
from engine.errors import BrokerError
from tests.broker.running import flow
from tests.cli.command_line import penstock


@pytest.fixture
def shop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A broker with a flow F, which does not run."""
    folder = str(tmp_path / "shop")
    assert 0 == penstock(capsys, "broker", "init", folder, str(flow(tmp_path, "F"))).code
    assert 0 == penstock(capsys, "broker", "create", folder).code
    return folder


def test_life_of_a_broker(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broker is created once, deployed to, rolled back and deleted; its broker.yaml stays."""
    assert "BIP8087" in penstock(capsys, "broker", "create", shop).err
    g = str(flow(tmp_path, "G"))
    said = json.loads(penstock(capsys, "deploy", shop, g, "--dry-run", "--json").out)
    assert [("new", "G")] == [(change["change"], change["flow"]) for change in said["changes"]]
    assert 0 == penstock(capsys, "deploy", shop, g).code
    assert 0 == penstock(capsys, "deploy", shop, g, "--complete").code
    assert ["G"] == flows(capsys, shop)
    assert 0 == penstock(capsys, "rollback", shop).code
    assert ["F", "G"] == flows(capsys, shop)
    assert 0 == penstock(capsys, "undeploy", shop, "F").code
    assert ["G"] == flows(capsys, shop)
    assert 0 == penstock(capsys, "broker", "delete", shop).code
    assert ["broker.yaml"] == os.listdir(shop)


def flows(capsys: pytest.CaptureFixture[str], shop: str) -> list[str]:
    return [row["flow"] for row in json.loads(penstock(capsys, "flow", "list", shop, "--json").out)]


QUEUES = (
    "DEFINE QLOCAL(IN) BOTHRESH(3) BOQNAME(BACK) NOHARDENBO\nDEFINE QLOCAL(BACK)\nDEFINE QALIAS(OUT) TARGET(BACK)\n"
)


def test_export_has_the_queues_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Queues that MQSC has defined are part of an export, so that another broker is made of it, and Spark runs it."""
    script, one, other = tmp_path / "queues.mqsc", str(tmp_path / "one"), str(tmp_path / "other")
    script.write_text(QUEUES, encoding="utf-8")
    assert 0 == penstock(capsys, "broker", "create", one).code
    assert 0 == penstock(capsys, "mqsc", str(script), "--broker", one).code
    assert 0 == penstock(capsys, "deploy", one, str(flow(tmp_path, "F"))).code
    assert 0 == penstock(capsys, "broker", "export", one, other).code
    created = penstock(capsys, "broker", "create", other)
    assert (0, "") == (created.code, created.err)
    said = [json.loads(penstock(capsys, "broker", "export", folder, "--json").out)["queues"] for folder in (one, other)]
    expected = {"IN": {"BOTHRESH": 3, "BOQNAME": "BACK", "HARDENBO": False}, "BACK": {}, "OUT": {"TARGET": "BACK"}}
    assert [expected, expected] == said


def test_differences_are_named(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What broker.yaml says otherwise is named until it is deployed, and attributes of queues then by the doctor."""
    file = Path(shop, "broker.yaml")
    text = file.read_text(encoding="utf-8").replace("IN: {}", "IN: {MAXDEPTH: 7}").replace("QM", "OTHER")
    file.write_text(f"{text}log: json\ndataSources: {{S: 'sqlite:///s.db'}}\n", encoding="utf-8")
    said = json.loads(penstock(capsys, "broker", "show", shop, "--json").out)["differences"]
    assert [
        "broker.yaml gives another queueManager than the repository",
        "broker.yaml gives other dataSources than the repository",
        "broker.yaml gives another log than the repository",
        "broker.yaml gives other attributes than the repository to IN",
    ] == said
    assert 0 == penstock(capsys, "deploy", shop, str(file)).code
    shown = json.loads(penstock(capsys, "broker", "show", shop, "--json").out)
    assert (said[:1], "QM") == (shown["differences"], shown["queueManager"])
    told = penstock(capsys, "broker", "doctor", shop).out
    assert "the queue IN has MAXDEPTH(999999999), where the broker's definition says 7" in told


def test_instances_are_exported_where_they_were_said(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An export says additionalInstances where the broker was told them; else Spark deals the flow over all cores."""

    def exported() -> object:
        return json.loads(penstock(capsys, "broker", "export", shop, "--json").out)["executionGroups"]["default"][0]

    def differs() -> list[str]:
        return list(json.loads(penstock(capsys, "broker", "show", shop, "--json").out)["differences"])

    assert (True, []) == (isinstance(exported(), str), differs())
    assert 0 == penstock(capsys, "change-properties", shop, "F", "copies=2").code
    assert {"flow", "copies"} == set(dict(exported()))  # type: ignore[call-overload]
    assert 0 == penstock(capsys, "change-properties", shop, "F", "copies=1", "additionalInstances=0").code
    assert 0 == dict(exported())["additionalInstances"]  # type: ignore[call-overload]
    assert ["default/F has other properties than broker.yaml gives it"] == differs()
    assert 0 == penstock(capsys, "change-properties", shop, "F", "Out.newMsgId=true").code
    assert 0 == dict(exported())["additionalInstances"]  # type: ignore[call-overload]


UNKNOWN_GROUP = (
    ("flow", "list"),
    ("flow", "stop"),
    ("stats",),
    ("rollback",),
    ("report-properties", "F"),
    ("trace", "F"),
)


@pytest.mark.parametrize("command", UNKNOWN_GROUP, ids=" ".join)
def test_unknown_groups_are_refused(shop: str, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A group that a broker does not have is named as that, by all commands that take one."""
    words, flows_of = (command[:1], command[1:]) if command[0] != "flow" else (command, ())
    refused = penstock(capsys, *words, shop, *flows_of, "-e", "defualt")
    assert 1 == refused.code
    assert "shop has no execution group defualt; did you mean default?" in refused.err


def test_one_form_of_statistics(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Records are printed in one form; who asks for two is told."""
    refused = penstock(capsys, "stats", shop, "--csv", "--xml")
    assert (1, "") == (refused.code, refused.out)
    assert "--xml and --csv are forms of the same records" in refused.err


def test_flow_that_is_stopped_already(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The history says of a command that changed nothing what it was for."""
    for _ in range(2):
        assert 0 == penstock(capsys, "flow", "stop", shop, "F").code
    said = json.loads(penstock(capsys, "broker", "history", shop, "--json").out)
    assert ["default/F", "F, as before"] == [entry["what"] for entry in said if entry["action"] == "stop"]


def test_messages_are_not_deleted(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A broker with messages is only deleted with --purge."""
    assert 0 == penstock(capsys, "put", "IN", "--text", "x", "--broker", shop).code
    refused = penstock(capsys, "broker", "delete", shop)
    assert (1, True) == (refused.code, "hold 1 message" in refused.err)
    assert 0 == penstock(capsys, "broker", "delete", shop, "--purge").code


def test_broken_flow_changes_nothing(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file that does not compile keeps all others from being deployed."""
    before = penstock(capsys, "broker", "show", shop, "--json").out
    files = [str(flow(tmp_path, "G")), str(flow(tmp_path, "H", program="SET OutputRoot. = ;"))]
    assert 1 == penstock(capsys, "deploy", shop, *files).code
    assert before == penstock(capsys, "broker", "show", shop, "--json").out


def test_two_who_deploy(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who deploys while another does is refused, and told who that is."""
    with Folder(Path(shop)).changing():
        refused = penstock(capsys, "deploy", shop, str(flow(tmp_path, "G")))
    assert (1, True) == (refused.code, f"{system_user()} (process {os.getpid()}) is changing" in refused.err)
    assert 0 == penstock(capsys, "deploy", shop, str(flow(tmp_path, "G"))).code


def test_deployments_leave_the_store_alone(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written to the queue manager's store, which may be full, where a deployment defines nothing new."""
    monkeypatch.setattr("engine.mq.QueueManager.alter", lambda *_: pytest.fail("the store is written"))
    assert 0 == penstock(capsys, "deploy", shop, str(flow(tmp_path, "G"))).code


def test_broken_repository(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A repository that is damaged is named, with what to do; nothing is written to it."""
    repository = Path(shop, "repository.sqlite")
    repository.write_bytes(b"damaged" * 1000)
    for command in (("broker", "show", shop), ("deploy", shop, "x.yaml"), ("broker", "start", shop, "--detach")):
        refused = penstock(capsys, *command)
        assert (1, True) == (refused.code, "repository" in refused.err or "x.yaml" in refused.err)
    assert b"damaged" * 1000 == repository.read_bytes()


DAMAGES = {
    "no text": "UPDATE history SET what = CAST(x'c3f4' AS TEXT)",
    "no JSON": "UPDATE flows SET use = '{'",
    "another structure": "UPDATE flows SET use = '[]'",
    "no table": "DROP TABLE flows",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_rows(shop: str, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a repository's rows hold, a line names the repository, and says what to do."""
    _execute(shop, damage)
    said = [penstock(capsys, "broker", command, shop) for command in ("show", "history")]
    assert [line for one in said for line in one.err.splitlines()] == [
        line for one in said for line in one.err.splitlines() if "BIP8081: the repository sqlite://" in line
    ]
    assert any(one.code for one in said)


def test_damaged_content(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Content that is not what its hash says is not run, until its flow is deployed anew."""
    _execute(shop, "UPDATE contents SET data = CAST(replace(CAST(data AS TEXT), 'OUT', 'IN') AS BLOB)")
    refused = penstock(capsys, "broker", "start", shop, "--detach")
    assert (1, True) == (refused.code, "is damaged in the repository sqlite://" in refused.err)
    assert "FAIL default/F cannot be built" in penstock(capsys, "broker", "doctor", shop).out
    assert 0 == penstock(capsys, "deploy", shop, str(flow(tmp_path, "F"))).code
    assert "FAIL" not in penstock(capsys, "broker", "doctor", shop).out


def test_a_broker_of_another_user(
    shop: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broker that runs for another user is listed as running, and says at once whose it is."""
    Path(shop, "control").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Folder(Path(shop)).hold():
        assert "default/F: running" in penstock(capsys, "flow", "list", shop).out
        assert f"FAIL {system_user()} cannot write in {shop}" in penstock(capsys, "broker", "doctor", shop).out
        refused = penstock(capsys, "flow", "stop", shop)
    assert (1, True) == (refused.code, f"runs for {system_user()}: ask it as that user" in refused.err)


def test_a_folder_that_is_copied(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The copy of a broker's folder, and one that was moved, is a broker by itself, which changes no other."""
    copy, moved = str(tmp_path / "copy"), str(tmp_path / "moved")
    shutil.copytree(shop, copy)
    assert 0 == penstock(capsys, "undeploy", copy, "F").code
    assert ([], ["F"]) == (flows(capsys, copy), flows(capsys, shop))
    shutil.move(shop, moved)
    assert ["F"] == flows(capsys, moved)
    identity = Path(moved, "identity.json")
    identity.write_text(json.dumps({"name": "shop", "repository": f"sqlite:///{shop}/repository.sqlite"}), "utf-8")
    assert ["F"] == flows(capsys, moved)


def _execute(shop: str, statement: str) -> None:
    with closing(sqlite3.connect(Path(shop, "repository.sqlite"))) as database:
        database.execute(statement)
        database.commit()


def test_shared_variables(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A flow that declares SHARED variables has threads, and deploy and report-properties say so."""
    (tmp_path / "s.esql").write_text(
        "CREATE COMPUTE MODULE S DECLARE n SHARED INTEGER 0; CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN"
        " SET n = n + 1; SET OutputRoot = InputRoot; RETURN TRUE; END; END MODULE;",
        encoding="utf-8",
    )
    file = str(flow(tmp_path, "S", program="S"))
    assert "declares SHARED" in penstock(capsys, "deploy", shop, file).out
    assert 0 == penstock(capsys, "change-properties", shop, "S", "additionalInstances=1").code
    said = json.loads(penstock(capsys, "report-properties", shop, "S", "--json").out)
    assert "2 threads of one process, as it declares SHARED variables" == said["instances"]


def test_rights_bind_everyone(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list of rights binds also who owns the folder; nothing changes for who has none."""
    file = Path(shop, "broker.yaml")
    file.write_text(file.read_text("utf-8") + f"rights: [{{user: {system_user()}, may: [read, deploy]}}]\n", "utf-8")
    assert 0 == penstock(capsys, "deploy", shop, str(file)).code
    refused = penstock(capsys, "flow", "stop", shop, "F")
    assert (1, True) == (refused.code, f"{system_user()} has no right to operate" in refused.err)
    refused = penstock(capsys, "broker", "start", shop, "--detach")
    assert (1, True) == (refused.code, f"BIP2035: {system_user()} has no right to operate" in refused.err)
    file.write_text(file.read_text("utf-8").replace(", deploy]", "]"), "utf-8")
    assert 0 == penstock(capsys, "deploy", shop, str(file)).code
    assert 1 == penstock(capsys, "deploy", shop, str(flow(tmp_path, "G"))).code
    assert 0 == penstock(capsys, "broker", "show", shop).code


def test_rights_to_a_group_are_none_to_the_broker(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Who may deploy to a group changes its flows by a broker file, and nothing else, such as rights or limits."""
    file = Path(shop, "broker.yaml")
    text = file.read_text("utf-8")
    own = f"rights:\n- {{user: {system_user()}, may: [read, deploy], executionGroup: default}}\n"
    file.write_text(text + own, "utf-8")
    assert 0 == penstock(capsys, "deploy", shop, str(file)).code
    assert 0 == penstock(capsys, "deploy", shop, str(file)).code
    for more in (text + own.replace(", executionGroup: default", ""), text + own + "stopSeconds: 7\n"):
        file.write_text(more, "utf-8")
        refused = penstock(capsys, "deploy", shop, str(file))
        assert (1, True) == (refused.code, f"{system_user()} has no right to deploy on shop:" in refused.err)


def test_all_that_a_broker_file_changes_is_told(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A deployment of a broker file names queues, rights and settings that are others, with --dry-run too."""
    file = Path(shop, "broker.yaml")
    text = file.read_text("utf-8").replace("queues:\n", "queues:\n  EXTRA: {MAXDEPTH: 7}\n", 1)
    file.write_text(text + "stopSeconds: 7\nlog: json\n", "utf-8")
    expected = ["+ queue EXTRA: new", "~ log: changed", "~ stopSeconds: changed"]
    assert ["= default/F: unchanged", *expected] == penstock(
        capsys, "deploy", shop, str(file), "--dry-run"
    ).out.splitlines()
    assert expected == json.loads(penstock(capsys, "deploy", shop, str(file), "--json").out)["others"]
    assert [] == json.loads(penstock(capsys, "deploy", shop, str(file), "--json").out)["others"]
    assert "+queue EXTRA, ~log, ~stopSeconds" in penstock(capsys, "broker", "history", shop).out


def test_locks_are_for_whoever_may_write(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever may write in the folder of a broker can deploy behind another user, and start it."""
    Path(shop).chmod(0o777)
    assert 0 == penstock(capsys, "undeploy", shop, "F").code
    with Folder(Path(shop)).hold():
        modes = [Path(shop, name).stat().st_mode & 0o777 for name in ("deploying", "lock")]
    assert [0o666, 0o666] == modes


class Refusing:
    """A queue manager that lets nobody connect."""

    @staticmethod
    def connect(folder: Path, wait: float) -> None:
        """Refuses."""
        raise BrokerError(2035, "you have no authority")


def test_refused_users_do_not_wait(shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not connect with the queue manager is told at once, as waiting does not help."""
    monkeypatch.setattr(queues, "queue_managers", lambda: Refusing)
    begun = time.monotonic()
    with Folder(Path(shop)).hold(), pytest.raises(BrokerError, match="2035"), queues.reached(Folder(Path(shop))):
        pass
    assert time.monotonic() - begun < 5


def test_flows_stop_without_queues(
    shop: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who may operate a broker needs no authority for its queues, nor does the queue manager have to be there."""
    monkeypatch.setattr(queues, "reached", lambda _: pytest.fail("the queue manager is asked"))
    assert 0 == penstock(capsys, "flow", "stop", shop, "F").code
    assert 0 == penstock(capsys, "trace", shop, "F", "--level", "debug").code
    assert 0 == penstock(capsys, "stats", shop, "F", "--level", "nodes").code


GRANTED = [
    (Grant("ada", ("read",)), "read", "", True),
    (Grant("ada", ("read",)), "deploy", "", False),
    (Grant("ada", ("deploy",), group="G"), "deploy", "G", True),
    (Grant("ada", ("deploy",), group="G"), "deploy", "H", False),
    (Grant("ops", ("deploy",), is_group=True), "deploy", "H", True),
    (Grant("ops", ("deploy",)), "deploy", "H", False),
]


@pytest.mark.parametrize(("grant", "right", "group", "granted"), GRANTED)
def test_what_a_grant_covers(grant: Grant, right: str, group: str, granted: bool) -> None:
    """A grant is for a user or a group of users, and for all of a broker or a part of it."""
    assert granted == is_granted([grant], "ada", frozenset({"ops"}), right, group)  # type: ignore[arg-type]


def test_groups_from_a_file(tmp_path: Path) -> None:
    """Groups of users come from a file where one is named, and are read again when it has changed."""
    users = tmp_path / "users.yaml"
    rights = Rights((Grant("ops", ("operate",), is_group=True),), "B", str(users))
    users.write_text("ada: [ops]\nbob: []\n", encoding="utf-8")
    rights.demand("operate", user="ada")
    with pytest.raises(BrokerError, match="bob has no right to operate"):
        rights.demand("operate", user="bob")


def test_a_folder_that_is_no_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name means the broker below PENSTOCK_HOME, unless a folder of that name here is itself a broker's."""
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert 0 == penstock(capsys, "broker", "create", "shop").code
    (tmp_path / "shop" / "src").mkdir(parents=True)

    def shown(name: str) -> str:
        return str(json.loads(penstock(capsys, "broker", "show", name, "--json").out)["folder"])

    assert str(tmp_path / "home" / "shop") == shown("shop")
    assert 0 == penstock(capsys, "put", "SYSTEM.DEAD.LETTER.QUEUE", "--text", "x", "--broker", "shop").code
    refused = penstock(capsys, "broker", "show", "./shop")
    assert (1, True) == (refused.code, f"there is no broker ./shop: {tmp_path / 'shop'} is none;" in refused.err)
    assert 0 == penstock(capsys, "broker", "create", "shop").code
    assert ["src"] == [entry.name for entry in (tmp_path / "shop").iterdir() if entry.name == "src"]
    assert str(tmp_path / "shop") == shown("shop")
    assert "" == penstock(capsys, "get", "SYSTEM.DEAD.LETTER.QUEUE", "--broker", "shop").out
    assert "x\n" == penstock(capsys, "get", "SYSTEM.DEAD.LETTER.QUEUE", "--broker", str(tmp_path / "home/shop")).out
