"""Nothing is referred to that is not there, and nothing is labelled or listed that nobody refers to."""

from __future__ import annotations

import re

from tests.book.pages import CHAPTERS, DOCS, ROOT, anchors, read_page

# Chapters, sections, listings, equations, figures, tables, exercises, notes, boxes, quizzes.
KINDS = ("ch", "sec", "code", "eq", "fig", "table", "ex", "practice", "key", "quiz")
PAGES = sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
CITED = re.compile(r"\{cite:\w+\}`([^`]+)`")


def sources():
    return set(re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "sources.bib").read_text("utf-8"), re.MULTILINE))


def cited(pages):
    return {key.strip() for page in pages for keys in CITED.findall(read_page(page)) for key in keys.split(",")}


def named_in_code():
    texts = [path.read_text("utf-8") for path in (ROOT / "scratch").glob("*.py")]
    lines = [line for text in texts for line in re.findall(r"Source: ([^\"]*?)\n\s*(?:\"|\n)", text)]
    return {key for line in lines for key in re.findall(r"\b[a-z]+\d{4}[a-z0-9]*\b", line)}


def test_every_source_is_cited_on_a_page_and_every_cited_one_is_there():
    assert cited(PAGES) == sources()


def test_every_source_that_the_code_names_is_there():
    assert len(named_in_code()) > 10
    assert named_in_code() - sources() == set()


def test_every_equation_with_a_label_is_referred_to(reading):
    named = {name for names in reading.targets.values() for name in names} | set(reading.key_equations)
    named = {name.partition(":")[0] for name in named}

    assert reading.equations - named == set()


def test_every_label_says_what_it_is_of():
    odd = [name for page in CHAPTERS for name in anchors(read_page(page)) if name.split("-")[0] not in KINDS]

    assert odd == []


def test_no_label_is_given_twice():
    names = [name for page in PAGES for name in anchors(outside_of_examples(read_page(page)))]

    assert sorted({name for name in names if names.count(name) > 1}) == []


def outside_of_examples(markdown):
    """Return a page without the blocks that show how something is written."""
    return re.sub(r"^(`{4,})\w*\n.*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)


def test_every_file_of_the_code_is_described_once():
    described = re.findall(r"^```\{api\} (\S+)$", read_page("api"), re.MULTILINE)

    assert sorted(described) == sorted(path.name for path in (ROOT / "scratch").glob("*.py"))


def test_reading_says_nothing(reading):
    assert reading.messages == ""
