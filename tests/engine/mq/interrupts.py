"""Interrupts: Ctrl-C at any place of some modules at which Python looks for signals."""

from __future__ import annotations

import dis
from types import FrameType, ModuleType
from typing import Any

CALLS = frozenset(dis.opmap[name] for name in ("CALL", "CALL_FUNCTION_EX", "JUMP_BACKWARD", "RESUME"))


class Interrupts:
    """A trace of a thread that raises KeyboardInterrupt where Python looks for signals, at a place of some modules."""

    def __init__(self, place: int, *modules: ModuleType) -> None:
        self.left = place
        self._files = {module.__file__ for module in modules}
        self._last: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            known = self._last.get(frame)
            self._last[frame] = frame.f_code.co_code[frame.f_lasti]
            if known in CALLS:
                self.left -= 1
                if self.left == 0:
                    raise KeyboardInterrupt
        return self
