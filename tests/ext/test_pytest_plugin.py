"""Each equation of a book as a test of pytest."""

import subprocess
import sys

import pytest

CODE = "# tag::twice[]\ndef twice(x):\n    return 2 * x\n# end::twice[]\n"
PAGE = """
# Book

```{{notation}}
x: vector(d) -- a row
```

```{{math}}
:label: eq-twice
:check: twice

\\operatorname{{twice}}(x) = {factor} x
```

```{{math}}
:label: eq-story
:nocheck: a picture of it

x
```

```{{live}} code.py
:tag: twice
:no-output: a definition
```
"""


@pytest.fixture
def run(project):
    """Return a function that runs pytest over a book and returns its exit status and its report."""
    project.write({"scratch/code.py": CODE})

    def run(factor, *words):
        project.write({"docs/index.md": PAGE.format(factor=factor)})
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--scratchbook", *words]
        done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False, timeout=120)
        return done.returncode, done.stdout

    return run


def test_each_equation_is_a_test(run):
    status, said = run(2)

    assert status == 0, said
    assert "conf.py::index::eq-twice PASSED" in said
    assert "conf.py::index::eq-story SKIPPED (a picture of it)" in said


def test_an_equation_that_differs_fails_with_the_message_of_the_build(run):
    status, said = run(3)

    assert status == 1
    assert "eq-twice: differs from twice(x) by" in said


def test_it_keeps_what_it_makes_where_the_project_builds(run, project):
    (project.root / "_build").mkdir()
    status, said = run(2)

    assert status == 0, said
    assert (project.root / "_build" / ".scratchbook").is_dir()
    assert not (project.root / "build").exists()


def test_an_equation_is_chosen_by_the_name_that_the_report_gives_it(run):
    status, said = run(2, "conf.py::index::eq-twice")

    assert status == 0, said
    assert "conf.py::index::eq-twice PASSED" in said
    assert "eq-story" not in said
