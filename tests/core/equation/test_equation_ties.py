r"""Numbers are also drawn equal on purpose, so that \ge for > is told and a case such as a = 0 is compared."""

import numpy as np
import pytest
from equation_examples import checked

NOTATION = "x, y: vector(d)\na, b: scalar\np: positive\nr: int(1..3)"


def step(x):
    return (x >= 0) * 1.0


def step_beyond(x, a):
    return (x >= a) * 1.0


def six(x):
    return np.where(x > 6, 9.0, np.maximum(x, 0.0))


def sign(a):
    return 1.0 if a >= 0 else -1.0


def quotient(a, b):
    return 5.0 if b == 0 else a / b


def sinc(a):
    return np.sin(a) / a


def gap(a, b):
    return a - b


def bent(x):
    return np.where(x == 0, 5.0, x**2)


def agreement(x, y):
    return (x == y).sum()


def ahead(x, y):
    return (x >= y) * 1.0


def same(a):
    return 1.0 * a


def direction(x):
    return x / np.linalg.norm(x)


def place(x):
    return len(x) - x[::-1].argmax()


def ranks(x):
    return len(x) - x.argsort().argsort()


def rest(a, r):
    return a if a > 0 else -float(r)


FUNCTIONS = [step, step_beyond, six, sign, quotient, sinc, gap, bent, agreement, ahead, same, direction, place, ranks]
CODE = {function.__name__: function for function in [*FUNCTIONS, rest]}


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    return checked(latex, NOTATION, check, CODE).text


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"y_i = \mathbb{1}[x_i > 0]", "y == step(x)"),
        (r"z_i = \mathbb{1}[x_i > a]", "z == step_beyond(x, a)"),
        (r"z_i = \begin{cases} 9 & x_i \ge 6 \\ \max(x_i, 0) & \text{otherwise} \end{cases}", "z == six(x)"),
        (r"s = \operatorname{sign}(a)", "s == sign(a)"),
        (r"s = \begin{cases} 1 & a > 0 \\ 0 & a = 0 \\ -1 & a < 0 \end{cases}", "s == sign(a)"),
        (r"q = \begin{cases} 1 & b = 0 \\ a / b & \text{otherwise} \end{cases}", "q == quotient(a, b)"),
        (r"q = \begin{cases} 7 & a = b \\ a - b & a \ne b \end{cases}", "q == gap(a, b)"),
        (r"s = \begin{cases} 1 & a = 0 \\ \frac{\sin a}{a} & \text{otherwise} \end{cases}", "s == sinc(a)"),
        (r"z_i = x_i^2", "z == bent(x)"),
        (r"n = 0 x_1 y_1 + 3", "n == agreement(x, y) + a - a"),
        (r"z_i = \mathbb{1}[x_i > y_i]", "z == ahead(x, y)"),
        (r"s = \begin{cases} a & a > 0 \\ r & \text{otherwise} \end{cases}", "s == rest(a, r)"),
    ],
)
def test_a_difference_where_numbers_are_equal_is_told(latex, check):
    assert said(latex, check) != ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"y_i = \mathbb{1}[x_i \ge 0]", "y == step(x)"),
        (r"z_i = \mathbb{1}[x_i \ge a]", "z == step_beyond(x, a)"),
        (r"z_i = \begin{cases} 9 & x_i > 6 \\ \max(x_i, 0) & \text{otherwise} \end{cases}", "z == six(x)"),
        (r"s = \begin{cases} 1 & a \ge 0 \\ -1 & a < 0 \end{cases}", "s == sign(a)"),
        (r"q = \begin{cases} 5 & b = 0 \\ a / b & \text{otherwise} \end{cases}", "q == quotient(a, b)"),
        (r"q = \begin{cases} 0 & a = b \\ a - b & a \ne b \end{cases}", "q == gap(a, b)"),
        (r"z_i = \begin{cases} 5 & x_i = 0 \\ x_i^2 & \text{otherwise} \end{cases}", "z == bent(x)"),
        (r"n = \sum_i \mathbb{1}[x_i = y_i]", "n == agreement(x, y)"),
    ],
)
def test_the_right_equation_passes_there(latex, check):
    assert said(latex, check) == "" or "is 0 at each" in said(latex, check)


def test_numbers_stay_within_their_bounds():
    assert checked(r"s = |c|", "c: scalar(1..2)", "s == same(c)", CODE).text == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"s = \frac{\sin a}{a}", "s == sinc(a)"),
        (r"s = \begin{cases} a & a > 0 \\ -r & a < 0 \end{cases}", "s == rest(a, r)"),
        (r"q = a / b", "q == quotient(a, b)"),
    ],
)
def test_where_the_equation_has_no_value_it_says_nothing(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"k = \arg\max_i x_i", "k == place(x)"),
        (r"k_i = 1 + \sum_j \mathbb{1}[x_j > x_i]", "k == ranks(x)"),
    ],
)
def test_which_of_two_equal_elements_comes_first_is_nobodys_mistake(latex, check):
    assert said(latex, check) == ""


def test_what_is_told_says_that_numbers_are_equal():
    verdict = checked(r"s = \begin{cases} 1 & a > 0 \\ -1 & a \le 0 \end{cases}", NOTATION, "s == sign(a)", CODE)

    assert verdict.text.startswith("differs from sign(a) by 2 (allowed 1e-09), where numbers are equal or 0")
    assert str(verdict.mismatch) == "equal numbers: s: one side 1, the other -1"
    assert verdict.mismatch.values["a"] == "0"


def test_a_case_for_equal_numbers_that_no_draw_meets_is_refused():
    latex = r"s = \begin{cases} 1 & p = 0 \\ p & \text{otherwise} \end{cases}"

    assert said(latex, "s == 1.0 * p").startswith("this case applies at none of 200 draws")


def test_equal_numbers_are_no_reason_for_a_part_of_a_maximum():
    assert said(r"s = \max(a, -10^{20})", "s == same(a)").startswith("this part of max decides at none")


def unshifted(X, W):
    weights = np.exp(X @ W @ W.T @ X.T)
    return weights / weights.sum(axis=1, keepdims=True)


def test_code_whose_numbers_overflow_where_some_are_equal_is_not_asked_there():
    latex = r"Y = \operatorname{softmax}(X W (X W)^\top)"

    with np.errstate(all="ignore"):
        assert (
            checked(
                latex, "X: matrix(n, d)\nW: matrix(d, k)", "unshifted(X, W)", {"unshifted": unshifted, "np": np}
            ).text
            == ""
        )
