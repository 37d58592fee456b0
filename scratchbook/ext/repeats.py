"""{key-equations} repeats equations by label, {equations} lists every one of the book: nothing is typed twice."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.ext.boxes import Box
from scratchbook.ext.checked import Finding, find_listing, findings, listing_uri
from scratchbook.ext.directive import Converter, LiveDirective, required
from scratchbook.ext.domain import LiveDomain, domain_of
from scratchbook.ext.equations import ROOM, Equation, labels_of
from scratchbook.ext.incremental import DEPENDS_EVENT
from scratchbook.ext.numbering import chapter_link, chapter_name
from scratchbook.ext.run import OUTCOMES_EVENT

ENVIRONMENT: Final = re.compile(
    r"\s*\\begin\{(aligned|align\*?|split|gathered|gather\*?)\}(.*)\\end\{\1\}\s*", re.DOTALL
)
STATES: Final = {
    "checked": "checked",
    "defined": "defines a name",
    "excused": "excused",
    "failed": "failed",
    "open": "not checked",
    "not run": "not run",
}


class KeyEquations(Box):
    """Repeat equations by label, a row of one as label:2, so that nothing is typed twice."""

    wanted: ClassVar[dict[str, Converter]] = {**Box.wanted}

    def make_nodes(self) -> list[nodes.Node]:
        """Return the box, with a place for each equation that is filled once all chapters are read."""
        labels = [line.strip().lstrip("-* ") for line in self.content if line.strip()]
        if not labels:
            raise ScratchbookError("{key-equations} is empty: list the labels of equations in it, one a line")
        self.content = self.content[:0]
        box = self.make_box(self.read_title(_("Key equations")), "key-equations")
        for number, label in enumerate(labels):
            block = nodes.math_block("", "", label=None, number=None, classes=["key-equation"])
            block["no-wrap"] = block["nowrap"] = False
            block["docname"] = self.env.current_document.docname
            block["scratchbook_key"], block["scratchbook_equation"] = label, ""
            block.source, block.line = self.place.path, self.place.line + number + 1
            box += block
            self.domain.keep(block["docname"], "key-equations", (label, Place(self.place.path, block.line)))
        return [box]


class EquationList(LiveDirective):
    """A list of every equation of the book, with its state, its code and its chapter."""

    has_content = False
    optional_arguments = 0
    wanted: ClassVar[dict[str, Converter]] = {"class": directives.class_option, "name": required}

    def make_nodes(self) -> list[nodes.Node]:
        """Return a place for the table."""
        place = nodes.paragraph("", "", classes=["scratchbook-equations"])
        self.set_source_info(place)
        self.domain.keep(self.env.current_document.docname, "equation-lists", True)
        return [place]


class ShowRepeats(SphinxPostTransform):
    """Fill the places, before references are resolved and before mathematics is drawn."""

    default_priority = 4  # LaTeX makes references to equations its own at 5

    def run(self, **kwargs: Any) -> None:
        """Write repeated equations and tables into one page."""
        self.domain = domain_of(self.env)
        for block in list(self.document.findall(nodes.math_block)):
            if block.get("scratchbook_key"):
                self.fill_key_equation(block)
        for place in list(self.document.findall(nodes.paragraph)):
            if "scratchbook-equations" in place["classes"]:
                place.replace_self(self.lists())

    def fill_key_equation(self, block: nodes.math_block) -> None:
        """Put an equation's TeX into its place, with a link to where it stands."""
        found = find_by_key(self.domain, block["scratchbook_key"])
        if found is None:
            block.parent.remove(block)
            return
        _, equation, latex = found
        block.rawsource = latex
        block += nodes.Text(latex)
        if equation.label:
            block.parent.insert(block.parent.index(block) + 1, self.link(equation.label))

    def link(self, label: str) -> nodes.paragraph:
        """Return a reference by number, which Sphinx resolves."""
        here = self.env.current_document.docname
        reference = addnodes.pending_xref(
            "", refdomain="math", reftype="eq", reftarget=label, refexplicit=False, refwarn=True, refdoc=here
        )
        reference += nodes.literal("", label, classes=["xref", "eq"])
        return nodes.paragraph("", "", reference, classes=["key-equation-link"])

    def lists(self) -> list[nodes.Node]:
        """Return all equations of the book, chapter by chapter in the book's order."""
        by_page: dict[str, list[Finding]] = {}
        for entry in findings(self.domain):
            by_page.setdefault(entry.docname, []).append(entry)
        order = list(self.env.collect_relations())
        shown: list[nodes.Node] = []
        for docname in sorted(by_page, key=lambda name: order.index(name) if name in order else len(order)):
            chapter = nodes.strong("", "", chapter_link(self.env, docname))
            shown.append(nodes.paragraph("", "", chapter, classes=["equation-chapter"]))
            entries = [self.item(entry) for entry in by_page[docname]]
            shown.append(nodes.definition_list("", *entries, classes=["equation-list"]))
        return shown

    def item(self, entry: Finding) -> nodes.definition_list_item:
        """Return one equation with its number, and below it what it was checked against."""
        equation = entry.equation
        tex = unnumbered(equation.latex)
        drawn = nodes.math(tex, tex, scratchbook_display=True)  # as large as in its chapter
        term = nodes.term("", "", plain_lines(equation) if equation.is_plain else drawn)
        if equation.label:
            term.insert(0, [*self.link(equation.label).children, nodes.Text(" ")])
        if equation.excuse:
            story = nodes.paragraph("", f"excused: {equation.excuse}")
        elif entry.state == "checked":
            story = self.code_paragraph(entry)
        elif entry.state == "excused":
            story = nodes.paragraph("", "checked by ", nodes.literal("", dict(equation.request)["check-with"]))
        else:
            story = nodes.paragraph("", STATES[entry.state])
        return nodes.definition_list_item("", term, nodes.definition("", story))

    def code_paragraph(self, entry: Finding) -> nodes.paragraph:
        """Return the names of the code, each a link to where the book shows it."""
        paragraph = nodes.paragraph("", "checked against ")
        for number, code in enumerate(entry.codes):
            listing = find_listing(self.domain, entry.docname, code)
            name = nodes.literal("", code["name"])
            paragraph += nodes.Text(", ") if number else nodes.Text("")
            paragraph += nodes.reference("", "", name, refuri=listing_uri(self.domain, *listing)) if listing else name
        if not entry.codes:
            paragraph += nodes.Text("its own other side")
        if entry.gradients:
            paragraph += nodes.Text(", and its gradient by ")
            for number, symbol in enumerate(entry.gradients):
                paragraph += nodes.Text(", " if number else "")
                paragraph += nodes.math(symbol, symbol)
        return paragraph


def plain_lines(equation: Equation) -> nodes.literal:
    """Return formulas in plain text as they may stand in a line, without what is said beside them."""
    text = "; ".join(line.partition("#")[0].strip() for line in equation.latex.splitlines())
    return nodes.literal(text, text)


def unnumbered(latex: str) -> str:
    """Return an equation as it may stand in a line: TeX has no rows there but in `aligned`."""
    tex = re.sub(r"\\(begin|end)\{(?:align|split|equation|gather)\*?\}", r"\\\1{aligned}", latex.strip()).rstrip(" .,")
    return tex if r"\begin{" in tex or "\\\\" not in tex else rf"\begin{{aligned}}{tex}\end{{aligned}}"


def find_by_key(domain: LiveDomain, key: str) -> tuple[str, Equation, str] | None:
    """Find an equation by its label, a row of it by label:2, or a formula by the way it begins."""
    label, _, row = key.partition(":")
    for docname, equation in domain.kept(ROOM):
        if equation.label and equation.label == label:
            latex = row_of(equation.latex, int(row)) if row.isdigit() else equation.latex if not row else None
            return (docname, equation, latex) if latex else None
    tex = key.strip("`$ ")
    for docname, equation in domain.kept(ROOM):
        if equation.is_formula and equation.latex.startswith(tex):
            return docname, equation, equation.latex
    return None


def row_of(latex: str, number: int) -> str | None:
    """Return one row of an aligned equation, 1-based, without its alignment and its last mark."""
    match = ENVIRONMENT.fullmatch(latex)
    rows = [row for row in split_rows(match[2] if match else latex) if row.strip()]
    if not 1 <= number <= len(rows):
        return None
    return rows[number - 1].replace(r"\&", "\0").replace("&", "").replace("\0", r"\&").strip().rstrip(",. ")


def split_rows(latex: str) -> list[str]:
    r"""Split at \\ that stands outside of inner environments."""
    depth, rows = 0, [""]
    for piece in re.split(r"(\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\\\(?:\[[^\]]*\])?)", latex):
        depth += piece.startswith(r"\begin") - piece.startswith(r"\end")
        if piece.startswith("\\\\") and depth == 0:
            rows.append("")
        else:
            rows[-1] += piece
    return rows


def check_keys(app: Sphinx, docname: str) -> list[Mistake]:
    """Return a mistake for each label in {key-equations} that is no equation's."""
    domain = domain_of(app.env)
    page = domain.pages.get(docname)
    return [
        Mistake("equation", f"no equation '{key}' to repeat; the book has {labels_of(domain)}", place)
        for key, place in (page.kept.get("key-equations", ()) if page else ())
        if find_by_key(domain, key) is None
    ]


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build what each page repeats of the book's equations."""
    domain = domain_of(app.env)
    shown: dict[str, list[Any]] = {}
    for docname, page in domain.pages.items():
        shown[docname] = [str(find_by_key(domain, key)) for key, _ in page.kept.get("key-equations", ())]
        for entry in findings(domain) if page.kept.get("equation-lists") else ():
            listings = [str(find_listing(domain, entry.docname, code)) for code in entry.codes]
            shown[docname] += [chapter_name(app.env, entry.docname), str(entry), *listings]
    return shown


def register(app: Sphinx) -> None:
    """Add both directives."""
    app.add_directive("key-equations", KeyEquations)
    app.add_directive("equations", EquationList)
    app.add_post_transform(ShowRepeats)
    app.connect(OUTCOMES_EVENT, check_keys)
    app.connect(DEPENDS_EVENT, what_pages_show)
