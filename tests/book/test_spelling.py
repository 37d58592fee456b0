"""Every word of the book, of its pictures and of the comments in its code is English, or in the book's own list."""

from __future__ import annotations

import re
import shutil
from xml.etree import ElementTree

import pytest

from tests.book.pages import ROOT
from tests.book.spelling import mistakes, spelled_in_two_ways, unknown_words, words_of, words_of_code, words_of_pages

if not shutil.which("hunspell"):
    pytest.skip("hunspell is missing: apt-get install hunspell hunspell-en-gb", allow_module_level=True)

LIST = ROOT / "tests/book/words.txt"
OURS = LIST.read_text("utf-8").split()
MARKUP = re.compile(r"^(`{3,}).*?^\1|`[^`]*`|\]\([^)]*\)|<[^>]*>", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def words(reading):
    """Return all words with where they stand."""
    found = words_of_code(sorted((ROOT / "scratch").glob("*.py"))) | words_of_pages(reading.doctrees)
    for name in ("README.md", "CHANGELOG.md"):
        found |= dict.fromkeys(words_of(MARKUP.sub(" ", (ROOT / name).read_text("utf-8"))), name)
    for drawing in sorted((ROOT / "docs").rglob("*.svg")):
        shown = [element for element in ElementTree.parse(drawing).iter() if not element.tag.endswith("style")]
        found |= dict.fromkeys(words_of(" ".join(element.text or "" for element in shown)), drawing.name)
    return found


def test_every_word_is_english_or_ours(words):
    assert mistakes(words, set(OURS)) == []


def test_every_word_of_the_list_is_used_and_needed(words):
    unknown = unknown_words(words)

    assert [word for word in OURS if word not in unknown] == []


def test_the_list_is_sorted():
    assert sorted(OURS, key=lambda word: (word.lower(), word)) == OURS


def test_a_typo_and_an_american_spelling_are_found():
    words = {"tranformer": "a.md", "color": "b.md", "block": "c.md", "RoPE": "d.md"}

    assert mistakes(words, {"RoPE"}) == ["a.md: tranformer", "b.md: color"]


def test_a_word_is_written_with_ize_where_it_can_be():
    assert spelled_in_two_ways({"normalise", "exercise", "raises", "normalize"}) == {"normalise"}
