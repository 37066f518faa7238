"""Blocks that are open where the parser is, words that close them, and places where a statement plainly starts."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.names.reserved_words import STATEMENTS

if TYPE_CHECKING:
    from esql.text.source import Source

ROUTINE_WORDS = (
    Rules.FUNCTION,
    Rules.PROCEDURE,
    Rules.COMPUTE,
    Rules.FILTER,
    Rules.DATABASE,
    Rules.DATABASEEVENT,
)
HOLDING_ROUTINES = ("", "MODULE")
HEADER_ENDS = {
    "IF": (Rules.THEN,),
    "CASE": (Rules.THEN,),
    "WHILE": (Rules.DO,),
    "FOR": (Rules.DO,),
}

# context of the statement -> its keyword, and the words at which a list of statements in it may stop
_BLOCKS = {
    Rules.CompoundStatementContext: ("BEGIN", ("END",)),
    Rules.IfStatementContext: ("IF", ("END IF", "ELSE", "ELSEIF")),
    Rules.CaseStatementContext: ("CASE", ("END CASE", "ELSE", "WHEN")),
    Rules.ForStatementContext: ("FOR", ("END FOR",)),
    Rules.LoopStatementContext: ("LOOP", ("END LOOP",)),
    Rules.RepeatStatementContext: ("REPEAT", ("UNTIL",)),
    Rules.WhileStatementContext: ("WHILE", ("END WHILE",)),
    Rules.CreateModuleStatementContext: ("MODULE", ("END MODULE",)),
}
_CLOSERS = {"END REPEAT", *(closer for _, closers in _BLOCKS.values() for closer in closers)}
_ENDINGS = {Rules.ELSE: "ELSE", Rules.ELSEIF: "ELSEIF", Rules.WHEN: "WHEN", Rules.UNTIL: "UNTIL"}
_STARTS = frozenset(
    (
        Rules.ATTACH, Rules.BEGIN, Rules.CALL, Rules.CASE, Rules.COMMIT, Rules.CREATE, Rules.DECLARE, Rules.DELETE,
        Rules.DETACH, Rules.EVAL, Rules.FOR, Rules.IF, Rules.INSERT, Rules.ITERATE, Rules.LEAVE, Rules.LOG, Rules.LOOP,
        Rules.MOVE, Rules.PASSTHRU, Rules.PROPAGATE, Rules.REPEAT, Rules.RESIGNAL, Rules.RETURN, Rules.ROLLBACK,
        Rules.SEMICOLON, Rules.SET, Rules.THROW, Rules.UPDATE, Rules.WHILE,
    )
)  # fmt: skip
# words that may also go on with a statement at the start of a line
_WITHIN = frozenset((Rules.CASE, Rules.DELETE, Rules.FOR, Rules.PASSTHRU, Rules.REPEAT, Rules.SEMICOLON, Rules.SET))


@dataclass(frozen=True, slots=True)
class Block:
    """A block that is open: its keyword, how it closes, and at which offset it starts."""

    keyword: str
    closers: tuple[str, ...]
    start: int
    context: Any

    @property
    def closing(self) -> str:
        """Returns what must be written to close it."""
        return "UNTIL" if self.keyword == "REPEAT" else self.closers[0]


def block_of(context: Any) -> Block | None:
    """Give the block that a statement is, None when it is none."""
    if type(context) not in _BLOCKS:
        return None
    keyword, closers = _BLOCKS[type(context)]
    return Block(keyword, closers, context.start.start, context)


def is_block(context: Any) -> bool:
    """Say whether a context is a block, or a branch of one."""
    return type(context) in _BLOCKS or context.getRuleIndex() in (
        Rules.RULE_elseIfBranch,
        Rules.RULE_caseStatementBranch,
    )


def enclosing(context: Any) -> list[Block]:
    """List the open blocks, the innermost first; the text itself is the last, with no keyword."""
    found = []
    while context.parentCtx is not None:
        context = context.parentCtx
        block = block_of(context)
        if block is not None:
            found.append(block)
    return [*found, Block("", ("end of file",), 0, context)]


def ending(stream: Any) -> str | None:
    """Name what ends a list of statements, if it stands here: END IF, ELSE, the end of the file …"""
    kind = stream.LA(1)
    if kind == Rules.EOF:
        return "end of file"
    if kind != Rules.END:
        return _ENDINGS.get(kind)
    if stream.LT(2).line != stream.LT(1).line:
        # most likely END; without its semicolon, and the next statement
        return "END"
    closed = f"END {stream.LT(2).text.upper()}"
    return closed if closed in _CLOSERS else "END"


def starts_statement(stream: Any) -> bool:
    """Say whether a statement may start here."""
    return stream.LA(1) in _STARTS or stream.LA(2) == Rules.COLON


def may_be_condition(stream: Any) -> bool:
    """Say whether a whole text may be one condition, rather than statements."""
    stream.seek(0)
    kind, after = stream.LA(1), stream.LA(2)
    if kind == Rules.FOR:
        return after in (Rules.ALL, Rules.ANY, Rules.SOME)
    semicolons = sum(token.type == Rules.SEMICOLON for token in stream.tokens)
    if kind in _STARTS - {Rules.CASE, Rules.PASSTHRU} or ending(stream) is not None or after == Rules.COLON:
        return False
    return semicolons <= 1 and get_close_matches(stream.LT(1).text.upper(), STATEMENTS, 1, 0.75) == []


def starts_line(stream: Any, source: Source) -> bool:
    """Say whether the token here is the first of its line."""
    before = stream.LT(-1)
    return before is None or source.line_of(before.stop) < source.line_of(stream.LT(1).start)


def is_plainly_next(stream: Any, source: Source) -> bool:
    """Say whether the next statement, or the end of the block, stands here beyond doubt."""
    kind = stream.LA(1)
    is_word = kind in _STARTS - _WITHIN or kind in (Rules.END, Rules.ELSE, Rules.ELSEIF)
    return is_word and starts_line(stream, source)


def swallowed_statement(context: Any, stream: Any, source: Source) -> Any:
    """Find the start of a next statement that was read as a name, because the `;` before it is missing."""
    while context is not None and context.getRuleIndex() != Rules.RULE_statement:
        context = context.parentCtx
    if context is None:
        return None
    place, found = stream.index, None
    allowed = _STARTS - _WITHIN | (set() if context.start.type == Rules.UPDATE else {Rules.SET})
    for index in range(place, max(place - 3, context.start.tokenIndex), -1):
        stream.seek(index)
        if stream.index == index and stream.LA(1) in allowed and starts_line(stream, source):
            found = stream.LT(1) if _is_complete(stream.LT(-1)) else None
            break
    stream.seek(place)
    return found


def _is_complete(token: Any) -> bool:
    """Say whether a statement may end with this token."""
    return token.type in (
        Rules.IDENTIFIER,
        Rules.QUOTED_IDENTIFIER,
        Rules.STRING,
        Rules.INTEGER_LITERAL,
        Rules.NUMBER_LITERAL,
        Rules.CLOSE,
        Rules.CLOSE_INDEX,
        Rules.CLOSE_BRACE,
    ) or (token.text.isalpha() and token.type not in _STARTS)
