"""Settings of the book: data, no functions."""

import os
from urllib.parse import urlsplit

project = "The Transformer from Scratch"
author = "The scratchbook authors"
copyright = "2026, the scratchbook authors"
version = release = "0.1.0"
language = "en"

extensions = [
    "scratchbook",
    "myst_parser",
    "sphinxcontrib.bibtex",
    "sphinx.ext.doctest",
]
exclude_patterns = ["**/4913.md", "**/.#*"]  # what editors write while they save
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
numfig = True
math_numfig = True
math_number_all = False

# The code that the chapters show and run, from this folder.
scratchbook_folders = ["scratch"]
# Three times the usual: the longest page takes seconds, but a busy or slow machine may take ten times as long.
scratchbook_block_seconds = 60.0
scratchbook_page_seconds = 180.0
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

# The site.  On Read the Docs the address is known; elsewhere name it with BOOK_URL, or have no sitemap and no cards.
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", os.environ.get("BOOK_URL", ""))
notfound_urls_prefix = urlsplit(html_baseurl).path or "/"
notfound_context = {
    "title": "Nothing stands here",
    "body": f"""<h1>Nothing stands here</h1>
<p>The address leads to no page of this book; a chapter may have moved. Start from
<a href="{notfound_urls_prefix}index.html">the first page</a>, which lists all chapters, or
<a href="{notfound_urls_prefix}search.html">search</a> for what you came for.</p>""",
}
ogp_site_url = html_baseurl
ogp_social_cards = {"enable": bool(html_baseurl), "image_mini": "_static/card.png", "line_color": "#1b4f8a"}
extensions += ["notfound.extension", *(["sphinx_sitemap", "sphinxext.opengraph"] if html_baseurl else [])]
sitemap_url_scheme = "{link}"
sitemap_excludes = ["404.html", "genindex.html", "search.html"]
# Such as https://github.com/OWNER/NAME/; Read the Docs knows where it cloned from.  A host names the commit
# that it builds, so that lines of code are found where they stood.
repository = os.environ.get("BOOK_REPOSITORY", os.environ.get("READTHEDOCS_GIT_CLONE_URL", "").removesuffix(".git"))
commit = os.environ.get("READTHEDOCS_GIT_COMMIT_HASH", os.environ.get("GITHUB_SHA", "main"))
scratchbook_source = f"{repository.rstrip('/')}/blob/{commit}/{{path}}#L{{first}}-L{{last}}" if repository else ""
html_theme = "furo"
templates_path = ["docs/_templates"]
html_title = project
html_static_path = ["docs/_static"]
html_favicon = "docs/_static/favicon.svg"
html_css_files = ["book.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "scratchbook"
scratchbook_policy = True
pygments_style = "scratchbook.ext.colours.Paper"
pygments_dark_style = "scratchbook.ext.colours.Night"
html_theme_options = {
    "source_repository": repository,
    "source_branch": "main",
    "source_directory": "docs/",
    "light_css_variables": {
        "font-stack": "var(--book-sans)",
        "font-stack--book": (
            "'Iowan Old Style', 'Palatino Linotype', Palatino, 'URW Palladio L', P052, 'TeX Gyre Pagella', "
            "'Noto Serif', 'Liberation Serif', serif"
        ),
        "font-stack--monospace": "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
        "color-background-primary": "var(--book-paper)",
        "color-background-secondary": "var(--book-shade)",
        "color-background-border": "var(--book-line)",
        "color-foreground-primary": "var(--book-ink)",
        "color-foreground-secondary": "var(--book-soft)",
        "color-foreground-muted": "var(--book-soft)",
        "color-foreground-border": "var(--book-soft)",
        "color-api-name": "var(--book-ink)",
        "color-api-pre-name": "var(--book-soft)",
        "color-brand-primary": "var(--book-accent)",
        "color-brand-content": "var(--book-accent)",
        "color-link": "var(--book-accent)",
        "color-link--visited": "var(--book-accent)",
        "color-sidebar-search-background": "transparent",
        "color-sidebar-item-background--current": "var(--book-paper)",
    },
}
html_theme_options["dark_css_variables"] = {
    name: value for name, value in html_theme_options["light_css_variables"].items() if name.startswith("color")
}

# The PDF.  Fonts as on the site: a Palatino for words and mathematics, DejaVu for code, which has every character.
latex_engine = "xelatex"
latex_documents = [("index", "transformer-from-scratch.tex", project, author, "manual")]
latex_show_urls = "footnote"
latex_domain_indices = False
latex_use_xindy = False
latex_elements = {
    "papersize": "a4paper",
    "pointsize": "11pt",
    "extraclassoptions": "openany,oneside",
    "fncychap": "",
    "figure_align": "H",
    "tableofcontents": r"\setcounter{tocdepth}{1}\sphinxtableofcontents",
    "fontpkg": r"""
\usepackage{unicode-math}
\setmainfont{TeX Gyre Pagella}
\setsansfont[Scale=0.92]{TeX Gyre Heros}
\setmonofont[Scale=0.86]{DejaVu Sans Mono}
\setmathfont{TeX Gyre Pagella Math}
""",
    "sphinxsetup": (
        "hmargin={25mm,25mm}, vmargin={26mm,28mm}, verbatimwithframe=false, pre_background-TeXcolor={HTML}{F6F4EF}, "
        "pre_padding=7pt, verbatimhintsturnover=false, InnerLinkColor={HTML}{1B4F8A}, OuterLinkColor={HTML}{1B4F8A}, "
        "TitleColor={HTML}{24262B}, HeaderFamily=\\rmfamily\\bfseries"
    ),
    "fvset": r"\fvset{fontsize=\fontsize{8.5}{11}\selectfont}",
}

# The EPUB: mathematics as MathML, no scripts, a style of its own.
epub_basename = "transformer-from-scratch"
epub_identifier = epub_uid = epub_basename  # a reading device compares the two
epub_description = "A decoder-only transformer in NumPy, every equation checked against the code that the page shows."
epub_contributor = author
epub_cover = ("_static/cover.png", "epub-cover.html")
epub_show_urls = "no"
epub_css_files = []
epub_use_index = False
epub_exclude_files = ["genindex.xhtml"]

# Outcomes that their author accepted; a build tells of each that differs.
scratchbook_pins = "pins"
