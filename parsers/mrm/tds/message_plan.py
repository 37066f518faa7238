"""Plans: a message of the model with all that TDS says of it, settled once and for all; places of fields in a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from engine.dates.reading import read_moment
from engine.errors import ConfigurationException
from engine.tree.step import Step, step
from parsers.mrm.model import Definition, Field, Group, SimpleType
from parsers.mrm.tds.binary_fields import InBytes
from parsers.mrm.tds.properties import PLAIN, STANDARDS, Standard, TdsField, TdsFormat, TdsGroup, expand
from parsers.mrm.tds.scanning import Coding, Markup, Pattern
from parsers.mrm.tds.values import Style, TdsValues

TAGGED: Final = frozenset({"taggedDelimited", "taggedFixedLength", "taggedEncodedLength"})
FIXED: Final = frozenset({"fixedLength", "fixedLengthAL3"})
DELIMITED: Final = frozenset({"allElementsDelimited", "variableLengthElementsDelimited"})

UNDEFINED: Final = "undefined"


@dataclass(frozen=True, slots=True, eq=False)
class FieldPlan:
    """A field: how it is found in text, and how its text means a value; `type` leads to the group of a complex one.

    `step` leads to its elements, of which there may be as many as `most`, which is any number where tags tell them; it
    is `fixed` where a length is said of it, or known by how it is kept.
    """

    field: Field
    name: str
    step: Step
    most: float
    fixed: bool
    type: Group | None
    values: TdsValues | None
    tag: str
    length: int
    length_reference: tuple[str, ...]
    inclusive: bool
    repeat_reference: tuple[str, ...]
    between: str
    pattern: Pattern | None
    in_bytes: bool = False
    kept: InBytes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GroupPlan:
    """A group: its markup and members; `tags` says which member each tag leads to, those of inner groups too.

    `alternatives` are the members of a choice, each as a group, where text must be tried: no tag tells them apart.
    `names` are those of its fields, and of the fields of inner groups, each with its namespace.
    """

    group: Group
    separation: str
    group_indicator: str
    group_terminator: str
    delimiter: str
    suppress: bool
    observe: bool
    tag_data_separator: str
    tag_length: int
    encoded_length: int
    extra: int
    members: tuple[Plan, ...] = ()
    tags: dict[str, FieldPlan] = field(default_factory=dict)
    markup: tuple[str, ...] = ()
    alternatives: tuple[GroupPlan, ...] = ()
    names: frozenset[tuple[str, str]] = frozenset()

    @property
    def embeds(self) -> bool:
        """Returns whether a message of the set may stand among its members."""
        return any(
            isinstance(each, GroupPlan) and (each.separation == UNDEFINED or each.embeds) for each in self.members
        )

    @property
    def chooses(self) -> bool:
        """Returns whether one of its members stands for all."""
        return self.group.composition == "choice"


Plan: TypeAlias = FieldPlan | GroupPlan


class Plans:
    """The plans of one message set in one TDS format; those of types are made when they are first met.

    `has_longer` says that some of the markup begins as other markup does.
    """

    __slots__ = (
        *("_codings", "_made", "_marks", "_mixed", "_parting", "definition", "format", "has_inclusive"),
        *("has_longer", "markup", "settings", "standard", "style"),
    )

    def __init__(self, definition: Definition, parting: Coding | None = None) -> None:
        self.definition = definition
        self._parting = parting
        self.has_inclusive = False
        self.has_longer = False
        self._marks: set[str] = set()
        self.format = definition.format
        settings = definition.settings if isinstance(definition.settings, TdsFormat) else TdsFormat()
        self.settings = settings
        self.standard = standard = STANDARDS.get(settings.messaging_standard, PLAIN)
        self.markup = Markup(
            self._mark(settings.escape_character or standard.escape),
            self._mark(settings.quote_character or standard.quote),
            self._mark(settings.reserved_characters or standard.reserved),
        )
        self.style = _style(settings, standard)
        self._made: dict[int, tuple[Group, GroupPlan]] = {}
        self._codings: dict[tuple[int, int], Coding] = {}
        self._mixed = _holds_bytes(definition)

    def _mark(self, text: str) -> str:
        """Markup as it stands in text that is scanned."""
        found = expand(text)
        return found if self._parting is None else self._parting.outer(found, "markup")

    def coding(self, ccsid: int, encoding: int) -> Coding:
        """Returns how messages of that CCSID and encoding are text; the same each time."""
        key = (ccsid, encoding)
        known = self._codings.get(key)
        if known is None:
            known = self._codings[key] = Coding(ccsid, encoding, mixed=self._mixed)
        return known

    def _kept(self, field: Field, type_: SimpleType, said: TdsField) -> InBytes | None:
        if said.physical_type == "text":
            return None
        pattern = said.date_time_format or self.style.date_time_format
        return InBytes(field, type_, said, pattern, self.style.century)

    @property
    def ccsid(self) -> int:
        """The CCSID of messages that say none."""
        return self.settings.default_ccsid or self.standard.ccsid

    def top(self) -> GroupPlan:
        """The plan of the message itself."""
        return self.of(self.definition.message_set.content(self.definition.message.type))

    def of(self, group: Group) -> GroupPlan:
        """The plan of a group; that of one group is made once, however often it is met."""
        known = self._made.get(id(group))
        if known is None:
            made = self._group(group, None)
            known = self._made[id(group)] = (group, made)
        return known[1]

    def message(self, name: str) -> GroupPlan | None:
        """The plan of another message of the set, by its name."""
        found = self.definition.message_set.messages.get(name)
        return None if found is None else self.of(self.definition.message_set.content(found.type))

    def _group(self, group: Group, around: GroupPlan | None) -> GroupPlan:
        said: TdsGroup = group.physical.get(self.format) or TdsGroup()
        settings = self.settings
        suppress = said.suppress_absent_element_delimiters or settings.suppress_absent_element_delimiters
        plan = GroupPlan(
            group=group,
            separation=self._separation(group, said, around),
            group_indicator=self._text("group_indicator", said, around),
            group_terminator=self._text("group_terminator", said, around),
            delimiter=self._text("delimiter", said, around),
            suppress=suppress != "never",
            observe=said.observe_element_length,
            tag_data_separator="" if said.tag_length > 0 else self._text("tag_data_separator", said, around),
            tag_length=_first(said.tag_length, around.tag_length if around else settings.tag_length),
            encoded_length=_first(said.length_of_encoded_length, settings.length_of_encoded_length),
            extra=_first(said.extra_chars_in_encoded_length, settings.extra_chars_in_encoded_length),
        )
        members = tuple(
            self._field(member, plan) if isinstance(member, Field) else self._group(member, plan)
            for member in group.members
        )
        tags: dict[str, FieldPlan] = {}
        for member in members:
            if isinstance(member, GroupPlan):
                tags.update(member.tags)
            elif member.tag:
                tags[member.tag] = member
        markup = {plan.delimiter, plan.group_terminator, *(m.between for m in members if isinstance(m, FieldPlan))} - {
            ""
        }
        for mark in markup - self._marks:
            self.has_longer |= any(one.startswith(mark) or mark.startswith(one) for one in self._marks)
            self._marks.add(mark)
        names = frozenset(name for member in members for name in _names(member))
        plan = replace(plan, members=members, tags=tags, markup=tuple(sorted(markup)), names=names)
        if group.composition != "choice" or plan.separation in TAGGED:
            return plan
        return replace(plan, alternatives=tuple(replace(plan, members=(member,)) for member in members))

    def _separation(self, group: Group, said: TdsGroup, around: GroupPlan | None) -> str:
        """Returns how elements are told from each other; a message that an earlier field names brings its own way."""
        if group.composition == "message":
            return UNDEFINED
        if said.data_element_separation == UNDEFINED:
            name = self.definition.message.name
            text = f"the message {name}: only a group of composition message has the separation {UNDEFINED}"
            raise ConfigurationException(text)
        return said.data_element_separation or (around.separation if around else self.standard.separation)

    def _text(self, name: str, said: TdsGroup, around: GroupPlan | None) -> str:
        """Markup as a group has it itself; else as that around it, or the format, or the standard."""
        own: str = getattr(said, name)
        if own:
            return self._mark(own)
        if around is not None and not said.data_element_separation:
            return str(getattr(around, name)) if name in {"delimiter", "tag_data_separator"} else ""
        general: str = getattr(self.settings, name)
        return self._mark(general) if general else str(getattr(self.standard, name))

    def _field(self, field: Field, around: GroupPlan) -> FieldPlan:
        said: TdsField = field.physical.get(self.format) or TdsField()
        self.has_inclusive |= said.inclusive_length_reference
        type_ = self.definition.message_set.content(field.type)
        simple = field.type if isinstance(field.type, SimpleType) else None
        between = self._mark(said.repeating_element_delimiter)
        kept = None if simple is None else self._kept(field, simple, said)
        fixed = said.length > 0 or bool(said.length_reference) or kept is not None
        if not between and field.repeats and around.separation in DELIMITED:
            in_row = fixed and around.separation == "variableLengthElementsDelimited"
            between = "" if in_row else self.standard.repeating_element_delimiter or around.delimiter
        return FieldPlan(
            field=field,
            name=field.name,
            step=step(field.name, field.namespace),
            most=float("inf") if field.max_occurs < 0 or around.separation in TAGGED else field.max_occurs,
            fixed=fixed,
            type=type_,
            values=None if simple is None else TdsValues(field, simple, said, self.style),
            tag=self._mark(said.tag),
            length=said.length,
            length_reference=_path(said.length_reference),
            inclusive=said.inclusive_length_reference,
            repeat_reference=_path(field.repeat_reference),
            between=between,
            pattern=Pattern(said.data_pattern) if said.data_pattern else None,
            in_bytes=said.length_units == "bytes",
            kept=kept,
        )


def _names(member: Plan) -> Iterable[tuple[str, str]]:
    return member.names if isinstance(member, GroupPlan) else ((member.name, member.field.namespace),)


def _holds_bytes(definition: Definition) -> bool:
    """Returns whether anything in a message, or in one that it may hold, is kept otherwise than as text."""
    message_set = definition.message_set
    pending: list[Group] = [message_set.content(definition.message.type)]
    seen: set[int] = set()
    while pending:
        group = pending.pop()
        if id(group) in seen:
            continue
        seen.add(id(group))
        if group.composition == "message":
            pending += (message_set.content(one.type) for one in message_set.messages.values())
        for each in group.members:
            inner = each if isinstance(each, Group) else message_set.content(each.type)
            if inner is not None:
                pending.append(inner)
            elif isinstance(each, Field) and _is_kept_in_bytes(each, definition.format):
                return True
    return False


def _is_kept_in_bytes(field: Field, format_: str) -> bool:
    said: TdsField = field.physical.get(format_) or TdsField()
    return said.physical_type != "text"


def _first(own: int, general: int) -> int:
    return own if own >= 0 else general


def _path(text: str) -> tuple[str, ...]:
    return tuple(text.split(".")) if text else ()


def _style(settings: TdsFormat, standard: Standard) -> Style:
    strict = standard.strict if not settings.strict_numeric_checking else settings.strict_numeric_checking == "true"
    return Style(
        decimal_point=expand(settings.decimal_point) or standard.decimal_point,
        strict=strict,
        trim=settings.trim_fixed_length_string or standard.trim,
        truncate=settings.truncate_on_output,
        true=settings.boolean_true_representation or standard.true,
        false=settings.boolean_false_representation or standard.false,
        null=settings.boolean_null_representation or standard.false,
        date_time_format=settings.default_date_time_format,
        century=settings.century_window if settings.century_window >= 0 else standard.century,
        offset=None if not settings.time_zone else read_moment(settings.time_zone, "Z").offset,
    )


Stops: TypeAlias = tuple[str, ...]  # markup at which data ends


class Place:
    """The place of a field in the text; a field that the model does not know has a name and no plan.

    It is `bare` where only its tag stands there, with nothing that separates it from data.
    """

    __slots__ = ("bare", "children", "end", "fixed", "name", "plan", "start")

    def __init__(self, name: str, plan: FieldPlan | None, start: int, end: int) -> None:
        self.name = name
        self.plan = plan
        self.start = start
        self.end = end
        self.fixed = False
        self.bare = False
        self.children: list[Place] | None = None


def last_called(places: list[Place], name: str) -> Place | None:
    """The last place of that name."""
    return next((one for one in reversed(places) if one.name == name), None)
