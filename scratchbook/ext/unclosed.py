"""Boxes and blocks whose fence is never closed: Markdown lets them swallow the rest of the page, and says nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.parsers.mdit import create_md_parser
from sphinx.application import Sphinx

from scratchbook.core.errors import Mistake, Place
from scratchbook.ext.directive import path_from_root
from scratchbook.ext.domain import domain_of

FENCE: Final = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,}|:{3,})(?P<words>.*)")
NAME: Final = re.compile(r"\s*(\{[\w:+.-]+\})")
# Directives whose content is no Markdown.
LITERAL: Final = re.compile(
    r"\{(check|code|code-block|code-cell|doctest|eval-rst|exec_code|formulas|live|math|mermaid|parsed-literal|raw|"
    r"sourcecode|starter|testcode)\}"
)

Parse = Callable[[str], list[Token]]


@dataclass(frozen=True)
class Fence:
    """A block between fences.  first, end: 0-based lines, from its opening fence up to, not including, the rest.

    is_closed: by a line as far to the right as its first, or farther; another may stand outside a list that it is in.
    """

    first: int
    end: int
    marks: str
    words: str
    is_closed: bool

    @property
    def name(self) -> str:
        """What it begins with, as the author wrote it: marks, and a directive if there is one."""
        directive = NAME.match(self.words)
        return self.marks + (directive[1] if directive else "")

    @property
    def holds_boxes(self) -> bool:
        """Whether its content is Markdown too."""
        directive = NAME.match(self.words)
        return directive is not None and LITERAL.fullmatch(directive[1]) is None


def find_unclosed(text: str, parse: Parse, first: int = 0, outer: Fence | None = None) -> Iterator[tuple[int, str]]:
    """Yield the 0-based line of each fence that nothing closes, and what to say of it.

    parse: the blocks of a Markdown text, asked only where a quick look finds something.   first: the line of the text.
    outer: the box whose content it is.
    """
    lines = text.split("\n")
    for fence in read_fences(lines):
        if not fence.is_closed:
            for token in parse(text):
                if token.map and is_open(token, lines) and (token.info or token.content.strip()):
                    yield tell(first + token.map[0], Fence(0, 0, token.markup, token.info, False), first, outer)
        elif fence.holds_boxes:
            inside = "\n".join(lines[fence.first + 1 : fence.end - 1])
            yield from find_unclosed(inside, parse, first + fence.first + 1, fence)


def tell(line: int, fence: Fence, first: int, outer: Fence | None) -> tuple[int, str]:
    """Return where to say what of a fence; one that is as long as that around it has lost its end to it."""
    if outer and fence.marks.startswith(outer.marks):
        fact = f"'{outer.name}' ends where '{fence.name}' of line {line + 1} should, since its fence is not longer"
        return first - 1, f"{fact}; close it before that line, or begin and end it with {outer.marks + outer.marks[0]}"
    return line, (
        f"'{fence.name}' is never closed, so all that follows stands in it; end it with a line of {fence.marks}"
    )


def read_fences(lines: list[str]) -> Iterator[Fence]:
    """Yield the outermost fences, as far as lines alone tell."""
    opening: re.Match[str] | None = None
    begun = 0
    for number, line in enumerate(lines):
        found = FENCE.match(line)
        if found is None:
            continue
        if opening is None:
            if "`" in found["marks"] and "`" in found["words"]:
                continue  # code within a sentence
            opening, begun = found, number
        elif closes(found, opening["marks"]):
            is_within = len(found["indent"].expandtabs()) >= len(opening["indent"].expandtabs())
            yield Fence(begun, number + 1, opening["marks"], opening["words"], is_within)
            opening = None
    if opening is not None:
        yield Fence(begun, len(lines), opening["marks"], opening["words"], False)


def closes(found: re.Match[str], marks: str) -> bool:
    """Whether a line of marks closes the block that these began."""
    return found["marks"].startswith(marks) and not found["words"].strip()


def is_open(token: Token, lines: list[str]) -> bool:
    """Whether a block that the parser has found has no closing fence."""
    if token.type not in ("fence", "colon_fence") or token.map is None:
        return False
    first, end = token.map
    last = lines[end - 1].lstrip(" \t>") if end - 1 > first else ""
    found = FENCE.match(last)
    return found is None or not closes(found, token.markup)


def on_source_read(app: Sphinx, docname: str, content: list[str]) -> None:
    """Tell of the first fence of a chapter that nothing closes: what follows it is not what it seems."""
    path = str(app.env.doc2path(docname))
    config = getattr(app.env, "myst_config", None)
    if config is None or not path.endswith(".md"):
        return

    def parse(text: str) -> list[Token]:
        parser = create_md_parser(config, RendererHTML)
        parser.core.ruler.enableOnly(["normalize", "block"])
        return parser.parse(text)

    for line, text in itertools.islice(find_unclosed(content[0], parse), 1):
        place = Place(path_from_root(app.env, path), line + 1)
        domain_of(app.env).page(docname).mistakes.append(Mistake("markup", text, place))


def register(app: Sphinx) -> None:
    """Look at the text of each chapter."""
    app.connect("source-read", on_source_read)
