"""Messages as received: the lazy source of a Root, each part read by its parser when something looks into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, final

from engine.descriptor import LAST_MSG_IN_GROUP, MSG_IN_GROUP
from engine.errors import ParserException
from engine.parser import (
    NO_OPTIONS,
    NO_TEMPLATE,
    Follow,
    Header,
    Options,
    Parser,
    Portion,
    Template,
    format_catalog,
    parser_catalog,
)
from engine.tree.element import Element
from engine.tree.source import KEEPING, NAME, Domain, Handle, Source, Value

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.tree.step import Step


class Part(Source):
    """The part of a message that one parser reads; nothing is read before it is looked at, and once for all copies."""

    __slots__ = ("_top", "element", "name", "parser", "portion", "source")
    namespace = ""  # with its name and type, what a step looks at
    type = NAME
    element: Callable[[Handle, Element], Element]  # type: ignore[assignment]  # that of what its parser read

    def __init__(self, parser: Parser, portion: Portion) -> None:
        self.parser = parser
        self.name = parser.name
        self.portion = portion
        self.source: Source | None = None  # what its parser read, once something has looked into it
        self._top: Handle = None

    def _open(self) -> Source:
        read, top = self.parser.read(self.portion)
        with KEEPING:
            source = self.source
            if source is None:
                self._top, self.element = top, read.element
                source = self.source = read  # last: who finds it finds its top
        return source

    @property
    def top(self) -> Handle:
        """The place of the part's top in what its parser read."""
        if self.source is None:
            self._open()
        return self._top

    @property
    def content(self) -> Source:
        """Returns what its parser read."""
        return self.source or self._open()

    def value(self, handle: Handle) -> Value:
        source = self.source or self._open()
        return source.value(self._top)

    def children(self, handle: Handle) -> object:  # type: ignore[override]
        source = self.source or self._open()
        return source.children(self._top)

    def first(self, handle: Handle, wanted: Step) -> Handle:
        source = self.source or self._open()
        return source.first(self._top, wanted)

    def every(self, handle: Handle, wanted: Step) -> object:
        source = self.source or self._open()
        return source.every(self._top, wanted)


@final
class Received(Source):
    """A descriptor and a body as the source of a Root: Properties, MQMD, further headers by their formats, the body."""

    __slots__ = ("_parts", "body", "descriptor", "domain", "options", "queue", "spared", "template", "transactional")

    def __init__(
        self,
        descriptor: Descriptor,
        body: bytes,
        *,
        template: Template = NO_TEMPLATE,
        options: Options = NO_OPTIONS,
        queue: str = "",
        transactional: bool = True,
    ) -> None:
        self.domain = ROOT  # or that of a deployment, which knows more parsers
        self.descriptor = descriptor
        self.body = body
        self.template = template
        self.options = options
        self.queue = queue
        self.transactional = transactional
        self.spared = 0  # times that it was backed out for another message's failure
        self._parts: list[Part] | None = None

    @property
    def is_of_group(self) -> bool:
        """Returns whether it is of a group."""
        return bool(self.descriptor.msg_flags & (MSG_IN_GROUP | LAST_MSG_IN_GROUP))

    @property
    def is_within_group(self) -> bool:
        """Returns whether it is of a group, and not its last message."""
        return self.descriptor.msg_flags & (MSG_IN_GROUP | LAST_MSG_IN_GROUP) == MSG_IN_GROUP

    @property
    def tries(self) -> int:
        """Returns how often it was backed out for its own sake, if it is part of a unit of work."""
        return max(0, self.descriptor.backout_count - self.spared) if self.transactional else 0

    def root(self, state: int = 0) -> Element:
        """A new Root over this message; with the state READ_ONLY one that refuses changes."""
        top = Element("Root", "", NAME, self)
        top.domain = self.domain
        top.state = state
        return top

    @property
    def parts(self) -> list[Part]:
        """The parts in order; none of them is read yet, headers are only measured."""
        parts = self._parts
        if parts is None:
            found = self._find_parts()
            with KEEPING:  # the first that was found, where threads have looked at the same time
                parts = self._parts = self._parts or found
        return parts

    def _find_parts(self) -> list[Part]:
        body, descriptor, options = self.body, self.descriptor, self.options
        follow = Follow(descriptor.format, descriptor.encoding, descriptor.coded_char_set_id)
        template, at, end = self.template, 0, len(body)
        before, parser = Portion(b"", 0, 0, follow, template, options, self), self.domain.parser
        parts = [Part(parser("Properties"), before), Part(parser("MQMD"), before)]
        while (header := format_catalog.get(follow.format)) is not None:
            portion = Portion(body, at, end, follow, template, options, self)
            length, follow = header.measure(portion)
            if not 0 < length <= end - at:
                raise ParserException(
                    5007, f"the {header.name} at offset {at} says it is {length} bytes long, and {end - at} are left"
                )
            parts.append(Part(header, portion._replace(end=at + length)))
            at += length
            if header.whole and at == end:
                return parts
            if follow.template is not None:
                template = follow.template
        name, (domain, another) = template.domain or "BLOB", options.instead
        reader = parser(another if name == domain else name)
        parts.append(Part(reader, Portion(body, at, end, follow, template, options, self)))
        return parts

    def value(self, handle: Handle) -> Value:
        return None

    def children(self, handle: Handle) -> list[Part]:
        return self.parts

    def element(self, handle: Part, parent: Element) -> Element:
        return part_element(handle, parent)

    def first(self, handle: Handle, wanted: Step) -> Part | None:
        for part in self.parts:
            if part.name == wanted.name and not wanted.types and not wanted.namespace:
                return part
        return next(filter(wanted.matches, self.parts), None)

    def last(self, handle: Handle) -> Part:
        return self.parts[-1]

    def every(self, handle: Handle, wanted: Step) -> list[Part]:
        return list(filter(wanted.matches, self.parts))


def part_element(part: Part, parent: Element | None = None) -> Element:
    """The element that stands in a Root for a part of a message."""
    made = Element(part.name, "", NAME, part, None, parent)
    made.domain = part.parser
    return made


class RootDomain(Domain):
    """The domain of Root itself: each child belongs to the parser of its name.

    `bound` are the parsers that a deployment has of its own, such as one that knows its message sets.
    """

    __slots__ = ("bound",)
    name = "MQROOT"

    def __init__(self, bound: Mapping[str, Parser]) -> None:
        self.bound = bound

    def inner(self, name: str) -> Parser | None:
        return self.bound.get(name) or parser_catalog.get(name)

    def parser(self, name: str) -> Parser:
        """The parser of that name; an unknown name raises an error that suggests a close one."""
        return self.bound.get(name) or parser_catalog.get(name) or parser_catalog.find(name)


NONE_BOUND: Final[Mapping[str, Parser]] = MappingProxyType({})
ROOT: Final = RootDomain(NONE_BOUND)


def domain_of(root: Element) -> RootDomain:
    """The domain of a Root, which knows the parsers of its deployment; of another tree, that of all deployments."""
    return root.domain if isinstance(root.domain, RootDomain) else ROOT


def new_root(like: Element | None = None) -> Element:
    """An empty Root, to build a message in; with the parsers of another, where one is given."""
    top = Element("Root")
    top.domain = ROOT if like is None else domain_of(like)
    return top


def parse(root: Element, *, whole: bool) -> None:
    """Look at the body so that it is parsed; at all of every part, if the whole must be found sound."""
    body = root.last_child
    if body is not None:
        _ = body.first_child
        source = body.source
        if whole and isinstance(source, Part) and not source.portion.bytes and not source.parser.may_be_empty:
            raise ParserException(5009, f"the message has no {body.name} body: it ends where that should begin")
    pending = list(root) if whole else []
    while pending:
        element = pending.pop()
        _ = element.value
        pending.extend(element)


def body_of(root: Element) -> Element | None:
    """The body of a message; the last of its headers is none, unless it is one that can stand alone."""
    last = root.last_child
    if last is None or last.name in {"Properties", "MQMD"}:
        return None
    owner = last.owner
    return None if isinstance(owner, Header) and not owner.whole else last
