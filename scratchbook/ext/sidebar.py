"""Render the side bar's table of contents once for the pages of a folder.  Changes no byte of a page.

Sphinx resolves and renders the table of the whole book anew for every page, which is two fifths of a build of 200
pages.  What differs between two pages of one folder is only the entry that leads to the page itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.dirhtml import DirectoryHTMLBuilder
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment.adapters.toctree import TocTree

# A table by entries takes longer than one as a whole: it is for those that come again and again.
TABLES_AS_A_WHOLE: Final = 4
FIRST: Final = 0  # of an event's handlers: what another extension puts in the place of the table stands


class Rendered(NamedTuple):
    """A list in HTML: what stands before its items, the items, and what stands behind them."""

    head: str
    items: str
    tail: str


@dataclass
class Contents:
    """The table of one book, as far as it was rendered.

    holds: entry -> all pages below it, and itself.   known: (folder, options, table, entry) -> the entry's list.
    whole: (folder, options) -> the tables beside a page that none of them leads to, such as the index.
    """

    builder: StandaloneHTMLBuilder
    tables: list[addnodes.toctree] = field(default_factory=list)
    holds: dict[str, set[str]] = field(default_factory=dict)
    known: dict[Any, Rendered | None] = field(default_factory=dict)
    whole: dict[Any, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        env = self.builder.env
        self.tables = list(env.master_doctree.findall(addnodes.toctree))
        for table in self.tables:
            for _, name in table["entries"]:
                self.holds[name] = pages_below(name, env.toctree_includes)
            self.holds["self"] = {table["parent"]}

    def render(self, docname: str, options: dict[str, Any]) -> str:
        """Return the whole table as one page shows it."""
        key = self.key(docname, options)
        return "".join(self._table(docname, number, key, options) for number in range(len(self.tables)))

    def leads_to(self, docname: str) -> bool:
        """Tell whether a page is in the table."""
        return any(docname in pages for pages in self.holds.values())

    def key(self, docname: str, options: dict[str, Any]) -> tuple[Any, ...]:
        """Return what two pages have in common whose tables differ in their own entries only."""
        folder = self.builder.get_target_uri(docname).rpartition("/")[0]
        return folder, *sorted(options.items())

    def _table(self, docname: str, number: int, key: tuple[Any, ...], options: dict[str, Any]) -> str:
        """Return one table: entries as they were rendered before, those that lead to the page anew."""
        table = self.tables[number]
        lists: list[tuple[bool, Rendered]] = []
        for position, entry in enumerate(table["entries"]):
            is_own = docname in self.holds[entry[1]]
            place = (key, number, position)
            if is_own or place not in self.known:
                found = self._entry(docname, table, entry, options)
                if not is_own:
                    self.known[place] = found
            else:
                found = self.known[place]
            if found:
                lists.append((is_own, found))
        if not lists:
            return ""
        frame = next((found for is_own, found in lists if is_own), lists[0][1])
        return frame.head + "".join(found.items for _, found in lists) + frame.tail

    def _entry(
        self, docname: str, table: addnodes.toctree, entry: tuple[str, str], options: dict[str, Any]
    ) -> Rendered | None:
        """Have Sphinx render a table with a single entry."""
        single = table.copy()
        single["entries"] = [entry]
        node = TocTree(self.builder.env).resolve(docname, self.builder, single, **options)
        if node is None:
            return None
        html = self.builder.render_partial(node)["fragment"]
        begin = html.index(">\n", html.index("<ul")) + 2
        end = html.rindex("</ul>")
        return Rendered(html[:begin], html[begin:end], html[end:])


def pages_below(name: str, includes: dict[str, list[str]]) -> set[str]:
    """Return a page and all pages that its tables of contents lead to."""
    found, waiting = {name}, [name]
    while waiting:
        new = set(includes.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


class Sidebar:
    """Gives themes the table of this build, where Sphinx would give its own."""

    contents: Contents | None = None
    asked: Counter[Any]

    def on_write_started(self, app: Sphinx, builder: Any) -> None:
        """Forget the table of an earlier build.  With a folder for each page nothing would be shared."""
        is_plain = getattr(type(builder), "_get_local_toctree", None) is StandaloneHTMLBuilder._get_local_toctree
        shares = is_plain and not isinstance(builder, DirectoryHTMLBuilder)
        self.contents = Contents(builder) if shares else None
        self.asked = Counter()

    def on_page_context(self, app: Sphinx, docname: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        """Let a theme ask us for the table, with the options that Sphinx knows."""
        contents, whole, asked = self.contents, context.get("toctree"), self.asked
        if contents is None or whole is None:
            return

        def toctree(
            *, collapse: bool = True, includehidden: bool = False, maxdepth: int | str = 0, titles_only: bool = False
        ) -> str:
            options: dict[str, Any] = {"collapse": collapse, "includehidden": includehidden, "titles_only": titles_only}
            options["maxdepth"] = int(maxdepth or 0)
            key = contents.key(docname, options)
            asked[key] += 1
            if asked[key] > TABLES_AS_A_WHOLE:
                return contents.render(docname, options)
            if contents.leads_to(docname):
                return str(whole(**options))
            if key not in contents.whole:
                contents.whole[key] = str(whole(**options))
            return contents.whole[key]

        context["toctree"] = toctree


def register(app: Sphinx) -> None:
    """Wait for what the project wants."""
    app.connect("config-inited", on_config_inited)


def on_config_inited(app: Sphinx, config: Any) -> None:
    """Connect it, if the project wants a fast build."""
    if config.scratchbook_fast:
        sidebar = Sidebar()
        app.connect("write-started", sidebar.on_write_started)
        app.connect("html-page-context", sidebar.on_page_context, priority=FIRST)
