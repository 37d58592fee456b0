"""Run the files that a page shows, each once and whole, and find the output of the statements that are shown."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from scratchbook.core.cells import FileCell
from scratchbook.core.endings import Check, Ending
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.core.listings import Listing
from scratchbook.core.modules import ProjectModules
from scratchbook.core.statements import SourceFile, Statement


class Exhibits:
    """The files that one page shows.

    namespace: of the page; it gets their public names.
    """

    def __init__(self, modules: ProjectModules, namespace: dict[str, Any]) -> None:
        self.modules = modules
        self.namespace = namespace
        self._shown: set[str] = set()
        self._owners: dict[str, str] = {}

    def show(self, cell: FileCell, listing: Listing, ending: Ending) -> None:
        """Run a file unless it has run, and the guard that the shown lines are in; keep what they printed.

        What the file raises passes through.
        """
        path = cell.path
        if path is None or listing.text is None:
            ending.status, ending.stops = "failed", not cell.selection.optional
            return
        if listing.mistakes:
            ending.status = "failed"
        if not path.endswith(".py"):
            return
        if path in self.modules.files and path not in self._shown:
            ending.checks.append(_printed_early(self.modules.files[path]))
        shown = set(listing.numbers)
        try:
            module = self._import(path)
            known = set(public_names(module)) if path in self._shown else set()
            self._run_guards(self.modules.files[path], module, shown)
        finally:
            if path in self.modules.files:
                self._keep_output(self.modules.files[path], ending, shown)
        self._shown.add(path)
        self._take_names(path, module, ending, known)

    def _import(self, path: str) -> ModuleType:
        """Return the module of a file, running it when nobody has.  Raises ScratchbookError when it has no name."""
        name = self.modules.project.import_name(path)
        module = importlib.import_module(name)
        if getattr(module.__spec__, "loader_state", None) != path:
            other = getattr(module, "__file__", "a built-in one")
            fact = f"{path} cannot be run: `import {name}` means another module, {other}"
            raise ScratchbookError(f"{fact}; give the file another name", kind="source")
        return module

    def _run_guards(self, file: SourceFile, module: ModuleType, shown: set[int]) -> None:
        """Run each `__main__` guard that has not run and of which something is shown."""
        for guard in file.guards:
            if not guard.has_run and any(is_touched(statement, shown) for statement in guard.statements):
                self.modules.run(guard, module.__dict__)

    def _keep_output(self, file: SourceFile, ending: Ending, shown: set[int]) -> None:
        """Note the output of each statement that stands wholly in the shown lines."""
        for body in (file.body, *file.guards):
            for statement in body.statements:
                if statement.first in shown and statement.last in shown:
                    ending.spans.append(statement.span)
                elif is_touched(statement, shown):
                    ending.checks.append(_torn(statement, file.path))

    def _take_names(self, path: str, module: ModuleType, ending: Ending, known: set[str]) -> None:
        """Make a file's public names the page's; a name that would mean two things is told.

        known: names that the file had when it was shown before.  Only what its guard made since is taken then.
        """
        for name, value in public_names(module).items():
            if name in known:
                continue
            if name in self.namespace and not is_same(self.namespace[name], value):
                ending.fail(_unclear_name(name, path, self._owners.get(name)))
                continue
            self._owners[name] = path
            self.namespace[name] = value


def public_names(module: ModuleType) -> dict[str, Any]:
    """Return what a page gets from a file that it shows: `__all__`, or all names without an underscore."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name in vars(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


def is_touched(statement: Statement, shown: set[int]) -> bool:
    """Say whether any line of a statement is shown."""
    return any(line in shown for line in range(statement.first, statement.last + 1))


def is_same(one: Any, other: Any) -> bool:
    """Say whether two values are one thing: the same object, or an equal plain value."""
    if one is other:
        return True
    return type(one) is type(other) and isinstance(one, bool | int | float | complex | str | bytes) and one == other


def _unclear_name(name: str, path: str, other: str | None) -> Mistake:
    where = f"in {other}" if other else "on the page"
    choice = f"give one of them another name, or leave it out of __all__ of {path}"
    return Mistake("run", f"'{name}' already means something else {where} than in {path}; {choice}")


def _printed_early(file: SourceFile) -> Check:
    text = (
        f"{file.path} was imported before it is shown here, and what it printed is shown there; "
        "show it first, or print under its __main__ guard"
    )
    return Check([statement.span for statement in file.body.statements], Mistake("output", text))


def _torn(statement: Statement, path: str) -> Check:
    text = (
        f"only a part of the statement at {path}:{statement.first} is shown, so that what it prints is not; "
        "take the whole statement in"
    )
    return Check([statement.span], Mistake("output", text, Place(path, statement.first)))
