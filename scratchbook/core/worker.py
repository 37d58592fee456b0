"""The process that runs pages: `python -m scratchbook.core.worker`.  Loads NumPy once and forks a process a page.

Started with a socket as its only inheritance, over which connections come.  Over a connection comes one line, a
session, and goes one line, its outcome, again and again.  The process serves one connection itself, and forks one like
itself for each that comes meanwhile: a process between, which only forks, would take 5 MB.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # what is loaded here is no garbage, and looking for some takes a third of the time

import contextlib
import faulthandler
import functools
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, BinaryIO, Final, NoReturn, get_args

from scratchbook.core import cells
from scratchbook.core.capture import Marker, redirect
from scratchbook.core.cells import Session
from scratchbook.core.environment import ENVIRONMENT
from scratchbook.core.errors import Place, ScratchbookError
from scratchbook.core.execution import Page
from scratchbook.core.failures import OUR_FOLDER, machine_folders
from scratchbook.core.lint import find_faults
from scratchbook.core.listings import Listing
from scratchbook.core.modules import Project, ProjectModules
from scratchbook.core.printed import clean_text, show_bytes
from scratchbook.core.processes import (
    adopt_orphans,
    die_with_parent,
    kill_all_children,
    leave_alone,
    living_children,
)
from scratchbook.core.records import dump, load, remember
from scratchbook.core.sandbox import NETWORK, forbid_other_processes, leave_network, limit_resources, missing_guards
from scratchbook.core.sources import is_python, read_text
from scratchbook.core.statements import prepare_file
from scratchbook.core.supervisor import Channels, Supervisor
from scratchbook.core.tracing import Tracer, packages_of

PARENT_SECONDS: Final = 1.0  # how often one that nobody asks looks whether its parent is there
# What these load at first use otherwise, in every page anew.
LAZY_PARTS: Final = {
    "numpy": ("numpy.random", "numpy.linalg"),
    "matplotlib.pyplot": (
        "matplotlib.backends.backend_svg",
        "matplotlib.backends.backend_pdf",
        "scratchbook.core.figures",
    ),
}


def main(arguments: list[str]) -> None:
    """Serve the connections that come over a socket, until its other end is closed.

    arguments: "network" or "no-network", and the number of the inherited socket.
    """
    network, handle = arguments
    sys.dont_write_bytecode = True  # ours is written by now; that of a project is nobody's
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and its end is ours
    missing = missing_guards()
    if network == "network":
        missing = tuple(guard for guard in missing if guard != NETWORK)
    elif NETWORK not in missing:
        leave_network()
    remember_for_pages()
    run(Worker(socket.socket(fileno=int(handle)), preload(("numpy",)), missing).work)


class Worker:
    """A process that runs pages, one after another for whoever is connected.

    requests: where connections come from, in the first process; None in those that it forks.
    packages: modules that are loaded, for the record of what a page has used.
    unguarded: what the code of pages can reach although it should not.
    """

    def __init__(self, requests: socket.socket | None, packages: set[str], unguarded: tuple[str, ...]) -> None:
        adopt_orphans()
        gc.enable()
        self._requests, self._packages, self._unguarded = requests, packages, unguarded
        self._parent = os.getppid()

    def work(self) -> None:
        """Serve one connection after another.  Raises EOFError when none will come any more."""
        assert self._requests
        while True:
            if self._wait(self._requests):
                self.serve(take_connection(self._requests))

    def serve(self, connection: socket.socket) -> None:
        """Run one session after another and send their outcomes, until nobody asks any more.  Raises EOFError."""
        watched = {connection.fileno(): abandon}
        if self._requests:
            watched[self._requests.fileno()] = self._fork
        with connection, connection.makefile("rb") as stream, contextlib.suppress(ConnectionError):
            while line := self._next_line(connection, stream):
                session = load(Session, line)
                self._packages |= preload(wanted_modules(session))
                outcome = Supervisor(session, functools.partial(start_page, self._packages), watched).run()
                connection.sendall(dump(replace(outcome, unguarded=self._unguarded)) + b"\n")
                leave_alone(living_children())  # what could not be killed must not be taken for the next page's
                prepare_files(session, outcome.uses.files)

    def _next_line(self, connection: socket.socket, stream: BinaryIO) -> bytes:
        """Wait for the next session; return nothing once the connection has ended.  Raises EOFError."""
        while True:
            asked = self._wait(connection, *filter(None, [self._requests]))
            if self._requests in asked:
                self._fork()
            elif asked:
                return stream.readline()

    def _wait(self, *sockets: socket.socket) -> list[socket.socket]:
        """Return those that have something to read, for a while.  Raises EOFError once the parent has gone."""
        asked, _, _ = select.select(sockets, [], [], PARENT_SECONDS)
        if not asked and os.getppid() != self._parent:
            raise EOFError("the parent has gone")
        return asked

    def _fork(self) -> None:
        """Have a process like this one serve the connection that comes; also while a page runs here."""
        assert self._requests
        connection = take_connection(self._requests)
        if child := os.fork():
            connection.close()
            leave_alone([child])
            return
        signal.set_wakeup_fd(-1)
        die_with_parent()
        close_others({0, 1, 2, connection.fileno()})
        leave_alone(None)
        run(functools.partial(Worker(None, self._packages, self._unguarded).serve, connection))


def run(work: Callable[[], None]) -> NoReturn:
    """Work until nobody asks any more; end this process and all below it."""
    status = 1
    try:
        with contextlib.suppress(EOFError):
            work()
        status = 0
    finally:
        leave_alone(None)
        kill_all_children()
        if status:
            traceback.print_exc()
        os._exit(status)


def take_connection(requests: socket.socket) -> socket.socket:
    """Return the connection that comes.  Raises EOFError when none will come any more."""
    _, handles, _, _ = socket.recv_fds(requests, 1, 1)
    if not handles:
        raise EOFError("nobody asks any more")
    return socket.socket(fileno=handles[0])


def abandon() -> None:
    """Leave a page whose asker has gone."""
    raise ConnectionAbortedError("nobody waits for this page")


def wanted_modules(session: Session) -> tuple[str, ...]:
    """Return the modules to load once for all pages: those named, our tasks', and matplotlib where it is mentioned."""
    tasks = {cell.task.partition(":")[0] for cell in session.cells if isinstance(cell, cells.BranchCell)}
    ours = sorted(task for task in tasks if task.startswith("scratchbook."))
    texts = [cell.code.text for cell in session.cells if isinstance(cell, cells.CodeCell)]
    draws = any("matplotlib" in text for text in texts) or any(b"matplotlib" in data for _, data in session.sources)
    return (*session.preload, *ours, *(("matplotlib.pyplot",) if draws else ()))


def remember_for_pages() -> None:
    """Do once what each page would do anew."""
    remember(Session, *get_args(cells.Cell), cells.Code, cells.Limits, cells.Selection, cells.State, Place)
    remember(cells.Outcome, cells.CellOutcome, cells.Part, cells.Uses)
    find_faults("# tag::a[]\npass\n# end::a[]\n", "a.py")  # patterns are compiled at their first use
    show_bytes(b"\r", 1)


def preload(names: list[str] | tuple[str, ...]) -> set[str]:
    """Import modules that sessions need, so that each finds them loaded; a missing one is the session's to tell.

    Returns the modules of all packages that are loaded, nothing when none is new.
    """
    wanted = [part for name in names for part in (name, *LAZY_PARTS.get(name, ())) if part not in sys.modules]
    for name in wanted:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if not wanted:
        return set()
    gc.freeze()  # what is shared with the pages stays shared
    return packages_of([name for name in sys.modules if "." not in name], outside_project())


def prepare_files(session: Session, used: Iterable[str]) -> None:
    """Compile what a page has shown and imported, for the next pages: most import the same."""
    project = Project(session.root, session.folders, dict(session.sources))
    for path in {*project.sources, *used}:
        if is_python(path):
            with contextlib.suppress(OSError, ScratchbookError):
                prepare_file(read_text(project.read(path), path), path)


def start_page(packages: set[str], session: Session, listings: dict[str, Listing], channels: Channels) -> int:
    """Fork the process in which the page's code runs; return its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        run_page(packages, session, listings, channels)
        status = 0
    except BaseException:
        send_report(channels, {"broken": traceback.format_exc()})
    finally:
        os._exit(status)


def run_page(packages: set[str], session: Session, listings: dict[str, Listing], channels: Channels) -> None:
    """Make this process what a page's code expects, and run the page in it."""
    os.setsid()
    die_with_parent()
    limit_resources(session.limits)
    forbid_other_processes()
    keep = {channels.reports, channels.output, channels.fatal}
    redirect(channels.output)
    close_others(keep | {0, 1, 2})
    faulthandler.enable(channels.fatal, all_threads=False)
    faulthandler.register(signal.SIGUSR1, channels.fatal, all_threads=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    set_environment(session, channels)
    os.chdir(session.root)
    folders = machine_folders(session.root, channels.home, channels.temporary)
    packages |= preload(session.preload)
    set_numbers(session)
    project = Project(session.root, session.folders, dict(session.sources), outside_project())
    marker = Marker(channels.output, channels.token)
    modules = ProjectModules(project, marker.mark)
    modules.install()
    sys.path[:0] = [project.path(folder) for folder in project.folders]  # for interpreters that the code starts
    tracer = Tracer(project, (os.path.dirname(channels.home),), packages)
    tracer.start()
    gc.enable()
    report = functools.partial(send_report, channels)
    page = Page(session, listings, modules, marker, report, lambda text: clean_text(text, folders), tracer)
    page.run()


def send_report(channels: Channels, line: dict[str, Any]) -> None:
    """Send a line of data to the supervisor, signed, since code may write into every descriptor that it finds."""
    data = f"{channels.token}{json.dumps(line)}\n".encode()
    while data:
        data = data[os.write(channels.reports, data) :]


def close_others(keep: set[int]) -> None:
    """Close every descriptor that is not the page's: the builder's sockets are none of its business."""
    first = 0
    for handle in (*sorted(keep), os.sysconf("SC_OPEN_MAX")):
        if first < handle:  # an empty range would close them all
            os.closerange(first, handle)
        first = handle + 1


def set_environment(session: Session, channels: Channels) -> None:
    """Leave the code only our variables and those that the session names."""
    kept = {name: value for name, value in os.environ.items() if name in ENVIRONMENT or name.startswith("OPENBLAS_")}
    folders = os.pathsep.join(os.path.join(session.root, folder) for folder in session.folders)
    own = {"HOME": channels.home, "TMPDIR": channels.temporary, "PYTHONPATH": folders}
    wanted = ENVIRONMENT | kept | own | dict(session.environment)
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    if tempfile := sys.modules.get("tempfile"):  # a package that was loaded before may have asked it for a folder
        vars(tempfile)["tempdir"] = None
    time.tzset()


def outside_project() -> tuple[str, ...]:
    """Return the folders that are nobody's project, even when they lie below its root."""
    ours = os.path.dirname(OUR_FOLDER.rstrip(os.sep))
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    return (ours, sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), *packages)


def set_numbers(session: Session) -> None:
    """Print numbers as the settings say, and draw the same ones every time from the generators without a seed."""
    import numpy as np

    np.set_printoptions(**dict(session.print_options))
    random.seed(0)
    np.random.seed(0)


if __name__ == "__main__":
    main(sys.argv[1:])
