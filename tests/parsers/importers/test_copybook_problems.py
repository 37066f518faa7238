"""What is said about copybooks that are wrong: tests/problems/copybooks/*.cpy, and what each is told beside it.

Beside each NAME.cpy stands NAME.txt with all its problems as a user sees them. `pytest --accept` rewrites these with
what is found now; look at the difference before you commit it.
"""

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from parsers.importers.copybook.read import read_copybook, read_text

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
