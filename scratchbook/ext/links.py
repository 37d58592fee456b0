"""Links that would run something when a reader follows them: from a bibliography that was copied, or from a page."""

from __future__ import annotations

import re
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from scratchbook.ext.directive import place_of, quote

IGNORED: Final = re.compile(r"[\x00-\x20]")  # by browsers, before and within the name of a scheme
RUNS: Final = re.compile("(?:javascript|vbscript|data):", re.IGNORECASE)

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


def register(app: Sphinx) -> None:
    """Add the transform."""
    app.add_post_transform(DropLinksThatRun)
