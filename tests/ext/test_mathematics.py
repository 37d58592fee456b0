"""Mathematics on a page: drawn at build time, told at its line when it cannot be, the same in every builder."""

import re
from pathlib import Path

import pytest
from docutils import nodes

from scratchbook.ext.mathematics import FONTS, display_height, draw_lone_faces

BAD = "# Book\n\nOne line.\nAnd $\\foo$ here.\n\n- in a list\n\n  ```{math}\n  a = b\n  + \\bar\n  ```\n"


def test_a_formula_is_markup_before_any_script_runs(chapter):
    html = chapter("# Book\n\nSay $x_{<t}$.\n", builder="html").file("index.html")

    assert '<span class="katex-html"' in html
    assert "MathJax" not in html


def test_a_name_at_the_beginning_of_a_fact_keeps_its_letters(chapter):
    deep = "{" * 5000 + "x" + "}" * 5000
    built = chapter(f"# Book\n\n$\\htmlData{{a=b}}{{x}}$\n\n$\\foo$\n\n${deep}$\n")
    facts = [warning.split("': ")[1].split(";")[0] for warning in built.warnings]

    assert [fact[:9] for fact in facts] == ["HTML exte", "undefined", "KaTeX can"]


def test_a_page_without_mathematics_loads_none_of_it(project):
    built = project.write({"docs/index.md": "# Book\n\n$x$\n\n```{toctree}\na\n```\n", "docs/a.md": "# A\n"}).build(
        "html"
    )

    assert "katex.css" in built.file("index.html")
    assert "katex.css" not in built.file("a.html")


def test_bad_tex_is_one_message_at_its_line(chapter):
    built = chapter(BAD)

    assert [warning.partition(": WARNING: ")[0] for warning in built.warnings] == [
        "docs/index.md:4",
        "docs/index.md:10",
    ]
    assert built.warnings[0].endswith(
        r"in '\foo': undefined control sequence: \foo; define it in scratchbook_macros of conf.py, or spell it "
        "otherwise [scratchbook.math]"
    )
    assert built.status == 1


def test_tex_that_can_neither_be_checked_nor_drawn_is_one_message(chapter):
    page = "# Book\n\n```{{math}}\n:label: a\n:check: f\n\nf(x) = {}\n```\n\n```{{live}} code.py\n:no-output: a\n```\n"
    code = "def f(x):\n    return x\n"
    (warning,) = chapter(page.format("\\frac{x"), code).warnings

    assert warning.startswith("docs/index.md:7: WARNING: equation a: this brace is never closed")
    (warning,) = chapter(page.format("\\frac{x"), code, suppress_warnings=["scratchbook.equation"]).warnings
    assert warning.endswith("[scratchbook.math]")


def test_bad_tex_is_told_by_every_build_in_which_it_stands(project):
    project.write({"docs/index.md": BAD})
    first = project.build("html").warnings

    assert project.build("html").warnings == first


def test_a_page_with_bad_tex_stays_whole_and_shows_the_tex(chapter):
    html = chapter(BAD, builder="html").file("index.html")

    assert r'<code class="scratchbook-failure">\foo</code>' in html
    assert "katex-error" not in html


def test_two_prices_are_not_taken_for_mathematics_in_silence(chapter):
    (warning,) = chapter("# Book\n\nIt costs $10 and $20 today.\n").warnings

    assert warning == (
        r"docs/index.md:3: WARNING: in '10 and': two dollar signs make mathematics of what is between them; "
        r"write a price as \$10 [scratchbook.math]"
    )


def test_a_label_within_tex_says_where_labels_stand(chapter):
    (warning,) = chapter("# Book\n\n$$\na \\label{eq-a}\n$$\n").warnings

    assert "name an equation with :label:" in warning


@pytest.mark.parametrize("environment", ["align", "gather", "equation", "align*"])
def test_an_environment_has_no_numbers_of_its_own(chapter, environment):
    markdown = f"# Book\n\n\\begin{{{environment}}}\na = b\n\\end{{{environment}}}\n"
    built = chapter(markdown, builder="html", myst_enable_extensions=["amsmath"])

    assert built.warnings == []
    assert "eqn-num" not in built.file("index.html")
    assert "eqn-num" not in chapter(f"# Book\n\n$$\n{markdown[8:]}$$\n", builder="html").file("index.html")


def test_rows_are_joined_as_sphinx_joins_them(chapter):
    built = chapter("# Book\n\n```{math}\na &= b \\\\\nc &= d\n\ne &= f\n```\n", builder="html")

    assert built.warnings == []
    assert built.file("index.html").count('class="katex-display"') == 1


def test_the_number_stands_beside_the_body(chapter):
    html = chapter("# Book\n\n```{math}\n:label: eq-a\n\nx\n```\n\nSee {eq}`eq-a`.\n", builder="html").file(
        "index.html"
    )

    side = html[html.index('<div class="equation-side">') :]
    assert side.startswith(
        '<div class="equation-side"><span class="eqno">(1)<a class="headerlink" href="#equation-eq-a"'
    )


@pytest.mark.parametrize("builder", ["html", "epub"])
def test_macros_of_the_settings_are_drawn(chapter, builder):
    built = chapter("# Book\n\n$\\vx + \\norm{y}$\n", builder=builder, scratchbook_macros=MACROS)

    assert [line for line in built.warnings if "scratchbook" in line] == []


MACROS = {"vx": r"\mathbf{x}", "norm": [r"\lVert #1 \rVert", 1]}


def test_latex_gets_the_macros_in_its_preamble(chapter):
    built = chapter("# Book\n\n$\\vx$\n", builder="latex", scratchbook_macros=MACROS)

    (name,) = [path.name for path in Path(built.app.outdir).glob("*.tex")]
    assert r"\renewcommand{\vx}{\mathbf{x}}" in built.file(name)


def test_an_epub_has_mathml_and_no_fonts(chapter):
    built = chapter("# Book\n\n$x^2$\n", builder="epub")

    page = built.file("index.xhtml")
    assert "<msup>" in page
    assert "katex-html" not in page
    assert not re.search(r"\.woff2", built.file("content.opf"))


def test_macros_that_cannot_be_used_are_one_message(chapter):
    (warning,) = chapter("# Book\n", scratchbook_macros={"v1": "x"}).warnings

    assert warning == (
        "conf.py:1: WARNING: scratchbook_macros: the macro 'v1' must be named with letters alone [scratchbook.setting]"
    )


def test_search_finds_the_words_of_an_equation_and_none_of_its_tex(chapter):
    built = chapter(
        "# Book\n\n$\\operatorname{RMSNorm}(\\mathbf{x}) = \\frac{1}{2} \\text{where possible}$\n", builder="html"
    )

    words = set(re.findall(r"\w+", built.file("searchindex.js")))
    assert {"rmsnorm", "possibl"} <= words
    assert not {"mathbf", "frac", "operatornam", "text"} & words


def test_serial_and_parallel_builds_draw_the_same(project):
    pages = {f"docs/p{n}.md": f"# Page {n}\n\n$x_{n} + \\frac{{a}}{{{n}}}$\n" for n in range(8)}
    toctree = "# Book\n\n```{toctree}\n" + "\n".join(f"p{n}" for n in range(8)) + "\n```\n"
    project.write({**pages, "docs/index.md": toctree})
    serial = project.build("html")
    texts = [serial.file(f"p{n}.html") for n in range(8)]
    project.clean()
    parallel = project.build("html", jobs=2)

    assert [parallel.file(f"p{n}.html") for n in range(8)] == texts


def test_another_renderer_is_left_alone(chapter):
    built = chapter("# Book\n\n$\\foo$\n", builder="html", html_math_renderer="mathjax")

    assert built.warnings == []
    assert r"\(\foo\)" in built.file("index.html")


def test_a_formula_stays_text_for_builders_that_know_no_more(chapter):
    built = chapter("# Book\n\n$x^2$\n")

    assert [node.astext() for node in built.doctree().findall(nodes.math)] == ["x^2"]


FORMULAS = "# Book\n\n$x \\in \\mathbb{R}^n$ and $\\mathbf{W}^\\mathsf{T}$.\n"


def test_a_hosted_page_asks_early_for_the_fonts_of_its_sentences(chapter):
    built = chapter(FORMULAS, builder="html", html_baseurl="https://book.example/")
    fonts = re.findall(
        r'<link rel="preload" as="font" type="font/woff2" crossorigin href="([^"]+)">', built.file("index.html")
    )

    names = sorted(font.rpartition("KaTeX_")[2].partition(".")[0] for font in fonts)
    assert names == sorted(FONTS)
    assert [font for font in fonts if not (built.app.outdir / font).is_file()] == []


def test_a_page_without_such_letters_asks_for_fewer_fonts(chapter):
    page = chapter("# Book\n\n$x = 1$\n", builder="html", html_baseurl="https://book.example/").file("index.html")

    assert page.count('rel="preload"') == 2


@pytest.mark.parametrize(("text", "address"), [("$x$", ""), ("Words.", "https://book.example/")])
def test_a_page_from_a_folder_and_one_without_formulas_ask_for_no_font(chapter, text, address):
    assert "preload" not in chapter(f"# Book\n\n{text}\n", builder="html", html_baseurl=address).file("index.html")


HEIGHTS = [("", 1.26), ('class="katex-strut" style="height:3em;vertical-align:-1em;"', 3.0)]


@pytest.mark.parametrize(("markup", "height"), HEIGHTS)
def test_a_display_is_as_high_as_its_struts_and_at_least_a_line(markup, height):
    assert display_height(markup) == pytest.approx(height)


def test_the_first_display_with_a_font_of_its_own_is_drawn_at_once():
    letter = '<span class="mord {}">R</span>'
    height = ' style="contain-intrinsic-height:2em"'
    display = f'<div class="equation-body"><span{height}>{letter}</div>'
    plain, lone = display.format("mathnormal"), display.format("mathcal")
    sentence = letter.format("mathnormal")

    assert draw_lone_faces(sentence + plain + 2 * lone) == sentence + plain + lone.replace(height, "") + lone
