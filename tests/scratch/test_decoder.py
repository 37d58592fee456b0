"""The small decoder gives the recorded arrays, the recorded sentences, and its refusals at the door."""

from pathlib import Path

import numpy as np
import pytest

from decoder import CausalLanguageModel, causal_attention, feed_forward, normal
from refusals import ModelError, NotFiniteError, NotIntegerError, OutOfRangeError, ShapeMismatchError

RECORDED = np.load(Path(__file__).parent / "vectors" / "seed001_live_block.npz")
WORDS = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"]
PROMPT = [0, 1, 2]


@pytest.fixture
def model():
    return CausalLanguageModel(7)


def loop_attention(x, projections, n_heads):
    """Compute what causal_attention does, one number at a time."""
    n_tokens, d = x.shape
    width = d // n_heads
    q, k, v, o = (projections[i * d:(i + 1) * d] for i in range(4))
    shares, mixed = np.zeros((n_heads, n_tokens, n_tokens)), np.zeros((n_tokens, d))
    for head in range(n_heads):
        columns = range(head * width, (head + 1) * width)
        for t in range(n_tokens):
            scores = [sum((q[c] @ x[t]) * (k[c] @ x[s]) for c in columns) / width**0.5 for s in range(t + 1)]
            powers = [np.exp(score) for score in scores]
            for s in range(t + 1):
                shares[head, t, s] = powers[s] / sum(powers)
                for c in columns:
                    mixed[t, c] += shares[head, t, s] * (v[c] @ x[s])
    return shares, np.array([[o[c] @ row for c in range(d)] for row in mixed])


@pytest.mark.parametrize(
    ("name", "recorded"),
    [("embeddings", "w_E"), ("projections", "w_P"), ("expand", "w_W1"), ("contract", "w_W2"), ("output", "w_out")],
)
def test_the_drawn_weights_are_the_recorded_ones(model, name, recorded):
    np.testing.assert_allclose(getattr(model, name), RECORDED[recorded], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("word", ["cat", "dog"])
def test_the_rows_without_their_positions_are_the_recorded_ones(model, word):
    rows = model.embeddings[RECORDED[f"{word}_ids"]]

    np.testing.assert_allclose(rows, RECORDED[f"{word}_token"], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("word", ["cat", "dog"])
@pytest.mark.parametrize(
    "name", ["positioned", "attention", "after_attention", "feed_forward", "hidden", "logits"]
)
def test_every_array_is_the_recorded_one(model, word, name):
    response = model.respond_to(RECORDED[f"{word}_ids"])

    np.testing.assert_allclose(getattr(response, name), RECORDED[f"{word}_{name}"], rtol=1e-9, atol=1e-11)


def test_the_decoder_has_184_numbers_in_five_arrays(model):
    arrays = [model.embeddings, model.projections, model.expand, model.contract, model.output]

    assert [array.shape for array in arrays] == [(7, 4), (16, 4), (4, 8), (8, 4), (4, 7)]
    assert sum(array.size for array in arrays) == 184


def test_the_shares_of_the_last_token(model):
    assert model.respond_to(PROMPT).attention[0, -1].round(4).tolist() == [0.3988, 0.3307, 0.2705]


def test_shares_sum_to_one_and_none_goes_to_the_future(model):
    shares = model.respond_to([0, 1, 2, 4, 6]).attention

    np.testing.assert_allclose(shares.sum(axis=-1), 1, rtol=1e-12)
    assert (np.triu(shares, k=1) == 0).all()


def test_attention_is_what_a_slow_loop_computes(model):
    x = normal(np.random.default_rng(0).normal(size=(5, 4)))
    shares, written = causal_attention(x, model.projections, 2)
    slow_shares, slow_written = loop_attention(x, model.projections, 2)

    np.testing.assert_allclose(shares, slow_shares, rtol=1e-12)
    np.testing.assert_allclose(written, slow_written, rtol=1e-9, atol=1e-12)


def test_the_feed_forward_treats_every_token_alike(model):
    x = np.random.default_rng(0).normal(size=(3, 4))
    alone = np.array([feed_forward(row[None], model.expand, model.contract)[0] for row in x])

    np.testing.assert_allclose(feed_forward(x, model.expand, model.contract), alone, rtol=1e-12)


def test_normal_rows_have_mean_zero_and_variance_one():
    x = np.random.default_rng(0).normal(3, 5, size=(6, 16))

    np.testing.assert_allclose(normal(x).mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(normal(x).var(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["positioned", "after_attention", "feed_forward", "hidden", "logits"]
)
def test_earlier_rows_do_not_change_with_the_last_token(model, name):
    cat, dog = model.respond_to([0, 1, 2]), model.respond_to([0, 1, 3])

    np.testing.assert_array_equal(getattr(cat, name)[:2], getattr(dog, name)[:2])
    assert not np.allclose(getattr(cat, name)[2], getattr(dog, name)[2])


def test_a_longer_prefix_needs_no_new_parameters(model):
    longer = model.respond_to([0, 1, 2, 3, 3, 3])

    np.testing.assert_allclose(longer.logits[:3], model.respond_to(PROMPT).logits, rtol=1e-12)


def test_a_response_is_read_only(model):
    with pytest.raises(ValueError, match="read-only"):
        model.respond_to(PROMPT).logits[0, 0] = 1


def test_two_models_and_two_responses_are_the_same_bytes(model):
    again = CausalLanguageModel(7).respond_to(PROMPT)

    assert again.logits.tobytes() == model.respond_to(PROMPT).logits.tobytes()


def test_another_seed_draws_another_model(model):
    assert not np.allclose(CausalLanguageModel(7, seed=8).embeddings, model.embeddings)


def test_the_distribution_after_the_prompt(model):
    step = model.generate(PROMPT, 1)[0]

    assert step.distribution.round(4).tolist() == [0.1756, 0.1208, 0.1815, 0.2334, 0.0395, 0.1728, 0.0763]


def test_the_default_run_step_by_step(model):
    steps = model.generate(PROMPT, max_new_tokens=5, seed=0, end_id=6)
    found = [(WORDS[step.token_id], round(float(step.distribution[step.token_id]), 4)) for step in steps]

    assert found == [("dog", 0.2334), ("the", 0.1179), ("<start>", 0.2015), ("<start>", 0.0938), ("slept", 0.2696)]
    assert steps[-1].context == (0, 1, 2, 3, 1, 0, 0)


def test_the_greedy_run_never_ends_by_itself(model):
    steps = model.generate(PROMPT, max_new_tokens=12, end_id=6, greedy=True)

    assert [WORDS[step.token_id] for step in steps] == ["dog"] * 3 + ["slept"] * 9


def test_the_greedy_run_ignores_the_seed(model):
    first, second = (model.generate(PROMPT, 5, seed=seed, greedy=True) for seed in (0, 99))

    assert [step.token_id for step in first] == [step.token_id for step in second]


@pytest.mark.parametrize(("seed", "tokens"), [(1, ["dog", "<end>"]), (4, ["<end>"])])
def test_a_run_stops_at_the_end_token(model, seed, tokens):
    assert [WORDS[step.token_id] for step in model.generate(PROMPT, 5, seed=seed, end_id=6)] == tokens


def test_how_101_seeds_end(model):
    lengths = [len(model.generate(PROMPT, 5, seed=seed, end_id=6)) for seed in range(101)]

    assert [lengths.count(n) for n in range(1, 6)] == [9, 7, 2, 7, 76]


def test_a_lower_temperature_sharpens_the_distribution(model):
    assert round(float(model.generate(PROMPT, 1, temperature=0.5)[0].distribution[3]), 4) == 0.3202


def test_a_full_context_ends_the_run():
    steps = CausalLanguageModel(7, max_context=5).generate(PROMPT, max_new_tokens=12, seed=0, end_id=6)

    assert [WORDS[step.token_id] for step in steps] == ["dog", "the"]


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ({"n_heads": 3}, ShapeMismatchError, "head count must divide model width, but 3 heads share 4 columns"),
        ({"n_model": 5, "n_heads": 1}, ShapeMismatchError, "the model width must be even to be taken in pairs, not 5"),
        ({"n_heads": 0}, OutOfRangeError, "n_heads must be a whole number of at least 1, not 0"),
        ({"n_model": 4.0}, OutOfRangeError, "n_model must be a whole number of at least 1, not 4.0"),
        ({"n_vocab": -7}, OutOfRangeError, "n_vocab must be a whole number of at least 1, not -7"),
        ({"max_context": True}, OutOfRangeError, "max_context must be a whole number of at least 1, not True"),
    ],
)
def test_sizes_of_no_decoder_are_refused_at_construction(sizes, error, message):
    with pytest.raises(error, match=message):
        CausalLanguageModel(**({"n_vocab": 7} | sizes))


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([], OutOfRangeError, "supply a nonempty prefix within max_context"),
        ([1] * 33, OutOfRangeError, "supply a nonempty prefix within max_context: 33 tokens"),
        ([0, 7], OutOfRangeError, r"id 7 at index \(1,\) is outside 0..6"),
        ([0, -1], OutOfRangeError, r"id -1 at index \(1,\) is outside 0..6"),
        ([0, np.nan], NotIntegerError, "ids must be whole numbers, not float64"),
        ([[0, 1]], ShapeMismatchError, r"expected one sequence of ids, \[tokens\], not shape \(1, 2\)"),
    ],
)
def test_a_prefix_that_cannot_be_read_is_refused(model, ids, error, message):
    with pytest.raises(error, match=message):
        model.respond_to(ids)
    with pytest.raises(error, match=message):
        model.generate(ids, 1)


def test_a_spoiled_weight_is_refused_by_name(model):
    model.expand[0, 0] = np.nan

    with pytest.raises(NotFiniteError, match="expand holds NaN or infinity"):
        model.respond_to(PROMPT)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_new_tokens": -1}, "max_new_tokens must be a whole number of at least 0, not -1"),
        ({"max_new_tokens": 1.5}, "max_new_tokens must be a whole number of at least 0, not 1.5"),
        ({"max_new_tokens": 1, "temperature": 0}, "temperature must be positive and finite, not 0"),
        ({"max_new_tokens": 1, "temperature": np.nan}, "temperature must be positive and finite, not nan"),
        ({"max_new_tokens": 1, "end_id": 7}, "id 7"),
    ],
)
def test_a_run_that_cannot_be_made_is_refused(model, settings, message):
    with pytest.raises(OutOfRangeError, match=message):
        model.generate(PROMPT, **settings)


@pytest.mark.parametrize("error", [NotFiniteError, NotIntegerError, OutOfRangeError, ShapeMismatchError])
def test_one_except_clause_catches_every_refusal(error):
    assert issubclass(error, ModelError)
