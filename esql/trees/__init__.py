"""Trees: what ESQL statements do to message trees, and how they find their way in them.

A reference variable is an element; a list is a Python list of scalars, elements and rows; a row is an element without
a parent. A field that is taken out of its tree stays what it is for those who refer to it: they may go on reading and
changing it, and nothing of that reaches a message.
"""

from esql.runtime.limits import Nodes
from esql.trees.assigning import (
    copy_of,
    create,
    create_from,
    create_identity,
    create_repeat,
    ensure_any,
    ensure_last,
    ensure_like,
    ensure_nth,
    give_child,
    identify,
    set_child,
    set_field,
    set_list,
    set_name,
    set_namespace,
    set_type,
)
from esql.trees.bits import parse, set_domain
from esql.trees.places import attach, delete, delete_child, delete_from, detach, each, move, move_repeat, path_of

__all__ = [
    "Nodes",
    "attach",
    "copy_of",
    "create",
    "create_from",
    "create_identity",
    "create_repeat",
    "delete",
    "delete_child",
    "delete_from",
    "detach",
    "each",
    "ensure_any",
    "ensure_last",
    "ensure_like",
    "ensure_nth",
    "give_child",
    "identify",
    "move",
    "move_repeat",
    "parse",
    "path_of",
    "set_child",
    "set_domain",
    "set_field",
    "set_list",
    "set_name",
    "set_namespace",
    "set_type",
]
