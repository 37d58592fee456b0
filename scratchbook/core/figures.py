"""Turn what a block drew into SVG for screens and PDF for paper: the same bytes every time, fit for a dark page."""

from __future__ import annotations

import base64
import io
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Final
from xml.etree import ElementTree

from scratchbook.core.cells import Part
from scratchbook.core.endings import OutputError
from scratchbook.core.plots import lighten
from scratchbook.core.sketch import sketch

SVG: Final = "http://www.w3.org/2000/svg"
XLINK: Final = "http://www.w3.org/1999/xlink"
PROLOG: Final = re.compile(r"\A\s*(?:<\?xml.*?\?>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>\[]*>\s*)?", re.DOTALL)
REFERENCE: Final = re.compile(r"url\(\s*['\"]?#([^'\")]+)['\"]?\s*\)")
BLACK: Final = re.compile(r"(?<![\w#])(?:#000000|#000|black|rgb\(0, ?0, ?0\))(?![\w])", re.IGNORECASE)
FOR_ALL: Final = re.compile(r"\s*\*\s*\{([^{}]*)\}\s*")
SHOWN: Final = re.compile("#|data:image/")
LINKED: Final = re.compile("#|data:image/|https?:")  # a browser follows it when the reader asks
COLOURED: Final = ("fill", "stroke", "color", "stop-color", "style")
# What runs or fetches when a reader opens the page, and what tells when and by what the file was made.
UNWANTED: Final = frozenset({"script", "foreignObject", "metadata", "iframe", "handler", "set", "animate"})

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


def take_figures(value: Any, cell: str, opened: Sequence[int] = ()) -> list[Part]:
    """Return the parts for what a block drew, and close it, so that the next block starts with nothing.

    value: what the block ended with: a figure, or an object or text that is SVG; else matplotlib's open figures count,
    by their numbers in `opened`.
    cell: its id, put before every id in the figure, since ids are shared by all of a page.   Raises OutputError.
    """
    prefix = re.sub(r"[^\w-]", "-", cell)
    drawing = value if isinstance(value, str) else None
    if hasattr(value, "_repr_svg_"):
        drawing = value._repr_svg_()
    if drawing is not None:
        return [svg_part(tidy_svg(drawing, f"{prefix}-"))]
    is_figure = hasattr(value, "savefig")
    figures = [value] if is_figure else [sys.modules["matplotlib.pyplot"].figure(number) for number in opened]
    if not figures:
        raise OutputError("drew no figure; draw with matplotlib, or end with a figure, an SVG text or _repr_svg_()")
    parts = []
    try:
        with warnings.catch_warnings(record=True) as told:
            for number, figure in enumerate(figures):
                parts += _draw(figure, f"{prefix}-{number}-" if number else f"{prefix}-")
    finally:
        close_figures()
    if told:
        raise OutputError(f"the figure is not what was meant: {told[0].message}")
    return parts


def close_figures() -> None:
    """Forget the open figures, so that a later block does not show them again."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def _draw(figure: Any, prefix: str) -> list[Part]:
    """Return a figure of matplotlib, or of anything with its `savefig`, as SVG and PDF."""
    nothing = {"Creator": None, "Producer": None, "CreationDate": None}
    pages = {}
    for kind, metadata in (("svg", {"Date": None, "Creator": None}), ("pdf", nothing)):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=metadata)
        pages[kind] = buffer.getvalue()
    svg = lighten(tidy_svg(pages["svg"].decode("utf-8"), prefix))
    return [svg_part(svg), Part("pdf", {"base64": base64.b64encode(pages["pdf"]).decode("ascii")})]


def svg_part(svg: str) -> Part:
    """Return a drawing with its sketch, which is made here, once, and not by every build that compares it."""
    return Part("svg", {"svg": svg, "sketch": sketch(svg)})


def tidy_svg(text: str, prefix: str) -> str:
    """Return an SVG element that can stand in a page among others.

    Black becomes the page's colour of text, ids get the prefix, and scripts, foreign elements and metadata go.
    Raises OutputError when it is not SVG.
    """
    text = PROLOG.sub("", text, count=1)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise OutputError("the SVG declares a document type of its own; leave it out")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise OutputError(f"drew no figure: the text it ends with is not SVG ({error})") from None
    if root.tag not in (f"{{{SVG}}}svg", "svg"):
        raise OutputError(f"drew no figure: the text it ends with is <{root.tag.rpartition('}')[2]}>, not <svg>")
    _take_out(root)
    _move_style(root)
    ids = {element.get("id"): prefix + element.get("id", "") for element in root.iter() if element.get("id")}
    for element in root.iter():
        _tidy_attributes(element, ids)
    root.attrib.setdefault("fill", "currentColor")
    return ElementTree.tostring(root, encoding="unicode").strip()


def _take_out(element: ElementTree.Element) -> None:
    """Take out what a page must not run, and the file's history."""
    for child in list(element):
        if not isinstance(child.tag, str) or child.tag.rpartition("}")[2] in UNWANTED:
            element.remove(child)
        else:
            _take_out(child)


def _move_style(root: ElementTree.Element) -> None:
    """Make matplotlib's style sheet, which would hold for the whole page, the picture's own."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] != "style":
                continue
            rule = FOR_ALL.fullmatch(child.text or "")
            if rule is None:
                raise OutputError("the SVG has a style sheet, which would change the whole page; use style attributes")
            root.set("style", rule[1])
            parent.remove(child)


def _tidy_attributes(element: ElementTree.Element, ids: dict[str | None, str]) -> None:
    allowed = LINKED if str(element.tag).rpartition("}")[2] == "a" else SHOWN
    for name, value in list(element.attrib.items()):
        local = name.rpartition("}")[2]
        if local.startswith("on") or (local in ("href", "src") and not allowed.match(value)):
            del element.attrib[name]
        elif local == "id":
            element.set(name, ids[value])
        elif local == "href" and value.startswith("#"):
            element.set(name, f"#{ids.get(value[1:], value[1:])}")
        else:
            value = REFERENCE.sub(lambda found: f"url(#{ids.get(found[1], found[1])})", value)
            element.set(name, BLACK.sub("currentColor", value) if local in COLOURED else value)
