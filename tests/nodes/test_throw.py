"""Throw: the exception that its properties make."""

from __future__ import annotations

import pytest

from engine.errors import BrokerError, Place, UserException
from engine.node import build, node_catalog
from tests.nodes.bench import carried, message_of

NOTHING_SAID = "an exception was thrown by a Throw node without messageText"
EXCEPTIONS: list[tuple[dict[str, object], dict[str, object]]] = [
    ({}, {"Number": 3001, "Text": NOTHING_SAID, "Catalog": "BIPmsgs", "Severity": 1}),
    ({"messageText": "too dear"}, {"Number": 3001, "Text": "too dear", "Catalog": "BIPmsgs"}),
    ({"messageNumber": 3049}, {"Number": 3049, "Catalog": "BIPmsgs"}),
    ({"messageCatalog": "SHOP", "messageNumber": 3}, {"Number": 3, "Catalog": "SHOP"}),
]


@pytest.mark.parametrize(("properties", "expected"), EXCEPTIONS)
def test_the_exception(properties: dict[str, object], expected: dict[str, object]) -> None:
    """The UserException has the number, the text, the catalogue, the text as an insert, and its node's place."""
    error = carried("Throw", message_of(), properties=properties).error
    assert isinstance(error, UserException)
    assert error.place == Place("F", "N", type="ComIbmThrowNode")
    listed = message_of().failed(error).exceptions.at("RecoverableException", "UserException")
    assert listed is not None
    fields = {field.name: field.value for field in listed}
    assert expected == {name: fields[name] for name in expected}
    insert = listed.at("Insert", "Text")
    assert insert is not None
    assert properties.get("messageText", "") == insert.value


NUMBERS = [("", 3000, False), ("", 3001, True), ("", 3049, True), ("", 3050, False), ("SHOP", 3050, True)]


@pytest.mark.parametrize(("catalog", "number", "fits"), NUMBERS)
def test_numbers(catalog: str, number: int, fits: bool) -> None:
    """A number that the product uses for something else is refused at deploy."""
    values: dict[str, object] = {"messageCatalog": catalog, "messageNumber": number}
    if fits:
        build(node_catalog.find("Throw"), values)
        return
    with pytest.raises(BrokerError, match=f"messageNumber is from 3001 to 3049, not {number}: or name a messageCat"):
        build(node_catalog.find("Throw"), values)
