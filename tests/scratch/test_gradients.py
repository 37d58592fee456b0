"""The gradient check finds what is wrong, names the place, and passes what is right."""

import numpy as np
import pytest

from attention import linear, linear_backward
from gradients import check_backward, check_gradients, differences, pair_up
from refusals import ShapeMismatchError
from transformer import rmsnorm, rmsnorm_backward


def squares(weights):
    return (weights["a"] ** 2).sum() + (weights["b"] ** 3).sum()


WEIGHTS = {"a": np.array([1.0, 2.0]), "b": np.array([[3.0, 4.0]])}
RIGHT = {"a": np.array([2.0, 4.0]), "b": np.array([[27.0, 48.0]])}


def test_differences_of_a_known_function_are_its_known_gradient():
    assert np.allclose(differences(lambda x: (x**3).sum(), np.array([1.0, -2.0])), [3.0, 12.0], rtol=1e-9)


def test_a_right_gradient_passes():
    assert check_gradients(squares, WEIGHTS, RIGHT).error < 1e-9


def test_the_worst_place_is_named_with_both_of_its_values():
    worst = check_gradients(squares, WEIGHTS, RIGHT | {"b": np.array([[27.0, 48.1]])})

    assert str(worst) == "b[0, 1]: backward 48.1, differences 48, relative error 2.1e-03"


def test_a_gradient_that_is_no_number_is_the_worst_there_is():
    worst = check_gradients(squares, WEIGHTS, RIGHT | {"a": np.array([0.0, 4.0]), "b": np.array([[27.0, np.nan]])})

    assert (worst.name, worst.index) == ("b", (0, 1))
    assert not worst.error < 1e-6


@pytest.mark.parametrize(
    ("gradients", "message"),
    [
        ({"a": RIGHT["a"]}, "same names; unmatched: b"),
        (RIGHT | {"c": 1.0}, "same names; unmatched: c"),
        (RIGHT | {"b": np.array([27.0, 48.0])}, r"gives b a gradient of shape \(2,\), but b has shape \(1, 2\)"),
    ],
)
def test_a_gradient_that_is_missing_left_over_or_misshapen_is_refused(gradients, message):
    with pytest.raises(ShapeMismatchError, match=message):
        check_gradients(squares, WEIGHTS, gradients)


def test_a_backward_that_forgets_the_second_path_of_rmsnorm_is_caught():
    def forgetful(upstream, x, gain, epsilon):
        _, gain_gradient = rmsnorm_backward(upstream, x, gain, epsilon)
        return upstream * gain / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon), gain_gradient

    x, gain = np.random.default_rng(1).normal(size=(3, 4)), np.ones(4)
    worst = check_backward(rmsnorm, forgetful, x=x, gain=gain, epsilon=1e-5)

    assert worst.name == "x"
    assert worst.error > 0.1


def test_the_check_changes_no_array_it_nudges():
    x = np.array([1.0, 2.0])
    differences(lambda x: x.sum(), x)

    assert x.tolist() == [1.0, 2.0]


def test_gradients_pair_up_with_the_float_arrays_in_order():
    arguments = {"ids": np.array([1, 2]), "x": np.ones(2), "epsilon": 0.1, "b": None, "W": np.zeros((2, 2))}
    pairs = pair_up(arguments, ("of x", None, "of W"))

    assert list(pairs.items()) == [("x", "of x"), ("W", "of W")]


def test_one_gradient_need_not_stand_in_a_tuple():
    gradient = np.ones(2)

    assert pair_up({"x": np.ones(2), "n": 3}, gradient)["x"] is gradient


@pytest.mark.parametrize(("gradients", "n"), [((1.0,), 1), ((1.0, None), 1), ((1.0, 2.0, 3.0), 3), ((), 0)])
def test_a_gradient_too_few_or_too_many_is_refused(gradients, n):
    with pytest.raises(ShapeMismatchError, match=f"one gradient for each float array, but x, b got {n} gradients"):
        pair_up({"x": np.ones(2), "b": np.ones(2)}, gradients)


def test_a_backward_that_forgets_the_bias_is_caught():
    def forgetful(upstream, x, W):
        return linear_backward(upstream, x, W)

    with pytest.raises(ShapeMismatchError, match="x, W, b got 2 gradients"):
        check_backward(linear, forgetful, x=np.ones((2, 3)), W=np.ones((3, 1)), b=np.ones(1))
