"""What the guide gives authors to copy works as it stands; its chapters and equations are built with the book."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from scratchbook.cli import make_parser
from scratchbook.ext.book import BookError
from scratchbook.mutation import Change, read_equivalents

GUIDE = Path(__file__).parents[2] / "docs/guide"
TEXTS = {path.stem: path.read_text("utf-8") for path in sorted(GUIDE.glob("*.md"))}
COMMANDS = [
    line.partition("  #")[0].split()[1:]
    for text in TEXTS.values()
    for line in text.splitlines()
    if line.startswith("scratchbook ")
]


# So many characters of code stand in a line of a page that has room.
MOST_CHARACTERS = 92


def lines_of_code(text):
    """Return the lines of code that a page shows as they stand in it, and those of files."""
    fences = [token for token in MarkdownIt().parse(text) if token.type == "fence"]
    shown = [fence.content for fence in fences if not fence.info.startswith("{")]
    files = [fence.info.split()[-1] for fence in fences if fence.info.startswith("{literalinclude}")]
    return [
        line for body in [*shown, *((GUIDE / file).read_text("utf-8") for file in files)] for line in body.splitlines()
    ]


def blocks(name, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXTS[name], re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_of_the_guide_is_one(words):
    assert make_parser().parse_args(words)


@pytest.mark.parametrize("command", ["new", "cache", "twice", "review", "mutate", "doctest"])
def test_every_command_is_in_the_guide(command):
    assert any(f"scratchbook {command}" in text for text in TEXTS.values())


def test_the_list_of_equivalents_is_read(tmp_path):
    (text,) = blocks("equations", "toml")
    (tmp_path / "equivalents.toml").write_text(text)

    change = Change("eq-gain", "equation", "transpose", r"H P H^\top", r"H P^\top H^\top")
    assert read_equivalents(tmp_path / "equivalents.toml") == {change: "a covariance is symmetric"}
    assert str(change) == r"eq-gain, equation: transpose changes 'H P H^\top' to 'H P^\top H^\top'"


@pytest.mark.parametrize("name", TEXTS)
def test_a_reader_sees_whole_lines_of_code(name):
    assert [line for line in lines_of_code(TEXTS[name]) if len(line) > MOST_CHARACTERS] == []


def test_a_change_that_lacks_a_key_is_told(tmp_path):
    (tmp_path / "equivalents.toml").write_text('[[equivalent]]\nlabel = "eq-gain"\n')

    with pytest.raises(
        BookError, match=r"has no where; each \[\[equivalent\]\] needs label, where, operator, old, new"
    ):
        read_equivalents(tmp_path / "equivalents.toml")


def test_the_settings_of_a_pdf_can_be_read():
    (text,) = re.findall(r":caption: conf.py, further down\n\n(.*?)^```$", TEXTS["first-chapter"], re.M | re.DOTALL)
    settings = {}
    exec(text, settings)

    assert settings["latex_engine"] == "xelatex"
    assert r"\setmathfont{TeX Gyre Pagella Math}" in settings["latex_elements"]["fontpkg"]
