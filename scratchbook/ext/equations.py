"""{math} with a check, {formula} and {notation}: what an author says about equations.  Leaves cells; evaluates nothing.

A check is a branch cell of its page: it runs after the page's code, in a fork of it, and never changes it.  Its
notation may stand on another page, so its payload is complete only once all chapters are read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.directives.patches import MathDirective
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util.docutils import SphinxTranslator

from scratchbook.core.cells import BranchCell
from scratchbook.core.errors import Mistake, Place
from scratchbook.ext.directive import Converter, LiveDirective, LiveRole, find_spot, first_line, flag, path_from_root
from scratchbook.ext.domain import LiveDomain, domain_of
from scratchbook.ext.incremental import DEPENDS_EVENT
from scratchbook.ext.options import find_options, repeated

if TYPE_CHECKING:
    from scratchbook.core.equation.notation import Function, Notation, Symbol

TASK: Final = "scratchbook.core.equation.branch:run_check"
CHECK_OPTIONS: Final = ("check", "grad", "using", "rtol", "at", "base", "check-with", "where")
SEVERAL: Final = "several stand one a line, in options between two lines of ---"
EXCUSE: Final = "nocheck"
ROOM: Final = "equations"
NOTATIONS: Final = "notations"
WORKED: Final = "worked"


@dataclass(frozen=True)
class Equation:
    """One equation of the book.

    label: "" for one that nobody can refer to.   cell: the id of its check, "" when there is none.
    place: of its first line of TeX.   excuse: why it is not checked, "" when it is or when nobody said.
    request: the author's options, by name.   is_formula: within a sentence.   is_plain: not in TeX, but as in code.
    """

    label: str
    latex: str
    place: Place
    cell: str
    request: tuple[tuple[str, str], ...] = ()
    excuse: str = ""
    is_formula: bool = False
    is_plain: bool = False

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.label or f"at {self.place}"


@dataclass(frozen=True)
class NotationText:
    """The lines of a {notation}.   place: of the first.   is_for_book: every chapter knows it."""

    text: str
    place: Place
    is_for_book: bool


class CheckedMath(MathDirective):
    """Sphinx's own {math}, with the options of a check, which leave no trace in what a reader sees."""

    option_spec: ClassVar[Any] = {
        **MathDirective.option_spec,
        **dict.fromkeys((*CHECK_OPTIONS, EXCUSE), directives.unchanged),
    }

    def run(self) -> list[nodes.Node]:
        """Make Sphinx's nodes, and keep the equation."""
        self.refuse_options()
        options: dict[str, Any] = self.options
        request: dict[str, str] = {name: str(options.pop(name) or "") for name in CHECK_OPTIONS if name in options}
        excuse = options.pop(EXCUSE, None)
        made = super().run()
        block = next((node for node in made if isinstance(node, nodes.math_block)), None)
        if block is not None:
            keep_display(self, block, request, excuse)
        return made

    def refuse_options(self) -> None:
        """Tell of an option of a check that stands twice, of which the parser gives only one, or has no value."""
        given = find_options(self.block_text)
        wrong = {name: "is empty: write its value behind it" for name, raw in self.options.items() if not raw}
        wrong |= {name: "stands twice: take one of them away" for name, _ in repeated(given)}
        place = find_spot(self.env, *self.get_source_info()).place
        mistakes = [
            Mistake("option", f"option '{name}' of {{math}} {wrong[name]}; {SEVERAL}", below(place, offset))
            for name, offset in dict(given).items()
            if name in CHECK_OPTIONS and name in wrong
        ]
        if mistakes:  # and no second message of a check that lacks a part
            domain_of(self.env).page(self.env.current_document.docname).mistakes.extend(mistakes)
            self.options = {name: raw for name, raw in self.options.items() if name not in CHECK_OPTIONS}


def below(place: Place, lines: int) -> Place:
    """Return the place that is so many lines below another."""
    return replace(place, line=place.line + lines)


def keep_display(
    directive: MathDirective, block: nodes.math_block, request: Mapping[str, str], excuse: str | None
) -> None:
    """Keep a displayed equation, and leave its check in the page."""
    domain = domain_of(directive.env)
    docname = directive.env.current_document.docname
    page = domain.page(docname)
    place = find_spot(directive.env, *directive.get_source_info()).place
    first = Place(place.path, place.line if directive.arguments else first_line(directive))
    label = str(block.get("label") or "")
    if text := wrong_excuse(excuse, request):
        page.mistakes.append(Mistake("equation", text, place))
    cell = ""
    if request and excuse is None:
        cell = page.fresh_id(nodes.make_id(f"check-{label}") if label else "check-equation")
        page.cells.append(BranchCell(cell, place, TASK))
    equation = Equation(label, block.astext(), first, cell, tuple(sorted(request.items())), (excuse or "").strip())
    domain.keep(docname, ROOM, equation)
    block["scratchbook_equation"] = cell


def wrong_excuse(excuse: str | None, request: Mapping[str, str]) -> str:
    """Return what is wrong with an excuse: it stands beside a check, or gives no reason; "" for nothing."""
    if excuse is None or (excuse.strip() and not request):
        return ""
    return "an equation is checked or excused, not both" if request else ":nocheck: needs the reason why not"


class Formula(LiveRole):
    """Mathematics in a sentence that is checked, or that defines a name for the equations after it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave the formula and its check."""
        latex = self.rawtext.partition("`")[2].rstrip("`") or self.text
        if not self.spot.is_translated:
            cell = self.page.numbered_id("formula")
            self.page.cells.append(BranchCell(cell, self.spot.place, TASK))
            domain_of(self.env).keep(self.docname, ROOM, Equation("", latex, self.spot.place, cell, is_formula=True))
        return [nodes.math(self.rawtext, latex, classes=["scratchbook-formula"])], []


class NotationTable(LiveDirective):
    """The symbols of a chapter or of the book: a table for the reader, declarations for the checker."""

    optional_arguments = 0
    wanted: ClassVar[dict[str, Converter]] = {"book": flag, "class": directives.class_option}

    def make_nodes(self) -> list[nodes.Node]:
        """Return the table; a line that cannot be read is one message, and the others stay."""
        # Loaded where there is a notation only: it takes a fifth of the time of all our rooms.
        from scratchbook.core.equation.errors import EquationError
        from scratchbook.core.equation.notation import read_notation

        text = "\n".join(self.content)
        place = Place(self.place.path, first_line(self))
        try:
            notation = read_notation(text, read_macros(self.config))
        except EquationError as error:
            self.note("notation", error.text, Place(place.path, place.line + error.row))
            return []
        kept = NotationText(text, place, "book" in self.options)
        self.domain.keep(self.env.current_document.docname, NOTATIONS, kept)
        table = notation_table(notation, self.options.get("class", []))
        self.set_source_info(table)
        for words in table.findall(nodes.paragraph):
            if words.rawsource:  # it is the author's
                self.set_source_info(words)
        return [table]


def read_macros(config: Config) -> dict[str, Any]:
    """Return the page's macros by their names without a backslash, as the checker reads them."""
    return {str(name).lstrip("\\"): body for name, body in config.scratchbook_macros.items()}


def notation_table(notation: Notation, classes: list[str]) -> nodes.table:
    """Return the reader's legend, in the order that the author wrote."""
    entries: list[Symbol | Function] = [*notation.symbols.values(), *notation.functions.values()]
    entries.sort(key=lambda entry: entry.row)
    head = nodes.row("", *map(text_entry, (_("symbol"), _("what it is"), _("in the code"), _("meaning"))))
    rows = [nodes.row("", *notation_cells(entry)) for entry in entries if not getattr(entry, "is_implicit", False)]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (15, 25, 25, 35)), cols=4)
    group += [nodes.thead("", head), nodes.tbody("", *rows)]
    return nodes.table("", group, classes=["scratchbook-notation", *classes])


def notation_cells(entry: Symbol | Function) -> Iterator[nodes.entry]:
    """Yield the cells of one symbol."""
    kind = getattr(entry, "kind", None)  # a function has none
    yield nodes.entry("", nodes.paragraph("", "", nodes.math(entry.latex, entry.latex)))
    yield text_entry(kind.said if kind else _("function"))
    yield nodes.entry("", nodes.paragraph("", "", nodes.literal(entry.code, entry.code)))
    yield nodes.entry("", nodes.paragraph(entry.meaning, entry.meaning))  # which catalogues hold


def text_entry(text: str) -> nodes.entry:
    """Return a cell of a table."""
    return nodes.entry("", nodes.paragraph("", text))


def find_unchecked(app: Sphinx, doctree: nodes.document) -> None:
    """Where every equation must be checked, tell of each display that is neither checked nor excused."""
    domain, docname = domain_of(app.env), app.env.current_document.docname
    known = {equation.place.line for equation in page_equations(domain, docname)}
    for block in doctree.findall(nodes.math_block):
        if "scratchbook_equation" in block:
            continue
        source = str(block.source or app.env.doc2path(docname))
        place = Place(path_from_root(app.env, source), block.line or 1)
        if place.line not in known:
            label = "" if "amsmath" in block["classes"] else str(block.get("label") or "")
            domain.keep(docname, ROOM, Equation(label, block.astext(), place, ""))


def page_equations(domain: LiveDomain, docname: str) -> list[Equation]:
    """Return the equations of one page, in page order."""
    page = domain.pages.get(docname)
    return list(page.kept.get(ROOM, ())) if page else []


def labels_of(domain: LiveDomain) -> str:
    """Return the labels of the book's equations, for a message."""
    labels = {equation.label for _, equation in domain.kept(ROOM) if equation.label}
    return ", ".join(sorted(labels)) or "none with a label"


def complete_checks(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Give each check all that it needs, once every chapter is read."""
    domain = domain_of(env)
    macros = sorted(map(list, read_macros(app.config).items()))
    notations_of = partial(notation_payloads, list(domain.kept(NOTATIONS)))
    for docname, page in sorted(domain.pages.items()):
        if not page.kept.get(ROOM) and not page.kept.get(WORKED):
            continue
        payloads = dict(check_payloads(page_equations(domain, docname), notations_of(docname), macros))
        payloads |= dict(worked_payloads(domain, docname, notations_of, macros))
        page.cells = [
            replace(cell, payload=payloads[cell.id]) if isinstance(cell, BranchCell) and cell.id in payloads else cell
            for cell in page.cells
        ]
    return []


def notation_payloads(kept: list[tuple[str, NotationText]], docname: str) -> list[dict[str, Any]]:
    """Return the book's notation, then the chapter's own, which may override it aloud."""
    book = [text for _, text in kept if text.is_for_book]
    own = [text for where, text in kept if where == docname and not text.is_for_book]
    return [notation_payload(text) for text in (*book, *own)]


def notation_payload(text: NotationText) -> dict[str, Any]:
    """Return a notation as plain data, without the words for the reader: to change those is to check nothing anew."""
    from scratchbook.core.equation.notation import split_meaning

    declared = "\n".join(split_meaning(line)[0] for line in text.text.split("\n"))
    return {"text": declared, "path": text.place.path, "line": text.place.line}


def worked_payloads(
    domain: LiveDomain, docname: str, notations_of: Callable[[str], list[dict[str, Any]]], macros: list[list[Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (cell, payload) of each {worked} of a page: its equation may stand on another, or nowhere."""
    for item in domain.pages[docname].kept.get(WORKED, ()):
        found = find_equation(domain, item.label)
        if found is None:
            yield item.cell, {}  # what an earlier build gave it is no longer true
            continue
        where, equation = found
        formulas = [replace(other, cell="") for other in page_equations(domain, where) if other.is_formula]
        wanted = replace(equation, cell=item.cell)
        for cell, payload in check_payloads([*formulas, wanted], notations_of(where), macros):
            yield cell, {**payload, "values": item.values, "index": item.index, "digits": item.digits}


def find_equation(domain: LiveDomain, label: str) -> tuple[str, Equation] | None:
    """Return the (page, equation) of a label."""
    return next(((docname, found) for docname, found in domain.kept(ROOM) if found.label == label), None)


def check_payloads(
    equations: list[Equation], notations: list[dict[str, Any]], macros: list[list[Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (cell, payload): an equation may use what the formulas of its page define.

    Positions say which formulas stand above and which below.  They are no lines, since those move with the prose.
    """
    lines = sorted(item.place.line for item in equations if item.is_formula)

    def position(place: Place) -> int:
        return bisect_left(lines, place.line) + bisect_right(lines, place.line)

    formulas = [[item.latex, item.place.path, position(item.place)] for item in equations if item.is_formula]
    for equation in equations:
        if equation.cell:
            yield (
                equation.cell,
                {
                    "label": equation.label,
                    "latex": equation.latex,
                    "path": equation.place.path,
                    "line": equation.place.line,
                    "position": position(equation.place),
                    "notations": notations,
                    "macros": macros,
                    "formulas": formulas,
                    "request": dict(equation.request),
                    "is_formula": equation.is_formula,
                    "is_plain": equation.is_plain,
                },
            )


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build what each page shows of its checks."""
    domain = domain_of(app.env)
    shown: defaultdict[str, list[Any]] = defaultdict(list)
    for docname, equation in domain.kept(ROOM):
        outcomes = [str(outcome) for outcome in domain.cell_outcomes(docname, equation.cell)]
        shown[docname].append([equation.cell, equation.excuse, outcomes])
    return shown


def skip(writer: SphinxTranslator, node: nodes.Element) -> None:
    """Write nothing."""
    raise nodes.SkipNode


def register(app: Sphinx) -> None:
    """Put our {math} in the place of Sphinx's, and add what belongs to it."""
    app.add_directive("math", CheckedMath, override=True)
    app.add_directive("notation", NotationTable)
    app.add_role("formula", Formula())
    app.connect("doctree-read", find_unchecked)
    app.connect("env-updated", complete_checks, priority=400)
    app.connect(DEPENDS_EVENT, what_pages_show)
