"""Deployed flows: nodes bound to wires, the messages they carry, and what is told of them."""

from engine.runtime.deployment import deploy

__all__ = ["deploy"]
