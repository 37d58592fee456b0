"""Garbled options: one message at the author's line, never a traceback, and never the whole file instead of a part."""

import re
from pathlib import Path

import pytest

from scratchbook.ext.live import SELECTION_OPTIONS, Live
from scratchbook.ext.options import find_options

# What an author may write for `:tag: part` by mistake; the page says so once.
GARBLED_TAGS = [
    ':tag: "part', ":tag: 'part", ":tag: [part", ":tag: {part", ":tag: |", ":tag: >", ":tag: &part", ":tag: %part",
    ":tag: @part", ":tag: \t", ":tag", ":tag:", ":tag:part", ': tag: part', "::tag: part", ":Tag: part", ":ta g: part",
    ':"tag: part', ":tag: a: b", ":tag: ? part", ':tag: "part" x', ":tag: part # note", ":tag: \u202epart",
    "---\n- tag\n---", "---\ntag\n---", "---\n: part\n---", "---\ntag: part", ":tag: gone\n:tag: part",
]  # fmt: skip
GARBLED_OTHERS = [
    ":lines: 0", ":lines: a..b", ":lines: 1..99", ":indent: -1", ":indent: x", ":timeout: 1e999", ":timeout: nan",
    ":timeout: -1", ":timeout: soon", ":shown-bytes: 0", ":shown-bytes: 1.5", ":captured-bytes: 2 MiB",
    ":raises:", ":lineno-start: 1.5", ":class: 1 2", ":name:", ":caption:",
    ":emphasize-lines: ,", ":emphasize-lines: -", ":emphasize-lines: 9-1", ":emphasize-lines: 1-3-5",
    ":optional: maybe", ":figure:", ":table: yes", ":show-value: 1", ":force: no", ":linenos: 3", ":hide-output: x",
    ":no-output:", ":unknown: x", ":tags:", ":lines:",
]  # fmt: skip
CODE = "# tag::part[]\nprint('PART')\n# end::part[]\nX = 'WHOLE'\n"


@pytest.fixture(scope="module")
def built(new_project):
    project = new_project()
    pages = {f"docs/g{number}.md": page(text) for number, text in enumerate([*GARBLED_TAGS, *GARBLED_OTHERS])}
    index = "# Book\n\n```{toctree}\n:glob:\n\ng*\n```\n"
    return project.write({"docs/index.md": index, "scratch/code.py": CODE, **pages}).build("text")


def page(options):
    return f"# Page\n\n```{{live}} code.py\n{options}\nprint('demo')\n```\n"


def messages(built, number):
    return [line for line in built.warnings if f"docs/g{number}.md:" in line]


@pytest.mark.parametrize("text", [*GARBLED_TAGS, *GARBLED_OTHERS])
def test_a_garbled_option_is_one_message_at_a_line_of_its_block(built, text):
    found = messages(built, [*GARBLED_TAGS, *GARBLED_OTHERS].index(text))

    assert len(found) == 1, found
    line = int(found[0].split(":")[1])
    assert 3 <= line <= 4 + text.count("\n") + (text == "---\ntag: part")


@pytest.mark.parametrize("text", GARBLED_TAGS)
def test_a_garbled_tag_never_shows_the_whole_file(built, text):
    assert "WHOLE" not in built.file(f"g{GARBLED_TAGS.index(text)}.txt")


def test_the_build_fails_when_only_another_parser_has_spoken(chapter):
    built = chapter(page(':tag: "part'), CODE)

    assert [line for line in built.warnings if "scratchbook" in line] == []
    assert built.status == 1


def test_an_option_that_stands_twice_is_told_at_the_second(chapter):
    built = chapter(page(":tag: gone\n:tag: part"), CODE)

    assert built.warnings == [
        "docs/index.md:5: WARNING: option 'tag' of {live} stands twice: take one of them away [scratchbook.option]"
    ]


@pytest.mark.parametrize(
    "text",
    [
        ":a: 1\n:b: 2\ncode",
        "---\na: 1\nb: 2\n---\ncode",
        "```{live} x\n:a: 1\n:b: 2\n```",
        ".. live:: x\n   :a:\n   :b:\n",
    ],
)
def test_options_are_found_in_every_style(text):
    offset = 2 if text.startswith("---") else 1

    assert find_options(text) == [("a", offset), ("b", offset + 1)]


def test_a_box_inside_is_no_option():
    assert find_options(":::{note}\n:::") == []
    assert find_options("print(1)\n:a: 1") == []


GUIDE = Path(__file__).parents[2] / "docs/guide"


def in_tables(*names):
    """Return the options that the guide's tables name in their first columns."""
    lines = [line for name in names for line in (GUIDE / name).read_text().splitlines()]
    cells = [line.split("|")[1] for line in lines if line.startswith("|")]
    return {found for cell in cells for found in re.findall(r"`:?([a-z-]+)\b[^`]*`", cell)}


def test_every_option_of_live_stands_in_the_guide():
    assert set(Live.wanted) - {"force"} <= in_tables("live-code.md", "tags.md")


def test_every_option_in_the_guide_is_one_of_live():
    text = (GUIDE / "tags.md").read_text()
    table = text[text.index("| option | meaning |") : text.index("In `tag` and `tags` a name")]

    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == set(SELECTION_OPTIONS)


def test_every_option_in_the_table_of_live_code_is_one():
    found = set(re.findall(r"`:([a-z-]+):", (GUIDE / "live-code.md").read_text().partition("## A number")[0]))

    assert found <= set(Live.wanted)
