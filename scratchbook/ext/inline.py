"""{value} and {claim}: code in a sentence.  Leaves cells and placeholders; runs nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from scratchbook.core.cells import ClaimCell, ValueCell
from scratchbook.core.errors import Mistake, Place
from scratchbook.ext.captions import keep_caption
from scratchbook.ext.directive import LiveRole
from scratchbook.ext.domain import Slot, domain_of


class InlineCode(LiveRole):
    """Code in a sentence, from the page's session.   kind: of its cell.   shows: what its place waits for."""

    kind: ClassVar[type[ValueCell] | type[ClaimCell]]
    shows: ClassVar[Literal["value", "claim"]]

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave the cell and its place, with the text that stands there until the outcome is known."""
        cell_id = find_translated(self)
        if cell_id is None:
            cell = self.kind(self.page.numbered_id(self.shows), self.spot.place, self.text)
            self.page.cells.append(cell)
            cell_id = cell.id
        # A plain node: a subclass of it in a heading would stop Sphinx's title collector.
        text = self.text if self.shows == "value" else ""
        node = nodes.inline(self.rawtext, text, classes=[f"scratchbook-{self.shows}"])
        node["scratchbook"] = Slot(self.docname, (cell_id,), self.shows)
        self.set_source_info(node)
        return [node], []


class Value(InlineCode):
    """A number in a sentence."""

    kind, shows = ValueCell, "value"


class Claim(InlineCode):
    """An assertion about the sentence before it: nothing on the page while it holds."""

    kind, shows = ClaimCell, "claim"


class SettleInlines(SphinxTransform):
    """Give each value and claim its own line, and take them out of headings.

    A parser tells the line on which a paragraph begins.  A heading is copied into tables of contents before anything
    has run, so a value in one would show its expression there.
    """

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Move cells to their line; refuse those in headings with one message each."""
        docname, captions = self.env.current_document.docname, []
        self.page = domain_of(self.env).page(docname)
        for node in [found for found in self.document.findall(nodes.inline) if has_inline_slot(found)]:
            slot: Slot = node["scratchbook"]
            index = next((index for index, cell in enumerate(self.page.cells) if cell.id in slot.cells), None)
            if index is None:
                continue
            block, breaks = enclosing_text(node)
            cell = self.page.cells[index]
            place = Place(cell.place.path, cell.place.line + breaks)
            self.page.cells[index] = replace(cell, place=place)
            if isinstance(block, nodes.title) and isinstance(block.parent, nodes.section | nodes.document):
                del self.page.cells[index]
                text = f"{{{slot.shows}}} cannot stand in a title: write it in the sentence below"
                self.page.mistakes.append(Mistake(slot.shows, text, place))
                node.replace_self(nodes.literal("", node.astext()))
            elif block not in captions:
                captions.append(block)
        for block in captions:
            keep_caption(domain_of(self.env), docname, block)


def has_inline_slot(node: nodes.Element) -> bool:
    """Whether an inline node waits for a value or a claim."""
    return isinstance(node.get("scratchbook"), Slot)


def enclosing_text(node: nodes.Element) -> tuple[nodes.Element, int]:
    """Return the paragraph, caption or title around an inline node, and how many line breaks it has before the node."""
    breaks = 0
    while isinstance(node, nodes.Inline) and node.parent is not None:
        siblings = node.parent.children
        breaks += sum(count_breaks(sibling) for sibling in siblings[: siblings.index(node)])
        node = node.parent
    return node, breaks


def count_breaks(node: nodes.Node) -> int:
    """Return how many line breaks of the chapter a node within a sentence has."""
    if isinstance(node, nodes.raw) and "latex" in node["format"]:
        return 0  # a hard break is two nodes, one for each format, and one line
    return node.astext().count("\n")


def find_translated(role: InlineCode) -> str | None:
    """Return the chapter's cell that a translated sentence means: the same expression, nearest to the same line."""
    if not role.spot.is_translated:
        return None
    line = role.spot.place.line
    same = [cell for cell in role.page.cells if isinstance(cell, role.kind) and cell.expression == role.text]
    if not same:
        role.note("value", f"the translation shows '{role.text}', which its chapter does not")
        return ""
    return min(same, key=lambda cell: abs(cell.place.line - line)).id


def register(app: Sphinx) -> None:
    """Add the roles."""
    app.add_role("value", Value())
    app.add_role("claim", Claim())
    app.add_transform(SettleInlines)
