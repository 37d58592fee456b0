"""Names decide and ambiguity fails: what one notation makes plain another makes a refusal, and its advice passes."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.kinds import read_kind

STRIDED = "x: vector(n)\nw: vector(k)\ns: int(2..3)"


def convolve(x, w, s):
    return np.array([w @ x[i : i + len(w)] for i in range(0, len(x) - len(w) + 1, s)])


def scaled_by_largest(x, z):
    return x.max() * z


def below(A):
    return A[1:]


def scores(Q, K):
    return Q @ K.T / np.sqrt(Q.shape[1])


def softmax(x):
    return np.exp(x) / np.exp(x).sum()


def same(x):
    return 1.0 * x


CODE = {function.__name__: function for function in (convolve, scaled_by_largest, below, scores, softmax, same)}


def said(latex, notation, check, **options):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, notation, check, CODE, **options).text
    except EquationError as error:
        return error.text


@pytest.mark.parametrize("index", ["si+j", "is+j", r"s \cdot i + j", "s i + j"])
def test_a_declared_number_beside_an_index_is_a_product(index):
    assert said(rf"y_i = \sum_{{j=0}}^{{k-1}} w_j x_{{{index}}}", STRIDED, "convolve", base="0") == ""


def test_two_running_indices_side_by_side_are_no_product():
    text = said(r"y_i = \sum_{j=0}^{k-1} w_j x_{ij+1}", STRIDED, "convolve", base="0")

    assert "ij is a product, several indices or one word" in text


def test_a_number_within_the_subscript_of_a_matrix_is_ambiguous():
    assert "write 1,j for two indices" in said("y_{ij} = A_{i+1j}", "A: matrix(n, m)", "y == below(A)")


def test_a_comma_parts_the_indices_of_a_matrix():
    assert said("y_{ij} = A_{i+1,j}", "A: matrix(n, m)", "y == below(A)") == ""


def test_a_number_within_the_subscript_of_a_vector_is_a_product():
    assert said("y_i = x_{i+1i-i}", "x: vector(n)", "y == same(x)") == ""


BOTH = "x, z: vector(n)"


@pytest.mark.parametrize("body", [r"\max_j(x_j) z_i", r"\max_j (x_j) \cdot z_i", r"\max_i(x_i) z_i"])
def test_a_factor_behind_the_brackets_of_a_maximum_is_ambiguous(body):
    assert "does max take the bracket or the whole product?" in said(
        f"y_i = {body}", BOTH, "y == scaled_by_largest(x, z)"
    )


def test_a_maximum_in_brackets_takes_no_factor():
    assert said(r"y_i = (\max_j x_j) z_i", BOTH, "y == scaled_by_largest(x, z)") == ""


def test_a_factor_that_only_the_maximum_can_index_belongs_to_it():
    assert said(r"y = \max_j (x_j - 1) z_j", BOTH, "y == ((x - 1) * z).max()") == ""


def test_a_label_of_a_number_is_to_be_declared():
    text = said(r"A = \frac{QK^\top}{\sqrt{d_k}}", "Q, K: matrix(n, d)", "scores")

    assert text == "d_k is not declared, and d is a number, which has no index; declare d_k"


def test_the_declared_label_passes():
    assert said(r"A = \frac{QK^\top}{\sqrt{d_k}}", "Q, K: matrix(n, d_k)", "scores") == ""


def test_a_missing_macro_of_a_known_function_is_named_as_one():
    assert said(r"y = \softmax(x)", "x: vector(n)", "softmax").endswith(r"write \operatorname{softmax} or add a macro")


def test_a_slip_in_a_command_is_named():
    assert r"did you mean \operatorname?" in said(r"y = \operatorame{softmax}(x)", "x: vector(n)", "softmax")


def test_dots_in_a_matrix_are_a_list_or_refused():
    row = r"y = \begin{pmatrix} x_1 & \cdots & x_n \end{pmatrix}"

    assert r"write a list [x_1, \ldots, x_n]" in said(row, "x: vector(n)", "y == same(x)")


def test_a_list_with_dots_is_what_it_stands_for():
    assert said(r"y = [x_1, \ldots, x_n]", "x: vector(n)", "y == same(x)") == ""


def adapted(x, W, A, B):
    return W @ x + B @ (A @ x)


def scaled(A, Delta):
    return Delta * A


def backed_up(V, P):
    return P @ V


def stepped(M, r):
    return M @ r


def product(x, y):
    return x @ y


def row_of(Q, s):
    return Q[s - 1]


def dropout(x, keep, p):
    return x * keep / (1 - p)


def running(x):
    """For one sequence only: it would sum the rows of a matrix."""
    return np.cumsum(x, axis=0)


CODE |= {
    function.__name__: function for function in (adapted, scaled, backed_up, stepped, product, row_of, dropout, running)
}
ADAPTED = "x: vector(k)\nW: matrix(d, k)\nB: matrix(d, r)\nA: matrix(r, k)"


def test_a_change_of_a_name_is_one_name_where_it_is_defined():
    assert said(r"h = W x + \Delta W x, \quad \Delta W = B A", ADAPTED, "adapted") == ""


def test_a_change_of_a_name_is_one_name_where_it_is_declared():
    assert said(r"y_i = \sum_j \Delta W_{ij} x_j", "x: vector(n)\n\\Delta W: matrix(m, n)", "y == Delta_W @ x") == ""


def test_a_change_of_a_name_that_nothing_knows_is_one_name():
    assert said(r"h = W x + \Delta W x", ADAPTED, "adapted").startswith(r"\Delta W is not declared")


def test_a_declared_delta_is_a_factor():
    assert said(r"y = \Delta A", "\\Delta: scalar\nA: matrix(n, n)", "scaled") == ""


def test_a_primed_array_on_the_left_takes_its_index_in_brackets():
    notation = "V: vector(n)\nP: matrix(n, n)"

    assert said("V'(s) = \\sum_{s'} P(s, s') V(s')", notation, "backed_up") == ""
    assert "differs" in said("V'(s) = \\sum_{s'} P(s', s) V(s')", notation, "backed_up")


def test_a_version_of_a_declared_name_is_to_be_declared():
    text = said("r^{(t+1)} = M r^{(t)} + r", "M: matrix(n, n)\nr: vector(n)", "stepped")

    assert "declare r^{(t)} instead" in text


def test_a_declared_version_passes():
    assert said("r^{(t+1)} = M r^{(t)}", "M: matrix(n, n)\nr^{(t)} as r: vector(n)", "stepped") == ""


def test_one_as_for_several_names_is_ambiguous():
    text = said(r"z = a^\top b", "a, b as x, y: vector(n)", "product")

    assert "write 'a as x, b as y', or a line for each, or 'b as x, a, y'" in text


def test_an_as_for_each_name_passes():
    assert said(r"z = a^\top b", "a as x, b as y: vector(n)", "product") == ""


def test_as_many_marks_as_arguments_stand_for_them_in_their_order():
    latex, notation = r"z = f(x, y)", "x, y: vector(n)\nf = "
    code = {"weighed": lambda x, y: x @ y**2}

    assert checked(latex, f"{notation}weighed(_, _)", "x @ y**2", code).text == ""
    assert "differs" in checked(latex, f"{notation}weighed(_, _)", "y @ x**2", code).text
    assert "differs" in checked(latex, f"{notation}weighed(_2, _1)", "x @ y**2", code).text
    for other in ("_ @ _ * _", "_ @ _1", "_ @ x"):
        assert "write _1, _2 where each goes" in checked(latex, notation + other, "x @ y**2", code).text


def test_an_index_fills_no_parameter():
    text = said("z_s = Q_s", "Q: vector(n)\ns: index(1..n)", "row_of")

    assert text.endswith("declare it as a number: 's: int(1..n)'")


def test_a_number_fills_a_parameter_and_is_an_index():
    assert said("z = Q_s", "Q: vector(n)\ns: int(1..n)", "row_of") == ""


def test_a_mask_of_zeros_and_ones_is_binary():
    latex = r"y = \frac{m \odot x}{1 - p}"

    assert "declare one of 0 and 1 as binary" in said(
        latex, "x: matrix(n, d)\nm as keep: mask(n, d)\np: unit", "dropout"
    )
    assert said(latex, "x: matrix(n, d)\nm as keep: binary(n, d)\np: unit", "dropout") == ""


def test_code_that_takes_one_row_is_called_by_its_arguments():
    latex = r"y_i = \sum_{j=1}^{i} x_j"

    assert "if the code takes one only, write the call: 'running(x)'" in said(latex, "x: vector(n)", "running")
    assert said(latex, "x: vector(n)", "running(x)") == ""


def picked(E, ids):
    return E[ids]


CODE["picked"] = picked


def test_code_that_counts_from_zero_says_so():
    notation = "E: matrix(V, d)\ns as ids: ints(n, V)"

    assert "write ':base: 0', or ids - 1 in the call" in said("y_i = E_{s_i}", notation, "picked")
    assert said("y_i = E_{s_i}", notation, "picked(E, ids - 1)") == ""
    assert said("y_i = E_{s_i}", notation, "picked", base="0") == ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("vector(d)", "vector (d)"),
        ("posdef(n)", "positive definite matrix (n, n)"),
        ("positive", "positive number"),
        ("unit(d//2)", "numbers between 0 and 1 (d//2)"),
        ("ints(T, V)", "integers below V (T)"),
        ("int(1000..9000)", "integer"),
        ("index(0..T-1)", "index, 0 to T-1"),
        ("dim(even)", "size, even"),
        ("mask(n, m)", "mask (n, m)"),
    ],
)
def test_a_reader_is_told_in_words_what_a_symbol_is(written, said):
    assert read_kind(written).said == said


def objective(x, y, a):
    return (x**2).sum() + a * (y**2).sum()


def moved(x, y, a):
    return x - a * y


def huber(x, a):
    return np.where(np.abs(x) <= a, x**2 / 2, a * (np.abs(x) - a / 2)).mean()


def randomness(Z):
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    return -(P * np.log(P)).sum()


LABELLED = "x, y: vector(n)\na: positive\ns, l: scalar\nZ: matrix(n, m)"
PARTS = r"\sum_i x_i^2 + a \sum_i y_i^2"
HUBER = r"\begin{cases} \frac12 u^2 & |u| \le a \\ a (|u| - \frac12 a) & \text{otherwise} \end{cases}"


@pytest.mark.parametrize(
    ("latex", "code"),
    [
        (rf"\mathcal{{L}}_{{split}} = {PARTS}", objective),
        (r"L_{tot} = L_{cls} + a L_{reg}, \quad L_{cls} = \sum_i x_i^2, \quad L_{reg} = \sum_i y_i^2", objective),
        (r"x_{new} = x - a y", moved),
        (r"x_{new} = x_{old} - a y, \quad x_{old} = x", moved),
        (rf"L = \frac1n \sum_i L_a(x_i), \quad L_a(u) = {HUBER}", huber),
        (rf"\ell_a(u) = {HUBER}, \quad \ell = \frac1n \sum_i \ell_a(x_i)", huber),
        (r"J_\pi(\phi) = -\sum_{b,k} \pi_{bk} \log \pi_{bk}, \quad \pi_{bk} = \frac{e^{Z_{bk}}}{\sum_j e^{Z_{bj}}}",
         randomness),
        (r"H_p = -\sum_{b,k} p_{bk} \log p_{bk}, \quad p_{bk} = \frac{e^{Z_{bk}}}{\sum_j e^{Z_{bj}}}", randomness),
    ],
)  # fmt: skip
def test_a_script_that_can_be_no_index_is_part_of_the_name(latex, code):
    check = "" if code is not huber else "L == huber(x, a)" if latex.startswith("L") else r"\ell == huber(x, a)"
    verdict = checked(latex, LABELLED, check or code.__name__, {code.__name__: code})

    assert verdict.text == ""


def test_letters_that_all_stand_for_something_are_indices_and_the_message_says_how_they_are_a_name():
    verdict = checked(rf"L_{{is}} = {PARTS}", LABELLED, "objective", {"objective": objective})
    named = checked(rf"L_{{\text{{is}}}} = {PARTS}", LABELLED, "objective", {"objective": objective})

    assert "if it is part of a name, write \\text{...}" in verdict.text
    assert named.text == ""


def warmup(step_num, warmup_steps):
    return min(step_num**-0.5, step_num * warmup_steps**-1.5)


@pytest.mark.parametrize(
    "latex",
    [
        r"lrate = \min(step\_num^{-0.5}, step\_num \cdot warmup\_steps^{-1.5})",
        r"learning\_rate = \min(\mathrm{step\_num}^{-0.5}, \mathit{step\_num} \cdot \text{warmup\_steps}^{-1.5})",
        r"\text{learning\_rate} = \min(\texttt{step\_num}^{-0.5}, 1.0 step\_num\,warmup\_steps^{-1.5})",
    ],
)
def test_a_word_may_have_an_underscore(latex):
    notation = r"step\_num, \mathrm{warmup\_steps}: int(1..4000)"

    assert checked(latex, notation, "warmup", {"warmup": warmup}).text == ""
    assert checked(latex.replace("-1.5", "-0.5"), notation, "warmup", {"warmup": warmup}).text != ""


def distance(x, y):
    return np.linalg.norm(x - y)


def rotated(x):
    return np.stack([-x[1::2], x[::2]], axis=1).ravel()


CODE |= {"distance": distance, "rotated": rotated}


def test_a_size_that_only_a_shape_names_may_be_a_function_here():
    assert said(r"d(x, y) = \lVert x - y \rVert", "x, y: vector(d)", "distance(x, y)") == ""
    assert "give one of both another letter" in said(
        r"d(x, y) = \lVert x - y \rVert / d", "x, y: vector(d)", "distance(x, y)"
    )


def test_a_column_of_elements_of_one_array_is_no_column_of_names():
    left = r"\begin{pmatrix} y_{2i-1} \\ y_{2i} \end{pmatrix}"
    right = r"\begin{pmatrix} 0 & -1 \\ 1 & 0 \end{pmatrix} \begin{pmatrix} x_{2i-1} \\ x_{2i} \end{pmatrix}"

    assert said(rf"{left} = {right}", "x: vector(2*h)", "y == rotated(x)") == ""


def divergence(mu, logvar):
    return -0.5 * np.sum(1 + logvar - mu**2 - np.exp(logvar))


def preferred(new, old, beta):
    return beta * (new - old)


def stacked(X):
    return np.concatenate(list(X))


CODE |= {"divergence": divergence, "preferred": preferred, "stacked": stacked}


def test_what_is_declared_by_its_logarithm_is_the_exponential_of_that():
    notation = r"\mu, \log \sigma^2 as logvar: vector(k)"
    latex = r"D = -\frac12 \sum_j (1 + \log \sigma_j^2 - \mu_j^2 - \sigma_j^2)"

    assert said(latex, notation, "divergence(mu, logvar)") == ""
    assert "differs" in said(latex.replace(r"- \sigma_j^2", r"+ \sigma_j^2"), notation, "divergence(mu, logvar)")


def test_a_logarithm_may_be_declared_at_its_argument():
    notation = (
        r"\log \pi_\theta(y \mid x) as new, \log \pi_{\text{ref}}(y \mid x) as old: scalar" + "\n\\beta: positive"
    )
    ratio = r"L = \beta \log \frac{\pi_\theta(y \mid x)}{\pi_{\text{ref}}(y \mid x)}"
    apart = r"L = \beta (\log \pi_\theta(y \mid x) - \log \pi_{\text{ref}}(y \mid x))"

    assert said(ratio, notation, "preferred") == said(apart, notation, "preferred") == ""


def test_dots_between_semicolons_stand_for_parts_one_above_the_other():
    assert said(r"Y = [X_1; \ldots; X_h]", "X: tensor(h, n, d)", "stacked(X)") == ""
    assert said(r"Y = [X_1; X_2; \ldots; X_h]", "X: tensor(h, n, d)", "stacked(X)") == ""


def perplexity(p):
    return np.exp(-np.log(p).mean())


def likelihood(p):
    return p.prod()


def bound(w):
    return np.log(w.mean())


CODE |= {"perplexity": perplexity, "likelihood": likelihood, "bound": bound}


@pytest.mark.parametrize(
    "past", ["x_{<t}", "x_{1:t-1}", r"x_1, \ldots, x_{t-1}", r"x_{<t}, z", "z"], ids=["<", ":", "dots", "and z", "z"]
)
def test_what_came_before_an_element_says_nothing_more(past):
    latex = rf"L(x) = \prod_{{t=1}}^T p_\theta(x_t \mid {past})"

    assert said(latex, r"p_\theta as p: unit(T)", "likelihood(p)") == ""
    assert "differs" in said(latex.replace("t=1", "t=2"), r"p_\theta as p: unit(T)", "likelihood(p)")


def test_an_element_beside_another_is_no_element():
    text = said(r"L = \prod_t p_\theta(x_t \mid x_{t-1})", r"p_\theta as p: unit(T)", "likelihood(p)")

    assert text.endswith(r"write its element, as in {p_{\theta}}_i")
    assert said(r"L = \prod_t {p_{\theta}}_{t}", r"p_\theta as p: unit(T)", "likelihood(p)") == ""


def test_a_stretch_of_letters_on_the_left_says_what_it_is_about():
    latex = r"\mathrm{PPL}(x_{1:T}) = \exp(-\frac{1}{T} \sum_{t=1}^T \log p(x_t \mid x_{<t}))"

    assert said(latex, "p: unit(T)", "perplexity(p)") == ""


def test_a_logarithm_takes_the_mean_that_a_share_and_a_sum_are():
    assert said(r"L = \log \frac{1}{K} \sum_{k=1}^K w_k", "w: positive(K)", "bound(w)") == ""
    assert "what does log take?" in said(r"L = \log \frac{a}{K} \sum_k w_k", "w: positive(K)\na: positive", "bound(w)")


def test_a_remark_on_how_a_value_is_drawn_has_the_message_of_its_sign():
    text = said(r"y = x + z, \quad z \sim \mathcal{N}(0, I)", "x, z: vector(n)", "product")

    assert text.startswith(r"\sim says how a value is drawn")


def denoised(x, eps, a):
    return (x - np.sqrt(1 - a) * eps) / np.sqrt(a)


CODE["denoised"] = denoised


def test_a_list_behind_a_vector_says_what_the_vector_is_of():
    notation = "x_t as x, \\epsilon_\\theta as eps: vector(d)\na: unit"
    latex = r"x_0 = \frac{x_t - \sqrt{1 - a} \, \epsilon_\theta(x_t, t)}{\sqrt{a}}"

    assert said(latex, notation, "denoised") == ""
    assert said(f"{latex} + 0 \\epsilon_\\theta(x_t, s)", notation, "denoised") != ""


def test_names_that_no_code_has_leave_one_reading_of_an_as():
    notation = "x, z as u, \\bar{y}: vector(k)\nW: matrix(d, k)"

    assert said(r"y = W (x + z - \bar{y})", notation, "y == W @ (x + u - bar_y)") == ""


def kernel(u, v):
    return np.exp(-((u - v) ** 2).sum())


def predicted(x, y, z):
    return np.array([kernel(row, z) for row in x]) @ y


CODE |= {"kernel": kernel, "predicted": predicted}


@pytest.mark.parametrize("left", [r"(\mathbf{k}_*)_i", r"[\mathbf{k}_*]_i"])
def test_a_name_in_brackets_with_an_index_is_none_of_the_function_of_its_letter(left):
    notation = "x: matrix(n, d)\ny: vector(n)\nz: vector(d)\nk = kernel(_1, _2)"
    latex = rf"\mu = \mathbf{{k}}_*^\top y, \quad {left} = k(x_i, z)"

    assert said(latex, notation, "predicted") == ""
    assert "differs" in said(latex.replace("k(x_i, z)", "k(x_i, 2z)"), notation, "predicted")


def test_an_element_in_brackets_is_no_name_of_its_own():
    assert said(r"y = x_2, \quad [x_2]_i = x_{1,i}, \quad i = 1, \ldots, d", "x: matrix(n, d)", "y == x[1]") != ""
