"""Messages of test files: read from their descriptions, and made of them for queues, terminals and stubs."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from engine.catalog import did_you_mean
from engine.descriptor import FIELDS, LITTLE_ENDIAN, UTF_8, Descriptor, is_encoding
from engine.errors import BrokerError, Place
from engine.message.assembly import Message
from engine.message.received import Received, RootDomain, body_of, new_root
from engine.message.writer import write_message
from engine.parser import Header, Template, parser_catalog
from engine.testing import case
from engine.testing.case import Body, Description, ExpectedException, Field, Stub, Text, Throw
from engine.testing.paths import BadPath, fill, read_path, steps_of
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from flows.yaml_document import LARGEST, Complaints, Mapping, Scalar, Sequence, Tree
from parsers.charsets.ccsid import codec, encode

if TYPE_CHECKING:
    from engine.work import UnitOfWork

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tables:
    """Reads parts of one document; what does not fit is complained of, and left out."""

    complaints: Complaints

    def complain(self, place: Place, text: str, about: str = "") -> None:
        """Note a problem."""
        self.complaints.add(place, text, about=about)

    def table(self, tree: Tree | None, what: str, keys: tuple[str, ...] = ()) -> dict[str, Tree]:
        """The entries of a table; with `keys` only these may be there."""
        entries = self.entries(tree, what)
        for key, _ in entries:
            if keys and key.text not in keys:
                close = did_you_mean(key.text, keys) or f"; it may have {', '.join(keys)}"
                self.complain(key.place, f"{what} has no {key.text}{close}", key.text)
        return {key.text: value for key, value in entries if not keys or key.text in keys}

    def entries(self, tree: Tree | None, what: str) -> tuple[tuple[Scalar, Tree], ...]:
        """The entries of a table whose keys are the writer's own."""
        return self.complaints.entries(tree, what)

    def items(self, tree: Tree | None) -> tuple[Tree, ...]:
        """The items of a list; what is no list is its only item."""
        if tree is None or (isinstance(tree, Scalar) and tree.is_null):
            return ()
        return tree.items if isinstance(tree, Sequence) else (tree,)

    def text(self, tree: Tree | None, what: str, otherwise: str = "") -> str:
        """A text."""
        if tree is None:
            return otherwise
        if isinstance(tree, Scalar) and not tree.is_null:
            return tree.text
        self.complain(tree.place, f"{what} must be a text")
        return otherwise

    def number(self, tree: Tree | None, what: str, otherwise: T) -> int | T:
        """A whole number."""
        if tree is None:
            return otherwise
        text = tree.text if isinstance(tree, Scalar) else ""
        if text.removeprefix("-").isdecimal() and len(text) <= 10:
            return int(text)
        self.complain(tree.place, f"{what} must be a whole number")
        return otherwise

    def value(self, tree: Scalar) -> Text:
        """A value as it is written."""
        return Text(None if tree.is_null else tree.text, tree.is_plain, tree.place)

    def decoded(self, tree: Tree | None, what: str, decode: Callable[[str], bytes]) -> bytes:
        """Bytes that a text stands for."""
        try:
            return decode("".join(self.text(tree, what).split()))
        except ValueError:
            assert tree is not None
            self.complain(tree.place, f"{what} holds a character or a length that {what} never has")
            return b""


BODIES: Final = ("body", "file", "hex", "base64")
COMPARISONS: Final = ("xml", "json", "bytes", "text")
TEMPLATE: Final = ("domain", "messageSet", "messageType", "messageFormat")
EXCEPTION: Final = ("type", "number", "text", "node", "inserts")
OWN_KEYS: Final = (*BODIES, "compare", "ccsid", "encoding", "format", *TEMPLATE, "exception")
_LARGEST_BODY: Final = 100 * LARGEST


@dataclass(frozen=True, slots=True)
class Messages:
    """Reads the messages of one test file, which lies in `folder`; `read` gets the files that they are in."""

    tables: Tables
    folder: Path
    read: list[Path] = dataclasses.field(default_factory=list)

    def description(self, tree: Tree | None, place: Place, *, apart: tuple[str, ...] = ()) -> Description:
        """A message; `apart` are keys of its table that are no part of it."""
        own: dict[str, Tree] = {}
        fields: list[Field] = []
        for key, value in self.tables.entries(tree, "a message"):
            if key.text in OWN_KEYS:
                own[key.text] = value
            elif key.text not in apart:
                fields += self._field(key, value)
        number = self.tables.number
        ccsid = number(own.get("ccsid"), "ccsid", None)
        return Description(
            body=self._body(own),
            fields=tuple(fields),
            ccsid=ccsid if self._is_known(ccsid, own.get("ccsid")) else None,
            encoding=self._encoding(own.get("encoding")),
            format=self.tables.text(own["format"], "format") if "format" in own else None,
            template=self._template(own),
            exception=self.exception(own["exception"]) if "exception" in own else None,
            place=place,
        )

    def _encoding(self, tree: Tree | None) -> int | None:
        encoding = self.tables.number(tree, "encoding", None)
        if tree is None or encoding is None or is_encoding(encoding):
            return encoding
        text = f"{encoding} is no MQ encoding: 546 is little endian, 273 big endian"
        self.tables.complain(tree.place, text, str(encoding))
        return None

    def _is_known(self, ccsid: int | None, tree: Tree | None) -> bool:
        try:
            return ccsid is not None and bool(codec(ccsid).name)
        except BrokerError as error:
            if tree is not None:
                self.tables.complain(tree.place, error.text)
            return False

    def _body(self, own: dict[str, Tree]) -> Body | None:
        given = [name for name in BODIES if name in own]
        compare = self.tables.text(own.get("compare"), "compare")
        if compare and compare not in COMPARISONS:
            self.tables.complain(own["compare"].place, f"compare is one of {', '.join(COMPARISONS)}", compare)
        if not given:
            return None
        if len(given) > 1:
            self.tables.complain(own[given[1]].place, f"a message has one body; here are {' and '.join(given)}")
        name, tree = given[0], own[given[0]]
        if name == "body":
            text = tree.text if isinstance(tree, Scalar) else self.tables.text(tree, "body")
            return Body(text, compare)
        if name == "file":
            return Body(self._read(tree), compare)
        decode = bytes.fromhex if name == "hex" else _base64
        return Body(self.tables.decoded(tree, name, decode), compare or "bytes")

    def _read(self, tree: Tree) -> bytes:
        path = self.folder / self.tables.text(tree, "file")
        try:
            with path.open("rb") as opened:
                data = opened.read(_LARGEST_BODY + 1)
            self.read.append(path)
        except OSError as error:
            self.tables.complain(tree.place, f"{path} cannot be read: {error.strerror}; files are named from this file")
            return b""
        if len(data) > _LARGEST_BODY:
            self.tables.complain(tree.place, f"{path} has more than {_LARGEST_BODY} bytes")
        return data

    def _template(self, own: dict[str, Tree]) -> Template:
        texts = [self.tables.text(own.get(name), name) for name in TEMPLATE]
        if texts[0] and parser_catalog.get(texts[0]) is None:
            close = parser_catalog.suggest(texts[0])
            self.tables.complain(own["domain"].place, f"no parser is called {texts[0]}{close}", texts[0])
            texts[0] = ""
        return Template(*texts)

    def _field(self, key: Scalar, tree: Tree) -> Iterator[Field]:
        own = ("Properties", "MQMD")
        headers = [name for name in parser_catalog if name in own or isinstance(parser_catalog.get(name), Header)]
        try:
            top, names, counts = read_path(key.text, headers)
        except BadPath as bad:
            self.tables.complain(key.place, str(bad), key.text)
            return
        value = self._value(tree)
        for name in (names[1:2] or list(value if isinstance(value, dict) else ())) if names[:1] == ("MQMD",) else ():
            if name not in FIELDS:
                self.tables.complain(key.place, f"MQMD has no field {name}", key.text)
                return
        yield Field(key.text, top, names, value, counts, key.place)

    def _value(self, tree: Tree) -> case.Tree:
        if isinstance(tree, Mapping):
            return {key.text: self._value(value) for key, value in tree.entries if self._leads_on(key)}
        if isinstance(tree, Sequence):
            return tuple(self._value(item) for item in tree.items)
        return self.tables.value(tree)

    def _leads_on(self, key: Scalar) -> bool:
        try:
            return bool(steps_of(key.text))
        except BadPath as bad:
            self.tables.complain(key.place, str(bad), key.text)
            return False

    def exception(self, tree: Tree) -> ExpectedException:
        """Returns what is said of an exception; a text alone is a part of its text."""
        if isinstance(tree, Scalar):
            return ExpectedException(text=tree.text, place=tree.place)
        found = self.tables.table(tree, "an exception", EXCEPTION)
        text = self.tables.text
        inserts = self.tables.items(found.get("inserts"))
        return ExpectedException(
            type=text(found.get("type"), "type"),
            number=self.tables.number(found.get("number"), "number", 0),
            text=text(found.get("text"), "text"),
            node=text(found.get("node"), "node"),
            inserts=tuple(text(item, "an insert") for item in inserts) if "inserts" in found else None,
            place=tree.place,
        )


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_UNSUITABLE: Final = 2211


def _written(made: Description) -> tuple[int, int, bytes]:
    """The CCSID and the encoding of a message, and the bytes of its body."""
    ccsid = UTF_8 if made.ccsid is None else made.ccsid
    encoding = LITTLE_ENDIAN if made.encoding is None else made.encoding
    body = b"" if made.body is None else made.body.content
    return ccsid, encoding, body if isinstance(body, bytes) else encode(body, ccsid, encoding)


def letter(made: Description) -> tuple[Descriptor, bytes]:
    """The descriptor and the bytes of a message that is put on a queue."""
    ccsid, encoding, body = _written(made)
    root = new_root()
    mqmd = root.add("MQMD")
    for name, value in (("CodedCharSetId", ccsid), ("Encoding", encoding), ("Format", made.format or "")):
        mqmd.add(name, value)
    _fill(root, (field for field in made.fields if field.tree == "Root"))
    _identify(mqmd)
    if made.body is not None:
        root.add("BLOB").add("BLOB", body)
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
    ccsid, encoding, data = _written(made)
    template: Template = made.template._replace(domain=domain)
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
