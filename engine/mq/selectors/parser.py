"""Reads a selector into its syntax tree; what its types forbid at sight is refused here as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from engine.errors import MessageException
from engine.mq.selectors.lexer import Token, refused, tokens
from engine.mq.selectors.syntax import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Expression,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Signed,
)

DEEPEST: Final = 50  # levels, each of which takes eight frames to read
_COMPARISONS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})
_LARGEST: Final = (1 << 63) - 1
_Level: TypeAlias = Callable[[], Expression]


def parse(text: str) -> Expression:
    """Returns the syntax tree of a selector.

    >>> parse("colour = 'red'")
    Comparison(column=8, operator='=', left=Identifier(column=1, name='colour'), right=Literal(column=10, value='red'))
    """
    parser = _Parser(text)
    found = parser.condition()
    if parser.now.kind != "end":
        raise parser.wrong("the selector should end here, or go on with AND or OR")
    return parser.logical(found)


class _Parser:
    """A recursive descent over the tokens, one method a level of precedence."""

    __slots__ = ("_depth", "_text", "_tokens", "now")

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._depth = 0
        self.now = next(self._tokens)

    def wrong(self, problem: str, token: Token | None = None) -> MessageException:
        at = self.now if token is None else token
        return refused(self._text, at.column, f"{at.text} is not expected: {problem}")

    def condition(self) -> Expression:
        column, found = self.now.column, [self._conjunction()]
        while self._taken("keyword", "OR"):
            found.append(self._conjunction())
        return found[0] if len(found) == 1 else Or(column, tuple(map(self.logical, found)))

    def logical(self, found: Expression) -> Expression:
        """Returns a part that can be true, and refuses one that is a string or a number."""
        if _kind(found) not in {"boolean", "any"}:
            raise refused(self._text, found.column, "a condition is wanted, not a value; compare it with something")
        return found

    def _conjunction(self) -> Expression:
        column, found = self.now.column, [self._negation()]
        while self._taken("keyword", "AND"):
            found.append(self._negation())
        return found[0] if len(found) == 1 else And(column, tuple(map(self.logical, found)))

    def _negation(self) -> Expression:
        column = self.now.column
        if not self._taken("keyword", "NOT"):
            return self._comparison()
        self._enter()
        operand = self.logical(self._negation())
        self._depth -= 1
        return Not(column, operand)

    def _comparison(self) -> Expression:
        left = self._sum()
        token = self.now
        if token.kind == "operator" and token.text in _COMPARISONS:
            self._step()
            right = self._sum()
            return self._compared(token, left, right)
        if token.kind != "keyword" or token.text not in {"NOT", "BETWEEN", "IN", "LIKE", "IS"}:
            return left
        if self._taken("keyword", "IS"):
            negated = self._taken("keyword", "NOT")
            self._need("keyword", "NULL", "write IS NULL or IS NOT NULL")
            return IsNull(token.column, self._identifier(left, "IS NULL"), negated)
        negated = self._taken("keyword", "NOT")
        return self._special(left, negated=negated)

    def _special(self, left: Expression, *, negated: bool) -> Expression:
        """Returns the BETWEEN, IN or LIKE that follows an operand."""
        column = self.now.column
        if self._taken("keyword", "BETWEEN"):
            low = self._numeric(self._sum())
            self._need("keyword", "AND", "write BETWEEN low AND high")
            return Between(column, self._numeric(left), low, self._numeric(self._sum()), negated)
        if self._taken("keyword", "IN"):
            return In(column, self._identifier(left, "IN"), self._strings(), negated)
        self._need("keyword", "LIKE", "NOT is followed by BETWEEN, IN or LIKE here")
        operand, pattern = self._identifier(left, "LIKE"), self._string("LIKE")
        escape = ""
        if self._taken("keyword", "ESCAPE"):
            token = self.now
            escape = self._string("ESCAPE")
            if len(escape) != 1 or escape in "%_":
                raise self.wrong("an escape is one character, and neither % nor _", token)
            if _ends_escaping(pattern, escape):
                raise self.wrong(f"the pattern ends with its escape {escape}; write it twice", token)
        return Like(column, operand, pattern, escape, negated)

    def _strings(self) -> frozenset[str]:
        self._need("operator", "(", "a list of strings in parentheses follows IN")
        found = [self._string("IN")]
        while self._taken("operator", ","):
            found.append(self._string("IN"))
        self._need("operator", ")", "close the list with )")
        return frozenset(found)

    def _string(self, what: str) -> str:
        token = self.now
        if not isinstance(token.value, str):
            raise self.wrong(f"{what} takes strings in single quotes")
        self._step()
        return token.value

    def _compared(self, token: Token, left: Expression, right: Expression) -> Comparison:
        kinds = {_kind(left), _kind(right)}
        if token.text not in {"=", "<>"} and kinds & {"string", "boolean", "bytes"}:
            raise refused(self._text, token.column, f"{token.text} compares numbers only; use = or <> here")
        return Comparison(token.column, token.text, left, right)

    def _sum(self) -> Expression:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._chain(("*", "/"), self._signed)

    def _chain(self, operators: tuple[str, str], operand: _Level) -> Expression:
        column, first, rest = self.now.column, operand(), list[tuple[str, Expression]]()
        while self.now.kind == "operator" and self.now.text in operators:
            operator = self.now.text
            self._step()
            rest.append((operator, self._numeric(operand())))
        return Arithmetic(column, self._numeric(first), tuple(rest)) if rest else first

    def _signed(self) -> Expression:
        token = self.now
        if token.kind != "operator" or token.text not in {"-", "+"}:
            return self._primary()
        self._step()
        self._enter()
        operand = self._numeric(self._signed_operand(negative=token.text == "-"))
        self._depth -= 1
        if isinstance(operand, Literal) and type(operand.value) in {int, float}:
            return Literal(token.column, -operand.value if token.text == "-" else operand.value)  # type: ignore[operator]
        return Signed(token.column, token.text == "-", operand)

    def _signed_operand(self, *, negative: bool) -> Expression:
        """Returns what follows a sign; behind a minus stands a number that is one larger than the largest, too."""
        if negative and self.now.kind == "literal" and self.now.value == _LARGEST + 1:
            smallest = Literal(self.now.column, self.now.value)
            self._step()
            return smallest
        return self._signed()

    def _primary(self) -> Expression:
        token = self.now
        if token.kind == "literal" and token.value is not None:
            if type(token.value) is int and token.value > _LARGEST:
                raise refused(
                    self._text, token.column, f"{token.text} does not fit 64 bits; write it with a decimal point"
                )
            self._step()
            return Literal(token.column, token.value)
        if token.kind == "name":
            self._step()
            if self.now.text == "(":
                raise self.wrong(f"there are no functions; {token.text} is a property")
            return Identifier(token.column, token.text)
        if self._taken("operator", "("):
            self._enter()
            found = self.condition()
            self._depth -= 1
            self._need("operator", ")", "close the parenthesis with )")
            return found
        raise self.wrong("a property, a value or a parenthesis is wanted")

    def _numeric(self, found: Expression) -> Expression:
        if _kind(found) not in {"number", "any"}:
            raise refused(self._text, found.column, "arithmetic and BETWEEN take numbers only; compare with = or <>")
        return found

    def _identifier(self, found: Expression, what: str) -> Identifier:
        if not isinstance(found, Identifier):
            raise refused(self._text, found.column, f"{what} follows the name of a property, nothing else")
        return found

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.wrong(f"a selector is nested at most {DEEPEST} levels deep; write it flatter")

    def _step(self) -> None:
        self.now = next(self._tokens)

    def _taken(self, kind: str, text: str) -> bool:
        if self.now.kind != kind or self.now.text != text:
            return False
        self._step()
        return True

    def _need(self, kind: str, text: str, remedy: str) -> None:
        if not self._taken(kind, text):
            raise self.wrong(remedy)


def _ends_escaping(pattern: str, escape: str) -> bool:
    """Returns True for a pattern whose last character is an escape that escapes nothing."""
    at = 0
    while at < len(pattern):
        if pattern[at] == escape:
            at += 1
            if at == len(pattern):
                return True
        at += 1
    return False


def _kind(found: Expression) -> str:
    """Returns the type of a part as far as it is known without a message: any for a property."""
    match found:
        case Literal(value=value):
            return {str: "string", bool: "boolean", bytes: "bytes"}.get(type(value), "number")
        case Identifier():
            return "any"
        case Signed() | Arithmetic():
            return "number"
    return "boolean"
