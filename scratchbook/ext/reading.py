"""What helps a reader find the way: level and reading time, what the neighbours are about, a description for search.

Front matter says `level:` and, for MyST, `html_meta: description`; the time is computed from what stands on the page.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _

from scratchbook.ext.domain import domain_of
from scratchbook.ext.incremental import DEPENDS_EVENT

HERE: Final = Path(__file__).parent
WORDS_A_MINUTE: Final = 220
SECONDS_A_LINE: Final = 1.5  # of code or of its output
SECONDS_AN_EQUATION: Final = 12.0
LONGEST_DESCRIPTION: Final = 160
CHAPTER_LINK: Final = re.compile(r'<li class="toctree-l1"><a class="reference internal" href="([^"#]+)">.*?</a>')

# What Sphinx and its extensions make beside the chapters.
MADE_PAGES: Final = {
    "404": "Nothing stands at this address. The first page of {} lists its chapters, and the search finds the rest.",
    "genindex": "The index of {}: its terms and the names of its code, each with the place where it is explained.",
    "search": "Search {}: its words, the names of its functions, and what its code printed.",
}
CELL: Final = re.compile(r"<td.*?</td>", re.DOTALL)
CODE: Final = re.compile(r'(?<=<span class="pre">)[^<]*')
JOINT: Final = re.compile(r"(?<=[^\W\d]{3})[_./](?=[^\W\d]{3})")


def show_facts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Under a chapter's title, say its level and how long it takes to read.

    It is no text of the chapter, so it is put into the page only: no index, excerpt or social card has it.
    """
    level = app.env.metadata.get(pagename, {}).get("level")
    if not level or doctree is None or app.builder.format != "html" or app.builder.name == "singlehtml":
        return
    facts = [f'<span class="chapter-level">{escape(_(str(level).capitalize()))}</span>']
    if level != "reference":
        time = escape(_("%d min read") % reading_minutes(doctree))
        facts.append(f'<span class="chapter-time">{time}</span>')
    context["body"] = context["body"].replace("</h1>", f'</h1>\n<p class="chapter-facts">{" ".join(facts)}</p>', 1)


def reading_minutes(document: nodes.document) -> int:
    """Return how many minutes a page takes: its words, its lines of code and its equations; what folds is extra."""
    seconds = 0.0
    for node in document.findall(nodes.Element):
        if isinstance(node, nodes.literal_block):
            seconds += SECONDS_A_LINE * len(node.astext().splitlines())
        elif isinstance(node, nodes.math_block):
            seconds += SECONDS_AN_EQUATION
        elif isinstance(node, nodes.TextElement) and not isinstance(node, nodes.raw | nodes.math):
            words = sum(len(child.split()) for child in node.children if isinstance(child, nodes.Text))
            seconds += words * 60 / WORDS_A_MINUTE
    return max(1, round(seconds / 60))


def keep_description(app: Sphinx, doctree: nodes.document) -> None:
    """Keep what a chapter says of itself, for its neighbours and for search engines."""
    said = next((meta["content"] for meta in doctree.findall(nodes.meta) if meta.get("name") == "description"), "")
    if said:
        domain_of(app.env).keep(app.env.current_document.docname, "descriptions", said)


def description_of(env: BuildEnvironment, docname: str) -> str:
    """Return a chapter's description, "" for none."""
    page = domain_of(env).pages.get(docname)
    return str(next(iter(page.kept.get("descriptions", ())), "")) if page else ""


def first_sentences(doctree: nodes.document) -> str:
    """Return the beginning of a page's first paragraph, for a page that does not describe itself."""
    first = next((node for node in doctree.findall(nodes.paragraph) if isinstance(node.parent, nodes.section)), None)
    text = " ".join(first.astext().split()) if first is not None else ""
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return re.sub(r"\s+\S*$", "", text[: LONGEST_DESCRIPTION - 1]) + "…"


def made_page(app: Sphinx, pagename: str) -> str:
    """Return what a page is for that no chapter stands behind, "" for one that we do not know."""
    return MADE_PAGES.get(pagename, "").format(app.config.project)


def complete_page(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page its description, its neighbours' descriptions, and the file of its style and script."""
    if app.builder.format != "html" or app.builder.name == "epub":
        return
    said = description_of(app.env, pagename)
    tags = context.get("metatags", "")
    if not said and 'name="description"' not in tags:
        text = first_sentences(doctree) if doctree is not None else made_page(app, pagename)
        if text:
            context["metatags"] = f'{tags}\n<meta name="description" content="{escape(text)}">'
    if said:
        context["meta"] = {**(context.get("meta") or {}), "og:description": said}
    _parent, before, after = app.builder.relations.get(pagename, (None, None, None))  # type: ignore[attr-defined]
    for key, docname in (("prev", before), ("next", after)):
        said = description_of(app.env, docname) if docname else ""
        if said and context.get(key):
            title = f'{context[key]["title"]}<span class="neighbour-description">{escape(said)}</span>'
            context[key] = {**context[key], "title": title}


def describe_chapters(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """In a page's table of contents, say below each chapter what it is about."""
    children = app.env.toctree_includes.get(pagename, ())
    if doctree is None or not children or app.builder.format != "html" or app.builder.name in ("epub", "singlehtml"):
        return
    said = {app.builder.get_relative_uri(pagename, name): description_of(app.env, name) for name in children}

    def described(found: re.Match[str]) -> str:
        text = said.get(unescape(found[1]), "")
        return found[0] + (f'<span class="toctree-description">{escape(text)}</span>' if text else "")

    context["body"] = CHAPTER_LINK.sub(described, context["body"])


def let_names_break(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Let long names of code break at their joints where room is narrow: in tables and in a page's contents."""
    if doctree is None or app.builder.format != "html" or app.builder.name == "epub":
        return
    context["body"] = CELL.sub(lambda cell: breakable(cell[0]), context["body"])
    if context.get("toc"):
        context["toc"] = breakable(context["toc"])


def breakable(html: str) -> str:
    """Return HTML in which names may break, not so near to their ends that a letter or two would stand alone.

    >>> breakable('<span class="pre">scratch.multi_head, W_q</span> multi_head')
    '<span class="pre">scratch.<wbr>multi_<wbr>head, W_q</span> multi_head'
    """
    return CODE.sub(lambda code: JOINT.sub(r"\g<0><wbr>", code[0]), html)


def what_pages_show(app: Sphinx) -> dict[str, list[Any]]:
    """Tell the incremental build how each page describes its neighbours and its chapters."""
    env = app.env
    return {
        docname: [description_of(env, name) if name else "" for name in (*near, *env.toctree_includes.get(docname, ()))]
        for docname, near in env.collect_relations().items()
    }


def add_files(app: Sphinx) -> None:
    """Give HTML pages the style sheet, and those that a browser opens the script."""
    if app.builder.format != "html":
        return
    app.config.html_static_path.append(str(HERE / "static"))
    app.add_css_file("scratchbook.css")
    if app.builder.name != "epub":
        app.add_js_file("scratchbook.js", loading_method="defer")
        app.add_js_file("scratchbook-scroll.js", loading_method="defer")
    if app.builder.name != "epub" and "sphinx_copybutton" not in app.extensions:
        app.add_js_file("scratchbook-copy.js", loading_method="defer")


def register(app: Sphinx) -> None:
    """Connect the reading aids."""
    app.connect("builder-inited", add_files)
    app.connect("doctree-read", keep_description)
    app.connect("html-page-context", show_facts)
    app.connect("html-page-context", describe_chapters)
    app.connect("html-page-context", let_names_break)
    app.connect("html-page-context", complete_page, priority=400)  # before sphinxext-opengraph reads it
    if DEPENDS_EVENT in app.events.events:
        app.connect(DEPENDS_EVENT, what_pages_show)
