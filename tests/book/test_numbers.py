"""A number in a sentence comes from code: what is typed into prose is a name, a year, a size or it is listed here."""

from __future__ import annotations

import re

import pytest

from tests.book.pages import CHAPTERS, read_page

# Digits that are part of a name or of a setting, not a result.  Each with its reason.
NAMES = {
    r"GPT-[123]": "a model",
    r"Llama [123](\.\d)?( \d+B)?": "a model",
    r"SmolLM2(-135M)?": "a model",
    r"Qwen2\.5(-[\d.]+B)?": "a model",
    r"Mistral 7B": "a model",
    r"\b(19|20)\d\d\b": "a year",
    r"(SHA|UTF|top)-\d+": "a name",
    r"\b(4|8|16|32|64)([- ]bits?\b| bits)": "a format of numbers",
    r"(tokens?|positions?|places?|head|blocks?|step|rows?|ids?|base|key at|query at) \d+": "which one",
}
# Sentences whose digits are the task itself or restate a setting that stands in the code beside them.
LISTED: dict[str, set[str]] = {}
MARKUP = [
    re.compile(r"\A---\n.*?\n---\n", re.DOTALL),
    re.compile(r"^([ ]*)(`{3,})[^\n]*\n.*?^\1\2[ ]*$", re.MULTILINE | re.DOTALL),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"\{[\w:-]+\}`[^`]*`"),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\$[^$\n]*\$"),
    re.compile(r"^\s*(:::+.*|\([\w-]+\)=|:[\w-]+:.*)$", re.MULTILINE),
    re.compile(r"^\s*\d+\. ", re.MULTILINE),
    re.compile(r"\]\([^)]*\)"),
]


# What an exercise gives its reader is given, not computed; its solution is a result again.
TASK = re.compile(r"^(:{4,})\{exercise\}.*?(?=^\s*:{3,}\{(?:solution|hint)\}|^\1[ ]*$)", re.MULTILINE | re.DOTALL)
PRACTICE = re.compile(r"^## Practice .*?(?=^\*\*Next:)", re.MULTILINE | re.DOTALL)


def typed_numbers(markdown: str) -> list[str]:
    """Return the sentences of a page that hold digits which nothing computed, each as it stands."""
    markdown = PRACTICE.sub(" ", TASK.sub(" ", markdown))
    for pattern in MARKUP:
        markdown = pattern.sub(" ", markdown)
    for name in NAMES:
        markdown = re.sub(name, " ", markdown)
    return [line.strip() for line in markdown.split("\n") if re.search(r"\d", line)]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_number_is_typed_into_prose(chapter):
    found = [line for line in typed_numbers(read_page(chapter)) if line not in LISTED.get(chapter, set())]

    assert found == []


def test_a_typed_number_is_found():
    assert typed_numbers("The loss is 2.31 nats.") == ["The loss is 2.31 nats."]


@pytest.mark.parametrize(
    "sentence",
    ["The loss is {value}`loss:.2f` nats.", "GPT-2 came out in 2019.", "In $d^2$ and {formula}`a = 4 b`.", "1. First."],
)
def test_live_numbers_names_and_years_pass(sentence):
    assert typed_numbers(sentence) == []


def test_an_exception_that_is_no_longer_needed_is_removed():
    stale = [line for chapter, lines in LISTED.items() for line in lines - set(typed_numbers(read_page(chapter)))]

    assert stale == []
