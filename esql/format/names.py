"""Names as text: in quotes only where they would not be read as the same name without."""

import re

from esql.names.predefined import FORMS, LITERALS, OPERATORS, RESERVED, STATEMENTS

_PLAIN = re.compile(r"[^\W\d]\w*")


def quoted(name: str) -> str:
    """Write a name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def _quoted_if(name: str, words: frozenset[str]) -> str:
    return name if _PLAIN.fullmatch(name) and name.upper() not in words else quoted(name)


def declared(name: str) -> str:
    """Write a name where it is declared or called by CALL."""
    return _quoted_if(name, RESERVED)


def parameter(name: str) -> str:
    """Write the name of a parameter, where a direction may stand before it."""
    return _quoted_if(name, RESERVED | {"IN", "OUT", "INOUT"})


def dotted(parts: tuple[str, ...]) -> str:
    """Write the parts of a schema or of a routine's name."""
    return ".".join(declared(part) for part in parts)


def used(name: str) -> str:
    """Write a name where an expression or a path starts with it."""
    return _quoted_if(name, RESERVED | LITERALS | FORMS)


def field(name: str) -> str:
    """Write a name of a field in a path."""
    return _quoted_if(name, frozenset())


def typed_field(name: str) -> str:
    """Write a name of a field behind a type, where an operator may stand instead."""
    return _quoted_if(name, RESERVED | OPERATORS)


def label(name: str) -> str:
    """Write a label."""
    return _quoted_if(name, RESERVED | LITERALS | FORMS | STATEMENTS)
