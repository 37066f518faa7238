"""MQInput: each row of the table of what happens to messages that fail."""

from __future__ import annotations

import logging

import pytest

from engine.errors import BrokerError
from engine.runtime import deployment
from engine.transports.memory import MemoryQueues
from tests.nodes.input_flows import BODY, LETTER, Case, catalog, dead_letter, input_flow, queues_for, turns


@pytest.fixture(autouse=True)
def _nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime knows MQInput, MQOutput and the nodes of this file."""
    monkeypatch.setattr(deployment, "node_catalog", catalog)


RETRY = {
    # an exception below out, no catch: rolled back, read again, and put away when B = T
    "threshold 0": Case("O", "DLQ", errors=(3001,)),
    "threshold 1": Case("O", "DLQ", threshold=1, errors=(3001,)),
    "threshold 3": Case("O O O", "DLQ", threshold=3, errors=(3001,) * 3),
    "backout queue": Case("O O O", "BOQ", threshold=3, requeue="BOQ", errors=(3001,) * 3),
    "backout queue, none defined of that name": Case("O", "DLQ", requeue="NONE", errors=(3001,)),
    "backout queue full": Case("O", "DLQ", requeue="BOQ", full=("BOQ",), errors=(3001,)),
    "its own backout queue": Case("O", "DLQ", requeue="IN", errors=(3001,)),
    "backout queue, no dead-letter queue": Case("O", "BOQ", requeue="BOQ", letters="", errors=(3001,)),
    # none usable: blocked
    "nowhere to go": Case("O", "IN", letters="", errors=(3001, *(2630,) * 19)),
    "all full": Case("O", "IN", requeue="BOQ", full=("BOQ", "DLQ"), errors=(3001, *(2630,) * 19)),
    # an exception below out, catch wired: once, in the same unit of work
    "caught": Case("O CE", "consumed", wired="O!C"),
    "caught, fails": Case("O CE", "DLQ", wired="O!C!", errors=(3001,)),
    "caught, fails, threshold 2": Case("O CE O CE", "DLQ", wired="O!C!", threshold=2, errors=(3001,) * 2),
    # T <= B < 2T, failure wired: to failure, without the earlier exceptions
    "failure": Case("O F", "consumed", wired="O!F", errors=(3001,)),
    "failure, threshold 3": Case("O O O F", "consumed", wired="O!F", threshold=3, errors=(3001,) * 3),
    "failure fails": Case("O F", "DLQ", wired="O!F!", errors=(3001, 3001)),
    "failure fails, threshold 3": Case("O O O F F F", "DLQ", wired="O!F!", threshold=3, errors=(3001,) * 6),
    "failure fails, backout queue": Case("O F", "BOQ", wired="O!F!", requeue="BOQ", errors=(3001,) * 2),
    "failure fails, nowhere to go": Case("O F", "IN", wired="O!F!", letters="", errors=(3001, 3001, *(2630,) * 18)),
    "catch and failure": Case("O CE F", "consumed", wired="O!C!F", errors=(3001,)),
    # the tree cannot be initialised
    "unparseable": Case("", "DLQ", body=b"<x", timing="complete"),
    "unparseable at once": Case("", "DLQ", body=b"<x", timing="immediate"),
    "unparseable, backout queue": Case("", "BOQ", body=b"<x", timing="complete", requeue="BOQ"),
    "unparseable, failure": Case("FE", "consumed", wired="OF", body=b"<x", timing="complete"),
    "unparseable, failure fails": Case(
        "FE FE FE", "DLQ", wired="OF!", threshold=3, body=b"<x", timing="complete", errors=(3001,) * 3
    ),
    "unparseable, nowhere to go": Case("", "IN", body=b"<x", timing="complete", letters="", errors=(2630,) * 20),
    "unparseable, but nobody looks": Case("O", "consumed", wired="O", body=b"<x"),
    "empty": Case("", "DLQ", body=b"", timing="complete"),
    "empty, but nobody looks": Case("O", "consumed", wired="O", body=b""),
    "parseable": Case("O", "consumed", wired="O", body=b"<x a='1'>y<z/></x>", timing="complete"),
}


@pytest.mark.parametrize("case", RETRY.values(), ids=RETRY.keys())
@pytest.mark.parametrize(("mode", "persistence"), [("yes", 0), ("yes", 1), ("automatic", 1)])
def test_retry(case: Case, persistence: int, mode: str) -> None:
    """A transactional message that fails takes the way of the table, and ends on one queue or consumed."""
    queues = queues_for(case)
    work = queues.work()
    work.put("IN", LETTER._replace(persistence=persistence), case.body)
    work.commit()
    deployed = input_flow(case.wired, validateTiming=case.timing, messageDomainProperty="XMLNSC", transactionMode=mode)
    assert list(case.errors) == turns(deployed, queues)
    assert case.notes.split() == [arrival.body.decode() for arrival in queues.browse("NOTES")]
    ends = [name for name in queues.names() for _ in queues.browse(name) if name not in ("NOTES", "KEPT")]
    assert ([] if case.ends == "consumed" else [case.ends]) == ends
    if ends:
        arrival = queues.browse(case.ends)[0]
        assert arrival.body.endswith(case.body)
        assert (arrival.descriptor.msg_id, arrival.descriptor.correl_id) == (LETTER.msg_id, LETTER.correl_id)
        assert arrival.descriptor.persistence == persistence
        if case.ends == "BOQ":
            assert arrival.descriptor == LETTER._replace(persistence=persistence)
            assert arrival.body == case.body


# The rows of the product's table, by what is logged, each with the cases above that show it.
ROWS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "the tree cannot be initialised, failure wired": ((2644,), ("unparseable, failure",)),
    "the tree cannot be initialised, failure not wired": ((2645,), ("unparseable", "unparseable, backout queue")),
    "an exception below out, catch wired": ((), ("caught",)),
    "an exception below out, no catch": ((2628, 2628, 2628, 2648), ("threshold 3", "backout queue")),
    "an exception below catch": ((2628, 2648), ("caught, fails",)),
    "read again, B < T, T <= B < 2T, failure wired": ((2628, 2628, 2628), ("failure, threshold 3",)),
    "read again, T <= B, failure not wired": ((2628, 2648), ("threshold 0", "threshold 1", "its own backout queue")),
    "read again, B = 2T": ((2628, 2650), ("failure fails", "failure fails, backout queue")),
    "the failure flow of what cannot be read keeps failing": ((2649,), ("unparseable, failure fails",)),
    "neither queue usable": ((2628,), ("nowhere to go", "all full")),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_the_log_says(row: str, caplog: pytest.LogCaptureFixture) -> None:
    """The local error log says by the product's numbers what became of a message."""
    caplog.set_level(logging.DEBUG, "penstock.localerror")
    numbers, cases = ROWS[row]
    for name in cases:
        caplog.clear()
        case = RETRY[name]
        queues = queues_for(case)
        queues.work().put("IN", LETTER, case.body, syncpoint=False)
        turns(input_flow(case.wired, validateTiming=case.timing, messageDomainProperty="XMLNSC"), queues)
        assert numbers == tuple(int(message[-5:-1]) for message in caplog.messages), name


def test_catch_keeps_the_unit_of_work() -> None:
    """What was done before an exception that is caught is committed with what catch does; a roll back undoes both."""
    kept = {}
    for wired in ("O!C", "O!C!"):
        queues = queues_for(Case("", ""))
        work = queues.work()
        work.put("IN", LETTER, BODY)
        work.commit()
        turns(input_flow(wired), queues)
        kept[wired] = [arrival.body for arrival in queues.browse("KEPT")]
    assert kept == {"O!C": [b"O", b"C"], "O!C!": []}


@pytest.mark.parametrize("encoding", [273, 546])
@pytest.mark.parametrize("ccsid", [1208, 500, 819])
@pytest.mark.parametrize("inner", ["MQSTR", ""])
def test_dead_letter_header(encoding: int, ccsid: int, inner: str) -> None:
    """The MQDLH says why, from where, what follows it, and who moved it; it is written as the message is."""
    given = LETTER._replace(encoding=encoding, coded_char_set_id=ccsid, format=inner)
    received = dead_letter(given, BODY)
    assert received.descriptor == given._replace(format="MQDEAD")
    header = received.root().at("MQDLH")
    assert header is not None
    fields = {child.name: child.value for child in header}
    assert len(received.body) == 172 + len(BODY)
    expected = {
        "Reason": 2362,
        "DestQName": "IN",
        "DestQMgrName": "QM",
        "Encoding": encoding,
        "CodedCharSetId": ccsid,
        "Format": inner,
        "PutApplType": 26,
        "PutApplName": "Penstock",
    }
    assert expected == {n: str(v).rstrip() if isinstance(v, str) else v for n, v in fields.items() if n in expected}
    assert fields["PutDate"] is not None
    assert fields["PutTime"] is not None
    assert received.root().last_child is not None
    assert received.parts[-1].portion.bytes == BODY


def test_reason_of_an_unparseable_message() -> None:
    """The dead-letter header of a message that cannot be parsed says that its format is wrong."""
    received = dead_letter(LETTER, b"<x", validateTiming="complete", messageDomainProperty="XMLNSC")
    reason = received.root().at("MQDLH", "Reason")
    assert reason is not None
    assert reason.value == 2110


WITHOUT = {
    "fails": ("O!", "O", (3001,)),
    "catch": ("O!C", "O CE", ()),
    "catch fails": ("O!C!", "O CE", (3001,)),
    "failure": ("O!F", "O FE", ()),
    "failure fails": ("O!F!", "O FE", (3001,)),
    "catch before failure": ("O!CF", "O CE", ()),
}


@pytest.mark.parametrize(("wired", "notes", "errors"), WITHOUT.values(), ids=WITHOUT.keys())
@pytest.mark.parametrize("mode", ["no", "automatic"])
def test_without_transaction(wired: str, notes: str, errors: tuple[int, ...], mode: str) -> None:
    """A message that is got outside the unit of work is tried once: then catch, else failure, else it is put away."""
    queues = queues_for(Case("", ""))
    work = queues.work()
    work.put("IN", LETTER, BODY)
    work.commit()
    assert list(errors) == turns(input_flow(wired, transactionMode=mode), queues)
    assert notes.split() == [arrival.body.decode() for arrival in queues.browse("NOTES")]
    assert [queues.depth("IN"), queues.depth("DLQ")] == [0, len(errors)]
    assert all(arrival.body.endswith(BODY) for arrival in queues.browse("DLQ"))


def test_without_transaction_and_with_nowhere_to_go() -> None:
    """A message that was got outside the unit of work and that no queue takes is lost, and the error says so."""
    queues = queues_for(Case("", "", letters=""))
    work = queues.work()
    work.put("IN", LETTER, BODY, syncpoint=False)
    deployed = input_flow("O!", transactionMode="no")
    outcome = deployed.process(deployed.entrances[0], work)
    assert outcome is not None
    assert outcome.error is not None
    assert (outcome.error.number, "so it is lost" in outcome.error.text) == (2630, True)


def test_an_unparseable_message_without_transaction_is_put_away() -> None:
    """Also outside a unit of work, what cannot be parsed ends on the dead-letter queue."""
    properties = {"validateTiming": "complete", "messageDomainProperty": "XMLNSC", "transactionMode": "no"}
    assert dead_letter(LETTER, b"<x", **properties).body.endswith(b"<x")


def test_a_poison_message_does_not_stop_the_next() -> None:
    """After a message that failed for good, the next one is processed."""
    queues = queues_for(Case("", ""))
    work = queues.work()
    for body in (b"<x", b"<x/>"):
        work.put("IN", LETTER, body)
    work.commit()
    assert turns(input_flow("O", validateTiming="complete", messageDomainProperty="XMLNSC"), queues) == []
    assert ([arrival.body for arrival in queues.browse("NOTES")], queues.depth("DLQ")) == ([b"O"], 1)


def test_empty_queue() -> None:
    """Where there is no message, nothing happens."""
    deployed = input_flow("O")
    assert deployed.process(deployed.entrances[0], queues_for(Case("", "")).work()) is None


def test_no_such_queue() -> None:
    """A queue that is not there is an error at the node."""
    deployed = input_flow("O")
    with pytest.raises(BrokerError, match=r"^BIP2085 F.In: there is no queue called 'IN': define it$"):
        deployed.process(deployed.entrances[0], MemoryQueues().work())
