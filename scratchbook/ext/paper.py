"""The book on paper: gives LaTeX the boxes, labels and stars as environments that `scratchbook.sty` draws.

A box keeps its place, title and names; only its node changes, so the style file alone decides how paper looks.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.builders.latex.nodes import math_reference
from sphinx.transforms.post_transforms import SphinxPostTransform

from scratchbook.ext.boxes import parts_of
from scratchbook.ext.mathematics import DISPLAYS, display_tex, needs_split, one_display

STYLE: Final = Path(__file__).parent / "latex-style" / "scratchbook.sty"
BOXES: Final = ("teach", "in-practice", "question", "quiz", "exercise", "hint", "solution", "key-equations")
# Paragraphs that have a look of their own, by the class that HTML styles, and those that stay with what follows.
ROLES: Final = frozenset({"scratchbook-cut", "scratchbook-not-run", "exercise-list-chapter", "quiz-kind"})
LABELS: Final = frozenset({"scratchbook-label", "scratchbook-state-name", "exercise-code-label", "equation-mark"})
# What makes a lead-in of a line where nothing else stands on it.
LEADS: Final = (nodes.strong, nodes.literal, download_reference)
# A table higher than this, half a page, would leave as much of a page empty; a line has about so many characters.
TALL_LINES: Final = 24
LINE_CHARACTERS: Final = 90
GAP: Final = 3  # characters between columns


class BoxesForPaper(SphinxPostTransform):
    """Make each box a container of its kind, which Sphinx writes as an environment of that name."""

    default_priority = 420
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Replace each box, outer ones first, which keeps inner ones in place."""
        for box in list(self.document.findall(nodes.admonition)):
            kind = next((kind for kind in BOXES if kind in box["classes"]), "")
            if kind and "box" in box["classes"]:
                replacement = boxed(box, kind)
                box["classes"] = []  # else the first of the new nodes takes them over
                box.replace_self(replacement)


def boxed(box: nodes.admonition, kind: str) -> list[nodes.Node]:
    """Return a box as a container with its title in bold, and before it the anchors that references lead to."""
    title, body = parts_of(box)
    heading = nodes.paragraph("", "", nodes.inline("", "", *title, classes=["scratchbook-title"]))
    container = nodes.container("", *([heading] if title else []), *body, classes=[f"scratchbook-{kind}"])
    container.source, container.line = box.source, box.line
    anchors = [nodes.target("", "", ids=[name]) for name in box["ids"]]
    return [*anchors, container]


class LabelsForPaper(SphinxPostTransform):
    """Give each label a role or an environment, since LaTeX knows no classes of paragraphs."""

    default_priority = 430
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Wrap each label, or its words."""
        for label in list(self.document.findall(nodes.paragraph)):
            for name in ROLES & set(label["classes"]):
                label.children = [nodes.inline("", "", *label.children, classes=[name])]
                label.setup_child(label.children[0])
            for name in LABELS & set(label["classes"]):
                label.replace_self(nodes.container("", nodes.paragraph("", "", *label.children), classes=[name]))


class DisplaysForPaper(SphinxPostTransform):
    """Give an environment of several rows one number or none, as on the page, and tags a place that LaTeX allows."""

    default_priority = 438
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Make each environment a part of the display that Sphinx writes round all others; that is none for tags."""
        for block in list(self.document.findall(nodes.math_block)):
            tex = one_display(block.astext())
            has_tag = r"\tag" in tex
            if has_tag and not DISPLAYS.search(tex):
                environment = "align*" if needs_split(tex) else "equation*"
                tex = rf"\begin{{{environment}}}{tex.strip()}\end{{{environment}}}"
            block.children = [nodes.Text(tex)]
            block.setup_child(block.children[0])
            block["nowrap"] = block["no-wrap"] = has_tag


class KeyEquationsForPaper(SphinxPostTransform):
    """Write the number of a repeated equation beside it, where a sheet of paper expects it."""

    default_priority = 440
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Make a tag of each reference that stands below its equation."""
        for link in list(self.document.findall(nodes.paragraph)):
            if "key-equation-link" not in link["classes"]:
                continue
            equation, reference = link.previous_sibling(), next(iter(link.findall(math_reference)), None)
            if isinstance(equation, nodes.math_block) and reference is not None:
                label = f"equation:{reference['docname']}:{reference['target']}"
                body = display_tex(equation.astext())
                if not body.startswith(r"\begin{split}"):
                    body = rf"\begin{{split}}{body}\end{{split}}"
                tex = rf"\begin{{equation*}}{body}\tag{{\ref{{{label}}}}}\end{{equation*}}"
                equation.replace_self(nodes.math_block(tex, tex, nowrap=True, **{"no-wrap": True}))
                link.parent.remove(link)


class LeadsForPaper(SphinxPostTransform):
    """Keep a line in bold or of code alone on the page of what it leads to; take the bold from equations in a list."""

    default_priority = 424
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Forbid a page break behind each such line; give each term that is an equation a role."""
        for line in list(self.document.findall(nodes.paragraph)):
            said = [part for part in line.children if part.astext()]
            is_lead = len(said) == 1 and isinstance(said[0], LEADS)
            if is_lead and isinstance(line.parent, nodes.section | nodes.document | nodes.container):
                line += nodes.raw("", r"\nopagebreak{}", format="latex")
        for term in list(self.document.findall(nodes.term)):
            if "equation-list" in term.parent.parent["classes"]:
                for drawn in term.findall(nodes.math):
                    drawn.insert(0, nodes.Text("\\displaystyle "))  # as large as in its chapter
                term.children = [nodes.inline("", "", *term.children, classes=["equation-term"])]
                term.setup_child(term.children[0])


class MarksForPaper(SphinxPostTransform):
    """Keep a mark on the page of its equation, which stands before it."""

    default_priority = 425  # before the marks become containers
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Forbid a page break between the two."""
        for mark in list(self.document.findall(nodes.paragraph)):
            equation = mark.previous_sibling() if "equation-mark" in mark["classes"] else None
            if isinstance(equation, nodes.math_block):
                mark.parent.insert(mark.parent.index(equation), nodes.raw("", "\\bookmarked\n", format="latex"))


class TablesForPaper(SphinxPostTransform):
    """Let a table that is as high as a page go on over the page, with columns as wide as their words."""

    default_priority = 450
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Give widths to the columns of each such table; LaTeX finds those of the others itself."""
        for table in list(self.document.findall(nodes.table)):
            if not isinstance(table.parent, nodes.section | nodes.document):
                continue  # a box breaks pages by itself, and can hold no table that does
            rows = [[entry.astext() for entry in row.findall(nodes.entry)] for row in table.findall(nodes.row)]
            widths = column_widths(rows)
            if widths and sum(lines_of(row, widths) for row in rows) > TALL_LINES:
                table["classes"] += ["longtable", "colwidths-given"]
                for column, width in zip(table.findall(nodes.colspec), widths, strict=True):
                    column["colwidth"] = width


def column_widths(rows: list[list[str]]) -> list[int]:
    """Return a width for each column, in characters: its longest word, and of what is left what its words ask for.

    Nothing for a table with merged cells, whose rows have unlike lengths.

    >>> column_widths([["a", "one two three four"]]), column_widths([["a", "b"], ["c"]])
    ([4, 86], [])
    """
    if len({len(row) for row in rows}) != 1:
        return []
    columns = list(zip(*rows, strict=True))
    words = [
        GAP + max(1, *(len(word) for cell in column for word in re.split(r"\s|(?<=_)", cell))) for column in columns
    ]
    wishes = [max(len(cell) for cell in column) + GAP - word for column, word in zip(columns, words, strict=True)]
    spare, asked = max(0, LINE_CHARACTERS - sum(words)), max(1, sum(wishes))
    return [word + spare * wish // asked for word, wish in zip(words, wishes, strict=True)]


def lines_of(row: list[str], widths: list[int]) -> int:
    """Return how many lines a row takes."""
    return max(math.ceil(len(cell) / (width - GAP)) for cell, width in zip(row, widths, strict=True))


class WorksForPaper(SphinxPostTransform):
    """Leave the works cited at the end of their chapter; Sphinx would gather all at the end of the book."""

    default_priority = 740  # Sphinx gathers at 750
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Make a paragraph of each work, with the anchor that citations lead to."""
        for citation in list(self.document.findall(nodes.citation)):
            label, *body = citation.children
            name = f"cite.{citation['docname']}:{citation['ids'][0]}"
            anchor = nodes.raw("", rf"\hypertarget{{{name}}}{{}}", format="latex")
            first = body.pop(0) if body and isinstance(body[0], nodes.paragraph) else nodes.paragraph()
            shown = nodes.strong("", f"[{label.astext()}]")
            line = nodes.paragraph("", "", anchor, shown, nodes.Text(" "), *first.children)
            citation.replace_self(nodes.container("", line, *body, classes=["scratchbook-work"]))


class DrawingsForPaper(SphinxPostTransform):
    """Let outputs that are figures or tables alone stand for themselves: their caption is label enough."""

    default_priority = 410
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Take the label and the rule away from them."""
        for output in list(self.document.findall(nodes.container)):
            if "scratchbook-output" in output["classes"] and is_drawing(output):
                output["classes"] = ["scratchbook-drawn"]
                del output[0]


def is_drawing(output: nodes.container) -> bool:
    """Whether an output has a figure or a table, and no words of its own."""
    words = {"scratchbook-text", "scratchbook-failure", "scratchbook-not-run"}
    inside = list(output.findall(nodes.Element))
    return any(isinstance(node, nodes.image | nodes.table) for node in inside) and not any(
        words & set(node.get("classes", ())) for node in inside
    )


def give_style(app: Sphinx) -> None:
    """Copy the style file beside the book and load it."""
    if app.builder.name == "latex":
        app.config.latex_additional_files.append(str(STYLE))
        context = app.builder.context  # type: ignore[attr-defined]
        context["preamble"] = "\\usepackage{scratchbook}\n" + context.get("preamble", "")


TRANSFORMS: Final = (
    DrawingsForPaper, BoxesForPaper, LeadsForPaper, MarksForPaper, LabelsForPaper, DisplaysForPaper,
    KeyEquationsForPaper, TablesForPaper, WorksForPaper,
)  # fmt: skip


def register(app: Sphinx) -> None:
    """Add the transforms and the style."""
    for transform in TRANSFORMS:
        app.add_post_transform(transform)
    app.connect("builder-inited", give_style)
