"""Attention: against a slow loop, by what must hold of it, and by differences."""

import loops
import numpy as np
import pytest

from attention import (
    attention,
    attention_backward,
    causal_mask,
    linear,
    linear_backward,
    merge_heads,
    multi_head_attention,
    multi_head_attention_backward,
    project,
    share_heads,
    share_heads_backward,
    softmax,
    softmax_backward,
    split_heads,
)
from gradients import check_backward, check_gradients
from positions import half_split, rope_frequencies, rotation
from refusals import NotFiniteError, OutOfRangeError, ShapeMismatchError


@pytest.fixture
def generator():
    return np.random.default_rng(0)


@pytest.fixture
def weights(generator):
    """Four query heads of width 2, two key-value heads, biases everywhere."""
    shapes = {"W_q": (6, 8), "W_k": (6, 4), "W_v": (6, 4), "W_o": (8, 6), "b_q": 8, "b_k": 4, "b_v": 4, "b_o": 6}
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def turn(n_tokens, **pairs):
    return rotation(np.arange(n_tokens), rope_frequencies(2), **pairs)


def test_softmax_is_the_formula_number_by_number(generator):
    scores = generator.normal(size=(3, 5))

    assert np.allclose(softmax(scores), [loops.softmax(row) for row in scores], rtol=1e-12)


def test_shares_are_positive_and_sum_to_one(generator):
    shares = softmax(10 * generator.normal(size=(2, 3, 5)))

    assert (shares > 0).all()
    assert np.allclose(shares.sum(axis=-1), 1.0, rtol=1e-12)


def test_softmax_of_huge_scores_neither_overflows_nor_warns():
    assert softmax(np.array([1000.0, 1000.0, -1000.0])).tolist() == [0.5, 0.5, 0.0]


def test_softmax_does_not_change_when_every_score_is_raised(generator):
    scores = generator.normal(size=(3, 5))

    assert np.allclose(softmax(scores + 12.5), softmax(scores), rtol=1e-12)


def test_softmax_does_not_change_its_argument(generator):
    scores = generator.normal(size=(3, 5))
    before = scores.copy()
    softmax(scores)

    assert np.array_equal(scores, before)


def test_the_backward_of_softmax_agrees_with_differences(generator):
    worst = check_backward(softmax, softmax_backward, scores=generator.normal(size=(3, 5)))

    assert worst.error < 1e-6, worst


def test_the_mask_hides_exactly_the_keys_after_a_query():
    assert causal_mask(3).tolist() == [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]]


def test_the_last_query_stands_at_the_last_key():
    assert causal_mask(2, 4).tolist() == [[0, 0, 0, -np.inf], [0, 0, 0, 0]]


def test_the_mask_cannot_be_changed_by_one_caller_for_all():
    with pytest.raises(ValueError, match="read-only"):
        causal_mask(3)[0, 1] = 0


def test_one_head_is_the_formula_number_by_number(generator):
    Q, K = generator.normal(size=(2, 5, 4))
    V = generator.normal(size=(5, 3))

    assert np.allclose(attention(Q, K, V, causal_mask(5)).result, loops.causal_attention(Q, K, V), rtol=1e-12)


@pytest.mark.parametrize("mask", [0.0, causal_mask(3, 4)])
def test_the_backward_of_one_head_agrees_with_differences(generator, mask):
    Q, K, V = (generator.normal(size=shape) for shape in ((2, 3, 4), (2, 4, 4), (2, 4, 5)))
    trace = attention(Q, K, V, mask)
    upstream = generator.normal(size=trace.result.shape)
    gradients = dict(zip("QKV", attention_backward(upstream, trace), strict=True))
    worst = check_gradients(lambda a: (upstream * attention(**a, mask=mask).result).sum(), {"Q": Q, "K": K, "V": V},
                            gradients)

    assert worst.error < 1e-6, worst


def test_a_matrix_serves_every_row_number_by_number(generator):
    x, W, b = generator.normal(size=(2, 5, 4)), generator.normal(size=(4, 3)), generator.normal(size=3)
    slow = [[loops.times(row, W) for row in sequence] for sequence in x]

    assert np.allclose(linear(x, W), slow, rtol=1e-12)
    assert np.allclose(project(x, {"W_q": W, "b_q": b}, "q"), slow + b, rtol=1e-12)


@pytest.mark.parametrize("b", [None, np.ones(3)])
def test_the_backward_of_a_matrix_agrees_with_differences(generator, b):
    x, W = generator.normal(size=(2, 5, 4)), generator.normal(size=(4, 3))
    upstream = generator.normal(size=(2, 5, 3))
    arrays = {"x": x, "W": W} | ({} if b is None else {"b": b})
    gradients = dict(zip(arrays, linear_backward(upstream, x, W, b), strict=False))
    worst = check_gradients(lambda a: (upstream * linear(**a)).sum(), arrays, gradients)

    assert worst.error < 1e-6, worst


def test_a_head_owns_neighbouring_columns(generator):
    x = generator.normal(size=(2, 5, 6))

    assert np.array_equal(split_heads(x, 3)[1, 2], x[1, :, 4:6])


def test_merging_undoes_splitting(generator):
    x = generator.normal(size=(2, 5, 6))

    assert np.array_equal(merge_heads(split_heads(x, 3)), x)


def test_neighbouring_query_heads_share_a_key_value_head(generator):
    heads = generator.normal(size=(2, 5, 3))

    assert np.array_equal(share_heads(heads, 2), heads[[0, 0, 1, 1]])


def test_a_shared_head_gets_the_sum_of_what_its_group_asks(generator):
    upstream = generator.normal(size=(4, 5, 3))

    assert np.allclose(share_heads_backward(upstream, 2), [upstream[0] + upstream[1], upstream[2] + upstream[3]])


def test_grouped_attention_is_the_formula_number_by_number(generator, weights):
    x = generator.normal(size=(5, 6))
    matrices = {name: array for name, array in weights.items() if name.startswith("W")}
    slow = loops.grouped_attention(x, *(matrices[f"W_{part}"] for part in "qkvo"), 4, 2, 10_000.0)

    assert np.allclose(multi_head_attention(x, matrices, 4, 2, turn(5)).result, slow, rtol=1e-12)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("turned", [None, turn(5), turn(5, pairs=half_split)])
def test_the_backward_of_all_heads_agrees_with_differences(generator, n_kv_heads, turned):
    shapes = {"W_q": (6, 8), "W_k": (6, 2 * n_kv_heads), "W_v": (6, 2 * n_kv_heads), "W_o": (8, 6)}
    shapes |= {name.replace("W", "b"): shape[1] for name, shape in shapes.items()} | {"x": (2, 5, 6)}
    arrays = {name: generator.normal(size=shape) for name, shape in shapes.items()}
    upstream = generator.normal(size=(2, 5, 6))

    def forward(arrays):
        return multi_head_attention(arrays["x"], arrays, 4, n_kv_heads, turned)

    x_gradient, gradients = multi_head_attention_backward(upstream, forward(arrays), arrays)
    worst = check_gradients(lambda a: (upstream * forward(a).result).sum(), arrays, gradients | {"x": x_gradient})
    assert worst.error < 1e-6, worst


def test_without_mask_and_positions_shuffled_tokens_give_shuffled_rows(generator, weights):
    x, order = generator.normal(size=(6, 6)), generator.permutation(6)
    rows = multi_head_attention(x, weights, 4, 2, causal=False).result

    assert np.allclose(multi_head_attention(x[order], weights, 4, 2, causal=False).result, rows[order], rtol=1e-12)


def test_with_the_mask_shuffled_tokens_give_other_rows(generator, weights):
    x, order = generator.normal(size=(6, 6)), np.array([1, 0, 2, 3, 4, 5])
    rows = multi_head_attention(x, weights, 4, 2).result
    shuffled = multi_head_attention(x[order], weights, 4, 2).result

    assert not np.allclose(shuffled[:2], rows[order][:2])
    assert np.allclose(shuffled[2:], rows[order][2:], rtol=1e-12)


def test_a_common_shift_of_all_positions_changes_nothing(generator, weights):
    x = generator.normal(size=(5, 6))
    later = rotation(np.arange(100, 105), rope_frequencies(2))

    assert np.allclose(
        multi_head_attention(x, weights, 4, 2, later).result, multi_head_attention(x, weights, 4, 2, turn(5)).result
    )


def test_earlier_rows_do_not_change_when_a_later_token_does(generator, weights):
    x = generator.normal(size=(5, 6))
    changed = np.concatenate([x[:3], generator.normal(size=(2, 6))])

    assert np.array_equal(
        multi_head_attention(x, weights, 4, 2).result[:3], multi_head_attention(changed, weights, 4, 2).result[:3]
    )


def test_a_key_bias_changes_no_share_unless_keys_are_turned(generator, weights):
    x = generator.normal(size=(5, 6))
    other = weights | {"b_k": weights["b_k"] + 1}

    assert np.allclose(multi_head_attention(x, weights, 4, 2).result, multi_head_attention(x, other, 4, 2).result)
    assert not np.allclose(
        multi_head_attention(x, weights, 4, 2, turn(5)).result, multi_head_attention(x, other, 4, 2, turn(5)).result
    )


@pytest.mark.parametrize(("x", "heads", "rotation", "error", "message"), [
    (np.zeros((5, 6)), (3, 3), None, ShapeMismatchError, "head count must divide model width"),
    (np.zeros((5, 6)), (4, 3), None, ShapeMismatchError, "3 do not divide 4"),
    (np.zeros((5, 6)), (4, 4), None, ShapeMismatchError, "the key matrix has 4 columns; 4 heads of width 2 need 8"),
    (np.zeros((5, 7)), (4, 2), None, ShapeMismatchError, r"not shape \(5, 7\)"),
    (np.zeros((0, 6)), (4, 2), None, OutOfRangeError, "an empty prefix"),
    (np.full((5, 6), np.inf), (4, 2), None, NotFiniteError, r"NaN or infinity, first at index \(0, 0\)"),
    (np.zeros((5, 6)), (4, 2), turn(4), ShapeMismatchError, r"need \(5, 1\)"),
])
def test_what_does_not_fit_is_refused_at_the_door(weights, x, heads, rotation, error, message):
    with pytest.raises(error, match=message):
        multi_head_attention(x, weights, *heads, rotation)
