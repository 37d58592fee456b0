r"""What a reader would read otherwise than the code, or in two ways, never passes: each of these once did."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.equation import parse_equation
from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.notation import read_notation

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
        (
            r"u = a \text{ if } a > b \text{ else } c \text{ if } a > b - 1 \text{ else } 0",
            "np.where(a > b, a, np.where(a > b - 1, c, 0))",
        ),
        (r"u_i = \begin{cases} x_i & i \ge 2 \\ x_i & i \le 2 \end{cases}", "x"),
        (r"u_i = \begin{cases} x_1 & i = 1 \\ x_i & i \ge 1 \text{ and } x_{i-1} > -100 \end{cases}", "x"),
    ],
)
def test_cases_in_turn_and_cases_that_agree_pass(latex, code):
    assert said(latex, code) == ""


@pytest.mark.parametrize("letter", ["c", "x", "d", "R"])
def test_a_range_is_of_what_runs(letter):
    kind = {"c": "positive", "x": "vector", "d": "dim", "R": "scalar"}[letter]

    assert said(rf"u = c x_1 R, \quad {letter} = 1, \ldots, n", "c * x[0] * R").startswith(
        f"{letter} is declared as {kind}"
    )


def test_a_range_is_of_a_letter_that_stands_somewhere():
    assert said(r"u_i = x_i, \quad k = 1, \ldots, n", "x[:n]").startswith("k runs here and stands nowhere else")
    assert said(r"u = m, \quad m = x_1, \quad m = 1, \ldots, n", "x[0]").startswith("m has a value here")
    assert said(r"u_i = x_i, \quad i = 1, \ldots, n", "x[:n]") == ""


@pytest.mark.parametrize("right", ["0", "c", "x_1", "b x_1"])
def test_what_holds_at_a_declared_number_alone_does_not_hold_at_others(right):
    latex = rf"u = g_1 + c, \quad g_n = {right}"

    value = {"0": "0", "c": "c", "x_1": "x[0]", "b x_1": "b * x[0]"}[right]
    assert said(latex, f"{value} + c").startswith("g is given at n by what does not read n")


@pytest.mark.parametrize(
    ("part", "at_n"),
    [("r = n + 1", "n + 1"), (r"r = \sum_{j=1}^n x_j", "x[:n].sum()"), ("r = 2k, \\quad k = n", "2 * n")],
)
def test_a_part_that_reads_the_declared_number_is_no_part_of_what_holds_at_others(part, at_n):
    latex = rf"u = g_1 + g_n, \quad g_n = r x_n, \quad {part}"

    assert "is part of what holds at other indices than n" in said(latex, f"({at_n}) * (x[0] + x[n - 1])")


@pytest.mark.parametrize(
    "rest",
    [
        r"g_i = x_i + g_{i+1}, \quad g_n = x_n, \quad i = 1, \ldots, n - 1",
        r"g_n = x_n, \quad g_i = x_i + g_{i+1}, \quad i = 1, \ldots, n - 1",
        r"g_i = x_i + g_{i+1}, \quad g_n = x_n",
    ],
)
def test_what_holds_at_the_last_index_is_the_end_of_what_holds_at_the_others(rest):
    assert said(rf"u = g_1, \quad {rest}", "x[:n].sum()") == ""
    assert said(rf"u = g_1, \quad {rest}", "x[0]").startswith("differs")


@pytest.mark.parametrize("rest", ["m_i = x_i, \\quad m_i = 2 x_i", "m_n = x_n, \\quad m_n = 2 x_n"])
def test_an_element_has_one_value(rest):
    for code in ("x[0] + x[1]", "2 * (x[0] + x[1])"):
        assert said(rf"u = m_1 + m_2, \quad {rest}", code) == "element (1,) of m is defined twice"


@pytest.mark.parametrize(
    ("latex", "code"),
    [
        (r"u = a + \sum_{i > d} x_i", "a"),
        (r"u = a \prod_{i=5}^{4} 7 x_i", "a"),
        (r"u = a + \sum_{i=n+1}^{n} x_i", "a"),
        (r"u = A_{1,1} + \sum_{i + j = 1} A_{ij}", "A[0, 0]"),
        (r"u = \begin{cases} 7a & \text{if } a < 0 \\ c & \text{otherwise} \end{cases}", "c"),
        (r"u = c \text{ if } a > 0 \text{ else } 7b", "c"),
        (r"u_i = \begin{cases} x_i & \text{if } i > 0 \\ 7b & \text{if } i < 0 \end{cases}", "x"),
    ],
)
def test_what_no_draw_reaches_is_not_compared(latex, code):
    assert "at none of" in said(latex, code)


@pytest.mark.parametrize(
    ("latex", "code"),
    [
        (r"u_i = \sum_{j < i} x_j", "x.cumsum() - x"),
        (r"u_i = \begin{cases} 1 & x_i > 0 \\ 0 & x_i = 0 \\ -1 & x_i < 0 \end{cases}", "np.sign(x)"),
        (r"u_i = 1 \text{ if } x_i > 0, \; -1 \text{ if } x_i < 0, \; 0 \text{ otherwise}", "np.sign(x)"),
    ],
)
def test_what_some_draw_reaches_and_what_numbers_never_equal_by_chance_passes(latex, code):
    assert said(latex, code) == ""


def test_a_function_is_not_given_at_a_stepped_index():
    with pytest.raises(EquationError, match="f is given at an index that is stepped"):
        checked(r"f(x_{i+1}) = x_i^2", NOTATION, "f == x ** 2", {"np": np}, suggests=False)


def test_a_softmax_is_picked_where_it_runs():
    latex = (
        r"e_{ij} = x_i y_{j+1}, \quad p_{ij} = \operatorname{softmax}_j(e_{ij}), \quad u_i = \sum_{j=1}^{d} p_{ij} y_j"
    )
    code = "np.exp(np.outer(x, y)) / np.exp(np.outer(x, y)).sum(axis=1, keepdims=True) @ y"

    assert said(latex, code).startswith("j runs from 0 here")
    assert said(latex.replace("y_{j+1}", "y_j"), code) == ""


def test_a_derivative_that_code_gives_is_held_against_what_is_derived():
    latex = r"\frac{\partial r}{\partial x_i} = 2 x_i, \quad r = \sum_j x_j^{2}"
    check = r"\frac{\partial r}{\partial x} == 2 * x"

    assert checked(latex, NOTATION, check, {"np": np}, suggests=False).text == ""
    assert checked(latex.replace("^{2}", "^{3}"), NOTATION, check, {"np": np}, suggests=False).text


def test_a_left_side_of_known_names_is_computed_too():
    latex = r"\langle B x, y \rangle = x^\top A^\top y, \quad B = M(2), \quad M(k) = k A / 2"
    check = r"\langle B x, y \rangle == x @ A.T @ y"

    assert checked(latex, NOTATION, check, {"np": np}, suggests=False).text == ""
    assert checked(latex.replace("M(2)", "M(x)"), NOTATION, check, {"np": np}, suggests=False).text


def test_a_condition_on_an_index_compares_numbers():
    assert said(r"u_i = x_i, \quad 1 \le i \le y", "x") == "a condition on an index compares an array; index it"


def test_elements_that_are_mostly_zero_are_met_all_the_same():
    for first, is_right in ((1, True), (2, False)):
        verdict = checked(rf"u = \sum_{{i={first}}}^n P_i G_i", "P, G: binary(n)", "u == P @ G", {}, suggests=False)
        assert verdict.passed == is_right


def test_what_stands_beside_an_approximation_stays_exact():
    near = r"u = a, \quad u \approx b + a - b"

    assert said(near, "a", rtol="0.01") == ""
    assert "(allowed 1e-09)" in said(near, "a * 1.001", rtol="0.01")
    assert said(r"u \approx v, \quad v = a", "a * 1.001", rtol="0.01") == ""


@pytest.mark.parametrize("left", ["D(, Q)", "D(Q,)", "D(,)", "D_{|}(Q)", "D_{|Q}", "(D_Q)_", "D_{Q|}"])
def test_a_left_side_with_something_missing_is_told(left):
    with pytest.raises(EquationError):
        parse_equation(rf"{left} = \sum_i P_i Q_i + D_{{j|}}(", read_notation("P, Q: simplex(n)"))


def test_a_product_in_angles_may_end_in_a_sign_for_a_script():
    assert said(r"u = \langle x, x \rangle_", "x @ x").startswith("'_' lacks its script")
