"""Record what a session really uses below the project, so that a store can tell its age.

By Python's audit events, and by the functions of `os` that ask for a file without one.
Not seen: what a library reads without Python's `open`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from scratchbook.core.cells import Uses
from scratchbook.core.digests import file_digest, folder_digest
from scratchbook.core.modules import Project

WRITING: Final = os.O_WRONLY | os.O_RDWR
IMPORT_FRAME: Final = "<frozen importlib._bootstrap_external>"
# The questions behind `os.path.exists`, `Path.is_file` and all their kind, which make no event.
QUESTIONS: Final = ("stat", "lstat", "access", "readlink")
# In every interpreter beside setuptools, whatever runs.
STARTED_WITH: Final = "_distutils_hack"
# They hold nothing that could change what a page shows.
HARMLESS: Final = frozenset({os.devnull, "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"})
STARTED: Final = "starts a process"
# What is done outside this process, or outside Python, leaves no trace here.
UNSEEN: Final = {
    "subprocess.Popen": STARTED,
    "os.system": STARTED,
    "os.exec": STARTED,
    "os.fork": STARTED,
    "os.forkpty": STARTED,
    "os.posix_spawn": STARTED,
    "os.spawn": STARTED,
    "pty.spawn": STARTED,
    "socket.connect": "uses the network",
    "socket.bind": "uses the network",
    "socket.sendto": "uses the network",
    "socket.sendmsg": "uses the network",
    "socket.getaddrinfo": "uses the network",
    "socket.gethostbyname": "uses the network",
    "urllib.Request": "uses the network",
    "ctypes.dlopen": "loads a foreign library",
    "sqlite3.connect": "opens a database",
    "winreg.OpenKey": "reads the registry",
}


@dataclass
class Tracer:
    """What this process has used so far.

    private: folders of the session's own, which vanish with it.   packages: modules that are loaded already.
    starts: how many processes the code has started, as far as that makes an event.
    """

    project: Project
    private: tuple[str, ...]
    packages: set[str]
    files: dict[str, str] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    folders: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    starts: int = 0
    _imported: set[str] = field(default_factory=set)
    _written: set[str] = field(default_factory=set)
    _is_busy: bool = False

    def start(self) -> None:
        """Listen from now on; an audit hook cannot be taken away, so this process must end with its session."""
        handlers: dict[str, Callable[..., None]] = {
            "open": self._open,
            "os.listdir": self._list,
            "os.scandir": self._list,
            "os.rename": self._rename,
            "import": self._import,
        }

        def listen(event: str, arguments: tuple[Any, ...]) -> None:
            if self._is_busy or not (event in handlers or event in UNSEEN):
                return
            self._is_busy = True
            try:
                if event in UNSEEN:
                    self.unsure.add(UNSEEN[event])
                    self.starts += UNSEEN[event] == STARTED
                else:
                    handlers[event](*arguments)
            finally:
                self._is_busy = False

        sys.addaudithook(listen)
        for name in QUESTIONS:
            setattr(os, name, self._heard(getattr(os, name)))

    def _heard(self, question: Callable[..., Any]) -> Callable[..., Any]:
        """Return a question of `os` that notes what it is asked for before it answers."""

        @functools.wraps(question)
        def ask(*arguments: Any, **options: Any) -> Any:
            path = _as_path(arguments[0] if arguments else options.get("path"))
            if path is not None and options.get("dir_fd") is None and not self._is_busy:
                with self.paused():
                    relative = self.project.relative(path)
                    if relative is not None:
                        self._look(path, relative)
            return question(*arguments, **options)

        for able in (os.supports_fd, os.supports_dir_fd, os.supports_effective_ids, os.supports_follow_symlinks):
            if question in able:
                able.add(ask)
        return ask

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing of what scratchbook itself does."""
        before, self._is_busy = self._is_busy, True
        try:
            yield
        finally:
            self._is_busy = before

    @property
    def may_have_started(self) -> bool:
        """Whether the code may have started a process: some ways to do it make no event."""
        return STARTED in self.unsure or "multiprocessing" in self._imported

    def _open(self, path: Any, mode: str | None, flags: int) -> None:
        """Note a file that is about to be opened: what it holds now, or that it is not there."""
        place = _as_path(path)
        if place is None:
            return
        relative = self.project.relative(place)
        is_written = bool(flags & WRITING) or (mode is not None and any(letter in mode for letter in "wax+"))
        keeps_content = not flags & os.O_TRUNC and (mode is None or "w" not in mode)
        if relative is None:
            if not is_written or (flags & os.O_RDWR and keeps_content):
                self._check_outside(place)
        elif keeps_content:
            self._look(place, relative)
        if relative is not None and is_written:
            self._written.add(relative)

    def _look(self, place: str, relative: str) -> None:
        """Note what a path leads to, unless the session put it there itself; a folder is noted when it is listed."""
        if relative in self._written or relative in self.files:
            return
        if os.path.isfile(place):
            self.files[relative] = file_digest(self.project.path(relative)) or ""
        elif not os.path.lexists(place):
            self.absent.add(relative)

    def _check_outside(self, place: str) -> None:
        """Note a read from a place that nobody watches."""
        place = os.path.abspath(place)
        known = (*self.private, *self.project.outside)
        if place in HARMLESS or any(place.startswith(folder + os.sep) for folder in known):
            return
        if os.path.isfile(place) and not any(os.path.realpath(place).startswith(folder + os.sep) for folder in known):
            self.unsure.add(f"reads {place}, which is outside the project")

    def _list(self, path: Any) -> None:
        """Note the names in a folder, unless the import machinery asks."""
        place = _as_path("." if path is None else path)
        if place is None or sys._getframe(2).f_code.co_filename == IMPORT_FRAME:
            return
        relative = "." if os.path.abspath(place) == self.project.root else self.project.relative(place)
        if relative is None or relative in self.folders:
            return
        digest = folder_digest(self.project.path(relative))
        if digest is None:
            self.absent.add(relative)
        else:
            self.folders[relative] = digest

    def _import(self, module: str, *details: Any) -> None:
        """Note the import of a module that is not loaded yet."""
        self._imported.add(module.partition(".")[0])

    def _rename(self, source: Any, target: Any, *descriptors: Any) -> None:
        """Note that a file which the session wrote has another name."""
        for path in (source, target):
            place = _as_path(path)
            relative = self.project.relative(place) if place else None
            if relative is not None:
                self._written.add(relative)

    def uses(self) -> Uses:
        """Return the record so far, with the modules of packages; their versions are for the builder to find."""
        with self.paused():
            packages = self.packages | packages_of(self._imported, self.project.outside)
            if resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt:  # started without an event
                self.unsure.add(STARTED)
            return Uses(
                dict(sorted(self.files.items())),
                tuple(sorted(self.absent | self.project.absent)),
                dict(sorted(self.folders.items())),
                dict.fromkeys(sorted(packages), ""),
                tuple(sorted(self.unsure)),
            )


def _as_path(path: Any) -> str | None:
    """Return the path that an event names; None for a descriptor that is open already."""
    if isinstance(path, int):
        return None
    with contextlib.suppress(TypeError):
        return os.fsdecode(path)
    return None


def packages_of(modules: Iterable[str], folders: tuple[str, ...]) -> set[str]:
    """Return those of these top-level modules that are from installed packages.

    folders: in which installed packages lie, among others.
    """
    folders = tuple(folder for folder in folders if folder.endswith("-packages"))
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name in modules if name != STARTED_WITH}
    return {name for name, file in files.items() if isinstance(file, str) and file.startswith(folders)}


def merge(one: Uses, other: Uses) -> Uses:
    """Return what two processes of one session used; what the first of them saw of a file counts."""
    return Uses(
        other.files | one.files,
        tuple(sorted({*one.absent, *other.absent})),
        other.folders | one.folders,
        one.modules | other.modules,
        tuple(sorted({*one.unsure, *other.unsure})),
    )
