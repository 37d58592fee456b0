"""Marks: what an equation was checked against, quietly beside it, with a link to that code on the page.

The equation looks as it would without a check.  Formulas in plain text have their mark at their right end.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.ext.checked import Finding, entry_of, find_listing, listing_uri
from scratchbook.ext.domain import domain_of
from scratchbook.ext.equations import page_equations
from scratchbook.ext.incremental import DEPENDS_EVENT
from scratchbook.ext.mathematics import Mark


class ShowMarks(SphinxPostTransform):
    """Put the marks beside their equations, before mathematics is drawn."""

    default_priority = 4

    def run(self, **kwargs: Any) -> None:
        """Mark the equations of one page."""
        self.domain = domain_of(self.env)
        for block in self.document.findall(nodes.math_block):
            if block.get("scratchbook_equation"):
                self.mark(block)
        for beside in list(self.document.findall(nodes.container)):
            if beside.get("scratchbook_equation") and self.domain.builder.format == "html":
                self.mark_beside(beside)

    def mark(self, block: nodes.math_block) -> None:
        """Say beside the number what the equation was checked against."""
        mark = self.mark_of(block)
        if mark:
            block["scratchbook_mark"] = mark

    def mark_beside(self, formulas: nodes.container) -> None:
        """Say beside formulas in plain text what they were checked against."""
        mark = self.mark_of(formulas)
        if mark and mark["uri"]:
            look = {"classes": ["equation-mark"], "reftitle": mark["title"]}
            link = nodes.reference("", mark["text"], refuri=mark["uri"], internal=True, **look)
            formulas += nodes.paragraph("", "", link, classes=["equation-side"])

    def mark_of(self, node: nodes.Element) -> Mark | None:
        """Return what stands beside an equation that was checked; nothing for any other."""
        docname = self.page_of(node)
        found = next(
            (eq for eq in page_equations(self.domain, docname) if eq.cell == node["scratchbook_equation"]), None
        )
        entry = entry_of(self.domain, docname, found) if found else None
        if entry is None or entry.state != "checked" or not entry.codes:
            return None
        names = ", ".join(code["name"] for code in entry.codes)
        listing = find_listing(self.domain, docname, entry.codes[0])
        uri = listing_uri(self.domain, *listing) if listing else ""
        return {"text": f"✓ {names}", "title": story_of(entry), "uri": uri}

    def page_of(self, node: nodes.Node) -> str:
        """Return the page that a node was read from: a book in one file is many pages."""
        while node is not None:
            if isinstance(node, addnodes.start_of_file):
                return str(node["docname"])
            node = node.parent
        return self.env.current_document.docname


def story_of(entry: Finding) -> str:
    """Return the whole of what was checked, in a sentence."""
    names = ", ".join(code["name"] for code in entry.codes)
    draws = entry.verdict.get("draws", 0)
    story = f"Checked against {names} with {draws} random draws"
    return f"{story}; the gradient by {', '.join(entry.gradients)} too" if entry.gradients else story


def depend_on_marks(app: Sphinx, docname: str) -> list[Any]:
    """Return where the code stands that a page's marks lead to; see `incremental`."""
    domain = domain_of(app.env)
    entries = [entry_of(domain, docname, equation) for equation in page_equations(domain, docname)]
    return [str(find_listing(domain, docname, code)) for entry in entries for code in entry.codes]


def register(app: Sphinx) -> None:
    """Add the marks."""
    app.add_post_transform(ShowMarks)
    app.connect(DEPENDS_EVENT, depend_on_marks)
