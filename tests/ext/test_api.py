"""{api}: what a file offers, with the pages that show it; never stale, in every builder."""

import re

import pytest
from docutils import nodes
from sphinx import addnodes

CODE = '''"""Doubling."""


# tag::double[]
def double(x):
    """Double a number.

    x: any   ->   the same kind
    Raises TypeError if x is not a number.
    """
    return 2 * x
# end::double[]


class Pile:
    """Numbers, one on another."""

    def put(self, x):
        """Add one."""
'''
INDEX = """
# Book

```{toctree}
one
api
```
"""
ONE = """
# Page one

```{live} code.py
:tag: double

print(double(2))
```

See {py:func}`code.double` and {py:meth}`code.Pile.put`.
"""
API = """
# The code

```{api} code.py
```
"""


@pytest.fixture
def book(project):
    return project.write({"docs/index.md": INDEX, "docs/one.md": ONE, "docs/api.md": API, "scratch/code.py": CODE})


def described(built):
    return [node["fullname"] for node in built.doctree("api").findall(addnodes.desc_signature)]


def test_every_public_name_is_described_and_can_be_referred_to(book):
    built = book.build("html", nitpicky=True)

    assert built.warnings == []
    assert described(built) == ["double", "Pile", "Pile.put"]
    links = [node["refuri"] for node in built.doctree("one").findall(nodes.reference) if node.get("refuri")]
    assert {"api.html#code.double", "api.html#code.Pile.put"} <= set(links)


def test_a_docstring_keeps_its_shapes_as_they_stand(book):
    (shapes,) = book.build().doctree("api").findall(nodes.literal_block)

    assert shapes.astext() == "x: any   ->   the same kind"


def test_an_example_of_a_docstring_is_code(book):
    book.write({"scratch/code.py": CODE.replace("Double a number.", "Double a number.\n\n    >>> double(1)\n    2")})
    example, _ = book.build().doctree("api").findall(nodes.literal_block)

    assert (example["language"], example.astext()) == ("pycon", ">>> double(1)\n2")


def test_a_definition_says_where_it_stands_and_which_page_shows_it(book):
    built = book.build("html")
    where = [node for node in built.doctree("api").findall(nodes.paragraph) if "api-where" in node["classes"]]

    assert where[0].astext() == "scratch/code.py, lines 5 to 11; shown in Page one"
    assert where[1].astext() == "scratch/code.py, lines 15 to 19"
    (link,) = where[0].findall(nodes.reference)
    page, _, anchor = link["refuri"].partition("#")
    assert (page, f'id="{anchor}"' in built.file("one.html")) == ("one.html", True)


def test_a_pdf_links_to_what_its_first_page_shows(book):
    listing = "\n```{live} code.py\n:tag: double\n```\n\n```{math}\n:label: eq-double\n:check: y == double(x)\n"
    listing += ":where: x: scalar\n\ny = 2x\n```\n\n:::{exercise} Halve\n:name: ex-halve\n\nHow?\n:::\n"
    lists = "\n```{equations}\n```\n\n```{exercises}\n```\n"
    book.write({"docs/index.md": INDEX.replace("```{toctree}", listing + "\n```{toctree}"), "docs/api.md": API + lists})
    tex = book.build("latex").file("book.tex")
    labels = set(re.findall(r"\\label\{\\detokenize\{([^}]*)\}", tex))
    links = set(re.findall(r"\\hyperref\[\\detokenize\{([^}]*)\}", tex))

    assert links - labels == set()


def test_its_lines_link_to_where_the_project_says(book):
    built = book.build(scratchbook_source="https://code.test/{path}#L{first}-L{last}")
    links = [node["refuri"] for node in built.doctree("api").findall(nodes.reference)]

    assert "https://code.test/scratch/code.py#L5-L11" in links


@pytest.mark.parametrize("builder", ["html", "dirhtml", "singlehtml", "latex", "epub", "text", "man"])
def test_every_builder_writes_it_without_a_word(book, builder):
    settings = {"epub_copyright": "A", "epub_publisher": "A"} if builder == "epub" else {}
    built = book.build(builder, **settings)

    assert built.warnings == []
    assert built.status == 0


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("scratch/code.py", "def double(x):", "def double(x, times=1):"),
        ("scratch/code.py", "Double a number.", "Make a number twice as large."),
        ("scratch/code.py", '"""Doubling."""', '"""Doubling."""\n\n'),
        ("docs/one.md", "# Page one", "# Another title"),
        ("docs/one.md", ":tag: double", ":lines: 1-3"),
    ],
)
def test_an_edit_leaves_what_a_clean_build_would(book, file, old, new):
    book.build("html")
    text = (book.root / file).read_text("utf-8")
    assert old in text
    book.write({file: text.replace(old, new)})
    incremental = book.build("html").file("api.html")
    book.clean()

    assert incremental == book.build("html", scratchbook_cache=None).file("api.html")


def test_nothing_is_imported(book):
    book.write({"scratch/code.py": CODE + "\nraise SystemExit('imported')\n", "docs/one.md": "# Page one\n"})

    assert described(book.build()) == ["double", "Pile", "Pile.put"]


def test_an_edit_of_code_reads_no_chapter_again(book):
    book.build()
    book.write({"scratch/code.py": CODE.replace("2 * x", "x + x")})

    assert "0 added, 1 changed, 0 removed" in book.build().log


def test_a_file_that_is_not_there_is_a_message(chapter):
    (warning,) = chapter("# Page\n\n```{api} nowhere.py\n```\n").warnings

    assert warning.startswith("docs/index.md:3: WARNING: ")
    assert "nowhere.py" in warning
    assert warning.endswith("[scratchbook.source]")


def test_a_file_that_is_not_python_is_a_message_at_its_line(chapter):
    built = chapter("# Page\n\n```{api} code.py\n```\n", "x = 1\ndef f(:\n")

    told = "scratch/code.py is not Python: invalid syntax [scratchbook.source]"
    assert built.warnings == [f"scratch/code.py:2: WARNING: {told}"]
    assert built.status == 1


@pytest.mark.parametrize(
    "start", [b"\xef\xbb\xbf", b"# coding: utf-8\r\n", "# coding: latin-1\n# \xe9\n".encode("latin-1")]
)
def test_a_file_is_read_as_python_reads_it(project, start):
    project.write({"docs/index.md": "# Page\n\n```{api} code.py\n```\n", "scratch/code.py": start + b"def f(x): ..."})

    assert "f(x)" in project.build(strict=True).text()
