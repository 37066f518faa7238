"""The MRM XML wire format: messages that are XML documents, whose fields a model types and renames."""

from __future__ import annotations

from typing import Any

from lxml import etree

from engine.errors import ParserException
from engine.parser import Form, Portion
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.charsets.ccsid import codec
from parsers.markup.element_types import Retention
from parsers.markup.reading import read_document
from parsers.markup.text import encode, name_of_codec
from parsers.mrm.model import Codec, Definition, wire_format
from parsers.mrm.xml.message_plan import Plans
from parsers.mrm.xml.source import Document
from parsers.mrm.xml.values import XmlField, XmlFormat, XmlMessage
from parsers.mrm.xml.writing import Writing

_KEEP = Retention(blanks=True, comments=False, instructions=False, references=False)


class ModelledDocument:
    """Reads and writes one message."""

    __slots__ = ("_plans",)

    def __init__(self, definition: Definition) -> None:
        self._plans = Plans(definition)
        self._plans.top()

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The document as a lazy source."""
        read = read_document(portion, _KEEP)
        if read is None:
            raise ParserException(5009, f"the message at offset {portion.start} is empty, and must be an XML document")
        source = Document(self._plans, self._message(read[0]))
        return source, source.top

    def _message(self, root: Any) -> Any:
        """The element of the message, which may stand in another."""
        plans = self._plans
        node = root
        if plans.root_tag:
            if etree.QName(root).localname != plans.root_tag:
                raise ParserException(5377, f"the document's root is {root.tag}, and must be {plans.root_tag}")
            node = next(root.iterchildren(etree.Element), None)
        if node is None or node.tag != plans.tag:
            found = "nothing" if node is None else node.tag
            raise ParserException(
                5377, f"{found} stands where the message {plans.definition.message.name} must, as {plans.tag}"
            )
        return node

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of the message that an element stands for; what the CCSID lacks is written as references."""
        info = codec(form.ccsid, form.encoding)
        return encode(Writing(self._plans, name_of_codec(info.name)).document(element), info, form.ccsid)


@wire_format("XML", settings=XmlFormat, field=XmlField, message=XmlMessage)
def compile_document(definition: Definition) -> Codec:
    """The codec of a definition."""
    return ModelledDocument(definition)
