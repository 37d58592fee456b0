"""What authors write is read as they mean it: elements of named numbers, sizes of sets, systems, events, diagonals."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def said(latex, notation, check, **options):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, notation, check, CODE, **options).text
    except EquationError as error:
        return error.text


def same(x):
    return 1.0 * x


def soft_target(r, discount, Q_1, Q_2, log_pi):
    return r + discount * (min(Q_1, Q_2) - log_pi)


def dueling(V, A):
    return V + A - A.mean()


def rows_mean(X):
    return X.mean(axis=0)


def with_temperature(z, T):
    powers = np.exp(z / T)
    return powers / powers.sum()


def total(a, b):
    return a + b


def overlap(a, b, c, e, f, g, h, k):
    return max(0.0, min(a, b) - max(c, e)) * max(0.0, min(f, g) - max(h, k))


def never(x):
    return max(0.0, -x)


CODE = {
    function.__name__: function
    for function in (same, soft_target, dueling, rows_mean, with_temperature, total, overlap, never)
}


@pytest.mark.parametrize("range_", ["i = 1, 2", r"i \in \{1, 2\}", r"1 \le i \le 2"])
def test_an_index_runs_over_declared_names(range_):
    notation = "r, Q_1, Q_2: scalar\n\\gamma as discount: unit\n\\ell as log_pi: scalar"
    latex = rf"y = r + \gamma \bigl( \min_{{{range_}}} Q_i - \ell \bigr)"

    assert said(latex, notation, "soft_target") == ""


def test_a_number_under_an_operator_needs_an_index():
    assert "a number under an operator that no index takes" in said(
        r"y = \sum_{1 \le i, 2} x_i", "x: vector(n)", "same"
    )


def test_the_size_of_a_set_is_a_name_that_may_be_defined():
    latex = r"Q(a) = V + A(a) - \frac{1}{|\mathcal{A}|} \sum_{a'} A(a')"

    assert r"'|\mathcal{A}|: dim'" in said(latex, "V: scalar\nA: vector(n)", "dueling(V, A)")
    assert said(rf"{latex}, \quad |\mathcal{{A}}| = n", "V: scalar\nA: vector(n)", "dueling(V, A)") == ""


def test_a_dot_beside_an_index_is_the_whole_axis():
    latex = r"m = \frac{1}{n} \sum_{i=1}^{n} x_i, \qquad x_i = X_{i\cdot}"

    assert said(latex, "X: matrix(n, d)", "m == rows_mean(X)") == ""


def test_an_index_below_a_function_of_a_number_picks_an_element():
    latex = r"p_i(T) = \frac{\exp(z_i / T)}{\sum_j \exp(z_j / T)}"

    assert said(latex, "z: vector(n)\nT: positive", "with_temperature(z, T)") == ""
    assert "differs" in said(latex.replace("z_j / T", "z_j"), "z: vector(n)\nT: positive", "with_temperature(z, T)")


def test_an_argument_that_nothing_reads_needs_no_declaration():
    assert said(r"J(\theta) = L(\theta) + b, \quad L(\theta) = a", "a, b: scalar", "total(a, b)") == ""


def test_an_argument_that_is_read_needs_one():
    assert "not declared" in said(r"J = L(\phi) + b, \quad L(\theta) = \theta a", "a, b: scalar", "total(a, b)")


def test_a_branch_that_is_seldom_taken_is_met():
    right = r"y = \max\{0, \min(a, b) - \max(c, e)\} \max\{0, \min(f, g) - \max(h, k)\}"

    assert said(right, "a, b, c, e, f, g, h, k: scalar", "overlap") == ""
    assert "differs" in said(right.replace(r"\max(h, k)", r"\min(h, k)"), "a, b, c, e, f, g, h, k: scalar", "overlap")


def test_what_is_zero_at_every_draw_proves_nothing():
    text = said(r"y = \max(0, -x)", "x: positive", "never")

    assert text.startswith("y is 0 at each of 200 draws, so comparing it proves little")
    assert said(r"y = \max(0, -x)", "x: scalar", "never") == ""


def responsibilities(x, gamma):
    weights = gamma.sum(axis=0)
    return (gamma.T @ x) / weights


def normalised(A):
    degrees = A.sum(axis=1)
    return A / np.sqrt(np.outer(degrees, degrees))


def leverage(X):
    return np.diag(X @ X.T)


def hinge(x, z):
    return max(0.0, np.abs(x - z).sum())


def binomial(n, k, p):
    ways = np.prod([(n - j) / (j + 1) for j in range(k)])
    return ways * p**k * (1 - p) ** (n - k)


def frobenius(A, B):
    return np.sum(A * B)


CODE |= {
    function.__name__: function for function in (responsibilities, normalised, leverage, hinge, binomial, frobenius)
}


@pytest.mark.parametrize("total", ["N", "M"])
def test_a_name_with_an_index_stands_beside_a_number_of_that_letter(total):
    latex = rf"\mu_k = \frac{{1}}{{N_k}} \sum_{{n=1}}^{{{total}}} \gamma_{{nk}} x_n, \qquad N_k = \sum_n \gamma_{{nk}}"

    assert said(latex, f"x: vector({total})\n\\gamma: positive({total}, K)", "responsibilities(x, gamma)") == ""


def test_a_defined_number_and_a_defined_array_may_share_a_letter():
    latex = r"s = \frac{1}{m} \sum_v m_v^2, \quad m = \sum_v m_v, \quad m_v = \sum_k A_{vk}"

    assert said(latex, "A: positive(n, k)", "s == (A.sum(axis=1) ** 2).sum() / A.sum()") == ""


def test_a_matrix_of_which_only_the_diagonal_is_defined_is_diagonal():
    latex = r"B = D^{-\frac12} A D^{-1/2}, \qquad D_{ii} = \sum_j A_{ij}"

    assert said(latex, "A: positive(n, n)", "normalised(A)") == ""
    assert "differs" in said(latex.replace(r"\frac12", "1"), "A: positive(n, n)", "normalised(A)")


def test_a_power_of_any_other_matrix_is_ambiguous():
    assert "ambiguous: a power of a matrix" in said(r"B = A^{-1/2}", "A: positive(n, n)", "normalised(A)")


def test_code_may_give_the_diagonal_of_the_left_side():
    latex = r"h_{ii} = \bigl[ X X^\top \bigr]_{ii}"

    assert said(latex, "X: matrix(n, d)", "h == leverage(X)") == ""
    assert "differs" in said(latex.replace("h_{ii} =", "h_{ii} = 2"), "X: matrix(n, d)", "h == leverage(X)")


def test_a_positive_part_may_end_an_equation():
    assert said(r"L = [d(x, z)]_+, \qquad d(a, b) = \| a - b \|_1", "x, z: vector(n)", "hinge") == ""


def test_an_event_on_the_left_is_its_probability():
    latex = r"\Pr(X = k) = \binom{n}{k} p^k (1 - p)^{n - k}"

    assert said(latex, "n: int(5..9)\nk: int(0..5)\np: unit", "binomial(n, k, p)") == ""
    assert "differs" in said(
        latex.replace("(1 - p)^{n - k}", "p^{n - k}"), "n: int(5..9)\nk: int(0..5)\np: unit", "binomial"
    )


def test_an_inner_product_of_matrices_has_its_name():
    latex = r"\langle A, B \rangle_F = \operatorname{tr}(A^\top B) = \sum_{i,j} A_{ij} B_{ij}"

    assert said(latex, "A, B: matrix(m, n)", "frobenius(A, B)") == ""


def test_rows_multiplied_to_a_matrix_are_told_of_the_inner_product():
    latex, notation = r"e_{ij} = Q_i K_j^\top", "Q: matrix(n, d)\nK: matrix(n, d)"

    assert r"x^\top y or x \cdot y the inner one" in said(latex, notation, "e == Q @ K.T")
    assert said(r"e_{ij} = Q_i \cdot K_j", notation, "e == Q @ K.T") == ""


@pytest.mark.parametrize(
    "system",
    [
        r"\begin{cases} m_i = A_{ii} \\ y_i = 2 m_i \end{cases}",
        r"\left\{ \begin{aligned} m_i &= A_{ii} \\ y_i &= 2 m_i \end{aligned} \right.",
        r"\left\{ \begin{array}{l} m_i = A_{ii} \\ y_i = 2 m_i \end{array} \right.",
    ],
)
def test_a_brace_before_equations_makes_a_system(system):
    assert said(system, "A: matrix(n, n)", "y == 2 * A.diagonal()") == ""


def test_the_gradient_of_a_function_is_a_name():
    latex = r"y = x - \nabla f(x + z), \qquad \nabla f(q) = 2 q"

    assert said(latex, "x, z: vector(n)", "y == x - 2 * (x + z)") == ""


def test_pairs_under_a_sum_are_two_indices():
    latex = r"y = \sum_{(i, j): M_{ij} = 1} A_{ij}"

    assert said(latex, "A: matrix(m, n)\nM: binary(m, n)", "y == (A * M).sum()") == ""


def update(V, s, other):
    return V[s - 1] + V[other - 1]


def pooled(X):
    return X.reshape(3, 2, 2, 2).max(axis=(1, 3))


def predicted(F, x, z):
    return F @ x - (z - F @ x)


CODE |= {function.__name__: function for function in (update, pooled, predicted)}


def test_a_declared_whole_number_in_brackets_behind_a_vector_is_an_index():
    notation = "V: vector(n)\ns, s' as other: int(1..n)"

    assert said(r"V(s) \leftarrow V(s) + V(s')", notation, "update(V, s, other)") == ""


def test_a_size_in_brackets_behind_a_vector_is_a_factor():
    assert said(r"y = x(n)", "x: vector(n)", "y == n * x") == ""


def test_an_expectation_with_a_hat_is_the_mean_of_the_sample():
    assert said(r"y = \hat{\mathbb{E}}_t \left[ x_t \right]", "x: vector(n)", "y == x.mean()") == ""


def test_rows_under_an_operator_are_a_list():
    latex = r"Y_{i,j} = \max_{\substack{0 \le u < 2 \\ 0 \le v < 2}} X_{2i+u, 2j+v}"

    assert said(latex, "X: matrix(6, 4)", "Y == pooled(X)", base="0") == ""


def test_a_minus_alone_in_a_superscript_is_part_of_a_name():
    latex = r"x^- = F x, \qquad x^+ = x^- - (z - x^-)"

    assert said(latex, "F: matrix(n, n)\nx, z: vector(n)", "x^+ == predicted(F, x, z)") == ""


def test_a_minus_before_a_number_in_a_superscript_needs_braces():
    assert "write ^{...}" in said(r"y = x^-1", "x: scalar", "same(x)")


def test_a_list_of_numbers_makes_a_diagonal_matrix():
    latex = r"y = \operatorname{diag}(z_1, \ldots, z_n)\, x"

    assert said(latex, "x, z: vector(n)", "y == x * z") == ""


DECAY = r"h_t \leftarrow a h_{t-1} + x_t, \quad t = 1, 2, \ldots, n, \quad h_0 = 0"


def decay(x, a):
    h, out = 0.0, []
    for value in x:
        h = a * h + value
        out.append(h)
    return np.array(out)


CODE |= {"decay": decay, "np": np}


def test_an_arrow_between_elements_is_a_recurrence():
    assert said(DECAY, "x: vector(n)\na: unit", "h == decay(x, a)") == ""
    assert said(DECAY.replace("a h", "a^2 h"), "x: vector(n)\na: unit", "h == decay(x, a)") != ""


def test_an_arrow_to_the_same_element_is_an_assignment():
    assert said(r"x_i \leftarrow x_i + a", "x: vector(n)\na: unit", "x == x + a") == ""


def decay_back(x, a):
    return decay(x[::-1], a)[::-1]


CODE |= {"decay_back": decay_back}


@pytest.mark.parametrize("range_", [r"n-1, n-2, \ldots, 1", r"n - 1, \, n - 2, \, \ldots, \, 1", r"1, 2, \ldots, n-1"])
def test_a_range_with_dots_may_run_down(range_):
    latex = rf"h_n = x_n, \quad h_t = a h_{{t+1}} + x_t, \quad t = {range_}"

    assert said(latex, "x: vector(n)\na: unit", "h == decay_back(x, a)") == ""
    assert said(latex.replace("a h", "a^2 h"), "x: vector(n)\na: unit", "h == decay_back(x, a)") != ""


@pytest.mark.parametrize("range_", [r"n, n-2, \ldots, 1", r"n, n-1, n, \ldots, 1", r"n, n-1, n-3, \ldots, 1"])
def test_a_range_that_runs_down_takes_each_number(range_):
    assert "in steps of one" in said(rf"y_i = x_i, \quad i = {range_}", "x: vector(n)", "same")


@pytest.mark.parametrize("members", ["1, 3", "2, 1", "1, 2, 4"])
def test_dots_run_in_steps_of_one(members):
    fact = said(rf"y_i = x_i, \quad i = {members}, \ldots, n", "x: vector(n)\na: int(2..3)", "same")

    assert "in steps of one" in fact


def test_a_word_below_a_declared_letter_is_a_name_or_an_index_as_the_display_uses_it():
    notation = "x, z: vector(n)"

    assert said(r"x_{\text{new}} = 2x, \quad y = z + x_{\text{new}}", notation, "y == z + 2 * x") == ""
    assert said(r"x_{\text{new},i} = 2x_i", notation, "2 * x") == ""
    assert said(r"x_{\text{row}} = 2 z_{\text{row}}", notation, "x == 2 * z") == ""


def test_what_stands_above_is_an_index_where_the_display_says_so_and_a_power_elsewhere():
    assert said(r"y = \sum_j (z^j)^2, \quad z^j = x_j", "x: vector(n)", "y == x @ x") == ""
    assert said(r"y = \sum_{j=1}^{3} z^j, \quad z = x_1", "x: vector(n)", "y == x[0] + x[0] ** 2 + x[0] ** 3") == ""


@pytest.mark.parametrize("latex", [r"{x^2}^3", r"{x + a}^2"])
def test_braces_that_no_reader_sees_make_no_power_of_a_power(latex):
    assert said(rf"y = {latex}", "x, a: positive", "y == x**6") != ""


def test_the_expression_on_a_left_side_is_what_a_display_is_about():
    latex = r"\log Z = \log \sum_i p_i, \quad p_i = e^{x_i}"

    assert said(latex, "x: vector(n)", "np.log(np.exp(x).sum())") == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"x_q = 2x", "2 * x"),
        (r"x_c = x - a, \quad y = 2 x_c", "y == 2 * (x - a)"),
        (r"x^{(t+1)} = 2x", "2 * x"),
        (r"x_i^{(t+1)} = 2x_i", "2 * x"),
    ],
)
def test_a_script_that_stands_nowhere_else_makes_a_name_beside_a_declared_letter(latex, check):
    assert said(latex, "x: vector(n)\na: positive", check) == ""
    assert said(latex.replace("2", "3"), "x: vector(n)\na: positive", check) != ""


def test_a_letter_that_runs_or_has_a_value_makes_no_new_name():
    notation = "x: vector(n)\nq: int(1..3)"

    assert "defined by itself" in said(r"x_i = x_i + \sum_i x_i", notation, "x == 2 * x")
    assert said(r"x_q = 2x", notation, "2 * x") != ""


SYSTEM = r"\left\{ \begin{aligned} a &= 2x \\ b &= 3a \end{aligned} \right."


@pytest.mark.parametrize("latex", [rf"y = a + b, \quad {SYSTEM}", rf"{SYSTEM} \qquad y = a + b"])
def test_a_brace_before_equations_may_stand_anywhere(latex):
    assert said(latex, "x: vector(n)", "y == 8 * x") == ""


CASES = r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"


@pytest.mark.parametrize("before", ["y = \\\\", "y &= \\\\ &", "y = 2 \\cdot \\\\", r"y = 1 + \\ \quad"])
def test_a_brace_behind_an_open_equation_is_its_value(before):
    factor = 2 if "cdot" in before else 1
    start = 1 if "+" in before else 0
    check = f"{start} + {factor} * max(0.0, x)"

    assert said(rf"\begin{{aligned}} {before} {CASES} \end{{aligned}}", "x: scalar", check) == ""


def test_the_index_of_a_name_with_a_label_is_an_index():
    assert said(r"r_i^{(t+1)} = 2 r_i^{(t)}", "r^{(t)} as r: vector(n)", "2 * r") == ""


def test_a_left_side_that_is_known_is_compared_too():
    notation = "A, B: matrix(n, n)"
    right = r"\sum_{i,j} A_{ij} B_{ij}"

    assert said(rf"\langle A, B \rangle_F = {right}", notation, "(A * B).sum()") == ""
    assert said(rf"\langle A, B \rangle_F \operatorname{{tr}}(A^\top B) = {right}", notation, "(A * B).sum()") != ""


def degrees(A):
    return A.sum(axis=1)


def neighbours_mean(A, x):
    return A @ x / A.sum(axis=1)


def random_walk(A):
    roots = np.sqrt(A.sum(axis=1))
    return A / roots[:, None] / roots


CODE |= {function.__name__: function for function in (degrees, neighbours_mean, random_walk)}


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"d_i = \sum_j A_{ij}", "degrees"),
        (r"y_i = \frac{\sum_j A_{ij} x_j}{\sum_j A_{ij}}", "neighbours_mean"),
        (r"S = D^{-\frac12} A D^{-\frac12}, \quad D_{ii} = \sum_j A_{ij}", "S == random_walk(A)"),
        (r"y = D^{-1} A x, \quad D_{ii} = \sum_j A_{ij}", "y == neighbours_mean(A, x)"),
    ],
)
def test_a_mask_meant_as_zeros_and_ones_is_told_to_be_binary(latex, check):
    assert "declare one of 0 and 1 as binary" in said(latex, "A: mask(n, n)\nx: vector(n)", check)
    assert said(latex, "A: binary(n, n)\nx: vector(n)", check) == ""


@pytest.mark.parametrize(
    "around", ["1.5 * {}", "{} * 2", "{} + 1", "{} / 2", "{} ** 2", "-{}", "x - 0.5 * {}", "(3 * {})[0]"]
)
def test_a_number_around_the_call_is_not_trusted(around):
    text = said("y = 3x", "x: scalar", f"y == {around.format('same(x)')}")

    assert text.startswith("the check trusts the ")
    assert text.endswith("which stands in neither the equation nor the code; write it into one of them")


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"\frac{1}{y} = x", r"\frac{1}{y} == same(x)"),
        (r"y = \frac{1}{x}", "1 / same(x)"),
        ("y = ax", "y == a * same(x)"),
        ("y = 2x", "y == same(2 * x)"),
        ("y = 2x", "y == 2 * x"),
        ("y = x^2", "y == same(x) * same(x)"),
    ],
)
def test_what_is_no_number_around_it_may_stand_there(latex, check):
    assert said(latex, "x, a: scalar", check) == ""


def bounded(x):
    return max(x, -100.0)


def shortened(g, a):
    size = np.linalg.norm(g)
    return g if size <= a else g * a / size


def unbounded(x):
    return 1.0 * x


CODE |= {function.__name__: function for function in (bounded, shortened, unbounded)}


def test_a_part_of_a_maximum_that_never_decides_is_not_taken_for_checked():
    text = said(r"y = \max(x, -10^{20})", "x: scalar", "y == unbounded(x)")

    assert text.startswith("this part of max decides at none of 200 draws, so nothing of it is compared; choose other")


@pytest.mark.parametrize("kind", ["scalar", "int(-300..300)"])
def test_a_bound_far_from_most_numbers_is_reached(kind):
    assert said(r"y = \max(x, -100)", f"x: {kind}", "bounded") == ""
    assert said(r"y = \max\{x, -1000\}", f"x: {kind}", "bounded") != ""


def quantised(x, s, b):
    return s * np.clip(np.round(x / s), -(2 ** (b - 1)), 2 ** (b - 1) - 1)


CODE |= {"quantised": quantised}


@pytest.mark.parametrize("bits", ["2..8", "4..8", "6..12"])
def test_a_clip_by_a_power_is_compared_where_it_decides(bits):
    latex, names = r"y = s \operatorname{clip}(\lfloor x / s \rceil, -2^{b-1}, 2^{b-1} - 1)", f"b: int({bits})"

    assert said(latex, f"x: vector(n)\ns: positive\n{names}", "quantised") == ""
    assert said(latex.replace("} - 1)", "})"), f"x: vector(n)\ns: positive\n{names}", "quantised") != ""


def test_numbers_are_drawn_of_many_sizes_so_that_each_part_decides():
    latex = r"g \leftarrow \min\left(1, \frac{a}{\lVert g \rVert}\right) g"

    assert said(latex, "g: vector(n)\na: positive", "shortened(g, a)") == ""
    assert said(latex.replace("1,", "2,"), "g: vector(n)\na: positive", "shortened(g, a)") != ""
