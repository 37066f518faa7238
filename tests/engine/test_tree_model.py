"""The tree against a model: whatever is asked of it and done to it, in any order, it does as plain objects do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from engine.errors import BrokerError
from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into, read_only
from engine.tree.source import KIND, NAME, NAME_VALUE, VALUE
from engine.tree.step import Step, step
from tests.engine.plain_trees import Plain, Sample, described


@dataclass(eq=False)
class Tree:
    """A detached tree and its model; the trees under read-only views, and the views, stay as they are."""

    plain: Plain
    element: Element
    fixed: bool = False
    view: bool = False


NAMES = st.sampled_from(("a", "b", "c"))
VALUES = st.sampled_from((None, 1, "x"))
KINDS = st.sampled_from((NAME, NAME, NAME_VALUE, VALUE))
PATHS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), max_size=4)
WHICH = st.integers(0, 20)


def plain(name: str, kind: int, own: object, children: list[Plain]) -> Plain:
    """What a source may hold: a value stands in an element, or in front of its content, and has no name there."""
    if kind == VALUE:
        return Plain("", VALUE, own or "text")
    leads = bool(children) and children[0].kind == VALUE
    return Plain(name, kind, None if leads or kind == NAME else own, children)


PLAINS = st.recursive(
    st.builds(plain, NAMES, KINDS, VALUES, st.just([])),
    lambda inner: st.builds(plain, NAMES, KINDS, VALUES, st.lists(inner, max_size=4)),
    max_leaves=14,
)


def exactly(child: Plain) -> Step:
    return step(child.name, child.namespace, ((0xFFFFFFFF, child.type),))


class Trees(RuleBasedStateMachine):
    """Any number of trees, copies and views; each element that was ever reached must be the same one ever after."""

    def __init__(self) -> None:
        super().__init__()
        self.trees: list[Tree] = []
        self.reached: dict[Plain, Element] = {}

    @initialize(top=PLAINS, names=st.booleans(), counts=st.booleans())
    def read(self, top: Plain, names: bool, counts: bool) -> None:
        root = top.twin()
        self.keep(root, Element(root.name, "", root.kind, Sample(names, counts), top))

    # How elements are reached

    def keep(self, root: Plain, element: Element, **facts: bool) -> Tree:
        tree = Tree(root, element, **facts)
        self.trees.append(tree)
        self.meet(root, element)
        return tree

    def meet(self, model: Plain, element: Element | None) -> Element:
        assert element is not None
        assert self.reached.setdefault(model, element) is element
        if model.parent is not None and model.parent in self.reached:
            assert element.parent is self.reached[model.parent]
        return element

    def reach(self, tree: Tree, path: list[tuple[int, int]]) -> tuple[Plain, Element]:
        model, element = tree.plain, tree.element
        for number, way in path:
            if not model.children:
                break
            at = number % len(model.children)
            target = model.children[at]
            element = self.meet(target, self.walk(model, element, at, way))
            model = target
        return model, element

    def walk(self, model: Plain, element: Element, at: int, way: int) -> Element | None:
        target = model.children[at]
        named, typed = step(target.name, target.namespace), exactly(target)
        same, alike = model.matching(named), model.matching(typed)
        rank = same.index(target)
        ways: tuple[Callable[[], Element | None], ...] = (
            lambda: element.nth(named, rank + 1),
            lambda: element.nth_last(named, len(same) - rank),
            lambda: list(element)[at],
            lambda: self.along(element.first_child, at, "next_sibling"),
            lambda: self.along(element.last_child, len(model.children) - 1 - at, "previous_sibling"),
            lambda: element.every(named)[rank],
            lambda: element.nth(step(None, None), at + 1),
            lambda: element.nth(typed, alike.index(target) + 1),
            lambda: element.child(typed) if target is alike[0] else element.nth(named, rank + 1),
        )
        return ways[way]()

    def along(self, element: Element | None, times: int, way: str) -> Element | None:
        for _ in range(times):
            element = getattr(element, way)
        return element

    def tree(self, which: int, **facts: bool) -> Tree | None:
        fitting = [t for t in self.trees if all(getattr(t, key) == value for key, value in facts.items())]
        return fitting[which % len(fitting)] if fitting else None

    # What is asked

    @rule(which=WHICH, path=PATHS, name=st.sampled_from(("a", "b", "c", "d", None)), kind=KINDS, typed=st.booleans())
    def ask(self, which: int, path: list[tuple[int, int]], name: str | None, kind: int, typed: bool) -> None:
        tree = self.tree(which)
        assert tree is not None
        model, element = self.reach(tree, path)
        wanted = step(name, None if name is None else "", ((KIND, kind),) if typed else ())
        found = model.matching(wanted)
        assert element.value == model.value
        assert element.type == model.type
        if found:
            self.meet(found[0], element.child(wanted))
            self.meet(found[-1], element.nth_last(wanted, 1))
        else:
            assert element.child(wanted) is None
        assert element.count(wanted) == len(found)
        assert element.nth(wanted, len(found) + 1) is element.nth(wanted, 0) is element.nth_last(wanted, 0) is None
        assert [self.meet(m, e) for m, e in zip(found, element.every(wanted), strict=True)] == element.every(wanted)

    @rule(which=WHICH, path=PATHS)
    def look_around(self, which: int, path: list[tuple[int, int]]) -> None:
        tree = self.tree(which)
        assert tree is not None
        model, element = self.reach(tree, path)
        if model.parent is not None:
            siblings = model.parent.children
            at = siblings.index(model)
            before, after = element.previous_sibling, element.next_sibling
            assert (before is None, after is None) == (at == 0, at == len(siblings) - 1)
            if before is not None:
                self.meet(siblings[at - 1], before)
            if after is not None:
                self.meet(siblings[at + 1], after)

    @rule(which=WHICH)
    def compare(self, which: int) -> None:
        tree = self.tree(which)
        assert tree is not None
        self.compare_all(tree)

    def compare_all(self, tree: Tree) -> None:
        pending = [(tree.plain, tree.element)]
        while pending:
            model, element = pending.pop()
            self.meet(model, element)
            facts = (element.name, element.namespace, element.type, element.value)
            assert facts == (model.name, model.namespace, model.type, model.value)
            pending += zip(model.children, element, strict=True)

    # What is done

    @rule(which=WHICH, path=PATHS, value=VALUES)
    def set_value(self, which: int, path: list[tuple[int, int]], value: object) -> None:
        if (tree := self.tree(which, fixed=False)) is not None:
            model, element = self.reach(tree, path)
            element.value = value
            model.set(value)

    @rule(which=WHICH, path=PATHS, name=NAMES, value=VALUES, kind=KINDS)
    def add(self, which: int, path: list[tuple[int, int]], name: str, value: object, kind: int) -> None:
        if (tree := self.tree(which, fixed=False)) is not None:
            model, element = self.reach(tree, path)
            child = Plain(name, kind, value, valued=value is not None)
            model.add(child)
            self.meet(child, element.add(name, value, type_=kind))

    @rule(which=WHICH, path=PATHS, name=NAMES, number=st.integers(0, 4), kind=KINDS, typed=st.booleans())
    def ensure(self, which: int, path: list[tuple[int, int]], name: str, number: int, kind: int, typed: bool) -> None:
        if (tree := self.tree(which, fixed=False)) is None:
            return
        model, element = self.reach(tree, path)
        wanted = step(name, "", ((0xFFFFFFFF, kind),) if typed else ())
        found = model.matching(wanted)
        if number > len(found) + 1:
            with pytest.raises(BrokerError, match="cannot be created yet"):
                element.ensure_nth(wanted, number)
            return
        at = max(number, 1)
        made = element.ensure_nth(wanted, number) if number else element.ensure(wanted)
        if at > len(found):
            found.append(Plain(name, kind if typed else NAME))
            model.add(found[-1])
        self.meet(found[at - 1], made)

    @rule(which=WHICH, path=PATHS)
    def detach(self, which: int, path: list[tuple[int, int]]) -> None:
        if (tree := self.tree(which, fixed=False)) is not None:
            model, element = self.reach(tree, path)
            assert element.detach() is element
            if model is not tree.plain:
                model.detach()
                self.keep(model, element)

    @rule(which=WHICH, path=PATHS, other=WHICH, front=st.booleans())
    def attach(self, which: int, path: list[tuple[int, int]], other: int, front: bool) -> None:
        tree, root = self.tree(which, fixed=False), self.tree(other)
        if tree is None or root is None or (root.fixed and not root.view):
            return
        model, element = self.reach(tree, path)
        at = element.last_child if front and model.children else None

        def put(child: Element) -> None:
            if at is None:
                element.append(child)
            else:
                element.insert(child, before=at)

        if root.view or root is tree:
            with pytest.raises(BrokerError, match=r"cannot move|cannot be put"):
                put(root.element)
            return
        put(root.element)
        model.add(root.plain, None if at is None else len(model.children) - 1)
        self.trees.remove(root)
        with pytest.raises(BrokerError, match="still a part"):
            put(root.element)

    @rule(which=WHICH, path=PATHS)
    def clear(self, which: int, path: list[tuple[int, int]]) -> None:
        if (tree := self.tree(which, fixed=False)) is not None:
            model, element = self.reach(tree, path)
            element.clear()
            model.own, model.valued = None, False
            self.stand_alone(model)

    def stand_alone(self, model: Plain) -> None:
        for child in model.release():
            if child in self.reached:
                assert self.reached[child].parent is None
                self.keep(child, self.reached[child])

    @rule(which=WHICH, path=PATHS, name=NAMES, kind=st.sampled_from((None, NAME, NAME_VALUE, VALUE)))
    def change(self, which: int, path: list[tuple[int, int]], name: str, kind: int | None) -> None:
        if (tree := self.tree(which, fixed=False)) is not None:
            model, element = self.reach(tree, path)
            element.change(name=name, namespace="urn:n" if kind is None else None, type_=kind)
            model.name, model.kind = name, model.kind if kind is None else kind
            model.namespace = "urn:n" if kind is None else model.namespace

    @rule(which=WHICH, path=PATHS)
    def copied(self, which: int, path: list[tuple[int, int]]) -> None:
        tree = self.tree(which)
        assert tree is not None
        model, element = self.reach(tree, path)
        self.keep(model.twin(), copy(element))

    @rule(which=WHICH, path=PATHS, other=WHICH, from_path=PATHS)
    def copied_into(
        self, which: int, path: list[tuple[int, int]], other: int, from_path: list[tuple[int, int]]
    ) -> None:
        tree, origin = self.tree(which, fixed=False), self.tree(other)
        if tree is not None and origin is not None:
            model, element = self.reach(tree, path)
            old, twin = self.reach(origin, from_path)
            new = old.twin()
            copy_into(element, twin)
            self.stand_alone(model)
            model.kind, model.own, model.valued = new.kind, new.own, new.valued
            for child in new.release():
                model.add(child)

    @rule(which=WHICH)
    def viewed(self, which: int) -> None:
        tree = self.tree(which)
        assert tree is not None
        tree.fixed = True
        self.keep(tree.plain.twin(), read_only(tree.element), fixed=True, view=True)

    @rule(which=WHICH)
    def handed_on(self, which: int) -> None:
        """What one node has made goes to the next one, which copies it to change it."""
        tree = self.tree(which, fixed=False)
        if tree is not None:
            tree.fixed = True
            self.keep(tree.plain.twin(), copy(read_only(tree.element)))

    @precondition(lambda self: any(tree.view for tree in self.trees))
    @rule(which=WHICH, path=PATHS, what=st.integers(0, 9))
    def refused(self, which: int, path: list[tuple[int, int]], what: int) -> None:
        tree = self.tree(which, view=True)
        assert tree is not None
        model, element = self.reach(tree, path)
        new = Element("new")
        changes: list[Callable[[], object]] = [
            lambda: setattr(element, "value", 5),
            lambda: element.add("new"),
            lambda: element.append(new),
            lambda: element.ensure(step("new")),
            lambda: element.ensure_nth(step("new"), 1),
            element.clear,
            lambda: element.change(name="new"),
            lambda: copy_into(element, new),
        ]
        if model.parent is not None:
            changes.append(element.detach)
        if model.children:
            first = element.first_child
            assert first is not None
            changes.append(lambda: element.insert(new, before=first))
        with pytest.raises(BrokerError, match="input tree") as refusal:
            changes[what % len(changes)]()
        assert refusal.value.number == 2556
        assert new.parent is None

    def teardown(self) -> None:
        for tree in self.trees:
            assert described(tree.element) == tree.plain.picture()
        for tree in self.trees:
            self.compare_all(tree)
            assert described(tree.element) == tree.plain.picture()


Trees.TestCase.settings = settings(max_examples=400, stateful_step_count=30, deadline=None)
test_trees_do_as_plain_objects_do = Trees.TestCase
