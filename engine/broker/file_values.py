"""Reads the values of broker files: numbers, sizes, durations and plain tables."""

from __future__ import annotations

import re
from os.path import abspath, join
from typing import Any, Final

from flows.yaml_document import Mapping, Scalar, Sequence, Tree

_SIZE: Final = re.compile(r"([1-9][0-9]{0,11})([kmgt]?)", re.IGNORECASE)
_DURATION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")
_WHOLE: Final = re.compile(r"[0-9]{1,12}")
_FLAGS: Final = {"true": True, "false": False}
_PERSISTENCE: Final = {0: "NO", 1: "YES"}
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def number(tree: Tree) -> int | None:
    """Returns a whole number from 0 to 999999, or None where there is none."""
    text = tree.text if isinstance(tree, Scalar) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def memory(tree: Tree) -> int | None:
    """Returns the bytes that a size such as 512m stands for, or None."""
    found = _SIZE.fullmatch(tree.text) if isinstance(tree, Scalar) else None
    return int(found[1]) << (10 * _POWERS[found[2].lower()]) if found else None


def duration(tree: Tree) -> float | None:
    """Returns a number that is not negative, or None."""
    return float(tree.text) if isinstance(tree, Scalar) and _DURATION.fullmatch(tree.text) else None


def of_tree(tree: Tree) -> Any:
    """Returns a tree as dictionaries, lists and texts; plain whole numbers, true and false are what they say."""
    if isinstance(tree, Mapping):
        return {key.text: of_tree(value) for key, value in tree.entries}
    if isinstance(tree, Sequence):
        return [of_tree(item) for item in tree.items]
    if tree.is_plain and tree.text in {"true", "false"}:
        return tree.text == "true"
    if tree.is_plain and tree.text.isascii() and tree.text.isdigit():
        return int(tree.text)
    return None if tree.is_null else tree.text


def value_of(tree: Scalar) -> str | int:
    """Returns the value of a queue's attribute: a whole number, true or false, or a text."""
    if tree.is_plain and tree.text in _FLAGS:
        return _FLAGS[tree.text]
    return int(tree.text) if _WHOLE.fullmatch(tree.text) else tree.text


def as_mqsc(name: str, value: str | int) -> str | int:
    """Returns an attribute's value as MQSC has it: DEFPSIST may be written as a number, as nodes show it."""
    is_number = name == "DEFPSIST" and not isinstance(value, str)
    return _PERSISTENCE.get(int(value), value) if is_number else value


def placed(source: dict[str, Any], folder: str) -> dict[str, Any]:
    """Returns a data source whose files, SQLite's and those of url and password, are named by their whole paths.

    >>> placed({"url": "sqlite:///shop.db"}, "/b")
    {'url': 'sqlite:////b/shop.db'}
    """
    url = source.get("url")
    made = dict(source)
    head, separator, file = str(url).partition(":///")
    if separator and head.partition("+")[0] == "sqlite" and file and not file.startswith((":", "/")):
        made["url"] = f"{head}:///{abspath(join(folder, file))}"
    for name in ("url", "password"):
        said = source.get(name)
        if isinstance(said, dict) and isinstance(said.get("file"), str):
            made[name] = {**said, "file": abspath(join(folder, said["file"]))}
    return made
