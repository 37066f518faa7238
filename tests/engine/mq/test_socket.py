"""A queue manager over its socket does what it does in the process: units of work, waits, refusals, displays."""

import json
import stat
import threading
import time

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager, frames
from engine.mq.addresses import listening
from engine.mq.channel import Channel
from engine.mq.connection import Connection, UnsentError
from engine.mq.definitions import QueueDefinition
from engine.mq.server import Server
from engine.work import Order, Selection
from tests.engine.mq.served import bodies, eventually, put, refused, serving


@pytest.fixture
def manager():
    small = QueueDefinition("SMALL", max_depth=2)
    wide = QueueDefinition("WIDE", max_depth=400)
    short = QueueDefinition("SHORT", max_message_length=10)
    return QueueManager("A", "B", small, wide, short, name="QMX")


@pytest.fixture
def client(manager, tmp_path):
    with serving(manager, tmp_path) as found:
        yield found


def test_puts_are_seen_when_they_are_committed(client, manager):
    """Puts that travel with their commit are on the queue as one."""
    work = client.work()
    done = [work.put("A", Descriptor(), b"%d" % number) for number in range(5)]
    assert 0 == manager.depth("A")
    work.commit()
    assert [b"0", b"1", b"2", b"3", b"4"] == bodies(client, "A")
    assert 5 == len({descriptor.msg_id for descriptor in done})
    assert [descriptor for descriptor, _ in client.cursor("A")] == done


def test_what_is_got_comes_back_when_it_is_backed_out(client):
    """The message stands where it was, its backout count higher."""
    put(client, "A", b"one", b"two")
    work = client.work()
    assert b"one" == work.get("A").body
    work.put("B", Descriptor(), b"answer")
    work.back_out()
    again = work.get("A")
    assert (b"one", 1) == (again.body, again.descriptor.backout_count)
    work.commit()
    assert [[b"two"], []] == [bodies(client, "A"), bodies(client, "B")]


def test_outside_syncpoint_things_happen_at_once(client):
    """A get and a put that are no part of the unit stay when it is backed out."""
    put(client, "A", b"one")
    work = client.work()
    assert b"one" == work.get("A", syncpoint=False).body
    work.put("B", Descriptor(), b"answer", syncpoint=False)
    work.back_out()
    assert [[], [b"answer"]] == [bodies(client, "A"), bodies(client, "B")]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (None, b"a"),
        (Selection(correl_id=b"2".ljust(24, b"\0")), b"b"),
        (Selection(msg_id=b"m".ljust(24, b"\0")), b"c"),
        (Selection(group_id=b"g".ljust(24, b"\0")), b"d"),
        (Selection(selector="JMSPriority = 0 AND JMSCorrelationID IS NOT NULL"), b"b"),
        (Selection(logical=True, order=Order("byUserID", groups=True)), b"a"),
        (Selection(browse=True), b"a"),
        (Selection(correl_id=b"3".ljust(24, b"\0")), None),
    ],
)
def test_selections_travel_whole(client, selection, expected):
    """Ids, selectors, orders and browsing select over the socket what they select in the process."""
    put(client, "A", b"a")
    put(client, "A", b"b", correl_id=b"2".ljust(24, b"\0"))
    put(client, "A", b"c", msg_id=b"m".ljust(24, b"\0"))
    put(client, "A", b"d", group_id=b"g".ljust(24, b"\0"), msg_flags=24)
    found = client.work().get("A", selection)
    assert expected == (None if found is None else found.body)


def test_a_get_waits_for_its_message_and_no_longer(client):
    """It ends as soon as the message is committed, and with nothing when its time is over."""
    work = client.work()
    begun = time.monotonic()
    assert work.get("A", wait=0.05) is None
    assert 0.05 <= time.monotonic() - begun < 2
    timer = threading.Timer(0.1, put, (client, "A", b"late"))
    timer.start()
    assert b"late" == work.get("A", wait=30).body
    timer.join()


def test_each_waiter_gets_its_own_message(client):
    """Of many that wait for correlation ids, each is answered with its own."""
    found = {}

    def wait(number):
        wanted = Selection(correl_id=bytes([number]) * 24)
        found[number] = client.work().get("A", wanted, wait=10).body

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for number in reversed(range(1, 9)):
        put(client, "A", b"%d" % number, correl_id=bytes([number]) * 24)
    for thread in threads:
        thread.join(10)
    assert {number: b"%d" % number for number in range(1, 9)} == found


def test_refusals_have_their_reason_where_they_happen(client):
    """A put that is refused fails by itself, as in the process, also where others go with their commit."""
    work = client.work()
    assert 2085 == refused(lambda: work.put("NONE", Descriptor(), b""))
    assert 2085 == refused(lambda: work.get("NONE"))
    assert 2030 == refused(lambda: work.put("SHORT", Descriptor(), b"longer than ten"))
    work.put("SHORT", Descriptor(), b"short")
    assert 2030 == refused(lambda: work.put("SHORT", Descriptor(), b"longer than ten"))
    work.put("SMALL", Descriptor(), b"1")
    work.put("SMALL", Descriptor(), b"2")
    assert 2053 == refused(lambda: work.put("SMALL", Descriptor(), b"3"))
    work.commit()
    assert [[b"short"], [b"1", b"2"]] == [bodies(client, "SHORT"), bodies(client, "SMALL")]
    assert 2459 == refused(lambda: work.get("A", Selection(selector="colour = ")))
    assert 2067 == refused(lambda: client.define("QLOCAL", "NEW", {"NOSUCH": 1}))
    client.alter("QLOCAL", "A", {"PUT": "DISABLED", "GET": "DISABLED"})
    assert 2051 == refused(lambda: work.put("A", Descriptor(), b""))
    assert 2016 == refused(lambda: work.get("A"))


def test_a_put_that_only_the_commit_finds_refused_takes_the_unit_back(client, manager):
    """The unit is backed out uncounted, and puts one by one when it is tried again."""
    put(client, "B", b"in")
    work = client.work()
    work.put("WIDE", Descriptor(), b"first")
    work.commit()
    assert b"in" == work.get("B").body
    work.put("WIDE", Descriptor(), b"held")  # which is not said to the server yet
    put(manager, "WIDE", *(b"x" for _ in range(399)))
    assert 2053 == refused(work.commit)
    again = work.get("B")
    assert (b"in", 0) == (again.body, again.descriptor.backout_count)
    assert 2053 == refused(lambda: work.put("WIDE", Descriptor(), b"held"))


def test_a_commit_carries_the_next_get_of_a_patient_reader(client, manager):
    """The message comes with the commit, and goes back as it was when something else is wanted."""
    put(client, "A", b"1", b"2", b"3")
    work = client.work()
    work.patience = -1.0
    assert b"1" == work.get("A", wait=-1).body
    work.commit()
    eventually(lambda: manager.depth("A") == 1)
    assert b"2" == work.get("A", wait=-1).body
    work.commit()
    assert work.get("B") is None
    assert [(b"3", 0)] == [(body, descriptor.backout_count) for descriptor, body in client.cursor("A")]


@pytest.mark.parametrize("remote", [True, False])
def test_a_commit_and_the_next_get_in_one(client, manager, remote):
    """The unit is committed before the next message comes; what the commit refuses is raised, and nothing is got."""
    put(client, "A", b"1", b"2")
    work = (client if remote else manager).work()
    assert b"1" == work.get("A").body
    work.put("B", Descriptor(), b"answer")
    assert b"2" == work.commit_then_get("A").body
    assert [b"answer"] == bodies(client, "B")
    assert work.commit_then_get("A", wait=0.01) is None
    assert 2085 == refused(lambda: work.commit_then_get("NONE"))


@pytest.mark.parametrize("persistence", [0, 1])
def test_requests_and_replies_in_one_frame_each(tmp_path, persistence):
    """Each reply comes to who asked, whatever lasts; the units that are open at the end come back, and nothing else."""
    QueueManager.create(tmp_path / "QM")
    with QueueManager.open(tmp_path / "QM") as queues:
        queues.mqsc("DEFINE QLOCAL(A) MAXDEPTH(5000)\nDEFINE QLOCAL(B) MAXDEPTH(5000)")
        with serving(queues, tmp_path / "QM") as client:
            threads = [threading.Thread(target=replies, args=(client.work(),)) for _ in range(2)]
            threads += [threading.Thread(target=asks, args=(client.work(), n, persistence)) for n in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads[2:]:
                thread.join(60)
            done = client.work()
            for _ in range(2):
                done.put("A", Descriptor(), b"end")
                done.commit()
            for thread in threads[:2]:
                thread.join(10)
            assert [] == [thread for thread in threads if thread.is_alive()]
            assert (0, 0) == (client.depth("A"), client.depth("B"))


def asks(work, number, persistence):
    for count in range(40):
        body = b"%d %d" % (number, count)
        sent = work.put("A", Descriptor(persistence=persistence, reply_to_q="B"), body)
        answer = work.commit_then_get("B", Selection(correl_id=sent.msg_id), wait=30)
        assert (body, persistence) == (answer.body, answer.descriptor.persistence)
    work.commit()


def replies(work):
    asked = work.get("A", wait=30)
    while asked.body != b"end":
        reply = Descriptor(correl_id=asked.descriptor.msg_id, persistence=asked.descriptor.persistence)
        work.put(asked.descriptor.reply_to_q, reply, asked.body)
        asked = work.commit_then_get("A", wait=30)
    work.commit()


def test_a_limit_is_that_of_the_get_itself(client):
    """A get that waits shorter than the one before ends in its own time, and one that waits longer is not cut short."""
    work = client.work()
    for wait in (0.05, 0.3, 0.02, 0.3, 0.02):
        begun = time.monotonic()
        assert work.get("A", wait=wait) is None
        assert wait <= time.monotonic() - begun < wait + 2
    timer = threading.Timer(0.1, put, (client, "A", b"came"))
    assert work.get("A", wait=0.02) is None
    timer.start()
    assert b"came" == work.get("A", wait=30).body
    timer.join()


def test_a_reader_that_waits_is_interrupted(client):
    """Its get ends with nothing, and it waits no more."""
    work = client.work()
    timer = threading.Timer(0.1, work.interrupt)
    timer.start()
    assert work.get("A", wait=-1) is None
    assert work.get("A", wait=-1) is None
    timer.join()


def test_the_unit_of_a_client_that_goes_is_backed_out_at_once(client, manager):
    """What it had got is there for others, counted; what it was given unasked is not."""
    put(client, "A", b"1", b"2")
    lost, patient = client.work(), client.work()
    lost.put("A", Descriptor(), b"never")
    assert b"1" == lost.get("A").body
    lost.close()
    eventually(lambda: manager.depth("A") == 2)
    patient.patience = -1.0
    assert b"1" == patient.get("A").body
    patient.commit()
    eventually(lambda: manager.depth("A") == 0)
    patient.close()
    eventually(lambda: manager.depth("A") == 1)
    assert [(b"2", 0)] == [(body, descriptor.backout_count) for descriptor, body in client.cursor("A")]


def test_large_bodies_cross_in_both_directions(client):
    """A body of several megabytes comes out as it went in, beside small ones."""
    large = bytes(range(256)) * 20_000
    put(client, "A", b"small", large, b"last")
    work = client.work()
    assert [b"small", large, b"last"] == [work.get("A").body for _ in range(3)]
    work.commit()


def test_displays_definitions_and_scripts_answer_as_in_the_process(client, manager):
    """Everything that is asked of a queue manager can be asked over the socket."""
    client.define("QLOCAL", "NEW", {"MAXDEPTH": 7})
    assert manager.display("QLOCAL", "NEW") == client.display("QLOCAL", "NEW")
    assert manager.mqsc("DISPLAY QLOCAL(NEW) MAXDEPTH") == client.mqsc("DISPLAY QLOCAL(NEW) MAXDEPTH")
    client.delete("QLOCAL", "NEW")
    assert manager.names() == client.names()
    assert manager.attributes("A") == client.attributes("A")
    assert client.attributes("NONE") is None
    assert 2 == len({client.new_id(), client.new_id()})
    put(client, "A", *(b"%d" % number for number in range(1000)))
    assert 1000 == client.depth("A") == len(client.browse("A"))
    assert [b"%d" % number for number in range(1000)] == bodies(client, "A")
    assert (1000, 0) == (client.purge("A"), client.depth("A"))
    assert "QMX" == client.name


def test_a_folder_deeper_than_an_address_works(manager, tmp_path):
    """The socket stands in the folder itself, whose path may have any length; only its user may use it."""
    folder = tmp_path / ("deep" * 30) / ("deeper" * 20)
    folder.mkdir(parents=True)
    with serving(manager, folder) as client:
        put(client, "A", b"there")
        assert [b"there"] == bodies(client, "A")
        assert 0o600 == stat.S_IMODE((folder / "socket").stat().st_mode)


def test_a_group_may_be_let_in(tmp_path):
    """The socket is then the group's as well."""
    made = listening(tmp_path, str((tmp_path).stat().st_gid))
    made.close()
    assert 0o660 == stat.S_IMODE((tmp_path / "socket").stat().st_mode)
    assert 0o710 == stat.S_IMODE(tmp_path.stat().st_mode)
    assert 2035 == refused(lambda: listening(tmp_path, "no such group"))


def test_nobody_serves_a_folder(tmp_path):
    """That nobody does is said with a reason."""
    assert 2059 == refused(lambda: QueueManager.connect(tmp_path))
    listening(tmp_path).close()
    assert 2059 == refused(lambda: QueueManager.connect(tmp_path))


def test_a_server_that_ends_breaks_units_and_is_found_again(manager, tmp_path):
    """A unit that was open is lost and says so until it is backed out; then the work goes on with the next server."""
    with serving(manager, tmp_path) as first:
        work = first.work()
        work.put("A", Descriptor(), b"lost")
    assert 2009 == refused(work.commit)
    assert 2009 == refused(lambda: work.put("A", Descriptor(), b"in no unit"))
    work.back_out()
    assert 2059 == refused(lambda: work.get("A"))
    with serving(manager, tmp_path):
        work.put("A", Descriptor(), b"kept")
        work.commit()
        assert [b"kept"] == bodies(first, "A")
        work.close()


def test_a_server_that_is_to_end_waits_for_those_at_work(manager, tmp_path):
    """Clients that have been at nothing for a second are dropped; a unit that is open is finished first."""
    server = Server(manager, tmp_path)
    thread = threading.Thread(target=server.serve)
    thread.start()
    client = QueueManager.connect(tmp_path)
    work = client.work()
    work.put("A", Descriptor(), b"in time")
    server.drain()
    thread.join(0.2)
    assert thread.is_alive()
    work.commit()
    thread.join(5)
    assert not thread.is_alive()
    assert [b"in time"] == [body for _, body in manager.cursor("A")]
    with pytest.raises(MessageException):
        client.names()


@pytest.mark.parametrize("reached", ["manager", "client"])
def test_a_purge_takes_an_alias_as_a_get_does_and_is_counted(reached, request):
    """What an alias stands for is emptied, in the process and over the socket, and statistics say how much it was."""
    queues = request.getfixturevalue(reached)
    queues.define("QALIAS", "FRONT", {"TARGET": "A"})
    put(queues, "FRONT", b"1", b"2", b"3")
    assert (3, 0) == (queues.purge("FRONT"), queues.depth("A"))
    assert [3] == [each["purged"] for each in queues.statistics() if each["queue"] == "A"]


@pytest.mark.parametrize("ends", ["stop", "drain"])
def test_what_is_sent_to_a_server_that_ends_is_done_or_fails_as_it_is_sent(manager, tmp_path, monkeypatch, ends):
    """A client of which a server takes no more learns as it sends; what it has sent before is done and answered."""
    server, drop, said = Server(manager, tmp_path), Server.drop, []
    thread = threading.Thread(target=server.serve)
    thread.start()
    early, late = (Connection(tmp_path) for _ in range(2))

    def say(connection):
        connection.send([frames.frame(frames.CALL, b'{"call": "names", "arguments": [], "options": {}}')])

    def end_reading(channel, ended=Channel.end_reading):
        if not said:
            said.append("early")
            say(early)
        ended(channel)

    def drop_behind(server, session):
        said.append("dropped")
        if said.count("dropped") == 2:
            with pytest.raises(UnsentError):
                say(late)
        drop(server, session)

    monkeypatch.setattr(Channel, "end_reading", end_reading)
    monkeypatch.setattr(Server, "drop", drop_behind)
    getattr(server, ends)()
    thread.join(10)
    assert ["early", "dropped", "dropped"] == said
    assert manager.names() == json.loads(early.answer(frames.DATA).data)
    early.close()
    late.close()
