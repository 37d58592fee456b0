"""Mathematics drawn while the page is built: KaTeX for HTML, MathML for EPUB, the same macros for LaTeX.

The renderer is named "scratchbook"; `html_math_renderer = "mathjax"` in conf.py chooses another and silences this room.
TeX that cannot be drawn is found when a chapter is read, so every builder tells of it, and of each mistake once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final, TypedDict

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.core.katex import Drawing, Formula, Typesetter, katex_macros, latex_macros
from scratchbook.ext.directive import path_from_root
from scratchbook.ext.domain import domain_of
from scratchbook.ext.settings import kept_pieces

logger = logging.getLogger(__name__)
HERE: Final = Path(__file__).parent
ENGINE: Final = HERE / "engine" / "katex.min.js"
DISPLAYS: Final = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\*?\}")
PARTS: Final = {"align": "aligned", "gather": "gathered", "alignat": "alignedat"}
NUMBERING: Final = re.compile(r"\\(?:nonumber|notag)(?![A-Za-z])")
WORDS: Final = re.compile(r"\\(?:operatorname\*?|mathrm|mathsf|text|textrm|mathtt)\s*\{([^{}]*)\}")
PRICE: Final = re.compile(r"\d[\d.,]*(\s+[a-z]{2,}\b.*\s|\s*[-–]|\s.*\s)", re.DOTALL)

# How KaTeX marks the room of a part of a formula; and the room of a line, in ems above and below its base, which
# browsers round to whole pixels.
STRUT: Final = re.compile(r'class="katex-strut" style="height:([\d.]+)em;(?:vertical-align:(-?[\d.]+)em;)?"')
LINE: Final = (0.91, 0.35)
DRAWING: Final = '<span class="katex-html" aria-hidden="true"'
HEIGHT: Final = re.compile(r' style="contain-intrinsic-height:[^"]*"')
DISPLAY: Final = re.compile(r'<div class="(?:math )?equation-body[^>]*>.*?</div>', re.DOTALL)
LETTERS: Final = re.compile(r'<span class="([^"]*)"[^>]*>([^<]+)</span>')
FACE: Final = re.compile(r"\b(?:(?:math|text)(?!normal|rm)[a-z]+|boldsymbol|amsrm|mathnormal)\b")

# The parts of KaTeX's fonts that stand in sentences, and what uses them, see static-katex.
FONTS: Final = {
    "Main-Regular-letters": re.compile(r'class="katex-html"'),
    "Math-Italic-letters": re.compile(r'class="mord mathnormal"[^>]*>[A-Za-z]'),
    "Main-Bold-letters": re.compile(r'class="mord mathbf"[^>]*>[A-Za-z0-9]'),
    "AMS-Regular-sets": re.compile(r'class="mord mathbb"[^>]*>[CENPQRZ]'),
    "SansSerif-Regular-capitals": re.compile(r'class="mord mathsf[^>]*>[A-Z]'),
}

# What KaTeX knows and LaTeX does not: the PDF gets these definitions too.
KATEX_ONLY: Final = {
    "lt": "<", "gt": ">", "N": r"\mathbb{N}", "R": r"\mathbb{R}", "Z": r"\mathbb{Z}", "Complex": r"\mathbb{C}",
    "infin": r"\infty", "isin": r"\in", "empty": r"\emptyset", "exist": r"\exists", "thetasym": r"\vartheta",
    "argmin": r"\operatorname*{arg\,min}", "argmax": r"\operatorname*{arg\,max}",
}  # fmt: skip


class Mark(TypedDict):
    """What stands beside an equation's number; the attribute `scratchbook_mark` of a math_block.

    text: what the reader sees.   title: the whole story, spoken and shown on hover.   uri: where it leads, or "".
    """

    text: str
    title: str
    uri: str


@dataclass
class Mathematics:
    """The typesetter of one build, and what it answers to Sphinx."""

    typesetter: Typesetter
    macros: tuple[tuple[str, str], ...] = ()

    def open(self, app: Sphinx) -> None:
        """Read the macros, and find what earlier builds have drawn."""
        self.typesetter.kept = kept_pieces(app)
        try:
            self.macros = katex_macros(app.config.scratchbook_macros)
        except ScratchbookError:
            self.macros = ()  # `prepare_builder` tells of it

    def check(self, app: Sphinx, doctree: nodes.document) -> None:
        """Draw every formula of a chapter that has been read, and keep a mistake for each that cannot be drawn."""
        if not is_chosen(app):
            return
        mistakes = domain_of(app.env).page(app.env.current_document.docname).mistakes
        for node in find_mathematics(doctree):
            drawing = self.typesetter.draw(self.formula(node))
            fact = drawing.error or price_lint(node)
            if fact:
                tex = " ".join(node.astext().split())
                begin = fact[0].lower() if fact.split()[0][1:].islower() else fact[0]  # HTML and KaTeX are names
                text = f"in '{tex if len(tex) < 60 else tex[:57] + '...'}': {begin}{fact[1:]}{advice(fact)}"
                mistakes.append(Mistake("math", text, place_of(app, node, drawing)))

    def formula(self, node: nodes.Element, *, form: Any = "htmlAndMathml") -> Formula:
        """Return what to draw for a node."""
        tex = str(node.get("scratchbook_tex", node.astext()))
        if isinstance(node, nodes.math):
            return Formula(tex, bool(node.get("scratchbook_display")), form, self.macros)
        return Formula(display_tex(tex), True, form, self.macros)

    def markup(self, writer: HTML5Translator, node: nodes.Element) -> str:
        """Return the drawing of a node, or its TeX where that cannot be drawn."""
        form = "mathml" if writer.builder.name == "epub" else "htmlAndMathml"
        drawing = self.typesetter.draw(self.formula(node, form=form))
        if drawing.error:
            tex = escape(str(node.get("scratchbook_tex", node.astext())))
            return f'<code class="scratchbook-failure">{tex}</code>'
        return drawing.markup if form == "mathml" else drawn_later(drawing.markup)

    def visit_math(self, writer: HTML5Translator, node: nodes.math) -> None:
        """Write mathematics within a sentence, or a display in a term, which no list of LaTeX would take as a block."""
        tag, kind = ("div", " equation-body") if node.get("scratchbook_display") else ("span", "")
        writer.body.append(writer.starttag(node, tag, "", CLASS=f"math{kind} notranslate nohighlight"))
        writer.body.append(f"{self.markup(writer, node)}</{tag}>")
        raise nodes.SkipNode

    def visit_math_block(self, writer: HTML5Translator, node: nodes.math_block) -> None:
        """Write a displayed equation: its body, which scrolls alone, and beside it the number and the mark."""
        writer.body.append(writer.starttag(node, "div", "", CLASS="math equation notranslate nohighlight"))
        writer.body.append(f'<div class="equation-body">{self.markup(writer, node)}</div>')
        if node.get("number") or node.get("scratchbook_mark"):
            writer.body.append('<div class="equation-side">')
            if node.get("number"):
                writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
                writer.add_permalink_ref(node, _("Link to this equation"))
                writer.body.append("</span>")
            writer.body.append(mark_markup(node.get("scratchbook_mark")) + "</div>")
        writer.body.append("</div>\n")
        raise nodes.SkipNode

    def finish(self, app: Sphinx, exception: Exception | None) -> None:
        """Let the engine go."""
        self.typesetter.close()


def drawn_later(markup: str) -> str:
    """Return a drawing with the height of a display, in whose room a browser may pass it over until it comes near."""
    if not markup.startswith('<span class="katex-display">'):
        return markup
    return markup.replace(DRAWING, f'{DRAWING} style="contain-intrinsic-height:{display_height(markup):.3f}em"', 1)


def draw_lone_faces(body: str) -> str:
    """Return a page on which the first display with a font of its own is drawn at once.

    A browser asks for a font when it draws the first letter, and a page is printed with the fonts that are there.
    """
    present = faces(DISPLAY.sub("", body))

    def drawn(display: re.Match[str]) -> str:
        own = faces(display[0]) - present
        present.update(own)
        return HEIGHT.sub("", display[0], 1) if own else display[0]

    return DISPLAY.sub(drawn, body)


def faces(markup: str) -> set[tuple[str, bool]]:
    """Return which fonts drawings use, as the class that names each, and of which part: of ASCII, or of the others."""
    return {("".join(FACE.findall(classes)[:1]), text.isascii()) for classes, text in LETTERS.findall(markup)}


def display_height(markup: str) -> float:
    """Return the height of a drawn display of one line, in ems."""
    struts = [(float(height), float(shift or 0)) for height, shift in STRUT.findall(markup)]
    above = max((height + shift for height, shift in struts), default=0.0)
    below = max((-shift for _, shift in struts), default=0.0)
    return max(above, LINE[0]) + max(below, LINE[1])


def is_chosen(app: Sphinx) -> bool:
    """Whether this room draws the mathematics of the project."""
    return app.config.html_math_renderer in (None, "scratchbook")


def find_mathematics(doctree: nodes.document) -> Iterator[nodes.Element]:
    """Yield every formula, in page order."""
    yield from doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))  # type: ignore[misc]


def display_tex(tex: str) -> str:
    """Return a display as KaTeX wants it: rows joined as Sphinx joins them for LaTeX, numbers left to Sphinx."""
    parts = [part.strip() for part in re.split(r"\n\s*\n", one_display(tex)) if part.strip()]
    rows = [rf"\begin{{split}}{part}\end{{split}}" if needs_split(part) else part for part in parts]
    if len(rows) <= 1:
        return "".join(rows)
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def one_display(tex: str) -> str:
    """Return TeX whose environments are parts of one display: it has one number or none, and LaTeX nests no two.

    Rows that have tags keep their environment, since only there LaTeX and KaTeX allow several.
    """
    if r"\tag" in tex:
        return DISPLAYS.sub(r"\\\1{\2*}", tex)
    inner = DISPLAYS.sub(lambda found: f"\\{found[1]}{{{PARTS[found[2]]}}}" if found[2] in PARTS else "", tex)
    return NUMBERING.sub("", inner)


def needs_split(part: str) -> bool:
    """Whether TeX has rows of its own outside any environment."""
    return r"\\" in re.sub(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", "", part, flags=re.DOTALL)


def advice(fact: str) -> str:
    """Return what to do about the commonest mistakes."""
    if r"\label" in fact:
        return "; name an equation with :label: on {math}, since references know no other"
    if fact.startswith("Undefined control sequence"):
        return "; define it in scratchbook_macros of conf.py, or spell it otherwise"
    return ""


def price_lint(node: nodes.Element) -> str:
    """Return a message for two prices in a sentence, which Markdown takes for mathematics between them."""
    tex = node.astext()
    if isinstance(node, nodes.math) and PRICE.fullmatch(tex) and "\\" not in tex:
        return rf"two dollar signs make mathematics of what is between them; write a price as \${tex.split()[0]}"
    return ""


def place_of(app: Sphinx, node: nodes.Element, drawing: Drawing) -> Place:
    """Return the line of a formula; a sentence's own nodes know only where their paragraph begins."""
    element = node
    while element.line is None and element.parent is not None:
        element = element.parent
    source = str(element.source or app.env.doc2path(app.env.current_document.docname))
    line = element.line or 1
    path = Path(source.partition(":<")[0])
    lines = path.read_text("utf-8", errors="replace").splitlines() if path.is_file() else []
    wanted = node.astext().strip().splitlines()[:1] or [""]
    found = next((n for n in range(max(line - 1, 0), min(line + 60, len(lines))) if wanted[0] in lines[n]), line - 1)
    if drawing.position > 0 and isinstance(node, nodes.math_block) and not node.get("nowrap"):
        found += node.astext().strip()[: drawing.position].count("\n")
    return Place(path_from_root(app.env, source), found + 1)


def prepare_builder(app: Sphinx) -> None:
    """Give LaTeX the macros and HTML the fonts; tell of macros that cannot be used."""
    try:
        if app.builder.format == "latex":
            give_macros_to_latex(app)
        katex_macros(app.config.scratchbook_macros)
    except ScratchbookError as error:
        text = f"scratchbook_macros: {error.text}"
        logger.warning(text, type="scratchbook", subtype="setting", location="conf.py:1")
        app.statuscode = 1
    if app.builder.format == "html" and app.builder.name != "epub" and is_chosen(app):
        app.config.html_static_path.append(str(HERE / "static-katex"))


def give_macros_to_latex(app: Sphinx) -> None:
    """Define the same macros in the preamble, and what KaTeX knows beyond LaTeX."""
    own = latex_macros(app.config.scratchbook_macros)
    spare = "\n".join(rf"\providecommand{{\{name}}}{{{body}}}" for name, body in sorted(KATEX_ONLY.items()))
    context = app.builder.context  # type: ignore[attr-defined]
    context["preamble"] = "\n".join([context.get("preamble", ""), own, spare, ""])


def mark_markup(mark: Mark | None) -> str:
    """Return the small mark beside an equation's number."""
    if not mark:
        return ""
    text, title = escape(mark["text"]), escape(mark["title"])
    if mark["uri"]:
        return f'<a class="equation-mark" href="{escape(mark["uri"])}" title="{title}">{text}</a>'
    return f'<span class="equation-mark" title="{title}">{text}</span>'


def keep_words_for_search(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Let the search index see the words in formulas, such as softmax, and none of their TeX."""
    if app.builder.format != "html" or not is_chosen(app):
        return
    for node in list(find_mathematics(doctree)):
        node.setdefault("scratchbook_tex", node.astext())
        node.children = []
        words = " ".join(WORDS.findall(node["scratchbook_tex"])).strip()
        if words:
            node += nodes.Text(words)


def preloads(body: str) -> Iterator[str]:
    """Yield the fonts of a page's formulas that move words around them when they come after the first view."""
    for font, use in FONTS.items():
        if use.search(body):
            yield f"katex/fonts/KaTeX_{font}.woff2"


def add_styles(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Load KaTeX's style sheet on pages with mathematics only."""
    has_mathematics = doctree is not None and next(find_mathematics(doctree), None) is not None
    if app.builder.name != "epub" and is_chosen(app) and has_mathematics:
        app.add_css_file("katex/katex.css")
        context["body"] = draw_lone_faces(context["body"])
        if app.config.html_baseurl:  # a page from a folder may not preload: browsers call it another origin
            for font in preloads(context["body"]):
                uri = escape(context["pathto"](f"_static/{font}", resource=True))
                link = f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{uri}">'
                context["metatags"] = f"{context.get('metatags', '')}\n{link}"


def register(app: Sphinx) -> None:
    """Offer the renderer to Sphinx."""
    room = Mathematics(Typesetter(ENGINE))
    app.add_config_value("scratchbook_macros", {}, "env", (dict,))
    app.add_html_math_renderer("scratchbook", (room.visit_math, None), (room.visit_math_block, None))
    app.connect("builder-inited", room.open)
    app.connect("builder-inited", prepare_builder)
    app.connect("doctree-read", room.check)
    app.connect("doctree-resolved", keep_words_for_search, priority=900)
    app.connect("html-page-context", add_styles)
    app.connect("build-finished", room.finish)
