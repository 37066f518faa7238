"""Programs as files: what they are given and what they must give stands in the comment at their head."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from engine.errors import BrokerError, Problem
from esql import syntax
from esql.check import problems_of
from esql.compile import compile_sources, compile_text
from esql.runtime.activation import Limits, Surroundings
from esql.runtime.interactive_session import message_of, outcomes, told
from esql.scope import Library, resolve
from esql.text import SyntaxProblems

FOLDER = Path(__file__).resolve().parent.parent / "programs"


@dataclass(frozen=True)
class Expected:
    """The head of a program: the lines that start with `--`, and a word."""

    kind: str
    module: str
    domain: str
    input: str
    gives: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Expected:
        """Read the head of a program."""
        said: dict[str, list[str]] = {"kind": [], "module": [], "domain": [], "input": [], "gives": []}
        for line in text.splitlines():
            if not line.startswith("-- "):
                break
            word, _, rest = line[3:].partition(": ")
            said[word].append(rest)
        one = {word: lines[0] if lines else "" for word, lines in said.items()}
        return cls(one["kind"], one["module"], one["domain"] or "XMLNSC", one["input"], tuple(said["gives"]))


def surroundings() -> Surroundings:
    """A node whose clock stands still, with some of everything around it."""
    return Surroundings(
        external={"given": "from outside"},
        properties={"NodeName": "Compute1"},
        callables={"com.example.Twice.twice": lambda number: number * 2},
        limits=Limits(turns=5000, depth=60, nodes=5000, string=10000),
        clock=lambda: datetime(2003, 5, 23, 9, 11, 12, 123456, tzinfo=UTC),
        displace=lambda: timedelta(hours=1),
    )


def gives(text: str, name: str, *, trace: str = "") -> list[str]:
    """What a program sends, or the error that ends it."""
    expected = Expected.of(text)
    lines: list[str] = []
    try:
        if expected.kind:
            compiled = compile_text(text, expected.kind, name, trace=trace)
        else:
            compiled = compile_sources([(name, text)], trace=trace)
        message = message_of(expected.input.encode() or None, expected.domain)
        lines.extend(outcomes(compiled, message, expected.module, surroundings()))
    except (BrokerError, SyntaxProblems) as error:
        lines.append(f"error|{told(error)}")
    return lines


def with_expected(text: str, found: list[str]) -> str:
    """A program with what it gives in its head; lines there keep their number, for errors name lines."""
    lines = text.splitlines()
    head = [line for line in lines if line.startswith("-- ") and not line.startswith("-- gives: ")]
    body = lines[sum(line.startswith("-- ") for line in lines) :]
    return "\n".join([*head, *(f"-- gives: {one}" for one in found), *body, ""])


def programs() -> list[Path]:
    """All programs."""
    return sorted(FOLDER.rglob("*.esql"))


def check(program: syntax.Program, kind: str | None = None, library: Library | None = None) -> tuple[Problem, ...]:
    """Returns the problems of a program of a kind of node, or of a file, among those that are deployed with it."""
    library = library or Library()
    return problems_of(resolve(program, kind, library), library)
