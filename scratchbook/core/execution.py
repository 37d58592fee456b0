"""Run the cells of one page in order, in this process and one namespace, and report each as it ends."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from scratchbook.core.capture import Marker, own_streams
from scratchbook.core.cells import (
    BranchCell,
    Cell,
    ClaimCell,
    CodeCell,
    FileCell,
    Part,
    Session,
    ValueCell,
)
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.core.failures import describe, say
from scratchbook.core.listings import Listing
from scratchbook.core.modules import ProjectModules, public_names, unclear_name
from scratchbook.core.statements import SourceFile, Statement, compile_page, remember_lines
from scratchbook.core.values import ValueMistake, check_claim, nearest_names, show_value

Report = Callable[[dict[str, Any]], None]


class StopPage(Exception):
    """A cell failed so that the later ones cannot run; it has been told."""


class Page:
    """One namespace and the cells that run in it.

    modules: the project's.   marker: cuts the output.   report: sends one line of data to the supervisor.
    """

    def __init__(
        self,
        session: Session,
        listings: dict[str, Listing],
        modules: ProjectModules,
        marker: Marker,
        report: Report,
        clean: Callable[[str], str],
    ) -> None:
        self.session = session
        self.listings = listings
        self.modules = modules
        self.marker = marker
        self.report = report
        self.clean = clean
        self.owners: dict[str, str] = {}
        self.paths = {cell.place.path for cell in session.cells}
        self._flags = 0
        self._module = ModuleType("__main__")
        self._module.__dict__["__builtins__"] = __builtins__
        sys.modules["__main__"] = self._module
        if session.state:
            self.namespace[session.state.name] = session.state.value
        _remember_page(session)

    @property
    def namespace(self) -> dict[str, Any]:
        """Return the names of the page."""
        return self._module.__dict__

    def is_project(self, path: str) -> bool:
        """Say whether a frame's file is the author's."""
        return path in self.paths or path in self.modules.files

    def run_cells(self) -> bool:
        """Run all cells but the branches; return whether the branches may run."""
        for cell in self.session.cells:
            if isinstance(cell, BranchCell):
                continue
            try:
                self._run_cell(cell)
            except StopPage:
                return False
        return True

    def _run_cell(self, cell: Cell) -> None:
        """Run one cell between two marks and report it."""
        begin = self.marker.mark()
        self.report({"begin": cell.id, "mark": begin})
        threads = set(threading.enumerate())
        with own_streams():
            ended = Ended()
            try:
                self._execute(cell, ended)
                wait_for_threads(threads)
            except StopPage:
                raise
            except BaseException as error:  # whatever code raises, also SystemExit and KeyboardInterrupt
                self._fail(cell, ended, error)
        end = self.marker.mark()
        if not isinstance(cell, FileCell):
            ended.spans = [(begin, end)] if isinstance(cell, CodeCell) else []
        elif ended.status == "failed" and not ended.spans:
            ended.spans = [(begin, end)]
        self.report(ended.line(cell.id))
        if ended.stops:
            raise StopPage

    def _execute(self, cell: Cell, ended: Ended) -> None:
        match cell:
            case FileCell():
                self._show_file(cell, ended)
            case CodeCell():
                self._run_code(cell, ended)
            case ValueCell():
                text = show_value(cell.expression, self._evaluate)
                ended.parts.append(Part("value", {"text": self.clean(text)}))
            case ClaimCell():
                check_claim(cell.expression, self._evaluate)

    def _evaluate(self, expression: str) -> Any:
        code = compile(f"({expression}\n)", "<value>", "eval", flags=self._flags, dont_inherit=True)
        return eval(code, self.namespace)

    def _fail(self, cell: Cell, ended: Ended, error: BaseException) -> None:
        """Note what went wrong in a cell, unless that is what it was to show."""
        ended.status = "failed"
        if isinstance(cell, ValueCell | ClaimCell):
            ended.mistakes.append(self._value_mistake(cell, error))
            ended.stops = not isinstance(error, Exception)
            return
        wanted = cell.raises if isinstance(cell, CodeCell) else None
        if wanted and any(wanted in (kind.__name__, kind.__qualname__) for kind in type(error).__mro__):
            ended.status = "ok"
            print(self.clean(say(error)))
            return
        ended.stops = True
        mistake, place = describe(error, self.is_project, self.clean)
        text = mistake.text if wanted is None else f"{mistake.text}, where {wanted} was to come"
        if place is not None and not _is_within(place, cell):
            text += f" (run by {cell.place})"
        ended.mistakes.append(Mistake(mistake.kind, text, place, mistake.detail))

    def _value_mistake(self, cell: ValueCell | ClaimCell, error: BaseException) -> Mistake:
        """Return the mistake of an inline value or a claim."""
        kind = "value" if isinstance(cell, ValueCell) else "claim"
        if isinstance(error, ValueMistake):
            return Mistake(kind, self.clean(str(error)))
        text = f"`{cell.expression}` cannot be evaluated: {self.clean(say(error))}"
        if isinstance(error, NameError):
            text += nearest_names(error, list(self.namespace))
        return Mistake(kind, text)

    def _run_code(self, cell: CodeCell, ended: Ended) -> None:
        """Run a block of the page, and keep what it ends with where that is wanted."""
        wants_last = cell.show_value or cell.wants != "text"
        code = compile_page(cell.code.text, cell.code.numbers, cell.code.path, self._flags, wants_last)
        self._flags = code.flags
        exec(code.body, self.namespace)
        value = eval(code.last, self.namespace) if code.last else None
        if cell.raises:
            text = f"ended without {cell.raises}, which it says it raises"
            ended.fail(Mistake("run", text), stops=True)
            return
        if cell.show_value and value is not None:
            print(repr(value))

    def _show_file(self, cell: FileCell, ended: Ended) -> None:
        """Run a file, once, and keep what the shown statements printed."""
        listing = self.listings[cell.id]
        if cell.path is None or listing.text is None:
            ended.status, ended.stops = "failed", not cell.selection.optional
            return
        if listing.mistakes:
            ended.status = "failed"
        if not cell.path.endswith(".py"):
            return
        before = self.modules.files.get(cell.path)
        module = self._import(self.modules.project.import_name(cell.path), cell.path)
        file = self.modules.open(cell.path)
        if before and not before.has_shown:
            ended.checks.append(_printed_early(file))
        shown = set(listing.numbers)
        try:
            for guard in file.guards:
                if not guard.has_run and any(_touches(statement, shown) for statement in guard.statements):
                    self.modules.run(guard, module.__dict__)
        finally:
            self._keep_output(cell, ended, shown)
        if not file.has_shown:
            file.has_shown = True
            self._take_names(cell.path, module, ended)

    def _import(self, name: str, path: str) -> ModuleType:
        """Return the module of a file, running it when nobody has."""
        __import__(name)
        module = sys.modules[name]
        found = getattr(module.__spec__, "loader", None)
        if getattr(found, "path", None) != path:
            raise ScratchbookError(
                f"{path} cannot be run: 'import {name}' gives {getattr(module, '__file__', None) or 'another module'}; "
                "give it another name",
                kind="source",
            )
        return module

    def _keep_output(self, cell: FileCell, ended: Ended, shown: set[int]) -> None:
        """Note the output of each statement that stands wholly in the shown lines."""
        file = self.modules.files.get(cell.path or "")
        if file is None:
            return
        for body in (file.body, *file.guards):
            for statement in body.statements:
                if not statement.end:
                    continue
                if statement.first in shown and statement.last in shown:
                    ended.spans.append(statement.span)
                elif _touches(statement, shown):
                    ended.checks.append(_torn(statement, file.path))

    def _take_names(self, path: str, module: ModuleType, ended: Ended) -> None:
        """Make a file's public names the page's; a name that means two things is told."""
        for name, value in public_names(module):
            other = self.owners.get(name)
            if other and not _is_same(self.namespace.get(name), value):
                ended.fail(unclear_name(name, path, other))
                continue
            self.owners[name] = path
            self.namespace[name] = value


class Ended:
    """What became of a cell, as its code went on.   stops: the later cells cannot run."""

    def __init__(self) -> None:
        self.status = "ok"
        self.parts: list[Part] = []
        self.mistakes: list[Mistake] = []
        self.spans: list[tuple[int, int]] = []
        self.checks: list[Check] = []
        self.stops = False

    def fail(self, mistake: Mistake, stops: bool = False) -> None:
        """Note a mistake."""
        self.status = "failed"
        self.stops = self.stops or stops
        self.mistakes.append(mistake)

    def line(self, cell: str) -> dict[str, Any]:
        """Return what the supervisor is told."""
        return {
            "end": cell,
            "status": self.status,
            "parts": [{"kind": part.kind, "data": part.data} for part in self.parts],
            "mistakes": [mistake.to_json() for mistake in self.mistakes],
            "spans": self.spans,
            "checks": [[check.spans, check.mistake.to_json()] for check in self.checks],
        }


@dataclass(frozen=True)
class Check:
    """A mistake when anything was printed between these marks, which only the supervisor can see."""

    spans: list[tuple[int, int]]
    mistake: Mistake


def _printed_early(file: SourceFile) -> Check:
    text = (
        f"{file.path} was imported before it is shown here, and what it printed is shown there; "
        "show it first, or print under its __main__ guard"
    )
    return Check([statement.span for statement in file.body.statements], Mistake("output", text))


def _torn(statement: Statement, path: str) -> Check:
    text = (
        f"the region holds only a part of the statement at {path}:{statement.first}, so that what it prints "
        "is not shown; take the whole statement in"
    )
    return Check([statement.span], Mistake("output", text, Place(path, statement.first)))


def _remember_page(session: Session) -> None:
    """Let tracebacks quote the blocks of a page at the lines where they stand in the chapter."""
    lines: dict[str, dict[int, str]] = {}
    for cell in session.cells:
        if isinstance(cell, CodeCell):
            numbered = zip(cell.code.numbers, cell.code.text.split("\n"), strict=False)
            lines.setdefault(cell.code.path, {}).update(numbered)
    for path, known in lines.items():
        remember_lines(path, known)


def wait_for_threads(before: set[threading.Thread]) -> None:
    """Let the threads that a block started end with it, so that what they print is its output."""
    for thread in threading.enumerate():
        if thread not in before and not thread.daemon:
            thread.join()


def _is_within(place: Place, cell: Cell) -> bool:
    """Say whether a place is in the cell's own lines."""
    if isinstance(cell, CodeCell):
        return place.path == cell.code.path and place.line in cell.code.numbers
    return place == cell.place


def _touches(statement: Statement, shown: set[int]) -> bool:
    return any(line in shown for line in range(statement.first, statement.last + 1))


def _is_same(one: Any, other: Any) -> bool:
    """Say whether two files mean the same by a name: the same object, or an equal plain value."""
    if one is other:
        return True
    return type(one) is type(other) and isinstance(one, bool | int | float | complex | str | bytes) and one == other
