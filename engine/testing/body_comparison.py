"""Bodies compared as what they are: XML by its infoset, JSON as data, anything else by its bytes."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

from lxml import etree

from engine.errors import BrokerError
from parsers.charsets.ccsid import decode, encode

MOST_SHOWN: Final = 20
_DECLARATION: Final = re.compile(r"^\s*<\?xml\b[^>]*\?>\s*")
_LINE: Final = 16  # bytes of a line of hexadecimal digits
_TEXTUAL: Final = re.compile(rb"[\t\r\n\x20-\x7e\x80-\xff]*")


class Found(NamedTuple):
    """A body that came out, and how its message says it is written."""

    data: bytes
    ccsid: int
    encoding: int
    domain: str = ""


class Difference(NamedTuple):
    """A difference of two bodies, in lines that say where, and as a unified diff."""

    lines: tuple[str, ...]
    diff: str = ""


def compare(expected: str | bytes, found: Found, how: str = "") -> Difference | None:
    """Returns how a body differs from the expected one, or None; `how` is xml, json, bytes or text."""
    way = how or _way(expected, found)
    try:
        if way == "xml":
            return _compare_xml(_xml(expected, found), _xml(found.data, found))
        if way == "json":
            return _compare_json(_text(expected, found), _text(found.data, found))
        if way == "text":
            return _compare_text(_text(expected, found), _text(found.data, found))
    except (etree.XMLSyntaxError, ValueError, RecursionError, BrokerError) as error:
        text = error.text if isinstance(error, BrokerError) else str(error)
        by_bytes = _compare_bytes(expected, found)
        if not how and not by_bytes.lines:  # what is expected is no document either
            return None
        return Difference((f"cannot be compared as {way}: {text}",), by_bytes.diff)
    difference = _compare_bytes(expected, found)
    return difference if difference.lines else None


def _way(expected: str | bytes, found: Found) -> str:
    """Returns the way to compare a body, by its domain, or by how the expected one begins where that is not known."""
    if found.domain.startswith("XML") or found.domain in {"SOAP", "MRM XML"}:
        return "xml"
    if found.domain in {"JSON", "BLOB"}:
        return {"JSON": "json", "BLOB": "bytes"}[found.domain]
    start = expected.lstrip()[:1] if isinstance(expected, str) else expected.lstrip()[:1].decode("latin-1")
    if start == "<" and not found.domain:
        return "xml"
    if start in {"{", "["} and not found.domain:
        try:
            json.loads(expected)
        except ValueError:
            return "bytes"
        return "json"
    return "bytes"


def _text(body: str | bytes, found: Found) -> str:
    return body if isinstance(body, str) else decode(body, found.ccsid, found.encoding)


def _xml(body: str | bytes, found: Found) -> Any:
    """The document element of a body; a declaration or byte order mark in it goes before the message's CCSID."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_blank_text=False, huge_tree=True)
    if isinstance(body, bytes):
        stripped = body.lstrip()
        if stripped.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"<?xml")) or found.ccsid == 1208:
            return etree.fromstring(stripped, parser)
        body = decode(body, found.ccsid, found.encoding)
    return etree.fromstring(_DECLARATION.sub("", body, count=1).encode(), parser)


def _compare_xml(expected: Any, found: Any) -> Difference | None:
    lines = list(islice(_xml_differences(expected, found, _name(expected)), MOST_SHOWN + 1))
    if not lines:
        return None
    return Difference(_cut(lines), _diff(_pretty(expected), _pretty(found)))


def _name(node: Any) -> str:
    if not isinstance(node.tag, str):
        return "<!-- -->" if node.tag is etree.Comment else f"<?{getattr(node, 'target', '')}?>"
    tag = etree.QName(node)
    return str(tag.localname if not tag.namespace else f"{{{tag.namespace}}}{tag.localname}")


def _xml_differences(expected: Any, found: Any, path: str) -> Iterator[str]:
    pending = [(expected, found, path)]
    while pending:
        one, other, where = pending.pop()
        if _name(one) != _name(other):
            yield f"{where}: expected {_name(one)}, found {_name(other)}"
            continue
        yield from _attributes(one, other, where)
        yield from (f"{where}: expected {_said(a)}, found {_said(b)}" for a, b in _texts(one, other) if a != b)
        children = list(zip_longest(one, other))
        seen: dict[str, int] = {}
        further = []
        for left, right in children:
            name = _name(left if left is not None else right)
            seen[name] = seen.get(name, 0) + 1
            inner = f"{where}.{name}" + (f"[{seen[name]}]" if seen[name] > 1 else "")
            if left is None or right is None:
                yield f"{inner}: " + ("not expected" if left is None else "expected, not found")
            else:
                further.append((left, right, inner))
        pending += reversed(further)


def _attributes(one: Any, other: Any, where: str) -> Iterator[str]:
    for name in sorted({*one.attrib, *other.attrib}):
        a, b = one.get(name), other.get(name)
        if a != b:
            yield f"{where}.@{name}: expected {_said(a)}, found {_said(b)}"


def _is_mixed(node: Any) -> bool:
    """Returns whether an element has text beside its children, so that every blank counts."""
    return bool(len(node)) and any(text and text.strip() for text in (node.text, *(child.tail for child in node)))


def _texts(one: Any, other: Any) -> Iterator[tuple[str, str]]:
    """The texts of two elements that are to be the same: blanks count but between elements alone."""
    if not len(one) and not len(other):
        yield one.text or "", other.text or ""
    elif _is_mixed(one) or _is_mixed(other):
        yield one.text or "", other.text or ""
        yield from ((a.tail or "", b.tail or "") for a, b in zip(one, other, strict=False))
    else:
        yield (one.text or "").strip(), (other.text or "").strip()


def _pretty(node: Any) -> list[str]:
    copied = etree.fromstring(etree.tostring(node, with_tail=False), etree.XMLParser(remove_blank_text=True))
    return etree.tostring(copied, pretty_print=True, encoding="unicode").splitlines()


def _compare_json(expected: str, found: str) -> Difference | None:
    one, other = (json.loads(text, parse_float=Decimal) for text in (expected, found))
    lines = list(islice(_data_differences(one, other, "$"), MOST_SHOWN + 1))
    if not lines:
        return None
    pretty = [
        json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True, default=float).splitlines()
        for data in (one, other)
    ]
    return Difference(_cut(lines), _diff(*pretty))


def _data_differences(expected: Any, found: Any, path: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in dict.fromkeys([*expected, *found]):
            inner = f"{path}.{name}"
            if name not in expected or name not in found:
                yield f"{inner}: " + ("not expected" if name not in expected else "expected, not found")
            else:
                yield from _data_differences(expected[name], found[name], inner)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path}: expected {len(expected)} items, found {len(found)}"
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from _data_differences(one, other, f"{path}[{number}]")
    elif isinstance(expected, bool) != isinstance(found, bool) or expected != found:
        yield f"{path}: expected {_said(expected)}, found {_said(found)}"


def _compare_text(expected: str, found: str) -> Difference | None:
    if expected == found:
        return None
    return Difference((_first_difference(expected, found),), _diff(expected.splitlines(), found.splitlines()))


def _compare_bytes(expected: str | bytes, found: Found) -> Difference:
    data = encode(expected, found.ccsid, found.encoding) if isinstance(expected, str) else expected
    if data == found.data:
        return Difference(())
    if _TEXTUAL.fullmatch(data) and _TEXTUAL.fullmatch(found.data) and found.ccsid in {1208, 819, 367}:
        lines = [part.decode("utf-8", "backslashreplace").splitlines() for part in (data, found.data)]
    else:
        lines = [_hex(data), _hex(found.data)]
    return Difference((_first_difference(data, found.data),), _diff(*lines))


def _first_difference(expected: str | bytes, found: str | bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b), None)
    unit = "bytes" if isinstance(expected, bytes) else "characters"
    if at is None:
        return f"expected {len(expected)} {unit}, found {len(found)}, alike as far as the shorter goes"
    one, other = expected[at : at + 20], found[at : at + 20]
    return f"differs from offset {at}: expected {_said(one)}, found {_said(other)}"


def _hex(data: bytes) -> list[str]:
    return [f"{at:06x}  {data[at : at + _LINE].hex(' ')}" for at in range(0, len(data), _LINE)]


def _said(value: object) -> str:
    text = "nothing" if value is None else f"X'{value.hex()}'" if isinstance(value, bytes) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _diff(expected: list[str], found: list[str]) -> str:
    lines = list(islice(difflib.unified_diff(expected, found, "expected", "found", lineterm="", n=2), 200))
    return "\n".join(lines)


def _cut(lines: list[str]) -> tuple[str, ...]:
    return tuple(lines) if len(lines) <= MOST_SHOWN else (*lines[:MOST_SHOWN], "and more")
