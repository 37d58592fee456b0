"""What docutils and Sphinx work out anew for every page, worked out once.  Changes no byte of a page.

None of it has a door in docutils or Sphinx, so their own functions are replaced here by ones that give the same.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from docutils import SettingsSpec, frontend, nodes
from sphinx.application import Sphinx
from sphinx.util.logging import NAMESPACE, VERBOSITY_MAP

Populate = Callable[[frontend.OptionParser, Iterable[SettingsSpec]], None]


def find_below(node: nodes.Node, kind: type) -> Iterator[Any]:
    """Yield a node and all below it that are of a class, in the order of the text, while they are looked at.

    docutils' own is a generator in a generator for each level, and every node found climbs through all of them.  As
    with that one, a child that is replaced while it is looked at takes part no more.
    """
    if isinstance(node, kind):
        yield node
    levels = [iter(node.children)]
    while levels:
        for child in levels[-1]:
            if isinstance(child, kind):
                yield child
            if child.children:
                levels.append(iter(child.children))
                break
        else:
            levels.pop()


def once_for_all(populate: Populate) -> Populate:
    """Return the same method of docutils' option parser with a memory.

    Sphinx and MyST-Parser make such parsers for every page, of some hundred options each, and only ask them for what
    holds when no option is given.
    """
    known: dict[tuple[type, ...], dict[str, Any]] = {}

    @functools.wraps(populate)
    def populate_once(parser: frontend.OptionParser, components: Iterable[SettingsSpec]) -> None:
        components = tuple(components)
        kinds = tuple(one if isinstance(one, type) else type(one) for one in components)
        if kinds not in known:
            populate(parser, components)
            known[kinds] = copies(parser.__dict__)
        else:
            parser.__dict__.update(copies(known[kinds]) | {"components": components})

    return populate_once


def copies(values: dict[str, Any]) -> dict[str, Any]:
    """Return the same values under the same names, with lists and dicts that are nobody else's."""
    return {name: value.copy() if isinstance(value, list | dict) else value for name, value in values.items()}


def on_builder_inited(app: Sphinx) -> None:
    """Look for no style sheets of docutils, which Sphinx leaves out of every page, and make no records nobody reads.

    Sphinx notes every event, with all it carries, for `sphinx-build -vv`.
    """
    app.env.settings["stylesheet_path"] = None
    logger = logging.getLogger(NAMESPACE)
    logger.setLevel(max(logger.level, VERBOSITY_MAP[app.verbosity]))  # every project sets it anew as it begins


def register(app: Sphinx) -> None:
    """Replace what is slow, if the project wants it."""
    app.connect("config-inited", on_config_inited)


def on_config_inited(app: Sphinx, config: Any) -> None:
    """Put ours in the place of docutils' own, for this process, and connect the rest."""
    if not config.scratchbook_fast:
        return
    nodes.Node._fast_findall = find_below  # type: ignore[attr-defined]
    frontend.OptionParser.populate_from_components = POPULATE_ONCE  # type: ignore[method-assign, assignment]
    app.connect("builder-inited", on_builder_inited)


# Made once: what a second project in this process replaces is docutils' own again, and the memory is shared.
POPULATE_ONCE: Final = once_for_all(frontend.OptionParser.populate_from_components)
