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


def tuples(items, least=0, most=3):
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def optional(items):
    return st.none() | items


qualifiers = st.one_of(
    st.builds(syntax.Qualifier, st.sampled_from(("YEAR", "MONTH", *UNITS))),
    st.just(syntax.Qualifier("YEAR", "MONTH")),
    st.sampled_from([syntax.Qualifier(a, b) for i, a in enumerate(UNITS) for b in UNITS[i + 1 :]]),
)
plain_types = st.one_of(
    st.builds(
        syntax.DataType,
        st.sampled_from(PLAIN_TYPES),
    ),
    qualifiers.map(lambda units: syntax.DataType("INTERVAL", qualifier=units)),
)
all_types = plain_types | st.just(syntax.DataType("REFERENCE"))
cast_types = plain_types | st.builds(
    syntax.DataType, st.just("DECIMAL"), st.integers(1, 34), optional(st.integers(0, 20))
)

literals = st.one_of(
    st.builds(syntax.Integer, st.integers(0, 2**70), truths),
    st.builds(syntax.Number, st.from_regex(r"(0|[1-9][0-9]{0,3})\.[0-9]{0,3}(E[+-]?[0-9]{1,2})?", fullmatch=True)),
    st.builds(syntax.String, texts),
    st.binary(max_size=3).map(lambda data: syntax.HexString(data.hex().upper())),
    st.builds(syntax.BitString, st.text("01", max_size=5)),
    st.builds(syntax.Truth, st.sampled_from((True, False, None))),
    st.just(syntax.Null()),
    st.builds(
        syntax.TypedLiteral,
        st.sampled_from(("DATE", "TIME", "TIMESTAMP", "GMTTIME", "GMTTIMESTAMP", "DECIMAL")),
        texts,
    ),
    st.builds(syntax.IntervalLiteral, texts, qualifiers),
)


def field_names(expressions):
    computed = st.builds(syntax.ComputedName, expressions)
    return st.one_of(st.builds(syntax.Name, names), st.just(syntax.AnyName()), computed)


def indexes(expressions):
    return st.one_of(
        st.just(syntax.IndexAll()),
        st.builds(syntax.IndexAt, expressions),
        st.builds(syntax.IndexFromStart, optional(expressions)),
        st.builds(syntax.IndexFromEnd, optional(expressions)),
    )


def steps(expressions):
    index = indexes(expressions)
    named = st.builds(
        syntax.Step,
        field_names(expressions),
        optional(field_names(expressions)),
        tuples(expressions, 0, 2),
        optional(index),
    )
    # a typed step with neither a name nor an index takes the word behind it for its name: see the table of paths
    return named | st.builds(syntax.Step, types=tuples(expressions, 0, 2), index=index)


def paths(expressions):
    return st.builds(syntax.Path, names, tuples(steps(expressions)), optional(indexes(expressions)))


def relative_paths(expressions):
    return st.builds(syntax.RelativePath, tuples(steps(expressions), 1, 2))


def operators(some):
    few = tuples(some, 2, 4)
    return st.one_of(
        st.builds(syntax.Unary, st.sampled_from(("NOT", "-", "+")), some),
        st.builds(syntax.Operation, st.sampled_from(("AND", "OR", "+", "-", "*", "/", "||")), few),
        st.builds(syntax.Comparison, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), some, some),
        st.builds(
            syntax.Is,
            some,
            st.sampled_from(("NULL", "TRUE", "FALSE", "UNKNOWN", "INF", "+INF", "-INF", "NAN", "NUM")),
            truths,
        ),
        st.builds(syntax.Between, some, some, some, truths, truths),
        st.builds(syntax.In, some, tuples(some, 1), truths),
        st.builds(syntax.Like, some, some, optional(some), truths),
        st.builds(syntax.InUnits, some, qualifiers),
    )


def functions(some):
    maybe = optional(some)
    return st.one_of(
        st.builds(syntax.Call, tuples(names, 1, 3), tuples(some)),
        st.builds(syntax.Case, maybe, tuples(st.builds(syntax.CaseBranch, some, some), 1), maybe),
        st.builds(syntax.Cast, tuples(some, 1), cast_types, maybe, maybe, maybe, maybe),
        st.builds(syntax.Extract, st.sampled_from(("YEAR", "DAYOFWEEK", "IN")), some),
        st.builds(syntax.PositionCall, some, some, maybe, maybe),
        st.builds(syntax.Substring, some, st.sampled_from(("FROM", "BEFORE", "AFTER")), some, maybe),
        st.builds(syntax.Overlay, some, some, some, maybe),
        st.builds(syntax.Trim, some, optional(st.sampled_from(("LEADING", "TRAILING", "BOTH"))), maybe),
        st.builds(syntax.Round, some, some, optional(names)),
        st.builds(syntax.AsBitstream, some, bitstream_clauses(some)),
        st.builds(syntax.PassthruCall, some, tuples(some), optional(paths(some))),
    )


def bitstream_clauses(some):
    maybe = optional(some)
    return st.builds(syntax.BitstreamClauses, maybe, maybe, maybe, maybe, maybe, maybe)


def lists(some):
    column = st.builds(syntax.Column, some, optional(relative_paths(some)))
    counted = st.builds(syntax.Aggregate, st.sampled_from(("COUNT", "MAX", "MIN", "SUM")), some)
    aggregate = counted | st.just(syntax.Aggregate("COUNT", None))
    selected = st.one_of(
        column, st.just(syntax.AllColumns()), st.builds(syntax.Column, aggregate, optional(relative_paths(some)))
    )
    sources = tuples(st.builds(syntax.FromItem, some, optional(names)), 1, 2)
    return st.one_of(
        st.builds(syntax.Select, tuples(selected, 1), st.none(), sources, optional(some)),
        st.builds(syntax.Select, st.just(()), some | aggregate, sources, optional(some)),
        st.builds(syntax.Row, tuples(column)),
        st.builds(syntax.ListOf, tuples(some)),
        st.builds(syntax.Quantified, st.sampled_from(("ALL", "ANY", "SOME")), paths(some), optional(names), some),
    )


expressions = st.recursive(
    literals | st.builds(syntax.Path, names),
    lambda some: st.one_of(operators(some), functions(some), lists(some), paths(some)),
    max_leaves=6,
)
small = st.recursive(literals | st.builds(syntax.Path, names), lambda some: operators(some) | paths(some), max_leaves=3)
maybe = optional(small)
fields = paths(small)
labels = optional(names)
values = tuples(small)
namespaces = st.one_of(st.none(), st.just(syntax.AnyName()), small)


def inserts(rows):
    return st.integers(0, 3).flatmap(
        lambda width: st.builds(syntax.Insert, fields, tuples(names, width, width), tuples(rows, width, width))
    )


declarations = st.one_of(
    st.builds(
        syntax.Declare, tuples(names, 1), plain_types, maybe, optional(st.sampled_from(("SHARED", "EXTERNAL"))), truths
    ),
    st.builds(syntax.Declare, tuples(names, 1), st.just(syntax.DataType("REFERENCE")), fields),
)
parses = st.builds(syntax.Parse, small, bitstream_clauses(small))
create_fields = st.builds(
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
    st.builds(syntax.Attach, fields, fields, PLACEMENTS),
    st.builds(syntax.Detach, fields),
    create_fields,
    st.builds(syntax.DeleteField, fields, optional(PLACEMENTS)),
    st.builds(syntax.MoveTo, fields, fields),
    st.builds(syntax.MoveBy, fields, st.just("PARENT")),
    st.builds(syntax.MoveBy, fields, PLACEMENTS, maybe, namespaces, maybe, optional(relative_paths(small))),
    st.builds(syntax.MoveRepeat, fields, PLACEMENTS, truths, truths),
    st.builds(
        syntax.SetStatement, fields, expressions, optional(st.sampled_from(("TYPE", "NAMESPACE", "NAME", "VALUE")))
    ),
    st.builds(syntax.Eval, small),
)
database_statements = st.one_of(
    inserts(small),
    st.builds(syntax.Update, fields, tuples(st.builds(syntax.ColumnChange, fields, small), 1), labels, maybe),
    st.builds(syntax.DeleteFrom, fields, labels, maybe),
    st.builds(syntax.Passthru, small, values, optional(fields)),
    st.builds(syntax.Commit, optional(fields)),
    st.builds(syntax.Rollback, optional(fields)),
)
controls = st.one_of(
    st.just(syntax.Empty()),
    st.builds(syntax.CallStatement, tuples(names, 1), values, optional(fields), maybe, optional(fields)),
    st.builds(syntax.Iterate, names),
    st.builds(syntax.Leave, names),
    st.builds(syntax.Log, truths, truths, truths, maybe, maybe, maybe, optional(values)),
    st.builds(syntax.Throw, maybe, maybe, maybe, optional(values)),
    st.builds(
        syntax.Propagate,
        maybe,
        st.none(),
        maybe,
        maybe,
        maybe,
        optional(st.sampled_from(("DEFAULT", "NONE"))),
        optional(st.sampled_from(("DEFAULT", "NONE"))),
    ),
    st.builds(syntax.Propagate, label=small),
    st.just(syntax.Resignal()),
    st.builds(syntax.Return, optional(expressions)),
)
conditions = st.one_of(
    st.builds(syntax.HandlerCondition, st.just("SQLSTATE"), texts),
    st.builds(syntax.HandlerCondition, st.just("LIKE"), texts, optional(texts)),
    st.builds(syntax.HandlerCondition, st.sampled_from(("SQLEXCEPTION", "SQLWARNING", "FOUND"))),
)


def blocks(inner):
    body = tuples(inner)
    return st.one_of(
        st.builds(syntax.Compound, body, st.sampled_from((None, True, False)), labels),
        st.builds(
            syntax.CaseStatement, maybe, tuples(st.builds(syntax.CaseStatementBranch, small, body), 1), optional(body)
        ),
        st.builds(syntax.If, tuples(st.builds(syntax.IfBranch, small, body), 1), optional(body)),
        st.builds(syntax.For, names, small, body, labels),
        st.builds(syntax.Loop, body, labels),
        st.builds(syntax.Repeat, body, small, labels),
        st.builds(syntax.While, small, body, labels),
        st.builds(syntax.DeclareHandler, st.sampled_from(("CONTINUE", "EXIT")), tuples(conditions, 1), inner),
    )


statements = st.recursive(st.one_of(tree_statements, database_statements, controls, declarations), blocks, max_leaves=5)
nullable = st.sampled_from((None, True, False))
parameters = st.builds(
    syntax.Parameter, names, all_types, optional(st.sampled_from(("IN", "OUT", "INOUT"))), truths, nullable
)
hosts = st.tuples(
    st.sampled_from(("ASSEMBLY", "APPDOMAIN", "VERSION", "CULTURE", "PUBLICKEYTOKEN", "CLASSLOADER")), names
)
externals = st.builds(syntax.External, names, tuples(hosts))
routines = st.builds(
    syntax.Routine,
    st.sampled_from(("FUNCTION", "PROCEDURE")),
    names,
    tuples(parameters),
    statements | externals,
    optional(st.builds(syntax.Returns, all_types, nullable)),
    optional(st.sampled_from(("ESQL", "JAVA", "DATABASE", ".NET", "CLR"))),
    optional(st.integers(0, 9)),
)
declared = declarations | routines | st.just(syntax.Empty())
modules = st.builds(
    syntax.Module, st.sampled_from(("COMPUTE", "FILTER", "DATABASE", "DATABASEEVENT")), names, tuples(declared)
)
dotted = tuples(names, 1)
prologues = st.builds(syntax.Prologue, dotted, tuples(dotted)) | st.builds(
    syntax.Prologue, st.none(), tuples(dotted, 1)
)
files = st.builds(syntax.Program, tuples(declared | modules), optional(prologues))
node_texts = st.builds(syntax.Program, tuples(statements | routines))


# one strategy for each group of nodes: together they make every node
groups = (
    literals, small, operators(small), functions(small), functions(small), functions(small), lists(small), fields,
    create_fields, create_fields, parses, tree_statements, tree_statements, database_statements, controls, controls,
    declarations, blocks(st.just(syntax.Empty())), routines, modules, prologues, conditions, cast_types,
    st.builds(syntax.Program, st.just((syntax.Empty(),)), prologues),
)  # fmt: skip
