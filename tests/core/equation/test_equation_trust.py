r"""What an equation, its options or its notation say without being held against the code is refused, or compared."""

import numpy as np
import pytest
from equation_examples import checked

NOTATION = "x, y: vector(d)\nw, z: vector(n)\na: scalar\nc: int(3..5)\nA: symmetric(d)\n\\eta as eta: positive"
triple = 3.0


def same(x):
    return 1.0 * x


def same_backward(up, x):
    return 3.0 * up


def other(x):
    return 2 * x


def other_backward(up, inner):
    return 2 * up


def huber(x):
    return np.where(abs(x) <= 3, x**2 / 2, 3 * abs(x) - 4.5)


def huber_backward(up, x):
    return up * x


def straight(x):
    return 2 * x


def cubes(z):
    return (z**3).sum()


def slope(z):
    return 2 * z


def true_slope(z):
    return 3 * z**2


def descend(w, eta):
    return w - eta * 3 * w**2


def descend_wrong(w, eta):
    return w - eta * 2 * w


def form(x, A, y):
    return x @ A @ x / 2 - y @ x


def norm_with_epsilon(x):
    return x / np.sqrt((x**2).sum() + 1e-12)


def middle(x):
    return x[len(x) // 2]


def pair(a, c):
    return np.array([a, c * a])


def quotient(x, a):
    return x / a


FUNCTIONS = [
    same,
    same_backward,
    other,
    other_backward,
    huber,
    huber_backward,
    straight,
    cubes,
    slope,
    true_slope,
    descend,
    descend_wrong,
]
FUNCTIONS += [form, norm_with_epsilon, middle, pair, quotient]
CODE = {function.__name__: function for function in FUNCTIONS} | {"np": np, "triple": triple}


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    return checked(latex, NOTATION, check, CODE).text


@pytest.mark.parametrize(
    "check",
    [
        "u == np.multiply(3, straight(x))",
        "u == triple * straight(x)",
        "u == c * straight(x)",
        "u == straight(x) + straight(x) + straight(x)",
        "u == sum([straight(x), straight(x), straight(x)])",
        "u == straight(x).clip(-100, 100)",
        "u == np.negative(straight(x))",
    ],
)
def test_what_a_check_computes_with_its_call_is_refused(check):
    assert "stands in neither the equation nor the code" in said("u = 6x", check)


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        ("u = 2x + y", "u == straight(x) + y"),
        (r"u = 2 \sum_i x_i", "u == straight(x).sum(axis=0)"),
        (r"u = 4 x^\top y", "u == straight(x) @ straight(y)"),
        (r"u = e^{2a}", "u == np.exp(straight(a))"),
    ],
)
def test_what_the_equation_has_as_well_may_stand_there(latex, check):
    assert said(latex, check) == ""


def test_the_backward_of_a_call_that_is_written_out_is_compared():
    assert said("u = x", "u == same(x)").startswith("the gradient of x by same_backward differs")


def test_a_backward_that_takes_something_else_is_not_meant_for_a_written_call():
    assert said("u = 2x", "u == other(x)") == ""
    assert said("u = 2x", "other").startswith("other_backward takes 'inner'")


def test_a_gradient_is_compared_in_every_branch():
    latex = r"u_i = \begin{cases} \frac12 x_i^2 & |x_i| \le 3 \\ 3|x_i| - 4.5 & |x_i| > 3 \end{cases}"

    assert said(latex, "huber").startswith("the gradient of x by huber_backward differs")


CUBES = r"f(z) = \sum_i z_i^3"


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"{CUBES}, \quad \nabla f(z) = 2z", "\\nabla f == slope(z)\nf == cubes(z)"),
        (rf"{CUBES}, \quad \nabla f(z) = 2z", "f == cubes(z)"),
        (rf"u = w - \eta \nabla f(w), \quad \nabla f(z) = 2z, \quad {CUBES}", "u == descend_wrong(w, eta)"),
        (r"f(x) = \frac12 x^\top A x - y^\top x, \quad \nabla f(x) = A x + y", "f == form(x, A, y)"),
    ],
)
def test_a_gradient_that_the_display_gives_is_held_against_its_function(latex, check):
    assert said(latex, check).startswith("the two sides differ")


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (rf"{CUBES}, \quad \nabla f(z) = 3z^2", "\\nabla f == true_slope(z)\nf == cubes(z)"),
        (rf"{CUBES}, \quad \nabla f(z) = 3z^2", "\\nabla f == true_slope(z)"),
        (rf"u = w - \eta \nabla f(w), \quad \nabla f(z) = 3z^2, \quad {CUBES}", "u == descend(w, eta)"),
        (r"f(x) = \frac12 x^\top A x - y^\top x, \quad \nabla f(x) = A x - y", "f == form(x, A, y)"),
        (r"\nabla f(z) = 2z", "\\nabla f == slope(z)"),
    ],
)
def test_a_gradient_that_is_right_passes(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize("latex", ["f(x, y) = 2x", r"f(x; a) = 2x", r"f(y, x) = 2x"])
def test_an_argument_that_nobody_reads_is_refused(latex):
    assert "stands in the brackets on the left" in said(latex, "f == straight(x)")


@pytest.mark.parametrize("latex", ["f(x) = 2x", r"f(\theta) = 2x", r"f(x, y) = u, \quad u = x + v, \quad v = x + 0y"])
def test_an_argument_that_is_read_or_no_symbol_passes(latex):
    assert said(latex, "f == straight(x)") == ""


def test_a_name_that_reads_the_argument_of_a_function_is_ambiguous_where_that_is_a_symbol():
    assert said(r"u = g(2a), \quad g(a) = a + h, \quad h = a^2", "u == 2 * a + a ** 2").startswith(
        "ambiguous: h reads a"
    )
    assert said(r"u = g(2a), \quad g(z) = z + h, \quad h = a^2", "u == 2 * a + a ** 2") == ""
    assert said(r"u = g(a), \quad g(a) = a + h, \quad h = a^2", "u == a + a ** 2") == ""


def test_an_epsilon_that_only_the_code_has_is_told():
    text = said(r"u = \frac{x}{\sqrt{\sum_i x_i^2}}", "u == norm_with_epsilon(x)")

    assert text.endswith("where all numbers are small, as an epsilon may be that only one of both has")


def test_a_size_is_even_in_some_draw():
    assert said(r"u = x_{\lceil d/2 \rceil}", "u == middle(x)").startswith("differs from middle(x)")
    assert said(r"u = x_{\lfloor d/2 \rfloor + 1}", "u == middle(x)") == ""


def test_one_element_of_an_array_leaves_the_others():
    assert said("u_1 = a", "u_1 == pair(a, c)[0]").startswith("pair(a, c) gives 2 elements, and 1 of them")
    assert said(r"u_1 = a, \quad u_2 = ca", "u_1 == pair(a, c)[0]\nu_2 == pair(a, c)[1]") == ""


def test_a_side_that_has_one_value_whatever_the_code_gives_is_refused():
    assert said("0 u = 0x", "u == straight(x)").startswith("this side has one value, whatever u is")
    assert said("u - x = x", "u == straight(x)") == ""


def test_a_tolerance_is_at_most_a_quarter():
    verdict = checked(r"u \approx 2x", NOTATION, "u == straight(x)", CODE, rtol="0.5")

    assert verdict.text == "the tolerance 0.5 must lie between 0 and 0.25"
