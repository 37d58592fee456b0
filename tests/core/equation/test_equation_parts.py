r"""Left sides that are parts: stretches y_{1:d}, margins P_{i \cdot}, elements beside a function, gradients by name."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

NOTATION = """
x: vector(D)
D: dim(6..9)
d: dim(2..3)
W, U: matrix(D - d, d)
e: vector(2*q)
q: dim(2..4)
A: matrix(n, n)
B, X: matrix(n, p)
w: vector(p)
C: positive(n, p)
m, z: vector(n)
G: matrix(T, n)
T: dim(3..5)
s, a: positive
k, b: int(1..9)
"""


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, check, CODE, suggests=False).text
    except EquationError as error:
        return error.text


def coupling(x, W, U):
    d = W.shape[1]
    return np.concatenate([x[:d], x[d:] * np.exp(W @ x[:d]) + U @ x[:d]])


def half_turn(e):
    half = len(e) // 2
    return np.concatenate([-e[half:], e[:half]])


def padded(x):
    return np.concatenate([np.zeros(2), x])


def scaled(X, w):
    return X * w


def product(A, B):
    return A @ B


def chi_square(C):
    expected = np.outer(C.sum(axis=1), C.sum(axis=0)) / C.sum()
    return ((C - expected) ** 2 / expected).sum()


def margins(C):
    return C.sum(axis=1), C.sum(axis=0)


def moved(z, m, s):
    return z - (z - m) / s


def descended(w, X, z, a):
    return w - a * X.T @ (X @ w - z)


def relative(k, b, a):
    return np.cos((k - b) * a)


def squares(z):
    return z**2 + 1


def summed(z, G, a):
    return z - a * G.sum(axis=0)


CODE = {
    function.__name__: function
    for function in (
        coupling, half_turn, padded, scaled, product, chi_square, margins, moved, descended, relative, squares, summed,
    )
}  # fmt: skip

COUPLING = r"v_{1:d} = x_{1:d}, \quad v_{d+1:D} = x_{d+1:D} \odot \exp(W x_{1:d}) + U x_{1:d}"
EXPECTED = r"\chi = \sum_{i,j} \frac{(C_{ij} - E_{ij})^2}{E_{ij}}, \quad E_{ij} = "
MARGINS = r"C_{i\cdot} = \sum_j C_{ij}, \quad C_{\cdot j} = \sum_i C_{ij}"
TOTAL = r"C_{\cdot\cdot} = \sum_{i,j} C_{ij}"
BOTH = "P_{i\\cdot} == margins(C)[0]\nP_{\\cdot j} == margins(C)[1]"
SCORE = r"\nabla_z \log p(z) = -\frac{z - m}{s^2}"
TURN = r"r_k = R(k), \quad r_b = R(b), \quad R(u) = \begin{pmatrix} \cos u a \\ \sin u a \end{pmatrix}"


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (COUPLING, "v == coupling(x, W, U)"),
        (r"v_{1:q} = -e_{q+1:2q}, \quad v_{q+1:2q} = e_{1:q}", "v == half_turn(e)"),
        (r"v_{1:2} = 0, \quad v_{3:D+2} = x", "v == padded(x)"),
        (r"u = \lVert v \rVert^2 + v_3, \quad v_{1:2} = 0, \quad v_{3:D+2} = x", "u == x @ x + x[0]"),
        (r"Z_{i,:} = X_{i,:} \odot w", "Z == scaled(X, w)"),
        (r"Z_{:,j} = A B_{:,j}", "Z == product(A, B)"),
        (rf"{EXPECTED} \frac{{C_{{i\cdot}} C_{{\cdot j}}}}{{C_{{\cdot\cdot}}}}, \quad {MARGINS}, \quad {TOTAL}",
         "chi_square"),
        (rf"{EXPECTED} \frac{{C_{{i+}} C_{{+j}}}}{{C_{{++}}}}, \quad {MARGINS}, \quad {TOTAL}".replace(r"\cdot", "+"),
         "chi_square"),
        (MARGINS.replace(r"C_{i\cdot}", r"P_{i\cdot}").replace(r"C_{\cdot j}", r"P_{\cdot j}"), BOTH),
        (rf"u = z + s \nabla_z \log p(z), \quad {SCORE}", "u == moved(z, m, s)"),
        (rf"u = z + s \nabla \log p(z), \quad {SCORE.replace('_z', '')}", "u == moved(z, m, s)"),
        (rf"u = z + s \nabla_z \log p_a(z), \quad {SCORE.replace('p', 'p_a')}", "u == moved(z, m, s)"),
        (r"u = w - a \nabla_w L(w), \quad \nabla_w L(w) = X^\top (X w - z)", "u == descended(w, X, z, a)"),
        (r"u = w - a \nabla_w L(w), \quad L(w) = \frac12 \lVert X w - z \rVert^2", "u == descended(w, X, z, a)"),
        (rf"\langle r_k, r_b \rangle = \cos((k - b) a), \quad {TURN}", "relative(k, b, a)"),
        (r"u_i = f_i + f(1), \quad f_i = f(z_i), \quad f(v) = v^2", "u == squares(z)"),
        (r"z_{T+1,i} = z_i - a \sum_{t=1}^T G_{t,i}", "z_{T+1} == summed(z, G, a)"),
    ],
)  # fmt: skip
def test_parts_on_the_left_make_the_whole(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (COUPLING.replace("v_{1:d} = x_{1:d}", "v_{1:d} = x"), "v == coupling(x, W, U)"),
        (COUPLING.replace("U x_{1:d}", "U x_{2:d+1}"), "v == coupling(x, W, U)"),
        (COUPLING.replace("v_{d+1:D}", "v_{d+2:D}"), "v == coupling(x, W, U)"),
        (COUPLING.replace("v_{1:d}", "v_{2:d+1}"), "v == coupling(x, W, U)"),
        (r"v_{1:q} = e_{q+1:2q}, \quad v_{q+1:2q} = e_{1:q}", "v == half_turn(e)"),
        (r"Z_{i,:} = X_{1,:} \odot w", "Z == scaled(X, w)"),
        (rf"{EXPECTED} \frac{{C_{{j\cdot}} C_{{\cdot i}}}}{{C_{{\cdot\cdot}}}}, \quad {MARGINS}, \quad {TOTAL}",
         "chi_square"),
        (rf"{EXPECTED} \frac{{C_{{i\cdot}} C_{{\cdot j}}}}{{n}}, \quad {MARGINS}", "chi_square"),
        (MARGINS.replace(r"C_{i\cdot}", r"P_{\cdot i}").replace(r"C_{\cdot j}", r"P_{j \cdot}"), BOTH),
        (rf"u = z + \nabla_z \log p(z), \quad {SCORE}", "u == moved(z, m, s)"),
        (rf"u = z - s \nabla_z \log p(z), \quad {SCORE}", "u == moved(z, m, s)"),
        (r"u = w - a \nabla_w L(w), \quad L(w) = \lVert X w - z \rVert^2", "u == descended(w, X, z, a)"),
        (r"u = w - a \nabla_w L(z), \quad L(w) = \frac12 \lVert X w - z \rVert^2", "u == descended(w, X, z, a)"),
        (rf"\langle r_k, r_b \rangle = \cos((k + b) a), \quad {TURN}", "relative(k, b, a)"),
        (r"u_i = f_i + f(2), \quad f_i = f(z_i), \quad f(v) = v^2", "u == squares(z)"),
        (r"z_{T+1,i} = z_i - a \sum_{t=2}^T G_{t,i}", "z_{T+1} == summed(z, G, a)"),
    ],
)  # fmt: skip
def test_a_slip_in_one_is_refused(latex, check):
    assert said(latex, check) != ""
