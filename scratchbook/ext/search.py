"""What the search finds: by title sections, tables and exercises, not each box and option; as text numbers too.

Sphinx's index takes every title of a page for the name of something.  What those say is still found as text.
"""

from __future__ import annotations

from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

FACTS: Final = frozenset({"stars", "exercise-kind"})
SHORTEST_NUMBER: Final = 4  # digits: shorter ones stand on every page


class English(SearchEnglish):
    """Sphinx's English with the numbers that code printed, such as the decimals of 0.3988, which Sphinx leaves out."""

    def word_filter(self, word: str) -> bool:
        """Whether the index has a word."""
        return super().word_filter(word) or (word.isdigit() and len(word) >= SHORTEST_NUMBER)


class ExerciseTitle(nodes.title):
    """The title of an exercise, whose name is without its stars and its kind."""

    def astext(self) -> str:
        """Return what the exercise is called."""
        return "".join(child.astext() for child in self.children if not is_fact(child)).strip()


def is_fact(node: nodes.Node) -> bool:
    """Whether a part of a title says something about the exercise."""
    return isinstance(node, nodes.Element) and bool(FACTS & set(node["classes"]))


# The title of a box, which names no place.  Writers look for a visitor by the name of a class or one of its bases, so
# any of them writes this as the title that it is.
BoxTitle: Final = type("title", (nodes.TextElement,), {})


def rename_titles(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give the titles of boxes a form that the index passes over."""
    if app.builder.format != "html":
        return
    for title in list(doctree.findall(nodes.title)):
        box = title.parent
        if isinstance(box, nodes.Admonition) and isinstance(box, nodes.Element):
            form: Any = ExerciseTitle if "exercise" in box["classes"] else BoxTitle
            title.replace_self(form(title.rawsource, "", *title.children, **title.attributes))


def add_script(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the page of the search what keeps noise out of its excerpts."""
    if pagename == "search" and app.builder.format == "html":
        app.add_js_file("scratchbook-search.js", loading_method="defer")


def register(app: Sphinx) -> None:
    """Connect what the index sees."""
    app.add_search_language(English)
    app.connect("doctree-resolved", rename_titles, priority=910)
    app.connect("html-page-context", add_script)
