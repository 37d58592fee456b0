"""Turn gradients into better weights: momentum, Adam and AdamW, clipping, and a schedule for the step size.

An optimiser works on one long vector, so that it need not know what a model is.
"""

from numbers import Real

import numpy as np

from refusals import (
    NotFiniteError,
    OutOfRangeError,
    ShapeMismatchError,
    check_array,
    check_count,
    check_not_negative,
    check_parts,
    check_positive,
    check_same,
    check_share,
    check_some,
)


# tag::pack[]
def pack(arrays):
    """Lay all arrays of a dict end to end, ordered by name: one vector, [n]."""
    check_parts(arrays)
    check_some("arrays", arrays)
    return np.concatenate([arrays[name].ravel() for name in sorted(arrays)])


def unpack(vector, arrays):
    """Cut a vector into windows with the names and shapes of a dict: pack reversed.

    vector: [n]   ->   a dict; to change a window is to change the vector
    Raises ShapeMismatchError if the vector does not have as many numbers.
    """
    check_parts(arrays)
    check_vector(vector)
    n_parameters = sum(array.size for array in arrays.values())
    if vector.shape != (n_parameters,):
        wanted = f"expected a vector of {n_parameters} numbers"
        raise ShapeMismatchError(f"{wanted}, not shape {vector.shape}")
    windows, start = {}, 0
    for name in sorted(arrays):
        end = start + arrays[name].size
        windows[name] = vector[start:end].reshape(arrays[name].shape)
        start = end
    return windows
# end::pack[]


# tag::momentum[]
class Momentum:
    """Step against the gradient, and keep some of the last step's speed.

    momentum: share of the speed that is kept, 0 for plain gradient descent
    """

    def __init__(self, momentum=0.0):
        check_share("momentum", momentum)
        self.momentum, self.velocity = momentum, 0.0

    def step(self, weights, gradient, learning_rate):
        """Give the weights after one step, [n]; the arguments stay as they are."""
        check_step(weights, gradient, learning_rate, self.velocity)
        self.velocity = self.momentum * self.velocity + gradient
        return weights - learning_rate * self.velocity
# end::momentum[]


# tag::adamw[]
class AdamW:
    """Step by the gradient's mean over its size, both running; shrink the weights.

    beta_1, beta_2: kept share of mean and mean square   epsilon: keeps 0 / 0 away
    weight_decay: share of a weight lost in a step of rate 1; with 0 this is Adam
    Source: loshchilov2017adamw, algorithm 2; kingma2014adam, algorithm 1.
    """

    def __init__(self, beta_1=0.9, beta_2=0.95, epsilon=1e-8, weight_decay=0.1):
        check_adamw(beta_1, beta_2, epsilon, weight_decay)
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon, self.weight_decay = epsilon, weight_decay
        self.n_steps, self.mean, self.square = 0, None, None

    def move(self, weights, gradient, part, learning_rate):
        """Give one stretch of the weights, [m], after the step; part: its slice."""
        mean, square = self.mean[part], self.square[part]  # windows, to change
        mean *= self.beta_1
        mean += (1 - self.beta_1) * gradient
        square *= self.beta_2
        square += (1 - self.beta_2) * gradient**2
        # Both averages began at zero; dividing takes out what that still weighs.
        rate = learning_rate / (1 - self.beta_1**self.n_steps)
        size = np.sqrt(square / (1 - self.beta_2**self.n_steps)) + self.epsilon
        kept = 1 - learning_rate * self.weight_decay
        return kept * weights - rate * mean / size

# end::adamw[]

    # tag::adamw-step[]
    def step(self, weights, gradient, learning_rate):
        """Give the weights after one step, [n]; the arguments stay as they are."""
        check_step(weights, gradient, learning_rate, self.mean)
        if self.n_steps == 0:
            self.mean, self.square = np.zeros_like(weights), np.zeros_like(weights)
        self.n_steps += 1
        moved = np.empty_like(weights)
        for part in stretches(len(weights)):
            here = weights[part], gradient[part]
            moved[part] = self.move(*here, part, learning_rate)
        return moved
    # end::adamw-step[]


def stretches(n, longest=16_384):
    """Cut 0..n into slices whose numbers fit the processor's cache: many passes over them then cost one."""
    return [slice(start, start + longest) for start in range(0, n, longest)]


# tag::clip[]
def clip(gradient, limit=1.0):
    """Shorten a gradient that is longer than limit; its direction stays.

    gradient: [n]   ->   clipped gradient: [n], and the length it had
    Source: brown2020language, appendix B (a limit of 1).
    """
    check_positive("limit", limit)
    check_vector(gradient)
    length = np.sqrt(gradient @ gradient)
    if not np.isfinite(length):
        advice = "a smaller learning rate may keep it finite"
        raise NotFiniteError(f"the gradient's length is {length}; {advice}")
    # The millionth keeps rounding from leaving it longer than the limit.
    if length + 1e-6 <= limit:
        return gradient, length
    return gradient * (limit / (length + 1e-6)), length

# end::clip[]


# tag::schedule[]
def scheduled_rate(step, n_steps, peak, n_warmup, floor=0.1):
    """Give the learning rate of a step: straight up to a peak, half a cosine down.

    step: 0-based   floor: share of the peak at the last step
    Source: brown2020language, appendix B.
    """
    check_schedule(step, n_steps, peak, n_warmup, floor)
    if step < n_warmup:
        return peak * (step + 1) / n_warmup
    done = (step - n_warmup) / max(1, n_steps - 1 - n_warmup)
    return peak * (floor + (1 - floor) * (1 + np.cos(np.pi * done)) / 2)
# end::schedule[]


def check_schedule(step, n_steps, peak, n_warmup, floor):
    """Refuse steps outside of the run, and rates that are none."""
    check_positive("peak", peak)
    if not isinstance(floor, Real) or not 0 <= floor <= 1:
        raise OutOfRangeError(f"floor must lie in 0..1, not {floor}")
    check_count("n_steps", n_steps)
    for name, number in (("step", step), ("n_warmup", n_warmup)):
        if not isinstance(number, int | np.integer) or not 0 <= number < n_steps:
            raise OutOfRangeError(f"{name} must lie in 0..{n_steps - 1}, not {number}")


def check_adamw(beta_1, beta_2, epsilon, weight_decay):
    """Refuse settings with which no step can be taken, or the weights run away."""
    check_share("beta_1", beta_1)
    check_share("beta_2", beta_2)
    check_not_negative("epsilon", epsilon)
    check_not_negative("weight_decay", weight_decay)


def check_floats(x):
    """Refuse whole numbers, which a small step could not move."""
    check_array(x)
    if x.dtype.kind != "f":
        raise ShapeMismatchError(f"expected a vector of floats, not of {x.dtype}")


def check_vector(x):
    """Refuse anything but one long vector of floats."""
    check_floats(x)
    if x.ndim != 1:
        raise ShapeMismatchError(f"expected one long vector, [n], not shape {x.shape}; see pack")


def check_step(weights, gradient, learning_rate, remembered=None):
    """Refuse a step that would spoil the weights, and weights of another shape than in the steps before."""
    check_floats(weights)
    check_floats(gradient)
    if np.shape(weights) != np.shape(gradient):
        raise ShapeMismatchError(f"weights of shape {np.shape(weights)} but a gradient of {np.shape(gradient)}")
    check_positive("the learning rate", learning_rate)
    if remembered is not None and np.ndim(remembered):
        check_same("the weights of all steps", np.shape(weights), np.shape(remembered))
    # A sum of squares is quick, and finite only if every number is; a very large one is looked at again.
    if not np.isfinite(np.vdot(gradient, gradient)) and not np.isfinite(gradient).all():
        raise NotFiniteError("the gradient holds NaN or infinity; a step along it would spoil every weight")


if __name__ == "__main__":
    # tag::demonstration[]
    # A long valley: 50 times steeper one way than the other.
    steepness = np.array([50.0, 1.0])
    runs = {"descent": (Momentum(), 0.03), "momentum": (Momentum(0.9), 0.01),
            "Adam": (AdamW(weight_decay=0), 0.1)}
    for name, (optimiser, rate) in runs.items():
        place = np.array([1.0, 1.0])
        for _ in range(100):
            place = optimiser.step(place, steepness * place, rate)
        print(f"{name:9} after 100 steps: {place.round(4)}")
    # end::demonstration[]
