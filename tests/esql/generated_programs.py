"""Programs made from a seed, run by the compiler and by a slow interpreter of statements beside the slow evaluator.

`attempt` runs one program and raises where the two do not agree; `generate` makes one.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from engine.errors import BrokerError, LimitExceeded
from engine.tree.element import Element
from engine.tree.step import step
from esql import syntax
from esql.cast import Target, assign
from esql.compile import compile_text
from esql.read import read_statements
from esql.runtime.activation import Surroundings
from esql.runtime.interactive_session import message_of
from esql.runtime.limits import Limits
from esql.runtime.program_library import a_name, index
from esql.text import SyntaxProblems
from esql.values.types import type_of
from tests.esql.evaluator import Scope, elements, evaluate, sample
from tests.esql.lists import ORACLE

BODY: Final = b"<doc><k>one</k><k>two</k><n>3</n><e><k>deep</k></e></doc>"
LIMITS: Final = Limits(turns=3000, nodes=20_000, string=100_000, cpu=5, memory=300_000_000)
HEAD: Final = """DECLARE i INTEGER 1; DECLARE j INTEGER; DECLARE s CHARACTER 'k'; DECLARE b BOOLEAN TRUE;
DECLARE r REFERENCE TO InputBody.doc; SET Environment.t.k = 'n'; SET Environment.t.n[1] = 5;
"""
TAIL: Final = "SET Environment.o.i = i; SET Environment.o.j = j; SET Environment.o.s = s; SET Environment.o.b = b;\n"


class Maker:
    """A program being made; `depth` is what is left to nest."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.items: list[str] = []

    def one(self, *ways: Callable[[int], str], depth: int) -> str:
        """One of several forms; none but the first where nothing may be nested any more."""
        return (self.random.choice(ways) if depth > 0 else ways[0])(depth - 1)

    def step(self, depth: int) -> str:
        name = self.random.choice(("k", "n", "e", "t", "x"))
        text = self.one(lambda _: name, lambda _: name, lambda d: f"{{{self.text(d)}}}", depth=depth)
        return text + self.random.choice(("", "", "", "[1]", "[2]", "[<]", "[i]"))

    def path(self, depth: int, *roots: str) -> str:
        root = self.random.choice(roots or ("Environment", "Environment.t", "InputBody.doc", "r", *self.items))
        return ".".join([root, *(self.step(depth) for _ in range(self.random.randint(1, 2)))])

    def number(self, depth: int) -> str:
        return self.one(
            lambda _: self.random.choice(("0", "1", "2", "7", "-3", "i", "j", "9223372036854775807")),
            lambda d: f"({self.number(d)} {self.random.choice('+-*/')} {self.number(d)})",
            lambda d: f"LENGTH({self.text(d)})",
            lambda d: f"CARDINALITY({self.path(d)}.{self.random.choice(('k', 'n', '*'))}[])",
            lambda d: f"CASE WHEN {self.truth(d)} THEN {self.number(d)} ELSE {self.number(d)} END",
            lambda d: f"COALESCE({self.number(d)}, {self.number(d)})",
            lambda d: f"CAST({self.text(d)} AS INTEGER DEFAULT {self.number(d)})",
            depth=depth,
        )

    def text(self, depth: int) -> str:
        return self.one(
            lambda _: self.random.choice(("'k'", "'n'", "'a b'", "''", "s", "'%'")),
            lambda d: f"({self.text(d)} || {self.text(d)})",
            lambda d: f"UPPER({self.text(d)})",
            lambda d: f"SUBSTRING({self.text(d)} FROM {self.number(0)} FOR {self.random.randint(0, 3)})",
            lambda d: f"COALESCE(FIELDNAME({self.path(d)}), {self.text(d)})",
            lambda d: f"CAST({self.number(d)} AS CHARACTER)",
            self.path,
            depth=depth,
        )

    def truth(self, depth: int) -> str:
        return self.one(
            lambda _: self.random.choice(("b", "TRUE", "FALSE", "UNKNOWN", "i = 1")),
            lambda d: f"{self.number(d)} {self.random.choice(('=', '<>', '<', '>='))} {self.number(d)}",
            lambda d: f"{self.text(d)} = {self.text(d)}",
            lambda d: f"({self.truth(d)} {self.random.choice(('AND', 'OR'))} {self.truth(d)})",
            lambda d: f"NOT ({self.truth(d)})",
            lambda d: f"{self.path(d)} IS NULL",
            lambda d: f"{self.text(d)} LIKE {self.text(d)}",
            lambda d: f"{self.number(d)} BETWEEN {self.number(d)} AND {self.number(d)}",
            lambda d: f"{self.number(d)} IN ({self.number(d)}, {self.number(d)})",
            depth=depth,
        )

    def statement(self, depth: int) -> str:
        made: list[Callable[[int], str]] = [
            lambda d: f"SET {self.path(d, 'Environment', 'Environment.t')} = {self.value(d)};",
            lambda d: f"SET {self.path(d, 'Environment', 'Environment.t')} = {self.text(d)};",
            lambda d: f"SET i = {self.number(d)};",
            lambda d: f"SET j = {self.number(d)};",
            lambda d: f"SET s = {self.text(d)};",
            lambda d: f"SET b = {self.truth(d)};",
            lambda d: f"DELETE FIELD {self.path(d, 'Environment')};",
            lambda d: f"IF {self.truth(d)} THEN {self.block(d)} ELSE {self.block(d)} END IF;",
            self.loop,
            self.each,
            lambda d: "EVAL({});".format("'" + self.simple(d).replace("'", "''") + "'"),
        ]
        return self.one(*made, depth=depth)

    def simple(self, depth: int) -> str:
        """A statement for EVAL, whose text does not see the items of FOR."""
        kept, self.items = self.items, []
        made = f"SET {self.path(depth, 'Environment')} = {self.value(depth)};"
        self.items = kept
        return made

    def value(self, depth: int) -> str:
        return self.random.choice((self.number, self.text))(depth)

    def loop(self, depth: int) -> str:
        return f"SET i = 0; WHILE i < {self.random.randint(1, 4)} DO SET i = i + 1; {self.block(depth)} END WHILE;"

    def each(self, depth: int) -> str:
        item = f"f{len(self.items)}"
        source = self.random.choice(("InputBody.doc.k[]", "r.*[]", "Environment.t.{s}[]", "Environment.*[]"))
        self.items.append(item)
        inside = self.block(depth)
        self.items.pop()
        return f"FOR {item} AS {source} DO {inside} END FOR;"

    def block(self, depth: int) -> str:
        return " ".join(self.statement(depth) for _ in range(self.random.randint(1, 3)))


def generate(random: Random) -> bytes:
    """A program."""
    maker = Maker(random)
    statements = "\n".join(maker.statement(random.randint(1, 4)) for _ in range(random.randint(1, 8)))
    return f"{HEAD}{statements}\n{TAIL}".encode()


def run_case(seed: int) -> None:
    """Make the program of a seed and run it both ways."""
    attempt(generate(Random(seed)))  # noqa: S311 - a seed that is to give the same program again


def attempt(data: bytes) -> None:
    """Run a program by the compiler and by the interpreter; what they leave in Environment must be the same."""
    text = data.decode("utf-8", "replace")
    try:
        program = compile_text(text, "COMPUTE", "generated")
    except SyntaxProblems:
        return
    message = message_of(BODY, "XMLNSC")
    here = program.activation(message, Surroundings(limits=LIMITS))
    found: object = None
    try:
        program.returned(program.entrance(), here)
    except LimitExceeded:
        return
    except BrokerError:
        found = "an error"
    expected = interpreted(text)
    if found is None or expected == "an error":
        found = found or shown(message.environment)
        assert expected == found, f"{text}\nis to leave {expected}\nand leaves  {found}"
    else:
        raise AssertionError(f"{text}\nfails, and is to leave {expected}")


def shown(element: Element) -> tuple[Any, ...]:
    """What an element is, with all below it."""
    return element.name, element.namespace, type_of(element.value), element.value, [shown(child) for child in element]


def interpreted(text: str) -> object:
    """What the interpreter leaves in Environment, or that there was an error."""
    scope = sample(ORACLE)
    environment = Element("Environment")
    body = message_of(BODY, "XMLNSC").root.last_child
    assert body is not None
    scope.roots.update(Environment=environment, InputBody=body)
    scope.values.clear()
    try:
        run(read_statements(text, "generated").statements, scope, {})
    except (BrokerError, SyntaxProblems):
        return "an error"
    return shown(environment)


def run(statements: tuple[Any, ...], scope: Scope, types: dict[str, Target]) -> None:
    """Do one statement after the other."""
    for statement in statements:
        STATEMENTS[type(statement)](statement, scope, types)


def declare(node: syntax.Declare, scope: Scope, types: dict[str, Target]) -> None:
    [name] = node.names
    if node.type.name == "REFERENCE":
        found = existing_of(node.initial, scope)
        assert found is not None
        scope.roots[name] = found
        return
    types[name] = Target(node.type.name)
    scope.values[name] = (
        None if node.initial is None else assign(evaluate(node.initial, scope), types[name], scope.here)
    )


def set_(node: syntax.SetStatement, scope: Scope, types: dict[str, Target]) -> None:
    if not node.target.steps:
        value = evaluate(node.source, scope)
        scope.values[node.target.root] = assign(value, types[node.target.root], scope.here)
        return
    value = given_by(node.source, scope)
    if value is None:
        delete_at(node.target, scope)
        return
    at = ensured(scope.roots[node.target.root], node.target.steps, scope)
    if isinstance(value, Element):
        copy_slowly(at, value)
    else:
        at.value = value


def delete_at(target: syntax.Path, scope: Scope) -> None:
    """NULL deletes a field, after what is on the way to it has been made."""
    above = ensured(scope.roots[target.root], target.steps[:-1], scope)
    found = below(above, target.steps[-1], scope)
    if found is not None:
        found.detach()


def ensured(at: Element, steps: tuple[syntax.Step, ...], scope: Scope) -> Element:
    """The element that steps lead to, made where it is missing."""
    for part in steps:
        look = look_of(part, scope)
        match part.index:
            case syntax.IndexAt(number):
                at = at.ensure_nth(look, index(evaluate(number, scope)))
            case syntax.IndexFromEnd():
                at = at.nth_last(look, 1) or at.ensure(look)
            case _:
                at = at.ensure(look)
    return at


def given_by(node: Any, scope: Scope) -> Any:
    """A field where the source is a path with steps, or an item of FOR; else a value."""
    if isinstance(node, syntax.Path) and node.root in scope.roots:
        return existing_of(node, scope)
    return evaluate(node, scope)


def copy_slowly(target: Element, source: Element) -> None:
    """Give a field the value of another and copies of its children."""
    value, below = source.value, [(child.name, child.namespace, child.type, clone(child)) for child in source]
    target.clear()
    if value is not None:
        target.value = value
    for _, _, _, child in below:
        target.append(child)


def clone(source: Element) -> Element:
    made = Element(source.name, source.namespace)
    copy_slowly(made, source)
    return made


def look_of(part: syntax.Step, scope: Scope) -> Any:
    match part.name:
        case syntax.Name(text):
            return step(text)
        case syntax.ComputedName(expression):
            return step(a_name(evaluate(expression, scope)))
    return step(None, None)


def existing_of(node: Any, scope: Scope) -> Element | None:
    at: Element | None = scope.roots[node.root]
    for part in node.steps:
        if at is None:
            return None
        at = below(at, part, scope)
    return at


def below(at: Element, part: syntax.Step, scope: Scope) -> Element | None:
    """One step down, to what is there."""
    look = look_of(part, scope)
    match part.index:
        case syntax.IndexAt(number):
            return at.nth(look, index(evaluate(number, scope)))
        case syntax.IndexFromEnd():
            return at.nth_last(look, 1)
    return at.child(look)


def delete(node: syntax.DeleteField, scope: Scope, _: dict[str, Target]) -> None:
    found = existing_of(node.target, scope)
    if found is not None:
        found.detach()


def if_(node: syntax.If, scope: Scope, types: dict[str, Target]) -> None:
    for branch in node.branches:
        if evaluate(branch.condition, scope) is True:
            run(branch.body, scope, types)
            return
    run(node.otherwise or (), scope, types)


def while_(node: syntax.While, scope: Scope, types: dict[str, Target]) -> None:
    turns = 0
    while evaluate(node.condition, scope) is True and turns < 5000:
        turns += 1
        run(node.body, scope, types)


def for_(node: syntax.For, scope: Scope, types: dict[str, Target]) -> None:
    for item in elements(node.source, scope):
        scope.roots[node.correlation] = item
        run(node.body, scope, types)


def eval_(node: syntax.Eval, scope: Scope, types: dict[str, Target]) -> None:
    run(read_statements(evaluate(node.text, scope), "EVAL").statements, scope, types)


STATEMENTS: dict[type, Callable[[Any, Scope, dict[str, Target]], None]] = {
    syntax.Declare: declare,
    syntax.SetStatement: set_,
    syntax.DeleteField: delete,
    syntax.If: if_,
    syntax.While: while_,
    syntax.For: for_,
    syntax.Eval: eval_,
}
