"""Messages made from their descriptions: for queues, for the terminals of nodes, and for the stubs that send them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.descriptor import FIELDS, LITTLE_ENDIAN, UTF_8, Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.received import Received, RootDomain, body_of, new_root
from engine.message.writer import write_message
from engine.parser import Template
from engine.testing.case import Body, Description, Field, Stub, Throw
from engine.testing.paths import fill
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from parsers.charsets.ccsid import encode

if TYPE_CHECKING:
    from engine.work import UnitOfWork


_UNSUITABLE: Final = 2211


def content(body: Body | None, ccsid: int, encoding: int) -> bytes:
    """The bytes of a body."""
    if body is None:
        return b""
    return body.content if isinstance(body.content, bytes) else encode(body.content, ccsid, encoding)


def letter(made: Description) -> tuple[Descriptor, bytes]:
    """The descriptor and the bytes of a message that is put on a queue."""
    ccsid = UTF_8 if made.ccsid is None else made.ccsid
    encoding = LITTLE_ENDIAN if made.encoding is None else made.encoding
    root = new_root()
    mqmd = root.add("MQMD")
    for name, value in (("CodedCharSetId", ccsid), ("Encoding", encoding), ("Format", made.format or "")):
        mqmd.add(name, value)
    _fill(root, (field for field in made.fields if field.tree == "Root"))
    _identify(mqmd)
    if made.body is not None:
        root.add("BLOB").add("BLOB", content(made.body, ccsid, encoding))
    return write_message(root)


def _fill(top: Element, fields: Iterable[Field]) -> None:
    for field in fields:
        if field.counts:
            raise BrokerError(_UNSUITABLE, f"{field.path} counts elements, which only an expectation can", field.path)
        fill(top, field.names, field.value)


def _identify(mqmd: Element) -> None:
    """Make bytes of the ids, which test files write in hexadecimal digits."""
    for field in mqmd:
        default = Descriptor._field_defaults.get(FIELDS.get(field.name, ""))
        if isinstance(default, bytes) and field.value is not None and not isinstance(field.value, bytes):
            try:
                field.value = bytes.fromhex(str(field.value))
            except ValueError as error:
                text = f"MQMD.{field.name} is written in hexadecimal digits, not {field.value!r}"
                raise BrokerError(_UNSUITABLE, text, field.name) from error


def entering(made: Description, domain: str) -> Message:
    """A message as it comes to a node; `domain` is that of the flow's input, where the description names none."""
    descriptor, data = letter(made)
    template = made.template if made.template.domain else made.template._replace(domain=domain)
    root = read_only(Received(descriptor, data, template=template).root())
    return surrounded(Message(root), made)


def surrounded(message: Message, made: Description) -> Message:
    """The message with what a description says of the trees beside Root."""
    by_tree: dict[str, list[Field]] = {}
    for field in made.fields:
        by_tree.setdefault(field.tree, []).append(field)
    _fill(message.environment, by_tree.get("Environment", ()))
    if "LocalEnvironment" in by_tree:
        local = copy(message.local_environment)
        _fill(local, by_tree["LocalEnvironment"])
        message = message.replaced(local_environment=local)
    if "ExceptionList" in by_tree:
        exceptions = copy(message.exceptions)
        _fill(exceptions, by_tree["ExceptionList"])
        message = message.replaced(exceptions=exceptions)
    return message


def changed(message: Message, made: Description) -> Message:
    """The message with what a description says in its place: what a stub sends."""
    fields = [field for field in made.fields if field.tree in {"Root", "Body"}]
    if made.body is not None or fields:
        root = copy(message.root)
        if made.body is not None:
            _embody(root, made)
        top = body_of(root)
        _fill(root, (field for field in fields if field.tree == "Root"))
        if top is not None:
            _fill(top, (field for field in fields if field.tree == "Body"))
        mqmd = root.at("MQMD")
        if mqmd is not None and any(field.names[:1] == ("MQMD",) for field in fields):
            _identify(mqmd)
        message = message.replaced(root=root, as_it_is=True)
    return surrounded(message, made)


def _embody(root: Element, made: Description) -> None:
    """Put another body in the place of a message's own, under the same domain unless another is named."""
    old = body_of(root)
    domain = made.template.domain or ("BLOB" if old is None else old.name)
    ccsid = UTF_8 if made.ccsid is None else made.ccsid
    encoding = LITTLE_ENDIAN if made.encoding is None else made.encoding
    template: Template = made.template._replace(domain=domain)
    own = replace(made, fields=())
    data = content(own.body, ccsid, encoding)
    received = Received(Descriptor(coded_char_set_id=ccsid, encoding=encoding), data, template=template)
    if isinstance(root.domain, RootDomain):
        received.domain = root.domain
    new = received.root().last_child
    assert new is not None
    if old is not None:
        old.detach()
    root.append(copy(new))


class StubNode:
    """Stands in for a node of a flow; the last of its calls is repeated."""

    __slots__ = ("_stub", "calls")

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self.calls = 0

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        """Do what is told for this call."""
        call = self._stub.calls[min(self.calls, len(self._stub.calls) - 1)]
        self.calls += 1
        for deed in call:
            if isinstance(deed, Throw):
                raise _exception(deed)
            yield deed.terminal, changed(message, deed.message)


def _exception(deed: Throw) -> BrokerError:
    kind = type(deed.type, (BrokerError,), {"kind": deed.type})
    made = kind(deed.number, deed.text, *deed.inserts)
    assert isinstance(made, BrokerError)
    return made
