"""One code for every decoder: the variants are what they say, and every gradient agrees with differences."""

import math
from typing import NamedTuple

import loops
import numpy as np
import pytest

from embeddings import lookup, lookup_backward
from gradients import check_backward, check_gradients
from initialization import initial_weights, weight_shapes
from layernorm import layernorm, layernorm_backward
from loss import cross_entropy, cross_entropy_backward, log_softmax
from mlp import gelu, gelu_backward, gelu_erf, gelu_erf_backward, mlp, mlp_backward, relu, relu_backward
from refusals import NotIntegerError, OutOfRangeError, ShapeMismatchError
from transformer import language_model, language_model_backward
from variants import (
    LLAMA,
    VARIANTS,
    Variant,
    add_positions,
    normalize,
    residual,
    variant_model,
    variant_model_backward,
)

# Beyond the named ones, each choice once where no name has it.
CASES = VARIANTS | {
    "half-split, untied": Variant(positions="rope_half", is_tied=False),
    "exact GELU, no positions": Variant("layernorm", positions="none", feed_forward="gelu_erf"),
    "RMSNorm last": Variant(norm_first=False, positions="learned", feed_forward="relu"),
}


@pytest.fixture
def generator():
    return np.random.default_rng(0)


def draw(variant, generator):
    shapes = weight_shapes(n_vocab=7, n_model=4, n_hidden=3, n_layers=2, n_keys=2, variant=variant, max_context=6)
    weights = initial_weights(generator, shapes)
    # No gain at one, no bias at zero: each has to show.
    return {name: array + 0.1 * generator.normal(size=array.shape) for name, array in weights.items()}


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_of_every_weight_of_two_layers_agrees_with_differences(name, generator):
    variant, weights = CASES[name], draw(CASES[name], generator)
    ids, targets = generator.integers(0, 7, size=(2, 2, 5))

    def loss(weights):
        return cross_entropy(variant_model(ids, weights, 2, 1, variant).result, targets).result

    trace = variant_model(ids, weights, 2, 1, variant)
    upstream = cross_entropy_backward(1.0, cross_entropy(trace.result, targets))
    worst = check_gradients(loss, weights, variant_model_backward(upstream, trace, weights))
    assert worst.error < 1e-6, worst


@pytest.mark.parametrize("name", CASES)
def test_earlier_rows_do_not_change_when_a_later_token_does(name, generator):
    weights = draw(CASES[name], generator)
    before = variant_model(np.array([1, 2, 3, 4]), weights, 2, 1, CASES[name]).result
    after = variant_model(np.array([1, 2, 3, 6]), weights, 2, 1, CASES[name]).result

    assert np.array_equal(before[:3], after[:3])
    assert not np.allclose(before[3], after[3])


def test_the_usual_variant_is_the_language_model_of_the_main_chapter(generator):
    weights, ids = draw(LLAMA, generator), generator.integers(0, 7, size=(2, 5))
    trace, other = variant_model(ids, weights, 2, 1), language_model(ids, weights, 2, 1)
    upstream = generator.normal(size=trace.result.shape)
    gradients = language_model_backward(upstream, other, weights)

    assert np.array_equal(trace.result, other.result)
    for name, gradient in variant_model_backward(upstream, trace, weights).items():
        assert np.array_equal(gradient, gradients[name]), name


def test_a_longer_prefix_needs_no_new_weights_unless_positions_are_learned(generator):
    weights, ids = draw(LLAMA, generator), generator.integers(0, 7, size=50)

    assert variant_model(ids, weights, 2, 1).result.shape == (50, 7)


def test_a_learned_table_cannot_be_passed(generator):
    variant = VARIANTS["GPT-2"]

    with pytest.raises(OutOfRangeError, match=r"within max_context: 7 tokens, 1..6 allowed"):
        variant_model(np.zeros(7, int), draw(variant, generator), 2, 1, variant)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"norm": "batchnorm"}, "norm must be one of rmsnorm, layernorm, not 'batchnorm'"),
        ({"positions": "alibi"}, "positions must be one of rope, rope_half, sinusoidal, learned, none, not 'alibi'"),
        ({"feed_forward": "tanh"}, "feed_forward must be one of swiglu, relu, gelu, gelu_erf, not 'tanh'"),
    ],
)
def test_an_unknown_choice_is_refused_with_those_there_are(choice, message, generator):
    with pytest.raises(OutOfRangeError, match=message):
        variant_model(np.array([1]), draw(LLAMA, generator), 2, 1, Variant(**choice))


def test_new_weights_leave_rows_and_logits_near_one_in_size(generator):
    weights = initial_weights(generator, weight_shapes(500, 64, 172, 8, n_keys=64))
    trace = language_model(generator.integers(0, 500, size=(4, 32)), weights, 4)

    assert 0.7 < trace.result.std() < 1.4
    assert np.sqrt((trace.blocks[-1].result ** 2).mean()) < 2.0


def test_layernorm_is_the_formula_number_by_number(generator):
    x, gain, bias = generator.normal(size=(3, 5)), *generator.normal(size=(2, 5))
    slow = [loops.layernorm(row, gain, bias, 0.3) for row in x]

    assert np.allclose(layernorm(x, gain, bias, 0.3), slow, rtol=1e-12)


def test_layernorm_forgets_the_mean_and_the_spread_of_a_row(generator):
    x, gain, bias = generator.normal(size=(3, 5)), *generator.normal(size=(2, 5))

    assert np.allclose(layernorm(4 * x + 9, gain, bias, 0), layernorm(x, gain, bias, 0), rtol=1e-11)


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_the_backward_of_layernorm_agrees_with_differences(generator, shape):
    gain, bias = generator.normal(size=(2, 5))
    worst = check_backward(
        layernorm, layernorm_backward, x=generator.normal(size=shape), gain=gain, bias=bias, epsilon=0.3
    )

    assert worst.error < 1e-6, worst


@pytest.mark.parametrize(("activation", "slow"), [(relu, loops.relu), (gelu, loops.gelu), (gelu_erf, loops.gelu_erf)])
def test_an_activation_is_its_formula_number_by_number(activation, slow):
    numbers = [-40.0, -2.0, -0.5, 0.0, 0.5, 2.0, 40.0]

    assert np.allclose(activation(np.array(numbers)), [slow(z) for z in numbers], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("activation", "backward"),
    [
        (relu, relu_backward),
        (gelu, gelu_backward),
        (gelu_erf, gelu_erf_backward),
    ],
)
def test_the_backward_of_an_activation_agrees_with_differences(generator, activation, backward):
    worst = check_backward(activation, backward, z=2 * generator.normal(size=30))

    assert worst.error < 1e-6, worst


@pytest.mark.parametrize("activation", [relu, gelu, gelu_erf])
def test_an_activation_takes_a_plain_number(activation):
    assert np.isclose(activation(0.5), activation(np.array([0.5]))[0], rtol=1e-15)


def test_the_two_gelus_differ_by_less_than_a_thousandth_but_do_differ():
    z = np.linspace(-5, 5, 1001)

    assert 4e-4 < abs(gelu(z) - gelu_erf(z)).max() < 5e-4


def test_the_mlp_is_the_formula_number_by_number(generator):
    x, W_1, b_1, W_2, b_2 = (generator.normal(size=shape) for shape in ((3, 4), (4, 6), 6, (6, 4), 4))

    assert np.allclose(mlp(x, W_1, b_1, W_2, b_2).result, [loops.mlp(row, W_1, b_1, W_2, b_2) for row in x], rtol=1e-12)


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_erf"])
def test_the_backward_of_the_mlp_agrees_with_differences(generator, activation):
    shapes = {"x": (2, 3, 4), "W_1": (4, 6), "b_1": 6, "W_2": (6, 4), "b_2": 4}
    arrays = {name: generator.normal(size=shape) for name, shape in shapes.items()}
    worst = check_backward(mlp, mlp_backward, **arrays, activation=activation)

    assert worst.error < 1e-6, worst


def test_a_token_has_the_row_of_its_id_wherever_it_stands(generator):
    E = generator.normal(size=(7, 4))

    assert np.array_equal(lookup([[3, 1], [3, 6]], E), [[E[3], E[1]], [E[3], E[6]]])


def test_an_id_that_comes_twice_gets_both_gradients(generator):
    E, ids, upstream = generator.normal(size=(7, 4)), [3, 1, 3], generator.normal(size=(3, 4))
    gradient = lookup_backward(upstream, ids, E)

    assert np.allclose(gradient, loops.embedding_gradient(upstream, ids, 7), rtol=1e-12)
    assert check_backward(lookup, lookup_backward, ids=ids, E=E).error < 1e-6


def test_a_table_of_whole_numbers_gets_a_gradient_of_floats():
    gradient = lookup_backward(np.full((3, 2), 0.25), [1, 0, 1], np.ones((3, 2), int))

    assert gradient[:, 0].tolist() == [0.25, 0.5, 0.0]


def test_cross_entropy_is_the_formula_number_by_number(generator):
    logits, targets = generator.normal(size=(5, 7)), generator.integers(0, 7, size=5)
    arguments = logits, targets, [True, False, True, True, True]

    assert np.isclose(cross_entropy(*arguments).result, loops.cross_entropy(*arguments), rtol=1e-12)


def test_logarithms_of_shares_are_the_formula_number_by_number(generator):
    logits = generator.normal(size=(3, 7))

    assert np.allclose(np.exp(log_softmax(logits)), [loops.softmax(row) for row in logits], rtol=1e-12)


def test_a_share_too_small_for_a_number_still_has_its_logarithm():
    assert log_softmax(np.array([0.0, -2000.0])).tolist() == [0.0, -2000.0]


def test_equal_logits_surprise_by_the_logarithm_of_the_vocabulary():
    assert np.isclose(cross_entropy(np.zeros((2, 3, 50)), np.zeros((2, 3), int)).result, np.log(50), rtol=1e-12)


def test_an_ignored_position_may_hold_any_target_and_gets_no_gradient(generator):
    logits = generator.normal(size=(3, 7))
    trace = cross_entropy(logits, [2, -100, 4], [True, False, True])

    assert trace.result == cross_entropy(logits, [2, 0, 4], [True, False, True]).result
    assert not cross_entropy_backward(1.0, trace)[1].any()


def test_the_backward_of_cross_entropy_agrees_with_differences(generator):
    arguments = {"logits": generator.normal(size=(2, 3, 7)), "targets": generator.integers(0, 7, size=(2, 3))}
    kept = np.array([[True, True, False], [True, True, True]])

    assert check_backward(cross_entropy, cross_entropy_backward, **arguments, kept=kept).error < 1e-6


def test_the_gradient_of_cross_entropy_sums_to_zero_in_every_row(generator):
    trace = cross_entropy(generator.normal(size=(3, 7)), [1, 2, 3])

    assert np.allclose(cross_entropy_backward(1.0, trace).sum(axis=-1), 0, atol=1e-15)


@pytest.mark.parametrize(
    ("targets", "kept", "error", "message"),
    [
        ([1, 7, 2], None, OutOfRangeError, r"id 7 at index \(1,\) is outside 0..6"),
        ([1.0, 2.0, 3.0], None, NotIntegerError, "ids must be whole numbers, not float64"),
        ([1, 2], None, ShapeMismatchError, r"logits of shape \(3, 7\) need one target a row"),
        ([1, 2, 3], [False] * 3, OutOfRangeError, "at least one kept position"),
    ],
)
def test_targets_without_a_loss_are_refused(targets, kept, error, message):
    with pytest.raises(error, match=message):
        cross_entropy(np.zeros((3, 7)), targets, kept)


@pytest.mark.parametrize("place", ["", "_1", "_2"])
def test_a_variant_normalizes_by_the_weights_of_the_place(place, generator):
    x, epsilon = generator.normal(size=(3, 5)), 0.3
    weights = {part + end: generator.normal(size=5) for part in ("gain", "bias") for end in ("", "_1", "_2")}
    gain, bias = weights["gain" + place], weights["bias" + place]
    centred = normalize(x, weights, place, Variant(norm="layernorm"), epsilon)
    scaled = normalize(x, weights, place, LLAMA, epsilon)

    assert np.allclose(centred, [loops.layernorm(row, gain, bias, epsilon) for row in x], rtol=1e-12)
    assert np.allclose(scaled, [loops.rmsnorm(row, gain, epsilon) for row in x], rtol=1e-12)


class Doubled(NamedTuple):
    """The trace of a sublayer that doubles what it reads."""

    result: np.ndarray


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_residual_sum_is_the_formula_number_by_number(norm_first, generator):
    x = generator.normal(size=(3, 5))
    trace, rows = residual(x, lambda x: Doubled(2 * x), np.tanh, norm_first)
    slow = [[a + 2 * math.tanh(a) if norm_first else math.tanh(a + 2 * a) for a in row] for row in x]

    assert np.allclose(rows, slow, rtol=1e-12)
    assert np.array_equal(trace.result, 2 * (np.tanh(x) if norm_first else x))


def test_a_sublayer_that_is_silent_leaves_the_stream_as_it_was_if_the_norm_is_first(generator):
    x = generator.normal(size=(3, 5))
    _, rows = residual(x, lambda x: Doubled(0 * x), np.tanh, norm_first=True)

    assert np.array_equal(rows, x)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rope", "none"])
def test_positions_are_added_row_by_row(positions, generator):
    x, P = generator.normal(size=(2, 3, 4)), generator.normal(size=(6, 4))
    added = {"sinusoidal": loops.sinusoidal(6, 4), "learned": P.tolist()}.get(positions, [[0.0] * 4] * 6)
    slow = [[[a + p for a, p in zip(x[b, t], added[2 + t], strict=True)] for t in range(3)] for b in range(2)]

    assert np.allclose(add_positions(x, {"P": P}, Variant(positions=positions), start=2), slow, rtol=1e-12)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rope"])
def test_rows_read_in_two_parts_get_the_positions_that_they_have_in_one(positions, generator):
    x, weights, variant = (
        generator.normal(size=(5, 4)),
        {"P": generator.normal(size=(6, 4))},
        Variant(positions=positions),
    )
    whole = add_positions(x, weights, variant, 0)

    assert np.array_equal(add_positions(x[:2], weights, variant, 0), whole[:2])
    assert np.array_equal(add_positions(x[2:], weights, variant, 2), whole[2:])
