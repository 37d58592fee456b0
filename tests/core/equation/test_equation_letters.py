r"""Letters that only tell names apart, letters that run, and what has no value: t of \alpha_{tj}, P@k, V(D, G)."""

import math

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

NOTATION = r"""
s_{t-1} as s, q_t as q: vector(p)
h: matrix(T, m)
W: matrix(o, p)
U: matrix(o, m)
v: vector(o)
K: matrix(p, m)
a, b: scalar
x: vector(n)
r: vector(T)
V: vector(T + 1)
\gamma as g: unit
Q: tensor(2, B, A)
w: matrix(B, A)
X: matrix(n, N)
z: vector(N)
k: int(1..3)
\mathrm{rel} as rel: binary(5)
M as many: int(8..9)
c: int(1..4)
v_\varnothing as without, v_\infty as far, v_\perp as across: scalar
"""


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, check, CODE, suggests=False).text
    except EquationError as error:
        return error.text


def weighted(scores, h):
    return np.exp(scores) @ h / np.exp(scores).sum()


def additive(s, h, W, U, v):
    return weighted(np.tanh(W @ s + h @ U.T) @ v, h)


def general(q, h, K):
    return weighted(h @ K.T @ q, h)


def both(a, b):
    return a + b, a * b


def differences(r, V, g):
    return r + g * V[1:] - V[:-1]


def pessimistic(Q, w):
    return (w * Q.min(axis=0)).sum(axis=1)


def value(X, z, b):
    return np.log(1 / (1 + np.exp(-(X @ z + b)))).mean()


def precision(rel, k):
    return rel[:k].mean()


def average_precision(rel):
    return sum(rel[: j + 1].mean() * rel[j] for j in range(5)) / max(rel.sum(), 1)


def solved(many, c, k):
    return 1 - math.comb(many - c, k) / math.comb(many, k)


def above(x, a):
    return (x > a).mean()


def guided(far, without, a):
    return (1 + a) * far - a * without


def energy(x):
    return np.exp(-((x[:, None] - x) ** 2)).mean()


CODE = {"np": np} | {
    function.__name__: function
    for function in (
        additive, general, both, differences, pessimistic, value, precision, average_precision, solved, above, guided,
        energy,
    )
}  # fmt: skip

ATTENTION = r"c_t = \sum_{j=1}^{T} \alpha_{tj} h_j, \quad \alpha_{tj} = \frac{\exp(e_{tj})}{\sum_{i=1}^T \exp(e_{ti})}"
PAIR = "f == both(a, b)[0]\ng == both(a, b)[1]"
DELTA = r"\delta_t V = r_t + \gamma V_{t+1} - V_t"
AVERAGE = r"\mathrm{AP} = \frac{1}{\max(1, \sum_i \mathrm{rel}_i)} \sum_{j=1}^{5} \mathrm{Prec}@j \cdot \mathrm{rel}_j"
PRECISION = r"\mathrm{Prec}@j = \frac1j \sum_{i=1}^j \mathrm{rel}_i"


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"{ATTENTION}, \quad e_{{tj}} = v^\top \tanh(W s_{{t-1}} + U h_j)", "c_t == additive(s, h, W, U, v)"),
        (rf"{ATTENTION.replace('i=1', 'j=1').replace('ti', 'tj')}, \quad e_{{tj}} = q_t^\top K h_j",
         "c_t == general(q, h, K)"),
        (rf"{ATTENTION}, \quad e_{{tj}} = q_t^\top K h_j", "c_t == general(q, h, K)"),
        (rf"{ATTENTION}, \quad e_{{tj}} = q_t^\top K h_j".replace("i=1", "j'=1").replace("ti", "tj'"),
         "c_t == general(q, h, K)"),
        (r"\begin{aligned} f &= a + b & g &= ab \end{aligned}", PAIR),
        (r"\begin{aligned} f &= a & &+ b, & g &= ab \end{aligned}", PAIR),
        (r"\begin{eqnarray} f &=& a + b \\ g &=& ab \end{eqnarray}", PAIR),
        (r"\begin{aligned} y_i &= x_i^2 & 1 \le i \le n \\ f &= \sum_i y_i \end{aligned}", "f == (x**2).sum()"),
        (r"y_d = z_d^2", "y == z**2"),
        (r"y_d = f z_d^2, \quad f = \prod_d z_d", "y == z.prod() * z**2"),
        (r"y_n = x_n^2, \quad f = \sum_{n=1}^{3} y_n", "f == (x[:3] ** 2).sum()"),
        (r"P(y \mid x_1, \ldots, x_n) = \prod_i x_i", "np.prod(x)"),
        (r"f(x_1, \dots, x_n) = \sum_i x_i", "f == x.sum()"),
        (DELTA, "differences(r, V, g)"),
        (rf"y_t = \delta_t V, \quad {DELTA}", "y == differences(r, V, g)"),
        (r"y_i = \sum_j w_{ij} \min_{l=1,2} Q_{l,ij}", "y == pessimistic(Q, w)"),
        (r"L(D) = \frac1n \sum_i \log D(X_i), \quad D(u) = \sigma(z^\top u + b)", "value(X, z, b)"),
        (r"L(D) = \frac1n \sum_i \log D(X_i), \quad D(u) = \sigma(z^\top u + b)", "L(D) == value(X, z, b)"),
        (r"\mathrm{P}@k = \frac1k \sum_{i=1}^k \mathrm{rel}_i", "precision(rel, k)"),
        (rf"{AVERAGE}, \quad {PRECISION}", "average_precision(rel)"),
        (rf"{AVERAGE}, \quad {PRECISION}".replace("j", "k"), "average_precision(rel)"),
        (r"\mathrm{Hits}@10 = \mathrm{rel}_1 + \mathrm{rel}_2", "rel[:2].sum()"),
        (r"\text{pass@}k = 1 - \binom{M-c}{k} / \binom{M}{k}", "solved(many, c, k)"),
        (r"f = \frac1n \sum_i \mathbb{I}[x_i > a]", "above(x, a)"),
        (r"f = \frac1n \sum_i I(x_i > a)", "above(x, a)"),
        (r"f = \frac1n \sum_i \mathbb{I}\{x_i > a\}", "above(x, a)"),
        (r"y = (1 + a) v_\infty - a v_\varnothing", "guided(far, without, a)"),
        (r"y = (1 + a) v_\perp - a f_\emptyset, \quad f_\emptyset = v_\varnothing", "guided(across, without, a)"),
        (r"E_u^2 = \frac{1}{n^2} \sum_{i,j} \kappa(x_i, x_j), \quad \kappa(u, y) = e^{-(u - y)^2}", "energy(x)"),
    ],
)  # fmt: skip
def test_a_letter_is_what_its_place_makes_of_it(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"{ATTENTION}, \quad e_{{jt}} = q_t^\top K h_j", "c_t == general(q, h, K)"),
        (rf"{ATTENTION.replace('h_j', 'h_1')}, \quad e_{{tj}} = q_t^\top K h_j", "c_t == general(q, h, K)"),
        (r"\begin{aligned} f &= a - b & g &= ab \end{aligned}", PAIR),
        (r"\begin{aligned} f &= a & b \\ g &= ab \end{aligned}", PAIR),
        (DELTA.replace("V_{t+1}", "V_t"), "differences(r, V, g)"),
        (rf"y_t = \delta_{{t+1}} V, \quad {DELTA}", "y == differences(r, V, g)"),
        (r"y_i = \sum_j w_{ij} \min_{l=1,2} Q_{l,ji}", "y == pessimistic(Q, w)"),
        (r"L(D) = \frac1n \sum_i \log D(X_i), \quad D(u) = \sigma(z^\top u - b)", "value(X, z, b)"),
        (r"L(D) = \frac1n \sum_i \log D(X_1), \quad D(u) = \sigma(z^\top u + b)", "value(X, z, b)"),
        (r"\mathrm{P}@k = \frac1k \sum_{i=2}^k \mathrm{rel}_i", "precision(rel, k)"),
        (rf"{AVERAGE}, \quad {PRECISION}".replace("@j", "@1", 1), "average_precision(rel)"),
        (r"\text{pass@}k = 1 - \binom{M-c}{k} / \binom{M-c}{k}", "solved(many, c, k)"),
        (r"f = \frac1n \sum_i \mathbb{I}[x_i < a]", "above(x, a)"),
        (r"y = (1 + a) v_\infty - a v_\infty", "guided(far, without, a)"),
    ],
)
def test_a_slip_in_it_is_refused(latex, check):
    assert said(latex, check) != ""
