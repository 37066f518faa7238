"""PARSE and DOMAIN: trees from the bytes of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.descriptor import LITTLE_ENDIAN, UTF_8
from engine.errors import ParserException
from engine.message.received import Part
from engine.parser import (
    RETAIN_COMMENTS,
    RETAIN_INSTRUCTIONS,
    RETAIN_MIXED,
    Follow,
    Options,
    Parser,
    Portion,
    Template,
    format_catalog,
    parser_catalog,
)
from engine.tree.element import Element
from engine.tree.sharing import copy_into
from engine.tree.source import NAME, NAME_VALUE, Value
from esql.functions.field import BIT_STREAM_OPTIONS, FOLDER, FORM_OF_BITS, validation_of
from esql.trees.moves import path_of
from esql.values.errors import wrong_argument
from esql.values.literals import shown

if TYPE_CHECKING:
    from esql.runtime.invocation import Invocation

_NO_PARSER: Final = 5002
_IMMEDIATE: Final = BIT_STREAM_OPTIONS["ValidateImmediate"]
_COMPLETE: Final = BIT_STREAM_OPTIONS["ValidateComplete"]


class BitClauses(NamedTuple):
    """The clauses of PARSE about the bytes; NULL where one was not given."""

    options: Value = None
    encoding: Value = None
    ccsid: Value = None
    set: Value = None
    type: Value = None
    format: Value = None


def set_domain(here: Invocation, element: Element, value: Value) -> None:
    """`CREATE … DOMAIN value`: the field, and names below it, belong to that parser; without a name it takes its."""
    if type(value) is not str:
        raise wrong_argument("CREATE", "DOMAIN", "CHARACTER", shown(value))
    found = _parser(here, value)
    element.domain = found
    if not element.name:
        element.change(name=found.name)


def parse(here: Invocation, element: Element, domain: Value, bits: Value, *clauses: Value) -> None:
    """`CREATE … PARSE(bits …)`: the field becomes the top of what its parser reads there, once it is looked at.

    The clauses are those of BitClauses, in that order. Of a FolderBitStream the field becomes the one field in it.
    """
    if type(bits) is not bytes:
        raise wrong_argument("PARSE", "first argument", "BLOB", shown(bits))
    owner = _owner(element) if domain is None else _parser(here, str(domain))
    said = BitClauses(*clauses)
    options = _number("options", said.options)
    template = Template(owner.name, _word(said.set), _word(said.type), _word(said.format))
    encoding, ccsid = _number("encoding", said.encoding), _number("CCSID", said.ccsid)
    follow = Follow("", encoding or LITTLE_ENDIAN, ccsid or UTF_8, template)
    portion = Portion(bits, 0, len(bits), follow, template, _options(owner, options))
    read = top = Element(owner.name, "", NAME, Part(owner, portion))
    top.domain = owner
    _look_at(top, portion.options.timing)
    if options & FORM_OF_BITS == FOLDER:
        read = _folder(top)
    copy_into(element, read)
    element.domain = owner
    if not element.name:
        element.change(name=read.name, namespace=read.namespace)


def _options(owner: Parser, options: int) -> Options:
    """Returns what the options say of validation, and what of a document they keep beside its elements."""
    mixed, comments, instructions = (
        bool(options & bit) for bit in (RETAIN_MIXED, RETAIN_COMMENTS, RETAIN_INSTRUCTIONS)
    )
    wanted = validation_of(owner, options)
    return Options(
        validation=wanted.master,
        timing="complete" if options & _COMPLETE else "immediate" if options & _IMMEDIATE else "deferred",
        action=wanted.action,
        retain_mixed_content=mixed,
        retain_comments=comments,
        retain_processing_instructions=instructions,
    )


def _look_at(top: Element, timing: str) -> None:
    """Have it parsed now, all of it or as far as validation needs, where the options do not leave that for later."""
    if timing == "deferred":
        return
    _ = top.first_child
    pending = list(top) if timing == "complete" else []
    while pending:
        element = pending.pop()
        _ = element.value
        pending.extend(element)


def _folder(top: Element) -> Element:
    """The one field that a FolderBitStream holds: the first that is neither a declaration nor a comment."""
    plain = (child for child in top if child.type in {NAME, NAME_VALUE})
    return next(plain, top)


def _parser(here: Invocation, name: str) -> Parser:
    """The parser of a domain, or of the header that a format announces: IBM's examples name both."""
    found = here.parser(name) or format_catalog.get(name)
    if found is None:
        raise ParserException(
            _NO_PARSER, f"there is no parser for the domain {name}{parser_catalog.suggest(name)}", name
        )
    return found


def _owner(element: Element) -> Parser:
    owner: Any = element.owner
    if not isinstance(owner, Parser):
        raise ParserException(_NO_PARSER, f"no parser owns {path_of(element)}: CREATE it with a DOMAIN", element.name)
    return owner


def _word(value: Value) -> str:
    if value is None:
        return ""
    if type(value) is not str:
        raise wrong_argument("PARSE", "set, type and format", "CHARACTER", shown(value))
    return value


def _number(parameter: str, value: Value) -> int:
    if value is None:
        return 0
    if type(value) is not int:
        raise wrong_argument("PARSE", parameter, "INTEGER", shown(value))
    return value
