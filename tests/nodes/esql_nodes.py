"""Nodes programmed in ESQL as tests build them: alone, with a message made of text, and what they send."""

from __future__ import annotations

from typing import Any

from engine.descriptor import Descriptor
from engine.flow.definition import Flow, NodeUse, Setting
from engine.message.assembly import Message
from engine.message.writer import write_message
from engine.node import Node
from engine.parser import Template
from engine.runtime.deployment import deploy
from engine.tree.dump import dump
from engine.tree.element import Element
from engine.tree.sharing import read_only
from flows.programs import binder

BODY = b"<a><b>1</b><b>2</b></a>"


def made(node_type: str, text: str, **settings: str) -> Node:
    """A node with a program, deployed in a flow of its own."""
    name = {"Compute": "computeExpression", "Filter": "filterExpression"}[node_type]
    given = {name: text, **settings}
    use = NodeUse("N", node_type, tuple(Setting(key, value) for key, value in given.items()))
    flow = Flow("F", nodes=(use,), user_properties=(Setting("limit", "100"),))
    return deploy(flow, bind=binder(flow)).stations["N"].node


def message(body: bytes = BODY, domain: str = "XMLNSC") -> Message:
    """A message with something in each of its trees."""
    received = Message.received(Descriptor(), body, template=Template(domain))
    local, exceptions = Element("LocalEnvironment"), Element("ExceptionList")
    local.add("from", "input")
    exceptions.add("from", "input")
    environment = Element("Environment")
    environment.add("from", "input")
    return Message(
        received.root,
        environment=environment,
        local_environment=read_only(local),
        exceptions=read_only(exceptions),
    )


def sent(node: Node, given: Message | None = None, *, wired: bool = True) -> list[tuple[str, Message]]:
    """What a node sends, where everything is wired, or nothing is."""
    work: Any = None
    evaluation = node.evaluate(given or message(), work)
    found = []
    try:
        found.append(next(evaluation))
        while True:
            found.append(evaluation.send(wired))
    except StopIteration:
        return found


def bodies(node: Node, given: Message | None = None) -> list[tuple[str, bytes]]:
    """The terminals, and the bytes of what goes out of them."""
    return [(terminal, write_message(one.root)[1]) for terminal, one in sent(node, given)]


def origin(tree: Element) -> str:
    """Which node the content of a tree is from."""
    return ",".join(str(child.value) for child in tree)


def text_of(tree: Element) -> str:
    """A tree as text."""
    return dump(tree)
