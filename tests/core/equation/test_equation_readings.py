r"""Scripts that no other reading leaves: \alpha_0 that the display gives, and the like."""

import numpy as np
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError


def covariance(alpha):
    total = alpha.sum()
    mean = alpha / total
    return (np.diag(mean) - np.outer(mean, mean)) / (total + 1)


def shares(a):
    return a / a.sum()


def steps(x):
    return np.diff(x, prepend=0)


def larger(x, y):
    return (x > y[:, None]).sum(1)


def others(x):
    return x * ((x > x[:, None]).sum(1) / len(x))


def averaged(w, n):
    return n @ w / n.sum()


def norms(w):
    return np.linalg.norm(w.reshape(len(w), -1), axis=1)


def geometric(D):
    return D + D @ D


def neighbours(h, near, W):
    mean = near @ h / near.sum(axis=1, keepdims=True)
    return np.tanh(h @ W + mean)


def around(h, near):
    return near @ h / near.sum(axis=1, keepdims=True)


def scattered(x, k):
    return np.bincount(k, x, len(x))


def gradient(X, T, W, decay):
    Y = np.exp(X @ W.T)
    return (Y / Y.sum(axis=1, keepdims=True) - T).T @ X + decay * W


def stepped(z, g, a):
    return z - a * g


def shrunk(x, a, b):
    return np.sign(x) * np.maximum(np.abs(x) - a * b, 0)


def projected(X, W_q, W_o):
    return sum(X @ one @ other for one, other in zip(W_q, W_o, strict=True))


def normalised(x):
    return np.exp(x) / np.exp(x).sum()


def weighted(f, log_p, log_q):
    w = np.exp(log_p - log_q)
    return (w * f).sum() / w.sum()


def doubled(x):
    return 2 * x


def waves(x, w, b):
    return np.cos(w @ x + b)


def dependence(K, L):
    m = len(K)
    H = np.eye(m) - 1 / m
    return np.trace(K @ H @ L @ H) / (m - 1) ** 2


def joined(A, B):
    return A @ np.tri(A.shape[1], len(B)) @ B


def bound(log_p, log_q):
    return np.log(np.exp(log_p - log_q).mean())


def cut(x, a):
    return max(1 - a, 0) * x


CODE = {name: value for name, value in globals().items() if callable(value) and name != "checked"} | {"np": np}


def said(latex, notation, check, **options):
    try:
        return checked(latex, notation, check, CODE, **options).text
    except EquationError as error:
        return error.text


def test_what_is_given_at_0_beside_an_array_is_a_name_of_its_own():
    latex = (
        r"C_{jk} = \frac{m_j \delta_{jk} - m_j m_k}{\alpha_0 + 1}, \quad m_k = \frac{\alpha_k}{\alpha_0}, \quad "
        r"\alpha_0 = \sum_{k=1}^K \alpha_k"
    )
    notation = r"\alpha: positive(K)"

    assert said(latex, notation, "C == covariance(alpha)") == ""
    assert "differs" in said(latex.replace(r"{\alpha_0 + 1}", r"{\alpha_0}"), notation, "C == covariance(alpha)")
    assert "differs" in said(latex.replace(r"{\alpha_0 + 1}", r"{\alpha_1 + 1}"), notation, "C == covariance(alpha)")


def test_where_indices_count_from_0_it_is_an_element_as_well():
    latex, notation = r"y_k = a_k / a_0, \quad a_0 = \sum_k a_k", "a: positive(n)"

    assert said(latex, notation, "y == shares(a)") == ""
    assert said(latex, notation, "y == shares(a)", base="0").startswith("ambiguous: a_0 is given here, and an element")
    assert said(latex.replace("a_0", "s"), notation, "y == shares(a)", base="0") == ""


def test_what_an_index_reaches_at_0_is_no_such_name():
    assert said(r"y_t = x_t - x_{t-1}, \quad x_0 = 0", "x: vector(n)", "y == steps(x)") != ""


def test_bars_around_a_described_set_count_its_members():
    notation = "x, y: vector(n)\na: positive"

    for latex in (r"u_i = |\{ j : x_j > y_i \}|", r"u_i = \left| \{ j \mid x_j > y_i \} \right|"):
        assert said(latex, notation, "u == larger(x, y)") == ""
        assert "differs" in said(latex.replace(">", "<"), notation, "u == larger(x, y)")
        assert said(latex.replace("j", "i"), notation, "u == larger(x, y)") != ""
    assert said(r"u_i = \frac{x_i}{n} \lvert \{ j \ne i : x_j > x_i \} \rvert", notation, "u == others(x)") == ""
    assert said(r"c = |\{ j : x_j > y_k \}|", notation, "c == larger(x, y)").startswith("the index")
    assert said(r"u_i = |\{ a : a > y_i \}|", notation, "u == larger(x, y)") != ""


def test_a_letter_that_runs_above_what_has_no_power_is_an_index():
    latex = r"v = \sum_{k=1}^K \frac{n_k}{m} w_{t+1}^k, \quad m = \sum_{k=1}^K n_k"
    notation = "w_{t+1} as w: matrix(K, d)\nn: positive(K)"

    assert said(latex, notation, "v == averaged(w, n)") == ""
    assert "differs" in said(latex.replace(r"\frac{n_k}{m}", r"\frac{m}{n_k}"), notation, "v == averaged(w, n)")
    assert said(latex.replace("w_{t+1}^k", "w_{t+1}^1"), notation, "v == averaged(w, n)") != ""
    for kind in ("matrix(K, d)", "tensor(K, d, d)"):
        assert said(r"y_k = \lVert w^k \rVert_F", f"w: {kind}", "y == norms(w)") == ""
        assert "differs" in said(r"y_k = \lVert w^k \rVert_F^2", f"w: {kind}", "y == norms(w)")


def test_above_a_square_matrix_it_is_an_index_in_brackets():
    latex, notation = (
        r"v = \sum_{k=1}^K \frac{n_k}{m} w^k, \quad m = \sum_{k=1}^K n_k",
        "w: matrix(K, K)\nn: positive(K)",
    )

    assert said(latex, notation, "v == averaged(w, n)") == (
        r"ambiguous: k above the matrix w is a power or an index; write w^{(k)} for the index, w^{\odot k} for powers "
        "of its elements"
    )
    assert said(latex.replace("w^k", "w^{(k)}"), notation, "v == averaged(w, n)") == ""
    assert "differs" in said(latex.replace("w^k", "w_{:,k}"), notation, "v == averaged(w, n)")
    assert said(r"S = \sum_{k=1}^2 D^k", "D: diagonal(n)", "S == geometric(D)") == ""
    assert "differs" in said(r"S = \sum_{k=1}^3 D^k", "D: diagonal(n)", "S == geometric(D)")


def test_a_set_below_a_name_tells_it_apart():
    notation = "h^{k-1} as h: matrix(n, d)\nN as near: set(n, n)\nW: matrix(d, d)"
    for at in ("N(v)", "N_v"):
        latex = (
            rf"h^k_{{{at}}} = \frac{{1}}{{|N(v)|}} \sum_{{u \in N(v)}} h^{{k-1}}_u, \quad "
            rf"h^k_v = \tanh(h^{{k-1}}_v W + h^k_{{{at}}})"
        )

        assert said(latex, notation, "h^k == neighbours(h, near, W)") == ""
        assert said(latex, notation, "h^k == neighbours(h, near, W)\nh^k_N == around(h, near)") == ""
        assert "differs" in said(latex.replace(r"\frac{1}{|N(v)|} ", ""), notation, "h^k == neighbours(h, near, W)")
        assert "differs" in said(latex.replace(r"W + h", r"W - h"), notation, "h^k == neighbours(h, near, W)")


def test_an_index_below_a_left_side_is_no_set():
    text = said("w_{k_i} = x_i", "x: vector(d)\nk: ints(d, d)", "w == scattered(x, k)")

    assert text.startswith("w is given at an element of k, which no letter runs over")


def test_a_gradient_by_an_element_is_an_element():
    notation = "x as X: matrix(N, D)\nt as T: onehot(N, K)\nw as W: matrix(K, D)\n\\lambda as decay: positive"
    latex = (
        r"\nabla_{\mathbf{w}_k} E = \sum_{n=1}^N (y_{nk} - t_{nk}) \mathbf{x}_n + \lambda \mathbf{w}_k, \quad "
        r"y_{nk} = \frac{\exp(\mathbf{w}_k^\top \mathbf{x}_n)}{\sum_j \exp(\mathbf{w}_j^\top \mathbf{x}_n)}"
    )

    for left in (r"\nabla_{\mathbf{w}_k} E", r"\frac{\partial E}{\partial \mathbf{w}_k}"):
        own = latex.replace(r"\nabla_{\mathbf{w}_k} E", left)
        assert said(own, notation, "gradient(X, T, W, decay)") == ""
        assert said(own, notation, f"{left} == gradient(X, T, W, decay)") == ""
        assert "differs" in said(
            own.replace("y_{nk} - t_{nk}", "t_{nk} - y_{nk}"), notation, "gradient(X, T, W, decay)"
        )


def test_a_declared_gradient_has_elements():
    notation = "z: vector(n)\n\\nabla_z L as g: vector(n)\na: positive"

    assert said(r"u_i = z_i - a \nabla_{z_i} L", notation, "u == stepped(z, g, a)") == ""
    assert "differs" in said(r"u_i = z_i + a \nabla_{z_i} L", notation, "u == stepped(z, g, a)")
    assert said(r"u = z - a \nabla_{z_i} L", notation, "u == stepped(z, g, a)").startswith("the index i runs nowhere")


def test_a_product_below_a_function_is_its_one_parameter():
    notation = "x: vector(n)\na, b: positive"
    for given in (
        r"[S_\tau(z)]_i = \operatorname{sign}(z_i) (|z_i| - \tau)_+",
        r"(S_\tau(z))_i = \operatorname{sign}(z_i) (|z_i| - \tau)_+",
        r"S_\tau(z) = \operatorname{sign}(z) \odot \max(|z| - \tau, 0)",
    ):
        for product in ("ab", "b a", r"a \cdot b", r"\frac{2ab}{2}"):
            latex = rf"y = S_{{{product}}}(x), \quad {given}"
            assert said(latex, notation, "y == shrunk(x, a, b)") == ""
        assert "differs" in said(rf"y = S_a(x), \quad {given}", notation, "y == shrunk(x, a, b)")
        assert "differs" in said(rf"y = S_{{a + b}}(x), \quad {given}", notation, "y == shrunk(x, a, b)")


def test_a_function_has_as_many_parameters_below_as_it_is_given_with():
    given, notation = r"S_\tau(z) = \operatorname{sign}(z) \odot \max(|z| - \tau, 0)", "x: vector(n)\na, b: positive"

    assert said(rf"y = S_{{a,b}}(x), \quad {given}", notation, "y == shrunk(x, a, b)") == (
        r"S_{a,b}(x) has 2 indices, and S_{\tau} is given with 1; write as many, and a product with \cdot"
    )
    other = given.replace(r"S_\tau", r"S_{\tau,r}").replace(r"- \tau", r"- \tau r")
    assert said(rf"y = S_{{a,b}}(x), \quad {other}", notation, "y == shrunk(x, a, b)") == ""
    assert said(rf"y = S_{{ab}}(x), \quad {other}", notation, "y == shrunk(x, a, b)") == ""


def test_an_array_may_be_declared_with_the_letter_of_its_index():
    notation = "X: matrix(n, d)\nW_i^Q as W_q: tensor(h, d, k)\nW_i^O as W_o: tensor(h, k, d)"
    for letter in "ij":
        latex = rf"Y = \sum_{{{letter}=1}}^h X W_{letter}^Q W_{letter}^O"
        assert said(latex, notation, "Y == projected(X, W_q, W_o)") == ""
        assert "differs" in said(latex.replace("^h", "^2"), notation, "Y == projected(X, W_q, W_o)")
        assert said(latex.replace(f"W_{letter}^O", "W_1^O"), notation, "Y == projected(X, W_q, W_o)") != ""
    latex = r"p_i = \frac{\exp(x_i)}{\sum_{j=1}^n \exp(x_j)}"
    assert said(latex, "x_i as x: vector(n)", "p == normalised(x)") == ""
    assert said(latex.replace("x_j", "x_i"), "x_i as x: vector(n)", "p == normalised(x)") != ""


def test_an_array_may_be_declared_at_an_argument_with_the_letter_of_its_index():
    notation = r"f(x_i) as f: vector(n)" + "\n" + r"\log p(x_i) as log_p, \log q(x_i) as log_q: vector(n)"
    latex = (
        r"m = \frac{\sum_{i=1}^n w_i f(x_i)}{\sum_{j=1}^n \exp(\log p(x_j) - \log q(x_j))}, \quad "
        r"w_i = \frac{p(x_i)}{q(x_i)}"
    )

    assert said(latex, notation, "m == weighted(f, log_p, log_q)") == ""
    assert "differs" in said(
        latex.replace(r"\log p(x_j) - \log q", r"\log q"), notation, "m == weighted(f, log_p, log_q)"
    )
    beside = latex.replace("p(x_", "p(y, x_").replace("q(x_i)", r"q(x_i \mid y)").replace("q(x_j)", r"q(x_j \mid y)")
    declared = notation.replace("p(x_i)", "p(y, x_i)").replace("q(x_i)", r"q(x_i \mid y)")
    assert said(beside, declared, "m == weighted(f, log_p, log_q)") == ""
    assert said(beside.replace("y, x_j", "x_j, y"), declared, "m == weighted(f, log_p, log_q)") != ""
    assert said(latex.replace("w_i f(x_i)", "w_i f(x_1)"), notation, "m == weighted(f, log_p, log_q)") != ""


def test_a_letter_that_runs_nowhere_is_no_index():
    assert said("u = 2 x_t", "x_t as x: vector(n)", "u == doubled(x)") == ""
    assert said(r"u = \sum_{i=1}^2 x_t", "x_t as x: vector(n)", "u == doubled(x)") == ""
    assert "differs" in said("u = 3 x_t", "x_t as x: vector(n)", "u == doubled(x)")


def test_a_plus_below_letters_that_stand_nowhere_else_makes_no_margin():
    notation, check = "x: vector(n)", r"\hat{\theta}_{JS+} == doubled(x)"

    assert said(r"\hat{\theta}_{JS+} = 2x", notation, check) == ""
    assert "differs" in said(r"\hat{\theta}_{JS+} = 3x", notation, check)
    assert said(r"u = \theta_{JS+}, \quad \theta_{JS+} = 2x", notation, "u == doubled(x)") == ""


def test_a_prime_in_a_list_with_dots_leads_to_a_transpose():
    latex = r"z = [\cos(w_1' x + b_1), \ldots, \cos(w_D' x + b_D)]'"
    notation = "x: vector(d)\nw: matrix(D, d)\nb: vector(D)"

    assert said(latex, notation, "z == waves(x, w, b)").endswith(r"for the transpose write w_1^\top")
    latex = latex.replace("1'", r"1^\top").replace("D'", r"D^\top")
    assert said(latex, notation, "z == waves(x, w, b)") == ""
    assert said(latex.replace("]'", r"]^\top"), notation, "z == waves(x, w, b)") == ""
    assert "differs" in said(latex.replace("]'", r"]^\top").replace("+ b_", "- b_"), notation, "z == waves(x, w, b)")


def test_a_matrix_between_two_has_the_sizes_that_they_leave():
    latex = r"D = (m - 1)^{-2} \operatorname{tr}(K H L H), \quad H_{ij} = \delta_{ij} - m^{-1}"
    assert said(latex, "K, L: symmetric(m)", "dependence(K, L)") == ""
    assert "differs" in said(latex.replace("m^{-1}", "m^{-2}"), "K, L: symmetric(m)", "dependence(K, L)")

    latex, notation = r"Y = A T B, \quad T_{ij} = \mathbb{1}[j \le i]", "A: matrix(n, k)\nB: matrix(l, m)"
    assert said(latex, notation, "Y == joined(A, B)") == ""
    assert "differs" in said(latex.replace("j \\le i", "i \\le j"), notation, "Y == joined(A, B)")
    assert said(latex.replace("A T B", "A T"), notation, "Y == joined(A, B)").startswith("the index i has no range")


def test_what_is_declared_at_another_argument_is_declared_where_it_is_read():
    notation = r"\log p(y, x) as log_p, \log q(x) as log_q: vector(k)"
    latex = r"L = \log \frac{1}{k} \sum_{i=1}^k \frac{p(y, x_i)}{q(x_i)}"
    for old, new in ((r"\log p(y, x)", r"\log p(y, x_{i})"), (r"\log q(x)", r"\log q(x_{i})")):
        text = said(latex, notation, "L == bound(log_p, log_q)")
        assert text == f"{old} is declared, and {new} is read; declare '{new}: ...' in its place"
        notation = notation.replace(old, new)

    assert said(latex, notation, "L == bound(log_p, log_q)") == ""
    assert "differs" in said(latex.replace("{k}", "{2}"), notation, "L == bound(log_p, log_q)")


def test_what_the_positive_part_is_need_not_be_said():
    latex, notation, check = r"u = (1 - a)^+ x, \quad z^+ = \max(z, 0)", "x: vector(n)\na: positive", "u == cut(x, a)"

    assert said(latex, notation, check).endswith("drop it where it says what (...)^+ is, the positive part")
    assert said(latex.partition(",")[0], notation, check) == ""
    assert "differs" in said("u = (1 + a)^+ x", notation, check)


def test_a_digit_that_is_no_factor_is_an_index():
    assert said(r"y_j = A_{1j} + 2 A_{j1}", "A: matrix(n, n)", "A[0] + 2 * A[:, 0]") == ""
    assert "differs" in said(r"y_j = A_{j1} + 2 A_{1j}", "A: matrix(n, n)", "A[0] + 2 * A[:, 0]")
    spread = r"v = \sum_{j=1}^d \operatorname{Var}(z^j), \quad z^j = (Z_{1j}, \ldots, Z_{nj})"
    assert said(spread, "Z: matrix(n, d)", "Z.var(axis=0).sum()") == ""
    assert "differs" in said(spread.replace("Var", "mean"), "Z: matrix(n, d)", "Z.var(axis=0).sum()")
