"""The book on paper: gives LaTeX the boxes, labels and stars as environments that `scratchbook.sty` draws.

A box keeps its place, title and names; only its node changes, so the style file alone decides how paper looks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

STYLE: Final = Path(__file__).parent / "latex-style" / "scratchbook.sty"
BOXES: Final = ("teach", "in-practice", "question", "quiz", "exercise", "hint", "solution", "key-equations")
# Paragraphs that are labels of what stands below them, by the class that HTML styles.
LABELS: Final = frozenset({
    "scratchbook-label", "scratchbook-state-name", "scratchbook-cut", "scratchbook-not-run",
    "exercise-code-label", "exercise-list-chapter", "quiz-kind",
})  # fmt: skip


class BoxesForPaper(SphinxPostTransform):
    """Make each box a container of its kind, which Sphinx writes as an environment of that name."""

    default_priority = 420
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Replace each box, outer ones first, which keeps inner ones in place."""
        for box in list(self.document.findall(nodes.admonition)):
            kind = next((kind for kind in BOXES if kind in box["classes"]), "")
            if kind and "box" in box["classes"]:
                box.replace_self(boxed(box, kind))


def boxed(box: nodes.admonition, kind: str) -> list[nodes.Node]:
    """Return a box as a container with its title in bold, and before it the anchors that references lead to."""
    title, *body = box.children
    assert isinstance(title, nodes.title)
    heading = nodes.inline("", "", *title.children, classes=["scratchbook-title"])
    container = nodes.container("", nodes.paragraph("", "", heading), *body, classes=[f"scratchbook-{kind}"])
    container.source, container.line = box.source, box.line
    anchors = [nodes.target("", "", ids=[name]) for name in box["ids"]]
    return [*anchors, container]


class LabelsForPaper(SphinxPostTransform):
    """Give each label a role, since LaTeX knows classes of words and not of paragraphs."""

    default_priority = 430
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:
        """Wrap the words of each label."""
        for label in self.document.findall(nodes.paragraph):
            for name in LABELS & set(label["classes"]):
                label.children = [nodes.inline("", "", *label.children, classes=[name])]
                label.setup_child(label.children[0])


def give_style(app: Sphinx) -> None:
    """Copy the style file beside the book and load it."""
    if app.builder.name == "latex":
        app.config.latex_additional_files.append(str(STYLE))
        context = app.builder.context  # type: ignore[attr-defined]
        context["preamble"] = "\\usepackage{scratchbook}\n" + context.get("preamble", "")


def register(app: Sphinx) -> None:
    """Add the transforms and the style."""
    app.add_post_transform(BoxesForPaper)
    app.add_post_transform(LabelsForPaper)
    app.connect("builder-inited", give_style)
