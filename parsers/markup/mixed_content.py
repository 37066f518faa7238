"""Mixed content: text beside elements, which the compact domain does not show: looked for, and taken away."""

from __future__ import annotations

import re
from typing import Final, cast

from lxml import etree

_JOINT: Final = b"\1\2"  # in place of `><`; no document has these characters
_TEXT: Final = bytes(byte for byte in range(256) if byte not in b"<>/\1")

# Text in front of a start tag, behind an end tag, and behind an empty tag. Each begins with a character that is looked
# for fast.
_BESIDE: Final = (re.compile(rb">[^<]++<[^/]"), re.compile(rb"</[^>]*+>[^<]"), re.compile(rb"/>[^<]"))
_MIXED: Final = etree.XPath("//*[*][text()]", smart_strings=False)
_IS_MIXED: Final = etree.XPath(  # without mixed content; what it finds costs the square of its number
    "boolean(//text()/following-sibling::*[1]) or boolean(//text()/preceding-sibling::*[1])", smart_strings=False
)
_QUICK_SIZE: Final = 70_000


def is_unmixed(data: bytes) -> bool:
    """Returns whether a document of nothing but tags and text surely has no text beside elements.

    Without its letters, and where tags touch, it is soon looked through. If it has three marks for each `/`, but for
    those `>` that are left, then each `/` is that of an end tag. If each `>` that is left, but the last, stands in
    front of an end tag and behind none, then text stands only between a start tag and its end tag.

    >>> is_unmixed(b"<a><b>1</b></a>"), is_unmixed(b"<a>1<b>2</b></a>"), is_unmixed(b"<a><b>1</b>2</a>")
    (True, False, False)
    """
    bones = data.replace(b"><", _JOINT).translate(None, _TEXT)
    left = bones.count(b">")
    return (
        3 * bones.count(b"/") + left == len(bones)
        and bones.count(b"></") + 1 == left
        and bones.find(b"/>") == len(bones) - 2
    )


def may_be_mixed(data: bytes) -> bool:
    """Returns whether text may stand beside elements in a document of nothing but tags and text.

    A `>` that stands in a text or in an attribute makes that uncertain.

    >>> may_be_mixed(b'<a k="/"><b>1/2</b></a>'), may_be_mixed(b"<a><b/>1</a>"), may_be_mixed(b"<a>1 > 0</a>")
    (False, True, True)
    """
    return data.count(b">") != data.count(b"<") or any(beside.search(data) is not None for beside in _BESIDE)


def is_mixed(root: etree._Element, size: int) -> bool:
    """Returns whether text stands beside elements in a tree, which was read from so many bytes."""
    return bool((_MIXED if size > _QUICK_SIZE else _IS_MIXED)(root))


def tidy(root: etree._Element) -> None:
    """Take away the text that stands beside elements."""
    for node in cast("list[etree._Element]", _MIXED(root)):
        node.text = None
        for child in node:
            child.tail = None
