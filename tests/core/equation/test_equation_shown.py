"""An array may be declared with the letters of its indices; where one of them runs, it is an index, and else a name."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def moved(w, g, a):
    return w - a * g


def normed(w, x, a):
    v = w + a * (w @ x) * x
    return v / np.linalg.norm(v)


def squares(x):
    return (x**2).sum()


def read(q, K, V):
    return (K @ q) @ V


def mapped(A, x):
    return A @ x


def surprise(p):
    return -np.log(p).mean()


def stretches(A, n):
    return sum(row[:count].mean() for row, count in zip(A, n, strict=True))


def gated(A, B):
    return A * B


def heads(X, W):
    return np.einsum("nd,hdk->hnk", X, W)


def signs(w, s):
    return np.sign(w @ s - np.diag(w) * s)


def boosted(D, a, y, h):
    shares = D * np.exp(-a * y * h)
    return shares / shares.sum()


def forward(a, A, b):
    return b * (a @ A)


def between(a, b, K):
    return (b - a) @ K


def spread(z, g, e):
    return np.maximum(0, g - np.sqrt(z.var(axis=1) + e)).mean()


def cumulated(x, a):
    return x[0] + a * x[1:].sum()


def shares(X, M):
    weights = np.exp(-((X[:, None] - M) ** 2).sum(-1))
    return weights / weights.sum(1, keepdims=True)


def attended(Q, K, V):
    scores = np.exp(Q @ K.T)
    return scores / scores.sum(1, keepdims=True) @ V


def backed_up(V, P, R):
    return R + P @ V


def divergence(p, q):
    return (p * np.log(p / q)).sum()


def information(P, p, q):
    return (P * np.log(P / np.outer(p, q))).sum()


def rescaled(w, a):
    return w * np.exp(a * w / w.sum())


def counted(N, k, a):
    return a * N + np.equal.outer(np.arange(1, len(N) + 1), k).sum(axis=1)


CODE = {name: value for name, value in globals().items() if callable(value) and name != "checked"} | {"np": np}
BOOSTED = (
    r"D_{t+1}(i) = \frac{D_t(i) \exp(-a y_i h_t(x_i))}{Z_t}, \quad Z_t = \sum_{i=1}^m D_t(i) \exp(-a y_i h_t(x_i))"
)
BOOSTING = "D_t(i) as D: simplex(m)\na: positive\ny_i as y: sign(m)\nh_t(x_i) as h: sign(m)"
STEP = "w_i(t) as w, g_i as g: vector(n)\na: positive"
HEBB = (
    r"w_i(t+1) = \frac{w_i(t) + a y(t) x_i(t)}{\sqrt{\sum_{j=1}^n (w_j(t) + a y(t) x_j(t))^2}}, \quad "
    r"y(t) = \sum_j w_j(t) x_j(t)"
)
HIDDEN = r"\alpha_{t+1}(j) = b_j \sum_{i=1}^n \alpha_t(i) A_{ij}"
STATES = "\\alpha_t(i) as a: vector(n)\nA_{ij} as A: simplex(n, n)\nb_j as b: positive(n)"
SPREAD = r"L = \frac1n \sum_{j=1}^n \max(0, g - S(z^j, e)), \quad S(x, e) = \sqrt{\operatorname{Var}(x) + e}"
HOPFIELD = r"s_i(t+1) = \operatorname{sgn}\left(\sum_{j \ne i} w_{ij} s_j(t)\right)"
EXP = r"p_i(t) = \frac{w_i(t)}{\sum_{j=1}^n w_j(t)}, \quad w_i(t+1) = w_i(t) \exp(a p_i(t))"
READ = {
    "step": (r"w_i(t+1) = w_i(t) - a g_i", STEP, "w_i(t+1) == moved(w, g, a)", ("- a", "+ a")),
    "step back": (r"w_i(t) = w_i(t-1) - a g_i", STEP.replace("(t)", "(t-1)"), "moved", ("- a", "+ a")),
    "step, whole": (r"w(t+1) = w(t) - a g", "w(t) as w, g: vector(n)\na: positive", "moved", ("- a", "+ a")),
    "step, other bare": (r"w_i(t+1) = w_i(t) - a g_i(t)", "w, g: vector(n)\na: positive", "moved", ("- a", "+ a")),
    "step, matrix": (
        r"w_{ij}(t+1) = w_{ij}(t) - a g_{ij}(t)",
        "w_{ij}(t) as w, g_{ij}(t) as g: matrix(n, m)\na: positive",
        "w(t+1) == moved(w, g, a)",
        ("g_{ij}", "w_{ij}"),
    ),
    "norm": (HEBB, "w_i(t) as w, x_i(t) as x: vector(n)\na: unit", "w_i(t+1) == normed(w, x, a)", ("(w_j", "(2 w_j")),
    "exp": (EXP, "w_i(t) as w: positive(n)\na: unit", "w(t+1) == rescaled(w, a)", ("(a p", "(2 a p")),
    "power": (r"u = \sum_i x_i^2", "x_i as x: vector(n)", "squares", ("^2", "^3")),
    "transpose": (
        r"u = \sum_i (k_i^T q) v_i",
        "k_i as K, v_i as V: matrix(n, d)\nq: vector(d)",
        "read",
        ("k_i", "v_i"),
    ),
    "pair": (
        r"u_i = \sum_j a_{ij} x_j",
        "a_{ij} as A: matrix(n, m)\nx_j as x: vector(m)",
        "mapped",
        ("a_{ij}", "a_{ij}^2"),
    ),
    "pair on the left": (
        r"u_{ij} = a_{ij} b_{ij}",
        "a_{ij} as A, b_{ij} as B: matrix(n, m)",
        "gated",
        ("} b", "} + b"),
    ),
    "heads": (r"H_i = X W_i^Q", "X: matrix(n, d)\nW_i^Q as W: tensor(h, d, k)", "heads", ("W_i^Q", "W_1^Q")),
    "signs": (
        HOPFIELD,
        "w_{ij} as w: symmetric(n)\ns_i(t) as s: sign(n)",
        "s_i(t+1) == signs(w, s)",
        (r"j \ne i", "j"),
    ),
    "boost": (BOOSTED, BOOSTING, "D_{t+1}(i) == boosted(D, a, y, h)", ("-a", "a")),
    "boost, named": (BOOSTED, BOOSTING, "D_{t+1} == boosted(D, a, y, h)", ("-a", "a")),
    "forward": (HIDDEN, STATES, r"\alpha_{t+1}(j) == forward(a, A, b)", ("A_{ij}", "A_{ji}")),
    "star": (
        r"f_s = \sum_{r=1}^n (\hat\alpha^{*r} - \hat\alpha^r) K_{rs}",
        "\\hat\\alpha^r as a, \\hat\\alpha^{*r} as b: vector(n)\nK: matrix(n, n)",
        "between",
        ("K_{rs}", "K_{sr}"),
    ),
    "star, bare": (
        r"f_s = \sum_{r=1}^n (\alpha^{*r} - \alpha_r) K_{rs}",
        "\\alpha as a, \\alpha^* as b: vector(n)\nK: matrix(n, n)",
        "between",
        ("K_{rs}", "K_{sr}"),
    ),
    "argument": (SPREAD, "z^j as z: matrix(n, d)\ng, e: positive", "spread", ("+ e", "- e")),
    "emission": (
        HIDDEN.replace("b_j", "b_j(o_{t+1})"),
        STATES.replace("b_j", "b_j(o_{t+1})"),
        r"\alpha_{t+1} == forward(a, A, b)",
        ("A_{ij}", "A_{ji}"),
    ),
    "beside one that runs": (
        r"r_{nk} = \frac{\exp(-\|x_n - \mu_k\|^2)}{\sum_{j=1}^K \exp(-\|x_n - \mu_j\|^2)}",
        "x_n as X: matrix(N, d)\n\\mu_k as M: matrix(K, d)",
        "shares",
        ("x_n - ", "x_n + "),
    ),
    "rows": (
        r"o_i = \sum_{j=1}^n a_{ij} v_j, \quad a_{ij} = \frac{\exp(q_i^\top k_j)}{\sum_{l=1}^n \exp(q_i^\top k_l)}",
        "q_i as Q, k_i as K: matrix(n, d)\nv_i as V: matrix(n, m)",
        "o == attended(Q, K, V)",
        ("q_i", "k_i"),
    ),
    "shares": (
        r"V_{k+1}(s) = R(s) + \sum_{s'} P(s' \mid s) V_k(s')",
        "V_k(s) as V, R(s) as R: vector(n)\nP(s' \\mid s) as P: simplex(n, n)",
        "backed_up",
        (r"s' \mid s", r"s \mid s'"),
    ),
    "argument alone": (
        r"D = \sum_x p(x) \log \frac{p(x)}{q(x)}",
        "p(x) as p, q(x) as q: simplex(n)",
        "divergence",
        ("p(x)", "q(x)"),
    ),
    "arguments that tell": (
        r"I = \sum_{x, y} p(x, y) \log \frac{p(x, y)}{p(x) p(y)}",
        "p(x, y) as P: simplex(n, m)\np(x) as p: simplex(n)\np(y) as q: simplex(m)",
        "information",
        ("p(y)", "p(x)"),
    ),
    "time": (r"u = x(1) + \sum_{t=2}^n a x(t)", "x(t) as x: vector(n)\na: positive", "cumulated", ("t=2", "t=1")),
    "what came before": (
        r"u = -\frac{1}{T} \sum_{t=1}^T \log p(x_t \mid x_{<t})",
        "p(x_t | x_{<t}) as p: unit(T)",
        "u == surprise(p)",
        (r"\frac{1}{T}", ""),
    ),
    "the same as a stretch": (
        r"u = -\frac{1}{T} \sum_{t=1}^T \log p(x_t \mid x_{1:t-1})",
        "p(x_t | x_{1:t-1}) as p: unit(T)",
        "u == surprise(p)",
        ("t=1", "t=2"),
    ),
    "two letters behind a name": (
        r"u_i = \sum_{t=1}^T \log \pi(y_{i,t} \mid x, y_{i,<t})",
        r"\log \pi(y_{i,t} | x, y_{i,<t}) as A: matrix(G, T)",
        "u == A.sum(1)",
        ("{t=1}", "{t=2}"),
    ),
    "magnitudes": (
        r"u = \sum_{i=1}^G \frac{1}{|o_i|} \sum_{t=1}^{|o_i|} A_{it}",
        "A: matrix(G, 4)\n|o_i| as n: ints(G, 4)",
        "u == stretches(A, n)",
        (r"\frac{1}{|o_i|}", ""),
    ),
    "a magnitude with a label": ("u = 2 |y_w| a", "|y_w| as n: int(1..9)\na: unit", "u == 2 * n * a", ("2", "3")),
    "of two names": (
        r"u = \sum_i d_i^2, \quad d_i = R(x_i) - R(y_i)",
        "R(x_i) as w: vector(n)\nR(y_i) as g: vector(n)",
        "u == squares(w - g)",
        ("- R", "+ R"),
    ),
    "a letter that a condition reads": (
        r"N_i^{(t)} = a N_i^{(t-1)} + n_i, \quad n_i = \sum_j \mathbb{1}[k_j = i]",
        "N_i^{(t-1)} as N: positive(n)\na: unit\nk: ints(m, n)",
        "N_i^{(t)} == counted(N, k, a)",
        ("k_j = i", r"k_j \ne i"),
    ),
    "the same, of the whole": (
        r"N_i^{(t)} = a N_i^{(t-1)} + \sum_j \mathbb{1}[k_j = i]",
        "N_i^{(t-1)} as N: positive(n)\na: unit\nk: ints(m, n)",
        "N^{(t)} == counted(N, k, a)",
        ("k_j = i", r"k_j \ne i"),
    ),
}


def said(latex, notation, check):
    try:
        return checked(latex, notation, check, CODE).text
    except EquationError as error:
        return error.text


@pytest.mark.parametrize("name", READ)
def test_a_letter_that_runs_is_an_index(name):
    latex, notation, check, slip = READ[name]

    assert said(latex, notation, check) == ""
    assert slip[0] in latex
    assert said(latex.replace(*slip, 1), notation, check) != ""


def test_letters_of_which_none_runs_are_a_name():
    notation = "W_{xh} as A: matrix(k, d)\nx_t as x: vector(d)"

    assert said(r"u_t = W_{xh} x_t", notation, "u_t == mapped(A, x)") == ""


def test_what_the_display_gives_by_the_name_is_not_the_declared_array():
    assert said(r"u = \sum_i x_i + x, \quad x = 2", "x_i as x: vector(n)", "u == squares(x)") != ""


def test_siblings_are_told_apart_by_their_steps():
    notation = "w_i(t) as w, w_i(t-1) as g: vector(n)\na: positive"

    assert said(r"w_i(t+1) = w_i(t) - a w_i(t-1)", notation, "moved") == ""
    assert said(r"u = \sum_i w_i(t) w_i(t-1)", notation, "u == w @ g") == ""
    assert "differs" in said(r"u = \sum_i w_i(t) w_i(t)", notation, "u == w @ g")
