"""Let no mistake fall silent: a page that anything warned about is read again by the next build.

Sphinx says a message when it reads or writes a page, and leaves unchanged pages alone: a second build would be green.
Our own mistakes are said in every build by `report`; this room does the same for those of Sphinx and of others, and for
what we ourselves can only tell while a page is written.  A name that stands twice is a mistake of two pages: both are
read again, and neither is known while the other is read.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils import get_source_line
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import NAMESPACE, is_suppressed_warning

from scratchbook.ext import report
from scratchbook.ext.domain import domain_of


class Unfixed(logging.Handler):
    """Collect where one build warns.  Lives as long as its application."""

    def __init__(self, app: Sphinx) -> None:
        super().__init__(logging.WARNING)
        self.app = app
        self.places: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Note where a warning stands, unless `report` said it or the project does not want to hear it."""
        kind, subkind = getattr(record, "type", None) or "", getattr(record, "subtype", None) or ""
        is_reported = record.name == f"{NAMESPACE}.{report.__name__}"
        if is_reported or is_suppressed_warning(kind, subkind, self.app.config.suppress_warnings):
            return
        self.places.update(find_source(getattr(record, "location", None)))
        arguments = record.args if isinstance(record.args, tuple) else ()
        said = [*map(str, arguments), *record.getMessage().split()]  # another process's message is words alone
        self.places.update(page for page in said if self.is_page(page))
        if (kind, subkind) == ("scratchbook", "output"):
            self.app.statuscode = self.app.statuscode or 1

    def is_page(self, name: str) -> bool:
        """Tell whether a message names a page by its docname or path, such as the other one that has the same label."""
        found = self.app.env.found_docs
        return name in found or self.app.env.path2doc(name) in found

    def begin(self, app: Sphinx) -> None:
        """Listen from now on."""
        self.places.clear()
        logging.getLogger(NAMESPACE).addHandler(self)

    def reread(
        self, app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
    ) -> list[str]:
        """Return the pages that the build before warned about."""
        return sorted(read_record(record_path(app)) & env.found_docs)

    def forget(self, app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
        """Forget every page that will be read before the first is, or a name that moved between two is there twice."""
        for docname in docnames:
            env.clear_doc(docname)

    def end(self, app: Sphinx, exception: Exception | None) -> None:
        """Stop listening, and keep the pages for the next build; a broken build adds to what was known."""
        logging.getLogger(NAMESPACE).removeHandler(self)
        path = record_path(app)
        pages = {docname for place in self.places for docname in pages_of(app.env, place)}
        if exception is not None:
            pages |= read_record(path)
        if pages:
            temporary = path.with_suffix(".tmp")
            temporary.write_text(json.dumps(sorted(pages)), encoding="utf-8")
            temporary.replace(path)
        else:
            path.unlink(missing_ok=True)


def find_source(location: Any) -> Iterator[str]:
    """Yield the docname or the path that a log record's location names."""
    if isinstance(location, tuple) and location[0]:
        yield str(location[0])
    elif isinstance(location, nodes.Node):
        source, _ = get_source_line(location)
        if source:
            yield str(source)
    elif isinstance(location, str) and location:
        path, _, line = location.rpartition(":")
        yield path if path and (line.isdigit() or not line) else location


def pages_of(env: BuildEnvironment, place: str) -> Iterator[str]:
    """Yield the page that a docname or path is, or those that include it.  Our own paths count from the root."""
    if place in env.all_docs:
        yield place
        return
    ours = domain_of(env).root / place
    path = ours if ours.exists() else Path(place).resolve()
    docname = env.path2doc(path)
    if docname in env.all_docs:
        yield docname
        return
    path = path.resolve()
    for page, dependencies in env.dependencies.items():
        if any((Path(env.srcdir) / dependency).resolve() == path for dependency in dependencies):
            yield page


def record_path(app: Sphinx) -> Path:
    """Return where the pages are kept between builds of this kind."""
    return Path(app.doctreedir) / f"scratchbook-unfixed-{app.builder.name}.json"


def read_record(path: Path) -> set[str]:
    """Read the pages that the build before warned about; an odd record is an empty one."""
    with contextlib.suppress(OSError, ValueError):
        return set(map(str, json.loads(path.read_text(encoding="utf-8"))))
    return set()


def register(app: Sphinx) -> None:
    """Listen to the messages of each build."""
    unfixed = Unfixed(app)
    app.connect("builder-inited", unfixed.begin)
    app.connect("env-get-outdated", unfixed.reread)
    app.connect("env-before-read-docs", unfixed.forget)
    app.connect("build-finished", unfixed.end)
