"""Find what is wrong with the region markers of a whole file, whoever asks.  Text in, faults out; opens nothing."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scratchbook.core.errors import Mistake, Place
from scratchbook.core.near import near_names
from scratchbook.core.selection import TAG_LINE, TagLine, find_tag_lines, split_lines
from scratchbook.core.sources import is_python

# What an author may have meant as a marker, why it is none, and what to do; the first that fits is said.  Compiled at
# their first use: the builder loads this room and looks for none.
NEAR_MISSES: Final = (
    (r"\b(?:tag|end)::[^\s\[\]]+\[\]\t", "a TAB follows it", "put a blank there"),
    (r"\b(?:tag|end)::[^\s\[\]]+\[\]\S+", "text is glued to it", "put a blank after '[]'"),
    (r"\b(?:tag|end)::\[\]", "it has no name", "write 'tag::name[]'"),
    (r"\b(?:tag|end)::\S+\[[^\]]+\]", "its brackets are not empty", ""),
    (r"\w+(?:tag|end)::\S+\[\]", "text is glued before it", ""),
    (r"(?i)\b(?:tag|end):[^:\s]\S*\[\]", "it has one colon", ""),
    (r"(?i)\b(?:tag|end)::\S+\[\]", "it has a capital", ""),
    (r"(?i)\b(?:tag|end)s::?\S+\[\]", "the words are 'tag' and 'end'", ""),
    (r"(?i)\b(?:tag|end)[ \t]*:[ \t]*:[ \t]*\S*[ \t]*\[\]", "it has a blank inside", ""),
    (r"(?i)\A\W*\b(?:tag|end)[ \t]*:[ \t]*\S+[ \t]*\[\]", "it has one colon and a blank inside", ""),
    # Where words may follow, only right after a comment sign: 'tag::value' is C++, and prose may speak of markers.
    (r"(?i)\A\s*(?:#|//|--|/\*|<!--|\(\*|\{#|;|%)\W*\b(?:tag|end)::[ \t]*[\w./-]+(?=\s|\Z)", "it has no '[]'", ""),
)
MEANT: Final = re.compile(r"(?i)(tag|end)s?[ \t]*::?[ \t]*:?[ \t]*([^ \t\[\]]+)")
COMMENT_START: Final = re.compile(r"\s*[^\w\s]+\s*")
CODE_BEFORE: Final = re.compile(r"\w.*(?://|/\*|#|--|<!--|\(\*|\{#|;|%)\W*\Z")
# Characters that show nothing or turn the order of letters round, and line ends that Python does not know.
HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)


@dataclass(frozen=True)
class Fault:
    """A mistake in a source file and the region that it tears or hides; no name where it touches none.

    takes_code: the line is a marker for Asciidoctor and holds code or text of a string too.
    is_half: the marker has no other end.
    """

    mistake: Mistake
    name: str | None = None
    takes_code: bool = False
    is_half: bool = False

    @property
    def line(self) -> int:
        """Return the 1-based line in the source file."""
        return self.mistake.place.line if self.mistake.place else 0


@lru_cache(maxsize=32)  # a page shows many regions of one file
def find_faults(text: str, path: str) -> tuple[Fault, ...]:
    """Say once, at its line, all that is wrong with a file's markers and hidden characters.

    A marker in a string or after code counts for Asciidoctor and so for a selection; here it is a fault of its own, and
    takes no further part, so that one mistake is one message.
    """
    lines = split_lines(text)
    comments = comment_columns(lines) if is_python(path) else None
    marks = list(find_tag_lines(lines))
    swallowing = {mark.line: fault for mark in marks if (fault := _swallowed(mark, lines, comments, path))}
    clean = [mark for mark in marks if mark.line not in swallowing]
    unseen = [
        *_second_marks(clean, lines, path),
        *_near_misses(lines, {mark.line for mark in marks}, comments, path),
    ]
    # What lacks its other end because that is misspelt is said there.
    halves = {fault.name for fault in unseen}
    torn = [fault for fault in _Structure(path).faults(clean, lines) if not (fault.is_half and fault.name in halves)]
    faults = [*swallowing.values(), *unseen, *torn, *_hidden_characters(lines, path)]
    return tuple(sorted(faults, key=lambda fault: fault.line))


def comment_columns(lines: list[str]) -> dict[int, int]:
    """Return where the comment of each line of a Python file starts: 1-based line → 0-based column.

    What follows a place that Python cannot read (the run says so) is taken for a comment if a line starts with '#'.
    """
    columns: dict[int, int] = {}
    last = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            last = token.end[0]
            if token.type == tokenize.COMMENT:
                columns[token.start[0]] = token.start[1]
    except (tokenize.TokenError, SyntaxError):
        for number, line in enumerate(lines[last:], start=last + 1):
            if line.lstrip().startswith("#"):
                columns[number] = line.index("#")
    return columns


def _fault(path: str, line: int, text: str, name: str | None, *, takes_code: bool = False) -> Fault:
    return Fault(Mistake("region", text, Place(path, line)), name, takes_code)


def _swallowed(mark: TagLine, lines: list[str], comments: dict[int, int] | None, path: str) -> Fault | None:
    """Find a marker that takes code or part of a string away with its line."""
    before = lines[mark.line - 1][: mark.column]
    if comments is None:
        is_in_string, has_code = False, bool(CODE_BEFORE.search(before))
    else:
        column = comments.get(mark.line, len(lines[mark.line - 1]))
        is_in_string, has_code = mark.column < column, bool(before[:column].strip())
    if is_in_string:
        text = f"'{mark}' stands in a string and still counts as a marker; write it with a blank inside there"
        return _fault(path, mark.line, text, mark.name, takes_code=True)
    if has_code:
        text = f"'{mark}' stands after code, which goes with the marker's line; give it a line of its own"
        return _fault(path, mark.line, text, mark.name, takes_code=True)
    return None


class _Structure:
    """Which regions are open while all markers of a file are walked through."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.open: list[TagLine] = []
        self.found: list[Fault] = []
        self.reopened: set[str] = set()

    def faults(self, marks: list[TagLine], lines: list[str]) -> list[Fault]:
        """Return what is torn, crossed, empty or cannot be asked for."""
        code = [bool(line.strip()) for line in lines]
        for mark in marks:
            code[mark.line - 1] = False
        known = {mark.name for mark in marks if mark.word == "tag"}
        for mark in marks:
            if mark.word == "tag":
                self._start(mark)
            else:
                self._end(mark, code, known)
        for mark in self.open:
            if mark.name not in self.reopened:
                text = f"region '{mark.name}' is opened here and never closed; add 'end::{mark.name}[]'"
                self._say(mark, text, is_half=True)
        return self.found

    def _say(self, mark: TagLine, text: str, name: str = "", *, is_half: bool = False) -> None:
        mistake = Mistake("region", text, Place(self.path, mark.line))
        self.found.append(Fault(mistake, name or mark.name, is_half=is_half))

    def _start(self, mark: TagLine) -> None:
        earlier = [known for known in self.open if known.name == mark.name]
        if mark.name.startswith("!") or mark.name in ("*", "**"):
            self._say(mark, f"region '{mark.name}' can never be asked for; choose a name that starts with a letter")
        if earlier:
            self.reopened.add(mark.name)
            since = f"{self.path}:{earlier[0].line}"
            self._say(mark, f"region '{mark.name}' is opened again while open since {since}; close it first")
        self.open.append(mark)

    def _end(self, mark: TagLine, code: list[bool], known: set[str]) -> None:
        start = next((start for start in reversed(self.open) if start.name == mark.name), None)
        if start is None:
            self._end_of_nothing(mark, known)
            return
        inner = self.open[-1]
        self.open.remove(start)
        if inner.name != mark.name:
            since = f"{self.path}:{inner.line}"
            self._say(mark, f"region '{mark.name}' ends inside region '{inner.name}' of {since}; close that one first")
        elif not any(code[start.line : mark.line - 1]):
            self._say(start, f"region '{start.name}' is empty; put lines between its markers or remove both")

    def _end_of_nothing(self, mark: TagLine, known: set[str]) -> None:
        """Take an end whose name was never opened for the end of the innermost region with a name like it."""
        like = near_names(mark.name, [start.name for start in self.open], 1) if mark.name not in known else []
        if not like:
            self._say(mark, f"'{mark}' closes nothing; no region '{mark.name}' is open here", is_half=True)
            return
        self._say(mark, f"'{mark}' closes nothing; open here is '{like[0]}'", like[0])
        self.open.remove(next(start for start in reversed(self.open) if start.name == like[0]))


def _second_marks(marks: list[TagLine], lines: list[str], path: str) -> Iterator[Fault]:
    """Find a second marker on a line, which nobody sees."""
    for mark in marks:
        line = lines[mark.line - 1]
        if second := TAG_LINE.search(line, mark.column + len(str(mark))):
            text = f"'{second[0]}' stands behind '{mark}' and is not seen; give it a line of its own"
            yield _fault(path, mark.line, text, second[2])


def _near_misses(lines: list[str], marked: set[int], comments: dict[int, int] | None, path: str) -> Iterator[Fault]:
    """Find what looks like a marker, in a comment, and is none."""
    for number, line in enumerate(lines, start=1):
        if number in marked or ":" not in line:
            continue
        if comments is not None:
            comment = line[comments.get(number, len(line)) :]
        else:
            comment = line if COMMENT_START.match(line) else ""
        for pattern, reason, choice in NEAR_MISSES:
            if match := re.search(pattern, comment):
                meant = MEANT.search(match[0])
                what_to_do = choice or (f"write '{meant[1].lower()}::{meant[2]}[]'" if meant else "")
                text = f"'{match[0].strip()}' looks like a marker and is none: {reason}; {what_to_do}"
                yield _fault(path, number, text, meant[2] if meant else None)
                break


def _hidden_characters(lines: list[str], path: str) -> Iterator[Fault]:
    """Find characters that make the code that a reader sees another than the code that runs."""
    for number, line in enumerate(lines, start=1):
        if text := hidden_character(line):
            yield Fault(Mistake("source", text, Place(path, number)))


def hidden_character(line: str) -> str:
    """Return what to tell of the first character of a line that its reader cannot see, "" where there is none."""
    match = None if line.isascii() and line.isprintable() else HIDDEN.search(line)
    if match is None:
        return ""
    import unicodedata  # few files hold one

    name = unicodedata.name(match[0], "CONTROL CHARACTER")
    code = ord(match[0])
    escape = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    where = f"in column {match.start() + 1}"
    return f"hidden character U+{code:04X} {name} {where}; remove it or write it as '{escape}'"
