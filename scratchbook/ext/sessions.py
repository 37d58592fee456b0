"""Make the sessions of a book from its cells and the files that they name.  Runs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from scratchbook.core.cells import Cell, FileCell, Session, State
from scratchbook.core.errors import Mistake
from scratchbook.core.sources import missing_file
from scratchbook.ext.domain import LiveDomain, Page
from scratchbook.ext.settings import Settings


@dataclass(frozen=True)
class Job:
    """One session of one page.

    key: its name in the domain.   missing: what is wrong with the files that it names, by cell.
    """

    docname: str
    key: str
    session: Session
    missing: tuple[tuple[str, Mistake], ...] = ()


@dataclass
class Sources:
    """Find and read the files that cells name, each once a build."""

    root: Path
    folders: tuple[str, ...]
    contents: dict[str, bytes] = field(default_factory=dict)

    def find(self, cell: FileCell) -> tuple[FileCell, Mistake | None]:
        """Look a file up in the source folders, then beside the chapter that names it; never outside the root."""
        beside = PurePosixPath(cell.place.path).parent.as_posix()
        tried = []
        for folder in dict.fromkeys([*self.folders, beside]):
            path = os.path.normpath(f"{folder}/{cell.file}").replace(os.sep, "/")
            found = self.root / path
            if os.path.isfile(found):  # of a name that is too long, too
                if not found.resolve().is_relative_to(self.root):
                    return replace(cell, path=None), self._outside(cell)
                try:
                    if path not in self.contents:
                        self.contents[path] = found.read_bytes()
                except OSError as error:
                    text = f"'{cell.file}' cannot be read: {error.strerror}"
                    return replace(cell, path=None), Mistake("source", text, cell.place)
                return replace(cell, path=path), None
            tried.append(path)
        mistakes = missing_file(cell.file, tuple(dict.fromkeys(tried)), optional=cell.selection.optional)
        return replace(cell, path=None), replace(mistakes[0], place=cell.place) if mistakes else None

    def _outside(self, cell: FileCell) -> Mistake:
        text = f"'{cell.file}' is outside the project's root, and nothing there is shown or run"
        return Mistake("source", text, cell.place)


def make_jobs(domain: LiveDomain, settings: Settings) -> Iterator[Job]:
    """Yield all sessions of the book, by page."""
    sources = Sources(settings.root, settings.folders)
    for docname, page in sorted(domain.pages.items()):
        yield from page_jobs(docname, page, sources, settings)


def page_jobs(docname: str, page: Page, sources: Sources, settings: Settings) -> Iterator[Job]:
    """Yield the sessions of one page."""
    own = settings_of_page(page, settings)
    for key, state, cells in page.sessions(docname):
        if cells[0] in page.alone:
            yield Job(docname, key, lone_session(key, cells, own))
        else:
            yield page_job(docname, key, cells, state, sources, own)


def settings_of_page(page: Page, settings: Settings) -> Settings:
    """Return the settings with the limit that a page sets for itself."""
    if page.seconds is None:
        return settings
    return replace(settings, limits=replace(settings.limits, page_seconds=page.seconds))


def page_job(
    docname: str, key: str, page_cells: tuple[Cell, ...], state: State | None, sources: Sources, settings: Settings
) -> Job:
    """Make the session of a page in one of its states."""
    cells: list[Cell] = []
    missing = []
    for cell in page_cells:
        if isinstance(cell, FileCell):
            cell, mistake = sources.find(cell)
            missing += [(cell.id, mistake)] if mistake else []
        cells.append(cell)
    paths = sorted({cell.path for cell in cells if isinstance(cell, FileCell) and cell.path})
    session = new_session(docname, tuple(cells), settings)
    session = replace(session, state=state, sources=tuple((path, sources.contents[path]) for path in paths))
    return Job(docname, key, session, tuple(missing))


def lone_session(name: str, cells: tuple[Cell, ...], settings: Settings) -> Session:
    """Make the session of a block that runs by itself, where the settings of {exec_code} say."""
    session = new_session(name, cells, settings)
    return replace(session, root=settings.lone_root, folders=settings.lone_folders, preload=())


def new_session(name: str, cells: tuple[Cell, ...], settings: Settings) -> Session:
    """Make a session with what the settings say."""
    return Session(
        name=name,
        cells=cells,
        root=settings.root.as_posix(),
        folders=settings.folders,
        limits=settings.limits,
        print_options=settings.print_options,
        environment=settings.environment,
        network=settings.network,
        preload=settings.preload,
    )
