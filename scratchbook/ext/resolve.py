"""Fill the placeholders with Sphinx's own nodes, once outcomes are known.  Knows no code and no author's syntax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives.code import dedent_lines
from sphinx.environment import BuildEnvironment
from sphinx.locale import _ as translate
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.core.cells import CellOutcome, CodeCell, FileCell, State
from scratchbook.ext.domain import Slot, domain_of, output_id
from scratchbook.ext.figures import figure_nodes, sweep_figures
from scratchbook.ext.live import read_emphasis
from scratchbook.ext.parts import (
    failure,
    is_within,
    listing_blocks,
    not_run,
    origin_node,
    plain_lines,
    table_node,
    text_block,
)
from scratchbook.ext.states import Variant, show_states, show_states_inline, state_control
from scratchbook.ext.stores import is_idle


class FillSlots(SphinxPostTransform):
    """Put in what the sessions gave; before references are resolved, since a cell knows none.

    form: what the builder can show; see `figures` and `states`.
    """

    default_priority = 5
    form: ClassVar[str] = "plain"

    def run(self, **kwargs: Any) -> None:
        """Replace each placeholder of the document; a builder that shows no output wants captions all the same."""
        if is_idle(domain_of(self.env).builder):
            return
        fillers: dict[str, Callable[[nodes.Element, Slot], list[nodes.Node]]] = {
            "listing": self.fill_listing,
            "output": self.fill_output,
            "plain output": self.fill_plain_output,
            "value": self.fill_value,
            "claim": self.fill_claim,
            "states": self.fill_states,
        }
        for node in reversed(list(self.document.findall(has_slot))):  # a caption before the figure that it belongs to
            assert isinstance(node, nodes.Element)
            slot: Slot = node.attributes.pop("scratchbook")
            node.attributes.pop("translatable", None)
            parent = node.parent
            replace(parent, node, fillers[slot.shows](node, slot))

    def outcomes(self, slot: Slot, cell: str) -> list[tuple[State | None, CellOutcome | None]]:
        """Return what a cell gave, state by state."""
        return domain_of(self.env).cell_outcomes(slot.page, cell)

    def fill_listing(self, node: nodes.Element, slot: Slot) -> list[nodes.Node]:
        """Show the lines of a file, with their numbers in that file."""
        for _, outcome in self.outcomes(slot, slot.cells[0]):
            listing = outcome.part("listing") if outcome else None
            if listing:
                return list(listing_blocks(node, listing, slot.options))
        return []

    def fill_output(self, node: nodes.Element, slot: Slot) -> list[nodes.Node]:
        """Show what the cells gave, labelled and set apart from the code."""
        said: list[Variant] = []
        drawn: list[Variant] = []
        for number, (state, _) in enumerate(self.outcomes(slot, slot.cells[0])):
            given = [self.outcomes(slot, cell)[number][1] for cell in slot.cells]
            known = [outcome for outcome in given if outcome]
            said.append((state, list(self.said_nodes(known, slot, node))))
            drawn.append((state, list(self.drawn_nodes(known, slot, node))))
        content = [*show_states(said), *self.frame(node, slot, show_states(drawn))]
        if not content:
            return []
        anchor = output_id(slot.page, slot.label)
        ids = [anchor, *(name for name in node["ids"] if name != anchor and not is_framed(content, name))]
        parts = [self.label(slot), *self.frozen_note(slot), *self.origin(slot)]
        label = nodes.paragraph("", "", *parts, classes=["scratchbook-label"])
        box = nodes.container("", label, *content, classes=["scratchbook-output"], ids=ids)
        box.source, box.line = node.source, node.line
        return [box]

    def frame(self, node: nodes.Element, slot: Slot, drawn: list[nodes.Node]) -> list[nodes.Node]:
        """Put figures into the author's figure and its caption above tables; without a caption they stand alone."""
        if isinstance(node, nodes.figure) and drawn:
            node.insert(0, nodes.container("", *drawn, classes=["scratchbook-drawing"]))
            return [node]
        if isinstance(node, nodes.table):
            titles = [child for child in node.children if isinstance(child, nodes.title)]
            for number, table in enumerate([table for found in drawn for table in found.findall(nodes.table)], 1):
                if number == 1:
                    table["ids"], table["names"] = node["ids"], node["names"]
                elif self.form == "html":
                    table["ids"] = [same_number(self.env, slot.page, node["ids"], number)]
                if number == 1 or self.form == "html":  # elsewhere each caption would count as one more table
                    table.insert(0, [title.deepcopy() for title in titles])
        return drawn

    def label(self, slot: Slot) -> nodes.Node:
        """Return the word above an output; where there are links, it is its own permanent anchor."""
        if self.form != "html":
            return nodes.Text(translate("Output"))
        return nodes.reference("", translate("Output"), refid=output_id(slot.page, slot.label), internal=True)

    def frozen_note(self, slot: Slot) -> Iterator[nodes.Node]:
        """Yield when and where a stored outcome was run, since this build has not run it."""
        given = [outcome for cell in slot.cells for _, outcome in self.outcomes(slot, cell) if outcome]
        notes = [part.data["frozen"] for outcome in given for part in outcome.parts if "frozen" in part.data]
        if notes:
            yield nodes.inline("", f", run on {'; '.join(dict.fromkeys(notes))}", classes=["scratchbook-frozen"])

    def origin(self, slot: Slot) -> Iterator[nodes.Node]:
        """Yield the file and the lines of the code that made an output, which its page may hide or hold far away."""
        if self.form != "html":
            return
        domain = domain_of(self.env)
        cell = next((cell for cell in domain.pages[slot.page].cells if cell.id == slot.cells[0]), None)
        if isinstance(cell, CodeCell) and cell.code.numbers:
            yield origin_node(self.config.scratchbook_source, cell.code.path, cell.code.numbers)
        for _, outcome in self.outcomes(slot, slot.cells[0])[:1] if isinstance(cell, FileCell) else ():
            listing = outcome.part("listing") if outcome else None
            if listing and listing["numbers"]:
                yield origin_node(self.config.scratchbook_source, listing["path"], listing["numbers"])

    def said_nodes(self, known: list[CellOutcome], slot: Slot, node: nodes.Element) -> Iterator[nodes.Node]:
        """Yield the text of all cells in order, then what went wrong."""
        parts = [part for outcome in known for part in outcome.parts]
        text = "".join(part.data["text"] for part in parts if part.kind in ("text", "value")).rstrip()
        if text and not slot.options.get("hidden"):
            yield text_block(text, node)
            cut = sum(part.data.get("cut", 0) for part in parts if part.kind == "text")
            if cut:
                text = translate("… %s bytes more are not shown.") % f"{cut:,}"
                yield nodes.paragraph("", text, classes=["scratchbook-cut"])
        failed = next((outcome for outcome in known if outcome.status == "failed" and outcome.mistakes), None)
        if failed:
            yield failure(failed)
        elif any(outcome.status == "not run" for outcome in known):
            yield nodes.paragraph("", not_run(), classes=["scratchbook-not-run"])

    def drawn_nodes(self, known: list[CellOutcome], slot: Slot, node: nodes.Element) -> Iterator[nodes.Node]:
        """Yield the figures and tables of all cells."""
        if slot.options.get("hidden"):
            return
        for outcome in known:
            yield from figure_nodes(outcome, slot.options.get("alt", ""), self.form, self.env, node)
            yield from (table_node(part.data) for part in outcome.parts if part.kind == "table")

    def fill_plain_output(self, node: nodes.Element, slot: Slot) -> list[nodes.Node]:
        """Show printed text as sphinx-exec-code does: blank lines around it cut, nothing when there is none."""
        (_, outcome), *_ = self.outcomes(slot, slot.cells[0])
        if outcome is None:
            return []
        if outcome.status != "ok":
            return [failure(outcome)]
        lines = plain_lines(outcome)
        if not lines or slot.options.get("hidden"):
            return []
        if "dedent" in slot.options:
            lines = "".join(dedent_lines([f"{line}\n" for line in lines], slot.options["dedent"])).splitlines()
        spec = slot.options.get("emphasize-lines")
        if spec and is_within(spec, len(lines)):
            node["highlight_args"]["hl_lines"] = read_emphasis(spec, len(lines))
        node.rawsource = "\n".join(lines)
        node.children = []
        node += nodes.Text(node.rawsource)
        return [node]

    def fill_value(self, node: nodes.Element, slot: Slot) -> list[nodes.Node]:
        """Put the number into its sentence."""
        found = self.outcomes(slot, slot.cells[0])
        variants: list[Variant] = []
        for state, outcome in found:
            value = outcome.part("value") if outcome else None
            if value is None:
                text = node.astext() if outcome is None else translate("(value missing)")
                shown = nodes.inline("", text, classes=["scratchbook-failure"] if outcome else ["scratchbook-unknown"])
            else:
                shown = nodes.inline("", value["text"], classes=node["classes"])
            variants.append((state, [shown]))
        return show_states_inline(variants, self.form)

    def fill_claim(self, node: nodes.Element, slot: Slot) -> list[nodes.Node]:
        """Show nothing while the claim holds, and say so to the reader when it does not."""
        found = self.outcomes(slot, slot.cells[0])
        if any(outcome and outcome.status == "failed" for _, outcome in found):
            return [nodes.inline("", translate("(this was not confirmed)"), classes=["scratchbook-failure"])]
        close_gap(node)
        return []

    def fill_states(self, node: nodes.Element, slot: Slot) -> list[nodes.Node]:
        """Show the control, or say in words which states the page has."""
        page = domain_of(self.env).pages.get(slot.page)
        if page is None or page.states is None:
            return []
        node += state_control(slot.page, page.states, self.form)
        return [node]


class FillSlotsForHtml(FillSlots):
    """As HTML: figures inside the page, links to outputs, and a control that switches states."""

    default_priority = 4
    formats = ("html",)
    form = "html"


class FillSlotsForEpub(FillSlots):
    """As EPUB: like HTML, with figures in files of their own and no control, which few readers can switch."""

    default_priority = 3
    builders = ("epub",)
    form = "epub"


class FillSlotsForLatex(FillSlots):
    """As LaTeX: figures as PDF."""

    default_priority = 4
    formats = ("latex",)
    form = "latex"


def has_slot(node: nodes.Node) -> bool:
    """Whether a node waits to be filled."""
    return isinstance(node, nodes.Element) and isinstance(node.get("scratchbook"), Slot)


def replace(parent: nodes.Element, node: nodes.Element, filled: list[nodes.Node]) -> None:
    """Put nodes where a placeholder stood; a caption with nothing under it goes with it."""
    if filled == [node]:
        return
    if not filled and isinstance(parent, nodes.container) and parent.get("literal_block"):
        parent.parent.remove(parent)
        return
    parent.replace(node, filled)  # an empty list removes the node


def same_number(env: BuildEnvironment, page: str, ids: list[str], state: int) -> str:
    """Return an id for a table of another state, under the number of the first."""
    name = f"{ids[0]}-state-{state}" if ids else ""
    numbers = env.toc_fignumbers.get(page, {}).get("table", {})
    if ids and ids[0] in numbers:
        numbers[name] = numbers[ids[0]]
    return name


def is_framed(content: list[nodes.Node], name: str) -> bool:
    """Whether an id stands on a figure or a table already."""
    framed = [found for node in content for found in node.findall(nodes.Element)]
    return any(name in found["ids"] for found in framed)


def close_gap(node: nodes.Element) -> None:
    """Take away the blank before a claim that shows nothing, where none would stand without it."""
    siblings = node.parent.children
    index = siblings.index(node)
    before = siblings[index - 1] if index else None
    after = siblings[index + 1].astext() if index + 1 < len(siblings) else ""
    if isinstance(before, nodes.Text) and (not after or not after[0].isalnum()):
        node.parent.replace(before, nodes.Text(before.rstrip()))


def register(app: Sphinx) -> None:
    """Add the transforms, one for each form."""
    app.connect("build-finished", sweep_figures)
    for transform in (FillSlots, FillSlotsForHtml, FillSlotsForEpub, FillSlotsForLatex):
        app.add_post_transform(transform)
