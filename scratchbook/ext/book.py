"""A book opened without a build: its chapters read, its sessions made, its store at hand.  Writes no page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils

from scratchbook.core.cache import Store
from scratchbook.core.cells import CellOutcome, Outcome
from scratchbook.core.errors import Mistake
from scratchbook.core.pins import Pin, compare, make_pin, pin_name
from scratchbook.core.runner import ForkServer
from scratchbook.ext.domain import LiveDomain, domain_of
from scratchbook.ext.sessions import Job, make_jobs
from scratchbook.ext.settings import STORE, read_settings, store_folder

COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


class BookError(Exception):
    """What keeps a book from being opened, in one line."""


@dataclass
class Book:
    """A project whose chapters can be read."""

    app: Sphinx
    warnings: io.StringIO

    def read(self) -> None:
        """Read what has changed since the last time, and run what the book was opened for.   Raises BookError."""
        try:
            self.app.build()
        except SphinxError as error:
            raise BookError(f"the chapters cannot be read: {error}") from error

    @property
    def messages(self) -> str:
        """Everything that was warned of, without colours."""
        return COLOUR.sub("", self.warnings.getvalue())

    @property
    def domain(self) -> LiveDomain:
        """What reading left behind."""
        return domain_of(self.app.env)

    @property
    def store(self) -> Store:
        """The store of the book's outcomes.   Raises BookError when the project wants none."""
        folder = store_folder(self.app)
        if folder is None:
            raise BookError("this project keeps no outcomes: scratchbook_cache is None in conf.py")
        return Store(folder / "outcomes", Path(self.app.confdir))

    def store_of(self, job: Job) -> Store:
        """The store as one session sees it: its paths are counted from the session's root."""
        return Store(self.store.folder, Path(job.session.root))

    def wanted(self, pages: Iterable[str] = ()) -> list[str]:
        """Return the pages that are asked for, all that run code when none is named.

        Raises BookError for one that runs no code.
        """
        known = sorted(docname for docname, page in self.domain.pages.items() if page.every_cell)
        asked = list(pages)
        for page in asked:
            if page not in known:
                choice = f"these do: {', '.join(known)}" if known else "none does"
                raise BookError(f"no page '{page}' runs code; {choice}")
        return asked or known

    def jobs(self, pages: Iterable[str] = ()) -> Iterator[Job]:
        """Yield the sessions of some pages, of all when none is named.   Raises BookError as `wanted` does."""
        wanted = set(self.wanted(pages))
        for job in make_jobs(self.domain, read_settings(self.app.config, Path(self.app.confdir))):
            if job.docname in wanted:
                yield job

    def source_files(self) -> Iterator[Path]:
        """Yield the Python files of the declared source folders."""
        settings = read_settings(self.app.config, Path(self.app.confdir))
        for folder in settings.folders:
            yield from sorted((settings.root / folder).glob("*.py"))

    def server(self, hash_seed: int = 0) -> ForkServer:
        """Return a server that runs sessions."""
        return ForkServer(hash_seed=hash_seed)

    def differences(self, job: Job, before: Outcome, after: Outcome) -> Iterator[str]:
        """Yield each line that differs between two runs of a session, as `file:line: ...`."""
        pins = [session_pins(job, outcome) for outcome in (before, after)]
        places = {cell.id: cell.place for cell in job.session.cells}
        yield from self.changed_drawings(job, before, after)
        for difference in compare(pins[0], pins[1], rtol=0.0):
            for number, (old, new) in enumerate(line_pairs(difference.before, difference.after), 1):
                if old != new:
                    place = places[difference.cell.partition(" ")[0]]
                    yield f"{place}: {difference.kind} line {number}: {old!r}, then {new!r}"
        failed = {mistake.text for outcome in (before, after) for mistake in outcome_mistakes(outcome)}
        yield from (f"{job.key}: {text}" for text in sorted(failed))

    def changed_drawings(self, job: Job, before: Outcome, after: Outcome) -> Iterator[str]:
        """Yield a line for each figure that has other bytes: its sketch, which is pinned, overlooks last digits."""
        for cell in job.session.cells:
            found = [outcome.cells.get(cell.id, CellOutcome("not run")).part("svg") for outcome in (before, after)]
            if found[0] != found[1]:
                yield f"{cell.place}: figure: its drawing is another one"


def session_pins(job: Job, outcome: Outcome) -> dict[str, Pin]:
    """Return what a session gave, cell by cell, as it would be pinned."""
    empty = CellOutcome("not run")
    pins = {
        pin_name(cell.id, job.session.state): make_pin(cell, outcome.cells.get(cell.id, empty))
        for cell in job.session.cells
    }
    return {name: pin for name, pin in pins.items() if pin is not None}


def line_pairs(before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the lines of two texts side by side."""
    for position in range(max(len(before), len(after))):
        yield (
            before[position] if position < len(before) else "",
            after[position] if position < len(after) else "",
        )


def outcome_mistakes(outcome: Outcome) -> Iterator[Mistake]:
    """Yield what went wrong in a run."""
    yield from outcome.mistakes
    for cell in outcome.cells.values():
        yield from cell.mistakes


def find_store(build: Path) -> Path | None:
    """Return the store of the builds that were made into a folder, or into folders in it; None when there is none."""
    doctrees = [build / "doctrees", build / ".doctrees", *build.glob("*/.doctrees")]
    return next((folder / STORE for folder in (build, build.parent, *doctrees) if (folder / STORE).is_dir()), None)


@contextmanager
def open_book(
    conf: Path, source: Path, build: Path, execute: str = "never", *, reader: str = "command", builder: str = "dummy"
) -> Iterator[Book]:
    """Open a project.

    conf, source: absolute folders.   build: that of what was built, or one output folder.   execute: what `read` may
    run, see scratchbook_execute.   reader: who reads; two that read at once must have two names.
    builder: Sphinx's, by name.   Raises BookError.
    """
    warnings = io.StringIO()
    store = find_store(build) or build / STORE
    with patch_docutils(conf), docutils_namespace():
        try:
            app = Sphinx(
                source, conf, store / builder, store / f"doctrees-{reader}", builder,
                confoverrides={"scratchbook_execute": execute}, status=None, warning=warnings,
            )  # fmt: skip
        except SphinxError as error:
            is_unknown = f"Builder name {builder} " in str(error)
            choice = f"; add 'sphinx.ext.{builder}' to the extensions" if is_unknown else ""
            raise BookError(f"the project cannot be opened: {error}{choice}") from error
        if "scratchbook" not in app.extensions:
            raise BookError("conf.py does not load the extension 'scratchbook'")
        yield Book(app, warnings)
