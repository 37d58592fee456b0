"""Run the cells of one page in order, in this process and one namespace, and report each as it ends."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from scratchbook.core.advice import advise
from scratchbook.core.branches import run_branch
from scratchbook.core.capture import Marker, own_streams
from scratchbook.core.cells import BranchCell, Cell, ClaimCell, CodeCell, FileCell, Part, Session, ValueCell
from scratchbook.core.endings import Check, Ending, OutputError
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.core.exhibits import Exhibits
from scratchbook.core.failures import describe, say
from scratchbook.core.listings import Listing
from scratchbook.core.modules import ProjectModules
from scratchbook.core.processes import children_of
from scratchbook.core.records import to_json
from scratchbook.core.statements import compile_page, remember_lines
from scratchbook.core.tables import make_table
from scratchbook.core.tracing import Tracer
from scratchbook.core.values import ValueMistake, check_claim, nearest_names, show_value

Report = Callable[[dict[str, Any]], None]


class Page:
    """One namespace and the cells that run in it.

    marker: cuts the output.   report: sends one line of data to the supervisor.   clean: takes out of a text what
    differs between machines.   The namespace is that of `__main__`, so that what a page defines can be pickled.
    """

    def __init__(
        self,
        session: Session,
        listings: dict[str, Listing],
        modules: ProjectModules,
        marker: Marker,
        report: Report,
        clean: Callable[[str], str],
        tracer: Tracer,
    ) -> None:
        self.session = session
        self.listings = listings
        self.marker = marker
        self.report = report
        self.clean = clean
        self.tracer = tracer
        module = ModuleType("__main__")
        self.namespace: dict[str, Any] = module.__dict__
        self.namespace["__builtins__"] = sys.modules["builtins"]
        sys.modules["__main__"] = module
        self.exhibits = Exhibits(modules, self.namespace)
        self._flags = 0
        self._process = os.getpid()
        if session.state:
            self.namespace[session.state.name] = session.state.value
        _remember_page(session)

    def run(self) -> None:
        """Run the cells in page order, then the branches, each in a fork; none after a cell that failed."""
        for cell in self.session.cells:
            if not isinstance(cell, BranchCell) and not self._run_cell(cell):
                return
        self.report({"uses": to_json(self.tracer.uses())})
        for cell in self.session.cells:
            if isinstance(cell, BranchCell):
                run_branch(cell, self.namespace, self.marker, self.report, self.clean, self.tracer)

    def _run_cell(self, cell: Cell) -> bool:
        """Run one cell between two marks and report it; return whether the later ones can run."""
        begin = self.marker.mark()
        self.report({"begin": cell.id, "mark": begin})
        threads = set(threading.enumerate())
        starts = self.tracer.starts
        ending = Ending()
        with own_streams(self.marker.handle):
            try:
                self._execute(cell, ending)
                self._wait_for_threads(cell, threads)
            except BaseException as error:  # whatever code raises, also SystemExit and KeyboardInterrupt
                self._fail(cell, ending, error)
        if os.getpid() != self._process:
            self._end_copy(cell, ending)
        end = self.marker.mark()
        if isinstance(cell, ValueCell | ClaimCell) and not ending.mistakes:
            text = f"`{cell.expression}` also prints something, which a sentence cannot show; print it in a block"
            ending.checks.append(Check([(begin, end)], Mistake(kind_of(cell), text)))
        if isinstance(cell, CodeCell) or (isinstance(cell, FileCell) and ending.stops and not ending.spans):
            ending.spans = [(begin, end)]
        has_started = self.tracer.starts > starts
        self.report({**ending.line(cell.id), "processes": self._processes(), "has_started": has_started})
        return not ending.stops

    def _wait_for_threads(self, cell: Cell, before: set[threading.Thread]) -> None:
        """Let the threads that a cell started end with it, so that what they print is its output.  Says for which."""
        for thread in threading.enumerate():
            if thread not in before and not thread.daemon:
                self.report({"waits": cell.id, "thread": thread.name})
                thread.join()

    def _end_copy(self, cell: Cell, ending: Ending) -> NoReturn:
        """End a copy of this process that a block has forked: the rest of the page is not its own."""
        text = "forked, and the copy ran on to the end of the block; end it there with os._exit()"
        mistakes = ending.mistakes or [Mistake("run", text)]
        self.report({"copy": cell.id, "mistakes": [mistake.to_json() for mistake in mistakes]})
        os._exit(int(ending.status == "failed"))

    def _processes(self) -> list[int]:
        """Return the processes that are there now: what outlives the page is told at the cell that started it."""
        with self.tracer.paused():
            if not self.tracer.may_have_started:
                return []
            return [*children_of(os.getpid()), *children_of(os.getppid())]

    def _execute(self, cell: Cell, ending: Ending) -> None:
        match cell:
            case FileCell():
                self.exhibits.show(cell, self.listings[cell.id], ending)
            case CodeCell():
                self._run_code(cell, ending)
            case ValueCell():
                text = self.clean(show_value(cell.expression, self._evaluate))
                if not text.strip():
                    raise ValueMistake(f"`{cell.expression}` has no letter that shows")
                ending.parts.append(Part("value", {"text": text}))
            case ClaimCell():
                check_claim(cell.expression, self._evaluate)

    def _evaluate(self, expression: str) -> Any:
        line = expression.replace("\n", " ").strip()  # brackets round it would let "1) + (2" pass
        code = compile(line, "<value>", "eval", flags=self._flags, dont_inherit=True)
        return eval(code, self.namespace)

    def _run_code(self, cell: CodeCell, ending: Ending) -> None:
        """Run a block of the page, and keep what it ends with where that is wanted."""
        wants_last = cell.show_value or cell.wants != "text"
        drawn = open_figures()
        code = compile_page(cell.code.text, cell.code.numbers, cell.code.path, self._flags, wants_last)
        self._flags = code.flags
        exec(code.body, self.namespace)
        value = eval(code.last, self.namespace) if code.last else None
        if cell.raises:
            ending.fail(Mistake("run", f"ended without {cell.raises}, which :raises: says must come"), stops=True)
        elif cell.wants == "figure":
            from scratchbook.core.figures import take_figures  # few pages draw, and this room brings a parser of XML

            ending.parts += take_figures(value, cell.id, open_figures())
        elif cell.wants == "table":
            table = make_table(value)
            rows = [[self.clean(text) for text in row] for row in table.rows]
            ending.parts.append(Part("table", {"header": list(table.header), "rows": rows}))
        elif cell.show_value and value is None:
            choice = "end it with an expression that has one" if code.last is None else "drop :show-value:"
            ending.fail(Mistake("output", f"the last line has no value, which :show-value: was to show; {choice}"))
        elif cell.show_value:
            with np.printoptions(legacy="1.25"):  # that is: a NumPy scalar is the number that it is
                sys.stdout.write(f"{value!r}\n")  # `print` may be the page's own
        elif set(open_figures()) - set(drawn) and self._loses_figures(cell):
            text = "drew a figure that no block shows; say what it shows with :figure: of {live}, save it, or close it"
            ending.fail(Mistake("output", text))

    def _loses_figures(self, cell: CodeCell) -> bool:
        """Whether nobody sees what a block drew: it saves no file, and no later block shows the open figures."""
        later = self.session.cells[self.session.cells.index(cell) + 1 :]
        is_shown = any(isinstance(other, CodeCell) and other.wants == "figure" for other in later)
        return not is_shown and "savefig" not in cell.code.text

    def _fail(self, cell: Cell, ending: Ending, error: BaseException) -> None:
        """Note what went wrong in a cell, unless that is what it was to show."""
        wanted = cell.raises if isinstance(cell, CodeCell) else None
        if wanted and any(wanted in (kind.__name__, kind.__qualname__) for kind in type(error).__mro__):
            sys.stdout.write(f"{self.clean(say(error))}\n")
        elif isinstance(cell, ValueCell | ClaimCell) and isinstance(error, Exception):
            ending.fail(self._value_mistake(cell, error))
        elif isinstance(error, OutputError):
            ending.fail(Mistake("output", self.clean(str(error))))
        elif isinstance(error, ScratchbookError):
            ending.fail(replace(error.mistake, text=self.clean(error.text)), stops=True)
        else:
            ending.fail(self._run_mistake(cell, error, wanted), stops=True)

    def _run_mistake(self, cell: Cell, error: BaseException, wanted: str | None) -> Mistake:
        """Return the mistake of code that failed, at its innermost place in the project."""
        mistake = describe(error, self.clean)
        text = mistake.text if wanted is None else f"{mistake.text}, where :raises: says {wanted} must come"
        paths = (*([mistake.place.path] if mistake.place else []), cell.place.path)
        text += advise(error, self.session.limits, self.session.network, paths)
        if mistake.place and not _is_within(mistake.place, cell):
            text += f" (run by {cell.place})"
        return Mistake(mistake.kind, text, mistake.place, mistake.detail)

    def _value_mistake(self, cell: ValueCell | ClaimCell, error: Exception) -> Mistake:
        """Return the mistake of an inline value or a claim."""
        if isinstance(error, ValueMistake):
            return Mistake(kind_of(cell), self.clean(str(error)))
        choice = nearest_names(error, list(self.namespace)) if isinstance(error, NameError) else ""
        text = f"`{cell.expression}` cannot be evaluated: {self.clean(say(error))}{choice}"
        return Mistake(kind_of(cell), text)


def open_figures() -> list[int]:
    """Return the numbers of matplotlib's open figures, in the order they were made."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return pyplot.get_fignums() if pyplot else []


def kind_of(cell: ValueCell | ClaimCell) -> str:
    """Return the kind of what is wrong with code in a sentence."""
    return "value" if isinstance(cell, ValueCell) else "claim"


def _remember_page(session: Session) -> None:
    """Let tracebacks quote the blocks of a page at the lines where they stand in the chapter."""
    lines: dict[str, dict[int, str]] = {}
    for cell in session.cells:
        if isinstance(cell, CodeCell):
            numbered = zip(cell.code.numbers, cell.code.text.split("\n"), strict=False)
            lines.setdefault(cell.code.path, {}).update(numbered)
    for path, known in lines.items():
        remember_lines(path, known)


def _is_within(place: Place, cell: Cell) -> bool:
    """Say whether a place is in the cell's own lines."""
    if isinstance(cell, CodeCell):
        return place.path == cell.code.path and place.line in cell.code.numbers
    return place == cell.place
