"""A draw at which neither side has a value is as if it had not been drawn; one at which either has is compared."""

import numpy as np
import pytest
from equation_examples import checked

LABELS = "y, h: sign(n)"
WEIGHT = r"z = \frac12 \ln \frac{1 - \epsilon}{\epsilon}, \quad \epsilon = \frac1n \sum_{i: h_i \ne y_i} 1"
NUMBERS = "a: positive\nn: int(2..9)"
SHARE = r"z = \frac{a}{n - 2}"
BITS = "b: binary(n, 2)\nx: vector(n)"
MEAN = r"z = \frac{\sum_i b_{i1} x_i}{\sum_i b_{i1} b_{i2}}"


def weight(y, h):
    error = np.mean(y != h)
    return np.log((1 - error) / error) / 2


def bounded_weight(y, h):
    error = max(np.mean(y != h), 1e-3)
    return np.log((1 - error) / error) / 2


def mean(b, x):
    return b[:, 0] @ x / (b[:, 0] @ b[:, 1])


def mean_backward(up, b, x):
    return up * b[:, 0] / (b[:, 0] @ b[:, 1])


def halved_backward(up, b, x):
    return up * b[:, 0] / 2 / (b[:, 0] @ b[:, 1])


def never(y, h):
    return 1 / np.mean(y != y)


CODE = {name: value for name, value in globals().items() if callable(value) and name != "checked"} | {"np": np}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def said(latex, notation, check, **options):
    return checked(latex, notation, check, CODE, **options).text


@pytest.mark.parametrize("label", [f"eq-{number}" for number in range(8)])
def test_a_draw_without_a_value_is_drawn_again(label):
    assert said(WEIGHT, LABELS, "weight", label=label) == ""


def test_a_slip_differs_where_there_is_a_value():
    assert "differs" in said(WEIGHT.replace("1 - ", "1 + "), LABELS, "weight")


def test_code_with_a_value_where_the_equation_has_none_differs():
    assert "a value is infinite" in said(WEIGHT, LABELS, "bounded_weight")


def test_without_a_value_at_any_draw_nothing_is_compared():
    assert "compares with nothing" in said(r"z = \frac{n}{\sum_{i: y_i \ne y_i} h_i^2}", LABELS, "never")


def test_points_that_an_author_names_are_not_drawn_again():
    assert said(SHARE, NUMBERS, "a / np.float64(n - 2)") == ""
    assert "compares with nothing" in said(SHARE, NUMBERS, "a / np.float64(n - 2)", at="a=1 n=2")


def test_a_gradient_is_compared_at_the_draws_with_a_value():
    assert said(MEAN, BITS, "mean", grad="x = mean_backward(up, b, x)") == ""
    assert "differs" in said(MEAN, BITS, "mean", grad="x = halved_backward(up, b, x)")
