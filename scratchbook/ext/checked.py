"""What became of the checks: the state of each equation, what it was checked against, and where the book shows that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sphinx.application import Sphinx

from scratchbook.core.cells import CellOutcome
from scratchbook.core.errors import Mistake
from scratchbook.ext.domain import LiveDomain, domain_of, listing_id, page_written
from scratchbook.ext.equations import ROOM, Equation, page_equations
from scratchbook.ext.run import OUTCOMES_EVENT


@dataclass(frozen=True)
class Finding:
    """One equation and what is known of it.   state: a key of STATES.   verdict: of its check, as plain data."""

    docname: str
    equation: Equation
    state: str
    verdict: dict[str, Any]

    @property
    def codes(self) -> list[dict[str, Any]]:
        """The functions that it was checked against: {"name", "path", "line"}."""
        return list(self.verdict.get("code", ()))

    @property
    def gradients(self) -> list[str]:
        """The names by which its derivative was checked too."""
        return list(self.verdict.get("gradients", ()))


def findings(domain: LiveDomain) -> Iterator[Finding]:
    """Yield every equation of the book, by page, in page order."""
    for docname, equation in domain.kept(ROOM):
        yield entry_of(domain, docname, equation)


def entry_of(domain: LiveDomain, docname: str, equation: Equation) -> Finding:
    """Return what is known of one equation."""
    outcome = check_of(domain, docname, equation) if equation.cell else None
    verdict = (outcome.part("verdict") if outcome else None) or {}
    if equation.excuse:
        return Finding(docname, equation, "excused", verdict)
    if not equation.cell:
        return Finding(docname, equation, "open", verdict)
    if outcome is None or outcome.status == "not run":
        return Finding(docname, equation, "not run", verdict)
    if outcome.status == "failed" or not verdict:
        return Finding(docname, equation, "failed", verdict)
    if dict(equation.request).get("check-with"):
        return Finding(docname, equation, "excused", verdict)
    return Finding(docname, equation, str(verdict.get("state", "checked")), verdict)


def check_of(domain: LiveDomain, docname: str, equation: Equation) -> CellOutcome | None:
    """Return what the check of an equation gave: where its page has several states, in the first that does not hold."""
    found = [outcome for _, outcome in domain.cell_outcomes(docname, equation.cell)]
    wrong = [outcome for outcome in found if outcome is None or outcome.status != "ok"]
    return next(iter([*wrong, *found]), None)


def equation_mistakes(domain: LiveDomain) -> dict[Equation, list[str]]:
    """Return what is wrong with each equation that anything is wrong with."""
    found: dict[Equation, list[str]] = {}
    for docname, equation in domain.kept(ROOM):
        texts = [mistake.text for mistake in domain.checked.get(docname, ()) if mistake.place == equation.place]
        for _, outcome in domain.cell_outcomes(docname, equation.cell) if equation.cell else ():
            texts += [f"{mistake.text}\n{mistake.detail}".rstrip() for mistake in (outcome.mistakes if outcome else ())]
        if texts:
            found[equation] = texts
    return found


def check_equations(app: Sphinx, docname: str) -> list[Mistake]:
    """Return what only the whole book can show: an equation without a check, a check of code that nobody sees."""
    domain = domain_of(app.env)
    mistakes = []
    for equation in page_equations(domain, docname):
        entry = entry_of(domain, docname, equation)
        if entry.state == "open" and app.config.scratchbook_equations == "all" and not equation.is_formula:
            text = f"equation {equation.name} is neither checked nor excused; add :check: or :nocheck: with the reason"
            mistakes.append(Mistake("equation", text, equation.place))
        for code in entry.codes:
            if find_listing(domain, docname, code) is None:
                text = f"equation {equation.name} is checked against {code['name']}, which no page shows"
                choice = f"let a {{live}} show its lines of {code['path']}, or check it against what the book shows"
                mistakes.append(Mistake("equation", f"{text}; {choice}", equation.place))
    return mistakes


def find_listing(domain: LiveDomain, docname: str, code: dict[str, Any]) -> tuple[str, str] | None:
    """Return the (page, cell) that shows the first line of a function, on its own page if it is there."""
    for where in sorted(domain.pages, key=lambda name: (name != docname, name)):
        for cell, path, numbers in domain.seen_lines(where):
            if path == code["path"] and code["line"] in numbers:
                return where, cell
    return None


def listing_uri(domain: LiveDomain, docname: str, cell: str) -> str:
    """Return the address of a listing, seen from the page that is being written."""
    here = page_written(domain.env)
    target = listing_id(docname, cell)
    if domain.builder.name == "singlehtml" or docname == here:
        return f"#{target}"
    return f"{domain.builder.get_relative_uri(here, docname)}#{target}"


def closing_line(domain: LiveDomain) -> str:
    """Return the count of the book's equations and of what became of them."""
    entries = list(findings(domain))
    count = Counter(entry.state for entry in entries)
    displays = sum(not entry.equation.is_formula for entry in entries)
    formulas = len(entries) - displays
    gradients = sum(len(entry.gradients) for entry in entries)
    total = f"{displays} equation{'s' * (displays != 1)} and {formulas} formula{'s' * (formulas != 1)}"
    checked = count["checked"] + count["defined"]
    unknown = count["open"] + count["not run"]
    rest = f", {unknown} not checked" if unknown else ""
    return (
        f"{total}: {checked} checked, {count['excused']} excused, {count['failed']} failed{rest}; {gradients} gradients"
    )


def register(app: Sphinx) -> None:
    """Tell what only the whole book can show."""
    app.connect(OUTCOMES_EVENT, check_equations)
