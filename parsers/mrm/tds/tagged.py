"""Groups with tags: a tag says which element follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from parsers.mrm.tds.plan import FieldPlan, GroupPlan

if TYPE_CHECKING:
    from parsers.mrm.tds.places import Stops
    from parsers.mrm.tds.reading import Reading

_MOST_DIGITS: Final = 18


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
    noted = len(reading.levels[-1])
    end = _element(reading, plan, at, (tag, data), limit, stops)
    if plan.tag_data_separator and data == at + len(tag) and len(reading.levels[-1]) > noted:
        reading.levels[-1][noted].bare = True
    return end


def _element(
    reading: Reading, plan: GroupPlan, at: int, tagged_data: tuple[str, int], limit: int, stops: Stops
) -> int | None:
    """Read what a tag says that it is."""
    tag, data = tagged_data
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
        return reading.unknown(tag, data, reading.markup.end(reading.text, data, limit, stops))
    if member.type is not None:
        return reading.content(member, data, limit, stops)
    if plan.separation == "taggedFixedLength" or (plan.observe and member.fixed) or member.kept is not None:
        return reading.sized(member, data, limit)
    return reading.simple(member, data, reading.markup.end(reading.text, data, limit, stops))


def _tag(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> tuple[str, int]:
    """The tag that stands there, and where its data begin."""
    text = reading.text
    if plan.tag_length and not plan.tag_data_separator:
        end = min(reading.coding.span(text, at, plan.tag_length, limit), limit)
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
    digits = reading.text[at:start].strip(" ")
    if not (digits.isascii() and digits.isdigit()) or start > limit:
        raise reading.failure(at, f"the length of {tag} takes {plan.encoded_length} digits")
    end = reading.coding.span(reading.text, start, _number(digits) - plan.extra, limit)
    if not start <= end <= limit:
        raise reading.failure(at, f"{tag} says that it is {end - start} characters long, and {limit - start} are left")
    if member is None:
        return reading.unknown(tag, start, end)
    if member.type is not None:
        return reading.within(member, start, end)
    return reading.simple(member, start, end)


def _number(digits: str) -> int:
    """A number that says a length: of more digits than any length has it is too large all the same."""
    return int(digits.lstrip("0")[:_MOST_DIGITS] or "0")
