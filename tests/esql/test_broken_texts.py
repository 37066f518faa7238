"""A broken text gives problems with places in it, whatever is broken: never a crash, never a flood."""

import random
import re
from pathlib import Path

import pytest

from esql.read import read_file, read_statements
from esql.text import SyntaxProblems

FILES = sorted(Path(__file__).with_name("read").glob("*.esql"))
WORD = re.compile(r"\s+|\w+|--[^\n]*|/\*.*?\*/|'[^']*'|.", re.DOTALL)


def broken(text, choose):
    """Take away, repeat, exchange or cut off words of a text."""
    words = WORD.findall(text)
    for _ in range(choose.randint(1, 3)):
        at = choose.randrange(len(words))
        match choose.randrange(5):
            case 0:
                del words[at]
            case 1:
                words.insert(at, words[at])
            case 2:
                words[at] = choose.choice(words)
            case 3:
                words[at : at + choose.randint(1, 20)] = []
            case _:
                words[at] = choose.choice(
                    ["'", '"', "/*", "*/", "END", ";", "(", ")", "[", "{", "?", "SELECT", "=", "\x00"]
                )
        if not words:
            return ""
    return "".join(words)


@pytest.mark.parametrize("read", [read_file, read_statements], ids=["file", "statements"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_broken_texts_give_problems_or_programs(path, read):
    """Each problem lies in the text and is shown with its line."""
    text = path.read_text(encoding="utf-8")
    choose = random.Random(path.name)  # noqa: S311 - the same every time
    for _ in range(60):
        changed = broken(text, choose)
        lines = re.split(r"\r\n|\r|\n", changed)
        try:
            read(changed, "broken")
        except SyntaxProblems as found:
            for problem in found.problems:
                assert lines[problem.line - 1] == problem.source_line
                assert problem.column - 1 <= len(problem.source_line)
                assert problem.render()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_missing_word_is_one_problem_or_few(path):
    """Without one of its semicolons or END words, a file has a problem, and not dozens that follow from it."""
    text = path.read_text(encoding="utf-8")
    for place in re.finditer(r";[ \t]*\n|END (IF|WHILE|FOR|CASE)", text):
        changed = text[: place.start()] + "\n" * place.group().count("\n") + text[place.end() :]
        if text[: place.start()].splitlines()[-1].startswith("PATH"):
            continue  # the only semicolon that may be left out
        with pytest.raises(SyntaxProblems) as caught:
            read_file(changed, "broken")
        assert len(caught.value.problems) <= 3, str(caught.value)
