"""Settings of the book: data, no functions."""

project = "The Transformer from Scratch"
author = "The scratchbook authors"
copyright = "2026, the scratchbook authors"
version = release = "0.1.0"
language = "en"

extensions = [
    "scratchbook",
    "myst_parser",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
]
exclude_patterns = []
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
numfig = True
math_numfig = True
math_number_all = False

# The code that the chapters show and run, from this folder.
scratchbook_folders = ["scratch"]
scratchbook_print_options = {"precision": 4, "suppress": True, "linewidth": 88}

# One dictionary for the page, the PDF, the EPUB and the equation checker.
scratchbook_macros = {
    "vx": r"\mathbf{x}",
    "vu": r"\mathbf{u}",
    "vh": r"\mathbf{h}",
    "vz": r"\mathbf{z}",
    "mW": r"\mathbf{W}",
    "mE": r"\mathbf{E}",
    "R": r"\mathbb{R}",
    "T": r"\mathsf{T}",
}

bibtex_bibfiles = ["sources.bib"]
bibtex_default_style = "author_year"
bibtex_reference_style = "author_year"
# Every chapter ends with its own list, so a work may stand in several; a link goes to the one of its own page.
suppress_warnings = ["bibtex.duplicate_citation"]

html_theme = "furo"
html_title = project
