"""Test files that are wrong: each problem with its line and column, and nothing run."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.testing.reading import read_cases

FLOW = "flow: F\nnodes:\n  In: {type: MQInput, queueName: IN}\n"
GOOD = "flow: f.yaml\ncases:\n  - {name: a, input: {body: x}, expect: {queues: {}}}\n"

WRONG = [
    ("", "1:1: the file is empty; a test file begins with `flow: ../name.yaml`"),
    ("flow: f.yaml\n", "1:1: a test file needs cases, a list: `cases:`, then `- name: ...`"),
    (GOOD.replace("cases", "case"), "2:1: a test file has no case; did you mean cases?"),
    (GOOD.replace("f.yaml", "g.yaml"), "1:7: there is no flow file g.yaml, seen from this file"),
    (GOOD.replace("expect: {queues: {}}", "expect: {}"), "3:41: expect says nothing; it may have queues, terminals"),
    (GOOD.replace(", expect: {queues: {}}", ""), "3:5: a case needs expect: what is to come out"),
    (GOOD.replace("queues: {}", "queue: {}"), "3:42: expect has no queue; did you mean queues?"),
    (GOOD.replace("queues: {}", "queues: {OUT: many}"), "3:56: OUT must be a whole number"),
    (GOOD.replace("body: x", "body: x, hex: 00"), "3:37: a message has one body; here are body and hex"),
    (GOOD.replace("body: x", "hex: 0"), "3:28: hex holds a character or a length that hex never has"),
    (GOOD.replace("body: x", "base64: '*'"), "3:31: base64 holds a character or a length that base64 never has"),
    (GOOD.replace("body: x", "file: none.xml"), "none.xml cannot be read: No such file or directory"),
    (GOOD.replace("body: x", "body: x, encoding: 99"), "3:42: 99 is no MQ encoding: 546 is little endian"),
    (GOOD.replace("body: x", "body: x, ccsid: 7"), "3:39: CCSID 7 is not one that can be converted"),
    (GOOD.replace("body: x", "body: x, domain: XLM"), "3:40: no parser is called XLM; did you mean XML?"),
    (GOOD.replace("body: x", "OuptutRoot.a: x"), "not with OuptutRoot; did you mean OutputRoot?"),
    (GOOD.replace("body: x", "Root..a: x"), "3:23: Root..a is no path such as OutputRoot.XMLNSC.Order"),
    (GOOD.replace("body: x", "Root.a: {b c: x}"), "3:32: b c is no path such as OutputRoot.XMLNSC.Order"),
    (GOOD.replace("body: x", "MQMD.Prioritt: 3"), "3:23: MQMD has no field Prioritt"),
    (GOOD.replace("body: x", "MQMD: {Prioritt: 3}"), "3:23: MQMD has no field Prioritt"),
    (GOOD.replace("body: x", "queue: IN, node: In"), "3:40: a message goes in by a queue or at a node, not by both"),
    (GOOD + GOOD.splitlines()[2] + "\n", "4:5: two cases are called a; rename one of them"),
    ("a: [\n", "not YAML"),
    ("flow: &x f\n", "&x is an anchor; test files have none"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.yaml").write_text(FLOW)
    return tmp_path


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_a_wrong_file(text: str, problem: str, folder: Path) -> None:
    """Each problem says its place, what is wrong, and what to do."""
    file = str(folder / "t.yaml")
    found = [str(one).replace(f"{file}:", "") for one in read_cases(text, file).problems]
    assert [one for one in found if problem in one], found


def test_a_good_file(folder: Path) -> None:
    """A file without a mistake has no problems."""
    assert read_cases(GOOD, str(folder / "t.yaml")).problems == ()
