"""{api}: what a file of code offers, from its own text, with the pages that show it.  Imports and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.directives import ObjectDescription
from sphinx.domains.python import PyClasslike, PyFunction, PyMethod
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from scratchbook.core.cells import FileCell
from scratchbook.core.errors import ScratchbookError
from scratchbook.core.outline import Definition, Remark, read_outline
from scratchbook.core.selection import Selection
from scratchbook.core.sources import read_text
from scratchbook.ext.directive import Converter, LiveDirective
from scratchbook.ext.domain import LiveDomain, domain_of, listing_id, page_written
from scratchbook.ext.incremental import DEPENDS_EVENT
from scratchbook.ext.parts import source_lines
from scratchbook.ext.sessions import Sources
from scratchbook.ext.settings import read_settings

KEY: Final = re.compile(r"\b[a-z]+\d{4}[a-z0-9]*\b")  # of a source: zhang2019root
LITERAL: Final = re.compile(r"`([^`]+)`")
DIRECTIVES: Final[dict[str, type[ObjectDescription[Any]]]] = {
    "function": PyFunction,
    "class": PyClasslike,
    "method": PyMethod,
}


class Api(LiveDirective):
    """Describe what a file offers: each function and class with its signature, its docstring and who shows it."""

    has_content = False
    required_arguments = 1
    optional_arguments = 0
    wanted: ClassVar[dict[str, Converter]] = {}

    def make_nodes(self) -> list[nodes.Node]:
        """Return a description of each definition, as Sphinx's own directives for Python make it."""
        path, text = self.read_file()
        outline = read_outline(text, path)
        self.module = PurePosixPath(path).stem
        shown: list[nodes.Node] = list(self.remark_nodes(outline.remarks))
        for definition in outline.definitions:
            shown += self.described(definition, path)
        return shown

    def read_file(self) -> tuple[str, str]:
        """Return where the file is, from the root, and its text; the page is read again when that changes."""
        settings = read_settings(self.config, self.domain.confdir)
        sources = Sources(settings.root, settings.folders)
        cell, mistake = sources.find(FileCell("", self.place, self.arguments[0], Selection()))
        if mistake or not cell.path:
            raise ScratchbookError(mistake.text if mistake else f"there is no file '{cell.file}'", kind="source")
        self.env.note_dependency(str(settings.root / cell.path))
        return cell.path, read_text(sources.contents[cell.path], cell.path)

    def described(self, definition: Definition, path: str) -> list[nodes.Node]:
        """Return one definition, and within it its methods."""
        directive = DIRECTIVES[definition.kind](
            f"py:{definition.kind}", [f"{definition.name}({definition.signature})"], {"module": self.module},
            StringList([], self.place.path), self.lineno, self.content_offset, self.block_text,
            self.state, self.state_machine,
        )  # fmt: skip
        made = directive.run()
        content = next(node for box in made for node in box.findall(addnodes.desc_content))
        content += self.remark_nodes(definition.remarks)
        content += self.where(definition, path)
        for member in definition.members:
            content += self.described(member, path)
        return made

    def where(self, definition: Definition, path: str) -> nodes.paragraph:
        """Return a place for the lines of the file and the pages that show them."""
        place = nodes.paragraph("", "", classes=["api-where"])
        place["scratchbook_api"] = (path, definition.first, definition.last)
        self.set_source_info(place)
        self.domain.keep(self.env.current_document.docname, "api", place["scratchbook_api"])
        return place

    def remark_nodes(self, remarks: tuple[Remark, ...]) -> Iterator[nodes.Node]:
        """Yield the paragraphs of a docstring."""
        for remark in remarks:
            if remark.kind in ("shapes", "example"):
                language = "none" if remark.kind == "shapes" else "pycon"
                yield nodes.literal_block(remark.text, remark.text, language=language, classes=[f"api-{remark.kind}"])
                continue
            paragraph = nodes.paragraph("", "", classes=[f"api-{remark.kind}"])
            paragraph += self.source_nodes(remark.text) if remark.kind == "source" else literal_nodes(remark.text)
            self.set_source_info(paragraph)
            yield paragraph

    def source_nodes(self, text: str) -> Iterator[nodes.Node]:
        """Yield the sources, each key as a citation where the project has them."""
        yield nodes.Text(_("Source") + ": ")
        end = 0
        for found in KEY.finditer(text) if "cite" in self.env.domaindata else ():
            yield nodes.Text(text[end : found.start()])
            yield from self.env.domains["cite"].role("t")(  # type: ignore[misc]
                "cite:t", found[0], found[0], self.lineno, self.state.inliner
            )[0]
            end = found.end()
        yield nodes.Text(text[end:])


def literal_nodes(text: str) -> Iterator[nodes.Node]:
    """Yield text, with what stands in backquotes as code."""
    for number, piece in enumerate(LITERAL.split(text)):
        yield nodes.literal("", piece) if number % 2 else nodes.Text(piece)


class FillPlaces(SphinxPostTransform):
    """Say where a definition stands and who shows it, once all pages have been read and run."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        """Fill each place of a page."""
        places = [place for place in self.document.findall(nodes.paragraph) if "scratchbook_api" in place]
        listings = shown_lines(domain_of(self.env)) if places else {}
        for place in places:
            path, first, last = place["scratchbook_api"]
            place += source_lines(self.config.scratchbook_source, path, first, last)
            place += self.pages_of(showing(listings.get(path, []), first))

    def pages_of(self, shown: dict[str, str]) -> Iterator[nodes.Node]:
        """Yield a link to each page that shows the definition, in the book's order."""
        builder, here = domain_of(self.env).builder, page_written(self.env)
        ordered = [docname for docname in self.env.collect_relations() if docname in shown]
        for number, docname in enumerate(ordered or sorted(shown)):
            yield nodes.Text(", " if number else f"; {_('shown in')} ")
            title = nodes.inline("", self.env.titles[docname].astext())
            yield make_refnode(builder, here, docname, listing_id(docname, shown[docname]), title)


def shown_lines(domain: LiveDomain) -> dict[str, list[tuple[frozenset[int], str, str]]]:
    """Return, by file, the lines of it that each cell of the book shows: (lines, page, cell), in page order."""
    shown: dict[str, list[tuple[frozenset[int], str, str]]] = {}
    for docname in sorted(domain.pages):
        for cell, path, numbers in domain.seen_lines(docname):
            shown.setdefault(path, []).append((frozenset(numbers), docname, cell))
    return shown


def showing(listings: list[tuple[frozenset[int], str, str]], line: int) -> dict[str, str]:
    """Return the pages that show a line of a file, each with its first cell that does."""
    shown: dict[str, str] = {}
    for numbers, docname, cell in listings:
        if line in numbers:
            shown.setdefault(docname, cell)
    return shown


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build which pages are named on each page of descriptions."""
    domain = domain_of(app.env)
    described = {docname: found for docname, page in domain.pages.items() if (found := page.kept.get("api"))}
    listings = shown_lines(domain) if described else {}
    return {
        docname: [showing(listings.get(path, []), first) for path, first, _ in found]
        for docname, found in described.items()
    }


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("api", Api)
    app.add_post_transform(FillPlaces)
    app.connect(DEPENDS_EVENT, what_pages_show)
