"""Show every outcome that differs from the accepted one, and write down what the author accepts."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from scratchbook.core.errors import Mistake, ScratchbookError
from scratchbook.core.pins import Difference, Pin, pin_name, write_pins
from scratchbook.core.runner import ForkServer
from scratchbook.ext.book import Book, BookError
from scratchbook.ext.frozen import run_frozen
from scratchbook.ext.pinning import (
    accepted_pins,
    failed_cells,
    frozen_names,
    page_differences,
    pin_path,
    place_of,
    present_pins,
)

QUESTION = "accept? [y]es, [n]o, [a]ll of this page, [q]uit: "


@dataclass
class Review:
    """One walk through the differences of a book.

    accept_all: ask nothing.   can_ask: there is somebody at a terminal.
    """

    book: Book
    accept_all: bool
    can_ask: bool
    output: TextIO = field(default_factory=lambda: sys.stdout)
    is_over: bool = False

    def run(self, pages: Iterable[str]) -> int:
        """Go through the pages; return 0 when nothing is left that was not accepted, else 1."""
        self.check_project(writes=self.accept_all or self.can_ask)
        left = sum(self.review_page(docname) for docname in self.book.wanted(pages))
        noun = "outcome differs" if left == 1 else "outcomes differ"
        print(f"{left} {noun} from the accepted ones", file=self.output)
        failed = [line for docname in self.book.wanted(pages) for line in self.failures(docname)]
        for line in failed:
            print(line, file=self.output)
        return 1 if left or failed else 0

    def refresh(self, pages: Iterable[str]) -> int:
        """Run the frozen cells of the pages and store what they give; return 0 when all could be stored, else 1."""
        self.check_project(writes=True)
        frozen = {docname: self.book.domain.pages[docname].frozen for docname in self.book.wanted(pages)}
        wanted = [docname for docname, cells in frozen.items() if cells]
        if not wanted:
            raise BookError("none of these pages has a frozen block")
        with self.book.server() as server:
            return max([self.refresh_page(docname, server) for docname in wanted])

    def refresh_page(self, docname: str, server: ForkServer) -> int:
        """Run one page's frozen cells, store what they gave, and tell of those that failed."""
        found = run_frozen(self.book.app, docname, server)
        stored = {name: pin for name, pin in found.items() if isinstance(pin, Pin)}
        for name, outcome in found.items():
            if not isinstance(outcome, Pin):
                place = place_of(self.book.domain, docname, name)
                text = outcome.mistakes[0].text if outcome.mistakes else "it was not run"
                print(f"{place}: this frozen block cannot be stored: {text}", file=self.output)
        if stored:
            self.write(docname, {**self.accepted(docname), **stored})
        return 0 if len(stored) == len(found) else 1

    def check_project(self, *, writes: bool) -> None:
        """Be sure that there are accepted outcomes, and that they may be written.   Raises BookError."""
        if writes and os.environ.get("CI"):
            raise BookError("outcomes are accepted by a person, and CI is set: run the review on your machine")
        if pin_path(self.book.app, "x") is None:
            raise BookError("this project keeps no accepted outcomes: name a folder in scratchbook_pins of conf.py")

    def failures(self, docname: str) -> Iterator[str]:
        """Yield a line for each cell of a page that failed, and one for all that did not run for that."""
        domain, frozen = self.book.domain, frozen_names(self.book.domain, docname)
        silent = 0
        for name in failed_cells(domain, docname):
            if name in frozen:
                continue
            told = [mistake.text for mistake in self.mistakes(docname, name)]
            silent += not told
            if told:
                yield f"{place_of(domain, docname, name)}: this failed, and a failure cannot be accepted: {told[0]}"
        if silent:
            cells = "1 cell" if silent == 1 else f"{silent} cells"
            yield f"{docname}: {cells} did not run, and what did not run cannot be accepted"

    def mistakes(self, docname: str, name: str) -> Iterator[Mistake]:
        """Yield what went wrong in the cell that has that name among the pins."""
        for state, outcome in self.book.domain.cell_outcomes(docname, name.partition(" ")[0]):
            if outcome and pin_name(name.partition(" ")[0], state) == name:
                yield from outcome.mistakes

    def accepted(self, docname: str) -> dict[str, Pin]:
        """Return a page's accepted outcomes.   Raises BookError for a file that is none."""
        try:
            return accepted_pins(self.book.app, docname) or {}
        except ScratchbookError as error:
            raise BookError(str(error)) from error

    def review_page(self, docname: str) -> int:
        """Show one page's differences and write what is accepted; return how many are left."""
        domain, accepted = self.book.domain, self.accepted(docname)
        differences = page_differences(self.book.app, docname, accepted)
        present = present_pins(domain, docname)
        chosen = dict(accepted)
        left = 0
        accept_page = self.accept_all
        for difference in differences:
            print(f"\n{place_of(domain, docname, difference.cell)}: {difference}{difference.where}", file=self.output)
            print(indented(difference.diff()), file=self.output)
            answer = "y" if accept_page else self.ask()
            accept_page = accept_page or answer == "a"
            if answer in ("y", "a"):
                chosen = with_accepted(chosen, present, difference)
            else:
                left += 1
        if chosen != accepted:
            self.write(docname, {name: chosen[name] for name in dict.fromkeys([*present, *chosen]) if name in chosen})
        return left

    def ask(self) -> str:
        """Return the author's answer; no, once there is nobody to ask or the author has left."""
        if self.is_over or not self.can_ask:
            return "n"
        answer = ""
        while answer not in ("y", "n", "a", "q"):
            try:
                answer = input(QUESTION).strip().lower()[:1]
            except (EOFError, KeyboardInterrupt):  # what was accepted before is written
                answer = "q"
        self.is_over = answer == "q"
        return "n" if self.is_over else answer

    def write(self, docname: str, pins: dict[str, Pin]) -> None:
        """Write a page's accepted outcomes whole; the version before is in the repository's history."""
        path = pin_path(self.book.app, docname)
        assert path is not None
        temporary = path.with_suffix(".tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(write_pins(pins, chapter_of(self.book, docname)), encoding="utf-8")
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise BookError(f"{path} cannot be written: {error.strerror}; nothing in it has changed") from error
        print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}", file=self.output)


def with_accepted(pins: dict[str, Pin], present: dict[str, Pin], difference: Difference) -> dict[str, Pin]:
    """Return the accepted outcomes with one part of one cell as it is now."""
    kind = "text" if difference.kind == "output" else difference.kind  # `output` is what an author calls it
    now, before = present.get(difference.cell), pins.get(difference.cell)
    parts = dict(before.parts) if before else {}
    if now is not None and kind in now.parts:
        parts[kind] = now.parts[kind]
    else:
        parts.pop(kind, None)
    kept = {name: pin for name, pin in pins.items() if name != difference.cell}
    shows = now or before
    assert shows is not None
    rtol = before.rtol if before else 0.0
    return {**kept, difference.cell: replace(shows, parts=parts, rtol=rtol)} if parts else kept


def chapter_of(book: Book, docname: str) -> str:
    """Return a chapter's path from the root."""
    path = book.app.env.doc2path(docname)
    root = book.domain.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def indented(text: str) -> str:
    """Return a diff, set in."""
    return "\n".join(f"    {line}" for line in text.splitlines())
