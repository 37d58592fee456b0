"""A documentation-site generator with live code: what a page shows has run, and what it says has been checked.

core            pure: text and arrays in, data out; knows no Sphinx
ext             everything that touches Sphinx
    settings    what conf.py says, as one typed value
    speed       what Sphinx has made before: coloured code, compiled templates
    options     where each option stands
    directive   the base of what authors write: a place, and mistakes that leave the page whole
    live        {live}: leaves cells and placeholders
    inline      {value} and {claim}, the same within a sentence
    stray       markup that the parser took for words
    unclosed    blocks whose fence nothing closes
    misspelt    the directives and roles nearest to one that nobody knows
    captions    what a reference to a caption with a value in it shows
    states      {states}: a session for each value of a variable
    frontmatter what the head of a chapter says about its run
    exec_code   {exec_code}, as in sphinx-exec-code
    shortcuts   what docutils and Sphinx work out anew for every page
    shares      how pages are shared out among the processes of a build
    merging     names on pages that two processes have read
    sidebar     the table of contents beside each page, rendered once
    outlines    what Sphinx numbers figures by, taken from each page once
    incremental what Sphinx must read and write again, so that a rebuild equals a clean build
    interrupted what a killed build was reading and writing
    unreadable  chapters that are no text
    domain      what outlives the reading of a chapter
    sessions    cells and the files that they name, as values that any process can run
    stores      where outcomes are kept between builds
    ahead       sessions that run while other pages are still read
    run         the run phase: sessions whose outcome is not stored
    pinning     outcomes that an author has accepted, and what differs from them
    frozen      stored outcomes of cells that only the review runs
    promises    what a block promised to show, and did not
    report      every mistake once, in every build
    unfixed     pages that Sphinx warned about are read again
    parts       listings, texts and tables as nodes
    resolve     outcomes into Sphinx's own nodes
    figures     drawings, in the form that each builder can carry
    mathematics formulas, drawn by KaTeX while the page is built
    environments numbers of displays in TeX environments, the same in every build
    equations   {math} with a check, {formula}, {notation}
    formulas    {formulas}, in plain text and checked
    worked      {worked}, an equation with numbers put in
    checked     what became of the checks, and where the book shows the code
    marks       what an equation was checked against, beside it or below
    repeats     {key-equations} and {equations}: equations again, by label and all of them
    colours     two colour schemes for code
    boxes       {teach}, {in-practice}, {question}, {quiz}
    access      what Sphinx's writer and Furo leave inaccessible
    drawings    hand-made SVG inside the page, and as PDF for LaTeX
    diagrams    Sphinx's {graphviz} inside the page
    paper       boxes, labels and stars as LaTeX draws them
    plain       numbers in plain text, manual pages and Texinfo
    ebook       a style for reading devices, and a package that EPUB's checker accepts
    policy      a content security policy for each page, by hash
    previews    copies of what stands on other pages, for the script
    reading     level and reading time, neighbours, descriptions, style and script
    restyling   Furo's style, without what restyles a whole page
    search      what the search finds by its title, and its excerpts
    exercises   {exercise}, {hint}, {solution}, {starter}, {check}, and the branches that judge their code
    numbering   numbers, stars and lists of exercises, references to them
    api         {api}, what a file of code offers, with the pages that show it
    citations   what the works of a bibliography are called
    links       links that would run something are left out
    book        a book opened without a build, for the commands
    tally       {tally}, how much of the book holds, and the closing line of a build
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

__version__ = "0.1.0"

# Each room of ext registers what it brings, in this order.
ROOMS: Final = (
    "settings",
    "speed",
    "shortcuts",
    "shares",
    "merging",
    "sidebar",
    "outlines",
    "incremental",
    "unreadable",
    "domain",
    "directive",
    "live",
    "inline",
    "stray",
    "unclosed",
    "misspelt",
    "states",
    "frontmatter",
    "exec_code",
    "resolve",
    "run",
    "pinning",
    "frozen",
    "unfixed",
    "mathematics",
    "environments",
    "colours",
    "equations",
    "boxes",
    "exercises",
    "numbering",
    "checked",
    "marks",
    "repeats",
    "worked",
    "formulas",
    "api",
    "tally",
    "reading",
    "restyling",
    "access",
    "drawings",
    "diagrams",
    "paper",
    "plain",
    "ebook",
    "policy",
    "previews",
    "citations",
    "links",
    "search",
)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register everything with Sphinx, which is imported here only: the core is of use without it."""
    from scratchbook.ext.incremental import own_digest

    for room in ROOMS:
        import_module(f"scratchbook.ext.{room}").register(app)
    return {
        "version": __version__,
        "env_version": int(own_digest()[:8], 16),  # other code of ours may make other nodes of the same chapter
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
