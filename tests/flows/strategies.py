"""Hypothesis strategies for flows."""

from __future__ import annotations

from hypothesis import strategies as st

from engine.flow.definition import Flow, NodeUse, Promoted, Promotion, Setting, Wire
from flows.flow_yaml import is_name

characters = st.characters(exclude_categories=["Cs"], include_characters="\n\t -.:#'\"[]{}&*!|>%@`~,?")
texts = st.text(characters, max_size=20) | st.sampled_from(
    ["", "~", "null", "yes", "0x10", "1.0", "=", "<<", "- a", "a\n"]
)
printed = st.text(characters, min_size=1, max_size=8).map(lambda text: "".join(filter(str.isprintable, text)).strip())
names = (printed | st.just("<<")).filter(is_name)
terminals = names.filter(lambda name: "." not in name)
keys = names.filter(lambda name: name not in ("type", "subflow"))


@st.composite
def settings(draw: st.DrawFn, depth: int = 1) -> tuple[Setting, ...]:
    values = texts | st.lists(texts | settings(depth - 1) if depth else texts, max_size=3).map(tuple)
    found = draw(st.dictionaries(keys, values, max_size=3))
    return tuple(Setting(name, value) for name, value in found.items())


scalar_settings = st.dictionaries(names, texts, max_size=3).map(
    lambda found: tuple(Setting(name, value) for name, value in found.items())
)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    labels = draw(st.lists(names, unique=True, max_size=5))
    uses = []
    for label in labels:
        kind = draw(names)
        is_subflow = draw(st.booleans())
        uses.append(NodeUse(label, "" if is_subflow else kind, draw(settings()), kind if is_subflow else ""))
    some_label = st.sampled_from(labels) | names if labels else names
    ends = st.tuples(some_label, terminals, some_label, terminals | st.just("in"))
    wires = [Wire(*end) for end in draw(st.lists(ends, max_size=4))]
    promoted = st.builds(Promoted, some_label, terminals)
    promotions = st.dictionaries(names, st.lists(promoted, max_size=3).map(tuple), max_size=2)
    return Flow(
        name=draw(names),
        schema=draw(st.just("") | names),
        properties=draw(scalar_settings),
        user_properties=draw(scalar_settings),
        promotions=tuple(Promotion(name, targets) for name, targets in draw(promotions).items()),
        nodes=tuple(uses),
        wires=tuple(wire for wire in wires if can_be_written(wire, labels)),
        is_subflow=draw(st.booleans()),
    )


def can_be_written(wire: Wire, labels: list[str]) -> bool:
    """Whether the text of a wire names its target: lint refuses labels that could be another node's terminal."""
    in_short = wire.target_terminal == "in" and wire.target in labels
    return in_short or f"{wire.target}.{wire.target_terminal}" not in labels
