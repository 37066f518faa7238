"""The system calls by which a process writes files, seen by its parent before each is carried out."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
from collections.abc import Callable
from dataclasses import dataclass

_LONGEST = 120  # seconds, after which a child has hung, and is ended

_CALLS = {
    "x86_64": {1: "write", 18: "pwrite", 20: "writev", 296: "pwritev", 74: "sync", 75: "sync", 26: "sync"},
    "aarch64": {64: "write", 68: "pwrite", 66: "writev", 70: "pwritev", 82: "sync", 83: "sync", 227: "sync"},
}
_CHANGES = {  # of names in folders, beside writes and syncs
    "x86_64": dict.fromkeys((76, 77, 82, 83, 84, 86, 87, 88, 90, 91, 258, 263, 264, 265, 266, 268, 316), "name"),
    "aarch64": dict.fromkeys((34, 35, 36, 37, 38, 45, 46, 52, 53, 276), "name"),
}
_TRACE_ME, _SYSCALL, _SET_OPTIONS, _GET_REGISTERS = 0, 24, 0x4200, 0x4204
_GOOD, _EXIT_KILL = 1, 0x100000
_STATUS = 1  # NT_PRSTATUS
_SYSCALL_STOP = signal.SIGTRAP | 0x80
# Which of the registers have the number of the call and its arguments.
_REGISTERS = {"x86_64": (15, (14, 13, 12, 7)), "aarch64": (8, (0, 1, 2, 3))}


@dataclass(frozen=True)
class Call:
    """A write or a sync of a file; `synced` says that the write itself returns when it is on the disk."""

    kind: str
    path: str
    offset: int = 0
    data: bytes = b""
    synced: bool = False


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def _ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    if library.ptrace(request, pid, address, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def traced(run: Callable[[], None], note: Callable[[Call], bool | signal.Signals], *, names: bool = False) -> int:
    """Run something in a child process; `note` sees each write and sync before it is done, and kills it by False.

    By a signal it sends that, and lets the child go on. With `names` it sees what changes the names in folders, too.
    Returns the status of the child as waitpid has it.
    """
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_LONGEST)
            _ptrace(_TRACE_ME, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            run()
            os._exit(0)
        except BaseException:  # a child does not go back into its parent's program
            os._exit(1)
    os.waitpid(child, 0)
    _ptrace(_SET_OPTIONS, child, 0, _GOOD | _EXIT_KILL)
    machine = platform.machine()
    return _followed(child, note, _CALLS[machine] | (_CHANGES[machine] if names else {}))


def _followed(child: int, note: Callable[[Call], bool | signal.Signals], known: dict[int, str]) -> int:
    registers = (ctypes.c_ulonglong * 34)()
    vector = _Vector(ctypes.addressof(registers), ctypes.sizeof(registers))
    at_number, at_arguments = _REGISTERS[platform.machine()]
    entering, passed_on = False, 0
    with open(f"/proc/{child}/mem", "rb", buffering=0) as memory:
        while True:
            _ptrace(_SYSCALL, child, 0, passed_on)
            _, status = os.waitpid(child, 0)
            if not os.WIFSTOPPED(status):
                return status
            passed_on = 0
            if os.WSTOPSIG(status) != _SYSCALL_STOP:
                passed_on = os.WSTOPSIG(status)
                continue
            entering = not entering
            if not entering:
                continue
            _ptrace(_GET_REGISTERS, child, _STATUS, ctypes.addressof(vector))
            kind = known.get(registers[at_number])
            if kind is None:
                continue
            told = note(_call(child, kind, [registers[at] for at in at_arguments], memory.fileno()))
            if isinstance(told, signal.Signals):
                os.kill(child, told)
            elif not told:
                os.kill(child, signal.SIGKILL)
                return os.waitpid(child, 0)[1]


def _call(child: int, kind: str, arguments: list[int], memory: int) -> Call:
    if kind == "name":
        return Call(kind, "")
    descriptor, address, length, offset = arguments
    try:
        path = os.readlink(f"/proc/{child}/fd/{descriptor}")
        flags = _flags(child, descriptor)
    except OSError:
        return Call(kind, "")
    if kind == "sync":
        return Call(kind, path)
    if kind.endswith("v"):
        vectors = os.pread(memory, 16 * length, address)
        pieces = [
            os.pread(
                memory,
                int.from_bytes(vectors[at + 8 : at + 16], "little"),
                int.from_bytes(vectors[at : at + 8], "little"),
            )
            for at in range(0, len(vectors), 16)
        ]
    else:
        pieces = [os.pread(memory, length, address)]
    if kind in {"write", "writev"}:
        offset = _position(child, descriptor)
    return Call("write", path, offset, b"".join(pieces), synced=bool(flags & os.O_DSYNC))


def _flags(child: int, descriptor: int) -> int:
    return int(_information(child, descriptor)["flags"], 8)


def _position(child: int, descriptor: int) -> int:
    return int(_information(child, descriptor)["pos"])


def _information(child: int, descriptor: int) -> dict[str, str]:
    with open(f"/proc/{child}/fdinfo/{descriptor}", encoding="ascii") as lines:
        return dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
