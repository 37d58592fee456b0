"""Links that would run something when a reader follows them, and numbers of equations that two of them have."""

from __future__ import annotations

import re
from typing import Any, Final

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from scratchbook.ext.directive import path_from_root, place_of, quote
from scratchbook.ext.domain import domain_of

IGNORED: Final = re.compile(r"[\x00-\x20]")  # by browsers, before and within the name of a scheme
RUNS: Final = re.compile("(?:javascript|vbscript|data):", re.IGNORECASE)
CHOICE: Final = "numfig = True in conf.py counts them through the book"

logger = logging.getLogger(__name__)


class DropLinksThatRun(SphinxPostTransform):
    """Show the words of such a link without it, and say so."""

    default_priority = 100  # when lists of works and references have become links

    def run(self, **kwargs: Any) -> None:
        """Look at every link of a page."""
        for link in list(self.document.findall(nodes.reference)):
            uri = IGNORED.sub("", link.get("refuri", ""))
            if RUNS.match(uri):
                fact = f"the link to '{quote(uri)}' is left out, since a page must be safe to open"
                logger.warning(fact, type="scratchbook", subtype="output", location=place_of(self.env, link))
                link.replace_self(link.children)


class TellSharedNumbers(SphinxPostTransform):
    """Tell of an equation of another page whose number one of this page has too, as Sphinx counts without numfig."""

    default_priority = 5  # before references are resolved

    def run(self, **kwargs: Any) -> None:
        """Look at every reference to an equation.  LaTeX counts through the book by itself."""
        if (self.config.numfig and self.config.math_numfig) or domain_of(self.env).builder.format == "latex":
            return
        equations = self.env.domains.math_domain.equations
        taken = set(equations.values())
        for link in self.document.findall(pending_xref):
            docname, number = equations.get(link.get("reftarget"), ("", 0))
            if link.get("refdomain") == "math" and docname != link["refdoc"] and (link["refdoc"], number) in taken:
                path = path_from_root(self.env, str(self.env.doc2path(docname)))
                text = f"({number}) is an equation of {path}, and one of this page too; {CHOICE}"
                logger.warning(text, type="scratchbook", subtype="output", location=place_of(self.env, link))


def register(app: Sphinx) -> None:
    """Add the transforms."""
    app.add_post_transform(DropLinksThatRun)
    app.add_post_transform(TellSharedNumbers)
