"""Writing: from a Root to a descriptor and bytes; what was not touched is given out as it came in."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from engine.descriptor import Descriptor, described, held_as, integer
from engine.errors import ParserException
from engine.message.received import Part, Received
from engine.parser import NO_TEMPLATE, Follow, Form, Header, Parser, Template, format_catalog, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import appended_children, changed_children, copy, written
from engine.tree.source import Source, Value
from engine.tree.states import EDITED, EXPANDED, RESTRUCTURED, SHARES
from engine.tree.step import step

_INHERIT: Final = (0, -2)  # "as the header before says"
_PLAIN: Final = 3  # Properties, the MQMD, and a body

# What a changed Properties folder says, where the MQMD does not say it itself.
_FROM_PROPERTIES: Final = {
    "Encoding": "encoding",
    "CodedCharSetId": "coded_char_set_id",
    "Priority": "priority",
    "Persistence": "persistence",
    "ReplyIdentifier": "correl_id",
    "ExpirationTime": "expiry",
}


class Link(NamedTuple):
    """One child of Root on its way out: an element, or the part it came in as, where nobody has changed that."""

    name: str
    owner: Parser
    element: Element | None
    part: Part | None


class Written(NamedTuple):
    """A message on its way out: its descriptor, its bytes, and True where its Properties have it in a unit of work."""

    descriptor: Descriptor
    body: bytes
    transactional: bool


def write_message(root: Element) -> tuple[Descriptor, bytes]:
    """The message that a Root stands for."""
    descriptor, body, _ = write(root)
    return descriptor, body


def write(root: Element, changed: tuple[Received, Part, Element] | None = None) -> Written:
    """The message that a Root stands for, as it is put on a queue; `changed` is its new body, where that is known."""
    if not root.state & (EDITED | SHARES) and root.source.__class__ is Received:
        return Written(root.source.descriptor, root.source.body, root.source.transactional)
    if changed is None:
        changed = new_body(root)
    if changed is not None:
        received, came, body = changed
        link = _link(body)
        if not isinstance(came.parser, Header) and not isinstance(link.owner, Header):
            descriptor = received.descriptor
            form = Form(descriptor.encoding, descriptor.coded_char_set_id, came.portion.template)
            return Written(descriptor, _write(link, form), received.transactional)
    properties, header, chain = sorted_links(links_of(written(root)))
    descriptor = descriptor_of(header, properties)
    template = template_of(properties)
    transactional = _is_transactional(properties)
    if len(chain) == 1 and not isinstance(chain[0].owner, Header):
        form = Form(descriptor.encoding, descriptor.coded_char_set_id, template)
        return Written(with_own_format(chain[0], descriptor), _write(chain[0], form), transactional)
    chain = _described(chain, properties)
    follows = announcements(chain, descriptor)
    pieces = []
    for link, before, after in zip(chain, follows, [*follows, None][1:], strict=True):
        form = Form(before.encoding, before.ccsid, template, after if isinstance(link.owner, Header) else None)
        pieces.append(_write(link, form))
    if follows and follows[0].format != descriptor.format:
        descriptor = descriptor._replace(format=follows[0].format)
    return Written(descriptor, b"".join(pieces), transactional)


def new_body(root: Element) -> tuple[Received, Part, Element] | None:
    """Returns what was received, its body and the new one, where that alone differs, without a header before it."""
    held = written(root) if root.state & SHARES else root
    if held.source.__class__ is not Received or held.state & (EXPANDED | RESTRUCTURED):
        return None
    parts = held.source.parts
    if len(parts) != _PLAIN or held.first_linked is not None:  # others, or one that was appended
        return None
    changed = changed_children(held)
    if len(changed) != 1 or changed[0][0] is not parts[-1]:
        return None
    return held.source, parts[-1], changed[0][1]


def _is_transactional(properties: Link | None) -> bool:
    """Returns True for a message that is part of a unit of work, as its Properties say; one that is made anew is."""
    if properties is None:
        return True
    if properties.part is not None and properties.part.portion.received is not None:
        return properties.part.portion.received.transactional
    return properties.element is None or _value(properties.element, "Transactional") is not False


def sorted_links(links: list[Link]) -> tuple[Link | None, Link | None, list[Link]]:
    """Properties, the MQMD, and all that stands behind them."""
    properties = header = None
    chain = []
    for link in links:
        if link.name == "Properties":
            properties = link
        elif link.name == "MQMD":
            header = link
        else:
            chain.append(link)
    return properties, header, chain


def _described(chain: list[Link], properties: Link | None) -> list[Link]:
    """The chain with headers that say what the body is, where the flow has said so in Properties or has changed it.

    What a flow has written into a header itself stands, but for what it has written into Properties.
    """
    said, last = _said_of_body(properties), chain[-1] if chain else None
    body = "" if last is None or last.part is not None or isinstance(last.owner, Header) else last.name
    described = []
    for link in chain:
        wanted = said._replace(domain="" if link.part is None else body)
        if isinstance(link.owner, Header) and wanted != NO_TEMPLATE:
            element = copy(_element_of(link))
            if link.owner.describe(element, wanted):
                described.append(Link(link.name, link.owner, element, None))
                continue
        described.append(link)
    return described


def _said_of_body(properties: Link | None) -> Template:
    """Returns what Properties says of the body by fields that the flow has given it."""
    if properties is None or properties.part is not None:
        return NO_TEMPLATE
    known = {field.name: str(field.value) for field in fields_of(properties)[1] if field.value is not None}
    return Template("", *(known.get(name, "") for name in ("MessageSet", "MessageType", "MessageFormat")))


def _element_of(link: Link) -> Element:
    """The element of a link, made of the message that came in where there is none yet."""
    if link.element is not None:
        return link.element
    received = None if link.part is None else link.part.portion.received
    assert received is not None
    found = received.root().child(step(link.name))
    assert found is not None
    return found


def with_own_format(link: Link, descriptor: Descriptor) -> Descriptor:
    """The descriptor of a body that no header stands in front of: it announces none."""
    if descriptor.format and format_catalog.get(descriptor.format) is not None:
        return descriptor._replace(format=_came_as(link))
    return descriptor


def links_of(root: Element) -> list[Link]:
    """The children of a Root on their way out."""
    source = root.source
    if source.__class__ is not Received or root.state & (EXPANDED | RESTRUCTURED):
        return [_link(child) for child in root]
    changed = dict(changed_children(root))
    links = []
    for part in source.parts:
        element = changed.get(part)
        links.append(Link(part.name, part.parser, None, part) if element is None else _link(element))
    return links + [_link(child) for child in appended_children(root)]


def _link(child: Element) -> Link:
    owner = child.domain or child.owner
    if not isinstance(owner, Parser):
        close = parser_catalog.suggest(child.name)
        raise ParserException(5010, f"no parser is called {child.name}, so Root.{child.name} cannot be written{close}")
    held = written(child) if child.state & SHARES else child
    part = held.source if held.source.__class__ is Part and not held.state & EDITED else None
    return Link(child.name, owner, child, part)


def write_part(element: Element, form: Form) -> bytes:
    """The bytes of what one parser owns, as they came in where neither it nor its form has changed."""
    return _write(_link(element), form)


def _write(link: Link, form: Form) -> bytes:
    """The bytes of one child of Root: those it came in, where neither it nor its form has changed."""
    part = link.part
    if part is not None and _same_form(part, link.owner, form):
        return part.portion.bytes
    return link.owner.write(_element_of(link), form)


def _same_form(part: Part, owner: Parser, form: Form) -> bool:
    portion = part.portion
    was = portion.follow
    return (
        part.parser is owner
        and was.encoding == form.encoding
        and was.ccsid == form.ccsid
        and (form.template[1:] == portion.template[1:] or form.template is NO_TEMPLATE)
        and (form.next is None or _announced(part) == form.next)
    )


def _announced(part: Part) -> Follow:
    assert isinstance(part.parser, Header)
    return part.parser.measure(part.portion)[1]._replace(template=None)


def announcements(chain: list[Link], descriptor: Descriptor) -> list[Follow]:
    """Returns what each part of the chain is announced as: its format, and the encoding and CCSID it is written in."""
    said = [Follow(descriptor.format, descriptor.encoding, descriptor.coded_char_set_id)]
    for link in chain[:-1]:
        own, above = _announces(link), said[-1]
        encoding = above.encoding if own.encoding in _INHERIT else own.encoding
        said.append(Follow(own.format, encoding, above.ccsid if own.ccsid in _INHERIT else own.ccsid))
    of_bodies = [f.format for f in said if f.format and format_catalog.get(f.format) is None]
    body_format = of_bodies[-1] if of_bodies else _came_as(chain[-1]) if chain else ""
    follows = []
    for link, follow in zip(chain, said, strict=False):
        named = follow.format
        if isinstance(link.owner, Header):
            named = named if named in link.owner.formats else link.owner.formats[0]
        elif not named or format_catalog.get(named) is not None:
            named = body_format
        follows.append(follow._replace(format=named))
    return follows


def _came_as(link: Link) -> str:
    """The format that announced a body where it came from."""
    source = link.part if link.element is None else written(link.element).source
    return source.portion.follow.format if isinstance(source, Part) else ""


def _announces(link: Link) -> Follow:
    if link.part is not None and isinstance(link.part.parser, Header):
        return _announced(link.part)
    element = link.element
    if element is None:  # a body as it came in, in front of another
        return Follow("", 0, 0)
    kind, encoding, ccsid = (_value(element, name) for name in ("Format", "Encoding", "CodedCharSetId"))
    return Follow(str(kind or "").rstrip(), integer(encoding or 0), integer(ccsid or 0))


def template_of(link: Link | None) -> Template:
    """Returns what Properties say of the body."""
    if link is None:
        return NO_TEMPLATE
    if link.part is not None:
        received = link.part.portion.received
        return NO_TEMPLATE if received is None else received.parts[-1].portion.template
    element = link.element
    assert element is not None
    return Template("", *(str(_value(element, name) or "") for name in ("MessageSet", "MessageType", "MessageFormat")))


def descriptor_of(header: Link | None, properties: Link | None) -> Descriptor:
    """The descriptor that an MQMD stands for; what that does not say itself is as Properties say."""
    base, own = (Descriptor(), []) if header is None else fields_of(header)
    changes: dict[str, Value] = {held: f.value for f in own if (held := held_as(f.name, f.value)) is not None}
    if properties is not None and is_made(header):
        base = _as_properties_came(properties)
    if properties is not None and properties.part is None:
        for field in fields_of(properties)[1]:
            name = _FROM_PROPERTIES.get(field.name)
            if name == "expiry" and not field.state & EDITED:  # a time that came in is not one to expire at
                continue
            if name is not None and field.value is not None:
                changes.setdefault(name, int(field.value) if field.value.__class__ is bool else field.value)
    if not changes:
        return base
    values: dict[str, Any] = {name: described(name, value) for name, value in changes.items()}
    return base._replace(**values)


def is_made(header: Link | None) -> bool:
    """Returns whether a flow sends no MQMD that came with a message, but none, or one that it has made."""
    return header is None or (header.part is None and _came_with(header) is None)


def _came_with(link: Link) -> Received | None:
    """The message that a folder came with."""
    return _received_by(link.part if link.element is None else written(link.element).source)


def _as_properties_came(properties: Link) -> Descriptor:
    """Returns what Properties say that came with a message without MQMD; what is left of them says its part itself."""
    received = _came_with(properties)
    if received is None or (properties.element is not None and written(properties.element).state & RESTRUCTURED):
        return Descriptor()
    came, body = received.descriptor, received.parts[-1].portion.follow
    return Descriptor(
        expiry=came.expiry,
        encoding=body.encoding,
        coded_char_set_id=body.ccsid,
        priority=came.priority,
        persistence=came.persistence,
        correl_id=came.correl_id,
    )


def fields_of(link: Link) -> tuple[Descriptor, list[Element]]:
    """The descriptor that a folder came with, and the fields that say something else."""
    if link.part is not None and (received := _received_by(link.part)) is not None:
        return received.descriptor, []
    assert link.element is not None
    held = written(link.element)
    received = _received_by(held.source)
    if received is None:
        return Descriptor(), list(held)
    if held.state & RESTRUCTURED:
        return received.descriptor, list(held)
    return received.descriptor, [child for _, child in changed_children(held)] + list(appended_children(held))


def _received_by(source: Source | None) -> Received | None:
    """The message whose descriptor a folder shows; one that was read from bytes of its own shows none."""
    return source.portion.received if isinstance(source, Part) and not source.portion.data else None


def _value(element: Element, name: str) -> Value:
    field = element.child(step(name))
    return None if field is None else field.value
