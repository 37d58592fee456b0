"""Check a backward that was written by hand: nudge every number a little and see how far the result moves."""

from inspect import signature
from typing import NamedTuple

import numpy as np

from refusals import ShapeMismatchError, check_array, check_positive, check_some


# tag::differences[]
def differences(function, x, step=1e-5):
    """Measure a gradient: half the change between a nudge up and one down.

    Nudges one number of x at a time: slow, and right to about nine digits.

    function: takes an array shaped like x and gives one number
    -> gradient: shaped like x
    Raises ShapeMismatchError if the function gives more than one number.
    """
    check_positive("step", step)
    check_array(x)
    check_one_number(function(x))
    gradient = np.empty_like(x, dtype=float)
    for place in np.ndindex(x.shape):
        nudge = np.zeros_like(x, dtype=float)
        nudge[place] = step
        gradient[place] = (function(x + nudge) - function(x - nudge)) / (2 * step)
    return gradient
# end::differences[]


def check_one_number(result):
    """Refuse a function of many results: a gradient is that of one number."""
    if np.size(result) != 1:
        raise ShapeMismatchError(f"expected a function that gives one number, not {np.size(result)}: take its sum")


# tag::place[]
class Place(NamedTuple):
    """One number of one array, and its gradient as computed in two ways."""

    name: str
    index: tuple
    by_backward: float
    by_differences: float
    error: float  # relative, no unit

    def __str__(self):
        place = ", ".join(map(str, self.index))
        place = f"{self.name}[{place}]" if self.index else self.name
        both = f"{self.by_backward:.6g}, differences {self.by_differences:.6g}"
        return f"{place}: backward {both}, relative error {self.error:.1e}"
# end::place[]


# tag::worst-place[]
def worst_place(name, by_backward, by_differences, usual):
    """Find where two gradients of one array differ most.

    The unit is the larger of the two, or the usual size if both are smaller.
    """
    if np.shape(by_backward) != by_differences.shape:
        given, wanted = np.shape(by_backward), by_differences.shape
        raise ShapeMismatchError(
            f"the backward gives {name} a gradient of shape {given}, "
            f"but {name} has shape {wanted}"
        )
    size = np.maximum(np.maximum(abs(by_backward), abs(by_differences)), usual)
    # Where both gradients are zero throughout, they agree.
    error = abs(by_backward - by_differences) / np.where(size == 0, 1.0, size)
    # A NaN is the worst there is, and argmax finds it first.
    index = np.unravel_index(np.argmax(error), error.shape)
    numbers = (float(a[index]) for a in (by_backward, by_differences, error))
    return Place(name, tuple(int(i) for i in index), *numbers)
# end::worst-place[]


# tag::check-gradients[]
def check_gradients(function, weights, gradients, step=1e-5):
    """Compare the gradient of every weight with differences; name the worst place.

    function: takes a dict like weights and gives one number
    gradients: a dict keyed like weights
    -> Place; its error is below 1e-6 for a right backward
    Raises ShapeMismatchError if a gradient is missing, left over or misshapen.
    """
    check_same_names(weights, gradients)
    measured = {}
    for name, array in weights.items():
        def moved(x, name=name):
            return function(weights | {name: x})

        measured[name] = differences(moved, array, step)
    # A gradient that is zero by nature, such as a key bias's, is measured as
    # rounding noise: its unit is the size of the others.
    everything = np.concatenate([array.ravel() for array in measured.values()])
    usual = np.sqrt(np.mean(everything**2))
    places = [
        worst_place(name, gradients[name], measured[name], usual)
        for name in weights
    ]
    # NaN compares false with everything, so it is asked for by name.
    return max(places, key=lambda place: (np.isnan(place.error), place.error))
# end::check-gradients[]


def check_same_names(weights, gradients):
    """Refuse a gradient that is missing or left over, and nothing to check."""
    check_some("arrays to check", weights)
    if set(weights) != set(gradients):
        unmatched = ", ".join(sorted(set(weights) ^ set(gradients)))
        raise ShapeMismatchError(f"weights and gradients must have the same names; unmatched: {unmatched}")


# tag::check-backward[]
def check_backward(forward, backward, seed=0, **arguments):
    """Check a function against its backward: every float array among the arguments.

    The backward takes a gradient of the result, then any of the forward's arguments
    by their names, and what the forward returned as "trace".  It gives a gradient
    for each float array, in the order of the arguments.
    Raises ShapeMismatchError for more gradients or fewer.
    """
    trace = forward(**arguments)
    upstream = np.random.default_rng(seed).normal(size=np.shape(result_of(trace)))
    given = arguments | {"trace": trace}
    wanted = [name for name in signature(backward).parameters if name in given]
    gradients = backward(upstream, **{name: given[name] for name in wanted})
    pairs = pair_up(arguments, gradients)
    return check_gradients(
        lambda x: np.sum(upstream * result_of(forward(**(arguments | x)))),
        {name: arguments[name] for name in pairs},
        pairs,
    )
# end::check-backward[]


def pair_up(arguments, gradients):
    """Give each float array of the arguments its gradient, in the order of both; None stands for an array left out."""
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    gradients = [gradient for gradient in gradients if gradient is not None]
    arrays = [name for name, x in arguments.items() if is_float_array(x)]
    if len(arrays) != len(gradients):
        each = f"{', '.join(arrays) or 'no array'} got {len(gradients)} gradients"
        raise ShapeMismatchError(f"a backward gives one gradient for each float array, but {each}")
    return dict(zip(arrays, gradients, strict=True))


def is_float_array(x):
    """Say whether x is something that a gradient can move."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def result_of(trace):
    """Give the output of a forward, with or without a trace around it."""
    return getattr(trace, "result", trace)


if __name__ == "__main__":
    from transformer import rmsnorm, rmsnorm_backward

    # tag::run-check[]
    x = np.random.default_rng(0).normal(size=(3, 4))
    gain = np.array([1.0, 2.0, 0.5, 1.5])
    print("right: ", check_backward(rmsnorm, rmsnorm_backward, x=x, gain=gain))

    def forgetful(upstream, x, gain):
        inverse_rms = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True))
        return upstream * gain * inverse_rms, rmsnorm_backward(upstream, x, gain)[1]

    print("wrong: ", check_backward(rmsnorm, forgetful, x=x, gain=gain))
    # end::run-check[]
