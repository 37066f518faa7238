"""Names -> what they refer to: every name of a program is looked up once, here.

>>> from esql.read import read_statements
>>> program = read_statements("DECLARE i INTEGER 1; SET OutputRoot.XML.n = i;", "Compute")
>>> found = resolve(program, "COMPUTE")
>>> target, source = (visit.node for visit in found.each(syntax.Path))
>>> found.of(target).tree, found.of(source).role, found.type_of(source)
('OutputRoot', 'text', 'INTEGER')
"""

from __future__ import annotations

from collections.abc import Sequence

from esql import syntax
from esql.names.predefined import KINDS
from esql.scope.deployed_routines import File, Library, RoutineFacts, body_may_propagate, routine_facts
from esql.scope.name_resolution import Walk
from esql.scope.references import (
    DeclaredRoutine,
    Duplicate,
    Missing,
    Place,
    Reference,
    Resolution,
    Scope,
    Variable,
    Visit,
)
from esql.scope.types import types_of

__all__ = [
    "DeclaredRoutine", "Duplicate", "File", "Library", "Missing", "Place", "Reference", "Resolution", "RoutineFacts",
    "Scope", "Variable", "Visit", "body_may_propagate", "resolve", "routine_facts",
]  # fmt: skip


def resolve(
    program: syntax.Program, kind: str | None = None, library: Library | None = None, *, is_text: bool = False
) -> Resolution:
    """Look up every name of a program; the kind is that of the node whose property the text is, None for a file.

    With `is_text` it is a text of EVAL, which may stand outside modules, where the kind is not known.
    """
    library = library or Library()
    kind = kind or library.file(program).kind
    if kind is not None and kind.upper() not in KINDS:
        raise ValueError(f"no node kind is called {kind}: {', '.join(KINDS)}, or None for a file")
    has_modules = any(isinstance(statement, syntax.Module) for statement in program.statements)
    known = "" if kind is None or has_modules or program.prologue is not None else kind.upper()
    walk = Walk(program, known, library, is_file=not known and not is_text)
    walk.run()
    return Resolution(
        program,
        known,
        walk.references,
        types_of(walk.visits, walk.references),
        tuple(walk.visits),
        _by_kind(walk.visits),
        tuple(walk.routines),
        tuple(walk.missing),
        tuple(walk.duplicates),
        tuple(schema for schema in walk.callables.schemas[1:] if not library.has(schema)),
    )


def _by_kind(visits: Sequence[Visit]) -> dict[type, tuple[Visit, ...]]:
    kinds: dict[type, list[Visit]] = {}
    for visit in visits:
        kinds.setdefault(type(visit.node), []).append(visit)
    return {kind: tuple(found) for kind, found in kinds.items()}
