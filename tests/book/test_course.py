"""What the interview course and the concept lesson printed comes out of this book's pages, to the last digit."""

from __future__ import annotations

import pytest

from tests.book.pages import read_page

COURSE = """\
tokens (4, 8)
same token, same row?          True
and with positions added?      False
query at 5, key at 2:   0.34543
query at 13, key at 10: 0.34543
row [  2.   4. 400.   8.] -> norm [-0.593 -0.581  1.732 -0.558]
mean 0.0  variance 1.0
in (4, 8)  wide (4, 32)  out (4, 8)
logits (4, 50)
guess: token 41, probability 0.022 (uniform would be 0.020)
GPT-2 small  L=12  d=768    ≈   0.12 B parameters
GPT-2 XL     L=48  d=1600   ≈   1.55 B parameters
GPT-3        L=96  d=12288  ≈ 174.56 B parameters
"""


def printed(job, outcome):
    """Return all that a session printed, in page order."""
    cells = [outcome.cells[cell.id] for cell in job.session.cells]
    parts = [part for cell in cells for part in cell.parts if part.kind == "text"]
    return "".join(part.data["text"].rstrip("\n") + "\n" for part in parts)


@pytest.fixture(scope="module")
def course(run_page):
    ((job, outcome),) = run_page("tiny-gpt")
    assert not outcome.failed, outcome
    return printed(job, outcome)


@pytest.fixture(scope="module")
def lesson(run_page):
    ran = run_page("one-block")
    assert [outcome for _, outcome in ran if outcome.failed] == []
    return {job.session.state.value: printed(job, outcome) for job, outcome in ran}


def test_every_line_of_the_course_is_printed_by_the_page_in_its_order(course):
    lines = [line for line in course.splitlines() if line in COURSE.splitlines()]

    assert lines == COURSE.splitlines()


def test_the_page_says_which_token_was_guessed_and_how_unsure_it_is():
    page = read_page("tiny-gpt")

    assert "Now look *which* token it is: {value}`guess`" in page
    assert "the best gets {value}`probabilities[guess]:.3f`" in page


@pytest.mark.parametrize(
    "line",
    [
        "projections  (16, 4)    64 numbers",
        "[[0.3988 0.3307 0.2705]",
        "-0.7264 + (-0.1005) = -0.8269",
        "-0.8269 + (-0.1214) = -0.9483",
        "3 tokens, logits (3, 7) from the same 184",
    ],
)
def test_the_lesson_s_numbers_are_those_of_the_page_where_the_last_token_is_cat(lesson, line):
    assert line in lesson["cat"]


def test_with_another_last_token_the_page_prints_other_numbers(lesson):
    assert "-0.8814 + (-0.1323) = -1.0136" in lesson["dog"]
    assert "-0.8269" not in lesson["dog"]
