"""What outlives the reading of a chapter: its cells, what they gave, its mistakes.  Shows and runs nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment

from scratchbook.core.cells import BranchCell, Cell, CellOutcome, Code, CodeCell, Outcome, State
from scratchbook.core.errors import Mistake, Place
from scratchbook.ext.settings import project_root

HELD: Final = re.compile(r"[A-Za-z0-9/_.-]+")


@dataclass(frozen=True)
class States:
    """The states of a page: one session is run for each value of the variable."""

    name: str
    values: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Shown:
    """What the author promised about one block, checked once its outcome is known.

    cells: whose outputs it shows.   listing: the cell of its file.   emphasize: lines of that, as written.
    seen: the cells whose code a reader sees, with its lines in the chapter; without, where a file's are in the outcome.
    no_output: the author's reason why there is none.   must_print: a block that must not stand there mute.
    """

    place: Place
    cells: tuple[str, ...]
    listing: str | None = None
    seen: tuple[tuple[str, Code | None], ...] = ()
    emphasize: str | None = None
    no_output: str | None = None
    must_print: bool = False


@dataclass(frozen=True)
class Frozen:
    """A cell that no build runs: its stored outcome is shown.  after: how many cells of its page stand before it."""

    cell: CodeCell
    after: int


@dataclass
class Page:
    """All that reading one chapter leaves behind, in page order.

    cells: run in one namespace.   alone: blocks of {exec_code}, each in a session of its own.
    frozen: cells that only the review runs.   seconds: the limit that its front matter sets for the whole page.
    mistakes: found while reading; each has its place.   kept: plain data of other rooms, by the room's name.
    """

    cells: list[Cell] = field(default_factory=list)
    alone: list[CodeCell] = field(default_factory=list)
    frozen: list[Frozen] = field(default_factory=list)
    states: States | None = None
    seconds: float | None = None
    shown: list[Shown] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    kept: dict[str, list[Any]] = field(default_factory=dict)

    def fresh_id(self, wish: str) -> str:
        """Return `wish`, with a number behind it when the page has it already."""
        taken = {cell.id for cell in self.every_cell}
        if wish not in taken:
            return wish
        return next(name for number in range(2, len(taken) + 3) if (name := f"{wish}-{number}") not in taken)

    def numbered_id(self, kind: str) -> str:
        """Return `kind-3` for the third cell of its kind."""
        return self.fresh_id(f"{kind}-{1 + sum(cell.id.startswith(f'{kind}-') for cell in self.every_cell)}")

    @property
    def every_cell(self) -> list[Cell]:
        """Return the cells of all sessions of the page, and those that are frozen."""
        return [*self.cells, *self.alone, *(frozen.cell for frozen in self.frozen)]

    def sessions(self, docname: str) -> Iterator[tuple[str, State | None, tuple[Cell, ...]]]:
        """Yield each session of the page: its key, its state and its cells."""
        if self.cells:
            yield from ((session_key(docname, state), state, tuple(self.cells)) for state in self.state_list)
        yield from ((session_key(f"{docname}#{cell.id}"), None, (cell,)) for cell in self.alone)

    def outcome_keys(self, docname: str) -> Iterator[str]:
        """Yield the key of each outcome that the page shows."""
        yield from (key for key, _, _ in self.sessions(docname))
        for frozen in self.frozen:
            yield from (session_key(f"{docname}#{frozen.cell.id}", state) for state in self.state_list)

    @property
    def state_list(self) -> tuple[State | None, ...]:
        """Return the page's states, or the one nameless state of a page without."""
        if self.states is None:
            return (None,)
        return tuple(State(self.states.name, value) for value in self.states.values)


@dataclass(frozen=True)
class Slot:
    """What a placeholder node stands for; it sits on the node as the attribute `scratchbook`.

    page: its docname, since single-file builders assemble pages.   cells: whose parts fill it.
    """

    page: str
    cells: tuple[str, ...]
    shows: Literal["listing", "output", "plain output", "value", "claim", "states"]
    label: str = ""
    options: dict[str, Any] = field(default_factory=dict)


class LiveDomain(Domain):
    """Pages and outcomes, in the environment.

    pages: docname -> Page.   outcomes: session key -> Outcome, see `session_key`.
    checked: docname -> mistakes found by comparing outcomes with what the page promised.
    outlines: docname -> all that figures are numbered by; made once all pages are read, so there is nothing to merge.
    """

    name = "scratchbook"
    label = "scratchbook"
    data_version = 4
    initial_data: ClassVar[dict[str, Any]] = {"pages": {}, "outcomes": {}, "checked": {}, "outlines": {}}
    # Absolute, set anew in each build by `set_folders`, since an environment may be moved with its project.
    root = Path()
    confdir = Path()
    builder: Builder  # of this build: a transform has no other way to know it that Sphinx will keep

    @property
    def pages(self) -> dict[str, Page]:
        """Pages with anything of ours on them."""
        return self.data["pages"]  # type: ignore[no-any-return]

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """What the sessions gave when they ran last."""
        return self.data["outcomes"]  # type: ignore[no-any-return]

    @property
    def checked(self) -> dict[str, list[Mistake]]:
        """Mistakes that only an outcome could show."""
        return self.data["checked"]  # type: ignore[no-any-return]

    @property
    def outlines(self) -> dict[str, Any]:
        """What another room keeps of each doctree until the page is read again."""
        return self.data["outlines"]  # type: ignore[no-any-return]

    def page(self, docname: str) -> Page:
        """Return the record of a page, made when there is none."""
        return self.pages.setdefault(docname, Page())

    def note_branch(self, docname: str, cell: BranchCell) -> None:
        """Add a task that runs after the page's code, in a fork of it; its `BranchCell.id` must be fresh."""
        self.page(docname).cells.append(cell)

    def keep(self, docname: str, room: str, item: Any) -> None:
        """Keep plain data for another room until the chapter is read again."""
        self.page(docname).kept.setdefault(room, []).append(item)

    def kept(self, room: str) -> Iterator[tuple[str, Any]]:
        """Yield (docname, item) of all that a room kept, by page, in page order."""
        for docname, page in sorted(self.pages.items()):
            yield from ((docname, item) for item in page.kept.get(room, ()))

    def cell_outcomes(self, docname: str, cell_id: str) -> list[tuple[State | None, CellOutcome | None]]:
        """Return what a cell gave in each state of its page; None where its session has not run."""
        page = self.pages.get(docname)
        if page is None:
            return []
        if any(cell.id == cell_id for cell in page.alone):
            return [(None, self._cell(session_key(f"{docname}#{cell_id}"), cell_id))]
        name = f"{docname}#{cell_id}" if any(frozen.cell.id == cell_id for frozen in page.frozen) else docname
        return [(state, self._cell(session_key(name, state), cell_id)) for state in page.state_list]

    def seen_lines(self, docname: str) -> Iterator[tuple[str, str, Sequence[int]]]:
        """Yield what a reader of a page sees of code: the cell, its file or the chapter, and lines of that."""
        for cell, code in (seen for shown in self.pages[docname].shown for seen in shown.seen):
            if code:
                yield cell, code.path, code.numbers
                continue
            for _, outcome in self.cell_outcomes(docname, cell):
                listing = outcome.part("listing") if outcome else None
                if listing:
                    yield cell, listing["path"], listing["numbers"]

    def clear_doc(self, docname: str) -> None:
        """Forget a page; its outcomes stay until the run phase, which may need nothing else."""
        self.pages.pop(docname, None)
        self.checked.pop(docname, None)
        self.outlines.pop(docname, None)

    def merge_domaindata(self, docnames: Set[str], otherdata: dict[str, Any]) -> None:
        """Take over the pages that another process has read."""
        for docname in docnames:
            if docname in otherdata["pages"]:
                self.pages[docname] = otherdata["pages"][docname]

    def _cell(self, key: str, cell_id: str) -> CellOutcome | None:
        outcome = self.outcomes.get(key)
        return outcome.cells.get(cell_id) if outcome else None


def session_key(name: str, state: State | None = None) -> str:
    """Name a session among all of the book: its page, its block, its state."""
    return name if state is None else f"{name}?{state.name}={state.value}"


def domain_of(env: BuildEnvironment) -> LiveDomain:
    """Return the domain, typed."""
    domain = env.domains["scratchbook"]
    assert isinstance(domain, LiveDomain)
    return domain


def page_written(env: BuildEnvironment) -> str:
    """Return the page that links are written on; none in LaTeX, which writes all pages as the first one."""
    return "" if domain_of(env).builder.name == "latex" else env.current_document.docname


def set_folders(app: Sphinx) -> None:
    """Tell the domain of this build where places are counted from."""
    domain = domain_of(app.env)
    domain.confdir = Path(app.confdir)
    domain.root = project_root(app.config, domain.confdir)
    domain.builder = app.builder


def in_ids(docname: str) -> str:
    """Return what stands for a page in ids: its name, with a digest where an id cannot hold all letters of that."""
    return docname if HELD.fullmatch(docname) else f"{docname}-{hashlib.sha256(docname.encode()).hexdigest()[:8]}"


def output_id(docname: str, label: str) -> str:
    """Return the anchor of an output: the same in every build, and its own in a book of one file."""
    return nodes.make_id(f"output-{in_ids(docname)}-{label}")


def register(app: Sphinx) -> None:
    """Add the domain."""
    app.add_domain(LiveDomain)
    app.connect("builder-inited", set_folders, priority=2)  # before anything tells of a place


def listing_id(docname: str, cell: str) -> str:
    """Return the anchor of the code that a cell shows."""
    return nodes.make_id(f"listing-{in_ids(docname)}-{cell}")
