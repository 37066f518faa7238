"""What is said about flow files that are wrong: tests/problems/flows/*.yaml, each with what is expected of it.

The comment that a file begins with is what reading and lint say of it, as a user sees it; `# with: file` names another
file that is examined along with it. `pytest --accept` rewrites these comments with what is found now; look at the
difference before you commit it. A new case is a new file, without its comment, and `pytest --accept`.
"""

from pathlib import Path

import pytest

from flows.files import load
from tests.flows.samples import sample_nodes

CASES = Path(__file__).resolve().parent.parent / "problems" / "flows"
WITH = "# with: "
LEAD = "# "


def found(name: str) -> str:
    """The comment that belongs at the beginning of a file."""
    others = [line.removeprefix(WITH) for line in Path(name).read_text("utf-8").splitlines() if line.startswith(WITH)]
    rendered = "\n".join(problem.render() for problem in load(name, *others).lint(sample_nodes))
    lines = [WITH + other for other in others] + [(LEAD + line).rstrip() for line in rendered.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def expected(text: str) -> str:
    lines = text.splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:end])


def rewrite(file: Path) -> None:
    """Write what is found to the file, until the comment names the lines that it moves the rest to."""
    for _ in range(3):
        text = file.read_text("utf-8")
        file.write_text(found(file.name) + text.removeprefix(expected(text)), "utf-8")


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("*.yaml")))
def test_problems(name: str, accept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong flow file gives exactly the problems that it says it has."""
    monkeypatch.chdir(CASES)
    if accept:
        rewrite(CASES / name)
    assert found(name) == expected((CASES / name).read_text("utf-8"))
    assert found(name), "a case has problems"
