"""Know and end the processes below this one, also those that have left their parents."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
import warnings
from collections.abc import Iterable
from typing import Final

from scratchbook.core.environment import IS_LINUX

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
KILLING_SECONDS: Final = 2.0
MOST_READINGS: Final = 10
EXITING: Final = 0x4  # among the kernel's flags of a process
# Loaded once: code that runs later is asked why it loads foreign libraries.
C_LIBRARY: Final = ctypes.CDLL(None) if IS_LINUX else None
# Processes below this one that are none of its page's.
_LEFT_ALONE: Final[set[int]] = set()


def leave_alone(processes: Iterable[int] | None) -> None:
    """Neither count nor end these processes and what is below them; with None, no others than before."""
    if processes is None:
        _LEFT_ALONE.clear()
    else:
        _LEFT_ALONE.update(processes)


def adopt_orphans() -> None:
    """Become the parent of every process below whose own parent ends, so that none gets away.  Linux only."""
    if C_LIBRARY:
        C_LIBRARY.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Ask the kernel to kill this process once its parent has gone.  Linux only."""
    if C_LIBRARY:
        C_LIBRARY.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def fork() -> int:
    """Fork, also beside threads: the child runs none of their code.  As `os.fork`, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def children_of(process: int) -> list[int]:
    """Return the direct children of a process; none where the kernel does not tell.

    While one of them ends, the kernel's list may leave out another: only what it says twice is true.
    """
    found = _read_children(process)
    for _ in range(MOST_READINGS):
        before, found = found, _read_children(process)
        if found == before:
            break
    return [child for child in found if child not in _LEFT_ALONE]


def _read_children(process: int) -> list[int]:
    """Return what the kernel says once of a process's children."""
    found = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{process}/task/{thread}/children") as file:
                found += [int(child) for child in file.read().split()]
    return found


def living_children() -> list[int]:
    """Reap what has ended below this process and return its children that live."""
    for _ in range(MOST_READINGS):  # while one of them ends, the kernel's list may leave out others
        try:
            while ended := os.waitpid(-1, os.WNOHANG)[0]:
                _LEFT_ALONE.discard(ended)
        except ChildProcessError:
            return []
        if found := children_of(os.getpid()):
            return found
    return []


def descendants_of(process: int) -> list[int]:
    """Return all processes below one, parents before their children."""
    found = children_of(process)
    for child in found:  # grows while it is read
        found += children_of(child)
    return found


def command_of(process: int) -> str | None:
    """Return the command line of a living process, None when it has ended.

    A process that is just turning into another program has no command line yet: that one's name stands for it.
    """
    with contextlib.suppress(OSError):
        with open(f"/proc/{process}/stat", errors="replace") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
        state, *_, flags = rest.split()[:7]
        if state not in ("Z", "X") and not int(flags) & EXITING:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip() or name
    return None


def kill_below(process: int) -> None:
    """Kill a process, its group and all below it."""
    below = descendants_of(process)
    with contextlib.suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    for one in (process, *below):
        with contextlib.suppress(OSError):
            os.kill(one, signal.SIGKILL)


def kill_all_children() -> None:
    """Kill and reap everything below this process, until nothing is left or the time is up."""
    end = time.monotonic() + KILLING_SECONDS
    while living_children() and time.monotonic() < end:
        for child in descendants_of(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
