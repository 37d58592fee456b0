r"""Cases in a line, y = a \text{ if } c \text{ else } b, are read as a cases environment, or refused with one."""

import numpy as np
import pytest
from equation_examples import checked

from scratchbook.core.equation.errors import EquationError

NOTATION = "x: scalar\nz: vector(n)\na: unit"


def said(latex, check):
    """What is wrong with an equation; nothing when it passes."""
    try:
        return checked(latex, NOTATION, check, CODE, suggests=False).text
    except EquationError as error:
        return error.text


def leaky(x, a):
    return x if x > 0 else a * x


def leaky_all(z, a):
    return np.where(z > 0, z, a * z)


def clipped(x, a):
    return min(max(x / a, -1.0), 1.0)


def inside(x, a):
    return a if 0 < x < a else 0.0


def both(x, a):
    return x if x > 0 and a > 0.5 else a


def positive_part(z):
    return np.maximum(z, 0).sum()


CODE = {function.__name__: function for function in (leaky, leaky_all, clipped, inside, both, positive_part)}


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"y = x \text{ if } x > 0 \text{ else } a x", "leaky"),
        (r"y = x, \text{ if } x > 0, \text{ otherwise } a x.", "leaky"),
        (r"y = x \quad \text{if } x > 0 \quad \text{and} \quad a x \quad \text{otherwise}", "leaky"),
        (r"y = x \text{ if } x > 0, \; a x \text{ otherwise}", "leaky"),
        (r"y = x \text{ if } x > 0, \quad a x \text{ if } x \le 0", "leaky"),
        (r"y_i = z_i \text{ if } z_i > 0 \text{ else } a z_i", "leaky_all"),
        (r"y_i = f(z_i), \quad f(u) = u \text{ if } u > 0 \text{ else } a u", "leaky_all"),
        (r"y_i = z_i \text{ if } z_i > 0 \text{ else } a z_i \quad \text{for } i = 1, \ldots, n", "leaky_all"),
        (r"y = -1 \text{ if } x < -a \text{ else } 1 \text{ if } x > a \text{ else } x / a", "clipped"),
        (r"y = -1 \text{ if } x < -a, \quad 1 \text{ if } x > a, \quad \frac{x}{a} \text{ otherwise}", "clipped"),
        (r"y = a \text{ if } 0 < x < a \text{ and } 0 \text{ otherwise}", "inside"),
        (r"y = x \text{ when } x > 0 \text{ and } a > \frac12, \text{ otherwise } a", "both"),
        (r"y = \sum_i g_i, \quad g_i = z_i \text{ for } z_i > 0, \; 0 \text{ otherwise}", "positive_part"),
    ],
)
def test_a_line_of_cases_has_their_value(latex, check):
    assert said(latex, check) == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"y = a x \text{ if } x > 0 \text{ else } x", "leaky"),
        (r"y = x \text{ if } x > a \text{ else } a x", "leaky"),
        (r"y = x \text{ if } x > 0, \quad a x", "leaky"),
        (r"y = x \text{ if } x > 0", "leaky"),
        (r"y = x + a x \text{ if } x > 0 \text{ else } a x", "leaky"),
        (r"y = 1 \text{ if } x < -a \text{ else } 1 \text{ if } x > a \text{ else } x / a", "clipped"),
        (r"y = x \text{ if } x > 0 \text{ and } a > \frac12, \text{ otherwise } x", "both"),
    ],
)
def test_a_slip_in_one_is_refused(latex, check):
    assert said(latex, check) != ""


@pytest.mark.parametrize(
    "right",
    [
        r"(x \text{ if } x > 0 \text{ else } a x)",
        r"x \text{ unless } x < 0 \text{ else } a x",
        r"x \text{ if } x \text{ else } a x",
        r"x \text{ if } x > 0, \quad y = a x \text{ otherwise}",
        r"x \text{ if } x > 0 \\ \text{ else } a x",
    ],
)
def test_what_parts_in_no_one_way_is_told_to_be_an_environment(right):
    advice = r"\begin{cases} x & \text{if } x > 0 \\ a x & \text{otherwise} \end{cases}"

    assert said(f"y = {right}", "leaky").startswith("cases outside a cases environment; write \\begin{cases}")
    assert said(f"y = {advice}", "leaky") == ""
