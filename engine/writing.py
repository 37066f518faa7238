"""Writing: from a Root to a descriptor and bytes; what was not touched is given out as it came in."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, time
from typing import Any, Final

from engine.descriptor import FIELDS, LENGTHS, Descriptor
from engine.errors import ParserException
from engine.parser import NO_TEMPLATE, Follow, Form, Header, Parser, Template, format_catalog
from engine.received import Part, Received
from engine.sharing import appended_children, changed_children, written
from engine.source import Value
from engine.state import EDITED, RESTRUCTURED
from engine.step import step
from engine.tree import Element

_INHERIT: Final = (None, 0, -2, "")

# What a changed Properties folder says, where the MQMD does not say it itself.
_FROM_PROPERTIES: Final = {
    "Encoding": "encoding",
    "CodedCharSetId": "coded_char_set_id",
    "Priority": "priority",
    "ReplyIdentifier": "correl_id",
}


def write_message(root: Element) -> tuple[Descriptor, bytes]:
    """The message that a Root stands for."""
    root = written(root)
    if not root.state & EDITED and root.source.__class__ is Received:
        return root.source.descriptor, root.source.body
    properties = root.child(step("Properties"))
    descriptor = _descriptor(root.child(step("MQMD")), properties)
    chain = [child for child in root if child.name not in {"Properties", "MQMD"}]
    template = _template(properties)
    follows = _announcements(chain, descriptor)
    pieces = []
    for child, before, after in zip(chain, follows, [*follows[1:], None], strict=True):
        owner = child.owner
        if not isinstance(owner, Parser):
            raise ParserException(5010, f"no parser is called {child.name}, so Root.{child.name} cannot be written")
        form = Form(before.encoding, before.ccsid, template, after if isinstance(owner, Header) else None)
        pieces.append(write_part(child, owner, form))
    first = follows[0] if follows else Follow("", descriptor.encoding, descriptor.coded_char_set_id)
    if first.format != descriptor.format:
        descriptor = descriptor._replace(format=first.format)
    return descriptor, pieces[0] if len(pieces) == 1 else b"".join(pieces)


def write_part(element: Element, owner: Parser, form: Form) -> bytes:
    """The bytes of one child of Root: those it came in, where neither it nor its form has changed."""
    held = written(element)
    part = held.source
    if part.__class__ is Part and not held.state & EDITED:
        assert isinstance(part, Part)
        portion = part.portion
        was = portion.follow
        same_form = (
            part.parser is owner
            and was.encoding == form.encoding
            and was.ccsid == form.ccsid
            and (form.template[1:] == portion.template[1:] or form.template is NO_TEMPLATE)
        )
        if same_form and (form.next is None or _announced(part) == form.next):
            return portion.bytes
    return owner.write(element, form)


def _announced(part: Part) -> Follow | None:
    assert isinstance(part.parser, Header)
    follow = part.parser.measure(part.portion)[1]
    return replace(follow, template=None)


def _announcements(chain: list[Element], descriptor: Descriptor) -> list[Follow]:
    """What each part of the chain is announced as: its format, and the encoding and CCSID it is written in."""
    formats = [descriptor.format]
    encodings = [(descriptor.encoding, descriptor.coded_char_set_id)]
    for child in chain[:-1]:
        fields = [_value(child, name) for name in ("Format", "Encoding", "CodedCharSetId")]
        formats.append(str(fields[0] or "").rstrip())
        above = encodings[-1]
        encodings.append(
            tuple(
                inherited if field in _INHERIT else _integer(field)
                for inherited, field in zip(above, fields[1:], strict=True)
            )  # type: ignore[arg-type]  # two of two
        )
    body_format = next((f for f in reversed(formats) if f and format_catalog.get(f) is None), "")
    follows = []
    for number, child in enumerate(chain):
        owner = child.owner
        if isinstance(owner, Header):
            named = formats[number] if formats[number] in owner.formats else owner.formats[0]
        else:
            own = formats[number]
            named = own if own and format_catalog.get(own) is None else body_format
        follows.append(Follow(named, *encodings[number]))
    return follows


def _template(properties: Element | None) -> Template:
    if properties is None:
        return NO_TEMPLATE
    held = written(properties)
    if not held.state & EDITED and isinstance(held.source, Part):
        received = held.source.portion.received
        return received.last_part().portion.template if received is not None else NO_TEMPLATE
    return Template(
        "", *(str(_value(properties, name) or "") for name in ("MessageSet", "MessageType", "MessageFormat"))
    )


def _descriptor(header: Element | None, properties: Element | None) -> Descriptor:
    base, changes = Descriptor(), dict[str, Value]()
    if header is not None:
        held = written(header)
        received = held.source.portion.received if isinstance(held.source, Part) else None
        if received is not None:
            base = received.descriptor
        edited = _edited(held) if received is not None and not held.state & RESTRUCTURED else list(held)
        changes = {FIELDS[f.name]: f.value for f in edited if f.name in FIELDS}
    for name, value in _changed_properties(properties):
        changes.setdefault(name, value)
    if not changes:
        return base
    fields: dict[str, Any] = {name: _field(name, value) for name, value in changes.items()}
    return base._replace(**fields)


def _edited(held: Element) -> list[Element]:
    if not held.state & EDITED:
        return []
    return [child for _, child in changed_children(held)] + list(appended_children(held))


def _changed_properties(properties: Element | None) -> list[tuple[str, Value]]:
    if properties is None:
        return []
    held = written(properties)
    if not held.state & EDITED:
        return []
    made = not isinstance(held.source, Part) or held.state & RESTRUCTURED
    fields = list(held) if made else _edited(held)
    changes: list[tuple[str, Value]] = [
        (_FROM_PROPERTIES[f.name], f.value) for f in fields if f.name in _FROM_PROPERTIES and f.value is not None
    ]
    changes += [("persistence", int(f.value is True)) for f in fields if f.name == "Persistence"]
    return changes


def _field(name: str, value: Value) -> Value:
    """A value as a descriptor holds it; dates and times have their own way there."""
    default = Descriptor._field_defaults[name]
    if isinstance(default, bytes):
        if value is None:
            return default
        if not isinstance(value, bytes):
            raise ParserException(5010, f"MQMD.{name} takes a BLOB of {LENGTHS[name]} bytes, not {value!r}")
        return value[: LENGTHS[name]].ljust(LENGTHS[name], b"\0")
    if isinstance(default, int):
        return default if value is None else _integer(value)
    if value is None:
        return default
    if isinstance(value, date):
        return f"{value:%Y%m%d}"
    if isinstance(value, time):
        return f"{value:%H%M%S}{value.microsecond // 10000:02d}"
    return str(value).rstrip()[: LENGTHS[name]]


def _integer(value: Value) -> int:
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]  # what cannot become an integer says so
    except (TypeError, ValueError) as error:
        raise ParserException(5010, f"a header field takes an integer, not {value!r}") from error


def _value(element: Element, name: str) -> Value:
    field = element.child(step(name))
    return None if field is None else field.value
