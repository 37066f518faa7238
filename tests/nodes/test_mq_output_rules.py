"""What MQPUT does to descriptors: those that it refuses, and the context that it takes from the message that came."""

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.received import Received, new_root
from engine.tree.sharing import copy
from tests.nodes.test_mq_output import LETTER, evaluated, message_of, put_one, queue_manager


@pytest.mark.parametrize(
    ("descriptor", "text"),
    [
        (
            LETTER._replace(msg_type=0),
            "BIP2029: a msg_type of 0 is none: give 1 to 65535 for those of MQ, 65536 to 999999999 for your own",
        ),
        (
            LETTER._replace(report=0x8040),
            "BIP2061: a report of 0x8040 has options that there are none of (0x8000): take them out",
        ),
        (
            LETTER._replace(msg_type=1, reply_to_q=""),
            "BIP2027: a message is a request, and names no queue for the answer: give it a reply_to_q",
        ),
    ],
)
def test_a_descriptor_that_mq_refuses(descriptor: Descriptor, text: str) -> None:
    """A message with a type or options that there are none of is the node's own failure, and nothing is put."""
    queues = queue_manager()
    work = queues.work()
    with pytest.raises(BrokerError) as caught:
        evaluated(work, message_of(descriptor), {"queueName": "OUT"})
    assert text == str(caught.value)
    work.commit()
    assert sum(queues.depth(name) for name in queues.names()) == 0


@pytest.mark.parametrize(
    ("context", "user", "identity", "application"),
    [
        ("passAll", LETTER.user_identifier, LETTER.appl_identity_data, LETTER.put_appl_name),
        ("passIdentity", LETTER.user_identifier, LETTER.appl_identity_data, "Penstock"),
        ("setAll", "bob", "", "other"),
        ("setIdentity", "bob", "", "Penstock"),
        ("default", "", "", "Penstock"),
        ("none", "", "", ""),
    ],
)
def test_context_of_a_changed_message(context: str, user: str, identity: str, application: str) -> None:
    """Passed context is that of the message that came, whatever the flow has made of its MQMD since."""
    message = Message(Received(LETTER, b"body"))
    root = copy(message.root)
    for name, value in (("UserIdentifier", "bob"), ("ApplIdentityData", ""), ("PutApplName", "other"), ("Priority", 7)):
        field = root.at("MQMD", name)
        assert field is not None
        field.value = value
    found = put_one(message.replaced(root=root), messageContext=context)
    texts = (found.user_identifier, found.appl_identity_data, found.put_appl_name)
    assert (user, identity, application, 7) == (*(text.rstrip() for text in texts), found.priority)


def test_context_without_an_mqmd() -> None:
    """A message that has lost its MQMD still has the context that is passed, with the date and time of its put."""
    message = Message(Received(LETTER, b""))
    root = new_root(message.root)
    root.add("BLOB").add("BLOB", b"body")
    found = put_one(message.replaced(root=root))
    assert (LETTER.user_identifier, LETTER.put_date, b"m" * 24) == (
        found.user_identifier,
        found.put_date,
        LETTER.msg_id,
    )
    assert found.msg_id != LETTER.msg_id
