"""Reading: text to the places of its fields, by the plan of a message; no value is read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from engine.errors import ParserException
from engine.parser import Portion
from engine.source import Value
from parsers.mrm.tds.coding import Coding
from parsers.mrm.tds.places import Place, Stops, last_called
from parsers.mrm.tds.plan import FIXED, TAGGED, UNDEFINED, FieldPlan, GroupPlan, Plans
from parsers.mrm.tds.tagged import tagged
from parsers.mrm.tds.untagged import all_delimited, by_pattern, fixed_lengths, some_delimited, undefined

MISPLACED: Final = 5421  # the text does not have the structure of its message
_DEEPEST: Final = 512


class Reading:
    """One text on its way to places."""

    __slots__ = ("_bytes", "_depth", "_identity", "coding", "levels", "markup", "plans", "text")

    def __init__(self, plans: Plans, portion: Portion, coding: Coding) -> None:
        self.plans = plans
        self.coding = coding
        self._bytes = portion.bytes
        self.text = coding.text(self._bytes, portion.start)
        self.markup = plans.markup
        self.levels: list[list[Place]] = []
        self._identity = ""
        self._depth = 0

    def whole(self) -> list[Place]:
        """The places of the message's fields; text that is left over is an error."""
        found: list[Place] = []
        self.levels.append(found)
        end = self.group(self.plans.top(), 0, len(self.text), ())
        if self.text[end:].strip("\r\n\x1a"):
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

    def _choice(self, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
        """The first member that the text can be read as."""
        level, last = self.levels[-1], None
        for alternative in plan.alternatives:
            kept = len(level)
            try:
                end = _SEPARATIONS[plan.separation](self, alternative, at, limit, stops)
            except ParserException as error:
                del level[kept:]
                last = error
                continue
            if len(level) > kept:
                return end
        if last is not None:
            raise last
        return at

    def content(self, plan: FieldPlan, at: int, limit: int, stops: Stops) -> int:
        """Read one occurrence of a complex field."""
        place = Place(plan.name, plan, at)
        place.children = []
        self.levels[-1].append(place)
        self.levels.append(place.children)
        assert plan.type is not None
        place.end = self.group(self.plans.of(plan.type), at, limit, stops)
        self.levels.pop()
        return place.end

    def simple(self, plan: FieldPlan, at: int, end: int, *, fixed: bool = False) -> int:
        """Note one occurrence of a simple field."""
        place = Place(plan.name, plan, at)
        place.end = end
        place.fixed = fixed
        self.levels[-1].append(place)
        if plan.field.interpret_value_as == "messageIdentity":
            self._identity = self.text[at:end].strip()
        return end

    # Lengths and repeats that other fields say

    def said(self, path: tuple[str, ...], what: str, at: int) -> tuple[int, Place]:
        """The integer in an earlier field, and where that stands."""
        for level in reversed(self.levels):
            place = last_called(level, path[0])
            for name in path[1:]:
                place = None if place is None else last_called(place.children or [], name)
            if place is not None and place.plan is not None and place.plan.spelling is not None:
                value = self.value(place)
                if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                    return value, place
                raise self.failure(place.start, f"{'.'.join(path)} says the {what} of a field, which it cannot be")
        raise self.failure(at, f"{'.'.join(path)}, which says the {what} of a field, does not stand in front of it")

    def data(self, place: Place) -> str:
        """The data of a simple field as it is meant; where its length is known, nothing in it is markup."""
        text = self.text[place.start : place.end]
        return text if place.fixed else self.markup.plain(text)

    def value(self, place: Place) -> Value:
        """The value of a simple field; what the model does not know is text."""
        plan = place.plan
        if plan is not None and plan.kept is not None:
            value: Value = plan.kept.stored(self.coding).decode(self._bytes, place.start, place.end)
            return value
        data = self.data(place)
        if plan is None or plan.spelling is None:
            return self.coding.inner(data, place.name)
        if plan.spelling.is_binary:
            return self.coding.data(data, place.name)
        return plan.spelling.read(self.coding.inner(data, place.name), fixed=place.fixed)

    def end_of(self, plan: FieldPlan, at: int, limit: int) -> int:
        """Where a field of a said length ends."""
        length = plan.length
        if plan.kept is not None and not plan.length_reference:
            kept = plan.kept.stored(self.coding)
            length = kept.size if kept.measure is None else kept.measure(self._bytes, at, limit) - at
        elif plan.length_reference:
            length, place = self.said(plan.length_reference, "length", at)
            length -= place.end - place.start if plan.inclusive else 0
        end = at + length
        if plan.in_bytes and not self.coding.mixed:
            end, left = at, length
            while left > 0 and end < limit:
                left -= len(self.coding.data(self.text[end]))
                end += 1
            end += max(left, 0)
        if not at <= end <= limit:
            raise self.failure(at, f"{plan.name} is {end - at} characters long, and {limit - at} are left")
        return end

    def times(self, plan: FieldPlan, at: int) -> float:
        """How often a field occurs at most."""
        if plan.repeat_reference:
            return min(self.said(plan.repeat_reference, "repeats", at)[0], plan.most)
        return plan.most

    # What stands where

    def has_stop(self, at: int, limit: int, stops: Stops) -> bool:
        """Whether data is over: at the end, or at markup."""
        return at >= limit or any(self.text.startswith(stop, at, limit) for stop in stops)

    def sized(self, plan: FieldPlan, at: int, limit: int) -> int:
        """Read one occurrence of a field that has a length."""
        end = self.end_of(plan, at, limit)
        if plan.type is not None:
            self.content(plan, at, end, ())
            return end
        return self.simple(plan, at, end, fixed=True)

    def embedded(self, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
        """Read the message that stands inside another, as an earlier field names it."""
        inner = self.plans.message(self._identity)
        if inner is None:
            raise self.failure(at, f"no message of the set is called {self._identity!r}, as the field before says")
        place = Place(self._identity, None, at)
        place.children = []
        self.levels[-1].append(place)
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
    UNDEFINED: undefined,
}
