"""The run phase: once all chapters are read, run the sessions whose outcome is not stored.  Makes no nodes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.display import status_iterator

from scratchbook.core.cells import CellOutcome, Outcome, Session
from scratchbook.core.errors import Mistake
from scratchbook.core.records import to_json
from scratchbook.core.runner import run_session, show_session
from scratchbook.ext.ahead import Ahead, Engine
from scratchbook.ext.captions import fill_captions
from scratchbook.ext.domain import LiveDomain, domain_of
from scratchbook.ext.incremental import DEPENDS_EVENT
from scratchbook.ext.promises import check_page
from scratchbook.ext.report import say_mistakes, say_written_mistakes
from scratchbook.ext.sessions import Job, make_jobs
from scratchbook.ext.settings import Settings, read_settings
from scratchbook.ext.stores import OutcomeStore, is_idle, open_store

# Emitted for each page once all outcomes are known; a room answers with the mistakes that only they could show.
OUTCOMES_EVENT: Final = "scratchbook-outcomes"
# Emitted once after the sessions; a room answers with outcomes, by their keys, of cells that are in no session.
STORED_EVENT: Final = "scratchbook-stored"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tally:
    """How many sessions ran, were stored, and failed."""

    run: int
    stored: int
    failed: int
    seconds: float

    def __str__(self) -> str:
        total = self.run + self.stored
        noun = "session" if total == 1 else "sessions"
        counts = f"{self.run} run, {self.stored} cached, {self.failed} failed"
        return f"{total} {noun}: {counts} · {self.seconds:.1f} s"


def run_pages(ahead: Ahead, app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Bring every outcome up to date, say every mistake, and return the pages that now look different."""
    domain = domain_of(env)
    settings = read_settings(app.config, domain.confdir)
    if is_idle(app.builder):
        say_written_mistakes(app, domain, settings.mistakes)
        return []
    jobs = list(make_jobs(domain, settings))
    if jobs:
        settings = where_code_can_run(settings)
    before = {docname: page_outcome(domain, docname) for docname in domain.pages}
    with closing(ahead.take(app, settings)) as engine:
        # Not the engine's store: it has read files when a page was read, and they may have changed since.
        obtain(jobs, domain, settings, open_store(app), engine, app.verbosity)
    for stored in app.emit(STORED_EVENT):
        domain.outcomes.update(stored)
    if settings.execute != "never":
        for docname in sorted(domain.pages):
            found = [mistake for mistakes in app.emit(OUTCOMES_EVENT, docname) for mistake in mistakes]
            domain.checked.setdefault(docname, []).extend(found)
    fill_captions(env)
    changed = [docname for docname, known in before.items() if page_outcome(domain, docname) != known]
    say_mistakes(app, domain, settings.mistakes)
    return sorted(changed)


def where_code_can_run(settings: Settings) -> Settings:
    """Return the settings as they are where pages can be run; elsewhere show code only, and say so once."""
    if settings.execute != "run" or settings.executor or hasattr(os, "fork"):
        return settings
    choice = (
        "build on Linux, on macOS or in WSL; or name a scratchbook_executor that runs pages there; or set "
        "scratchbook_execute to 'cache-only' or 'never'"
    )
    mistake = Mistake("run", f"code cannot run on this system, which cannot fork a process; {choice}")
    return replace(settings, execute="never", mistakes=(*settings.mistakes, mistake))


def what_pages_show(app: Sphinx) -> dict[str, Any]:
    """Return, by page, plain data that differs when it would show other outcomes."""
    domain = domain_of(app.env)
    return {docname: to_json(page_outcome(domain, docname)) for docname in domain.pages}


def page_outcome(domain: LiveDomain, docname: str) -> list[Any]:
    """Return all that a page shows of its outcomes, to be compared; times are left out."""
    found = [domain.outcomes.get(key) for key in domain.pages[docname].outcome_keys(docname)]
    return [domain.checked.get(docname), *((it.cells, it.mistakes) if it else None for it in found)]


def obtain(
    jobs: Sequence[Job], domain: LiveDomain, settings: Settings, store: OutcomeStore, engine: Engine, verbosity: int
) -> None:
    """Fill the domain with an outcome for each job, from the store or from a run."""
    started = time.monotonic()
    known = {job.key: outcome for job in jobs if (outcome := without_running(job, settings, store)) is not None}
    waiting = [job for job in jobs if job.key not in known]
    with closing(run_jobs(waiting, settings, engine, verbosity)) as ended:
        for job, outcome in ended:
            known[job.key] = outcome
            store.save(job.session, outcome)
    if waiting:
        store.sweep()
    domain.outcomes.clear()
    domain.outcomes.update({job.key: with_missing(known[job.key], job) for job in jobs})
    domain.checked.clear()
    if settings.execute != "never":
        domain.checked.update({docname: check_page(domain, docname) for docname in sorted(domain.pages)})
    failed = sum(domain.outcomes[job.key].failed for job in jobs)
    say_missing_guards([known[job.key] for job in waiting])
    if jobs:
        tally = Tally(len(waiting), len(jobs) - len(waiting), failed, time.monotonic() - started)
        logger.info("%s", tally)


def say_missing_guards(outcomes: Sequence[Outcome]) -> None:
    """Say what the code of pages could reach on this system although it should not; no mistake of the author's."""
    if missing := dict.fromkeys(guard for outcome in outcomes for guard in outcome.unguarded):
        logger.info("this system does not guard %s from the code of pages", " and ".join(missing))


def without_running(job: Job, settings: Settings, store: OutcomeStore) -> Outcome | None:
    """Return the outcome of a job that need not run, or must not; None when it is to run."""
    if settings.execute == "never":
        return listings_only(job.session)
    stored = store.load(job.session)
    if stored is None and settings.execute == "cache-only":
        return replace(show_session(job.session), mistakes=(not_stored(job),))
    return stored


def listings_only(session: Session) -> Outcome:
    """Return what files show; of the other cells nothing is known."""
    shown = show_session(session)
    cells = {
        name: replace(cell, status="failed" if cell.mistakes else "ok")
        for name, cell in shown.cells.items()
        if cell.parts or cell.mistakes
    }
    return Outcome(cells)


def with_missing(outcome: Outcome, job: Job) -> Outcome:
    """Add what is wrong with the files that a page names."""
    if not job.missing:
        return outcome
    cells = dict(outcome.cells)
    for name, mistake in job.missing:
        cell = cells.get(name, CellOutcome("failed"))
        cells[name] = replace(cell, status="failed", mistakes=(*cell.mistakes, mistake))
    return replace(outcome, cells=cells)


def not_stored(job: Job) -> Mistake:
    """Say that a page has no stored outcome and may not run."""
    fact = "this page has no stored outcome, and scratchbook_execute is 'cache-only'"
    return Mistake("cache", f"{fact}; build once with 'run'", job.session.cells[0].place)


def run_jobs(
    jobs: Sequence[Job], settings: Settings, engine: Engine, verbosity: int
) -> Generator[tuple[Job, Outcome], None, None]:
    """Run sessions side by side and yield each as it ends, with a line that says which pages are running."""
    if not jobs:
        return
    with ExitStack() as stack:
        run, executor = open_executor(settings, engine, len(jobs), stack)
        futures: dict[Future[Outcome], Job] = {}
        # After Ctrl-C nobody waits for the others; one that comes before the last has begun waits for none either.
        stack.callback(engine.close)
        stack.callback(lambda: [future.cancel() for future in futures])
        for job in jobs:
            futures[executor.submit(run, job.session)] = job
        ended, progress = as_completed(futures), Progress(futures)
        for future in status_iterator(
            ended, "running pages... ", "darkgreen", len(jobs), verbosity, stringify_func=progress.describe
        ):
            yield futures[future], result(future, futures[future])


def open_executor(
    settings: Settings, engine: Engine, count: int, stack: ExitStack
) -> tuple[Callable[[Session], Outcome], Executor]:
    """Return the function that runs a session and what carries it: threads over our engine, or the project's own."""
    if settings.executor:
        try:
            return run_session, stack.enter_context(settings.executor())
        except Exception as error:  # whatever a function of the project raises, or is no executor
            return run_session, Broken(error)
    pool = ThreadPoolExecutor(min(settings.jobs, count), thread_name_prefix="session")
    return engine.run, stack.enter_context(pool)


@dataclass
class Broken(Executor):
    """An executor that could not be made, and runs nothing."""

    error: Exception

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Return the failure."""
        future: Future[Any] = Future()
        future.set_exception(self.error)
        return future


def result(future: Future[Outcome], job: Job) -> Outcome:
    """Return what a session gave; an executor that broke is a mistake of that page, not the end of the build."""
    error = future.exception()
    if error is None:
        return future.result()
    text = f"the session could not be run: {type(error).__name__}: {error}"
    mistake = Mistake("run", text.splitlines()[0], job.session.cells[0].place)
    return replace(show_session(job.session), mistakes=(mistake,))


@dataclass
class Progress:
    """Say which pages run now and how long it will take, from those that have ended."""

    futures: dict[Future[Outcome], Job]
    started: float = field(default_factory=time.monotonic)

    def describe(self, ended: Future[Outcome]) -> str:
        """Return the words behind the percentage, when one session has ended."""
        done = sum(future.done() for future in self.futures)
        left = (time.monotonic() - self.started) / max(done, 1) * (len(self.futures) - done)
        running = [job.session.name for future, job in self.futures.items() if future.running()]
        names = ", ".join(running[:3]) or self.futures[ended].session.name
        return f"{names} ({left:.0f} s left)" if done < len(self.futures) else names


def register(app: Sphinx) -> None:
    """Run once all chapters are read; pages are written anew when what they show of it has changed."""
    app.add_event(OUTCOMES_EVENT)
    app.add_event(STORED_EVENT)
    ahead = Ahead()
    app.connect("env-before-read-docs", ahead.on_before_read)
    app.connect("doctree-read", ahead.on_doctree_read)
    app.connect("env-updated", partial(run_pages, ahead))
    app.connect("build-finished", ahead.on_build_finished)
    app.connect(DEPENDS_EVENT, what_pages_show)
