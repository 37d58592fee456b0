"""{worked}: an equation with numbers put in, step by step down to the value.  The equation itself is typed once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.core.cells import BranchCell
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.ext.directive import Converter, LiveDirective, number_of
from scratchbook.ext.domain import domain_of
from scratchbook.ext.equations import WORKED, find_equation, labels_of
from scratchbook.ext.run import OUTCOMES_EVENT
from scratchbook.ext.states import Variant, show_states

MOST_DIGITS: Final = 12
# KaTeX counts a gap from the line of writing, so a row that reaches below it needs more, or it touches the next.
DEEP: Final = re.compile(r"\\(?:frac|sqrt|sum|prod|left)\b")
GAP, DEEP_GAP = "3pt", "11pt"
TASK: Final = "scratchbook.core.equation.branch:run_worked"


@dataclass(frozen=True)
class Worked:
    """An equation to be worked.   values: lines such as x = [1.0, 2.0].   cell: the branch that does it.

    index: the elements that are wanted, such as i=1; "" for all.   digits: of each number, after the point.
    """

    label: str
    values: str
    place: Place
    cell: str
    index: str = ""
    digits: int = 4


class WorkedDirective(LiveDirective):
    """Name an equation by its label, and give the numbers, one symbol a line, by their names in the code."""

    wanted: ClassVar[dict[str, Converter]] = {
        "class": directives.class_option,
        "index": directives.unchanged,
        "digits": partial(number_of, what="digits", least=0, most=MOST_DIGITS),
    }

    def make_nodes(self) -> list[nodes.Node]:
        """Leave the branch, and a place for its steps."""
        label = self.arguments[0].strip() if self.arguments else ""
        if not label or len(label.split()) > 1:
            raise ScratchbookError("{worked} needs the label of an equation behind it", kind="equation")
        if not "".join(self.content).strip():
            raise ScratchbookError("{worked} needs numbers: write lines such as x = [1.0, 2.0] in it", kind="equation")
        cell = self.page.fresh_id(nodes.make_id(f"worked-{label}"))
        self.page.cells.append(BranchCell(cell, self.place, TASK))
        docname = self.env.current_document.docname
        index, digits = self.options.get("index", ""), self.options.get("digits", 4)
        self.domain.keep(docname, WORKED, Worked(label, "\n".join(self.content), self.place, cell, index, digits))
        place = nodes.container("", classes=["scratchbook-worked", *self.options.get("class", [])])
        place["scratchbook_worked"] = (docname, cell, label)
        self.set_source_info(place)
        return [place]


class ShowWorked(SphinxPostTransform):
    """Put the steps in, before mathematics is drawn."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Fill each place of one page."""
        for place in list(self.document.findall(nodes.container)):
            if "scratchbook_worked" not in place:
                continue
            docname, cell, label = place.attributes.pop("scratchbook_worked")
            found = find_equation(domain_of(self.env), label)
            # Where the equation itself stands on the page, it need not stand there again above its numbers.
            shows_all = found is None or found[0] != docname
            variants: list[Variant] = []
            for state, outcome in domain_of(self.env).cell_outcomes(docname, cell):
                data = outcome.part("data") if outcome else None
                steps = [step for step in (data["steps"] if data else ()) if shows_all or step["is_worked"]]
                variants.append((state, [steps_block(step, place) for step in steps]))
            place += show_states(variants)


def steps_block(step: dict[str, Any], place: nodes.Element) -> nodes.math_block:
    """Return one left side with everything that it equals, a line each."""
    first, *others = step["sides"]
    rows = [f"{step['left']} &= {first}", *(f"&= {side}" for side in others)]
    gaps = [DEEP_GAP if DEEP.search(row) else GAP for row in rows]
    lines = [f"{row} \\\\[{gap}]" for row, gap in zip(rows[:-1], gaps, strict=False)]
    tex = "\n".join([r"\begin{aligned}", *lines, rows[-1], r"\end{aligned}"])
    block = nodes.math_block(tex, tex, label=None, number=None)
    block["no-wrap"] = block["nowrap"] = False
    block["scratchbook_equation"] = ""
    block.source, block.line = place.source, place.line
    return block


def check_labels(app: Sphinx, docname: str) -> list[Mistake]:
    """Return a mistake for each {worked} of an equation that the book does not have."""
    domain = domain_of(app.env)
    page = domain.pages.get(docname)
    return [
        Mistake("equation", f"no equation '{item.label}' to work; the book has {labels_of(domain)}", item.place)
        for item in (page.kept.get(WORKED, ()) if page else ())
        if find_equation(domain, item.label) is None
    ]


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("worked", WorkedDirective)
    app.add_post_transform(ShowWorked)
    app.connect(OUTCOMES_EVENT, check_labels)
