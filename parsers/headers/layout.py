"""Layouts: MQ structures as tables of fields, read one field at a time and written by patching what has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar, Final

from engine.catalog import did_you_mean
from engine.errors import ParserException
from engine.message.received import Part
from engine.parser import Follow, Form, Header, Portion, format_catalog
from engine.tree.element import Element
from engine.tree.sharing import appended_children, changed_children, written
from engine.tree.source import NAME_VALUE, Handle, Source, Value
from engine.tree.states import EDITED, RESTRUCTURED
from engine.tree.step import Step, step
from parsers.charsets.ccsid import encode, inherited
from parsers.headers import fields
from parsers.headers.fields import TOP, Beside, Besides, Field, is_field

_INHERIT: Final = (0, -2)
_FIRST_IN_TREES: Final = ("Version", "Format", "Encoding", "CodedCharSetId", "Flags")

# What most headers have after StrucId and Version.
ANNOUNCING: Final = (
    fields.long("StrucLength"),
    fields.long("Encoding"),
    fields.long("CodedCharSetId"),
    fields.char("Format", 8),
    fields.long("Flags"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A structure in one of its versions: its length, its fields in the order of trees, and all of them by name."""

    version: int
    length: int
    shown: tuple[Field, ...]
    named: Mapping[str, Field]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """An MQ structure in all its versions.

    Trees show the fields that say what follows first, as IBM's do, whatever their place in the bytes; StrucId and
    StrucLength are no business of a tree. `announces` names the fields that say what
    follows even where a tree does not; a header that has none announces nothing.
    """

    name: str
    struc_id: str
    shapes: tuple[Shape, ...]
    announces: tuple[str, ...]

    @property
    def newest(self) -> Shape:
        """The newest version, which is written where a tree does not say."""
        return self.shapes[-1]

    def shape(self, version: int) -> Shape | None:
        """The structure in one version."""
        return next((shape for shape in self.shapes if shape.version == version), None)

    def versions(self) -> str:
        """The versions there are, for an error."""
        return " or ".join(str(shape.version) for shape in self.shapes)

    def garbled(self, portion: Portion, found: str) -> ParserException:
        """An error that says what is wrong with the bytes of a structure."""
        return ParserException(5009, f"the {self.name} at offset {portion.start} {found}", self.name)

    def open(self, portion: Portion) -> Laid:
        """The portion as a source, its StrucId, Version and lengths checked."""
        form = fields.form_of(portion.follow.encoding, portion.follow.ccsid)
        data, start, left = portion.data, portion.start, portion.end - portion.start
        smallest = self.shapes[0].length
        if left < smallest:
            raise self.garbled(portion, f"is cut off: it takes {smallest} bytes and {left} are left")
        if data[start : start + 4] != _eyecatcher(self.struc_id, form.ccsid):
            found = data[start : start + 4].hex()
            raise self.garbled(portion, f"starts with X'{found}', not with {self.struc_id!r} in CCSID {form.ccsid}")
        version = form.integer(data, start + 4)
        shape = self.shape(version)
        if shape is None:
            raise self.garbled(portion, f"has version {version}, and only {self.versions()} can be read")
        length = form.integer(data, start + 8) if "StrucLength" in shape.named else shape.length
        if not shape.length <= length <= left:
            raise self.garbled(
                portion, f"says it is {length} bytes long: it takes {shape.length} at least and {left} are left"
            )
        return Laid(self, shape, portion, form, length)

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        """The structure's length, and what it announces; zero and "inherit" mean what the structure itself is in."""
        laid = self.open(portion)
        return laid.length, laid.follow(portion.follow)

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The structure as a lazy source."""
        return self.open(portion), TOP

    def origin(self, element: Element) -> Laid | None:
        """Returns what of this layout an element was read from, if anything."""
        source = whole(element)
        if isinstance(source, Extended):
            source = source.laid
        return source if isinstance(source, Laid) and source.layout is self else None

    def write(self, element: Element, form: Form) -> bytes:
        """The structure with the fields of a tree; bytes beyond the fields that are known stay."""
        for child in changes(element, self.same_form(element, form)):
            self.refuse_stranger(child.name)
        fixed = self.fixed(element, form)
        origin = self.origin(element)
        rest = b"" if origin is None else origin.after_fields
        return self.complete(fixed, rest, form)

    def is_own(self, child: Element) -> bool:
        """Returns whether a child is a field of the structure, and not something beside them."""
        return child.name in self.newest.named and not is_beside(child)

    def has_changes_beside(self, element: Element, origin: Laid) -> bool:
        """Returns whether anything but fields was changed, added or taken away since a structure was read."""
        held = written(element)
        if not held.state & RESTRUCTURED:
            return not all(self.is_own(child) for child in changes(held, origin))
        beside = [child for child in held if not self.is_own(child)]
        source = whole(held)
        came = source.rest.children(TOP) if isinstance(source, Extended) else ()
        return [written(child).handle for child in beside] != list(came) or any(c.state & EDITED for c in beside)

    def refuse_stranger(self, name: str) -> None:
        """Raise where the structure has no field of that name."""
        if name not in self.newest.named:
            known = [field.name for field in self.newest.shown]
            close = did_you_mean(name, known) or ": leave it out, or correct its name"
            raise ParserException(5010, f"the {self.name} has no field called {name}{close}", self.name)

    def same_form(self, element: Element, form: Form) -> Laid | None:
        """Returns what an element was read from, where it is to be written in the same form."""
        origin = self.origin(element)
        return origin if origin and origin.form == fields.form_of(form.encoding, form.ccsid) else None

    def fixed(self, element: Element, form: Form) -> bytearray:
        """The bytes of the fields: those that were read, with what has changed laid over them."""
        held, own = written(element), fields.form_of(form.encoding, form.ccsid)
        origin = self.same_form(element, form)
        shape = self._chosen(held)
        fixed = bytearray()
        present = {child.name for child in held} if held.state & RESTRUCTURED else None
        for field in shape.named.values():
            kept = origin and field.name in origin.shape.named and (present is None or field.name in present)
            if origin and (kept or (not field.shown and field.name in origin.shape.named)):
                fixed += origin.bytes_of(field)
            else:
                fixed += field.write(None, own, self.name)
        for child in changes(held, origin):
            changed = self._place_of(child, shape)
            if changed is not None and changed.shown and not is_beside(child):
                fixed[changed.at : changed.at + changed.size] = changed.write(child.value, own, self.name)
        if self.announces:
            self._announce(fixed, held, shape, form)
        return fixed

    def complete(self, fixed: bytearray, rest: bytes, form: Form) -> bytes:
        """The whole structure, its length put in."""
        length = self.newest.named.get("StrucLength")
        if length is not None:
            own = fields.form_of(form.encoding, form.ccsid)
            fixed[length.at : length.at + 4] = own.packed(len(fixed) + len(rest))
        return bytes(fixed) + rest

    def _place_of(self, child: Element, shape: Shape) -> Field | None:
        """The field that an element is; one that only newer versions have must say nothing of its own."""
        found, newer = shape.named.get(child.name), self.newest.named.get(child.name)
        if found is None and newer is not None and child.value not in {None, newer.default} and not is_beside(child):
            text = f"{self.name}.{child.name} is not in version {shape.version}: write version {self.newest.version}"
            raise ParserException(5010, text, self.name)
        return found

    def _chosen(self, held: Element) -> Shape:
        version = value(held, "Version")
        if version is None:
            return self.newest
        number = fields.integer(version, 4, f"{self.name}.Version")
        shape = self.shape(number)
        if shape is None:
            raise ParserException(
                5010, f"{self.name}.Version is {number}, and only {self.versions()} can be written", self.name
            )
        return shape

    def _announce(self, fixed: bytearray, held: Element, shape: Shape, form: Form) -> None:
        """Say what follows, where the fields do not say it already."""
        own = fields.form_of(form.encoding, form.ccsid)
        said, follow = fields.cut(str(value(held, "Format") or "")), form.next
        fill: dict[str, Value] = {}
        if follow is None:
            if format_catalog.get(said) is not None:  # the header that it announces is no longer there
                fill["Format"] = ""
        else:
            if said != follow.format:
                fill["Format"] = follow.format
            for name, above, wanted in (
                ("Encoding", form.encoding, follow.encoding),
                ("CodedCharSetId", form.ccsid, follow.ccsid),
            ):
                number = own.integer(fixed, shape.named[name].at)
                meant = above if number in _INHERIT else number
                if meant != wanted or (name in self.announces and value(held, name) is None):
                    fill[name] = wanted
        for name, filled in fill.items():
            field = shape.named[name]
            fixed[field.at : field.at + field.size] = field.write(filled, own, self.name)


class Laid(Source):
    """The bytes of one structure as a source; a handle is a Field, or TOP for the structure itself."""

    __slots__ = ("data", "form", "layout", "length", "shape", "start")

    def __init__(self, layout: Layout, shape: Shape, portion: Portion, form: fields.Form, length: int) -> None:
        self.layout = layout
        self.shape = shape
        self.data = portion.data
        self.start = portion.start
        self.form = form
        self.length = length

    def integer(self, name: str) -> int:
        """The integer in a field."""
        return self.form.integer(self.data, self.start + self.shape.named[name].at)

    def field(self, name: str) -> Value:
        """The value of a field."""
        return self.value(self.shape.named[name])

    def follow(self, above: Follow) -> Follow:
        """Returns what the structure announces, read in what was announced of itself."""
        encoding = self.integer("Encoding")
        return Follow(
            fields.cut(str(self.field("Format"))),
            above.encoding if encoding in _INHERIT else encoding,
            inherited(self.integer("CodedCharSetId"), above.ccsid),
        )

    def bytes_of(self, field: Field) -> bytes:
        """The bytes of a field."""
        return self.data[self.start + field.at : self.start + field.at + field.size]

    @property
    def after_fields(self) -> bytes:
        """Returns what the structure has behind its fields."""
        return self.data[self.start + self.shape.length : self.start + self.length]

    def value(self, handle: Field | None) -> Value:
        return None if handle is None else handle.read(self.data, self.start, self.form, self.layout.name)

    def children(self, handle: Field | None) -> Iterable[Field]:
        return self.shape.shown if handle is None else ()

    def element(self, handle: Field, parent: Element) -> Element:
        return Element(handle.name, "", NAME_VALUE, self, handle, parent)

    def first(self, handle: Field | None, wanted: Step) -> Field | None:
        if handle is not None or not is_field(wanted):
            return None
        if wanted.name is None:
            return self.shape.shown[0]
        found = self.shape.named.get(wanted.name)
        return found if found is not None and found.shown else None

    def every(self, handle: Field | None, wanted: Step) -> tuple[Field, ...]:
        if handle is None and wanted.name is None and is_field(wanted):
            return self.shape.shown
        found = self.first(handle, wanted)
        return () if found is None else (found,)


class Extended(Source):
    """A structure that has more than fields: `rest` reads what comes behind them in the tree."""

    __slots__ = ("laid", "rest")

    def __init__(self, laid: Laid, rest: Besides) -> None:
        self.laid = laid
        self.rest = rest

    def value(self, handle: Handle) -> Value:
        return None

    def children(self, handle: Handle) -> Iterable[Handle]:
        return [*self.laid.shape.shown, *self.rest.children(TOP)]

    def element(self, handle: Handle, parent: Element) -> Element:
        return (self.laid if isinstance(handle, Field) else self.rest).element(handle, parent)

    def first(self, handle: Handle, wanted: Step) -> Handle:
        return self.laid.first(TOP, wanted) or self.rest.first(TOP, wanted)

    def every(self, handle: Handle, wanted: Step) -> list[Handle]:
        return [*self.laid.every(TOP, wanted), *self.rest.every(TOP, wanted)]


class LaidOut(Header):
    """A header that is read and written by its layout; what has more than fields reads or writes that itself."""

    __slots__ = ()
    layout: ClassVar[Layout]

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        return self.layout.measure(portion)

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return self.layout.read(portion)

    def write(self, element: Element, form: Form) -> bytes:
        return self.layout.write(element, form)


def lay_out(
    name: str,
    struc_id: str,
    *versions: tuple[Field, ...],
    first: int = 1,
    announces: tuple[str, ...] = ("Format", "Encoding", "CodedCharSetId"),
    ahead: tuple[str, ...] = _FIRST_IN_TREES,
) -> Layout:
    """A layout from what each version adds; where a StrucLength is among the fields, it is the structure's own.

    >>> PLAIN = lay_out("PLAIN", "PLN ", ANNOUNCING)
    >>> PLAIN.newest.length, PLAIN.newest.named["Format"].at
    (32, 20)
    """
    known: tuple[Field, ...] = (replace(fields.char("StrucId", 4, struc_id), shown=False), fields.long("Version"))
    shapes = []
    for number, added in enumerate(versions, first):
        known += added
        own = {
            "Version": replace(known[1], default=number),
            "StrucLength": fields.hidden("StrucLength"),
        }
        shapes.append(shape_of(number, tuple(own.get(field.name, field) for field in known), ahead))
    return Layout(name, struc_id, tuple(shapes), announces)


def shape_of(version: int, known: tuple[Field, ...], ahead: tuple[str, ...] = ()) -> Shape:
    """A shape from its fields in the order of bytes, and the names of those that trees show first."""
    ends = list(accumulate(field.size for field in known))
    placed = {field.name: replace(field, at=end - field.size) for field, end in zip(known, ends, strict=True)}
    leading = [placed[name] for name in ahead if name in placed]
    others = [field for field in placed.values() if field.shown and field not in leading]
    return Shape(version, ends[-1], (*leading, *others), placed)


@lru_cache(maxsize=512)
def _eyecatcher(struc_id: str, ccsid: int) -> bytes:
    return encode(struc_id, ccsid)


def whole(element: Element) -> Source | None:
    """Returns what an element as a whole was read from."""
    source: Source | None = written(element).source
    return source.content if isinstance(source, Part) else source


def changes(element: Element, origin: Source | None) -> list[Element]:
    """The children that are to be written over what an element was read from; all of them where that does not count."""
    held = written(element)
    if origin is None:
        return list(held)
    if held.state & RESTRUCTURED:
        return [child for child in held if child.source is not origin or child.state & EDITED]
    if not held.state & EDITED:
        return []
    return [child for _, child in changed_children(held)] + list(appended_children(held))


def is_beside(element: Element) -> bool:
    """Returns whether an element was read from what a structure has beside its fields."""
    return isinstance(written(element).handle, Beside)


def value(element: Element, name: str) -> Value:
    """The value of a child, None where there is none."""
    found = element.child(step(name))
    return None if found is None else found.value
