"""Say what an author can do about an exception where its own words name no cure: a page is no terminal."""

from __future__ import annotations

import errno
import os
import socket
from typing import Final

from scratchbook.core.cells import Limits
from scratchbook.core.printed import say_bytes

UNREACHABLE: Final = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)


def advise(error: BaseException, limits: Limits, network: bool, paths: tuple[str, ...]) -> str:
    """Return the choice that an author has, to stand behind an exception's message; "" where that says enough.

    network: whether the code may reach other machines.   paths: of the code and of the chapter, from the root.
    """
    match error:
        case MemoryError():
            return f"; a page has {say_bytes(limits.memory_bytes)}, more with scratchbook_memory_bytes"
        case EOFError() if "reading a line" in str(error):
            return "; nobody answers input() while a page is built: write the answer into the code"
        case ModuleNotFoundError():
            return "; install it beside scratchbook, or name the folder of its file in scratchbook_folders"
        case SyntaxError():
            return _about_syntax(error)
        case OSError() if choice := _about_system(error, limits, paths):
            return choice
    if type(error).__name__ == "BdbQuit":  # its module is loaded only where somebody debugs
        return "; nobody answers a debugger while a page is built: take breakpoint() out"
    return "" if network else _about_network(error)


def _about_syntax(error: SyntaxError) -> str:
    """What a notebook or a console takes and Python does not."""
    if (error.text or "").lstrip().startswith(">>>"):
        return "; >>> and what a console printed are no code: leave them out"
    if (error.text or "").lstrip().startswith(("!", "%")):
        return "; a line that begins with ! or % is a command of notebooks: write Python, or take it out"
    if "'await' outside function" in error.msg or "outside async function" in error.msg:
        return "; a page has no event loop: write asyncio.run(...) around it"
    return ""


def _about_system(error: OSError, limits: Limits, paths: tuple[str, ...]) -> str:
    """A limit of ours that was met, or a file that is looked for where the author did not mean."""
    if error.errno == errno.EFBIG:
        return f"; a file may have {say_bytes(limits.file_bytes)}, more with scratchbook_file_bytes"
    if error.errno == errno.EMFILE:
        return f"; a page may open {limits.open_files} files, more with scratchbook_open_files"
    name = error.filename
    if error.errno == errno.ENOENT and isinstance(name, str) and not os.path.isabs(name):
        for path in paths:
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if os.path.exists(beside):
                return f"; paths count from the working folder, so write {beside.replace(os.sep, '/')!r}"
    return ""


def _about_network(error: BaseException) -> str:
    """Whatever was raised since no other machine can be reached, also by a library that says it in words of its own."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, socket.gaierror) or (isinstance(seen, OSError) and seen.errno in UNREACHABLE):
            return "; code reaches no other machine unless scratchbook_network = True"
        seen = seen.__cause__ or seen.__context__
    return ""
