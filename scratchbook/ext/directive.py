"""The base of our directives and roles: where the author wrote it, and a mistake that leaves the page whole."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from docutils.utils import get_source_line
from myst_parser.mocking import MockState
from sphinx.application import Sphinx
from sphinx.directives.code import CodeBlock
from sphinx.environment import BuildEnvironment
from sphinx.locale import _ as translate
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective, SphinxRole

from scratchbook.core.cells import Code
from scratchbook.core.errors import Mistake, Place, ScratchbookError
from scratchbook.core.lint import hidden_character
from scratchbook.core.markers import MarkerError, split_code
from scratchbook.core.near import near_names
from scratchbook.ext.domain import LiveDomain, Page, domain_of
from scratchbook.ext.options import OPENING, find_options, repeated

TRANSLATED: Final = re.compile(r":(\d+):<translated>$")
LONGEST_QUOTE: Final = 80
WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(_[0-9]{1,3}){0,6}")

Converter = Callable[[str], Any]
Words = TypeVar("Words", bound=nodes.TextElement)


class AnyOption(dict[str, Converter]):
    """Accept every option as text, so that we and not the parser tell the author what is wrong, in our own words."""

    def __missing__(self, name: str) -> Converter:
        return directives.unchanged


class Spot(NamedTuple):
    """Where a role or directive stands.  is_translated: it was read from a message catalogue, not from a chapter."""

    place: Place
    is_translated: bool


def find_spot(env: BuildEnvironment, source: str | os.PathLike[str] | None, line: int | None, ahead: int = 0) -> Spot:
    """Turn docutils' idea of a position into one from the project's root.  ahead: lines that it is ahead of it."""
    document = str(source or env.doc2path(env.current_document.docname))
    translated = TRANSLATED.search(document)
    if translated:
        return Spot(Place(path_from_root(env, document[: translated.start()]), int(translated[1])), True)
    return Spot(Place(path_from_root(env, document), (line or 1) - ahead), False)


def place_of(env: BuildEnvironment, node: nodes.Node) -> str:
    """Return where a node stands, as messages show it."""
    return str(find_spot(env, *get_source_line(node)).place)


def path_from_root(env: BuildEnvironment, path: str) -> str:
    """Return a path as messages show it: from the project's root, with forward slashes."""
    # A relative path is docutils' own, of a file that a chapter includes: it counts from the working folder.
    if not os.path.isabs(path):
        path = os.path.abspath(path) if os.path.exists(path) else os.path.join(env.srcdir, path)
    return shortened(path, domain_of(env).root)


@functools.lru_cache(1024)
def shortened(absolute: str, root: Path) -> str:
    """Return a path from the root; asked for the same file at every line of it."""
    path = Path(absolute)
    for candidate in (path, path.resolve()):
        if candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return path.as_posix()


def quote(text: str) -> str:
    """Return what an author wrote as a message quotes it: on one line, and not without end."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"


def flag(text: str) -> bool:
    """Read an option that is only there or not there."""
    if text.strip().lower() in ("", "true"):
        return True
    raise ValueError("it takes no value")


def required(text: str) -> str:
    """Read an option that needs a value."""
    if not text.strip():
        raise ValueError("it needs a value")
    return text.strip()


def positive(text: str) -> float:
    """Read a number of seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError("it must be a number of seconds, more than 0")
    return seconds


def whole_number(text: str) -> int:
    """Read a whole number."""
    if not WHOLE_NUMBER.fullmatch(text.strip()):
        raise ValueError("it must be a whole number")
    return int(text)


def number_of(text: str, what: str, least: int, most: float = math.inf) -> int:
    """Read how many of something there are.  least: 0 or 1."""
    if not WHOLE_NUMBER.fullmatch(text.strip()) or int(text) < least:
        raise ValueError(f"it must be a whole number of {what}, {'more than 0' if least else '0 or more'}")
    if int(text) > most:
        raise ValueError(f"there can be {most} {what} at most")
    return int(text)


class LiveDirective(SphinxDirective):
    """A directive whose mistakes become one message each, while the page keeps what the author wrote.

    A subclass sets `wanted` and writes `make_nodes`, which may raise ScratchbookError.
    """

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[AnyOption] = AnyOption({"class": directives.unchanged})
    wanted: ClassVar[dict[str, Converter]] = {}
    has_faulty_options = False

    def run(self) -> list[nodes.Node]:
        """Make the nodes, or show the author's text in a box where that failed."""
        self.faulty: set[str] = set()  # options whose value cannot be read
        try:
            self.options = dict(self._read_options())
            return self.make_nodes()
        except ScratchbookError as error:
            self.note(error.kind, error.text, error.place)
            return [*failure_box(error.text, "\n".join(self.content), self.get_source_info())]

    def make_nodes(self) -> list[nodes.Node]:
        """Return what stands on the page."""
        raise NotImplementedError

    @property
    def domain(self) -> LiveDomain:
        """The domain of this build."""
        return domain_of(self.env)

    @property
    def page(self) -> Page:
        """The record of the chapter that is being read."""
        return self.domain.page(self.env.current_document.docname)

    @property
    def place(self) -> Place:
        """The line on which the directive begins."""
        return find_spot(self.env, *self.get_source_info(), lines_ahead(self.state.document)).place

    def note(self, kind: str, text: str, place: Place | None = None) -> None:
        """Keep a mistake; `report` says it at the end of every build in which it is still there."""
        self.page.mistakes.append(Mistake(kind, text, place or self.place))

    def make_words(self, kind: type[Words], text: str) -> tuple[Words, list[nodes.system_message]]:
        """Return a title or a caption, and what Sphinx has to say of it; catalogues hold it as the author wrote it."""
        inline, messages = self.parse_inline(text)
        words = kind(text, "", *inline)
        self.set_source_info(words)
        return words, messages

    def code_block(self, lines: list[str], language: str, options: dict[str, Any]) -> list[nodes.Node]:
        """Let Sphinx make the code block, with its caption, name, numbers and emphasis."""
        content = StringList(lines, self.place.path)
        shown = CodeBlock(
            "code-block", [language], options, content, self.lineno, self.content_offset,
            self.block_text, self.state, self.state_machine,
        ).run()  # fmt: skip
        for block in literal_blocks(shown):
            block["scratchbook_fixed"] = True
        return shown

    def page_code(self) -> tuple[Code, Code]:
        """Return the content as it is shown and as it runs, each line with its number in the chapter."""
        self._refuse_hidden_characters()
        return split_page_code(list(self.content), self.place.path, first_line(self))

    def _refuse_hidden_characters(self) -> None:
        """Refuse code that is not what its reader sees; at some of these characters a parser tears lines as well."""
        lines = self.block_text.split("\n")
        first = 0 if OPENING.match(lines[0]) else 1
        options = [offset - first for _, offset in find_options(self.block_text)]
        begin = max(options, default=-1) + 1
        refuse_hidden_characters(lines[begin:], self.place.path, self.place.line + first + begin)

    def _read_options(self) -> Iterator[tuple[str, Any]]:
        found = find_options(self.block_text)
        for name, offset in repeated(found):
            self._note_option(offset, f"option '{name}' of {{{self.name}}} stands twice: take one of them away")
        if found and not self.options:
            # The parser could not read them and has said so: nothing more to say, but the build must fail.
            self._note_option(found[0][1], "")
        for name, raw in self.options.items():
            offset, converter = dict(found).get(name, 0), self.wanted.get(name)
            if converter is None:
                self._note_option(offset, f"{{{self.name}}} has no option '{name}'; {self._choice(name)}")
                continue
            try:
                yield name, converter(raw or "")
            except (ValueError, TypeError) as error:
                self.faulty.add(name)
                self._note_option(offset, f"option '{name}' of {{{self.name}}} is '{quote(raw or '')}': {error}")

    def _choice(self, name: str) -> str:
        near = near_names(name.lower(), self.wanted, 2, 0.7)
        return f"did you mean {' or '.join(near)}" if near else f"it has {', '.join(self.wanted) or 'none'}"

    def _note_option(self, offset: int, text: str) -> None:
        self.has_faulty_options = True
        self.note("option", text, Place(self.place.path, self.place.line + offset))


class KeepCode(SphinxTransform):
    """Let no translation touch code that runs, or the place of what it prints."""

    default_priority = 15  # Sphinx chooses what is translated at 10, and translates at 20

    def apply(self, **kwargs: Any) -> None:
        """Take back what `gettext_additional_targets` may have chosen."""
        for block in self.document.findall(nodes.literal_block):
            if block.attributes.pop("scratchbook_fixed", False) and "translatable" in block:
                block["translatable"] = False


class LiveRole(SphinxRole):
    """A role that knows its place and its page."""

    @property
    def spot(self) -> Spot:
        """Where the role stands."""
        return find_spot(self.env, *self.get_source_info(), lines_ahead(self.inliner.document))

    @property
    def docname(self) -> str:
        """The page that is being read."""
        return self.env.current_document.docname

    @property
    def page(self) -> Page:
        """The record of the chapter that is being read."""
        return domain_of(self.env).page(self.docname)

    def note(self, kind: str, text: str) -> None:
        """Keep a mistake; `report` says it at the end of every build in which it is still there."""
        self.page.mistakes.append(Mistake(kind, text, self.spot.place))


def lines_ahead(document: nodes.document) -> int:
    """Return how far MyST's lines are ahead of the chapter's: one for each substitution that it is filling in."""
    return len(getattr(document, "sub_references", ()))


def first_line(directive: SphinxDirective) -> int:
    """Return the 1-based line of the content's first line; MyST and docutils count it from different places."""
    if isinstance(directive.state, MockState):
        return directive.lineno + directive.content_offset + 1 - lines_ahead(directive.state.document)
    items = directive.content.items
    return items[0][1] + 1 if items else directive.content_offset + 1


def refuse_hidden_characters(lines: list[str], path: str, first: int = 1) -> None:
    """Raise ScratchbookError at the first line whose reader does not see all of it.  first: the line's number."""
    for number, line in enumerate(lines, first):
        if text := hidden_character(line):
            raise ScratchbookError(text, Place(path, number), kind="source")


def split_page_code(lines: list[str], path: str, first: int) -> tuple[Code, Code]:
    """Split code at its hide and skip markers.  first: the line of the chapter on which it begins."""
    try:
        parts = split_code("\n".join(lines))
    except MarkerError as error:
        raise ScratchbookError(error.text, Place(path, first + error.line - 1), kind=error.kind) from None
    shown, run = (
        Code(path, "\n".join(line.text for line in part), tuple(first + line.number - 1 for line in part))
        for part in parts
    )
    return shown, run


def literal_blocks(shown: list[nodes.Node]) -> list[nodes.literal_block]:
    """Return the code blocks among nodes, inside captions too."""
    return [block for node in shown for block in node.findall(nodes.literal_block)]


def failure_box(text: str, code: str, source: tuple[str | None, int | None]) -> Iterator[nodes.Node]:
    """Yield a box that tells the reader that something is missing here, with what the author wrote in it."""
    title = nodes.title("", translate("This block failed"))
    box = nodes.admonition("", title, nodes.paragraph(text, text), classes=["scratchbook-failure"])
    box["support_smartquotes"] = False
    box.source, box.line = source
    if code.strip():
        block = nodes.literal_block(code, code, language="none")
        block.source, block.line = source
        box += block
    yield box


def register(app: Sphinx) -> None:
    """Add what all code blocks share."""
    app.add_transform(KeepCode)
