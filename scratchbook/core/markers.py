"""Split the code of a page at its hide and skip markers into what is shown and what runs.  Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Final, Literal

from scratchbook.core.errors import ScratchbookError
from scratchbook.core.lint import comment_columns
from scratchbook.core.near import near_names

# As in sphinx-exec-code: the whole line, with its blanks and dashes taken out, in any case of letters.
MARKER: Final = re.compile(r"#(hide|skip):(start|stop|toggle)")
# In a comment: with a colon anywhere in it, or as all that it says.
NEAR_MISS: Final = re.compile(
    r"(?i)#[\s-]*(?:hid(?:e|den)|skip)[a-z]*\s*:+\s*(?:(?:start|stop|toggle)\b|(?P<word>\w*)[\s-]*\Z)"
    r"|#[\s-]*(?:hide|skip)[\s-]*(?:start|stop|toggle)[\s-]*\Z"
)
WORDS: Final = ("start", "stop", "toggle", "begin", "end", "on", "off")
STATES: Final = {"hide": "hidden", "skip": "skipped"}


@dataclass(frozen=True)
class Line:
    """A line of code and where it stood.  number: 1-based, in the code that was split."""

    text: str
    number: int


@dataclass(eq=False)
class MarkerError(ScratchbookError):
    """A hide or skip marker that is open at the end, out of order or mistyped.

    line: 1-based, in the code that was split; the caller knows where that stands in the chapter.
    """

    line: int = 1
    kind: str = field(default="region", kw_only=True)


def split_code(code: str) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Return the lines that a page shows and the lines that it runs, each without common indent and outer blank lines.

    `#hide:start` … `#hide:stop` runs and is not shown, `#skip:start` … `#skip:stop` is shown and not run, `…:toggle`
    switches.  Raises MarkerError at the marker that is never closed, comes out of order, or is none.
    Source: the markers of sphinx-exec-code 0.18, which lets the unclosed and the mistyped pass.
    """
    hide, skip = _Part("hide"), _Part("skip")
    for number, text in enumerate(code.split("\n"), start=1):
        if marker := MARKER.fullmatch(re.sub("[ -]", "", text).lower()):
            part = hide if marker[1] == "hide" else skip
            part.mark(marker[2], number)
            continue
        if near := NEAR_MISS.search(text):
            _refuse_near_miss(code, near, number)
        line = Line(text.rstrip(), number)
        hide.add(line)
        skip.add(line)
    shown = _dedent(hide.close())
    run = _dedent(skip.close())
    # A part of a block whose head is skipped runs by itself; sphinx-exec-code strips the first line only, too.
    return shown, (Line(run[0].text.lstrip(), run[0].number), *run[1:]) if run else ()


class _Part:
    """The lines that one kind of marker leaves."""

    def __init__(self, name: Literal["hide", "skip"]) -> None:
        self.name = name
        self.lines: list[Line] = []
        self.off_since: tuple[str, int] | None = None
        self.drops_blank = False

    def mark(self, word: str, number: int) -> None:
        """Switch at a marker; start and stop must alternate."""
        if word == "start" and self.off_since:
            fact = f"{self.name}:start comes where lines are {STATES[self.name]} already"
            raise MarkerError(f"{fact}; write {self.name}:stop before it", line=number)
        if word == "stop" and not self.off_since:
            fact = f"{self.name}:stop comes where no line is {STATES[self.name]}"
            raise MarkerError(f"{fact}; write {self.name}:start before it", line=number)
        # Blank lines after a stop belong to what was taken out.
        self.drops_blank = self.drops_blank or word == "stop"
        self.off_since = None if self.off_since else (word, number)

    def add(self, line: Line) -> None:
        """Keep a line unless it is taken out."""
        if self.off_since or (self.drops_blank and not line.text):
            return
        self.drops_blank = False
        self.lines.append(line)

    def close(self) -> list[Line]:
        """Return what is left, once the code has ended."""
        if self.off_since:
            word, number = self.off_since
            fact = f"'#{self.name}:{word}' is never closed, so all that follows is {STATES[self.name]}"
            raise MarkerError(f"{fact}; add '#{self.name}:stop'", line=number)
        filled = [index for index, line in enumerate(self.lines) if line.text]
        return self.lines[filled[0] : filled[-1] + 1] if filled else []


def _dedent(lines: Iterable[Line]) -> tuple[Line, ...]:
    lines = tuple(lines)
    texts = dedent("\n".join(line.text for line in lines)).split("\n")
    return tuple(Line(text, line.number) for text, line in zip(texts, lines, strict=bool(lines)))


def _refuse_near_miss(code: str, near: re.Match[str], number: int) -> None:
    """Raise MarkerError where what looks like a marker stands in a comment; a string may hold it."""
    if near["word"] and not near_names(near["word"].lower(), WORDS):
        return
    column = comment_columns(code.split("\n")).get(number)
    if column is not None and column <= near.start():
        fact = f"'{near[0].strip()}' looks like a marker and is none"
        choice = "write #hide or #skip with :start, :stop or :toggle, on a line of its own"
        raise MarkerError(f"{fact}; {choice}", line=number)
