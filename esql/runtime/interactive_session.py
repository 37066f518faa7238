"""Programs and expressions that are tried over one message, alone or as the entries of a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.budget import spending
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from engine.message.received import Received
from engine.message.writer import write_message
from engine.parser import Template, parser_catalog
from engine.tree.dump import dump
from engine.tree.element import Element
from esql.compile import compile_expression, compile_sources, compile_text
from esql.names.predefined import STATEMENTS
from esql.runtime.activation import Surroundings
from esql.runtime.program import Compiled
from esql.text import SyntaxProblems
from esql.values.literals import to_literal
from esql.values.types import Value


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try: ESQL, and the message it is to see."""

    esql: str
    input: bytes | None = None
    domain: str = ""
    id: str = ""


def message_of(data: bytes | None, domain: str) -> Message:
    """A message with this body, or an empty one."""
    if data is None:
        return Message.received(Descriptor(), b"", template=Template("BLOB"))
    parser_catalog.find(domain or "BLOB")  # the program would be told of it, at its first look at the body
    return Message.received(Descriptor(), data, template=Template(domain or "BLOB"))


def value_of(case: Case, around: Surroundings | None = None) -> Value:
    """The value of an expression."""
    compiled = compile_expression(case.esql)
    here = compiled.activation(message_of(case.input, case.domain), around)
    with spending(here.around.limits.allowance):
        value: Value = compiled.returned(compiled.entrance(), here)
    return value


def evaluated(case: Case, around: Surroundings | None = None) -> str:
    """The value of an expression as an ESQL literal."""
    return told_value(value_of(case, around))


def told_value(value: object) -> str:
    """A value as an ESQL literal; a list or a row as what is in it."""
    if isinstance(value, list):
        return "LIST{" + ", ".join(told_value(item) for item in value) + "}"
    if isinstance(value, Element):
        inside = ", ".join(f"{told_value(child)} AS {child.name}" for child in value)
        return f"ROW({inside})" if inside else to_literal(value.value)
    return to_literal(value)


def outcomes(
    compiled: Compiled, message: Message, module: str = "", around: Surroundings | None = None
) -> Iterator[str]:
    """A line for each message that a module sends: `terminal|body`; a Filter only says which way."""
    entrance, given = compiled.entrance(module), Surroundings() if around is None else around
    with spending(given.limits.allowance):
        for terminal, sent in compiled.evaluate(message, given, module):
            if entrance.kind == "FILTER":
                yield f"terminal:{terminal}"
            else:
                yield f"{terminal}|{_body(sent).decode('utf-8', 'replace')}"


def _body(sent: Message) -> bytes:
    """The bytes of a message behind its headers."""
    descriptor, data = write_message(sent.root)
    return Received(descriptor, data).parts[-1].portion.bytes


def lines_of(case: Case, around: Surroundings | None = None) -> list[str]:
    """Returns what a whole module, or the text of a Compute node, sends for a message."""
    compiled = compile_sources([(case.id or "case.esql", case.esql)])
    return list(outcomes(compiled, message_of(case.input, case.domain), around=around))


def told(error: Exception) -> str:
    """An error, or the problems of a program, on one line."""
    if isinstance(error, SyntaxProblems):
        return "; ".join(str(one) for one in error.problems)
    return str(error)


class Session:
    """The trees of a conversation; variables last for one entry."""

    def __init__(self, body: bytes | None, domain: str, around: Surroundings | None = None) -> None:
        self._pending: list[str] = []
        self._length = 0  # of what is pending
        self._here = compile_text(";", "COMPUTE").activation(message_of(body, domain), around)

    def answer(self, line: str) -> Iterator[str]:
        """Yields the answers to a line; a statement goes on until a line ends it with its semicolon, or is empty."""
        is_last, longest = not line.strip(), self._here.around.limits.text
        self._length = len(line) if not self._pending else self._length + 1 + len(line)
        if self._length > longest:
            self._pending = []
            yield f"an entry has more than {longest} characters: end its statements, each by a semicolon"
            return
        goes_on = bool(self._pending) and not is_last and _goes_on(self._pending[0], line)
        self._pending.append(line)
        if goes_on:
            return
        entry = "\n".join(self._pending)
        if not entry.strip():
            self._pending = []
            return
        if entry.strip().upper() in {"OUTPUTROOT", "ENVIRONMENT"}:
            self._pending = []
            tree = self._here.output_root if entry.strip().upper() == "OUTPUTROOT" else self._here.environment
            yield dump(tree)
            return
        if _goes_on(entry, entry) and not is_last:
            return
        compiled = self._compiled(entry.rstrip(), is_last=is_last)
        if compiled is None:
            return
        self._pending = []
        if isinstance(compiled, SyntaxProblems):
            yield str(compiled)
            return
        yield from self._run(compiled, entry)

    def _compiled(self, entry: str, *, is_last: bool) -> Compiled | SyntaxProblems | None:
        try:
            if ";" not in entry and not _goes_on(entry, entry):
                return compile_expression(entry, "entry")
            return compile_text(entry, "COMPUTE", "entry")
        except SyntaxProblems as problems:
            is_whole = ";" not in entry or (entry.endswith(";") and not _lacks_its_end(entry, problems))
            return problems if is_last or is_whole else None

    def _run(self, compiled: Compiled, entry: str) -> Iterator[str]:
        here = self._here
        here.variables = [None] * compiled.places
        here.shared = [None] * compiled.places
        results = compiled.results(compiled.entrance(), here, goes_on=True)
        here.renew()
        try:
            while True:
                terminal, _ = next(results)
                yield f"-> {terminal}"
        except StopIteration as stop:
            if ";" not in entry:
                yield told_value(stop.value)
        except BrokerError as error:
            yield told(compiled.placed(error))


def _lacks_its_end(entry: str, problems: SyntaxProblems) -> bool:
    """Returns whether all that is wrong with an entry is that it ends too early."""
    lines = entry.split("\n")
    end = len(lines), len(lines[-1]) + 1
    return all((one.line, one.column) >= end for one in problems.problems)


def _goes_on(begin: str, end: str) -> bool:
    """Returns whether an entry that begins and ends so is a statement without its end."""
    first = re.match(r"\s*([A-Za-z]+)", begin)
    return first is not None and first[1].upper() in STATEMENTS - {"EVAL"} and not end.rstrip().endswith(";")
