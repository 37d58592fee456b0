"""Where each option of a directive stands in its text.  Reads no value: the parser of the page has done that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

OPENING: Final = re.compile(r"\s*(`{3,}|:{3,}|~{3,}|\.\. )")
# Three colons open a box; one colon and anything is meant as an option, however it is spelled.
COLON_LINE: Final = re.compile(r"\s*:(?!::)(:?[^:]*):?")
FENCED_LINE: Final = re.compile(r"([^\s:#][^:]*):?")


def find_options(block_text: str) -> list[tuple[str, int]]:
    """Return the name of each option, and how many lines below the directive's own line it stands.

    block_text: the directive's text, with its opening line or without it.
    """
    lines = block_text.splitlines()
    first = 1 if lines and OPENING.match(lines[0]) else 0
    found = list(read_lines(lines[first:]))
    return [(name, offset + 1) for name, offset in found]


def read_lines(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Yield (name, index) of the option lines at the head of a directive, in either of MyST's two styles."""
    if lines and lines[0].startswith("---"):
        for index, line in enumerate(lines[1:], 1):
            if line.startswith("---"):
                return
            if match := FENCED_LINE.match(line):
                yield match[1].strip(), index
        return
    for index, line in enumerate(lines):
        match = COLON_LINE.match(line)
        if not match:
            return
        yield match[1].strip(), index


def repeated(names: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the last mention of each option that is given more than once."""
    counts = Counter(name for name, _ in names)
    last = dict(names)
    return [(name, last[name]) for name, count in counts.items() if count > 1]
