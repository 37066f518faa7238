"""TryCatch: what is caught, what the catch side gets, and what becomes of a message that nobody catches."""

from __future__ import annotations

import logging

import pytest

from engine.errors import BrokerError, Place, UserException
from tests.nodes.bench import carried, exception_numbers, message_of, tree

BELOW = Place("F", "Below", type="ComIbmComputeNode")


def divided() -> BrokerError:
    return BrokerError(2450, "divide by zero", place=BELOW).through(BELOW)


WAYS = [
    (("try", "catch"), [], ["try"], None),
    (("catch",), [], [], None),
    (("try", "catch"), ["try"], ["try", "catch"], None),
    (("try",), ["try"], ["try"], None),
    (("try", "catch"), ["try", "catch"], ["try", "catch"], 2951),
]


@pytest.mark.parametrize(("wired", "fails", "expected", "number"), WAYS)
def test_ways(wired: tuple[str, ...], fails: list[str], expected: list[str], number: int | None) -> None:
    """What fails in try goes to catch once, or nowhere where that is not wired; what fails in catch goes up."""
    errors = {"try": divided(), "catch": UserException(2951, "gave up")}
    seen = carried("TryCatch", message_of(), *wired, fails={name: errors[name] for name in fails})
    assert expected == seen.terminals
    assert number == (None if seen.error is None else seen.error.number)


def test_what_the_catch_side_gets() -> None:
    """Catch gets the message as it came to the node, with the ExceptionList of the new failure only."""
    message = message_of().replaced(local_environment=tree("LocalEnvironment", [("Variables", 1)]))
    message = message.failed(BrokerError(2321, "an old failure"))
    seen = carried("TryCatch", message, "try", "catch", fails={"try": divided()})
    caught = seen.sent[1][1]
    assert (message.root, message.environment) == (caught.root, caught.environment)
    assert message.local_environment is caught.local_environment
    assert exception_numbers(caught) == [2230, 2450]
    assert exception_numbers(message)[-1] == 2321


LOGS = [
    (False, ("try", "catch"), []),
    (False, ("try",), ["discarded by a TryCatch node with nothing wired to catch: BIP2450 F.Below: divide by zero"]),
    (True, ("try", "catch"), ["an old failure"]),
    (True, ("try",), ["an old failure", "discarded by a TryCatch node with nothing wired to catch"]),
]


@pytest.mark.parametrize(("old", "wired", "expected"), LOGS)
def test_the_local_error_log(
    old: bool, wired: tuple[str, ...], expected: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The log gets the ExceptionList that is replaced, and what was discarded."""
    caplog.set_level(logging.INFO, "penstock.localerror")
    message = message_of().failed(BrokerError(2321, "an old failure")) if old else message_of()
    carried("TryCatch", message, *wired, fails={"try": divided()})
    assert len(expected) == len(caplog.messages)
    assert all(text in said for text, said in zip(expected, caplog.messages, strict=True))
