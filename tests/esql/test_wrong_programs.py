"""What is said about programs that are wrong: tests/problems/esql/*.esql, each with what is expected of it.

The comment that a program begins with is what checking says of it, as a user sees it. `-- kind: FILTER` above it makes
the text that of a node's property rather than a file; `-- with: other.esql` names a file that is deployed along with
it. `pytest --accept` rewrites these comments with what is found now; look at the difference before you commit it. A new
case is a new file, without its comment, and `pytest --accept`.
"""

from pathlib import Path

import pytest

from esql.read import read_file, read_statements
from esql.scope import File, Library
from tests.esql.programs import check

CASES = Path(__file__).resolve().parent.parent / "problems" / "esql"
LEAD = "-- "
KIND = "-- kind: "
WITH = "-- with: "


def given(lines: list[str], lead: str) -> list[str]:
    return [line.removeprefix(lead) for line in lines if line.startswith(lead)]


def loaded(name: str, kind: str | None) -> File:
    text = (CASES / name).read_text("utf-8")
    return File(name, read_file(text, name) if kind is None else read_statements(text, name), text, kind)


def found(name: str) -> str:
    """The comment that belongs at the beginning of a program."""
    lines = (CASES / name).read_text("utf-8").splitlines()
    kinds, others = given(lines, KIND), given(lines, WITH)
    kind = kinds[0] if kinds else None
    file = loaded(name, kind)
    library = Library((file, *(loaded(other, None) for other in others)))
    rendered = "\n".join(f"{problem.render()}  {problem.kind}" for problem in check(file.program, kind, library))
    comment = [*(KIND + item for item in kinds), *(WITH + item for item in others)]
    comment += [(LEAD + line).rstrip() for line in rendered.splitlines()]
    return "".join(f"{line}\n" for line in comment)


def expected(text: str) -> str:
    lines = text.splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return "".join(lines[:end])


def rewrite(file: Path) -> None:
    """Write what is found to the file, until the comment names the lines that it moves the rest to."""
    for _ in range(3):
        text = file.read_text("utf-8")
        file.write_text(found(file.name) + text.removeprefix(expected(text)), "utf-8")


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("*.esql")))
def test_problems(name: str, accept: bool) -> None:
    """A wrong program gives exactly the problems that it says it has."""
    if accept:
        rewrite(CASES / name)
    assert found(name) == expected((CASES / name).read_text("utf-8"))
