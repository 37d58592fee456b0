"""The EPUB: accepted by its checker, readable on devices, without scripts, the same bytes twice."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from scratchbook.ext.ebook import letter_of, mend_page, spell_letters

FILES = {
    "docs/drawing.svg": (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 3"><style>@media (prefers-color-scheme: dark) '
        "{ svg { color: #fff; } }</style></svg>"
    ),
    "docs/_static/cover.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 3"/>',
    "docs/index.md": """
        # Book

        ```{toctree}
        chapter
        plain
        ```
        """,
    "docs/plain.md": "# Plain\n\nWords alone.\n",
    "docs/chapter.md": r"""
        # Chapter

        ```{states} pet
        cat, dog
        ```

        ![a drawing](drawing.svg)

        Say $\mathbf{x} \in \mathbb{R}^d$ of a {value}`pet`.

        ```{live} code.py
        :tag: scale

        print(scale(2), pet)
        ```

        ```{live}
        :figure: A rising line.

        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(3, 2))
        axis.set_title("a b")
        ```

        ::::{exercise} Count
        :stars: 2

        How many?

        :::{solution}
        Two.
        :::
        ::::
        """,
    "scratch/code.py": "# tag::scale[]\ndef scale(x):\n    return 3 * x\n# end::scale[]\n",
}
SETTINGS = {
    "myst_enable_extensions": ["colon_fence", "dollarmath"],
    "epub_show_urls": "no",
    "epub_basename": "book",
    "epub_identifier": "book",
    "epub_uid": "book",
    "epub_use_index": False,
    "html_css_files": ["for-browsers.css"],
    "epub_css_files": [],
    "version": "1",
    "epub_description": "A book.",
    "epub_cover": ("_static/cover.svg", "epub-cover.html"),
    "html_static_path": ["docs/_static"],
}


@pytest.fixture(scope="module")
def book(module_project):
    module_project.settings = SETTINGS
    built = module_project.write(FILES).build("epub", strict=True)
    assert built.messages == ""
    return Path(built.app.outdir) / "book.epub"


@pytest.fixture(scope="module")
def archive(book):
    with zipfile.ZipFile(book) as found:
        yield found


@pytest.fixture(scope="module")
def page(archive):
    return archive.read("chapter.xhtml").decode()


def test_its_checker_accepts_it(book):
    checker = shutil.which("epubcheck")
    if not checker or not shutil.which("java"):
        pytest.skip("epubcheck is missing: apt-get install epubcheck")

    made = subprocess.run(["java", "-jar", checker, book], capture_output=True, text=True, check=False)

    assert "No errors or warnings detected" in made.stdout, made.stdout + made.stderr


def test_it_holds_no_script(archive, page):
    assert [name for name in archive.namelist() if name.endswith(".js")] == []
    assert "<script" not in page


def test_it_brings_its_own_style_and_none_for_browsers(archive, page):
    styles = re.findall(r'href="_static/([^"?]+\.css)', page)

    assert "scratchbook-ebook.css" in styles
    assert {"scratchbook.css", "for-browsers.css", "scratchbook-states.css"} & set(styles) == set()
    assert "_static/scratchbook.css" not in archive.namelist()


def test_the_cover_is_declared_as_such(archive):
    package = archive.read("content.opf").decode()

    assert re.search(r'<item [^>]*href="_static/cover.svg"[^>]*properties="cover-image"', package)


def test_a_page_says_in_which_language_it_is(page):
    assert '<html lang="en" xml:lang="en"' in page


def test_a_blank_stands_between_the_stars_and_the_words(archive):
    style = archive.read("_static/scratchbook-ebook.css").decode()

    assert re.findall(r'content: "[^"]*?(.{4})"', style) == [r"6\a0", r"6\a0", r"5\a0"]


def test_a_wide_table_scrolls_and_long_names_in_it_may_break():
    row = '<table class="docutils"><td><code class="docutils literal"><span class="pre">a_b</span></code></td></table>'

    assert mend_page(row, "en").startswith('<div class="table-scroll"><table class="docutils">')
    assert '<span class="pre">a_<wbr/>b</span>' in mend_page(row, "en")
    assert mend_page('<pre class="literal">a_b</pre>', "en") == '<pre class="literal">a_b</pre>'


def test_the_package_says_what_helps_a_reader_who_does_not_see(archive):
    package = archive.read("content.opf").decode()

    for feature in ("MathML", "alternativeText", "tableOfContents"):
        assert f'<meta property="schema:accessibilityFeature">{feature}</meta>' in package


def test_mathematics_is_declared_where_it_is_and_nowhere_else(archive):
    package = archive.read("content.opf").decode()

    assert re.search(r'href="chapter.xhtml"[^>]*properties="mathml"', package)
    assert not re.search(r'href="plain.xhtml"[^>]*properties', package)


def test_bold_letters_are_characters_of_their_own(page):
    assert "<mi>𝐱</mi>" in page
    assert "<mi>ℝ</mi>" in page


@pytest.mark.parametrize(
    ("face", "letter", "shown"),
    [("bold", "W", "𝐖"), ("double-struck", "Z", "ℤ"), ("script", "A", "𝒜"), ("bold", "7", "𝟕"), ("bold", "+", "+")],
)
def test_a_letter_of_another_face(face, letter, shown):
    assert letter_of(face, letter) == shown


def test_words_keep_their_face():
    assert spell_letters('<mi mathvariant="normal">x</mi>') == '<mi mathvariant="normal">x</mi>'


def test_outputs_states_and_solutions_stand_in_it(page):
    for words in ("6 cat", "6 dog", "pet = dog", "Two.", "difficulty 2 of 3"):
        assert words in page


def test_the_format_stands_first_and_plain(archive):
    first = archive.infolist()[0]

    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)


def test_a_drawing_has_one_ink_for_the_white_that_it_stands_on(archive):
    style = archive.read("_static/scratchbook-ebook.css").decode()
    drawing = next(name for name in archive.namelist() if name.endswith("drawing.svg"))

    assert "img { background: #fff; }" in style
    assert "prefers-color-scheme" not in archive.read(drawing).decode()


def test_names_of_files_may_hold_any_letters(project):
    project.settings = SETTINGS | {"epub_cover": (), "html_static_path": []}
    picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 3"/>'
    pages = {
        "docs/index.md": "# Book\n\n```{toctree}\nDie Größe\n```\n",
        "docs/Die Größe.md": "# A\n\n```{image} ö.svg\n```\n",
    }
    built = project.write({**pages, "docs/ö.svg": picture}).build("epub")

    with zipfile.ZipFile(Path(built.app.outdir) / "book.epub") as archive:
        assert {"Die Größe.xhtml", "_images/ö.svg"} <= set(archive.namelist())
    assert built.messages == ""


def test_a_drawing_in_another_encoding_keeps_its_bytes(project):
    project.settings = SETTINGS | {"epub_cover": (), "html_static_path": []}
    svg = '<?xml version="1.0" encoding="latin-1"?><svg xmlns="http://www.w3.org/2000/svg"><text>é</text></svg>'
    built = project.write({"docs/index.md": "# A\n\n![b](b.svg)\n", "docs/b.svg": svg.encode("latin-1")}).build("epub")

    assert b"<text>\xe9</text>" in (Path(built.app.outdir) / "_images" / "b.svg").read_bytes()


def test_a_second_build_lists_every_page_once(book, module_project):
    module_project.build("epub")
    with zipfile.ZipFile(book) as archive:
        pages = re.findall(r'<itemref idref="([^"]+)"', archive.read("content.opf").decode())

    assert len(pages) == len(set(pages))


def test_two_builds_give_the_same_bytes(book, module_project, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    module_project.clean()
    first = (Path(module_project.build("epub").app.outdir) / "book.epub").read_bytes()
    module_project.clean()

    assert (Path(module_project.build("epub").app.outdir) / "book.epub").read_bytes() == first
