"""The rules about names that a class, a module or engine.tree keeps to itself, and made-up modules that try them."""

import ast
import re
from collections.abc import Iterator

from tests.sources import Source, imports, within

# What other people's packages, and named tuples, have behind one underscore and mean to be used.
FOREIGN_NAMES = (
    *("_replace", "_asdict", "_make", "_fields", "_field_defaults"),  # named tuples
    *(
        "_exit",
        "_attributes",
        "_interp",
        "_Element",
        "_Comment",
        "_Entity",
        "_coverage_plugin_name",
    ),  # os, ast, antlr4, lxml, coverage
    *("_jvm", "_jsc", "_jsparkSession"),  # pyspark
)
# What the modules of engine.tree share of an element: nobody else touches the first, nor sets the others.
OWN_OF_TREE = ("found_by_step", "found_by_place", "indexes", "previous_linked")
SET_BY_TREE = ("raw_type", "raw_value", "first_linked", "last_linked", "next_linked")
TREE_MODULES = ("engine.tree.links", "engine.tree.links")


def own_names(class_: ast.ClassDef) -> set[str]:
    """The names that a class gives its instances: methods and fields of its body, slots, and what is set on self."""
    names = {node.name for node in class_.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for node in ast.walk(class_):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
                names.update(str(part.value) for part in ast.walk(value) if isinstance(part, ast.Constant))
            case ast.AnnAssign(target=ast.Name(id=name)) if node in class_.body:
                names.add(name)
    return names


def private_names(src: Source) -> Iterator[str]:
    """A name with an underscore in front is used on self, cls and super(), in the body of a class that has it as well
    on other instances, and nowhere else; nor is one imported from another module.
    """

    def visit(node: ast.AST, own: set[str]) -> Iterator[str]:
        if isinstance(node, ast.ClassDef):
            own = own_names(node)
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super"))):
                pass
            case ast.Attribute(attr=name) if re.match("_[^_]", name) and name not in own and name not in FOREIGN_NAMES:
                yield src.at(node, f"uses {name} of another class; make it public there, with a sentence of its own")
            case ast.ImportFrom(names=aliases):
                for alias in aliases:
                    if re.match("_[^_]", alias.name) and alias.name not in FOREIGN_NAMES:
                        yield src.at(node, f"imports {alias.name}; make it public in its module, or move what uses it")
        for child in ast.iter_child_nodes(node):
            yield from visit(child, own)

    yield from visit(src.tree, set())


def inside_of_tree(src: Source) -> Iterator[str]:
    """What engine.tree keeps of an element is its own."""
    if within(src.module, "engine.tree"):
        return
    for node, target in imports(src):
        if any(within(target, inside) for inside in TREE_MODULES):
            yield src.at(
                node, f"imports {target}, which is the inside of engine.tree: ask Element or engine.tree.sharing"
            )
    for node in ast.walk(src.tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self")):
                pass
            case ast.Attribute(attr=name, ctx=context) if name in OWN_OF_TREE or (
                name in SET_BY_TREE and not isinstance(context, ast.Load)
            ):
                yield src.at(node, f"touches {name} of an element; let a method of engine.tree do it")


# One row a case: the rule, a made-up file, its text, and a part of the problem that is to be found (None: it is fine).
PRIVATE_CASES = (
    (private_names, "nodes/x.py", "def f(element):\n    return element._value", ":2: uses _value of another class"),
    (private_names, "nodes/x.py", "class A:\n    def f(self, other):\n        return other._value", ":3: uses _value"),
    (private_names, "nodes/x.py", "class A:\n    def f(self, other):\n        self._v = other._v", None),
    (
        private_names,
        "nodes/x.py",
        "class A:\n    __slots__ = ('_v',)\n    def f(self, b):\n        del b._v",
        None,
    ),
    (
        private_names,
        "nodes/x.py",
        "class A:\n  _v: int\nclass B:\n    def f(self, a):\n        a._v()",
        ":5: uses _v",
    ),
    (private_names, "nodes/x.py", "class A:\n    def f(self):\n        self._v.w = super()._f(self._g()._h)", "_h"),
    (private_names, "nodes/x.py", "row._replace(x=module.__name__)", None),
    (private_names, "nodes/x.py", "from engine.tree.element import _LINKS", ":1: imports _LINKS"),
    (inside_of_tree, "nodes/x.py", "element.raw_value = element.raw_type", ":1: touches raw_value"),
    (inside_of_tree, "nodes/x.py", "found = element.found_by_step", ":1: touches found_by_step"),
    (inside_of_tree, "nodes/x.py", "from engine.tree.links import expand", ":1: imports engine.tree.links.expand"),
    (inside_of_tree, "engine/tree/x.py", "from engine.tree import links\nelement.raw_value = 1", None),
)
