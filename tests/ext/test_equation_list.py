"""The list of all equations: what each was checked by."""

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
