"""Make light what matplotlib writes: letters as words in the reader's font, heat maps with palettes.  SVG to SVG."""

from __future__ import annotations

import base64
import io
import math
import re
from typing import Final
from xml.etree import ElementTree

SVG: Final = "{http://www.w3.org/2000/svg}"
PLACED: Final = "DejaVu Sans"  # the font that matplotlib measures with, see matplotlibrc
OWN_FONT: Final = re.compile(rf"\s*font-family:\s*'{PLACED}'\s*;?")
NUMBER: Final = re.compile(r"-?[\d.]+(e-?\d+)?")
SIZE: Final = re.compile(r"font-size:\s*([\d.]+)px")
PICTURE: Final = re.compile(r"(data:image/png;base64,)([A-Za-z0-9+/=\s]+)")
WIDEST_LETTER: Final = 1.05  # em: what stands further on is no neighbour
MOST_COLOURS: Final = 256


def lighten(svg: str) -> str:
    """Return a figure whose letters are text and whose pictures hold each colour once; what it shows stays.

    The font is named once, as an attribute, which the style sheet of a page outweighs; a picture on its own keeps it.
    """
    root = ElementTree.fromstring(PICTURE.sub(lambda found: found[1] + with_palette(found[2]), svg))
    root.set("font-family", f"{PLACED}, sans-serif")
    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", OWN_FONT.sub("", element.attrib["style"]).strip())
        if element.tag == f"{SVG}text":
            join_letters(element)
    return ElementTree.tostring(root, encoding="unicode")


def join_letters(text: ElementTree.Element) -> None:
    """Join the letters of a formula, each of which matplotlib puts at a place of its own, where they stand in a row.

    Places are those of one font; the words of a row keep together in every other font too.
    """
    row: ElementTree.Element | None = None
    end = 0.0
    for letter in list(text):
        here = place_of(letter)
        if row is not None and is_neighbour(row, letter) and 0 < here - end < WIDEST_LETTER * size_of(letter):
            row.text = f"{row.text or ''}{letter.text or ''}"
            text.remove(letter)
        else:
            row = letter
            letter.tail = None
        end = here
    if len(text):
        text.text = None


def is_neighbour(row: ElementTree.Element, letter: ElementTree.Element) -> bool:
    """Whether two letters look alike and stand on one line."""
    return all(row.get(name) == letter.get(name) for name in ("y", "style"))


def place_of(letter: ElementTree.Element) -> float:
    """Return where a letter stands; what has a place for each of its letters, or none, is no neighbour: NaN."""
    place = letter.get("x", "")
    return float(place) if NUMBER.fullmatch(place) else math.nan


def size_of(letter: ElementTree.Element) -> float:
    """Return the size of a letter in pixels, 0 when it does not say."""
    found = SIZE.search(letter.get("style", ""))
    return float(found[1]) if found else 0.0


def with_palette(picture: str) -> str:
    """Return the same PNG with its colours in a palette, where they are few and opaque and that is less.

    picture: a PNG in base64.
    """
    import numpy as np
    from PIL import Image

    content = base64.b64decode(picture)
    pixels = np.asarray(Image.open(io.BytesIO(content)).convert("RGBA"))
    colours, indices = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    if len(colours) > MOST_COLOURS or colours[:, 3].min() < 255:
        return picture
    drawn = Image.fromarray(indices.reshape(pixels.shape[:2]).astype(np.uint8), "P")
    drawn.putpalette(colours[:, :3].astype(np.uint8).tobytes())
    buffer = io.BytesIO()
    drawn.save(buffer, "PNG", optimize=True)
    light = buffer.getvalue()
    return base64.b64encode(light).decode("ascii") if len(light) < len(content) else picture
