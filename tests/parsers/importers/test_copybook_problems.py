"""What is said about copybooks that are wrong: tests/problems/copybooks/*.cpy, and what each is told beside it.

Beside each NAME.cpy stands NAME.txt with all its problems as a user sees them. `pytest --accept` rewrites these with
what is found now; look at the difference before you commit it.
"""

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from parsers.importers.copybook import read_copybook, read_text
from tests.limits import bounded

CASES = Path(__file__).resolve().parents[2] / "problems" / "copybooks"


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("*.cpy")))
def test_problems(name: str, accept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong copybook is told everything that is wrong with it, at once, each with its line and reason."""
    monkeypatch.chdir(CASES)
    with pytest.raises(ConfigurationException) as raised:
        read_copybook(Path(name))
    found = "".join(f"{problem.render()}\n" for problem in raised.value.problems)
    expected = Path(name).with_suffix(".txt")
    if accept:
        expected.write_text(found, "utf-8")
    assert expected.read_text("utf-8") == found


HOSTILE = {
    "an endless line": "01 R. 05 A PIC X VALUE '" + "a" * 1_000_000,
    "endless numbers": "01 R. 05 A PIC X(" + "9" * 60_000 + ").",
    "endless counts": "01 R. 05 A OCCURS " + "9" * 60_000 + " PIC X.",
    "an endless picture": "01 R. 05 A PIC " + "9" * 60_000 + ".",
    "tables in tables beyond all sizes": "01 R."
    + "".join(f"\n{level} A{level} OCCURS 99999." for level in range(2, 49))
    + "\n49 Z PIC X.",
    "nothing but quotes": "'" * 60_000,
    "nothing but parentheses": "(" * 60_000,
    "nothing but levels": "01 " * 20_000,
    "bytes that are no text": bytes(range(256)).decode("latin-1") * 100,
    "digits that are no numbers": "01 R. 05 A PIC X.\n\u00b3 B PIC X. 05 C OCCURS \u00b2 PIC X.",
    "a constant without a name": "01 R. 05 A PIC X. 78.",
    "endless continuation": "       01 R. 05 A PIC X VALUE 'a\n" + "      -    'b\n" * 20_000,
    "endless problems": "01 R.\n" + "05 A PIC Q.\n" * 20_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile(case: str) -> None:
    """A text that means harm is refused, in little time and with few words."""
    with pytest.raises(ConfigurationException) as raised:
        read_text("c.cpy", HOSTILE[case])
    assert 0 < len(raised.value.problems) <= 200
    assert all(len(problem.render()) < 100_000 for problem in raised.value.problems)


@pytest.mark.parametrize("text", ["REPLACE ALSO", "REPLACE ALSO ==A==", "01 A. REPLACE ALSO LEADING", "REPLACE OFF"])
def test_statements_that_end_too_soon(text: str) -> None:
    """A REPLACE that ends where more is wanted is a problem of the copybook."""
    with pytest.raises(ConfigurationException):
        read_text("c.cpy", text)


@pytest.mark.parametrize("leaf", ["", "* a comment", "05 A PIC X."])
def test_copies_that_copy_the_next_twice(leaf: str, tmp_path: Path) -> None:
    """Copybooks that copy the next twice are read once each, whatever they come to."""
    (tmp_path / "c0.cpy").write_text(f"       {leaf}\n")
    for number in range(1, 28):
        (tmp_path / f"c{number}.cpy").write_text(f"       COPY c{number - 1}.\n       COPY c{number - 1}.\n")
    with bounded(), pytest.raises(ConfigurationException):
        read_copybook(tmp_path / "c27.cpy")


def test_a_file_that_is_copied_twice_is_the_same_twice(tmp_path: Path) -> None:
    """What REPLACING takes out of one copy of a file is in the next."""
    (tmp_path / "part.cpy").write_text("05 :A:-X PIC X. 05 Y PIC X.")
    text = "01 R. COPY part REPLACING ==:A:== BY ==P== ==05 Y PIC X.== BY ====. COPY part REPLACING ==:A:== BY ==Q==."
    (tmp_path / "top.cpy").write_text(f"       {text[:58]}\n       {text[58:]}\n")
    (record,) = read_copybook(tmp_path / "top.cpy").records
    assert ["R", "P-X", "Q-X", "Y"] == [item.name for item in record.top.walk()]
