"""Level, reading time, descriptions, previews, drawings: what helps a reader, and what the site keeps accessible."""

import re

import pytest
from pygments.styles import get_style_by_name  # noqa: F401  # fills the registry that styles inherit from

from scratchbook.ext.colours import Night, Paper

CHAPTER = "---\nlevel: beginner\nmyst:\n  html_meta:\n    description: Of {name}.\n---\n# {name}\n\nWords.\n"
OUTPUTS = {Paper: ("#f6f4ef", "#fdfcf9", "#ebe4cf"), Night: ("#1d2024", "#15171a", "#33342c")}


def write_book(project):
    toctree = "# Book\n\nThe first words.\n\n```{toctree}\na\nb\n```\n"
    pages = {f"docs/{name}.md": CHAPTER.replace("{name}", name.upper()) for name in "ab"}
    return project.write({"docs/index.md": toctree, **pages})


def test_a_page_with_a_level_says_it_and_how_long_it_takes(project):
    html = write_book(project).build("html").file("a.html")

    facts = html[html.index('<p class="chapter-facts">') :].partition("</p>")[0]
    assert re.sub("<[^>]+>", " ", facts).split() == ["Beginner", "1", "min", "read"]


def test_the_time_grows_with_words_code_and_equations(chapter):
    page = "---\nlevel: beginner\n---\n# Book\n\n" + "word " * 880 + "\n"
    code = "\n```python\n" + "x = 1\n" * 80 + "```\n" + "\n```{math}\nx\n```\n" * 5

    assert "4 min read" in chapter(page, builder="html").file("index.html")
    assert "7 min read" in chapter(page + code, builder="html").file("index.html")


def test_a_page_without_a_level_says_nothing_of_itself(chapter):
    assert "chapter-facts" not in chapter("# Book\n\nWords.\n", builder="html").file("index.html")


def test_a_page_that_does_not_describe_itself_is_described_by_its_first_words(project):
    built = write_book(project).build("html")

    assert '<meta name="description" content="The first words.">' in built.file("index.html")
    assert built.file("a.html").count('name="description"') == 1


def test_a_long_beginning_is_cut_between_words(chapter):
    html = chapter("# Book\n\n" + "seventeen letters " * 40 + "\n", builder="html").file("index.html")

    (said,) = re.findall(r'<meta name="description" content="([^"]*)">', html)
    assert len(said) <= 160
    assert said.endswith(("seventeen…", "letters…"))


def test_neighbours_say_what_they_are_about(project):
    html = write_book(project).build("html", html_theme="furo").file("a.html")

    assert '<span class="neighbour-description">Of B.</span>' in html


def test_a_page_is_written_again_when_its_neighbour_describes_itself_anew(project):
    write_book(project).build("html", html_theme="furo")
    project.write({"docs/b.md": CHAPTER.replace("{name}", "B").replace("Of B.", "Of bees.")})

    assert "Of bees." in project.build("html", html_theme="furo").file("a.html")


def test_a_list_of_chapters_says_what_each_is_about(project):
    html = write_book(project).build("html").file("index.html")

    listed = html[html.index('<div class="toctree-wrapper') :].partition("</div>")[0]
    assert [" ".join(line.split()) for line in re.findall(r"<li[^>]*>(.*?)</li>", listed, re.DOTALL)] == [
        '<a class="reference internal" href="a.html">A</a><span class="toctree-description">Of A.</span>',
        '<a class="reference internal" href="b.html">B</a><span class="toctree-description">Of B.</span>',
    ]


def test_a_list_of_chapters_follows_what_they_say_of_themselves(project):
    write_book(project).build("html")
    project.write({"docs/b.md": CHAPTER.replace("{name}", "B").replace("Of B.", "Of bees.")})

    assert "Of bees." in project.build("html").file("index.html")


def test_an_equation_of_another_page_waits_in_a_template(project):
    equation = "\n```{math}\n:label: eq-b\n\n\\operatorname{far}\n```\n"
    write_book(project).write({"docs/b.md": CHAPTER.replace("{name}", "B") + equation})
    project.write({"docs/a.md": "# A\n\nSee {eq}`eq-b`.\n"})
    html = project.build("html").file("a.html")

    template = html[html.index('<template data-preview="b.html#equation-eq-b">') :].partition("</template>")[0]
    assert "katex-html" in template
    assert "katex.css" in html


def test_an_equation_that_is_shown_beside_its_number_has_no_preview(project):
    shown = "```{key-equations}\neq-b\n```\n"
    project.write(
        {"docs/index.md": "# Book\n\n```{toctree}\nb\nlist\nkeys\n```\n", "docs/b.md": "# B\n\n$$x = y$$ (eq-b)\n"}
    )
    project.write({"docs/list.md": "# List\n\n```{equations}\n```\n", "docs/keys.md": f"# Keys\n\n{shown}"})
    built = project.build("html")

    for name in ("list.html", "keys.html"):
        assert "b.html#equation-eq-b" in built.file(name)
        assert "<template" not in built.file(name)
    project.write({"docs/keys.md": f"# Keys\n\n{shown}\nSee {{eq}}`eq-b`.\n"})
    assert built.file("keys.html") != project.build("html").file("keys.html")
    assert "<template" in built.file("keys.html")


def test_a_template_follows_its_equation(project):
    equation = "\n```{math}\n:label: eq-b\n\n\\operatorname{far}\n```\n"
    write_book(project).write({"docs/b.md": CHAPTER.replace("{name}", "B") + equation})
    project.write({"docs/a.md": "# A\n\nSee {eq}`eq-b`.\n"}).build("html")
    project.write({"docs/b.md": CHAPTER.replace("{name}", "B") + equation.replace("far", "near")})

    assert r"\operatorname{near}" in project.build("html").file("a.html")


def test_a_listing_of_another_page_waits_in_a_template(project):
    listing = "\n```{live} code.py\n:name: code-b\n:caption: Far\n:no-output: it only defines\n```\n\n"
    write_book(project).write({"docs/b.md": CHAPTER.replace("{name}", "B") + listing, "scratch/code.py": "far = 1\n"})
    project.write({"docs/a.md": "# A\n\nSee {ref}`code-b`.\n"})
    html = project.build("html").file("a.html")

    template = html[html.index('<template data-preview="b.html#code-b">') :].partition("</template>")[0]
    assert "far = 1" in re.sub("<[^>]+>", "", template)


def write_far_figure(project, figure, **files):
    write_book(project).write({"docs/b.md": CHAPTER.replace("{name}", "B") + figure, **files})
    project.write({"docs/a.md": "# A\n\nSee {ref}`fig-b`.\n"})
    return project.build("html", numfig=True)


LIVE_FIGURE = (
    "\n```{live}\n:name: fig-b\n:figure: A line.\n:caption: Drawn *far* away\n\n"
    '\'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"/></svg>\'\n```\n'
)
FILE_FIGURE = "\n```{figure} line.svg\n:name: fig-b\n:alt: A line.\n\nDrawn *far* away\n```\n"


@pytest.mark.parametrize("figure", [LIVE_FIGURE, FILE_FIGURE], ids=["live", "file"])
def test_a_figure_of_another_page_waits_in_a_template(project, figure):
    drawn = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"/></svg>'
    html = write_far_figure(project, figure, **{"docs/line.svg": drawn}).file("a.html")

    template = html[html.index('<template data-preview="b.html#fig-b">') :].partition("</template>")[0]
    assert 'aria-label="A line."' in template
    assert 'd="M0 0h9"' in template
    assert "Fig. 1 " in template
    assert "Drawn far away" in template


def test_a_template_follows_its_figure(project):
    write_far_figure(project, LIVE_FIGURE)
    html = write_far_figure(project, LIVE_FIGURE.replace("h9", "v9")).file("a.html")

    assert 'd="M0 0v9"' in html


def test_a_figure_of_another_page_that_is_heavy_has_no_template(project):
    html = write_far_figure(project, LIVE_FIGURE.replace("h9", "h9" * 40_000)).file("a.html")

    assert "<template" not in html


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10" role="img" color="#123456" '
    'aria-labelledby="t">{}</svg>'
)
FIGURE = "# Book\n\n```{figure} line.svg\n:alt: A line.\n\nA caption.\n```\n"


def test_a_drawing_stands_inside_the_page_with_its_alternative_text_and_the_pages_colour(project):
    style = "<style>@media (prefers-color-scheme: dark) { svg { color: white; } }</style>"
    drawn = SVG.format(style + '<title id="t">T</title><path d="M0 5h20" stroke="currentColor"/>')
    html = project.write({"docs/index.md": FIGURE, "docs/line.svg": drawn}).build("html").file("index.html")

    svg = html[html.index("<svg") : html.index("</svg>")]
    assert svg.startswith('<svg role="img" aria-label="A line." width="1.25rem" height="0.625rem" xmlns=')
    assert "prefers-color-scheme" not in svg
    assert "#123456" not in svg


@pytest.mark.parametrize(
    "payload",
    [
        "<script>alert(1)</script>",
        '<path onclick="alert(1)"/>',
        '<a href="javascript:alert(1)"><path/></a>',
        "<foreignObject/>",
    ],
)
def test_a_drawing_that_could_run_something_stays_an_image(project, payload):
    html = (
        project.write({"docs/index.md": FIGURE, "docs/line.svg": SVG.format(payload)}).build("html").file("index.html")
    )

    assert '<img alt="A line." src="_images/line.svg"' in html
    assert "alert(1)" not in html


def test_an_epub_keeps_drawings_in_files_of_their_own(project):
    built = project.write({"docs/index.md": FIGURE, "docs/line.svg": SVG.format("<path/>")}).build("epub")

    assert "<img" in built.file("index.xhtml")


def test_anchors_that_furo_doubles_stand_once(chapter):
    markdown = (
        "# Book\n\n```{math}\n:label: eq-a\n\nx\n```\n\n```{table} T\n:name: table-a\n\n| a |\n| - |\n| b |\n```\n"
    )
    html = chapter(markdown, builder="html", html_theme="furo").file("index.html")

    assert html.count('id="equation-eq-a"') == 1
    assert html.count('id="table-a"') == 1


def test_works_are_a_list_that_leads_back_to_where_they_are_cited(project):
    project.write({"works.bib": "@book{key, title={A Work}, author={Who, A.}, year={2000}, publisher={P}}\n"})
    page = "# Book\n\nSay {cite:p}`key` and {cite:p}`key`.\n\n```{bibliography}\n```\n"
    conf = (project.root / "conf.py").read_text("utf-8")
    conf += 'extensions.append("sphinxcontrib.bibtex")\nbibtex_bibfiles = ["works.bib"]\n'
    html = project.write({"docs/index.md": page, "conf.py": conf}).build("html").file("index.html")

    assert "doc-biblioentry" not in html
    item = html[html.index('<li class="citation"') :].partition("</li>")[0]
    assert len(re.findall(r'href="#[^"]+">↑\d', item)) == 2


def luminance(colour):
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("style", [Paper, Night])
def test_every_colour_of_code_has_enough_contrast_with_all_that_lies_under_it(style):
    colours = {f"#{fields['color']}" for _, fields in style if fields["color"]} | {style.line_number_color}
    weak = [(c, under) for c in colours for under in OUTPUTS[style] if contrast(c, under) < 4.5]

    assert weak == []


def test_a_long_name_in_a_table_or_in_the_contents_of_a_page_may_break_at_its_joints(chapter):
    page = "# Book\n\n`long_name`\n\n| name |\n| --- |\n| `name_within_table` |\n\n## On `name_within_contents`\n"
    html = chapter(page, builder="html", html_theme="furo").file("index.html")

    for text in (
        "name_<wbr>within_<wbr>table",
        "name_<wbr>within_<wbr>contents",
        ">long_name<",
        ">name_within_contents<",
    ):
        assert text in html, text
