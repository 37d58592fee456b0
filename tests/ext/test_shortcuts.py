"""What replaces docutils' own gives the same."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator

import pytest
from docutils import frontend, nodes
from docutils.parsers.rst import Parser
from docutils.readers.standalone import Reader
from docutils.writers.html5_polyglot import Writer

from scratchbook.ext.shortcuts import find_below, once_for_all

KINDS = (nodes.paragraph, nodes.emphasis, nodes.strong, nodes.inline)


def as_docutils_does(node: nodes.Node, kind: type) -> Iterator[nodes.Node]:
    """Find nodes by one generator a level, as docutils writes it."""
    if isinstance(node, kind):
        yield node
    for child in node.children:
        yield from as_docutils_does(child, kind)


def random_tree(seed: int) -> nodes.Element:
    """Return a tree of up to some hundred nodes, whose texts tell them apart."""
    chance = random.Random(seed)
    root = nodes.section()
    grown = [root]
    for number in range(chance.randrange(200)):
        child = chance.choice(KINDS)() if chance.random() < 0.7 else nodes.Text(str(number))
        chance.choice(grown).append(child)
        if isinstance(child, nodes.Element):
            child["number"] = number
            grown.append(child)
    return root


def said(found: list[nodes.Node]) -> list[str]:
    return [
        f"{type(node).__name__} {node.get('number') if isinstance(node, nodes.Element) else node}" for node in found
    ]


@pytest.mark.parametrize("kind", [nodes.Node, nodes.Element, nodes.Text, nodes.Inline, *KINDS])
def test_nodes_are_found_in_the_order_of_the_text(kind):
    for seed in range(40):
        tree = random_tree(seed)
        assert list(find_below(tree, kind)) == list(as_docutils_does(tree, kind))


@pytest.mark.parametrize("change", ["replace", "remove", "wrap", "append", "empty"])
def test_a_tree_that_changes_while_it_is_searched_is_searched_as_by_docutils(change):
    """Many transforms replace each node that they find, while they go on looking."""

    def search(find, seed):
        chance, found = random.Random(seed), []
        for node in find(random_tree(seed), nodes.Element):
            found.append(node)
            if node.parent is None or chance.random() < 0.5 or len(found) > 500:
                continue
            if change == "replace":
                node.replace_self([nodes.Text("new"), nodes.strong("", "", nodes.emphasis(number=len(found)))])
            elif change == "remove":
                node.parent.remove(node)
            elif change == "wrap":
                node.replace_self(nodes.inline("", "", node.deepcopy(), number=-len(found)))
            elif change == "append":
                node.append(nodes.strong(number=-len(found)))
            else:
                node.children = []
        return said(found)

    for seed in range(40):
        assert search(find_below, seed) == search(as_docutils_does, seed)


def shown(values):
    return {name: repr(value) for name, value in values.__dict__.items()}


def settings_by(populate, monkeypatch, *components):
    monkeypatch.setattr(frontend.OptionParser, "populate_from_components", populate)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        parser = frontend.OptionParser(components, defaults={"language_code": "de"}, read_config_files=True)
        return parser, parser.get_default_values()


@pytest.fixture
def populate():
    """Docutils' own, whatever a build in this process has put in its place."""
    own = frontend.OptionParser.populate_from_components
    while hasattr(own, "__wrapped__"):
        own = own.__wrapped__
    return own


@pytest.mark.parametrize("components", [(), (Reader, Parser), (Reader(), Parser()), (Parser,), (Writer,)])
def test_settings_are_those_of_a_new_parser(monkeypatch, populate, components):
    quick = once_for_all(populate)
    for _ in range(3):
        wanted, values = settings_by(populate, monkeypatch, *components)
        got, quick_values = settings_by(quick, monkeypatch, *components)
        assert shown(quick_values) == shown(values)
        assert quick_values.record_dependencies is not values.record_dependencies
        assert got.components[1:] == tuple(components)
        assert got.lists == wanted.lists
        assert got.relative_path_settings == wanted.relative_path_settings
        assert [str(option) for option in got.option_list] == [str(option) for option in wanted.option_list]


def test_what_one_page_does_to_its_settings_is_not_the_next_ones(monkeypatch, populate):
    quick = once_for_all(populate)
    _, fresh = settings_by(populate, monkeypatch, Reader, Parser)
    parser, values = settings_by(quick, monkeypatch, Reader, Parser)
    for value in values.__dict__.values():
        if isinstance(value, list):
            value.append("spoilt")
    values.language_code = "fr"
    parser.lists["spoilt"] = True
    again, next_values = settings_by(quick, monkeypatch, Reader, Parser)
    assert shown(next_values) == shown(fresh)
    assert "spoilt" not in again.lists


def test_events_are_noted_for_who_asks_for_them_and_for_nobody_else(project):
    assert "emitting event" not in project.build().log
    project.clean()
    assert "emitting event" in project.build(verbosity=2).log
