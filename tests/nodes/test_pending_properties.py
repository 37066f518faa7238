"""Properties that are checked and wait for something: what lint says of them, and that the rest of a flow runs."""

from __future__ import annotations

import pytest

from engine.flow.definition import Flow, NodeUse, Setting
from engine.flow.lint import lint, notes
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


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("wlmPolicy", "{P}:Q", ["note: wlmPolicy has no effect yet; it waits for workload management policies"]),
        ("consumerPolicySet", "S", ["note: consumerPolicySet has no effect yet; it waits for nodes of web services"]),
        ("processingTimeoutSec", "5", ["note: processingTimeoutSec counts where a broker runs the flow"]),
        ("processingTimeoutAction", "none", []),
        ("maximumRateMsgsPerSec", "0", []),
        ("commitCount", "7", []),
    ],
)
def test_properties_of_flows(name: str, value: str, said: list[str]) -> None:
    """A property of a flow that has no effect, or one in brokers alone, is noted."""
    found = [note.text for note in notes(Flow("F", properties=(Setting(name, value),)))]
    assert said == [text[: len(start)] for text, start in zip(found, said, strict=True)]
