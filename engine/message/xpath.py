"""XPath 1.0 over the trees of a message: $Root, $Body, $LocalEnvironment … are what an expression begins at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite, isnan
from typing import Any, Final

from lxml import etree

from engine.errors import BrokerError, ConfigurationException
from engine.message.assembly import Message
from engine.message.thread_parsers import PARSERS
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import Domain
from engine.tree.step import Types, step

TREES: Final = ("Root", "Body", "Properties", "LocalEnvironment", "DestinationList", "Environment", "ExceptionList")
_PREFIXES: Final = ("Input", "Output")
_VARIABLE: Final = re.compile(r"""'[^']*'|"[^"]*"|\$([\w.-]+)""")
_STEP: Final = re.compile(r"(@?)(?:([\w.-]+):)?(@?)([\w.-]+)(?:\[([0-9]{1,9})\])?")
_NAME: Final = re.compile(r"[^\W\d][\w.-]*")
_ATTRIBUTES: Final = frozenset((0x03000100, 0x03000101))
_ATTRIBUTE_OF_XML: Final = 0x03000000
_UNFIT: Final = 2211
_FAILED: Final = 3950


@dataclass(frozen=True, slots=True)
class XPath:
    """An expression, compiled; variables that are no tree of the message are given with each evaluation."""

    text: str
    namespaces: Mapping[str, str] = field(default_factory=dict)
    variables: frozenset[str] = field(init=False, repr=False)
    _compiled: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            compiled = etree.XPath(self.text, namespaces=dict(self.namespaces) or None, smart_strings=False)
        except etree.XPathSyntaxError as error:
            raise ConfigurationException(f"{self.text!r} is no XPath: {error}", number=_UNFIT) from error
        found = frozenset(one[1] for one in _VARIABLE.finditer(self.text) if one[1])
        object.__setattr__(self, "variables", found)
        object.__setattr__(self, "_compiled", compiled)

    def value(self, message: Message, given: Mapping[str, Any] | None = None) -> Any:
        """The value for a message: a text, a number, a truth or a list of nodes."""
        PARSERS.keep_names_apart()
        known: dict[str, Any] = dict(given or {})
        for name in self.variables - known.keys():
            tree = tree_of(message, name)
            known[name] = [] if tree is None else _as_xml(tree)
        body = message.root.last_child
        around = etree.Element("none") if body is None else _as_xml(body)
        document = deepcopy(next(iter(around), around))  # the root of a document of its own, where / begins
        try:
            return self._compiled(document, **known)
        except etree.XPathError as error:
            raise BrokerError(_FAILED, f"XPath {self.text}: {error}", self.text) from error

    def truth(self, message: Message, given: Mapping[str, Any] | None = None) -> bool:
        """The value as a BOOLEAN, as XPath casts it."""
        return bool(self.value(message, given))

    def string(self, message: Message, given: Mapping[str, Any] | None = None) -> str | None:
        """The value as a text, as XPath casts it; None for a path that leads nowhere."""
        value = self.value(message, given)
        if isinstance(value, list):
            return (
                None
                if not value
                else "".join(map(str, value[0].itertext()))
                if etree.iselement(value[0])
                else str(value[0])
            )
        if isinstance(value, bool):
            return "true" if value else "false"
        return _number_text(value) if isinstance(value, float) else str(value)


def _number_text(value: float) -> str:
    """A number as XPath's string() writes it: without an exponent, and without a point where it is whole.

    >>> _number_text(2.0), _number_text(1e-7), _number_text(float("nan")), _number_text(float("-inf"))
    ('2', '0.0000001', 'NaN', '-Infinity')
    """
    if not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if value == int(value) else f"{Decimal(repr(value)):f}"


def plain_name(name: str) -> str:
    """The name of a tree without Input or Output in front."""
    return next((name.removeprefix(one) for one in _PREFIXES if name.startswith(one)), name)


def tree_of(message: Message, name: str) -> Element | None:
    """The tree that a variable such as $Root or $InputLocalEnvironment means; None where a body is missing."""
    match plain_name(name):
        case "Root":
            return message.root
        case "Body":
            return message.root.last_child
        case "Properties":
            return message.root.at("Properties")
        case "LocalEnvironment" | "DestinationList":
            return message.local_environment
        case "Environment":
            return message.environment
        case "ExceptionList":
            return message.exceptions
    raise BrokerError(_UNFIT, f"${name} is no tree of a message: they are {', '.join(TREES)}", name)


def _as_xml(tree: Element) -> Any:
    """A tree as elements of lxml; what has a name that XML does not allow is left out."""
    made = etree.Element(tree.name if _NAME.fullmatch(tree.name) else "tree")
    pending = [(tree, made, tree.name in {"XML", "XMLNS"})]
    while pending:
        from_, to, is_xml = pending.pop()
        value = from_.value
        if value is not None:
            to.text = _text(value)
        for child in from_:
            if not _NAME.fullmatch(child.name):
                continue
            name = f"{{{child.namespace}}}{child.name}" if child.namespace else child.name
            if child.type in _ATTRIBUTES or (is_xml and child.type == _ATTRIBUTE_OF_XML and child.first_child is None):
                to.set(name, "" if child.value is None else _text(child.value))
            else:
                pending.append((child, etree.SubElement(to, name), is_xml or child.name in {"XML", "XMLNS"}))
    return made


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number_text(value)
    text = (
        value.hex().upper() if isinstance(value, bytes) else f"{value:f}" if isinstance(value, Decimal) else str(value)
    )
    return "".join(c for c in text if c in "\t\n\r" or c >= " ")


def _attribute_types(owner: Domain) -> Types:
    """The types of attributes of a domain, that of a new one first; none where it has no attributes."""
    number = owner.constants.get("Attribute")
    return () if number is None else owner.accepted.get("Attribute", ((0xFFFFFFFF, number),))


@dataclass(frozen=True, slots=True)
class Target:
    """A path to a place that is given a value, created where it is missing: `$OutputRoot/XMLNSC/order/name`."""

    tree: str
    steps: tuple[tuple[str, str, bool, int], ...]  # namespace, name, True for an attribute, and number

    @classmethod
    def of(cls, text: str, namespaces: Mapping[str, str]) -> Target:
        """Read a path; raises where it is more than names and numbers."""
        head, *parts = text.strip().lstrip("$/").split("/")
        if plain_name(head) not in TREES:
            head, parts = "Body", [head, *parts]
        found = [_STEP.fullmatch(part) for part in parts if part]
        if not found or None in found:
            text = f"{text!r} is no path to a field: write $OutputRoot/XMLNSC/order/name"
            raise ConfigurationException(text, number=_UNFIT)
        steps = (
            (namespaces.get(one[2] or "", ""), one[4], bool(one[1] or one[3]), int(one[5] or 1)) for one in found if one
        )
        return cls(plain_name(head), tuple(steps))


class Copies:
    """The trees of a message that are changed, each copied when it first is."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._root: Element | None = None
        self._local: Element | None = None

    def _tree(self, name: str) -> Element:
        if name == "Environment":
            return self._message.environment
        if name in {"LocalEnvironment", "DestinationList"}:
            self._local = self._local or copy(self._message.local_environment)
            return self._local
        self._root = self._root or copy(self._message.root)
        if name == "Root":
            return self._root
        found = self._root.at("Properties") if name == "Properties" else self._root.last_child
        if found is None or name == "ExceptionList":
            raise BrokerError(_UNFIT, f"${name} cannot be changed here", name)
        return found

    def set(self, target: Target, value: Any, number: int = 1) -> None:
        """Give a field a value; `number` says which of those of its name, where its path says nothing of that."""
        at = self._tree(target.tree)
        for place, (namespace, name, is_attribute, own) in enumerate(target.steps):
            nth = number if place == len(target.steps) - 1 and own == 1 else own
            at = at.ensure_nth(step(name, namespace, _attribute_types(at.owner) if is_attribute else ()), nth)
        at.value = value

    def message(self) -> Message:
        """The message with what was changed."""
        return self._message.replaced(root=self._root, local_environment=self._local)
