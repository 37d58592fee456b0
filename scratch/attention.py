"""Let every token read itself and those before it: softmax, causal mask, multi-head and grouped-query attention.

Forward and backward.  A row is a token and W is (in, out).  A token's query says what it looks for, its key what it
can be found by, its value what it hands over.  Shares are also called attention weights.
A trace keeps what a forward made, for its backward to read.  A name that ends in _bar is the gradient of the loss by
what the name says; upstream is that by a function's result.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from positions import rotate, rotate_backward
from refusals import (
    check_attention,
    check_columns,
    check_count,
    check_group,
    check_groups,
    check_heads_axis,
    check_highest,
    check_one_head,
    check_parts,
    check_product,
    check_scores,
    check_upstream,
    check_upstream_of_product,
)


# tag::softmax[]
def softmax(scores):
    """Turn scores into shares: none negative, and one in sum along the last axis.

    scores: [..., n]; minus infinity gets no share   ->   shares: [..., n]
    Raises ModelError for NaN, plus infinity, and nothing to share among.
    """
    scores = check_scores(scores)
    highest = scores.max(axis=-1, keepdims=True)
    check_highest(highest)
    # Subtracting the maximum changes no share but keeps exp from overflowing.
    powers = scores - highest
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def softmax_backward(upstream, trace):
    """A share rises with its own score and falls with every other one's.

    upstream: [..., n]   trace: the shares that softmax returned
    -> scores gradient: [..., n]
    """
    check_upstream(upstream, np.shape(trace))
    gradient = upstream - np.vecdot(upstream, trace)[..., None]
    gradient *= trace  # in place: new memory would cost more than the product
    return gradient
# end::softmax[]


# tag::causal-mask[]
@cache
def causal_mask(n_queries, n_keys=None, dtype=float):
    """Hide the future: minus infinity where a key stands after its query, else 0.

    The last query stands at the last key.   ->   [n_queries, n_keys]
    Raises OutOfRangeError for fewer keys than queries.
    """
    n_keys = n_queries if n_keys is None else n_keys
    check_count("the number of queries", n_queries)
    check_count("the number of keys", n_keys, least=n_queries)
    hidden = np.full((n_queries, n_keys), -np.inf, dtype)
    mask = np.triu(hidden, k=1 + n_keys - n_queries)
    mask.flags.writeable = False  # all callers with these sizes get this same array
    return mask
# end::causal-mask[]


# tag::attention-trace[]
class AttentionTrace(NamedTuple):
    """Every array of one attention; all heads are in it, along one axis.

    Q, result: [..., heads, queries, d_head]   K, V: [..., heads, keys, d_head]
    scores, shares: [..., heads, queries, keys]
    """

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    scores: np.ndarray  # before the mask
    shares: np.ndarray
    result: np.ndarray

# end::attention-trace[]


# tag::attention[]
def attention(Q, K, V, mask=0.0):
    """Mix the values, each query in its own shares.

    Q: [..., queries, d_k]   K: [..., keys, d_k]   V: [..., keys, d_v]
    mask: [queries, keys], 0 where a query may look and minus infinity elsewhere
    -> trace with result: [..., queries, d_v]
    Raises ShapeMismatchError if these do not fit, OutOfRangeError if a query may
    look nowhere.
    Source: vaswani2017attention, eq. 1.
    """
    check_one_head(Q, K, V, mask)
    # Without the root, wide heads would make large scores and shares near 0 and 1.
    scores = Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
    shares = softmax(scores + mask)
    return AttentionTrace(Q, K, V, scores, shares, shares @ V)
# end::attention[]


# tag::attention-backward[]
def attention_backward(upstream, trace):
    """Go back through the mixture, the shares and the scores.

    upstream: [..., queries, d_v]   ->   gradients of Q, K, V
    """
    check_upstream(upstream, trace.result.shape)
    shares_bar = upstream @ trace.V.swapaxes(-1, -2)
    # Where the mask hid a key the share is zero, and so is this gradient.
    scores_bar = softmax_backward(shares_bar, trace.shares)
    scores_bar /= trace.Q.shape[-1] ** 0.5  # in place: by Q @ K.T from here
    return (
        scores_bar @ trace.K,
        scores_bar.swapaxes(-1, -2) @ trace.Q,
        trace.shares.swapaxes(-1, -2) @ upstream,
    )
# end::attention-backward[]


# tag::linear[]
def linear(x, W, b=None):
    """Send every row through the same matrix.

    x: [..., d_in]   W: [d_in, d_out]   b: [d_out] or none   ->   [..., d_out]
    Raises ShapeMismatchError if these do not fit.
    """
    check_product(x, W, b)
    # One product for all rows: NumPy would make one for each sequence of a batch.
    z = (rows(x) @ W).reshape(*x.shape[:-1], W.shape[-1])
    return z if b is None else z + b


def linear_backward(upstream, x, W, b=None):
    """Send the gradient back through the matrix; W gets what all rows ask of it.

    upstream: [..., d_out]   ->   gradients of x, W and b (none without a b)
    """
    check_upstream_of_product(upstream, x, W, b)
    z_bar = rows(upstream)
    b_bar = None if b is None else z_bar.sum(axis=0)
    return (z_bar @ W.T).reshape(x.shape), rows(x).T @ z_bar, b_bar


def rows(x):
    """See any batch of sequences as one pile of rows: [..., d] -> [n, d]."""
    return x.reshape(-1, x.shape[-1])
# end::linear[]


# tag::project[]
def project(x, weights, name):
    """Send every row through W_name of a dict, and add b_name if it is there.

    x: [..., d_in]   W_name: [d_in, d_out]   ->   [..., d_out]
    """
    check_parts(weights, f"W_{name}")
    return linear(x, weights[f"W_{name}"], weights.get(f"b_{name}"))


def project_backward(upstream, x, weights, name):
    """Give the gradient of x, and a dict: those of W_name and b_name, if any.

    upstream: [..., d_out]   ->   x gradient: [..., d_in], and the dict
    """
    check_parts(weights, f"W_{name}")
    W, b = weights[f"W_{name}"], weights.get(f"b_{name}")
    x_bar, W_bar, b_bar = linear_backward(upstream, x, W, b)
    gradients = {f"W_{name}": W_bar}
    if b is not None:
        gradients[f"b_{name}"] = b_bar
    return x_bar, gradients
# end::project[]


# tag::heads[]
def split_heads(x, n_heads):
    """Cut the columns into heads, each an attention of its own, along a new axis.

    x: [..., tokens, heads * d_head]   ->   [..., heads, tokens, d_head]
    Raises ShapeMismatchError if n_heads does not divide the columns.
    """
    check_columns(x, n_heads)
    *batch, n_tokens, d = x.shape
    return x.reshape(*batch, n_tokens, n_heads, d // n_heads).swapaxes(-2, -3)


def merge_heads(heads):
    """Lay the heads side by side again: the reverse of split_heads.

    heads: [..., heads, tokens, d_head]   ->   [..., tokens, heads * d_head]
    """
    check_heads_axis(heads)
    *batch, n_heads, n_tokens, d_head = heads.shape
    return heads.swapaxes(-2, -3).reshape(*batch, n_tokens, n_heads * d_head)
# end::heads[]


# tag::share-heads[]
def share_heads(heads, n_queries_each):
    """Let each key-value head serve a group of query heads.

    heads: [..., kv_heads, keys, d_head]   n_queries_each: query heads in a group
    -> [..., heads, keys, d_head]
    """
    if n_queries_each == 1:
        return heads
    check_group(heads, n_queries_each)
    return np.repeat(heads, n_queries_each, axis=-3)


def share_heads_backward(upstream, n_queries_each):
    """Sum what the query heads of each group ask of the one that serves them.

    upstream: [..., heads, keys, d_head]   ->   [..., kv_heads, keys, d_head]
    """
    if n_queries_each == 1:
        return upstream
    check_groups(upstream, n_queries_each)
    *batch, n_heads, n_tokens, d_head = upstream.shape
    groups = n_heads // n_queries_each, n_queries_each
    return upstream.reshape(*batch, *groups, n_tokens, d_head).sum(axis=-3)
# end::share-heads[]


# tag::multi-head-trace[]
class MultiHeadTrace(NamedTuple):
    """Every array of one attention sublayer."""

    x: np.ndarray  # [..., tokens, d]
    K: np.ndarray  # [..., kv_heads, keys, d_head], turned: what a cache keeps
    V: np.ndarray  # like K, but never turned
    rotation: object  # a Rotation of positions.py, or None: not turned
    heads: AttentionTrace  # of all heads; its K and V stand once a query head
    merged: np.ndarray  # [..., tokens, heads * d_head]
    result: np.ndarray  # [..., tokens, d]
# end::multi-head-trace[]


# tag::multi-head[]
def multi_head_attention(
    x, weights, n_heads, n_kv_heads=None, rotation=None, causal=True, cache=None
):
    """Read the tokens so far in several ways at once; write one row from all.

    x: [..., tokens, d]   n_kv_heads: below n_heads for grouped-query attention
    weights: W_q, W_k, W_v: [d, its heads * d_head]; W_o: back to d; b_q ... if any
    cache: its extend(K, V) gives those of all tokens   causal: hide later tokens
    rotation: RoPE's turn, or none   ->   trace with result: [..., tokens, d]
    Source: vaswani2017attention, section 3.2.2; ainslie2023gqa.
    """
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
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
    y = project(merged, weights, "o")
    return MultiHeadTrace(x, K, V, rotation, heads, merged, y)
# end::multi-head[]


# tag::multi-head-backward[]
def multi_head_attention_backward(upstream, trace, weights):
    """Take back the forward's steps, last first.

    upstream: [..., tokens, d]   ->   x gradient, and a dict keyed like weights
    Raises ShapeMismatchError for a trace with earlier keys, from a cache.
    """
    n_heads = trace.heads.Q.shape[-3]
    group = n_heads // trace.K.shape[-3]
    merged_bar, gradients = project_backward(upstream, trace.merged, weights, "o")
    result_bar = split_heads(merged_bar, n_heads)
    Q_bar, K_bar, V_bar = attention_backward(result_bar, trace.heads)
    K_bar = share_heads_backward(K_bar, group)
    V_bar = share_heads_backward(V_bar, group)
    if trace.rotation is not None:
        Q_bar = rotate_backward(Q_bar, trace.rotation)
        K_bar = rotate_backward(K_bar, trace.rotation)
    x_bar = 0.0
    for name, bar in (("q", Q_bar), ("k", K_bar), ("v", V_bar)):
        part, more = project_backward(merge_heads(bar), trace.x, weights, name)
        x_bar += part
        gradients |= more
    return x_bar, gradients
# end::multi-head-backward[]


if __name__ == "__main__":
    # tag::run-attention[]
    Q, K, V = np.random.default_rng(0).normal(size=(3, 4, 2))
    trace = attention(Q, K, V, causal_mask(4))
    print(trace.shares.round(3))
    print("rows sum to", trace.shares.sum(axis=-1).round(12))
    # end::run-attention[]
