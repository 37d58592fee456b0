"""Tell a row where it stands: added positions (sinusoidal, learned) and turned ones (RoPE), forward and backward.

RoPE, the rotary position embedding, turns queries and keys; a score then depends on how far apart the two stand, and
not on where.  A turn is what rotation gives.  A name that ends in _bar is the gradient of the loss by what the name
says; upstream is that by a function's result.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from refusals import (
    as_floats,
    check_columns,
    check_count,
    check_frequencies,
    check_pairs,
    check_positions,
    check_positive,
    check_row,
    check_table,
    check_turn,
    check_turned,
    check_upstream,
    check_width_is_even,
)


# tag::rope-frequencies[]
def rope_frequencies(d_head, base=10_000.0):
    """How far each pair of columns turns from one position to the next: fast first.

    -> theta: [d_head / 2], radians a position; theta_i = base^(-2i/d), i from 0
    Raises ShapeMismatchError if d_head is odd.
    Source: su2021roformer, section 3.2.2.
    """
    check_width_is_even(d_head, "the head width")
    check_positive("base", base)
    return base ** (-np.arange(0, d_head, 2) / d_head)
# end::rope-frequencies[]


# tag::sinusoidal[]
def sinusoidal(n_tokens, n_model):
    """Give every position a fingerprint of waves, fast to slow, to add to its row.

    Its waves are as fast as RoPE's turns.

    -> [n_tokens, n_model]; even columns are sines, odd ones cosines
    Raises ShapeMismatchError if n_model is odd.
    Source: vaswani2017attention, section 3.5.
    """
    check_count("the number of tokens", n_tokens)
    check_width_is_even(n_model, "the model width")
    angles = np.outer(np.arange(n_tokens), rope_frequencies(n_model))
    waves = np.empty((n_tokens, n_model))
    waves[:, 0::2] = np.sin(angles)
    waves[:, 1::2] = np.cos(angles)
    return waves
# end::sinusoidal[]


# tag::learned[]
def learned(table, n_tokens):
    """Take the first rows of a trained table of positions.

    table: [max_context, d]   ->   [n_tokens, d], a window on it
    Raises OutOfRangeError past the last row: no such position was ever trained.
    """
    check_table(table, n_tokens)
    return table[:n_tokens]


def learned_backward(upstream, table, n_tokens):
    """Give the rows that were read their gradient, summed over the batch.

    upstream: [..., n_tokens, d]   ->   table gradient: [max_context, d]
    """
    check_table(table, n_tokens)
    check_upstream(upstream, (..., n_tokens, table.shape[1]))
    table_bar = np.zeros(table.shape, upstream.dtype)
    table_bar[:n_tokens] = upstream.reshape(-1, *upstream.shape[-2:]).sum(axis=0)
    return table_bar
# end::learned[]


# tag::pairs[]
def interleaved(x, units):
    """Turn each pair of neighbours, (0, 1), (2, 3), ...; the shape stays.

    x: [..., tokens, d]   units: [tokens, d/2], cos + i sin of each pair's angle,
    in the precision of x: see rotate
    Source: su2021roformer, eq. 34.
    """
    if x.strides[-1] != x.itemsize:
        x = np.ascontiguousarray(x)  # neighbours in the row, but not in memory
    # A pair is a complex number:
    # (a + ib)(cos + i sin) = (a cos - b sin) + i(a sin + b cos).
    return (x.view(units.dtype) * units).view(x.dtype)


def half_split(x, units):
    """Turn each column of the first half with one of the second: (0, d/2), ...

    x: [..., tokens, d]   units: [tokens, d/2], as for interleaved
    """
    a, b = np.split(x, 2, axis=-1)
    cos, sin = units.real, units.imag
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)
# end::pairs[]


# tag::rope[]
def rope(x, positions, base=10_000.0, pairs=interleaved):
    """Turn every pair of columns by an angle that grows with the position.

    x: [..., tokens, d], or [d] of one token   positions: [tokens], or one, 0-based
    pairs: interleaved or half_split   ->   shaped like x
    Raises ShapeMismatchError if d is odd, NotIntegerError for other positions.
    Source: su2021roformer, eq. 34.
    """
    check_row(x)
    turn = rotation(positions, rope_frequencies(np.shape(x)[-1], base), pairs)
    return rotate(x, turn)


def rope_backward(upstream, positions, base=10_000.0, pairs=interleaved):
    """Turn the gradient back: a rotation's transpose turns by minus the angle.

    upstream: [..., tokens, d], or [d] of one token   ->   shaped like upstream
    """
    check_row(upstream)
    frequencies = rope_frequencies(np.shape(upstream)[-1], base)
    return rotate_backward(upstream, rotation(positions, frequencies, pairs))
# end::rope[]


# tag::rotation[]
class Rotation(NamedTuple):
    """The turn of every position, and which columns pair up."""

    units: np.ndarray  # [tokens, d/2], attention_factor times cos + i sin
    pairs: object  # the function that turns them: interleaved or half_split


def rotation(positions, frequencies, pairs=interleaved, attention_factor=1.0):
    """Work the angles out once, for all layers and heads that turn by them.

    positions: [tokens], whole numbers   frequencies: [d/2], radians a position
    attention_factor: no unit; scales the turned rows, as YaRN does for long texts
    -> a turn, for rotate
    Raises NotIntegerError for other positions.
    """
    check_pairs(pairs)
    check_frequencies(frequencies)
    check_positive("attention_factor", attention_factor)
    positions = np.asarray(positions)
    check_positions(positions)
    angles = np.multiply.outer(positions, frequencies)
    return Rotation(attention_factor * np.exp(1j * angles), pairs)
# end::rotation[]


# tag::rotate[]
def rotate(x, turn):
    """Turn rows by angles worked out before, in the precision of x.

    x: [..., tokens, d]   turn: from rotation   ->   [..., tokens, d]
    Raises ShapeMismatchError for other tokens or another width.
    """
    check_turn(turn)
    x = as_floats(x)
    check_turned(x, turn.units)
    units = turn.units.astype(np.result_type(x, np.complex64), copy=False)
    return turn.pairs(x, units)


def rotate_backward(upstream, turn):
    """Turn the gradient back: the conjugate turns by minus the angle.

    upstream: [..., tokens, d]   turn: from rotation   ->   [..., tokens, d]
    """
    check_turn(turn)
    return rotate(upstream, turn._replace(units=turn.units.conj()))
# end::rotate[]


# tag::usual-rotation[]
@cache
def usual_rotation(n_tokens, d_head):
    """Give the turn of positions 0, 1, ... with the usual base; it is made once."""
    check_count("the number of tokens", n_tokens)
    turn = rotation(np.arange(n_tokens), rope_frequencies(d_head))
    turn.units.flags.writeable = False  # all callers with these sizes share it
    return turn
# end::usual-rotation[]


# tag::permutation[]
def interleaved_to_half(d):
    """List the even columns, then the odd ones: neighbours end up half a row apart.

    -> P: [d], column numbers.  For the same units, half_split(x[..., P], units)
    is interleaved(x, units)[..., P].
    Raises ShapeMismatchError if d is odd.
    """
    check_width_is_even(d, "the head width")
    return np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])


def reorder_heads(W, n_heads):
    """Make a query or key matrix for interleaved pairs serve half-split ones.

    Columns change places only within their head, so the scores stay the same.
    W: [d, heads * d_head]   ->   [d, heads * d_head]
    Raises ShapeMismatchError if n_heads does not divide the columns.
    """
    check_columns(W, n_heads)
    d_head = W.shape[-1] // n_heads
    heads = W.reshape(len(W), n_heads, d_head)
    return heads[:, :, interleaved_to_half(d_head)].reshape(W.shape)
# end::permutation[]


if __name__ == "__main__":
    # tag::run-rope[]
    q, k = np.random.default_rng(0).normal(size=(2, 8))
    for m, n in ((7, 3), (107, 103), (8, 3)):
        print(f"query at {m:3}, key at {n:3}: score {rope(q, m) @ rope(k, n):+.5f}")
    # end::run-rope[]
