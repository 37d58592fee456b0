"""How much of the book has been checked: {tally} in a sentence, and the closing line of a build.

Only what holds is counted, and it does not matter whether a cell ran in this build or its outcome was stored: a page
that shows a count is the same bytes either way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from docutils import nodes
from docutils.utils import get_source_line
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from scratchbook.core.cells import BranchCell, Cell, ClaimCell, CodeCell, FileCell, ValueCell
from scratchbook.core.errors import Mistake
from scratchbook.ext.checked import closing_line, findings
from scratchbook.ext.directive import LiveRole, find_spot
from scratchbook.ext.domain import LiveDomain, domain_of
from scratchbook.ext.incremental import DEPENDS_EVENT
from scratchbook.ext.inline import enclosing_text
from scratchbook.ext.stores import is_idle

logger = logging.getLogger(__name__)

# What a cell is counted as, besides a cell.
NOUNS: Final[dict[str, Callable[[Cell], bool]]] = {
    "blocks": lambda cell: isinstance(cell, FileCell | CodeCell),
    "values": lambda cell: isinstance(cell, ValueCell),
    "claims": lambda cell: isinstance(cell, ClaimCell),
    # A solution that passes its check; that the starter fails it is a cell of its own.
    "exercises": lambda cell: isinstance(cell, BranchCell) and cell.task.endswith(":judge_solution"),
}
COUNTED: Final = ("sessions", "cells", *NOUNS, "equations", "formulas", "gradients")
IN_WORDS: Final = {"exercises": ("exercise in code", "exercises in code")}


@dataclass(frozen=True)
class Count:
    """How many of a kind the book has, and how many of them hold."""

    good: int
    total: int

    def told(self, noun: str) -> str:
        """Return the count in words: "3 values", or "2 of 3 values" when one does not hold."""
        one, many = IN_WORDS.get(noun, (noun.removesuffix("s"), noun))
        number = f"{self.good:,}" if self.good == self.total else f"{self.good:,} of {self.total:,}"
        return f"{number} {one if self.total == 1 else many}"


def count_book(domain: LiveDomain) -> dict[str, Count]:
    """Count the sessions, the cells, the kinds of cells, and the equations of the whole book."""
    good: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for noun, holds in [*sessions(domain), *cells(domain), *equations(domain)]:
        total[noun] += 1
        good[noun] += holds
    return {noun: Count(good[noun], total[noun]) for noun in COUNTED}


def sessions(domain: LiveDomain) -> Iterator[tuple[str, bool]]:
    """Yield "sessions" and whether all of it ran and nothing in it failed, for each."""
    for docname, page in domain.pages.items():
        for key, _, asked in page.sessions(docname):
            outcome = domain.outcomes.get(key)
            ran = outcome is not None and all(cell.id in outcome.cells for cell in asked)
            yield "sessions", ran and outcome is not None and not outcome.failed


def cells(domain: LiveDomain) -> Iterator[tuple[str, bool]]:
    """Yield what a cell is counted as, and whether it holds in every state of its page, for each."""
    for docname, page in domain.pages.items():
        for cell in (*page.cells, *page.alone):
            found = [outcome for _, outcome in domain.cell_outcomes(docname, cell.id)]
            holds = all(outcome is not None and outcome.status == "ok" and not outcome.mistakes for outcome in found)
            yield "cells", holds
            yield from ((noun, holds) for noun, is_one in NOUNS.items() if is_one(cell))


def equations(domain: LiveDomain) -> Iterator[tuple[str, bool]]:
    """Yield "equations" or "formulas" and whether it was checked, for each; and "gradients" that were."""
    for entry in findings(domain):
        is_checked = entry.state in ("checked", "defined")
        yield "formulas" if entry.equation.is_formula else "equations", is_checked
        yield from (("gradients", is_checked) for _ in entry.gradients)


class Tally(LiveRole):
    """How many of a kind the whole book has that hold."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave the noun until all chapters have been read and run."""
        if self.text not in COUNTED:
            self.note("tally", f"nothing called '{self.text}' is counted; there are {', '.join(COUNTED)}")
            return [nodes.literal(self.rawtext, self.text)], []
        domain_of(self.env).keep(self.docname, "tallies", self.text)
        node = nodes.inline(self.rawtext, self.text, classes=["scratchbook-tally"])
        node["scratchbook_tally"] = self.text
        self.set_source_info(node)
        return [node], []


class RefuseInTitles(SphinxTransform):
    """Take counts out of titles and captions, which are copied to other pages before anything is counted."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Leave the noun there, with one message each."""
        for node in [found for found in self.document.findall(nodes.inline) if "scratchbook_tally" in found]:
            if isinstance(enclosing_text(node)[0], nodes.title | nodes.caption):
                page = domain_of(self.env).page(self.env.current_document.docname)
                text = "{tally} cannot stand in a title or a caption: write it in a sentence"
                page.mistakes.append(Mistake("tally", text, find_spot(self.env, *get_source_line(node)).place))
                node.replace_self(nodes.literal("", node.astext()))


class FillTallies(SphinxPostTransform):
    """Write the counts, once all that is counted is known."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Replace each noun by its number."""
        places = [node for node in self.document.findall(nodes.inline) if "scratchbook_tally" in node]
        counts = count_book(domain_of(self.env)) if places else {}
        for node in places:
            number = f"{counts[node['scratchbook_tally']].good:,}"
            node.replace_self(nodes.inline("", number, classes=node["classes"]))


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build which counts each page shows."""
    domain = domain_of(app.env)
    shown = {docname: nouns for docname, page in domain.pages.items() if (nouns := page.kept.get("tallies"))}
    counts = count_book(domain) if shown else {}
    return {docname: [(noun, counts[noun].good) for noun in nouns] for docname, nouns in shown.items()}


def say_closing_line(app: Sphinx, exception: Exception | None) -> None:
    """Say at the end of a build how much was checked."""
    if exception is not None or is_idle(app.builder):
        return
    domain = domain_of(app.env)
    counts = count_book(domain)
    told = [counts[noun].told(noun) for noun in ("sessions", "cells", *NOUNS) if noun != "blocks"]
    if counts["sessions"].total or counts["equations"].total or counts["formulas"].total:
        logger.info("%s; %s", ", ".join(told), closing_line(domain))


def register(app: Sphinx) -> None:
    """Add the role and the closing line."""
    app.add_role("tally", Tally())
    app.add_transform(RefuseInTitles)
    app.add_post_transform(FillTallies)
    app.connect(DEPENDS_EVENT, what_pages_show)
    app.connect("build-finished", say_closing_line)
