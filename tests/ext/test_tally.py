"""{tally} and the closing line: how much of the whole book was checked, and that it does not matter what was stored."""

import pytest
from docutils import nodes

ONE = """
# One

```{live}
a = 2
print(a)
```

Two is {value}`a`. {claim}`a == 2`

{formula}`a = 2`

:::::{exercise} Three
:kind: implement

```{starter}
def three():
    return 2
```

```{check}
three() == 3
```

::::{solution}
```python
def three():
    return 3
```
::::
:::::
"""
COLOPHON = """
# Colophon

{tally}`sessions` sessions, {tally}`cells` cells, {tally}`values` values, {tally}`claims` claims,
{tally}`exercises` exercises.
"""
INDEX = """
# Book

```{toctree}
one
two
colophon
```
"""


@pytest.fixture
def book(project):
    return project.write({
        "docs/index.md": INDEX,
        "docs/one.md": ONE,
        "docs/two.md": "# Two\n\n{value}`1 + 1`\n",
        "docs/colophon.md": COLOPHON,
    })  # fmt: skip


def counts(built):
    return next(iter(built.doctree("colophon").findall(nodes.paragraph))).astext().replace("\n", " ")


def test_a_page_says_how_much_of_the_whole_book_holds(book):
    built = book.build()

    # The cells: a block, two values, a claim, the starter, the solution and the formula.
    assert counts(built) == "2 sessions, 7 cells, 2 values, 1 claims, 1 exercises."


def test_the_closing_line_says_the_same(book):
    built = book.build()

    assert "2 sessions, 7 cells, 2 values, 1 claim, 1 exercise in code; 0 equations and 1 formula: " in built.log


def test_a_book_that_runs_nothing_has_no_closing_line(project):
    assert "equations" not in project.build().log


def test_stored_outcomes_count_like_fresh_ones(book):
    fresh = book.build("html").file("colophon.html")
    book.write({"docs/index.md": INDEX + "\nMore.\n"})
    stored = book.build("html")

    assert "2 sessions: 0 run, 2 cached" in stored.log
    assert stored.file("colophon.html").replace("More.", "") == fresh


def test_a_value_on_another_page_writes_the_colophon_anew(book):
    before = book.build("html").file("colophon.html")
    book.write({"docs/two.md": "# Two\n\n{value}`1 + 1` {value}`2 + 2`\n"})
    after = book.build("html").file("colophon.html")
    book.clean()

    assert "2 values" in strip(before)
    assert "3 values" in strip(after)
    assert after == book.build("html", scratchbook_cache=None).file("colophon.html")


def strip(page):
    return page.replace('<span class="scratchbook-tally">', "").replace("</span>", "")


def test_what_fails_is_not_counted_and_the_closing_line_says_of_how_many(book):
    book.write({"docs/two.md": "# Two\n\n{value}`1 / 0`\n\n{value}`1 + 1`\n"})

    built = book.build()

    assert "1 of 2 sessions, 7 of 8 cells, 2 of 3 values, 1 claim" in built.log
    assert counts(built) == "1 sessions, 7 cells, 2 values, 1 claims, 1 exercises."


def test_a_book_that_was_not_run_counts_nothing(book):
    assert counts(book.build(scratchbook_execute="never")) == "0 sessions, 0 cells, 0 values, 0 claims, 0 exercises."


def test_a_cell_in_two_states_is_one_cell(project):
    built = project.write({"docs/index.md": "# Book\n\n```{states} pet\ncat, dog\n```\n\n{value}`pet`\n"}).build()

    assert "2 sessions, 1 cell, 1 value, 0 claims" in built.log


def test_an_unknown_noun_is_a_message_at_its_line(chapter):
    built = chapter("# Page\n\nThere are {tally}`sesions`.\n")

    assert built.warnings == [
        "docs/index.md:3: WARNING: nothing called 'sesions' is counted; there are sessions, cells, blocks, values, "
        "claims, exercises, equations, formulas, gradients [scratchbook.tally]"
    ]


def test_a_count_in_a_title_is_a_message(chapter):
    built = chapter("# Page\n\n## With {tally}`cells`\n\n{value}`1`\n")

    assert built.warnings == [
        "docs/index.md:3: WARNING: {tally} cannot stand in a title or a caption: write it in a sentence "
        "[scratchbook.tally]"
    ]
    assert built.status == 1
