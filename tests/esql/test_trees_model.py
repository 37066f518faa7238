"""Sequences of SET, CREATE, DELETE, MOVE, DETACH and ATTACH against a naive model of nested lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BrokerError
from engine.message.received import new_root
from engine.parser import parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.step import step
from esql.trees.assignments import create, create_repeat, set_field, set_list, set_name
from esql.trees.moves import attach, delete, detach, each, move, move_repeat
from tests.esql.test_trees import body, received

PLACEMENTS = ("FIRSTCHILD", "LASTCHILD", "PREVIOUSSIBLING", "NEXTSIBLING")
DIRECTIONS = (*PLACEMENTS, "PARENT")
NAMES = ("a", "b", "c")


@dataclass(eq=False)
class Node:
    """A field of the model: everything is copied at once, and nothing is found but by walking."""

    name: str
    value: Any = None
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None

    def add(self, child: Node, at: int | None = None) -> Node:
        child.parent = self
        self.children.insert(len(self.children) if at is None else at, child)
        return child

    def twin(self) -> Node:
        made = Node(self.name, self.value)
        for child in self.children:
            made.add(child.twin())
        return made

    def take(self, other: Node) -> None:
        for child in self.children:
            child.parent = None
        self.value, self.children = other.value, []
        for child in list(other.children):
            self.add(child)

    def named(self, name: str) -> list[Node]:
        return [child for child in self.children if child.name == name]

    def out(self) -> None:
        if self.parent is None:
            self.take(Node(""))
        else:
            self.parent.children.remove(self)
            self.parent = None

    def place(self, made: Node, placement: str) -> bool:
        if placement == "FIRSTCHILD":
            self.add(made, 0)
        elif placement == "LASTCHILD":
            self.add(made)
        elif self.parent is None:
            return False
        else:
            self.parent.add(made, self.parent.children.index(self) + (placement == "NEXTSIBLING"))
        return True

    def lead(self, direction: str) -> Node | None:
        if direction == "PARENT":
            return self.parent
        if direction in {"FIRSTCHILD", "LASTCHILD"}:
            return self.children[0 if direction == "FIRSTCHILD" else -1] if self.children else None
        if self.parent is None:
            return None
        at = self.parent.children.index(self) + (1 if direction == "NEXTSIBLING" else -1)
        return self.parent.children[at] if 0 <= at < len(self.parent.children) else None

    def find(self, direction: str, name: str | None) -> Node | None:
        onward = {"FIRSTCHILD": "NEXTSIBLING", "LASTCHILD": "PREVIOUSSIBLING"}.get(direction, direction)
        at = self.lead(direction)
        while at is not None and name is not None and at.name != name:
            at = at.lead(onward)
        return at

    @property
    def holds(self) -> set[int]:
        return {id(self)}.union(*(child.holds for child in self.children))


Pair = tuple[Node, Element]


def shape(node: Node | Element) -> Any:
    """A field of either kind as nested tuples."""
    children = node.children if isinstance(node, Node) else list(node)
    return (node.name, node.value, *(shape(child) for child in children))


class World:
    """An output tree and an input tree, each with its model, and references into the output or what was part of it."""

    def __init__(self, output: Pair, source: Pair) -> None:
        self.output = output
        self.source = source
        self.references = [output, output]

    def step_down(self, at: Pair, name: str, number: int) -> Pair | None:
        """The n-th field of a name, in both; they must agree on whether there is one."""
        nodes, found = at[0].named(name), at[1].nth(step(name), number)
        node = nodes[number - 1] if 0 < number <= len(nodes) else None
        assert (node is None) == (found is None)
        return None if node is None or found is None else (node, found)

    def place(self, start: Pair, path: list[tuple[str, int]]) -> Pair:
        """Where a path leads, as far as it is there."""
        at = start
        for name, number in path:
            at = self.step_down(at, name, number) or at
        return at

    def run(self, action: str, which: int, path: list[tuple[str, int]], word: tuple[str, int], way: str) -> None:
        """Do one thing to both."""
        at = self.place(self.references[which], path)
        getattr(self, f"do_{action}")(which, at, *word, way)

    def do_set(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        nodes = at[0].named(name)
        if number > len(nodes) + 1:
            with pytest.raises(BrokerError):
                at[1].ensure_nth(step(name), number)
            return
        (nodes[number - 1] if number <= len(nodes) else at[0].add(Node(name))).value = number
        at[1].ensure_nth(step(name), number).value = number

    def do_copy(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        self._give(at, self.references[1 - which])

    def do_copy_source(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        self._give(at, self.place(self.source, [("a", 1), (name, number)]))

    def _give(self, target: Pair, source: Pair) -> None:
        if target[0] is not source[0]:
            target[0].take(source[0].twin())
        set_field(target[1], source[1])

    def do_list(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        other = self.references[1 - which]
        wanted = [*(child.twin() for child in other[0].children[:number]), Node("", 9)]
        nodes = at[0].named(name)
        for node, new in zip(nodes, wanted, strict=False):
            node.take(new)
        for new in wanted[len(nodes) :]:
            new.name = name
            at[0].add(new)
        for node in nodes[len(wanted) :]:
            node.out()
        set_list(at[1], step(name), [*list(other[1])[:number], 9])

    def do_delete(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        at[0].out()
        delete(at[1])

    def do_rename(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        at[0].name = name
        set_name(at[1], name)

    def do_create(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        self._create(which, at, name, way)

    def do_repeat(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        self._create(which, at, None, way)

    def _create(self, which: int, at: Pair, name: str | None, way: str) -> None:
        placement = "NEXTSIBLING" if way == "PARENT" else way
        node = Node(at[0].name if name is None else name)
        if not at[0].place(node, placement):
            with pytest.raises(BrokerError):
                create(at[1], placement, name)
            return
        made = create_repeat(at[1], placement) if name is None else create(at[1], placement, name)
        self.references[which] = (node, made)

    def do_move(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        self._moved(which, at[0].lead(way), move(at[1], way))
        self.references[which] = at
        self._moved(which, at[0].find(way, name), move(at[1], way, step(name)))
        self.references[which] = at
        self._moved(which, at[0].find(way, at[0].name), move_repeat(at[1], way, same_type=False, same_name=True))

    def _moved(self, which: int, node: Node | None, led: Element | None) -> None:
        assert (node is None) == (led is None)
        if node is not None and led is not None:
            assert shape(node) == shape(led)
            self.references[which] = (node, led)

    def do_carry(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        target = self.references[1 - which]
        placement = "LASTCHILD" if way == "PARENT" else way
        if at[0].parent is not None:
            at[0].out()
            detach(at[1])
        parent = target[0] if placement in {"FIRSTCHILD", "LASTCHILD"} else target[0].parent
        if parent is None or id(parent) in at[0].holds:
            with pytest.raises(BrokerError):
                attach(at[1], target[1], placement)
            return
        target[0].place(at[0], placement)
        attach(at[1], target[1], placement)

    def do_loop(self, which: int, at: Pair, name: str, number: int, way: str) -> None:
        """FOR over a list whose body deletes the one after, and adds one."""
        for item in each(list(at[1].every(step(name)))):
            assert isinstance(item, Element)
            later = item.next_sibling
            if later is not None:
                delete(later)
            at[1].ensure_nth(step(name), at[1].count(step(name)) + 1).value = 0
        for node in at[0].named(name):
            if node.parent is None:
                continue
            following = node.lead("NEXTSIBLING")
            if following is not None:
                following.out()
            at[0].add(Node(name, 0))

    def check(self) -> None:
        """Both say the same, also by ways that the engine has of its own."""
        assert shape(self.output[1]) == shape(self.output[0])
        for node, element in self.references:
            assert shape(element) == shape(node)
            assert (element.parent is None) == (node.parent is None)
            for name in NAMES:
                assert element.count(step(name)) == len(node.named(name))
        assert shape(self.source[1]) == shape(self.source[0])


def model_of(element: Element) -> Node:
    """The model of a tree as it is."""
    node = Node(element.name, element.value)
    for child in element:
        node.add(model_of(child))
    return node


def rendered(node: Node) -> str:
    """A field of the model as XML."""
    inside = "".join(["" if node.value is None else str(node.value), *(rendered(child) for child in node.children)])
    return f"<{node.name}>{inside}</{node.name}>" if inside else f"<{node.name}/>"


words = st.tuples(st.sampled_from(NAMES), st.integers(1, 3))
actions = st.tuples(
    st.sampled_from([name.removeprefix("do_") for name in vars(World) if name.startswith("do_")]),
    st.integers(0, 1),
    st.lists(words, max_size=3),
    words,
    st.sampled_from(DIRECTIONS),
)
DOCUMENT = b"<a><a>1</a><b><a>2</a><c><a>3</a></c><a>4</a></b><b>5</b><c/><a><b>6</b><b>7</b></a></a>"


def plain() -> Element:
    """The document as a tree that was built."""
    source = received("XMLNSC", DOCUMENT).at("XMLNSC")
    assert source is not None
    return _built(source)


def _built(element: Element) -> Element:
    made = Element(element.name)
    if element.value is not None:
        made.value = element.value
    for child in element:
        made.append(_built(child))
    return made


@given(st.lists(actions, max_size=12))
@settings(max_examples=400)
def test_statements_do_to_plain_trees_what_they_do_to_the_model(sequence: list[Any]) -> None:
    """The output starts as a copy of what an earlier node built."""
    source = read_only(plain())
    output = copy(source)
    world = World((model_of(plain()), output), (model_of(plain()), source))
    for action in sequence:
        world.run(*action)
        world.check()


@given(st.lists(actions, max_size=8))
@settings(max_examples=400)
def test_statements_do_to_documents_what_they_do_to_the_model(sequence: list[Any]) -> None:
    """The output starts as SET OutputRoot.XMLNSC = InputRoot.XMLNSC leaves it: not looked at yet."""
    source, root = received("XMLNSC", DOCUMENT), new_root()
    came, output = source.at("XMLNSC"), root.ensure(step("XMLNSC"))
    clean = received("XMLNSC", DOCUMENT).at("XMLNSC")
    assert came is not None
    assert clean is not None
    set_field(output, came)
    top = Node("Root")
    world = World((top.add(model_of(clean)), output), (model_of(clean), came))
    for action in sequence:
        world.run(*action)
    world.check()
    assert shape(root) == shape(top)
    for node in [node for node in top.named("XMLNSC")[:1] if node.value is None]:
        assert body(root, "XMLNSC").decode() == "".join(rendered(child) for child in node.children)
    assert body(source, "XMLNSC") == DOCUMENT


@given(st.lists(actions, max_size=8), st.sampled_from(["XML", "XMLNS"]))
@settings(max_examples=100)
def test_documents_of_other_domains_are_copied_as_the_model_is(sequence: list[Any], domain: str) -> None:
    """SET OutputRoot.XML = Environment.x of a built tree: names and values are the same."""
    source = read_only(plain())
    output = copy(source)
    world = World((model_of(plain()), output), (model_of(plain()), source))
    for action in sequence:
        world.run(*action)
    root = new_root()
    target = root.ensure(step(domain))
    set_field(target, output)
    assert target.owner is parser_catalog.find(domain)
    assert shape(target)[2:] == shape(world.output[0])[2:]
