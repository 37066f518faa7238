"""Reading: text to the places of its fields, by the plan of a message, and the lazy source of a tree over these."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from engine.budget import pay
from engine.errors import ParserException
from engine.parser import Portion
from engine.tree.element import Element
from engine.tree.source import NAME, NAME_VALUE, Handle, Source, Value
from engine.tree.step import Step
from parsers.mrm.model import RegexTimeLimit
from parsers.mrm.tds.groups import all_delimited, by_pattern, fixed_lengths, some_delimited, tagged
from parsers.mrm.tds.message_plan import (
    FIXED,
    TAGGED,
    UNDEFINED,
    FieldPlan,
    GroupPlan,
    Place,
    Plans,
    Stops,
    last_called,
)
from parsers.mrm.tds.scanning import Coding, Pattern

MISPLACED: Final = 5421  # the text does not have the structure of its message
_DEEPEST: Final = 512
_LEAST_STEPS: Final = 20_000  # groups and fields that any message may have, with or without text
_BLOCK: Final = 256  # groups and fields that are paid for together
_STEPS: Final = 16  # and beyond these for each character: more is counts and choices, and no text


class Endless(ParserException):
    """A text of which so much was tried that no choice may try more of it."""


class Reading:
    """One text on its way to places."""

    __slots__ = (
        *("_bytes", "_characters", "_depth", "_identity", "_lasts", "_left", "_time_limit"),
        *("coding", "counts", "levels", "markup", "plans", "text"),
    )

    def __init__(self, plans: Plans, portion: Portion, coding: Coding) -> None:
        self.plans = plans
        self.coding = coding
        self._bytes = portion.bytes
        self.text = coding.text(self._bytes, portion.start)
        self.markup = plans.markup
        self.levels: list[list[Place]] = []
        self.counts: Counter[str] | None = None  # how often each field has come in the group that is read, a loop
        self._identity = ""
        self._depth = 0
        self._left = 1 + _LEAST_STEPS + _STEPS * len(self.text)
        self._lasts: dict[tuple[int, str], Place | None] = {}
        self._time_limit = RegexTimeLimit()
        self._characters: tuple[str, list[int]] | None = None

    def whole(self) -> list[Place]:
        """The places of the message's fields; text that is left over is an error."""
        found: list[Place] = []
        self.levels.append(found)
        end = self.group(self.plans.top(), 0, len(self.text), ())
        if self.text[end:].strip("\r\n\x85\x1a"):
            raise self.failure(end, "nothing of the message stands here any more")
        return found

    def failure(self, at: int, why: str) -> ParserException:
        """An error with its place and the text there."""
        shown = self.text[at : at + 24]
        return ParserException(MISPLACED, f"TDS, offset {at}, at {shown!r}: {why}", str(at), shown)

    # Groups

    def group(self, plan: GroupPlan, at: int, limit: int, around: Stops) -> int:
        """Read a group into the places of the field that it belongs to; answers where it ends."""
        if self._depth > _DEEPEST:
            raise self.failure(at, f"fields stand in more than {_DEEPEST} others")
        self._left -= 1
        if not self._left % _BLOCK:
            self._pay(at)
        indicator, terminator = plan.group_indicator, plan.group_terminator
        if indicator:
            if not self.text.startswith(indicator, at, limit):
                raise self.failure(at, f"{indicator!r} must begin the group")
            at += len(indicator)
        self._depth += 1
        read = _SEPARATIONS[plan.separation]
        inner = (*plan.markup, *around)
        at = self._choice(plan, at, limit, inner) if plan.alternatives else read(self, plan, at, limit, inner)
        self._depth -= 1
        if terminator:
            if not self.text.startswith(terminator, at, limit):
                if at == limit and not around and not self._depth:
                    return at  # the last terminator of a message may be missing
                raise self.failure(at, f"{terminator!r} must end the group")
            at += len(terminator)
        return at

    def _pay(self, at: int) -> None:
        """Pay for a block of groups and fields: a short message may say that it has any number of empty ones."""
        if not self._left:
            why = "there are more groups and fields than the message can hold: look at its counts and choices"
            raise Endless(MISPLACED, f"TDS, offset {at}: {why}", str(at))
        pay(_BLOCK)

    def _place(self, name: str, plan: FieldPlan | None, start: int, end: int) -> Place:
        """Note a field that stands there."""
        self._left -= 1
        if not self._left % _BLOCK:
            self._pay(start)
        place = Place(name, plan, start, end)
        level = self.levels[-1]
        level.append(place)
        if self._lasts and (id(level), name) in self._lasts:
            self._lasts[id(level), name] = place
        return place

    def _choice(self, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
        """The first member that the text can be read as."""
        level, last = self.levels[-1], None
        above, depth, counts = len(self.levels), self._depth, self.counts
        for alternative in plan.alternatives:
            kept = len(level)
            try:
                end = _SEPARATIONS[plan.separation](self, alternative, at, limit, stops)
            except Endless:
                raise
            except ParserException as error:
                del level[kept:]
                self._lasts.clear()
                del self.levels[above:]
                self._depth = depth
                self.counts = counts
                last = error
                continue
            if len(level) > kept:
                return end
        if last is not None:
            raise last
        return at

    def content(self, plan: FieldPlan, at: int, limit: int, stops: Stops, *, empty: bool = True) -> int:
        """Read one occurrence of a complex field; `empty` says whether it is there without anything in it."""
        place = self._place(plan.name, plan, at, at)
        place.children = []
        self.levels.append(place.children)
        assert plan.type is not None
        place.end = self.group(self.plans.of(plan.type), at, limit, stops)
        self.levels.pop()
        if not (empty or place.children):
            self.levels[-1].pop()
            self._lasts.clear()
        return place.end

    def simple(self, plan: FieldPlan, at: int, end: int, *, fixed: bool = False) -> int:
        """Note one occurrence of a simple field."""
        place = self._place(plan.name, plan, at, end)
        place.fixed = fixed
        if plan.field.interpret_value_as == "messageIdentity":
            self._identity = self.coding.inner(self.text[at:end], plan.name).strip()
        return end

    def unknown(self, tag: str, start: int, end: int) -> int:
        """Note what the model does not know, which defines itself: the tag is its name."""
        self._place(self.coding.inner(tag, "a tag"), None, start, end)
        return end

    # Lengths and repeats that other fields say

    def said(self, path: tuple[str, ...], what: str, at: int) -> tuple[int, Place]:
        """The integer in an earlier field, and where that stands."""
        for level in reversed(self.levels):
            place = self._last(level, path[0])
            for name in path[1:]:
                place = None if place is None else last_called(place.children or [], name)
            if place is not None and place.plan is not None and place.plan.values is not None:
                value = self.value(place)
                if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                    return value, place
                raise self.failure(place.start, f"{'.'.join(path)} says the {what} of a field, which it cannot be")
        raise self.failure(at, f"{'.'.join(path)}, which says the {what} of a field, does not stand in front of it")

    def _last(self, level: list[Place], name: str) -> Place | None:
        """The last field of a name in a level: many may ask for the same."""
        key = id(level), name
        if key not in self._lasts:
            self._lasts[key] = last_called(level, name)
        return self._lasts[key]

    def data(self, place: Place) -> str:
        """The data of a simple field as it is meant; where its length is known, nothing in it is markup."""
        text = self.text[place.start : place.end]
        return text if place.fixed else self.markup.plain(text)

    def value(self, place: Place) -> Value:
        """The value of a simple field; what the model does not know is text."""
        plan = place.plan
        if plan is not None and plan.kept is not None:
            stored, size = plan.kept.stored(self.coding), place.end - place.start
            if stored.size and size != stored.size and (size or not plan.field.nullable):
                raise self.failure(place.start, f"{place.name} has {size} bytes, and it takes {stored.size}")
            value: Value = stored.decode(self._bytes, place.start, place.end)
            return value
        data = self.data(place)
        if plan is None or plan.values is None:
            return self.coding.inner(data, place.name)
        if plan.values.is_binary:
            return self.coding.data(data, place.name)
        text = self.coding.inner(data, place.name) if self.coding.mixed else data
        return plan.values.read(text, fixed=place.fixed)

    def end_of(self, plan: FieldPlan, at: int, limit: int) -> int:
        """Returns where a field of a said length ends."""
        length = plan.length
        if plan.kept is not None and not plan.length_reference:
            kept = plan.kept.stored(self.coding)
            length = kept.size if kept.measure is None else kept.measure(self._bytes, at, limit) - at
        elif plan.length_reference:
            length, place = self.said(plan.length_reference, "length", at)
            length -= self._length_of(place) if plan.inclusive else 0
        end = at + length
        if plan.kept is None and not plan.in_bytes:
            end = self.coding.span(self.text, at, length, limit)
        elif plan.in_bytes and not self.coding.mixed:
            end, left = at, length
            while left > 0 and end < limit:
                left -= len(self.coding.data(self.text[end]))
                end += 1
            end += max(left, 0)
        if not at <= end <= limit:
            raise self.failure(at, f"{plan.name} is {end - at} characters long, and {limit - at} are left")
        return end

    def _length_of(self, place: Place) -> int:
        in_bytes = place.plan is None or place.plan.kept is not None
        return place.end - place.start if in_bytes else self.coding.length(self.text[place.start : place.end])

    def matched(self, pattern: Pattern, at: int, limit: int) -> int | None:
        """Returns the end of the data that a pattern matches at a place, or None where it matches none."""
        if not self.coding.parted:
            return pattern.end(self.text, at, limit, self._time_limit)
        if self._characters is None:
            self._characters = self.coding.characters(self.text)
        whole, starts = self._characters
        first = bisect_left(starts, at)
        if starts[first] != at:
            raise self.failure(at, f"the data pattern {pattern.text!r} begins within a character")
        end = pattern.end(whole, first, bisect_left(starts, limit), self._time_limit)
        return None if end is None else starts[end]

    def times(self, plan: FieldPlan, at: int) -> float:
        """Returns how often a field occurs at most."""
        if plan.repeat_reference:
            return min(self.said(plan.repeat_reference, "repeats", at)[0], plan.most)
        return plan.most

    # What stands where

    def has_stop(self, at: int, limit: int, stops: Stops) -> bool:
        """Returns whether data is over: at the end, or at markup."""
        return at >= limit or self.text.startswith(stops, at, limit)

    def sized(self, plan: FieldPlan, at: int, limit: int) -> int:
        """Read one occurrence of a field that has a length."""
        end = self.end_of(plan, at, limit)
        if plan.type is not None:
            return self.within(plan, at, end)
        return self.simple(plan, at, end, fixed=True)

    def within(self, plan: FieldPlan, at: int, end: int) -> int:
        """Read one occurrence of a complex field that ends there, whatever fills it up behind its fields."""
        self.content(plan, at, end, ())
        self.levels[-1][-1].end = end
        return end

    def embedded(self, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
        """Read the message that stands inside another, as an earlier field names it."""
        inner = self.plans.message(self._identity)
        if inner is None:
            raise self.failure(at, f"no message of the set is called {self._identity!r}, as the field before says")
        place = self._place(self._identity, None, at, at)
        place.children = []
        self.levels.append(place.children)
        place.end = self.group(inner, at, limit, stops)
        self.levels.pop()
        return place.end


_SEPARATIONS: Final[Mapping[str, Callable[[Reading, GroupPlan, int, int, Stops], int]]] = {
    **dict.fromkeys(FIXED, fixed_lengths),
    **dict.fromkeys(TAGGED, tagged),
    "allElementsDelimited": all_delimited,
    "variableLengthElementsDelimited": some_delimited,
    "useDataPattern": by_pattern,
    UNDEFINED: Reading.embedded,
}


TOP = None
_FEW: Final = 8  # fields that are looked through for all of a name rather than put in order by their names
_MANY: Final = 64  # and these for the first of a name


class Text(Source):
    """One message that was read; a handle is a Place, or TOP for the message itself."""

    __slots__ = ("_by_name", "_reading", "coding", "fields", "plans")

    def __init__(self, plans: Plans, portion: Portion, coding: Coding) -> None:
        self.plans = plans
        self.coding = coding
        self._reading = Reading(plans, portion, coding)
        self.fields = self._reading.whole()
        self._by_name: dict[Handle, dict[str, list[Place]]] = {}

    def text(self, place: Place) -> str:
        """A field's text, as it was read."""
        return self._reading.text[place.start : place.end]

    def value(self, handle: Handle) -> Value:
        if handle is TOP or handle.children is not None:
            return None
        return self._reading.value(handle)

    def children(self, handle: Handle) -> Sequence[Place]:
        if handle is TOP:
            return self.fields
        places: list[Place] = handle.children or []
        return places

    def element(self, handle: Place, parent: Element) -> Element:
        namespace = "" if handle.plan is None else handle.plan.field.namespace
        type_ = NAME_VALUE if handle.children is None else NAME
        return Element(handle.name, namespace, type_, self, handle, parent)

    def first(self, handle: Handle, wanted: Step) -> Handle:
        places, name = self.children(handle), wanted.name
        for place in places if len(places) <= _MANY else self._called(handle, name):
            if place.name == name and _fits(place, wanted):
                return place
        return None

    def every(self, handle: Handle, wanted: Step) -> list[Place]:
        return [place for place in self._called(handle, wanted.name) if _fits(place, wanted)]

    def _called(self, handle: Handle, name: str | None) -> Sequence[Place]:
        places = self.children(handle)
        if len(places) <= _FEW:
            return [place for place in places if place.name == name]
        by_name = self._by_name.get(handle)
        if by_name is None:
            by_name = {}
            for place in places:
                by_name.setdefault(place.name, []).append(place)
            self._by_name[handle] = by_name  # last: another thread that finds it finds all of it
        return by_name.get(name or "", ())


def _fits(place: Place, wanted: Step) -> bool:
    """Returns whether a step to the name of a place leads to it."""
    namespace = "" if place.plan is None else place.plan.field.namespace
    if wanted.namespace is not None and wanted.namespace != namespace:
        return False
    type_ = NAME_VALUE if place.children is None else NAME
    return not wanted.types or any(type_ & mask == value for mask, value in wanted.types)
