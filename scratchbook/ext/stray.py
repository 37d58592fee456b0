"""Markup that the parser took for words, such as a role that never closes: nothing of it passes quietly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from docutils import nodes
from docutils.utils import get_source_line
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import is_directive_registered

from scratchbook.core.errors import Mistake, Place
from scratchbook.ext.directive import find_spot
from scratchbook.ext.domain import Slot, domain_of
from scratchbook.ext.inline import count_breaks, enclosing_text

# A role that nothing closes; `|` ends it within a table.
OPEN_ROLE: Final = re.compile(r"\{[A-Za-z][\w:+.-]*\}(?=`)")
OUR_OPEN_ROLE: Final = re.compile(r"\{(?:value|claim|formula)\}(?=`)")
# What stands before words in backticks and is no role.
LOOSE_ROLE: Final = re.compile(r"(?:\{ *(value|claim|formula) *\}|:(value|claim|formula):)\s*\Z")
DISPLAY: Final = re.compile(r"^[ \t]*\$\$|\$\$[ \t]*$", re.MULTILINE)
FENCE: Final = re.compile(r"^[ \t]*((?:`{3,}|:{3,}|~{3,})[ \t]*\{[A-Za-z][\w:+.-]*\})", re.MULTILINE)
COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
# A directive of reStructuredText in Markdown; how it begins is checked against the names that there are.
OTHER_MARKUP: Final = re.compile(r"^[ \t]*\.\. ([a-z][\w:+.-]*)::", re.MULTILINE)
# A display of LaTeX; in Markdown it is one only with amsmath, and only where it begins a line.
ENVIRONMENT: Final = re.compile(r"\\begin\{[A-Za-z]+\*?\}")
HEAD: Final = "write its name within braces without a blank, and a blank behind them"
LEFT: Final = "and stands on the page as it is"
# The two halves of a formula and of code that `|` has parted; a price has neither.
TORN: Final = (
    (re.compile(r"(?<![\w\\$])\$(?=[^\s$])[^$]*\Z"), re.compile(r"\A[^$]*[^\s$]\$(?!\w)")),
    (re.compile(r"`[^`]*\Z"), re.compile(r"\A[^`]*`")),
)
# Here syntax is shown, or nothing is.
QUOTED: Final = (nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.comment, nodes.system_message)


class FindStrayMarkup(SphinxTransform):
    """Tell of each role, display and fence of a chapter that has become words on its page."""

    default_priority = 690  # before headings lose their values, which then stand there as words

    def apply(self, **kwargs: Any) -> None:
        """Leave one message a place."""
        for node in list(self.document.findall(nodes.Text)):
            for start, text in find_stray(node):
                self.tell(text, self.place_of(node, start))
        for element in list(self.document.findall(nodes.Element)):
            if text := misspelt_head(element):
                self.tell(text, find_spot(self.env, *get_source_line(element)).place)
                element["language"] = "none"  # or Pygments would tell of it too
            for found in OPEN_ROLE.finditer(plain_option(element)):
                text = f"'{found[0]}' is no role in a text that is not typeset, such as :alt:; write its words there"
                self.tell(text, find_spot(self.env, *get_source_line(element)).place)

    def tell(self, text: str, place: Place) -> None:
        """Leave a message."""
        page = domain_of(self.env).page(self.env.current_document.docname)
        page.mistakes.append(Mistake("markup", text, place))

    def place_of(self, node: nodes.Text, start: int) -> Place:
        """Return the line of the chapter in which a letter of a text stands."""
        before = node.parent.children[: position(node)]
        breaks = node[:start].count("\n") + sum(map(count_breaks, before))
        is_block = isinstance(node.parent, nodes.raw) and not isinstance(node.parent.parent, nodes.TextElement)
        block, more = (node.parent, 0) if is_block else enclosing_text(node.parent)
        place = find_spot(self.env, *get_source_line(block)).place
        return Place(place.path, place.line + count_rows(block) + breaks + more)


def find_stray(node: nodes.Text) -> Iterator[tuple[int, str]]:
    """Yield where in a text markup begins that does nothing, and what to say of it."""
    if not any(letter in node for letter in "{:$`") or enclosing(node, QUOTED) is not None:
        return
    is_formula, is_raw = (isinstance(node.parent, kind) for kind in (nodes.math | nodes.math_block, nodes.raw))
    words = COMMENT.sub(lambda found: re.sub("[^\n]", " ", found[0]), node)
    for found in (OUR_OPEN_ROLE if is_formula else OPEN_ROLE).finditer(words):
        choice = "a formula has no roles" if is_formula else "close its backtick"
        choice += ", and write | as \\| in a table" if enclosing(node, (nodes.entry,)) is not None else ""
        yield found.start(), f"'{found[0]}' is no role here {LEFT}; {choice}"
    if torn := find_torn(node, words):
        choice = "write | as \\| in a table"
        yield torn.start(), f"'{torn[0].strip()}' is torn in two, since a cell ends at |; {choice}"
    for found in FENCE.finditer(words):
        choice = "begin a line with it, write no backtick behind it, and enable colon_fence for one of colons"
        yield found.start(1), f"'{found[1]}' begins no block here {LEFT}; {choice}"
    for found in OTHER_MARKUP.finditer(words):
        if is_directive_registered(found[1]):
            choice = f"write ```{{{found[1]}}} on a line, its content, and ``` below"
            yield found.start(), f"'{found[0].strip()}' begins no block in Markdown {LEFT}; {choice}"
    if not is_formula and (display := DISPLAY.search(words)):
        choice = "enable dollarmath, and end each display with $$ before the next begins"
        yield display.start(), f"'$$' begins and ends no display here {LEFT}; {choice}"
    elif not is_formula and not is_raw and (environment := ENVIRONMENT.search(words)):
        choice = "write $$ around it, or enable amsmath and begin a paragraph with it"
        yield environment.start(), f"'{environment[0]}' begins no display here {LEFT}; {choice}"
    loose = LOOSE_ROLE.search(node)
    if loose and isinstance(following(node), nodes.literal | nodes.title_reference):
        choice = f"write {{{loose[1] or loose[2]}}} with the backtick right behind it"
        yield loose.start(), f"'{loose[0].strip()}' is no role here {LEFT}; {choice}"


def count_rows(block: nodes.Node) -> int:
    """Return how many lines below its table's first a cell stands, where the parser has told only that one."""
    row = enclosing(block, (nodes.row,))
    if row is None or not isinstance(row.parent, nodes.tbody) or row.parent.parent.line != block.line:
        return 0
    return 2 + row.parent.index(row)


def plain_option(element: nodes.Element) -> str:
    """Return what an element says as plain text outside its words: the text of a picture, the caption of contents."""
    if isinstance(element, nodes.image):
        return str(element.get("alt", ""))
    if isinstance(element, addnodes.toctree):
        return str(element.get("caption") or "")
    slot = element.get("scratchbook")
    return str(slot.options.get("alt", "")) if isinstance(slot, Slot) else ""


def misspelt_head(element: nodes.Element) -> str:
    """Return what to say of a fence whose first word was meant for a directive; nothing of any other element."""
    if isinstance(element, nodes.container) and element.get("is_div"):
        name = next((str(word) for word in element["classes"] if word.startswith("{")), "")
        return f"':::{name}' is no directive; {HEAD}" if name else ""
    name = str(element.get("language", "")) if isinstance(element, nodes.literal_block) else ""
    if name.startswith("{"):
        return f"'```{name}' is no directive; {HEAD}"
    if is_directive_registered(name) and not is_language(name):
        return f"'```{name}' is code in a language that nobody knows; write ```{{{name}}}"
    return ""


def is_language(name: str) -> bool:
    """Whether Pygments colours it."""
    try:
        get_lexer_by_name(name)
    except ClassNotFound:
        return False
    return True


def find_torn(node: nodes.Text, words: str) -> re.Match[str] | None:
    """Return the beginning of a formula or of code that ends in another cell of its row."""
    entry = enclosing(node, (nodes.entry,))
    if entry is None or OPEN_ROLE.search(words):
        return None
    later = entry.parent.children[entry.parent.index(entry) + 1 :]
    texts = [text for cell in later for text in cell.findall(nodes.Text) if enclosing(text, QUOTED) is None]
    for begins, ends in TORN:
        found = begins.search(words)
        if found and any(ends.search(text) for text in texts):
            return found
    return None


def enclosing(node: nodes.Node, kinds: tuple[type[nodes.Element], ...]) -> nodes.Element | None:
    """Return the innermost node of one of these kinds in which a node stands."""
    parent: nodes.Element | None = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent


def position(node: nodes.Text) -> int:
    """Return which child of its parent a text is; another one with the same words is not it."""
    return next(index for index, child in enumerate(node.parent.children) if child is node)


def following(node: nodes.Text) -> nodes.Node | None:
    """Return what stands right behind a text."""
    rest = node.parent.children[position(node) + 1 :]
    return rest[0] if rest else None


def register(app: Sphinx) -> None:
    """Look through each chapter once it is read."""
    app.add_transform(FindStrayMarkup)
