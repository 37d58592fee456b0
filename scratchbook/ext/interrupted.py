"""Mend what a killed build left: what it was reading is read again, what it was writing is written again.

Sphinx writes doctrees and pages in place, and keeps its memory of what it read in a file that it writes in between.
So a build that was killed may leave half a page, or a new one that its own memory takes for the old.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import __
from sphinx.util.logging import NAMESPACE

READING: Final = "scratchbook-reading.json"
LINES_OF_RECORD: Final = 4


def record_path(app: Sphinx) -> Path:
    """Return where the record of this output folder is kept: beside the doctrees, for the folder is published."""
    outdir = hashlib.sha256(str(app.outdir).encode()).hexdigest()[:8]
    return Path(app.doctreedir) / f"scratchbook-{app.builder.name}-{outdir}.json"


def writing_path(app: Sphinx) -> Path:
    """Return the file that is there as long as a build writes into this output folder."""
    return record_path(app).with_suffix(".writing")


def was_interrupted(app: Sphinx) -> bool:
    """Tell whether the build before did not come to the end of its writing."""
    return writing_path(app).exists()


def begin_writing(app: Sphinx) -> None:
    """Note that pages are being written."""
    writing_path(app).touch()


def end(app: Sphinx) -> None:
    """Note that all is read and written."""
    writing_path(app).unlink(missing_ok=True)
    (Path(app.doctreedir) / READING).unlink(missing_ok=True)


def forget_half_a_record(app: Sphinx) -> None:
    """Take away the part of Sphinx's own record that a killed build or a full disk left: Sphinx fails to read it."""
    path = Path(app.outdir) / ".buildinfo"
    with contextlib.suppress(OSError):
        if path.read_bytes().count(b"\n") < LINES_OF_RECORD:
            path.unlink()


def on_get_outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return the pages that the build before was reading when it was killed; all, when that cannot be told."""
    path = Path(app.doctreedir) / READING
    if not path.exists():
        return []
    with contextlib.suppress(OSError, ValueError, TypeError):
        return sorted(env.found_docs & set(json.loads(path.read_text(encoding="utf-8"))))
    return sorted(env.found_docs)


def on_before_read(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Note which pages are being read."""
    if docnames:
        (Path(app.doctreedir) / READING).write_text(json.dumps(sorted(docnames)), encoding="utf-8")


class Lost(logging.Handler):
    """Hear of files that Sphinx could not write: it says so, leaves half of the file there, and ends well."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.paths: list[str] = []
        self.outdir = Path()

    def begin(self, app: Sphinx) -> None:
        """Listen from now on."""
        self.paths.clear()
        self.outdir = Path(app.outdir)
        logging.getLogger(NAMESPACE).addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take half a file of the output away; where a copy failed, the system names the file that was to be copied."""
        path = lost_file(record)
        if path is not None:
            self.paths.append(path)
            if Path(path).is_relative_to(self.outdir):
                with contextlib.suppress(OSError):
                    Path(path).unlink()

    def end(self, app: Sphinx, exception: Exception | None) -> None:
        """Stop listening, and let a build that lost a page end with a failure."""
        logging.getLogger(NAMESPACE).removeHandler(self)
        if self.paths:
            app.statuscode = 1


def lost_file(record: logging.LogRecord) -> str | None:
    """Return the file that a message says could not be written; None for any other message.

    What a process that wrote pages beside others has said comes as words alone.
    """
    arguments = record.args if isinstance(record.args, tuple) else ()
    if arguments and isinstance(arguments[-1], OSError):
        return str(arguments[0])
    begin, end = str(__("error writing file %s: %s")).split("%s")[:2]
    found = re.search(f"{re.escape(begin)}(.+?){re.escape(end)}\\[Errno ", record.getMessage())
    return found[1] if found else None


def connect(app: Sphinx, lost: Lost) -> None:
    """Connect what must be noted while reading; `incremental` notes the rest."""
    app.connect("builder-inited", forget_half_a_record)
    app.connect("builder-inited", lost.begin)
    app.connect("build-finished", lost.end)
    app.connect("env-get-outdated", on_get_outdated)
    app.connect("env-before-read-docs", on_before_read, priority=900)
