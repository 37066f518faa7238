"""SELECT: each row of a table says it in ESQL, and has the loops that emitted code has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from engine.message.received import new_root
from engine.tree.element import Element
from engine.tree.step import Step, step
from esql.functions.field import the
from esql.operators.comparison import equal, greater
from esql.operators.numeric_and_string import multiply
from esql.runtime.program_library import add_all, add_column, add_named, count, maximum, minimum, new_row, total
from esql.trees.assignments import set_field, set_list
from esql.values.errors import ValueFailure
from esql.values.types import Interval, qualifier
from tests.esql.test_trees import ATTRIBUTE, Shape, attribute, body, build, ensure, found, received, shape

SHOP: Shape = (
    "Environment",
    None,
    ("Item", None, ("Name", "pen"), ("Price", 3), ("Pack", None, ("Of", 2))),
    ("Item", None, ("Name", "ink"), ("Price", 5)),
    ("Item", None, ("Name", "cap")),
    ("Tax", None, ("Name", "ink"), ("Rate", 2)),
    ("Tax", None, ("Name", "pen"), ("Rate", 4)),
    ("Tag", "a"),
    ("Tag", "b"),
)
ITEM, TAX, TAG, NAME, PRICE, RATE = (step(name) for name in ("Item", "Tax", "Tag", "Name", "Price", "Rate"))


def select(
    make: Callable[..., object], *sources: Iterable[Any], where: Callable[..., object] | None = None
) -> list[object]:
    """Rows as emitted code makes them: a loop for each list of FROM, the first outermost."""
    rows: list[object] = []
    for items in _combined(sources):
        if where is None or where(*items) is True:
            row = new_row()
            make(row, *items)
            rows.append(row)
    return rows


def _combined(sources: Iterable[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    first, *others = sources
    for item in first:
        if others:
            yield from ((item, *rest) for rest in _combined(others))
        else:
            yield (item,)


def value(item: Element, wanted: Step) -> Any:
    """The value of a child, NULL where there is none."""
    at = item.child(wanted)
    return None if at is None else at.value


SELECTS: list[tuple[str, Callable[[Element], list[object]], list[Shape]]] = [
    (
        "SELECT I.Name, I.Price FROM Environment.Item[] AS I",
        lambda e: select(
            lambda r, i: (add_named(r, "Name", i.child(NAME)), add_named(r, "Price", i.child(PRICE))), e.every(ITEM)
        ),
        [
            ("", None, ("Name", "pen"), ("Price", 3)),
            ("", None, ("Name", "ink"), ("Price", 5)),
            ("", None, ("Name", "cap")),
        ],
    ),
    (
        "SELECT I.Price * 2 AS Twice FROM Environment.Item[] AS I WHERE I.Price > 3",
        lambda e: select(
            lambda r, i: add_column(r, (step("Twice"),), multiply(value(i, PRICE), 2)),
            e.every(ITEM),
            where=lambda i: greater(value(i, PRICE), 3),
        ),
        [("", None, ("Twice", 10))],
    ),
    (
        "SELECT I.Name AS A.B, I.Price AS A.C FROM Environment.Item[] AS I WHERE I.Name = 'pen'",
        lambda e: select(
            lambda r, i: (
                add_column(r, (step("A"), step("B")), i.child(NAME)),
                add_column(r, (step("A"), step("C")), i.child(PRICE)),
            ),
            e.every(ITEM),
            where=lambda i: equal(value(i, NAME), "pen"),
        ),
        [("", None, ("A", None, ("B", "pen"), ("C", 3)))],
    ),
    (
        "SELECT I.Name AS A[1], I.Price AS A[2] FROM Environment.Item[] AS I WHERE I.Price = 5",
        lambda e: select(
            lambda r, i: (
                add_column(r, ((step("A"), 1),), i.child(NAME)),
                add_column(r, ((step("A"), 2),), i.child(PRICE)),
            ),
            e.every(ITEM),
            where=lambda i: equal(value(i, PRICE), 5),
        ),
        [("", None, ("A", "ink"), ("A", 5))],
    ),
    (
        "SELECT * FROM Environment.Item[] AS I WHERE I.Price = 3",
        lambda e: select(add_all, e.every(ITEM), where=lambda i: equal(value(i, PRICE), 3)),
        [("", None, ("Name", "pen"), ("Price", 3), ("Pack", None, ("Of", 2)))],
    ),
    (
        "SELECT * FROM Environment.Tag[] AS T",
        lambda e: select(add_all, e.every(TAG)),
        [("", "a"), ("", "b")],
    ),
    (
        "SELECT * FROM LIST{1, 'x'} AS T",
        lambda e: select(add_all, [1, "x"]),
        [("", 1), ("", "x")],
    ),
    (
        "SELECT I.Pack AS P FROM Environment.Item[] AS I",
        lambda e: select(lambda r, i: add_column(r, (step("P"),), i.at("Pack")), e.every(ITEM)),
        [("", None, ("P", None, ("Of", 2))), ("", None), ("", None)],
    ),
    (
        "SELECT I.Price, T.Rate FROM Environment.Item[] AS I, Environment.Tax[] AS T WHERE I.Name = T.Name",
        lambda e: select(
            lambda r, i, t: (add_named(r, "Price", i.child(PRICE)), add_named(r, "Rate", t.child(RATE))),
            e.every(ITEM),
            e.every(TAX),
            where=lambda i, t: equal(value(i, NAME), value(t, NAME)),
        ),
        [("", None, ("Price", 3), ("Rate", 4)), ("", None, ("Price", 5), ("Rate", 2))],
    ),
    (
        "SELECT G AS G, T AS T FROM Environment.Tag[] AS G, Environment.Tag[] AS T",
        lambda e: select(
            lambda r, g, t: (add_column(r, (step("G"),), g), add_column(r, (step("T"),), t)), e.every(TAG), e.every(TAG)
        ),
        [("", None, ("G", one), ("T", other)) for one in "ab" for other in "ab"],
    ),
    (
        "SELECT T.Name, (SELECT I.Price FROM Environment.Item[] AS I WHERE I.Name = T.Name) AS At[] "
        "FROM Environment.Tax[] AS T",
        lambda e: select(
            lambda r, t: (
                add_named(r, "Name", t.child(NAME)),
                add_column(
                    r,
                    (step("At"),),
                    select(
                        lambda inner, i: add_named(inner, "Price", i.child(PRICE)),
                        e.every(ITEM),
                        where=lambda i: equal(value(i, NAME), value(t, NAME)),
                    ),
                ),
            ),
            e.every(TAX),
        ),
        [
            ("", None, ("Name", "ink"), ("At", None, ("Price", 5))),
            ("", None, ("Name", "pen"), ("At", None, ("Price", 3))),
        ],
    ),
    ("SELECT I.Name FROM Environment.None[] AS I", lambda e: select(add_all, e.every(step("None"))), []),
]


@pytest.mark.parametrize(("esql", "does", "expected"), SELECTS, ids=[row[0] for row in SELECTS])
def test_select_makes_a_row_of_each_combination_that_is_true(
    esql: str, does: Callable[[Element], list[object]], expected: list[Shape]
) -> None:
    """The rows stand alone, and what they were made of stays as it was."""
    shop = build(SHOP)
    rows = does(shop)
    assert [shape(row) for row in rows if isinstance(row, Element)] == expected
    target = Element("Environment")
    set_list(target, step("r"), rows)
    assert shape(target) == ("Environment", None, *(("r", *row[1:]) for row in expected))
    assert shape(shop) == SHOP


def test_rows_do_not_change_with_what_they_were_made_of() -> None:
    """A row is a copy."""
    shop = build(SHOP)
    rows = select(lambda r, i: add_column(r, (step("P"),), i), shop.every(ITEM))
    found(shop, "Item", "Name").value = "pot"
    assert value(rows[0].at("P"), NAME) == "pen"  # type: ignore[attr-defined]  # a row is an element


AGGREGATES: list[tuple[str, Callable[[list[Any]], object], list[Any], object]] = [
    ("COUNT(*)", count, [True, True, True], 3),
    ("COUNT(x)", count, [1, None, 3], 2),
    ("COUNT(x) of none", count, [], 0),
    ("SUM(x)", total, [1, None, 3], 4),
    ("SUM(x) of numbers of many types", total, [1, Decimal("2.5")], Decimal("3.5")),
    ("SUM(x) of intervals", total, [Interval(1, qualifier("MONTH"))] * 2, Interval(2, qualifier("MONTH"))),
    ("SUM(x) of NULLs", total, [None, None], None),
    ("SUM(x) of none", total, [], None),
    ("MAX(x)", maximum, [3, None, 11, 5], 11),
    ("MAX(x) of characters", maximum, ["9", "11"], "9"),
    ("MAX(x) of none", maximum, [], None),
    ("MIN(x)", minimum, [3, None, 11, 5], 3),
    ("MIN(x) of NULLs", minimum, [None], None),
    ("THE", the, [7, 8], 7),
    ("THE of none", the, [], None),
]


@pytest.mark.parametrize(("esql", "does", "values", "expected"), AGGREGATES, ids=[row[0] for row in AGGREGATES])
def test_aggregates_leave_out_nulls(
    esql: str, does: Callable[[list[Any]], object], values: list[Any], expected: object
) -> None:
    """COUNT of nothing is 0, any other aggregate NULL."""
    assert does(values) == expected


@pytest.mark.parametrize("values", [["1"], ["1", "2"], [True], [1, "2"]])
def test_sums_are_of_numbers(values: list[Any]) -> None:
    """A CHARACTER, as fields of XML are, has to be CAST first."""
    with pytest.raises(ValueFailure, match="BIP2420"):
        total(values)


# Documents: columns that are attributes, fields and folders of a message

INVOICE = (
    b'<Invoice><Item code="p"><Name>pen</Name><Price>3</Price></Item>'
    b'<Item code="i"><Name>ink</Name><Price>5</Price></Item></Invoice>'
)


def test_a_message_is_transformed_by_select() -> None:
    """SET OutputRoot.XMLNSC.Sale.Line[] = (SELECT I.Name AS (XMLNSC.Attribute)Name, I.Price AS Cost.Value, I ... )."""
    source, target = received("XMLNSC", INVOICE), new_root()
    rows = select(
        lambda r, i: (
            add_column(r, (attribute("Name"),), i.child(NAME)),
            add_column(r, (step("Cost"), step("Value")), i.child(PRICE)),
            add_named(r, "code", i.child(attribute("code"))),
        ),
        found(source, "XMLNSC", "Invoice").every(ITEM),
    )
    set_list(ensure(target, "XMLNSC", "Sale"), step("Line"), rows)
    assert body(target, "XMLNSC") == (
        b'<Sale><Line Name="pen" code="p"><Cost><Value>3</Value></Cost></Line>'
        b'<Line Name="ink" code="i"><Cost><Value>5</Value></Cost></Line></Sale>'
    )
    assert rows[0].first_child.type == ATTRIBUTE  # type: ignore[attr-defined]  # a row is an element


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_all_of_each_item_is_selected(domain: str) -> None:
    """SET OutputRoot.X.Invoice.Item[] = (SELECT * FROM InputRoot.X.Invoice.Item[] AS I): a copy, attributes and all."""
    source, target = received(domain, INVOICE), new_root()
    items = found(source, domain, "Invoice").every(ITEM)
    set_list(ensure(target, domain, "Invoice"), ITEM, select(add_all, items))
    assert body(target, domain) == INVOICE


def test_items_are_selected_as_they_are() -> None:
    """SET OutputRoot.XMLNSC.All.Item[] = (SELECT ITEM I FROM InputRoot.XMLNSC.Invoice.Item[] AS I)."""
    source, target = received("XMLNSC", INVOICE), new_root()
    set_list(ensure(target, "XMLNSC", "All"), ITEM, list(found(source, "XMLNSC", "Invoice").every(ITEM)))
    assert body(target, "XMLNSC") == INVOICE.replace(b"Invoice", b"All")


def test_the_first_row_is_assigned_to_a_field() -> None:
    """SET OutputRoot.XMLNSC.First = THE(SELECT I.Name, 1 AS Number FROM InputRoot.XMLNSC.Invoice.Item[] AS I)."""
    source, target = received("XMLNSC", INVOICE), new_root()
    rows = select(
        lambda r, i: (add_named(r, "Name", i.child(NAME)), add_column(r, (step("Number"),), 1)),
        found(source, "XMLNSC", "Invoice").every(ITEM),
    )
    first = the(rows)
    assert isinstance(first, Element)
    set_field(ensure(target, "XMLNSC", "First"), first)
    assert body(target, "XMLNSC") == b"<First><Name>pen</Name><Number>1</Number></First>"


def test_rows_of_a_database_are_rows_as_any() -> None:
    """FROM takes whatever can be iterated, such as a generator of rows."""
    rows = (build(("", None, ("ID", number), ("NAME", name))) for number, name in enumerate("ab"))
    result = select(add_all, rows)
    assert [shape(row) for row in result if isinstance(row, Element)] == [
        ("", None, ("ID", 0), ("NAME", "a")),
        ("", None, ("ID", 1), ("NAME", "b")),
    ]
