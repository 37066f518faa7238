"""Names, paths and expressions as text, with the quotes and the parentheses that keep the tree, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any

from esql import syntax
from esql.names.predefined import FORMS, LITERALS, OPERATORS, RESERVED, STATEMENTS
from esql.values.literals import quoted
from esql.values.types import FIELDS

# How tight each kind of expression binds; an operand that binds looser than its place wants stands in parentheses.
_LOOSEST = 0
_LEVELS = {"OR": 1, "AND": 2, "+": 9, "-": 9, "||": 10, "*": 11, "/": 11}
_NOT, _COMPARISON, _LIKE, _IN, _BETWEEN, _IS, _VALUE, _UNARY, _TIGHTEST = 3, 4, 5, 6, 7, 8, 9, 12, 13


def expression(node: syntax.Expression, tightness: int = _LOOSEST) -> str:
    """Write an expression for a place that wants it to bind at least so tight."""
    level, text = _WRITERS[type(node)](node)
    return text if level >= tightness else f"({text})"


def value(node: syntax.Expression) -> str:
    """Write an expression where the grammar wants a value, not a condition."""
    return expression(node, _VALUE)


def each(nodes: Sequence[syntax.Node]) -> str:
    """Write a list; SELECT stands in parentheses, for its own lists have commas."""
    if len(nodes) == 1 and type(nodes[0]) in _WRITERS:
        return expression(nodes[0])  # type: ignore[arg-type]  # what has a writer is one
    return ", ".join(map(written, nodes))


def assigned(node: syntax.Expression) -> str:
    """Write an expression as a statement's, where SELECT stands in parentheses."""
    return expression(node, _LOOSEST + 1)


def written(given: Any) -> str:
    """Write what a field of a node has: an expression, a part of such, a word, or a list."""
    if type(given) in _WRITERS:
        return assigned(given)
    if isinstance(given, str):
        return given
    return each(given) if isinstance(given, tuple) else _PARTS[type(given)](given)


# Names

_PLAIN = re.compile(r"[^\W\d]\w*")
# words that are no names unquoted: of parameters, at the start of an expression, behind a type, of labels
_OF_PARAMETERS = RESERVED | {"IN", "OUT", "INOUT"}
_OF_EXPRESSIONS = RESERVED | LITERALS | FORMS
_BEHIND_TYPES = RESERVED | OPERATORS
_OF_LABELS = _OF_EXPRESSIONS | STATEMENTS


def quoted_name(name: str) -> str:
    """Write a name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def _quoted_if(name: str, words: frozenset[str]) -> str:
    return name if _PLAIN.fullmatch(name) and name.upper() not in words else quoted_name(name)


def declared_name(name: str) -> str:
    """Write a name where it is declared or called by CALL."""
    return _quoted_if(name, RESERVED)


def parameter_name(name: str) -> str:
    """Write the name of a parameter, where a direction may stand before it."""
    return _quoted_if(name, _OF_PARAMETERS)


def dotted_name(parts: tuple[str, ...]) -> str:
    """Write the parts of a schema or of a routine's name."""
    return ".".join(declared_name(part) for part in parts)


def used_name(name: str) -> str:
    """Write a name where an expression or a path starts with it."""
    return _quoted_if(name, _OF_EXPRESSIONS)


def field_name(name: str) -> str:
    """Write a name of a field in a path."""
    return _quoted_if(name, frozenset())


def typed_field_name(name: str) -> str:
    """Write a name of a field behind a type, where an operator may stand instead."""
    return _quoted_if(name, _BEHIND_TYPES)


def label_name(name: str) -> str:
    """Write a label."""
    return _quoted_if(name, _OF_LABELS)


# Paths


def path(node: syntax.Path) -> str:
    """Write a field reference."""
    return ".".join((used_name(node.root) + _index(node.index), *map(_step, node.steps)))


def relative_path(node: syntax.RelativePath) -> str:
    """Write steps that start elsewhere."""
    return ".".join(map(_step, node.steps))


def _step(node: syntax.Step) -> str:
    types = f"({' | '.join(map(value, node.types))})" if node.types else ""
    first, second = (node.name, None) if node.namespace is None else (node.namespace, node.name)
    name = "" if first is None else _step_name(first, typed_field_name if types else field_name)
    name += "" if second is None else ":" + _step_name(second, field_name)
    return types + name + _index(node.index)


def _step_name(node: syntax.FieldName, written: Callable[[str], str]) -> str:
    match node:
        case syntax.Name(text):
            return written(text)
        case syntax.AnyName():
            return "*"
        case syntax.ComputedName(computed):
            return f"{{{expression(computed)}}}"


def _index(node: syntax.Index | None) -> str:
    match node:
        case None:
            return ""
        case syntax.IndexAll():
            return "[]"
        case syntax.IndexAt(number):
            text = expression(number)
            return f"[{quoted_name(text) if text.upper() == 'LAST' else text}]"
        case syntax.IndexFromStart(distance):
            return f"[>{'' if distance is None else value(distance)}]"
        case syntax.IndexFromEnd(distance):
            return f"[<{'' if distance is None else value(distance)}]"


def data_type(node: syntax.DataType) -> str:
    """Write a type."""
    if node.precision is not None:
        scale = "" if node.scale is None else f", {node.scale}"
        return f"{node.name}({node.precision}{scale})"
    return node.name if node.qualifier is None else f"{node.name} {_QUALIFIER(node.qualifier)}"


# Operators


def _unary(node: syntax.Unary) -> tuple[int, str]:
    if node.operator == "NOT":
        is_repeated = isinstance(node.operand, syntax.Unary)
        return _NOT, f"NOT {expression(node.operand, _NOT if is_repeated else _UNARY)}"
    # a space keeps `- -a` from being a comment
    gap = " " if isinstance(node.operand, syntax.Unary) else ""
    return _UNARY, f"{node.operator}{gap}{expression(node.operand, _UNARY)}"


def _operation(node: syntax.Operation) -> tuple[int, str]:
    level = _LEVELS[node.operator]
    first, *rest = node.operands
    # a chain of the same operator that was written in parentheses is not part of this one
    same = isinstance(first, syntax.Operation) and first.operator == node.operator
    texts = [expression(first, level + same), *(expression(operand, level + 1) for operand in rest)]
    return level, f" {node.operator} ".join(texts)


def _comparison(node: syntax.Comparison) -> tuple[int, str]:
    left, right = expression(node.left, _COMPARISON), expression(node.right, _COMPARISON + 1)
    return _COMPARISON, f"{left} {node.operator} {right}"


def _between(node: syntax.Between) -> tuple[int, str]:
    order = "SYMMETRIC " if node.symmetric else ""
    limits = f"{order}{value(node.low)} AND {value(node.high)}"
    return _BETWEEN, f"{expression(node.operand, _BETWEEN)} {_not(node)}BETWEEN {limits}"


def _like(node: syntax.Like) -> tuple[int, str]:
    escape = "" if node.escape is None else f" ESCAPE {value(node.escape)}"
    return _LIKE, f"{expression(node.operand, _LIKE)} {_not(node)}LIKE {value(node.pattern)}{escape}"


def _not(node: syntax.Is | syntax.Between | syntax.In | syntax.Like) -> str:
    return "NOT " if node.negated else ""


# Functions


def _call(node: syntax.Call) -> tuple[int, str]:
    head, *rest = node.name
    called = ".".join((used_name(head), *map(field_name, rest)))
    return _TIGHTEST, f"{called}({each(node.arguments)})"


def _case(node: syntax.Case) -> tuple[int, str]:
    operand = "" if node.operand is None else f" {assigned(node.operand)}"
    whens = (f" WHEN {assigned(branch.condition)} THEN {assigned(branch.result)}" for branch in node.branches)
    otherwise = "" if node.otherwise is None else f" ELSE {assigned(node.otherwise)}"
    return _TIGHTEST, f"CASE{operand}{''.join(whens)}{otherwise} END"


def _trim(node: syntax.Trim) -> tuple[int, str]:
    side = "" if node.side is None else node.side + " "
    singleton = "" if node.singleton is None else assigned(node.singleton) + " "
    preposition = "FROM " if side or singleton else ""
    return _TIGHTEST, f"TRIM({side}{singleton}{preposition}{assigned(node.source)})"


def passthru_in_parentheses(
    sql: syntax.Expression, values: Sequence[syntax.Expression], database: syntax.Path | None
) -> str:
    """Write what stands in the parentheses of PASSTHRU."""
    if database is None:
        return f"({', '.join(map(assigned, (sql, *values)))})"
    return f"({assigned(sql)}{to_database(database, values)})"


def to_database(database: syntax.Path, values: Sequence[syntax.Expression]) -> str:
    """Write the end of PASSTHRU; behind `(a - b) DAY`, `TO hour` would be more of the interval."""
    is_unit = database.root.upper() in FIELDS
    text = quoted_name(database.root) + path(database)[len(database.root) :] if is_unit else path(database)
    return f" TO {text}" + (f" VALUES({each(values)})" if values else "")


# Templates


def _declared(given: str | tuple[str, ...]) -> str:
    return dotted_name(given) if isinstance(given, tuple) else declared_name(given)


_STYLES: dict[str | None, Callable[[Any], str]] = {
    None: written,
    "a": lambda given: ", ".join(map(assigned, given)),
    "d": _declared,
    "e": expression,
    "l": label_name,
    "p": parameter_name,
    "q": quoted,
    "s": str,
    "v": value,
}


def template(text: str) -> Callable[[Any], str]:
    """Returns what writes nodes of a class: a text with their fields in braces, as `str.format` has them.

    What stands behind the colon goes in front of a field, or around it where it has `…`, and with it: a field that is
    None or False is left out, unless such texts follow: behind a `|` for False, behind a second one for None. Behind
    `!` stands how it is written where `written` would not do: `d` as a declared name, `p` as that of a parameter, `l`
    as a label, `q` as a string in quotes, `s` as a number, `v` as a value, `e` with nothing behind it that it could
    take up, `a` as a list of what is assigned.
    """
    pieces = []
    text_between = ""
    for literal, field, spec, style in Formatter().parse(text):
        text_between += literal  # of which `{{` is a piece for itself
        if field is not None:
            around, no, nothing = (*(spec or "").split("|"), "", "")[:3]
            before, _, behind = around.partition("…")
            left_out = {False: text_between + no, None: text_between + nothing}
            pieces.append((field, left_out, text_between + before, _STYLES[style], behind))
            text_between = ""

    def write(node: Any) -> str:
        made = ""
        for field, left_out, before, style, behind in pieces:
            given = getattr(node, field)
            if given is None or given is False:
                made += left_out[given]
            else:
                made += before + ("" if given is True else style(given)) + behind
        return made + text_between

    return write


_QUALIFIER = template("{largest}{smallest: TO }")
_PARTS: dict[type, Callable[[Any], str]] = {
    syntax.AllColumns: lambda _: "*",
    syntax.AnyName: lambda _: "*",
    syntax.BitstreamClauses: template(
        "{options: OPTIONS }{encoding: ENCODING }{ccsid: CCSID }{set: SET }{type: TYPE }{format: FORMAT }"
    ),
    syntax.Column: template("{expression}{name: AS }{insert: INSERT}"),
    syntax.ColumnChange: template("{column} = {source}"),
    syntax.DataType: data_type,
    syntax.FromItem: template("{source!v}{correlation!d: AS }"),
    syntax.Parameter: template("{direction:… }{name!p}{constant: CONSTANT} {type}{nullable: NULLABLE| NOT NULL}"),
    syntax.Parse: template("PARSE({bits}{clauses})"),
    syntax.Qualifier: _QUALIFIER,
    syntax.RelativePath: relative_path,
    syntax.Returns: template("{type}{nullable: NULLABLE| NOT NULL}"),
}
_TEMPLATES: dict[type, str] = {
    syntax.Aggregate: "{function}({operand!e:||*})",
    syntax.Number: "{text}",
    syntax.String: "{value!q}",
    syntax.HexString: "X'{digits}'",
    syntax.BitString: "B'{digits}'",
    syntax.Truth: "{value:TRUE|FALSE|UNKNOWN}",
    syntax.Null: "NULL",
    syntax.TypedLiteral: "{type} {text!q}",
    syntax.IntervalLiteral: "INTERVAL {text!q} {qualifier}",
    syntax.AsBitstream: "ASBITSTREAM({source}{clauses})",
    syntax.Cast: "CAST({sources!a} AS {type}{ccsid: CCSID }{encoding: ENCODING }{format: FORMAT }{default: DEFAULT })",
    syntax.Extract: "EXTRACT({part!d} FROM {source})",
    syntax.InUnits: "({expression!e}) {qualifier}",
    syntax.ListOf: "LIST{{{elements}}}",
    syntax.Overlay: "OVERLAY({source} PLACING {replacement} FROM {start}{length: FOR })",
    syntax.PositionCall: "POSITION({search!v} IN {source!v}{start!v: FROM }{repeat!v: REPEAT })",
    syntax.Quantified: "FOR {quantifier} {source}{correlation!d: AS } ({condition!e})",
    syntax.Round: "ROUND({source}, {places}{mode!d: MODE })",
    syntax.Row: "ROW({columns})",
    syntax.Substring: "SUBSTRING({source} {preposition} {start}{length: FOR })",
}


def _at_level(level: int, write: Callable[[Any], str]) -> Callable[[Any], tuple[int, str]]:
    return lambda node: (level, write(node))


_WRITERS: dict[type, Callable[[Any], tuple[int, str]]] = {
    syntax.Integer: lambda node: (_TIGHTEST, f"0x{node.value:X}" if node.hexadecimal else str(node.value)),
    syntax.Path: lambda node: (_TIGHTEST, path(node)),
    syntax.Unary: _unary,
    syntax.Operation: _operation,
    syntax.Comparison: _comparison,
    syntax.Is: lambda node: (_IS, f"{expression(node.operand, _IS)} IS {_not(node)}{node.state}"),
    syntax.Between: _between,
    syntax.In: lambda node: (_IN, f"{expression(node.operand, _IN)} {_not(node)}IN ({each(node.choices)})"),
    syntax.Like: _like,
    syntax.Call: _call,
    syntax.Case: _case,
    syntax.Trim: _trim,
    syntax.PassthruCall: lambda node: (
        _TIGHTEST,
        "PASSTHRU" + passthru_in_parentheses(node.sql, node.values, node.database),
    ),
    syntax.Select: _at_level(_LOOSEST, template("SELECT {columns}{item:ITEM } FROM {sources}{condition: WHERE }")),
    **{kind: _at_level(_TIGHTEST, template(text)) for kind, text in _TEMPLATES.items()},
}
