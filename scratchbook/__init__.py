"""A documentation-site generator with live code: what a page shows has run, and what it says has been checked.

core            pure: text and arrays in, data out; knows no Sphinx
ext             everything that touches Sphinx
    settings    what conf.py says, as one typed value
    directive   the base of what authors write: a place, and mistakes that leave the page whole
    live        {live}, {value}, {claim}, {states}: leave cells and placeholders
    exec_code   {exec_code}, as in sphinx-exec-code
    domain      what outlives the reading of a chapter
    run         the run phase: sessions whose outcome is not stored
    promises    what a block promised to show, and did not
    report      every mistake once, in every build
    resolve     outcomes into Sphinx's own nodes
    figures     drawings, in the form that each builder can carry
    mathematics formulas, drawn by KaTeX while the page is built
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

__version__ = "0.1.0"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register everything with Sphinx, which is imported here only: the core is of use without it."""
    from scratchbook.ext import domain, exec_code, live, mathematics, resolve, run, settings

    settings.register_settings(app)
    app.add_domain(domain.LiveDomain)
    app.add_directive("live", live.Live)
    app.add_directive("states", live.StatesControl)
    exec_code.register_exec_code(app)
    app.add_role("value", live.Value())
    app.add_role("claim", live.Claim())
    app.add_transform(live.SettleInlines)
    for transform in resolve.TRANSFORMS:
        app.add_post_transform(transform)
    app.connect("builder-inited", domain.set_folders)
    app.connect("env-updated", run.run_pages)
    mathematics.register(app)
    return {
        "version": __version__,
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
