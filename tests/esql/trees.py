"""Strategies that make syntax trees: every node, in every place that the grammar allows it."""

from __future__ import annotations

from hypothesis import strategies as st

from esql import syntax

PLACEMENTS = st.sampled_from(("FIRSTCHILD", "LASTCHILD", "PREVIOUSSIBLING", "NEXTSIBLING"))
UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")
ODD_NAMES = ("a b", 'quo"te', "", "naïve", "x-y", "1st", "from", "Case", "true", "LAST", "Day", "select", "IN", "and")
PLAIN_NAMES = ("x", "InputRoot", "OutputRoot", "_y2", "name", "Type", "VALUE", "set", "End", "date", "message", "row1")
PLAIN_TYPES = (
    "BOOLEAN", "INTEGER", "FLOAT", "DECIMAL", "CHARACTER", "BLOB", "BIT", "DATE", "TIME", "TIMESTAMP", "GMTTIME",
    "GMTTIMESTAMP", "INTERVAL", "ROW", "NAMESPACE", "NAME",
)  # fmt: skip

names = st.sampled_from(PLAIN_NAMES + ODD_NAMES)
texts = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_categories=("Cc", "Cs")) | st.just("\n"), max_size=6
)
truths = st.booleans()


MADE = set()


def node(kind, *parts, **named_parts):
    """Make nodes of a kind, and write down that there is a strategy for it."""
    MADE.add(kind)
    return st.builds(kind, *parts, **named_parts)


def tuples(items, least=0, most=3):
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def optional(items):
    return st.none() | items


qualifiers = st.one_of(
    node(syntax.Qualifier, st.sampled_from(("YEAR", "MONTH", *UNITS))),
    st.just(syntax.Qualifier("YEAR", "MONTH")),
    st.sampled_from([syntax.Qualifier(a, b) for i, a in enumerate(UNITS) for b in UNITS[i + 1 :]]),
)
plain_types = st.one_of(
    node(
        syntax.DataType,
        st.sampled_from(PLAIN_TYPES),
    ),
    qualifiers.map(lambda units: syntax.DataType("INTERVAL", qualifier=units)),
)
all_types = plain_types | st.just(syntax.DataType("REFERENCE"))
cast_types = plain_types | node(syntax.DataType, st.just("DECIMAL"), st.integers(1, 34), optional(st.integers(0, 20)))

literals = st.one_of(
    node(syntax.Integer, st.integers(0, 2**70), truths),
    node(syntax.Number, st.from_regex(r"(0|[1-9][0-9]{0,3})\.[0-9]{0,3}(E[+-]?[0-9]{1,2})?", fullmatch=True)),
    node(syntax.String, texts),
    node(syntax.HexString, st.binary(max_size=3).map(lambda data: data.hex().upper())),
    node(syntax.BitString, st.text("01", max_size=5)),
    node(syntax.Truth, st.sampled_from((True, False, None))),
    node(syntax.Null),
    node(
        syntax.TypedLiteral,
        st.sampled_from(("DATE", "TIME", "TIMESTAMP", "GMTTIME", "GMTTIMESTAMP", "DECIMAL")),
        texts,
    ),
    node(syntax.IntervalLiteral, texts, qualifiers),
)


def field_names(expressions):
    computed = node(syntax.ComputedName, expressions)
    return st.one_of(node(syntax.Name, names), node(syntax.AnyName), computed)


def indexes(expressions):
    return st.one_of(
        node(syntax.IndexAll),
        node(syntax.IndexAt, expressions),
        node(syntax.IndexFromStart, optional(expressions)),
        node(syntax.IndexFromEnd, optional(expressions)),
    )


def steps(expressions):
    index = indexes(expressions)
    named = node(
        syntax.Step,
        field_names(expressions),
        optional(field_names(expressions)),
        tuples(expressions, 0, 2),
        optional(index),
    )
    # a typed step with neither a name nor an index takes the word behind it for its name: see the table of paths
    return named | node(syntax.Step, types=tuples(expressions, 0, 2), index=index)


def paths(expressions):
    return node(syntax.Path, names, tuples(steps(expressions)), optional(indexes(expressions)))


def relative_paths(expressions):
    return node(syntax.RelativePath, tuples(steps(expressions), 1, 2))


def operators(some):
    few = tuples(some, 2, 4)
    return st.one_of(
        node(syntax.Unary, st.sampled_from(("NOT", "-", "+")), some),
        node(syntax.Operation, st.sampled_from(("AND", "OR", "+", "-", "*", "/", "||")), few),
        node(syntax.Comparison, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), some, some),
        node(
            syntax.Is,
            some,
            st.sampled_from(("NULL", "TRUE", "FALSE", "UNKNOWN", "INF", "+INF", "-INF", "NAN", "NUM")),
            truths,
        ),
        node(syntax.Between, some, some, some, truths, truths),
        node(syntax.In, some, tuples(some, 1), truths),
        node(syntax.Like, some, some, optional(some), truths),
        node(syntax.InUnits, some, qualifiers),
    )


def functions(some):
    maybe = optional(some)
    return st.one_of(
        node(syntax.Call, tuples(names, 1, 3), tuples(some)),
        node(syntax.Case, maybe, tuples(node(syntax.CaseBranch, some, some), 1), maybe),
        node(syntax.Cast, tuples(some, 1), cast_types, maybe, maybe, maybe, maybe),
        node(syntax.Extract, st.sampled_from(("YEAR", "DAYOFWEEK", "IN")), some),
        node(syntax.PositionCall, some, some, maybe, maybe),
        node(syntax.Substring, some, st.sampled_from(("FROM", "BEFORE", "AFTER")), some, maybe),
        node(syntax.Overlay, some, some, some, maybe),
        node(syntax.Trim, some, optional(st.sampled_from(("LEADING", "TRAILING", "BOTH"))), maybe),
        node(syntax.Round, some, some, optional(names)),
        node(syntax.AsBitstream, some, bitstream_clauses(some)),
        node(syntax.PassthruCall, some, tuples(some), optional(paths(some))),
    )


def bitstream_clauses(some):
    maybe = optional(some)
    return node(syntax.BitstreamClauses, maybe, maybe, maybe, maybe, maybe, maybe)


def lists(some):
    column = node(syntax.Column, some, optional(relative_paths(some)))
    counted = node(syntax.Aggregate, st.sampled_from(("COUNT", "MAX", "MIN", "SUM")), some)
    aggregate = counted | st.just(syntax.Aggregate("COUNT", None))
    inserted = node(syntax.Column, some, st.none(), st.just(True))
    aggregated = node(syntax.Column, aggregate, optional(relative_paths(some)))
    selected = st.one_of(column, node(syntax.AllColumns), inserted, aggregated)
    sources = tuples(node(syntax.FromItem, some, optional(names)), 1, 2)
    return st.one_of(
        node(syntax.Select, tuples(selected, 1), st.none(), sources, optional(some)),
        node(syntax.Select, st.just(()), some | aggregate, sources, optional(some)),
        node(syntax.Row, tuples(column)),
        node(syntax.ListOf, tuples(some)),
        node(syntax.Quantified, st.sampled_from(("ALL", "ANY", "SOME")), paths(some), optional(names), some),
    )


expressions = st.recursive(
    literals | node(syntax.Path, names),
    lambda some: st.one_of(operators(some), functions(some), lists(some), paths(some)),
    max_leaves=6,
)
small = st.recursive(literals | node(syntax.Path, names), lambda some: operators(some) | paths(some), max_leaves=3)
maybe = optional(small)
fields = paths(small)
labels = optional(names)
values = tuples(small)
namespaces = st.one_of(st.none(), node(syntax.AnyName), small)


def inserts(rows):
    pairs = st.lists(st.tuples(names, rows), min_size=1, max_size=3)
    listed = pairs.map(lambda both: syntax.Insert(syntax.Path("Database"), *map(tuple, zip(*both, strict=True))))
    return node(syntax.Insert, fields, st.just(()), tuples(rows)) | listed


declarations = st.one_of(
    node(
        syntax.Declare, tuples(names, 1), plain_types, maybe, optional(st.sampled_from(("SHARED", "EXTERNAL"))), truths
    ),
    node(syntax.Declare, tuples(names, 1), st.just(syntax.DataType("REFERENCE")), fields),
)
parses = node(syntax.Parse, small, bitstream_clauses(small))
create_fields = node(
    syntax.CreateField,
    fields,
    optional(PLACEMENTS),
    labels,
    maybe,
    truths,
    maybe,
    namespaces,
    maybe,
    optional(relative_paths(small)),
    maybe,
    optional(fields),
    optional(parses),
)
tree_statements = st.one_of(
    node(syntax.Attach, fields, fields, PLACEMENTS),
    node(syntax.Detach, fields),
    create_fields,
    node(syntax.DeleteField, fields, optional(PLACEMENTS)),
    node(syntax.MoveTo, fields, fields),
    node(syntax.MoveBy, fields, st.just("PARENT")),
    node(syntax.MoveBy, fields, PLACEMENTS, maybe, namespaces, maybe, optional(relative_paths(small))),
    node(syntax.MoveRepeat, fields, PLACEMENTS, truths, truths),
    node(syntax.SetStatement, fields, expressions, optional(st.sampled_from(("TYPE", "NAMESPACE", "NAME", "VALUE")))),
    node(syntax.Eval, small),
)
database_statements = st.one_of(
    inserts(small),
    node(syntax.Update, fields, tuples(node(syntax.ColumnChange, fields, small), 1), labels, maybe),
    node(syntax.DeleteFrom, fields, labels, maybe),
    node(syntax.Passthru, small, values, optional(fields)),
    node(syntax.Commit, optional(fields)),
    node(syntax.Rollback, optional(fields)),
)
controls = st.one_of(
    node(syntax.Empty),
    node(syntax.CallStatement, tuples(names, 1), values, optional(fields), maybe, optional(fields)),
    node(syntax.Iterate, names),
    node(syntax.Leave, names),
    node(syntax.Log, truths, truths, truths, maybe, maybe, maybe, optional(values)),
    node(syntax.Throw, maybe, maybe, maybe, optional(values)),
    node(
        syntax.Propagate,
        maybe,
        st.none(),
        maybe,
        maybe,
        maybe,
        optional(st.sampled_from(("DEFAULT", "NONE"))),
        optional(st.sampled_from(("DEFAULT", "NONE"))),
    ),
    node(syntax.Propagate, label=small),
    node(syntax.Resignal),
    node(syntax.Return, optional(expressions)),
)
conditions = st.one_of(
    node(syntax.HandlerCondition, st.just("SQLSTATE"), texts),
    node(syntax.HandlerCondition, st.just("LIKE"), texts, optional(texts)),
    node(syntax.HandlerCondition, st.sampled_from(("SQLEXCEPTION", "SQLWARNING", "FOUND"))),
)


def blocks(inner):
    body = tuples(inner)
    return st.one_of(
        node(syntax.Compound, body, st.sampled_from((None, True, False)), labels),
        node(syntax.CaseStatement, maybe, tuples(node(syntax.CaseStatementBranch, small, body), 1), optional(body)),
        node(syntax.If, tuples(node(syntax.IfBranch, small, body), 1), optional(body)),
        node(syntax.For, names, small, body, labels),
        node(syntax.Loop, body, labels),
        node(syntax.Repeat, body, small, labels),
        node(syntax.While, small, body, labels),
        node(syntax.DeclareHandler, st.sampled_from(("CONTINUE", "EXIT")), tuples(conditions, 1), inner),
    )


statements = st.recursive(st.one_of(tree_statements, database_statements, controls, declarations), blocks, max_leaves=5)
nullable = st.sampled_from((None, True, False))
parameters = node(
    syntax.Parameter, names, all_types, optional(st.sampled_from(("IN", "OUT", "INOUT"))), truths, nullable
)
hosts = st.tuples(
    st.sampled_from(("ASSEMBLY", "APPDOMAIN", "VERSION", "CULTURE", "PUBLICKEYTOKEN", "CLASSLOADER")), names
)
externals = node(syntax.External, names, tuples(hosts))
routines = node(
    syntax.Routine,
    st.sampled_from(("FUNCTION", "PROCEDURE")),
    names,
    tuples(parameters),
    statements | externals,
    optional(node(syntax.Returns, all_types, nullable)),
    optional(st.sampled_from(("ESQL", "JAVA", "DATABASE", ".NET", "CLR"))),
    optional(st.integers(0, 9)),
)
declared = declarations | routines | node(syntax.Empty)
modules = node(
    syntax.Module, st.sampled_from(("COMPUTE", "FILTER", "DATABASE", "DATABASEEVENT")), names, tuples(declared)
)
dotted = tuples(names, 1)
prologues = node(syntax.Prologue, dotted, tuples(dotted)) | node(syntax.Prologue, st.none(), tuples(dotted, 1))
files = node(syntax.Program, tuples(declared | modules), optional(prologues))
node_texts = node(syntax.Program, tuples(statements | routines))


# one strategy for each group of nodes: together they make every node
groups = (
    literals, small, operators(small), functions(small), functions(small), functions(small), lists(small), fields,
    create_fields, create_fields, parses, tree_statements, tree_statements, database_statements, controls, controls,
    declarations, blocks(node(syntax.Empty)), routines, modules, prologues, conditions, cast_types,
    node(syntax.Program, st.just((syntax.Empty(),)), prologues),
)  # fmt: skip
