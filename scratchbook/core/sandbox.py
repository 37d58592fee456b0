"""Keep a page's code from other processes, the network and the whole machine, as far as this system can.

Linux gives each guard only from some version on, and a container may forbid it: `missing_guards` says which fail.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import socket
import struct
from collections.abc import Callable
from typing import Final

from scratchbook.core.cells import Limits
from scratchbook.core.processes import C_LIBRARY, fork

NETWORK: Final = "the network"
PR_SET_NO_NEW_PRIVS: Final = 38
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWNET: Final = 0x40000000
# Landlock's calls have the same number on every architecture.
CREATE_RULESET: Final = 444
ADD_RULE: Final = 445
RESTRICT_SELF: Final = 446
WANT_VERSION: Final = 1
SCOPES_SINCE: Final = 6
SCOPE_SOCKETS_AND_SIGNALS: Final = 0b11
BENEATH_A_PATH: Final = 1
# Moving a file to another folder is forbidden by any rules that do not allow it, so they must name it.
MAKE_BLOCK_DEVICE: Final = 1 << 11
REFER: Final = 1 << 13
CAPABILITIES_VERSION: Final = 0x20080522
FILE_CAPABILITIES: Final = 0b11111  # to change and read all files: what is left to root
SET_FLAGS: Final = 0x8914
IS_UP: Final = 1


class Ruleset(ctypes.Structure):
    """Landlock's request: what of files, of the network and of other processes is ruled."""

    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class Beneath(ctypes.Structure):
    """Landlock's rule: what is allowed below a folder that is open."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class CapabilityHeader(ctypes.Structure):
    """Which process is meant, 0 for this one, and in which layout."""

    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


class CapabilitySets(ctypes.Structure):
    """32 of a process's capabilities, a bit each."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def limit_resources(limits: Limits) -> None:
    """Cap what this process and each of its children may use; no core is written when one crashes."""
    caps = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in caps.items():
        _, hard = resource.getrlimit(kind)
        capped = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (capped, capped))


def forbid_other_processes() -> bool:
    """Hide from this process, for ever, the memory and the environment of all that it has not started."""
    return _enter_landlock() and _drop_capabilities()


def _drop_capabilities() -> bool:
    """Keep of root's rights only those on files: others, such as that to measure, show any process's environment."""
    if C_LIBRARY is None:
        return False
    header, sets = CapabilityHeader(CAPABILITIES_VERSION, 0), (CapabilitySets * 2)()
    C_LIBRARY.capget(ctypes.byref(header), ctypes.byref(sets))
    sets[0].effective &= FILE_CAPABILITIES
    sets[0].permitted &= FILE_CAPABILITIES
    sets[1].effective = sets[1].permitted = 0
    status: int = C_LIBRARY.capset(ctypes.byref(header), ctypes.byref(sets))
    return status == 0


def _enter_landlock() -> bool:
    """Make the kernel ask for each access to what this process has not started.

    Any set of Landlock rules about files does that, even for root and even when they allow everything; from version 6
    on signals to others can be taken too.
    """
    if C_LIBRARY is None:
        return False
    version = C_LIBRARY.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), WANT_VERSION)
    if version < 1:
        return False
    access = MAKE_BLOCK_DEVICE | (REFER if version > 1 else 0)
    is_scoped = version >= SCOPES_SINCE
    rules = Ruleset(access, 0, SCOPE_SOCKETS_AND_SIGNALS if is_scoped else 0)
    size = ctypes.c_size_t(ctypes.sizeof(rules) if is_scoped else 8)
    handle = C_LIBRARY.syscall(CREATE_RULESET, ctypes.byref(rules), size, 0)
    if handle < 0:
        return False
    root = os.open("/", os.O_PATH)
    C_LIBRARY.syscall(ADD_RULE, handle, BENEATH_A_PATH, ctypes.byref(Beneath(access, root)), 0)
    C_LIBRARY.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    status: int = C_LIBRARY.syscall(RESTRICT_SELF, handle, 0)
    os.close(root)
    os.close(handle)
    return status == 0


def leave_network() -> bool:
    """Give this process and its children a network of their own, in which there is nobody else but a loopback.

    An attempt that fails half-way spoils the process: ask `missing_guards` before.
    """
    if C_LIBRARY is None:
        return False
    user, group = os.getuid(), os.getgid()
    if C_LIBRARY.unshare(CLONE_NEWNET) != 0:
        if C_LIBRARY.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
            return False
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as loopback:
        fcntl.ioctl(loopback, SET_FLAGS, struct.pack("16sh", b"lo", IS_UP))
    return True


def _has_worked(attempt: Callable[[], bool]) -> bool:
    """Say whether something works, by trying it in a process that is thrown away."""
    child = fork()
    if child == 0:
        status = 1
        try:
            status = 0 if attempt() else 1
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def missing_guards() -> tuple[str, ...]:
    """Return what a page's code can reach on this system although it should not."""
    if _has_worked(lambda: leave_network() and forbid_other_processes()):  # one process tells it as a rule
        return ()
    guards = {NETWORK: leave_network, "the environment of other processes": forbid_other_processes}
    return tuple(name for name, attempt in guards.items() if not _has_worked(attempt))
