r"""What a reader would read otherwise than the code, or in two ways, never passes: each of these once did."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

NOTATION = r"""
a, b, c, t: positive
x, y: vector(d)
d: dim(6..9)
n: int(2..4)
A: matrix(d, d)
R: scalar
"""


def said(latex, code, **options):
    """What is wrong with an equation whose value is the expression `code`; nothing when it passes."""
    try:
        return checked(latex, NOTATION, f"u == {code}", {"np": np}, suggests=False, **options).text
    except EquationError as error:
        return error.text


@pytest.mark.parametrize("words", ["if not", "unless", "except if", "only if", "if neither", "if never", "if for all"])
def test_a_word_that_turns_a_condition_is_not_passed_over(words):
    rows = rf"a & \text{{{words} }} a > b \\ c & \text{{otherwise}}"

    assert "in a condition is not read" in said(rf"u = \begin{{cases}} {rows} \end{{cases}}", "np.where(a > b, a, c)")
    assert said(rf"u = a \text{{ {words} }} a > b \text{{ else }} c", "np.where(a > b, a, c)")


@pytest.mark.parametrize("words", ["is not even", "is never odd", "isn't even", "neither even"])
def test_a_word_that_turns_even_and_odd_is_not_passed_over(words):
    rows = rf"x_i & \text{{if }} i \text{{ {words}}} \\ 0 & \text{{otherwise}}"

    for odd in (0, 1):
        code = f"np.where(np.arange(d) % 2 == {odd}, x, 0)"
        assert "in a condition is not read" in said(rf"u_i = \begin{{cases}} {rows} \end{{cases}}", code)


def test_a_last_case_with_an_if_that_nothing_follows_is_no_otherwise():
    latex = r"u = \begin{cases} a & \text{if } a > b \\ c & \text{if} \end{cases}"

    assert said(latex, "np.where(a > b, a, c)") == "nothing follows 'if'; write a condition there, or 'otherwise'"


@pytest.mark.parametrize(
    ("latex", "code"),
    [
        (r"u = \begin{cases} a & \text{if } a > b \\ c & \text{if } a > b - 2 \end{cases}", "np.where(a > b, a, c)"),
        (r"u = a \text{ if } a > b, \quad c \text{ if } a > b - 2", "np.where(a > b, a, c)"),
        (r"u_i = \begin{cases} x_i & i \ge 2 \\ y_i & i \le 2 \end{cases}", "np.where(np.arange(d) > 0, x, y)"),
    ],
)
def test_two_cases_that_both_apply_must_agree(latex, code):
    assert "this case applies where one before it does, and differs" in said(latex, code)


@pytest.mark.parametrize(
    ("latex", "code"),
    [
        (
            r"u = \begin{cases} a & \text{if } a > b \\ c & \text{else if } a > b - 2 \end{cases}",
            "np.where(a > b, a, c)",
        ),
        (r"u = a \text{ if } a > b \text{ else } c \text{ if } a > b - 2 \text{ else } 0", "np.where(a > b, a, c)"),
        (r"u_i = \begin{cases} x_i & i \ge 2 \\ x_i & i \le 2 \end{cases}", "x"),
        (r"u_i = \begin{cases} x_1 & i = 1 \\ x_i & i \ge 1 \text{ and } x_{i-1} > -100 \end{cases}", "x"),
    ],
)
def test_cases_in_turn_and_cases_that_agree_pass(latex, code):
    assert said(latex, code) == ""
