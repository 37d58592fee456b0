"""What a page asks to run, and what came out.  Plain data that JSON and pickle carry; runs nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from scratchbook.core.errors import Mistake, Place
from scratchbook.core.selection import Selection as Selection  # a file cell is made with one


@dataclass(frozen=True)
class Code:
    """Lines of Python as they stand in a chapter.

    path: of the chapter, from the project's root.   text: what runs.   numbers: the 1-based source line of each
    line of text (they jump where a `#skip` marker or a nested fence takes lines out).
    """

    path: str
    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class FileCell:
    """Show lines of a file, run the whole file once in the page's namespace, keep what those lines printed.

    file: as the author wrote it.   path: where it was found, from the root; "" while reading, None when missing.
    seconds, shown_bytes, captured_bytes: limits of its own, None for those of the session.
    """

    id: str
    place: Place
    file: str
    selection: Selection
    path: str | None = ""
    seconds: float | None = None
    shown_bytes: int | None = None
    captured_bytes: int | None = None


@dataclass(frozen=True)
class CodeCell:
    """Run code of the page.

    wants: what it must end with: printed text, a figure, or a table.   show_value: the last expression too.
    raises: the exception that is meant to come, by its class's name.
    seconds, shown_bytes, captured_bytes: limits of its own, None for those of the session.
    """

    id: str
    place: Place
    code: Code
    wants: Literal["text", "figure", "table"] = "text"
    show_value: bool = False
    raises: str | None = None
    seconds: float | None = None
    shown_bytes: int | None = None
    captured_bytes: int | None = None


@dataclass(frozen=True)
class ValueCell:
    """Evaluate an expression for a sentence.  expression: the whole text of the role, format and all."""

    id: str
    place: Place
    expression: str


@dataclass(frozen=True)
class ClaimCell:
    """Evaluate an expression that must be true."""

    id: str
    place: Place
    expression: str


@dataclass(frozen=True)
class BranchCell:
    """Run a task after the page's last cell, in a fork of its namespace, which it cannot change.

    task: "package.module:function", called as function(namespace, payload) -> BranchResult's fields as plain data,
    see `scratchbook.core.branches`.   payload: plain data.
    """

    id: str
    place: Place
    task: str
    payload: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None


Cell: TypeAlias = FileCell | CodeCell | ValueCell | ClaimCell | BranchCell


def own_limit(cell: Cell, name: Literal["seconds", "shown_bytes", "captured_bytes"]) -> Any:
    """Return the limit that a cell sets for itself, None when it leaves that to its session."""
    return getattr(cell, name, None)


@dataclass(frozen=True)
class State:
    """One of a page's states: a variable set before the first cell.  value: a Python string."""

    name: str
    value: str


@dataclass(frozen=True)
class Limits:
    """How much a session may use.  Times in seconds, sizes in bytes."""

    block_seconds: float = 20.0
    page_seconds: float = 60.0
    shown_bytes: int = 64 * 1024
    captured_bytes: int = 1024 * 1024
    memory_bytes: int = 4 * 1024**3
    file_bytes: int = 1024**3
    open_files: int = 1024
    processes: int = 64


@dataclass(frozen=True)
class Session:
    """All that one page runs, in page order, in one child process with one namespace.

    name: the page, with "#exec-3" behind it for a block that runs alone.
    sources: each file that a cell names, by its path from the root; the bytes shown are the bytes that run.
    root: absolute.   folders: where files and imports are looked up, from the root.
    environment: the only variables that the code sees besides our own.   preload: modules the fork server holds.
    network: whether the code may reach other machines.
    """

    name: str
    cells: tuple[Cell, ...]
    root: str
    state: State | None = None
    sources: tuple[tuple[str, bytes], ...] = ()
    folders: tuple[str, ...] = ()
    limits: Limits = Limits()
    print_options: tuple[tuple[str, Any], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    preload: tuple[str, ...] = ("numpy",)
    network: bool = False


PartKind: TypeAlias = Literal["listing", "text", "svg", "pdf", "png", "table", "value", "verdict", "data"]


@dataclass(frozen=True)
class Part:
    """One typed piece of an outcome.

    listing: {"path", "text", "numbers"}   text: {"text", "cut"} with cut the bytes left out
    svg: {"svg"}   pdf, png: {"base64"}   table: {"header", "rows"}, all strings
    value: {"text"}   verdict: what a branch found, see `core.equation`   data: anything else a branch keeps
    """

    kind: PartKind
    data: dict[str, Any]


@dataclass(frozen=True)
class CellOutcome:
    """What one cell gave.  "not run": an earlier cell of the session failed."""

    status: Literal["ok", "failed", "not run"]
    parts: tuple[Part, ...] = ()
    mistakes: tuple[Mistake, ...] = ()

    def part(self, kind: PartKind) -> dict[str, Any] | None:
        """Return the data of the first part of that kind."""
        return next((part.data for part in self.parts if part.kind == kind), None)


@dataclass(frozen=True)
class Uses:
    """What a session really used below the project, so that a store can tell when it is out of date.

    files: opened or imported, path from the root -> SHA-256 of the bytes.   absent: looked for and not there.
    folders: listed, path -> SHA-256 of the sorted names.   modules: installed distributions imported, name -> version.
    unsure: why the record may be incomplete (a subprocess, a socket, a read outside the roots); then nothing is stored.
    """

    files: dict[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    folders: dict[str, str] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a session gave: one outcome a cell, by the cell's id, and the mistakes that belong to none.

    unguarded: what the code could have reached on the system where it ran, although it should not.
    seconds: wall time of the run; never shown on a page, since pages are the same bytes every time.
    """

    cells: dict[str, CellOutcome]
    mistakes: tuple[Mistake, ...] = ()
    uses: Uses = field(default_factory=Uses)
    unguarded: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.mistakes) or any(cell.status != "ok" or cell.mistakes for cell in self.cells.values())
