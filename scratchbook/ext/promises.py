"""Compare what a block gave with what its author promised: an output, emphasized lines.  Runs nothing."""

from __future__ import annotations

from collections.abc import Iterator

from scratchbook.core.cells import CellOutcome
from scratchbook.core.errors import Mistake, ScratchbookError
from scratchbook.ext.domain import LiveDomain, Shown
from scratchbook.ext.live import read_emphasis
from scratchbook.ext.parts import plain_lines

VISIBLE = ("svg", "pdf", "png", "table", "value")


def check_page(domain: LiveDomain, docname: str) -> list[Mistake]:
    """Return the mistakes of a page that only its outcomes could show."""
    return [mistake for shown in domain.pages[docname].shown for mistake in check_block(domain, docname, shown)]


def check_block(domain: LiveDomain, docname: str, shown: Shown) -> Iterator[Mistake]:
    """Yield what one block promised and did not keep; a block that failed has its message already."""
    if shown.listing and shown.emphasize:
        yield from check_emphasis(domain, docname, shown)
    names = shown.cells or ((shown.listing,) if shown.listing else ())
    states = [domain.cell_outcomes(docname, name) for name in names]
    outcomes = [outcome for state in states for _, outcome in state]
    if any(outcome is None or outcome.status != "ok" or outcome.mistakes for outcome in outcomes):
        return
    gives = bool(shown.cells) and any(has_output(outcome) for outcome in outcomes if outcome)
    if shown.no_output is None and shown.must_print and not gives:
        choice = "print in a demonstration in its body, or give the reason in :no-output:"
        yield Mistake("output", f"this block shows no output; {choice}", shown.place)
    if shown.no_output is not None and gives:
        yield Mistake("output", "this block has an output, and :no-output: says that it has none", shown.place)


def check_emphasis(domain: LiveDomain, docname: str, shown: Shown) -> Iterator[Mistake]:
    """Yield the mistake of emphasized lines that the listing does not have."""
    assert shown.listing
    assert shown.emphasize
    for _, outcome in domain.cell_outcomes(docname, shown.listing):
        if outcome is None or outcome.status != "ok":
            continue
        listing = outcome.part("listing")
        option = "emphasize-lines" if listing else "emphasize-lines_output"
        lines = listing["numbers"] if listing else plain_lines(outcome)
        try:
            read_emphasis(shown.emphasize, len(lines), shown.place, option)
        except ScratchbookError as error:
            yield error.mistake
        return


def has_output(outcome: CellOutcome) -> bool:
    """Whether a reader sees anything of a cell besides its code."""
    return any(part.kind in VISIBLE or (part.kind == "text" and part.data["text"].strip()) for part in outcome.parts)
