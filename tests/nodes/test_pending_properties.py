"""Properties that are checked and wait for something: what lint says of them, and that the rest of a flow runs."""

from __future__ import annotations

import pytest

from engine.flow.definition import Flow, NodeUse, Setting
from engine.flow.lint import lint
from engine.flow.notes import notes
from flows.files import load


@pytest.mark.parametrize("kind", ["Compute", "Filter"])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("transaction", "never", "transaction is one of automatic, commit"),
        ("treatWarningsAsErrors", "maybe", "treatWarningsAsErrors is true or false"),
        ("throwExceptionOnDatabaseError", "2", "throwExceptionOnDatabaseError is true or false"),
    ],
)
def test_they_are_checked(kind: str, name: str, value: str, text: str) -> None:
    """A value that does not fit is a problem, as of any property."""
    flow = Flow("F", nodes=(NodeUse("N", kind, (Setting(name, value),)),))
    assert any(text in problem.text for problem in lint(flow))
    assert notes(flow) == ()


def test_defaults_need_no_note() -> None:
    """A flow that gives none of them gets no note."""
    loaded = load("flows/samples/content_filter/content_filter.yaml")
    assert notes(*loaded.flows) == ()
