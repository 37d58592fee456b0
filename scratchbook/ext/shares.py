"""How pages are shared out among the processes of a build.  Changes no byte of a page.

Sphinx starts a process even for one page, makes shares that do not go evenly into the processes it may use, and writes
with one process less than that even when the one that prepares pages for the others has prepared the last.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from sphinx import builders
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.util.parallel import ParallelTasks, make_chunks

# So many pages are read sooner than a process has started and what it found is read back.
FEW: Final = 5
# More are more even, and each is a process to start whose findings are to be read back.
SHARES_OF_A_PROCESS: Final = 2


class Crew(ParallelTasks):
    """Sphinx's own, which has more hands once everything is given out.  parallel: processes that the build may use."""

    parallel = 1

    def join(self) -> None:
        """Wait until all is done, with one process more: this one has nothing else to do."""
        self.nproc = max(self.nproc, self.parallel)
        super().join()


def even_shares(docnames: Sequence[str], nproc: int) -> list[Sequence[str]]:
    """Return at least as many shares as Sphinx would make, equally many for each process, all of one size."""
    least = max(len(make_chunks(docnames, nproc)), SHARES_OF_A_PROCESS * Crew.parallel)
    count = min(math.ceil(least / Crew.parallel) * Crew.parallel, len(docnames))
    ends = [len(docnames) * number // count for number in range(count + 1)] if count else []
    return [docnames[begin:end] for begin, end in pairwise(ends)]


def read_few(read_parallel: Callable[[Builder, list[str], int], None]) -> Callable[[Builder, list[str], int], None]:
    """Return Sphinx's own method, which reads a few pages in this process."""

    @functools.wraps(read_parallel)
    def read(builder: Builder, docnames: list[str], nproc: int) -> None:
        if len(docnames) > FEW:
            read_parallel(builder, docnames, nproc)
        else:
            builder._read_serial(docnames)

    return read


def register(app: Sphinx) -> None:
    """Share out pages in this way, if the project wants it."""
    app.connect("config-inited", on_config_inited)


def on_config_inited(app: Sphinx, config: Any) -> None:
    """Put ours in the place of Sphinx's own, for this process."""
    if config.scratchbook_fast and app.parallel > 1:
        Crew.parallel = app.parallel
        vars(builders).update(ParallelTasks=Crew, make_chunks=even_shares)
        Builder._read_parallel = READ_FEW  # type: ignore[method-assign, assignment]


# Made once, of Sphinx's own: a second project in this process must not wrap ours again.
READ_FEW: Final = read_few(Builder._read_parallel)
