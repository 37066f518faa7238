"""Tables of a test file, with complaints about each word that is not understood; and messages read from them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from engine.catalog import did_you_mean
from engine.descriptor import FIELDS, is_encoding
from engine.errors import BrokerError, Place
from engine.parser import Header, Template, parser_catalog
from engine.testing import case
from engine.testing.case import Body, Description, ExpectedException, Field, Text
from engine.testing.paths import BadPath, read_path, steps_of
from flows.yaml_document import LARGEST, Complaints, Mapping, Scalar, Sequence, Tree
from parsers.charsets.ccsid import codec

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
        if tree is None or (isinstance(tree, Scalar) and tree.is_null):
            return {}
        if not isinstance(tree, Mapping):
            self.complain(tree.place, f"{what} must be a table, `name: value`")
            return {}
        for key, _ in tree.entries:
            if keys and key.text not in keys:
                close = did_you_mean(key.text, keys) or f"; it may have {', '.join(keys)}"
                self.complain(key.place, f"{what} has no {key.text}{close}", key.text)
        return {key.text: value for key, value in tree.entries if not keys or key.text in keys}

    def entries(self, tree: Tree | None, what: str) -> Iterator[tuple[Scalar, Tree]]:
        """The entries of a table whose keys are the writer's own."""
        if isinstance(tree, Mapping):
            yield from tree.entries
        elif tree is not None and not (isinstance(tree, Scalar) and tree.is_null):
            self.complain(tree.place, f"{what} must be a table, `name: value`")

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
    read: list[Path] = field(default_factory=list)

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
        headers = [name for name in parser_catalog if name in {"Properties", "MQMD"} or _is_header(name)]
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
        return Text(None if tree.is_null else tree.text, tree.is_plain, tree.place)

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


def _is_header(name: str) -> bool:
    return isinstance(parser_catalog.get(name), Header)


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
