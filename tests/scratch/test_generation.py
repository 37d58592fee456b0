"""Sampling equals the recorded distributions; a cache changes the work and not the answer."""

from pathlib import Path

import loops
import numpy as np
import pytest

from attention import multi_head_attention, multi_head_attention_backward, softmax
from generation import (
    KeyValueCache,
    Reader,
    apply_temperature,
    distribution,
    generate,
    generate_slowly,
    greedy,
    keep_top_k,
    keep_top_p,
    sampler,
    tokens_per_second,
)
from initialization import initial_weights, weight_shapes
from positions import half_split, rope_frequencies, rotation
from refusals import ModelError, NotFiniteError, OutOfRangeError, ShapeMismatchError
from training import encode, new_model
from transformer import language_model

VECTORS = Path(__file__).parent / "vectors"
SAMPLING = np.load(VECTORS / "sampling.npz")
EXACTLY = {"rtol": 1e-9, "atol": 1e-11}
PROMPT = encode("\nmar")


@pytest.fixture(scope="module")
def weights():
    return new_model()


@pytest.fixture(scope="module")
def grouped():
    """A model whose four heads share two key-value heads."""
    return initial_weights(np.random.default_rng(0), weight_shapes(27, 32, 48, 3, n_keys=16))


@pytest.mark.parametrize("name", [name for name in SAMPLING.files if name.count("_") > 1 or "temp" in name])
def test_a_distribution_is_the_recorded_one(name):
    setting, _, value = name.removeprefix("probs_").rpartition("_")
    settings = {setting: int(value) if setting == "top_k" else float(value)}

    np.testing.assert_allclose(distribution(SAMPLING["logits"], **settings), SAMPLING[name], **EXACTLY)


def test_without_settings_the_distribution_is_the_softmax():
    np.testing.assert_allclose(distribution(SAMPLING["logits"]), SAMPLING["probs"], **EXACTLY)


def test_logits_softmax_and_seven_settings_are_all_that_was_recorded():
    assert len(SAMPLING.files) == 1 + 1 + 7


def test_top_k_keeps_k_and_what_equals_the_last():
    kept = keep_top_k(np.array([1.0, 3.0, 2.0, 2.0]), 2)

    assert np.isfinite(kept).tolist() == [False, True, True, True]


def test_top_p_keeps_the_smallest_likeliest_set():
    kept = keep_top_p(np.log([0.5, 0.1, 0.3, 0.1]), 0.75)

    assert np.isfinite(kept).tolist() == [True, False, True, False]


@pytest.mark.parametrize("p", [0.1, 0.35, 0.6, 0.9, 0.999])
def test_top_p_keeps_what_a_slow_loop_keeps(p):
    logits = np.random.default_rng(0).normal(size=20)

    assert set(np.flatnonzero(np.isfinite(keep_top_p(logits, p))).tolist()) == loops.top_p(logits.tolist(), p)


@pytest.mark.parametrize("k", [1, 2, 5, 19, 20])
@pytest.mark.parametrize("n_values", [3, 1000])
def test_top_k_keeps_what_a_slow_loop_keeps(k, n_values):
    logits = np.random.default_rng(0).integers(0, n_values, 20).astype(float)

    assert set(np.flatnonzero(np.isfinite(keep_top_k(logits, k))).tolist()) == loops.top_k(logits.tolist(), k)


@pytest.mark.parametrize("k", [1, 2, 5, 19, 20])
@pytest.mark.parametrize("n_values", [3, 1000])
def test_top_k_keeps_k_and_beyond_them_only_equals_of_the_last(k, n_values):
    logits = np.random.default_rng(0).integers(0, n_values, 20).astype(float)
    kept = np.sort(logits[np.isfinite(keep_top_k(logits, k))])[::-1]

    assert len(kept) >= k
    assert set(kept[k:]) <= {kept[k - 1]}
    assert kept[-1] == np.sort(logits)[-k]


DRAWN_BY = [
    {}, {"temperature": 0.7}, {"top_k": 4}, {"top_p": 0.6}, {"temperature": 2.5, "top_k": 7, "top_p": 0.8},
    {"temperature": 0.4, "top_k": 3, "top_p": 1.0},
]


@pytest.mark.parametrize("settings", DRAWN_BY)
def test_a_distribution_is_what_a_slow_loop_makes_of_the_scores(settings):
    rows = np.random.default_rng(0).normal(size=(3, 12))
    slow = [
        loops.distribution(row.tolist(), settings.get("temperature", 1.0), settings.get("top_k"), settings.get("top_p"))
        for row in rows
    ]

    np.testing.assert_allclose(distribution(rows, **settings), slow, rtol=1e-12)


@pytest.mark.parametrize("settings", DRAWN_BY)
def test_what_is_drawn_is_the_stretch_on_which_a_random_point_lies(settings):
    logits, sample, points = np.random.default_rng(1).normal(size=12), sampler(7, **settings), np.random.default_rng(7)
    probabilities = distribution(logits, **settings).tolist()

    assert [sample(logits) for _ in range(50)] == [loops.draw(probabilities, points.random()) for _ in range(50)]


@pytest.mark.parametrize("p", [1e-12, 0.2])
def test_top_p_always_keeps_the_likeliest(p):
    assert np.isfinite(keep_top_p(np.log([0.2, 0.5, 0.3]), p)).tolist() == [False, True, False]


def test_top_p_of_one_keeps_everything():
    logits = SAMPLING["logits"]

    np.testing.assert_allclose(softmax(keep_top_p(logits, 1.0)), softmax(logits), rtol=1e-12)


def test_a_low_temperature_comes_near_to_greedy():
    logits = SAMPLING["logits"][0]

    assert distribution(logits, temperature=0.01)[greedy(logits)] > 0.99


def test_temperature_keeps_the_order_of_tokens():
    logits = SAMPLING["logits"]

    np.testing.assert_array_equal(np.argsort(apply_temperature(logits, 3.0)), np.argsort(logits))


def test_greedy_takes_the_first_of_equals():
    assert greedy(np.array([0.0, 2.0, 2.0])) == 1


def test_draws_come_as_often_as_their_probability():
    sample, logits = sampler(seed=0), np.log([0.6, 0.3, 0.1])
    draws = [sample(logits) for _ in range(5000)]

    np.testing.assert_allclose(np.bincount(draws) / 5000, [0.6, 0.3, 0.1], atol=0.02)


@pytest.mark.parametrize("length", [1, 3])
def test_reading_in_pieces_gives_the_logits_of_the_full_forward(weights, length):
    ids = np.random.default_rng(0).integers(0, 27, 12)
    reader = Reader(weights, n_heads=4)
    pieces = [reader.read(ids[start:start + length]) for start in range(0, 12, length)]

    np.testing.assert_allclose(np.concatenate(pieces), language_model(ids, weights, 4).result, **EXACTLY)


def test_a_cache_serves_shared_heads_too(grouped):
    ids = np.random.default_rng(0).integers(0, 27, 12)
    reader = Reader(grouped, n_heads=4, n_kv_heads=2)
    pieces = [reader.read(ids[:5]), reader.read(ids[5:6]), reader.read(ids[6:])]

    np.testing.assert_allclose(
        np.concatenate(pieces), language_model(ids, grouped, 4, n_kv_heads=2).result, **EXACTLY
    )


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_recorded_prompts_go_on_as_recorded(layout):
    recorded = np.load(VECTORS / f"tiny_llama_{layout}_tied_0.npz")
    names = {"g1": "gain_1", "g2": "gain_2"} | {f"W{c}": f"W_{c}" for c in "qkvogud"}
    weights = {"E": recorded["E"], "gain": recorded["gain_f"]} | {
        f"blocks.{i}.{ours}": recorded[f"l{i}_{theirs}"] for i in range(2) for theirs, ours in names.items()
    }
    pairs = {"pairs": half_split} if layout == "half" else {}
    reader = Reader(weights, 2, n_kv_heads=1, epsilon=float(recorded["eps"]), **pairs)
    prompt = recorded["input_ids"][0, :int(recorded["cache_prompt_len"])]

    assert generate(reader, prompt, 6) == recorded["greedy_from_prompt_row0"].tolist()


@pytest.mark.parametrize("layer", [0, 1])
def test_the_cache_holds_the_recorded_keys_and_values(layer):
    recorded = np.load(VECTORS / "tiny_llama_interleaved_tied_0.npz")
    names = {"g1": "gain_1", "g2": "gain_2"} | {f"W{c}": f"W_{c}" for c in "qkvogud"}
    weights = {"E": recorded["E"], "gain": recorded["gain_f"]} | {
        f"blocks.{i}.{ours}": recorded[f"l{i}_{theirs}"] for i in range(2) for theirs, ours in names.items()
    }
    reader = Reader(weights, 2, n_kv_heads=1, epsilon=float(recorded["eps"]))
    for token in recorded["input_ids"][0]:
        reader.read([token])
    cache = reader.caches[layer]

    np.testing.assert_allclose(cache.K[..., :6, :], recorded[f"cache_l{layer}_k"][0], **EXACTLY)
    np.testing.assert_allclose(cache.V[..., :6, :], recorded[f"cache_l{layer}_v"][0], **EXACTLY)


@pytest.mark.parametrize("make_choice", [lambda: greedy, lambda: sampler(5, temperature=0.9, top_k=9, top_p=0.95)])
def test_with_and_without_a_cache_the_same_tokens_come(weights, make_choice):
    quick = generate(Reader(weights, 4), PROMPT, 10, make_choice())

    assert quick == generate_slowly(weights, PROMPT, 10, 4, make_choice())


def test_the_same_seed_draws_the_same_tokens_and_another_does_not(weights):
    drawn = [generate(Reader(weights, 4), PROMPT, 10, sampler(seed)) for seed in (1, 1, 2)]

    assert drawn[0] == drawn[1] != drawn[2]


def test_generation_stops_at_the_end_token(weights):
    end = generate(Reader(weights, 4), PROMPT, 1)[0]

    assert generate(Reader(weights, 4), PROMPT, 10, end_id=end) == [end]
    assert generate_slowly(weights, PROMPT, 10, 4, end_id=end) == [end]


def test_generation_reads_no_token_twice_and_not_the_last(weights):
    reader = Reader(weights, 4)
    generate(reader, PROMPT, 6)

    assert reader.n_tokens == len(PROMPT) + 5


def test_no_new_token_is_asked_for_and_none_comes(weights):
    assert generate(Reader(weights, 4), PROMPT, 0) == []


def test_speed_is_tokens_over_seconds():
    assert tokens_per_second(lambda n: sum(range(n)), 1000) > 1000


def test_a_full_context_is_refused(weights):
    reader = Reader(weights, 4, max_context=5)
    reader.read(PROMPT)

    with pytest.raises(OutOfRangeError, match="supply a nonempty prefix within max_context: 6 tokens"):
        reader.read([1, 2])


def test_a_refused_read_leaves_the_reader_as_it_was(weights):
    reader = Reader(weights, 4, max_context=5)
    reader.read(PROMPT)
    with pytest.raises(OutOfRangeError):
        reader.read([27])

    np.testing.assert_allclose(
        reader.read([3])[-1], language_model(np.append(PROMPT, 3), weights, 4).result[-1], **EXACTLY
    )


@pytest.mark.parametrize("ids", [[], [27], [-1], [0.5]])
def test_a_prompt_that_cannot_be_read_is_refused(weights, ids):
    with pytest.raises(ModelError):
        generate(Reader(weights, 4), ids, 1)


@pytest.mark.parametrize("turn", [None, rotation(np.array([1]), rope_frequencies(4))], ids=["still", "turned"])
def test_a_trace_with_earlier_keys_has_no_backward(turn):
    weights, cache, row = {f"W_{part}": np.eye(4) for part in "qkvo"}, KeyValueCache(3), np.ones((1, 4))
    cache.extend(np.ones((1, 1, 4)), np.ones((1, 1, 4)))
    trace = multi_head_attention(row, weights, 1, rotation=turn, cache=cache)

    with pytest.raises(ShapeMismatchError):
        multi_head_attention_backward(row, trace, weights)


def test_a_cache_takes_no_more_than_it_can_hold():
    cache, rows = KeyValueCache(3), np.ones((2, 2, 4))
    cache.extend(rows, rows)

    with pytest.raises(OutOfRangeError, match="4 tokens"):
        cache.extend(rows, rows)
    assert cache.n_tokens == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0}, "temperature must be positive and finite, not 0; for 0, take greedy"),
        ({"temperature": np.nan}, "temperature must be positive and finite, not nan"),
        ({"top_k": 0}, "top_k must keep 1..12 tokens, not 0"),
        ({"top_k": 13}, "top_k must keep 1..12 tokens, not 13"),
        ({"top_p": 0.0}, "top_p must lie above 0 and be at most 1, not 0.0"),
        ({"top_p": 1.5}, "top_p must lie above 0 and be at most 1, not 1.5"),
    ],
)
def test_a_setting_that_keeps_nothing_is_refused(settings, message):
    with pytest.raises(OutOfRangeError, match=message):
        distribution(SAMPLING["logits"], **settings)


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("choose", [greedy, sampler()])
def test_scores_without_an_order_are_refused(number, choose):
    with pytest.raises(NotFiniteError, match="the logits hold NaN or infinity"):
        choose(np.array([0.0, number]))
