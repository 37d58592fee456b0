"""Accepted outcomes in the repository: a build tells of each that differs.  Changes no file; `review` does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx

from scratchbook.core.cells import Cell, FileCell
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.core.pins import Difference, Pin, compare, make_pin, pin_name, read_pins
from scratchbook.ext.domain import LiveDomain, domain_of
from scratchbook.ext.run import OUTCOMES_EVENT

ADVICE: Final = "accept it or refuse it with `scratchbook review`"


def pin_path(app: Sphinx, docname: str) -> Path | None:
    """Return where a page's accepted outcomes lie; None when the project keeps none."""
    folder: str = app.config.scratchbook_pins
    return domain_of(app.env).root / folder / f"{docname}.toml" if folder else None


def accepted_pins(app: Sphinx, docname: str) -> dict[str, Pin] | None:
    """Read a page's accepted outcomes; None for a page without.  Raises ScratchbookError."""
    path = pin_path(app, docname)
    if path is None or not path.is_file():
        return None
    return read_pins(path.read_text(encoding="utf-8"), path.relative_to(domain_of(app.env).root).as_posix())


def present_pins(domain: LiveDomain, docname: str) -> dict[str, Pin]:
    """Return what a page's cells give, in page order, state by state; frozen cells give nothing new."""
    found: dict[str, Pin] = {}
    frozen = frozen_names(domain, docname)
    for cell in domain.pages[docname].every_cell:
        for state, outcome in domain.cell_outcomes(docname, cell.id):
            pin = make_pin(cell, outcome) if outcome and outcome.status == "ok" else None
            if pin is not None and pin_name(cell.id, state) not in frozen:
                found[pin_name(cell.id, state)] = pin
    return found


def frozen_names(domain: LiveDomain, docname: str) -> set[str]:
    """Return the names that a page's frozen cells have among its pins."""
    page = domain.pages[docname]
    return {pin_name(frozen.cell.id, state) for frozen in page.frozen for state in page.state_list}


def page_differences(app: Sphinx, docname: str, accepted: dict[str, Pin]) -> tuple[Difference, ...]:
    """Return what differs from the accepted outcomes, of cells that ran."""
    domain = domain_of(app.env)
    silent = {*failed_cells(domain, docname), *frozen_names(domain, docname)}
    differences = compare(accepted, present_pins(domain, docname), app.config.scratchbook_pins_rtol)
    return tuple(difference for difference in differences if difference.cell not in silent)


def failed_cells(domain: LiveDomain, docname: str) -> Iterator[str]:
    """Yield the cells that failed or did not run: those have their message already."""
    for cell in domain.pages[docname].every_cell:
        for state, outcome in domain.cell_outcomes(docname, cell.id):
            if outcome is None or outcome.status != "ok":
                yield pin_name(cell.id, state)


def is_torn(domain: LiveDomain, docname: str) -> bool:
    """Whether a mistake was found in reading a page, or the lines of a file that it shows cannot be had."""
    page = domain.pages[docname]
    files = (cell for cell in page.every_cell if isinstance(cell, FileCell))
    outcomes = (outcome for cell in files for _, outcome in domain.cell_outcomes(docname, cell.id))
    return bool(page.mistakes) or any(outcome is not None and outcome.status == "failed" for outcome in outcomes)


def check_pins(app: Sphinx, docname: str) -> list[Mistake]:
    """Return a mistake for each outcome of a pinned page that is not the accepted one.

    None while a block of the page cannot be read: it has no outcome, and those behind it may have other names.
    """
    path, domain = pin_path(app, docname), domain_of(app.env)
    if path is None or not path.is_file() or is_torn(domain, docname):
        return []
    try:
        accepted = accepted_pins(app, docname) or {}
    except ScratchbookError as error:
        return [Mistake("pin", error.text, Place(path.relative_to(domain.root).as_posix(), 1))]
    if all(pin.frozen for pin in accepted.values()):
        return []  # nothing but stored outcomes: the rest of the page is not pinned
    return [
        Mistake("pin", f"{difference}; {ADVICE}", place_of(domain, docname, difference.cell), difference.diff())
        for difference in page_differences(app, docname, accepted)
    ]


def place_of(domain: LiveDomain, docname: str, name: str) -> Place:
    """Return the line of the cell that has that name among the pins; the page's first for one that is gone."""
    cells: dict[str, Cell] = {cell.id: cell for cell in domain.pages[docname].every_cell}
    cell = cells.get(name.partition(" ")[0])
    first = next(iter(cells.values()), None)
    return cell.place if cell else Place(first.place.path if first else docname, 1)


def register(app: Sphinx) -> None:
    """Add the settings, and compare once all outcomes are known."""
    app.add_config_value("scratchbook_pins", "", "", types=frozenset({str}))
    app.add_config_value("scratchbook_pins_rtol", 1e-6, "", types=frozenset({float}))
    app.connect(OUTCOMES_EVENT, check_pins)
