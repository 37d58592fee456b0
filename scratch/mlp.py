"""Work on each row alone, as the first transformers did: widen, bend, narrow.  Forward and backward.

A name that ends in _bar is the gradient of the loss by what the name says.
"""

import math
from typing import NamedTuple

import numpy as np

from attention import linear, linear_backward
from refusals import check_choice, check_upstream


# tag::relu[]
def relu(z):
    """Stop what is negative: [...] -> [...].

    Source: vaswani2017attention, eq. 2.
    """
    return np.maximum(z, 0.0)


def relu_backward(upstream, z):
    """Let the gradient through where z was positive: [...] -> [...]."""
    check_upstream(upstream, np.shape(z))
    return upstream * (z > 0)
# end::relu[]


# tag::gelu[]
def gelu(z):
    """Stop what is negative, smoothly; by tanh, as GPT-2 does it: [...] -> [...].

    Source: hendrycks2016gaussian, section 2.
    """
    return 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def gelu_backward(upstream, z):
    """Scale the gradient by the slope of gelu at z: [...] -> [...]."""
    check_upstream(upstream, np.shape(z))
    t = np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))
    slope_of_t = (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * z * z)
    return upstream * 0.5 * (1 + t + z * slope_of_t)
# end::gelu[]


# tag::gelu-erf[]
def gelu_erf(z):
    """Let z pass with the probability that a normal number is below it, [...].

    Source: hendrycks2016gaussian, section 2.
    """
    return z * normal_probability(z)


def gelu_erf_backward(upstream, z):
    """Scale the gradient by the slope of gelu_erf at z: [...] -> [...]."""
    check_upstream(upstream, np.shape(z))
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return upstream * (normal_probability(z) + z * density)


def normal_probability(z):
    """How likely a standard normal number is below z, [...]; NumPy has no erf."""

    def below(number):
        return 0.5 * math.erfc(-number / math.sqrt(2))

    probability = np.frompyfunc(below, 1, 1)(z)  # one number at a time
    return np.asarray(probability, dtype=np.result_type(np.asarray(z), np.float32))
# end::gelu-erf[]


# tag::mlp-trace[]
ACTIVATIONS = {
    "relu": (relu, relu_backward),
    "gelu": (gelu, gelu_backward),
    "gelu_erf": (gelu_erf, gelu_erf_backward),
}


class MlpTrace(NamedTuple):
    """Every array of one MLP, in the order in which they are made."""

    x: np.ndarray  # [..., d]
    z: np.ndarray  # [..., h]
    hidden: np.ndarray  # [..., h]
    result: np.ndarray  # [..., d]
    activation: str
# end::mlp-trace[]


# tag::mlp[]
def mlp(x, W_1, b_1, W_2, b_2, activation="relu"):
    """Widen every row, bend it by the activation, narrow it again.

    x: [..., d]   W_1: [d, h]   b_1: [h] or none   W_2: [h, d]   b_2: [d] or none
    activation: relu, gelu or gelu_erf   ->   trace with result: [..., d]
    Raises ModelError for another activation and sizes that do not fit.
    Source: vaswani2017attention, eq. 2.
    """
    check_choice("activation", activation, ACTIVATIONS)
    z = linear(x, W_1, b_1)
    hidden = ACTIVATIONS[activation][0](z)
    return MlpTrace(x, z, hidden, linear(hidden, W_2, b_2), activation)
# end::mlp[]


# tag::mlp-backward[]
def mlp_backward(upstream, trace, W_1, b_1, W_2, b_2):
    """Give the gradients of x, W_1, b_1, W_2, b_2 (none where there is no bias).

    upstream: [..., d]   ->   each shaped like its array
    """
    hidden_bar, *outer = linear_backward(upstream, trace.hidden, W_2, b_2)
    _, activation_backward = ACTIVATIONS[trace.activation]
    z_bar = activation_backward(hidden_bar, trace.z)
    return *linear_backward(z_bar, trace.x, W_1, b_1), *outer
# end::mlp-backward[]
