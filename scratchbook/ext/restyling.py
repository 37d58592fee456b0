"""A theme's style sheet that lets the browser restyle what changed, not the whole page.

Furo's script marks the page and its sections with classes, when the page has come and at every scroll.  Two of Furo's
selectors may reach any element below any class that changes, so each mark makes the browser compute the style of all
that stands on the page: a tenth of a second for a long chapter on a desktop.  Named elements do the same for what such
lists hold.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx

STYLE: Final = Path("static", "styles", "furo.css")
REACHES_ALL: Final = re.compile(r"(dl\[class\][^,{}]* dd>):(first|last)-child")
NAMED: Final = r"\1:is(div,dl,ol,p,ul):\2-child"


def name_elements(css: str) -> str:
    """Return a style sheet whose selectors for lists of definitions end in named elements."""
    return REACHES_ALL.sub(NAMED, css)


def put_in_place(app: Sphinx) -> None:
    """Give the pages the theme's style sheet with those selectors, in the place of the theme's own."""
    folders = app.builder.theme.get_theme_dirs() if hasattr(app.builder, "theme") and app.builder.theme else []
    style = next((Path(folder, STYLE) for folder in folders if Path(folder, STYLE).is_file()), None)
    if style is None:
        return
    ours = Path(app.doctreedir, "scratchbook-static")
    target = ours / STYLE.relative_to("static")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(name_elements(style.read_text("utf-8")), "utf-8")
    app.config.html_static_path.append(str(ours))


def register(app: Sphinx) -> None:
    """Connect the style sheet."""
    app.connect("builder-inited", put_in_place)
