"""Field and list functions: what a place in a message tree is, its bytes, the number of fields and the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from engine.descriptor import LITTLE_ENDIAN, UTF_8
from engine.errors import ParserException
from engine.message.validation import Action, Validation, validate
from engine.message.writer import write_part
from engine.parser import Form, Parser, Template
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import step
from esql.functions import Nullable, function
from esql.functions.arguments import character, integer
from esql.values.types import Value

ROOT: Final = 0
FOLDER: Final = 1
EMBEDDED: Final = 2
FORM_OF_BITS: Final = 3

# The words that stand for options of ASBITSTREAM and PARSE, to be joined by BITOR.
BIT_STREAM_OPTIONS: Final[Mapping[str, int]] = {
    "RootBitStream": ROOT,
    "FolderBitStream": FOLDER,
    "EmbeddedBitStream": EMBEDDED,
    "ValidateNone": 0,
    "ValidateContent": 1 << 4,
    "ValidateValue": 1 << 5,
    "ValidateContentAndValue": 3 << 4,
    "ValidateException": 0,
    "ValidateExceptionList": 1 << 8,
    "ValidateLocalError": 1 << 9,
    "ValidateUserTrace": 1 << 10,
    "ValidateDeferred": 0,
    "ValidateImmediate": 1 << 12,
    "ValidateComplete": 1 << 13,
    "ValidateFullConstraints": 0,
    "ValidateBasicConstraints": 1 << 16,
    **dict.fromkeys(("ValidateFullFixUp", "ValidateFixUpFull", "ValidateBestFixUp", "ValidateNoFixUp"), 0),
}


_VALIDATION: Final = 3 << 4
_CONTENT: Final = 1 << 4
_ACTIONS: Final[tuple[tuple[int, Action], ...]] = (
    (1 << 8, "exceptionList"),
    (1 << 9, "localErrorLog"),
    (1 << 10, "userTrace"),
)
_CANNOT_VALIDATE: Final = 5010
# These validate by a model, which must be there; for all other domains IBM has no validation.
_VALIDATING: Final = frozenset(("XMLNSC", "MRM", "IDOC", "SOAP", "DFDL", "DataObject"))


def validation_of(owner: Parser, options: int) -> Validation:
    """Returns what the options ask to be validated; raises where a parser would have to, and cannot."""
    if not options & _VALIDATION:
        return Validation()
    if owner.name in _VALIDATING and not owner.has_models:
        text = f"{owner.name} has no schema to validate by: leave out ValidateContent and ValidateContentAndValue"
        raise ParserException(_CANNOT_VALIDATE, text, owner.name)
    action: Action = next((action for bit, action in _ACTIONS if options & bit), "exception")
    return Validation("content" if options & _VALIDATION == _CONTENT else "contentAndValue", action)


class Reference(Protocol):
    """A reference variable, as far as functions ask: whether its last move, or its declaration, found its target."""

    @property
    def moved(self) -> bool:
        """Returns whether it did."""
        ...


@function("FIELDNAME")
def field_name(field: Element) -> str:
    """The name of a field; NULL where there is no such field.

    `FIELDNAME(Environment.Order) = 'Order'`
    `FIELDNAME(Environment.Order.*[1]) = 'Id'`
    `FIELDNAME(Environment.Missing) IS NULL`
    """
    return field.name


@function("FIELDNAMESPACE")
def field_namespace(field: Element) -> str:
    """The namespace of a field, empty where it has none.

    `FIELDNAMESPACE(Environment.Order) = ''`
    `FIELDNAMESPACE(Environment.Order.*:Note) = 'urn:notes'`
    `FIELDNAMESPACE(Environment.Missing) IS NULL`
    """
    return field.namespace


@function("FIELDTYPE")
def field_type(field: Element) -> int:
    """The type of a field, as its domain numbers them.

    `FIELDTYPE(Environment.Order) = 0x01000000`
    `FIELDTYPE(Environment.Order.Id) = 0x03000000`
    `FIELDTYPE(Environment.Missing) IS NULL`
    """
    return field.type


@function("FIELDVALUE")
def field_value(field: Element) -> Value:
    """The value of a field by itself, without what is below it.

    `FIELDVALUE(Environment.Order.Id) = 7`
    `FIELDVALUE(Environment.Order) IS NULL`
    `FIELDVALUE(Environment.Missing) IS NULL`
    """
    return field.value


@function("SAMEFIELD")
def same_field(first: Element | None, second: Element | None) -> bool:
    """Returns whether two references lead to the same field.

    `SAMEFIELD(Environment.Order, Environment.*[1])`
    `SAMEFIELD(Environment.Order.Item[1], Environment.Order.Item[2]) = FALSE`
    `SAMEFIELD(Environment.Order, Environment.Missing) = FALSE`
    """
    return first is not None and first is second


@function("LASTMOVE")
def last_move(reference: Reference) -> bool:
    """Returns whether the last MOVE of a reference variable, or its declaration, found its target.

    `LASTMOVE(found)`
    `LASTMOVE(lost) = FALSE`
    """
    return reference.moved


@function("ASBITSTREAM", form=True)
def as_bitstream(
    field: Element,
    *,
    options: Nullable = None,
    encoding: Nullable = None,
    ccsid: Nullable = None,
    template: tuple[Nullable, Nullable, Nullable] = (None, None, None),
) -> bytes:
    """The bytes that the parser of a field writes for it.

    Form: ASBITSTREAM(field OPTIONS options ENCODING encoding CCSID ccsid SET set TYPE type FORMAT format); `template`
    holds set, type and format. What is NULL is as if it was not said. RootBitStream, the default, takes the field for
    the top of a message; FolderBitStream takes it for the one field in it. EmbeddedBitStream has the folders in front
    of the field say what the clauses do not. What came in these bytes and has not been changed is not written anew.

    `ASBITSTREAM(InputRoot.BLOB) = X'4a4b'`
    `ASBITSTREAM(InputRoot.BLOB OPTIONS 0 ENCODING 546 CCSID 1208) = X'4a4b'`
    `ASBITSTREAM(InputRoot.BLOB OPTIONS 48) = X'4a4b'`
    `ASBITSTREAM(InputRoot.BLOB CCSID '1208') fails S42804`
    `ASBITSTREAM(Environment.Order) fails`
    `ASBITSTREAM(Environment.Missing) IS NULL`
    """
    owner = field.owner
    if not isinstance(owner, Parser):
        text = f"no parser owns {field.name}, so it has no bytes: CREATE it with a DOMAIN, or copy it to OutputRoot"
        raise ParserException(5010, text, field.name)
    said = _number("options", options)
    kind = said & FORM_OF_BITS
    announced = _announced(field) if kind == EMBEDDED else Form()
    words = (_word(part) or known for part, known in zip(template, announced.template[1:], strict=True))
    form = Form(
        encoding=_number("encoding", encoding) or announced.encoding,
        ccsid=_number("CCSID", ccsid) or announced.ccsid,
        template=Template(owner.name, *words),
    )
    written = _wrapped(field, owner) if kind == FOLDER and not _is_top(field, owner) else field
    validate(owner, written, form.template, validation_of(owner, said))
    return owner.write(written, form) if kind == FOLDER else write_part(written, form)


def _announced(field: Element) -> Form:
    """The form that the folders in front of a field announce, the nearest first; a header may leave it to another."""
    numbers = {"Encoding": 0, "CodedCharSetId": 0}
    words: tuple[str, ...] = ("", "", "")
    before = field.previous_sibling
    while before is not None and isinstance(before.domain, Parser):
        for name, known in numbers.items():
            said = _said(before, name)
            if not known and type(said) is int and said > 0:
                numbers[name] = said
        if before.name == "Properties":
            words = tuple(_word(_said(before, name)) for name in ("MessageSet", "MessageType", "MessageFormat"))
        before = before.previous_sibling
    encoding, ccsid = numbers.values()
    return Form(encoding or LITTLE_ENDIAN, ccsid or UTF_8, Template("", *words))


def _said(folder: Element, name: str) -> Value:
    field = folder.child(step(name))
    return None if field is None else field.value


def _is_top(field: Element, owner: Any) -> bool:
    """Returns True for a field that stands for a whole message: one with a parser of its own, or in no tree of it."""
    return field.domain is not None or field.parent is None or field.parent.owner is not owner


def _wrapped(field: Element, owner: Any) -> Element:
    """A top that has a copy of the field as its only child."""
    top = Element(owner.name)
    top.domain = owner
    top.append(copy(field))
    return top


def _number(parameter: str, value: Value) -> int:
    return 0 if value is None else integer("ASBITSTREAM", value, parameter)


def _word(value: Value) -> str:
    return "" if value is None else character("ASBITSTREAM", value, "set, type and format")


@function("BITSTREAM")
def bitstream(field: Element) -> bytes:
    """The bytes of a field as its message has them; the older form of ASBITSTREAM with EmbeddedBitStream.

    `BITSTREAM(InputRoot.BLOB) = X'4a4b'`
    `BITSTREAM(Environment.Missing) IS NULL`
    """
    return as_bitstream(field, options=EMBEDDED)


@function("CARDINALITY")
def cardinality(items: Sequence[Value]) -> int:
    """Returns how many elements a list has.

    `CARDINALITY(Environment.Order.Item[]) = 3`
    `CARDINALITY(Environment.Order.Missing[]) = 0`
    `CARDINALITY(Environment.Order.*[]) = 5`
    """
    return len(items)


@function("EXISTS")
def exists(items: Sequence[Value]) -> bool:
    """Returns whether a list has elements.

    `EXISTS(Environment.Order.Item[])`
    `EXISTS(Environment.Order.Missing[]) = FALSE`
    """
    return len(items) > 0


@function("SINGULAR")
def singular(items: Sequence[Value]) -> bool:
    """Returns whether a list has exactly one element.

    `SINGULAR(Environment.Order.Id[])`
    `SINGULAR(Environment.Order.Item[]) = FALSE`
    `SINGULAR(Environment.Order.Missing[]) = FALSE`
    """
    return len(items) == 1


@function("THE")
def the(items: Sequence[Value] | None) -> Value:
    """The first element of a list; NULL where there is none.

    `THE(Environment.Order.Item[]) = 'pen'`
    `THE(Environment.Order.Missing[]) IS NULL`
    """
    return items[0] if items else None
