"""Figures have the numbers that Sphinx gives them, though most pages are not looked at again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

import pytest
from docutils import nodes
from sphinx import addnodes
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector

from scratchbook.ext import outlines
from scratchbook.ext.domain import domain_of
from tests.ext import changing_book
from tests.ext.conftest import Build, Project

DEPTHS = [0, 1, 2, 3, None]


# Books of nodes: more kinds of trees than any text gives, and hundreds in a second.


class NodeBook:
    """Pages of nodes made at random, and the tables of contents that lead to some of them."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names = ["index", *(f"page{number}" for number in range(chance.randrange(1, 9)))]
        self.pages = {name: self.page() for name in self.names}
        self.ids = 0

    def page(self) -> nodes.document:
        """Return a page of some dozen nodes."""
        self.ids = 0
        document = nodes.document(None, None)  # type: ignore[arg-type]
        grown: list[nodes.Element] = [document]
        for _ in range(self.chance.randrange(50)):
            made = self.element()
            self.chance.choice(grown).append(made)
            grown += [node for node in made.findall(nodes.Element) if not isinstance(node, nodes.TextElement)]
        return document

    def element(self) -> nodes.Element:
        """Return a node of a kind that matters here, with or without what gives it a number."""
        chance, caption = self.chance, "A caption"
        kind = chance.choice([nodes.section, nodes.section, nodes.figure, nodes.table, nodes.container,
                              nodes.bullet_list, nodes.list_item, nodes.admonition, addnodes.toctree, addnodes.only,
                              nodes.math_block, nodes.paragraph])  # fmt: skip
        self.ids += 1
        node: nodes.Element = kind("", ids=[f"id{self.ids}", f"other{self.ids}"])
        if kind is addnodes.toctree:
            targets = [*self.names, *self.names, "self", "genindex", "search", "https://example.org/"]
            node["entries"] = [(None, target) for target in chance.choices(targets, k=chance.randrange(5))]
        if kind is nodes.figure and chance.random() < 0.7:
            node += [nodes.image(), nodes.caption("", caption)]
        if kind is nodes.table and chance.random() < 0.7:
            node += nodes.title("", caption)
        if kind is nodes.container and chance.random() < 0.8:
            node["literal_block"] = True
            node += [nodes.caption("", caption), nodes.literal_block("", "code")][chance.randrange(2) :]
        if kind is not nodes.section and chance.random() < 0.2:
            node["ids"] = []
        if chance.random() < 0.1:
            node["ids"] = ["same"]
        return node

    def section_numbers(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return numbers as Sphinx gives them: for some pages, for some sections, some of them empty."""
        chance = self.chance

        def number() -> tuple[int, ...]:
            return tuple(chance.choices([1, 2, 3], k=chance.randrange(4)))

        return {
            name: {anchor: number() for anchor in ["", *(f"#id{one}" for one in range(50))] if chance.random() < 0.5}
            for name in self.names
            if chance.random() < 0.8
        }


@pytest.fixture(scope="module")
def plain_book(module_project: Project) -> Build:
    """A build that lends its environment."""
    return module_project.build(numfig=True)


@pytest.fixture
def env(plain_book: Build) -> Iterator[BuildEnvironment]:
    """An environment whose pages a test makes up."""
    env = plain_book.app.env
    before = dict(vars(env)), env.config.numfig_secnum_depth
    yield env
    vars(env).clear()
    vars(env).update(before[0])
    env.config.numfig_secnum_depth = before[1]
    domain_of(env).outlines.clear()


Result = tuple[str, list[str]]


def numbers_by(
    method: Callable[[BuildEnvironment], list[str]], env: BuildEnvironment, before: dict[str, Any]
) -> Result:
    """Return all that a method gives, in its order."""
    env.toc_fignumbers = before
    changed = method(env)
    return repr(env.toc_fignumbers), changed


def both(env: BuildEnvironment) -> tuple[Result, Result]:
    """Number by Sphinx's own method and by ours; the environment keeps ours."""
    before = env.toc_fignumbers
    return numbers_by(TocTreeCollector().assign_figure_numbers, env, before), numbers_by(
        outlines.assign_figure_numbers, env, before
    )


def give_pages(env: BuildEnvironment, book: NodeBook, asked: list[str]) -> None:
    """Let the environment have the pages of a book, and note for which it is asked."""

    def get_doctree(self: BuildEnvironment, docname: str) -> nodes.document:
        asked.append(docname)
        return book.pages[docname]

    env.get_doctree = MethodType(get_doctree, env)  # type: ignore[method-assign]
    env.toc_fignumbers, env.toc_secnumbers = {}, book.section_numbers()
    domain_of(env).outlines.clear()


@pytest.mark.parametrize("depth", DEPTHS)
def test_numbers_and_changed_pages_are_those_of_sphinx_in_any_book(env, depth):
    env.config.numfig_secnum_depth = depth
    numbered = 0
    for seed in range(60):
        give_pages(env, NodeBook(random.Random(seed)), [])
        wanted, got = both(env)
        assert got == wanted, seed
        numbered += len(env.toc_fignumbers)

    assert numbered > 60


def test_after_an_edit_only_the_edited_page_is_looked_at(env):
    looked_at = 0
    for seed in range(60):
        asked: list[str] = []
        book = NodeBook(random.Random(seed))
        give_pages(env, book, asked)
        both(env)
        for _ in range(3):
            edited = book.chance.choice(book.names)
            book.pages[edited] = book.page()
            env.toc_secnumbers = book.section_numbers()
            domain_of(env).clear_doc(edited)
            wanted, got = both(env)
            assert got == wanted, seed
            asked.clear()
            outlines.assign_figure_numbers(env)
            assert asked == []
            domain_of(env).clear_doc(edited)
            outlines.assign_figure_numbers(env)
            assert asked in ([edited], [])  # no table may lead to it
            looked_at += len(asked)

    assert looked_at > 60


def test_a_book_without_numbers_has_none(env):
    give_pages(env, NodeBook(random.Random(0)), [])
    env.config.numfig = False
    wanted, got = both(env)
    env.config.numfig = True

    assert got == wanted == ("{}", [])


# Books of text, built.

PICTURE = "```{{figure}} /picture.png\n:name: fig-{0}\n\nCaption of {0}\n```\n"
PAGE = (
    "(sec-{0})=\n# Page {0}\n\n"
    + PICTURE
    + """
## First section

```{{figure}} /picture.png
:name: mute-{0}
```

:::{{note}}
```{{table}} A table
:name: table-{0}

| a | b |
| - | - |
| 1 | 2 |
```
:::

- An item

  ```{{code-block}} python
  :caption: A listing
  :name: code-{0}

  1
  ```

### Deeper

```{{live}} code.py
:caption: Twice
:name: live-{0}
```

:::{{exercise}} A task
:name: ex-{0}

```{{math}}
:label: eq-{0}

x = 1
```
:::

## Second section

{1}
"""
)
TOC = "```{{toctree}}\n{0}\n```\n"


def page(name: str, *tables: str) -> str:
    return PAGE.format(name, "\n".join(TOC.format(table) for table in tables))


BOOK = {
    "docs/picture.png": changing_book.PICTURE,
    "scratch/code.py": "x = 1\n",
    "docs/index.md": "# Book\n\n" + PICTURE.format("index") + "".join(
        TOC.format(table)
        for table in [
            ":numbered: 2\n\nself\none\npart/index\nElsewhere <https://example.org/>",
            ":hidden:\n\nhidden\ngenindex",
            "two\none",
        ]
    ),
    "docs/one.md": page("one"),
    "docs/two.md": page("two"),
    "docs/hidden.md": page("hidden", ":numbered:\n\nbelow"),
    "docs/below.md": page("below"),
    "docs/part/index.md": page("part", "a", ":hidden:\n\nb"),
    "docs/part/a.md": page("a"),
    "docs/part/b.md": page("b", "a"),
    "docs/alone.md": "---\norphan: true\n---\n" + page("alone"),
}  # fmt: skip


def sphinx_numbers(build: Build) -> dict[str, Any]:
    """Return the numbers that Sphinx gives the pages as they are stored."""
    env, found = build.app.env, build.app.env.toc_fignumbers
    env._pickled_doctree_cache.clear()
    TocTreeCollector().assign_figure_numbers(env)
    wanted, env.toc_fignumbers = env.toc_fignumbers, found
    return wanted


@pytest.fixture
def looked_at(monkeypatch):
    """The pages of which an outline was made, in one process."""
    found: list[str] = []
    make = outlines.parts_below

    def parts_below(env, node):
        if isinstance(node, nodes.document):
            found.append(env.path2doc(node["source"]))
        return make(env, node)

    monkeypatch.setattr(outlines, "parts_below", parts_below)
    return found


@pytest.fixture
def book(project):
    project.settings |= {"numfig": True, "suppress_warnings": ["toc"]}
    return project.write(BOOK)


EVERY_PAGE = ["below", "hidden", "index", "one", "part/a", "part/b", "part/index", "two"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_built_book_has_sphinx_numbers_after_every_edit(book, looked_at, jobs):
    first = book.build(jobs=jobs)
    assert first.app.env.toc_fignumbers == sphinx_numbers(first)
    assert first.app.env.toc_fignumbers["part/a"]["code-block"] == {"code-a": (2, 3), "live-a": (2, 4)}
    assert sorted(looked_at) == EVERY_PAGE

    def edit(files, *pages):
        looked_at.clear()
        build = book.write(files).build(jobs=jobs)
        assert build.app.env.toc_fignumbers == sphinx_numbers(build)
        assert sorted(looked_at) == sorted(pages)

    edit({})
    edit({"docs/one.md": page("one") + "\n" + PICTURE.format("more")}, "one")
    edit({"docs/part/index.md": page("part", "b", "a")}, "part/index")
    edit({"docs/index.md": "# Book\n\n" + TOC.format(":numbered:\n\ntwo\nalone\npart/index")}, "alone", "index")
    (book.root / "docs/part/b.md").unlink()
    edit({"docs/part/index.md": page("part", "new"), "docs/part/new.md": page("new")}, "part/index", "part/new")


def test_a_page_read_by_a_build_that_is_not_fast_is_looked_at_again(book, looked_at):
    book.build()
    looked_at.clear()
    slow = book.write({"docs/one.md": page("one") + "\n" + PICTURE.format("more")}).build(scratchbook_fast=False)
    assert slow.app.env.toc_fignumbers == sphinx_numbers(slow)
    assert looked_at == []
    quick = book.build()

    assert looked_at == ["one"]
    assert quick.app.env.toc_fignumbers == sphinx_numbers(quick)


def test_a_process_that_builds_twice_numbers_what_it_read_last(book):
    env = book.build().app.env
    env.get_doctree("two")
    env._pickled_doctree_cache["one"] = env._pickled_doctree_cache["two"]
    domain_of(env).clear_doc("one")
    outlines.assign_figure_numbers(env)

    assert "fig-one" in env.toc_fignumbers["one"]["figure"]


COUNTED = """
from docutils import nodes

def setup(app):
    app.add_enumerable_node(nodes.admonition, "{}", lambda node: "Title")
"""


def test_what_a_conf_begins_to_number_is_numbered_on_pages_that_are_not_read_again(book):
    conf = (book.root / "conf.py").read_text() + 'numfig_format = {"task": "T %s", "chore": "C %s"}\n'
    book.write({"conf.py": conf}).build()
    kinds = [
        {kind for kind in numbers if kind in {"task", "chore"}}
        for kind in ("task", "chore")
        for numbers in [book.write({"conf.py": conf + COUNTED.format(kind)}).build().app.env.toc_fignumbers["one"]]
    ]

    assert kinds == [{"task"}, {"chore"}]


def test_sphinx_method_is_the_known_one_after_a_fast_build_too(plain_book):
    """If this fails after an update: read the new method beside this room, then change `KNOWN_METHOD`."""
    assert outlines.is_known(TocTreeCollector.assign_figure_numbers)


def test_another_method_of_sphinx_stays(project, looked_at, monkeypatch):
    def assign_figure_numbers(self, env):
        env.toc_fignumbers = {"index": {"figure": {"fig": (7,)}}}
        return []

    monkeypatch.setattr(TocTreeCollector, "assign_figure_numbers", assign_figure_numbers)

    assert project.build(numfig=True).app.env.toc_fignumbers == {"index": {"figure": {"fig": (7,)}}}
    assert looked_at == []
