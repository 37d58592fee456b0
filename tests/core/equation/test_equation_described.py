r"""Sets that a display describes, names of elements and logarithms, histories, habits and twins: each in one way."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def said(latex, notation, check, **code):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, notation, check, code, suggests=False).text
    except EquationError as error:
        return error.text


ALIKE = "x: vector(n)\ny: ints(n, C)"


def alike(x, y):
    same = (y[:, None] == y[None]) & ~np.eye(len(y), dtype=bool)
    return (same @ x / np.maximum(1, same.sum(1))).sum()


def by_class(x, y):
    return np.array([x[y == k].sum() / max(1, (y == k).sum()) for k in range(1, y.max() + 1)]).sum()


@pytest.mark.parametrize(
    "latex",
    [
        r"m = \sum_i \frac{1}{\max(1, |P(i)|)} \sum_{j \in P(i)} x_j, \quad P(i) = \{ j : j \ne i, y_j = y_i \}",
        r"m = \sum_i \frac{1}{\max(1, |P_i|)} \sum_{j \in P_i} x_j, \quad P_i = \{ j \ne i \mid y_j = y_i \}",
        r"m = \sum_k \frac{1}{\max(1, |P_k|)} \sum_{i \in P_k} x_i, \quad P_i = \{ k : i \ne k, y_i = y_k \}",
        r"m = \sum_i \frac{1}{\max(1, \lvert \mathcal{P}(i) \rvert)} \sum_{j \in \mathcal{P}(i)} x_j, "
        r"\quad \mathcal{P}(i) := \{ j \in [n] : j \ne i, y_i = y_j \}",
        r"m = \sum_i \frac{1}{\max(1, |P_i^{}|)} \sum_{j \in P_i} x_j, \quad P_i = \{ j : y_j = y_i \wedge j \ne i \}",
    ],
)
def test_a_set_is_what_its_condition_says(latex):
    latex = latex.replace("^{}", "")

    assert said(latex, ALIKE, "m == alike(x, y)", alike=alike) == ""
    assert said(latex.replace(r"\ne", r"\le"), ALIKE, "m == alike(x, y)", alike=alike) != ""


def observed(A, W):
    return ((A - W)[A > 0] ** 2).mean()


def test_a_set_without_letters_holds_pairs():
    mean = r"\ell = \frac{1}{|\Omega|} \sum_{(i, j) \in \Omega} (A_{ij} - W_{ij})^2"
    latex = mean + r", \quad \Omega = \{ (i, j) : A_{ij} > 0 \}"
    notation = "A, W: matrix(n, m)"

    assert said(latex, notation, "observed", observed=observed) == ""
    assert said(latex.replace("> 0", r"\ge 1"), notation, "observed", observed=observed) != ""


def count(x):
    return ((x[:, None] > x[None]).sum(1) * x).sum()


def test_letters_of_a_set_that_meet_others_are_other_letters():
    latex = r"c = \sum_j |S_j| x_j, \quad S_i = \{ j : x_j < x_i \}"

    assert said(latex, "x: vector(n)", "c == count(x)", count=count) == ""
    assert said(latex.replace("x_j < x_i", "x_j > x_i"), "x: vector(n)", "c == count(x)", count=count) != ""


def share(y):
    return np.mean(y == 1)


def test_what_is_counted_is_seen_in_the_condition():
    assert said(r"s = \frac1n \sum_{i : y_i = 1} 1", "y: ints(n, C)", "s == share(y)", share=share) == ""
    assert said(r"s = \frac1n \sum_{i : y_i > 1} 1", "y: ints(n, C)", "s == share(y)", share=share) != ""


WORDS = "z: matrix(T, V)\nx: ints(T, V)"


def surprise(z, x):
    logs = z - np.log(np.exp(z).sum(1, keepdims=True))
    return -logs[np.arange(len(x)), x - 1].sum()


@pytest.mark.parametrize(
    "call",
    [r"p_\theta(x_t \mid x_{<t})", r"p(x_t \mid x_1, \ldots, x_{t-1})", r"p(x_t \mid x_{1:t-1})", r"p(x_t | x_{t-1})"],
)
def test_an_element_may_stand_beside_its_history(call):
    latex = rf"L = -\sum_{{t=1}}^T \ln {call}, \quad {call} = \frac{{e^{{z_{{t,x_t}}}}}}{{\sum_v e^{{z_{{tv}}}}}}"

    assert said(latex, WORDS, "L == surprise(z, x)", surprise=surprise) == ""
    assert said(latex.replace("x_t}}", "x_1}}"), WORDS, "L == surprise(z, x)", surprise=surprise) != ""


def test_a_history_of_something_else_is_no_element():
    latex = r"L = \sum_t p(x_t \mid x_{<s}), \quad p(x_t \mid x_{<s}) = z_{ts}"

    assert "stepped" in said(latex, WORDS, "L == surprise(z, x)", surprise=surprise)


def weighted(logp, A):
    return -np.mean(logp * A)


@pytest.mark.parametrize("name", [r"\log \pi", r"\log \pi_\theta", r"\ln p"])
def test_a_logarithm_is_a_name_where_the_notation_says_so(name):
    notation = f"{name} as logp: vector(N)\nA: vector(N)"
    latex = rf"L = -\frac1N \sum_i A_i {name}_i" if "theta" not in name else rf"L = -\frac1N A \cdot {name}"

    assert said(latex, notation, "weighted(logp, A)", weighted=weighted) == ""
    assert said(latex.replace("= -", "= "), notation, "weighted(logp, A)", weighted=weighted) != ""


def expected(q, p, r):
    return r + p @ q


def test_an_element_of_a_name_at_a_point():
    notation = r"Q(s', \cdot) as q: vector(K)" + "\n" + r"\pi(\cdot \mid s') as p: simplex(K)" + "\nr: scalar"
    latex = r"y = r + \sum_{a'} \pi(a' \mid s') Q(s', a')"

    assert said(latex, notation, "y == expected(q, p, r)", expected=expected) == ""
    assert said(latex.replace(r"\pi(a' \mid s')", ""), notation, "y == expected(q, p, r)", expected=expected) != ""
    assert said(latex.replace("Q(s', a')", "Q(s, a')"), notation, "y == expected(q, p, r)", expected=expected) != ""


def best(q, r):
    return r + q.max()


def test_an_element_of_a_name_at_a_point_may_be_the_largest():
    notation = r"Q(s', \cdot) as q: vector(K)" + "\nr: scalar"

    assert said(r"y = r + \max_{a} Q(s', a)", notation, "y == best(q, r)", best=best) == ""
    assert said(r"y = r + \min_{a} Q(s', a)", notation, "y == best(q, r)", best=best).startswith("differs")


def score(mu, sigma, best):
    return (mu - best) / sigma


NUMBERS = "\\mu, b as best: scalar\n\\sigma: positive"


@pytest.mark.parametrize(
    "latex",
    [r"\mathrm{Z}(x) = \frac{\mu(x) - b}{\sigma(x)}", r"z = \frac{\mu(x, t) - b}{\sigma(x, t)}"],
)
def test_brackets_of_a_number_with_what_is_nothing_are_a_habit(latex):
    assert said(latex, NUMBERS, "score", score=score) == ""
    assert said(latex.replace("- b", "+ b"), NUMBERS, "score", score=score) != ""


@pytest.mark.parametrize(
    "latex",
    [
        r"z = \frac{\mu(x) - b}{\sigma(y)} + \mu(y) - \mu(x)",
        r"z = \frac{\mu(x) - b}{\sigma(x)} x",
        r"z = \frac{\mu(b) - b}{\sigma}",
        r"z = Z(b), \quad Z(x) = \frac{\mu(x) - b}{\sigma(x)}",
    ],
)
def test_brackets_that_say_more_are_no_habit(latex):
    assert said(latex, NUMBERS, "z == score(mu, sigma, best)", score=score) != ""


def kept(P):
    def entropy(p):
        return -(p * np.log(p)).sum()

    return entropy(P.sum(0)) + entropy(P.sum(1)) - entropy(P)


SHANNON = (
    r"I(X; Y) = H(X) + H(Y) - H(X, Y), \quad H(X) = -\sum_x p(x) \log p(x), \quad H(Y) = -\sum_y p(y) \log p(y), "
    r"\quad H(X, Y) = -\sum_{x, y} P_{xy} \log P_{xy}, \quad p(x) = \sum_y P_{xy}, \quad p(y) = \sum_x P_{xy}"
)


def test_letters_tell_entropies_and_margins_apart():
    assert said(SHANNON, "P: simplex(m, n)", "kept", kept=kept) == ""
    assert said(SHANNON.replace("- H(X, Y)", "- H(Y)"), "P: simplex(m, n)", "kept", kept=kept) != ""
    assert said(SHANNON.replace("H(X) + ", "H(Z) + "), "P: simplex(m, n)", "kept", kept=kept) != ""


def step(x, e, a_s, a_t, s_s, s_t):
    return a_t / a_s * x - s_t * np.expm1(np.log(a_t / s_t) - np.log(a_s / s_s)) * e


TWINS = (
    r"x_s as x, e: vector(d)" + "\n" + r"\alpha_s as a_s, \alpha_t as a_t, \sigma_s as s_s, \sigma_t as s_t: positive"
)
SOLVER = (
    r"x_t = \frac{\alpha_t}{\alpha_s} x_s - \sigma_t (e^{\lambda_t - \lambda_s} - 1) \epsilon, "
    r"\quad \lambda_t = \log \frac{\alpha_t}{\sigma_t}"
)


def test_what_is_given_with_one_letter_holds_with_its_twin():
    names = TWINS.replace("e:", r"\epsilon as e:")
    check = "x_t == step(x, e, a_s, a_t, s_s, s_t)"

    assert said(SOLVER, names, check, step=step) == ""
    assert said(SOLVER.replace(r"\lambda_t -", r"\lambda_s -"), names, check, step=step) != ""
    assert "not declared" in said(SOLVER, names + "\nt: int(2..5)", check, step=step)


def discounted(r, v, g):
    return sum(g**k * r[k] for k in range(len(r))) + g ** len(r) * v


def test_a_stretch_of_what_is_nothing_is_a_label():
    notation = r"r: vector(n)" + "\n" + r"V(s_{t+n}) as v: scalar" + "\n" + r"\gamma as g: unit"
    latex = r"G_{t:t+n} = \sum_{k=0}^{n-1} \gamma^k r_{k+1} + \gamma^n V(s_{t+n})"

    assert said(latex, notation, "discounted", discounted=discounted) == ""
    assert said(latex.replace(r"\gamma^n", r"\gamma"), notation, "discounted", discounted=discounted) != ""


def shifted(z, r):
    return (r + z).sum()


def test_an_operator_before_an_indexed_name_is_one_name_with_it():
    assert said(r"y = \sum_i T z_i, \quad T z_j = r + z_j", "z: vector(n)\nr: scalar", "shifted", shifted=shifted) == ""


def test_a_declared_number_before_an_indexed_name_is_a_factor():
    notation = "z: vector(n)\nr, T: scalar"

    assert said(r"y = \sum_i T z_i, \quad T z_j = r + z_j", notation, "shifted", shifted=shifted) != ""


SUMS = r"t = \frac1n \sum_{i=1}^n f(X_i) (g(X_i) - f(X_i))"


def gaps(f, g):
    return np.mean(f * (g - f))


@pytest.mark.parametrize("said_of", ["X_i", "X_i, Z_i", r"Z_i \mid X_i"])
def test_the_value_of_a_vector_at_what_is_nothing_is_its_element(said_of):
    latex = SUMS.replace("X_i", said_of)

    assert said(latex, "f, g: vector(n)", "gaps", gaps=gaps) == ""
    assert said(latex.replace("- f", "+ f"), "f, g: vector(n)", "gaps", gaps=gaps).startswith("differs")
    assert said(latex.replace("g(", "X_1 g("), "f, g: vector(n)", "gaps", gaps=gaps) != ""


def near(f, q):
    e = np.exp(f @ q)
    return e / e.sum()


def test_an_event_on_the_left_is_an_index():
    latex = r"p(y = k \mid q) = \frac{e^{f_k \cdot q}}{\sum_{j=1}^K e^{f_j \cdot q}}"

    assert said(latex, "f: matrix(K, d)\nq: vector(d)", "near", near=near) == ""
    assert said(latex.replace("f_k", "2 f_k"), "f: matrix(K, d)\nq: vector(d)", "near", near=near).startswith("differs")


def window(N):
    return np.cos(np.arange(N) / N)


def test_a_letter_between_two_bounds_runs():
    latex = r"w(n) = \cos(n / N), \quad 0 \le n \le N - 1"

    assert checked(latex, "N: dim", "w == window(N)", {"window": window}, base="0").text == ""
    assert (
        checked(latex.replace("/ N", "/ (N - 1)"), "N: dim", "w == window(N)", {"window": window}, base="0").text != ""
    )


def projected(A, x):
    u, v, w = A @ x
    return u * v / w


def test_a_column_of_names_has_the_elements_of_what_it_equals():
    latex = r"y = \frac{u v}{w}, \quad \begin{pmatrix} u \\ v \\ w \end{pmatrix} = A x"

    assert said(latex, "A: matrix(3, 3)\nx: vector(3)", "projected", projected=projected) == ""
    assert said(latex.replace("A x", "x A"), "A: matrix(3, 3)\nx: vector(3)", "projected", projected=projected) != ""
    assert said(latex, "A: matrix(6, 3)\nx: vector(3)", "y == projected(A[:3], x)", projected=projected) != ""


def emphasised(x, a):
    return np.concatenate([x[:1], x[1:] - a * x[:-1]])


@pytest.mark.parametrize(
    "latex",
    [
        r"y[n] = x[n] - a x[n-1], \quad n = 2, \ldots, N, \quad y[1] = x[1]",
        r"y(n) = x_n - a x_{n-1}, \quad n = 2, \ldots, N, \quad y(1) = x_1",
    ],
)
def test_a_number_in_brackets_behind_what_is_given_so_is_an_index(latex):
    names, check = "x: vector(N)\na: unit", "y == emphasised(x, a)"

    assert said(latex, names, check, emphasised=emphasised) == ""
    assert said(latex.replace("- a", "+ a"), names, check, emphasised=emphasised).startswith("differs")


def parity(p, a):
    return p @ a / a.sum() - p @ (1 - a) / (1 - a).sum()


def test_zeros_and_ones_have_both():
    latex = r"g = \frac{\sum_i p_i a_i}{\sum_i a_i} - \frac{\sum_i p_i (1 - a_i)}{\sum_i (1 - a_i)}"

    assert said(latex, "p: vector(n)\na: binary(n)", "parity", parity=parity) == ""


def of_others(x, S):
    return np.array([x @ S - x[i] * S[i] for i in range(len(x))])


def of_others_above(x, z):
    return of_others(x, 1.0 * (z > 0))


def outside(x, S):
    return x @ (1 - S)


def strangers(x, N):
    return (1 - N) @ x


@pytest.mark.parametrize(
    ("latex", "notation", "check"),
    [
        (r"y_i = \sum_{j \in S \setminus \{i\}} x_j", "x: vector(n)\nS: set(n)", "of_others(x, S)"),
        (r"y_i = \sum_{j \in S \backslash \{i\}} x_j", "x: vector(n)\nS: set(n)", "of_others(x, S)"),
        (
            r"y_i = \sum_{j \in S \setminus \{i\}} x_j, \quad S = \{ k : z_k > 0 \}",
            "x, z: vector(n)",
            "of_others_above(x, z)",
        ),
        (r"y = \sum_{j \notin S} x_j", "x: vector(n)\nS: set(n)", "outside(x, S)"),
        (r"y_i = \sum_{j \notin N_i} x_j", "x: vector(n)\nN: set(n, n)", "strangers(x, N)"),
    ],
)
def test_an_operator_runs_over_a_set_without_some_or_outside_of_it(latex, notation, check):
    code = {function.__name__: function for function in (of_others, of_others_above, outside, strangers)}
    slip = latex.replace(r" \setminus \{i\}", "").replace(r" \backslash \{i\}", "").replace(r"\notin", r"\in")

    assert said(latex, notation, check, **code) == ""
    assert said(slip, notation, check, **code).startswith("differs")


def of_either(x, z):
    return x[(x > 1) | (z > 1)].sum()


def of_both(x, z):
    return x[(x > 0) & (z > 0)].sum()


def of_first(x, z):
    return x[(x > 0) & ~((z > 0) & (z < 1))].sum()


def shared(A, B):
    return (A * B).sum() / np.maximum(A, B).sum()


def with_itself(x, N):
    return np.maximum(N, np.eye(len(x))) @ x


def but_of_first(x, N):
    return (np.maximum(N, np.eye(len(x))) * (1 - N[0])) @ x


def larger(x, z):
    return np.maximum(x, z)


ABOVE = r"A = \{ j : x_j > 0 \}, \quad B = \{ j : z_j > 0 \}"
MADE = {
    "either": (r"u = \sum_{i \in A \cup B} x_i, \quad " + ABOVE.replace("0", "1"), "x, z: vector(n)", of_either),
    "both": (r"u = \sum_{i \in A \cap B} x_i, \quad " + ABOVE, "x, z: vector(n)", of_both),
    "indicator": (r"u = \sum_i \mathbb{1}[i \in A \cap B] x_i, \quad " + ABOVE, "x, z: vector(n)", of_both),
    "without": (
        r"u = \sum_{i \in A \setminus B} x_i, \quad " + ABOVE.replace("z_j >", "0 < z_j < 1 \\wedge z_j >"),
        "x, z: vector(n)",
        of_first,
    ),
    "sizes": (r"u = \frac{|A \cap B|}{|A \cup B|}", "A, B: set(n)", shared),
    "one more": (r"u_i = \sum_{j \in N_i \cup \{i\}} x_j", "x: vector(n)\nN: set(n, n)", with_itself),
    "brackets": (
        r"u_i = \sum_{j \in (N_i \cup \{i\}) \setminus N_1} x_j",
        "x: vector(n)\nN: set(n, n)",
        but_of_first,
    ),
    "outside": (r"u_i = \sum_{j=1}^n \mathbb{1}[j \notin N_i] x_j", "x: vector(n)\nN: set(n, n)", strangers),
    "cases": (
        r"u_i = \begin{cases} x_i & \text{if } i \in A \\ z_i & \text{else} \end{cases}, \quad A = \{j : x_j > z_j\}",
        "x, z: vector(n)",
        larger,
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_set_may_be_made_of_others(name):
    latex, notation, function = MADE[name]
    parameters = "x, N" if "N" in notation else "A, B" if "A" in notation else "x, z"
    slips = [(r"\cup", r"\cap"), (r"\cap", r"\cup"), (r"\setminus", r"\cap"), (r"\notin", r"\in"), (r"\in", r"\notin")]
    slip = next(latex.replace(*pair, 1) for pair in slips if pair[0] in latex)

    assert said(latex, notation, f"{function.__name__}({parameters})", **{function.__name__: function}) == ""
    assert "differs" in said(slip, notation, f"{function.__name__}({parameters})", **{function.__name__: function})
