"""Positions of a flow's nodes in a picture: from a file beside the flow, or computed.

The file of flow `orders.yaml` is `orders.layout.yaml`, a line for each node that has a place: `Check 1: [240, 60]`.
Positions are those of the upper left corner, in pixels. Nodes without a line are placed as if there were no file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os.path import dirname
from pathlib import Path, PurePath
from typing import Final, TypeAlias

import yaml

from engine.errors import ConfigurationException, Problem, reason
from engine.files.allowed_folders import check_link
from engine.flow.lint import UNFIT
from flows.yaml_document import LARGEST, Complaints, Scalar, Sequence, Tree, decoded, read_document
from flows.yaml_document import Mapping as Table

Layout: TypeAlias = Mapping[str, tuple[int, int]]

FARTHEST: Final = 100_000
NUMBER: Final = re.compile(r"-?[0-9]{1,6}")
NO_LAYOUT: Final[Layout] = {}


def layout_file(flow_file: str) -> str:
    """The name of the file with the positions of a flow's nodes.

    >>> layout_file("flows/orders.yaml")
    'flows/orders.layout.yaml'
    """
    return str(PurePath(flow_file).with_suffix(".layout.yaml"))


def layout_of(flow_file: str) -> tuple[Layout, tuple[Problem, ...]]:
    """The positions in the file beside a flow's, none where there is no such file, and what is wrong with it."""
    file = layout_file(flow_file)
    try:
        check_link(file, dirname(flow_file))
        with Path(file).open("rb") as opened:
            text = decoded(opened.read(4 * LARGEST + 4), file)
    except FileNotFoundError:
        return NO_LAYOUT, ()
    except ConfigurationException as error:
        return NO_LAYOUT, (Problem(file, 0, 0, UNFIT, error.text),)
    except OSError as error:
        return NO_LAYOUT, (Problem(file, 0, 0, UNFIT, f"cannot be read: {reason(error)}"),)
    return (NO_LAYOUT, (text,)) if isinstance(text, Problem) else read_layout(text, file)


def read_layout(text: str, file: str) -> tuple[Layout, tuple[Problem, ...]]:
    """The positions that a text gives, and what is wrong with it."""
    complaints = Complaints(file, text)
    found = {}
    document = read_document(text, file, complaints) if text.strip() else Table((), complaints.start)
    if isinstance(document, Table):
        for label, tree in document.entries:
            position = _position(tree)
            if position:
                found[label.text] = position
            else:
                complaints.add(label.place, f"{label.text} must have a position, [x, y]", about=label.text)
    elif document is not None:
        complaints.add(document.place, "a layout must be a table, `Label: [x, y]`", number=UNFIT)
    return found, tuple(sorted(complaints.found))


def _position(tree: Tree) -> tuple[int, int] | None:
    if not isinstance(tree, Sequence) or len(tree.items) != 2:
        return None
    texts = [item.text for item in tree.items if isinstance(item, Scalar) and NUMBER.fullmatch(item.text)]
    numbers = [int(text) for text in texts if abs(int(text)) <= FARTHEST]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def write_layout(layout: Layout) -> str:
    """The text of a layout file.

    >>> print(write_layout({"Check 1": (240, 60)}), end="")
    Check 1: [240, 60]
    """
    lines: str = yaml.safe_dump(
        {label: list(position) for label, position in layout.items()},
        default_flow_style=None,
        allow_unicode=True,
        sort_keys=False,
        width=1 << 30,
    )
    return lines if layout else ""
