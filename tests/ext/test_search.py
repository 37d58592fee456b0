"""What the search finds by its title, and what it does not take for a place."""

import json

import pytest
from docutils import nodes

BOX_PAGE = """---
level: beginner
---
# Book

Words.

:::{exercise} How wide
:name: ex-wide
:kind: count
:stars: 2

A task.

:::{hint}
Look closely.
:::

:::{solution}
Three.
:::
:::

:::{quiz} Which?
- [x] Aardvark.

  It is.
- [ ] Zebra.

  It is not.
:::
""".replace(":::{exercise}", "::::{exercise}").replace("Three.\n:::\n:::", "Three.\n:::\n::::")


@pytest.fixture
def index(chapter):
    text = chapter(BOX_PAGE, builder="html").file("searchindex.js")
    return json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))


def test_the_search_finds_pages_and_exercises_by_their_titles_and_no_box(index):
    assert sorted(index["alltitles"]) == ["Book", "Exercise 1 How wide"]


def test_an_exercise_is_found_at_its_own_place(index):
    assert index["alltitles"]["Exercise 1 How wide"] == [[0, "ex-wide"]]


def test_what_a_box_says_is_found_as_text(index):
    assert {"aardvark", "zebra", "close", "task"} <= {*index["terms"]}


def test_facts_about_a_chapter_are_no_text_of_it(index):
    assert [term for term in index["terms"] if term.startswith(("begin", "min"))] == []


def test_a_box_keeps_its_look(chapter):
    page = chapter(BOX_PAGE, builder="html").file("index.html")

    assert '<summary class="admonition-title">Aardvark.</summary>' in page
    assert '<p class="admonition-title"><span class="exercise-number">Exercise 1</span>' in page


def test_other_builders_keep_docutils_titles(chapter):
    built = chapter(BOX_PAGE)

    assert {type(title) for title in built.doctree().findall(nodes.title)} == {nodes.title}
