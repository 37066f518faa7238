"""The trees of a message in a flow: Root, LocalEnvironment, Environment, and the ExceptionList of an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from engine.descriptor import FIELDS, LENGTHS, PERSISTENT, Descriptor
from engine.errors import NOWHERE, BrokerError, Insert, Place
from engine.message.received import Part, Received
from engine.message.writer import (
    Link,
    Written,
    announcements,
    descriptor_of,
    fields_of,
    is_made,
    links_of,
    new_body,
    sorted_links,
    template_of,
    with_own_format,
    write,
)
from engine.parser import Follow, Header
from engine.tree.element import Element
from engine.tree.sharing import read_only, written
from engine.tree.source import NAME, NAME_VALUE, Value
from engine.tree.states import EDITED, READ_ONLY, SHARES
from engine.tree.step import step

# What Properties and the MQMD both say, by their names for it.
_OF_PROPERTIES: Final = (
    *((name, name) for name in ("Encoding", "CodedCharSetId", "Priority", "Persistence")),
    ("ReplyIdentifier", "CorrelId"),
)
_SHARED: Final = frozenset(name for _, name in _OF_PROPERTIES)
_OF_DESCRIPTOR: Final = ("Format", "Encoding", "CodedCharSetId", "Priority", "Persistence", "CorrelId")


class Message:
    """The four trees that a node is given; Environment is one for the whole way, the others belong to each wire.

    The trees are read-only for the nodes that receive them: a node that changes a message sends a new one.
    """

    __slots__ = ("_exceptions", "_local_environment", "_way", "came", "new_body", "root")

    def __init__(
        self,
        root: Element | Received,
        *,
        environment: Element | None = None,
        local_environment: Element | Callable[[], Element] | None = None,
        exceptions: Element | None = None,
        way: list[Element] | None = None,
    ) -> None:
        """`way` is what all messages of one way hold together: the Environment, once someone has looked at it.

        `new_body` is what finalizing has found: what was received, its body and the new one, where that alone differs.
        `came` is the message as the input node received it, where it is known.
        """
        self.new_body: tuple[Received, Part, Element] | None = None
        self.came: Received | None = None
        self._way = way if way is not None else [] if environment is None else [environment]
        self._local_environment = local_environment
        self._exceptions = exceptions
        if type(root) is Received:  # which is quicker than isinstance
            self.came = root
            root = root.root(READ_ONLY)
        self.root: Element = root

    @classmethod
    def received(cls, *args: Any, **facts: Any) -> Message:
        """A message as it came from a queue; see Received for what is to be said of it."""
        return cls(Received(*args, **facts))

    @property
    def environment(self) -> Element:
        """The Environment: the one tree that every node of the way may change."""
        way = self._way
        if not way:
            way.append(Element("Environment"))
        return way[0]

    @property
    def local_environment(self) -> Element:
        """The LocalEnvironment, which V2.1 calls DestinationList."""
        known = self._local_environment
        if not isinstance(known, Element):
            made = Element("LocalEnvironment") if known is None else known()
            known = self._local_environment = read_only(made)
        return known

    @property
    def exceptions(self) -> Element:
        """The ExceptionList."""
        if self._exceptions is None:
            self._exceptions = read_only(Element("ExceptionList"))
        return self._exceptions

    def replaced(
        self,
        *,
        root: Element | None = None,
        local_environment: Element | Callable[[], Element] | None = None,
        exceptions: Element | None = None,
        as_it_is: bool = False,
    ) -> Message:
        """The same message with other trees, which must not be changed from now on.

        A Root that was built or changed is finalized: it says of itself what its bytes will say, unless it is to be
        sent as it is. A LocalEnvironment may be given by what makes it when it is first looked at.
        """
        made = Message(self.root, local_environment=self._local_environment, exceptions=self._exceptions, way=self._way)
        made.came = self.came
        if root is None:
            made.new_body = self.new_body
        else:
            if not as_it_is and not root.state & READ_ONLY:
                made.new_body = finalize(root)
            made.root = read_only(root)
        if local_environment is not None:
            made._local_environment = local_environment
            if isinstance(local_environment, Element):
                made._local_environment = read_only(local_environment)
        if exceptions is not None:
            made._exceptions = read_only(exceptions)
        return made

    def written(self) -> Written:
        """The message as it is put on a queue; one that nobody has changed is seen at once."""
        root = self.root
        if root.source.__class__ is Received and not root.state & (EDITED | SHARES):
            return Written(root.source.descriptor, root.source.body, root.source.transactional)
        return write(root, self.new_body)

    def failed(self, error: BrokerError) -> Message:
        """The same message with the ExceptionList of an error, for a catch or failure terminal."""
        return self.replaced(exceptions=exception_list(error))


def finalize(root: Element) -> tuple[Received, Part, Element] | None:
    """Change a Root to say of itself what its bytes will say; an MQRFH2 also says in mcd what the body is.

    Returns what was received, its body and the new one, where that alone differs: then nothing was to be changed.
    What cannot be written yet is left as it is: nodes further on may mend it, and writing tells of it if they do not.
    """
    if root.source.__class__ is Received and not root.state & EDITED:
        return None
    try:
        found = new_body(root)
        if found is None:
            _finalize(root, links_of(written(root)))
    except BrokerError:
        return None
    return found


def _finalize(root: Element, links: list[Link]) -> None:
    properties, header, chain = sorted_links(links)
    if len(chain) == 1 and not isinstance(chain[0].owner, Header):
        _finalize_alone(root, properties, header, chain[0])
        return
    elements = dict(zip(map(id, links), root, strict=True))
    _introduce(chain, elements, properties)
    descriptor = descriptor_of(header, properties)
    follows = announcements(chain, descriptor)
    for link, follow in zip(chain, follows[1:], strict=False):
        if isinstance(link.owner, Header):
            _say(elements[id(link)], "Format", follow.format, 8)
    if header is None:
        return
    if follows:
        descriptor = descriptor._replace(format=follows[0].format)
    _describe(elements[id(header)], descriptor)
    if properties is not None:
        own = Follow("", descriptor.encoding, descriptor.coded_char_set_id)
        last = follows[-1] if follows else own
        if last[1:3] != own[1:3]:  # what Properties say of the body is from now on not meant for the MQMD
            elements[id(header)].ensure(step("Encoding")).value = own.encoding
            elements[id(header)].ensure(step("CodedCharSetId")).value = own.ccsid
        _agree(elements[id(properties)], last, descriptor, _OF_PROPERTIES)


def _introduce(chain: list[Link], elements: dict[int, Element], properties: Link | None) -> None:
    """Have the headers in front of a body say what it is: its domain, and what Properties say of it."""
    if not chain or isinstance(chain[-1].owner, Header):
        return
    said = template_of(properties)._replace(domain=chain[-1].name)
    for link in chain[:-1]:
        if isinstance(link.owner, Header):
            link.owner.introduce(elements[id(link)], said)


def _finalize_alone(root: Element, properties: Link | None, header: Link | None, body: Link) -> None:
    """A body without headers in front of it but the MQMD: only what has changed can be wrong."""
    if header is None:
        return
    said = descriptor_of(header, properties)
    descriptor = with_own_format(body, said)
    is_new = properties is not None and properties.part is None
    changed = {field.name for field in fields_of(header)[1]}
    if is_new or descriptor is not said or is_made(header):
        found = root.child(step("MQMD"))
        assert found is not None
        _describe(found, descriptor)
    if properties is not None and (is_new or changed & _SHARED):
        found = root.child(step("Properties"))
        assert found is not None
        own = Follow("", descriptor.encoding, descriptor.coded_char_set_id)
        names = _OF_PROPERTIES if is_new else [one for one in _OF_PROPERTIES if one[1] in changed]
        _agree(found, own, descriptor, names)


def _describe(element: Element, descriptor: Descriptor) -> None:
    """Have the MQMD say what the descriptor says; what is not in the tree and as by default stays out of it."""
    for name in _OF_DESCRIPTOR:
        held = FIELDS[name]
        value, default = getattr(descriptor, held), Descriptor._field_defaults[held]
        field = element.child(step(name))
        if field is not None or value != default:
            _say(element, name, value, LENGTHS.get(held, 0))


def _say(element: Element, name: str, value: Value, length: int) -> None:
    """Give a field of a header a value, if it has another."""
    field = element.ensure(step(name))
    if _plain(field.value) != _plain(value):
        field.value = value.ljust(length) if isinstance(value, str) else value


def _plain(value: Value) -> Value:
    return value.rstrip() if isinstance(value, str) else value


def _agree(element: Element, body: Follow, descriptor: Descriptor, names: Sequence[tuple[str, str]]) -> None:
    """Have Properties say what the headers say; what is not in the tree stays out of it."""
    values: dict[str, Value] = {
        "Encoding": body.encoding,
        "CodedCharSetId": body.ccsid,
        "Priority": descriptor.priority,
        "Persistence": descriptor.persistence == PERSISTENT,
        "ReplyIdentifier": descriptor.correl_id,
    }
    for name, _ in names:
        field = element.child(step(name))
        if field is not None and field.value != values[name]:
            field.value = values[name]


_THROWING: Final = 2230
_LABEL: Final = 14  # the insert type of a node's label


class _Link(NamedTuple):
    """One exception of the list: its class, its fields in the product's order, and its inserts."""

    kind: str
    fields: dict[str, object]
    inserts: tuple[Insert, ...]


def exception_list(error: BaseException) -> Element:
    """The ExceptionList of an error: the nodes it passed on its way up, then what caused it, each inside the last.

    >>> tree = exception_list(BrokerError(2450, "divide by zero"))
    >>> tree.at("RecoverableException", "RecoverableException", "Number").value
    2450
    """
    top = at = Element("ExceptionList")
    for link in _chain(error):
        at = at.add(link.kind, type_=NAME)
        for name, value in link.fields.items():
            at.add(name, value, type_=NAME_VALUE)
        for insert in link.inserts:
            folder = at.add("Insert")
            folder.add("Type", insert.type, type_=NAME_VALUE)
            folder.add("Text", insert.text, type_=NAME_VALUE)
    return top


def _chain(error: BaseException) -> list[_Link]:
    """The exceptions from the outermost in: the first is always one of a node that threw."""
    links: list[_Link] = []
    seen: set[int] = set()
    where = NOWHERE  # a cause that does not know its node is of the one that it was in
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        if isinstance(at, BrokerError):
            links += _around(at, is_top=not links)
            where = at.place if at.place.node else replace(where, file=at.place.file, line=at.place.line)
            links.append(_Link(at.kind, _fields(at, where), at.inserts))
        elif not links:
            links.append(_Link(BrokerError.kind, _fields(BrokerError(_THROWING, str(at)), Place()), ()))
        at = at.__cause__
    return links


def _around(error: BrokerError, *, is_top: bool) -> list[_Link]:
    """The nodes that an error has passed and what was thrown around it there; the first is always of a node."""
    node = error.place
    links = []
    if is_top and not isinstance(next(iter(error.passed), None), Place) and error.number != _THROWING:
        links.append(_passed(node))
    for one in error.passed:
        if isinstance(one, Place):
            node = one
            links.append(_passed(one))
        else:
            place = replace(one.place, flow=node.flow, node=node.node, type=node.type)
            links.append(_Link(one.kind, _fields(one, place), one.inserts))
    return links


def _passed(place: Place) -> _Link:
    error = BrokerError(_THROWING, "Node throwing exception", Insert(place.of_node, _LABEL))
    return _Link(error.kind, _fields(error, replace(place, file="", line=0)), error.inserts)


def _fields(error: BrokerError, place: Place) -> dict[str, object]:
    label = place.of_node
    return {
        "File": place.file,
        "Line": place.line,
        "Function": "evaluate",
        "Type": place.type,
        "Name": label,
        "Label": label,
        "Text": error.text,
        "Catalog": error.catalog,
        "Severity": error.severity,
        "Number": error.number,
    }
