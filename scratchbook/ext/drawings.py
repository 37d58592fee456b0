"""Hand-made SVG in the form that each builder can carry: inside the page for HTML, so that it follows light and dark
and the reader's font; as PDF for LaTeX.  A drawing that could run something stays an image, where nothing can run.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.transforms.post_transforms.images import ImageConverter
from sphinx.util import logging

from scratchbook.ext.directive import place_of
from scratchbook.ext.domain import domain_of
from scratchbook.ext.figures import CONVERTER, inline_svg

logger = logging.getLogger(__name__)

UNSAFE: Final = re.compile(
    r"<script|<foreignObject|\son\w+\s*=|javascript:|<!ENTITY|href\s*=\s*[\"'](?!#)", re.IGNORECASE
)
ROOT: Final = re.compile(r"<svg\b[^>]*>")
NAMED: Final = re.compile(r"\s(?:role|aria-\w+|color)\s*=\s*(\"[^\"]*\"|'[^']*')")
CONVERTING_SECONDS: Final = 60
UNDATED: Final = {"SOURCE_DATE_EPOCH": "0"}  # else the PDF says when it was made, and no two builds are the same
SCHEME: Final = re.compile(r"<style>[^<]*prefers-color-scheme[^<]*</style>\s*")


class InlineDrawings(SphinxPostTransform):
    """Put drawings into the page."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace each image of an SVG file of the project."""
        if domain_of(self.env).builder.name == "epub":
            return
        for image in list(self.document.findall(nodes.image)):
            path = self.env.srcdir / image["uri"]
            if not str(image["uri"]).endswith(".svg") or "://" in image["uri"] or not path.is_file():
                continue
            svg = path.read_text("utf-8", errors="replace")
            if not UNSAFE.search(svg):
                put_in_place(image, drawing(svg, image))


def put_in_place(image: nodes.image, shown: nodes.container) -> None:
    """Show a drawing in place of its image: as a block, within a sentence as a part of that."""
    parent = image.parent
    if isinstance(parent, nodes.paragraph) and len(parent.children) == 1:
        parent.replace_self(shown)  # HTML knows no block within a paragraph
    elif isinstance(parent, nodes.TextElement):
        image.replace_self(nodes.inline("", "", *shown.children, **shown.attributes))
    else:
        image.replace_self(shown)


def drawing(svg: str, image: nodes.image) -> nodes.container:
    """Return a drawing inside the page, with the alternative text, size and classes of its image."""
    root = ROOT.search(svg)
    if root:
        svg = svg[root.start() :].replace(root[0], sized(NAMED.sub("", root[0])), 1)
    shown = inline_svg(SCHEME.sub("", svg), image.get("alt", ""))
    shown["classes"] += ["scratchbook-drawing", *image["classes"]]
    shown["ids"] = image["ids"]
    return shown


def sized(root: str) -> str:
    """Give a drawing that has only a view box the size of that, as an image would have it."""
    box = re.search(r"viewBox=[\"'][-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)", root)
    if box is None or re.search(r"\swidth=", root):
        return root
    return root.replace("<svg", f'<svg width="{box[1]}" height="{box[2]}"', 1)


class DrawingsAsPdf(ImageConverter):
    """Let LaTeX have drawings as PDF, and the words of one that cannot be that."""

    conversion_rules = [("image/svg+xml", "application/pdf")]  # noqa: RUF012  # as Sphinx declares it
    fault = ""

    def is_available(self) -> bool:
        """Whether to ask at all: a converter that is missing is told at each drawing, which LaTeX could not read."""
        return True

    def handle(self, node: nodes.image) -> None:
        """Convert one image, or put its words there and say why."""
        self.fault = ""
        super().handle(node)
        if self.fault:
            logger.warning(self.fault, type="scratchbook", subtype="output", location=place_of(self.env, node))
            words = nodes.inline("", f"[{node.get('alt', '') or Path(node['uri']).name}]")
            is_block = not isinstance(node.parent, nodes.TextElement)
            node.replace_self(nodes.paragraph("", "", words) if is_block else words)

    def convert(self, _from: Any, _to: Any) -> bool:
        """Convert one drawing; what went wrong is kept in `fault`."""
        command = [CONVERTER, "--format=pdf", f"--output={_to}", str(_from)]
        options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": CONVERTING_SECONDS}
        try:
            subprocess.run(command, env=os.environ | UNDATED, check=True, **options)
        except FileNotFoundError:
            self.fault = f"{CONVERTER} is missing, so this drawing is left out of the PDF: apt-get install librsvg2-bin"
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            said = " ".join(str(error.stderr or error).replace(f"{_from}", "").split())
            self.fault = f"{Path(_from).name} cannot be drawn on paper: {said}"
        return not self.fault


def register(app: Sphinx) -> None:
    """Add the two forms."""
    app.add_post_transform(InlineDrawings)
    app.add_post_transform(DrawingsAsPdf)
