"""Contexts of the parser -> names and field references."""

from __future__ import annotations

from typing import Any

from esql import syntax
from esql.grammar.generated.ESQLParser import ESQLParser as Rules
from esql.read import expressions
from esql.text import Source

_MOST_STEPS = 250  # what is emitted for a path nests as deep


def unquoted(token: Any) -> str:
    """Give a name without its quotes."""
    text: str = token.text
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def name(context: Any, _: Source | None = None) -> str:
    """Give the name of a rule that is one word, quoted or not."""
    return unquoted(context.start)


def parts(context: Any, _: Source | None = None) -> tuple[str, ...]:
    """Give the parts of a dotted name."""
    return tuple(name(part) for part in context.parts)


def path(context: Any, source: Source) -> syntax.Path:
    """Build a field reference."""
    at = source.of(context)
    return syntax.Path(name(context.head), _steps(context, source), _index(context.first, source), position=at)


def relative_path(context: Any, source: Source) -> syntax.RelativePath:
    """Build steps that start elsewhere."""
    return syntax.RelativePath(_steps(context, source), position=source.of(context))


@expressions.builds(Rules.ReferenceValueContext)
def _reference(context: Any, source: Source) -> syntax.Expression:
    context = context.inner
    at = source.of(context)
    head = name(context.head or context.form)
    steps, index = _steps(context, source), _index(context.first, source)
    if context.called is None:
        return syntax.Path(head, steps, index, position=at)
    if not all(_is_plain(step) for step in steps) or index is not None:
        source.problem_at(context, "what is called must be the name of a routine: words joined by '.', no more")
    called = (head, *(step.name.text for step in steps if isinstance(step.name, syntax.Name)))
    if [item.star is None for item in context.called.items] == [False] and head.upper() == "COUNT" and not steps:
        return syntax.Aggregate("COUNT", None, position=at)
    return syntax.Call(called, expressions.arguments(context.called, source), position=at)


def _is_plain(step: syntax.Step) -> bool:
    return isinstance(step.name, syntax.Name) and step.namespace is None and not step.types and step.index is None


def _steps(context: Any, source: Source) -> tuple[syntax.Step, ...]:
    if len(context.steps) > _MOST_STEPS:
        text = f"a path has {_MOST_STEPS} steps at most, and this one {len(context.steps)}: go on from a REFERENCE"
        source.problem_at(context, text)
        return ()
    return tuple(_step(step, source) for step in context.steps)


def _step(context: Any, source: Source) -> syntax.Step:
    first = context.left or context.typed
    left = None if first is None else field_name(first, source)
    right = None if context.right is None else field_name(context.right, source)
    named, space = (left, None) if right is None else (right, left)
    types = tuple(expressions.expression(item, source) for item in context.types)
    return syntax.Step(named, space, types, _index(context.at, source), position=source.of(context))


def field_name(context: Any, source: Source) -> syntax.FieldName:
    """Build a name in a path: a word, `*`, or an expression in braces."""
    at = source.of(context)
    if context.dynamic is not None:
        return syntax.ComputedName(expressions.expression(context.dynamic, source), position=at)
    # {} is read as any name
    if context.start.text in ("*", "{"):
        return syntax.AnyName(position=at)
    return syntax.Name(name(context), position=at)


def _index(context: Any, source: Source) -> syntax.Index | None:
    if context is None:
        return None
    at = source.of(context)
    if context.number is not None:
        return syntax.IndexAt(expressions.expression(context.number, source), position=at)
    if context.last is not None:
        return syntax.IndexFromEnd(position=at)
    if context.end is None:
        return syntax.IndexAll(position=at)
    distance = None if context.distance is None else expressions.expression(context.distance, source)
    kind = syntax.IndexFromEnd if context.end.text == "<" else syntax.IndexFromStart
    return kind(distance, position=at)
