"""Run sessions while Sphinx still reads other pages: what a page runs is known once it has been read.

Nothing depends on it: a session that turns out to be another one when all pages are read is run then.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from typing import Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from scratchbook.core.cells import BranchCell, Outcome, Session
from scratchbook.core.environment import IS_LINUX
from scratchbook.core.runner import Begun, ForkServer
from scratchbook.ext.domain import Page, domain_of
from scratchbook.ext.sessions import Sources, page_jobs
from scratchbook.ext.settings import Settings, read_settings
from scratchbook.ext.shares import FEW
from scratchbook.ext.stores import is_idle, open_store

# How long one session is at work before others run beside it, where Sphinx itself does one thing at a time: most pages
# take less time than another process takes memory.
PATIENCE_SECONDS: Final = 0.25


class Engine:
    """Runs the sessions of one build with our fork server; some begin before they are asked for.

    There are no threads: a session that waits for room begins when the next page has been read.  Reading itself keeps
    one processor busy, so there is room for one session less than usual.
    reads_many: whether pages are about to be read of which some most likely are not stored.
    """

    def __init__(self, app: Sphinx, settings: Settings, *, reads_many: bool = False) -> None:
        self.settings = settings
        self.reads_many = reads_many
        self.store = open_store(app)
        self.server = ForkServer(patience=0.0 if app.parallel > 1 else PATIENCE_SECONDS)
        self._sources = Sources(settings.root, settings.folders)
        self._process = os.getpid()
        self._waiting: deque[Session] = deque()
        self._running: list[Begun] = []
        self._ended: dict[str, tuple[Session, Outcome]] = {}

    def note(self, docname: str, page: Page) -> None:
        """Begin what a page runs, as far as there is room.

        Where branches run, what they are given is not known before all pages are read: then at most the server starts.
        """
        if os.getpid() != self._process:  # Sphinx reads this page in a process of its own
            return
        for job in page_jobs(docname, page, self._sources, self.settings):
            if any(isinstance(cell, BranchCell) for cell in job.session.cells):
                if self.reads_many:
                    self.server.start()
            elif not job.missing and self.store.load(job.session) is None:
                self._waiting.append(job.session)
        with contextlib.suppress(OSError):  # who asks for the session will be told
            self._go_on()

    def _go_on(self) -> None:
        """Take what has ended, and begin what waits."""
        for begun in [begun for begun in self._running if begun.has_ended]:
            self._running.remove(begun)
            self._ended[session_name(begun.session)] = begun.session, begun.outcome()
        while self._waiting and len(self._running) < max(1, self.settings.jobs - 1):
            self._running.append(self.server.begin(self._waiting.popleft()))

    def run(self, session: Session) -> Outcome:
        """Return the outcome of a session, which may have begun already.  Several threads may ask."""
        known, outcome = self._ended.get(session_name(session), (None, None))
        if outcome and known == session:
            return outcome
        for begun in self._running:
            if begun.session == session:
                self._running.remove(begun)
                return begun.outcome()
        return self.server.run(session)

    def close(self) -> None:
        """Stop what still runs."""
        for begun in self._running:  # nobody has asked for these
            self.server.drop(begun.line)
        self.server.close()


def session_name(session: Session) -> str:
    """Return what is another for each session of a build."""
    return f"{session.name} {session.state}"


class Ahead:
    """The engine of a build, from when reading begins until the run phase takes it."""

    engine: Engine | None = None

    def on_before_read(self, app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
        """Make ready to run pages when some are about to be read."""
        settings = read_settings(app.config, domain_of(env).confdir)
        has_server = IS_LINUX and hasattr(os, "fork")
        if not docnames or settings.execute != "run" or settings.executor or not has_server or is_idle(app.builder):
            return
        self.engine = Engine(app, settings, reads_many=len(docnames) > FEW)
        if app.parallel > 1 and self.engine.reads_many:
            self.engine.server.start()

    def on_doctree_read(self, app: Sphinx, doctree: nodes.document) -> None:
        """Begin what the page runs."""
        pages, docname = domain_of(app.env).pages, app.env.current_document.docname
        if self.engine and docname in pages:
            self.engine.note(docname, pages[docname])

    def take(self, app: Sphinx, settings: Settings) -> Engine:
        """Hand over the engine, a new one where nothing was read."""
        engine, self.engine = self.engine, None
        return engine or Engine(app, settings)

    def on_build_finished(self, app: Sphinx, exception: Exception | None) -> None:
        """Stop what nobody has asked for, because reading has failed."""
        if self.engine:
            self.engine.close()
            self.engine = None
