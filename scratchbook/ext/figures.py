"""Show a figure that code drew in the form that a builder can carry.  Draws nothing."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import shutil
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from scratchbook.core.cells import CellOutcome
from scratchbook.ext.directive import place_of

logger = logging.getLogger(__name__)

# A hundredth of a point is finer than any screen or printer; more decimals are weight.  Factors keep theirs, and words.
PLACES: Final = re.compile(r'\s(?:d|points|transform|[xy][12]?|c[xy]|r[xy]?|width|height)="[^"]*"')
LONG_NUMBER: Final = re.compile(r"(?<![\w#.])(?<!scale\()(?<!matrix\()[1-9]\d*\.\d{3,}(?![\w.])")
ID: Final = re.compile(r'\sid="([^"]*)"')
USED_ID: Final = re.compile(r"#([\w:.-]+)")
INDENTATION: Final = re.compile(r"\s*\n\s*")
SIZE: Final = re.compile(r'\s(width|height)="([\d.]+)(px|pt|)"')
POINTS_OF_REM: Final = 12
IDLE_SECONDS: Final = 3600.0  # after which no build that still runs needs a figure's file

CONVERTER: Final = "rsvg-convert"  # makes PDF of SVG, see `drawings`

# Which kinds of part a form shows, the best first.
KINDS: Final = {
    "html": ("svg", "png"),
    "epub": ("svg", "png"),
    "latex": ("pdf", "png"),
    "plain": ("png", "svg", "pdf"),
}


def figure_nodes(
    outcome: CellOutcome, alt: str, form: str, env: BuildEnvironment, asked: nodes.Element
) -> Iterator[nodes.Node]:
    """Yield each figure of a cell; a cell gives every kind of every figure, in one order.

    asked: what stands at the author's line.
    """
    for kind in kinds_of(form):
        found = [part.data for part in outcome.parts if part.kind == kind]
        if not found:
            continue
        for data in found:
            if kind == "svg" and form == "html":
                yield inline_svg(data["svg"], alt)
            else:
                content = data["svg"].encode() if kind == "svg" else base64.b64decode(data["base64"])
                image = image_file(content, kind, alt, env)
                image.source, image.line = asked.source, asked.line
                yield image
        return
    if any(part.kind in ("svg", "pdf", "png") for part in outcome.parts):
        logger.warning(
            "a figure has no form that this builder can show, and its words stand there instead: "
            "draw it with matplotlib, which gives every form",
            type="scratchbook", subtype="output", location=place_of(env, asked),
        )  # fmt: skip
        yield nodes.paragraph("", f"[{alt}]", classes=["scratchbook-figure"])


def kinds_of(form: str) -> tuple[str, ...]:
    """Return which kinds of part a form can show; LaTeX an SVG too where that can be made a PDF."""
    return (*KINDS[form], "svg") if form == "latex" and shutil.which(CONVERTER) else KINDS[form]


def inline_svg(svg: str, alt: str) -> nodes.container:
    """Return a drawing inside the page, so that it takes the page's colours; its ids are its own."""
    prefix = f"f{hashlib.sha256(svg.encode()).hexdigest()[:8]}-"
    svg = svg[max(svg.find("<svg"), 0) :]  # without the XML declaration, which a page cannot hold
    svg = INDENTATION.sub("\n", svg)
    used = set(USED_ID.findall(svg))
    svg = ID.sub(lambda found: found[0] if found[1] in used else "", svg)
    svg = PLACES.sub(lambda place: LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", place[0]), svg)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'((?:xlink:)?href=")#', rf"\1#{prefix}", svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    root, end, rest = svg.partition(">")
    svg = SIZE.sub(in_letters, root) + end + rest
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)
    return nodes.container("", nodes.raw("", svg, format="html"), classes=["scratchbook-figure"])


def in_letters(size: re.Match[str]) -> str:
    """Return a width or a height in units of the page's letters, so that a drawing grows with them.

    >>> SIZE.sub(in_letters, ' width="460.8pt" height="32"')
    ' width="38.4rem" height="2rem"'
    """
    points = float(size[2]) * (1 if size[3] == "pt" else 0.75)
    return f' {size[1]}="{round(points / POINTS_OF_REM, 3):g}rem"'


def figure_folder(doctrees: Path | str) -> Path:
    """Return where figures stand that are files, until a builder has copied them."""
    return Path(doctrees) / "scratchbook"


def sweep_figures(app: Sphinx, exception: Exception | None) -> None:
    """Remove what no build has used for a while; a page that is written again makes its own again."""
    for path in figure_folder(app.doctreedir).glob("*"):
        with contextlib.suppress(OSError):  # another build sweeps too
            if path.stat().st_mtime < time.time() - IDLE_SECONDS:
                path.unlink()


def image_file(content: bytes, kind: str, alt: str, env: BuildEnvironment) -> nodes.image:
    """Return an image whose file is named by its content, beside the doctrees; builders copy it as any other."""
    path = figure_folder(env.doctreedir) / f"{hashlib.sha256(content).hexdigest()[:24]}.{kind}"
    if not path.is_file() or path.read_bytes() != content:  # a killed build may have left half of it
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    path.touch()
    name = path.as_posix()
    env.images.add_file(env.current_document.docname, name)
    return nodes.image("", uri=name, alt=alt, candidates={"*": name}, classes=["scratchbook-figure"])
