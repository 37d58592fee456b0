r"""\mathbf{1} \mathbf{1}^\top, alone or beside I, is a matrix of ones as large as its neighbour asks for."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

NOTATION = "A, D: matrix(n, n)\nX: matrix(n, d)\nx: vector(n)\na: unit"
ONES = r"\mathbf{1} \mathbf{1}^\top"


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, check, CODE).text
    except EquationError as error:
        return error.text


def centred(A):
    return A - A.mean(axis=0) - A.mean(axis=1, keepdims=True) + A.mean()


def columns_centred(X):
    return X - X.mean(axis=0)


def covariance(X):
    return columns_centred(X).T @ columns_centred(X) / len(X)


def deviations(x):
    return x - x.mean()


def without_diagonal(A):
    return A - np.diag(np.diag(A))


def raised(A, a):
    return A + a


def walk(A, x, a):
    return a * A @ x + (1 - a) * x.mean()


def solved(x, a):
    return np.linalg.solve((1 - a) * np.eye(len(x)) + a, x)


def ones_times(number, x):
    return np.full_like(x, number)


CODE = {
    function.__name__: function
    for function in (
        centred, columns_centred, covariance, deviations, without_diagonal, raised, walk, solved, ones_times,
    )
}  # fmt: skip
CENTRING = rf"\left(I - \frac1n {ONES}\right)"


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"C = H A H, \quad H = I - \frac1n {ONES}", "C == centred(A)"),
        (rf"C = H A H, \quad H = I_n - \frac{{{ONES}}}{{n}}", "C == centred(A)"),
        (rf"C = A - \frac1n {ONES} A - \frac1n A {ONES} + \frac{{1}}{{n^2}} {ONES} A {ONES}", "C == centred(A)"),
        (rf"Z = {CENTRING} X", "Z == columns_centred(X)"),
        (rf"S = \frac1n X^\top {CENTRING} X", "S == covariance(X)"),
        (rf"y = {CENTRING} x", "deviations(x)"),
        (rf"y^\top = x^\top {CENTRING}", "y^\\top == deviations(x)"),
        (rf"B = ({ONES} - I) \odot A", "B == without_diagonal(A)"),
        (r"B = (\mathbf{1}_{n \times n} - I_n) \odot A", "B == without_diagonal(A)"),
        (rf"B = A + a {ONES}", "B == raised(A, a)"),
        (rf"B = X + a {ONES}", "B == raised(X, a)"),
        (r"B = X + a \mathbf{1}_{n \times d}", "B == raised(X, a)"),
        (rf"y = \left(a A + \frac{{1 - a}}{{n}} {ONES}\right) x", "y == walk(A, x, a)"),
        (rf"y = \bigl((1 - a) I_n + a {ONES}\bigr)^{{-1}} x", "solved(x, a)"),
        (rf"B = A + a{ONES} I", "B == raised(A, a)"),
        (rf"M = \frac1n {ONES} X", "M == X - columns_centred(X)"),
        (rf"y = \frac1n {ONES} A x", "y == ones_times((A @ x).mean(), x)"),
        (rf"y = \frac{{1}}{{n}} A {ONES} x", "y == A.sum(axis=1) * x.mean()"),
        (r"y = \frac1n x \mathbf{1}^\top A \mathbf{1}", "y == x * A.sum() / len(x)"),
    ],
)
def test_ones_have_the_size_of_their_neighbour(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"C = A H, \quad H = I - \frac1n {ONES}", "C == centred(A)"),
        (rf"Z = X {CENTRING}", "Z == columns_centred(X)"),
        (rf"y = \left(I + \frac1n {ONES}\right) x", "deviations(x)"),
        (rf"y = \left(I - {ONES}\right) x", "deviations(x)"),
        (rf"B = {ONES} \odot A", "B == without_diagonal(A)"),
        (r"B = (\mathbf{1}_{n \times n} + I_n) \odot A", "B == without_diagonal(A)"),
        (r"B = X + a \mathbf{1}_{d \times n}", "B == raised(X, a)"),
    ],
)
def test_a_slip_in_them_is_refused(latex, check):
    assert said(latex, check) != ""


def test_where_no_neighbour_says_the_size_it_is_asked_for():
    assert "write \\mathbf{1}_n" in said(rf"y = \bigl((1 - a) I + a {ONES}\bigr)^{{-1}} x", "solved(x, a)")
    sized = r"y = \bigl((1 - a) I + a \mathbf{1}_n \mathbf{1}_n^\top\bigr)^{-1} x"
    assert said(sized, "solved(x, a)") == ""


def images(Z, w):
    windows = np.lib.stride_tricks.sliding_window_view(Z, w.shape[1:], axis=(2, 3))
    return np.einsum("bcijuv,cuv->bij", windows, w)


BIG = "Z: tensor(b, c, n + k - 1, m + k - 1)\nw: tensor(c, k, k)"
BIG_SUM = r"Y_{r,i,j} = \sum_{s=1}^{c} \sum_{u=1}^{k} \sum_{v=1}^{k} w_{s,u,v} Z_{r,s,i+u-1,j+v-1}"


def test_sizes_are_small_where_nested_sums_would_take_too_long():
    notation = f"{BIG}\nb, c, n, m, k: dim"
    ranges = r"\qquad 1 \le i \le n, \quad 1 \le j \le m"
    slip = BIG_SUM.replace("i+u-1,j+v-1", "i+v-1,j+u-1")

    assert checked(f"{BIG_SUM}, {ranges}", notation, "Y == images(Z, w)", {"images": images}).text == ""
    assert "differs" in checked(f"{slip}, {ranges}", notation, "Y == images(Z, w)", {"images": images}).text


def table(n, m):
    return np.add.outer(np.arange(1, n + 1), np.arange(1, m + 1)) * 1.0


def test_sizes_that_an_author_chose_stay():
    latex = r"T_{ij} = \sum_{u=1}^{n} \sum_{v=1}^{m} (i + j) / (nm), \quad i = 1, \ldots, n, \quad j = 1, \ldots, m"

    assert checked(latex, "n: int(50..60)\nm: int(2..3)", "T == table(n, m)", {"table": table}).text.startswith(
        "over 200000 steps; declare smaller sizes, as in 'n: int(2..3)'"
    )
    assert checked(latex, "n: int(2..3)\nm: int(2..3)", "T == table(n, m)", {"table": table}).text == ""
