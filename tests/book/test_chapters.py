"""Every chapter has its parts: what it promises, code with outputs, claims, a teach box, exercises, its own sources."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from tests.book.pages import CHAPTERS, blocks, option, read_page

PART = re.MULTILINE | re.DOTALL

pytestmark = pytest.mark.parametrize("chapter", CHAPTERS)


def count_blocks(chapter, kind):
    return sum(block.kind == kind for block in blocks(read_page(chapter)))


def exercises(chapter):
    return [block for block in blocks(read_page(chapter)) if block.kind == "exercise"]


def test_a_chapter_says_its_level_and_what_it_is_about(chapter):
    head = read_page(chapter).split("---")[1]

    assert re.search(r"^level: (beginner|intermediate|advanced)$", head, re.MULTILINE)
    assert "description:" in head


@pytest.mark.parametrize("part", ["you can", "**You need**", "**Next:**", "```{bibliography}"])
def test_a_chapter_says_what_it_gives_needs_and_leads_to(chapter, part):
    assert part in read_page(chapter)


def test_a_chapter_begins_with_the_question_that_it_answers(chapter):
    lead = read_page(chapter).split("\n# ")[1].partition("{figure}")[0]

    assert "?" in lead


def test_a_chapter_ends_with_practice_that_changes_its_own_code(chapter):
    practice = re.search(r"^## Practice with the page's own code\n(.*?)^\*\*Next:", read_page(chapter), PART)

    assert practice
    assert practice[1].count("\n* ") >= 3


def test_a_chapter_lists_its_own_sources_and_cites_them(chapter):
    (listed,) = (block for block in blocks(read_page(chapter)) if block.kind == "bibliography")

    assert option(listed, "filter") == "docname in docnames"
    assert "{cite:" in read_page(chapter)


def test_a_chapter_has_a_picture_with_words_for_it(chapter):
    figures = [block for block in blocks(read_page(chapter)) if block.kind == "figure"]

    assert figures
    assert all(option(figure, "alt") for figure in figures)


def test_a_chapter_has_a_figure_that_code_draws(chapter):
    assert any(option(block, "figure") for block in blocks(read_page(chapter)) if block.kind == "live")


def test_at_least_three_sentences_are_claims(chapter):
    assert read_page(chapter).count("{claim}`") >= 3


def test_numbers_in_sentences_are_live(chapter):
    assert read_page(chapter).count("{value}`") >= 1


@pytest.mark.parametrize(
    ("kind", "least"), [("teach", 1), ("key-equations", 1), ("in-practice", 1), ("question", 3), ("exercise", 4)]
)
def test_a_chapter_has_its_boxes(chapter, kind, least):
    assert count_blocks(chapter, kind) >= least


def test_a_teach_box_has_its_parts_in_order(chapter):
    (teach,) = (block for block in blocks(read_page(chapter)) if block.kind == "teach")
    parts = re.findall(r"\*\*[A-Z][a-z ]+\.\*\*|\{solution\}", teach.body)

    assert parts == [
        "**One sentence.**", "**Analogy.**", "**At the board.**", "**Misconceptions.**", "**Check.**", "{solution}",
    ]  # fmt: skip


def test_a_hint_comes_before_a_solution(chapter):
    hinted = [block.body for block in exercises(chapter) if "{hint}" in block.body]

    assert hinted
    assert all(body.index("{hint}") < body.index("{solution}") for body in hinted)


def test_every_misconception_is_refuted_by_a_run(chapter):
    (teach,) = (block for block in blocks(read_page(chapter)) if block.kind == "teach")
    part = teach.body.split("**Misconceptions.**")[1].split("**Check.**")[0]
    points = re.split(r"^[*-] ", part, flags=re.MULTILINE)[1:]

    assert len(points) >= 3
    assert [point[:60] for point in points if "```{live}" not in point] == []


def test_exercises_are_of_all_four_kinds(chapter):
    kinds = Counter(option(block, "kind") for block in exercises(chapter))

    assert set(kinds) == {"explain", "derive", "count", "implement"}


def test_every_exercise_has_a_solution(chapter):
    assert [block.title for block in exercises(chapter) if "{solution}" not in block.body] == []


def test_every_exercise_has_a_name_and_stars(chapter):
    bare = [block.title for block in exercises(chapter) if not (option(block, "name") and option(block, "stars"))]

    assert bare == []


def test_an_exercise_for_code_has_a_starter_and_a_check(chapter):
    wanted = [block for block in exercises(chapter) if option(block, "kind") == "implement"]

    assert wanted
    assert all("```{starter}" in block.body and "```{check}" in block.body for block in wanted)


def test_a_check_does_not_spell_the_answer_out(chapter):
    checks = [block.body for block in blocks(read_page(chapter)) if block.kind == "check"]

    assert [check for check in checks if sums_of_numbers(check) > 1] == []


def sums_of_numbers(code):
    """Count the operations of an expression that have typed numbers on both sides: 2 * 32 * 8 has two."""
    numbers = (ast.Constant, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop)
    found = [node for node in ast.walk(ast.parse(code.strip())) if isinstance(node, ast.BinOp)]
    return sum(all(isinstance(part, numbers) for part in ast.walk(node)) for node in found)


def test_every_shown_region_has_an_output_or_says_why_not(chapter):
    shown = [block for block in blocks(read_page(chapter)) if block.kind == "live" and block.title]
    code = {block: re.sub(r"^\s*:[\w-]+:.*$", "", block.body, flags=re.MULTILINE).strip() for block in shown}
    silent = [b.line for b in shown if not code[b] and "run-" not in b.body and option(b, "no-output") is None]

    assert silent == []


def test_every_displayed_equation_is_checked_or_excused(chapter):
    equations = [block for block in blocks(read_page(chapter)) if block.kind == "math"]
    ways = ("check", "check-with", "nocheck")
    unchecked = [block.line for block in equations if not any(option(block, way) is not None for way in ways)]

    assert unchecked == []


def test_a_line_of_markdown_holds_one_sentence(chapter):
    prose = re.sub(r"`[^`]*`", "", read_page(chapter))
    prose = re.sub(r"^(`{3,}).*?^\1$", "", prose, flags=re.MULTILINE | re.DOTALL)
    long = [line[:70] for line in prose.split("\n") if len(line) > 600]

    assert long == []


def test_a_line_of_shown_code_is_no_wider_than_its_page(chapter):
    found = [block for block in blocks(read_page(chapter)) if block.kind in ("live", "starter")]
    shown = [block.body for block in found if option(block, "frozen") is None]  # what one gave belongs to its very text
    lines = [line for body in shown for line in body.split("\n") if not re.match(r"\s*:[\w-]+:", line)]

    assert [line for line in lines if len(line) > 88] == []
