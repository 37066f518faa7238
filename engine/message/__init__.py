"""Messages: the assembly that flows carry, its bytes as a tree, and a tree as bytes."""

from engine.message.assembly import Message

__all__ = ["Message"]
