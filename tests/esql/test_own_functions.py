"""A function that a file outside the package declares: checked, described and called as those of the manual are."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from esql import syntax
from esql.functions import function_catalog
from esql.runtime.invocation import Invocation
from esql.values.types import Bit, Number
from tests.cli.command_line import ROOT

FILE = '''"""Functions of one's own."""

from engine.tree.element import Element
from esql.functions import Nullable, Numeric, Same, String, function


@function("DOUBLED", grows=True)
def doubled(source: String, times: Numeric = 2) -> Same:
    """A string several times.

    `DOUBLED('ab') = 'abab'`
    """
    return source * times


@function("SOMETHING")
def something(value: Nullable) -> bool:
    """Whether a value is not NULL.

    `SOMETHING(NULL) = FALSE`
    """
    return value is not None


@function("DEPTH")
def depth(field: Element) -> int:
    """How many fields are above a field.

    `DEPTH(Environment.Order) = 1`
    """
    return 0 if field.parent is None else 1 + depth(field.parent)
'''
PROGRAM = """
import sys
import own_functions
from engine.cli import main
from esql.compile import problems_in
from tests.esql.programs import gives

SOURCE = '''
SET OutputRoot.XMLNSC.R.a = DOUBLED('ab');
SET OutputRoot.XMLNSC.R.b = LENGTH(doubled(X'01', 3)) + 1;
SET OutputRoot.XMLNSC.R.c = DOUBLED(CAST(NULL AS CHARACTER)) IS NULL;
SET OutputRoot.XMLNSC.R.d = SOMETHING(NULL);
SET OutputRoot.XMLNSC.R.e = DEPTH(OutputRoot.XMLNSC.R);
'''
print(*gives(SOURCE, "own.esql"))
for wrong in ("DOUBLED(5)", "DOUBLED('a', 1, 2)", "DOUBLD('a')", "DEPTH(5)"):
    print(problems_in([("wrong.esql", f"SET Environment.a = {wrong};")])[0].text)
sys.stdout.flush()
sys.argv = ["penstock", "describe", "function", "DOUBLED"]
main()
"""
EXPECTED = """\
out|<R><a>abab</a><b>4</b><c>true</c><d>false</d><e>2</e></R>
DOUBLED takes a string here, and this is an INTEGER: CAST it
DOUBLED takes 1 to 2 arguments, not 3
no function called DOUBLD; did you mean DOUBLED?
DEPTH takes a field reference here, and this is an INTEGER
DOUBLED
  A string several times.

  arguments  1 to 2; NULL for any argument makes the result NULL
    source: BIT or BLOB or CHARACTER
    times: DECIMAL or FLOAT or INTEGER; may be left out
  result  the type of its first argument
  examples
    DOUBLED('ab') = 'abab'
"""


def test_own_functions(tmp_path: Path) -> None:
    """What is declared in one file, elsewhere, is called, checked and described with nothing else to be edited."""
    (tmp_path / "own_functions.py").write_text(FILE)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (EXPECTED, "") == (done.stdout, done.stderr)


NUMBERS = [5, -5, 2.5, Decimal("2.50")]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("name", [n for n in function_catalog if function_catalog.find(n).result == "same"])
def test_results_are_of_the_type_of_the_first_argument(name: str, number: Number) -> None:
    """A function that says so gives a number of the type of that which it is given, and a string of that type."""
    found = function_catalog.find(name)
    firsts: list[Any] = [number] if "FLOAT" in found.place(0).types else ["abc", b"abc", Bit(3, 5)]
    for first in firsts:
        others = [1 if "FLOAT" in one.types or not one.types else first for one in found.places[1:] if one.required]
        here = {"here": Invocation()} if found.takes_invocation else {}
        assert type(first) is type(found.body(first, *others, **here))


@pytest.mark.parametrize(("kind", "name"), syntax.FORMS.items(), ids=lambda one: one if isinstance(one, str) else "")
def test_fields_of_forms_are_parameters(kind: type[syntax.Trim], name: str) -> None:
    """A form's fields are called as the parameters of its function, from which checks and emission read the types."""
    expected = {parameter.name for parameter in function_catalog.find(name).parameters}
    assert expected == {field.name for field in fields(kind)} - {"position"}
