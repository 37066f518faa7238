"""Groups of TDS: with tags, or of known lengths, between delimiters, or of patterns."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from parsers.mrm.tds.message_plan import DELIMITED, FieldPlan, GroupPlan, Plan, Plans

if TYPE_CHECKING:
    from parsers.mrm.tds.message_plan import Stops
    from parsers.mrm.tds.reading import Reading


_MOST_DIGITS: Final = 18


def tagged(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
    """Tags say which member follows; they may come in any order."""
    delimiter = plan.delimiter if plan.separation == "taggedDelimited" else ""
    outer = tuple(stop for stop in stops if stop != delimiter)
    marks = (plan.tag_data_separator, *stops)
    text, behind = reading.text, at
    around, reading.counts = reading.counts, _loop_counts(reading)
    while at < limit and not text.startswith(outer, at, limit):
        end = _tagged_one(reading, plan, at, limit, stops, marks)
        if end is None:  # the delimiter and what follows it are of the group around
            at = behind
            break
        at = behind = end
        if delimiter:
            if not text.startswith(delimiter, at, limit):
                break
            at += len(delimiter)
    reading.counts = around
    return at if stops.count(delimiter) < 2 else behind


def _loop_counts(reading: Reading) -> Counter[str] | None:
    """Counts for the fields of a repeating group without a tag of its own; None for any other group."""
    field = reading.levels[-2][-1].plan if len(reading.levels) > 1 else None
    return Counter() if field is not None and not field.tag and field.field.repeats else None


def _is_full(counts: Counter[str], member: FieldPlan) -> bool:
    """Returns whether a field is there as often as it may be; else it is counted. One more begins the loop again."""
    counts[member.name] += 1
    return 0 <= member.field.max_occurs < counts[member.name]


def _tagged_one(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops, marks: Stops) -> int | None:
    found = tag, data = _tag(reading, plan, at, limit, marks)
    if not plan.tag_data_separator or data != at + len(tag):
        return _element(reading, plan, at, found, limit, stops)
    level = reading.levels[-1]
    noted = len(level)
    end = _element(reading, plan, at, found, limit, stops)
    if len(level) > noted:
        level[noted].bare = True
    return end


def _element(
    reading: Reading, plan: GroupPlan, at: int, tagged_data: tuple[str, int], limit: int, stops: Stops
) -> int | None:
    """Read what a tag says that it is."""
    tag, data = tagged_data
    member = plan.tags.get(tag)
    if member is None:
        return _unknown(reading, plan, at, tagged_data, limit, stops)
    if reading.counts is not None and _is_full(reading.counts, member):
        return None
    if plan.separation == "taggedEncodedLength":
        return _encoded(reading, plan, member, tag, data, limit)
    if member.type is not None:
        return reading.content(member, data, limit, stops)
    if plan.separation == "taggedFixedLength" or (plan.observe and member.fixed) or member.kept is not None:
        return reading.sized(member, data, limit)
    return reading.simple(member, data, reading.markup.end(reading.text, data, limit, stops))


def _unknown(
    reading: Reading, plan: GroupPlan, at: int, tagged_data: tuple[str, int], limit: int, stops: Stops
) -> int | None:
    """Read what begins with a tag that no member has: a group without one, what is around, or what defines itself."""
    tag, data = tagged_data
    inner = _untagged(reading, plan, at, limit, tag)
    if inner is not None:
        return reading.content(inner, at, limit, stops)
    if _is_known_around(reading, plan, tag):
        return None
    if plan.separation == "taggedFixedLength" or not (tag and (plan.delimiter or plan.encoded_length)):
        if stops or not tag:
            return None
        raise reading.failure(at, f"no element of the group has the tag {tag!r}")
    if plan.separation == "taggedEncodedLength":
        return _encoded(reading, plan, None, tag, data, limit)
    return reading.unknown(tag, data, reading.markup.end(reading.text, data, limit, stops))


def _tag(reading: Reading, plan: GroupPlan, at: int, limit: int, marks: Stops) -> tuple[str, int]:
    """The tag that stands there, and where its data begin; `marks` are what ends a tag where something separates it."""
    text = reading.text
    separator = plan.tag_data_separator
    if separator:
        end = reading.markup.end(text, at, limit, marks)
        return text[at:end], end + len(separator) if text.startswith(separator, end, limit) else end
    if plan.tag_length:
        end = min(reading.coding.span(text, at, plan.tag_length, limit), limit)
        return text[at:end], end
    known = [tag for tag in plan.tags if text.startswith(tag, at, limit)]
    tag = max(known, key=len, default="")
    return tag, at + len(tag)


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


def _is_known_around(reading: Reading, plan: GroupPlan, tag: str) -> bool:
    """Returns whether a tag leads out of a group: one around it knows it, and no terminator stands between them."""
    fields = (level[-1].plan for level in reading.levels[:-2])
    types = [field.type for field in fields if field is not None and field.type is not None]
    groups = [reading.plans.top(), *map(reading.plans.of, types), plan] if len(reading.levels) > 1 else []
    for outer, inner in reversed([*pairwise(groups)]):
        if inner.group_terminator:
            return False
        if tag in outer.tags or _untagged(reading, outer, 0, 0, tag) is not None:
            return True
    return False


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


_ABSENT_AL3: Final = "?"


def fixed_lengths(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
    """Every member has its length, and stands there as often as it may."""
    for member in plan.members:
        if isinstance(member, GroupPlan):
            at = reading.group(member, at, limit, stops)
            continue
        count, times = 0, reading.times(member, at)
        while count < times and not (times == float("inf") and reading.has_stop(at, limit, stops)):
            if member.fixed:
                end = reading.sized(member, at, limit)
                if plan.separation == "fixedLengthAL3" and not reading.text[at:end].strip(_ABSENT_AL3):
                    reading.levels[-1].pop()
                at = end
            elif member.type is not None:
                at = reading.content(member, at, limit, stops)
            else:
                at = reading.simple(member, at, limit, fixed=True)  # the last may take what is left
            count += 1
    return at


def all_delimited(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
    """A delimiter between each member and the next; data that is empty is absent."""
    text, delimiter = reading.text, plan.delimiter
    last = len(plan.members) - 1
    longer = _longer(delimiter, stops) if reading.plans.has_longer else ()
    for number, member in enumerate(plan.members):
        at = _occurrences(reading, plan, member, at, limit, stops)
        if number < last:
            if not delimiter or not text.startswith(delimiter, at, limit):
                return at
            if longer and text.startswith(longer, at, limit):
                return at
            at += len(delimiter)
    while delimiter and text.startswith(delimiter, at, limit):
        if delimiter == plan.group_terminator or stops.count(delimiter) > 1 or text.startswith(longer, at, limit):
            return at  # it is markup of another group, or the end of this one
        at += len(delimiter)
        if not reading.has_stop(at, limit, stops):
            raise reading.failure(at, "there are more elements than the group has")
    return at


@lru_cache(maxsize=1024)
def _longer(mark: str, stops: Stops) -> Stops:
    """The markup that begins as a mark does and is longer: where it stands, the mark does not."""
    return tuple(stop for stop in stops if len(stop) > len(mark) and stop.startswith(mark))


def shares_delimiter(around: GroupPlan, inner: GroupPlan) -> bool:
    """Returns whether the delimiters of a group can only be told from those of the group around it by being counted."""
    if inner.delimiter != around.delimiter or not {inner.separation, around.separation} <= DELIMITED:
        return False
    return inner.delimiter != "" and not inner.group_indicator and not inner.group_terminator


def delimiters_of(plans: Plans, inner: GroupPlan, *around: GroupPlan) -> str:
    """The delimiters that a group without anything in it has, where those around it are the same."""
    if inner in around or not shares_delimiter(around[-1], inner):
        return ""
    types = [member.type for member in inner.members if isinstance(member, FieldPlan) and member.type is not None]
    within = (delimiters_of(plans, plans.of(one), *around, inner) for one in types)
    return inner.delimiter * (len(inner.members) - 1) + "".join(within)


def _occurrences(reading: Reading, plan: GroupPlan, member: Plan, at: int, limit: int, stops: Stops) -> int:
    if isinstance(member, GroupPlan):
        return reading.group(member, at, limit, stops)
    count, times = 1, reading.times(member, at)
    at = _delimited(reading, plan, member, at, limit, stops)
    if not member.between:
        return at
    text, longer = reading.text, _longer(member.between, stops) if reading.plans.has_longer else ()
    while count < times and text.startswith(member.between, at, limit) and not text.startswith(longer, at, limit):
        following = at + len(member.between)
        if following >= limit and member.between == plan.group_terminator:
            break
        if following >= limit and times == float("inf"):
            return following  # what separates records may also end the last
        at = _delimited(reading, plan, member, following, limit, stops)
        count += 1
    return at


def _delimited(reading: Reading, plan: GroupPlan, member: FieldPlan, at: int, limit: int, stops: Stops) -> int:
    if member.type is not None:
        if not reading.has_stop(at, limit, stops):
            return reading.content(member, at, limit, stops)
        is_counted = shares_delimiter(plan, reading.plans.of(member.type))
        return reading.content(member, at, limit, stops, empty=False) if is_counted else at
    if plan.observe and member.fixed:
        return reading.sized(member, at, limit)
    if member.kept is not None and (member.field.min_occurs or not reading.has_stop(at, limit, stops)):
        return reading.sized(member, at, limit)
    end = reading.markup.end(reading.text, at, limit, stops)
    if end == at:
        if member.values is not None and member.values.is_null(""):
            reading.simple(member, at, at)
        return at
    return reading.simple(member, at, end)


def some_delimited(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
    """Members with a length stand by themselves; behind the others is a delimiter, but for the last."""
    last = len(plan.members) - 1
    for number, member in enumerate(plan.members):
        if isinstance(member, FieldPlan) and member.fixed:
            for _ in range(int(min(reading.times(member, at), 2**31))):
                if reading.has_stop(at, limit, stops) and member.field.min_occurs == 0:
                    break
                at = reading.sized(member, at, limit)
            continue
        at = _occurrences(reading, plan, member, at, limit, stops)
        if reading.text.startswith(plan.delimiter, at, limit) and plan.delimiter and number < last:
            at += len(plan.delimiter)
    return at


def by_pattern(reading: Reading, plan: GroupPlan, at: int, limit: int, stops: Stops) -> int:
    """Each member is what its regular expression matches."""
    for member in plan.members:
        if isinstance(member, GroupPlan):
            at = reading.group(member, at, limit, stops)
            continue
        if member.pattern is None:
            at = reading.content(member, at, limit, stops) if member.type else reading.simple(member, at, limit)
            continue
        count, times = 0, reading.times(member, at)
        while count < times:
            end = reading.matched(member.pattern, at, limit)
            if end is None or end == at:
                break
            if member.type is not None:
                reading.content(member, at, end, ())
            else:
                reading.simple(member, at, end)
            at, count = end, count + 1
        if not count and member.field.min_occurs and plan.chooses:
            raise reading.failure(at, f"{member.name} does not match its data pattern {member.pattern.text!r}")
    return at
