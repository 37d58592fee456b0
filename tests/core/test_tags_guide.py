"""The guide's table of tag expressions says what the program does."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import pytest

from scratchbook.core.regions import Selection, show

GUIDE = (Path(__file__).parents[2] / "docs/guide/tags.md").read_text("utf-8")
EXAMPLE = re.search(r":lineno-start: 1\n\n(.*?)```", GUIDE, re.DOTALL)[1]
ROWS = re.findall(r"^\| `([^`]+)` \| ([\d –]+) \| (.+) \|$", GUIDE, re.MULTILINE)
EXPRESSIONS = [expression for expression, _, _ in ROWS]


def test_the_example_has_twelve_lines():
    assert EXAMPLE.count("\n") == 12


def test_no_row_stands_twice():
    assert len(EXPRESSIONS) == len(set(EXPRESSIONS)) == 50


@pytest.mark.parametrize(
    "names",
    [("**", "*"), ("**", "!*"), ("!**", "*"), ("!**", "!*"), ("!*", "outer", "inner")]
    + [(wildcard, name) for wildcard in ("*", "!*", "**", "!**") for name in ("outer", "!inner")],
    ids=str,
)
def test_every_order_of_these_names_has_a_row(names: tuple[str, ...]):
    assert {";".join(order) for order in permutations(names)} <= set(EXPRESSIONS)


@pytest.mark.parametrize(("expression", "lines", "meaning"), ROWS, ids=EXPRESSIONS)
def test_a_row_is_what_the_program_shows_or_says(expression: str, lines: str, meaning: str):
    region, mistakes = show(EXAMPLE, "example.py", Selection(tags=expression))

    assert " ".join(map(str, region.numbers)) == lines.replace("–", "")
    assert [mistake.text for mistake in mistakes] == ([meaning] if lines == "–" else [])
