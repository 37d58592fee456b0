r"""Bars in subscripts: p_{j|i} is an element of shares, and x_{t|t-1} a name that says what is known."""

import numpy as np
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def neighbours(x, sigma):
    apart = ((x[:, None] - x[None]) ** 2).sum(-1)
    weights = np.exp(-apart / (2 * sigma[:, None] ** 2)) * (1 - np.eye(len(x)))
    return weights / weights.sum(1, keepdims=True)


def divergence(p, q):
    return (p * np.log(p / q)).sum()


def expected(p, x):
    return x @ p


def filtered(x, P, A, Q, H, R, z):
    x, P = A @ x, A @ P @ A.T + Q
    gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    return x + gain @ (z - H @ x)


def predicted(P, A, Q):
    return A @ P @ A.T + Q


CODE = {name: value for name, value in globals().items() if callable(value) and name != "checked"} | {"np": np}
SHARES = "p, q: simplex(n, n)\nx: vector(n)"
STATE = "P: posdef(n)\nA, Q: matrix(n, n)"


def said(latex, notation, check):
    try:
        return checked(latex, notation, check, CODE).text
    except EquationError as error:
        return error.text


def test_a_letter_under_its_condition_is_an_element_of_shares():
    assert said(r"D = \sum_{i,j} p_{j|i} \log \frac{p_{j|i}}{q_{j|i}}", SHARES, "divergence") == ""
    assert "differs" in said(r"D = \sum_{i,j} p_{j|i} \log \frac{p_{j|i}}{q_{i|j}}", SHARES, "divergence")
    assert said(r"y_j = \sum_i p_{j \mid i} x_i", SHARES, "expected(p, x)") == ""
    assert "differs" in said(r"y_j = \sum_i p_{i \mid j} x_i", SHARES, "expected(p, x)")


def test_the_elements_of_a_diagonal_may_be_given_apart():
    latex = (
        r"p_{j|i} = \frac{\exp(-\|x_i - x_j\|^2 / (2 \sigma_i^2))}"
        r"{\sum_{k \ne i} \exp(-\|x_i - x_k\|^2 / (2 \sigma_i^2))}, \quad p_{i|i} = 0"
    )
    notation = "x: matrix(n, d)\n\\sigma: positive(n)"

    assert said(latex, notation, "p == neighbours(x, sigma)") == ""
    assert "differs" in said(latex.replace("= 0", "= 1"), notation, "p == neighbours(x, sigma)")
    assert "differs" in said(latex.replace("p_{j|i}", "p_{i|j}"), notation, "p == neighbours(x, sigma)")


def test_the_axes_of_a_matrix_have_no_condition():
    text = said(r"y_j = \sum_i A_{j|i} x_i", "A: matrix(n, n)\nx: vector(n)", "expected(A, x)")

    assert text.startswith("ambiguous: which axis is the condition of A_{j|i}?")
    assert said(r"y_j = \sum_i A_{i,j} x_i", "A: matrix(n, n)\nx: vector(n)", "expected(A, x)") == ""


def test_what_is_known_then_is_a_name_of_its_own_and_what_was_the_declared_one():
    assert said(r"P_{t|t-1} = A P_{t-1|t-1} A^\top + Q", STATE, "predicted") == ""
    assert said(r"P_{t \mid t-1} = A P A^\top + Q", STATE, "predicted") == ""
    assert (
        said(r"P_{t|t-1} = A P_{t-1|t-1} A^\top + Q", STATE.replace("P:", r"P_{t-1 \mid t-1} as P:"), "predicted") == ""
    )


def test_the_letter_counts_the_steps_of_the_others_too():
    notation = f"{STATE}\nx: vector(n)\nH: matrix(m, n)\nR: posdef(m)\nz: vector(m)"
    latex = (
        r"\hat{x}_{t|t-1} = A x, \quad P_{t|t-1} = A P A^\top + Q, \quad "
        r"K_t = P_{t|t-1} H^\top (H P_{t|t-1} H^\top + R)^{-1}, \quad "
        r"\hat{x}_{t|t} = \hat{x}_{t|t-1} + K_t (z_t - H \hat{x}_{t|t-1})"
    )

    assert said(latex, notation, r"\hat{x}_{t|t} == filtered(x, P, A, Q, H, R, z)") == ""
    assert said(latex.replace(r"H \hat{x}_{t|t-1}", "H x"), notation, r"\hat{x}_{t|t} == filtered(x, P, A, Q, H, R, z)")


def test_several_that_nothing_gives_are_to_be_declared():
    text = said(r"P_{t|t-1} = A P_{t-1|t-1} A^\top + P_{t|t}", STATE, "predicted")

    assert (
        text == "P is declared, and P_{t-1|t-1} and P_{t|t} are read; declare P_{t-1|t-1} and P_{t|t} in the place of P"
    )
