"""What the head of a chapter says: `level: beginner`, and `scratchbook_page_seconds: 120`.  Runs nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from scratchbook.core.errors import Mistake, Place
from scratchbook.ext.directive import path_from_root, positive
from scratchbook.ext.domain import domain_of

PREFIX: Final = "scratchbook_"
LEVEL: Final = "level"
LEVELS: Final = ("beginner", "intermediate", "advanced", "reference")
PAGE_SECONDS: Final = "scratchbook_page_seconds"


class ReadFrontMatter(SphinxTransform):
    """Note the limit that a chapter sets for itself, and look at its level: MyST's front matter, or a field list."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Keep what can be used; tell the rest, one message a line."""
        docname, domain = self.env.current_document.docname, domain_of(self.env)
        for field in self.document.findall(nodes.field):
            name, text = field[0].astext(), field[1].astext()
            if not isinstance(field.parent, nodes.docinfo):
                continue
            try:
                if name == LEVEL:
                    check_level(text)
                elif name.startswith(PREFIX):
                    domain.page(docname).seconds = read_field(name, text)
            except ValueError as error:
                mistake = Mistake("option", str(error), self.place_of(name, docname))
                domain.page(docname).mistakes.append(mistake)

    def place_of(self, name: str, docname: str) -> Place:
        """Return the line on which a chapter names a field: a parser knows only where all of them begin."""
        path = self.env.doc2path(docname)
        lines = Path(path).read_text(encoding="utf-8-sig", errors="replace").splitlines()
        pattern = re.compile(rf"[:\"']?{re.escape(name)}\b")
        line = next((number for number, text in enumerate(lines, 1) if pattern.match(text)), 1)
        return Place(path_from_root(self.env, str(path)), line)


def check_level(text: str) -> None:
    """Raise ValueError for a level that there is not; its text is the author's."""
    if text not in LEVELS:
        raise ValueError(f"level is '{text}'; write {', '.join(LEVELS[:-1])} or {LEVELS[-1]}")


def read_field(name: str, text: str) -> float:
    """Return the seconds that a field says.  Raises ValueError, whose text is the author's."""
    if name != PAGE_SECONDS:
        raise ValueError(f"the head of a chapter has no '{name}'; it may set {PAGE_SECONDS}")
    try:
        return positive(text)
    except ValueError:
        raise ValueError(f"{PAGE_SECONDS} is '{text}'; write a number of seconds that is more than 0") from None


def register(app: Sphinx) -> None:
    """Read the head of each chapter."""
    app.add_transform(ReadFrontMatter)
