"""The interview course's tiny GPT: its recorded weights and logits, its six outputs, and what it shows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attention import softmax
from embeddings import lookup
from loss import cross_entropy, cross_entropy_backward
from positions import rope, sinusoidal
from refusals import ModelError, OutOfRangeError
from tiny_gpt import (
    approximate_parameters,
    draw_embeddings,
    draw_weights,
    embed,
    fused_attention,
    gpt_block,
    norm,
    score,
    tiny_gpt,
    widen_and_narrow,
)
from transformer import join_layers
from variants import Variant, variant_model, variant_model_backward

HERE = Path(__file__)
RECORDED = np.load(HERE.parent / "vectors" / "seed003_tiny_gpt.npz")
IDS = RECORDED["token_ids"]
EXACTLY = {"rtol": 1e-9, "atol": 1e-11}


class Drawn:
    """All that one seed draws, in the order in which the page draws it."""

    def __init__(self):
        generator = np.random.default_rng(0)
        self.E = draw_embeddings(generator)
        self.q, self.k = generator.normal(size=8), generator.normal(size=8)
        self.layers = [draw_weights(generator) for _ in range(4)]


@pytest.fixture(scope="module")
def drawn():
    return Drawn()


@pytest.fixture(scope="module")
def by_variant(drawn):
    """The same model in the general code: its trace, loss and gradients."""
    ones, zeros = np.ones(8), np.zeros(8)
    norms = {"gain_1": ones, "bias_1": zeros, "gain_2": ones, "bias_2": zeros}
    layers = [
        dict(zip(("W_q", "W_k", "W_v"), np.split(layer["W_qkv"], 3, axis=-1), strict=True))
        | {name: layer[name] for name in ("W_o", "W_1", "W_2")} | norms
        for layer in drawn.layers
    ]
    weights = {"E": drawn.E, **join_layers(layers), "gain": ones, "bias": zeros}
    variant = Variant("layernorm", positions="sinusoidal", feed_forward="gelu")
    trace = variant_model(IDS, weights, n_heads=2, variant=variant)
    loss = cross_entropy(trace.result[:-1], IDS[1:])
    upstream = np.vstack([cross_entropy_backward(1.0, loss), np.zeros((1, 50))])
    return trace, loss.result, variant_model_backward(upstream, trace, weights)


def test_the_embeddings_are_the_recorded_ones(drawn):
    np.testing.assert_allclose(drawn.E, RECORDED["E"], **EXACTLY)


@pytest.mark.parametrize("layer", range(4))
@pytest.mark.parametrize(
    ("name", "recorded"), [("W_qkv", "W_qkv"), ("W_o", "W_o"), ("W_1", "W1"), ("W_2", "W2")]
)
def test_the_weights_are_the_recorded_ones(drawn, layer, name, recorded):
    np.testing.assert_allclose(drawn.layers[layer][name], RECORDED[f"l{layer}_{recorded}"], **EXACTLY)


def test_the_positions_are_the_recorded_ones():
    np.testing.assert_allclose(sinusoidal(4, 8), RECORDED["PE"], **EXACTLY)


def test_the_turned_query_and_key_are_the_recorded_ones(drawn):
    np.testing.assert_allclose(drawn.q, RECORDED["rope_q"], **EXACTLY)
    np.testing.assert_allclose(drawn.k, RECORDED["rope_k"], **EXACTLY)
    np.testing.assert_allclose(rope(drawn.q[None], [5])[0], RECORDED["rope_q_at_5"], **EXACTLY)
    np.testing.assert_allclose(rope(drawn.k[None], [2])[0], RECORDED["rope_k_at_2"], **EXACTLY)


def test_the_logits_are_the_recorded_ones(drawn):
    logits = tiny_gpt(IDS, drawn.E, drawn.layers)

    np.testing.assert_allclose(logits, RECORDED["logits"], **EXACTLY)
    np.testing.assert_allclose(softmax(logits[-1]), RECORDED["probs_last"], **EXACTLY)


def test_the_general_code_gives_the_same_logits_and_the_recorded_loss(drawn, by_variant):
    trace, loss, _ = by_variant

    np.testing.assert_allclose(trace.result, tiny_gpt(IDS, drawn.E, drawn.layers), **EXACTLY)
    assert loss == pytest.approx(float(RECORDED["loss_next_token"]), rel=1e-9)


def test_the_gradient_of_the_tied_embedding_is_the_recorded_one(by_variant):
    np.testing.assert_allclose(by_variant[2]["E"], RECORDED["g_E_tied"], **EXACTLY)


@pytest.mark.parametrize("layer", range(4))
def test_the_gradients_of_a_block_are_the_recorded_ones(by_variant, layer):
    found = {name: by_variant[2][f"blocks.{layer}.{name}"] for name in ("W_q", "W_k", "W_v", "W_o", "W_1", "W_2")}
    fused = np.hstack([found["W_q"], found["W_k"], found["W_v"]])

    np.testing.assert_allclose(fused, RECORDED[f"g_l{layer}_W_qkv"], **EXACTLY)
    np.testing.assert_allclose(found["W_o"], RECORDED[f"g_l{layer}_W_o"], **EXACTLY)
    np.testing.assert_allclose(found["W_1"], RECORDED[f"g_l{layer}_W1"], **EXACTLY)
    np.testing.assert_allclose(found["W_2"], RECORDED[f"g_l{layer}_W2"], **EXACTLY)


def test_the_file_prints_the_course_s_outputs():
    printed = subprocess.run(
        [sys.executable, HERE.parents[2] / "scratch" / "tiny_gpt.py"], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert printed == [
        "tokens (4, 8)",
        "same token, same row?          True",
        "and with positions added?      False",
        "query at 5, key at 2:   0.34543",
        "query at 13, key at 10: 0.34543",
        "row [  2.   4. 400.   8.] -> norm [-0.593 -0.581  1.732 -0.558]",
        "mean 0.0  variance 1.0",
        "in (4, 8)  wide (4, 32)  out (4, 8)",
        "logits (4, 50)",
        "guess: token 41, probability 0.022 (uniform would be 0.020)",
        "GPT-2 small  L=12  d=768    ≈   0.12 B parameters",
        "GPT-2 XL     L=48  d=1600   ≈   1.55 B parameters",
        "GPT-3        L=96  d=12288  ≈ 174.56 B parameters",
    ]


def test_the_untrained_guess_is_41_whatever_the_last_token_is(drawn):
    guesses = {int(tiny_gpt(np.append(IDS[:3], last), drawn.E, drawn.layers)[-1].argmax()) for last in range(50)}

    # Positions of size one drown embeddings of size 0.02: that the prompt ends in 41 is chance.
    assert guesses == {41}


def test_with_loud_embeddings_a_tied_head_guesses_the_last_token(drawn):
    loud = 100 * drawn.E
    guesses = [int(tiny_gpt(np.append(IDS[:3], last), loud, drawn.layers)[-1].argmax()) for last in range(50)]

    assert sum(guess == last for last, guess in enumerate(guesses)) > 15


def test_the_same_token_has_the_same_row_until_positions_are_added(drawn):
    tokens, positioned = lookup(IDS, drawn.E), embed(IDS, drawn.E)

    assert np.array_equal(tokens[0], tokens[2])
    assert not np.array_equal(positioned[0], positioned[2])


def test_a_score_depends_on_the_distance_only(drawn):
    assert score(drawn.q, drawn.k, 105, 102) == pytest.approx(score(drawn.q, drawn.k, 5, 2), rel=1e-12)
    assert score(drawn.q, drawn.k, 5, 3) != pytest.approx(score(drawn.q, drawn.k, 5, 2), rel=1e-3)


def test_without_a_mask_attention_follows_a_shuffle_of_its_rows(drawn):
    x, order = lookup(IDS, drawn.E) * 50, [3, 1, 0, 2]
    shuffled_after = gpt_block(x, drawn.layers[0], is_causal=False)[order]

    np.testing.assert_allclose(gpt_block(x[order], drawn.layers[0], is_causal=False), shuffled_after, atol=1e-13)


def test_with_the_mask_a_shuffle_changes_what_a_token_becomes(drawn):
    x, order = lookup(IDS, drawn.E), [3, 1, 0, 2]
    change = gpt_block(x[order], drawn.layers[0]) - gpt_block(x, drawn.layers[0])[order]

    assert abs(change).max() > 0.1


def test_earlier_rows_do_not_change_with_the_last_token(drawn):
    other = np.append(IDS[:3], 5)

    np.testing.assert_array_equal(
        tiny_gpt(IDS, drawn.E, drawn.layers)[:3], tiny_gpt(other, drawn.E, drawn.layers)[:3]
    )


def test_the_norm_leaves_mean_zero_and_almost_variance_one():
    x = norm(np.random.default_rng(1).normal(2, 3, (4, 8)))

    np.testing.assert_allclose(x.mean(axis=-1), 0, atol=1e-12)
    assert (x.var(axis=-1) < 1).all()
    np.testing.assert_allclose(x.var(axis=-1), 1, atol=1e-4)


def test_the_feed_forward_looks_at_one_token_at_a_time(drawn):
    x, W_1, W_2 = norm(embed(IDS, drawn.E)), drawn.layers[0]["W_1"], drawn.layers[0]["W_2"]

    np.testing.assert_allclose(widen_and_narrow(x, W_1, W_2)[2:3], widen_and_narrow(x[2:3], W_1, W_2), rtol=1e-12)


@pytest.mark.parametrize(
    ("sizes", "billions"), [((12, 768, 50257), 0.12), ((48, 1600, 50257), 1.55), ((96, 12288, 50257), 174.56)]
)
def test_the_table_of_sizes(sizes, billions):
    assert round(approximate_parameters(*sizes) / 1e9, 2) == billions


def test_heads_that_do_not_divide_the_width_are_refused(drawn):
    layer = drawn.layers[0]

    with pytest.raises(ModelError, match="head count must divide model width"):
        fused_attention(np.ones((4, 8)), layer["W_qkv"], layer["W_o"], n_heads=3)


@pytest.mark.parametrize("ids", [np.array([7, 50]), np.array([-1]), np.array([], int)])
def test_ids_without_a_row_are_refused(drawn, ids):
    with pytest.raises(OutOfRangeError):
        tiny_gpt(ids, drawn.E, drawn.layers)


def test_a_spoiled_row_is_refused(drawn):
    with pytest.raises(ModelError, match="NaN"):
        tiny_gpt(IDS, np.full_like(drawn.E, np.nan), drawn.layers)
