"""Read the whole book once, run nothing of it, and keep what reading left: its words, its labels, its sessions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scratchbook.core.cells import Outcome
from scratchbook.core.runner import ForkServer
from scratchbook.ext.book import open_book
from scratchbook.ext.sessions import Job
from tests.book.pages import DOCS, ROOT


@dataclass(frozen=True)
class Reading:
    """What reading left.   doctrees: one file a page.   jobs: by page.   targets: by page, names that it refers to."""

    doctrees: Path
    jobs: dict[str, list[Job]]
    targets: dict[str, list[str]]
    key_equations: list[str]
    equations: set[str]
    messages: str


@pytest.fixture(scope="session")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """Read all chapters."""
    build = tmp_path_factory.mktemp("reading")
    with warnings.catch_warnings(), open_book(ROOT, DOCS, build, "never", reader="tests") as book:
        warnings.simplefilter("ignore")  # what Sphinx and its extensions deprecate is no matter of the book's
        book.read()
        jobs: dict[str, list[Job]] = {}
        for job in book.jobs():
            jobs.setdefault(job.docname, []).append(job)
        domains: Any = book.app.env.domains
        return Reading(
            Path(book.app.doctreedir),
            jobs,
            dict(domains["scratchbook-pages"].targets),
            [str(key) for _, (key, _) in book.domain.kept("key-equations")],
            set(domains.math_domain.equations),
            book.messages,
        )


@pytest.fixture(scope="session")
def run_page(reading: Reading) -> Iterator[Callable[[str], list[tuple[Job, Outcome]]]]:
    """Return a function that runs a page: a session and its outcome for each of its states."""
    with ForkServer() as server:
        yield lambda name: [(job, server.run(job.session)) for job in reading.jobs[name]]
