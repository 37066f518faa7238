"""Generated programs do what a slow interpreter of their statements does."""

from __future__ import annotations

import pytest

from tests.esql.generated_programs import run_case


@pytest.mark.parametrize("block", range(6))
def test_some(block: int) -> None:
    """The compiler and the interpreter agree on each program of a block of seeds."""
    for seed in range(block * 50, block * 50 + 50):
        run_case(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many(block: int) -> None:
    """The same for many more."""
    for seed in range(10_000 + block * 250, 10_250 + block * 250):
        run_case(seed)
