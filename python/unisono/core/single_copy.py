"""Whether ranks of this node may copy from each other's memory, as Unisono's single copies do."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

# What can_reach() of src/node/single_copy.h does: reads a random word of another process, and writes there.
REACH = """
import ctypes, os, sys
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
process, address, length = map(int, sys.argv[1:])
word = ctypes.create_string_buffer(length)
here, there = Vector(ctypes.addressof(word), length), Vector(address, length)
one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
def copy(way):
    call = getattr(ctypes.CDLL(None, use_errno=True), way)
    if call(ctypes.c_int(process), ctypes.byref(here), one, ctypes.byref(there), one, none) != length:
        sys.exit(f"{way}: {os.strerror(ctypes.get_errno())}")
copy("process_vm_readv")
word.raw = word.raw[::-1]
copy("process_vm_writev")
"""


def why_not() -> str | None:
    """None: ranks may. A child tries its parent's memory, not the other way round: where a process may reach
    its descendants alone, ranks, which are siblings, may not reach each other."""
    word = os.urandom(16)
    here = ctypes.create_string_buffer(word, len(word))
    numbers = map(str, (os.getpid(), ctypes.addressof(here), len(word)))
    line = [sys.executable, "-I", "-S", "-c", REACH, *numbers]
    try:
        done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if here.raw == word[::-1]:
        return None
    return (done.stderr.strip().splitlines() or ["another process has that number"])[-1]


def ptrace_scope(path: Path = Path("/proc/sys/kernel/yama/ptrace_scope")) -> int:
    """Whom Yama lets a process reach: 0, all of the same user; 1, its descendants; 2 and 3, none."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0
