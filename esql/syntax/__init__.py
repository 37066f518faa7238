"""The syntax tree of ESQL: plain frozen data, each node with its position in the text.

Other packages name every node by this one: `from esql import syntax`, and syntax.Path.
"""

# ruff: noqa: F403 - a node is named once, where it is defined
from esql.syntax.expressions import *
from esql.syntax.node import *
from esql.syntax.paths import *
from esql.syntax.routines import *
from esql.syntax.statements import *
from esql.text import Position as Position
