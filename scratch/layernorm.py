"""Normalize rows as the first transformers did: subtract the mean, divide by the standard deviation; and backward.

A name that ends in _bar is the gradient of the loss by what the name says; upstream is that by a function's result.
"""

import numpy as np

from attention import rows
from refusals import check_norm, check_upstream


# tag::layernorm[]
def layernorm(x, gain, bias, epsilon=1e-5):
    """Bring every row to mean 0 and variance 1; then a gain and a bias are learned.

    x: [..., d]   gain, bias: [d]   ->   [..., d]
    epsilon: joins the variance, so that a row of equals does not divide by zero
    Raises ShapeMismatchError if these do not fit.
    Source: ba2016layer, eq. 4.
    """
    check_norm(x, epsilon, gain, bias)
    normal, _ = centre_and_scale(x, epsilon)
    return gain * normal + bias


def layernorm_backward(upstream, x, gain, epsilon=1e-5):
    """Take out of the gradient what would only move or scale a row.

    upstream: [..., d]   ->   gradients of x: [..., d], gain: [d] and bias: [d]
    """
    check_norm(x, epsilon, gain)
    check_upstream(upstream, x.shape)
    normal, r = centre_and_scale(x, epsilon)
    z_bar = gain * upstream  # z is the normal row
    along = np.vecdot(z_bar, normal)[..., None] / x.shape[-1]
    x_bar = r * (z_bar - z_bar.mean(axis=-1, keepdims=True) - along * normal)
    gain_bar = rows(upstream * normal).sum(axis=0)
    return x_bar, gain_bar, rows(upstream).sum(axis=0)
# end::layernorm[]


# tag::centre-and-scale[]
def centre_and_scale(x, epsilon):
    """Give rows of mean 0 and variance 1, and r, one over their standard deviation.

    x: [..., d]   ->   [..., d] and [..., 1]
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.vecdot(centred, centred)[..., None] / x.shape[-1]
    r = 1 / np.sqrt(variance + epsilon)
    return centred * r, r
# end::centre-and-scale[]
