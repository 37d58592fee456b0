"""Make a page's outcome from what its process said of each cell, what it printed, and how it ended."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

from scratchbook.core.capture import Splitter
from scratchbook.core.cells import (
    BranchCell,
    Cell,
    CellOutcome,
    CodeCell,
    FileCell,
    Outcome,
    Part,
    Session,
    Uses,
    own_limit,
)
from scratchbook.core.errors import Mistake, Place
from scratchbook.core.failures import describe_death
from scratchbook.core.listings import Listing, make_listings
from scratchbook.core.printed import say_bytes, show_bytes
from scratchbook.core.records import from_json
from scratchbook.core.tracing import merge


@dataclass
class Entry:
    """What is known of a cell that has begun.

    begin: its first mark.   end: the first mark behind it, known once the page has ended.
    started: when, by the monotonic clock.   process: in which it runs.
    line: what its process said at its end.   mistakes: what was seen from outside.
    thread: the name of the one that it waits for, "" while its own code runs.
    """

    cell: Cell
    begin: int
    started: float
    process: int
    line: dict[str, Any] | None = None
    mistakes: list[Mistake] = field(default_factory=list)
    thread: str = ""
    end: int = 0


class Ledger:
    """All that is known of a running page.

    open: the cell that runs at the moment.   starters: the cell that each process is from.   last_starter: the cell
    that started one last.   folders: paths of this machine and what a reader sees instead.
    """

    def __init__(self, session: Session, splitter: Splitter, folders: tuple[tuple[str, str], ...]) -> None:
        self.session = session
        self.splitter = splitter
        self.folders = folders
        self.listings = make_listings(session)
        self.entries: dict[str, Entry] = {}
        self.open: Entry | None = None
        self.starters: dict[int, Entry] = {}
        self.last_starter: Entry | None = None
        self._has_copies = False
        self.uses: Uses | None = None
        self.mistakes: list[Mistake] = []
        self.started = time.monotonic()
        self._cells: dict[str, Cell] = {cell.id: cell for cell in session.cells}

    def take(self, line: dict[str, Any], process: int) -> None:
        """Note a line that the page's process said; a line that nobody writes is none of ours."""
        if line.get("begin") in self._cells:
            cell = self._cells[line["begin"]]
            self.open = Entry(cell, line["mark"], time.monotonic(), line.get("process", process))
            self.entries[cell.id] = self.open
        elif line.get("end") in self.entries:
            self._close(self.entries[line["end"]], line)
        elif line.get("copy") in self.entries:
            self._note_copy(self.entries[line["copy"]], [Mistake.from_json(mistake) for mistake in line["mistakes"]])
        elif line.get("waits") in self.entries:
            self.entries[line["waits"]].thread = line["thread"]
        elif "uses" in line:
            uses = from_json(Uses, line["uses"])
            self.uses = merge(self.uses, uses) if self.uses else uses
        elif "broken" in line:
            text = "scratchbook itself failed while it ran this page"
            self.mistakes.append(Mistake("run", text, None, line["broken"]))

    def _close(self, entry: Entry, line: dict[str, Any]) -> None:
        """Note the end of a cell; only the first counts."""
        if entry is self.open:
            self.open = None
        if entry.line is not None:
            return
        entry.line = line
        if line.get("has_started"):
            self.last_starter = entry
        for process in line.get("processes", ()):
            self.starters.setdefault(process, entry)
        if "died" in line:
            self.fail(entry, describe_death(line["died"]), None)

    def _note_copy(self, entry: Entry, mistakes: list[Mistake]) -> None:
        """Note what a copy of the page's process did that a block has forked; each such thing once."""
        self._has_copies = True
        entry.mistakes += [mistake for mistake in mistakes if mistake not in entry.mistakes]

    def fail(self, entry: Entry, text: str, place: Place | None) -> None:
        """Note why a cell did not come to its own end.  place: where it was, when that is known."""
        if place and place.path != entry.cell.place.path:
            text += f" (run by {entry.cell.place})"
        entry.mistakes.append(Mistake("run", text, place))
        entry.line = {"status": "failed"}
        if entry is self.open:
            self.open = None

    def captured_bytes(self, cell: Cell) -> int:
        """Return how much a cell may print."""
        return own_limit(cell, "captured_bytes") or self.session.limits.captured_bytes

    def overrun(self, cell: Cell) -> str:
        """Say that a cell has printed too much."""
        choice = raising(cell, ":captured-bytes:", "scratchbook_captured_bytes")
        return f"printed more than {say_bytes(self.captured_bytes(cell))} and was stopped; {choice}"

    def finish(self) -> None:
        """Note where the output of each cell ends, once all is there; what printed too much has failed.

        Whether it was stopped in time depends on the machine, so what ran after it has not run.
        """
        entries = list(self.entries.values())
        for position, entry in enumerate(entries):
            entry.end = entries[position + 1].begin if position + 1 < len(entries) else self.splitter.end
            if len(self.splitter.join([(entry.begin, entry.end)])) > self.captured_bytes(entry.cell):
                if not entry.mistakes:
                    self.fail(entry, self.overrun(entry.cell), None)
                for later in [] if isinstance(entry.cell, BranchCell) else entries[position + 1 :]:
                    later.line = None

    def note_death(self, status: int, place: Place | None) -> None:
        """Tell why the page's process ended, when that was not its own end."""
        if self.open:
            self.fail(self.open, describe_death(status), place)
        elif not (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0) and not self._is_told():
            self.mistakes.append(Mistake("run", f"the page's process was {describe_death(status)}"))

    def _is_told(self) -> bool:
        return bool(self.mistakes) or any(entry.mistakes for entry in self.entries.values())

    def outcome(self) -> Outcome:
        """Return the outcome of each cell."""
        cells = {cell.id: self._cell_outcome(cell) for cell in self.session.cells}
        uses = self.uses or Uses(unsure=("did not come to its end",))
        return Outcome(cells, tuple(self.mistakes), uses, seconds=time.monotonic() - self.started)

    def _cell_outcome(self, cell: Cell) -> CellOutcome:
        listing = self.listings.get(cell.id, Listing())
        parts = [listing.part] if listing.part else []
        entry = self.entries.get(cell.id)
        if entry is None or entry.line is None:
            return CellOutcome("not run", tuple(parts), listing.mistakes)
        line, mistakes = entry.line, list(entry.mistakes)
        if not isinstance(cell, BranchCell):
            parts += self._text_parts(cell, line.get("spans", [(entry.begin, entry.end)]), mistakes)
        parts += [Part(part["kind"], part["data"]) for part in line.get("parts", ())]
        mistakes += [Mistake.from_json(mistake) for mistake in line.get("mistakes", ())]
        for spans, mistake in line.get("checks", ()):
            if self.splitter.join(spans) and not self._has_copies:  # else a copy may have printed that
                mistakes.append(Mistake.from_json(mistake))
        has_failed = entry.mistakes or line["status"] == "failed"
        return CellOutcome("failed" if has_failed else "ok", tuple(parts), (*listing.mistakes, *mistakes))

    def _text_parts(self, cell: Cell, spans: list[tuple[int, int]], mistakes: list[Mistake]) -> list[Part]:
        """Return what a cell printed, as a page can show it."""
        data = self.splitter.join(spans)
        if not data:
            return []
        if len(data) > (most := self.captured_bytes(cell)):
            data = data[:most].decode("utf-8", "ignore").encode()
        printed = show_bytes(data, own_limit(cell, "shown_bytes") or self.session.limits.shown_bytes, self.folders)
        if printed.wrong:
            what = "1 byte that is" if printed.wrong == 1 else f"{printed.wrong} bytes that are"
            text = f"printed {what} not UTF-8, shown as \ufffd; decode what you print first"
            mistakes.append(Mistake("output", text))
        return [Part("text", {"text": printed.text, "cut": printed.cut})]


def raising(cell: Cell, option: str, setting: str) -> str:
    """Say how an author raises a limit: by an option where the block takes it, else by the setting alone."""
    has_options = isinstance(cell, FileCell | CodeCell)
    return f"raise it with {option} or {setting}" if has_options else f"raise it with {setting}"
