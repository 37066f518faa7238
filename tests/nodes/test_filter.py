"""Filter: true, false, unknown and failure, by a condition, by statements, and by a module."""

from __future__ import annotations

import pytest

from engine.errors import BrokerError, ConfigurationException
from engine.flow.definition import Flow, NodeUse, Setting
from engine.message.writer import write_message
from engine.runtime.deployment import deploy
from tests.nodes.esql_nodes import BODY, made, message, origin, sent

ONE = "Body.a.b[1] = '1'"


@pytest.mark.parametrize(
    ("flag", "terminal"), [(b"TRUE", "true"), (b"false", "false"), (b"Unknown", "unknown"), (b"yes", None)]
)
def test_a_field_as_the_condition(flag: bytes, terminal: str | None) -> None:
    """A field is cast to BOOLEAN, as everywhere; one that does not say TRUE, FALSE or UNKNOWN is a failure."""
    given = message(b"<a>" + flag + b"</a>")
    if terminal:
        assert [(terminal, given)] == sent(made("Filter", "Body.a"), given)
        return
    with pytest.raises(BrokerError, match="'yes' cannot be cast") as raised:
        sent(made("Filter", "Body.a"), given)
    assert (raised.value.place.file, raised.value.place.line) == ("F.N.filterExpression", 1)


@pytest.mark.parametrize(
    ("condition", "terminal"),
    [
        (ONE, "true"),
        ("Body.a.b[2] = '1'", "false"),
        ("Body.a.x = '1'", "unknown"),
        ("Root.XMLNSC.a.b = '1' AND Body.a.x = '1'", "unknown"),
        ("TRUE", "true"),
        ("unknown", "unknown"),
        ("CARDINALITY(Body.a.b[]) = 2", "true"),
        (f"RETURN {ONE};", "true"),
        (f"IF {ONE} THEN RETURN FALSE; END IF; RETURN TRUE;", "false"),
        ("DECLARE limit EXTERNAL INTEGER 1; RETURN limit = 100;", "true"),
        ("Environment.from = 'input' AND ExceptionList.from = 'input'", "true"),
    ],
)
def test_terminals(condition: str, terminal: str) -> None:
    """The message goes on as it is, by the terminal of the condition's value."""
    given = message()
    assert [(terminal, given)] == sent(made("Filter", condition), given)


def test_a_failure() -> None:
    """What fails says where the condition stands, and the message stays as it was."""
    given = message()
    with pytest.raises(BrokerError, match="zero") as raised:
        sent(made("Filter", "1 / CARDINALITY(Body.x[]) = 1"), given)
    place = raised.value.place
    assert (place.file, place.line) == ("F.N.filterExpression", 1)
    assert write_message(given.root)[1] == BODY


def test_environments_may_be_changed() -> None:
    """A Filter changes the Environment, and a LocalEnvironment of its own; the one that it was given stays."""
    given = message()
    program = "SET Environment.from = 'filter'; SET LocalEnvironment.from = 'filter'; RETURN TRUE;"
    ((terminal, one),) = sent(made("Filter", program), given)
    assert (terminal, origin(one.local_environment), origin(one.environment)) == ("true", "filter", "filter")
    assert origin(given.local_environment) == "input"


@pytest.mark.parametrize(
    "condition", ["InputRoot.XMLNSC.a = 1", "SET OutputRoot = Root; RETURN TRUE;", "PROPAGATE;", "Body.a ="]
)
def test_what_no_filter_may_hold(condition: str) -> None:
    """A Filter has no output trees, does not PROPAGATE, and its text must be whole."""
    with pytest.raises(ConfigurationException):
        made("Filter", condition)


@pytest.mark.parametrize(("node_type", "name"), [("Filter", "filterExpression"), ("Compute", "computeExpression")])
def test_a_program_that_nobody_compiled(node_type: str, name: str) -> None:
    """A flow with ESQL is deployed with a binder; without one, that is what is said."""
    flow = Flow("F", nodes=(NodeUse("N", node_type, (Setting(name, "TRUE"),)),))
    with pytest.raises(ConfigurationException, match=f"{name} was not compiled"):
        deploy(flow)
