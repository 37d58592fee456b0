"""Leave out chapters that are not UTF-8: Sphinx would end the whole build over one, and not say which it was."""

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


def register(app: Sphinx) -> None:
    """Look at each chapter before it is read."""
    app.connect("env-before-read-docs", leave_out)
