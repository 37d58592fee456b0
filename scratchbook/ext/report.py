"""Say every mistake once, at the author's line, in every build in which it is there; and set the exit status."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.logging import is_suppressed_warning

from scratchbook.core.cells import BranchCell, Cell, CodeCell
from scratchbook.core.errors import Mistake, Place
from scratchbook.ext.domain import LiveDomain, Page

logger = logging.getLogger(__name__)


class Message(str):
    """A warning's text; the type that Sphinx adds goes to the end of its first line, before any traceback."""

    __slots__ = ()

    def __add__(self, suffix: str) -> Message:
        head, line_break, rest = self.partition("\n")
        return Message(f"{head}{suffix}{line_break}{rest}")


@dataclass(frozen=True)
class Met:
    """A mistake and the line of the directive that met it."""

    mistake: Mistake
    asked: Place

    @property
    def place(self) -> Place:
        """The line to say."""
        return self.mistake.place or self.asked

    @property
    def text(self) -> str:
        """The fact, without who asked: that is said once for all who did."""
        return re.sub(r" \(run by .+?:\d+\)$", "", self.mistake.text)


def say_mistakes(app: Sphinx, domain: LiveDomain, others: tuple[Mistake, ...] = ()) -> None:
    """Warn of each mistake of the book and let the build end with a failure if there was any.

    others: mistakes of no page, such as settings.
    """
    say(app, [*met_nowhere(others), *find_mistakes(domain)])


def say_written_mistakes(app: Sphinx, domain: LiveDomain, others: tuple[Mistake, ...] = ()) -> None:
    """Do the same where no code runs: for what was found when chapters were read."""
    say(app, [*met_nowhere(others), *find_written_mistakes(domain)])


def met_nowhere(others: tuple[Mistake, ...]) -> Iterator[Met]:
    """Yield mistakes of no page at the line where settings begin."""
    for mistake in others:
        yield Met(mistake, mistake.place or Place("conf.py", 1))


def say(app: Sphinx, mistakes: Iterable[Met]) -> None:
    """Warn of each mistake once, by place, and let the build end with a failure if there was any."""
    met: dict[tuple[Place, str, str], list[Place]] = {}
    details: dict[tuple[Place, str, str], str] = {}
    for found in mistakes:
        key = (found.place, found.mistake.kind, found.text)
        met.setdefault(key, []).append(found.asked)
        details.setdefault(key, found.mistake.detail)
    suppressed = app.config.suppress_warnings
    is_checked = not is_suppressed_warning("scratchbook", "equation", suppressed)
    explained = {place for place, kind, _ in met if kind == "equation" and is_checked}
    for key in sorted(met):
        place, kind, text = key
        if kind == "math" and place in explained:
            continue  # TeX that cannot be read cannot be drawn either, and the check says what to do about it
        app.statuscode = app.statuscode or int(not is_suppressed_warning("scratchbook", kind, suppressed))
        if not text:
            continue  # another parser has said it
        text += run_by(place, met[key])
        if details[key]:
            text += "\n" + details[key].rstrip()
        logger.warning(Message(text), type="scratchbook", subtype=kind, location=str(place))


def find_mistakes(domain: LiveDomain) -> Iterator[Met]:
    """Yield all mistakes that the book has, by page."""
    yield from find_written_mistakes(domain)
    for docname, page in sorted(domain.pages.items()):
        for mistake in domain.checked.get(docname, ()):
            yield Met(mistake, mistake.place or Place(docname, 1))
        yield from cell_mistakes(domain, docname, page)
        yield from session_mistakes(domain, docname, page)


def find_written_mistakes(domain: LiveDomain) -> Iterator[Met]:
    """Yield the mistakes that a chapter has before any code runs, by page."""
    for docname, page in sorted(domain.pages.items()):
        for mistake in page.mistakes:
            yield Met(mistake, mistake.place or Place(docname, 1))


def cell_mistakes(domain: LiveDomain, docname: str, page: Page) -> Iterator[Met]:
    """Yield the mistakes of each cell, of its first state that has any: one message a place.

    A block whose fence is told to be wrong holds what its author did not mean: what comes of that is not said.
    """
    torn = {mistake.place for mistake in page.mistakes if mistake.kind == "markup"}
    for cell in page.every_cell:
        if cell.place in torn:
            continue
        states = domain.cell_outcomes(docname, cell.id)
        failed = [(state, outcome) for state, outcome in states if outcome and outcome.mistakes]
        for state, outcome in failed[:1]:
            only = f" (where {state.name} = {state.value})" if state and len(failed) < len(states) else ""
            for mistake in outcome.mistakes:
                yield Met(replace(mistake, text=mistake.text + only), asking_line(cell, mistake))


def asking_line(cell: Cell, mistake: Mistake) -> Place:
    """Return the line that met a mistake: its own when it stands in the cell's code."""
    place = mistake.place
    if place and isinstance(cell, CodeCell) and place.path == cell.code.path and place.line in cell.code.numbers:
        return place
    if place and isinstance(cell, BranchCell) and place.path == cell.place.path:
        return place  # of a check: the row of TeX, or the option
    return cell.place


def session_mistakes(domain: LiveDomain, docname: str, page: Page) -> Iterator[Met]:
    """Yield what went wrong with a session as a whole."""
    for key, _, cells in page.sessions(docname):
        outcome = domain.outcomes.get(key)
        if outcome:
            yield from (Met(mistake, cells[0].place) for mistake in outcome.mistakes)


def run_by(place: Place, asked: list[Place]) -> str:
    """Return which directives met a mistake that stands elsewhere."""
    others = sorted(set(asked) - {place})
    if not others:
        return ""
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return f" (run by {others[0]}{more})"
