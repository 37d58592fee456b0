"""Make Sphinx's own nodes of what a cell gave: listings, text, tables, failures.  Knows no page and no state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import Any, Final

from docutils import nodes
from sphinx.locale import _ as translate

from scratchbook.core.cells import CellOutcome
from scratchbook.core.errors import ScratchbookError
from scratchbook.ext.live import read_emphasis
from scratchbook.ext.settings import fill_address

NUMBER: Final = re.compile(r"[-+]?(\d[\d,]*(\.\d*)?|\.\d+)(e[-+]?\d+)?\s?%?|[-+]?(inf|nan)")


def not_run() -> str:
    """Say why there is no output, in the language of the build."""
    return translate("Not run, since something before it on this page failed.")


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


def source_lines(address: str, path: str, first: int, last: int) -> nodes.Node:
    """Return a file and its lines in words, as a link where the project says to what (`scratchbook_source`)."""
    lines = translate("line %d") % first if first == last else translate("lines %d to %d") % (first, last)
    text = f"{path}, {lines}"
    uri = fill_address(address, path, first, last)
    return nodes.reference("", text, refuri=uri, internal=False) if uri else nodes.Text(text)


def origin_node(address: str, path: str, numbers: Sequence[int]) -> nodes.inline:
    """Return where the code of an output stands: its file and its 1-based lines, first to last."""
    return nodes.inline("", "", source_lines(address, path, min(numbers), max(numbers)), classes=["scratchbook-origin"])


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
    numeric = [holds_numbers([row[column] for row in rows]) for column in range(len(widths))]
    if header:
        group += nodes.thead("", table_row(header, numeric))
    group += nodes.tbody("", *(table_row(row, numeric) for row in rows))
    return nodes.table("", group, classes=["scratchbook-table"])


def holds_numbers(cells: list[str]) -> bool:
    """Whether a column has numbers and nothing else, so that its digits should stand below each other."""
    return any(cells) and all(not cell or NUMBER.fullmatch(cell) for cell in cells)


def table_row(cells: list[str], numeric: list[bool]) -> nodes.row:
    """Return one row of text; numbers stand at the right of their column."""
    row = nodes.row()
    for cell, is_number in zip(cells, numeric, strict=True):
        row += nodes.entry("", nodes.paragraph("", cell), classes=["text-right"] if is_number else [])
    return row


def failure(outcome: CellOutcome) -> nodes.Node:
    """Return the box that tells the reader that code failed here."""
    if outcome.status == "not run":
        return nodes.paragraph("", not_run(), classes=["scratchbook-not-run"])
    text = outcome.mistakes[0].text if outcome.mistakes else "it gave nothing"
    body = nodes.paragraph("", text)
    return nodes.admonition("", nodes.title("", translate("This block failed")), body, classes=["scratchbook-failure"])
