"""The shape of the source: who may import whom, how long a module may be, where state may live.

Every rule reads the source with the standard library's ast and runs nothing. Imports inside functions and under
`if TYPE_CHECKING` count like any other. Not seen: what a catalogue loads by name, which is the way past these rules
that DESIGN.md section 2 provides.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.imports_allowed import (
    COMPOSITION_ROOTS,
    IMPORTED_ONLY_BY,
    IMPORTERS_OF_ROOTS,
    MAY_IMPORT,
    THIRD_PARTY,
)
from tests.private_names import PRIVATE_CASES, inside_of_tree, private_names
from tests.sources import PACKAGES, ROOT, Source, imports, source, sources, within

LONGEST_MODULE = 400

# What turns data into code, and where it may happen.
DANGEROUS_MODULES = ("pickle", "marshal", "shelve", "dill", "cloudpickle")
DANGEROUS_CALLS = ("eval", "exec")
DANGER_ALLOWED = {
    (
        "esql.runtime.linker",
        "exec",
    ): "runs the code object built from a checked Python ast; user text is only ever a constant",
    ("esql.cache", "marshal"): "keeps Penstock's own code as .pyc files do; DESIGN.md section 5 says how",
}

FORBIDDEN_NAMES = re.compile(r"_*(utils?|commons?|helpers?|base|misc)")
QUESTION_WORDS = ("What", "Whether", "Who", "Where", "How", "Which", "When")
CONSTANT_NAME = re.compile(r"_*[A-Z][A-Z0-9_]*|__\w+__")
MUTABLE_CALLS = (
    *("dict", "list", "set", "bytearray", "deque", "defaultdict", "OrderedDict", "Counter", "ChainMap"),
    *("count", "cycle", "iter", "local", "Lock", "RLock", "ContextVar", "WeakKeyDictionary", "WeakValueDictionary"),
)
# Calls whose result holds nothing that changes, and the registers that are filled while modules are imported.
SETTLED_CALLS = (
    *("frozenset", "tuple", "namedtuple", "NewType", "TypeVar", "ParamSpec", "getLogger", "partial"),
    *("attrgetter", "itemgetter", "methodcaller", "Struct", "compile", "MappingProxyType", "version"),
    *("Catalog", "Catalogue", "Register", "Typer"),
)
MUTATORS = (
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft"),
    *("remove", "reverse", "setdefault", "sort", "update"),
)
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)


def row_of(module: str) -> str:
    return max((row for row in MAY_IMPORT if within(module, row)), key=len, default="")


def foreign_imports(src: Source) -> Iterator[str]:
    """Our own packages import each other as MAY_IMPORT says."""
    row = row_of(src.module)
    once = {(node, row_of(target)): (node, target) for node, target in imports(src)}
    for node, target in once.values():
        if target.partition(".")[0] not in PACKAGES or row_of(target) == row != "engine":
            continue
        root = next((root for root in COMPOSITION_ROOTS if within(target, root)), None)
        if root and row not in IMPORTERS_OF_ROOTS and not within(src.module, root):
            yield src.at(
                node, f"imports {target}, but nothing imports the composition root {root}; move what is shared"
            )
        elif not any(within(target, allowed) for allowed in MAY_IMPORT[row]):
            allowed = ", ".join(MAY_IMPORT[row]) or "nothing of ours"
            known = f"{row} may import {allowed}; look it up through a catalogue, or move what both need further down"
            new = f"{src.module} has no row in MAY_IMPORT; add it there and to DESIGN.md section 2"
            yield src.at(node, f"imports {target}, but {new if row == 'engine' != src.module else known}")


def packages_from_outside(src: Source) -> Iterator[str]:
    """Some modules do without third-party packages, and some packages have one door."""
    rows = [row for row in THIRD_PARTY if within(src.module, row)]
    for node, target in imports(src):
        top = target.partition(".")[0]
        for owned, owner in IMPORTED_ONLY_BY.items():
            if within(target, owned) and not within(src.module, owner):
                yield src.at(node, f"imports {target}; only {owner} imports {owned}: ask {owner} for what you need")
        if top in PACKAGES or top in sys.stdlib_module_names:
            continue
        for row in rows:
            if top not in THIRD_PARTY[row]:
                allowed = ", ".join(("the standard library", *THIRD_PARTY[row]))
                yield src.at(node, f"imports {top}, but {row} gets by on {allowed}; do this work elsewhere")


def import_time(body: list[ast.stmt], in_class: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Statements that run when the module is imported, each with whether it stands in a class body."""
    for node in body:
        yield node, in_class
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from import_time(getattr(node, field, []), in_class or isinstance(node, ast.ClassDef))
        for handler in getattr(node, "handlers", []):
            yield from import_time(handler.body, in_class)


def callee(call: ast.Call) -> str:
    """The last word of what is called: `collections.deque(...)` is deque."""
    function = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def changeable(value: ast.expr | None, in_class: bool) -> bool:
    match value:
        case ast.Call():
            return callee(value) in MUTABLE_CALLS if in_class else callee(value) not in SETTLED_CALLS
        case ast.IfExp(body=one, orelse=other):
            return changeable(one, in_class) or changeable(other, in_class)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
            return any(changeable(part, in_class) for part in parts)
        case _:
            return isinstance(value, DISPLAYS)


def bindings(src: Source) -> Iterator[tuple[ast.stmt, str, bool]]:
    """Names bound at import to something that can change, each with whether it stands in a class body."""
    for node, in_class in import_time(src.tree.body):
        if isinstance(node, ast.Assign | ast.AnnAssign) and changeable(node.value, in_class):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((node, target.id, in_class) for target in targets if isinstance(target, ast.Name))


def changed_names(node: ast.AST) -> Iterator[str]:
    """Names whose content this one statement or call changes: NAME[k] = v, del NAME[k], NAME.append(v)."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in MUTATORS:
            yield name


def state(src: Source) -> Iterator[str]:
    """No module and no class holds state.

    At module level a name is bound to a display, a comprehension or a call's result only if it is in CAPITALS, or the
    call is one of SETTLED_CALLS. In a class body the same holds for displays, comprehensions and MUTABLE_CALLS (other
    calls there declare fields). What is in capitals stays as it was written: no function of the module changes it.
    """
    constants = set()
    for node, name, in_class in bindings(src):
        if CONSTANT_NAME.fullmatch(name):
            constants.add(name)
        elif in_class:
            yield src.at(
                node, f"{name} is shared by all instances; use field(default_factory=...) or name it in CAPITALS"
            )
        else:
            yield src.at(node, f"{name} is state on a module; make it inside the function that needs it and pass it on")
    functions = [f for f in ast.walk(src.tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    for inside in dict.fromkeys(inside for function in functions for inside in ast.walk(function)):
        for name in constants.intersection(changed_names(inside)):
            yield src.at(inside, f"changes the constant {name}; hold what changes in an object that is passed on")


def length(src: Source) -> Iterator[str]:
    lines = src.text.count("\n")
    if lines > LONGEST_MODULE:
        yield f"{src.path}:{lines}: {lines} lines, the limit is {LONGEST_MODULE}; split it by what a reader looks for"


def names(src: Source) -> Iterator[str]:
    for part in src.module.split("."):
        if FORBIDDEN_NAMES.fullmatch(part):
            yield f"{src.path}:1: a module called {part} says nothing; name it after what is found in it"


def docstring(src: Source) -> Iterator[str]:
    if not ast.get_docstring(src.tree):
        yield f"{src.path}:1: no docstring; say in one sentence what is found here"


def riddles(src: Source) -> Iterator[str]:
    for node in ast.walk(src.tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").partition(" ")[0]
            if first in QUESTION_WORDS:
                yield src.at(node, f"a docstring begins with {first}: write a sentence with a subject and a verb")


def printing(src: Source) -> Iterator[str]:
    if within(src.module, "engine.cli"):
        return
    for node in ast.walk(src.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield src.at(node, "prints; return the text, only engine.cli talks to the terminal")


def danger(src: Source) -> Iterator[str]:
    """Nothing turns data into code or objects, but where DANGER_ALLOWED gives the reason."""
    found = [(node, target.partition(".")[0]) for node, target in imports(src)]
    used: list[tuple[ast.AST, str]] = [(node, name) for node, name in found if name in DANGEROUS_MODULES]
    for node in ast.walk(src.tree):
        match node:
            case (
                ast.Call(func=ast.Name(id=name))
                | ast.Call(func=ast.Attribute(value=ast.Name(id="builtins"), attr=name))
            ) if name in DANGEROUS_CALLS:
                used.append((node, name))
    for where, name in used:
        if (src.module, name) not in DANGER_ALLOWED:
            yield src.at(where, f"uses {name}; find a way without, or give the reason in DANGER_ALLOWED of this test")


Rule = Callable[[Source], Iterator[str]]
EVERYWHERE: tuple[Rule, ...] = (length, names, docstring)
IN_PACKAGES: tuple[Rule, ...] = (
    *(foreign_imports, packages_from_outside, state, riddles, printing, danger, private_names, inside_of_tree),
)


@pytest.mark.parametrize("rule", EVERYWHERE + IN_PACKAGES, ids=lambda rule: rule.__name__)
def test_source(rule: Rule) -> None:
    """The source keeps the rule; each problem is listed with its file and line and what to do."""
    looked_at = [src for src in sources() if rule in EVERYWHERE or within(src.module, row_of(src.module) or " ")]
    problems = [problem for src in looked_at for problem in rule(src)]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def test_every_package_of_the_wheel_is_read() -> None:
    """A package that pyproject.toml ships is one that these rules know, and a row covers each of its modules."""
    shipped = re.search(r"^packages = \[(.*)\]$", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert shipped
    assert set(PACKAGES) == set(re.findall(r'"(\w+)"', shipped[1]))
    assert "tests.test_architecture" in {src.module for src in sources()}
    assert all(row_of(package) for package in PACKAGES)


# One row a case: the rule, a made-up file, its text, and a part of the problem that is to be found (None: it is fine).
CASES: tuple[tuple[Rule, str, str, str | None], ...] = (
    (
        foreign_imports,
        "engine/runtime/deployment.py",
        "import nodes.compute",
        "engine/runtime/deployment.py:1: imports nodes.compute",
    ),
    (foreign_imports, "engine/runtime/deployment.py", "import os\nfrom engine import flow, tree", None),
    (foreign_imports, "engine/runtime/deployment.py", "from engine import mq", "imports engine.mq"),
    (foreign_imports, "engine/runtime/deployment.py", "from .. import mq", "imports engine.mq"),
    (foreign_imports, "engine/__init__.py", "from .tree import Element", "imports engine.tree.Element"),
    (foreign_imports, "engine/mq/store.py", "from ..broker import deploy", "imports engine.broker.deploy"),
    (foreign_imports, "engine/mq/store.py", "from .queue import Queue\nfrom ..tree import Element", None),
    (foreign_imports, "engine/newcomer.py", "import engine.tree.element", "engine.newcomer has no row"),
    (foreign_imports, "engine/tree/element.py", "from engine.errors import BrokerError", None),
    (
        foreign_imports,
        "engine/tree/element.py",
        "def f():\n    import engine.message.assembly",
        ":2: imports engine.message.assembly",
    ),
    (foreign_imports, "engine/tree/element.py", "if TYPE_CHECKING:\n    from engine.work import Work", ":2: imports"),
    (foreign_imports, "engine/broker.py", "import engine.cli.run", "composition root engine.cli"),
    (foreign_imports, "engine/cli/costs.py", "import engine.costs", None),
    (foreign_imports, "engine/runtime/deployment.py", "import engine.costs", "composition root engine.costs"),
    (foreign_imports, "engine/cli/run.py", "import engine.cli.show, engine.broker, nodes, flows.read", None),
    (foreign_imports, "esql/cast.py", "import parsers.mrm.numbers", "imports parsers.mrm.numbers"),
    (foreign_imports, "parsers/json.py", "from esql import values", "imports esql.values"),
    (foreign_imports, "nodes/compute.py", "from esql.compile import compile\nfrom engine.node import node", None),
    (foreign_imports, "nodes/compute.py", "import engine.broker", "imports engine.broker"),
    (foreign_imports, "nodes/reset.py", "import parsers.xml", "imports parsers.xml"),
    (foreign_imports, "flows/read.py", "import engine.flow.definition", None),
    (foreign_imports, "flows/read.py", "import nodes", "imports nodes"),
    (foreign_imports, "spark_exec/worker.py", "from engine.mq import Store", "imports engine.mq.Store"),
    (foreign_imports, "spark_exec/worker.py", "import nodes.compute", "imports nodes.compute"),
    (packages_from_outside, "engine/tree/element.py", "import lxml.etree", "imports lxml"),
    (packages_from_outside, "engine/tree/element.py", "import re, engine.errors", None),
    (packages_from_outside, "flows/read.py", "import yaml\nfrom lxml import etree", None),
    (packages_from_outside, "flows/read.py", "import networkx", "imports networkx"),
    (packages_from_outside, "esql/read.py", "from antlr4 import InputStream", None),
    (packages_from_outside, "esql/scope.py", "import antlr4", "only esql.read imports antlr4"),
    (packages_from_outside, "esql/check.py", "from .grammar.generated import ESQLParser", "only esql.read imports"),
    (state, "engine/x.py", "seen = {}", "engine/x.py:1: seen is state on a module"),
    (state, "engine/x.py", "if True:\n    seen: list[int] = [1]", ":2: seen is state"),
    (state, "engine/x.py", "try:\n    a = 1\nexcept E:\n    seen = set()", ":4: seen is state"),
    (state, "engine/x.py", "store = Store()", "store is state"),
    (state, "engine/x.py", "pair = (1, [])", "pair is state"),
    (state, "engine/x.py", "nodes = Catalogue[Node]('node')\n__all__ = ['x']\nfind = re.compile('x')", None),
    (state, "engine/x.py", "Rows = dict[str, int]\nDEFAULTS = {'a': 1}\n_SEEN = set()\nDEFAULTS['b'] = 2", None),
    (state, "engine/x.py", "_SEEN = set()\ndef f(x):\n    _SEEN.add(x)", ":3: changes the constant _SEEN"),
    (state, "engine/x.py", "CACHE = {}\nclass A:\n    def f(self):\n        CACHE[1] = 2", ":4: changes the constant"),
    (state, "engine/x.py", "CACHE = {}\ndef f():\n    del CACHE[1]", ":3: changes the constant"),
    (state, "engine/x.py", "ORDER = ['a']\ndef f():\n    order = list(ORDER)\n    order.append('b')", None),
    (state, "engine/x.py", "class A:\n    seen: ClassVar[list[int]] = []", ":2: seen is shared by all instances"),
    (state, "engine/x.py", "class A:\n    seen = collections.deque()", ":2: seen is shared"),
    (state, "engine/x.py", "class A:\n    seen: list[int] = field(default_factory=list)\n    __slots__ = ['a']", None),
    (state, "engine/x.py", "def f():\n    seen = []", None),
    (length, "engine/x.py", "x = 1\n" * 400, None),
    (length, "engine/x.py", "x = 1\n" * 401, "engine/x.py:401: 401 lines"),
    (names, "engine/utils.py", "", "engine/utils.py:1: a module called utils"),
    (names, "nodes/common/x.py", "", "called common"),
    (names, "nodes/database.py", "", None),
    (docstring, "nodes/x.py", "'''What is here.'''", None),
    (docstring, "nodes/x.py", "# What is here.\nimport os", "nodes/x.py:1: no docstring"),
    (riddles, "nodes/x.py", "def f():\n    'What a put returns.'", "nodes/x.py:1: a docstring begins with What"),
    (riddles, "nodes/x.py", "'Returns what was put.'", None),
    (printing, "nodes/x.py", "def f():\n    print(1)", "nodes/x.py:2: prints"),
    (printing, "engine/cli/run.py", "print(1)", None),
    (danger, "engine/x.py", "import pickle", "engine/x.py:1: uses pickle"),
    (danger, "engine/x.py", "def f():\n    from marshal import loads", ":2: uses marshal"),
    (danger, "engine/x.py", "eval('1')", "uses eval"),
    (danger, "engine/x.py", "builtins.exec(code)", "uses exec"),
    (danger, "esql/runtime/linker.py", "exec(code, names)", None),
    (danger, "esql/runtime/linker.py", "eval(code)", "uses eval"),
    (danger, "nodes/x.py", "self.exec('select')", None),
    (
        private_names,
        "nodes/x.py",
        "class A:\n    __slots__ = ('_v',)\n    def f(self, other):\n        del other._v",
        None,
    ),
    (
        private_names,
        "nodes/x.py",
        "class A:\n    _v: int\nclass B:\n    def f(self, a):\n        a._v()",
        ":5: uses _v",
    ),
)


@pytest.mark.parametrize(("rule", "path", "text", "expected"), CASES + PRIVATE_CASES)
def test_rule(rule: Rule, path: str, text: str, expected: str | None) -> None:
    """Each rule finds what it is there to find, and leaves alone what is fine."""
    problems = list(rule(source(path, text)))
    assert bool(problems) == (expected is not None), problems
    assert all((expected or "") in problem for problem in problems), problems
