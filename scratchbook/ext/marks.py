"""Marks: what an equation was checked against, quietly beside it, with a link to that code on the page.

The equation looks as it would without a check.  Formulas in plain text have their mark at their right end.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.ext.checked import Finding, entry_of, find_listing, findings, listing_uri
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
        is_html = self.domain.builder.format == "html"
        for block in list(self.document.findall(nodes.math_block)):
            mark = self.mark_of(block) if block.get("scratchbook_equation") else None
            if mark:
                block["scratchbook_mark"] = mark  # which HTML's writer puts beside the number
            if mark and not is_html:
                block.parent.insert(block.parent.index(block) + 1, mark_line(mark, "equation-mark"))
        for formulas in list(self.document.findall(nodes.container)):
            mark = self.mark_of(formulas) if formulas.get("scratchbook_equation") else None
            if mark:
                formulas += mark_line(mark, "equation-side" if is_html else "equation-mark")

    def mark_of(self, node: nodes.Element) -> Mark | None:
        """Return what stands beside an equation that was checked; nothing for any other."""
        docname = page_of(node, self.env)
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


def page_of(node: nodes.Node | None, env: BuildEnvironment) -> str:
    """Return the page that a node was read from: in a book in one file, its section names it."""
    while node is not None:
        if isinstance(node, nodes.Element) and node.get("docname"):
            return str(node["docname"])
        node = node.parent
    return env.current_document.docname


def mark_line(mark: Mark, name: str) -> nodes.paragraph:
    """Return a mark as a line of its own, below what was checked."""
    if not mark["uri"]:
        return nodes.paragraph("", mark["text"], classes=[name])
    look = {"classes": ["equation-mark"], "reftitle": mark["title"]}
    link = nodes.reference("", mark["text"], refuri=mark["uri"], internal=True, **look)
    return nodes.paragraph("", "", link, classes=[name])


def story_of(entry: Finding) -> str:
    """Return the whole of what was checked, in a sentence."""
    names = ", ".join(code["name"] for code in entry.codes)
    draws = entry.verdict.get("draws", 0)
    story = f"Checked against {names} with {draws} random draws"
    return f"{story}; the gradient by {', '.join(entry.gradients)} too" if entry.gradients else story


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build where the code stands that each page's marks lead to."""
    domain = domain_of(app.env)
    shown: defaultdict[str, list[Any]] = defaultdict(list)
    for entry in findings(domain):
        shown[entry.docname] += [str(find_listing(domain, entry.docname, code)) for code in entry.codes]
    return shown


def register(app: Sphinx) -> None:
    """Add the marks."""
    app.add_post_transform(ShowMarks)
    app.connect(DEPENDS_EVENT, what_pages_show)
