"""TDS, the Tagged/Delimited String format: messages that are text, with tags, delimiters, lengths and patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from engine.budget import pay
from engine.errors import ParserException
from engine.parser import Form, Portion
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import Handle, Source, Value
from engine.tree.states import EDITED, SHARES
from engine.tree.step import ByName, children_beyond, children_by_name
from parsers.charsets import ccsid as characters
from parsers.mrm.model import Definition, wire_format
from parsers.mrm.simple_values import LARGEST
from parsers.mrm.tds.binary_fields import InBytes
from parsers.mrm.tds.groups import delimiters_of
from parsers.mrm.tds.message_plan import DELIMITED, FIXED, TAGGED, UNDEFINED, FieldPlan, GroupPlan, Plan, Plans, Stops
from parsers.mrm.tds.properties import TdsField, TdsFormat, TdsGroup
from parsers.mrm.tds.reading import TOP, Text
from parsers.mrm.tds.scanning import Coding
from parsers.mrm.tds.values import UNWRITABLE, DeclaredLengths, Measure

_OPEN: Final = TAGGED | {UNDEFINED}  # ways to tell elements apart that leave room for what the model does not know
_EACH: Final = 1000  # for each of it, so that what is empty has a bound too


class Writing:
    """One tree on its way to text."""

    __slots__ = ("_absent", "_fields", "_left", "coding", "markup", "plans", "said")

    def __init__(self, plans: Plans, coding: Coding) -> None:
        self.plans = plans
        self.markup = plans.markup
        self.coding = coding
        self.said = DeclaredLengths()
        self._absent: dict[GroupPlan, str] = {}
        self._fields: ByName = {}  # those that stand below the element whose content is being written
        self._left = LARGEST

    def message(self, element: Element) -> str:
        """The text of the message that an element stands for."""
        return self.content(self.plans.top(), element, ())

    def group(self, plan: GroupPlan, element: Element, around: Stops) -> str:
        """The text of a group whose fields stand below an element."""
        inner = (*plan.markup, *around)
        pieces = _SEPARATIONS[plan.separation](self, plan, element, inner)
        return plan.group_indicator + pieces + plan.group_terminator

    def content(self, plan: GroupPlan, element: Element, around: Stops) -> str:
        """The text of all that stands below an element; what the model does not know is not lost unsaid."""
        fields = children_by_name(element, plan.names)
        if plan.separation not in _OPEN and not plan.names.issuperset(fields):
            self._refuse_unknown(plan, element, fields)
        outer, self._fields = self._fields, fields
        self.said.above.append(element)
        pay(len(plan.members) + 1)
        text = self.group(plan, element, around)
        self.said.above.pop()
        self._fields = outer
        return text

    def _refuse_unknown(self, plan: GroupPlan, element: Element, fields: ByName) -> None:
        """Raise where an element holds what the model does not know, and what is written would lose it."""
        embedded = self._embedded(element) if plan.embeds else None
        for child in children_beyond(element, fields, plan.names):
            if child is not embedded:
                raise unknown(child, element)

    def strangers(self, plan: GroupPlan, element: Element) -> Sequence[Element]:
        """The children that a group does not know, and that are to be written under their names as tags."""
        if plan.names.issuperset(self._fields):
            return ()
        found = children_beyond(element, self._fields, plan.names)
        if found and (found[0].first_child is not None or plan.separation == "taggedFixedLength"):
            raise unknown(found[0], element)
        return found

    def _embedded(self, element: Element) -> Element | None:
        return next((child for child in element if self.plans.message(child.name) is not None), None)

    def embedded(self, element: Element, around: Stops) -> str:
        """The text of the message that stands below an element."""
        found = self._embedded(element)
        inner = None if found is None else self.plans.message(found.name)
        if found is not None and inner is not None:
            return self.content(inner, found, around)
        raise ParserException(UNWRITABLE, f"{element.name} holds no message of the set, which must stand in it")

    def members(self, plan: GroupPlan, element: Element) -> Sequence[Plan]:
        """The members to be written: of a choice the first that the tree has."""
        if plan.group.composition != "choice":
            return plan.members
        chosen = next((member for member in plan.members if self.stands(member, element)), None)
        return () if chosen is None else (chosen,)

    def stands(self, member: Plan, element: Element) -> bool:
        """Returns whether the tree has anything of a member."""
        if isinstance(member, FieldPlan):
            return element.child(member.step) is not None
        if member.separation == UNDEFINED:
            return self._embedded(element) is not None
        return any(self.stands(inner, element) for inner in member.members)

    def occurrences(self, member: FieldPlan, element: Element, *, exactly: bool = False) -> list[Element]:
        """The elements of a field, no more than it may have, and `exactly` as many as another field says."""
        found = self._fields.get((member.name, member.field.namespace), [])
        most = member.most
        if not member.repeat_reference and len(found) <= most:
            return found
        said = self.said.of(member.repeat_reference)[0] if member.repeat_reference else None
        if said is not None:
            most = min(most, said)
        if len(found) > most or (exactly and said is not None and len(found) != most):
            times = f"may stand there {member.most} times" if said is None else f"must stand there {most} times"
            who = "" if said is None else f", as {'.'.join(member.repeat_reference)} says"
            text = f"{element.name} has {len(found)} of {member.name}, which {times}{who}"
            raise ParserException(UNWRITABLE, text)
        return found

    def one(self, plan: FieldPlan, element: Element, stops: Stops, *, sized: bool = False) -> str:
        """The text of one occurrence."""
        length = self.said.length(plan) if sized else 0
        text = self._as_read(plan, element)
        if text is not None and (not plan.length_reference or not sized or self._measure(plan, text) == length):
            pass
        elif plan.type is not None:
            text = self._filled(plan, self.content(self.plans.of(plan.type), element, stops), length)
        else:
            text = self.simple(plan, element, stops, sized=sized)
        if self.plans.has_inclusive and plan.type is None:
            self.said.lengths[id(element)] = len(text) if plan.kept is not None else self._measure(plan, text)
        return text

    def _as_read(self, plan: FieldPlan, element: Element) -> str | None:
        """The text from which a field was read, where it still is what is to be written."""
        held = written(element) if element.state & SHARES else element
        source = held.source
        if not isinstance(source, Text) or held.state & EDITED:
            return None
        place = held.handle
        is_of_plan = source.plans is self.plans and source.coding is self.coding and place and place.plan is plan
        return source.text(place) if is_of_plan else None

    def is_bare(self, element: Element) -> bool:
        """Returns True where a field that is unchanged since it was read is a tag and nothing else."""
        held = written(element)
        is_read = isinstance(held.source, Text) and not held.state & EDITED and held.handle is not None
        return is_read and held.handle.bare and held.handle.name == element.name

    def _measure(self, plan: FieldPlan, text: str) -> int:
        """Returns the length of scanned text, in the unit that the field's length counts."""
        if plan.in_bytes:
            return len(text) if self.coding.mixed else len(self.coding.data(text, plan.name))
        return self.coding.length(text)

    def _filled(self, plan: FieldPlan, text: str, length: int) -> str:
        """The text of a complex field that has a length, filled up to it."""
        left = length - self._measure(plan, text) if length else 0
        if left < 0:
            why = f"its fields take {-left} more than its length of {length}"
            raise ParserException(UNWRITABLE, f"{plan.name} cannot be written: {why}", plan.name)
        return text + " " * left

    def simple(self, plan: FieldPlan, element: Element, stops: Stops, *, sized: bool) -> str:
        """The text of a simple field."""
        values = plan.values
        assert values is not None
        value = element.value
        if plan.kept is not None:
            return self._in_bytes(plan, plan.kept, value)
        length = self.said.length(plan) if sized else 0
        empty = sized and plan.length_reference and not length and self.said.of(plan.length_reference)[0] is not None
        if values.is_binary:
            if not isinstance(value, bytes):
                raise ParserException(UNWRITABLE, f"{plan.name} takes a BLOB, not {value!r:.60}", plan.name)
            text = values.write(self.coding.text(value, what=plan.name), length, self._measure_of(plan))
        else:
            text = values.write(value, length, self._bytes_of(plan) if plan.in_bytes else len)
            if self.coding.mixed:
                text = self.coding.outer(text, plan.name)
        if empty and text:
            name = ".".join(plan.length_reference)
            raise ParserException(UNWRITABLE, f"{plan.name}: {name} says that it is empty, and it is not", plan.name)
        return text if sized else self.markup.guarded(text, stops, plan.name)

    def _bytes_of(self, plan: FieldPlan) -> Measure:
        """Returns the function that measures text before it is in scanned form."""
        if not plan.in_bytes:
            return len
        ccsid, encoding = self.coding.ccsid, self.coding.encoding
        return lambda text: len(characters.encode(text, ccsid, encoding, what=plan.name))

    def _measure_of(self, plan: FieldPlan) -> Measure:
        """Returns the function that measures text in scanned form."""
        return (lambda text: self._measure(plan, text)) if plan.in_bytes or self.coding.parted else len

    def _in_bytes(self, plan: FieldPlan, kept: InBytes, value: Value) -> str:
        """The bytes of a field that is no text, as text."""
        stored = kept.stored(self.coding)
        length = stored.size or (self.said.length(plan) if plan.length_reference else kept.said.length) or -1
        return self.coding.text(stored.encode(value, length))

    def absent(self, plan: FieldPlan, filler: str = "") -> str:
        """The text of a field that must stand there and does not: its default."""
        if filler:
            return filler * plan.length
        if plan.values is None or plan.field.default is None:
            text = f"{plan.name} is not in the tree, and must stand in the message: set it, or give it a default"
            raise ParserException(5288, text)
        default = plan.values.read(plan.field.default, fixed=False)
        if plan.kept is not None:
            return self._in_bytes(plan, plan.kept, default)
        length = self.said.length(plan)
        fitted = plan.values.fitted(plan.values.write(default), length, self._bytes_of(plan))
        return self.coding.outer(fitted if length else plan.values.write(default), plan.name)

    def missing(self, plan: GroupPlan, member: FieldPlan) -> str:
        """The text of a complex field that must stand there and does not: all of its fields have their defaults."""
        known = self._absent.get(plan)
        if known is None:
            outer, self._fields = self._fields, {}
            known = self._absent[plan] = self.group(plan, Element(member.name), ())
            self._fields = outer
        self.take(len(known))
        return known

    def room(self, one: str, between: str, absent: int) -> str:
        """The delimiters of occurrences that are absent; `one` are those in each."""
        if absent > 0:
            self.take(absent * len(one + between))
        return one + (between + one) * absent

    def take(self, length: int) -> None:
        """Count text that the model brings, of which there may be any amount."""
        self._left -= length + _EACH
        if self._left < 0:
            raise ParserException(UNWRITABLE, f"what is absent takes more than {LARGEST:,} bytes in the message")


def _fixed(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    pieces = []
    filler = "?" if plan.separation == "fixedLengthAL3" else ""
    for member in writing.members(plan, element):
        if isinstance(member, GroupPlan):
            pieces.append(writing.group(member, element, stops))
            continue
        found = writing.occurrences(member, element, exactly=True)
        pieces += [writing.one(member, each, stops, sized=True) for each in found]
        wanted = 0 if member.repeat_reference or member.field.max_occurs < 0 else member.field.max_occurs
        pieces += [_missing(writing, member, filler) for _ in range(wanted - len(found))]
    return "".join(pieces)


def _missing(writing: Writing, member: FieldPlan, filler: str) -> str:
    if member.type is None or (filler and member.length):
        text = writing.absent(member, filler)
        writing.take(len(text))
        return text
    return writing.missing(writing.plans.of(member.type), member)


def _delimited(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    parts = [_in_place(writing, plan, member, element, stops) for member in writing.members(plan, element)]
    counted = stops.count(plan.delimiter) > 1 and not plan.group_indicator and not plan.group_terminator
    suppress = plan.suppress and not counted
    while suppress and parts and not parts[-1][0]:
        parts.pop()
    before = "".join(piece + writing.room(*room) + delimiter for piece, room, delimiter in parts[:-1])
    piece, room, _ = parts[-1] if parts else ("", ("", "", 0), "")
    return before + piece + ("" if suppress else writing.room(*room))


def _in_place(
    writing: Writing, plan: GroupPlan, member: Plan, element: Element, stops: Stops
) -> tuple[str, tuple[str, str, int], str]:
    """Returns a member's text, the room of what is absent at its end, and the delimiter behind it."""
    if isinstance(member, GroupPlan):
        text = writing.group(member, element, stops) if writing.stands(member, element) else ""
        return text, ("", "", 0), plan.delimiter
    in_row = member.fixed and plan.separation == "variableLengthElementsDelimited"
    sized = in_row or (member.fixed and plan.observe)
    found = [writing.one(member, each, stops, sized=sized) for each in writing.occurrences(member, element)]
    if sized and not found and member.field.min_occurs:
        found = [writing.absent(member)]
    one = ""
    if not found and member.type is not None:
        one = delimiters_of(writing.plans, writing.plans.of(member.type), plan)
    counted = member.between and (member.between == plan.delimiter or not plan.suppress)
    absent = member.field.max_occurs - max(len(found), 1) if counted else 0
    return member.between.join(found), (one, member.between, absent), "" if in_row else plan.delimiter


def _tagged(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    pieces: list[str] = []
    _gather(writing, plan, plan, element, stops, pieces)
    pieces += [_self_defined(writing, plan, child, stops) for child in writing.strangers(plan, element)]
    return (plan.delimiter if plan.separation == "taggedDelimited" else "").join(pieces)


def _gather(
    writing: Writing, plan: GroupPlan, part: GroupPlan, element: Element, stops: Stops, pieces: list[str]
) -> None:
    has_sizes = plan.separation == "taggedFixedLength" or plan.observe
    for member in writing.members(part, element):
        if isinstance(member, GroupPlan):
            _gather(writing, plan, member, element, stops, pieces)
            continue
        for each in writing.occurrences(member, element):
            data = writing.one(member, each, stops, sized=has_sizes and member.fixed)
            bare = not data and writing.is_bare(each)
            pieces.append(_with_tag(writing, plan, member.tag, data, bare=bare) if member.tag else data)


def _with_tag(writing: Writing, plan: GroupPlan, tag: str, data: str, *, bare: bool) -> str:
    if plan.separation == "taggedEncodedLength":
        length = str(writing.coding.length(data) + plan.extra)
        if len(length) > plan.encoded_length:
            text = f"{tag} is {length} characters long, which {plan.encoded_length} digits cannot say"
            raise ParserException(UNWRITABLE, text)
        data = length.rjust(plan.encoded_length, "0") + data
    return tag if bare else tag + plan.tag_data_separator + data


def _self_defined(writing: Writing, plan: GroupPlan, child: Element, stops: Stops) -> str:
    """Returns what the model does not know is written under its name as the tag."""
    tag = writing.coding.outer(child.name, "a tag")
    separator = plan.tag_data_separator
    marks = (separator, *stops) if separator else ()
    length = plan.tag_length if plan.tag_length and not separator else writing.coding.length(tag)
    if not tag or writing.markup.end(tag, 0, len(tag), marks) != len(tag) or length != writing.coding.length(tag):
        why = "the model does not know it, and its name cannot be a tag of the message"
        raise ParserException(UNWRITABLE, f"{child.name!r:.60} cannot be written: {why}", child.name)
    data = writing.markup.guarded(writing.coding.outer(str(child.value or ""), child.name), stops, child.name)
    return _with_tag(writing, plan, tag, data, bare=not data and writing.is_bare(child))


def unknown(child: Element, element: Element) -> ParserException:
    """A field that the model does not know, where no tag could tell what it is."""
    text = f"{element.name} has no field called {child.name} in its model: delete it, or add it there"
    return ParserException(UNWRITABLE, text, child.name)


def _by_pattern(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    pieces = []
    for member in writing.members(plan, element):
        if isinstance(member, GroupPlan):
            pieces.append(writing.group(member, element, stops))
        else:
            pieces += [writing.one(member, each, ()) for each in writing.occurrences(member, element)]
    return "".join(pieces)


_SEPARATIONS: Final[Mapping[str, Callable[[Writing, GroupPlan, Element, Stops], str]]] = {
    **dict.fromkeys(FIXED, _fixed),
    **dict.fromkeys(TAGGED, _tagged),
    **dict.fromkeys(DELIMITED, _delimited),
    "useDataPattern": _by_pattern,
    UNDEFINED: lambda writing, _, element, stops: writing.embedded(element, stops),
}


@wire_format("TDS", settings=TdsFormat, field=TdsField, group=TdsGroup)
class TaggedText:
    """Reads and writes one message; CCSIDs are those of the message, or the format's where it has none."""

    __slots__ = ("_by_ccsid", "_plans")

    def __init__(self, definition: Definition) -> None:
        self._plans = Plans(definition)
        self._plans.top()
        self._by_ccsid: dict[int, Plans] = {}

    def _in(self, ccsid: int, encoding: int) -> tuple[Plans, Coding]:
        """The plans for messages of that CCSID: where its characters are parted, markup is as well."""
        coding = self._plans.coding(ccsid, encoding)
        if not coding.parted:
            return self._plans, coding
        plans = self._by_ccsid.get(ccsid)
        if plans is None:
            plans = self._by_ccsid[ccsid] = Plans(self._plans.definition, coding)
        return plans, coding

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The text as a lazy source."""
        follow = portion.follow
        plans, coding = self._in(follow.ccsid or self._plans.ccsid, follow.encoding)
        return Text(plans, portion, coding), TOP

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of the message that an element stands for."""
        plans, coding = self._in(form.ccsid or self._plans.ccsid, form.encoding)
        return coding.data(Writing(plans, coding).message(element))
