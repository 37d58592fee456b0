"""The block and the model that stacks it: against slow loops, by properties, and by differences."""

import loops
import numpy as np
import pytest

from attention import linear, linear_backward, rows, softmax, softmax_backward
from gradients import check_backward, check_gradients
from initialization import block_shapes, initial_weights, weight_shapes
from loss import cross_entropy, cross_entropy_backward
from positions import half_split, interleaved, rope_frequencies, rotation
from refusals import NotFiniteError, NotIntegerError, OutOfRangeError, ShapeMismatchError
from transformer import (
    block,
    block_backward,
    join_layers,
    language_model,
    language_model_backward,
    rmsnorm,
    rmsnorm_backward,
    sigmoid,
    silu,
    silu_backward,
    split_layers,
    stack,
    stack_backward,
    swiglu,
    swiglu_backward,
    tied_head,
    tied_head_backward,
)

N_HEADS, N_KV_HEADS = 4, 2


@pytest.fixture
def generator():
    return np.random.default_rng(0)


def perturbed(weights, generator):
    """No gain at one, no bias at zero: each has to show."""
    return {name: array + 0.1 * generator.normal(size=array.shape) for name, array in weights.items()}


@pytest.fixture
def weights(generator):
    return perturbed(initial_weights(generator, block_shapes(n_model=8, n_hidden=6, n_keys=4)), generator)


@pytest.fixture
def model(generator):
    shapes = weight_shapes(n_vocab=7, n_model=8, n_hidden=6, n_layers=2, n_keys=4)
    return perturbed(initial_weights(generator, shapes), generator)


def test_rmsnorm_is_the_formula_number_by_number(generator):
    x, gain = generator.normal(size=(3, 5)), generator.normal(size=5)

    assert np.allclose(rmsnorm(x, gain, 0.3), [loops.rmsnorm(row, gain, 0.3) for row in x], rtol=1e-12)


def test_rmsnorm_with_gain_one_leaves_a_mean_square_of_one(generator):
    normal = rmsnorm(generator.normal(size=(4, 6)) * 100, np.ones(6))

    assert np.allclose((normal**2).mean(axis=-1), 1.0, rtol=1e-6)


def test_rmsnorm_forgets_the_length_of_a_row(generator):
    x, gain = generator.normal(size=(3, 5)), generator.normal(size=5)

    assert np.allclose(rmsnorm(7 * x, gain, 0), rmsnorm(x, gain, 0), rtol=1e-12)


def test_the_gradient_of_rmsnorm_is_at_right_angles_to_the_row(generator):
    x, upstream = generator.normal(size=(2, 3, 5))

    assert np.allclose((rmsnorm_backward(upstream, x, np.ones(5), 0)[0] * x).sum(axis=-1), 0, atol=1e-12)


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_the_backward_of_rmsnorm_agrees_with_differences(generator, shape):
    worst = check_backward(rmsnorm, rmsnorm_backward, x=generator.normal(size=shape),
                           gain=generator.normal(size=5), epsilon=0.3)

    assert worst.error < 1e-6, worst


def test_silu_is_the_formula_number_by_number():
    numbers = [-30.0, -1.0, 0.0, 0.5, 30.0]

    assert np.allclose(silu(np.array(numbers)), [loops.silu(z) for z in numbers], rtol=1e-12, atol=0)


def test_the_sigmoid_of_huge_numbers_is_zero_or_one_without_a_warning():
    assert sigmoid(np.array([-1e4, 1e4])).tolist() == [0.0, 1.0]


def test_the_backward_of_silu_agrees_with_differences(generator):
    worst = check_backward(silu, silu_backward, z=3 * generator.normal(size=20))

    assert worst.error < 1e-6, worst


def test_swiglu_is_the_formula_number_by_number(generator):
    x, W_g, W_u, W_d = (generator.normal(size=shape) for shape in ((3, 4), (4, 6), (4, 6), (6, 4)))

    assert np.allclose(swiglu(x, W_g, W_u, W_d).result, [loops.swiglu(row, W_g, W_u, W_d) for row in x], rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
def test_the_backward_of_swiglu_agrees_with_differences(generator, shape):
    W_g, W_u, W_d = (generator.normal(size=shape) for shape in ((4, 6), (4, 6), (6, 4)))
    worst = check_backward(swiglu, swiglu_backward, x=generator.normal(size=shape), W_g=W_g, W_u=W_u, W_d=W_d)

    assert worst.error < 1e-6, worst


def test_the_block_is_the_formula_number_by_number(generator, weights):
    x = generator.normal(size=(5, 8))
    slow = loops.block(x.tolist(), {name: array.tolist() for name, array in weights.items()},
                       N_HEADS, N_KV_HEADS, 1e-5, 10_000.0)

    assert np.allclose(block(x, weights, N_HEADS, N_KV_HEADS).result, slow, rtol=1e-12)


def test_every_array_of_the_block_has_one_row_a_token(generator, weights):
    trace = block(generator.normal(size=(2, 5, 8)), weights, N_HEADS, N_KV_HEADS)

    for name in ("x", "norm_1", "u", "norm_2", "result"):
        assert getattr(trace, name).shape == (2, 5, 8), name
    assert trace.attention.heads.shares.shape == (2, 4, 5, 5)
    assert trace.attention.K.shape == (2, 2, 5, 2)
    assert trace.feed_forward.gate.shape == (2, 5, 6)


def test_a_batch_is_its_sequences_one_by_one(generator, weights):
    x = generator.normal(size=(3, 5, 8))
    alone = [block(sequence, weights, N_HEADS, N_KV_HEADS).result for sequence in x]

    assert np.allclose(block(x, weights, N_HEADS, N_KV_HEADS).result, alone, rtol=1e-12)


def test_the_backward_of_the_block_agrees_with_differences(generator, weights):
    x, upstream = generator.normal(size=(2, 2, 5, 8))
    x_gradient, gradients = block_backward(upstream, block(x, weights, N_HEADS, N_KV_HEADS), weights)

    def moved(arrays):
        rest = {name: array for name, array in arrays.items() if name != "x"}
        return (upstream * block(arrays["x"], rest, N_HEADS, N_KV_HEADS).result).sum()

    worst = check_gradients(moved, weights | {"x": x}, gradients | {"x": x_gradient})
    assert worst.error < 1e-6, worst


def test_the_backward_of_the_block_changes_none_of_its_arguments(generator, weights):
    x, upstream = generator.normal(size=(2, 5, 8))
    before = {name: array.copy() for name, array in weights.items()} | {"x": x.copy(), "upstream": upstream.copy()}
    block_backward(upstream, block(x, weights, N_HEADS, N_KV_HEADS), weights)

    for name, array in (weights | {"x": x, "upstream": upstream}).items():
        assert np.array_equal(array, before[name]), name


def test_earlier_rows_do_not_change_when_a_later_token_does(model):
    before = language_model([1, 2, 3, 4], model, N_HEADS, N_KV_HEADS).result
    after = language_model([1, 2, 3, 6], model, N_HEADS, N_KV_HEADS).result

    assert np.array_equal(before[:3], after[:3])
    assert not np.allclose(before[3], after[3])


def test_the_model_is_the_formula_number_by_number(model):
    layers = [{name: array.tolist() for name, array in layer.items()} for layer in split_layers(model)]
    E, gain = model["E"].tolist(), model["gain"].tolist()
    slow = loops.language_model([3, 1, 3, 5], E, layers, gain, N_HEADS, N_KV_HEADS, 1e-5, 10_000.0)

    assert np.allclose(language_model([3, 1, 3, 5], model, N_HEADS, N_KV_HEADS).result, slow, rtol=1e-11)


def test_the_gradient_of_a_row_of_logits_reaches_no_later_token(model):
    trace = language_model([0, 1, 2, 3], model, N_HEADS, N_KV_HEADS)
    upstream = np.zeros_like(trace.result)
    upstream[1, 5] = 1.0
    gradients = language_model_backward(upstream, trace, model | {"E": model["E"].copy()})
    E_as_head = np.outer(upstream[1], trace.hidden[1])

    assert np.array_equal(gradients["E"][2:4], E_as_head[2:4])
    assert not np.allclose(gradients["E"][:2], E_as_head[:2])


def test_a_tied_head_scores_by_likeness_to_each_embedding(generator):
    hidden, E = generator.normal(size=(3, 4)), generator.normal(size=(7, 4))

    assert np.allclose(tied_head(hidden, E)[1, 5], hidden[1] @ E[5], rtol=1e-12)
    assert check_backward(tied_head, tied_head_backward, hidden=hidden, E=E).error < 1e-6


def test_the_gradient_of_every_weight_of_two_layers_agrees_with_differences(generator, model):
    ids, targets = generator.integers(0, 7, size=(2, 2, 5))

    def loss(weights):
        return cross_entropy(language_model(ids, weights, N_HEADS, N_KV_HEADS).result, targets).result

    trace = language_model(ids, model, N_HEADS, N_KV_HEADS)
    upstream = cross_entropy_backward(1.0, cross_entropy(trace.result, targets))
    worst = check_gradients(loss, model, language_model_backward(upstream, trace, model))
    assert worst.error < 1e-6, worst


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4)])
def test_every_function_of_rows_takes_one_row_several_or_a_batch(generator, shape):
    x, W, W_d = generator.normal(size=shape), generator.normal(size=(4, 6)), generator.normal(size=(6, 4))
    trace = swiglu(x, W, W, W_d)

    assert trace.result.shape == swiglu_backward(x, trace, W, W, W_d)[0].shape == shape
    assert linear_backward(linear(x, W), x, W)[0].shape == shape
    assert softmax(x).shape == softmax_backward(x, softmax(x)).shape == shape
    assert cross_entropy_backward(1.0, cross_entropy(x, np.zeros(shape[:-1], int))).shape == shape


def test_a_stack_is_one_block_after_another(generator, model):
    x, upstream, (first, second) = *generator.normal(size=(2, 5, 8)), split_layers(model)
    low = block(x, first, N_HEADS, N_KV_HEADS)
    high = block(low.result, second, N_HEADS, N_KV_HEADS)
    between, second_bars = block_backward(upstream, high, second)
    x_bar, first_bars = block_backward(between, low, first)
    traces = stack(x, [first, second], N_HEADS, N_KV_HEADS)

    np.testing.assert_equal([trace.result for trace in traces], [low.result, high.result])
    np.testing.assert_equal(stack_backward(upstream, traces, [first, second]), (x_bar, [first_bars, second_bars]))


def test_layers_are_split_in_their_order_past_ten_and_join_again(generator):
    weights = {f"blocks.{i}.W_q": np.full(1, i) for i in range(12)}

    assert [layer["W_q"].item() for layer in split_layers(weights)] == list(range(12))
    assert join_layers(split_layers(weights)) == weights


@pytest.mark.parametrize("pairs", [interleaved, half_split])
def test_a_model_in_single_precision_computes_in_single_precision(generator, model, pairs):
    single = {name: array.astype(np.float32) for name, array in model.items()}
    turn = rotation(np.arange(4), rope_frequencies(2), pairs)
    trace = language_model([0, 1, 2, 3], single, N_HEADS, N_KV_HEADS, turn)
    gradients = language_model_backward(trace.result, trace, single)

    assert trace.result.dtype == np.float32
    assert {gradient.dtype for gradient in gradients.values()} == {np.dtype(np.float32)}
    assert np.allclose(trace.result, language_model([0, 1, 2, 3], model, N_HEADS, N_KV_HEADS, turn).result, atol=1e-5)


def test_rows_are_seen_without_a_copy(generator):
    x = generator.normal(size=(2, 3, 4))

    assert rows(x).base is x


@pytest.mark.parametrize(("ids", "error", "message"), [
    ([1, 7], OutOfRangeError, r"id 7 at index \(1,\) is outside 0..6"),
    ([[0], [-1]], OutOfRangeError, r"id -1 at index \(1, 0\) is outside 0..6"),
    ([0.5], NotIntegerError, "ids must be whole numbers, not float64"),
    ([], OutOfRangeError, "an empty prefix has nothing to attend to"),
])
def test_the_model_refuses_ids_without_a_row(model, ids, error, message):
    with pytest.raises(error, match=message):
        language_model(ids, model, N_HEADS, N_KV_HEADS)


@pytest.mark.parametrize(("heads", "message"), [
    ((3, 1), "head count must divide model width, but 3 does not divide 8"),
    ((0, 0), "head count must divide model width, but 0 does not divide 8"),
    ((4, 3), "key-value heads must divide heads, but 3 do not divide 4"),
    ((4, 4), "the key matrix has 4 columns; 4 heads of width 2 need 8"),
    ((8, 4), "the head width must be even to be taken in pairs, not 1"),
])
def test_the_block_refuses_heads_that_do_not_fit(generator, weights, heads, message):
    with pytest.raises(ShapeMismatchError, match=message):
        block(generator.normal(size=(5, 8)), weights, *heads)


def test_the_block_refuses_rows_of_another_width(generator, weights):
    with pytest.raises(ShapeMismatchError, match=r"rows of width 8, \[\.\.\., tokens, 8\], not shape \(5, 6\)"):
        block(generator.normal(size=(5, 6)), weights, N_HEADS, N_KV_HEADS)


def test_the_block_refuses_a_single_vector(generator, weights):
    with pytest.raises(ShapeMismatchError, match=r"not shape \(8,\)"):
        block(generator.normal(size=8), weights, N_HEADS, N_KV_HEADS)


def test_the_block_does_not_guess_where_the_tokens_after_a_cache_stand(generator, weights):
    with pytest.raises(OutOfRangeError, match="pass the rotation of their positions"):
        block(generator.normal(size=(1, 8)), weights, N_HEADS, N_KV_HEADS, cache=object())


def test_the_block_refuses_an_empty_prefix(weights):
    with pytest.raises(OutOfRangeError, match="an empty prefix has nothing to attend to"):
        block(np.zeros((0, 8)), weights, N_HEADS, N_KV_HEADS)


def test_the_block_names_the_place_of_a_number_that_is_none(generator, weights):
    x = generator.normal(size=(5, 8))
    x[3, 2] = np.nan

    with pytest.raises(NotFiniteError, match=r"NaN or infinity, first at index \(3, 2\)"):
        block(x, weights, N_HEADS, N_KV_HEADS)
