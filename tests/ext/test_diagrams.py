"""{graphviz} as a drawing inside the page."""

import shutil

import pytest

DIAGRAM = """# Book

```{graphviz}
:alt: One leads to two.
:caption: Two steps
:name: fig-two

digraph { one -> two; two [color="red"] }
```
"""
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="dot is missing: apt-get install graphviz")


@pytest.fixture
def diagrams(project):
    conf = (project.root / "conf.py").read_text("utf-8") + 'extensions.append("sphinx.ext.graphviz")\n'
    return project.write({"conf.py": conf})


@needs_dot
def test_a_diagram_stands_inside_the_page_in_its_colours_with_its_words(diagrams):
    built = diagrams.write({"docs/index.md": DIAGRAM}).build("html")

    html = built.file("index.html")
    svg = html[html.index("<svg") : html.index("</svg>")]
    assert 'aria-label="One leads to two."' in svg
    assert 'stroke="currentColor"' in svg
    assert 'stroke="red"' in svg
    assert "black" not in svg
    assert "Two steps" in html
    assert built.warnings == []


@needs_dot
def test_two_builds_draw_the_same_bytes(diagrams):
    diagrams.write({"docs/index.md": DIAGRAM})
    first = diagrams.build("html").file("index.html")
    diagrams.clean()

    assert diagrams.build("html").file("index.html") == first


def test_without_dot_sphinx_says_what_is_missing(diagrams):
    built = diagrams.write({"docs/index.md": DIAGRAM}).build("html", graphviz_dot="no-such-dot")

    assert "no-such-dot" in built.messages
    assert "digraph" in built.file("index.html")


@needs_dot
def test_a_diagram_that_dot_refuses_is_told_by_sphinx(diagrams):
    built = diagrams.write({"docs/index.md": DIAGRAM.replace("digraph {", "digraph {{{")}).build("html")

    assert "syntax error" in built.messages
