r"""Inequalities: \le, <, \ge, > and \ne hold at every draw, or the check says where they do not."""

import numpy as np
import pytest
from equation_examples import checked

NOTATION = "x: vector(d)\na: scalar\np: simplex(d)"


def same(a):
    return 1.0 * a


def sine(a):
    return np.sin(a)


def squares(x):
    return x**2


def entropy(p):
    return -(p * np.log(p)).sum()


def hole(x):
    return np.where(np.arange(len(x)) > 0, x, np.nan)


def endless(x):
    return np.full_like(x, np.inf)


CODE = {function.__name__: function for function in (same, sine, squares, entropy, hole, endless)}


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"u \le a + 1", "same"),
        (r"u \ge a - 1", "same"),
        (r"u < a + 1", "u == same(a)"),
        (r"u \ne a", "sine"),
        (r"u_i \ge 0", "squares"),
        (r"u_i \ge x_i - 1", "u == squares(x)"),
        (r"H(p) \ge 0", "entropy"),
        (r"H(p) \le \log d", "entropy"),
    ],
)
def test_an_inequality_that_holds_passes(latex, check):
    assert checked(latex, NOTATION, check, CODE).text == ""


@pytest.mark.parametrize(
    ("latex", "check"),
    [
        (r"u \le a - 1", "same"),
        (r"u > a", "same"),
        (r"u \ne a", "same"),
        (r"u_i > x_i", "squares"),
        (r"u_i \le 0", "squares"),
        (r"H(p) \ge \log d", "entropy"),
        (r"u_i \ge x_i - 1", "hole"),
    ],
)
def test_an_inequality_that_fails_at_a_draw_is_told(latex, check):
    assert "does not hold" in checked(latex, NOTATION, check, CODE).text


def test_an_inequality_of_nothing_finite_proves_nothing():
    assert checked(r"u_i \ge x_i", NOTATION, "endless", CODE).text == "nothing finite of endless(x) was compared"
