"""Outlines of pages: all that Sphinx numbers figures by, taken from each doctree once.  Changes no number.

After every edit Sphinx loads the doctrees of all pages and goes through each of their nodes, to find the few that have
a number.  That has no door either, so its own method is replaced, where it is the one that was read for this room.
"""

from __future__ import annotations

import hashlib
import linecache
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util import url_re

from scratchbook.ext.domain import domain_of

# Of Sphinx's own method, in 9.0 and 9.1, up to the head of what follows it.  Another may number otherwise: then it is
# left in its place.
KNOWN_METHOD: Final = "ec45643cb1cd4c2cd93f23b5994abf36e2c80cd3b5564ca0db9e54a6a713f800"
KNOWN_LINES: Final = 97

Numbers = tuple[int, ...]


class Section(NamedTuple):
    """A section with anything of an outline in it.  anchor: as in the table of contents."""

    anchor: str
    parts: tuple[Part, ...]


class Contents(NamedTuple):
    """A table of contents, by the pages that it leads to."""

    docnames: tuple[str, ...]


class Figure(NamedTuple):
    """Anything that can have a number of its kind: a figure, a table, a listing."""

    kind: str
    anchor: str


Part = Section | Contents | Figure


class Outline(NamedTuple):
    """What stands on a page, in page order.  kinds: how it was told what can have a number, see `numbered_kinds`."""

    kinds: str
    parts: tuple[Part, ...]


class FigureNumbers:
    """Goes through a book as its readers do, and counts figures of each kind within their section."""

    def __init__(self, env: BuildEnvironment) -> None:
        self.env = env
        self.kinds = numbered_kinds(env)
        self.generated = frozenset(env.domains.standard_domain._virtual_doc_names)
        self.seen: set[str] = set()
        self.counts: Counter[tuple[str, Numbers]] = Counter()

    def number_page(self, docname: str, section: Numbers) -> None:
        """Number what stands on a page and on those below it, unless they were met before."""
        if docname not in self.seen:
            self.seen.add(docname)
            self._number_parts(docname, self._outline(docname).parts, section)

    def _number_parts(self, docname: str, parts: tuple[Part, ...], section: Numbers) -> None:
        for part in parts:
            if isinstance(part, Section):
                self._number_parts(docname, part.parts, self._number_of(docname, part.anchor) or section)
            elif isinstance(part, Contents):
                for name in part.docnames:
                    if name not in self.generated:
                        self.number_page(name, section)
            else:
                numbers = self.env.toc_fignumbers.setdefault(docname, {}).setdefault(part.kind, {})
                numbers[part.anchor] = self._next(part.kind, section)

    def _number_of(self, docname: str, anchor: str) -> Numbers | None:
        """Return the number of a section: its own, even if that is none, or else that of its page."""
        numbers = self.env.toc_secnumbers.get(docname, {})
        return numbers[anchor] if anchor in numbers else numbers.get("")

    def _next(self, kind: str, section: Numbers) -> Numbers:
        counted = section[: self.env.config.numfig_secnum_depth]
        self.counts[kind, counted] += 1
        return (*counted, self.counts[kind, counted])

    def _outline(self, docname: str) -> Outline:
        """Return the outline that was kept since the page was read, or make it."""
        outlines = domain_of(self.env).outlines
        outline: Outline | None = outlines.get(docname)
        if outline is None or outline.kinds != self.kinds:
            self.env._pickled_doctree_cache.pop(docname, None)  # of an earlier build of this process
            doctree = self.env.get_doctree(docname)
            outline = outlines[docname] = Outline(self.kinds, tuple(parts_below(self.env, doctree)))
        return outline


def parts_below(env: BuildEnvironment, node: nodes.Element) -> Iterator[Part]:
    """Yield what stands below a node; a section with nothing in it changes no number and is left out."""
    for child in node.children:
        if isinstance(child, nodes.section):
            section = Section("#" + child["ids"][0], tuple(parts_below(env, child)))
            if section.parts:
                yield section
        elif isinstance(child, addnodes.toctree):
            names = [name for _, name in child["entries"]]
            yield Contents(tuple(name for name in names if name != "self" and not url_re.match(name)))
        elif isinstance(child, nodes.Element):
            kind = kind_of(env, child)
            if kind and child["ids"]:
                yield Figure(kind, child["ids"][0])
            yield from parts_below(env, child)


def kind_of(env: BuildEnvironment, node: nodes.Element) -> str | None:
    """Return what the number of a node counts; None for one without a number or without a caption."""
    for domain in env.domains.sorted():
        kind = domain.get_enumerable_node_type(node)
        if kind and not (isinstance(domain, StandardDomain) and not domain.get_numfig_title(node)):
            return kind
    return None


def numbered_kinds(env: BuildEnvironment) -> str:
    """Name all that can have a number: a conf.py can add to it, and Sphinx reads no page again for that."""
    return "; ".join(
        f"{domain.name} {name_of(type(domain))} {name_of(node)} {kind} {name_of(title)}"
        for domain in env.domains.sorted()
        for node, (kind, title) in sorted(domain.enumerable_nodes.items(), key=lambda item: name_of(item[0]))
    )


def name_of(thing: Any) -> str:
    """Return the full name of a class or a function; of anything without one, what no other build would call it."""
    return f"{thing.__module__}.{thing.__qualname__}" if hasattr(thing, "__qualname__") else repr(thing)


def assign_figure_numbers(env: BuildEnvironment) -> list[str]:
    """Number the figures of a book and return the pages whose numbers are others than before, as Sphinx does."""
    before = env.toc_fignumbers
    env.toc_fignumbers = {}
    if env.config.numfig:
        FigureNumbers(env).number_page(env.config.root_doc, ())
    return [docname for docname, numbers in env.toc_fignumbers.items() if numbers != before.get(docname)]


def is_known(method: Callable[..., Any]) -> bool:
    """Tell whether a method of Sphinx is the one that this room stands for; what cannot be read is not."""
    if (code := getattr(method, "__code__", None)) is None:
        return False
    # Not `inspect.getsource`: it asks each loaded module, and reads the method's tokens to find its end.
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :][:KNOWN_LINES]
    return hashlib.sha256("".join(lines).encode()).hexdigest() == KNOWN_METHOD


def on_builder_inited(app: Sphinx) -> None:
    """Have Sphinx's collector number by outlines: that of this project only, for others share its class."""
    for listener in app.events.listeners["env-get-updated"]:
        collector = getattr(listener.handler, "__self__", None)
        if isinstance(collector, TocTreeCollector) and is_known(collector.assign_figure_numbers):
            collector.assign_figure_numbers = assign_figure_numbers  # type: ignore[method-assign]


def register(app: Sphinx) -> None:
    """Wait for what the project wants."""
    app.connect("config-inited", on_config_inited)


def on_config_inited(app: Sphinx, config: Any) -> None:
    """Connect it, if the project wants a fast build."""
    if config.scratchbook_fast:
        app.connect("builder-inited", on_builder_inited)
