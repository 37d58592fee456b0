"""Names decide and ambiguity fails: what one notation makes plain another makes a refusal, and its advice passes."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

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

    assert "ij is a product or several indices" in text


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
