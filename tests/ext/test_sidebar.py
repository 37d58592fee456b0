"""The table of contents beside each page is Sphinx's own, byte for byte, however often a part of it was rendered."""

from pathlib import Path

import pytest

BOOK = {
    "docs/index.md": """
        # A *book* with `code`

        ```{toctree}
        :caption: First
        :numbered:
        self
        one
        part/index
        Another name <two>
        Elsewhere <https://example.org/>
        ```

        ```{toctree}
        :hidden:
        :maxdepth: 1
        hidden
        genindex
        search
        ```

        ```{toctree}
        :glob:
        :caption: Third
        glob/*
        part/index
        ```
        """,
    "docs/one.md": "# One & $x^2$\n\n## First\n\n### Deeper\n\n## Second\n",
    "docs/two.md": "# Two\n\n## Only\n\n# Three on the same page\n",
    "docs/hidden.md": "# Hidden\n\n```{toctree}\nbelow\n```\n",
    "docs/below.md": "# Below\n\n## Section\n",
    "docs/part/index.md": "# Part\n\n```{toctree}\n:maxdepth: 2\na\nb\n```\n\n## After\n",
    "docs/part/a.md": "# A\n\n## Section of A\n\n```{toctree}\n:titlesonly:\ndeep\n```\n",
    "docs/part/b.md": "# B\n\n## Section of B\n",
    "docs/part/deep.md": "# Deep\n\n## Deepest\n",
    "docs/glob/x.md": "# X\n",
    "docs/glob/y.md": "# Y\n\n## In Y\n",
    "docs/alone.md": "---\norphan: true\n---\n# Alone\n",
    "docs/apart.md": "---\norphan: true\n---\n# Apart\n",
    "docs/part/apart.md": "---\norphan: true\n---\n# Apart as well\n",
}
TEMPLATE = """
{%- extends "!layout.html" %}
{%- block footer %}
{% for collapse in (True, False) %}{% for hidden in (True, False) %}{% for titles in (True, False) %}
{% for depth in ("", "2") %}
{{ toctree(collapse=collapse, includehidden=hidden, titles_only=titles, maxdepth=depth) }}
{% endfor %}{% endfor %}{% endfor %}{% endfor %}
{{ toctree() }}
{%- endblock %}
"""


@pytest.mark.parametrize("as_a_whole", [1, 1000])
def test_every_table_is_the_one_that_sphinx_would_render(project, monkeypatch, as_a_whole):
    monkeypatch.setattr("scratchbook.ext.sidebar.TABLES_AS_A_WHOLE", as_a_whole)
    project.write({**BOOK, "_templates/layout.html": TEMPLATE})
    pages = {}
    for is_fast in (True, False):
        settings = {"scratchbook_fast": is_fast, "templates_path": ["_templates"], "html_copy_source": False}
        project.clean()
        build = project.build("html", **settings)
        assert build.status == 0
        folder = Path(build.app.outdir)
        pages[is_fast] = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.html")}

    assert len(pages[True]) >= 16
    assert pages[True] == pages[False]
    assert 'class="toctree-l1 current"' in "".join(pages[True].values())


def test_a_title_that_changes_stands_beside_every_page_of_the_next_build(project):
    project.settings["html_theme"] = "alabaster"
    project.write(BOOK)
    project.build("html")
    project.write({"docs/two.md": "# Three words here\n"})
    project.write({"docs/index.md": "# Book\n\n```{toctree}\none\ntwo\nhidden\nglob/y\n```\n"})

    assert "Three words here" in project.build("html").file("glob/y.html")


def test_a_table_that_another_extension_gives_stands(project, monkeypatch):
    monkeypatch.setattr("scratchbook.ext.sidebar.TABLES_AS_A_WHOLE", 0)
    conf = (project.root / "conf.py").read_text()
    project.write({**BOOK, "conf.py": conf + OTHER})
    project.settings["html_theme"] = "alabaster"

    assert "<em>another table</em>" in project.build("html").file("one.html")


OTHER = """
def setup(app):
    app.connect("html-page-context", give, priority=100)

def give(app, page, template, context, doctree):
    context["toctree"] = lambda **options: "<em>another table</em>"
"""
