"""Message protection: what is put is sealed, what is got is opened, and what is wrong goes to the error queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from engine.descriptor import Descriptor
from engine.errors import BrokerError, MessageException
from engine.mq import QueueManager
from engine.mq.properties import join, properties_of, split
from engine.mq.protection import policies
from engine.mq.protection.envelope import Reader, Writer
from engine.mq.protection.keys import KeyStore
from engine.mq.protection.policies import Policy, UnprotectedError, policy_of
from engine.mq.protection.unit_protection import ERRORS, KEY_STORE
from engine.mq.server import Server
from engine.work import Selection

BODY = b"a body of a message, " * 20
INTEGRITY = "SIGNALG(SHA256) SIGNER('CN=ann,O=P')"
PRIVACY = "SIGNALG(SHA384) ENCALG(AES256) RECIP('CN=ann,O=P') RECIP('O=P,CN=bob')"
CONFIDENTIALITY = "ENCALG(AES256) RECIP('CN=ann,O=P') RECIP('CN=bob,O=P') KEYREUSE(4)"
ALL = {"integrity": INTEGRITY, "privacy": PRIVACY, "confidentiality": CONFIDENTIALITY}


def certificate(name: str, key: Any, *, issuer: str = "", by: Any = None, days: int = 10) -> bytes:
    """Returns a certificate in PEM, of a key, issued by itself or another."""

    def named(text: str) -> x509.Name:
        return x509.Name.from_rfc4514_string(f"O=P,CN={text}")

    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(named(issuer or name), named(name), key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=20))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=name == "authority", path_length=None), critical=True)
    )
    return made.sign(by or key, SHA256()).public_bytes(Encoding.PEM)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The key stores of ann and bob, with each other's certificates, and of eve, whose own they do not have."""
    keys: dict[str, Any] = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("bob", "eve", "authority")}
    keys["ann"] = rsa.generate_private_key(65537, 2048)
    made = {name: certificate(name, key) for name, key in keys.items()}
    issued = certificate("carl", keys["eve"], issuer="authority", by=keys["authority"])
    folders = {}
    for name in ("ann", "bob", "eve", "carl"):
        folder = folders[name] = tmp_path_factory.mktemp(name)
        for other in ("ann", "bob", *(["eve"] if name == "eve" else ["authority"])):
            (folder / f"{other}.crt").write_bytes(made[other])
        if name == "carl":
            (folder / "carl.crt").write_bytes(issued)
        key = keys["eve" if name == "carl" else name]
        (folder / f"{name}.key").touch(0o600)
        (folder / f"{name}.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folders


@pytest.fixture(autouse=True)
def ann(stores: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The user is ann unless a test says otherwise."""
    monkeypatch.setenv(KEY_STORE, str(stores["ann"]))


@pytest.fixture(params=["process", "socket"])
def queues(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A queue manager in this process, and one behind a socket."""
    if request.param == "process":
        yield QueueManager("Q", "S")
        return
    QueueManager.create(tmp_path / "qm")
    with QueueManager.open(tmp_path / "qm") as manager:
        manager.mqsc("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(S)")
        server = Server(manager, tmp_path / "qm")
        thread = Thread(target=server.serve)
        thread.start()
        client = QueueManager.connect(tmp_path / "qm")
        try:
            yield client
        finally:
            client.close()
            server.stop()
            thread.join()


def commands(manager: Any, *lines: str) -> None:
    answers = manager.mqsc("\n".join(lines))
    assert [] == [answer.text for answer in answers if answer.failed]


def put(manager: Any, body: bytes = BODY, queue: str = "Q", **fields: Any) -> Descriptor:
    work = manager.work()
    full: Descriptor = work.put(queue, Descriptor(**fields), body)
    work.commit()
    return full


def raw(manager: QueueManager, queue: str) -> list[bytes]:
    """Returns the bodies as they are kept."""
    return [stored.body for stored in manager.directory.queues[queue].browse()]


@pytest.mark.parametrize("policy", ALL)
def test_there_and_back(queues: Any, policy: str) -> None:
    """A message is got as it was put, by browse, get and cursor."""
    commands(queues, f"SET POLICY(Q) {ALL[policy]}", "DEFINE QALIAS(A) TARGET(Q)")
    full = put(queues, format="MQSTR", coded_char_set_id=437, encoding=273, queue="A")
    assert ("MQSTR", 437, 273) == (full.format, full.coded_char_set_id, full.encoding)
    work = queues.work()
    browsed = work.get("Q", Selection(browse=True))
    got = work.get("Q")
    work.commit()
    for arrival in (browsed, got):
        found = arrival.descriptor
        assert (BODY, "MQSTR", 437, 273) == (arrival.body, found.format, found.coded_char_set_id, found.encoding)


@pytest.mark.parametrize("policy", ALL)
def test_what_is_kept(policy: str) -> None:
    """What is on the queue is an envelope, in which only signed bodies can be read."""
    queues = QueueManager("Q")
    commands(queues, f"SET POLICY(Q) {ALL[policy]}")
    put(queues)
    (body,) = raw(queues, "Q")
    assert (b"PSPM", policy == "integrity") == (body[:4], BODY in body)


def test_properties_stay_readable() -> None:
    """Properties are in front of the envelope, where selectors find them."""
    queues = QueueManager("Q")
    commands(queues, f"SET POLICY(Q) {PRIVACY}")
    for colour in ("red", "blue"):
        descriptor, body = join({"colour": colour}, Descriptor(format="MQSTR"), colour.encode())
        queues.work().put("Q", descriptor, body, syncpoint=False)
    arrival = queues.work().get("Q", Selection(selector="colour = 'blue'"))
    assert arrival is not None
    assert ({"colour": "blue"}, True) == (properties_of(*arrival), arrival.body.endswith(b"blue"))


def test_streams(queues: Any) -> None:
    """The copy of a protected message is read by the policy of the queue that streams."""
    commands(queues, "ALTER QLOCAL(Q) STREAMQ(S)", f"SET POLICY(Q) {PRIVACY}")
    put(queues)
    assert [BODY, BODY] == [queues.work().get(name, None, syncpoint=False).body for name in ("Q", "S")]


def plain(manager: Any, queue: str = "Q", change: Callable[[bytes], bytes] = bytes) -> None:
    """Put what is on a queue back there, changed, as someone would who knows nothing of protection."""
    work = manager.work()
    work.protects = False
    arrival = work.get(queue)
    work.put(queue, arrival.descriptor, change(arrival.body))
    work.commit()


def flip(at: int) -> Callable[[bytes], bytes]:
    """Returns a change of one bit."""
    return lambda body: body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :] if at >= 0 else body[:at] + b"?"


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "its format": flip(20),
    "its length": flip(31),
    "the nonce": flip(40),
    "the header": flip(60),
    "the last byte": lambda body: body[:-1] + bytes([body[-1] ^ 1]),
    "cut off": lambda body: body[:-5],
    "cut short": lambda body: body[:30],
    "something else": lambda _: b"plain",
    "the version": flip(4),
    "the kind": flip(5),
}


@pytest.mark.parametrize("policy", ALL)
@pytest.mark.parametrize("change", CHANGES)
def test_changed_messages(policy: str, change: str) -> None:
    """A message that was changed goes to the error queue with a dead-letter header, and its get fails with 2063."""
    queues = QueueManager("Q")
    commands(queues, f"SET POLICY(Q) {ALL[policy]}")
    put(queues)
    plain(queues, change=CHANGES[change])
    work = queues.work()
    with pytest.raises(MessageException) as caught:
        work.get("Q")
    assert (2063, 0, 0) == (caught.value.reason, queues.depth("Q"), queues.depth(ERRORS))
    work.commit()
    (letter,) = queues.browse(ERRORS)
    assert ("MQDEAD", b"DLH ") == (letter.descriptor.format, letter.body[:4])
    assert (2063).to_bytes(4, "little") == letter.body[8:12]


def test_the_move_is_in_the_unit(queues: Any) -> None:
    """A unit that is backed out leaves the message where it was."""
    commands(queues, f"SET POLICY(Q) {INTEGRITY}")
    put(queues)
    plain(queues, change=lambda body: body + b"!")
    work = queues.work()
    for _ in range(2):
        with pytest.raises(MessageException):
            work.get("Q")
        work.back_out()
    assert (1, 0) == (queues.depth("Q"), queues.depth(ERRORS))
    with pytest.raises(MessageException):
        work.get("Q")
    work.commit()
    assert (0, 1) == (queues.depth("Q"), queues.depth(ERRORS))


@pytest.mark.parametrize(
    ("writer", "reader", "put_by", "got_by", "problem"),
    [
        ("eve", "ann", "SIGNALG(SHA256)", "SIGNALG(SHA256)", "not trusted"),
        ("carl", "ann", "SIGNALG(SHA256)", "SIGNALG(SHA256)", ""),
        ("bob", "ann", "SIGNALG(SHA256)", INTEGRITY, "none of those"),
        ("bob", "ann", "SIGNALG(SHA512)", "SIGNALG(SHA256)", ""),
        ("bob", "ann", "SIGNALG(SHA256)", "SIGNALG(SHA512)", "weaker"),
        ("bob", "ann", PRIVACY, PRIVACY, ""),
        ("ann", "bob", PRIVACY, PRIVACY, ""),
        ("ann", "bob", CONFIDENTIALITY, CONFIDENTIALITY, ""),
        ("ann", "bob", CONFIDENTIALITY.replace("256", "128"), CONFIDENTIALITY, "weaker"),
        ("ann", "eve", PRIVACY, PRIVACY, "for others"),
        ("ann", "bob", PRIVACY, INTEGRITY, "another way"),
        ("ann", "bob", INTEGRITY, PRIVACY, "another way"),
    ],
)
def test_who_reads_what(
    stores: dict[str, Path], writer: str, reader: str, put_by: str, got_by: str, problem: str
) -> None:
    """Signers have to be trusted and among those named, readers among those it is for, algorithms strong enough."""
    sealed = Writer(KeyStore(stores[writer])).seal(policy(put_by), Descriptor(), BODY)
    opened = Reader(KeyStore(stores[reader]))
    if problem:
        with pytest.raises(UnprotectedError, match=problem):
            opened.open(policy(got_by), sealed)
    else:
        assert BODY == opened.open(policy(got_by), sealed).body


def policy(words: str) -> Policy:
    """Returns a policy as commands say it."""
    queues = QueueManager("Q")
    commands(queues, f"SET POLICY(Q) {words}")
    return queues.directory.policies.named["Q"]


@pytest.mark.parametrize(("reuse", "wrapped"), [("DISABLED", 20), ("1", 20), ("4", 6), ("UNLIMITED", 2)])
def test_keys_are_reused(stores: dict[str, Path], reuse: str, wrapped: int) -> None:
    """A key is for as many messages as the policy says, wrapped for each reader once, and unwrapped once."""
    own = policy_of("Q", {"ENCALG": "AES128", "RECIP": "CN=ann,O=P\nCN=bob,O=P", "KEYREUSE": reuse})
    writer, reader = Writer(KeyStore(stores["ann"])), Reader(KeyStore(stores["bob"]))
    sealed = [writer.seal(own, Descriptor(), BODY) for _ in range(10)]
    assert [BODY] * 10 == [reader.open(own, one).body for one in sealed]
    assert (wrapped, wrapped // 2, 10) == (writer.wrapped, reader.unwrapped, len(set(sealed)))


def test_toleration() -> None:
    """TOLERATE lets messages pass that are not protected, ENFORCE does not."""
    queues = QueueManager("Q")
    put(queues)
    commands(queues, f"SET POLICY(Q) {INTEGRITY} TOLERATE")
    arrival = queues.work().get("Q")
    assert arrival is not None
    assert BODY == arrival.body


def test_policies_last_and_are_shown(tmp_path: Path) -> None:
    """Policies are kept, shown by DISPLAY POLICY, and gone by DELETE POLICY or ACTION(REMOVE)."""
    QueueManager.create(tmp_path / "qm")
    with QueueManager.open(tmp_path / "qm") as queues:
        commands(queues, "DEFINE QLOCAL(Q)", f"SET POLICY(Q) {CONFIDENTIALITY}")
    with QueueManager.open(tmp_path / "qm") as queues:
        shown = dict(queues.mqsc("DISPLAY POLICY(*)")[0].objects[0])
        assert ("NONE", "AES256", "4", True) == tuple(shown[n] for n in ("SIGNALG", "ENCALG", "KEYREUSE", "ENFORCE"))
        put(queues)
        commands(queues, "SET POLICY(Q) ACTION(REMOVE)")
        assert [] == queues.display("POLICY")
        arrival = queues.work().get("Q")
        assert arrival is not None
        assert b"PSPM" == arrival.body[:4]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "SIGNALG(MD5)",
        "ENCALG(AES256)",
        "ENCALG(DES) RECIP('CN=ann')",
        "SIGNALG(SHA256) RECIP('CN=ann')",
        "SIGNALG(SHA256) KEYREUSE(4)",
        "ENCALG(AES256) RECIP('CN=ann') KEYREUSE(0)",
        "ENCALG(AES256) RECIP('CN=ann') SIGNER('CN=ann')",
        "SIGNALG(SHA256) ENFORCE TOLERATE",
        "SIGNALG(SHA256) SIGNALG(SHA512)",
        "SIGNALG(SHA256) SINGER('CN=ann')",
    ],
)
def test_wrong_policies(words: str) -> None:
    """A policy that cannot be is refused."""
    queues = QueueManager("Q")
    assert [True] == [answer.failed for answer in queues.mqsc(f"SET POLICY(Q) {words}")]
    assert [] == queues.display("POLICY")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cryptography is not installed, a policy says what to install."""
    monkeypatch.setattr(policies, "find_spec", lambda _: None)
    (answer,) = QueueManager("Q").mqsc(f"SET POLICY(Q) {INTEGRITY}")
    assert (True, True) == (answer.failed, "install penstock[protection]" in answer.text)


@pytest.mark.parametrize("trouble", ["none named", "no folder", "readable", "expired", "unknown"])
def test_wrong_key_stores(
    trouble: str, stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A put fails where the key store cannot protect, and says why; nothing is put."""
    for path in stores["ann"].iterdir():
        (tmp_path / path.name).touch(0o600)
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setenv(KEY_STORE, "" if trouble == "none named" else str(tmp_path))
    if trouble == "no folder":
        monkeypatch.setenv(KEY_STORE, str(tmp_path / "none"))
    elif trouble == "readable":
        (tmp_path / "ann.key").chmod(0o644)
    elif trouble == "expired":
        key = rsa.generate_private_key(65537, 2048)
        (tmp_path / "ann.crt").write_bytes(certificate("ann", key, days=-1))
        (tmp_path / "ann.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    queues = QueueManager("Q")
    words = PRIVACY.replace("bob", "nobody") if trouble == "unknown" else INTEGRITY
    commands(queues, f"SET POLICY(Q) {words}")
    with pytest.raises(BrokerError, match="key"):
        put(queues)
    assert 0 == queues.depth("Q")


@pytest.mark.parametrize("policy", ALL)
def test_publications_are_protected(queues: Any, policy: str) -> None:
    """What goes to the queue of a subscription is protected by the policy of that queue, and by no other."""
    commands(queues, f"SET POLICY(Q) {ALL[policy]}")
    commands(queues, *(f"DEFINE SUB({name}) TOPICSTR('t') DEST({name}) PSPROP(MSGPROP)" for name in "QS"))
    queues.publish("t", Descriptor(format="MQSTR", coded_char_set_id=437), BODY, retain=True)
    found = [queues.work().get(name, syncpoint=False) for name in "QS"]
    assert [(BODY, "MQSTR", 437)] * 2 == [split_of(arrival) for arrival in found]
    queues.publish("t", *join({"colour": "red"}, Descriptor(format="MQSTR"), BODY))
    arrival = queues.work().get("Q", Selection(selector="colour = 'red'"), syncpoint=False)
    assert (BODY, "t") == (split_of(arrival)[0], properties_of(*arrival)["mqps.Top"])
    commands(queues, "DEFINE SUB(LATER) TOPICSTR('t') DEST(Q)")
    commands(queues, "DELETE POLICY(Q)")
    kept = queues.work().get("Q", syncpoint=False)  # what is retained, sent to who subscribes later
    assert (b"PSPM", policy == "integrity") == (kept.body[:4], BODY in kept.body)


def split_of(arrival: Any) -> tuple[bytes, str, int]:
    """Returns the body of a message behind its properties, with its format and code page."""
    _, descriptor, body = split(*arrival)
    return body, descriptor.format, descriptor.coded_char_set_id


def test_a_publication_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A publication that cannot be protected is not delivered in plain, and fails where all are to be delivered."""
    monkeypatch.setenv(KEY_STORE, "")
    queues = QueueManager("Q", "S", "DEAD")
    commands(queues, f"SET POLICY(Q) {PRIVACY}", "ALTER QMGR DEADQ(DEAD)", "DEFINE TOPIC(T) TOPICSTR('t')")
    commands(queues, *(f"DEFINE SUB({name}) TOPICSTR('t') DEST({name})" for name in "QS"))
    queues.publish("t", Descriptor(), BODY)
    assert (0, 1, 0) == tuple(queues.depth(name) for name in ("Q", "S", "DEAD"))
    commands(queues, "ALTER TOPIC(T) NPMSGDLV(ALL)")
    with pytest.raises(MessageException, match="PENSTOCK_KEY_STORE"):
        queues.publish("t", Descriptor(), BODY)
    assert (0, 1, 0) == tuple(queues.depth(name) for name in ("Q", "S", "DEAD"))
