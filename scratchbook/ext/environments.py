r"""Displays in a TeX environment of their own, \begin{equation} in the text: numbered, and the same in every build.

MyST-Parser gives each a random label, so that it has a number; what is random would stand in the page.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from scratchbook.ext.domain import in_ids

CLASS = "amsmath"


def name_environments(app: Sphinx, doctree: nodes.document) -> None:
    """Give the numbered environments of a page labels by their order."""
    domain = app.env.domains.math_domain
    docname = app.env.current_document.docname
    blocks = [block for block in doctree.findall(nodes.math_block) if CLASS in block["classes"] and block.get("label")]
    for number, block in enumerate(blocks, start=1):
        label, random = f"{in_ids(docname)}:{number}", block["label"]
        domain.equations[label] = domain.equations.pop(random)
        block["label"] = label
        old, new = (nodes.make_id(f"equation-{name}") for name in (random, label))
        holder = doctree.ids[new] = doctree.ids.pop(old)
        holder["ids"] = [new if name == old else name for name in holder["ids"]]
        for target in doctree.findall(nodes.target):
            if target.get("refid") == old:
                target["refid"] = new


def register(app: Sphinx) -> None:
    """Name them before anything reads their labels."""
    app.connect("doctree-read", name_environments, priority=300)
