"""The results of a case beside what it expects: every difference, each with the line that expects it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from engine.errors import NOWHERE, BrokerError, Place
from engine.message.assembly import Message, exception_list
from engine.message.received import Received, RootDomain, body_of
from engine.message.writer import write_message
from engine.parser import Header, Template, parser_catalog
from engine.testing.body_comparison import Found, compare
from engine.testing.case import Case, Description, ExpectedException, Field, Propagations, Text, Tree
from engine.testing.databases import differences
from engine.testing.paths import every, find, nearest, steps_of, tree_of
from engine.testing.running import Happened, Propagated
from engine.tree.dump import literal
from engine.tree.element import Element
from engine.work import Arrival

_THROWING: Final = frozenset(("2230", "2488", "2439"))  # a node, a statement, an expression, around what failed


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that is not as a case expects it: what, in lines, with a diff of bodies, and where that is said."""

    subject: str
    lines: tuple[str, ...]
    diff: str = ""
    place: Place = NOWHERE


def judge(case: Case, happened: Happened) -> list[Failure]:
    """Everything that is not as expected."""
    return [
        *_exceptions(case, happened),
        *_queues(case, happened),
        *_tables(case, happened),
        *_terminals(case, happened),
        *_order(case, happened),
    ]


def _exceptions(case: Case, happened: Happened) -> Iterator[Failure]:
    expected, errors = case.expected.exceptions, happened.errors
    for number in range(max(len(expected), len(errors))):
        if number >= len(errors):
            yield Failure("exception", ("expected, but nothing failed",), place=expected[number].place)
        elif number >= len(expected):
            yield Failure("exception", ("not expected", *_chain(exception_list(errors[number]))), place=case.place)
        else:
            yield from _exception("exception", expected[number], exception_list(errors[number]), errors[number])


def _exception(
    subject: str, expected: ExpectedException, found: Element, error: BrokerError | None = None
) -> Iterator[Failure]:
    links = list(_links(found))
    if not any(_suits(expected, link) for link in links):
        said = [f"{k}: {v}" for k in _SAID if (v := getattr(expected, k)) not in {"", 0, None}]
        where = () if error is None or not error.place.file else (f"raised at {error.place}",)
        lines = (f"expected {', '.join(said) or 'one'}", *(_chain(found) or ("found none",)), *where)
        yield Failure(subject, lines, place=expected.place)


_SAID: Final = ("type", "number", "text", "node", "inserts")


def _links(exceptions: Element) -> Iterator[Element]:
    """The exceptions of a list from the outermost in."""
    at = next((child for child in exceptions if child.name.endswith("Exception")), None)
    while at is not None:
        yield at
        at = next((child for child in at if child.name.endswith("Exception")), None)


def _suits(expected: ExpectedException, link: Element) -> bool:
    texts = tuple(_text(insert, "Text") for insert in link if insert.name == "Insert")
    label = _text(link, "Label")
    return (
        expected.type in {"", link.name}
        and str(expected.number or _text(link, "Number")) == _text(link, "Number")
        and expected.text in _text(link, "Text")
        and (not expected.node or label == expected.node or label.endswith(f".{expected.node}"))
        and (expected.inserts is None or expected.inserts == texts)
    )


def _text(above: Element, name: str) -> str:
    found = above.at(name)
    return "" if found is None or found.value is None else str(found.value)


def _chain(exceptions: Element) -> list[str]:
    """The exceptions of a list in words; what only passed one on is left out where there is more to say."""
    links = list(_links(exceptions))
    own = [link for link in links if _text(link, "Number") not in _THROWING] or links
    return [f"found {_told(link)}" for link in own]


def _told(link: Element) -> str:
    inserts = [_text(insert, "Text") for insert in link if insert.name == "Insert"]
    at = ":".join(part for part in (_text(link, "File"), _text(link, "Line")) if part not in {"", "0"})
    node = _text(link, "Label")
    words = [f"{link.name} {_text(link, 'Number')}", f"in {node}" if node else "", f"at {at}" if at else ""]
    tail = f" (inserts {', '.join(map(repr, inserts))})" if inserts else ""
    return f"{' '.join(filter(None, words))}: {_text(link, 'Text')}{tail}"


def _queues(case: Case, happened: Happened) -> Iterator[Failure]:
    expected = case.expected.queues
    if expected is None:
        return
    for wanted in expected:
        found = happened.queues.get(wanted.name, [])
        yield from _counted(f"queue {wanted.name}", wanted, len(found), list(_previews(found)))
        for number, (message, arrival) in enumerate(zip(wanted.messages, found, strict=False), 1):
            yield from _arrived(f"queue {wanted.name}, message {number}", message, arrival, happened.domain)
    known = {wanted.name for wanted in expected}
    for name, found in happened.queues.items():
        if name not in known:
            lines = (f"{_messages(len(found))} not expected there", *_previews(found))
            yield Failure(f"queue {name}", lines, place=case.expected.place)


def _tables(case: Case, happened: Happened) -> Iterator[Failure]:
    for expected, found in zip(case.expected.tables, happened.tables, strict=True):
        lines = differences(expected, found, agrees)
        if lines:
            yield Failure(f"table {expected.name} of {expected.source}", tuple(lines), place=expected.place)


def _previews(found: list[Arrival]) -> Iterator[str]:
    for arrival in found[:3]:
        yield f"found {arrival.body[:100]!r}{'...' if len(arrival.body) > 100 else ''}"


def _messages(count: int) -> str:
    return f"{count} message" if count == 1 else f"{count} messages"


def _counted(subject: str, wanted: Propagations, count: int, previews: list[str]) -> Iterator[Failure]:
    if wanted.count != count:
        lines = (f"expected {_messages(wanted.count)}, found {count}", *previews)
        yield Failure(subject, lines, place=wanted.place)


def _arrived(subject: str, wanted: Description, arrival: Arrival, domain: RootDomain) -> Iterator[Failure]:
    """The differences of a message on a queue; its domain is named, or the one that its paths speak of."""
    template = wanted.template
    if not template.domain:
        template = template._replace(domain=_domain(wanted.fields))
    received = Received(arrival.descriptor, arrival.body, template=template)
    received.domain = domain
    message = Message(received.root())
    yield from _compared(subject, wanted, message, template)


def _domain(fields: tuple[Field, ...]) -> str:
    names = [field.names[0] for field in fields if field.tree == "Root" and field.names]
    parsers = {name: parser_catalog.get(name) for name in names if name not in {"Properties", "MQMD"}}
    return next((name for name, found in parsers.items() if found is not None and not isinstance(found, Header)), "")


def _terminals(case: Case, happened: Happened) -> Iterator[Failure]:
    for wanted in case.expected.terminals:
        found = [one for one in happened.propagated if f"{one.label}.{one.terminal}" == wanted.name]
        taken = dict.fromkeys(f"{one.label}.{one.terminal}" for one in happened.propagated)
        way = [f"what was sent went out of {', '.join(taken)}"] if taken else ["nothing was sent"]
        yield from _counted(f"terminal {wanted.name}", wanted, len(found), way)
        for number, (message, sent) in enumerate(zip(wanted.messages, found, strict=False), 1):
            subject = f"terminal {wanted.name}, message {number}"
            yield from _compared(subject, message, sent.message, Template(_body_domain(sent)))


def _order(case: Case, happened: Happened) -> Iterator[Failure]:
    """The order of what left the terminals that are named; what left others may come between."""
    expected = case.expected.order
    if expected is not None:
        all_sent = [f"{one.label}.{one.terminal}" for one in happened.propagated]
        found = [name for name in all_sent if name in expected]
        if found != list(expected):
            way = f"of all that was sent: {', '.join(all_sent) or 'nothing'}"
            lines = (f"expected {', '.join(expected)}", f"found {', '.join(found) or 'nothing'}", way)
            yield Failure("order", lines, place=case.expected.place)


def _body_domain(sent: Propagated) -> str:
    body = body_of(sent.message.root)
    return "" if body is None else body.name


def _compared(subject: str, wanted: Description, message: Message, template: Template) -> Iterator[Failure]:
    try:
        if wanted.body is not None:
            yield from _body(subject, wanted, message, wanted.template.domain or template.domain)
        for field in wanted.fields:
            lines = list(_field(message, field))
            if lines:
                yield Failure(subject, tuple(lines), place=field.place)
        yield from _descriptor(subject, wanted, message)
        if wanted.exception is not None:
            yield from _exception(f"{subject}, exception", wanted.exception, message.exceptions)
    except BrokerError as error:
        yield Failure(subject, (f"cannot be compared: {error}",), place=wanted.place)


def _body(subject: str, wanted: Description, message: Message, domain: str) -> Iterator[Failure]:
    assert wanted.body is not None
    descriptor, data = write_message(message.root)
    root = Received(descriptor, data).root()
    part = root.source.parts[-1]  # type: ignore[attr-defined]  # Received
    follow = part.portion.follow
    bare = b"" if isinstance(part.parser, Header) else part.portion.bytes
    found = Found(bare, follow.ccsid, follow.encoding, domain)
    difference = compare(wanted.body.content, found, wanted.body.compare)
    if difference is not None:
        yield Failure(f"{subject}, body", difference.lines, difference.diff, wanted.place)


def _descriptor(subject: str, wanted: Description, message: Message) -> Iterator[Failure]:
    descriptor, _ = write_message(message.root)
    said = {"ccsid": wanted.ccsid, "encoding": wanted.encoding, "format": wanted.format}
    has = {"ccsid": descriptor.coded_char_set_id, "encoding": descriptor.encoding, "format": descriptor.format.rstrip()}
    lines = tuple(f"{n}: expected {v}, found {has[n]}" for n, v in said.items() if v is not None and v != has[n])
    if lines:
        yield Failure(subject, lines, place=wanted.place)


def _field(message: Message, field: Field) -> Iterator[str]:
    top = tree_of(message, field.tree)
    if field.counts:
        count, wanted = len(every(top, field.names)), field.value
        if not isinstance(wanted, Text) or wanted.text != str(count):
            yield f"{field.path}: expected {_written(wanted)}, found {count}"
        return
    yield from _values(top, field.names, field.value, field.path)


def _values(top: Element | None, names: tuple[str, ...], wanted: Tree, path: str) -> Iterator[str]:
    if isinstance(wanted, dict):
        for name, inner in wanted.items():
            yield from _values(top, (*names, *steps_of(name)), inner, f"{path}.{name}")
        return
    if isinstance(wanted, tuple):
        count = len(every(top, names))
        if count != len(wanted):
            yield f"{path}[]: expected {len(wanted)}, found {count}"
        for number, inner in enumerate(wanted, 1):
            indexed = f"[{number}]"
            yield from _values(top, (*names[:-1], f"{names[-1]}{indexed}"), inner, f"{path}{indexed}")
        return
    found = find(top, names)
    value = None if found is None else found.value
    if not agrees(wanted, value):
        missing = f"; {nearest(top, names)}" if found is None else ""
        yield f"{path}: expected {_written(wanted)}, found {literal(value)}{missing}"


def _written(wanted: Tree) -> str:
    if not isinstance(wanted, Text):
        return "a count"
    return "NULL" if wanted.text is None else repr(wanted.text)


def agrees(wanted: Text, value: Any) -> bool:
    """Returns whether a value of a tree is the written one: numbers by value, bytes in hexadecimal, characters alike.

    Blanks at the end do not count, as for ESQL's `=`.

    >>> agrees(Text("7.50"), Decimal("7.5")), agrees(Text("7.50"), "7.5"), agrees(Text("0aff"), bytes([10, 255]))
    (True, False, True)
    """
    text = wanted.text
    if text is None or value is None:
        return text is None and value is None
    if isinstance(value, str):
        return text.rstrip(" ") == value.rstrip(" ")
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, bytes):
        return text.removeprefix("X'").removesuffix("'").lower() == value.hex()
    if isinstance(value, int | Decimal | float):
        try:
            return float(text) == value if isinstance(value, float) else Decimal(text) == value
        except (InvalidOperation, ValueError):
            return text == literal(value)
    shown = literal(value)
    return text in {shown, shown.partition("'")[2].removesuffix("'")}
