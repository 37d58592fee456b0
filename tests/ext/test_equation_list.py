"""The list of all equations: what each was checked by."""

import pytest
from docutils import nodes

PAGE = """# Page

```{math}
:label: eq-a
:check-with: rules.agree

a = a
```

```{equations}
```
"""


def test_an_equation_that_a_function_of_the_project_checks_names_it(project):
    built = project.write({"docs/index.md": PAGE, "scratch/rules.py": "def agree(equation, names):\n    return ''\n"})
    stories = [item.astext() for item in built.build().doctree().findall(nodes.definition)]

    assert stories == ["checked by rules.agree"]


def test_the_list_leads_to_each_chapter_by_number_and_follows_its_title(project):
    contents = "# Book\n\n```{toctree}\n:numbered:\n\na\n```\n\n```{equations}\n```\n"
    chapter = "# A\n\n```{math}\n:label: eq-a\n\na = a\n```\n"
    project.write({"docs/index.md": contents, "docs/a.md": chapter})
    assert 'href="a.html"><span>1. A</span></a></strong></p>' in project.build("html").file("index.html")
    project.write({"docs/a.md": chapter.replace("# A", "# Anew")})

    assert "<span>1. Anew</span></a></strong></p>" in project.build("html").file("index.html")


@pytest.mark.parametrize(
    ("builder", "file", "display"),
    [("html", "index.html", '<span class="katex-display">'), ("latex", "book.tex", r"\(\displaystyle a = a\)")],
)
def test_the_list_draws_an_equation_as_large_as_its_chapter_does(project, builder, file, display):
    page = PAGE.replace(":check-with: rules.agree\n", "")
    text = project.write({"docs/index.md": page}).build(builder).file(file)

    assert display in text[text.index("not checked") - 4000 :]
