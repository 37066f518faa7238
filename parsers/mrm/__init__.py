"""The MRM domain: messages whose logical structure is described once, in any of several wire formats."""

from parsers.mrm.domain import Mrm

__all__ = ["Mrm"]
