"""Let every token read the tokens before it: softmax, causal mask, multi-head and grouped-query attention.

Forward and backward.  A row is a token and W is (in, out).
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from positions import rotate, rotate_backward
from refusals import check_attention


# tag::softmax[]
def softmax(scores):
    """Turn scores into shares: positive, and one in sum along the last axis.

    scores: [..., n]   ->   shares: [..., n]
    """
    # Subtracting the maximum changes no share but keeps exp from overflowing.
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def softmax_backward(upstream, trace):
    """A share rises with its own score and falls with every other one's.

    upstream: [..., n]   trace: the shares that softmax returned   ->   scores gradient: [..., n]
    """
    return trace * (upstream - np.vecdot(upstream, trace)[..., None])
# end::softmax[]


# tag::causal-mask[]
@cache
def causal_mask(n_queries, n_keys=None, dtype=float):
    """Hide the future: minus infinity where a key stands after its query, else zero.

    The last query stands at the last key.   ->   [n_queries, n_keys]
    """
    n_keys = n_keys or n_queries
    mask = np.triu(np.full((n_queries, n_keys), -np.inf, dtype), k=1 + n_keys - n_queries)
    mask.flags.writeable = False  # every caller with these sizes gets this same array
    return mask
# end::causal-mask[]


# tag::attention[]
class AttentionTrace(NamedTuple):
    """Every array of one attention, a head an axis: [..., heads, tokens, d_head] and [..., queries, keys]."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    scores: np.ndarray  # before the mask
    shares: np.ndarray
    result: np.ndarray


def attention(Q, K, V, mask=0.0):
    """Mix the values, each query in its own shares.

    Q: [..., queries, d_k]   K: [..., keys, d_k]   V: [..., keys, d_v]   mask: [queries, keys]
    -> trace with result: [..., queries, d_v]
    Source: vaswani2017attention, eq. 1.
    """
    scores = Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
    shares = softmax(scores + mask)
    return AttentionTrace(Q, K, V, scores, shares, shares @ V)
# end::attention[]


# tag::attention-backward[]
def attention_backward(upstream, trace):
    """Go back through the mixture, the shares and the scores.

    upstream: [..., queries, d_v]   ->   gradients of Q, K, V
    """
    shares_gradient = upstream @ trace.V.swapaxes(-1, -2)
    # Where the mask hid a key the share is zero, and so is this gradient.
    scores_gradient = softmax_backward(shares_gradient, trace.shares) / trace.Q.shape[-1] ** 0.5
    return (
        scores_gradient @ trace.K,
        scores_gradient.swapaxes(-1, -2) @ trace.Q,
        trace.shares.swapaxes(-1, -2) @ upstream,
    )
# end::attention-backward[]


# tag::linear[]
def linear(x, W, b=None):
    """Send every row through the same matrix.

    x: [..., d_in]   W: [d_in, d_out]   b: [d_out] or none   ->   [..., d_out]
    """
    return x @ W if b is None else x @ W + b


def linear_backward(upstream, x, W, b=None):
    """Send the gradient back through the matrix, and leave on W what all rows together ask of it.

    upstream: [..., d_out]   ->   gradients of x, W and b (none without a b)
    """
    z = rows(upstream)
    b_gradient = None if b is None else z.sum(axis=0)
    return (z @ W.T).reshape(x.shape), rows(x).T @ z, b_gradient


def rows(x):
    """See any batch of sequences as one pile of rows: [..., d] -> [n, d]."""
    return x.reshape(-1, x.shape[-1])
# end::linear[]


# tag::project[]
def project(x, weights, name):
    """Send every row through the matrix W_name of a dict of weights, and add b_name if it is there."""
    return linear(x, weights[f"W_{name}"], weights.get(f"b_{name}"))


def project_backward(upstream, x, weights, name):
    """Give the gradient of x, and a dict with those of W_name and, if it is there, b_name."""
    x_gradient, W, b = linear_backward(upstream, x, weights[f"W_{name}"], weights.get(f"b_{name}"))
    return x_gradient, {f"W_{name}": W} if b is None else {f"W_{name}": W, f"b_{name}": b}
# end::project[]


# tag::heads[]
def split_heads(x, n_heads):
    """Cut the columns into heads: [..., tokens, heads * d_head] -> [..., heads, tokens, d_head]."""
    return x.reshape(*x.shape[:-1], n_heads, -1).swapaxes(-2, -3)


def merge_heads(heads):
    """Lay the heads side by side again: [..., heads, tokens, d_head] -> [..., tokens, heads * d_head]."""
    *batch, n_heads, n_tokens, d_head = heads.shape
    return heads.swapaxes(-2, -3).reshape(*batch, n_tokens, n_heads * d_head)


def share_heads(heads, n_queries_each):
    """Let each key-value head serve a group of query heads: [..., kv_heads, keys, d] -> [..., heads, keys, d]."""
    return heads if n_queries_each == 1 else np.repeat(heads, n_queries_each, axis=-3)


def share_heads_backward(upstream, n_queries_each):
    """Sum what the query heads of each group ask of the one that serves them."""
    *batch, n_heads, n_tokens, d_head = upstream.shape
    groups = upstream.reshape(*batch, n_heads // n_queries_each, n_queries_each, n_tokens, d_head)
    return groups.sum(axis=-3) if n_queries_each > 1 else upstream
# end::heads[]


# tag::multi-head-trace[]
class MultiHeadTrace(NamedTuple):
    """Every array of one attention sublayer."""

    x: np.ndarray  # [..., tokens, d]
    K: np.ndarray  # [..., kv_heads, keys, d_head], turned: what a cache keeps
    V: np.ndarray
    rotation: object  # None: not turned
    heads: AttentionTrace
    merged: np.ndarray  # [..., tokens, heads * d_head]
    result: np.ndarray  # [..., tokens, d]
# end::multi-head-trace[]


# tag::multi-head[]
def multi_head_attention(x, weights, n_heads, n_kv_heads=None, rotation=None, causal=True, cache=None):
    """Read the earlier tokens in several ways at once, and write one row from all of them.

    x: [..., tokens, d]   weights: W_q, W_k, W_v, W_o, and b_q, b_k, b_v, b_o where there are biases
    n_kv_heads: fewer than n_heads for grouped-query attention   rotation: RoPE's turn, or none
    cache: if given, cache.extend(K, V) returns all keys and values up to these
    -> trace with result: [..., tokens, d]
    Source: vaswani2017attention, section 3.2.2; ainslie2023gqa.
    """
    n_kv_heads = n_kv_heads or n_heads
    check_attention(x, weights, n_heads, n_kv_heads, rotation)
    Q = split_heads(project(x, weights, "q"), n_heads)
    K = split_heads(project(x, weights, "k"), n_kv_heads)
    V = split_heads(project(x, weights, "v"), n_kv_heads)
    if rotation is not None:
        Q, K = rotate(Q, rotation), rotate(K, rotation)
    if cache is not None:
        K, V = cache.extend(K, V)
    mask = causal_mask(Q.shape[-2], K.shape[-2], Q.dtype) if causal else 0.0
    group = n_heads // n_kv_heads
    heads = attention(Q, share_heads(K, group), share_heads(V, group), mask)
    merged = merge_heads(heads.result)
    return MultiHeadTrace(x, K, V, rotation, heads, merged, project(merged, weights, "o"))
# end::multi-head[]


# tag::multi-head-backward[]
def multi_head_attention_backward(upstream, trace, weights):
    """Take back the forward's steps, last first.

    upstream: [..., tokens, d]   ->   x gradient, and a dict of gradients keyed like weights
    """
    merged, weight_gradients = project_backward(upstream, trace.merged, weights, "o")
    Q, K, V = attention_backward(split_heads(merged, trace.heads.Q.shape[-3]), trace.heads)
    group = Q.shape[-3] // trace.K.shape[-3]
    K, V = share_heads_backward(K, group), share_heads_backward(V, group)
    if trace.rotation is not None:
        Q, K = rotate_backward(Q, trace.rotation), rotate_backward(K, trace.rotation)
    x_gradient = 0.0
    for name, heads in (("q", Q), ("k", K), ("v", V)):
        part, gradients = project_backward(merge_heads(heads), trace.x, weights, name)
        x_gradient = x_gradient + part
        weight_gradients |= gradients
    return x_gradient, weight_gradients
# end::multi-head-backward[]


if __name__ == "__main__":
    # tag::run-attention[]
    Q, K, V = np.random.default_rng(0).normal(size=(3, 4, 2))
    trace = attention(Q, K, V, causal_mask(4))
    print(trace.shares.round(3))
    print("rows sum to", trace.shares.sum(axis=-1).round(12))
    # end::run-attention[]
