"""A letter that counts steps of declared names, as the t of x_{t+1} = x_t - a g_t, is no index; where it may be one, it
is."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def descended(x, g, a):
    return x - a * g


def recurred(x, h, U, W):
    return np.tanh(U @ h + W @ x)


def reweighted(w, loss, a):
    shares = w * np.exp(-a * loss)
    return shares / shares.sum()


def backed_up(V, P, R, gamma):
    return (R + gamma * P @ V).max(1)


def moving_mean(Q, R, n):
    return Q + (R - Q) / n


def moved_twice(x, v, g, a, b):
    return x - a * (b * v + g)


def slope(x):
    return x**3


def followed(x, a):
    return x - a * slope(x)


def differences(x):
    return x[1:] - x[:-1]


def bounded(Q, N, c):
    return Q + c / np.sqrt(N)


def doubled(x, y):
    return 2 * x + y


CODE = {name: value for name, value in globals().items() if callable(value) and name != "checked"} | {"np": np}
VECTORS = "x, g: vector(n)\na: positive"


def said(latex, notation, check):
    try:
        return checked(latex, notation, check, CODE).text
    except EquationError as error:
        return error.text


@pytest.mark.parametrize(
    "latex",
    [
        r"x_{t+1} = x_t - a g_t",
        r"x_t = x_{t-1} - a g_t",
        r"x_{t+1} = x_t - a_t g_t",
        r"x_{t+1} \leftarrow x_t - a g_t",
        r"\mathbf{x}_{k+1} = \mathbf{x}_k - a_k \mathbf{g}_k",
        r"x^{(k+1)} = x^{(k)} - a g^{(k)}",
        r"x^{k+1} = x^k - a g^k",
        r"x_{t+1,i} = x_{t,i} - a g_{t,i}",
        r"x_i^{(t+1)} = x_i^{(t)} - a g_i^{(t)}",
        r"x_{t+1}(i) = x_t(i) - a g_t(i)",
        r"x(t+1) = x(t) - a g(t)",
        r"x[t+1] = x[t] - a g[t]",
    ],
)
def test_the_step_that_is_read_is_the_declared_name(latex):
    assert said(latex, VECTORS, "descended") == ""
    assert "differs" in said(latex.replace("- a", "+ a"), VECTORS, "descended")


def test_what_a_layer_reads_is_declared_without_its_step():
    notation = "x: vector(d)\nh: vector(k)\nW_{hh} as U: matrix(k, k)\nW_{xh} as W: matrix(k, d)"

    assert said(r"h_t = \tanh(W_{hh} h_{t-1} + W_{xh} x_t)", notation, "recurred") == ""
    assert "differs" in said(r"h_t = \tanh(W_{hh} h_{t-1} - W_{xh} x_t)", notation, "recurred")


def test_a_step_stands_in_an_exponent_and_below_a_sum_too():
    update = r"w_i^{(t+1)} = \frac{w_i^{(t)} e^{-a \ell_i^{(t)}}}{\sum_j w_j^{(t)} e^{-a \ell_j^{(t)}}}"

    assert said(update, "w, \\ell as loss: positive(n)\na: unit", "reweighted(w, loss, a)") == ""


def test_a_step_stands_beside_the_brackets_of_an_element():
    update = r"V_{k+1}(s) = \max_a \left[ R(s, a) + \gamma \sum_{s'} P(s' \mid s, a) V_k(s') \right]"
    notation = "V: vector(S)\nP: simplex(S, A, S)\nR: matrix(S, A)\n\\gamma: unit"

    assert said(update, notation, "backed_up") == ""
    assert "differs" in said(update.replace("V_k(s')", "V_k(s)"), notation, "backed_up")


def test_the_count_may_have_a_value():
    notation = "Q, R: scalar\nn: int(1..9)"

    assert said(r"Q_{n+1} = Q_n + \frac{1}{n} (R_n - Q_n)", notation, "moving_mean") == ""
    assert "differs" in said(r"Q_{n+1} = Q_n + \frac{1}{n+1} (R_n - Q_n)", notation, "moving_mean")


TWICE = "x, v, g: vector(n)\na, b: unit"


def test_the_step_that_is_given_is_read_as_a_name_of_its_own():
    assert said(r"v_{t+1} = b v_t + g_t, \quad x_{t+1} = x_t - a v_{t+1}", TWICE, "moved_twice") == ""


def test_the_step_before_it_is_another():
    text = said(r"v_{t+1} = b v_t + g_t, \quad x_{t+1} = x_t - a v_t", TWICE, "x_{t+1} == moved_twice(x, v, g, a, b)")

    assert text != ""


def test_a_gradient_is_taken_at_the_step():
    notation = "x: vector(n)\na: positive\n"

    assert said(r"x_{k+1} = x_k - a \nabla f(x_k)", notation + r"\nabla f = slope(_)", "followed") == ""
    assert said(r"x_{k+1} = x_k - a \nabla f(x_k)", notation + r"\nabla f(x) as g: vector(n)", "descended") == ""


def test_a_declared_number_has_no_elements():
    assert said(r"y = x - a_t g", VECTORS, "descended") == ""


def test_an_array_that_has_an_index_for_each_axis_is_at_a_step():
    notation = "Q: vector(K)\nN: positive(K)\nc: positive"

    assert said(r"U_t(k) = Q_t(k) + c \sqrt{1 / N_t(k)}", notation, "bounded") == ""


def test_a_letter_that_runs_is_an_index():
    assert said(r"y_t = x_{t+1} - x_t, \quad t = 1, \ldots, n - 1", "x: vector(n)", "differences") == ""


def test_a_power_is_no_step():
    assert "k is not declared" in said(r"y = x - a^k g", VECTORS, "descended")


def test_a_number_at_an_index_of_arrays_is_no_step():
    assert "a_t is not declared" in said(r"y_t = x_t - a_t g_t", VECTORS, "descended")


def test_several_steps_that_are_read_are_to_be_declared():
    text = said(r"x_{t+1} = 2 x_t - x_{t-1}", "x: vector(n)", "doubled")

    assert text == "x is declared, and x_t and x_{t-1} are read; declare x_t and x_{t-1} in the place of x"
    assert said(r"x_{t+1} = 2 x_t + x_{t-1}", "x_t as x, x_{t-1} as y: vector(n)", "doubled") == ""


def test_a_step_beside_the_name_alone_is_to_be_declared():
    assert r"declare 'x_{t}: ...'" in said(r"x_{t+1} = 2 x_t + x", "x: vector(n)\nt: int(1..3)", "x_{t+1} == slope(x)")
    assert said(r"x_{t+1} = 2 x_t + x", "x as y, x_t as x: vector(n)\nt: int(1..3)", "doubled") == ""


def test_the_name_of_an_input_is_no_target():
    text = said(r"x_{t+1} = x_t - a g_t", VECTORS, "x == descended(x, g, a)")

    assert text == "x is on no left side; the left sides are x_{t+1}; drop its declaration if the display gives it"


def test_a_vector_below_a_fraction_goes_over_its_neighbour_element_by_element():
    assert said(r"y = x - \frac{a}{1/g}", VECTORS, "descended") == ""
    assert said(r"y = x - a \frac{1}{1/g + 0} \cdot 1", VECTORS, "descended") == ""
    assert said(r"y = \frac{a}{x} g", VECTORS, "y == a / x * g") == ""
    assert said(r"y = g \frac{a}{x}", VECTORS, "y == a / x * g") == ""
    assert said(r"y = \frac{g}{x} g", VECTORS, "y == g / x * g") == ""
    assert said(r"y = \frac{g}{x} g", VECTORS, "y == g / x @ g")
    assert "two vectors side by side" in said(r"y = \frac{a}{x} g x", VECTORS, "y == a * g")
