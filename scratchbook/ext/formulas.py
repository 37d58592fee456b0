"""{formulas}: formulas in plain text, as one writes them in a comment: in monospace, and checked like a display."""

from __future__ import annotations

from typing import ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from scratchbook.core.cells import BranchCell
from scratchbook.core.errors import Place, ScratchbookError
from scratchbook.ext.directive import Converter, LiveDirective, first_line, required
from scratchbook.ext.equations import CHECK_OPTIONS, EXCUSE, ROOM, TASK, Equation, wrong_excuse

EMPTY: Final = "{formulas} is empty: write lines such as H = X + F(X) in it"


class Formulas(LiveDirective):
    """Formulas, one a line, with the options of a checked display; what follows # is for the reader alone.

    They stand in a container, into which `marks` puts the mark.
    """

    optional_arguments = 0
    wanted: ClassVar[dict[str, Converter]] = {
        **dict.fromkeys((*CHECK_OPTIONS, EXCUSE), directives.unchanged),
        "class": directives.class_option,
        "name": required,
    }

    def make_nodes(self) -> list[nodes.Node]:
        """Return the text as it stands, and leave its check in the page."""
        text = "\n".join(self.content)
        if not text.strip():
            raise ScratchbookError(EMPTY, kind="equation")
        request: dict[str, str] = {
            name: str(self.options[name] or "") for name in CHECK_OPTIONS if name in self.options
        }
        excuse, cell = self.options.get(EXCUSE), ""
        if wrong := wrong_excuse(excuse, request):
            raise ScratchbookError(wrong, kind="equation")
        if excuse is None:
            cell = self.page.fresh_id("check-formulas")
            self.page.cells.append(BranchCell(cell, self.place, TASK))
        first, given = Place(self.place.path, first_line(self)), tuple(sorted(request.items()))
        equation = Equation("", text, first, cell, given, (excuse or "").strip(), is_plain=True)
        self.domain.keep(self.env.current_document.docname, ROOM, equation)
        block = nodes.literal_block(text, text, classes=["scratchbook-formulas", *self.options.get("class", [])])
        block["language"] = "none"
        self.set_source_info(block)
        self.add_name(block)
        beside = nodes.container("", block, classes=["scratchbook-checked"])
        beside["scratchbook_equation"] = cell
        self.set_source_info(beside)
        return [beside]


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("formulas", Formulas)
