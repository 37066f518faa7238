"""Layouts: a CWF message compiled once, so that of each of its fields is known where it stands and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException
from engine.tree.source import NAME, NAME_VALUE
from parsers.mrm.cwf.fields import stored
from parsers.mrm.cwf.properties import CwfField, CwfFormat, CwfGroup, Form, Kept
from parsers.mrm.model import UNBOUNDED, Definition, Field, Group, Member, SimpleType
from parsers.mrm.simple_values import Decode, Stored

MOST_FIELDS: Final = 25_000
_ALIGNMENTS: Final = (1, 2, 4, 8, 16)


class Reference(NamedTuple):
    """The way to a field that says a length or a count: so many places up, and then down by names to `target`."""

    hops: int
    path: tuple[str, ...]
    target: Item


class Run(NamedTuple):
    """The occurrences of a slot in a place: from `start` on, `times` times, or in places."""

    start: int
    times: int
    stride: int = 0
    places: tuple[Any, ...] | None = None


@dataclass(slots=True, eq=False)
class Item:
    """A field in a layout: simple where it has `stored`, else a group, whose layout is `inner`.

    `size` is that of one occurrence, 0 where it varies. One that is `referred` to says a length or a count, one that
    `identifies` a message that stands in this one.
    """

    name: str
    namespace: str
    type: int
    what: str
    model: Field
    stored: Stored | None
    inner: Layout | None
    decode: Decode
    size: int
    most: int
    count: Reference | None = None
    length: Reference | None = None
    inclusive: bool = False
    align: int = 1
    lead: int = 0
    trail: int = 0
    referred: bool = False
    identifies: bool = False


@dataclass(slots=True, eq=False)
class Choice:
    """Layouts that stand at the same place; `size` is that of the longest, 0 where one of them varies.

    `referred` says that a length or a count is that of a field in one of them.

    Of messages, `identity` leads to the field that says which of `names` is there, if there is one.
    """

    options: tuple[Layout, ...]
    size: int
    identity: Reference | None = None
    names: tuple[str, ...] = ()
    referred: bool = False


Slot: TypeAlias = Item | Choice
Routes: TypeAlias = list[tuple[int, int, Item]]


@dataclass(slots=True, eq=False)
class Layout:
    """The slots of a message, a group or an option, in order.

    `names` leads to fields: the number of a slot, that of an option of it or -1, and the field. `runs` are where the
    slots stand, if that is always the same.
    """

    slots: tuple[Slot, ...]
    unordered: bool = False
    size: int = 0
    names: dict[str, Routes] = field(default_factory=dict)
    runs: list[Run] | None = None
    is_fixed: bool = False
    is_aligned: bool = False
    has_choice: bool = False


Keep: TypeAlias = Callable[[Kept], Stored]
Naming: TypeAlias = Callable[[Field, str], str]


def _nothing(data: bytes, at: int, end: int) -> None:
    return None


def lay_out(definition: Definition, form: Form, keep: Keep = stored, name: Naming | None = None) -> tuple[Item, int]:
    """A message as the item that stands for it, in records of that encoding and CCSID, and how many fields it has.

    `keep` makes the codecs of fields, and `name` what errors call a field, given its path. Who has names of its own has
    counted the fields.
    """
    compiler = _Compiler(definition, form, keep, name)
    return compiler.message(), compiler.fields


class _Scope(NamedTuple):
    """The fields of a group that come before what is being compiled."""

    known: dict[str, Item]
    choices: dict[str, Choice]  # that a field stands in


class _Compiler:
    """Compiles one message of a set for one form."""

    def __init__(self, definition: Definition, form: Form, keep: Keep, name: Naming | None) -> None:
        self._keep, self._name = keep, name
        self._set = definition.message_set
        self._message = definition.message
        self._format = definition.format
        self._settings: CwfFormat = definition.settings or CwfFormat()
        self._form = form
        self._scopes: list[_Scope] = []
        self._open: list[int] = []
        self.fields = 0

    def message(self) -> Item:
        name = self._message.name
        group = self._set.content(self._message.type)
        inner = self._layout(group, name)
        model = Field(name, group, self._message.namespace)
        return Item(name, self._message.namespace, NAME, name, model, None, inner, _nothing, inner.size, 1)

    def _layout(self, group: Group, path: str) -> Layout:
        if id(group) in self._open:
            text = f"{path}: a type cannot hold itself in CWF, where all that may stand in a message has its place"
            raise ConfigurationException(text)
        self._open.append(id(group))
        self._scopes.append(_Scope({}, {}))
        if group.composition == "choice":
            slots: list[Slot] = [self._choice(group.members, path)]
        elif group.composition == "message":
            slots = [self._messages(path)]
        else:
            slots = [slot for member in group.members for slot in self._slots(member, path)]
        self._scopes.pop()
        self._open.pop()
        return _finished(tuple(slots), unordered=group.composition in {"all", "unorderedSet"})

    def _slots(self, member: Member, path: str) -> Iterator[Slot]:
        if isinstance(member, Field):
            if member.max_occurs != 0:
                yield self._item(member, path)
            return
        self._check_unaligned(member, path)
        if member.composition == "choice":
            choice = self._choice(member.members, path)
            for option in choice.options:
                for name, routes in option.names.items():
                    self._scopes[-1].known.setdefault(name, routes[0][2])
                    self._scopes[-1].choices.setdefault(name, choice)
            yield choice
        elif member.composition == "message":
            yield self._messages(path)
        else:
            for inner in member.members:
                yield from self._slots(inner, path)

    def _choice(self, members: tuple[Member, ...], path: str) -> Choice:
        groups = [member if isinstance(member, Group) else Group((member,)) for member in members]
        for group in groups:
            self._check_unaligned(group, path)
        return _choice(tuple(self._layout(group, path) for group in groups))

    def _check_unaligned(self, group: Group, path: str) -> None:
        """Refuse to align a group that no field has: it has no occurrences of its own that could begin anywhere."""
        said: CwfGroup = group.physical.get(self._format) or CwfGroup()
        if said.byte_alignment > 1:
            why = "a group among members is not aligned; say byteAlignment of the fields that it begins with"
            raise ConfigurationException(f"{path}: {why}")

    def _messages(self, path: str) -> Choice:
        """A message in a message: any of the set that this one does not stand in itself."""
        options, names = [], []
        for message in self._set.messages.values():
            group = self._set.content(message.type)
            if id(group) not in self._open:
                options.append(self._layout(Group((Field(message.name, message.type, message.namespace),)), path))
                names.append(message.name)
        choice = _choice(tuple(options))
        choice.identity, choice.names = self._identity(), tuple(names)
        choice.size = choice.size if choice.identity is None else 0
        return choice

    def _identity(self) -> Reference | None:
        """The field that says which message stands in this one: the nearest before that is interpreted so."""
        for hops, scope in enumerate(reversed(self._scopes)):
            for name, item in reversed(scope.known.items()):
                if item.model.interpret_value_as == "messageIdentity":
                    item.identifies = True
                    return Reference(hops, (name,), item)
        return None

    def _item(self, model: Field, above: str) -> Item:
        path = f"{above}.{model.name}"
        self.fields += 1
        if self.fields > MOST_FIELDS and self._name is None:
            why = f"each field of a message has a place of its own in CWF, which at most {MOST_FIELDS:,} can have"
            raise ConfigurationException(f"{path}: {why}")
        cwf: CwfField = model.physical.get(self._format) or CwfField()
        made = Item(
            model.name,
            model.namespace,
            NAME_VALUE,
            path if self._name is None else self._name(model, path),
            model,
            None,
            None,
            _nothing,
            0,
            model.max_occurs,
            self._reference(model.repeat_reference, path),
            self._reference(cwf.length_reference, path),
            cwf.inclusive_length_reference,
            cwf.byte_alignment,
            cwf.leading_skip_count,
            cwf.trailing_skip_count,
        )
        if isinstance(model.type, SimpleType):
            self._store(made, Kept(made.what, model, cwf, self._settings, self._form))
        else:
            self._open_up(made, path)
        if made.align not in _ALIGNMENTS:
            raise ConfigurationException(f"{path}: byteAlignment is one of 1, 2, 4, 8, 16, not {made.align}")
        self._scopes[-1].known.setdefault(model.name, made)
        return made

    def _store(self, made: Item, kept: Kept) -> None:
        made.stored = self._keep(kept)
        made.decode, made.size = made.stored.decode, made.stored.size
        if made.size:  # as its type has it: nothing else says how long it is
            made.length = None
        if not made.size and made.stored.measure is None and made.length is None:
            raise ConfigurationException(f"{made.what}: {kept.physical_type} needs a length, or a lengthReference")

    def _open_up(self, made: Item, path: str) -> None:
        type_ = made.model.type
        assert not isinstance(type_, SimpleType)
        group = self._set.content(type_)
        said: CwfGroup = group.physical.get(self._format) or CwfGroup()
        made.inner, made.type = self._layout(group, path), NAME
        if made.inner.is_fixed and not made.inner.size and not made.inner.is_aligned and made.model.repeats:
            raise ConfigurationException(f"{path}: it takes no bytes, so nothing says how often it repeats")
        made.size, made.align = made.inner.size, max(made.align, said.byte_alignment)

    def _reference(self, text: str, path: str) -> Reference | None:
        """The field that a path of names means: one before, in this group or in one around it."""
        if not text:
            return None
        first, *rest = names = text.split(".")
        for hops, scope in enumerate(reversed(self._scopes)):
            item, choices = scope.known.get(first), [scope.choices.get(first)]
            for name in rest:
                layout = None if item is None else item.inner
                routes = None if layout is None else layout.names.get(name)
                item = routes[0][2] if routes else None
                if layout is not None and routes:
                    choices.append(_choice_at(layout, routes[0][0]))
            if item is not None and item.stored is not None:
                item.referred = True
                for choice in choices:
                    if choice is not None:
                        choice.referred = True
                return Reference(hops, tuple(names), item)
        known = [name for scope in self._scopes for name in scope.known]
        raise ConfigurationException(f"{path}: no field before it is called {text}{did_you_mean(text, known)}")


def _choice_at(layout: Layout, slot: int) -> Choice | None:
    found = layout.slots[slot]
    return found if isinstance(found, Choice) else None


def _choice(options: tuple[Layout, ...]) -> Choice:
    if not options:
        raise ConfigurationException("a choice needs something to choose from")
    fixed = all(option.is_fixed and not option.is_aligned for option in options)
    return Choice(options, max(option.size for option in options) if fixed else 0)


def _finished(slots: tuple[Slot, ...], *, unordered: bool) -> Layout:
    """A layout from its slots: where they stand, if that is the same in every record, and the names in them."""
    made = Layout(slots, unordered)
    for number, slot in enumerate(slots):
        if isinstance(slot, Choice):
            made.has_choice = True
            for option, layout in enumerate(slot.options):
                for name, routes in layout.names.items():
                    made.names.setdefault(name, []).extend((number, option, item) for _, _, item in routes)
        else:
            made.names.setdefault(slot.name, []).append((number, -1, slot))
            made.is_aligned |= slot.align > 1 or (slot.inner is not None and slot.inner.is_aligned)
    made.is_fixed = all(_is_fixed(slot) for slot in slots)
    if made.is_fixed and not made.is_aligned:
        made.runs, made.size = _runs(slots)
    return made


def _is_fixed(slot: Slot) -> bool:
    if isinstance(slot, Choice):
        return slot.identity is None and all(o.is_fixed and not o.is_aligned for o in slot.options)
    if slot.count is not None or slot.most == UNBOUNDED:
        return False
    if slot.inner is not None:
        return slot.inner.is_fixed
    return slot.size > 0


def _runs(slots: tuple[Slot, ...]) -> tuple[list[Run], int]:
    runs, at = [], 0
    for slot in slots:
        if isinstance(slot, Choice):
            runs.append(Run(at, 1, slot.size))
            at += slot.size
        else:
            at += slot.lead
            stride = slot.size + slot.trail
            runs.append(Run(at, slot.most, stride))
            at += stride * slot.most
    return runs, at
