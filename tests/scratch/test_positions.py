"""Positions: against slow loops, by what a turn must keep, and by differences."""

import loops
import numpy as np
import pytest

from attention import attention, split_heads
from gradients import check_backward, check_gradients
from positions import (
    half_split,
    interleaved,
    interleaved_to_half,
    learned,
    learned_backward,
    reorder_heads,
    rope,
    rope_backward,
    rope_frequencies,
    rotate,
    rotate_backward,
    rotation,
    sinusoidal,
    usual_rotation,
)
from refusals import NotIntegerError, OutOfRangeError, ShapeMismatchError
from rope_scaling import llama3_frequencies, slow_down, yarn_attention_factor, yarn_frequencies


@pytest.fixture
def generator():
    return np.random.default_rng(0)


def test_sinusoidal_positions_are_the_formula_number_by_number():
    assert np.allclose(sinusoidal(7, 6), loops.sinusoidal(7, 6), rtol=1e-12)


def test_no_two_positions_have_the_same_fingerprint():
    waves = sinusoidal(200, 8)
    apart = np.linalg.norm(waves[:, None] - waves, axis=-1) + np.eye(200)

    assert apart.min() > 0.1


@pytest.mark.parametrize("width", [0, 5])
def test_an_odd_or_empty_width_is_refused(width):
    with pytest.raises(ShapeMismatchError, match=f"must be even to be taken in pairs, not {width}"):
        sinusoidal(3, width)


def test_learned_positions_are_the_first_rows_of_the_table(generator):
    table = generator.normal(size=(6, 4))

    assert np.array_equal(learned(table, 3), table[:3])


def test_a_learned_position_gets_the_gradients_of_the_whole_batch(generator):
    table, x, upstream = generator.normal(size=(6, 4)), *generator.normal(size=(2, 2, 3, 4))
    gradient = learned_backward(upstream, table, 3)
    worst = check_gradients(
        lambda a: (upstream * (x + learned(a["table"], 3))).sum(), {"table": table}, {"table": gradient}
    )

    assert worst.error < 1e-6, worst
    assert not gradient[3:].any()


def test_a_learned_table_of_whole_numbers_gets_a_gradient_of_floats():
    gradient = learned_backward(np.full((2, 3, 4), 0.25), np.ones((5, 4), int), 3)

    assert np.array_equal(gradient[:, 0], [0.5, 0.5, 0.5, 0, 0])


@pytest.mark.parametrize("n_tokens", [0, 7])
def test_a_learned_table_refuses_a_length_it_has_no_rows_for(generator, n_tokens):
    with pytest.raises(OutOfRangeError, match=f"within max_context: {n_tokens} tokens, 1..6 allowed"):
        learned(generator.normal(size=(6, 4)), n_tokens)


def test_rope_is_the_formula_number_by_number(generator):
    x, positions = generator.normal(size=(5, 6)), np.array([0, 3, 1, 40, 7])
    slow = [loops.rope(row, position, 100.0) for row, position in zip(x, positions, strict=True)]

    assert np.allclose(rope(x, positions, 100.0), slow, rtol=1e-12)


def test_one_row_can_be_turned_by_one_position(generator):
    x = generator.normal(size=6)

    assert np.allclose(rope(x, 3), loops.rope(x, 3, 10_000.0), rtol=1e-12)


@pytest.mark.parametrize("pairs", [interleaved, half_split])
def test_a_turn_keeps_the_length_of_every_row(generator, pairs):
    x = generator.normal(size=(5, 8))
    turned = rope(x, np.arange(5), pairs=pairs)

    assert np.allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-12)


@pytest.mark.parametrize("pairs", [interleaved, half_split])
@pytest.mark.parametrize("shift", [1, 50, 1000])
def test_a_score_depends_on_the_distance_only(generator, pairs, shift):
    q, k = generator.normal(size=(2, 8))

    def score(m, n):
        return rope(q, m, pairs=pairs) @ rope(k, n, pairs=pairs)

    assert np.isclose(score(7, 3), score(7 + shift, 3 + shift))


def test_a_score_depends_on_the_distance(generator):
    q, k = generator.normal(size=(2, 8))

    assert not np.isclose(rope(q, 7) @ rope(k, 3), rope(q, 8) @ rope(k, 3))


@pytest.mark.parametrize("pairs", [interleaved, half_split])
def test_the_backward_of_rope_agrees_with_differences(generator, pairs):
    worst = check_backward(
        rope, rope_backward, x=generator.normal(size=(2, 5, 6)), positions=np.arange(5), base=100.0, pairs=pairs
    )

    assert worst.error < 1e-6, worst


def test_the_backward_of_rope_takes_positions_that_know_no_minus(generator):
    upstream = generator.normal(size=(5, 6))

    unsigned = rope_backward(upstream, np.arange(5, dtype=np.uint8))

    assert np.array_equal(unsigned, rope_backward(upstream, np.arange(5)))


def test_the_backward_of_a_stretched_turn_agrees_with_differences(generator):
    turn = rotation(np.arange(5), rope_frequencies(6), attention_factor=1.3)
    worst = check_backward(rotate, rotate_backward, x=generator.normal(size=(5, 6)), turn=turn)

    assert worst.error < 1e-6, worst


def test_the_two_layouts_are_one_turn_after_reordering_the_columns(generator):
    x, P = generator.normal(size=(5, 8)), interleaved_to_half(8)

    assert np.allclose(rope(x[:, P], np.arange(5), pairs=half_split), rope(x, np.arange(5))[:, P], rtol=1e-12)


def test_a_model_of_one_layout_serves_the_other_once_its_matrices_are_reordered(generator):
    x, W_q, W_k = generator.normal(size=(5, 8)), *generator.normal(size=(2, 8, 8))

    def scores(W_q, W_k, pairs):
        Q, K = ((x @ W).reshape(5, 2, 4).swapaxes(0, 1) for W in (W_q, W_k))
        return attention(rope(Q, np.arange(5), pairs=pairs), rope(K, np.arange(5), pairs=pairs), K).scores

    reordered = scores(reorder_heads(W_q, 2), reorder_heads(W_k, 2), half_split)
    assert np.allclose(reordered, scores(W_q, W_k, interleaved), rtol=1e-12)
    assert not np.allclose(scores(W_q, W_k, half_split), scores(W_q, W_k, interleaved))


def test_an_odd_head_width_is_refused(generator):
    with pytest.raises(ShapeMismatchError, match="the head width must be even to be taken in pairs, not 5"):
        rope(generator.normal(size=(3, 5)), np.arange(3))


def test_a_position_between_two_tokens_is_refused(generator):
    with pytest.raises(NotIntegerError, match="positions must be whole numbers, not float64"):
        rope(generator.normal(size=(2, 4)), [0.0, 0.5])


def test_interpolation_by_four_reads_position_eight_as_two(generator):
    x, theta = generator.normal(size=(1, 8)), rope_frequencies(8)

    assert np.allclose(rotate(x, rotation([8], slow_down(theta, 4.0))), rotate(x, rotation([2], theta)), rtol=1e-12)


def test_llama3_keeps_fast_pairs_and_slows_the_slow_ones_fully():
    theta = rope_frequencies(128, 500_000.0)
    slowed = theta / llama3_frequencies(theta, 8.0, trained_length=8192)

    assert np.allclose([slowed[0], slowed[-1]], [1.0, 8.0], rtol=1e-12)
    assert (np.diff(slowed) >= -1e-12).all()


def test_yarn_keeps_fast_pairs_and_slows_the_slow_ones_fully():
    theta = rope_frequencies(128)
    slowed = theta / yarn_frequencies(theta, 16.0, trained_length=4096)

    assert np.allclose([slowed[0], slowed[-1]], [1.0, 16.0], rtol=1e-12)
    assert (np.diff(slowed) >= -1e-12).all()


SCALED = [(16, 10_000.0, 64, 4.0), (128, 500_000.0, 8192, 8.0), (64, 10_000.0, 2048, 16.0), (8, 100.0, 4096, 2.0)]


@pytest.mark.parametrize(("d", "base", "trained_length", "factor"), SCALED)
def test_slower_turns_are_the_formulas_pair_by_pair(d, base, trained_length, factor):
    theta = rope_frequencies(d, base)
    slow = loops.llama3(theta.tolist(), factor, trained_length, 1.0, 4.0)

    assert np.allclose(slow_down(theta, factor), loops.slowed(theta.tolist(), factor), rtol=1e-12, atol=0)
    assert np.allclose(llama3_frequencies(theta, factor, trained_length), slow, rtol=1e-12, atol=0)
    slow = loops.yarn(d, factor, trained_length, base, 1.0, 32.0)
    assert np.allclose(yarn_frequencies(theta, factor, trained_length, base), slow, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("d", "base", "trained_length", "factor"), SCALED)
@pytest.mark.parametrize("low", [1.0, 3.0])
def test_pairs_that_turn_often_are_left_alone_and_those_that_turn_rarely_are_divided_by_the_factor(
    d,
    base,
    trained_length,
    factor,
    low,
):
    theta = rope_frequencies(d, base)
    turns = trained_length * theta / (2 * np.pi)
    slowed = {
        4.0: theta / llama3_frequencies(theta, factor, trained_length, low, 4.0),
        32.0: theta / yarn_frequencies(theta, factor, trained_length, base, low, 32.0),
    }

    for high, by in slowed.items():
        assert np.allclose(by[turns >= high], 1.0, rtol=1e-12)
        assert np.allclose(by[turns <= low], factor, rtol=1e-12)
        assert ((by > 1 - 1e-12) & (by < factor + 1e-12)).all()


def test_a_context_that_does_not_grow_changes_nothing():
    theta = rope_frequencies(16)

    assert np.allclose(yarn_frequencies(theta, 1.0, 64), theta, rtol=1e-12)
    assert np.allclose(llama3_frequencies(theta, 1.0, 64), theta, rtol=1e-12)
    assert yarn_attention_factor(1.0) == 1.0


def test_a_shrinking_context_is_refused():
    with pytest.raises(OutOfRangeError, match=r"at least 1, not 0.5"):
        slow_down(rope_frequencies(8), 0.5)


def test_the_usual_turn_is_that_of_positions_from_zero(generator):
    x = generator.normal(size=(5, 6))

    assert np.allclose(rotate(x, usual_rotation(5, 6)), [loops.rope(x[m], m, 1e4) for m in range(5)], rtol=1e-12)


def test_the_usual_turn_is_shared_and_cannot_be_changed():
    turn = usual_rotation(3, 4)

    assert usual_rotation(3, 4) is turn
    with pytest.raises(ValueError, match="read-only"):
        turn.units[0, 0] = 0


def test_heads_of_no_token_are_no_rows():
    assert split_heads(np.zeros((0, 8)), 2).shape == (2, 0, 4)
