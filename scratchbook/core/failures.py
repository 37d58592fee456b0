"""Turn an exception, or the death of a process, into one mistake at the author's line with a short traceback."""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

from scratchbook.core.errors import Mistake, Place
from scratchbook.core.statements import is_project

OUR_FOLDER: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep
LONGEST_TEXT: Final = 300
FATAL_FRAME: Final = re.compile(r'^  File "(.+)", line (\d+)', re.MULTILINE)


def is_ours(path: str) -> bool:
    """Say whether a frame is scratchbook's own or the import machinery's, which tells an author nothing."""
    return path.startswith(("<frozen importlib", OUR_FOLDER))


def machine_folders(root: str, home: str = "", temporary: str = "") -> tuple[tuple[str, str], ...]:
    """Return the paths that differ between machines, each with what a page shows in its place, longest first."""
    library = os.path.dirname(os.__file__)
    inside = [(os.path.join(path, ""), "") for path in {root, library, *sys.path} if os.path.isabs(path)]
    known = [*inside, (root, "."), (temporary, "/tmp"), (home, "~"), (os.path.join(sys.prefix, ""), "")]
    return tuple(sorted(((path, name) for path, name in known if len(path) > 1), key=lambda item: -len(item[0])))


def say(error: BaseException) -> str:
    """Return an exception's class and message on one line, as the last line of a traceback has it."""
    if isinstance(error, SyntaxError):
        return shorten(f"{type(error).__name__}: {error.msg}")
    return shorten(traceback.format_exception_only(error)[0])


def shorten(text: str) -> str:
    """Return text on one line, cut where a message gets unreadable."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def describe(error: BaseException, clean: Callable[[str], str]) -> Mistake:
    """Return the mistake that an exception of the author's code is, at its innermost place in the project.

    clean: shortens the paths.
    """
    text = clean(say(error))
    if isinstance(error, SystemExit):
        text = f"ended early: sys.exit({'' if error.code is None else repr(error.code)})"
    return Mistake("run", text, innermost(error), clean(format_traceback(error)))


def innermost(error: BaseException) -> Place | None:
    """Return the place of the innermost frame, or of the wrong syntax, that the author can change."""
    if isinstance(error, SyntaxError) and error.filename and is_project(error.filename):
        return Place(error.filename, error.lineno or 1)
    places = [
        Place(frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_project(frame.f_code.co_filename)
    ]
    return places[-1] if places else None


def format_traceback(error: BaseException) -> str:
    """Return the traceback as Python prints it, without the frames that are ours."""
    report = traceback.TracebackException.from_exception(error, compact=True)
    _leave_out_ours(report)
    return "".join(report.format())


def _leave_out_ours(report: traceback.TracebackException) -> None:
    """Take our frames out of a report and of those that it quotes, and all that led to the author's first."""
    waiting: list[Any] = [report]
    while waiting:
        one = waiting.pop()
        frames = list(itertools.dropwhile(lambda frame: not is_project(frame.filename), one.stack))
        frames = [frame for frame in frames if not is_ours(frame.filename)]
        one.stack = traceback.StackSummary.from_list(frames)
        quoted = [one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())]
        waiting += [other for other in quoted if other is not None]


def describe_death(status: int) -> str:
    """Return how a process ended by itself or was killed.  status: as `os.waitpid` gives it."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"killed by signal {number} ({signal.Signals(number).name})"
    return f"ended early: its process exited with status {os.waitstatus_to_exitcode(status)}"


def fatal_place(report: str, root: str, chapters: set[str]) -> Place | None:
    """Return the innermost place of the project in what `faulthandler` wrote.  chapters: paths that may hold code."""
    for path, line in FATAL_FRAME.findall(report):
        if path in chapters or (not os.path.isabs(path) and os.path.isfile(os.path.join(root, path))):
            return Place(path, int(line))
    return None
