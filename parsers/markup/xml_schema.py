"""XML Schema: documents held against the schemas of a deployment, as validation of XMLNSC asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import normpath
from threading import Lock
from typing import Any, Final, NamedTuple

from lxml import etree

from engine.descriptor import UTF_8
from engine.errors import ParserException
from engine.message.validation import Validation, told
from engine.parser import Form, Portion, Template
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.charsets.ccsid import decode
from parsers.xml import Xmlnsc

INVALID: Final = 5025
_MOST_TOLD: Final = 100  # as inserts of the failure
_XS: Final = "{http://www.w3.org/2001/XMLSchema}"
_DECLARATION: Final = re.compile(r"\ufeff?<\?xml\s[^>]*\?>")


class Fault(NamedTuple):
    """A fault of a schema: its file, and the place in it."""

    file: str
    line: int
    text: str


class _Files(etree.Resolver):
    """Answers from the files of the deployment alone: a schema can read nothing else."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = {normpath(name): content for name, content in files.items()}

    def resolve(self, url: Any, public_id: Any, context: Any) -> Any:  # type: ignore[override]  # as it is called
        content = self._files.get(normpath(url or ""), b"")
        return self.resolve_string(content, context, base_url=url)


class Schemas:
    """The schemas of a deployment, each compiled when it is first asked for; those that they import stand beside them.

    >>> schemas = Schemas({"a.xsd": b'<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="a"/></schema>'})
    >>> list(schemas.wrong_with("<a/>")), list(schemas.wrong_with("<b/>"))
    ([], ['no schema here has a global element b'])
    """

    __slots__ = ("_compiled", "_declared", "_files", "_lock")

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)
        self._declared: dict[str, list[str]] | None = None
        self._compiled: dict[str, etree.XMLSchema] = {}
        self._lock = Lock()  # a schema keeps what it found wrong with the document before

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All that is wrong with the schemas themselves."""
        return tuple(fault for name in self._files for fault in self._faults_of(name))

    def _faults_of(self, name: str) -> Iterator[Fault]:
        try:
            self._schema(name)
        except etree.XMLSyntaxError as error:
            yield Fault(name, error.lineno or 1, error.msg or "it is no XML")
        except etree.XMLSchemaParseError as error:
            entries: Any = error.error_log
            for entry in list(entries)[:_MOST_TOLD]:
                yield Fault(entry.filename or name, entry.line, entry.message)

    def wrong_with(self, text: str) -> Iterator[str]:
        """Yields what is wrong with a document; nothing, if it is valid."""
        root = etree.fromstring(_DECLARATION.sub("", text, count=1).encode(), _parser())
        with self._lock:
            name = next(iter(self._declaring(root.tag)), None)
            if name is None:
                yield f"no schema here has a global element {root.tag}"
                return
            schema = self._schema(name)
            log: Any = None if schema.validate(root) else schema.error_log
            found = [(entry.line, entry.message) for entry in log or ()]
        yield from (f"line {line}: {message}" for line, message in found)

    def _declaring(self, tag: str) -> list[str]:
        if self._declared is None:
            self._declared = {}
            for name, content in self._files.items():
                for declared in _globals(content):
                    self._declared.setdefault(declared, []).append(name)
        return self._declared.get(tag, [])

    def _schema(self, name: str) -> etree.XMLSchema:
        known = self._compiled.get(name)
        if known is None:
            parser = _parser()
            parser.resolvers.add(_Files(self._files))
            root = etree.fromstring(self._files[name], parser, base_url=name)
            known = self._compiled[name] = etree.XMLSchema(etree=root.getroottree())
        return known


def _parser() -> etree.XMLParser:
    """A parser that opens nothing by itself, and expands what a document says itself."""
    internal: Any = "internal"  # newer than the stubs
    return etree.XMLParser(no_network=True, resolve_entities=internal, load_dtd=False)


def _globals(content: bytes) -> Iterator[str]:
    """The names of the global elements of a schema; one that cannot be read has none."""
    try:
        root = etree.fromstring(content, _parser())
    except etree.XMLSyntaxError:
        return
    space = root.get("targetNamespace")
    for element in root.iterchildren(f"{_XS}element"):
        name = element.get("name", "")
        yield f"{{{space}}}{name}" if space else name


class ValidatedXmlnsc(Xmlnsc):
    """XMLNSC as a deployment with schemas has it: bodies are validated where nodes and programs ask for that."""

    __slots__ = ("schemas",)
    has_models = True

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        options = portion.options
        read = super().read(portion)
        if options.validation != "none":
            follow = portion.follow
            text = decode(portion.bytes, follow.ccsid, follow.encoding, offset=portion.start, what="the XML document")
            told(Validation(options.validation, options.action), lambda: self._check(text))
        return read

    def validate(self, element: Element, template: Template, *, values: bool) -> None:
        self._check(self.write(element, Form(ccsid=UTF_8)).decode())

    def _check(self, text: str) -> None:
        try:
            found = list(self.schemas.wrong_with(text))
        except etree.LxmlError as error:
            raise ParserException(INVALID, f"XMLNSC: the document cannot be validated: {error}", self.name) from error
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise ParserException(INVALID, f"XMLNSC: {found[0]}{more}", self.name, *found[:_MOST_TOLD])
