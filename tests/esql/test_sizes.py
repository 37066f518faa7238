"""Sizes: sums of variables whose size is looked at once are what sums of others are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BrokerError
from esql.compile import compile_text
from esql.runtime.interactive_session import message_of
from esql.text import SyntaxProblems
from tests.esql.test_emitted import DECLARED, SUMS


@settings(max_examples=200, deadline=None)
@given(SUMS | SUMS.map(lambda text: text.replace("z", "k")), st.sampled_from(["i", "z", "big", "k"]), SUMS)
def test_sums_in_loops_are_what_the_oracle_says(text: str, changed: str, new: str) -> None:
    """In a loop, and in another behind which a variable was given something else, a sum is what it is outside."""
    loop = f"SET turn = 0; WHILE turn < 2 DO SET x = {text}; SET turn = turn + 1; END WHILE;"
    program = f"{DECLARED} DECLARE x, turn, k INTEGER; {loop} SET {changed} = {new}; {loop} RETURN x;"
    straight = f"{DECLARED} DECLARE x, k INTEGER; SET x = {text}; SET {changed} = {new}; SET x = {text}; RETURN x;"
    assert returned(straight) == returned(program)


@pytest.mark.parametrize("value", ["NULL", "3", *(f"{sign}{2**n}" for sign in ("", "-") for n in (29, 30, 31, 40, 62))])
@pytest.mark.parametrize(
    "text", ["v * v + v", "v * v - v", "v * v * v", "v + v + v", "3 - v * 7", "v * 1073741823 + 1"]
)
def test_a_sum_in_a_loop_is_refused_where_it_is_outside(text: str, value: str) -> None:
    """Operands of any size, or NULL, come to the same in a loop as in front of it."""
    start = f"DECLARE v, x, turn INTEGER; SET turn = 0; SET v = {value};"
    looped = f"WHILE turn < 1 DO SET x = {text}; SET turn = turn + 1; END WHILE;"
    assert returned(f"{start} SET x = {text}; RETURN x;") == returned(f"{start} {looped} RETURN x;")


def returned(program: str) -> str:
    """What a program returns, or the number of its error."""
    try:
        compiled = compile_text(program, "COMPUTE")
        return repr(compiled.entrance().run(compiled.activation(message_of(None, "")), 1))
    except SyntaxProblems:
        return "known to fail"
    except BrokerError as error:
        return f"error {error.number}"
