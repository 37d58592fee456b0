"""Prove that the checks of a book can fail: change every equation and its code in small ways, and count who notices.

A change that no check can notice, since it changes no value, is an equivalent.  The project lists its equivalents in a
file, each with its reason; the proof fails when one of them is noticed after all, or when a change that is not listed
is not.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from scratchbook.core.cells import BranchCell, Limits
from scratchbook.core.runner import ForkServer
from scratchbook.ext.book import Book, BookError
from scratchbook.ext.equations import TASK
from scratchbook.ext.sessions import Job

CODE: Final = "code"
MUTANTS: Final = "scratchbook.core.equation.branch:run_mutants"
LIMITS: Final = Limits(block_seconds=900.0, page_seconds=3600.0)


@dataclass(frozen=True, order=True)
class Change:
    """One change.   label: of the equation, or CODE.   where: "equation", or the function that was changed."""

    label: str
    where: str
    operator: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.label}, {self.where}: {self.operator} changes '{self.old}' to '{self.new}'"  # as a list has it


@dataclass
class Proof:
    """What became of all changes of a book.

    equivalents: change -> why no check can notice it.   noticed: change -> whether some check did.
    """

    equivalents: dict[Change, str]
    noticed: dict[Change, bool] = field(default_factory=dict)

    def note(self, change: Change, fate: str) -> None:
        """Note what one check made of a change; several may run the same code, and one that notices is enough."""
        self.noticed[change] = self.noticed.get(change, False) or fate != "survived"

    @property
    def unlisted(self) -> list[Change]:
        """Changes that nobody noticed and nobody explains."""
        return sorted(
            change for change, is_noticed in self.noticed.items() if not is_noticed and change not in self.equivalents
        )

    @property
    def wrong(self) -> list[Change]:
        """Listed changes that a check noticed, or that the book does not have."""
        return sorted(change for change in self.equivalents if self.noticed.get(change, True))

    def lines(self) -> Iterator[str]:
        """Yield the report."""
        yield from (f"not noticed: {change}" for change in self.unlisted)
        yield from (
            f"listed as equivalent, and {'noticed' if change in self.noticed else 'not there'}: {change}"
            for change in self.wrong
        )
        for name, is_code in (("equations", False), ("code", True)):
            fates = {change: known for change, known in self.noticed.items() if is_code is (change.label == CODE)}
            listed = sum(not known and change in self.equivalents for change, known in fates.items())
            killed = sum(fates.values())
            share = 100 * killed / (len(fates) - listed) if len(fates) > listed else 100.0
            counts = f"{killed} noticed, {listed} equivalent, {len(fates) - killed - listed} missed"
            yield f"{len(fates)} changes of {name}: {counts}; {share:.2f} % of the others noticed"

    @property
    def holds(self) -> bool:
        """Whether every change is noticed or explained."""
        return not (self.unlisted or self.wrong)


def read_equivalents(path: Path | None) -> dict[Change, str]:
    """Read the file of equivalents.  Raises BookError."""
    needed = ("label", "where", "operator", "old", "new", "reason")
    if path is None:
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
        return {
            Change(table["label"], table["where"], table["operator"], table["old"], table["new"]): table["reason"]
            for table in tables
        }
    except KeyError as error:
        fact = f"a change of {path} has no {error.args[0]}"
        raise BookError(f"{fact}; each [[equivalent]] needs {', '.join(needed)}") from None
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise BookError(f"{path} cannot be read as equivalents: {error}") from error


def mutant_job(job: Job) -> Job | None:
    """Return the session that checks mutants where the page checks equations; None for a page without checks."""
    cells = [
        replace(cell, task=MUTANTS, seconds=None) if isinstance(cell, BranchCell) and cell.task == TASK else cell
        for cell in job.session.cells
        if not isinstance(cell, BranchCell) or cell.task == TASK
    ]
    if not any(isinstance(cell, BranchCell) for cell in cells):
        return None
    return replace(job, session=replace(job.session, cells=tuple(cells), limits=LIMITS))


def prove(book: Book, pages: Sequence[str], equivalents: dict[Change, str], server: ForkServer) -> Proof:
    """Change every equation of the pages and its code, and tell on the way which page is at work.

    pages: all of them where none is named.
    Raises BookError for a page that fails, and where there is nothing to change.
    """
    proof = Proof(equivalents)
    for job in filter(None, map(mutant_job, book.jobs(pages))):
        print(f"{job.key} ...", file=sys.stderr, flush=True)
        outcome = server.run(job.session)
        for cell in outcome.cells.values():
            for mistake in cell.mistakes:
                raise BookError(f"{job.key}: {mistake.text}")
            data = cell.part("data")
            for where, operator, old, new, fate in data["fates"] if data else ():
                label = data["label"] if data and where == "equation" else CODE
                proof.note(Change(label, where, operator, old, new), fate)
    if not proof.noticed:
        raise BookError("none of these pages has a checked equation, so nothing can be changed")
    if pages:  # what is listed for other pages is not missing here
        proof.equivalents = {change: reason for change, reason in equivalents.items() if change in proof.noticed}
    return proof
