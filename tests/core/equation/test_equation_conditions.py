r"""What stands below an operator: letters that run, and conditions that their values meet, as i + j = k."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

NOTATION = "x: vector(n)\ny: vector(m)\nw: vector(K)\nA: matrix(n, n)\nc: ints(n, 3)\ns: int(1..3)"


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, check, CODE).text
    except EquationError as error:
        return error.text


def convolution(x, y):
    return np.convolve(x, y)


def spread(x, w, s):
    apart = np.zeros(s * (len(x) - 1) + 1)
    apart[::s] = x
    return np.convolve(apart, w)


def beside(A):
    return np.diag(A, 1).sum()


def against(A):
    return np.diag(A[::-1]).sum()


def band(A):
    places = np.arange(len(A))
    return A[abs(places[:, None] - places) <= 1].sum()


def by_class(x, c):
    return np.array([x[c == k].sum() for k in (1, 2, 3)])


def rivals(x, c):
    return np.array([x[(c == c[i]) & (np.arange(len(x)) != i)].sum() for i in range(len(x))])


CODE = {function.__name__: function for function in (convolution, spread, beside, against, band, by_class, rivals)}


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"z_k = \sum_{i+j=k+1} x_i y_j", "z == convolution(x, y)"),
        (r"z_k = \sum_{(i,j):\, i+j-1 = k} x_i y_j", "z == convolution(x, y)"),
        (r"z_j = \sum_{(i,k):\, s(i-1) + k = j} x_i w_k", "z == spread(x, w, s)"),
        (r"z_j = \sum_{s(i-1) + k = j} x_i w_k", "z == spread(x, w, s)"),
        (r"z = \sum_{i,j:\, j = i+1} A_{ij}", "z == beside(A)"),
        (r"z = \sum_{j - i = 1} A_{ij}", "z == beside(A)"),
        (r"z = \sum_{i+j=n+1} A_{ij}", "z == against(A)"),
        (r"z = \sum_{|i-j| \le 1} A_{ij}", "z == band(A)"),
        (r"z_k = \sum_{c_i = k} x_i", "z == by_class(x, c)"),
        (r"z_k = \sum_{i:\, c(i) = k} x_i", "z == by_class(x, c)"),
        (r"z_k = \sum_{k = c_i} x_i", "z == by_class(x, c)"),
        (r"z_i = \sum_{j \ne i,\; c_j = c_i} x_j", "z == rivals(x, c)"),
    ],
)
def test_a_condition_picks_the_terms(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"z_k = \sum_{i+j=k} x_i y_j", "z == convolution(x, y)"),
        (r"z_j = \sum_{s(i-1) - k = j} x_i w_k", "z == spread(x, w, s)"),
        (r"z_j = \sum_{(i,k):\, si + k = j} x_i w_k", "z == spread(x, w, s)"),
        (r"z = \sum_{i,j:\, j = i-1} A_{ij}", "z == beside(A)"),
        (r"z = \sum_{i+j=n} A_{ij}", "z == against(A)"),
        (r"z = \sum_{|i-j| < 1} A_{ij}", "z == band(A)"),
        (r"z_k = \sum_{c_k = i} x_i", "z == by_class(x, c)"),
        (r"z = \sum_{j = i+1} A_{ij}", "z == beside(A)"),
        (r"z = \sum_{i + 1 = 2}^n x_i", "z == x.sum()"),
    ],
)
def test_a_slip_in_one_is_refused(latex, check):
    assert said(latex, check) != ""
