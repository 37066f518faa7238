"""Writing: a tree to text, by the plan of a message; what was not changed is written as it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from engine.errors import ParserException
from engine.sharing import written
from engine.source import Value
from engine.state import EDITED
from engine.step import step
from engine.tree import Element
from parsers.mrm.tds.coding import Coding
from parsers.mrm.tds.in_bytes import InBytes
from parsers.mrm.tds.plan import DELIMITED, FIXED, TAGGED, UNDEFINED, FieldPlan, GroupPlan, Plan, Plans
from parsers.mrm.tds.source import Text
from parsers.mrm.tds.values import UNWRITABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

Stops = tuple[str, ...]


class Writing:
    """One tree on its way to text."""

    __slots__ = ("coding", "markup", "plans")

    def __init__(self, plans: Plans, coding: Coding) -> None:
        self.plans = plans
        self.markup = plans.markup
        self.coding = coding

    def group(self, plan: GroupPlan, element: Element, around: Stops) -> str:
        """The text of a group whose fields stand below an element."""
        inner = (*plan.markup, *around)
        pieces = _SEPARATIONS[plan.separation](self, plan, element, inner)
        return plan.group_indicator + pieces + plan.group_terminator

    def content(self, plan: GroupPlan, element: Element, around: Stops) -> str:
        """The text of all that stands below an element; what the model does not know is not lost unsaid."""
        if plan.separation not in {*TAGGED, UNDEFINED}:
            self._refuse_unknown(plan, element)
        return self.group(plan, element, around)

    def _refuse_unknown(self, plan: GroupPlan, element: Element) -> None:
        """Raise where an element holds what the model does not know, and what is written would lose it."""
        known, embedded = set(_names(plan)), self._embedded(element) if plan.embeds else None
        for child in element:
            if (child.name, child.namespace) not in known and child is not embedded:
                raise unknown(child, element)

    def _embedded(self, element: Element) -> Element | None:
        """The message of the set that stands below an element."""
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
        """Whether the tree has anything of a member."""
        if isinstance(member, FieldPlan):
            return element.child(step(member.name, member.field.namespace)) is not None
        if member.separation == UNDEFINED:
            return self._embedded(element) is not None
        return any(self.stands(inner, element) for inner in member.members)

    def occurrences(self, member: FieldPlan, element: Element) -> list[Element]:
        """The elements of a field, no more than it may have."""
        found = element.every(step(member.name, member.field.namespace))
        if len(found) > member.most:
            raise ParserException(
                UNWRITABLE,
                f"{element.name} has {len(found)} of {member.name}, which may stand there {member.most} times",
            )
        return found

    def one(self, plan: FieldPlan, element: Element, stops: Stops, *, sized: bool = False) -> str:
        """The text of one occurrence."""
        held = written(element)
        source = held.source
        if isinstance(source, Text) and not held.state & EDITED and source.is_in(self.plans, self.coding):
            place = held.handle
            if place is not None and place.plan is plan:
                return source.text(place)
        if plan.type is not None:
            return self.content(self.plans.of(plan.type), element, stops)
        return self.simple(plan, element, stops, sized=sized)

    def simple(self, plan: FieldPlan, element: Element, stops: Stops, *, sized: bool) -> str:
        """The text of a simple field."""
        spelling = plan.spelling
        assert spelling is not None
        value = element.value
        if plan.kept is not None:
            return self._in_bytes(plan.kept, value)
        if spelling.is_binary:
            if not isinstance(value, bytes):
                raise ParserException(UNWRITABLE, f"{plan.name} takes a BLOB, not {value!r:.60}", plan.name)
            value = self.coding.text(value, what=plan.name)
            text = spelling.write(value, plan.length if sized else 0)
        else:
            text = self.coding.outer(spelling.write(value, plan.length if sized else 0), plan.name)
        return text if sized else self.markup.guarded(text, stops, plan.name)

    def _in_bytes(self, kept: InBytes, value: Value) -> str:
        """The bytes of a field that is no text, as text."""
        stored = kept.stored(self.coding)
        return self.coding.text(stored.encode(value, stored.size or kept.said.length or -1))

    def absent(self, plan: FieldPlan, filler: str = "") -> str:
        """The text of a field that must stand there and does not: its default."""
        if filler:
            return filler * plan.length
        if plan.spelling is None or plan.field.default is None:
            raise ParserException(
                5288, f"{plan.name} is not in the tree, and must stand in the message: set it, or give it a default"
            )
        default = plan.spelling.read(plan.field.default, fixed=False)
        if plan.kept is not None:
            return self._in_bytes(plan.kept, default)
        return self.coding.outer(plan.spelling.fitted(plan.spelling.write(default), plan.length), plan.name)


def _fixed(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    pieces = []
    filler = "?" if plan.separation == "fixedLengthAL3" else ""
    for member in writing.members(plan, element):
        if isinstance(member, GroupPlan):
            pieces.append(writing.group(member, element, stops))
            continue
        found = writing.occurrences(member, element)
        pieces += [writing.one(member, each, stops, sized=True) for each in found]
        wanted = 0 if member.repeat_reference or member.field.max_occurs < 0 else member.field.max_occurs
        pieces += [_missing(writing, member, filler) for _ in range(wanted - len(found))]
    return "".join(pieces)


def _missing(writing: Writing, member: FieldPlan, filler: str) -> str:
    if member.type is None or (filler and member.length):
        return writing.absent(member, filler)
    return writing.group(writing.plans.of(member.type), Element(member.name), ())


def _delimited(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    pieces, tied = [], []
    for member in writing.members(plan, element):
        sized = isinstance(member, FieldPlan) and member.fixed
        pieces.append(_in_place(writing, plan, member, element, stops))
        tied.append(plan.separation == "variableLengthElementsDelimited" and sized)
    if plan.suppress:
        while pieces and not pieces[-1]:
            pieces.pop()
    text = ""
    for number, piece in enumerate(pieces):
        text += piece
        if number < len(pieces) - 1 and not tied[number]:
            text += plan.delimiter
    return text


def _in_place(writing: Writing, plan: GroupPlan, member: Plan, element: Element, stops: Stops) -> str:
    """What stands between two delimiters."""
    if isinstance(member, GroupPlan):
        return writing.group(member, element, stops) if writing.stands(member, element) else ""
    sized = member.fixed and (plan.observe or plan.separation == "variableLengthElementsDelimited")
    found = [writing.one(member, each, stops, sized=sized) for each in writing.occurrences(member, element)]
    if sized and not found and member.field.min_occurs:
        found = [writing.absent(member)]
    if member.between and member.between == plan.delimiter and member.field.max_occurs > 0:
        found += [""] * (member.field.max_occurs - len(found))
    return member.between.join(found) if member.between else "".join(found)


def _tagged(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    pieces: list[str] = []
    _gather(writing, plan, plan, element, stops, pieces)
    pieces += [_self_defined(writing, plan, child, stops) for child in _strangers(plan, element)]
    return (plan.delimiter if plan.separation == "taggedDelimited" else "").join(pieces)


def _gather(
    writing: Writing, plan: GroupPlan, part: GroupPlan, element: Element, stops: Stops, pieces: list[str]
) -> None:
    for member in writing.members(part, element):
        if isinstance(member, GroupPlan):
            _gather(writing, plan, member, element, stops, pieces)
            continue
        for each in writing.occurrences(member, element):
            sized = member.fixed and (plan.separation == "taggedFixedLength" or plan.observe)
            data = writing.one(member, each, stops, sized=sized)
            pieces.append(_with_tag(plan, member.tag, data) if member.tag else data)


def _with_tag(plan: GroupPlan, tag: str, data: str) -> str:
    if plan.separation == "taggedEncodedLength":
        length = str(len(data) + plan.extra)
        if len(length) > plan.encoded_length:
            raise ParserException(
                UNWRITABLE, f"{tag} is {length} characters long, which {plan.encoded_length} digits cannot say"
            )
        data = length.rjust(plan.encoded_length, "0") + data
    return tag + plan.tag_data_separator + data


def _self_defined(writing: Writing, plan: GroupPlan, child: Element, stops: Stops) -> str:
    """What the model does not know is written under its name as the tag."""
    return _with_tag(plan, child.name, writing.markup.guarded(_own_text(writing, child), stops, child.name))


def _own_text(writing: Writing, child: Element) -> str:
    return writing.coding.outer(str(child.value or ""), child.name)


def _strangers(plan: GroupPlan, element: Element) -> Iterable[Element]:
    known = set(_names(plan))
    strangers = [child for child in element if (child.name, child.namespace) not in known]
    if strangers and (strangers[0].first_child is not None or plan.separation == "taggedFixedLength"):
        raise unknown(strangers[0], element)
    return strangers


def _names(plan: GroupPlan) -> Iterable[tuple[str, str]]:
    for member in plan.members:
        if isinstance(member, FieldPlan):
            yield member.name, member.field.namespace
        else:
            yield from _names(member)


def unknown(child: Element, element: Element) -> ParserException:
    """A field that the model does not know, where no tag could tell what it is."""
    return ParserException(
        UNWRITABLE,
        f"{element.name} has no field called {child.name} in its model: delete it, or add it there",
        child.name,
    )


def _by_pattern(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    pieces = []
    for member in writing.members(plan, element):
        if isinstance(member, GroupPlan):
            pieces.append(writing.group(member, element, stops))
        else:
            pieces += [writing.one(member, each, ()) for each in writing.occurrences(member, element)]
    return "".join(pieces)


def _message(writing: Writing, plan: GroupPlan, element: Element, stops: Stops) -> str:
    return writing.embedded(element, stops)


_SEPARATIONS: Final[Mapping[str, Callable[[Writing, GroupPlan, Element, Stops], str]]] = {
    **dict.fromkeys(FIXED, _fixed),
    **dict.fromkeys(TAGGED, _tagged),
    **dict.fromkeys(DELIMITED, _delimited),
    "useDataPattern": _by_pattern,
    UNDEFINED: _message,
}
