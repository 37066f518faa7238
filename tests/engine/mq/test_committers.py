"""The threads that a writer waits for, beside what they are by definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.mq.store.committers import Committers

THREADS = st.integers(1, 4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.sets(THREADS, min_size=1)),
        st.tuples(st.sampled_from(["leave", "come_back"]), THREADS),
    ),
    max_size=12,
)


@given(STEPS)
def test_those_of_the_last_transactions_are_expected_unless_they_are_away(steps: list[tuple[str, object]]) -> None:
    """Threads of the last two transactions are expected, and those that came back, but for those that are away."""
    committers = Committers()
    last, before, back, away = set[object](), set[object](), set[object](), set[object]()
    for step, given_ in steps:
        getattr(committers, step)(given_)
        if isinstance(given_, set):
            before, last, back, away = last, given_, set(), away - given_
        elif step == "leave" and given_ in last | before | back:
            away |= {given_}
        elif step == "come_back" and given_ in away:
            back, away = back | {given_}, away - {given_}
        assert len((last | before | back) - away) == committers.expected()
