r"""Names that stand at something: Q_1 and Q_2 under one \min, the labels x(S_{t+1}) and Q(S_{t+1}, \cdot), the cells
Q(s, a) of a table; each reads, and a slip of it is refused."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def smaller(r, q1, q2):
    return r + min(q1, q2)


def smaller_of_each(q1, q2, w):
    return np.minimum(q1, q2) - w


def mean_of_each(q1, q2):
    return (q1 + q2) / 2


def error_of(r, w, x, y):
    return r + w @ y - w @ x


def valued_by_the_other(r, g, online, target):
    return r + g * target[np.argmax(online)]


def backed_up(q, s, a, r, g, s_next):
    return q[s, a] + g * (r + q[s_next].max() - q[s, a])


def shared_by_slope(w, grad, eta):
    return w * np.exp(-eta * grad) / np.sum(w * np.exp(-eta * grad))


def scaled_step(theta, grad, cache, rho):
    cache = rho * cache + (1 - rho) * grad**2
    return theta - grad / np.sqrt(cache), cache


def picked(online, target):
    return target[np.argmax(online)]


ONE_OF_TWO = r"""
r: scalar
Q_{\theta'_1}(s', \tilde{a}) as q1: scalar
Q_{\theta'_2}(s', \tilde{a}) as q2: scalar
"""
TWO = r"Q_1 as q1, Q_2 as q2, w: vector(n)"
LABELS = r"""
r: scalar
w, \mathbf{x}(S_t) as x, \mathbf{x}(S_{t+1}) as y: vector(d)
"""
SLOTS = r"""
r: scalar
\gamma as g: unit
Q(S_{t+1}, \cdot; \theta_t) as online: vector(A)
Q(S_{t+1}, \cdot; \theta_t^-) as target: vector(A)
"""
TABLE = r"""
Q as q: matrix(S, A)
s_t as s, s_{t+1} as s_next: int(1..3)
a_t as a: int(1..2)
r: scalar
\gamma as g: unit
S: dim(3..5)
A: dim(2..4)
"""


def said(latex, notation, check):
    try:
        return checked(latex, notation, check, {**globals()}, suggests=False).text
    except EquationError as error:
        return error.text


@pytest.mark.parametrize(
    ("latex", "notation", "check", "slip"),
    [
        (r"y = r + \min_{i=1,2} Q_{\theta'_i}(s', \tilde{a})", ONE_OF_TWO, "y == smaller(r, q1, q2)", ("min", "max")),
        (r"y_i = \min_{j=1,2} Q_{j,i} - w_i", TWO, "y == smaller_of_each(q1, q2, w)", ("- w", "+ w")),
        (r"y_i = \min_{j \in \{1, 2\}} Q_{j,i} - w_i", TWO, "y == smaller_of_each(q1, q2, w)", ("min", "max")),
        (r"y_i = \frac{1}{2} \sum_{k=1,2} Q_{k,i}", TWO, "y == mean_of_each(q1, q2)", (r"\frac{1}{2}", r"\frac{1}{3}")),
        (
            r"\delta_t = r + w^\top \mathbf{x}(S_{t+1}) - w^\top \mathbf{x}(S_t)",
            LABELS,
            r"\delta_t == error_of(r, w, x, y)",
            ("S_{t+1}", "S_t"),
        ),
        (
            r"Y_t = r + \gamma Q\bigl(S_{t+1}, \operatorname*{argmax}_a Q(S_{t+1}, a; \theta_t); \theta_t^-\bigr)",
            SLOTS,
            "Y_t == valued_by_the_other(r, g, online, target)",
            (r"a; \theta_t)", r"a; \theta_t^-)"),
        ),
        (
            r"w_{t+1,i} = \frac{w_{t,i} \exp(-\eta \nabla_i f(w_t))}{\sum_j w_{t,j} \exp(-\eta \nabla_j f(w_t))}",
            "w_t as w: simplex(d)\n\\nabla f(w_t) as grad: vector(d)\n\\eta: positive",
            "w_{t+1} == shared_by_slope(w, grad, eta)",
            (r"\nabla_j", r"\nabla_i"),
        ),
        (
            r"Q^{\text{new}}(s_t, a_t) = Q(s_t, a_t) + \gamma (r + \max_{a'} Q(s_{t+1}, a') - Q(s_t, a_t))",
            TABLE,
            "backed_up(q, s - 1, a - 1, r, g, s_next - 1)",
            (r"\max_{a'} Q(s_{t+1}, a')", r"\max_{a'} Q(s_t, a')"),
        ),
        (
            r"\mathbb{E}[g^2]_t = \rho \mathbb{E}[g^2]_{t-1} + (1 - \rho) g_t^2, \quad "
            r"\theta_{t+1} = \theta_t - \frac{g_t}{\sqrt{\mathbb{E}[g^2]_t}}",
            "\\theta_t as theta, g_t as grad: vector(d)\n\\mathbb{E}[g^2]_{t-1} as cache: positive(d)\n\\rho: unit",
            "\\mathbb{E}[g^2]_t == scaled_step(theta, grad, cache, rho)[1]\n"
            "\\theta_{t+1} == scaled_step(theta, grad, cache, rho)[0]",
            (r"\rho \mathbb", r"\rho^2 \mathbb"),
        ),
        (
            r"\theta_{t+1} = \theta_t - g_t / \sqrt{\rho E[g^2]_{t-1} + (1 - \rho) g_t^2}",
            "\\theta_t as theta, g_t as grad: vector(d)\nE[g^2]_{t-1} as cache: positive(d)\n\\rho: unit",
            r"\theta_{t+1} == scaled_step(theta, grad, cache, rho)[0]",
            (r"\rho E", r"E"),
        ),
        (
            r"y = v_{\arg\max_a u_a}",
            "u as online, v as target: vector(n)",
            "y == picked(online, target)",
            ("max", "min"),
        ),
    ],
)
def test_it_is_what_stands_there(latex, notation, check, slip):
    assert slip[0] in latex
    assert said(latex, notation, check) == ""
    assert "differs" in said(latex.replace(*slip, 1), notation, check)


def test_a_name_of_which_one_is_missing_is_not_declared():
    assert "is not declared" in said(r"y_i = \min_{j=1,2,3} Q_{j,i}", TWO, "y == mean_of_each(q1, q2)")


def test_a_label_of_which_one_is_missing_is_not_declared():
    latex = r"y = r + \min_{i=1,2,3} Q_{\theta'_i}(s', \tilde{a})"

    assert "is not declared" in said(latex, ONE_OF_TWO, "y == smaller(r, q1, q2)")


def assigned(X, resp):
    return resp.T @ X / resp.sum(0)[:, None]


def conservative(Q, a):
    return np.mean(np.log(np.exp(Q).sum(1)) - Q[np.arange(len(a)), a])


def clipped(grads, noise, bound):
    norms = np.linalg.norm(grads, axis=1, keepdims=True)
    return (np.sum(grads / np.maximum(1, norms / bound), axis=0) + noise) / len(grads)


def expected(theta, features, action):
    policy = np.exp(features @ theta) / np.exp(features @ theta).sum()
    return features[action] - policy @ features


def duelled(value, advantage):
    return value + advantage - advantage.mean()


def bootstrapped(rewards, values, gamma, n):
    total = sum(gamma**k * rewards[k : len(rewards) - n + 1 + k] for k in range(n))
    return total + gamma**n * values[n:]


def likelihood(start, a, b, seen):
    forward = start * b[:, seen[0] - 1]
    for symbol in seen[1:]:
        forward = forward @ a * b[:, symbol - 1]
    return forward.sum()


def stepped(alpha, a, b, beta):
    joint = alpha[:, None] * a * (b * beta)
    return joint / joint.sum()


@pytest.mark.parametrize(
    ("latex", "notation", "check", "slip"),
    [
        (
            r"\mu_k = \frac{\sum_{n=1}^{N} \gamma(z_{nk}) x_n}{\sum_{n=1}^{N} \gamma(z_{nk})}",
            "x as X: matrix(N, D)\n\\gamma as resp: simplex(N, K)",
            r"\mu == assigned(X, resp)",
            (r"\gamma(z_{nk}) x_n", r"\gamma(z_{nk})^2 x_n"),
        ),
        (
            r"L = \frac{1}{N} \sum_{i=1}^{N} \left( \log \sum_{a'} \exp Q(s_i, a') - Q(s_i, a_i) \right)",
            "Q: matrix(N, A)\na: ints(N, A)",
            "L == conservative(Q, a - 1)",
            ("- Q(s_i, a_i)", "+ Q(s_i, a_i)"),
        ),
        (
            r"\bar{g}_t(x_i) = g_t(x_i) / \max(1, \|g_t(x_i)\|_2 / C), \quad "
            r"\tilde{g}_t = \frac{1}{L} \left( \sum_i \bar{g}_t(x_i) + \xi \right)",
            "g_t as grads: matrix(L, d)\n\\xi as noise: vector(d)\nC as bound: positive",
            r"\tilde{g}_t == clipped(grads, noise, bound)",
            (r"\max", r"\min"),
        ),
        (
            r"v = \phi(A_t) - \sum_a \pi(a) \phi(a), \quad "
            r"\pi(a) = \frac{e^{\theta^\top \phi(a)}}{\sum_{a'} e^{\theta^\top \phi(a')}}",
            "\\theta: vector(d)\n\\phi as features: matrix(A, d)\nA_t as action: int(1..3)\nA: dim(3..5)",
            "v == expected(theta, features, action - 1)",
            (r"- \sum_a", r"+ \sum_a"),
        ),
        (
            r"Q(s, a) = V(s) + A(s, a) - \frac{1}{m} \sum_{a'} A(s, a')",
            "V(s) as value: scalar\nA(s, \\cdot) as advantage: vector(m)",
            "Q == duelled(value, advantage)",
            ("+ A(s, a)", "- A(s, a)"),
        ),
        (
            r"G_{t:t+n} = \sum_{k=0}^{n-1} \gamma^k r_{t+k} + \gamma^n V(s_{t+n}), \qquad t = 1, \ldots, T - n + 1",
            "r as rewards: vector(T)\nV as values: vector(T + 1)\n\\gamma: unit\nn: int(2..3)\nT: dim(5..7)",
            "bootstrapped(rewards, values, gamma, n)",
            (r"\gamma^n V", r"\gamma^{n-1} V"),
        ),
        (
            r"\alpha_1(i) = \pi_i b_i(O_1), \quad \alpha_{t+1}(j) = \left[ \sum_i \alpha_t(i) a_{ij} \right] "
            r"b_j(O_{t+1}), \quad p = \sum_i \alpha_T(i)",
            "\\pi as start: simplex(N)\na: simplex(N, N)\nb: simplex(N, M)\nO as seen: ints(T, M)",
            "p == likelihood(start, a, b, seen)",
            ("a_{ij}", "a_{ji}"),
        ),
        (
            r"\xi_t(i,j) = \frac{\alpha_t(i) a_{ij} b_j(o_{t+1}) \beta_{t+1}(j)}"
            r"{\sum_k \sum_l \alpha_t(k) a_{kl} b_l(o_{t+1}) \beta_{t+1}(l)}",
            "\\alpha_t as alpha, \\beta_{t+1} as beta, b: unit(N)\na: simplex(N, N)",
            r"\xi == stepped(alpha, a, b, beta)",
            ("a_{ij}", "a_{ji}"),
        ),
    ],
)
def test_an_element_at_something_is_that_element(latex, notation, check, slip):
    assert slip[0] in latex
    assert said(latex, notation, check) == ""
    assert "differs" in said(latex.replace(*slip, 1), notation, check)


def test_a_word_may_be_declared_at_the_letter_of_its_index():
    latex = r"s = \sum_{i=1}^{n} \operatorname{IDF}(q_i) \cdot f(q_i, D)"
    notation = "f(q_i, D) as tf: positive(n)\n\\operatorname{IDF}(q_i) as idf: positive(n)"

    assert said(latex, notation, "s == tf @ idf") == ""
    assert "differs" in said(latex, notation, "s == tf.sum() * idf.sum()")
