"""{formulas}: formulas in plain text, as one writes them in a comment: in monospace, and checked like a display."""

from __future__ import annotations

from typing import ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from scratchbook.core.cells import BranchCell
from scratchbook.core.errors import Place, ScratchbookError
from scratchbook.ext.directive import Converter, LiveDirective, first_line, required
from scratchbook.ext.equations import CHECK_OPTIONS, ROOM, TASK, Equation

EMPTY: Final = "{formulas} is empty: write lines such as H = X + F(X) in it"


class Formulas(LiveDirective):
    """Formulas, one a line, with the options of a checked display; what follows # is for the reader alone."""

    optional_arguments = 0
    wanted: ClassVar[dict[str, Converter]] = {
        **dict.fromkeys(CHECK_OPTIONS, directives.unchanged),
        "class": directives.class_option,
        "name": required,
    }

    def make_nodes(self) -> list[nodes.Node]:
        """Return the text as it stands, and leave its check in the page."""
        text = "\n".join(self.content)
        if not text.strip():
            raise ScratchbookError(EMPTY, kind="equation")
        request = tuple(sorted((name, self.options[name] or "") for name in CHECK_OPTIONS if name in self.options))
        cell, place = self.page.fresh_id("check-formulas"), self.place
        self.page.cells.append(BranchCell(cell, place, TASK))
        equation = Equation("", text, Place(place.path, first_line(self)), cell, request, is_plain=True)
        self.domain.keep(self.env.current_document.docname, ROOM, equation)
        block = nodes.literal_block(text, text, classes=["scratchbook-formulas", *self.options.get("class", [])])
        block["language"] = "none"
        self.set_source_info(block)
        self.add_name(block)
        return [block]


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("formulas", Formulas)
