"""Give each file of the project one module, made from its text and never from byte code, and run it by statements."""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any

from scratchbook.core.sources import read_text
from scratchbook.core.statements import MARK, Body, SourceFile, compile_file


@dataclass(frozen=True)
class Found:
    """Where the import of a name leads.   path: of the file, from the root."""

    path: str
    is_package: bool


@dataclass
class Project:
    """The files that a session may import.

    root: absolute.   folders: where imports are looked up, from the root.   sources: the texts that must run, by path.
    outside: absolute folders below the root that are not the project's, such as its virtual environment.
    absent: paths from the root that were looked for and not there.
    """

    root: str
    folders: tuple[str, ...]
    sources: dict[str, bytes]
    outside: tuple[str, ...] = ()
    absent: set[str] = field(default_factory=set)

    def relative(self, path: str) -> str | None:
        """Return the path from the root, with forward slashes; None for a file that is not the project's."""
        path = os.path.abspath(path)
        for place in (path, os.path.realpath(path)):
            if place.startswith(self.root + os.sep):
                if any(place == folder or place.startswith(folder + os.sep) for folder in self.outside):
                    return None
                return place[len(self.root) + 1 :].replace(os.sep, "/")
        return None

    def path(self, relative: str) -> str:
        """Return the absolute path."""
        return os.path.join(self.root, *relative.split("/"))

    def read(self, path: str) -> bytes:
        """Return the bytes of a file: those that the page shows, or those on disk.  Raises OSError."""
        if path in self.sources:
            return self.sources[path]
        with open(self.path(path), "rb") as file:
            return file.read()

    def look_up(self, name: str, folders: Sequence[str]) -> Found | None:
        """Find the file of a module in folders, given from the root, and note where it is not."""
        last = name.rpartition(".")[2]
        for folder in folders:
            for is_package in (True, False):
                path = os.path.normpath(f"{folder or '.'}/{last}{'/__init__' if is_package else ''}.py")
                if path in self.sources or os.path.isfile(self.path(path)):
                    return Found(path, is_package)
                self.absent.add(path)
        return None

    def import_name(self, path: str) -> str:
        """Return the name under which a file is imported: from its source folder, or its own beside a chapter."""
        inside = [part for folder in self.folders if (part := _below(path, folder)) is not None]
        parts = os.path.splitext(min(inside, key=len) if inside else os.path.basename(path))[0].split("/")
        if parts[-1] == "__init__" and len(parts) > 1:
            parts.pop()
        return ".".join(parts)


def _below(path: str, folder: str) -> str | None:
    """Return a path, given from the root, from a folder; None for what does not lie in it."""
    start = "" if folder in ("", ".") else f"{folder}/"
    return path[len(start) :] if path.startswith(start) else None


class ProjectModules:
    """Finds the project's modules before anything else that lies in a folder, and loads them from their text.

    mark: begins a new piece of output and returns its number.
    """

    def __init__(self, project: Project, mark: Callable[[], int]) -> None:
        self.project = project
        self.files: dict[str, SourceFile] = {}
        self._mark = mark
        self._beside = {
            project.import_name(path): Found(path, False)
            for path in project.sources
            if all(_below(path, folder) is None for folder in project.folders)
        }
        self._others: list[Any] = []
        self._running: dict[str, Body] = {}

    def install(self) -> None:
        """Stand where folders are searched: built-in and frozen modules cannot be replaced in any script either.

        Marked statements find the function that marks among the built-in ones, where no module sees it as its own.
        """
        vars(builtins)[MARK] = self._mark_statement
        place = sys.meta_path.index(importlib.machinery.PathFinder)
        self._others = sys.meta_path[place:]
        sys.meta_path.insert(place, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load a module: ours for a file of the project, else what anyone else finds."""
        inside = None if path is None else [self.project.relative(folder) for folder in path]
        folders = self.project.folders if inside is None else [folder for folder in inside if folder is not None]
        found = self.project.look_up(fullname, folders)
        if found is None and inside is None:
            found = self._beside.get(fullname)
        if found:
            return self._spec(fullname, found)
        spec = next(filter(None, (other.find_spec(fullname, path, target) for other in self._others)), None)
        if spec is None and inside is None:
            return self._find_in_root(fullname)
        return self._ours(spec) if spec else None

    def _find_in_root(self, fullname: str) -> importlib.machinery.ModuleSpec | None:
        """Look in the working folder, last of all: a block may have just written a module there."""
        found = self.project.look_up(fullname, ("",))
        return self._spec(fullname, found) if found else None

    def _ours(self, spec: importlib.machinery.ModuleSpec) -> importlib.machinery.ModuleSpec:
        """Load a file of the project that somebody else has found as we would: byte code may be older than it."""
        origin = spec.origin or ""
        path = self.project.relative(origin) if origin.endswith(".py") and os.path.isabs(origin) else None
        if path is None:
            return spec
        return self._spec(spec.name, Found(path, spec.submodule_search_locations is not None))

    def _spec(self, fullname: str, found: Found) -> importlib.machinery.ModuleSpec:
        loader = ProjectLoader(self, fullname, found.path)
        origin = loader.path
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=origin, is_package=found.is_package)
        spec.loader_state = found.path
        spec.has_location = True
        if found.is_package:
            spec.submodule_search_locations = [os.path.dirname(origin)]
        return spec

    def open(self, path: str) -> SourceFile:
        """Return a file of the project, compiled once.  Raises OSError, SourceError or SyntaxError."""
        if path not in self.files:
            self.files[path] = compile_file(read_text(self.project.read(path), path), path)
        return self.files[path]

    def run(self, body: Body, namespace: dict[str, Any]) -> None:
        """Run statements in a namespace and note where the output of each begins and ends."""
        body.has_run = True
        self._running[body.name] = body
        try:
            exec(body.code, namespace)
        finally:
            self._mark_statement(body.name, -1)

    def _mark_statement(self, name: str, index: int) -> None:
        """End the statement of a body that runs, and begin the one of that index, if there is one."""
        body = self._running[name]
        place = self._mark()
        if body.current is not None and not body.current.end:
            body.current.end = place
        if index >= 0:
            body.current = body.statements[index]
            body.current.begin = place


class ProjectLoader(importlib.machinery.SourceFileLoader):
    """Loads one module from its text; finds what lies beside it as Python's own loader does.

    source: the path from the root.
    """

    def __init__(self, modules: ProjectModules, name: str, source: str) -> None:
        super().__init__(name, modules.project.path(source))
        self.modules = modules
        self.source = source

    def exec_module(self, module: ModuleType) -> None:
        """Run the file's statements, the `__main__` guard's body excepted."""
        self.modules.run(self.modules.open(self.source).body, module.__dict__)

    def get_source(self, fullname: str) -> str:
        """Return the text, for `inspect` and `linecache`."""
        return read_text(self.modules.project.read(self.source), self.source)

    def get_code(self, fullname: str) -> CodeType:
        """Return the code that runs without marks, for `runpy`; never byte code."""
        return compile(self.get_source(fullname), self.source, "exec", dont_inherit=True)
