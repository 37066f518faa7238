"""The message tree: elements that are read lazily, copied without cost, and written as they came."""

from engine.tree.element import Element

__all__ = ["Element"]
