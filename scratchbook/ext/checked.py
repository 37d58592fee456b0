"""What became of the checks: marks beside numbers, {key-equations}, the page of all equations, their count.

A mark is quiet: the equation looks as it would without a check, and beside its number stands what it was checked
against, with a link to that code on the page.  Formulas in plain text have theirs at their right end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.core.cells import FileCell
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.ext.boxes import Box
from scratchbook.ext.directive import Converter, LiveDirective, required
from scratchbook.ext.domain import LiveDomain, domain_of, listing_id
from scratchbook.ext.equations import ROOM, Equation, page_equations
from scratchbook.ext.incremental import DEPENDS_EVENT
from scratchbook.ext.mathematics import Mark
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


@dataclass(frozen=True)
class Finding:
    """One equation and what is known of it.   state: a key of STATES.   verdict: of its check, as plain data."""

    docname: str
    equation: Equation
    state: str
    verdict: dict[str, Any]

    @property
    def codes(self) -> list[dict[str, Any]]:
        """The functions that it was checked against: {"name", "path", "line"}."""
        return list(self.verdict.get("code", ()))

    @property
    def gradients(self) -> list[str]:
        """The names by which its derivative was checked too."""
        return list(self.verdict.get("gradients", ()))


def findings(domain: LiveDomain) -> Iterator[Finding]:
    """Yield every equation of the book, by page, in page order."""
    for docname, equation in domain.kept(ROOM):
        yield entry_of(domain, docname, equation)


def entry_of(domain: LiveDomain, docname: str, equation: Equation) -> Finding:
    """Return what is known of one equation."""
    outcome = (
        next((found for _, found in domain.cell_outcomes(docname, equation.cell)), None) if equation.cell else None
    )
    verdict = (outcome.part("verdict") if outcome else None) or {}
    if equation.excuse:
        return Finding(docname, equation, "excused", verdict)
    if not equation.cell:
        return Finding(docname, equation, "open", verdict)
    if outcome is None or outcome.status == "not run":
        return Finding(docname, equation, "not run", verdict)
    if outcome.status == "failed" or not verdict:
        return Finding(docname, equation, "failed", verdict)
    if dict(equation.request).get("check-with"):
        return Finding(docname, equation, "excused", verdict)
    return Finding(docname, equation, str(verdict.get("state", "checked")), verdict)


def equation_mistakes(domain: LiveDomain) -> dict[Equation, list[str]]:
    """Return what is wrong with each equation that anything is wrong with."""
    found: dict[Equation, list[str]] = {}
    for docname, equation in domain.kept(ROOM):
        texts = [mistake.text for mistake in domain.checked.get(docname, ()) if mistake.place == equation.place]
        for _, outcome in domain.cell_outcomes(docname, equation.cell) if equation.cell else ():
            texts += [f"{mistake.text}\n{mistake.detail}".rstrip() for mistake in (outcome.mistakes if outcome else ())]
        if texts:
            found[equation] = texts
    return found


def check_equations(app: Sphinx, docname: str) -> list[Mistake]:
    """Return what only the whole book can show: an equation without a check, a check of code that nobody sees."""
    domain = domain_of(app.env)
    mistakes = []
    for equation in page_equations(domain, docname):
        entry = entry_of(domain, docname, equation)
        if entry.state == "open" and app.config.scratchbook_equations == "all" and not equation.is_formula:
            text = f"equation {equation.name} is neither checked nor excused; add :check: or :nocheck: with the reason"
            mistakes.append(Mistake("equation", text, equation.place))
        for code in entry.codes:
            if find_listing(domain, docname, code) is None:
                text = f"equation {equation.name} is checked against {code['name']}, which no page shows"
                choice = f"show its lines of {code['path']} with {{live}}, or check it against what the book shows"
                mistakes.append(Mistake("equation", f"{text}; {choice}", equation.place))
    return mistakes


def find_listing(domain: LiveDomain, docname: str, code: dict[str, Any]) -> tuple[str, str] | None:
    """Return the (page, cell) that shows the first line of a function, on its own page if it is there."""
    for where in sorted(domain.pages, key=lambda name: (name != docname, name)):
        for cell in domain.pages[where].cells:
            if isinstance(cell, FileCell) and shows_line(domain, where, cell, code):
                return where, cell.id
    return None


def shows_line(domain: LiveDomain, docname: str, cell: FileCell, code: dict[str, Any]) -> bool:
    """Whether a listing holds a line."""
    for _, outcome in domain.cell_outcomes(docname, cell.id):
        listing = outcome.part("listing") if outcome else None
        if listing and listing["path"] == code["path"] and code["line"] in listing["numbers"]:
            return True
    return False


class KeyEquations(Box):
    """Repeat equations by label, a row of one as label:2, so that nothing is typed twice."""

    wanted: ClassVar[dict[str, Converter]] = {**Box.wanted}

    def make_nodes(self) -> list[nodes.Node]:
        """Return the box, with a place for each equation that is filled once all chapters are read."""
        labels = [line.strip().lstrip("-* ") for line in self.content if line.strip()]
        if not labels:
            raise ScratchbookError("{key-equations} is empty: list the labels of equations in it, one a line")
        self.content = self.content[:0]
        box = self.make_box(self.read_title("Key equations"), "key-equations")
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


class ShowChecks(SphinxPostTransform):
    """Fill the places, before references are resolved and before mathematics is drawn."""

    default_priority = 4  # LaTeX makes references to equations its own at 5

    def run(self, **kwargs: Any) -> None:
        """Write marks, repeated equations and tables into one page."""
        self.domain = domain_of(self.env)
        for block in list(self.document.findall(nodes.math_block)):
            if block.get("scratchbook_key"):
                self.fill_key_equation(block)
            elif block.get("scratchbook_equation"):
                self.mark(block)
        for beside in list(self.document.findall(nodes.container)):
            if beside.get("scratchbook_equation") and self.domain.builder.format == "html":
                self.mark_beside(beside)
        for place in list(self.document.findall(nodes.paragraph)):
            if "scratchbook-equations" in place["classes"]:
                place.replace_self(self.lists())

    def mark(self, block: nodes.math_block) -> None:
        """Say beside the number what the equation was checked against."""
        mark = self.mark_of(block)
        if mark:
            block["scratchbook_mark"] = mark

    def mark_beside(self, formulas: nodes.container) -> None:
        """Say beside formulas in plain text what they were checked against."""
        mark = self.mark_of(formulas)
        if mark and mark["uri"]:
            look = {"classes": ["equation-mark"], "reftitle": mark["title"]}
            link = nodes.reference("", mark["text"], refuri=mark["uri"], internal=True, **look)
            formulas += nodes.paragraph("", "", link, classes=["equation-side"])

    def mark_of(self, node: nodes.Element) -> Mark | None:
        """Return what stands beside an equation that was checked; nothing for any other."""
        docname = self.page_of(node)
        found = next(
            (eq for eq in page_equations(self.domain, docname) if eq.cell == node["scratchbook_equation"]), None
        )
        entry = entry_of(self.domain, docname, found) if found else None
        if entry is None or entry.state != "checked" or not entry.codes:
            return None
        names = ", ".join(code["name"] for code in entry.codes)
        listing = find_listing(self.domain, docname, entry.codes[0])
        uri = self.listing_uri(*listing) if listing else ""
        return {"text": f"✓ {names}", "title": story_of(entry), "uri": uri}

    def listing_uri(self, docname: str, cell: str) -> str:
        """Return the address of a listing, seen from the page that is being written."""
        here = self.env.current_document.docname
        target = listing_id(docname, cell)
        builder = self.domain.builder
        if builder.name == "singlehtml" or docname == here:
            return f"#{target}"
        return f"{builder.get_relative_uri(here, docname)}#{target}"

    def page_of(self, node: nodes.Node) -> str:
        """Return the page that a node was read from: a book in one file is many pages."""
        while node is not None:
            if isinstance(node, addnodes.start_of_file):
                return str(node["docname"])
            node = node.parent
        return self.env.current_document.docname

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
        reference = self.reference("math", "eq", label)
        reference += nodes.literal("", label, classes=["xref", "eq"])
        return nodes.paragraph("", "", reference, classes=["key-equation-link"])

    def reference(self, domain: str, kind: str, target: str) -> addnodes.pending_xref:
        """Return a reference that Sphinx resolves later."""
        here = self.env.current_document.docname
        return addnodes.pending_xref(
            "", refdomain=domain, reftype=kind, reftarget=target, refexplicit=False, refwarn=True, refdoc=here
        )

    def lists(self) -> list[nodes.Node]:
        """Return all equations of the book, chapter by chapter in the book's order."""
        by_page: dict[str, list[Finding]] = {}
        for entry in findings(self.domain):
            by_page.setdefault(entry.docname, []).append(entry)
        order = list(self.env.collect_relations())
        shown: list[nodes.Node] = []
        for docname in sorted(by_page, key=lambda name: order.index(name) if name in order else len(order)):
            chapter = self.reference("std", "doc", f"/{docname}")
            chapter += nodes.inline("", docname)
            shown.append(nodes.paragraph("", "", nodes.strong("", "", chapter), classes=["equation-chapter"]))
            entries = [self.item(entry) for entry in by_page[docname]]
            shown.append(nodes.definition_list("", *entries, classes=["equation-list"]))
        return shown

    def item(self, entry: Finding) -> nodes.definition_list_item:
        """Return one equation with its number, and below it what it was checked against."""
        equation = entry.equation
        tex = unnumbered(equation.latex)
        drawn = nodes.math(tex, tex, scratchbook_tex=rf"\displaystyle {tex}")  # as large as in its chapter
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
            paragraph += nodes.reference("", "", name, refuri=self.listing_uri(*listing)) if listing else name
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


def story_of(entry: Finding) -> str:
    """Return the whole of what was checked, in a sentence."""
    names = ", ".join(code["name"] for code in entry.codes)
    draws = entry.verdict.get("draws", 0)
    story = f"Checked against {names} with {draws} random draws"
    return f"{story}; the gradient by {', '.join(entry.gradients)} too" if entry.gradients else story


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
    labels = sorted(equation.label for _, equation in domain.kept(ROOM) if equation.label)
    return [
        Mistake(
            "equation", f"no equation '{key}' to repeat; the book has {', '.join(labels) or 'none with a label'}", place
        )
        for key, place in (page.kept.get("key-equations", ()) if page else ())
        if find_by_key(domain, key) is None
    ]


def depend_on_all(app: Sphinx, docname: str) -> list[Any]:
    """Return what a page shows of the book's equations; see `incremental`."""
    domain = domain_of(app.env)
    page = domain.pages.get(docname)
    if page is None:
        return []
    shown: list[Any] = [str(find_by_key(domain, key)) for key, _ in page.kept.get("key-equations", ())]
    lists_all = bool(page.kept.get("equation-lists"))
    own = (entry_of(domain, docname, equation) for equation in page_equations(domain, docname))
    for entry in findings(domain) if lists_all else own:
        shown += [str(entry)] if lists_all else []
        shown += [str(find_listing(domain, entry.docname, code)) for code in entry.codes]
    return shown


def closing_line(domain: LiveDomain) -> str:
    """Return the count of the book's equations and of what became of them."""
    entries = list(findings(domain))
    count = Counter(entry.state for entry in entries)
    displays = sum(not entry.equation.is_formula for entry in entries)
    formulas = len(entries) - displays
    gradients = sum(len(entry.gradients) for entry in entries)
    total = f"{displays} equation{'s' * (displays != 1)} and {formulas} formula{'s' * (formulas != 1)}"
    checked = count["checked"] + count["defined"]
    unknown = count["open"] + count["not run"]
    rest = f", {unknown} not checked" if unknown else ""
    return (
        f"{total}: {checked} checked, {count['excused']} excused, {count['failed']} failed{rest}; {gradients} gradients"
    )


def register(app: Sphinx) -> None:
    """Add what readers see of the checks."""
    app.add_directive("key-equations", KeyEquations)
    app.add_directive("equations", EquationList)
    app.add_post_transform(ShowChecks)
    app.connect(OUTCOMES_EVENT, check_equations)
    app.connect(OUTCOMES_EVENT, check_keys)
    app.connect(DEPENDS_EVENT, depend_on_all)
