"""Select the lines that a tag expression means, exactly as Asciidoctor does.  Text in, lines out; opens nothing.

What Asciidoctor lets pass quietly passes here too: our stricter messages are made in `regions`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

# The word starts at a word boundary, the name is the shortest run of non-blanks, the brackets are empty, and then comes
# a blank, a CR or the end of the line.  Comment signs are not looked at, so that any language works.
TAG_LINE: Final = re.compile(r"\b(tag|end)::([^ \t\r\n\f\v]+?)\[\](?=[ \r]|\Z)")
ASCIIDOC_SUFFIXES: Final = frozenset({".adoc", ".asciidoc", ".asc", ".ad", ".txt"})


@dataclass(frozen=True)
class Selection:
    """What a page asks of a file; plain data, so `Selection(**dataclasses.asdict(it))` is the same again.

    tag: one name, never split.   tags: names split at ',' if there is one, else at ';'.   lines: '2;4..6', 1-based.
    `lines` beats `tag`, which beats `tags`.   indent: blanks before each line instead of the common indent; < 0 or None
    leaves it.   tabsize: columns a TAB goes to when an indent is set.   optional: the file may be missing.
    """

    tag: str | None = None
    tags: str | None = None
    lines: str | None = None
    indent: int | None = None
    optional: bool = False
    tabsize: int | None = None

    @property
    def names(self) -> dict[str, bool]:
        """Return the tag filter: each name or wildcard with its sign, at its first place, with its last sign."""
        if self.lines is not None:
            return {}
        if self.tag is not None:
            items = [self.tag]
        else:
            tags = self.tags or ""
            items = tags.split("," if "," in tags else ";")
        return {item.removeprefix("!"): not item.startswith("!") for item in items if item not in ("", "!")}

    @property
    def request(self) -> str:
        """Quote the option that counts, as a page wrote it; nothing for the whole file."""
        for option, value in (("lines", self.lines), ("tag", self.tag), ("tags", self.tags)):
            if value is not None:
                return f"{option} '{value}'"
        return ""


@dataclass(frozen=True)
class TagLine:
    """A line that opens ("tag") or closes ("end") a region.

    line: 1-based.   column: 0-based, where the word starts.
    """

    line: int
    column: int
    word: Literal["tag", "end"]
    name: str

    def __str__(self) -> str:
        return f"{self.word}::{self.name}[]"


@dataclass(frozen=True)
class Notice:
    """Something that Asciidoctor warns about.

    names: the one name meant; for "missing", every name not found, in the order they were asked for.
    line: of the start for "unclosed", of the end for "mismatched" and "unexpected", none for "missing".
    expected: the innermost open name, for "mismatched".
    """

    about: Literal["unclosed", "mismatched", "unexpected", "missing"]
    names: tuple[str, ...]
    line: int | None = None
    expected: str | None = None


@dataclass(frozen=True)
class Region:
    """Lines of a file with the numbers that they have in it.

    lines: without line ends.   numbers: 1-based, one a line.
    """

    lines: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def text(self) -> str:
        """Return the lines as a file would hold them."""
        return "".join(f"{line}\n" for line in self.lines)


def split_lines(text: str) -> list[str]:
    """Split a file at LF only, without a byte order mark and without the CR of CRLF."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def find_tag_lines(lines: list[str]) -> Iterator[TagLine]:
    """Find the lines that open or close a region; only the first mark on a line counts."""
    for number, line in enumerate(lines, start=1):
        # Most lines hold no "::", and looking for that costs less than a search.
        if "::" in line and (match := TAG_LINE.search(line)):
            yield TagLine(number, match.start(), "tag" if match[1] == "tag" else "end", match[2])


def select(text: str, path: str, selection: Selection) -> Region:
    """Select lines as Asciidoctor's include does; without a filter that is the whole file, marker lines too.

    path: only its suffix is looked at, because AsciiDoc files lose trailing blanks.
    """
    lines = split_lines(text)
    if os.path.splitext(path)[1].lower() in ASCIIDOC_SUFFIXES:
        lines = [line.rstrip() for line in lines]
    warnings: tuple[Notice, ...] = ()
    wanted = read_line_numbers(selection.lines or "", len(lines))
    if wanted is not None:
        numbers = [number for number in range(1, len(lines) + 1) if number in wanted]
    elif names := selection.names:
        numbers, warnings = _Walk(names).over(lines)
    else:
        numbers = list(range(1, len(lines) + 1))
    kept = indent_lines([lines[number - 1] for number in numbers], selection.indent, selection.tabsize)
    return Region(tuple(kept), tuple(numbers), warnings)


def read_line_numbers(ranges: str, count: int) -> set[int] | None:
    """Read '2;4..6;9..' into line numbers of a file of `count` lines; None where there is nothing to filter by.

    A negative end is the last line.  What is no number counts as 0, a line that never comes.
    """
    found: set[int] = set()
    for item in re.split("[,;]", ranges):
        first, dots, last = (part.strip() for part in item.partition(".."))
        if not item.strip():
            continue
        start = _number(first)
        if not dots:
            stop = start
        else:
            stop = _number(last) if last else -1
            stop = max(count, start) if stop < 0 else stop
        found.update(range(start, stop + 1))
    if not found:
        return None
    # Asciidoctor waits for the lowest number before it takes another, and line 0 never comes: '..2' selects nothing.
    return set() if min(found) < 1 else found


def indent_lines(lines: list[str], indent: int | None, tabsize: int | None) -> list[str]:
    """Replace the common indent of non-empty lines by `indent` blanks; a TAB is one column unless `tabsize` is set."""
    if indent is None or indent < 0:
        return lines
    if tabsize:
        lines = [line.expandtabs(tabsize) for line in lines]
    common = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return [" " * indent + line[common:] if line else "" for line in lines]


def _number(word: str) -> int:
    match = re.match(r"[+-]?\d+", word)
    return int(match[0]) if match else 0


class _Walk:
    """One walk through a file: which regions are open, and whether their lines come out."""

    def __init__(self, names: dict[str, bool]) -> None:
        self.names = dict(names)
        self.wild: bool | None = None
        if "**" in names:
            self.base = self.names.pop("**")
            first_sign = next(iter(self.names.values()), True)
            # '!**' before an exclusion means the other regions, as if '*' stood there.
            self.wild = self.names.pop("*", True if not self.base and not first_sign else None)
        elif "*" in names:
            is_first = next(iter(names)) == "*"
            self.wild = self.names.pop("*")
            self.base = is_first and not self.wild
        else:
            self.base = not any(names.values())
        self.open: list[tuple[TagLine, bool]] = []
        self.is_on = self.base
        self.found: set[str] = set()
        self.warnings: list[Notice] = []

    def over(self, lines: list[str]) -> tuple[list[int], tuple[Notice, ...]]:
        """Return the numbers of the lines that come out, and what is wrong with the markers."""
        marks = {mark.line: mark for mark in find_tag_lines(lines)}
        numbers = []
        for number in range(1, len(lines) + 1):
            mark = marks.get(number)
            if mark is None:
                if self.is_on:
                    numbers.append(number)
            elif mark.word == "tag":
                self._start(mark)
            else:
                self._end(mark)
        self.warnings += [Notice("unclosed", (mark.name,), mark.line) for mark, _ in self.open]
        missing = tuple(name for name, sign in self.names.items() if sign and name not in self.found)
        if missing:
            self.warnings.append(Notice("missing", missing))
        return numbers, tuple(self.warnings)

    def _start(self, mark: TagLine) -> None:
        if mark.name in self.names:
            self.is_on = self.names[mark.name]
            self.found.add(mark.name)
        elif self.wild is None:
            return
        else:
            is_inside_hole = bool(self.open) and not self.is_on
            self.is_on = self.wild and not is_inside_hole
        self.open.append((mark, self.is_on))

    def _end(self, mark: TagLine) -> None:
        if self.open and self.open[-1][0].name == mark.name:
            self.open.pop()
            self.is_on = self.open[-1][1] if self.open else self.base
            return
        if mark.name not in self.names:
            return
        for index in reversed(range(len(self.open))):
            if self.open[index][0].name == mark.name:
                expected = self.open[-1][0].name
                del self.open[index]
                self.warnings.append(Notice("mismatched", (mark.name,), mark.line, expected))
                return
        self.warnings.append(Notice("unexpected", (mark.name,), mark.line))
