"""Parameters that are powers, multiples as sizes, gradients in the notation, names beside what stands on the right, and
vectors that border a matrix."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.kinds import read_kind


def density(x, m, s):
    return np.exp(-((x - m) ** 2) / (2 * s**2)) / (s * np.sqrt(2 * np.pi))


def evidence(x, m, s):
    return np.log(density(x, m, s)).sum()


def evidence_backward(up, x, m, s):
    return up * (m - x) / s**2, up * (x - m).sum() / s**2, up * (((x - m) ** 2 / s**3) - 1 / s).sum()


def posterior(x, w, m, s):
    joint = w * density(x[:, None], m, s)
    return joint / joint.sum(axis=1, keepdims=True)


def bordered(S, right, below, corner):
    return np.block([[S, right[:, None]], [below[None], np.array([[corner]])]])


def led(corner, right, below, S):
    return np.block([[np.array([[corner]]), right[None]], [below[:, None], S]])


def double(a):
    return 2 * a


def halves(a):
    return a[: len(a) // 2], a[len(a) // 2 :]


CODE = {
    own.__name__: own for own in (density, evidence, evidence_backward, posterior, double, bordered, led, halves)
} | {"np": np}
NOTATION = r"""x: vector(n)
w: simplex(k)
m, c: scalar
s: positive
b: vector(2k)
A: matrix(3k, 2(k + 1))
M: matrix(k, 2d_{\text{in}})
v: vector(2d_{\text{in}})
S: posdef(n)
\mu: vector(k)
\sigma as wide: positive(k)
\nabla_{\mathbf{x}} L as dx: vector(n)
\nabla_m L as dm: scalar
\nabla \log p(x) as score, \nabla_x f_i(x_t) as one, \nabla_x f_i(\tilde{x}) as other: vector(n)
\nabla_m J = double(_)
"""
NORMAL = r"\mathcal{N}(z \mid \nu, \rho^2) = \frac{1}{\sqrt{2\pi\rho^2}} e^{-(z - \nu)^2 / (2\rho^2)}"
ROOT = NORMAL.replace(r"\sqrt{2\pi\rho^2}", r"\rho\sqrt{2\pi}")
OWN = r"\mathcal{N}(x \mid \mu, \sigma^2) = \frac{1}{\sqrt{2\pi}\sigma} \exp\{-\frac{(x - \mu)^2}{2\sigma^2}\}"
INVERSE = r"\mathcal{N}(z \mid \nu, \beta^{-1}) = \sqrt{\frac{\beta}{2\pi}} \exp(-\frac{\beta}{2} (z - \nu)^2)"
TERM = r"w_l \mathcal{N}(x_i \mid \mu_l, \sigma_l^2)"
SHARE = rf"r_{{ij}} = \frac{{{TERM.replace('_l', '_j')}}}{{\sum_{{l=1}}^k {TERM}}}"
EVIDENCE = "f == evidence(x, m, s)"


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, check, CODE).text
    except EquationError as error:
        return error.text


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, s^2), \quad {NORMAL}", EVIDENCE),
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, s^2), \quad {ROOT}", EVIDENCE),
        (rf"f = \sum_i \log \mathcal{{N}}(x_i; m, s^2), \quad {ROOT}".replace(r"\mid", ";"), EVIDENCE),
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, s^2), \quad {OWN}", EVIDENCE),
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, s^2), \quad {INVERSE}", EVIDENCE),
        (rf"{SHARE}, \quad {NORMAL}", "r == posterior(x, w, mu, wide)"),
        (rf"{SHARE}, \quad {OWN}", "r == posterior(x, w, mu, wide)"),
        (r"f = h(s^2), \quad h(q^2) = 3g, \quad g = 1/q", "f == 3 / s"),
        (r"f = h(c^2), \quad h(c^2) = 3/c", "f == 3 / c"),
        (r"f = h(c^2), \quad h(q^2) = 3/q", "f == 3 / abs(c)"),
        (r"f = h(S), \quad h(B^{-1}) = \operatorname{tr}(B)", "f == np.trace(np.linalg.inv(S))"),
        (r"f = \sum_{i=1}^k b_i b_{k+i}", "f == halves(b)[0] @ halves(b)[1]"),
        (r"f = \sum_{i=1}^{3k} \sum_{j=1}^{2k+2} A_{ij}", "f == A.sum()"),
        (r"y_i = \sum_{j=1}^{2d_{\text{in}}} M_{ij} v_j", "y == M @ v"),
        (r"y = x - s \nabla_{\mathbf x} L", "y == x - s * dx"),
        (r"y_i = x_i - s \left(\nabla_x L\right)_i", "y == x - s * dx"),
        (r"y = x - s \frac{\partial L}{\partial x}", "y == x - s * dx"),
        (r"f = \nabla_m L \sum_i x_i", "f == dm * x.sum()"),
        (r"f = \nabla_m L \cdot (s)", "f == dm * s"),
        (r"y = x + s \nabla \log p(x)", "y == x + s * score"),
        (r"y_i = x_i + s \left[\nabla\log p\left(x\right)\right]_i", "y == x + s * score"),
        (r"y = x - s \left(\nabla_{\mathbf x} f_i(x_t) - \nabla_x f_i(\tilde{\mathbf{x}})\right)",
         "y == x - s * (one - other)"),
        (r"u = x - s \nabla_x f_{i}(x_{t})", "u == x - s * one"),
        (r"f = \nabla_m J(s) + \nabla_m J(m)", "f == 2 * (s + m)"),
        (r"y_i = \frac{x_i - x_{\min}}{x_{\max} - x_{\min}}, \quad x_{\max} = \max_j x_j, \quad x_{\min} = \min_j x_j",
         "y == (x - x.min()) / (x.max() - x.min())"),
        (r"y_i = x_i - x_{\text{mean}}, \quad x_{\text{mean}} = \operatorname{mean}(x)", "y == x - x.mean()"),
        (r"f = x^\top S_x^{-1} x, \quad S_x = S + s^2 I", "f == x @ np.linalg.solve(S + s**2 * np.eye(len(x)), x)"),
        (r"y = \begin{bmatrix} S & x \end{bmatrix} \begin{bmatrix} x \\ 1 \end{bmatrix}", "y == S @ x + x"),
        (r"T = \begin{bmatrix} S & x \\ \mathbf{0}^\top & 1 \end{bmatrix}", "T == bordered(S, x, 0 * x, 1)"),
        (r"T = \begin{bmatrix} S & x \\ 0 & 1 \end{bmatrix}", "T == bordered(S, x, 0 * x, 1)"),
        (r"T = \begin{pmatrix} S & x \\ x^{\mathsf T} & 0 \end{pmatrix}", "T == bordered(S, x, x, 0)"),
        (r"T = \begin{pmatrix} s & x^\top \\ 2x & S \end{pmatrix}", "T == led(s, x, 2 * x, S)"),
        (r"f = \log \lvert S_x \rvert, \quad S_x = S + x x^\top", "f == np.linalg.slogdet(S + np.outer(x, x))[1]"),
    ],
)  # fmt: skip
def test_it_is_read_as_it_stands(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, s), \quad {NORMAL}", EVIDENCE),
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, s), \quad {ROOT}", EVIDENCE),
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, s^2), \quad {ROOT}".replace(r"}{\rho", r"}{\rho^2"), EVIDENCE),
        (rf"f = \sum_i \log \mathcal{{N}}(x_i \mid m, 1/s), \quad {INVERSE}", EVIDENCE),
        (rf"{SHARE}, \quad {NORMAL}".replace("_l^2", "_l"), "r == posterior(x, w, mu, wide)"),
        (rf"{SHARE}, \quad {OWN}".replace(r"\mu_l, \sigma_l", r"\mu_l, \sigma_j"), "r == posterior(x, w, mu, wide)"),
        (r"f = h(c^2), \quad h(c^2) = 3/c", "f == 3 / abs(c)"),
        (r"f = h(c^2), \quad h(q^2) = 3/q", "f == 3 / c"),
        (r"f = h(S), \quad h(B^{-1}) = \operatorname{tr}(B)", "f == np.trace(S)"),
        (r"f = \sum_{i=1}^k b_i b_{k+i}", "f == halves(b)[0] @ halves(b)[0]"),
        (r"f = \sum_{i=1}^{3k} \sum_{j=1}^{2k} A_{ij}", "f == A.sum()"),
        (r"y = x + s \nabla_{\mathbf x} L", "y == x - s * dx"),
        (r"y = x - s \nabla_m L", "y == x - s * dx"),
        (r"y = x - s \nabla_{\mathbf x} J", "y == x - s * dx"),
        (r"f = \nabla_m L(s)", "f == dm * s"),
        (r"f = \nabla_m L(m)", "f == dm"),
        (r"y = x + s \nabla \log p(y)", "y == x + s * score"),
        (r"y = x + s \nabla p(x)", "y == x + s * score"),
        (r"y = x - s (\nabla_x f_i(x_t) - \nabla_x f_i(x_t))", "y == x - s * (one - other)"),
        (r"y = x - s (\nabla_x f_i(\tilde{x}) - \nabla_x f_i(x_t))", "y == x - s * (one - other)"),
        (r"f = \nabla_m J(s) + \nabla_m J(s)", "f == 2 * (s + m)"),
        (r"y_i = x_i - x_{\max}, \quad x_{\max} = \min_j x_j", "y == x - x.max()"),
        (r"T = \begin{bmatrix} S & x \\ x & 0 \end{bmatrix}", "T == bordered(S, x, x, 0)"),
        (r"T = \begin{bmatrix} S & x^\top \\ x^\top & 0 \end{bmatrix}", "T == bordered(S, x, x, 0)"),
        (r"T = \begin{bmatrix} S & x \\ 2x^\top & 0 \end{bmatrix}", "T == bordered(S, x, x, 0)"),
        (r"T = \begin{bmatrix} S & x \\ x^\top & 1 \end{bmatrix}", "T == bordered(S, x, x, 0)"),
        (r"y = \begin{bmatrix} x & S \end{bmatrix} \begin{bmatrix} x \\ 1 \end{bmatrix}", "y == S @ x + x"),
        (r"f = x^\top S^{-1} x, \quad S_x = S + s^2 I", "f == x @ np.linalg.solve(S + s**2 * np.eye(len(x)), x)"),
    ],
)
def test_a_slip_in_it_is_refused(latex, check):
    assert said(latex, check) != ""


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("vector(2N)", ("2*N",)),
        ("vector(2 N)", ("2*N",)),
        ("matrix(10d_k, 3(n + 1))", ("10*d_k", "3*(n + 1)")),
        ("vector(n + 2N)", ("n + 2*N",)),
        ("int(1..2N)", ("1..2*N",)),
        ("vector(2^k)", ("2**k",)),
        (r"vector(2d_{\text{in}})", ("2*d_in",)),
        (r"vector(2 \times \mathit{N})", ("2*N",)),
        ("vector(d2)", ("d2",)),
        ("vector(1e3)", ("1e3",)),
        ("vector(0x1F)", ("0x1F",)),
        ("vector(1_000)", ("1_000",)),
    ],
)
def test_a_number_beside_a_size_is_a_factor(text, arguments):
    assert read_kind(text).arguments == arguments
