"""Refuse what cannot work, with one clear error each.  Checks what comes in at a door, and computes nothing."""

from functools import cache
from numbers import Real

import numpy as np


# tag::refusals[]
class ModelError(ValueError):
    """What this model cannot do; the message says what it can."""


class ShapeMismatchError(ModelError):
    """Two sizes that have to fit together and do not."""


class OutOfRangeError(ModelError):
    """A number for which there is no row, no position or no answer."""


class NotFiniteError(ModelError):
    """A NaN or an infinity among the numbers that come in."""


class NotIntegerError(ModelError, TypeError):
    """An id or a position that is not a whole number."""
# end::refusals[]


def as_floats(x):
    """Give numbers as an array of floats; whole numbers have neither shares nor turns.  Floats keep their precision."""
    x = as_array(x, "rows of numbers")
    check_real(x)
    return x.astype(np.result_type(x, np.float32), copy=False)


def as_ids(ids):
    """Give ids as an array, or refuse sequences of different lengths."""
    return as_array(ids, "sequences of ids")


def as_array(things, what):
    """Give lists as an array, or refuse those of different lengths."""
    try:
        return np.asarray(things)
    except ValueError:
        raise ShapeMismatchError(f"the {what} must be equally long: fill up the short ones") from None


WHOLE = "iu"  # NumPy's letters for kinds of numbers
REAL = WHOLE + "fb"


def check_real(x):
    """Refuse words, objects and complex numbers where real numbers are needed."""
    if x.dtype.kind not in REAL:
        raise OutOfRangeError(f"expected real numbers, not {x.dtype}")


# tag::check-heads[]
def check_heads(n_model, n_heads, n_kv_heads):
    """Refuse heads that do not share the width, or keys and values, evenly."""
    check_count("the number of heads", n_heads, least=0)
    check_count("the number of key-value heads", n_kv_heads, least=0)
    if n_heads < 1 or n_model % n_heads:
        fact = f"{n_heads} does not divide {n_model}"
        raise ShapeMismatchError(f"head count must divide model width, but {fact}")
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        fact = f"{n_kv_heads} do not divide {n_heads}"
        raise ShapeMismatchError(f"key-value heads must divide heads, but {fact}")
# end::check-heads[]


def check_keys(n_columns, n_kv_heads, d_head):
    """Refuse key and value matrices whose columns are not n_kv_heads heads of width d_head."""
    if n_columns != n_kv_heads * d_head:
        needed = f"{n_kv_heads} heads of width {d_head} need {n_kv_heads * d_head}"
        raise ShapeMismatchError(f"the key matrix has {n_columns} columns; {needed}")


def check_rotation(rotation, n_tokens, d_head):
    """Refuse a turn, [tokens, pairs], that is not of these tokens and heads."""
    check_turn(rotation)
    shape = rotation.units.shape
    if shape != (n_tokens, d_head // 2):
        raise ShapeMismatchError(
            f"the rotation is for (tokens, pairs) = {shape}; {n_tokens} tokens of head width {d_head} "
            f"need {(n_tokens, d_head // 2)}"
        )


def check_turn(turn):
    """Refuse what is no turn: a number, an array, nothing."""
    if not hasattr(turn, "units"):
        raise ShapeMismatchError(f"expected a turn of every token, not a {type(turn).__name__}: see rotation")


def check_turned(x, units):
    """Refuse rows, [..., tokens, d], that a turn of [tokens, d / 2] does not fit; one of [d / 2] is for all tokens."""
    check_row(x)
    if 2 * units.shape[-1] != x.shape[-1] or units.shape[:-1] not in ((), x.shape[-2:-1]):
        raise ShapeMismatchError(f"a turn of (tokens, pairs) = {units.shape} does not fit rows of shape {x.shape}")


def check_row(x):
    """Refuse a single number where at least one row is needed."""
    if np.ndim(x) == 0:
        raise ShapeMismatchError(f"expected rows, [..., d], not the number {x}")


def check_positions(positions):
    """Refuse positions that are no whole numbers."""
    if positions.dtype.kind not in WHOLE:
        raise NotIntegerError(f"positions must be whole numbers, not {positions.dtype}")


def check_frequencies(frequencies):
    """Refuse frequencies that are no array of finite numbers."""
    check_array(frequencies)
    if not np.isfinite(frequencies).all():
        raise NotFiniteError(f"the frequencies hold NaN or infinity: {frequencies}")


def check_pairs(pairs):
    """Refuse the name of a layout where the function is needed that turns its pairs."""
    if not callable(pairs):
        raise OutOfRangeError(f"pairs must be one of the functions interleaved and half_split, not {pairs!r}")


def check_attention(x, weights, n_heads, n_kv_heads, rotation):
    """Refuse rows, heads and turns that do not fit the attention matrices."""
    check_parts(weights, "W_q", "W_k", "W_v", "W_o")
    n_in, n_out = weights["W_q"].shape
    check_rows(x, n_in)
    check_heads(n_out, n_heads, n_kv_heads)
    check_keys(weights["W_k"].shape[-1], n_kv_heads, n_out // n_heads)
    check_same("W_k and W_v", weights["W_k"].shape, weights["W_v"].shape)
    if rotation is not None:
        check_rotation(rotation, x.shape[-2], n_out // n_heads)


def check_block(x, weights, n_heads, n_kv_heads, rotation):
    """Refuse what the attention of a block refuses, and weights that lack an array of the block."""
    check_parts(weights, "gain_1", "gain_2", *GATED)
    check_known(tuple(weights), BLOCK_NAMES)
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    check_attention(x, weights, n_heads, n_kv_heads, rotation)


def check_one_head(Q, K, V, mask):
    """Refuse queries, keys, values and a mask of one attention that do not belong together."""
    for array in (Q, K, V):
        check_array(array)
        if array.ndim < 2:
            raise ShapeMismatchError(f"expected [..., tokens, d] for queries, keys and values, not shape {array.shape}")
    check_same("the batches of queries and keys", Q.shape[:-2], K.shape[:-2])
    check_same("the batches of keys and values", K.shape[:-2], V.shape[:-2])
    if Q.shape[-1] != K.shape[-1]:
        raise ShapeMismatchError(f"queries of width {Q.shape[-1]} cannot be compared with keys of width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ShapeMismatchError(f"every key needs a value, but there are {K.shape[-2]} keys and {V.shape[-2]} values")
    if K.shape[-2] == 0:
        raise OutOfRangeError("there is no key to look at; supply at least one")
    check_real(np.asarray(mask))
    if np.shape(mask)[-2:] not in ((), (Q.shape[-2], K.shape[-2])):
        raise ShapeMismatchError(
            f"a mask of shape {np.shape(mask)} does not fit {Q.shape[-2]} queries and {K.shape[-2]} keys"
        )
    if np.isneginf(np.max(mask, axis=-1)).any():
        raise OutOfRangeError("the mask hides every key from a query: leave it at least one")


def check_scores(scores):
    """Give scores as floats; refuse those without a last axis to share out, or with none on it."""
    scores = as_floats(scores)
    if scores.ndim < 1 or scores.shape[-1] == 0:
        raise ShapeMismatchError(f"expected scores, [..., n], at least one of them, not shape {scores.shape}")
    return scores


def check_highest(highest):
    """Refuse rows by their highest scores, [..., 1]: NaN if any score is, and minus infinity only if all are."""
    # As in check_rows: a sum of squares is quick, and below infinity only if every number is finite.
    if np.vdot(highest, highest) < np.inf or np.isfinite(highest).all():
        return
    row = first_index(~np.isfinite(highest))
    if np.isneginf(highest[row]):
        raise OutOfRangeError(f"every score of row {row[:-1]} is minus infinity: leave at least one to share among")
    raise NotFiniteError(f"the scores hold NaN or infinity; the highest of row {row[:-1]} is {highest[row]}")


def check_upstream(upstream, shape, width=None):
    """Refuse a gradient by the result that is not shaped like the result.

    shape: of the result; an ellipsis before its last two axes is any batch   width: of its rows, if shape has another
    """
    wanted = shape if width is None else (*shape[:-1], width)
    if wanted or not isinstance(upstream, Real):
        check_array(upstream)
    found = np.shape(upstream)
    if found == wanted or (wanted[:1] == (...,) and found[-2:] == wanted[1:]):
        return
    wanted = str(wanted).replace("Ellipsis", "...")
    raise ShapeMismatchError(f"an upstream of shape {found} for a result of {wanted}: they must be equal")


def check_columns(x, n_heads):
    """Refuse rows, [..., tokens, heads * d_head], whose columns n_heads do not share evenly."""
    check_array(x)
    if x.ndim < 2:
        raise ShapeMismatchError(f"expected rows, [..., tokens, d], not shape {x.shape}")
    check_heads(x.shape[-1], n_heads, n_heads)


def check_heads_axis(heads):
    """Refuse an array without an axis of heads."""
    check_array(heads)
    if heads.ndim < 3:
        raise ShapeMismatchError(f"expected [..., heads, tokens, d_head], not shape {heads.shape}")


def check_keys_and_values(K, V):
    """Refuse keys and values without an axis of heads, and those of two shapes."""
    check_heads_axis(K)
    check_heads_axis(V)
    check_same("keys and values", K.shape, V.shape)


def check_group(heads, n_queries_each):
    """Refuse a group of no query head."""
    check_count("the number of query heads that share one", n_queries_each)
    check_heads_axis(heads)


def check_groups(upstream, n_queries_each):
    """Refuse query heads that are not whole groups of n_queries_each."""
    check_group(upstream, n_queries_each)
    if upstream.shape[-3] % n_queries_each:
        raise ShapeMismatchError(f"{upstream.shape[-3]} query heads are no groups of {n_queries_each}")


def check_product(x, W, b):
    """Refuse rows, [..., d_in], and a bias, [d_out] or none, that do not fit a matrix, [d_in, d_out]."""
    check_array(x)
    check_array(W)
    if x.ndim < 1 or W.ndim != 2 or x.shape[-1] != W.shape[0]:
        raise ShapeMismatchError(f"rows of shape {x.shape} do not fit a matrix of shape {W.shape}, (in, out)")
    if b is not None and np.shape(b) != W.shape[1:]:
        raise ShapeMismatchError(f"a bias of shape {np.shape(b)} does not fit a matrix of shape {W.shape}, (in, out)")


def check_upstream_of_product(upstream, x, W, b):
    """Refuse what the product refuses, and a gradient by it, [..., d_out], that is not shaped like it."""
    check_product(x, W, b)
    check_upstream(upstream, x.shape, W.shape[1])


def check_norm(x, epsilon, *parts):
    """Refuse gains and biases that are not one number a column, and an epsilon that is negative or NaN."""
    check_array(x)
    if x.ndim < 1 or x.shape[-1] == 0:
        raise ShapeMismatchError(f"expected rows, [..., d], of at least one number, not shape {x.shape}")
    for part in parts:
        check_real(np.asarray(part))
        if np.shape(part)[-1:] not in ((), x.shape[-1:]):
            raise ShapeMismatchError(f"a gain or bias of shape {np.shape(part)} does not fit rows of shape {x.shape}")
    check_not_negative("epsilon", epsilon)


def check_parts(weights, *names):
    """Refuse weights that are no dict, or that lack an array."""
    if not isinstance(weights, dict):
        raise ShapeMismatchError(f"expected a dict of arrays by name, not a {type(weights).__name__}")
    missing = [name for name in names if name not in weights]
    if missing:
        raise ShapeMismatchError(f"the weights lack {', '.join(missing)}; they have {', '.join(weights)}")


GATED = ("W_g", "W_u", "W_d")
ATTENTION_NAMES = frozenset(f"{kind}_{part}" for kind in "Wb" for part in "qkvo")
BLOCK_NAMES = ATTENTION_NAMES | {"gain_1", "gain_2", *GATED}


@cache  # the names are the same at every step
def check_known(names, known, more=""):
    """Refuse arrays that nothing would read: most often a name spelt wrongly.  more: what is known besides."""
    unknown = [name for name in names if name not in known and not (more and name.startswith("blocks."))]
    if unknown:
        held = f"the weights hold {', '.join(sorted(unknown))}, which nothing reads"
        raise ShapeMismatchError(f"{held}; known are {', '.join(sorted(known))}{more}")


def check_model_names(weights, *names):
    """Refuse weights of a model that lack one of these arrays outside its blocks, or hold another there."""
    check_parts(weights, *names)
    check_known(tuple(weights), names, " and blocks.0.W_q ...")


def check_same(what, first, second):
    """Refuse two shapes that differ."""
    if first != second:
        raise ShapeMismatchError(f"{what} must have one shape, not {first} and {second}")


@cache  # the names are the same at every step
def check_name(name):
    """Refuse an array of a block that names no block, or none of its parts."""
    parts = name.split(".")
    if len(parts) != 3 or not parts[1].isdecimal():
        raise ShapeMismatchError(f"an array of a block is named like blocks.0.W_q, not {name}")


def check_layers(layers):
    """Refuse a model without a block, and one with a gap: blocks.0 and blocks.2."""
    if sorted(layers) != list(range(max(1, len(layers)))):
        raise ShapeMismatchError(f"a model has blocks 0, 1, ..., but the weights have {sorted(layers)}")


def check_caches(caches, layers):
    """Refuse caches that are not one a block; none at all is right too."""
    if caches and len(caches) != len(layers):
        raise ShapeMismatchError(f"{len(layers)} blocks need as many caches, not {len(caches)}")


def check_starts_at_zero(cache):
    """Refuse a cache where nobody says at which positions its newest tokens stand."""
    if cache is not None:
        raise OutOfRangeError("with a cache, tokens may stand anywhere: pass the rotation of their positions")


def check_array(x):
    """Refuse a list or a number where rows are needed, for an array knows its shape; and rows of no real numbers."""
    if not isinstance(x, np.ndarray):
        raise ShapeMismatchError(f"expected an array of rows, not a {type(x).__name__}: see np.array")
    if x.dtype.kind not in REAL:  # asked here, since every product asks
        check_real(x)


def check_rows(x, width):
    """Refuse anything but finite rows of the given width: [tokens, d] or [..., tokens, d]."""
    check_array(x)
    if x.ndim < 2 or x.shape[-1] != width:
        raise ShapeMismatchError(f"expected rows of width {width}, [..., tokens, {width}], not shape {x.shape}")
    if x.shape[-2] == 0:
        raise OutOfRangeError("an empty prefix has nothing to attend to; supply at least one token")
    # x . x is quick, and finite only if every number is; a very large one is looked at again.
    if not np.isfinite(np.vdot(x, x)) and not np.isfinite(x).all():
        raise NotFiniteError(f"the input holds NaN or infinity, first at index {first_index(~np.isfinite(x))}")


def check_lookup(ids, E):
    """Refuse a table without rows and columns, ids that name no row of it, and one id where a sequence is needed."""
    check_array(E)
    if E.ndim != 2:
        raise ShapeMismatchError(f"expected a table, [n_vocab, d], not shape {E.shape}")
    check_ids(ids, len(E))
    if np.ndim(ids) == 0:
        raise ShapeMismatchError(f"expected a sequence of ids, [..., tokens], not the number {ids}")


def check_ids(ids, n_vocab):
    """Refuse an empty prefix, and ids that name no row of a table of n_vocab rows."""
    ids = as_ids(ids)
    if ids.size == 0:
        raise OutOfRangeError("an empty prefix has nothing to attend to; supply at least one token")
    check_tokens(ids, n_vocab)


def check_tokens(ids, n_vocab):
    """Refuse ids that name none of n_vocab tokens; no ids at all are none of those."""
    ids = as_ids(ids)
    if ids.size == 0:
        return
    if ids.dtype.kind not in WHOLE:
        raise NotIntegerError(f"ids must be whole numbers, not {ids.dtype}")
    if ids.min() < 0 or ids.max() >= n_vocab:
        wrong = (ids < 0) | (ids >= n_vocab)
        raise OutOfRangeError(f"id {ids[wrong][0]} at index {first_index(wrong)} is outside 0..{n_vocab - 1}")


def check_targets(logits, targets, kept):
    """Give targets and kept as arrays of one shape, ignored targets as id 0; refuse what has no loss."""
    check_array(logits)
    targets = np.asarray(targets)
    kept = np.ones(targets.shape, bool) if kept is None else np.asarray(kept, bool)
    if targets.shape != logits.shape[:-1] or kept.shape != targets.shape:
        shapes = f"targets {targets.shape} and kept {kept.shape}"
        raise ShapeMismatchError(f"logits of shape {logits.shape} need one target a row, not {shapes}")
    if not kept.any():
        raise OutOfRangeError("a loss needs at least one kept position; all are ignored")
    targets = np.where(kept, targets, 0)
    check_ids(targets, logits.shape[-1])
    return targets, kept


def check_width_is_even(width, what):
    """Refuse an odd width where columns are taken in pairs."""
    check_count(what, width, least=0)
    if width < 2 or width % 2:
        raise ShapeMismatchError(f"{what} must be even to be taken in pairs, not {width}")


def check_length(n_tokens, max_context):
    """Refuse a sequence that is empty or longer than the table of positions."""
    check_count("the number of tokens", n_tokens, least=0)
    if not 1 <= n_tokens <= max_context:
        allowed = f"1..{max_context} allowed"
        raise OutOfRangeError(f"supply a nonempty prefix within max_context: {n_tokens} tokens, {allowed}")


def check_count(name, number, least=1):
    """Refuse what is not a whole number, or too small."""
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not is_whole or number < least:
        raise OutOfRangeError(f"{name} must be a whole number of at least {least}, not {number!r}")


def check_table(table, n_tokens):
    """Refuse a table of positions that is none, and a sequence that is empty or longer."""
    check_array(table)
    if table.ndim != 2:
        raise ShapeMismatchError(f"expected a table, [max_context, d], not shape {table.shape}")
    check_length(n_tokens, len(table))


def check_some(what, things):
    """Refuse an empty list or dict, and one text where a list of them is needed."""
    if isinstance(things, str):
        raise ShapeMismatchError(f"expected a list of {what}, not the text {things!r}")
    if not len(things):
        raise OutOfRangeError(f"there are no {what}; give at least one")


def check_positive(name, number):
    """Refuse a setting that is no number, zero, negative, infinite or NaN."""
    if not isinstance(number, Real) or not 0 < number < np.inf:
        raise OutOfRangeError(f"{name} must be positive and finite, not {number}")


def check_not_negative(name, number):
    """Refuse a setting that is no number, negative, infinite or NaN."""
    # A float is quicker to ask for than any real number, and every norm asks.
    if not isinstance(number, (float, Real)) or not 0 <= number < np.inf:
        raise OutOfRangeError(f"{name} must be at least 0 and finite, not {number}")


def check_temperature(temperature):
    """Refuse a temperature that is no number, zero, negative, infinite or NaN."""
    if not isinstance(temperature, Real) or not 0 < temperature < np.inf:
        raise OutOfRangeError(f"temperature must be positive and finite, not {temperature}; for 0, take greedy")


def check_top_k(top_k, n_vocab):
    """Refuse to keep no token, or more than there are."""
    if not isinstance(top_k, int | np.integer) or not 1 <= top_k <= n_vocab:
        raise OutOfRangeError(f"top_k must keep 1..{n_vocab} tokens, not {top_k}")


def check_top_p(top_p):
    """Refuse a probability that no token, or no set of tokens, can reach."""
    if not isinstance(top_p, Real) or not 0 < top_p <= 1:
        raise OutOfRangeError(f"top_p must lie above 0 and be at most 1, not {top_p}")


def check_sampling(temperature, top_k, top_p):
    """Refuse settings with which no token could ever be drawn."""
    check_temperature(temperature)
    if top_k is not None:
        check_count("top_k", top_k)
    if top_p is not None:
        check_top_p(top_p)


def check_share(name, number):
    """Refuse a share of what was before that is not in 0..1, or 1: then nothing new would ever count."""
    if not isinstance(number, Real) or not 0 <= number < 1:
        raise OutOfRangeError(f"{name} must be at least 0 and below 1, not {number}")


def check_logits(logits):
    """Give scores as floats; refuse those without an order, or none.  Minus infinity scores what cannot come."""
    logits = as_floats(logits)
    if logits.size == 0 or np.isneginf(check_scores(logits).max(axis=-1)).any():
        raise OutOfRangeError("no token can come: there is no score above minus infinity")
    if np.isnan(logits).any() or np.isposinf(logits).any():
        raise NotFiniteError("the logits hold NaN or infinity")
    return logits


def check_choice(name, chosen, allowed):
    """Refuse a word that names none of the choices."""
    if chosen not in list(allowed):
        raise OutOfRangeError(f"{name} must be one of {', '.join(map(str, allowed))}, not {chosen!r}")


def first_index(wrong):
    """Name the first true place of an array as a tuple of plain integers."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])
