"""A parser that a file outside the package declares, with element types of its own, which programs name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.command_line import ROOT

FILE = '''"""A domain of lines: a name, a colon and a value; or a remark."""

from types import MappingProxyType

from engine.parser import Form, Parser, Portion, parser
from engine.tree.element import Element

LINE, REMARK, QUOTED = 0x03000001, 0x02000001, 0x03000003


@parser
class Lines(Parser):
    """Writes lines; QUOTED is a line whose value stands in quotes."""

    __slots__ = ()
    name = "Lines"
    type_names = MappingProxyType({LINE: "Line", REMARK: "Remark", QUOTED: "Quoted"})
    constants = MappingProxyType({"Line": LINE, "Remark": REMARK, "Quoted": QUOTED, "Note": REMARK})
    accepted = MappingProxyType({"Line": ((0xFFFFFFFD, LINE),)})
    valued_type = LINE

    def write(self, element: Element, form: Form) -> bytes:
        return "".join(_line(child) for child in element).encode()


def _line(child: Element) -> str:
    if child.type == REMARK:
        return f"# {child.value}\\n"
    return f'{child.name}: "{child.value}"\\n' if child.type == QUOTED else f"{child.name}: {child.value}\\n"
'''
PROGRAM = """
import own_parser
from esql.compile import problems_in
from tests.esql.programs import gives

SOURCE = '''
CREATE LASTCHILD OF OutputRoot DOMAIN('Lines') NAME 'Lines';
SET OutputRoot.Lines.(Lines.Note)* = 'one';
CREATE LASTCHILD OF OutputRoot.Lines TYPE LINES.Quoted NAME 'b' VALUE 'two';
SET OutputRoot.Lines.c = CARDINALITY(OutputRoot.Lines.(Lines.Line)*[]);
'''
print(*gives(SOURCE, "own.esql"))
print(problems_in([("wrong.esql", "SET Environment.a = Lines.Quotd;")])[0].text)
"""
EXPECTED = """\
out|# one
b: "two"
c: 1

LINES has no element type Quotd; did you mean Quoted?
"""


def test_own_parser(tmp_path: Path) -> None:
    """Its element types and their synonyms are found where the parser is, by checks and by paths."""
    (tmp_path / "own_parser.py").write_text(FILE)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (EXPECTED, "") == (done.stdout, done.stderr)
