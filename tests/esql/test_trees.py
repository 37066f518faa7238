"""SET: each row of a table says in ESQL what its calls do; the tree that is expected stands as nested tuples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.received import Received, new_root
from engine.parser import Form, Template, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.source import NAME
from engine.tree.step import Step, step
from esql.runtime.limits import Nodes
from esql.trees.assignments import ensure_last, set_field, set_list, set_name, set_namespace, set_type
from esql.trees.moves import delete, delete_from, each, path_of
from esql.values.errors import ValueFailure

Shape: TypeAlias = tuple[Any, ...]  # name, value, children
_PLAIN = frozenset({"Name", "NameValue", "Element", "Folder", "PCDataField", ""})
ATTRIBUTE = 0x03000100


def shape(element: Element) -> Shape:
    """An element as a tuple of its name, its value and its children; special types stand before the name."""
    title = element.owner.type_names.get(element.type, hex(element.type))
    name = element.name if title in _PLAIN else f"({title}){element.name}"
    if element.namespace:
        name = f"{{{element.namespace}}}{name}"
    return (name, element.value, *(shape(child) for child in element))


def build(wanted: Shape) -> Element:
    """A plain tree of nested tuples."""
    top = Element(wanted[0])
    if wanted[1] is not None:
        top.value = wanted[1]
    for child in wanted[2:]:
        top.append(build(child))
    return top


def ensure(at: Element, *names: str | tuple[str, int] | Step) -> Element:
    """The path of these steps, created as an assignment creates it."""
    for name in names:
        if isinstance(name, tuple):
            at = at.ensure_nth(step(name[0]), name[1])
        else:
            at = at.ensure(name if isinstance(name, Step) else step(name))
    return at


def set_scalar(target: Element, value: object) -> None:
    """`SET field = scalar`, as emitted code does it."""
    target.value = value


def received(domain: str, body: bytes) -> Element:
    """The InputRoot of a message with this body."""
    return read_only(Received(Descriptor(), body, template=Template(domain)).root())


def body(root: Element, domain: str) -> bytes:
    """What the parser of a domain writes for the body of a Root."""
    top = root.at(domain)
    assert top is not None
    return parser_catalog.find(domain).write(top, Form())


def attribute(name: str) -> Step:
    """`(XMLNSC.Attribute)name`."""
    return step(name, "", ((0xFFFFFFFE, ATTRIBUTE),))


# Plain trees: the tree before is Environment with a = 1, list = (x = 1), (x = 2), (x = 3).

BEFORE: Shape = (
    "Environment",
    None,
    ("a", 1),
    ("list", None, ("x", 1)),
    ("list", None, ("x", 2)),
    ("list", None, ("x", 3)),
)
A, L1, L2, L3 = BEFORE[2:]


def found(environment: Element, *names: str) -> Element:
    at = environment.at(*names)
    assert at is not None
    return at


def nth_list(environment: Element, number: int) -> Element:
    at = environment.nth(step("list"), number)
    assert at is not None
    return at


SETS: list[tuple[str, Callable[[Element], object], tuple[Shape, ...]]] = [
    ("SET Environment.a = 2", lambda e: set_scalar(ensure(e, "a"), 2), (("a", 2), L1, L2, L3)),
    ("SET Environment.a = NULL", lambda e: delete(e.at("a")), (L1, L2, L3)),
    ("SET Environment.b.c = NULL", lambda e: delete(e.at("b", "c")), (A, L1, L2, L3)),
    ("SET Environment.a VALUE = NULL", lambda e: set_scalar(ensure(e, "a"), None), (("a", None), L1, L2, L3)),
    ("SET Environment.b.c = 5", lambda e: set_scalar(ensure(e, "b", "c"), 5), (A, L1, L2, L3, ("b", None, ("c", 5)))),
    ("SET Environment.list = 7", lambda e: set_scalar(ensure(e, "list"), 7), (A, ("list", 7, ("x", 1)), L2, L3)),
    (
        "SET Environment.list[4].x = 4",
        lambda e: set_scalar(ensure(e, ("list", 4), "x"), 4),
        (A, L1, L2, L3, ("list", None, ("x", 4))),
    ),
    (
        "SET Environment.list[<].x = 9",
        lambda e: set_scalar(ensure(ensure_last(e, step("list")), "x"), 9),
        (A, L1, L2, ("list", None, ("x", 9))),
    ),
    (
        "SET Environment.list[<3].x = 9",
        lambda e: set_scalar(ensure(ensure_last(e, step("list"), 3), "x"), 9),
        (A, ("list", None, ("x", 9)), L2, L3),
    ),
    (
        "SET Environment.new[LAST] = 9",
        lambda e: set_scalar(ensure_last(e, step("new")), 9),
        (A, L1, L2, L3, ("new", 9)),
    ),
    (
        "SET Environment.b = Environment.list[2]",
        lambda e: set_field(ensure(e, "b"), nth_list(e, 2)),
        (A, L1, L2, L3, ("b", None, ("x", 2))),
    ),
    (
        "SET Environment.list[1] = Environment.a",
        lambda e: set_field(nth_list(e, 1), e.at("a")),
        (A, ("list", 1), L2, L3),
    ),
    ("SET Environment.a = Environment.missing", lambda e: set_field(ensure(e, "a"), None), (L1, L2, L3)),
    ("SET Environment.a = Environment.a", lambda e: set_field(ensure(e, "a"), e.at("a")), (A, L1, L2, L3)),
    (
        "SET Environment.list[1] = Environment.list[1].x",
        lambda e: set_field(nth_list(e, 1), e.at("list", "x")),
        (A, ("list", 1), L2, L3),
    ),
    (
        "SET Environment.list[1].x = Environment.list[1]",
        lambda e: set_field(found(e, "list", "x"), nth_list(e, 1)),
        (A, ("list", None, ("x", None, ("x", 1))), L2, L3),
    ),
    ("SET Environment = Environment.list[3]", lambda e: set_field(e, nth_list(e, 3)), (("x", 3),)),
    ("SET Environment = NULL", delete, ()),
    (
        "SET Environment.list[1] = ROW(5 AS p, 6 AS q)",
        lambda e: set_field(nth_list(e, 1), build(("", None, ("p", 5), ("q", 6)))),
        (A, ("list", None, ("p", 5), ("q", 6)), L2, L3),
    ),
    (
        "SET Environment.list[] = LIST{1, 2}",
        lambda e: set_list(e, step("list"), [1, 2]),
        (A, ("list", 1), ("list", 2)),
    ),
    (
        "SET Environment.list[] = LIST{1, NULL, 3, 4}",
        lambda e: set_list(e, step("list"), [1, None, 3, 4]),
        (A, ("list", 1), ("list", None), ("list", 3), ("list", 4)),
    ),
    ("SET Environment.list[] = LIST{}", lambda e: set_list(e, step("list"), []), (A,)),
    (
        "SET Environment.list[] = LIST{Environment.list[3], Environment.list[1], Environment}",
        lambda e: set_list(e, step("list"), [nth_list(e, 3), nth_list(e, 1), e]),
        (A, L3, L1, ("list", None, A, L1, L2, L3)),
    ),
    (
        "SET Environment.to.b[] = Environment.list[]",
        lambda e: set_list(ensure(e, "to"), step("b"), e.every(step("list"))),
        (A, L1, L2, L3, ("to", None, ("b", None, ("x", 1)), ("b", None, ("x", 2)), ("b", None, ("x", 3)))),
    ),
    (
        "SET Environment.to.*[] = Environment.*[]",
        lambda e: set_list(ensure(e, "to"), step(None, None), e.every(step("list"))),
        (A, L1, L2, L3, ("to", None, L1, L2, L3)),
    ),
    ("SET Environment.a NAME = 'b'", lambda e: set_name(found(e, "a"), "b"), (("b", 1), L1, L2, L3)),
    ("SET Environment.a NAMESPACE = 'u'", lambda e: set_namespace(found(e, "a"), "u"), (("{u}a", 1), L1, L2, L3)),
    ("SET Environment.a TYPE = Name", lambda e: set_type(found(e, "a"), NAME), (A, L1, L2, L3)),
    ("DELETE FIELD Environment.list[2]", lambda e: delete(nth_list(e, 2)), (A, L1, L3)),
    ("DELETE FIELD Environment.missing", lambda e: delete(e.at("missing")), (A, L1, L2, L3)),
    ("DELETE LASTCHILD OF Environment", lambda e: delete_from(e, "LASTCHILD"), (A, L1, L2)),
    ("DELETE NEXTSIBLING OF Environment.a", lambda e: delete_from(e.at("a"), "NEXTSIBLING"), (A, L2, L3)),
    ("DELETE PREVIOUSSIBLING OF Environment.a", lambda e: delete_from(e.at("a"), "PREVIOUSSIBLING"), (A, L1, L2, L3)),
    ("DELETE FIRSTCHILD OF Environment.missing", lambda e: delete_from(None, "FIRSTCHILD"), (A, L1, L2, L3)),
]


@pytest.mark.parametrize(("esql", "does", "expected"), SETS, ids=[row[0] for row in SETS])
def test_set_and_delete_change_a_plain_tree(esql: str, does: Callable[[Element], object], expected: Shape) -> None:
    """A statement leaves the tree that the manual says, whether it was built or is shared by a copy."""
    built, shared = build(BEFORE), copy(read_only(build(BEFORE)))
    does(built)
    does(shared)
    assert shape(built) == ("Environment", None, *expected)
    assert shape(shared) == ("Environment", None, *expected)


REFUSED: list[tuple[str, Callable[[Element], object], int]] = [
    ("SET Environment.list[5] = 1", lambda e: e.ensure_nth(step("list"), 5), 2527),
    ("SET Environment.list[<4] = 1", lambda e: ensure_last(e, step("list"), 4), 2527),
    ("SET Environment.a TYPE = NULL", lambda e: set_type(found(e, "a"), None), 2420),
    ("SET Environment.a TYPE = 'x'", lambda e: set_type(found(e, "a"), "x"), 2420),
    ("SET Environment.a NAME = NULL", lambda e: set_name(found(e, "a"), None), 2420),
    ("SET Environment.a NAMESPACE = 1", lambda e: set_namespace(found(e, "a"), 1), 2420),
]


@pytest.mark.parametrize(("esql", "does", "number"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_cannot_be_set_is_an_error_and_changes_nothing(
    esql: str, does: Callable[[Element], object], number: int
) -> None:
    """A NULL type or name, or a place too far off, is refused."""
    built = build(BEFORE)
    with pytest.raises(BrokerError) as caught:
        does(built)
    assert (number, BEFORE) == (caught.value.number, shape(built))


def test_type_and_name_refuse_null_with_the_sqlstate_of_wrong_types() -> None:
    """Handlers see what went wrong by its SQLSTATE."""
    with pytest.raises(ValueFailure) as caught:
        set_type(build(BEFORE), None)
    assert caught.value.sqlstate == "S42804"


@pytest.mark.parametrize(
    "does",
    [
        lambda e: set_scalar(found(e, "a"), 2),
        lambda e: set_field(found(e, "a"), nth_list(e, 1)),
        lambda e: set_list(e, step("list"), []),
        lambda e: set_list(e, step("list"), [1, 2, 3, 4]),
        lambda e: set_name(found(e, "a"), "b"),
        lambda e: delete(found(e, "a")),
        delete,
        lambda e: ensure(e, "b"),
        lambda e: set_field(e, build(BEFORE)),
    ],
)
def test_an_input_tree_refuses_every_change(does: Callable[[Element], object]) -> None:
    """The error is the kernel's, and the tree stays as it was."""
    original = build(BEFORE)
    view = read_only(original)
    with pytest.raises(BrokerError, match="BIP2556"):
        does(view)
    assert shape(view) == BEFORE


def test_instances_of_a_list_are_reused() -> None:
    """SET field[] = list gives new content to the fields that are there, so that references stay where they are."""
    built = build(BEFORE)
    kept = built.every(step("list"))
    set_list(built, step("list"), ["p", "q"])
    assert built.every(step("list")) == kept[:2]
    assert [one.value for one in kept[:2]] == ["p", "q"]
    assert kept[2].parent is None


def test_deleted_fields_stay_readable_for_references() -> None:
    """A reference to a deleted field goes on reading and changing it; the message does not see it."""
    built = build(BEFORE)
    held, below = nth_list(built, 1), found(built, "list", "x")
    delete(held)
    set_scalar(below, 8)
    set_scalar(ensure(held, "y"), 9)
    assert shape(held) == ("list", None, ("x", 8), ("y", 9))
    assert shape(built) == ("Environment", None, A, L2, L3)
    set_field(built, build(("", None, ("z", 1))))
    assert held.at("x") is below


def test_for_passes_over_what_its_body_takes_away_and_ends_whatever_it_adds() -> None:
    """FOR goes through the fields that were there when it began, without those that are gone by then."""
    built = build(BEFORE)
    seen = []
    for item in each(built.every(step("list"))):
        assert isinstance(item, Element)
        seen.append(item.at("x").value)  # type: ignore[union-attr]  # each has one
        set_scalar(ensure(ensure_nth_more(built), "x"), 0)
        if len(seen) == 1:
            delete(nth_list(built, 2))
    assert seen == [1, 3]
    assert list(each([1, None, "x"])) == [1, None, "x"]


def ensure_nth_more(built: Element) -> Element:
    """One more of the list."""
    return built.ensure_nth(step("list"), built.count(step("list")) + 1)


def test_more_elements_than_allowed_are_an_error() -> None:
    """Copies count all that they hold, also what is shared as it was read, where the limit is low."""
    nodes = Nodes(40)
    built = build(BEFORE)
    for _ in range(2):
        set_field(ensure(built, "twice", "a"), built, nodes)
    with pytest.raises(BrokerError, match="more than 40 elements"):
        set_field(ensure(built, "twice", "a"), built, nodes)
    few = Nodes(7)
    order = received("XMLNSC", b"<Order><Id>1</Id><Id>2</Id><Id>3</Id></Order>")
    set_field(ensure(new_root(), "XMLNSC"), order.at("XMLNSC"), few)
    assert few.left == 2
    set_list(built, step("list"), [1, 2], few)
    assert few.left == 0
    other = Nodes(9)
    set_field(ensure(new_root(), "XML"), order.at("XMLNSC"), other)
    assert other.left == 5


def test_paths_name_every_field_on_the_way() -> None:
    """Errors tell where a field is."""
    assert path_of(found(build(BEFORE), "list", "x")) == "Environment.list.x"
    assert path_of(Element("")) == "*"
