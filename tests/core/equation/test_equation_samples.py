"""A function that is given at the elements of an array, as f(x_i) = ..., is an array, and refused at anything else."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.checker import check
from scratchbook.core.equation.equation import parse_equation
from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.notation import read_notation
from scratchbook.core.equation.options import Request

NOTATION = "x: vector(n)\ny: vector(m)\nX: matrix(n, d)\nv: vector(d)\na: positive"


def said(latex, code):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, code, CODE).text
    except EquationError as error:
        return error.text


def rms_norm(x):
    return x / np.sqrt((x**2).mean())


def curved(x, a):
    return a * np.tanh(x)


def kernel(X, a):
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / a)


def distances(x, y):
    return (x[:, None] - y) ** 2


def projected(X, v, a):
    return X @ v + a


def softmax(x):
    return np.exp(x) / np.exp(x).sum()


def entropy(x):
    return -(softmax(x) * np.log(softmax(x))).sum()


def scaled(X, v):
    return v[:, None] * X.T


CODE = {"np": np} | {
    function.__name__: function
    for function in (rms_norm, curved, kernel, distances, projected, softmax, entropy, scaled)
}


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"\operatorname{RMSNorm}(x_i) = \frac{x_i}{\sqrt{\frac1n \sum_j x_j^2}}", "rms_norm(x)"),
        (r"f_a(x_i) = a \tanh(x_i)", "curved(x, a)"),
        (r"f(x_i; a) = a \tanh(x_i)", "curved(x, a)"),
        (r"k(X_i, X_j) = \exp\left(-\lVert X_i - X_j \rVert^2 / a\right)", "kernel(X, a)"),
        (r"d(x_i, y_j) = (x_i - y_j)^2", "distances(x, y)"),
        (r"h(X_i) = v^\top X_i + a", "projected(X, v, a)"),
        (r"p(x_i) = \frac{g(x_i)}{\sum_j g(x_j)}, \quad g(z) = e^z", "softmax(x)"),
        (r"p(x_i) = \frac{g(x_i)}{\sum_j g(x_j)}, \quad g(x_i) = e^{x_i}", "softmax(x)"),
        (r"H = -\sum_k p(x_k) \log p(x_k), \quad p(x_i) = \frac{e^{x_i}}{\sum_j e^{x_j}}", "entropy(x)"),
        (r"\phi_k(X_i) = v_k X_{ik}", "scaled(X, v)"),
    ],
)
def test_a_function_at_elements_is_an_array(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"f(x_i) = a \tanh(x)", "curved(x, a)"),
        (r"f(x_i) = a \tanh(x_j)", "curved(x, a)"),
        (r"d(x_i, y_j) = (x_j - y_i)^2", "distances(x, y)"),
        (r"k(X_i, X_j) = \exp\left(-\lVert X_i + X_j \rVert^2 / a\right)", "kernel(X, a)"),
        (r"\phi_k(X_i) = v_k X_{ki}", "scaled(X, v)"),
        (r"p(x_i) = \frac{g(x_i)}{\sum_j g(x_i)}, \quad g(x_i) = e^{x_i}", "softmax(x)"),
    ],
)
def test_a_slip_in_one_is_refused(latex, check):
    assert said(latex, check) != ""


@pytest.mark.parametrize("call", ["g(2)", "g(y_1)", "g(x)", "g(x_1 + 1)"])
def test_elsewhere_such_a_function_has_no_value(call):
    text = said(rf"p_i = g(x_i) + {call}, \quad g(x_i) = e^{{x_i}}", "p == softmax(x)")

    assert text == "g is given at the elements of an array only; for any argument write g(z) = ... with z alone"


def test_as_the_advice_says_it_has_one():
    assert said(r"p_i = g(x_i) + g(2), \quad g(z) = e^z", "p == np.exp(x) + np.exp(2)") == ""


def test_a_later_display_reads_it_at_other_letters():
    notation = read_notation(NOTATION)
    given = parse_equation(r"g(x_i) = e^{x_i}", notation)

    later = parse_equation(r"p_k = \frac{g(x_k)}{\sum_j g(x_j)}", notation, given=[given])

    assert check(later, Request(label="eq", check="p == softmax(x)"), CODE).text == ""


def test_a_function_that_code_gives_stays_one():
    given = {"half": lambda z: z / 2, "np": np}

    assert checked(r"g(x_i) = x_i / 2", f"{NOTATION}\ng = half(_)", "", given).text == ""
