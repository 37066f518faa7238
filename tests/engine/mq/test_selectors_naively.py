"""Selectors beside a naive evaluator of the same trees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.descriptor import Descriptor
from engine.mq.selectors import compile_selector

NAMES = st.sampled_from(["i", "f", "s", "b", "none"])
CONSTANTS = st.one_of(
    st.integers(-5, 5), st.sampled_from([0.5, 2.0, -1.5]), st.sampled_from(["", "a", "ab", "%"]), st.booleans()
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "i": st.integers(-5, 5) | st.sampled_from([2**63 - 1, -(2**63)]),
        "f": st.sampled_from([0.0, 0.5, 2.0, 1e300]),
        "s": st.sampled_from(["", "a", "ab", "ba", "%"]),
        "b": st.booleans(),
    },
)


def spelled(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def numeric(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.sampled_from("+-*/"), children, children)


NUMBERS = st.recursive(
    st.tuples(st.just("name"), NAMES) | st.tuples(st.just("is"), st.integers(-5, 5) | st.sampled_from([0.5, 2.0])),
    numeric,
    max_leaves=4,
)
ATOMS = st.one_of(
    st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), NUMBERS, NUMBERS),
    st.tuples(st.sampled_from(["=", "<>"]), st.tuples(st.just("name"), NAMES), st.tuples(st.just("is"), CONSTANTS)),
    st.tuples(st.sampled_from(["between", "not between"]), NUMBERS, NUMBERS, NUMBERS),
    st.tuples(st.sampled_from(["in", "not in"]), NAMES, st.lists(st.sampled_from(["a", "ab", ""]), min_size=1)),
    st.tuples(
        st.sampled_from(["like", "not like"]),
        NAMES,
        st.text("ab%_!", max_size=5).filter(lambda p: "!" not in re.sub("!.", "", p)),
    ),
    st.tuples(st.sampled_from(["null", "not null"]), NAMES),
    st.tuples(st.just("name"), NAMES),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda below: st.one_of(st.tuples(st.sampled_from(["and", "or"]), below, below), st.tuples(st.just("not"), below)),
    max_leaves=6,
)


def written(tree: Any) -> str:
    """Returns a tree as a selector."""
    kind, *parts = tree
    match kind:
        case "name":
            return str(parts[0])
        case "is":
            return spelled(parts[0])
        case "between" | "not between":
            low, high = written(parts[1]), written(parts[2])
            return f"({written(parts[0])} {kind.upper()} {low} AND {high})"
        case "in" | "not in":
            return f"{parts[0]} {kind} ({', '.join(map(spelled, parts[1]))})"
        case "like" | "not like":
            return f"{parts[0]} {kind} {spelled(parts[1])} ESCAPE '!'"
        case "null" | "not null":
            return f"{parts[0]} IS {kind.upper()}"
        case "not":
            return f"NOT ({written(parts[0])})"
    return f"({written(parts[0])} {kind} {written(parts[1])})"


def is_number(value: object) -> bool:
    return type(value) in {int, float}


def naive(tree: Any, values: Mapping[str, object]) -> Any:
    """Returns what a tree says of values, by the letter of the specification."""
    kind, *parts = tree
    if kind in {"name", "is"}:
        return values.get(parts[0]) if kind == "name" else parts[0]
    if kind in {"and", "or", "not"}:
        found = [value if isinstance(value := naive(part, values), bool) else None for part in parts]
        if kind == "not":
            return None if found[0] is None else not found[0]
        ends = kind == "or"
        return ends if ends in found else None if None in found else not ends
    if kind.startswith("not "):
        if kind == "not between":
            return naive(("or", ("<", parts[0], parts[1]), (">", parts[0], parts[2])), values)
        return naive(("not", (kind.removeprefix("not "), *parts)), values)
    if kind == "between":
        return naive(("and", (">=", parts[0], parts[1]), ("<=", parts[0], parts[2])), values)
    return naive_test(kind, parts, values)


def naive_test(kind: str, parts: list[Any], values: Mapping[str, object]) -> Any:
    if kind == "null":
        return parts[0] not in values
    if kind in {"in", "like"}:
        value = values.get(parts[0])
        if value is None or not isinstance(value, str):
            return None if value is None else False
        return value in parts[1] if kind == "in" else naive_like(value, parts[1])
    left, right = naive(parts[0], values), naive(parts[1], values)
    if kind in "+-*/":
        return naive_arithmetic(kind, left, right)
    return None if left is None or right is None else naive_comparison(kind, left, right)


def naive_comparison(kind: str, left: Any, right: Any) -> bool:
    if is_number(left) and is_number(right) and type(left) is not type(right):
        left, right = float(left), float(right)
    if type(left) is not type(right):
        return False
    if kind in {"=", "<>"}:
        return bool(left == right) == (kind == "=")
    if not is_number(left):
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[kind]


def naive_arithmetic(kind: str, left: Any, right: Any) -> Any:
    if not is_number(left) or not is_number(right):
        return None
    whole = type(left) is type(right) is int
    if not whole:
        left, right = float(left), float(right)
    if kind == "/":
        if right == 0:
            return None
        result = left / right
        if whole:
            result = abs(left) // abs(right) if (left < 0) == (right < 0) else -(abs(left) // abs(right))
    else:
        result = {"+": left + right, "-": left - right, "*": left * right}[kind]
    return result if not whole or -(2**63) <= result < 2**63 else None


def naive_like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "!":
        return text[:1] == pattern[1] and naive_like(text[1:], pattern[2:])
    if pattern[0] == "%":
        return any(naive_like(text[at:], pattern[1:]) for at in range(len(text) + 1))
    return bool(text) and pattern[0] in {"_", text[0]} and naive_like(text[1:], pattern[1:])


@given(CONDITIONS, VALUES)
@settings(max_examples=600, deadline=None)
def test_naive(tree: Any, values: dict[str, object]) -> None:
    """A compiled selector says what a slow evaluator of the same tree says."""
    expected = naive(tree, values)
    found = compile_selector(written(tree))(Descriptor(), lambda: values)
    assert (expected if isinstance(expected, bool) else None) is found, written(tree)
