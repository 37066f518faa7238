"""CREATE, MOVE, ATTACH and DETACH: each row says it in ESQL, with what comes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.errors import BrokerError, ParserException
from engine.message.received import new_root
from engine.parser import Form, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.source import KIND, NAME, NAME_VALUE
from engine.tree.step import step
from esql.runtime.invocation import Invocation
from esql.trees.assignments import create, create_from, create_identity, create_repeat, set_field
from esql.trees.bitstreams import set_domain
from esql.trees.moves import attach, delete, detach, move, move_repeat
from esql.values.errors import ValueFailure
from tests.esql.test_trees import ATTRIBUTE, Shape, attribute, body, build, ensure, found, received, set_scalar, shape

BEFORE: Shape = ("Environment", None, ("a", 1), ("b", None, ("c", 2)), ("a", 3))
A1, B, A2 = BEFORE[2:]
X: Shape = ("x", None)

CREATES: list[tuple[str, Callable[[Element], object], tuple[Shape, ...]]] = [
    ("CREATE FIELD Environment.x", lambda e: ensure(e, "x"), (A1, B, A2, X)),
    ("CREATE FIELD Environment.b", lambda e: ensure(e, "b"), (A1, B, A2)),
    ("CREATE FIRSTCHILD OF Environment NAME 'x'", lambda e: create(e, "FIRSTCHILD", "x"), (X, A1, B, A2)),
    ("CREATE LASTCHILD OF Environment NAME 'x'", lambda e: create(e, "LASTCHILD", "x"), (A1, B, A2, X)),
    ("CREATE LASTCHILD OF Environment", lambda e: create(e, "LASTCHILD", None), (A1, B, A2, ("", None))),
    (
        "CREATE PREVIOUSSIBLING OF Environment.b NAME 'x'",
        lambda e: create(found(e, "b"), "PREVIOUSSIBLING", "x"),
        (A1, X, B, A2),
    ),
    (
        "CREATE NEXTSIBLING OF Environment.b NAME 'x'",
        lambda e: create(found(e, "b"), "NEXTSIBLING", "x"),
        (A1, B, X, A2),
    ),
    (
        "CREATE NEXTSIBLING OF Environment.a[<] NAME 'x'",
        lambda e: create(e.nth(step("a"), 2), "NEXTSIBLING", "x"),  # type: ignore[arg-type]  # there are two
        (A1, B, A2, X),
    ),
    (
        "CREATE FIRSTCHILD OF Environment.a NAME 'x'",
        lambda e: create(found(e, "a"), "FIRSTCHILD", "x"),
        (("a", 1, X), B, A2),
    ),
    (
        "CREATE FIRSTCHILD OF Environment NAME 'x'; CREATE FIRSTCHILD OF Environment NAME 'y'",
        lambda e: (create(e, "FIRSTCHILD", "x"), create(e, "FIRSTCHILD", "y")),
        (("y", None), X, A1, B, A2),
    ),
    (
        "CREATE LASTCHILD OF Environment TYPE NameValue NAMESPACE 'u' NAME 'x' VALUE 5",
        lambda e: set_scalar(create(e, "LASTCHILD", "x", "u", NAME_VALUE), 5),
        (A1, B, A2, ("{u}x", 5)),
    ),
    (
        "CREATE LASTCHILD OF Environment NAME 'x' FROM Environment.b",
        lambda e: set_field(create(e, "LASTCHILD", "x"), e.at("b")),
        (A1, B, A2, ("x", None, ("c", 2))),
    ),
    (
        "CREATE FIRSTCHILD OF Environment FROM Environment.b",
        lambda e: create_from(e, "FIRSTCHILD", e.at("b")),
        (B, A1, B, A2),
    ),
    (
        "CREATE FIRSTCHILD OF Environment FROM Environment.missing",
        lambda e: create_from(e, "FIRSTCHILD", None),
        (("", None), A1, B, A2),
    ),
    (
        "CREATE NEXTSIBLING OF Environment.a REPEAT VALUE 9",
        lambda e: set_scalar(create_repeat(found(e, "a"), "NEXTSIBLING"), 9),
        (A1, ("a", 9), B, A2),
    ),
    (
        "CREATE PREVIOUSSIBLING OF Environment.b REPEAT",
        lambda e: create_repeat(found(e, "b"), "PREVIOUSSIBLING"),
        (A1, ("b", None), B, A2),
    ),
    (
        "CREATE FIRSTCHILD OF Environment IDENTITY (Name)u:x",
        lambda e: create_identity(e, "FIRSTCHILD", step("x", "u", ((KIND, NAME),))),
        (("{u}x", None), A1, B, A2),
    ),
]


@pytest.mark.parametrize(("esql", "does", "expected"), CREATES, ids=[row[0] for row in CREATES])
def test_create_puts_a_new_field_in_its_place(
    esql: str, does: Callable[[Element], object], expected: tuple[Shape, ...]
) -> None:
    """Whatever is there already, and whether the tree was built or is shared by a copy."""
    built, shared = build(BEFORE), copy(read_only(build(BEFORE)))
    does(built)
    does(shared)
    assert (shape(built), shape(shared)) == (("Environment", None, *expected), ("Environment", None, *expected))


@pytest.mark.parametrize("placement", ["NEXTSIBLING", "PREVIOUSSIBLING"])
def test_nothing_can_be_created_beside_the_top_of_a_tree(placement: str) -> None:
    """A tree has no siblings."""
    with pytest.raises(BrokerError, match="Environment is the top of a tree"):
        create(build(BEFORE), placement, "x")


@pytest.mark.parametrize("placement", ["FIRSTCHILD", "LASTCHILD", "NEXTSIBLING", "PREVIOUSSIBLING"])
def test_nothing_can_be_created_in_an_input_tree(placement: str) -> None:
    """The kernel refuses, and the tree stays as it was."""
    view = read_only(build(BEFORE))
    with pytest.raises(BrokerError, match="BIP2556"):
        create(found(view, "b"), placement, "x")
    assert shape(view) == BEFORE


def test_a_domain_owns_what_is_created_below_it() -> None:
    """CREATE LASTCHILD OF Environment DOMAIN 'XMLNSC' NAME 'x': what is set below it belongs to XMLNSC."""
    environment = Element("Environment")
    made = create(environment, "LASTCHILD", "x")
    set_domain(Invocation(), made, "XMLNSC")
    set_scalar(ensure(made, "Order", attribute("id")), 7)
    set_scalar(ensure(made, "Order", "Item"), "pen")
    assert parser_catalog.find("XMLNSC").write(made, Form()) == b'<Order id="7"><Item>pen</Item></Order>'
    unnamed = create(environment, "LASTCHILD", None)
    set_domain(Invocation(), unnamed, "BLOB")
    assert (unnamed.name, unnamed.owner.name) == ("BLOB", "BLOB")


def test_domains_that_no_parser_has_are_refused() -> None:
    """With a suggestion where one is close; NULL is of the wrong type."""
    with pytest.raises(ParserException, match="did you mean XMLNS"):
        set_domain(Invocation(), Element("x"), "XMLNCS")
    with pytest.raises(ValueFailure, match="BIP2420"):
        set_domain(Invocation(), Element("x"), None)


# MOVE, over a = 1, b = (c = 2), a = 3, as built, shared and read

DOCUMENT = b"<Environment><a>1</a><b><c>2</c></b><a>3</a></Environment>"
TREES: dict[str, Callable[[], Element]] = {
    "built": lambda: build(BEFORE),
    "shared": lambda: read_only(build(BEFORE)),
    "XMLNSC": lambda: found(received("XMLNSC", DOCUMENT), "XMLNSC", "Environment"),
}
MOVES: list[tuple[str, tuple[int, ...], Callable[[Element], Element | None], tuple[int, ...] | None]] = [
    ("MOVE r FIRSTCHILD", (), lambda r: move(r, "FIRSTCHILD"), (0,)),
    ("MOVE r LASTCHILD", (), lambda r: move(r, "LASTCHILD"), (2,)),
    ("MOVE r NEXTSIBLING", (0,), lambda r: move(r, "NEXTSIBLING"), (1,)),
    ("MOVE r NEXTSIBLING", (2,), lambda r: move(r, "NEXTSIBLING"), None),
    ("MOVE r PREVIOUSSIBLING", (1,), lambda r: move(r, "PREVIOUSSIBLING"), (0,)),
    ("MOVE r PREVIOUSSIBLING", (0,), lambda r: move(r, "PREVIOUSSIBLING"), None),
    ("MOVE r PARENT", (1, 0), lambda r: move(r, "PARENT"), (1,)),
    ("MOVE r FIRSTCHILD", (0,), lambda r: move(r, "FIRSTCHILD"), None),
    ("MOVE r FIRSTCHILD NAME 'b'", (), lambda r: move(r, "FIRSTCHILD", step("b")), (1,)),
    ("MOVE r FIRSTCHILD NAME 'z'", (), lambda r: move(r, "FIRSTCHILD", step("z")), None),
    ("MOVE r LASTCHILD NAME 'a'", (), lambda r: move(r, "LASTCHILD", step("a")), (2,)),
    ("MOVE r LASTCHILD NAME 'z'", (), lambda r: move(r, "LASTCHILD", step("z")), None),
    ("MOVE r NEXTSIBLING NAME 'a'", (0,), lambda r: move(r, "NEXTSIBLING", step("a")), (2,)),
    ("MOVE r NEXTSIBLING NAME 'a'", (2,), lambda r: move(r, "NEXTSIBLING", step("a")), None),
    ("MOVE r PREVIOUSSIBLING NAME 'a'", (2,), lambda r: move(r, "PREVIOUSSIBLING", step("a")), (0,)),
    (
        "MOVE r FIRSTCHILD TYPE Name",
        (),
        lambda r: move(r, "FIRSTCHILD", step(None, None, ((KIND, NAME),))),
        (1,),
    ),
    ("MOVE r NEXTSIBLING NAMESPACE 'u' NAME 'a'", (0,), lambda r: move(r, "NEXTSIBLING", step("a", "u")), None),
    ("MOVE r NEXTSIBLING NAMESPACE * NAME 'a'", (0,), lambda r: move(r, "NEXTSIBLING", step("a", None)), (2,)),
    ("MOVE r NEXTSIBLING REPEAT NAME", (0,), lambda r: move_repeat(r, "NEXTSIBLING", False, True), (2,)),
    ("MOVE r NEXTSIBLING REPEAT TYPE", (0,), lambda r: move_repeat(r, "NEXTSIBLING", True, False), (2,)),
    ("MOVE r NEXTSIBLING REPEAT TYPE NAME", (0,), lambda r: move_repeat(r, "NEXTSIBLING", True, True), (2,)),
    ("MOVE r NEXTSIBLING REPEAT TYPE NAME", (1,), lambda r: move_repeat(r, "NEXTSIBLING", True, True), None),
    ("MOVE r PREVIOUSSIBLING REPEAT NAME", (2,), lambda r: move_repeat(r, "PREVIOUSSIBLING", False, True), (0,)),
]


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize(("esql", "start", "does", "expected"), MOVES, ids=[f"{row[0]} {row[1]}" for row in MOVES])
def test_move_leads_to_the_next_field_that_fits_or_nowhere(
    esql: str,
    start: tuple[int, ...],
    does: Callable[[Element], Element | None],
    expected: tuple[int, ...] | None,
    kind: str,
) -> None:
    """Fields that do not fit are passed over; a failed move answers None, and the reference stays."""
    top = TREES[kind]()
    led = does(_place(top, start))
    assert led is (None if expected is None else _place(top, expected))


def _place(at: Element, way: tuple[int, ...]) -> Element:
    for number in way:
        at = list(at)[number]
    return at


def test_the_top_of_a_tree_has_no_parent_to_move_to() -> None:
    """MOVE r PARENT fails there."""
    assert move(build(BEFORE), "PARENT") is None
    assert move(found(build(BEFORE), "b"), "PARENT", step("x")) is None


# DETACH and ATTACH

ITEMS = (
    b"<Data><Order><Item>cheese<Type>stilton</Type></Item><Item>bread</Item></Order>"
    b"<Order><Item>garlic</Item><Item>wine</Item></Order></Data>"
)
PLACES = {
    "FIRSTCHILD": b"<O><I>c<T>s</T></I><I>g</I><I>w</I></O>",
    "LASTCHILD": b"<O><I>g</I><I>w</I><I>c<T>s</T></I></O>",
    "PREVIOUSSIBLING": b"<I>c<T>s</T></I><O><I>g</I><I>w</I></O>",
    "NEXTSIBLING": b"<O><I>g</I><I>w</I></O><I>c<T>s</T></I>",
}


def test_a_detached_item_is_attached_to_another_order() -> None:
    """The manual's example of ATTACH."""
    output = new_root()
    set_field(output, received("XML", ITEMS))
    data = found(output, "XML", "Data")
    item = found(data, "Order", "Item")
    detach(item)
    attach(item, _place(data, (1,)), "LASTCHILD")
    cheese = b"<Item>cheese<Type>stilton</Type></Item>"
    moved = ITEMS.replace(cheese, b"").replace(b"wine</Item>", b"wine</Item>" + cheese)
    assert body(output, "XML") == moved
    assert _place(data, (1, 2)) is item


@pytest.mark.parametrize("placement", PLACES)
@pytest.mark.parametrize("domain", ["XML", "XMLNS"])
def test_attach_puts_a_field_where_it_is_told(placement: str, domain: str) -> None:
    """Beside the target, or below it."""
    output = new_root()
    set_field(output, received(domain, b"<D><O><I>c<T>s</T></I><I>b</I></O><O><I>g</I><I>w</I></O></D>"))
    data = found(output, domain, "D")
    item = found(data, "O", "I")
    detach(item)
    attach(item, _place(data, (1,)), placement)
    assert body(output, domain) == b"<D><O><I>b</I></O>" + PLACES[placement] + b"</D>"


def test_a_field_can_be_attached_in_another_domain() -> None:
    """An attribute of XMLNSC becomes one of XML, and text the value of its field."""
    output = new_root()
    set_field(ensure(output, "XMLNSC"), received("XMLNSC", b'<a><b c="1"><d>2</d></b></a>').at("XMLNSC"))
    field = found(output, "XMLNSC", "a", "b")
    detach(field)
    assert field.owner is parser_catalog.find("XMLNSC")
    attach(field, ensure(output, "XML", "x"), "LASTCHILD")
    assert body(output, "XML") == b'<x><b c="1"><d>2</d></b></x>'
    detach(field)
    environment = Element("Environment")
    attach(field, environment, "LASTCHILD")
    assert field.owner is parser_catalog.find("XML")
    single = create(ensure(output, "XMLNSC", "a"), "LASTCHILD", "e", "", ATTRIBUTE)
    set_scalar(single, "f")
    detach(single)
    attach(single, field, "FIRSTCHILD")
    detach(field)
    attach(field, ensure(output, "XML", "x"), "LASTCHILD")
    assert body(output, "XML") == b'<x><b e="f" c="1"><d>2</d></b></x>'


REFUSED: list[tuple[str, Callable[[Element], object]]] = [
    ("DETACH Environment", detach),
    ("DETACH r; DETACH r", lambda e: [detach(one) for one in [found(e, "b")] * 2]),
    ("ATTACH r TO Environment AS LASTCHILD", lambda e: attach(found(e, "b"), e, "LASTCHILD")),
    ("ATTACH Environment TO Environment.b AS LASTCHILD", lambda e: attach(e, found(e, "b"), "LASTCHILD")),
    ("ATTACH Environment TO Environment.b AS NEXTSIBLING", lambda e: attach(e, found(e, "b"), "NEXTSIBLING")),
    ("ATTACH Environment TO Environment AS FIRSTCHILD", lambda e: attach(e, e, "FIRSTCHILD")),
    ("ATTACH r TO Environment AS NEXTSIBLING", lambda e: attach(Element("x"), e, "NEXTSIBLING")),
    ("ATTACH r TO InputRoot.b AS LASTCHILD", lambda e: attach(Element("x"), found(read_only(e), "b"), "LASTCHILD")),
    ("ATTACH InputRoot TO Environment AS LASTCHILD", lambda e: attach(read_only(build(BEFORE)), e, "LASTCHILD")),
    ("DETACH InputRoot.b", lambda e: detach(found(read_only(e), "b"))),
]


@pytest.mark.parametrize(("esql", "does"), REFUSED, ids=[row[0] for row in REFUSED])
def test_fields_are_not_torn_out_or_put_where_they_cannot_be(esql: str, does: Callable[[Element], object]) -> None:
    """Only what is detached can be attached, not into itself, and input trees stay as they are."""
    built = build(BEFORE)
    with pytest.raises(BrokerError):
        does(built)


def test_a_refused_attach_leaves_the_field_as_it_was() -> None:
    """It keeps its domain, and can be attached elsewhere."""
    output = new_root()
    set_field(output, received("XMLNSC", DOCUMENT))
    field = found(output, "XMLNSC", "Environment", "b")
    detach(field)
    with pytest.raises(BrokerError, match="put into itself"):
        attach(field, found(field, "c"), "LASTCHILD")
    assert (field.owner.name, field.parent) == ("XMLNSC", None)
    attach(field, found(output, "XMLNSC", "Environment"), "FIRSTCHILD")
    assert body(output, "XMLNSC") == b"<Environment><b><c>2</c></b><a>1</a><a>3</a></Environment>"


def test_a_reference_to_a_deleted_field_can_still_be_moved() -> None:
    """It goes through what is below the field, and finds nothing beside or above it."""
    top = build(BEFORE)
    held = found(top, "b")
    delete(held)
    assert [move(held, way) for way in ("NEXTSIBLING", "PREVIOUSSIBLING", "PARENT")] == [None] * 3
    assert move(held, "FIRSTCHILD") is held.at("c")


def test_a_deleted_field_can_still_be_copied() -> None:
    """It still belongs to its parser, so that attributes stay attributes in another domain."""
    output = new_root()
    set_field(output, received("XMLNSC", b'<a><b c="1">d</b></a>'))
    held = found(output, "XMLNSC", "a", "b")
    delete(held)
    set_field(ensure(output, "XML", "x"), held)
    assert body(output, "XML") == b'<x c="1">d</x>'
    attach(held, found(output, "XMLNSC", "a"), "LASTCHILD")
    assert body(output, "XMLNSC") == b'<a><b c="1">d</b></a>'
