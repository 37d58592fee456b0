r"""What is given at a declared number and read elsewhere holds for every index, and ':check:' may name one element."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

NOTATION = r"""
\beta: unit(T)
t: int(2..3)
T: dim(4..9)
r, x, g: vector(T)
V: vector(T + 1)
\lambda as trace: unit
\gamma, b: unit
w, u, z: scalar
y: vector(p)
a: vector(n)
A, B: matrix(T, q)
w_b as own: scalar
"""


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, check, CODE, suggests=False).text
    except EquationError as error:
        return error.text


def kept(beta, t):
    return np.cumprod(1 - beta)[t - 1]


def posterior(beta, t):
    alpha = np.cumprod(1 - beta)
    return (1 - alpha[t - 2]) / (1 - alpha[t - 1]) * beta[t - 1]


def advantage(r, V, gamma, trace, t):
    delta = r + gamma * V[1:] - V[:-1]
    return sum((gamma * trace) ** k * delta[t - 1 + k] for k in range(len(r) - t + 1))


def state(x, w, u, t):
    h = 0.0
    for item in x[:t]:
        h = np.tanh(w * item + u * h)
    return h


def last_state(x, w, u):
    return state(x, w, u, len(x))


def momentum(g, b, t):
    m = 0.0
    for item in g[:t]:
        m = b * m + (1 - b) * item
    return m / (1 - b**t)


def warping(x, y):
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            cost[i, j] = abs(x[i - 1] - y[j - 1]) + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[-1, -1]


def horner(a, z):
    return np.polyval(a[::-1], z)


def gated(x, A, B):
    gate = x @ A
    return gate / (1 + np.exp(-gate)) * (x @ B)


def swished(z, b):
    return z / (1 + np.exp(-b * z)) + z / (1 + np.exp(-z))


CODE = {
    function.__name__: function
    for function in (
        kept, posterior, advantage, state, last_state, momentum, warping, horner, gated, swished,
    )
}  # fmt: skip

KEPT = r"\bar\alpha_t = \prod_{s=1}^t \alpha_s, \quad \alpha_t = 1 - \beta_t"
GAE = r"A_t = \sum_{l=0}^{T-t} (\gamma \lambda)^l \delta_{t+l}, \quad \delta_t = r_t + \gamma V_{t+1} - V_t"
STATE = r"h_t = \tanh(w x_t + u h_{t-1}), \quad h_0 = 0"
STATES = r"h_i = \tanh(w x_i + u h_{i-1}), \quad h_0 = 0"
MOMENTUM = r"\hat m_t = \frac{m_t}{1 - b^t}, \quad m_t = b m_{t-1} + (1 - b) g_t, \quad m_0 = 0"
WARPING = r"""D_{i,j} = |x_i - y_j| + \min(D_{i-1,j}, D_{i,j-1}, D_{i-1,j-1}),
\quad D_{0,0} = 0, \quad D_{i,0} = \infty, \quad D_{0,j} = \infty"""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (KEPT, "kept(beta, t)"),
        (KEPT, r"\bar\alpha_t == kept(beta, t)"),
        (rf"\tilde\beta_t = \frac{{1 - \bar\alpha_{{t-1}}}}{{1 - \bar\alpha_t}} \beta_t, \quad {KEPT}", "posterior"),
        (KEPT.replace(r"1 - \beta_t", r"1 - c_t, \quad c_t = \beta_t"), "kept(beta, t)"),
        (GAE, "advantage"),
        (STATE, "state"),
        (STATE, "h_t == state(x, w, u, t)"),
        (MOMENTUM, "momentum"),
    ],
)
def test_what_is_given_at_a_declared_number_is_given_for_every_index(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (KEPT.replace(r"\beta_t", r"\beta_1"), "kept(beta, t)"),
        (KEPT.replace("s=1", "s=2"), "kept(beta, t)"),
        (GAE.replace("t+l}", "t}"), "advantage"),
        (GAE.replace("V_{t+1}", "V_{t}"), "advantage"),
        (STATE.replace("x_t", "x_{t-1}"), "state"),
        (MOMENTUM.replace("m_0 = 0", "m_0 = 1"), "momentum"),
    ],
)
def test_a_slip_in_it_is_refused(latex, check):
    assert said(latex, check) != ""


def test_what_is_declared_at_that_number_alone_is_not_read_elsewhere():
    latex = r"y = \phi_b(z) + \phi_1(z), \quad \phi_b(q) = q \sigma(w_b q)"

    assert "w_b is declared at that one only; declare w as an array" in said(latex, "swished(z, own)")


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (STATES, "h_T == last_state(x, w, u)"),
        (STATES, "h_t == state(x, w, u, t)"),
        (STATES, "h_{T-1} == state(x, w, u, T - 1)"),
        (STATES, "h_2 == state(x, w, u, 2)"),
        (WARPING, "D_{T,p} == warping(x, y)"),
        (r"p_i = a_i + z p_{i+1}, \quad p_{n+1} = 0", "p_1 == horner(a, z)"),
    ],
)
def test_a_check_names_one_element(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (STATES, "h_{T-1} == last_state(x, w, u)"),
        (STATES, "h_3 == state(x, w, u, 2)"),
        (WARPING, "D_{T,1} == warping(x, y)"),
        (WARPING.replace("D_{i,0} = \\infty", "D_{i,0} = 0"), "D_{T,p} == warping(x, y)"),
        (r"p_i = a_i + z p_{i+1}, \quad p_{n+1} = 1", "p_1 == horner(a, z)"),
    ],
)
def test_another_element_is_refused(latex, check):
    assert said(latex, check) != ""


def test_code_that_gives_one_element_of_many_is_told_to_be_named():
    assert "if that is one element, name it: ':check: h_n == ...'" in said(STATES, "h == last_state(x, w, u)")


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"y = \phi_1(xA) \odot xB, \quad \phi_c(v) = v \sigma(c v)", "y == gated(x, A, B)"),
        (r"y = \phi_1(xA) \odot xB, \quad \phi_c(x) = x\,\sigma(c x)", "y == gated(x, A, B)"),
        (r"y = \operatorname{Swish}_b(z) + \operatorname{Swish}_1(z), \quad \operatorname{Swish}_b(q) = q \sigma(bq)",
         "y == swished(z, b)"),
        (r"y_i = \phi_b(x_i) + \phi_1(x_i), \quad \phi_b(q) = q \sigma(b q)", "y == swished(x, b)"),
        (r"y = \phi_b(x) + \phi_1(x), \quad \phi_b(q) = q \sigma(b q)", "y == swished(x, b)"),
    ],
)  # fmt: skip
def test_a_member_of_a_family_of_functions_is_picked_by_its_index(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"y = \phi_2(xA) \odot xB, \quad \phi_c(v) = v \sigma(c v)", "y == gated(x, A, B)"),
        (r"y = \phi_1(z) + \phi_1(z), \quad \phi_b(q) = q \sigma(b q)", "y == swished(z, b)"),
        (r"y = \phi_b(z) + \phi_1(z), \quad \phi_b(q) = q \sigma(q)", "y == swished(z, b)"),
    ],
)
def test_another_member_is_refused(latex, check):
    assert said(latex, check) != ""


def halves(x):
    return x / 2


def test_rows_have_the_sizes_of_the_first():
    verdict = checked(r"y_i = x_i / 2", "x: vector(T)\nT: dim(4..9)", "halves", {"halves": halves})

    assert verdict.text == ""
    assert verdict.rows == (3,)
