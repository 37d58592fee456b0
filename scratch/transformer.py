"""The transformer block of today's language models, forward and backward, and the model that stacks it.

A block normalizes the rows (RMSNorm) and lets every token read itself and those before it, by what they hold and how
far away they are (causal attention, in attention.py; rotary positions, RoPE, in positions.py).  Then it normalizes
again and works on each row alone (SwiGLU, the feed-forward).  The model scores with its table of embeddings (a tied
head).

A row is a token and W is (in, out).  The residual stream is the table of rows that every part reads and adds to.
A trace keeps what a forward made, for its backward to read.  A name that ends in _bar is the gradient of the loss by
what the name says; upstream is that by a function's result.
"""

from typing import NamedTuple

import numpy as np

from attention import (
    MultiHeadTrace,
    linear,
    linear_backward,
    multi_head_attention,
    multi_head_attention_backward,
    rows,
)
from embeddings import lookup, lookup_backward
from positions import usual_rotation
from refusals import (
    GATED,
    check_array,
    check_block,
    check_caches,
    check_layers,
    check_model_names,
    check_name,
    check_norm,
    check_parts,
    check_same,
    check_starts_at_zero,
    check_upstream,
)


# tag::rmsnorm[]
def inverse_rms(x, epsilon):
    """One over the root of the mean square of every row: [..., d] -> [..., 1]."""
    mean_square = np.vecdot(x, x)[..., None] / x.shape[-1]
    return 1 / np.sqrt(mean_square + epsilon)


def rmsnorm(x, gain, epsilon=1e-5):
    """Bring every row to a root mean square of one; then a gain scales its columns.

    x: [..., d]   gain: [d]   ->   [..., d]
    epsilon: joins the mean square, so that a row of zeros does not divide by zero
    Raises ShapeMismatchError if these do not fit.
    Source: zhang2019root, eq. 4.
    """
    check_norm(x, epsilon, gain)
    return gain * (x * inverse_rms(x, epsilon))
# end::rmsnorm[]


# tag::rmsnorm-backward[]
def rmsnorm_backward(upstream, x, gain, epsilon=1e-5):
    """Take out of the gradient what would only change a row's length.

    But for epsilon, the norm undoes such a change: the loss cannot depend on it.

    upstream: [..., d]   ->   gradients of x: [..., d] and gain: [d]
    """
    check_norm(x, epsilon, gain)
    check_upstream(upstream, x.shape)
    r = inverse_rms(x, epsilon)
    z_bar = gain * upstream  # z is the row before its gain, x r
    c = np.vecdot(z_bar, x)[..., None]  # how much of z_bar points along the row
    x_bar = r * z_bar
    # r itself shrinks as the row grows: its slope by x is -r^3 x / d.
    x_bar -= (r**3 * c / x.shape[-1]) * x
    # The product sums over the rows, each times its r.
    return x_bar, r.ravel() @ rows(upstream * x)
# end::rmsnorm-backward[]


# tag::silu[]
def sigmoid(z):
    """Squash any number to one between 0 and 1: [...] -> [...]."""
    with np.errstate(over="ignore"):  # exp(710) is infinite, and 1 / inf is right
        return 1 / (1 + np.exp(-z))


def silu(z):
    """Pass what is large, stop what is negative, smoothly: [...] -> [...].

    Source: hendrycks2016gaussian, section 2.
    """
    return z * sigmoid(z)


def silu_backward(upstream, z):
    """Scale the gradient by the slope of silu at z: [...] -> [...]."""
    check_upstream(upstream, np.shape(z))
    s = sigmoid(z)
    # The slope of sigmoid is s (1 - s).
    return upstream * (s + z * s * (1 - s))
# end::silu[]


# tag::swiglu-trace[]
class SwigluTrace(NamedTuple):
    """Every array of one SwiGLU, in the order in which they are made."""

    x: np.ndarray  # [..., d]
    z: np.ndarray  # x through W_g: [..., h], and so are the next four
    up: np.ndarray  # x through W_u
    s: np.ndarray  # sigmoid(z)
    gate: np.ndarray  # silu(z)
    hidden: np.ndarray  # gate times up
    result: np.ndarray  # [..., d]
# end::swiglu-trace[]


# tag::swiglu[]
def swiglu(x, W_g, W_u, W_d):
    """Widen a row twice, let one copy gate the other, and narrow the product again.

    x: [..., d]   W_g for the gate, W_u for up: [d, h]   W_d for down: [h, d]
    -> trace with result: [..., d]
    Raises ShapeMismatchError if these do not fit.
    Source: shazeer2020glu, eq. 6.
    """
    check_same("W_g and W_u", np.shape(W_g), np.shape(W_u))
    z, up = linear(x, W_g), linear(x, W_u)
    s = sigmoid(z)
    gate = z * s  # silu(z), in steps: the backward reads s too
    hidden = gate * up
    return SwigluTrace(x, z, up, s, gate, hidden, linear(hidden, W_d))
# end::swiglu[]


# tag::swiglu-backward[]
def swiglu_backward(upstream, trace, W_g, W_u, W_d):
    """Each of the two paths gets the gradient times what the other carried.

    upstream: [..., d]   ->   gradients of x, W_g, W_u, W_d
    """
    x, _, up, s, gate, hidden, _ = trace
    hidden_bar, W_d_bar, _ = linear_backward(upstream, hidden, W_d)
    # The slope of silu is s + z s (1 - s); times up it is hidden + s (up - hidden),
    # since hidden is z s up.  Built in place: new memory would cost more than sums.
    z_bar = up - hidden
    z_bar *= s
    z_bar += hidden
    z_bar *= hidden_bar
    x_bar, W_g_bar, _ = linear_backward(z_bar, x, W_g)
    hidden_bar *= gate  # in place too: from here it is the gradient by up
    more, W_u_bar, _ = linear_backward(hidden_bar, x, W_u)
    x_bar += more
    return x_bar, W_g_bar, W_u_bar, W_d_bar
# end::swiglu-backward[]


# tag::block-trace[]
class BlockTrace(NamedTuple):
    """Every array of one block, in the order in which they are made."""

    x: np.ndarray  # [..., tokens, d], as norm_1, u, norm_2 and result are
    norm_1: np.ndarray  # x normalized: what the attention reads
    attention: MultiHeadTrace
    u: np.ndarray  # x + what attention wrote
    norm_2: np.ndarray  # u normalized: what the feed-forward reads
    feed_forward: SwigluTrace
    result: np.ndarray  # u + what the feed-forward wrote
    epsilon: float  # of both norms; their backward needs it again
# end::block-trace[]


# tag::block[]
def block(
    x, weights, n_heads, n_kv_heads=None, rotation=None, epsilon=1e-5, cache=None
):
    """Let every token read the tokens up to itself, then work on what it has read.

    Each of the two adds what it found to the token's row.

    x: [..., tokens, d]   weights: gain_1, W_q, W_k, W_v, W_o, gain_2, W_g, W_u, W_d
    rotation: RoPE's turn of each token; without one, that of positions 0, 1, ...
    n_kv_heads, cache: as in multi_head_attention   ->   trace, result: like x
    Raises ModelError if sizes do not fit or x is not finite.
    Source: touvron2023llama, section 2.2.
    """
    check_block(x, weights, n_heads, n_kv_heads, rotation)
    if rotation is None:
        check_starts_at_zero(cache)
        rotation = usual_rotation(x.shape[-2], weights["W_q"].shape[-1] // n_heads)
    norm_1 = rmsnorm(x, weights["gain_1"], epsilon)
    attention = multi_head_attention(
        norm_1, weights, n_heads, n_kv_heads, rotation, cache=cache
    )
    u = x + attention.result
    norm_2 = rmsnorm(u, weights["gain_2"], epsilon)
    feed_forward = swiglu(norm_2, weights["W_g"], weights["W_u"], weights["W_d"])
    y = u + feed_forward.result
    return BlockTrace(x, norm_1, attention, u, norm_2, feed_forward, y, epsilon)
# end::block[]


# tag::block-backward[]
def block_backward(upstream, trace, weights):
    """Go back in reverse order; at each residual sum the gradient takes both ways.

    upstream: [..., tokens, d]   ->   x gradient, and a dict keyed like weights
    """
    check_parts(weights, "gain_1", "gain_2", *GATED)
    matrices = weights["W_g"], weights["W_u"], weights["W_d"]
    gain_1, gain_2, epsilon = weights["gain_1"], weights["gain_2"], trace.epsilon
    norm_2_bar, *matrix_bars = swiglu_backward(
        upstream, trace.feed_forward, *matrices
    )
    u_bar, gain_2_bar = rmsnorm_backward(norm_2_bar, trace.u, gain_2, epsilon)
    u_bar += upstream
    norm_1_bar, gradients = multi_head_attention_backward(
        u_bar, trace.attention, weights
    )
    x_bar, gain_1_bar = rmsnorm_backward(norm_1_bar, trace.x, gain_1, epsilon)
    x_bar += u_bar
    gradients |= {"gain_1": gain_1_bar, "gain_2": gain_2_bar}
    gradients |= zip(("W_g", "W_u", "W_d"), matrix_bars, strict=True)
    return x_bar, gradients
# end::block-backward[]


# tag::stack[]
def stack(
    x, layers, n_heads, n_kv_heads=None, rotation=None, epsilon=1e-5,
    caches=None, block=block,
):
    """Let one block after another read and write the same rows.

    x: [..., tokens, d]   layers: a list, one dict of weights a block
    caches: a list, one a block   block: what to stack   ->   a list of traces
    """
    check_caches(caches, layers)
    traces, caches = [], caches or [None] * len(layers)
    for weights, cache in zip(layers, caches, strict=True):
        trace = block(x, weights, n_heads, n_kv_heads, rotation, epsilon, cache)
        traces.append(trace)
        x = trace.result
    return traces


def stack_backward(upstream, traces, layers, block_backward=block_backward):
    """Go down from upstream, [..., tokens, d]: x gradient, and a dict a block."""
    check_same("traces and layers", (len(traces),), (len(layers),))
    gradients = []
    for trace, weights in zip(reversed(traces), reversed(layers), strict=True):
        upstream, gradient = block_backward(upstream, trace, weights)
        gradients.insert(0, gradient)
    return upstream, gradients
# end::stack[]


# tag::tied-head[]
def tied_head(hidden, E):
    """Score every token of the vocabulary by how well its embedding fits.

    Tied means that the matrix is no new one: it is the table of embeddings.

    hidden: [..., tokens, d]   E: [n_vocab, d]   ->   logits: [..., tokens, n_vocab]
    Source: press2016using, section 1.
    """
    check_array(E)
    return linear(hidden, E.T)


def tied_head_backward(upstream, hidden, E):
    """Give the gradients of hidden and E: here every row of E gets one.

    upstream: [..., tokens, n_vocab]
    """
    check_array(hidden)
    check_array(E)
    check_upstream(upstream, hidden.shape, len(E))
    return linear(upstream, E), rows(upstream).T @ rows(hidden)
# end::tied-head[]


# tag::layers[]
def split_layers(weights):
    """Sort a model's weights, "blocks.0.W_q" ..., into a list, one dict a block.

    Raises ShapeMismatchError for weights without a block.
    """
    check_parts(weights)
    layers = {}
    for name, array in weights.items():
        if name.startswith("blocks."):
            check_name(name)
            _, layer, part = name.split(".")
            layers.setdefault(int(layer), {})[part] = array
    check_layers(layers)
    return [layers[layer] for layer in sorted(layers)]


def join_layers(layers):
    """Name every array of every block as a model does: "blocks.0.W_q" ..."""
    return {
        f"blocks.{i}.{part}": array
        for i, layer in enumerate(layers) for part, array in layer.items()
    }
# end::layers[]


# tag::model-trace[]
class ModelTrace(NamedTuple):
    """Every array of a language model, in the order in which they are made."""

    ids: np.ndarray | list  # [..., tokens], as they came
    blocks: list  # a BlockTrace each; the first one's x is the embedded ids
    hidden: np.ndarray  # [..., tokens, d], after the last norm
    result: np.ndarray  # [..., tokens, n_vocab]: logits
    epsilon: float  # of every norm
# end::model-trace[]


# tag::model[]
def language_model(
    ids, weights, n_heads, n_kv_heads=None, rotation=None, epsilon=1e-5, caches=None
):
    """Score, at every position, every token that could come next.

    ids: [..., tokens]   weights: E, blocks.0.W_q ..., and the last norm's gain
    n_heads to caches: as in stack
    -> trace with result, the logits: [..., tokens, n_vocab]
    Raises ModelError for ids without a row and sizes that do not fit.
    """
    check_model_names(weights, "E", "gain")
    x, layers = lookup(ids, weights["E"]), split_layers(weights)
    blocks = stack(x, layers, n_heads, n_kv_heads, rotation, epsilon, caches)
    hidden = rmsnorm(blocks[-1].result, weights["gain"], epsilon)
    return ModelTrace(ids, blocks, hidden, tied_head(hidden, weights["E"]), epsilon)
# end::model[]


# tag::model-backward[]
def language_model_backward(upstream, trace, weights):
    """Go back from the logits to every weight; E, used twice, gets a sum of two.

    upstream: [..., tokens, n_vocab]   ->   a dict of gradients keyed like weights
    """
    check_model_names(weights, "E", "gain")
    E, gain, last = weights["E"], weights["gain"], trace.blocks[-1].result
    hidden_bar, head_bar = tied_head_backward(upstream, trace.hidden, E)
    last_bar, gain_bar = rmsnorm_backward(hidden_bar, last, gain, trace.epsilon)
    layers = split_layers(weights)
    x_bar, layer_bars = stack_backward(last_bar, trace.blocks, layers)
    table_bar = lookup_backward(x_bar, trace.ids, E)
    return {"E": table_bar + head_bar, **join_layers(layer_bars), "gain": gain_bar}
# end::model-backward[]


if __name__ == "__main__":
    from initialization import initial_weights, weight_shapes

    # tag::run-model[]
    shapes = weight_shapes(n_vocab=7, n_model=8, n_hidden=16, n_layers=2)
    weights = initial_weights(np.random.default_rng(0), shapes)
    before = language_model([1, 2, 3, 4], weights, n_heads=2)
    after = language_model([1, 2, 3, 6], weights, n_heads=2)
    n_numbers = sum(array.size for array in weights.values())
    changed = (before.result != after.result).any(axis=-1)
    print("logits", before.result.shape, " numbers", n_numbers)
    print("rows that changed with the last token:", changed)
    # end::run-model[]
