"""Message properties: the folders of an MQRFH2 in front of a body, as a flat mapping and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from struct import Struct
from typing import Final, TypeAlias

from engine.descriptor import UTF_8, Descriptor
from engine.errors import MessageException

Property: TypeAlias = str | bool | int | float | bytes | None

RFH2: Final = "MQHRF2"
PROPERTY_NAME: Final = 2442
PROPERTY_TYPE: Final = 2473

_BIG: Final = Struct(">4s4i8s2i")
_LITTLE: Final = Struct("<4s4i8s2i")
_STRUC_IDS: Final = {b"RFH ": "latin-1", b"\xd9\xc6\xc8\x40": "cp500"}
_UTF_16: Final = frozenset({1200, 13488, 17584})
_INHERIT: Final = frozenset({0, -2})
_SMALL_END: Final = 2  # the digit of an Encoding that says how integers are
_USR: Final = "usr"
_NUMBERS_OF_JMS: Final = frozenset({"jms.Tms", "jms.Exp", "jms.Dlv", "jms.Pri", "jms.Seq"})  # numbers without a dt
_DEEPEST: Final = 64
_NAME: Final = re.compile(r"[^\W\d][\w-]*")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_FORBIDDEN: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TAG: Final = re.compile(
    r"""<(?P<end>/?)(?P<name>[^\s<>/=!?'"]+)(?P<attributes>(?:\s+[^\s<>/='"]+\s*=\s*(?:'[^'<]*'|"[^"<]*"))*)\s*(?P<alone>/?)>"""
)
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ENTITIES: Final = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}
_REFERENCE: Final = re.compile(r"&(lt|gt|amp|apos|quot|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});")
_TRUTH: Final = {"1": True, "true": True, "0": False, "false": False}
_ATTRIBUTE: Final = re.compile(r"""([^\s<>/='"]+)\s*=\s*(?:'([^'<]*)'|"([^"<]*)")""")


class I1(int):
    """A whole number of one byte (dt i1)."""

    __slots__ = ()


class I2(int):
    """A whole number of two bytes (dt i2)."""

    __slots__ = ()


class I8(int):
    """A whole number of eight bytes (dt i8), though four may do for it."""

    __slots__ = ()


class R4(float):
    """A float of four bytes (dt r4)."""

    __slots__ = ()


_INTEGERS: Final[dict[str, tuple[type[int], int]]] = {
    "i1": (I1, 7),
    "i2": (I2, 15),
    "i4": (int, 31),
    "i8": (I8, 63),
    "int": (int, 63),
}
_WRITTEN: Final[dict[type, str]] = {
    I1: "i1",
    I2: "i2",
    I8: "i8",
    R4: "r4",
    float: "r8",
    bool: "boolean",
    bytes: "bin.hex",
}


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
    at, path, kind, filled = 0, list[str](), "", False
    while at < len(text):
        tag = _TAG.match(text, at) if text[at] == "<" else None
        if tag is None:
            following = text.find("<", at)
            if following == at or text[at:following].strip() or following < 0:
                raise _NotFlat
            at = following
            continue
        at = tag.end()
        if tag["end"]:
            if not path or path.pop() != tag["name"] or not filled:
                raise _NotFlat
            continue
        path.append(tag["name"])
        kind, nil = _said(tag["attributes"], folder=len(path) == 1, strict=strict)
        inner, ends = _content(text, at, tag)
        if ends < 0:
            filled = False
            if len(path) > _DEEPEST:
                raise _NotFlat
            continue
        if len(path) == 1 or (strict and any(_NAME.fullmatch(part) is None for part in path)):
            raise _NotFlat
        name = _flat(path)
        yield name, None if nil else _value(name, inner, kind)
        path.pop()
        at, filled = ends, True
    if path:
        raise _NotFlat


def _content(text: str, at: int, tag: re.Match[str]) -> tuple[str, int]:
    """Returns the text in an element and where the element ends, or -1 where it has elements in it."""
    if tag["alone"]:
        return "", at
    following = text.find("<", at)
    closing = f"</{tag['name']}>"
    if following < 0 or not text.startswith(closing, following):
        return "", -1
    return text[at:following], following + len(closing)


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


def _flat(path: list[str]) -> str:
    return path[1] if len(path) == 2 and path[0] == _USR else ".".join(path)


def _value(name: str, text: str, kind: str) -> Property:
    text = _unescaped(text) if "&" in text else text
    if name in _NUMBERS_OF_JMS and not kind and _NUMBER.fullmatch(text):
        return int(text)
    if kind in {"", "string"}:
        return text
    try:
        return _typed(text.strip(), kind)
    except (ValueError, OverflowError):
        raise _NotFlat from None


def _unescaped(text: str) -> str:
    if text.count("&") != len(_REFERENCE.findall(text)):
        raise _NotFlat
    try:
        return _REFERENCE.sub(lambda found: _ENTITIES.get(found[1]) or _numbered(found[1]), text)
    except (ValueError, OverflowError):
        raise _NotFlat from None


def _numbered(reference: str) -> str:
    return chr(int(reference[2:], 16) if reference[1] == "x" else int(reference[1:]))


def _typed(text: str, kind: str) -> Property:
    if kind in _INTEGERS:
        made, bits = _INTEGERS[kind]
        number = int(text) if _NUMBER.fullmatch(text) else 1 << 64
        if not -(1 << bits) <= number < 1 << bits:
            raise ValueError(text)
        if kind in {"i8", "int"} and not -(1 << 31) <= number < 1 << 31:
            return number
        return made(number)
    if kind == "boolean" and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if kind == "bin.hex":
        return bytes.fromhex(text)
    if kind in {"r4", "r8"} and "_" not in text:
        return R4(text) if kind == "r4" else float(text)
    raise ValueError(text)


def join(properties: Mapping[str, Property], descriptor: Descriptor, body: bytes) -> tuple[Descriptor, bytes]:
    """Returns the descriptor and body of a message with its properties in an MQRFH2 in front; none adds nothing.

    >>> descriptor, body = join({"colour": "red", "mcd.Msd": "xml"}, Descriptor(format="MQSTR"), b"body")
    >>> descriptor.format, b"<usr><colour>red</colour></usr>" in body, body[-4:]
    ('MQHRF2', True, b'body')
    """
    return with_folders(_folders(properties), descriptor, body) if properties else (descriptor, body)


def with_folders(folders: Iterable[str], descriptor: Descriptor, body: bytes) -> tuple[Descriptor, bytes]:
    """Returns the descriptor and body of a message with an MQRFH2 in front that has these folders, each as its text."""
    little = descriptor.encoding & 0xF == _SMALL_END
    layout, word = (_LITTLE, Struct("<i")) if little else (_BIG, Struct(">i"))
    pieces = []
    for text in folders:
        data = text.encode()
        data += b" " * (-len(data) % 4)
        pieces += [word.pack(len(data)), data]
    said = b"".join(pieces)
    form = descriptor.encoding, descriptor.coded_char_set_id, descriptor.format.encode("ascii", "replace").ljust(8)
    fixed = layout.pack(b"RFH ", 2, layout.size + len(said), *form, 0, UTF_8)
    return descriptor._replace(format=RFH2, coded_char_set_id=UTF_8), fixed + said + body


def _folders(properties: Mapping[str, Property]) -> Iterator[str]:
    """Yields each folder as its text, in the order in which properties name them first."""
    trees: dict[str, dict[str, object]] = {}
    for name, value in properties.items():
        *above, last = _path(name)
        below = trees
        for part in above:
            below = _below(below, part, name)
        if last in below:
            raise _refused(name, f"there are two properties at {name}; leave one out", PROPERTY_NAME)
        below[last] = (_spelled(name, value),)  # type: ignore[assignment]
    for folder, tree in trees.items():
        yield f"<{folder}>{''.join(_rendered(tree))}</{folder}>"


def _below(tree: dict[str, dict[str, object]], part: str, name: str) -> dict[str, dict[str, object]]:
    below = tree.setdefault(part, {})
    if not isinstance(below, dict):
        raise _refused(name, f"{name} lies below a property that has a value; leave one out", PROPERTY_NAME)
    return below  # type: ignore[return-value]


def _path(name: str) -> list[str]:
    parts = name.split(".")
    if len(parts) == 1:
        parts = [_USR, *parts]
    if len(parts) > _DEEPEST or any(_NAME.fullmatch(part) is None for part in parts):
        problem = f"{name!r:.60} is no name of a property: write letters, digits, _ and -, and dots between folders"
        raise _refused(name, problem, PROPERTY_NAME)
    return parts


def _spelled(name: str, value: Property) -> tuple[str, str | None]:
    """Returns the type and the text of a value; None is NULL."""
    if value is None:
        return "", None
    if isinstance(value, str):
        if _FORBIDDEN.search(value):
            raise _refused(name, f"property {name} has a character that no header can hold; take it out", PROPERTY_TYPE)
        return "", value.translate(_ESCAPES)
    if isinstance(value, bytes):
        return "bin.hex", value.hex().upper()
    if isinstance(value, bool):
        return "boolean", str(int(value))
    if type(value) is int:
        if not -(1 << 63) <= value < 1 << 63:
            raise _refused(name, f"property {name} does not fit 64 bits; write it as a text", PROPERTY_TYPE)
        kind = "i4" if -(1 << 31) <= value < 1 << 31 else "i8"
        return "" if name in _NUMBERS_OF_JMS else kind, str(value)
    kind = _WRITTEN.get(type(value), "")
    if not kind:
        problem = f"property {name} is {type(value).__name__}; it takes a text, a number, a truth value or bytes"
        raise _refused(name, problem, PROPERTY_TYPE)
    return kind, str(int(value)) if isinstance(value, int) else repr(float(value))


def _rendered(tree: Mapping[str, object]) -> Iterator[str]:
    for name, below in tree.items():
        if isinstance(below, dict):
            yield f"<{name}>{''.join(_rendered(below))}</{name}>"
            continue
        kind, text = below[0]  # type: ignore[index]
        if text is None:
            yield f"<{name} xsi:nil='true'></{name}>"
        elif kind:
            yield f'<{name} dt="{kind}">{text}</{name}>'
        else:
            yield f"<{name}>{text}</{name}>"


def _refused(name: str, problem: str, reason: int) -> MessageException:
    return MessageException(reason, f"{problem} ({reason})", name, reason=reason)
