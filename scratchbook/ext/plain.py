"""The book as plain text, as a manual page and in Texinfo: the numbers of captions and equations, which their writers
leave out although the text refers to them, and the lines of a display.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.addnodes import number_reference
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.text import TextTranslator

from scratchbook.ext.marks import page_of

BUILDERS = ("text", "man", "texinfo")


class PlainTranslator(TextTranslator):
    """Sphinx's own, but a section whose number is none, below the depth that is numbered, has no dot either."""

    def get_section_number_string(self, node: nodes.Element) -> str:
        """Return the number of a section with what stands behind it."""
        text = super().get_section_number_string(node)
        return text if text != self.secnumber_suffix else ""

    def visit_reference(self, node: nodes.Element) -> None:
        """Write the number of the section that a contents entry leads to."""
        if node.get("secnumber"):
            super().visit_reference(node)


class PlainReferences(SphinxPostTransform):
    """Let a reference by number be as it was resolved: the writers show "Fig. %s"."""

    default_priority = 20  # Sphinx resolves references at 10
    builders = BUILDERS

    def run(self, **kwargs: object) -> None:
        """Replace each such reference by its words."""
        for reference in list(self.document.findall(number_reference)):
            reference.replace_self(nodes.inline("", reference.astext()))


class PlainCaptions(SphinxPostTransform):
    """Number captions and titles of tables."""

    default_priority = 21
    builders = BUILDERS

    def run(self, **kwargs: object) -> None:
        """Put the number before each."""
        standard = self.env.domains.standard_domain
        for caption in list(self.document.findall(nodes.TextElement)):
            if not is_caption(caption):
                continue
            holder = caption.parent
            kind = standard.get_enumerable_node_type(holder)
            number = number_of(self.env, holder, kind or "")
            if number and kind in self.config.numfig_format:
                caption.insert(0, nodes.Text(f"{self.config.numfig_format[kind] % number}: "))
            if isinstance(holder, nodes.figure):
                caption += nodes.raw("", "\n", format="manpage")  # else the next request stands on its line


class PlainEquations(SphinxPostTransform):
    """Show a display line by line as it was written, and below it its number."""

    default_priority = 22
    builders = BUILDERS

    def run(self, **kwargs: object) -> None:
        """Replace each display, and put the number before the mark, if one stands below."""
        for block in list(self.document.findall(nodes.math_block)):
            number = equation_number(self.env, block)
            if number:
                below = block.next_node(descend=False, siblings=True)
                if not isinstance(below, nodes.paragraph) or "equation-mark" not in below["classes"]:
                    below = nodes.paragraph()
                    block.parent.insert(block.parent.index(block) + 1, below)
                below.insert(0, nodes.Text(f"({number}) " if below.children else f"({number})"))
            shown = nodes.literal_block(block.astext(), block.astext(), language="none")
            shown["ids"] = block["ids"]
            block.replace_self(shown)


def is_caption(node: nodes.Node) -> bool:
    """Whether a node is the caption of a figure or a listing, or the title of a table."""
    return isinstance(node, nodes.caption) or (isinstance(node, nodes.title) and isinstance(node.parent, nodes.table))


def number_of(env: BuildEnvironment, node: nodes.Element, kind: str) -> str:
    """Return the number that Sphinx has given to a figure, table, listing or equation, "" if none."""
    numbers = env.toc_fignumbers.get(page_of(node, env), {}).get(kind, {})
    found = next((numbers[name] for name in node["ids"] if name in numbers), ())
    return ".".join(map(str, found))


def equation_number(env: BuildEnvironment, block: nodes.math_block) -> str:
    """Return the number of a display, "" if it has none."""
    if not block.get("number"):
        return ""
    if env.config.math_numfig and env.config.numfig:
        return number_of(env, block, "displaymath")
    return str(block["number"])


def register(app: Sphinx) -> None:
    """Add the transforms."""
    app.set_translator("text", PlainTranslator)
    for transform in (PlainReferences, PlainCaptions, PlainEquations):
        app.add_post_transform(transform)
