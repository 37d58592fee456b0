"""Put right what Sphinx's writer and Furo leave inaccessible: doubled anchors, roles of no use, links to nothing."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class UniqueAnchors(SphinxPostTransform):
    """Take away the second of two equal anchors, which Furo makes when it wraps tables and equations."""

    default_priority = 600
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Leave the anchor to what is wrapped, whose number Sphinx finds by it."""
        for wrapper in self.document.findall(nodes.container):
            inner = wrapper.children[0] if len(wrapper.children) == 1 else None
            if isinstance(inner, nodes.table | nodes.math_block) and wrapper["ids"] == inner["ids"]:
                wrapper["ids"] = []


class CitationsAsList(SphinxPostTransform):
    """Show the works of a bibliography as a plain list: docutils gives them roles that browsers no longer know."""

    default_priority = 700
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace each run of neighbouring citations by one list."""
        for citation in list(self.document.findall(nodes.citation)):
            parent = citation.parent
            before = citation.previous_sibling()
            item = as_item(citation)
            if isinstance(before, nodes.bullet_list) and "citation-list" in before["classes"]:
                parent.remove(citation)
                before += item
            else:
                parent.replace(citation, nodes.bullet_list("", item, classes=["citation-list"], bullet="*"))


class LinksInOneFile(SphinxPostTransform):
    """Lead links of a book in one file to what they name: Sphinx 9 writes #document-PAGE#NAME, which is nowhere."""

    default_priority = 800
    builders = ("singlehtml",)

    def run(self, **kwargs: Any) -> None:
        """Leave the name alone."""
        for link in self.document.findall(nodes.reference):
            page, mark, name = str(link.get("refuri", "")).rpartition("#")
            if page.startswith("#document-") and mark:
                link["refuri"] = f"#{name}"


def as_item(citation: nodes.citation) -> nodes.list_item:
    """Return a citation as a list item: its label, links back to where it is cited, and the work."""
    label, *body = citation.children
    shown = nodes.inline("", f"[{label.astext()}]", classes=["citation-label"])
    back = nodes.inline("", "", classes=["citation-back"])
    anchors: list[str] = citation.get("backrefs", [])
    for number, anchor in enumerate(anchors, 1):
        back += [nodes.Text(" "), nodes.reference("", f"↑{number}", refid=anchor, internal=True)]
    item = nodes.list_item("", ids=citation["ids"], classes=["citation"])
    first = body[0] if body and isinstance(body[0], nodes.paragraph) else nodes.paragraph()
    item += nodes.paragraph("", "", shown, nodes.Text(" "), *first.children, back)
    item += [node for node in body if node is not first]
    return item


def register(app: Sphinx) -> None:
    """Add the transforms."""
    app.add_post_transform(UniqueAnchors)
    app.add_post_transform(CitationsAsList)
    app.add_post_transform(LinksInOneFile)
