"""Groups with tags: a tag says which element follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsers.mrm.tds.places import Place
from parsers.mrm.tds.plan import FieldPlan, GroupPlan

if TYPE_CHECKING:
    from parsers.mrm.tds.places import Stops
    from parsers.mrm.tds.reading import Reading


def tagged(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
    """Tags say which member follows; they may come in any order."""
    delimiter = plan.delimiter if plan.separation == "taggedDelimited" else ""
    outer = tuple(stop for stop in stops if stop != delimiter)
    while not reading.has_stop(at, limit, outer):
        end = _tagged_one(reading, plan, at, limit, stops)
        if end is None:
            break
        at = end
        if delimiter:
            if not reading.text.startswith(delimiter, at, limit):
                break
            at += len(delimiter)
    return at


def _tagged_one(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int | None:
    tag, data = _tag(reading, plan, at, limit, stops)
    member = plan.tags.get(tag)
    if member is None:
        inner = _untagged(reading, plan, at, limit, tag)
        if inner is not None:
            return reading.content(inner, at, limit, stops)
        if plan.separation == "taggedFixedLength" or not (tag and (plan.delimiter or plan.encoded_length)):
            if stops or not tag:
                return None
            raise reading.failure(at, f"no element of the group has the tag {tag!r}")
    if plan.separation == "taggedEncodedLength":
        return _encoded(reading, plan, member, tag, data, limit)
    if member is None:
        return _unknown(reading, tag, data, reading.markup.end(reading.text, data, limit, stops))
    if member.type is not None:
        return reading.content(member, data, limit, stops)
    if plan.separation == "taggedFixedLength" or (plan.observe and member.fixed) or member.kept is not None:
        return reading.sized(member, data, limit)
    return reading.simple(member, data, reading.markup.end(reading.text, data, limit, stops))


def _tag(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> tuple[str, int]:
    """The tag that stands there, and where its data begin."""
    text = reading.text
    if plan.tag_length and not plan.tag_data_separator:
        end = min(at + plan.tag_length, limit)
        return text[at:end], end
    if not plan.tag_data_separator:
        known = [tag for tag in plan.tags if text.startswith(tag, at, limit)]
        tag = max(known, key=len, default="")
        return tag, at + len(tag)
    end = reading.markup.end(text, at, limit, (plan.tag_data_separator, *stops))
    separated = text.startswith(plan.tag_data_separator, end, limit)
    return text[at:end], end + (len(plan.tag_data_separator) if separated else 0)


def _untagged(reading: Reading, plan: GroupPlan, at: int, limit: int, tag: str) -> FieldPlan | None:
    """A complex member without a tag of its own: what begins it, or a tag inside it, tells it."""
    for member in plan.members:
        if isinstance(member, FieldPlan) and member.type is not None and not member.tag:
            inner = reading.plans.of(member.type)
            if inner.group_indicator and reading.text.startswith(inner.group_indicator, at, limit):
                return member
            if tag in inner.tags:
                return member
    return None


def _encoded(reading: Reading, plan: GroupPlan, member: FieldPlan | None, tag: str, at: int, limit: int) -> int:
    start = at + plan.encoded_length
    digits = reading.text[at:start]
    if not (digits.isascii() and digits.strip().isdigit()) or start > limit:
        raise reading.failure(at, f"the length of {tag} takes {plan.encoded_length} digits")
    end = start + int(digits) - plan.extra
    if not start <= end <= limit:
        raise reading.failure(at, f"{tag} says that it is {end - start} characters long, and {limit - start} are left")
    if member is None:
        return _unknown(reading, tag, start, end)
    if member.type is not None:
        reading.content(member, start, end, ())
        return end
    return reading.simple(member, start, end)


def _unknown(reading: Reading, tag: str, start: int, end: int) -> int:
    """What the model does not know defines itself: the tag is its name."""
    place = Place(tag, None, start)
    place.end = end
    reading.levels[-1].append(place)
    return end
