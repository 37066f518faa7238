"""No password is in what a failure says, wherever it happens."""

from __future__ import annotations

import logging
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.command_line import penstock
from tests.databases.server import PASSWORD, Server
from tests.databases.test_flows import INSERT, flow_in

FORMS = (PASSWORD, quote(PASSWORD, safe=""), PASSWORD.split("/", maxsplit=1)[0])
WRONG = "wr0ng/p@ss"
CASES = "flow: ../stock.yaml\ncases: [{name: one, input: ../1.xml, expect: {queues: {OUT: [{}]}}}]\n"

# What may be wrong with the data sources of a broker file, with a password where it should not be.
BROKER_FILES = [
    "dataSources: {DB: {url: 'SECRET'}}",
    "dataSources: {DB: 'postgresql://me:SECRET@host/db'}",
    "dataSources: {DB: ['postgresql://me:SECRET@host/db']}",
    "dataSources: {DB: {url: 'postgresql://me:SECRET@host/db', user: me, password: {env: NOT_SET}}}",
    "dataSources: {DB: {url: 'postgresql://me@host/db?password=SECRET'}}",
    "dataSources: {DB: {url: 'postgresql://host/db', password: 'SECRET'}}",
    "dataSources: {DB: {url: 'postgresql://host/db', password: {env: 'SECRET', file: a}}}",
    "dataSources: {DB: {url: 'postgresql://host/db', pasword: 'SECRET'}}",
    "dataSources: {DB: {url: 'postgresql://me:SECRET@host/db'}",
    "dataSources: {DB: {url: 'postgresql://me:SECRET@host/db}}",
    "dataSources: {DB: {url: 'nosuch://me:SECRET@host/db'}}",
    "dataSources: {DB: {url: 'mssql+pyodbc://me@host/db?PWD=SECRET'}}",
]


def urls(server: Server) -> dict[str, str]:
    """URLs that fail, each in another way, and one that does not."""
    where = f"?host={server.folder}"
    return {
        "right": f"postgresql+psycopg://secretive:{quote(PASSWORD, safe='')}@/postgres{where}",
        "wrong": f"postgresql+psycopg://secretive:{quote(WRONG, safe='')}@/postgres{where}",
        "nowhere": f"postgresql+psycopg://secretive:{quote(PASSWORD, safe='')}@/postgres?host=/nowhere",
        "no port": f"postgresql+psycopg://secretive:{quote(PASSWORD, safe='')}@localhost:notaport/postgres",
        "no host": f"postgresql+psycopg://secretive:{quote(PASSWORD, safe='')}@127.0.0.1:1/postgres",
        "no database": f"postgresql+psycopg://secretive:{quote(PASSWORD, safe='')}@/nothing{where}",
        "unquoted": f"postgresql+psycopg://secretive:{PASSWORD}@/postgres{where}",
        "odd": f"postgresql+psycopg://secretive:{quote(PASSWORD, safe='')}@/postgres{where}&nosuch={PASSWORD[:6]}",
        "in the query": f"postgresql+psycopg://secretive@/nothing{where}&password={quote(PASSWORD, safe='')}",
        "no dialect": f"nosuch://secretive:{PASSWORD}@host/db",
        "no driver": f"oracle+oracledb://secretive:{PASSWORD}@host/db",
        "no url": PASSWORD,
    }  # fmt: skip


@pytest.mark.database
def test_failures_keep_it(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Commands that fail to connect, or whose statements fail, say everything but the password."""
    caplog.set_level(logging.DEBUG)
    flow = flow_in(tmp_path, INSERT.format(1), INSERT.format(2))
    (tmp_path / "a.esql").write_text("DELETE FROM Database.ITEMS;", "utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "one.yaml").write_text(CASES, "utf-8")
    for name, url in urls(server).items():
        file = tmp_path / "url"
        file.write_text(url, "utf-8")
        for mode in (0o600, 0o644):
            file.chmod(mode)
            for option in (f"DB={url}", f"DB=@{file}"):
                for command in (
                    ("data-source", "test", "DB", "--data-source", option),
                    ("data-source", "list", "--data-source", option, "--json"),
                    ("esql", "show", str(tmp_path / "a.esql"), "--data-source", option),
                    ("flow", "lint", str(flow), "--data-source", option),
                    ("test", str(tmp_path / "tests"), "--data-source", option),
                    ("esql", "eval", "THE(PASSTHRU('SELEC nonsense'))", "--data-source", option),
                    ("run", str(flow), "--input", str(tmp_path / "1.xml"), "--output", str(tmp_path / "out"),
                     "--trace", "debug", "--data-source", option),
                ):  # fmt: skip
                    ended = penstock(capsys, *command)
                    said = ended.out + ended.err + caplog.text
                    assert not [form for form in (*FORMS, WRONG, quote(WRONG, safe="")) if form in said], (
                        name,
                        command,
                    )
                    assert "Traceback" not in said
                    assert ended.code == 0 or ended.out + ended.err
                    caplog.clear()


@pytest.mark.parametrize("text", BROKER_FILES)
def test_broker_files_keep_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    """A broker file with a password in it is refused, and the line with the password is not shown."""
    flow_in(tmp_path, "SET OutputRoot = InputRoot;", "SET OutputRoot = InputRoot;")
    file = tmp_path / "broker.yaml"
    for secret in ("s3cret", "s3cret/p@ss w%rd"):
        file.write_text(
            "broker: B\nexecutionGroups: {default: [stock.yaml]}\n" + text.replace("SECRET", secret), "utf-8"
        )
        for command in (
            ("flow", "lint", str(file)),
            ("broker", "create", str(tmp_path)),
            ("spark", "run", str(file), "--messages", str(tmp_path / "1.xml"), "--output", str(tmp_path), "--dry-run"),
        ):
            ended = penstock(capsys, *command)
            assert "s3cret" not in ended.out + ended.err
            assert (1, True) == (ended.code, bool(ended.out + ended.err))
