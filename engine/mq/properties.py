"""Message properties: the folders of an MQRFH2 in front of a body, as a flat mapping and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import Any, Final, TypeAlias, cast

from engine.descriptor import UTF_8, Descriptor
from engine.mq.property_types import MIXED_CONTENT, PROPERTY_NAME, Property, refused, spelled_of, value_of

Layout: TypeAlias = tuple[
    tuple[list[str], tuple[int, ...]], ...
]  # pieces of folders, every other a value; which, or all

RFH2: Final = "MQHRF2"

_BIG: Final = Struct(">4s4i8s2i")
_LITTLE: Final = Struct("<4s4i8s2i")
_CCSID: Final = Descriptor._fields.index("coded_char_set_id")  # with the format behind it
_MANY: Final = 64  # properties: the layout of more is made anew each time, so that those that are known stay small
_STRUC_IDS: Final = {b"RFH ": "latin-1", b"\xd9\xc6\xc8\x40": "cp500"}
_UTF_16: Final = frozenset({1200, 13488, 17584})
_INHERIT: Final = frozenset({0, -2})
_SMALL_END: Final = 2  # the digit of an Encoding that says how integers are
_USR: Final = "usr"
_VALUE: Final = "%s"  # the place of a value in a folder
_FIXED: Final = 40  # bytes of an MQRFH2 with the length of its first folder
_NUMBER: Final = 4
_UTF_8_RFH2: Final = (UTF_8, RFH2)
_DEEPEST: Final = 64
_NAME: Final = re.compile(r"[^\W\d][\w-]*")
_ELEMENT: Final = (
    re.compile(  # an end, or a start with the text behind it and the end of that, where nothing else is in it
        r"""\s*<(?:/([^\s<>/=!?'"]+)\s*>"""
        r"""|([^\s<>/=!?'"]+)((?:\s+[^\s<>/='"]+\s*=\s*(?:'[^'<]*'|"[^"<]*"))*)\s*(?:(/)>|>(?:([^<]*)</\2>)?))"""
    )
)
_ATTRIBUTE: Final = re.compile(r"""([^\s<>/='"]+)\s*=\s*(?:'([^'<]*)'|"([^"<]*)")""")


class _NotFlat(Exception):
    """A header holds something that no flat property can say."""


@dataclass(frozen=True, slots=True)
class _Header:
    """The values in the fixed part of an MQRFH2, and the texts of its folders."""

    length: int
    encoding: int
    ccsid: int
    format: str
    flags: int
    texts: tuple[str, ...]


def properties_of(descriptor: Descriptor, body: bytes) -> dict[str, Property]:
    """Returns the properties of a message as far as they can be read; of a name that repeats, the first.

    >>> properties_of(*join({"colour": "red", "n": 5}, Descriptor(), b"body"))
    {'colour': 'red', 'n': 5}
    """
    found: dict[str, Property] = {}
    if descriptor.format != RFH2:
        return found
    try:
        for name, value in _leaves(_read(descriptor, body), strict=False):
            found.setdefault(name, value)
    except _NotFlat:
        pass
    return found


def split(descriptor: Descriptor, body: bytes) -> tuple[dict[str, Property], Descriptor, bytes]:
    """Returns the properties of a message, and its descriptor and body without the header that said them.

    A header that holds more than flat properties stays where it is, and nothing is taken from it.

    >>> split(*join({"colour": "red"}, Descriptor(format="MQSTR"), b"body"))[0]
    {'colour': 'red'}
    """
    if descriptor.format != RFH2:
        return {}, descriptor, body
    try:
        header = _read(descriptor, body)
        leaves = list(_leaves(header, strict=True))
    except _NotFlat:
        return {}, descriptor, body
    found = dict(leaves)
    if not found or len(found) < len(leaves) or header.flags:
        return {}, descriptor, body
    return found, _behind(header, descriptor), body[header.length :]


def opened(descriptor: Descriptor, body: bytes) -> tuple[list[tuple[str, Property]], Descriptor, bytes]:
    """Returns all values in a message's header by their names, which may repeat, and the message behind the header.

    >>> opened(*with_folders(["<psc><Topic>a</Topic><Topic>b</Topic></psc>"], Descriptor(), b"body"))[0]
    [('psc.Topic', 'a'), ('psc.Topic', 'b')]
    """
    found: list[tuple[str, Property]] = []
    if descriptor.format != RFH2:
        return found, descriptor, body
    try:
        header = _read(descriptor, body)
    except _NotFlat:
        return found, descriptor, body
    with suppress(_NotFlat):
        found.extend(_leaves(header, strict=False))
    return found, _behind(header, descriptor), body[header.length :]


def folders_of(descriptor: Descriptor, body: bytes) -> list[tuple[str, str]]:
    """Returns the folders in a message's header as far as they can be read, each by its name as its text.

    >>> folders_of(*with_folders(["<psc><Topic>a</Topic></psc><usr><b>1</b><b>2</b></usr>"], Descriptor(), b""))[1]
    ('usr', '<usr><b>1</b><b>2</b></usr>')
    """
    found: list[tuple[str, str]] = []
    if descriptor.format == RFH2:
        with suppress(_NotFlat):
            for text in _read(descriptor, body).texts:
                found.extend(_folders_in(text.strip(" \0\r\n\t")))
    return found


def _folders_in(text: str) -> Iterator[tuple[str, str]]:
    at, depth, begun, folder = 0, 0, 0, ""
    while at < len(text):
        element = _ELEMENT.match(text, at)
        if element is None:
            raise _NotFlat
        end, name, _, alone, inner = element.groups()
        if not depth:
            begun, folder = at, name
        at = element.end()
        depth += -1 if end is not None else 1 if alone is None and inner is None else 0
        if depth < 0:
            raise _NotFlat
        if not depth:
            yield folder, text[begun:at].strip()


def _behind(header: _Header, descriptor: Descriptor) -> Descriptor:
    """Returns the descriptor of what follows a header."""
    ccsid = descriptor.coded_char_set_id if header.ccsid in _INHERIT else header.ccsid
    return descriptor._replace(format=header.format, encoding=header.encoding, coded_char_set_id=ccsid)


def _read(descriptor: Descriptor, body: bytes) -> _Header:
    layout = _LITTLE if descriptor.encoding & 0xF == _SMALL_END else _BIG
    if len(body) < layout.size:
        raise _NotFlat
    struc_id, version, length, encoding, ccsid, format_, flags, name_ccsid = layout.unpack_from(body)
    if struc_id not in _STRUC_IDS or version != 2 or not layout.size <= length <= len(body):
        raise _NotFlat
    codec = "utf-8"
    if name_ccsid in _UTF_16:
        codec = "utf-16-le" if layout is _LITTLE else "utf-16-be"
    elif name_ccsid != UTF_8:
        raise _NotFlat
    at, texts, order = layout.size, list[str](), "<" if layout is _LITTLE else ">"
    word = Struct(f"{order}i")
    while at < length:
        if length - at < word.size:
            raise _NotFlat
        size = word.unpack_from(body, at)[0]
        at += word.size
        if not 0 <= size <= length - at:
            raise _NotFlat
        try:
            texts.append(body[at : at + size].decode(codec))
        except UnicodeDecodeError:
            raise _NotFlat from None
        at += size
    name = format_.decode(_STRUC_IDS[struc_id]).rstrip(" \0")
    return _Header(length, encoding, ccsid, name, flags, tuple(texts))


def _leaves(header: _Header, *, strict: bool) -> Iterator[tuple[str, Property]]:
    """Yields the values of a header with their names; `strict` refuses what `join` would write otherwise."""
    for text in header.texts:
        yield from _leaves_of(text.strip(" \0\r\n\t"), strict=strict)


def _leaves_of(text: str, *, strict: bool) -> Iterator[tuple[str, Property]]:
    at, path, above, filled = 0, list[str](), "", False
    while at < len(text):
        element = _ELEMENT.match(text, at)
        if element is None:
            raise _NotFlat
        at = element.end()
        end, name, attributes, alone, inner = element.groups()
        if end is not None:
            if not (filled and path) or path.pop() != end:
                raise _NotFlat
            above = _above(path)
            continue
        if strict and _NAME.fullmatch(name) is None:
            raise _NotFlat
        kind, nil = _said(attributes, folder=not path, strict=strict) if attributes else ("", False)
        filled = inner is not None or alone is not None
        if not filled:
            path.append(name)
            above = _above(path)
        elif not path:
            raise _NotFlat
        else:
            yield above + name, None if nil else _value(above + name, inner or "", kind)
    if path:
        raise _NotFlat


def _above(path: list[str]) -> str:
    """Returns what the names of properties begin with that are in an element."""
    if len(path) > _DEEPEST:
        raise _NotFlat
    return "" if path == [_USR] else ".".join([*path, ""])


def _value(name: str, text: str, kind: str) -> Property:
    try:
        return value_of(name, text, kind)
    except (ValueError, OverflowError):
        raise _NotFlat from None


def _said(attributes: str, *, folder: bool, strict: bool) -> tuple[str, bool]:
    """Returns the type that an element says, and True where it says that it is NULL."""
    kind, nil = "", False
    for name, single, double in _ATTRIBUTE.findall(attributes):
        value = single or double
        if name == "dt" and not folder:
            kind = value
        elif name == "xsi:nil" and not folder:
            nil = value in {"true", "1"}
        elif strict:
            raise _NotFlat
    return kind, nil


def join(properties: Mapping[str, Property], descriptor: Descriptor, body: bytes) -> tuple[Descriptor, bytes]:
    """Returns the descriptor and body of a message with its properties in an MQRFH2 in front; none adds nothing.

    >>> descriptor, body = join({"colour": "red", "mcd.Msd": "xml"}, Descriptor(format="MQSTR"), b"body")
    >>> descriptor.format, b"<usr><colour>red</colour></usr>" in body, body[-4:]
    ('MQHRF2', True, b'body')
    """
    return with_folders(folder_texts(properties), descriptor, body) if properties else (descriptor, body)


def folder_texts(properties: Mapping[str, Property]) -> list[str]:
    """Returns the folders that say properties, each as its text."""
    kinds, texts = spelled_of(properties)
    folders = (_known_layout if len(texts) <= _MANY else _layout)(tuple(properties), kinds)
    found = []
    for text, places in folders:
        pieces = text.copy()
        pieces[1::2] = [texts[at] for at in places] if places else texts
        found.append("".join(pieces))
    return found


def with_folders(folders: Sequence[str], descriptor: Descriptor, body: bytes) -> tuple[Descriptor, bytes]:
    """Returns the descriptor and body of a message with an MQRFH2 in front that has these folders, each as its text."""
    ahead, number, begin, end = _fixed(*descriptor[_CCSID - 1 : _CCSID + 2])
    own = tuple.__new__(Descriptor, descriptor[:_CCSID] + _UTF_8_RFH2 + descriptor[_CCSID + 2 :])
    data = folders[0].encode()
    size = len(data) + 3 & ~3
    if len(folders) == 1:  # as nearly always
        return own, b"".join((ahead(begin, _FIXED + size, end, size), data.ljust(size), body))
    others = [(each, len(each) + 3 & ~3) for each in (text.encode() for text in folders[1:])]
    length = _FIXED + size + sum(_NUMBER + more for _, more in others)
    pieces = [ahead(begin, length, end, size), data.ljust(size)]
    for each, more in others:
        pieces += number(more), each.ljust(more)
    return own, b"".join((*pieces, body))


@lru_cache(maxsize=256)
def _fixed(encoding: int, ccsid: int, form: str) -> tuple[Callable[..., bytes], Callable[[int], bytes], bytes, bytes]:
    """Returns how an MQRFH2 in front of a form and a number are written, and what is around the length of the one."""
    order = "<" if encoding & 0xF == _SMALL_END else ">"
    name = form.encode("ascii", "replace").ljust(8)
    end = Struct(f"{order}2i8s2i").pack(encoding, ccsid, name, 0, UTF_8)
    return Struct(f"{order}8si24si").pack, Struct(f"{order}i").pack, Struct(f"{order}4si").pack(b"RFH ", 2), end


def _layout(names: tuple[str, ...], kinds: tuple[str | None, ...]) -> Layout:
    """Returns the folders in the order in which names are of them first; no kinds say that all values are texts."""
    trees: dict[str, dict[str, object]] = {}
    for at, name in enumerate(names):
        *above, last = _path(name)
        below: dict[str, Any] = trees
        for part in above:
            below = _below(below, part, name)
        if last in below:
            reason = MIXED_CONTENT if isinstance(below[last], dict) else PROPERTY_NAME
            raise refused(name, f"there are two properties at {name}; leave one out", reason)
        below[last] = (at, kinds[at] if kinds else "")
    found = []
    for folder, tree in trees.items():
        places: list[int] = []
        between = f"<{folder}>{''.join(_rendered(tree, places))}</{folder}>".split(_VALUE)
        text = [piece for each in between for piece in (each, "")][:-1]
        found.append((text, () if places == list(range(len(names))) else tuple(places)))
    return tuple(found)


@lru_cache(maxsize=256)
def _known_layout(names: tuple[str, ...], kinds: tuple[str | None, ...]) -> Layout:
    return _layout(names, kinds)


def _below(tree: dict[str, dict[str, object]], part: str, name: str) -> dict[str, dict[str, object]]:
    below = tree.setdefault(part, {})
    if not isinstance(below, dict):
        raise refused(name, f"{name} lies below a property that has a value; leave one out", MIXED_CONTENT)
    return below  # type: ignore[return-value]


def _path(name: str) -> list[str]:
    parts = name.split(".")
    if len(parts) == 1:
        parts = [_USR, *parts]
    if len(parts) > _DEEPEST or any(_NAME.fullmatch(part) is None for part in parts):
        problem = f"{name!r:.60} is no name of a property: write letters, digits, _ and -, and dots between folders"
        raise refused(name, problem, PROPERTY_NAME)
    return parts


def _rendered(tree: Mapping[str, object], places: list[int]) -> Iterator[str]:
    """Yields the elements of a folder with a place for each value, and notes which value that is."""
    for name, below in tree.items():
        if isinstance(below, dict):
            yield f"<{name}>{''.join(_rendered(below, places))}</{name}>"
            continue
        at, kind = cast("tuple[int, str | None]", below)
        places.append(at)
        said = " xsi:nil='true'" if kind is None else f' dt="{kind}"' if kind else ""
        yield f"<{name}{said}>{_VALUE}</{name}>"
