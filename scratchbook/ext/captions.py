"""Captions with a value in them: what a reference to one shows.  Sphinx notes that text before anything has run."""

from __future__ import annotations

from dataclasses import dataclass

from docutils import nodes
from sphinx.environment import BuildEnvironment

from scratchbook.ext.domain import LiveDomain, Slot, domain_of


@dataclass(frozen=True)
class Caption:
    """The text of a caption in pieces.

    names: of the figure, table or block that it belongs to.   pieces: a text, or a cell's id and its expression.
    """

    names: tuple[str, ...]
    pieces: tuple[tuple[str, str], ...]


def keep_caption(domain: LiveDomain, docname: str, block: nodes.Element) -> None:
    """Keep a caption that a value stands in, if anything can refer to it."""
    names = block.parent["names"] if isinstance(block, nodes.caption | nodes.title) else ()
    if names:
        pieces = tuple(piece_of(text) for text in block.findall(nodes.Text))
        domain.keep(docname, "captions", Caption(tuple(names), pieces))


def piece_of(text: nodes.Text) -> tuple[str, str]:
    """Return (cell, expression) for the text of a value, ("", text) for any other."""
    slot = text.parent.get("scratchbook")
    return (slot.cells[0] if isinstance(slot, Slot) else "", text.astext())


def fill_captions(env: BuildEnvironment) -> None:
    """Give references the words that the reader sees in the caption."""
    domain, labels = domain_of(env), env.domains.standard_domain.labels
    for docname, caption in domain.kept("captions"):
        text = "".join(shown_piece(domain, docname, *piece) for piece in caption.pieces)
        for name in caption.names:
            if name in labels and labels[name][0] == docname:
                labels[name] = (docname, labels[name][1], text)


def shown_piece(domain: LiveDomain, docname: str, cell: str, text: str) -> str:
    """Return the words of one piece: of a value that of the first state, or its expression while it is not known."""
    outcomes = domain.cell_outcomes(docname, cell) if cell else []
    value = next((value for _, outcome in outcomes if outcome and (value := outcome.part("value"))), None)
    return str(value["text"]) if value else text
