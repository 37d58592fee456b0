"""Diagrams written as text in Sphinx's own {graphviz}, inside the page for HTML: in its colours, its font, in the dark.

A project that lists `sphinx.ext.graphviz` has it; LaTeX, EPUB and the others get what that extension makes.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any, Final

from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from scratchbook.ext.domain import domain_of
from scratchbook.ext.drawings import UNSAFE
from scratchbook.ext.figures import inline_svg

logger = logging.getLogger(__name__)

MOST_SECONDS: Final = 20
BLACK: Final = re.compile(r'\b(fill|stroke)="(?:black|#000000)"')


class InlineDiagrams(SphinxPostTransform):
    """Draw each diagram with dot and put it into the page."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace each diagram; one that cannot be drawn is left to Sphinx, which says why."""
        from sphinx.ext.graphviz import graphviz  # loaded by then: the project lists it

        if domain_of(self.env).builder.name == "epub":
            return
        for node in list(self.document.findall(graphviz)):
            options: dict[str, Any] = node.get("options", {})
            svg = self.draw(str(node["code"]), options.get("graphviz_dot", self.config.graphviz_dot))
            if svg and not UNSAFE.search(svg):
                shown = inline_svg(in_page_colours(svg), str(node.get("alt", "")))
                shown["classes"] += ["scratchbook-drawing", *node["classes"]]
                shown["ids"] = node["ids"]
                node.replace_self(shown)

    def draw(self, code: str, program: str) -> str:
        """Return a diagram as SVG, "" when dot is missing or refuses it."""
        command = [program, "-Tsvg", "-Gbgcolor=transparent", *self.config.graphviz_dot_args]
        try:
            made = subprocess.run(command, input=code, capture_output=True, text=True, check=True, timeout=MOST_SECONDS)
        except (OSError, subprocess.SubprocessError):
            return ""
        return made.stdout[made.stdout.find("<svg") :]


def in_page_colours(svg: str) -> str:
    """Take black for the page's ink, and dot's font for the page's; colours that the author chose stay."""
    svg = BLACK.sub(r'\1="currentColor"', svg)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<text (?![^>]*\bfill=)", '<text fill="currentColor" ', svg)
    return svg.replace('font-family="Times,serif"', 'font-family="inherit"')


def register(app: Sphinx) -> None:
    """Add the transform where a project has diagrams."""
    app.connect("config-inited", add_transform)


def add_transform(app: Sphinx, config: Any) -> None:
    """Draw diagrams once it is known that the project has them."""
    if "sphinx.ext.graphviz" in app.extensions:
        app.add_post_transform(InlineDiagrams)
