"""Where a recurrence runs and where it begins: at h_0 or h_1, defined or declared, forward, backward, in two axes."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def states(A, B, start, x):
    """All states of a linear recurrence, the first one included."""
    h = [start]
    for row in x:
        h.append(A @ h[-1] + B @ row)
    return np.array(h)


def outputs(A, B, C, x):
    h, y = np.zeros(len(A)), []
    for row in x:
        h = A @ h + B @ row
        y.append(C @ h)
    return np.array(y)


def scalar_states(a, x):
    h, found = 0.0, []
    for number in x:
        h = a * h + number
        found.append(h)
    return np.array(found)


def advantages(r, V, discount):
    delta = r + discount * V[1:] - V[:-1]
    found, last = np.zeros_like(r), 0.0
    for t in reversed(range(len(r))):
        last = delta[t] + discount * last
        found[t] = last
    return found


def average(x, b):
    found = [x[0]]
    for number in x[1:]:
        found.append(b * found[-1] + (1 - b) * number)
    return np.array(found)


def distances(costs):
    m, n = costs.shape
    D = np.zeros((m + 1, n + 1))
    D[:, 0], D[0] = np.arange(m + 1), np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + costs[i - 1, j - 1])
    return D


def differences(x):
    return x[1:] - x[:-1]


CODE = {
    function.__name__: function
    for function in (states, outputs, scalar_states, advantages, average, distances, differences)
}
PARTS = "A: matrix(d, d)\nB: matrix(d, m)\nx: matrix(T, m)"
GIVEN = f"g as start: vector(d)\n{PARTS}"


def said(latex, notation, check, **options):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, notation, check, CODE, **options).text
    except EquationError as error:
        return error.text


@pytest.mark.parametrize(
    "latex",
    [
        r"h_{t+1} = A h_t + B x_t, \quad h_1 = g",
        r"h_{t+1} = A h_t + B x_t, \quad h_1 = g, \quad t = 1, \ldots, T",
        r"h_1 = g, \quad h_{t+1} = A h_t + B x_t",
        r"h_t = A h_{t-1} + B x_{t-1}, \quad h_1 = g",
        r"h_t = A h_{t-1} + B x_{t-1} \quad (t > 1), \quad h_1 = g",
    ],
)
def test_a_recurrence_may_end_one_step_after_its_inputs(latex):
    assert said(latex, GIVEN, "h == states(A, B, start, x)") == ""


@pytest.mark.parametrize(
    "latex",
    [
        r"h_{t+1} = A h_t + B x_{t+1}, \quad h_1 = g",
        r"h_{t+1} = A h_t + B x_t, \quad h_2 = g",
        r"h_t = A h_{t-1} + B x_t, \quad h_1 = g",
        r"h_t = A h_{t-2} + B x_{t-1}, \quad h_1 = g",
        r"h_{t+1} = A h_t + B x_t, \quad h_1 = 2g",
    ],
)
def test_a_recurrence_with_a_wrong_step_or_start_is_refused(latex):
    assert said(latex, GIVEN, "h == states(A, B, start, x)") != ""


def test_a_start_may_stand_before_what_the_code_gives():
    assert said(r"h_t = A h_{t-1} + B x_t, \quad h_0 = g", GIVEN, "h == states(A, B, start, x)[1:]") == ""


def test_a_wrong_start_before_what_the_code_gives_is_refused():
    assert "differs" in said(r"h_t = A h_{t-1} + B x_t, \quad h_0 = -g", GIVEN, "h == states(A, B, start, x)[1:]")


def test_an_element_outside_that_nothing_reads_is_refused():
    assert said(r"y_i = x_{i+1} - x_i, \quad y_0 = 1", "x: vector(n)", "y == differences(x)") != ""


def test_a_declared_start_is_the_first_element():
    notation = f"h_0 as start: vector(d)\n{PARTS}"

    assert said("h_t = A h_{t-1} + B x_t", notation, "h == states(A, B, start, x)[1:]") == ""


def test_a_declared_first_element_is_compared_too():
    notation = f"h_1 as start: vector(d)\n{PARTS}"

    assert said("h_{t+1} = A h_t + B x_t", notation, "h == states(A, B, start, x)") == ""
    assert said("h_{t+1} = A h_t + B x_t", notation, "h == states(A, B, 2 * start, x)") != ""


def test_a_recurrence_without_a_start_says_what_to_define():
    text = said("h_t = A h_{t-1} + B x_t", GIVEN, "h == states(A, B, start, x)[1:]")

    assert text == "h_{0} is not defined; define it, as in h_{0} = ..., or declare it"


@pytest.mark.parametrize("zero", ["0", r"\mathbf{0}", r"\boldsymbol 0", r"\mathbf{0}_d"])
def test_zero_at_the_start_has_the_shape_of_the_others(zero):
    latex = rf"h_t = A h_{{t-1}} + B x_t, \quad y_t = C h_t, \quad h_0 = {zero}"

    assert said(latex, f"{PARTS}\nC: matrix(k, d)", "y == outputs(A, B, C, x)") == ""


def test_one_at_the_start_is_no_vector():
    latex = r"h_t = A h_{t-1} + B x_t, \quad y_t = C h_t, \quad h_0 = 1"

    assert said(latex, f"{PARTS}\nC: matrix(k, d)", "y == outputs(A, B, C, x)") != ""


def test_zero_at_the_start_may_be_a_number():
    assert said(r"h_t = a h_{t-1} + x_t, \quad h_0 = 0", "a: unit\nx: vector(T)", "h == scalar_states(a, x)") == ""


def test_an_index_runs_where_an_element_and_its_neighbour_exist():
    assert said(r"y_i = x_{i+1} - x_i", "x: vector(n)", "y == differences(x)") == ""


BACKWARD = r"A_t = \delta_t + \gamma A_{t+1}, \quad \delta_t = r_t + \gamma V_{t+1} - V_t, \quad A_{T+1} = 0"
GAMES = "r: vector(T)\nV: vector(T+1)\n\\gamma as discount: unit"


def test_a_recurrence_may_run_backward():
    assert said(BACKWARD, GAMES, "A == advantages(r, V, discount)") == ""


def test_a_recurrence_that_runs_backward_may_be_wrong():
    wrong = BACKWARD.replace("V_{t+1} - V_t", "V_t - V_{t+1}")

    assert "differs" in said(wrong, GAMES, "A == advantages(r, V, discount)")


def test_a_first_element_above_its_recurrence_is_an_element():
    latex = r"v_1 = x_1, \quad v_t = \beta v_{t-1} + (1 - \beta) x_t"

    assert said(latex, "x: vector(T)\n\\beta as b: unit", "v == average(x, b)") == ""


TABLE = r"D_{i,j} = \min(D_{i-1,j} + 1, D_{i,j-1} + 1, D_{i-1,j-1} + c_{i-1,j-1}), \quad D_{i,0} = i, \quad D_{0,j} = j"


def test_a_table_begins_at_its_edges():
    assert said(TABLE, "c as costs: matrix(m, n)", "D == distances(costs)", base="0") == ""


def test_a_table_with_a_wrong_edge_is_refused():
    wrong = TABLE.replace("D_{i,0} = i", "D_{i,0} = 2i")

    assert "differs" in said(wrong, "c as costs: matrix(m, n)", "D == distances(costs)", base="0")


def test_different_numbers_of_indices_are_refused():
    latex = r"h_t = A h_{t-1} + B x_t, \quad h_{0,i} = 0"

    assert "h has 1 indices in one place and 2 in another" in said(latex, GIVEN, "h == states(A, B, 0 * start, x)[1:]")


def test_a_recurrence_may_have_the_letter_of_a_size():
    notation = "W: matrix(h, k)\nx: vector(T)\na: unit"

    assert said(r"h_t = a h_{t-1} + x_t, \quad h_0 = 0", notation, "scalar_states(a, x)") == ""


def test_a_backward_recurrence_meets_longer_inputs():
    latex = r"G_t = r_t + \gamma (V_{t+1} + G_{t+1}) - \gamma V_{t+1}, \quad G_{T+1} = 0"

    assert said(latex, GAMES, "G == advantages(r, 0 * V, discount)") == ""
    assert said(latex.replace("G_{T+1} = 0", "G_{T+1} = 1"), GAMES, "G == advantages(r, 0 * V, discount)") != ""
