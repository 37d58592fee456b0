"""Refuse what cannot work, with one clear error each.  Checks what comes in at a door; computes nothing."""

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


# tag::check-heads[]
def check_heads(n_model, n_heads, n_kv_heads):
    """Refuse heads that do not share the width, or keys and values, evenly."""
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


def check_rotation(shape, n_tokens, d_head):
    """Refuse a turn, [tokens, pairs], that is not of these tokens and heads."""
    if shape != (n_tokens, d_head // 2):
        raise ShapeMismatchError(
            f"the rotation is for (tokens, pairs) = {shape}; {n_tokens} tokens of head width {d_head} "
            f"need {(n_tokens, d_head // 2)}"
        )


def check_attention(x, weights, n_heads, n_kv_heads, rotation):
    """Refuse rows, heads and turns that do not fit the attention matrices."""
    n_in, n_out = weights["W_q"].shape
    check_rows(x, n_in)
    check_heads(n_out, n_heads, n_kv_heads)
    check_keys(weights["W_k"].shape[-1], n_kv_heads, n_out // n_heads)
    if rotation is not None:
        check_rotation(rotation.units.shape, x.shape[-2], n_out // n_heads)


def check_starts_at_zero(cache):
    """Refuse a cache where nobody says at which positions its newest tokens stand."""
    if cache is not None:
        raise OutOfRangeError("with a cache, tokens may stand anywhere: pass the rotation of their positions")


def check_rows(x, width):
    """Refuse anything but finite rows of the given width: [tokens, d] or [..., tokens, d]."""
    if x.ndim < 2 or x.shape[-1] != width:
        raise ShapeMismatchError(f"expected rows of width {width}, [..., tokens, {width}], not shape {x.shape}")
    if x.shape[-2] == 0:
        raise OutOfRangeError("an empty prefix has nothing to attend to; supply at least one token")
    # x . x is quick, and finite only if every number is; a very large one is looked at again.
    if not np.isfinite(np.vdot(x, x)) and not np.isfinite(x).all():
        raise NotFiniteError(f"the input holds NaN or infinity, first at index {first_index(~np.isfinite(x))}")


def check_ids(ids, n_vocab):
    """Refuse ids that name no row of a table of n_vocab rows."""
    ids = np.asarray(ids)
    if ids.size == 0:
        raise OutOfRangeError("an empty prefix has nothing to attend to; supply at least one token")
    if not np.issubdtype(ids.dtype, np.integer):
        raise NotIntegerError(f"ids must be whole numbers, not {ids.dtype}")
    if ids.min() < 0 or ids.max() >= n_vocab:
        wrong = (ids < 0) | (ids >= n_vocab)
        raise OutOfRangeError(f"id {ids[wrong][0]} at index {first_index(wrong)} is outside 0..{n_vocab - 1}")


def check_targets(logits, targets, kept):
    """Give targets and kept as arrays of one shape, ignored targets as id 0; refuse what has no loss."""
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
    if width < 2 or width % 2:
        raise ShapeMismatchError(f"{what} must be even to be taken in pairs, not {width}")


def check_length(n_tokens, max_context):
    """Refuse a sequence that is empty or longer than the table of positions."""
    if not 1 <= n_tokens <= max_context:
        allowed = f"1..{max_context} allowed"
        raise OutOfRangeError(f"supply a nonempty prefix within max_context: {n_tokens} tokens, {allowed}")


def check_choice(name, chosen, allowed):
    """Refuse a word that names none of the choices."""
    if chosen not in allowed:
        raise OutOfRangeError(f"{name} must be one of {', '.join(allowed)}, not {chosen!r}")


def first_index(wrong):
    """Name the first true place of an array as a tuple of plain integers."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])
