"""Say in a few lines what a figure shows: its words, its curves, its pictures.  SVG in, lines out; draws nothing.

The bytes of a figure depend on the last digits of its numbers, and those on the processor.  So a figure is compared
by these lines: words to the letter, numbers to half a point.  Each shape has two check sums over its numbers, with
signs drawn once, so that one point that moved by more than that moves them too.
"""

from __future__ import annotations

import base64
import hashlib
import io
import random
import re
from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree import ElementTree

NUMBER: Final = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
COLOUR: Final = re.compile(r"#([0-9a-fA-F]{6})\b")
PICTURE: Final = re.compile(r"data:image/[\w+.-]+;base64,(.*)", re.DOTALL)
PLACES: Final = re.compile(r"[xy][12]?|c[xy]|r[xy]?|width|height|points|transform")
CURVE_NUMBERS: Final = 16  # a path of fewer is a frame, a tick or a bar, and stands among the other shapes
# Colours are told apart by eye from about eight levels of 255 on.
LEVELS: Final = 16


def sketch(svg: str) -> list[str]:
    """Return the lines of a figure; none for a text that is no SVG.

    Numbers are in the figure's own units, which are points for matplotlib's.
    """
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError:
        return []
    lines, words = [], []
    others: list[float] = []
    hues: list[float] = []
    for element in drawn_elements(root):
        if element.tag.endswith("text"):
            words.append(" ".join("".join(element.itertext()).split()))
        numbers = [float(text) for text in NUMBER.findall(element.get("d", ""))]
        if len(numbers) >= CURVE_NUMBERS:
            lines.append(f"curve of {describe(numbers, list(colours(element)))}")
        else:
            others += numbers
            hues += colours(element)
        others += places(element)
        lines += pictures(element)
    rest = [f"other shapes of {describe(others, hues)}"] if others else []
    return [f"words: {' | '.join(words)}", *lines, *rest]


def drawn_elements(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield an element and all below it, without what is only defined there, to be drawn elsewhere."""
    yield element
    for child in element:
        if isinstance(child.tag, str) and not child.tag.endswith("defs"):
            yield from drawn_elements(child)


def describe(numbers: Sequence[float], hues: Sequence[float] = ()) -> str:
    """Return how many numbers there are, between which they lie, and two sums with drawn signs, of the hues too."""
    every = [*numbers, *hues]
    checks = [
        sum(number if sign else -number for number, sign in zip(every, signs(seed), strict=False)) for seed in (1, 2)
    ]
    low, high = min(numbers), max(numbers)
    return f"{len(numbers)} numbers from {low:.1f} to {high:.1f}, checks {checks[0]:.1f} {checks[1]:.1f}"


def signs(seed: int) -> Iterator[bool]:
    """Yield signs that look random and are always the same, without end."""
    drawn = random.Random(seed)
    while True:
        yield drawn.getrandbits(1) == 1


def places(element: ElementTree.Element) -> Iterator[float]:
    """Yield the numbers that say where an element is and how large."""
    for name, value in element.attrib.items():
        if PLACES.fullmatch(name):
            yield from (float(text) for text in NUMBER.findall(value))


def colours(element: ElementTree.Element) -> Iterator[float]:
    """Yield red, green and blue of an element's colours."""
    for name in ("fill", "stroke", "style"):
        for text in COLOUR.findall(element.get(name, "")):
            yield from (level / LEVELS for level in bytes.fromhex(text))


def pictures(element: ElementTree.Element) -> Iterator[str]:
    """Yield a line for a picture within the figure, such as a heat map."""
    for name, value in element.attrib.items():
        found = PICTURE.fullmatch(value) if name.rpartition("}")[2] == "href" else None
        if found:
            yield f"picture {describe_picture(found[1])}"


def describe_picture(content: str) -> str:
    """Return the size and the sums of a picture's pixels; its hash where it cannot be read here.

    content: its file in base64.
    """
    try:
        from PIL import Image  # there where matplotlib is

        with Image.open(io.BytesIO(base64.b64decode(content))) as picture:
            pixels = picture.convert("RGBA").tobytes()
            return f"{picture.width} × {picture.height}, {describe([level / LEVELS for level in pixels])}"
    except (ImportError, OSError, ValueError):
        return hashlib.sha256(content.encode()).hexdigest()
