"""Tokens -> the contexts of the rules that matched, by the parser that is made from the grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from antlr4.atn.PredictionMode import PredictionMode

from engine.budget import pay
from esql.grammar.generated.ESQLParser import ESQLParser
from esql.read.recovery import Recovery, Stop

if TYPE_CHECKING:
    from esql.text.source import Source

# Later stages descend the tree with a few calls a level, within Python's usual limit of 1,000.
NESTING_LIMIT = 150

_STEPS = 100  # that one rule is worth to the budget of a message whose program calls EVAL

_COUNTED = frozenset((ESQLParser.RULE_statement, ESQLParser.RULE_value))


class TooDeepError(Exception):
    """Statements or expressions are nested deeper than the limit."""


class _Parser(ESQLParser):  # type: ignore[misc]
    """The generated parser, with a limit to nesting."""

    def __init__(self, tokens: Any, handler: Any) -> None:
        super().__init__(tokens)
        self.buildParseTrees = False
        self.removeErrorListeners()
        self._errHandler = handler
        self.depth = 0

    @property
    def context(self) -> Any:
        """The context of the rule that is being matched."""
        return self._ctx

    def enterRule(self, localctx: Any, state: int, ruleIndex: int) -> None:  # noqa: N802, N803
        super().enterRule(localctx, state, ruleIndex)
        pay(_STEPS)
        if ruleIndex in _COUNTED:
            self._descend()

    def exitRule(self) -> None:  # noqa: N802
        if self._ctx.getRuleIndex() in _COUNTED:
            self.depth -= 1
        super().exitRule()

    def enterRecursionRule(self, localctx: Any, state: int, ruleIndex: int, precedence: int) -> None:  # noqa: N802, N803
        super().enterRecursionRule(localctx, state, ruleIndex, precedence)
        if ruleIndex in _COUNTED:
            self._descend()

    def unrollRecursionContexts(self, parentCtx: Any) -> None:  # noqa: N802, N803
        if self._ctx.getRuleIndex() in _COUNTED:
            self.depth -= 1
        super().unrollRecursionContexts(parentCtx)

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > NESTING_LIMIT:
            raise TooDeepError


class _StopAtOnce:
    """Give up at the first problem: another way of reading will be tried."""

    def recoverInline(self, recognizer: Any) -> Any:  # noqa: N802
        raise Stop

    def reportError(self, recognizer: Any, error: Any) -> None:  # noqa: N802
        raise Stop

    def recover(self, recognizer: Any, error: Any) -> None: ...

    def sync(self, recognizer: Any) -> None: ...

    def reset(self, recognizer: Any) -> None: ...

    def reportMatch(self, recognizer: Any) -> None: ...  # noqa: N802

    def inErrorRecoveryMode(self, recognizer: Any) -> bool:  # noqa: N802
        return False


def try_rule(rule: str, stream: Any) -> Any:
    """Match a rule quickly, without a word about problems; None when it does not match.

    The fast way of prediction looks less far than the language needs in rare places, so that this may fail for a text
    that has no problem.
    """
    stream.seek(0)
    parser = _Parser(stream, _StopAtOnce())
    parser._interp.predictionMode = PredictionMode.SLL
    try:
        return getattr(parser, rule)()
    except Stop:
        return None


def match_rule(rule: str, stream: Any, source: Source) -> Any:
    """Match a rule and write down every problem on the way."""
    stream.seek(0)
    parser = _Parser(stream, Recovery(source))
    return getattr(parser, rule)()


def report_depth(stream: Any, source: Source) -> None:
    """Write down that nesting is too deep at the token that the parser has come to."""
    token = stream.LT(1)
    text = f"nested more than {NESTING_LIMIT} deep: compute parts of it into variables, or make a routine of them"
    source.problem(token.start, token.stop + 1, text)
