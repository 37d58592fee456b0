"""Name the directives and roles nearest to one that nobody knows, behind the parser's own message."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Final

from docutils.parsers.rst import directives, roles
from sphinx.application import Sphinx
from sphinx.domains import Domain

from scratchbook.core.near import near_names

LOGGER: Final = "sphinx.myst_parser.warnings_"
QUOTED: Final = re.compile(r"""["']([^"']+)["']""")
MOST: Final = 2


class NearestNames(logging.Filter):
    """Adds to a message about an unknown name what its author may have meant; lets every message pass."""

    def __init__(self, app: Sphinx) -> None:
        super().__init__()
        self.app = app

    def filter(self, record: logging.LogRecord) -> bool:
        """Complete the message."""
        known = {"directive_unknown": known_directives, "role_unknown": known_roles}.get(getattr(record, "subtype", ""))
        name = QUOTED.search(str(record.msg))
        if known and name:
            near = near_names(name[1], known(self.app.env.domains.sorted()), MOST)
            quoted = " or ".join(f"'{one}'" for one in near)
            record.msg = f"{str(record.msg).rstrip('.')}; did you mean {quoted}" if near else record.msg
        return True


def known_directives(domains: Iterable[Domain]) -> set[str]:
    """Return the names of all directives, as an author writes them."""
    return {*_tables(directives, "_directives", "_directive_registry"), *_prefixed(domains, "directives")}


def known_roles(domains: Iterable[Domain]) -> set[str]:
    """Return the names of all roles, as an author writes them."""
    return {*_tables(roles, "_roles", "_role_registry"), *_prefixed(domains, "roles")}


def _tables(module: ModuleType, *names: str) -> Iterator[str]:
    """Yield what is registered with docutils, which has no function that tells."""
    for name in names:
        yield from getattr(module, name, ())


def _prefixed(domains: Iterable[Domain], kind: str) -> Iterator[str]:
    """Yield the names that domains give, those of the standard one as they are."""
    for domain in domains:
        for name in getattr(domain, kind):
            yield name if domain.name == "std" else f"{domain.name}:{name}"


def listen(app: Sphinx) -> None:
    """Complete messages from the first page on.  A build that broke off may have left its filter."""
    stop_listening(app)
    logging.getLogger(LOGGER).addFilter(NearestNames(app))


def stop_listening(app: Sphinx, exception: Exception | None = None) -> None:
    """Leave the messages of others alone."""
    logger = logging.getLogger(LOGGER)
    for one in [one for one in logger.filters if isinstance(one, NearestNames)]:
        logger.removeFilter(one)


def register(app: Sphinx) -> None:
    """Listen as long as a build lasts."""
    app.connect("builder-inited", listen)
    app.connect("build-finished", stop_listening)
