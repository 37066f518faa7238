"""Programs of ESQL: made from a seed and mutated, compiled and run beside a slow interpreter of their statements."""

from __future__ import annotations

from random import Random
from typing import Final

from esql.compile import compile_text
from esql.text import SyntaxProblems
from tests.esql.generated_programs import generate, run_case
from tests.fuzz.target import Target

_WORDS: Final = (
    *(b"InputBody.doc", b"Environment.t", b".{s}", b"[1]", b"[<]", b"[]", b"EVAL('", b"');", b"FOR x AS ", b" DO "),
    *(b"END FOR;", b"CARDINALITY(", b"NULL", b"DECIMAL '1E9999'", b"INTERVAL '1' DAY", b" LIKE ", b"SET i = "),
)


def _seeds() -> list[bytes]:
    return [generate(Random(seed)) for seed in range(5)]  # noqa: S311 - seeds that are to give the same programs again


def _generated(data: bytes) -> None:
    """The bytes are a seed, so that every mutation is a program whose statements the interpreter knows."""
    run_case(int.from_bytes(data[:8]))


def _mutated(data: bytes) -> None:
    """Only the compiler: what a mutation makes, the interpreter may not know."""
    try:
        compile_text(data.decode("utf-8", "replace")[:20_000], "COMPUTE", "mutated")
    except SyntaxProblems:
        return


TARGETS: Final = (
    Target("program", _generated, lambda: [b"1", b"two"], guided=False),
    Target("program_text", _mutated, _seeds, _WORDS, guided=False),
)
