"""penstock test: what is printed and written, for files, folders and names, and how it ends."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as XmlTree

import pytest

from tests.cli.command_line import penstock

FLOW = """flow: F
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Is: {type: Filter, filterExpression: Is}
  Yes: {type: MQOutput, queueName: YES}
wires:
  - In.out -> Is
  - Is.true -> Yes
"""
ESQL = """CREATE FILTER MODULE Is
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    IF Root.XMLNSC.a = 'x' THEN
      RETURN TRUE;
    END IF;
    RETURN FALSE;
  END;
END MODULE;
"""
CASES = """flow: ../f.yaml
cases:
  - {name: it is, input: {body: <a>x</a>}, expect: {queues: {YES: 1}}}
  - {name: it is not, input: {body: <a>y</a>}, expect: {queues: {YES: 1}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a flow and its tests, in which commands run."""
    (tmp_path / "tests").mkdir()
    for name, text in {"f.yaml": FLOW, "f.esql": ESQL, "tests/f.yaml": CASES}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", [".", "tests", "tests/f.yaml", "f.yaml"])
@pytest.mark.usefixtures("folder")
def test_what_is_printed(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Cases are found by their file, their folder, or their flow; each is shown, with what is not as expected."""
    ended = penstock(capsys, "test", path)
    expected = """tests/f.yaml
  ok    it is
  FAIL  it is not
      queue YES  (tests/f.yaml:4:66)
        expected 1 message, found 0
2 cases: 1 passed, 1 failed, in """
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith(expected), ended.out


@pytest.mark.usefixtures("folder")
def test_some_cases(capsys: pytest.CaptureFixture[str]) -> None:
    """-k chooses by a part of the name; a part that no name has is a mistake."""
    assert penstock(capsys, "test", ".", "-k", "IS NOT").code == 1
    ended = penstock(capsys, "test", ".", "-k", "f.yaml::it is ", "--json")
    assert [case["name"] for case in json.loads(ended.out)["cases"]] == ["it is not"]
    ended = penstock(capsys, "test", ".", "-k", "other")
    assert (ended.code, ended.err) == (1, "penstock: BIP2066: no case has other in its name: 2 have other names\n")


@pytest.mark.usefixtures("folder")
def test_data(capsys: pytest.CaptureFixture[str]) -> None:
    """--json gives the same as data."""
    found = json.loads(penstock(capsys, "test", ".", "--json", "--coverage").out)
    assert (found["passed"], found["failed"], found["problems"]) == (1, 1, [])
    failure = found["cases"][1]["failures"][0]
    assert (failure["subject"], failure["differences"]) == ("queue YES", ["expected 1 message, found 0"])
    assert found["coverage"] == {"f.esql": {"lines": [4, 5, 7], "missing": []}}


def test_junit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--junit writes a suite a file, a case a test, and what is wrong as text."""
    penstock(capsys, "test", ".", "--junit", "out.xml")
    top = XmlTree.parse(folder / "out.xml").getroot()  # noqa: S314  # what was just written
    (suite,) = top
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [case.get("name") for case in top.iter("testcase")] == ["it is", "it is not"]
    assert [text.text for text in top.iter("failure")] == [
        "queue YES  (tests/f.yaml:4:66)\n  expected 1 message, found 0"
    ]


SUITES = {"name", "id", "package", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time"}


def test_junit_by_the_schemas(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The XML has what Ant's schema asks for, and nothing that Jenkins' does not know."""
    (folder / "tests" / "g.yaml").write_text(CASES.replace("f.yaml", "broken.yaml"))
    (folder / "broken.yaml").write_text("flow: B\nnodes: {N: {type: Nix}}\n")
    (folder / "tests" / "h.yaml").write_text(CASES.replace("expect:", "expct:"))
    assert penstock(capsys, "test", ".", "--junit", "out.xml").code == 1
    top = XmlTree.parse(folder / "out.xml").getroot()  # noqa: S314  # what was just written
    assert (top.tag, top.attrib) == ("testsuites", {})
    assert [suite.get("name") for suite in top] == ["tests/f.yaml", "tests/g.yaml", "tests/h.yaml"]
    assert "a case has no expct; did you mean expect?" in "".join(top[2].itertext())
    for number, suite in enumerate(top):
        assert set(suite.attrib) == SUITES
        assert suite.get("id") == str(number)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", ""))
        order = [child.tag for child in suite]
        assert order == ["properties", *["testcase"] * int(suite.get("tests", "")), "system-out", "system-err"]
        for case in suite.iter("testcase"):
            assert set(case.attrib) == {"name", "classname", "time"}
            assert all(set(one.attrib) == {"message", "type"} for one in case)
        for kind, count in (("failure", "failures"), ("error", "errors")):
            assert len(list(suite.iter(kind))) == int(suite.get(count, ""))


@pytest.mark.usefixtures("folder")
def test_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    """--coverage shows for each file of ESQL which statements did not run, whatever the cases say."""
    ended = penstock(capsys, "test", ".", "--coverage", "-k", "it is not")
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["f.esql", "3", "1", "67%", "5"] in lines


@pytest.mark.usefixtures("folder")
def test_coverage_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without coverage.py the option says what to install."""
    monkeypatch.setitem(sys.modules, "coverage", None)
    ended = penstock(capsys, "test", ".", "--coverage")
    assert (ended.code, ended.out) == (1, "")
    assert "--coverage needs coverage.py, which is not installed: pip install 'penstock[coverage]'" in ended.err


def test_a_file_that_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Problems of a test file are shown with their lines; what other files hold is run."""
    (folder / "tests" / "g.yaml").write_text(CASES.replace("expect:", "expct:", 1))
    ended = penstock(capsys, "test", ".", "-k", "it is")
    assert ended.code == 1
    assert "tests/g.yaml:3:44: a case has no expct; did you mean expect?" in ended.err
    assert "2 cases: 1 passed, 1 failed, in " in ended.out
    assert ended.out.endswith("; 1 test file cannot be used\n")


def test_a_flow_that_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Problems of the flow and its ESQL are shown in the case that needs it, with their places."""
    (folder / "f.esql").write_text(ESQL.replace("FALSE", "FALS"))
    ended = penstock(capsys, "test", ".", "-k", "it is")
    assert ended.code == 1
    assert "f.esql:7:12: nothing called FALS is declared here" in ended.out


@pytest.mark.parametrize(
    ("path", "text"),
    [("none", "none does not exist: name a test file, a flow file or a folder"), ("empty", "empty has no tests")],
)
def test_nothing_to_test(path: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path without tests is a mistake, not a success."""
    (folder / "empty").mkdir()
    ended = penstock(capsys, "test", path)
    assert ended.code == 1
    assert text in ended.err
