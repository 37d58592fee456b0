"""Chapters that cannot be read, or are gone before they are written: Sphinx would end a build and not say why."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from scratchbook.core.sources import SourceError, read_text
from scratchbook.ext.directive import path_from_root

logger = logging.getLogger(__name__)


def leave_out(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Take those that cannot be read from the list, one message each; the next build meets them again."""
    for docname in list(docnames):
        path = Path(env.doc2path(docname))
        data = path.read_bytes()
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            docnames.remove(docname)
            env.found_docs.discard(docname)  # else it would be written without having been read
            tell(app, data, path_from_root(env, str(path)))


def tell(app: Sphinx, data: bytes, path: str) -> None:
    """Say which byte of a chapter is wrong, and let the build fail."""
    try:
        read_text(data, path)
    except SourceError as error:
        app.statuscode = app.statuscode or 1
        logger.warning(error.text, type="scratchbook", subtype=error.kind, location=str(error.place))


def miss_nothing(app: Sphinx, env: BuildEnvironment) -> None:
    """End the build when code that ran has taken a chapter away, or what Sphinx has read of it.

    An exit, since for an exception Sphinx would print its versions and a traceback, and ask the author to report it.
    """
    for docname in sorted(env.found_docs & env.all_docs.keys()):
        for path in (Path(env.doc2path(docname)), Path(app.doctreedir) / f"{docname}.doctree"):
            if not path.is_file():
                lost = path_from_root(env, str(path))
                text = f"{lost} is gone since the code of pages ran; let no code remove what a build needs"
                logger.warning(text, type="scratchbook", subtype="run", location=f"{lost}:1")
                raise SystemExit(2)


def register(app: Sphinx) -> None:
    """Look at each chapter before it is read, and again once all code has run."""
    app.connect("env-before-read-docs", leave_out)
    app.connect("env-updated", miss_nothing, priority=990)
