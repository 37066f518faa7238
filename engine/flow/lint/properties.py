"""Findings of a pass of lint; and its pass over properties that do not exist or do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.catalog import did_you_mean
from engine.errors import BrokerError, ConfigurationException, Place
from engine.flow.definition import FLOW_PROPERTIES, Flow, NodeUse, Row, Setting, Types, plain
from engine.flow.label_routes import Names
from engine.node import Esql, NodeType, Property, build, missing_property, unknown_property

UNFIT: Final = 2087


class Finding(NamedTuple):
    """A problem that a pass has found; `about` is the word of the source line that it is about."""

    place: Place
    text: str
    about: str = ""
    number: int = UNFIT


@dataclass(frozen=True, slots=True)
class Subject:
    """A flow under examination, with all that its nodes turn out to be, and the wires that could not be read.

    `expanded` is the flow with its subflows opened, or as it stands where they cannot be.
    """

    flow: Flow
    expanded: Flow
    types: Mapping[str, NodeType | None]
    known: Types
    labels: Names
    unread: tuple[str, ...] = ()


def node_properties(subject: Subject) -> Iterator[Finding]:
    """Properties of nodes that do not exist, do not fit, or are missing."""
    promoted = {
        (t.label, t.property) for p in subject.flow.promotions for t in p.targets if _given(subject.flow, p.name)
    }
    for use in subject.flow.nodes:
        found = subject.types[use.label]
        if found is None:
            continue
        yield from _settings(found.name, found.properties, use.settings)
        given = {setting.name for setting in use.settings} | _misspelt(found, use)
        for declared in found.properties:
            if declared.mandatory and declared.name not in given and (use.label, declared.name) not in promoted:
                missing = missing_property(f"{found.name} {use.label}", declared)
                yield Finding(use.place, missing.text, use.label, missing.number)


def _misspelt(found: NodeType, use: NodeUse) -> set[str]:
    """The properties that are probably meant by names that do not exist, and so are not missing as well."""
    known = [declared.name for declared in found.properties]
    phrases = [did_you_mean(setting.name, known) for setting in use.settings if setting.name not in known]
    return {name for name in known for phrase in phrases if phrase.endswith(f" {name}?")}


def _given(flow: Flow, name: str) -> bool:
    """Returns True if a promoted property has a value as far as is known: a subflow's may come from its user."""
    return flow.is_subflow or any(setting.name == name for setting in flow.properties)


def flow_properties(subject: Subject) -> Iterator[Finding]:
    """Properties of the flow itself, and values for what it promotes."""
    flow = subject.flow
    promoted = {promotion.name: promotion for promotion in flow.promotions}
    own = tuple(setting for setting in flow.properties if setting.name not in promoted)
    named = tuple(Property(name, name, str, default="") for name in promoted)
    declared = named if flow.is_subflow else (*FLOW_PROPERTIES, *named)
    yield from _settings("a subflow" if flow.is_subflow else "a flow", declared, own)
    for setting in flow.properties:
        for target in promoted[setting.name].targets if setting.name in promoted else ():
            found = subject.types.get(target.label)
            for inner in found.properties if found else ():
                if inner.name == target.property:
                    yield from _value(inner, setting)
    for setting in flow.user_properties:
        if not isinstance(setting.value, str):
            yield Finding(setting.value_place, f"user property {setting.name} is one value, not a list")


def _settings(owner: str, properties: tuple[Property, ...], settings: Iterable[Setting]) -> Iterator[Finding]:
    known = {declared.name: declared for declared in properties}
    for setting in settings:
        if setting.name in known:
            yield from _value(known[setting.name], setting)
        else:
            unknown = unknown_property(owner, setting.name, properties)
            yield Finding(setting.place, unknown.text, setting.name, unknown.number)


def _value(declared: Property, setting: Setting) -> Iterator[Finding]:
    if declared.columns and isinstance(setting.value, tuple):
        places = setting.item_places or (setting.value_place,) * len(setting.value)
        for row, place in zip(setting.value, places, strict=True):
            yield from _row(declared, row, place)
        return
    try:
        declared.read(plain([setting])[setting.name])
    except ConfigurationException as unsuitable:
        about = setting.value if isinstance(setting.value, str) else ""
        yield Finding(setting.value_place, unsuitable.text, about, unsuitable.number)


def _row(declared: Property, row: str | Row, place: Place) -> Iterator[Finding]:
    if isinstance(row, str):
        unsuitable = declared.unsuitable(row)
        yield Finding(place, unsuitable.text, row, unsuitable.number)
        return
    yield from _settings(declared.name, declared.columns, row)
    for column in declared.columns:
        if column.mandatory and all(cell.name != column.name for cell in row):
            missing = missing_property(f"each row of {declared.name}", column)
            yield Finding(place, missing.text, number=missing.number)


def promotions(subject: Subject) -> Iterator[Finding]:
    """Promoted properties that lead to nothing or to where another leads, or that hide a property of the flow."""
    own = () if subject.flow.is_subflow else FLOW_PROPERTIES
    first: dict[tuple[str, str], str] = {}
    for promotion in subject.flow.promotions:
        if any(declared.name == promotion.name for declared in own):
            text = f"every flow has a property {promotion.name}; promote under another name"
            yield Finding(promotion.place, text, promotion.name)
        if not promotion.targets:
            yield Finding(promotion.place, f"{promotion.name} sets no property of any node", promotion.name)
        for target in promotion.targets:
            other = first.setdefault((target.label, target.property), promotion.name)
            if other != promotion.name:
                yield Finding(target.place, f"{target} is promoted as {other} too", str(target))
            if target.label not in subject.types:
                close = did_you_mean(target.label, list(subject.types))
                yield Finding(target.place, f"there is no node {target.label}{close}", target.label)
                continue
            found = subject.types[target.label]
            if found and all(declared.name != target.property for declared in found.properties):
                unknown = unknown_property(found.name, target.property, found.properties)
                yield Finding(target.place, unknown.text, target.property, unknown.number)


def node_rules(subject: Subject) -> Iterator[Finding]:
    """Yields what a node says of its properties taken together, once each of them is right by itself."""
    for use in subject.flow.nodes:
        found, promoted = subject.types[use.label], _promoted(subject.flow, use.label)
        if (
            found is None
            or found.category == "subflow"
            or promoted is None
            or any(isinstance(mark, Esql) for declared in found.properties for mark in declared.marks)
        ):
            continue
        try:
            build(found, use.values | promoted)
        except ConfigurationException:
            continue  # node_properties has said it
        except BrokerError as error:
            place, about = _of_a_property(use, error.text)
            yield Finding(place, f"{use.label}: {error.text}", about)


def _promoted(flow: Flow, label: str) -> dict[str, object] | None:
    """Returns what a flow gives the properties of a node that it promotes; None where someone else may give them."""
    names = {t.property: p.name for p in flow.promotions for t in p.targets if t.label == label}
    if names and flow.is_subflow:
        return None
    given = plain(flow.properties)
    return {name: given[outer] for name, outer in names.items() if outer in given}


def _of_a_property(use: NodeUse, text: str) -> tuple[Place, str]:
    """Returns where a rule's text points to: at the property that it begins with, else at the node."""
    for setting in use.settings:
        if text.startswith(f"{setting.name} "):
            return setting.value_place, setting.value if isinstance(setting.value, str) else ""
    return use.place, use.label
