r"""Names that a left side makes of several parts, and what belongs to a name although it stands elsewhere."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def gram(A, x):
    return A.T @ A


def newton(x, g, H):
    return x - np.linalg.solve(H, g)


def decibels(w, n):
    return -10 * np.log10(1 + w ** (2 * n))


def inner(w, u):
    return w @ u


def smaller(P, u, c):
    return P - c * np.outer(P @ u, u)


def twice(P, u, d):
    return 2 * (P @ u) * d


def distance(x, mu, S):
    return (x - mu) @ np.linalg.solve(S, x - mu)


def probit(m, s):
    return 1 / (1 + np.exp(-m / np.sqrt(1 + np.pi * s / 8)))


def rows(p, W):
    return p * W.sum(axis=1)


def squares(p):
    return p @ p


def reached(R):
    return sum(np.prod(1 - R[:place]) * R[place] for place in range(len(R)))


def picked(a, k):
    return np.where(np.arange(1, len(a) + 1) == k, a, 0)


def longest(t, b):
    return 2 / b * (2 / b - t * b)


def blended(x, y, c):
    return x + c * (2 * y - x)


def weighed(x, y):
    return np.array([y.sum(), x @ y])


def scaled(w, s):
    once = w * s[:, None, None]
    return once / once.sum(axis=(0, 2))[None, :, None]


def divergence(a, b):
    return np.sum(a * np.log(a / b))


def scored(a, b, C):
    return b @ (C @ a)


def mean_of(v, s):
    return v[s - 1].mean(axis=0)


def means(N, z, k):
    return np.equal.outer(np.arange(1, len(N) + 1), k).astype(float) @ z / N[:, None]


def passed_on(psi, mu):
    return mu @ psi


def marginal(psi, mu, nu):
    belief = mu @ psi * nu
    return belief / belief.sum()


def carried(v, J, du, t):
    return v - t * (J @ v + du)


def rate(a, t):
    return 2 * a * t


def correlated(y, D):
    return np.einsum("abij,ij->ab", np.lib.stride_tricks.sliding_window_view(y, D.shape), D)


def alike(A, c):
    return A[c[:, None] == c].sum()


def counts(c, K):
    return np.bincount(c, minlength=K + 1)[1:].astype(float)


CODE = {name: value for name, value in globals().items() if callable(value) and name != "checked"} | {"np": np}
AT_N = "P(n-1) as P: posdef(M)\nw(n) as w, u(n) as u: vector(M)\nd(n) as d: scalar\nc: unit"


def said(latex, notation, check):
    try:
        return checked(latex, notation, check, CODE).text
    except EquationError as error:
        return error.text


READ = [
    (
        "a second gradient",
        r"\nabla^2 \phi(x) = A^T A",
        "A: matrix(m, n)\nx: vector(n)",
        "gram(A, x)",
        "A^T A",
        "A^T A^T",
    ),
    ("by a name", r"\nabla_x^2 \phi(x) = A^T A", "A: matrix(m, n)\nx: vector(n)", "gram(A, x)", "A^T A", "2 A^T A"),
    ("written twice", r"\nabla\nabla \phi = A^T A", "A: matrix(m, n)\nx: vector(n)", "gram(A, x)", "A^T A", "2 A^T A"),
    (
        "declared",
        r"y = x - \left(\nabla^2 f\right)^{-1} g",
        "x, g: vector(d)\n\\nabla^2 f as H: posdef(d)",
        "newton(x, g, H)",
        "x -",
        "x +",
    ),
    (
        "a magnitude",
        r"G = 20 \log_{10} |H(j w)|, \quad |H(j w)| = \frac{1}{\sqrt{1 + w^{2n}}}",
        "w: positive\nn: int(1..4)",
        "G == decibels(w, n)",
        "w^{2n}",
        "w^{n}",
    ),
    ("a transpose before its argument", "y = w^T(n) u(n)", AT_N, "y == inner(w, u)", "u(n)", "w(n)"),
    (
        "a part that stands at n",
        r"k(n) = c P(n-1) u(n), \quad P(n) = P(n-1) - k(n) u^T(n)",
        AT_N,
        "P(n) == smaller(P, u, c)",
        "u^T",
        r"k^\top",
    ),
    (
        "a part of a part",
        r"k(n) = P(n-1) u(n), \quad e(n) = 2 k(n), \quad y(n) = e(n) d(n)",
        AT_N,
        "y == twice(P, u, d)",
        "2 k",
        "3 k",
    ),
    (
        "indices in brackets side by side",
        r"G_{ab} = \sum_{i=1}^{p} \sum_{j=1}^{p} D_{ij} y_{(i+a-1)(j+b-1)}, \quad a, b = 1, \ldots, m",
        "p, m: dim(2..4)\nN: dim(p + m - 1)\ny: matrix(N, N)\nD: matrix(p, p)",
        "G == correlated(y, D)",
        "(j+b-1)",
        "(j+a-1)",
    ),
    (
        "Kronecker's delta of two members",
        r"s = \sum_{ij} A_{ij} \delta(c_i, c_j)",
        "A: matrix(n, n)\nc: ints(n, K)",
        "s == alike(A, c)",
        "c_i, c_j",
        "c_i, j",
    ),
    (
        "Kronecker's delta of a member and a number",
        r"N_k = \sum_{i=1}^{n} \delta(k, c_i), \quad k = 1, \ldots, K",
        "c: ints(n, K)\nK: dim(2..3)",
        "N == counts(c, K)",
        "(k, c_i)",
        "(i, c_i)",
    ),
    (
        "a prime behind a bracket",
        r"D = (x - \mu)' S^{-1} (x - \mu)",
        "x, \\mu as mu: vector(n)\nS: posdef(n)",
        "distance(x, mu, S)",
        "S^{-1}",
        "S",
    ),
    (
        "a function beside a parameter",
        r"p = \sigma(\kappa(s) m), \quad \kappa(\sigma^2) = (1 + \pi \sigma^2 / 8)^{-1/2}",
        "m: scalar\ns: positive",
        "p == probit(m, s)",
        r"\sigma^2 / 8",
        r"\sigma / 8",
    ),
    (
        "a condition in the order of the left side",
        r"q(x \mid y) = p(x) W(y \mid x), \quad r(x) = \sum_y q(x \mid y)",
        "p: simplex(m)\nW: simplex(m, n)",
        "r == rows(p, W)",
        r"\sum_y q(x \mid y)",
        r"\sum_y q(x \mid y)^2",
    ),
    ("a power behind a place", r"s = \sum_i p(i)^2", "p: simplex(m)", "squares(p)", "^2", "^3"),
    (
        "a product in brackets",
        r"s = \sum_{r=1}^n \left(\prod_{i=1}^{r-1} (1 - R_i)\right) R_r",
        "R: unit(n)",
        "reached(R)",
        "r-1",
        "r",
    ),
    (
        "columns",
        r"z = B^T y, \quad B_{i1} = 1, \quad B_{i2} = x_i",
        "x, y: vector(n)",
        "z == weighed(x, y)",
        "= x_i",
        "= x_i^2",
    ),
    (
        "a label in capitals",
        r"u = x + c_A \odot (x_A - x), \quad x_A = 2y",
        "x, y, c_A as c: vector(n)",
        "u == blended(x, y, c)",
        "2y",
        "3y",
    ),
    ("a range without commas", r"s = \sum_{i = 1 \ldots m} p_i p_i", "p: simplex(m)", "s == squares(p)", "1", "2"),
    ("and in a set", r"s = \sum_{i \in 1 \ldots m} p_i p_i", "p: simplex(m)", "s == squares(p)", "1", "2"),
    (
        "for all",
        r"r_i = \begin{cases} a_i & \text{if } i = k \\ 0 & \text{for all } i \ne k \end{cases}",
        "a: vector(n)\nk: int(1..2)",
        "r == picked(a, k)",
        "a_i",
        "2 a_i",
    ),
    (
        "for all, in a list",
        r"s = \sum_i p_i q_i, \quad q_i = p_i \text{ for all } i, j",
        "p: simplex(m)",
        "s == squares(p)",
        "p_i q",
        "2 p_i q",
    ),
    (
        "at infinity",
        r"y = \rho_\infty \rho_t, \quad \rho_\infty = 2 / b, \quad \rho_t = \rho_\infty - t b",
        "t: int(1..5)\nb: unit",
        "y == longest(t, b)",
        "- t b",
        "- b",
    ),
    (
        "primes beside a declared array",
        r"w''_{ijk} = \frac{w'_{ijk}}{\sum_{i,k} w'_{ijk}}, \quad w'_{ijk} = s_i w_{ijk}",
        "w: positive(I, J, K)\ns: positive(I)",
        "w'' == scaled(w, s)",
        "{i,k} w",
        "{i} w",
    ),
    (
        "an element of a parameter",
        r"L = D(a \| b), \quad D(p \| q) = \sum_c p(c) \log \frac{p(c)}{q(c)}",
        "a, b: simplex(n)",
        "divergence(a, b)",
        "c) \\log",
        "c)^2 \\log",
    ),
    (
        "an element of a parameter, above",
        r"L = \ell(a, b), \quad \ell(z, q) = \sum_k q^{(k)} s_k, \quad s_k = z^\top C_k",
        "a: vector(d)\nb: simplex(n)\nC: matrix(n, d)",
        "scored(a, b, C)",
        "q^{(k)}",
        "q^{(1)}",
    ),
    (
        "how many a list has",
        r"m = \frac{1}{|s|} \sum_{w \in s} v_w",
        "v: matrix(V, d)\ns: ints(n, V)",
        "m == mean_of(v, s)",
        "v_w",
        "v_1",
    ),
    (
        "a sum of vectors that is empty for some",
        r"e_i = \frac{\sum_{j : k_j = i} z_j}{N_i}",
        "N: positive(K)\nz: matrix(B, d)\nk: ints(B, K)",
        "e == means(N, z, k)",
        "{N_i}",
        "{N_1}",
    ),
    (
        "the same, of which the whole array is read",
        r"e = s + s, \quad s_i = \frac{1}{2 N_i} \sum_{j : k_j = i} z_j",
        "N: positive(K)\nz: matrix(B, d)\nk: ints(B, K)",
        "e == means(N, z, k)",
        "2 N_i",
        "3 N_i",
    ),
    (
        "a letter with a script that runs",
        r"m(x_2) = \sum_{x_1=1}^k \psi(x_1, x_2) \mu(x_1)",
        "\\psi as psi: positive(k, l)\n\\mu as mu: positive(k)",
        "m == passed_on(psi, mu)",
        r"\mu(x_1)",
        r"\mu(x_1)^2",
    ),
    (
        "two of them, one a step before the other",
        r"p(x_n) = \frac{1}{Z} m(x_n) \nu(x_n), \quad m(x_n) = \sum_{x_{n-1}} \psi(x_{n-1}, x_n) \mu(x_{n-1}), \quad "
        r"Z = \sum_{x_n} m(x_n) \nu(x_n)",
        "\\psi as psi: positive(k, l)\n\\mu as mu: positive(k)\n\\nu as nu: positive(l)",
        "p(x_n) == marginal(psi, mu, nu)",
        r"\sum_{x_n} m(x_n) \nu(x_n)",
        r"\sum_{x_n} m(x_n)",
    ),
    (
        "partial derivatives by their letter",
        r"y = v - t (\partial_z u_\theta v + \partial_t u_\theta)",
        "\\partial_z u_\\theta as J: matrix(d, d)\n\\partial_t u_\\theta as du, v: vector(d)\nt: unit",
        "y == carried(v, J, du, t)",
        r"\partial_t u",
        r"t \partial_t u",
    ),
    (
        "a partial derivative of what is given",
        r"y = \partial_t u, \quad u = a t^2",
        "a, t: unit",
        "y == rate(a, t)",
        "^2",
        "^3",
    ),
]


@pytest.mark.parametrize(
    ("latex", "notation", "check", "part", "slip"), [case[1:] for case in READ], ids=[case[0] for case in READ]
)
def test_it_is_read(latex, notation, check, part, slip):
    assert said(latex, notation, check) == ""
    assert part in latex
    assert said(latex.replace(part, slip), notation, check) != ""


ELEMENTS = "A: matrix(n, n)\nx: vector(n)\nc: ints(n, K)"
REFUSED = [
    (
        "a product that may end at its bracket",
        r"s = \sum_r \prod_{i=1}^{r-1} (1 - R_i) R_r",
        "R: unit(n)",
        "reached(R)",
        "ambiguous: does prod take",
    ),
    *(
        (
            f"a delta of {pair}",
            rf"s = \sum_{{ij}} A_{{ij}} \delta({pair})",
            ELEMENTS,
            "s == alike(A, c)",
            "not declared",
        )
        for pair in ("x_i, x_j", "i, j", "c_i", "c_i, x_j", "c, c_j", "c_i, c_j, c_j", "c_i - c_j, 0")
    ),
    ("a prime that may derive", "y = (m^2)'", "m: scalar", "np.abs(m)", "a prime belongs to a name"),
    (
        "a second gradient of what is given",
        r"H = \nabla^2 L(x), \quad L(x) = x^T x",
        "x: vector(n)",
        "H == gram(x, x)",
        r"\nabla needs the name",
    ),
    ("a determinant, which is no name", r"|\det(A)| = 2", "A: matrix(n, n)", "gram(A, 1)", ""),
]


@pytest.mark.parametrize(
    ("latex", "notation", "check", "text"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_it_is_refused(latex, notation, check, text):
    answer = said(latex, notation, check)

    assert answer
    assert text in answer
