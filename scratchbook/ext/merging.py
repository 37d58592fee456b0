"""A name that stands on two pages, read by two processes: told, and the same page has it however pages are shared out.

Sphinx tells of such a name when one process reads both pages; when it merges what two have read, the one that ends
last has it, without a word.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Set
from typing import Any, Final

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import __
from sphinx.util import logging

logger = logging.getLogger(__name__)

Merge = Callable[[BuildEnvironment, "list[str]", BuildEnvironment, Sphinx], None]


def keep_last(
    env: BuildEnvironment, docnames: Set[str], other: BuildEnvironment, domain: str, part: str
) -> Iterator[tuple[str, str, str]]:
    """Leave each name to the last page that has it, as one process would; yield (name, first page, last page).

    A page that the other process knew when it began is left out: it has told of that itself.
    """
    mine, theirs = env.domaindata[domain][part], other.domaindata[domain][part]
    for name, entry in list(theirs.items()):
        known = mine.get(name)
        if known and entry[0] in docnames and known[0] not in other.all_docs:
            first, last = sorted([known[0], entry[0]])
            if last != entry[0]:
                del theirs[name]
            yield name, first, last


def telling(merge: Merge) -> Merge:
    """Return a method that merges what another process has read, and tells of names that stand twice."""

    @functools.wraps(merge)
    def merge_and_tell(env: BuildEnvironment, docnames: list[str], other: BuildEnvironment, app: Sphinx) -> None:
        read = set(docnames)
        text = __("duplicate label of equation %s, other instance in %s")
        for name, first, last in keep_last(env, read, other, "math", "objects"):
            logger.warning(text, name, first, location=(last, None), type="ref", subtype="equation")
        text = __("duplicate label %s, other instance in %s")
        for name, first, last in keep_last(env, read, other, "std", "labels"):
            logger.warning(text, name, env.doc2path(first), location=(last, None))
        list(keep_last(env, read, other, "std", "anonlabels"))  # the same names, and those without a title
        merge(env, docnames, other, app)

    return merge_and_tell


# Made once, of Sphinx's own: a second project in this process must not wrap ours again.
MERGE: Final[Any] = telling(BuildEnvironment.merge_info_from)


def register(app: Sphinx) -> None:
    """Put ours in the place of Sphinx's own."""
    BuildEnvironment.merge_info_from = MERGE  # type: ignore[method-assign]
