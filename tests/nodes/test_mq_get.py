"""MQGet: which message is got, what is made of it and of the input message, and what happens where there is none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from engine.descriptor import NO_ID, Descriptor
from engine.errors import BrokerError, ConfigurationException
from engine.message.assembly import Message
from engine.message.writer import write_message
from engine.node import build, node_catalog
from engine.tree.sharing import copy
from tests.nodes.bench import carried, exception_numbers, tree
from tests.nodes.got import (
    BODY,
    BOTH,
    ENVIRONMENT,
    MESSAGE,
    NONE,
    XML,
    at,
    given,
    got,
    queue_manager,
    with_gmo,
)

TREES: list[tuple[dict[str, object], dict[str, object], dict[str, object]]] = [
    (NONE, {"XMLNSC.a.b": "1", "MQMD.Priority": 3}, {"MQ.GET.CC": None, "Variables.Kept": 1}),
    (XML, {"XMLNSC.a.b": None, "XMLNSC.r.s": "2"}, {"MQ.GET.CC": None, "Variables.Kept": 1}),
    (MESSAGE, {"XMLNSC.a.b": None, "XMLNSC.r.s": "2", "MQMD.Priority": 0}, {"MQ.GET.CC": None, "Variables.Kept": 1}),
    (MESSAGE | {"copyMessage": "copyEntireMessage"}, {"XMLNSC.a.b": None, "XMLNSC.r.s": "2"}, {}),
    (
        MESSAGE | {"outputDataLocation": "OutputRoot.XMLNSC.all.got", "resultDataLocation": "ResultRoot.XMLNSC.r"},
        {"XMLNSC.all.got.s": "2", "MQMD.Priority": None},
        {},
    ),
    (
        MESSAGE
        | {"outputDataLocation": "OutputRoot.XMLNSC.a.got", "resultDataLocation": "ResultRoot.XMLNSC.r"}
        | {"copyMessage": "copyEntireMessage"},
        {"XMLNSC.a.b": "1", "XMLNSC.a.got.s": "2", "MQMD.Priority": 3},
        {},
    ),
    (
        MESSAGE
        | {"outputDataLocation": "OutputRoot.XMLNSC", "resultDataLocation": "ResultRoot.XMLNSC"}
        | {"copyMessage": "copyHeaders"},
        {"XMLNSC.a.b": None, "XMLNSC.r.s": "2", "MQMD.Priority": 3},
        {},
    ),
    (ENVIRONMENT, {"XMLNSC.a.b": "1"}, {"MQ.GET.CC": 0, "MQ.GET.RC": 0, "Variables.Kept": 1}),
    (ENVIRONMENT | {"copyLocalEnv": "none"}, {"XMLNSC.a.b": "1"}, {"MQ.GET.CC": 0, "Variables.Kept": None}),
    (
        ENVIRONMENT | {"outputMQParmsLocation": 'OutputLocalEnvironment."My".Codes'},
        {},
        {"MQ.GET.CC": None, "My.Codes.CC": 0, "My.Codes.RC": 0},
    ),
    (
        BOTH | {"outputDataLocation": "InputLocalEnvironment.Variables.Got", "copyMessage": "copyEntireMessage"},
        {"XMLNSC.a.b": "1", "XMLNSC.r.s": None},
        {"Variables.Got.XMLNSC.r.s": "2", "Variables.Got.MQMD.Priority": 0, "Variables.Kept": 1},
    ),
    (
        ENVIRONMENT
        | {"outputDataLocation": "OutputLocalEnvironment.Got", "resultDataLocation": "ResultRoot.XMLNSC.r.s"},
        {"XMLNSC.a.b": "1"},
        {"Got": "2", "MQ.GET.CC": 0},
    ),
    (MESSAGE | {"outputDataLocation": "OutputLocalEnvironment.Got"}, {"XMLNSC.a.b": None}, {"Got.XMLNSC.r.s": None}),
    (BOTH | {"messageDomainProperty": "BLOB"}, {"BLOB.BLOB": BODY}, {"MQ.GET.CC": 0}),
    (
        MESSAGE | {"messageSetProperty": "S", "messageTypeProperty": "T", "messageFormatProperty": "F"},
        {"Properties.MessageSet": "S", "Properties.MessageType": "T", "Properties.MessageFormat": "F"},
        {},
    ),
]


@pytest.mark.parametrize(("properties", "root", "local"), TREES, ids=[f"{p}" for p, *_ in TREES])
def test_trees(properties: dict[str, object], root: dict[str, object], local: dict[str, object]) -> None:
    """GenerateMode says which trees are new, copyMessage and copyLocalEnv what they begin with, the rest where to."""
    message, queues = given(), queue_manager(Descriptor())
    seen = got(queues, properties, message)
    assert seen.terminals == ["out"]
    assert root == {path: at(seen.message.root, path) for path in root}
    assert local == {path: at(seen.message.local_environment, path) for path in local}
    assert seen.message.environment is message.environment
    assert queues.depth("IN") == 0


def test_a_message_that_is_got_whole_keeps_its_bytes() -> None:
    """What is got and not changed is written as it came."""
    descriptor = Descriptor(msg_id=b"x" * 24, format="MQSTR", put_date="20010203", put_time="04050607")
    sent = got(queue_manager(descriptor, body=b"<r  />"), MESSAGE).message
    assert (descriptor, b"<r  />") == write_message(sent.root)


WITH_IDS: list[tuple[dict[str, object], int | None]] = [
    ({}, 0),
    ({"getWithMsgID": True}, 1),
    ({"getWithCorrelID": True}, 2),
    ({"getWithMsgID": True, "getWithCorrelID": True}, None),
    ({"getWithMsgID": True, "inputMQMDLocation": "InputLocalEnvironment.Variables.Other"}, 3),
    ({"getWithMsgID": True, "inputMQMDLocation": "InputLocalEnvironment.Nothing"}, 0),
    ({"getWithCorrelID": True, "inputMQMDLocation": "InputLocalEnvironment.Variables.Other"}, 0),
    ({"useCompleteInputMQMD": True}, None),
    ({"useCompleteInputMQMD": True, "inputMQMDLocation": "InputLocalEnvironment.Variables.Other"}, 3),
]


@pytest.mark.parametrize(("properties", "expected"), WITH_IDS, ids=[f"{p}" for p, _ in WITH_IDS])
def test_ids(properties: dict[str, object], expected: int | None) -> None:
    """Only a message with the ids that are wanted is got; an id that is not there wants any message."""
    queues = queue_manager(
        Descriptor(msg_id=b"0" * 24),
        Descriptor(msg_id=b"M" * 24),
        Descriptor(msg_id=b"2" * 24, correl_id=b"C" * 24),
        Descriptor(msg_id=b"O" * 24),
    )
    before = [arrival.descriptor for arrival in queues.browse("IN")]
    local = tree("LocalEnvironment", [("Variables", [("Other", [("MsgId", b"O" * 24), ("CorrelId", NO_ID)])])])
    seen = got(queues, MESSAGE | properties, given().replaced(local_environment=local))
    after = [arrival.descriptor for arrival in queues.browse("IN")]
    assert [d for d in before if d not in after] == ([] if expected is None else [before[expected]])
    assert seen.terminals == ["noMessage" if expected is None else "out"]


EMPTY: list[tuple[dict[str, object], dict[str, object], dict[str, object]]] = [
    (NONE, {"XMLNSC.a.b": "1"}, {"Variables.Kept": 1, "MQ.GET.CC": None}),
    (MESSAGE, {"XMLNSC.a.b": None}, {"Variables.Kept": 1}),
    (MESSAGE | {"copyMessage": "copyHeaders"}, {"XMLNSC.a.b": None, "MQMD.Priority": 3}, {}),
    (MESSAGE | {"copyMessage": "copyEntireMessage"}, {"XMLNSC.a.b": "1"}, {}),
    (ENVIRONMENT, {"XMLNSC.a.b": "1"}, {"MQ.GET.CC": 2, "MQ.GET.RC": 2033, "Variables.Kept": 1}),
]


@pytest.mark.parametrize(("properties", "root", "local"), EMPTY, ids=[f"{p}" for p, *_ in EMPTY])
def test_no_message(properties: dict[str, object], root: dict[str, object], local: dict[str, object]) -> None:
    """Where there is no message, what the input message alone makes goes to noMessage, or nowhere."""
    seen = got(queue_manager(), properties)
    assert seen.terminals == ["noMessage"]
    assert root == {path: at(seen.message.root, path) for path in root}
    assert local == {path: at(seen.message.local_environment, path) for path in local}
    assert ([], None) == got(queue_manager(), properties, None, "out")


SYNCPOINTS = [("yes", 0, 0), ("yes", 1, 0), ("no", 0, 1), ("no", 1, 1), ("automatic", 0, 1), ("automatic", 1, 0)]


@pytest.mark.parametrize(("mode", "persistence", "gone"), SYNCPOINTS)
def test_transaction_mode(mode: str, persistence: int, gone: int) -> None:
    """A get is part of the unit of work if the node says so, or if the message is persistent."""
    queues = queue_manager(Descriptor(persistence=persistence))
    work = queues.work()
    properties = MESSAGE | {"transactionMode": mode}
    seen = carried("MQGet", given(), "out", properties=properties, work=work)
    assert at(seen.message.root, "Properties.Transactional") is not bool(gone)
    work.back_out()
    assert 1 - gone == queues.depth("IN")


@pytest.mark.parametrize("interval", [60_000, -1])
def test_waiting(interval: int) -> None:
    """A message that comes in time is got as soon as it is there."""
    queues = queue_manager()

    def put() -> None:
        work = queues.work()
        work.put("IN", Descriptor(), BODY)
        work.commit()

    later = threading.Timer(0.05, put)
    later.start()
    seen = got(queues, MESSAGE | {"waitInterval": interval})
    later.join()
    assert seen.terminals == ["out"]


def test_waiting_in_vain() -> None:
    """A node waits no longer than it is told."""
    start = time.monotonic()
    assert got(queue_manager(), MESSAGE | {"waitInterval": 50}).terminals == ["noMessage"]
    assert time.monotonic() - start >= 0.05


def with_a_wrong_id(message: Message) -> Message:
    root = copy(message.root)
    field = root.at("MQMD", "MsgId")
    assert field is not None
    field.value = "text"
    return message.replaced(root=root)


def with_odd_options(message: Message) -> Message:
    return with_gmo(message, Options=16)


FAILURES: list[tuple[str, dict[str, object], Callable[[Message], Message], bytes, str]] = [
    ("no queue", {"queueName": "NONE"}, lambda m: m, BODY, "there is no queue called 'NONE': define it"),
    (
        "nothing there",
        {"resultDataLocation": "ResultRoot.MRM", "outputDataLocation": "OutputRoot.MRM"},
        lambda m: m,
        BODY,
        "the message got from IN has no ResultRoot.MRM: correct resultDataLocation",
    ),
    (
        "an id that is none",
        {"getWithMsgID": True},
        with_a_wrong_id,
        BODY,
        "the MsgId that is wanted is 'text', which is no BLOB: CAST it",
    ),
    (
        "options that ask for browsing",
        {},
        with_odd_options,
        BODY,
        "MQGMO.Options is 16, which asks for what is not there",
    ),
    ("broken", {"validateTiming": "immediate"}, lambda m: m, b"<a", ""),
    ("broken further on", {"validateTiming": "complete"}, lambda m: m, b"<a><b></a>", ""),
]


@pytest.mark.parametrize(
    ("properties", "change", "body", "text"), [f[1:] for f in FAILURES], ids=[f[0] for f in FAILURES]
)
def test_failures(properties: dict[str, object], change: Any, body: bytes, text: str) -> None:
    """What cannot be got or made is the node's own failure: the input message goes to failure, or the error up."""
    message = change(given())
    seen = got(queue_manager(Descriptor(), body=body), MESSAGE | properties, message)
    assert seen.error is not None
    assert text in seen.error.text
    assert seen.sent == []
    wired = got(queue_manager(Descriptor(), body=body), MESSAGE | properties, message, "out", "failure")
    assert wired.terminals == ["failure"]
    assert exception_numbers(wired.message)[0] == 2230
    assert wired.message.root is message.root


MISTAKES = [
    ({"messageDomainProperty": "XMLNCS"}, "messageDomainProperty names no parser: XMLNCS; did you mean XMLNSC?"),
    ({"resetBrowseTimeout": 5}, "resetBrowseTimeout is for browsing"),
    ({"warningDataLocation": "x"}, "warningDataLocation is a path that begins with OutputRoot or"),
    ({"inputMQParmsLocation": "InputRoot.x"}, "inputMQParmsLocation is a path that begins with InputLocalEnvironment,"),
    ({"minimumGetBufferSize": 0}, "minimumGetBufferSize is a whole number from 1 to 102400, not 0"),
    ({"inputMQMDLocation": "Root.MQMD"}, "inputMQMDLocation is a path that begins with InputRoot or InputLocalEnv"),
    ({"outputDataLocation": "Environment.x"}, "outputDataLocation is a path that begins with OutputRoot or Output"),
    ({"outputDataLocation": "OutputRoot..x"}, "outputDataLocation is a path that begins with OutputRoot or Output"),
    ({"resultDataLocation": ""}, "resultDataLocation is a path that begins with ResultRoot, not ''"),
    ({"outputMQParmsLocation": "OutputRoot.x"}, "outputMQParmsLocation is a path that begins with OutputLocalEnv"),
    ({"resultDataLocation": "ResultRoot.XMLNSC"}, "ResultRoot.XMLNSC cannot be a whole OutputRoot: name a place in it"),
]


@pytest.mark.parametrize(("properties", "text"), MISTAKES)
def test_mistakes(properties: dict[str, object], text: str) -> None:
    """A path that leads nowhere is an error at deploy."""
    with pytest.raises(BrokerError) as caught:
        build(node_catalog.find("MQGet"), {"queueName": "IN"} | properties)
    assert caught.value.text.startswith(text)


def test_a_queue_is_needed() -> None:
    """Without a queue there is nothing to get from."""
    with pytest.raises(ConfigurationException, match="MQGet needs queueName"):
        build(node_catalog.find("MQGet"), {})
