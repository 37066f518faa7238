"""Authority records: who may do what, by which profile, and what is refused with reason 2035."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager, server
from engine.mq.security.principals import Principals
from engine.mq.security.profiles import Profiles, compiled, specificity
from engine.mq.security.rights import Rights, Security
from engine.mq.security.user_view import Guarded
from engine.work import Selection

Step = Callable[[QueueManager, Guarded], object]


def commands(manager: QueueManager | Guarded, *lines: str) -> list[str]:
    """Carry out commands, none of which fails, and return the codes of their answers."""
    answers = manager.mqsc("\n".join(lines))
    assert [] == [answer.text for answer in answers if answer.failed]
    return [answer.code for answer in answers]


def guarded(manager: QueueManager, user: str = "ann") -> Guarded:
    face = manager.acting_for(user)
    assert isinstance(face, Guarded)
    return face


def reason(step: Callable[[], object]) -> int:
    """Returns the reason for which something is refused, or 0."""
    try:
        step()
    except MessageException as error:
        return error.reason
    return 0


def put(face: QueueManager | Guarded, queue: str = "Q", **fields: object) -> Descriptor:
    work = face.work("ann")
    full = work.put(queue, Descriptor(**fields), b"x")  # type: ignore[arg-type]
    work.commit()
    return full


STEPS: dict[str, Step] = {
    "put": lambda _, ann: put(ann),
    "put to the alias": lambda _, ann: put(ann, "A"),
    "get": lambda _, ann: ann.work().get("Q"),
    "browse": lambda _, ann: ann.work().get("Q", Selection(browse=True)),
    "inquire": lambda _, ann: ann.work().attributes("Q"),
    "depth": lambda _, ann: ann.depth("Q"),
    "publish": lambda _, ann: ann.publish("news/today", Descriptor(), b"x"),
    "subscribe": lambda _, ann: ann.define("SUB", "S", {"TOPICSTR": "news/#", "DESTCLAS": "MANAGED"}),
    "subscribe to all": lambda _, ann: ann.define("SUB", "S", {"TOPICSTR": "#", "DESTCLAS": "MANAGED"}),
    "define": lambda _, ann: ann.define("QLOCAL", "NEW", {}),
    "alter": lambda _, ann: ann.alter("QLOCAL", "Q", {"MAXDEPTH": 5}),
    "delete": lambda _, ann: ann.delete("QLOCAL", "Q"),
    "clear": lambda _, ann: ann.clear("Q"),
    "grant": lambda _, ann: ann.define("AUTHREC", "QUEUE PRINCIPAL ann Q", {"AUTHADD": "ALL"}),
}
QUEUE = "SET AUTHREC PROFILE({}) OBJTYPE(QUEUE) {} AUTHADD({})"
TOPIC = "SET AUTHREC PROFILE({}) OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD({})"
ANN = "PRINCIPAL('ann')"


@pytest.mark.parametrize("step", STEPS)
def test_no_record(step: str) -> None:
    """A user without any record may do nothing, and the owner may do all."""
    queues = QueueManager("Q")
    commands(queues, "DEFINE QALIAS(A) TARGET(Q)")
    assert 2035 == reason(lambda: STEPS[step](queues, guarded(queues)))
    assert queues is queues.acting_for(queues.security.owner)


@pytest.mark.parametrize(
    ("records", "allowed"),
    [
        ([QUEUE.format("Q", ANN, "PUT")], {"put"}),
        ([QUEUE.format("Q", "GROUP('clerks')", "PUT"), QUEUE.format("Q", ANN, "GET")], {"put", "get"}),
        ([QUEUE.format("Q", "GROUP('PublicGroup')", "PUT")], {"put"}),
        ([QUEUE.format("Q", "GROUP('others')", "PUT")], set()),
        ([QUEUE.format("A", ANN, "PUT")], {"put to the alias"}),
        ([QUEUE.format("**", ANN, "PUT")], {"put", "put to the alias"}),
        ([QUEUE.format("**", ANN, "PUT"), QUEUE.format("Q", ANN, "GET")], {"get", "put to the alias"}),
        ([QUEUE.format("Q", ANN, "ALLMQI")], {"put", "get", "browse", "inquire", "depth"}),
        ([QUEUE.format("Q", ANN, "ALLADM")], {"depth", "alter", "delete", "clear"}),
        ([QUEUE.format("Q", ANN, "NONE")], set()),
        ([QUEUE.format("Q", ANN, "PUT"), QUEUE.format("Q", ANN, "NONE) AUTHRMV(PUT")], set()),
        ([QUEUE.format("NEW", ANN, "CRT")], {"define"}),
        (["SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('ann') AUTHADD(CHG)"], {"grant"}),
        ([TOPIC.format("NEWS", "PUB")], {"publish"}),
        ([TOPIC.format("NEWS", "SUB")], {"subscribe"}),
        ([TOPIC.format("SYSTEM.BASE.TOPIC", "PUB,SUB")], {"publish", "subscribe", "subscribe to all"}),
        ([TOPIC.format("'topic://news/today'", "PUB")], {"publish"}),
        ([TOPIC.format("SYSTEM.BASE.TOPIC", "PUB"), TOPIC.format("NEWS", "NONE) AUTHRMV(PUB")], set()),
    ],
)
def test_what_records_allow(records: list[str], allowed: set[str]) -> None:
    """Entries of user and groups add up, the most specific profile of each counts, and an alias has its own."""
    done = set()
    for name, step in STEPS.items():
        queues = QueueManager("Q")
        queues.security.principals = Listed({"ann": ["clerks"]})
        commands(queues, "DEFINE QALIAS(A) TARGET(Q)", "DEFINE TOPIC(NEWS) TOPICSTR('news')")
        commands(queues, *records)
        if not reason(lambda: step(queues, guarded(queues))):  # noqa: B023 - it is called here
            done.add(name)
    assert allowed == done


class Listed(Principals):
    """Groups of users, as a test lists them."""

    def __init__(self, groups: dict[str, list[str]]) -> None:
        super().__init__()
        self.by_user = groups

    def groups(self, user: str) -> list[str]:
        return self.by_user.get(user, [])


def test_changes_count_at_once() -> None:
    """A unit of work that has put learns with its next put that its authority is gone, or is there again."""
    queues = QueueManager("Q")
    work = guarded(queues).work()
    found = []
    for record in ("AUTHADD(PUT)", "AUTHRMV(PUT)", "AUTHADD(ALL)"):
        commands(queues, f"SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') {record}")
        found.append(reason(lambda: work.put("Q", Descriptor(), b"x")))
    commands(queues, "DELETE AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann')")
    assert [0, 2035, 0, 2035] == [*found, reason(lambda: work.put("Q", Descriptor(), b"x"))]


def test_refresh_reads_groups_again(tmp_path: Path) -> None:
    """REFRESH SECURITY reads again who belongs to which group."""
    queues = QueueManager("Q")
    file = tmp_path / "groups"
    queues.security.principals = Principals(file)
    commands(queues, QUEUE.format("Q", "GROUP('clerks')", "PUT"))
    before = reason(lambda: put(guarded(queues)))
    file.write_text("# who is what\nclerks:x:100:bob,ann\n")
    commands(queues, "REFRESH SECURITY TYPE(AUTHSERV)")
    assert (2035, 0) == (before, reason(lambda: put(guarded(queues))))


def test_records_last(tmp_path: Path) -> None:
    """Records are kept in the folder of a queue manager."""
    QueueManager.create(tmp_path / "qm")
    with QueueManager.open(tmp_path / "qm") as queues:
        commands(queues, QUEUE.format("ORDERS.**", ANN, "PUT,GET"), TOPIC.format("NEWS", "NONE) AUTHRMV(PUB"))
        before = queues.display("AUTHREC")
    with QueueManager.open(tmp_path / "qm") as queues:
        assert before == queues.display("AUTHREC")
    assert ["GET,PUT", "NONE"] == [one["AUTHLIST"] for one in before]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) AUTHADD(PUT)", "AMQ8405E"),
        ("SET AUTHREC PROFILE(Q) PRINCIPAL('ann') AUTHADD(PUT)", "AMQ8405E"),
        ("SET AUTHREC PROFILE(Q) OBJTYPE(CHANNEL) PRINCIPAL('ann') AUTHADD(PUT)", "AMQ8405E"),
        ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUB)", "AMQ8405E"),
        ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT) AUTHRMV(PUT)", "AMQ8405E"),
        ("SET AUTHREC PROFILE('A**B') OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT)", "AMQ8405E"),
        ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann')", "AMQ8405E"),
        ("SET AUTHREC PROFILE('topic://a/#') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(PUB)", "AMQ8405E"),
        ("SET AUTHREC PROFILE('a/+') OBJTYPE(TOPIC) PRINCIPAL('ann') AUTHADD(PUB)", "AMQ8405E"),
        ("REFRESH QMGR", "AMQ8405E"),
        ("REFRESH QMGR TYPE(PROXYSUB)", "AMQ8405E"),
        ("DELETE AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('ann')", "AMQ8147E"),
        ("SET CHLAUTH(C)", "AMQ8147E"),
        ("REFRESH SECURITY TYPE(SSL)", "AMQ8405E"),
    ],
)
def test_wrong_commands(command: str, problem: str) -> None:
    """A command about records that says too little, or what cannot be, is refused and changes nothing."""
    queues = QueueManager("Q")
    answers = queues.mqsc(command)
    assert [(problem, True)] == [(answer.code, answer.failed) for answer in answers]
    assert [] == queues.display("AUTHREC")


def test_display() -> None:
    """DISPLAY AUTHREC shows the records whose profiles a name matches, or those of a user."""
    queues = QueueManager("Q")
    commands(queues, QUEUE.format("AB.*", ANN, "PUT"), QUEUE.format("AB.C", "GROUP('g')", "GET"))
    for said, profiles in {
        "": ["AB.C", "AB.*"],
        "PROFILE(AB.C)": ["AB.C", "AB.*"],
        "PROFILE(AB.D)": ["AB.*"],
        "PROFILE(AB.C) MATCH(EXACT)": ["AB.C"],
        "PRINCIPAL('ann')": ["AB.*"],
        "OBJTYPE(TOPIC)": [],
    }.items():
        shown = queues.mqsc(f"DISPLAY AUTHREC {said}")[0].objects
        assert (said, profiles) == (said, [dict(one)["PROFILE"] for one in shown])


ORIGIN = {"put_appl_name": "other", "put_date": "20200101", "put_time": "12000000"}


@pytest.mark.parametrize(
    ("authorities", "user", "program"),
    [("PUT", "ann", "mine"), ("PUT,SETID", "eve", "mine"), ("PUT,SETALL", "eve", "other")],
)
def test_context(authorities: str, user: str, program: str) -> None:
    """Who may not set the origin of messages has its own in them."""
    queues = QueueManager("Q")
    commands(queues, QUEUE.format("Q", ANN, authorities))
    work = guarded(queues).work(application="mine")
    full = work.put("Q", Descriptor(user_identifier="eve", **ORIGIN), b"x")  # type: ignore[arg-type]
    assert (user, program) == (full.user_identifier, full.put_appl_name)


@pytest.mark.parametrize(("authority", "user"), [("PASSID", "eve"), ("PUT", "ann")])
def test_context_that_is_passed(authority: str, user: str) -> None:
    """PASSID lets the identity of a message that the unit has got go on with another."""
    queues = QueueManager("IN", "OUT")
    put(queues, "IN", user_identifier="eve")
    commands(queues, QUEUE.format("IN", ANN, "GET"), QUEUE.format("OUT", ANN, f"PUT,{authority}"))
    work = guarded(queues).work()
    arrival = work.get("IN")
    assert arrival is not None
    assert user == work.put("OUT", *arrival).user_identifier


def test_subscriptions_of_users() -> None:
    """A subscription is sent what its user may have, as persistent as it may be; another's cannot be deleted."""
    queues = QueueManager("Q")
    commands(queues, "DEFINE TOPIC(NEWS) TOPICSTR('news')", "DEFINE TOPIC(SECRET) TOPICSTR('news/secret')")
    commands(
        queues, TOPIC.format("NEWS", "SUB"), TOPIC.format("SECRET", "NONE) AUTHRMV(SUB"), QUEUE.format("Q", ANN, "PUT")
    )
    guarded(queues).define("SUB", "S", {"TOPICSTR": "news/#", "DEST": "Q"})
    for topic in ("news/secret", "news/today"):
        queues.publish(topic, Descriptor(persistence=1), topic.encode())
    commands(queues, TOPIC.format("NEWS", "NONE) AUTHRMV(PERSIST"))
    queues.publish("news/more", Descriptor(persistence=1), b"more")
    found = [(one.body, one.descriptor.persistence) for one in queues.browse("Q")]
    assert [(b"news/today", 1), (b"more", 0)] == found
    assert 2035 == reason(lambda: guarded(queues, "bob").delete("SUB", "S"))
    assert 0 == reason(lambda: guarded(queues).delete("SUB", "S"))


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize(
    ("own", "group", "allowed"),
    [("", "", False), ("+", "", True), ("", "+", True), ("-", "+", False), ("+", "-", True), ("", "-", False)],
)
def test_rights_down_the_tree(depth: int, own: str, group: str, allowed: bool) -> None:
    """What is said of a topic holds for those below, the user's own before its group's."""
    queues = QueueManager()
    queues.security.principals = Listed({"ann": ["clerks"]})
    words = {"+": "AUTHADD(PUB)", "-": "AUTHRMV(PUB)"}
    for entity, said in ((ANN, own), ("GROUP('clerks')", group)):
        if said:
            commands(queues, f"SET AUTHREC PROFILE('topic://a') OBJTYPE(TOPIC) {entity} {words[said]}")
    topic = "/".join(["a", "b", "c", "d", "e"][: depth + 1])
    assert (0 if allowed else 2035) == reason(lambda: guarded(queues).publish(topic, Descriptor(), b""))


def test_idle_users_are_forgotten() -> None:
    """Users who were not seen for 54 minutes are forgotten, at looks that are 12 minutes apart."""
    now = [0.0]
    queues = QueueManager("Q")
    security = Security(queues.directory.authorities, queues.directory.topics, lambda: now[0])
    security.rights("ann")
    for _ in range(6):
        now[0] += 13 * 60
        security.rights("bob").may("t", 1)
    assert 1 == security.users()
    assert isinstance(security.rights("bob"), Rights)


NAMES = st.lists(st.sampled_from(["A", "AB", "B", "BA", "C"]), min_size=1, max_size=4).map(".".join)
QUALIFIERS = st.one_of(st.sampled_from(["A", "AB", "?", "*", "A*", "?B", "*A", "**"]))
PROFILES = st.lists(QUALIFIERS, min_size=1, max_size=4).filter(lambda parts: parts.count("**") < 2).map(".".join)


def naive_text(pattern: str, text: str) -> bool:
    """Returns True where a qualifier matches, tried character by character."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(naive_text(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return bool(text) and pattern[0] in {"?", text[0]} and naive_text(pattern[1:], text[1:])


def naive(pattern: list[str], name: list[str]) -> bool:
    """Returns True where a name matches a profile, tried qualifier by qualifier."""
    if not pattern:
        return not name
    if pattern[0] == "**":
        return any(naive(pattern[1:], name[at:]) for at in range(len(name) + 1))
    return bool(name) and naive_text(pattern[0], name[0]) and naive(pattern[1:], name[1:])


@given(PROFILES, NAMES)
def test_profiles_naively(profile: str, name: str) -> None:
    """A profile matches the names that a matcher without any expressions says it does."""
    assert naive(profile.split("."), name.split(".")) == bool(compiled(profile).fullmatch(name))


@given(st.lists(PROFILES, max_size=6), NAMES)
def test_the_most_specific_profile(profiles: list[str], name: str) -> None:
    """Of the profiles that a name matches, the one counts that is most specific from the left."""
    kept = Profiles[str]()
    for profile in profiles:
        kept.put(profile, profile)
    fitting = [one for one in profiles if naive(one.split("."), name.split("."))]
    exact = [one for one in fitting if one == name]
    expected = exact[0] if exact else min(fitting, key=lambda one: (specificity(one), one), default=None)
    assert expected == kept.find(name)


@pytest.fixture
def peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[QueueManager, Path]]:
    """A queue manager whose socket sees each client as ann, a user other than its owner."""
    monkeypatch.setattr(server, "name_of", lambda _: "ann")
    monkeypatch.setattr(server.Server, "trusts", lambda *_: False)
    QueueManager.create(tmp_path / "qm")
    with QueueManager.open(tmp_path / "qm") as manager:
        manager.define("QLOCAL", "Q", {})
        served = server.Server(manager, tmp_path / "qm")
        thread = Thread(target=served.serve)
        thread.start()
        try:
            yield manager, tmp_path / "qm"
        finally:
            served.stop()
            thread.join()


CONNECT = "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('ann') AUTHADD({})"


def test_other_users_on_the_socket(peers: tuple[QueueManager, Path]) -> None:
    """Another user than the owner needs CONNECT, then what its records say, and CTRL or CLR for what is no unit."""
    manager, folder = peers
    refused = reason(lambda: QueueManager.connect(folder))
    commands(manager, CONNECT.format("CONNECT"), QUEUE.format("Q", ANN, "PUT"))
    with QueueManager.connect(folder) as client:
        steps: list[Callable[[], object]] = [
            lambda: client.work().put("Q", Descriptor(), b"x", syncpoint=False),
            lambda: client.work().get("Q"),
            lambda: list(client.cursor("Q")),
            lambda: client.purge("Q"),
            lambda: client.define("QLOCAL", "NEW", {}),
            lambda: client.depth("Q"),
            lambda: client.work().authorise("bob", "Q"),
            client.stop,
        ]
        found = [reason(step) for step in steps]
        failed = [answer.failed for answer in client.mqsc(f"{QUEUE.format('Q', ANN, 'ALL')}\nDISPLAY QLOCAL(*)")]
        assert ([], [True, False]) == (client.names(), failed)
    assert (2035, [0, *[2035] * 7]) == (refused, found)
    assert ["ann"] == [arrival.descriptor.user_identifier for arrival in manager.browse("Q")]


def test_acting_for_others_on_the_socket(peers: tuple[QueueManager, Path]) -> None:
    """Who acts for a third user needs ALTUSR, and is held to that user's records."""
    manager, folder = peers
    commands(manager, CONNECT.format("CONNECT"), QUEUE.format("Q", "PRINCIPAL('bob')", "PUT"))
    with QueueManager.connect(folder) as client:
        before = reason(lambda: client.acting_for("bob"))
        commands(manager, CONNECT.format("ALTUSR"))
        with client.acting_for("bob") as face:
            found = [reason(lambda: put(face)), reason(lambda: face.work().get("Q"))]
    assert (2035, [0, 2035]) == (before, found)
    assert ["bob"] == [arrival.descriptor.user_identifier for arrival in manager.browse("Q")]


@pytest.mark.parametrize("spelled", [str.upper, str.lower])
def test_checks_read_attributes_however_they_are_written(spelled: Callable[[str], str]) -> None:
    """STREAMQ takes the right to change both queues; no spelling of an attribute escapes a check."""
    queues = QueueManager("Q", "S")
    commands(queues, QUEUE.format("Q", ANN, "CHG,PUT"), TOPIC.format("SYSTEM.BASE.TOPIC", "NONE"))
    ann = guarded(queues)
    stream = {spelled("STREAMQ"): "S"}
    topic, queue = {spelled("TOPICSTR"): "t", spelled("DEST"): "Q"}, {spelled("TOPICSTR"): "t", spelled("DEST"): "S"}
    assert 2035 == reason(lambda: ann.alter("QLOCAL", "Q", stream))
    assert 2035 == reason(lambda: ann.define("QLOCAL", "Q", stream, replace=True))
    commands(queues, QUEUE.format("S", ANN, "CHG"))
    assert 0 == reason(lambda: ann.alter("QLOCAL", "Q", stream))
    assert 0 == reason(lambda: ann.alter("QLOCAL", "Q", {spelled("STREAMQ"): ""}))
    assert 2035 == reason(lambda: ann.define("SUB", "N", topic))
    commands(queues, TOPIC.format("'topic://t'", "SUB"))
    assert (2035, 0) == (reason(lambda: ann.define("SUB", "N", queue)), reason(lambda: ann.define("SUB", "N", topic)))
