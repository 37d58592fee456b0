"""Fill the placeholders with Sphinx's own nodes, once outcomes are known.  Knows no code and no author's syntax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import dropwhile
from typing import Any, ClassVar, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives.code import dedent_lines
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.core.cells import CellOutcome, State
from scratchbook.core.errors import ScratchbookError
from scratchbook.ext.domain import Slot, domain_of, output_id
from scratchbook.ext.figures import figure_nodes
from scratchbook.ext.live import read_emphasis
from scratchbook.ext.states import Variant, show_states, show_states_inline, state_control

NOT_RUN: Final = "Not run, since something before it on this page failed."


class FillSlots(SphinxPostTransform):
    """Put in what the sessions gave; before references are resolved, since a cell knows none.

    form: what the builder can show; see `figures` and `StateSwitch`.
    """

    default_priority = 5
    form: ClassVar[str] = "plain"

    def run(self, **kwargs: Any) -> None:
        """Replace each placeholder of the document."""
        fillers: dict[str, Callable[[nodes.Element, Slot], list[nodes.Node]]] = {
            "listing": self.fill_listing,
            "output": self.fill_output,
            "plain output": self.fill_plain_output,
            "value": self.fill_value,
            "claim": self.fill_claim,
            "states": self.fill_states,
        }
        for node in list(self.document.findall(has_slot)):
            assert isinstance(node, nodes.Element)
            slot: Slot = node.attributes.pop("scratchbook")
            node.attributes.pop("translatable", None)
            replace(node, fillers[slot.shows](node, slot))

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
        variants: list[Variant] = []
        states = [state for state, _ in self.outcomes(slot, slot.cells[0])]
        for number, state in enumerate(states):
            given = [self.outcomes(slot, cell)[number][1] for cell in slot.cells]
            variants.append((state, list(self.output_nodes(given, slot, node))))
        content = show_states(variants)
        if not content:
            return []
        box = nodes.container("", self.label(slot), *content, classes=["scratchbook-output"], ids=node["ids"])
        box.source, box.line = node.source, node.line
        return [box]

    def label(self, slot: Slot) -> nodes.paragraph:
        """Return the line above an output; where there are links, it is its own permanent anchor."""
        if self.form != "html":
            return nodes.paragraph("", "Output", classes=["scratchbook-label"])
        link = nodes.reference("", "Output", refid=output_id(slot.page, slot.label), internal=True)
        return nodes.paragraph("", "", link, classes=["scratchbook-label"])

    def output_nodes(self, given: list[CellOutcome | None], slot: Slot, node: nodes.Element) -> Iterator[nodes.Node]:
        """Yield the nodes of one state: the text of all cells in order, then figures and tables, then failures."""
        known = [outcome for outcome in given if outcome]
        parts = [part for outcome in known for part in outcome.parts]
        if not slot.options.get("hidden"):
            text = "".join(part.data["text"] for part in parts if part.kind in ("text", "value")).rstrip()
            if text:
                yield text_block(text, node)
            cut = sum(part.data.get("cut", 0) for part in parts if part.kind == "text")
            if cut:
                yield nodes.paragraph("", f"… {cut:,} bytes more are not shown.", classes=["scratchbook-cut"])
            for outcome in known:
                yield from figure_nodes(outcome, slot.options.get("alt", ""), self.form, self.env)
            yield from (table_node(part.data) for part in parts if part.kind == "table")
        failed = next((outcome for outcome in known if outcome.status == "failed" and outcome.mistakes), None)
        if failed:
            yield failure(failed)
            return
        if any(outcome.status == "not run" for outcome in known):
            yield nodes.paragraph("", NOT_RUN, classes=["scratchbook-not-run"])

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
                text = node.astext() if outcome is None else "(value missing)"
                shown = nodes.inline("", text, classes=["scratchbook-failure"] if outcome else ["scratchbook-unknown"])
            else:
                shown = nodes.inline("", value["text"], classes=node["classes"])
            variants.append((state, [shown]))
        return show_states_inline(variants, self.form)

    def fill_claim(self, node: nodes.Element, slot: Slot) -> list[nodes.Node]:
        """Show nothing while the claim holds, and say so to the reader when it does not."""
        found = self.outcomes(slot, slot.cells[0])
        if any(outcome and outcome.status == "failed" for _, outcome in found):
            return [nodes.inline("", "(this was not confirmed)", classes=["scratchbook-failure"])]
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


def replace(node: nodes.Element, filled: list[nodes.Node]) -> None:
    """Put nodes where a placeholder stood; a caption with nothing under it goes with it."""
    parent = node.parent
    if filled == [node]:
        return
    if not filled and isinstance(parent, nodes.container) and parent.get("literal_block"):
        parent.parent.remove(parent)
        return
    parent.replace(node, filled)  # an empty list removes the node


def listing_blocks(node: nodes.Element, listing: dict[str, Any], options: dict[str, Any]) -> Iterator[nodes.Node]:
    """Yield the code block, in pieces where its line numbers are shown and jump."""
    lines, numbers = listing["text"].rstrip("\n").split("\n"), list(listing["numbers"])
    spec = options.get("emphasize")
    emphasized = set(read_emphasis(spec, len(lines))) if spec and is_within(spec, len(lines)) else set()
    for first, last in pieces(numbers, whole=not node.get("linenos") or options.get("start") is not None):
        block = node.deepcopy() if first else node
        text = "\n".join(lines[first:last])
        block.rawsource = text
        block.children = []
        block += nodes.Text(text)
        block["highlight_args"] = dict(node["highlight_args"])
        if block.get("linenos"):
            block["highlight_args"]["linenostart"] = options.get("start") or numbers[first]
        marked = [line - first for line in sorted(emphasized) if first < line <= last]
        if marked:
            block["highlight_args"]["hl_lines"] = marked
        if first:
            block["ids"], block["names"] = [], []
            block["classes"] = [*block["classes"], "scratchbook-continued"]
        yield block


def plain_lines(outcome: CellOutcome) -> list[str]:
    """Return printed lines without blank lines around them."""
    text = "".join(part.data["text"] for part in outcome.parts if part.kind == "text")
    return list(dropwhile(lambda line: not line.strip(), text.rstrip().splitlines()))


def is_within(spec: str, count: int) -> bool:
    """Whether emphasized lines exist; where they do not, `promises` has said so."""
    try:
        read_emphasis(spec, count)
    except ScratchbookError:
        return False
    return True


def pieces(numbers: list[int], *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield the (first, last) index of each run of following line numbers; one run when `whole`."""
    first = 0
    for index in range(1, len(numbers)):
        if not whole and numbers[index] != numbers[index - 1] + 1:
            yield first, index
            first = index
    yield first, len(numbers)


def text_block(text: str, node: nodes.Element) -> nodes.literal_block:
    """Return printed text as a block without highlighting."""
    block = nodes.literal_block(text, text, language="none", classes=["scratchbook-text"])
    block.source, block.line = node.source, node.line
    return block


def table_node(data: dict[str, Any]) -> nodes.table:
    """Return rows of text as a table."""
    rows, header = data["rows"], data.get("header")
    every = [*([header] if header else []), *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(every[0]) if every else 0)]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=max(width, 1)) for width in widths), cols=len(widths))
    if header:
        group += nodes.thead("", table_row(header))
    group += nodes.tbody("", *map(table_row, rows))
    return nodes.table("", group, classes=["scratchbook-table"])


def table_row(cells: list[str]) -> nodes.row:
    """Return one row of text."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))


def failure(outcome: CellOutcome) -> nodes.Node:
    """Return the box that tells the reader that code failed here."""
    if outcome.status == "not run":
        return nodes.paragraph("", NOT_RUN, classes=["scratchbook-not-run"])
    text = outcome.mistakes[0].text if outcome.mistakes else "it gave nothing"
    body = nodes.paragraph("", text)
    return nodes.admonition("", nodes.title("", "This block failed"), body, classes=["scratchbook-failure"])


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
    for transform in (FillSlots, FillSlotsForHtml, FillSlotsForEpub, FillSlotsForLatex):
        app.add_post_transform(transform)
