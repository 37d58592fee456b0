"""{live} with :frozen: shows a stored outcome and runs nothing; the review runs it.  Knows no nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Final

from sphinx.application import Sphinx

from scratchbook.core.cells import BranchCell, CellOutcome, CodeCell, Outcome, Session
from scratchbook.core.errors import Mistake, ScratchbookError
from scratchbook.core.frozen import code_digest, freeze, thaw, this_machine
from scratchbook.core.pins import Pin, pin_name
from scratchbook.core.runner import ForkServer
from scratchbook.ext.domain import Frozen, Page, domain_of, session_key
from scratchbook.ext.pinning import accepted_pins
from scratchbook.ext.run import STORED_EVENT
from scratchbook.ext.sessions import Sources, page_job
from scratchbook.ext.settings import Settings, read_settings

# A frozen cell may be frozen because it is long: a day is no limit that an author meets.
LONGEST_SECONDS: Final = 24 * 3600.0


def stored_outcomes(app: Sphinx) -> dict[str, Outcome]:
    """Return the outcome of each frozen cell of the book, by the key of its session."""
    domain = domain_of(app.env)
    return {
        key: Outcome({frozen.cell.id: stored_outcome(frozen.cell, name, pins, docname)})
        for docname, page in sorted(domain.pages.items())
        if page.frozen
        for pins in [known_pins(app, docname)]
        for frozen, key, name in frozen_keys(docname, page)
    }


def known_pins(app: Sphinx, docname: str) -> dict[str, Pin]:
    """Return a page's stored outcomes; none when the file cannot be read, which `pinning` tells."""
    try:
        return accepted_pins(app, docname) or {}
    except ScratchbookError:
        return {}


def frozen_keys(docname: str, page: Page) -> Iterator[tuple[Frozen, str, str]]:
    """Yield each frozen cell in each state of its page, with its key among outcomes and its name among pins."""
    for frozen in page.frozen:
        for state in page.state_list:
            yield frozen, session_key(f"{docname}#{frozen.cell.id}", state), pin_name(frozen.cell.id, state)


def stored_outcome(cell: CodeCell, name: str, pins: dict[str, Pin], docname: str) -> CellOutcome:
    """Return what is stored of a cell, or why it cannot be shown."""
    choice = f"run `scratchbook review --refresh {docname}`"
    pin = pins.get(name)
    if pin is None or not pin.frozen:
        return failed(cell, f"this frozen block has no stored outcome; {choice}")
    try:
        outcome = thaw(pin)
    except ValueError as error:
        return failed(cell, f"the stored outcome of this frozen block cannot be read: {error}; {choice}")
    if pin.code == code_digest(cell):
        return outcome
    return failed(cell, f"the code of this frozen block has changed since it was run on {pin.frozen}; {choice}")


def failed(cell: CodeCell, text: str) -> CellOutcome:
    """Return the outcome of a frozen cell that has none to show."""
    return CellOutcome("failed", mistakes=(Mistake("pin", text, cell.place),))


def run_frozen(app: Sphinx, docname: str, server: ForkServer) -> dict[str, Pin | CellOutcome]:
    """Run each frozen cell of a page after the cells above it: its new stored outcome, or the failure, by its name."""
    domain = domain_of(app.env)
    settings, day, machine = read_settings(app.config, domain.confdir), date.today(), this_machine()
    page = domain.pages[docname]
    found: dict[str, Pin | CellOutcome] = {}
    for frozen in page.frozen:
        for state in page.state_list:
            above = (cell for cell in page.cells[: frozen.after] if not isinstance(cell, BranchCell))
            cells = (*above, frozen.cell)
            sources = Sources(settings.root, settings.folders)
            job = page_job(docname, session_key(docname, state), cells, state, sources, settings)
            outcome = server.run(without_limit(job.session, settings))
            cell = outcome.cells.get(frozen.cell.id, CellOutcome("not run"))
            mistakes = [*outcome.mistakes, *(it for known in outcome.cells.values() for it in known.mistakes)]
            name = pin_name(frozen.cell.id, state)
            if cell.status == "ok" and not mistakes:
                found[name] = freeze(frozen.cell, cell, day, machine)
            else:
                found[name] = replace(cell, mistakes=tuple(mistakes))
    return found


def without_limit(session: Session, settings: Settings) -> Session:
    """Give a session all the time that it needs; a cell's own :timeout: still holds."""
    limits = replace(settings.limits, block_seconds=LONGEST_SECONDS, page_seconds=LONGEST_SECONDS)
    return replace(session, limits=limits)


def register(app: Sphinx) -> None:
    """Show what is stored once the sessions have run."""
    app.connect(STORED_EVENT, stored_outcomes)
