"""What frames say comes back as it was, and bytes come out of a channel as the frames that were sent."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConfigurationException, MessageException
from engine.mq import frames
from engine.mq.channel import BadFrameError, Channel
from engine.mq.packed_descriptor import pack
from engine.mq.served_manager import Facts
from engine.work import Arrival, Order, QueueAttributes, Selection

NAMES = st.text(st.characters(codec="utf-8"), max_size=48)
IDS = st.one_of(st.just(b""), st.binary(min_size=24, max_size=24))
SELECTIONS = st.builds(
    Selection,
    *(IDS, IDS, IDS, st.booleans(), st.booleans()),
    st.builds(Order, st.sampled_from(["default", "byUserID", "byQueueOrder"]), st.booleans()),
    *(st.booleans(), st.floats(-1, 1e6), NAMES),
)
GETS = st.builds(
    frames.Get, NAMES, st.none() | SELECTIONS, st.sampled_from([True, False, None]), st.floats(allow_nan=False)
)
DESCRIPTORS = st.tuples(st.integers(0, 9), NAMES).map(lambda said: Descriptor(priority=said[0], format=said[1]))
ARRIVALS = st.tuples(DESCRIPTORS, st.binary(max_size=99)).map(Arrival._make)


@given(GETS)
def test_gets(wanted):
    """A get says its queue, all of its selection, its syncpoint and its wait."""
    assert wanted == frames.read_get(frames.get_data(wanted))
    assert wanted == frames.read_get(memoryview(frames.get_data(wanted)))


@given(NAMES, ARRIVALS, st.binary(max_size=9))
def test_puts_exchanges_and_arrivals(queue, arrival, get):
    """A message keeps its descriptor and its body, a put its queue, and an exchange its get."""
    put = (queue.encode(), pack(arrival.descriptor), arrival.body)
    said = b"".join(frames.put_frame(*put, 3))
    assert (queue, *arrival) == frames.read_put(said[frames.HEAD.size :])
    said = b"".join(frames.exchange_frame(put, get, 3))
    assert (queue, *arrival, get) == frames.read_exchange(said[frames.HEAD.size :])
    said = b"".join(frames.arrival_frame(arrival, 7))
    assert arrival == frames.read_arrival(said[frames.HEAD.size :])


@given(st.lists(ARRIVALS, max_size=5))
def test_pages(arrivals):
    """A page holds messages one behind the other."""
    assert arrivals == frames.read_page(frames.page_data(arrivals))


def test_what_a_put_is_answered():
    """The descriptor as the queue has it, and the facts of the queue."""
    facts = Facts(QueueAttributes(3, "BACKOUT", 1, 4), 1000, 17)
    descriptor = Descriptor(msg_id=b"1" * 24)
    assert (descriptor, facts) == frames.read_accepted(frames.accepted_data(descriptor, facts))


@pytest.mark.parametrize(
    "error",
    [
        MessageException(2053, "it is full", "Q", reason=2053),
        ConfigurationException("no such thing"),
        BrokerError(2230, "it broke", "insert"),
    ],
)
def test_refusals(error):
    """An error keeps its kind, number, text, inserts and reason."""
    found = frames.read_refusal(frames.refusal_frame(error, 0, 0)[frames.HEAD.size :])
    assert type(error) is type(found)
    assert (str(error), error.inserts) == (str(found), found.inserts)
    assert getattr(error, "reason", 0) == getattr(found, "reason", 0)


@given(st.lists(st.tuples(st.integers(1, 255), st.binary(max_size=300)), max_size=20), st.integers(1, 50))
def test_frames_come_whole_however_their_bytes_come(sent, step):
    """Frames that come in pieces, or several at once, are taken one by one."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        channel, found = Channel(ours), []
        data = b"".join(frames.frame(kind, said, 5) for kind, said in sent)
        for at in range(0, len(data), step):
            theirs.sendall(data[at : at + step])
            assert channel.read()
            while (taken := channel.next_frame()) is not None:
                found.append((taken[0], bytes(taken[2])))
    assert sent == found


def test_large_frames_and_answers_that_are_not_read():
    """A large frame comes in turns; an answer that the other side does not take waits, and goes on when it does."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        here, there = Channel(ours), Channel(theirs)
        body = bytes(range(256)) * 8_000
        here.answers += [frames.frame(frames.PUT, b"small"), frames.frame(frames.PUT, body)]
        assert here.send()
        assert here.unsent > len(body) // 2
        found = []
        while len(found) < 2:
            there.read()
            while (taken := there.next_frame()) is not None:
                found.append(bytes(taken[2]))
            assert here.send()
        assert [b"small", body] == found
        assert 0 == here.unsent


def test_a_frame_that_is_too_long_is_refused():
    """Nobody has memory taken by a length alone."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(frames.HEAD.pack(frames.LONGEST + 1, frames.PUT, 0, 0))
        channel = Channel(ours)
        assert channel.read()
        with pytest.raises(BadFrameError):
            channel.next_frame()
