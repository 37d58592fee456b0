"""Code is run with numbers of its own, and once more: what it draws or remembers is told, what it changes is not."""

import numpy as np
import pytest
from equation_examples import checked

NOTATION = "x, g: vector(d)\na: scalar"
SEEN = []


def noisy(x):
    return x + 1e-10 * np.random.default_rng().normal(size=len(x))


def warmed(x):
    SEEN.append(1)
    return x if len(SEEN) < 10 else 2 * x


def descend(x, g, a):
    x -= a * g
    return x


def doubled(x):
    return 2 * x


BUFFER = np.zeros(100)


def buffered(x):
    BUFFER[: len(x)] = x**2
    return BUFFER[: len(x)]


def cube(x):
    return x**3


def cube_backward(up, x):
    x *= x
    up *= 3 * x
    return up


def halve(x):
    x /= 2
    return x


FUNCTIONS = [noisy, warmed, descend, doubled, buffered, cube, cube_backward, halve]
CODE = {function.__name__: function for function in FUNCTIONS}


@pytest.fixture(autouse=True)
def fresh():
    SEEN.clear()


@pytest.mark.parametrize("check", ["noisy", "warmed"])
def test_code_that_gives_other_numbers_when_it_runs_again_is_told(check):
    text = f"{check}(x) gives other numbers when it runs again with the same arguments"

    assert checked("y = x", NOTATION, check, CODE).text.startswith(text)


def test_that_is_told_also_where_the_numbers_differ_from_the_equation():
    assert "runs again" in checked("y = x + 1", NOTATION, "noisy", CODE).text


def test_code_may_change_its_arguments_in_place():
    assert checked(r"y = x - a g, \quad z = 2x", NOTATION, "y == descend(x, g, a)\nz == doubled(x)", CODE).text == ""


def test_what_one_function_changes_another_does_not_see():
    verdict = checked(r"y = x - a g, \quad z = 2 (x - a g)", NOTATION, "y == descend(x, g, a)\nz == doubled(x)", CODE)

    assert verdict.text.startswith("differs from doubled(x)")


def test_a_result_that_the_code_writes_over_at_the_next_draw_is_kept():
    assert checked("y_i = x_i^2", NOTATION, "buffered", CODE).text == ""


def test_a_backward_may_change_what_it_is_given():
    verdict = checked("y_i = x_i^3", NOTATION, "cube", CODE)

    assert verdict.text == ""
    assert verdict.gradients == ("x",)


def test_a_bound_function_may_change_its_argument():
    latex, using = r"y = \operatorname{H}(x) + x", r"\operatorname{H} = halve"

    assert checked(latex, NOTATION, "y == 1.5 * x", CODE, using=using).text == ""
