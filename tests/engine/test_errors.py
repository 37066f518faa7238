"""Errors: how they read, where they say they happened, and the ExceptionList that flows see of them."""

from __future__ import annotations

import doctest
import itertools

import pytest

import engine.errors
import engine.message.assembly
from engine.errors import (
    NOWHERE,
    BrokerError,
    ConfigurationException,
    ConversionException,
    Insert,
    MessageException,
    ParserException,
    Place,
    Problem,
    UserException,
)
from engine.message.assembly import Message, exception_list
from engine.message.received import new_root
from engine.tree.element import Element

PLACES = [
    (NOWHERE, ""),
    (Place(flow="F"), "F"),
    (Place(node="In"), "In"),
    (Place("F", "In"), "F.In"),
    (Place(file="a.esql"), "a.esql"),
    (Place("F", "In", "a.esql", 3), "a.esql:3"),
    (Place(file="a.esql", line=3, column=29), "a.esql:3:29"),
]


@pytest.mark.parametrize(("place", "text"), PLACES, ids=[text for _, text in PLACES])
def test_a_place_reads_as_compilers_print_it(place: Place, text: str) -> None:
    """A place is its file with line and column, or else its flow and node."""
    assert text == str(place)
    assert str(BrokerError(42, "it failed", place=place)) == (
        f"BIP0042 {text}: it failed" if text else "BIP0042: it failed"
    )


def test_an_inner_place_stays() -> None:
    """What the innermost part has said of the place stays; what it has not said is filled in."""
    error = BrokerError(2450, "divide by zero").at(Place(file="a.esql", line=3))
    assert error.at(Place("F", "Compute", "b.esql", 9, 7, "ComIbmComputeNode")) is error
    assert error.place == Place("F", "Compute", "a.esql", 3, 7, "ComIbmComputeNode")


def test_a_problem_shows_its_line() -> None:
    """A problem is rendered with its source line and a marker as wide as what is wrong, tabs kept."""
    problem = Problem("a.esql", 3, 3, 2420, "no function called SUBSTRNG", "\t\tSUBSTRNG(x)", 8)
    assert problem.render() == (
        "BIP2420 a.esql:3:3: no function called SUBSTRNG\n    \t\tSUBSTRNG(x)\n    \t\t^^^^^^^^"
    )
    assert Problem("a.yaml", 1, 0, 2066, "empty").render() == "BIP2066 a.yaml:1: empty"
    assert Problem("a.yaml", 1, 0, 2066, "empty", "x", 0).render().endswith("\n    x\n    ^")


def test_problems_sort_by_place() -> None:
    """Problems are ordered by file, line and column."""
    problems = [Problem("b", 1, 1, 1, "x"), Problem("a", 10, 1, 1, "x"), Problem("a", 9, 5, 1, "x")]
    assert [(p.file, p.line) for p in sorted(problems)] == [("a", 9), ("a", 10), ("b", 1)]


FIELDS = ("File", "Line", "Function", "Type", "Name", "Label", "Text", "Catalog", "Severity", "Number")


def links(error: BaseException) -> list[Element]:
    """The exceptions of a list from the outermost in; each is the last child of the one before."""
    found, at = [], exception_list(error).last_child
    while at is not None and at.name.endswith("Exception"):
        found.append(at)
        at = at.last_child
    return found


def numbers(error: BaseException) -> list[tuple[str, object]]:
    return [(link.name, link.at("Number").value) for link in links(error)]  # type: ignore[union-attr]  # it is there


def chained(*errors: BaseException) -> BaseException:
    for outer, inner in itertools.pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


def test_fields_stand_in_the_product_s_order() -> None:
    """Each exception has IBM's fields in IBM's order, then its inserts, then the exception that caused it."""
    place = Place("F", "Compute", "a.esql", 3, 29, "ComIbmComputeNode")
    inner = ParserException(5004, "bad", Insert("1502", 2), "line 2", place=place)
    outer, middle, last = links(chained(BrokerError(5009, "errors", place=place, severity=1), inner))
    assert [child.name for child in middle] == [*FIELDS, "ParserException"]
    assert [child.name for child in last] == [*FIELDS, "Insert", "Insert"]
    assert [child.value for child in middle][:-1] == [
        "a.esql", 3, "evaluate", "ComIbmComputeNode", "F.Compute", "F.Compute", "errors", "BIPmsgs", 1, 5009,
    ]  # fmt: skip
    assert [[child.value for child in insert] for insert in list(last)[-2:]] == [[2, "1502"], [5, "line 2"]]
    assert [child.value for child in outer][6:10] == ["Node throwing exception", "BIPmsgs", 3, 2230]


LISTS = [
    (BrokerError(2450, "x"), [("RecoverableException", 2230), ("RecoverableException", 2450)]),
    (BrokerError(2230, "x"), [("RecoverableException", 2230)]),
    (UserException(2951, "x", severity=1), [("RecoverableException", 2230), ("UserException", 2951)]),
    (MessageException(2620, "x", reason=2053), [("RecoverableException", 2230), ("MessageException", 2620)]),
    (ConversionException(2136, "x"), [("RecoverableException", 2230), ("ConversionException", 2136)]),
    (ConfigurationException("x"), [("RecoverableException", 2230), ("ConfigurationException", 2066)]),
    (ValueError("x"), [("RecoverableException", 2230)]),
    (
        chained(BrokerError(2230, "a"), KeyError("between"), ParserException(5009, "b"), ParserException(5004, "c")),
        [("RecoverableException", 2230), ("ParserException", 5009), ("ParserException", 5004)],
    ),
]


@pytest.mark.parametrize(("error", "expected"), LISTS, ids=[repr(error) for error, _ in LISTS])
def test_causes_are_nested(error: BaseException, expected: list[tuple[str, int]]) -> None:
    """The list starts with a node that threw, and goes down to the first cause; what is no broker error is left out."""
    assert expected == numbers(error)


def test_the_nodes_that_an_error_passed_come_first() -> None:
    """Each node that an error went through wraps it once more, the outermost first; none does without a failure."""
    error = BrokerError(2450, "divide by zero")
    assert "passed" not in vars(error)
    for node in ("Compute", "Filter", "In"):
        error.through(Place("F", node, type=f"ComIbm{node}Node"))
    labels = [(link.at("Label").value, link.at("Type").value) for link in links(error)]  # type: ignore[union-attr]
    assert labels == [
        ("F.In", "ComIbmInNode"),
        ("F.Filter", "ComIbmFilterNode"),
        ("F.Compute", "ComIbmComputeNode"),
        ("", ""),
    ]
    inserts = [link.at("Insert", "Text") for link in links(error)]
    assert [insert and insert.value for insert in inserts] == ["F.In", "F.Filter", "F.Compute", None]


def test_a_chain_that_comes_back_ends() -> None:
    """Errors that name each other as causes make a list all the same."""
    first, second = BrokerError(2230, "a"), BrokerError(2450, "b")
    first.__cause__, second.__cause__ = second, first
    assert [number for _, number in numbers(first)] == [2230, 2450]


def test_a_failed_message_carries_the_list() -> None:
    """A message that failed is the same message with the error's ExceptionList, which cannot be changed."""
    message = Message(new_root())
    failed = message.failed(BrokerError(2450, "divide by zero"))
    assert failed.root is message.root
    assert failed.environment is message.environment
    assert message.exceptions.first_child is None
    number = failed.exceptions.at("RecoverableException", "RecoverableException", "Number")
    assert number is not None
    assert number.value == 2450
    with pytest.raises(BrokerError, match="input tree"):
        failed.exceptions.add("more")


@pytest.mark.parametrize("module", [engine.errors, engine.message.assembly], ids=["errors", "exceptions"])
def test_the_examples_run(module: object) -> None:
    """What the modules show is what they do."""
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]  # a module
