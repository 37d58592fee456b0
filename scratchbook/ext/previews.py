"""Copies of what a page refers to on other pages: equations, listings, figures; a page from a folder can fetch nothing.

They wait in <template> elements, which no reader, search index or printer sees, until the script shows one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from scratchbook.core.katex import Typesetter
from scratchbook.ext.domain import Slot, domain_of
from scratchbook.ext.drawings import UNSAFE, drawing
from scratchbook.ext.figures import inline_svg
from scratchbook.ext.incremental import DEPENDS_EVENT, pages_of
from scratchbook.ext.mathematics import ENGINE, Mathematics, is_chosen

MOST_LINES: Final = 30
HEAVIEST: Final = 60_000  # characters of SVG: a page should not grow by a picture that few will look at


@dataclass(frozen=True)
class Kept:
    """What a preview needs of another page's equation, listing or figure.

    anchor: its id.   tex: of an equation, "" for others.
    cell: of a listing.   cells: that may have drawn a figure.   image: of a figure that is a file, from the sources.
    alt: what a figure shows.
    """

    anchor: str
    tex: str = ""
    cell: str = ""
    cells: tuple[str, ...] = ()
    image: str = ""
    alt: str = ""


def keep_targets(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the equations and listings of a chapter that others may refer to."""
    domain, docname = domain_of(app.env), app.env.current_document.docname
    for block in doctree.findall(nodes.math_block):
        if block["ids"]:
            domain.keep(docname, "previews", Kept(block["ids"][0], block.astext()))
    for listing in doctree.findall(nodes.literal_block):
        slot = listing.get("scratchbook")
        names = [*listing["ids"], *(listing.parent["ids"] if isinstance(listing.parent, nodes.container) else ())]
        if isinstance(slot, Slot) and slot.shows == "listing":
            for anchor in names:
                domain.keep(docname, "previews", Kept(anchor, cell=slot.cells[0]))


def keep_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the figures of a chapter that others may refer to, once Sphinx has found their files."""
    domain, docname = domain_of(app.env), app.env.current_document.docname
    for figure in doctree.findall(nodes.figure):
        slot, image = figure.get("scratchbook"), next(iter(figure.findall(nodes.image)), None)
        for anchor in figure["ids"]:
            if isinstance(slot, Slot):
                domain.keep(docname, "previews", Kept(anchor, cells=slot.cells, alt=slot.options.get("alt", "")))
            elif image is not None and "://" not in image["uri"]:
                domain.keep(docname, "previews", Kept(anchor, image=image["uri"], alt=image.get("alt", "")))


def figure_drawing(app: Sphinx, docname: str, kept: Kept) -> str:
    """Return what a figure shows as HTML, "" when nothing drew it, or when it is too heavy for a copy."""
    found = ""
    for cell in kept.cells:
        for _, outcome in domain_of(app.env).cell_outcomes(docname, cell):
            part = outcome.part("svg") if outcome and not found else None
            found = inline_svg(part["svg"], kept.alt)[0].astext() if part else found
    path = Path(app.srcdir) / kept.image
    if kept.image.endswith(".svg") and path.is_file():
        svg = path.read_text("utf-8", errors="replace")
        found = "" if UNSAFE.search(svg) else drawing(svg, nodes.image("", alt=kept.alt))[0].astext()
    return found if len(found) <= HEAVIEST else ""


def caption_of(env: BuildEnvironment, docname: str, anchor: str) -> tuple[str, str]:
    """Return the number of a figure, "" for none, and its caption."""
    number = env.toc_fignumbers.get(docname, {}).get("figure", {}).get(anchor, ())
    labels = env.domains.standard_domain.labels.values()
    text = next((text for at, name, text in labels if (at, name) == (docname, anchor)), "")
    return (env.config.numfig_format["figure"] % ".".join(map(str, number)) if number else ""), text


def listing_text(env: BuildEnvironment, docname: str, cell: str) -> str:
    """Return the first lines of a listing as its file has them, "" when nothing ran."""
    for _, outcome in domain_of(env).cell_outcomes(docname, cell):
        part = outcome.part("listing") if outcome else None
        if part:
            return "\n".join(part["text"].splitlines()[:MOST_LINES])
    return ""


@dataclass(frozen=True)
class Previews:
    """Writes the templates; draws equations with the mathematics of the build."""

    mathematics: Mathematics

    def add_templates(
        self, app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
    ) -> None:
        """Put a template for each target on another page at the end of the body."""
        if doctree is None or app.builder.format != "html" or app.builder.name in ("epub", "singlehtml"):
            return
        wanted = {str(link["refuri"]) for link in doctree.findall(nodes.reference) if is_far(link)}
        if not wanted:
            return
        leading = {uri.partition("#")[0] for uri in wanted}
        known = {
            f"{uri}#{kept.anchor}": (docname, kept)
            for docname, page in sorted(domain_of(app.env).pages.items())
            if "previews" in page.kept and (uri := app.builder.get_relative_uri(pagename, docname)) in leading
            for kept in page.kept["previews"]
        }
        for uri in sorted(wanted & known.keys()):
            docname, kept = known[uri]
            markup = self.markup(app, docname, kept)
            if markup:
                context["body"] += f'<template data-preview="{escape(uri)}">{markup}</template>\n'
                if kept.tex:
                    app.add_css_file("katex/katex.css")

    def markup(self, app: Sphinx, docname: str, kept: Kept) -> str:
        """Return the copy of one target."""
        if kept.tex:
            if not is_chosen(app):
                return ""
            node = nodes.math_block(kept.tex, kept.tex)
            drawing = self.mathematics.typesetter.draw(self.mathematics.formula(node))
            return f'<div class="math equation"><div class="equation-body">{drawing.markup}</div></div>'
        if kept.cells or kept.image:
            return figure_markup(figure_drawing(app, docname, kept), *caption_of(app.env, docname, kept.anchor))
        text = listing_text(app.env, docname, kept.cell)
        highlighter = app.builder.highlighter  # type: ignore[attr-defined]
        return f'<div class="highlight-python">{highlighter.highlight_block(text, "python")}</div>' if text else ""


def figure_markup(drawn: str, number: str, caption: str) -> str:
    """Return a figure with its number and caption, "" without a drawing."""
    if not drawn:
        return ""
    said = f'<span class="caption-number">{escape(number)} </span>' if number else ""
    return (
        f'<figure><div class="scratchbook-figure scratchbook-drawing">{drawn}</div>'
        f'<figcaption>{said}<span class="caption-text">{escape(caption)}</span></figcaption></figure>'
    )


def is_far(link: nodes.reference) -> bool:
    """Whether a link leads to a place on another page of the site, and its equation does not stand beside it."""
    uri = str(link.get("refuri", ""))
    is_beside = isinstance(link.parent, nodes.term) or "key-equation-link" in link.parent["classes"]
    return bool(link.get("internal")) and "#" in uri and not uri.startswith("#") and not is_beside


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build what each page previews of others, by the names that it refers to."""
    known: defaultdict[str, list[tuple[str, Kept]]] = defaultdict(list)
    for at, kept in domain_of(app.env).kept("previews"):
        known[kept.anchor.removeprefix("equation-").lower()].append((at, kept))

    @cache
    def preview(at: str, kept: Kept) -> list[str]:
        drawn = [figure_drawing(app, at, kept), *caption_of(app.env, at, kept.anchor)] if kept.alt else []
        return [kept.anchor, kept.tex, listing_text(app.env, at, kept.cell) if kept.cell else "", *drawn]

    return {
        docname: [
            preview(at, kept)
            for name in sorted({target.lower() for target in targets} & known.keys())
            for at, kept in known[name]
            if at != docname
        ]
        for docname, targets in pages_of(app.env).targets.items()
    }


def register(app: Sphinx) -> None:
    """Connect the previews.  Their equations were drawn when they were read, so this typesetter finds them stored."""
    room = Previews(Mathematics(Typesetter(ENGINE)))
    app.connect("builder-inited", room.mathematics.open)
    app.connect("doctree-read", keep_targets, priority=400)
    app.connect("doctree-read", keep_figures, priority=900)  # after Sphinx has found the files of images
    app.connect("html-page-context", room.add_templates)
    app.connect("build-finished", room.mathematics.finish)
    if DEPENDS_EVENT in app.events.events:
        app.connect(DEPENDS_EVENT, what_pages_show)
