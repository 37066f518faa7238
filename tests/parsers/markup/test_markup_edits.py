"""Random edits of what was read: what is written is what a plain tree says, and the shared document stays clean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into, read_only
from engine.tree.step import step
from parsers.markup.text import text_of as text_of_value
from tests.parsers.markup.documents import Tag, body, documents, names, text_of, texts, write

TEXT, ELEMENT, ATTRIBUTE = 0x02000000, 0x01000000, 0x03000000
ATTRIBUTES = {"XML": 0x03000000, "XMLNS": 0x03000000, "XMLNSC": 0x03000100}
SECTIONS = {"Content", "CDataSection", "PCDataValue", "CDataValue", "HybridValue"}
ELEMENTS = {"Element", "Folder", "PCDataField", "CDataField", "HybridField"}


@dataclass(eq=False)
class Model:
    """An element of the eager tree; `value` is its own, not that of the text in front of its content."""

    kind: str
    namespace: str
    name: str
    value: object = None
    children: list[Model] = field(default_factory=list)
    parent: Model | None = None

    def leading(self) -> Model | None:
        content = [child for child in self.children if child.kind not in {"Attribute", "NamespaceDecl"}]
        return content[0] if content and content[0].kind == "text" else None

    def is_at_odds(self) -> bool:
        """Whether something in it has no namespace and declares a default one, which XMLNSC does not write."""
        declares = any(
            (c.kind, c.name, c.namespace) == ("NamespaceDecl", "xmlns", "") and c.value for c in self.children
        )
        return (declares and not self.namespace) or any(child.is_at_odds() for child in self.children)

    def set(self, value: object) -> None:
        leading = self.leading()
        if leading is not None and self.value is None:
            leading.value = value
        else:
            self.value = value

    def take(self, child: Model, at: int | None = None) -> None:
        child.parent = self
        self.children.insert(len(self.children) if at is None else at, child)

    def leave(self) -> None:
        assert self.parent is not None
        self.parent.children.remove(self)
        self.parent = None

    def copy(self) -> Model:
        twin = Model(self.kind, self.namespace, self.name, self.value)
        for child in self.children:
            twin.take(child.copy())
        return twin

    def every(self) -> list[Model]:
        return [self, *(below for child in self.children for below in child.every())]

    def above(self) -> list[Model]:
        return [self, *([] if self.parent is None else self.parent.above())]


def model_of(element: Element) -> Model:
    """The eager tree of an element that nobody has touched."""
    name = element.owner.type_names[element.type]
    kind = "element" if name in ELEMENTS else "text" if name in SECTIONS else name
    made = Model(kind, element.namespace, element.name)
    for child in element:
        made.take(model_of(child))
    if made.leading() is None:
        made.value = element.value
    return made


def expected(model: Model, *, compact: bool) -> Any:
    """What lxml is to find in what was written of the model."""
    attributes: dict[str, str] = {}
    content: list[Any] = [text_of_value(model.value, compact=compact)]
    for child in model.children:
        text = text_of_value(child.value, compact=compact)
        clark = f"{{{child.namespace}}}{child.name}" if child.namespace else child.name
        match child.kind:
            case "Attribute":
                attributes[clark] = text
            case "text":
                content[-1] += text
            case "NamespaceDecl":
                pass
            case "element":
                content += [expected(child, compact=compact), ""]
            case kind:
                content += [(kind, child.name, text), ""]
    return f"{{{model.namespace}}}{model.name}" if model.namespace else model.name, attributes, content


def found(node: etree._Element) -> Any:
    content: list[Any] = [node.text or ""]
    for child in node:
        match child:
            case etree._Comment():
                content.append(("Comment", "", child.text))
            case etree._ProcessingInstruction():
                content.append(("ProcessingInstruction", child.target, child.text or ""))
            case _:
                content.append(found(child))
        content.append(child.tail or "")
    return node.tag, dict(node.attrib), content


@dataclass(eq=False)
class Tree:
    """A body and its model."""

    top: Element
    model: Model
    frozen: bool = False

    def element(self, model: Model, draw: Any) -> Element:
        """The element that a part of the model stands for: found by name or by walking, as drawn."""
        at = self.top
        for part in list(reversed(model.above()))[1:]:
            assert part.parent is not None
            siblings = part.parent.children
            alike = [m for m in siblings if (m.name, m.namespace) == (part.name, part.namespace)]
            how = draw(st.sampled_from(["child", "nth", "last", "walk", "back"]))
            if how in {"child", "nth"}:
                number = next(i for i, m in enumerate(alike, 1) if m is part)
                wanted = step(part.name, part.namespace)
                below = at.child(wanted) if how == "child" and number == 1 else at.nth(wanted, number)
            elif how == "last":
                number = next(i for i, m in enumerate(reversed(alike), 1) if m is part)
                below = at.nth_last(step(part.name, part.namespace), number)
            else:
                position = next(i for i, m in enumerate(siblings) if m is part)
                below = list(at)[position] if how == "walk" else walked_back(at, len(siblings) - 1 - position)
            assert below is not None, (how, part.name)
            at = below
        return at


def walked_back(element: Element, steps: int) -> Element | None:
    at = element.last_child
    for _ in range(steps):
        assert at is not None
        at = at.previous_sibling
    return at


def check(tree: Tree, domain: str) -> None:
    """What is written, twice, is what the model says; so is what the tree shows."""
    compact = domain == "XMLNSC"
    if compact and tree.model.children[0].is_at_odds():
        with pytest.raises(ParserException, match=r"declares \S+ as the default"):
            write(tree.top)
        return
    out = write(tree.top)
    assert found(etree.fromstring(out)) == expected(tree.model.children[0], compact=compact)
    assert write(tree.top) == out
    again = read_only(tree.top)
    assert write(copy(again)) == out
    (root,) = tree.top
    assert_same(root, tree.model.children[0])


def assert_same(element: Element, model: Model) -> None:
    children = list(element)
    assert (element.name, element.namespace) == (model.name, model.namespace)
    assert [c.name for c in children] == [c.name for c in model.children]
    own = model.value
    if own is None and (leading := model.leading()) is not None:
        own = leading.value
    assert element.value == own
    for child, part in zip(children, model.children, strict=True):
        assert_same(child, part)


class Editor:
    """Draws edits, and makes each of them in a tree and in its model."""

    def __init__(self, draw: Any, domain: str, trees: list[Tree]) -> None:
        self.draw = draw
        self.domain = domain
        self.trees = trees

    def tree(self) -> Tree:
        return self.draw(st.sampled_from([tree for tree in self.trees if not tree.frozen]))

    def pick(self, tree: Tree, *kinds: str, root: bool = True) -> Model | None:
        parts = [m for m in tree.model.children[0].every() if m.kind in kinds and (root or m.parent is not tree.model)]
        return self.draw(st.sampled_from(parts)) if parts else None

    def at(self, tree: Tree, model: Model) -> Element:
        return tree.element(model, self.draw)

    def new(self) -> tuple[Element, Model]:
        name, value = self.draw(names), self.draw(st.one_of(texts, st.none(), st.integers(-9, 9), st.just("]]>\r")))
        namespace = self.draw(st.sampled_from(["", "urn:1", "urn:9"])) if self.domain != "XML" else ""
        element = Element(name, namespace)
        model = Model("element", namespace, name, value)
        if value is not None or self.draw(st.booleans()):
            element.value = value
        if self.draw(st.booleans()):
            element.add("inner", "x")
            model.take(Model("element", "", "inner", "x"))
        return element, model

    def edit_value(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "element", "text", "Attribute")
        assert model is not None
        value = self.draw(st.one_of(texts, st.none(), st.just(""), st.just("a\r\n\t<&>'\"b"), st.booleans()))
        self.at(tree, model).value = value
        model.set(value)

    def edit_note(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "Comment", "ProcessingInstruction")
        if model is not None:
            self.at(tree, model).value = "note"
            model.set("note")

    def edit_attribute(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "element")
        assert model is not None
        name, value = self.draw(names), self.draw(texts)
        namespace = self.draw(st.sampled_from(["", "urn:1", "urn:9"])) if self.domain != "XML" else ""
        type_ = ATTRIBUTES[self.domain]
        self.at(tree, model).ensure(step(name, namespace, ((0xFFFFFFFF, type_),))).value = value
        known = [m for m in model.children if (m.kind, m.name, m.namespace) == ("Attribute", name, namespace)]
        if known:
            known[0].set(value)
        else:
            model.take(Model("Attribute", namespace, name, value))

    def append(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "element")
        assert model is not None
        element, part = self.new()
        self.at(tree, model).append(element)
        model.take(part)

    def append_text(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "element")
        assert model is not None
        text = self.draw(texts)
        self.at(tree, model).add("", text, type_=TEXT)
        model.take(Model("text", "", "", text))

    def insert(self) -> None:
        tree = self.tree()
        before = self.pick(tree, "element", "text", "Comment", "Attribute", root=False)
        if before is not None and before.parent is not None:
            element, part = self.new()
            place = self.at(tree, before)
            assert place.parent is not None
            place.parent.insert(element, before=place)
            before.parent.take(part, before.parent.children.index(before))

    def delete(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "element", "text", "Comment", "Attribute", "NamespaceDecl", root=False)
        if model is not None:
            self.at(tree, model).detach()
            model.leave()

    def rename(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "element")
        assert model is not None
        name = self.draw(names)
        self.at(tree, model).change(name=name)
        model.name = name

    def clear(self) -> None:
        tree = self.tree()
        model = self.pick(tree, "element")
        assert model is not None
        self.at(tree, model).clear()
        model.value, model.children = None, []

    def move(self) -> None:
        tree = self.tree()
        model, target = self.pick(tree, "element", root=False), self.pick(tree, "element")
        assert target is not None
        if model is not None and model not in target.above():
            moved, place = self.at(tree, model), self.at(tree, target)
            place.append(moved.detach())
            model.leave()
            target.take(model)

    def copy_part(self) -> None:
        source, tree = self.draw(st.sampled_from(self.trees)), self.tree()
        model, target = self.pick(source, "element"), self.pick(tree, "element")
        assert model is not None
        assert target is not None
        twin, part = copy(self.at(source, model)), model.copy()
        self.at(tree, target).append(twin)
        target.take(part)

    def copy_over(self) -> None:
        source, tree = self.draw(st.sampled_from(self.trees)), self.tree()
        model, target = self.pick(source, "element"), self.pick(tree, "element")
        assert model is not None
        assert target is not None
        part = model.copy()
        copy_into(self.at(tree, target), self.at(source, model))
        target.value, target.children = part.value, []
        for child in part.children:
            target.take(child)

    def fork(self) -> None:
        tree = self.draw(st.sampled_from(self.trees))
        if len(self.trees) < 6:
            self.trees.append(Tree(copy(tree.top), tree.model.copy()))

    def freeze(self) -> None:
        tree = self.tree()
        if len(self.trees) < 6 and sum(not t.frozen for t in self.trees) > 1:
            view = Tree(read_only(tree.top), tree.model, frozen=True)
            self.trees[self.trees.index(tree)] = view
            self.trees.append(Tree(copy(view.top), view.model.copy()))

    def look(self) -> None:
        tree = self.draw(st.sampled_from(self.trees))
        model = self.pick(tree, "element")
        assert model is not None
        assert len(list(self.at(tree, model))) == len(model.children)

    def write(self) -> None:
        tree = self.draw(st.sampled_from(self.trees))
        if self.domain != "XMLNSC" or not tree.model.children[0].is_at_odds():
            write(tree.top)


EDITS = [
    *("edit_value", "edit_value", "edit_note", "edit_attribute", "append", "append_text", "insert", "delete", "rename"),
    *("clear", "move", "copy_part", "copy_over", "fork", "freeze", "look", "write"),
]


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@given(data=st.data())
@settings(max_examples=50)
def test_edited_trees_are_written_as_a_plain_tree_says(domain: str, data: st.DataObject) -> None:
    """Edits of two documents, of copies and of copies of copies, in any order, leave each tree as its model."""
    spaces = domain != "XML"
    tags: list[Tag] = [data.draw(documents(spaces=spaces, mixed=domain != "XMLNSC")) for _ in "12"]
    inputs = [body(domain, text_of(tag).encode()) for tag in tags]
    written = [write(body(domain, text_of(tag).encode())) for tag in tags]
    trees = []
    for top, tag in zip(inputs, tags, strict=True):
        model = Model("top", "", domain)
        model.take(model_of(next(iter(body(domain, text_of(tag).encode())))))
        trees += [Tree(read_only(top), model, frozen=True), Tree(copy(top), model.copy())]
    editor = Editor(data.draw, domain, trees)
    for edit in data.draw(st.lists(st.sampled_from(EDITS), min_size=1, max_size=12)):
        getattr(editor, edit)()
    for tree in trees:
        check(tree, domain)
    assert written == [write(top) for top in inputs]
