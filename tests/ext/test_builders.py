"""Every builder shows the same outputs, serially and in parallel, and in a translation."""

import re
from pathlib import Path

import pytest
from docutils import nodes

FILES = {
    "scratch/model.py": """
        # tag::scale[]
        def scale(x, factor=3):
            return factor * x


        # end::scale[]
        # tag::table[]
        print("one")
        # tag::inner[]
        print("two")
        # end::inner[]
        print("three")
        # end::table[]
        """,
    "docs/index.md": """
        # Book

        ```{toctree}
        model
        pets
        blocks
        ```
        """,
    "docs/model.md": """
        # Model

        ```{live} model.py
        :tag: scale
        :caption: Three times, {value}`scale(1)` for one
        :name: code-scale
        :linenos:
        :emphasize-lines: 2

        print("<b>", scale(7))
        ```

        Twice is {value}`scale(2, 2)`, in a sentence.
        It grows. {claim}`scale(2) > 2`

        ```{live} model.py
        :tag: table
        :linenos:
        ```

        | number | value |
        | ------ | ----- |
        | first | {value}`scale(5):.2f` |

        See {ref}`the code <code-scale>`.
        """,
    "docs/pets.md": """
        # Pets

        ```{states} pet
        cat, dog
        ```

        The pet is a {value}`pet`, and both have {value}`len(pet)` letters.

        ```{live}
        print(f"this is a {pet}")
        ```

        ```{live}
        print("the same for both")
        ```

        ```{live}
        :table:
        :caption: Letters
        :hide-code:

        [list(pet)]
        ```
        """,
    "docs/blocks.md": """
        # Blocks

        ```{exec_code}
        print("alone")
        ```

        See {ref}`what stands elsewhere <code-scale>`.
        """,
}
BUILDERS = ["html", "dirhtml", "singlehtml", "epub", "latex", "text", "man", "dummy"]
MANUALS = [("model", "model", "", ["A"], 1), ("pets", "pets", "", ["A"], 1), ("blocks", "blocks", "", ["A"], 1)]


@pytest.fixture(scope="module")
def book(module_project):
    module_project.settings = {"man_pages": MANUALS, "epub_show_urls": "no"}
    return module_project.write(FILES)


@pytest.fixture(scope="module")
def built(book):
    return {builder: book.build(builder, strict=True) for builder in [*BUILDERS, "gettext", "linkcheck"]}


@pytest.mark.parametrize("builder", [*BUILDERS, "gettext", "linkcheck"])
def test_a_builder_passes_with_warnings_as_errors(built, builder):
    assert built[builder].messages == ""
    assert built[builder].status == 0


@pytest.mark.parametrize(
    ("builder", "file"),
    [("html", "model.html"), ("dirhtml", "model/index.html"), ("singlehtml", "index.html"), ("epub", "model.xhtml"),
     ("latex", "book.tex"), ("text", "model.txt"), ("man", "model.1")],
)  # fmt: skip
def test_a_builder_shows_every_output(built, builder, file):
    text = re.sub(r"<[^>]+>|\\DUrole\{[^}]*\}|[{}]", "", built[builder].file(file))
    words = ["21", "Output", "three", "15.00", "Twice is 4, in", "It grows.\n"]

    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("builder", ["gettext", "linkcheck"])
def test_a_builder_that_shows_no_output_runs_no_code(built, builder):
    assert "session" not in built[builder].log


@pytest.mark.parametrize("builder", ["gettext", "linkcheck"])
def test_a_builder_that_shows_no_output_tells_what_is_written_wrong(project, builder):
    project.write({"docs/index.md": "# Book\n\n```{live}\n:captio: x\n\n1 / 0\n```\n\n```python\nx\n"})
    built = project.build(builder)

    assert [warning.split(": WARNING: ")[0] for warning in built.warnings] == ["docs/index.md:4", "docs/index.md:9"]
    assert built.status == 1


def test_output_cannot_become_markup(built):
    assert "&lt;b&gt; 21" in built["html"].file("model.html")


def test_true_line_numbers_jump_over_inner_markers(built):
    found = [
        block["highlight_args"]["linenostart"]
        for block in built["dummy"].doctree("model").findall(nodes.literal_block)
        if block.get("linenos")
    ]

    assert found == [2, 8, 10, 12]


def test_emphasized_lines_are_counted_within_the_listing(built):
    block = next(built["dummy"].doctree("model").findall(nodes.literal_block))

    assert block["highlight_args"]["hl_lines"] == [2]


def test_ids_are_unique_in_a_book_of_one_file(built):
    found = re.findall(r'\bid="([^"]+)"', built["singlehtml"].file("index.html"))

    assert len(found) == len(set(found))


def test_so_are_those_of_pages_whose_names_no_id_can_hold(project):
    page = """
        # Page

        ```{states} pet
        cat, dog
        ```

        ```{live}
        print(pet)
        ```

        ```{live} own.py
        :no-output: a name
        ```

        ```{exercise}
        Why?
        ```

        \\begin{equation}
        x
        \\end{equation}
        """
    project.write(
        {"docs/第一章.md": page, "docs/第二章.md": page.replace("Page", "Another"), "scratch/own.py": "x = 1\n"}
    )
    project.write({"docs/index.md": "# Book\n\n```{toctree}\n第一章\n第二章\n```\n"})
    built = project.build("singlehtml", myst_enable_extensions=["amsmath"])

    found = re.findall(r'\bid="([^"]+)"', built.file("index.html"))
    assert sorted(name for name in found if found.count(name) > 1) == []
    assert len(set(re.findall(r'type="radio" name="([^"]+)"', built.file("index.html")))) == 2


def test_every_link_in_a_book_of_one_file_leads_somewhere(built):
    page = built["singlehtml"].file("index.html")
    names = set(re.findall(r'\bid="([^"]+)"', page))

    assert "#code-scale" in re.findall(r'href="([^"]*)">[^a]*<span[^>]*>what stands elsewhere', page)
    assert [name for name in re.findall(r'href="#([^"]+)"', page) if name not in names] == []


def test_an_output_has_a_permanent_anchor(built):
    assert '<a class="reference internal" href="#output-model-model-scale">' in built["html"].file("model.html")


def test_a_page_without_a_script_holds_all_states_and_a_control(built):
    page = built["html"].file("pets.html")

    assert page.count('type="radio"') == 2
    assert "this is a cat" in page
    assert "this is a dog" in page
    assert 'href="_static/scratchbook-states.css' in page
    assert ":has(" in built["html"].file("_static/scratchbook-states.css")


def test_a_copied_page_in_another_encoding_gets_its_policy_and_keeps_its_bytes(project):
    project.write({"extra/old.html": "<html><head></head>\r\n<body>é</body></html>".encode("latin-1")})
    built = project.build("html", scratchbook_policy=True, html_extra_path=["extra"])

    page = (Path(built.app.outdir) / "old.html").read_bytes()
    assert page.startswith(b'<html><head><meta http-equiv="Content-Security-Policy"')
    assert page.endswith(b"<body>\xe9</body></html>")


def test_what_is_the_same_in_all_states_is_shown_once(built):
    page = built["html"].file("pets.html")

    assert page.count("the same for both") == 2  # the code and its output
    assert page.count(">3<") == 1


def test_a_caption_stands_above_the_table_of_each_state_with_one_number(built):
    page = built["html"].file("pets.html")

    assert len(re.findall(r"<caption>.*?Letters", page)) == 2
    assert built["text"].file("pets.txt").count("Letters") == 1


def test_a_builder_without_a_control_names_the_states(built):
    text = built["text"].file("pets.txt")

    assert "This page is computed for each pet: cat, dog." in text
    assert "The pet is a cat (pet = dog: dog), and both have 3 letters." in text
    assert "pet = dog\n\n   this is a dog" in text


def test_parallel_builds_give_the_same_bytes(built, book, tmp_path):
    serial = Path(built["html"].app.outdir)
    book.root, root = tmp_path / "book", book.root
    book.write({**FILES, "conf.py": (root / "conf.py").read_bytes(), "scratch/code.py": b""})
    parallel = Path(book.build("html", jobs=2, strict=True).app.outdir)
    book.root = root
    names = sorted(path.relative_to(serial) for path in serial.rglob("*") if path.is_file())

    assert [name for name in names if (serial / name).read_bytes() != (parallel / name).read_bytes()] == []
    assert names == sorted(path.relative_to(parallel) for path in parallel.rglob("*") if path.is_file())


def test_a_translated_page_shows_the_same_outputs_and_runs_no_cell_twice(book, built):
    catalogue = """
        msgid ""
        msgstr "Content-Type: text/plain; charset=UTF-8"

        msgid "Twice is {value}`scale(2, 2)`, in a sentence. It grows. {claim}`scale(2) > 2`"
        msgstr "Es wächst. {claim}`scale(2) > 2` In einem Satz ist {value}`scale(2, 2)` das Doppelte."
        """
    words = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n\nmsgid "Output"\nmsgstr "Ausgabe"\n'
    book.write({"docs/locale/de/LC_MESSAGES/model.po": catalogue, "docs/locale/de/LC_MESSAGES/sphinx.po": words})
    german = book.build("text", language="de", locale_dirs=["locale"])

    assert "Es wächst. In einem Satz ist 4 das Doppelte." in german.file("model.txt")
    assert "Ausgabe\n\n   <b> 21" in german.file("model.txt")
    assert german.warnings == []
    page = german.app.env.domains["scratchbook"].pages["model"]
    assert sorted(cell.id for cell in page.cells if cell.id.startswith("value")) == ["value-1", "value-2", "value-3"]


NUMBERED = r"""
# Book

```{list-table} Pets
:name: table-pets

* - cat
```

```{live} code.py
:tag: twice
:name: code-twice
:caption: Twice

print(twice(2))
```

```{notation}
x: scalar -- a number
```

```{math}
:label: eq-twice
:check: twice

\begin{aligned} \operatorname{twice}(x) &= 2 x \end{aligned}
```

```{live}
:figure: It rises.
:caption: A line
:name: fig-line

import matplotlib.pyplot as plt

plt.subplots()[1].plot([1, 2])
```

See {numref}`table-pets`, {numref}`code-twice`, {numref}`fig-line` and {eq}`eq-twice`.
"""
TWICE = "# tag::twice[]\ndef twice(x):\n    return 2 * x\n# end::twice[]\n"
IN_PLAIN_TEXT = [("text", "index.txt"), ("man", "book.1"), ("texinfo", "book.texi")]


@pytest.mark.parametrize(("builder", "file"), IN_PLAIN_TEXT)
def test_what_is_referred_to_by_number_has_its_number_in_plain_text_too(project, builder, file):
    built = project.write({"docs/index.md": NUMBERED, "scratch/code.py": TWICE}).build(builder, numfig=True)
    text = " ".join(built.file(file).replace("\\", "").split())

    assert built.warnings == []
    for words in ("See Table 1, Listing 1, Fig. 1", "Fig. 1: A line", "Table 1: Pets", "Listing 1: Twice", "✓ twice"):
        assert words in text, words
    assert re.search(r"\(1\) (@ref\{\w+,,)?✓", text)


def test_a_heading_below_the_numbered_depth_has_no_dot_in_plain_text(project):
    contents = "# Book\n\n```{toctree}\n:numbered: 1\n\na\n```\n"
    text = project.write({"docs/index.md": contents, "docs/a.md": "# A\n\n## Part\n"}).build("text").file("a.txt")

    assert "1. A\n" in text
    assert "\nPart\n" in text


def test_a_display_keeps_its_lines_in_plain_text(project):
    page = "# Book\n\n```{math}\n\\begin{aligned}\na &= b, \\\\\nc &= d\n\\end{aligned}\n```\n"
    built = project.write({"docs/index.md": page}).build("text")

    assert "   a &= b, \\\\\n   c &= d\n" in built.file("index.txt")


def test_a_caption_ends_before_the_next_request_of_a_manual_page(project):
    page = "# Book\n\n```{figure} drawing.svg\n:alt: A box.\n\nBy hand.\n```\n\nWords.\n"
    drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    built = project.write({"docs/index.md": page, "docs/drawing.svg": drawing}).build("man")

    assert "By hand.\n.UNINDENT\n" in built.file("book.1")
