"""Whatever a reader passes wrongly is refused at the door: one clear error, which says what would be right."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from architectures import MODELS, gpt, hidden_width, llama
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
    project_backward,
    share_heads,
    share_heads_backward,
    softmax,
    softmax_backward,
    split_heads,
)
from counting import bits_per_weight, cache_bytes, count_forward, palm_training, weight_bytes
from decoder import CausalLanguageModel
from embeddings import lookup, lookup_backward
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
)
from gradients import check_gradients, differences
from initialization import block_shapes, initial_weights, weight_shapes
from layernorm import layernorm, layernorm_backward
from loss import cross_entropy, cross_entropy_backward, log_softmax
from mlp import gelu_backward, gelu_erf_backward, mlp, mlp_backward, relu_backward
from optimisers import AdamW, Momentum, clip, pack, scheduled_rate, unpack
from positions import (
    half_split,
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
from refusals import ModelError, NotFiniteError, NotIntegerError, OutOfRangeError, ShapeMismatchError, check_rows
from rope_scaling import llama3_frequencies, slow_down, yarn_attention_factor, yarn_frequencies
from training import decode, make_batch, random_batches, train, train_on_names
from transformer import (
    block,
    block_backward,
    language_model,
    language_model_backward,
    rmsnorm,
    rmsnorm_backward,
    silu_backward,
    split_layers,
    stack,
    stack_backward,
    swiglu,
    swiglu_backward,
    tied_head,
    tied_head_backward,
)
from variants import (
    LLAMA,
    VARIANTS,
    Variant,
    feed_forward_backward,
    normalize_backward,
    residual_backward,
    variant_block,
    variant_block_backward,
    variant_model,
    variant_model_backward,
)

SCRATCH = Path(__file__).parents[2] / "scratch"
GENERATOR = np.random.default_rng(0)


def N(*shape):
    return GENERATOR.normal(size=shape)


WEIGHTS = initial_weights(GENERATOR, weight_shapes(7, 8, 6, 2, n_keys=4))
BLOCK = initial_weights(GENERATOR, block_shapes(8, 6, 4))
SCORES = np.log([0.5, 0.3, 0.2])
NAN = N(3, 8)
NAN[1, 2] = np.nan


def without(name):
    return {part: array for part, array in BLOCK.items() if part != name}


REFUSED = [
    (
        lambda: rope(N(3, 5), np.arange(3)),
        ShapeMismatchError,
        "the head width must be even to be taken in pairs, not 5",
    ),
    (lambda: lookup([-1], N(4, 2)), OutOfRangeError, "id -1 at index (0,) is outside 0..3"),
    (lambda: language_model([], WEIGHTS, 4, 2), OutOfRangeError, "an empty prefix has nothing to attend to"),
    (
        lambda: learned(N(3, 2), 4),
        OutOfRangeError,
        "supply a nonempty prefix within max_context: 4 tokens, 1..3 allowed",
    ),
    (lambda: block(NAN, BLOCK, 4, 2), NotFiniteError, "the input holds NaN or infinity, first at index (1, 2)"),
    (lambda: lookup([True], N(4, 2)), NotIntegerError, "ids must be whole numbers, not bool"),
    (lambda: lookup(["a"], N(4, 2)), NotIntegerError, "ids must be whole numbers, not <U1"),
    (
        lambda: lookup([[1, 2], [3]], N(4, 2)),
        ShapeMismatchError,
        "the sequences of ids must be equally long: fill up the short ones",
    ),
    (lambda: sinusoidal(0, 4), OutOfRangeError, "the number of tokens must be a whole number of at least 1, not 0"),
    (lambda: sinusoidal(-1, 4), OutOfRangeError, "the number of tokens must be a whole number of at least 1, not -1"),
    (lambda: sinusoidal(2.5, 4), OutOfRangeError, "the number of tokens must be a whole number of at least 1, not 2.5"),
    (
        lambda: learned(N(3, 2), 1.5),
        OutOfRangeError,
        "the number of tokens must be a whole number of at least 0, not 1.5",
    ),
    (lambda: rope_frequencies(4, 0), OutOfRangeError, "base must be positive and finite, not 0"),
    (lambda: rope_frequencies(4, np.nan), OutOfRangeError, "base must be positive and finite, not nan"),
    (
        lambda: rope(N(3, 4), np.arange(2)),
        ShapeMismatchError,
        "a turn of (tokens, pairs) = (2, 2) does not fit rows of shape (3, 4)",
    ),
    (
        lambda: rotate(N(3, 6), rotation(np.arange(3), rope_frequencies(4), half_split)),
        ShapeMismatchError,
        "a turn of (tokens, pairs) = (3, 2) does not fit rows of shape (3, 6)",
    ),
    (
        lambda: reorder_heads(N(4, 6), 4),
        ShapeMismatchError,
        "head count must divide model width, but 4 does not divide 6",
    ),
    (lambda: reorder_heads(N(4, 6), 2), ShapeMismatchError, "the head width must be even to be taken in pairs, not 3"),
    (
        lambda: slow_down(N(2), 0.5),
        OutOfRangeError,
        "factor is the new length over the trained one, at least 1, not 0.5",
    ),
    (
        lambda: llama3_frequencies(abs(N(2)), 2, 64, low=1, high=1),
        OutOfRangeError,
        "high - low must be positive and finite, not 0",
    ),
    (lambda: llama3_frequencies(abs(N(2)), 2, 0), OutOfRangeError, "trained_length must be positive and finite, not 0"),
    (lambda: yarn_frequencies(abs(N(2)), 2, 0), OutOfRangeError, "trained_length must be positive and finite, not 0"),
    (
        lambda: yarn_frequencies(abs(N(2)), 2, 64, base=1),
        OutOfRangeError,
        "base - 1 must be positive and finite, not 0",
    ),
    (
        lambda: yarn_attention_factor(0.5),
        OutOfRangeError,
        "factor is the new length over the trained one, at least 1, not 0.5",
    ),
    (
        lambda: layernorm(N(3, 4), N(5), N(4)),
        ShapeMismatchError,
        "a gain or bias of shape (5,) does not fit rows of shape (3, 4)",
    ),
    (
        lambda: rmsnorm(N(3, 4), N(1)),
        ShapeMismatchError,
        "a gain or bias of shape (1,) does not fit rows of shape (3, 4)",
    ),
    (lambda: rmsnorm([[1.0, 2.0]], N(2)), ShapeMismatchError, "expected an array of rows, not a list: see np.array"),
    (
        lambda: mlp(N(3, 4), N(4, 6), N(6), N(6, 4), N(4), "tanh"),
        OutOfRangeError,
        "activation must be one of relu, gelu, gelu_erf, not 'tanh'",
    ),
    (
        lambda: mlp(N(3, 5), N(4, 6), N(6), N(6, 4), N(4)),
        ShapeMismatchError,
        "rows of shape (3, 5) do not fit a matrix of shape (4, 6), (in, out)",
    ),
    (
        lambda: mlp(N(3, 4), N(4, 6), N(5), N(6, 4), N(4)),
        ShapeMismatchError,
        "a bias of shape (5,) does not fit a matrix of shape (4, 6), (in, out)",
    ),
    (
        lambda: swiglu(N(3, 4), N(4, 6), N(4, 5), N(6, 4)),
        ShapeMismatchError,
        "W_g and W_u must have one shape, not (4, 6) and (4, 5)",
    ),
    (
        lambda: linear(N(2, 4), N(8, 6)),
        ShapeMismatchError,
        "rows of shape (2, 4) do not fit a matrix of shape (8, 6), (in, out)",
    ),
    (lambda: causal_mask(0), OutOfRangeError, "the number of queries must be a whole number of at least 1, not 0"),
    (lambda: causal_mask(4, 2), OutOfRangeError, "the number of keys must be a whole number of at least 4, not 2"),
    (lambda: causal_mask(2.5), OutOfRangeError, "the number of queries must be a whole number of at least 1, not 2.5"),
    (
        lambda: attention(N(3, 4), N(3, 5), N(3, 4)),
        ShapeMismatchError,
        "queries of width 4 cannot be compared with keys of width 5",
    ),
    (
        lambda: attention(N(3, 4), N(3, 4), N(2, 4)),
        ShapeMismatchError,
        "every key needs a value, but there are 3 keys and 2 values",
    ),
    (
        lambda: attention(N(3, 4), N(3, 4), N(3, 4), causal_mask(2)),
        ShapeMismatchError,
        "a mask of shape (2, 2) does not fit 3 queries and 3 keys",
    ),
    (
        lambda: split_heads(N(3, 4), 3),
        ShapeMismatchError,
        "head count must divide model width, but 3 does not divide 4",
    ),
    (
        lambda: multi_head_attention(N(3, 8), BLOCK | {"W_v": N(8, 6)}, 4, 2),
        ShapeMismatchError,
        "W_k and W_v must have one shape, not (8, 4) and (8, 6)",
    ),
    (
        lambda: multi_head_attention(N(3, 8), BLOCK | {"W_o": N(6, 8)}, 4, 2),
        ShapeMismatchError,
        "rows of shape (3, 8) do not fit a matrix of shape (6, 8), (in, out)",
    ),
    (
        lambda: multi_head_attention([[1.0] * 8], BLOCK, 4, 2),
        ShapeMismatchError,
        "expected an array of rows, not a list: see np.array",
    ),
    (
        lambda: multi_head_attention(N(3, 8), BLOCK, 4.0, 2.0),
        OutOfRangeError,
        "the number of heads must be a whole number of at least 0, not 4.0",
    ),
    (lambda: multi_head_attention(N(3, 8), without("W_o"), 4, 2), ShapeMismatchError, "the weights lack W_o"),
    (
        lambda: cross_entropy(N(3, 4), [1, 2]),
        ShapeMismatchError,
        "logits of shape (3, 4) need one target a row, not targets (2,) and kept (2,)",
    ),
    (lambda: cross_entropy(N(3, 4), [1.0, 2.0, 0.0]), NotIntegerError, "ids must be whole numbers, not float64"),
    (
        lambda: cross_entropy(N(3, 4), [1, 2, 0], [0, 0, 0]),
        OutOfRangeError,
        "a loss needs at least one kept position; all are ignored",
    ),
    (
        lambda: cross_entropy([[1.0, 2.0]], [0]),
        ShapeMismatchError,
        "expected an array of rows, not a list: see np.array",
    ),
    (lambda: block(N(3, 8), without("gain_1"), 4, 2), ShapeMismatchError, "the weights lack gain_1"),
    (
        lambda: block(N(3, 8), BLOCK | {"gain_1": N(4)}, 4, 2),
        ShapeMismatchError,
        "a gain or bias of shape (4,) does not fit rows of shape (3, 8)",
    ),
    (
        lambda: block(N(3, 8), BLOCK | {"W_g": N(4, 6)}, 4, 2),
        ShapeMismatchError,
        "W_g and W_u must have one shape, not (4, 6) and (8, 6)",
    ),
    (lambda: block(N(3, 8), BLOCK, 4, 2, epsilon=-1), OutOfRangeError, "epsilon must be at least 0 and finite, not -1"),
    (
        lambda: block([[1.0] * 8], BLOCK, 4, 2),
        ShapeMismatchError,
        "expected an array of rows, not a list: see np.array",
    ),
    (
        lambda: stack(N(3, 8), [BLOCK], 4, 2, caches=[None, None]),
        ShapeMismatchError,
        "1 blocks need as many caches, not 2",
    ),
    (
        lambda: language_model([1], {"E": N(7, 8), "gain": N(8)}, 4, 2),
        ShapeMismatchError,
        "a model has blocks 0, 1, ..., but the weights have []",
    ),
    (
        lambda: language_model(1, WEIGHTS, 4, 2),
        ShapeMismatchError,
        "expected a sequence of ids, [..., tokens], not the number 1",
    ),
    (
        lambda: tied_head(N(3, 5), N(7, 4)),
        ShapeMismatchError,
        "rows of shape (3, 5) do not fit a matrix of shape (4, 7), (in, out)",
    ),
    (
        lambda: variant_model([1, 2], WEIGHTS, 4, 2, start=-1),
        OutOfRangeError,
        "start must be a whole number of at least 0, not -1",
    ),
    (lambda: variant_model([1, 2], WEIGHTS, 4, 2, VARIANTS["GPT-2"]), ShapeMismatchError, "the weights lack bias"),
    (lambda: variant_model([1, 2], WEIGHTS, 4, 2, base=0), OutOfRangeError, "base must be positive and finite, not 0"),
    (
        lambda: weight_shapes(7, 8, 6, 2, variant=Variant(norm="x")),
        OutOfRangeError,
        "norm must be one of rmsnorm, layernorm, not 'x'",
    ),
    (
        lambda: weight_shapes(7, 8, 6, 2, variant=Variant(biases="x")),
        OutOfRangeError,
        "biases must be one of none, queries, all, not 'x'",
    ),
    (
        lambda: weight_shapes(7, 8, 6, 2, variant=Variant(feed_forward="x")),
        OutOfRangeError,
        "feed_forward must be one of swiglu, relu, gelu, gelu_erf, not 'x'",
    ),
    (lambda: weight_shapes(0, 8, 6, 2), OutOfRangeError, "n_vocab must be a whole number of at least 1, not 0"),
    (lambda: weight_shapes(7, 8, 6, 0), OutOfRangeError, "n_layers must be a whole number of at least 1, not 0"),
    (lambda: weight_shapes(7, 8.0, 6, 2), OutOfRangeError, "n_model must be a whole number of at least 1, not 8.0"),
    (
        lambda: weight_shapes(7, 8, 6, 2, variant=VARIANTS["GPT-2"]),
        OutOfRangeError,
        "max_context must be a whole number of at least 1, not None",
    ),
    (lambda: pack({}), OutOfRangeError, "there are no arrays; give at least one"),
    (lambda: AdamW(beta_1=1.0), OutOfRangeError, "beta_1 must be at least 0 and below 1, not 1.0"),
    (lambda: AdamW(weight_decay=-1), OutOfRangeError, "weight_decay must be at least 0 and finite, not -1"),
    (lambda: Momentum(1.5), OutOfRangeError, "momentum must be at least 0 and below 1, not 1.5"),
    (lambda: clip(N(3), 0), OutOfRangeError, "limit must be positive and finite, not 0"),
    (lambda: clip(N(3, 3)), ShapeMismatchError, "expected one long vector, [n], not shape (3, 3); see pack"),
    (lambda: scheduled_rate(0, 5, -1, 0), OutOfRangeError, "peak must be positive and finite, not -1"),
    (lambda: scheduled_rate(0, 5, 1, 0, floor=2), OutOfRangeError, "floor must lie in 0..1, not 2"),
    (
        lambda: [(optimiser := AdamW()).step(np.ones(2), np.ones(2), 0.1), optimiser.step(np.ones(3), np.ones(3), 0.1)],
        ShapeMismatchError,
        "the weights of all steps must have one shape, not (3,) and (2,)",
    ),
    (
        lambda: AdamW().step(np.ones(2, int), np.ones(2, int), 0.1),
        ShapeMismatchError,
        "expected a vector of floats, not of int64",
    ),
    (lambda: decode([99]), OutOfRangeError, "id 99 at index (0,) is outside 0..26"),
    (lambda: decode([-1]), OutOfRangeError, "id -1 at index (0,) is outside 0..26"),
    (lambda: make_batch([]), OutOfRangeError, "there are no names; give at least one"),
    (lambda: list(random_batches(["a", "b"], 1, 3)), OutOfRangeError, "no 3 different names among 2"),
    (
        lambda: list(random_batches(["a", "b"], 1, 0)),
        OutOfRangeError,
        "n_names must be a whole number of at least 1, not 0",
    ),
    (
        lambda: train(WEIGHTS, [make_batch(["ab"])], [0.1, 0.1], 4, n_kv_heads=2),
        ShapeMismatchError,
        "batches and rates must have one shape, not (1,) and (2,)",
    ),
    (lambda: train_on_names(0), OutOfRangeError, "n_steps must be a whole number of at least 1, not 0"),
    (lambda: greedy(np.array([])), OutOfRangeError, "no token can come: there is no score above minus infinity"),
    (lambda: greedy(N(2, 3)), ShapeMismatchError, "expected the scores of one next token, [n_vocab], not shape (2, 3)"),
    (lambda: greedy(np.full(3, -np.inf)), OutOfRangeError, "no token can come: there is no score above minus infinity"),
    (
        lambda: apply_temperature(SCORES, -1),
        OutOfRangeError,
        "temperature must be positive and finite, not -1; for 0, take greedy",
    ),
    (lambda: keep_top_k(SCORES, 1.5), OutOfRangeError, "top_k must keep 1..3 tokens, not 1.5"),
    (lambda: keep_top_p(SCORES, np.nan), OutOfRangeError, "top_p must lie above 0 and be at most 1, not nan"),
    (lambda: keep_top_p(np.array([np.nan, 1.0]), 0.5), NotFiniteError, "the logits hold NaN or infinity"),
    (
        lambda: distribution(np.full(3, -np.inf)),
        OutOfRangeError,
        "no token can come: there is no score above minus infinity",
    ),
    (lambda: KeyValueCache(0), OutOfRangeError, "max_context must be a whole number of at least 1, not 0"),
    (lambda: KeyValueCache(2.5), OutOfRangeError, "max_context must be a whole number of at least 1, not 2.5"),
    (
        lambda: [(cache := KeyValueCache(4)).extend(N(1, 1, 2), N(1, 1, 2)), cache.extend(N(2, 1, 2), N(2, 1, 2))],
        ShapeMismatchError,
        "all keys must have one shape, not (2, 1, 2) and (1, 1, 2)",
    ),
    (lambda: Reader(WEIGHTS, 3), ShapeMismatchError, "head count must divide model width, but 3 does not divide 8"),
    (
        lambda: Reader(WEIGHTS, 4, max_context=0),
        OutOfRangeError,
        "max_context must be a whole number of at least 1, not 0",
    ),
    (
        lambda: Reader(WEIGHTS, 4, n_kv_heads=2).read([[1, 2]]),
        ShapeMismatchError,
        "expected one list of ids, not shape (1, 2)",
    ),
    (
        lambda: generate(Reader(WEIGHTS, 4, n_kv_heads=2), [1], -1),
        OutOfRangeError,
        "n_new must be a whole number of at least 0, not -1",
    ),
    (
        lambda: generate(Reader(WEIGHTS, 4, n_kv_heads=2), [1], 1.5),
        OutOfRangeError,
        "n_new must be a whole number of at least 0, not 1.5",
    ),
    (
        lambda: generate(Reader(WEIGHTS, 4, n_kv_heads=2, max_context=3), [1], 9),
        OutOfRangeError,
        "supply a nonempty prefix within max_context: 4 tokens, 1..3",
    ),
    (lambda: differences(lambda x: x.sum(), N(2), 0), OutOfRangeError, "step must be positive and finite, not 0"),
    (lambda: gpt(1, 8, 3), ShapeMismatchError, "head count must divide model width, but 3 does not divide 8"),
    (lambda: hidden_width(0), OutOfRangeError, "n_model must be a whole number of at least 1, not 0"),
    (lambda: llama(1, 8, 2, 2, 8, 8, biases="x"), OutOfRangeError, "biases must be one of none, queries, all, not 'x'"),
    (
        lambda: count_forward(MODELS["GPT-2 small"], -1),
        OutOfRangeError,
        "n_context must be a whole number of at least 1, not -1",
    ),
    (
        lambda: cache_bytes(MODELS["GPT-2 small"], -1),
        OutOfRangeError,
        "n_tokens must be a whole number of at least 1, not -1",
    ),
    (lambda: bits_per_weight(3, 0), OutOfRangeError, "n_parameters must be positive and finite, not 0"),
    (
        lambda: variant_model([1, 2], WEIGHTS, 4, 2, Variant(positions="learned")),
        ShapeMismatchError,
        "the weights lack P",
    ),
    (lambda: variant_model([1, 2], WEIGHTS, 4, 2, Variant(is_tied=False)), ShapeMismatchError, "the weights lack head"),
    (
        lambda: variant_model([1, 2], WEIGHTS, 4, 2, Variant(feed_forward="relu")),
        ShapeMismatchError,
        "the weights lack W_1, W_2",
    ),
    (lambda: lookup([1], N(4)), ShapeMismatchError, "expected a table, [n_vocab, d], not shape (4,)"),
    (lambda: lookup([1], [[1.0]]), ShapeMismatchError, "expected an array of rows, not a list: see np.array"),
    (lambda: lookup(3, N(4, 2)), ShapeMismatchError, "expected a sequence of ids, [..., tokens], not the number 3"),
    (lambda: rope_frequencies("8"), OutOfRangeError, "the head width must be a whole number of at least 0, not '8'"),
    (
        lambda: rope(N(3, 4), np.arange(3), pairs="half_split"),
        OutOfRangeError,
        "pairs must be one of the functions interleaved and half_split, not 'half_split'",
    ),
    (lambda: usual_rotation(0, 8), OutOfRangeError, "the number of tokens must be a whole number of at least 1, not 0"),
    (lambda: slow_down(N(2), 2, 2.0), OutOfRangeError, "kept must lie in 0..1, not 2.0"),
    (lambda: slow_down(N(2), 2, N(3)), ShapeMismatchError, "kept has shape (3,), but there are frequencies of (2,)"),
    (
        lambda: yarn_frequencies(abs(N(2)), 2, 64, slow=4, fast=4),
        OutOfRangeError,
        "fast - slow must be positive and finite, not 0",
    ),
    (
        lambda: yarn_frequencies(abs(N(2)), 2, 64, slow=0),
        OutOfRangeError,
        "slow must be positive and finite, not 0",
    ),
    (lambda: softmax(N(2, 0)), ShapeMismatchError, "expected scores, [..., n], at least one of them, not shape (2, 0)"),
    (lambda: log_softmax(N()), ShapeMismatchError, "expected scores, [..., n], at least one of them, not shape ()"),
    (lambda: causal_mask(4, 0), OutOfRangeError, "the number of keys must be a whole number of at least 4, not 0"),
    (
        lambda: attention(N(2, 2).tolist(), N(2, 2), N(2, 2)),
        ShapeMismatchError,
        "expected an array of rows, not a list: see np.array",
    ),
    (
        lambda: attention(N(2), N(2, 2), N(2, 2)),
        ShapeMismatchError,
        "expected [..., tokens, d] for queries, keys and values, not shape (2,)",
    ),
    (
        lambda: attention(N(2, 3, 4), N(3, 3, 4), N(3, 3, 4)),
        ShapeMismatchError,
        "the batches of queries and keys must have one shape, not (2,) and (3,)",
    ),
    (
        lambda: attention(N(2, 3, 4), N(2, 3, 4), N(3, 4)),
        ShapeMismatchError,
        "the batches of keys and values must have one shape, not (2,) and ()",
    ),
    (lambda: attention(N(1, 2), N(0, 2), N(0, 2)), OutOfRangeError, "there is no key to look at; supply at least one"),
    (
        lambda: attention(N(1, 2), N(2, 2), N(2, 2), np.full((1, 2), -np.inf)),
        OutOfRangeError,
        "the mask hides every key from a query: leave it at least one",
    ),
    (
        lambda: linear([[1.0]], N(1, 1)),
        ShapeMismatchError,
        "expected an array of rows, not a list: see np.array",
    ),
    (
        lambda: multi_head_attention(N(3, 8), BLOCK, 4, 2, rotation=N(3, 1)),
        ShapeMismatchError,
        "expected a turn of every token, not a ndarray: see rotation",
    ),
    (
        lambda: multi_head_attention(N(3, 8), BLOCK, 4, 0),
        ShapeMismatchError,
        "key-value heads must divide heads, but 0 do not divide 4",
    ),
    (
        lambda: block(N(3, 8), BLOCK, 4, 0),
        ShapeMismatchError,
        "key-value heads must divide heads, but 0 do not divide 4",
    ),
    (
        lambda: variant_model([1], WEIGHTS, 4, 0),
        ShapeMismatchError,
        "key-value heads must divide heads, but 0 do not divide 4",
    ),
    (
        lambda: layernorm(N(), 1.0, 0.0),
        ShapeMismatchError,
        "expected rows, [..., d], of at least one number, not shape ()",
    ),
    (lambda: mlp(N(3, 8), N(8, 2), None, N(2, 8), None, ["relu"]), OutOfRangeError, "must be one of relu, gelu"),
    (
        lambda: language_model([1], [N(7, 8)], 4),
        ShapeMismatchError,
        "expected a dict of arrays by name, not a list",
    ),
    (
        lambda: split_layers({"blocks.one.W_q": N(2, 2)}),
        ShapeMismatchError,
        "an array of a block is named like blocks.0.W_q, not blocks.one.W_q",
    ),
    (
        lambda: split_layers({"blocks.0": N(2, 2)}),
        ShapeMismatchError,
        "an array of a block is named like blocks.0.W_q, not blocks.0",
    ),
    (lambda: differences(np.sum, [1.0]), ShapeMismatchError, "expected an array of rows, not a list: see np.array"),
    (
        lambda: differences(np.sin, N(3)),
        ShapeMismatchError,
        "expected a function that gives one number, not 3: take its sum",
    ),
    (lambda: check_gradients(lambda _: 0.0, {}, {}), OutOfRangeError, "there are no arrays to check"),
    (lambda: Momentum("much"), OutOfRangeError, "momentum must be at least 0 and below 1, not much"),
    (
        lambda: [(speed := Momentum(0.5)).step(N(3), N(3), 0.1), speed.step(N(2), N(2), 0.1)],
        ShapeMismatchError,
        "the weights of all steps must have one shape, not (2,) and (3,)",
    ),
    (lambda: train(WEIGHTS, [], [], 4), OutOfRangeError, "there are no batches; give at least one"),
    (
        lambda: KeyValueCache(4).extend(N(1, 2, 2), N(1, 1, 2)),
        ShapeMismatchError,
        "keys and values must have one shape, not (1, 2, 2) and (1, 1, 2)",
    ),
    (
        lambda: Reader({name: array for name, array in WEIGHTS.items() if name != "E"}, 4),
        ShapeMismatchError,
        "the weights lack E; they have blocks.0.W_q",
    ),
    (
        lambda: generate(Reader(WEIGHTS, 4, n_kv_heads=2), [1], 2, end_id=99),
        OutOfRangeError,
        "id 99 at index () is outside 0..6",
    ),
    (
        lambda: generate_slowly(WEIGHTS, [1], 2, 4, end_id=99, n_kv_heads=2),
        OutOfRangeError,
        "id 99 at index () is outside 0..6",
    ),
    (lambda: weight_bytes(-1), OutOfRangeError, "n_parameters must be positive and finite, not -1"),
    (lambda: palm_training(MODELS["GPT-2 small"], -1), OutOfRangeError, "n_context must be a whole number"),
    (lambda: CausalLanguageModel(7).respond_to([[1], [1, 2]]), ShapeMismatchError, "must be equally long"),
    (
        lambda: variant_model([1], WEIGHTS, 4, variant="Llama"),
        OutOfRangeError,
        "expected a Variant, such as VARIANTS['Llama'], not 'Llama'",
    ),
    (
        lambda: variant_model([1], WEIGHTS, 4, variant=Variant(norm_first="no")),
        OutOfRangeError,
        "norm_first must be one of True, False, not 'no'",
    ),
    (
        lambda: weight_shapes(7, 8, 6, 1, n_keys=0),
        OutOfRangeError,
        "n_keys must be a whole number of at least 1, not 0",
    ),
    (lambda: softmax(NAN), NotFiniteError, "the scores hold NaN or infinity; the highest of row (1,) is nan"),
    (lambda: softmax([0.0, np.inf]), NotFiniteError, "the scores hold NaN or infinity; the highest of row () is inf"),
    (
        lambda: softmax([[0.0], [-np.inf]]),
        OutOfRangeError,
        "every score of row (1,) is minus infinity: leave at least one to share among",
    ),
    (lambda: log_softmax(NAN), NotFiniteError, "the scores hold NaN or infinity; the highest of row (1,) is nan"),
    (lambda: cross_entropy(NAN, [1, 2, 0]), NotFiniteError, "the scores hold NaN or infinity; the highest of row (1,)"),
    (
        lambda: cross_entropy(np.array([[0.0, -np.inf]]), [1]),
        NotFiniteError,
        "the loss is inf: what came had a score of minus infinity",
    ),
    (
        lambda: share_heads(N(2, 3, 4), 0),
        OutOfRangeError,
        "the number of query heads that share one must be a whole number of at least 1, not 0",
    ),
    (lambda: share_heads(N(3, 4), 2), ShapeMismatchError, "expected [..., heads, tokens, d_head], not shape (3, 4)"),
    (lambda: merge_heads(N(4)), ShapeMismatchError, "expected [..., heads, tokens, d_head], not shape (4,)"),
    (
        lambda: share_heads_backward(N(4, 3, 4), 1.5),
        OutOfRangeError,
        "the number of query heads that share one must be a whole number of at least 1, not 1.5",
    ),
    (
        lambda: share_heads_backward(N(4, 3, 4), 3),
        ShapeMismatchError,
        "4 query heads are no groups of 3",
    ),
    (
        lambda: sampler(temperature=-1),
        OutOfRangeError,
        "temperature must be positive and finite, not -1; for 0, take greedy",
    ),
    (lambda: sampler(temperature="hot"), OutOfRangeError, "temperature must be positive and finite, not hot"),
    (lambda: sampler(top_k=0), OutOfRangeError, "top_k must be a whole number of at least 1, not 0"),
    (lambda: sampler(top_p=1.5), OutOfRangeError, "top_p must lie above 0 and be at most 1, not 1.5"),
    (lambda: sampler(top_p="most"), OutOfRangeError, "top_p must lie above 0 and be at most 1, not most"),
    (
        lambda: language_model([1], WEIGHTS | {"gian": N(8)}, 4, 2),
        ShapeMismatchError,
        "the weights hold gian, which nothing reads; known are E, gain and blocks.0.W_q ...",
    ),
    (
        lambda: Reader(WEIGHTS | {"P": N(9, 8)}, 4, n_kv_heads=2),
        ShapeMismatchError,
        "the weights hold P, which nothing reads; known are E, gain and blocks.0.W_q ...",
    ),
    (
        lambda: block(N(3, 8), BLOCK | {"bq": N(8), "W_1": N(8, 6)}, 4, 2),
        ShapeMismatchError,
        "the weights hold W_1, bq, which nothing reads; known are W_d, W_g, W_k, W_o, W_q, W_u, W_v, b_k, b_o",
    ),
    (
        lambda: language_model([1], WEIGHTS | {"blocks.0.gain": N(8)}, 4, 2),
        ShapeMismatchError,
        "the weights hold gain, which nothing reads; known are W_d",
    ),
    (
        lambda: variant_model([1], WEIGHTS | {"head": N(8, 7)}, 4, 2),
        ShapeMismatchError,
        "the weights hold head, which nothing reads; known are E, gain and blocks.0.W_q ...",
    ),
    (
        lambda: variant_model([1], WEIGHTS | {"blocks.0.b_1": N(6)}, 4, 2),
        ShapeMismatchError,
        "the weights hold b_1, which nothing reads; known are W_d",
    ),
    (lambda: variant_block(N(3, 8), without("gain_2"), 4, 2), ShapeMismatchError, "the weights lack gain_2; they have"),
    (
        lambda: variant_block(N(3, 8), BLOCK | {"b_1": N(6)}, 4, 2),
        ShapeMismatchError,
        "the weights hold b_1, which nothing reads; known are W_d",
    ),
    (
        lambda: variant_block(N(3, 8), BLOCK, 4, 2, variant=Variant(norm="layernorm")),
        ShapeMismatchError,
        "the weights lack bias_1, bias_2; they have",
    ),
    (
        lambda: variant_block(N(3, 8), BLOCK, 4, 2, variant="Llama"),
        OutOfRangeError,
        "expected a Variant, such as VARIANTS['Llama'], not 'Llama'",
    ),
    (lambda: decode([1.0]), NotIntegerError, "ids must be whole numbers, not float64"),
    (
        lambda: stack_backward(N(1, 3, 8), [], [BLOCK]),
        ShapeMismatchError,
        "traces and layers must have one shape, not (0,) and (1,)",
    ),
    (
        lambda: learned_backward(N(5, 8), N(4, 8), 5),
        OutOfRangeError,
        "supply a nonempty prefix within max_context: 5 tokens, 1..4 allowed",
    ),
    (lambda: softmax([[1.0], [1.0, 2.0]]), ShapeMismatchError, "the rows of numbers must be equally long"),
    (lambda: softmax(["a", "b"]), OutOfRangeError, "expected real numbers, not <U1"),
    (lambda: log_softmax(np.array([1j, 2.0])), OutOfRangeError, "expected real numbers, not complex128"),
    (lambda: linear(N(3, 8) + 1j, N(8, 4)), OutOfRangeError, "expected real numbers, not complex128"),
    (lambda: block(N(3, 8).astype(object), BLOCK, 4, 2), OutOfRangeError, "expected real numbers, not object"),
    (lambda: attention(N(3, 4), N(3, 4), N(3, 4), "causal"), OutOfRangeError, "expected real numbers, not <U6"),
    (lambda: rmsnorm(N(3, 8), None), OutOfRangeError, "expected real numbers, not object"),
    (lambda: rmsnorm(N(3, 8), N(8), "small"), OutOfRangeError, "epsilon must be at least 0 and finite, not small"),
    (lambda: rmsnorm(N(3, 8), N(8), np.inf), OutOfRangeError, "epsilon must be at least 0 and finite, not inf"),
    (lambda: rmsnorm_backward(N(3, 8), N(3, 8), N(8), -1), OutOfRangeError, "epsilon must be at least 0"),
    (lambda: layernorm_backward(N(3, 8), N(3, 8), N(4)), ShapeMismatchError, "a gain or bias of shape (4,)"),
    (
        lambda: rmsnorm_backward(N(1, 2), [[1.0, 2.0]], N(2)),
        ShapeMismatchError,
        "expected an array of rows, not a list",
    ),
    (
        lambda: linear_backward(N(3, 4), N(3, 6), N(8, 4)),
        ShapeMismatchError,
        "rows of shape (3, 6) do not fit a matrix of shape (8, 4), (in, out)",
    ),
    (lambda: linear_backward(N(3, 4), N(3, 8), N(8, 4), "b"), ShapeMismatchError, "a bias of shape ()"),
    (lambda: swiglu(N(3, 8), [[1.0]], [[1.0]], [[1.0]]), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: tied_head(N(3, 8), None), ShapeMismatchError, "expected an array of rows, not a NoneType"),
    (
        lambda: tied_head_backward(N(3, 7), N(3, 8), None),
        ShapeMismatchError,
        "expected an array of rows, not a NoneType",
    ),
    (lambda: lookup_backward(N(1, 8), [-1], WEIGHTS["E"]), OutOfRangeError, "id -1 at index (0,) is outside 0..6"),
    (lambda: lookup_backward(N(1, 8), [0], None), ShapeMismatchError, "expected an array of rows, not a NoneType"),
    (lambda: learned("table", 2), ShapeMismatchError, "expected an array of rows, not a str"),
    (lambda: learned(N(8), 2), ShapeMismatchError, "expected a table, [max_context, d], not shape (8,)"),
    (lambda: project(N(3, 8), BLOCK, "z"), ShapeMismatchError, "the weights lack W_z; they have"),
    (lambda: project_backward(N(3, 8), N(3, 8), None, "q"), ShapeMismatchError, "expected a dict of arrays by name"),
    (lambda: split_heads(N(8), 2), ShapeMismatchError, "expected rows, [..., tokens, d], not shape (8,)"),
    (lambda: reorder_heads([[1.0]], 1), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: split_layers(None), ShapeMismatchError, "expected a dict of arrays by name, not a NoneType"),
    (lambda: rotate(N(3, 2), None), ShapeMismatchError, "expected a turn of every token, not a NoneType"),
    (lambda: rotate_backward(N(3, 2), 1.0), ShapeMismatchError, "expected a turn of every token, not a float"),
    (lambda: rotation([0], [1.0]), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: rotation([0], np.array([np.nan])), NotFiniteError, "the frequencies hold NaN or infinity: [nan]"),
    (
        lambda: rotation([0], N(1), attention_factor=None),
        OutOfRangeError,
        "attention_factor must be positive and finite, not None",
    ),
    (lambda: slow_down([1.0], 2.0), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: slow_down(N(4), "two"), OutOfRangeError, "factor is the new length over the trained one, at least 1"),
    (lambda: slow_down(N(4), 2.0, "half"), OutOfRangeError, "expected real numbers, not <U4"),
    (lambda: llama3_frequencies(N(4), 2.0, 8, low="a"), OutOfRangeError, "low must be positive and finite, not a"),
    (lambda: yarn_frequencies(N(4), 2.0, 8, base="a"), OutOfRangeError, "base must be positive and finite, not a"),
    (lambda: cross_entropy_backward("one", cross_entropy(N(1, 2), [0])), ShapeMismatchError, "not a str"),
    (lambda: pack([N(2)]), ShapeMismatchError, "expected a dict of arrays by name, not a list"),
    (lambda: unpack([1.0], {"a": N(1)}), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: unpack(N(1), [N(1)]), ShapeMismatchError, "expected a dict of arrays by name, not a list"),
    (lambda: AdamW().step([1.0], N(1), 0.1), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: AdamW().step(N(1), [1.0], 0.1), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: AdamW(epsilon="small"), OutOfRangeError, "epsilon must be at least 0 and finite, not small"),
    (lambda: clip([1.0]), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: scheduled_rate("first", 10, 0.1, 2), OutOfRangeError, "step must lie in 0..9, not first"),
    (lambda: scheduled_rate(0, 10, 0.1, 2, floor="low"), OutOfRangeError, "floor must lie in 0..1, not low"),
    (lambda: scheduled_rate(0, "ten", 0.1, 2), OutOfRangeError, "n_steps must be a whole number of at least 1"),
    (lambda: greedy("abc"), OutOfRangeError, "expected real numbers, not <U3"),
    (lambda: keep_top_p(0.0, 0.5), ShapeMismatchError, "expected scores, [..., n], at least one of them, not shape ()"),
    (lambda: KeyValueCache(4).extend([1.0], [1.0]), ShapeMismatchError, "expected an array of rows, not a list"),
    (lambda: KeyValueCache(4).extend(N(2), N(2)), ShapeMismatchError, "expected [..., heads, tokens, d_head]"),
    (lambda: generate_slowly(None, [1], 2, 4), ShapeMismatchError, "expected a dict of arrays by name, not a NoneType"),
    (lambda: generate_slowly(WEIGHTS, 1, 2, 4, n_kv_heads=2), ShapeMismatchError, "not the number 1"),
    (lambda: bits_per_weight("many", 3), OutOfRangeError, "n_bytes must be positive and finite, not many"),
    (lambda: make_batch("ann"), ShapeMismatchError, "expected a list of names, not the text 'ann'"),
    (lambda: block_backward(N(3, 8), block(N(3, 8), BLOCK, 4, 2), {}), ShapeMismatchError, "the weights lack gain_1"),
    (
        lambda: language_model_backward(N(1, 7), language_model([1], WEIGHTS, 4, 2), {}),
        ShapeMismatchError,
        "the weights lack E, gain",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_cannot_work_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


@pytest.mark.parametrize("error", [NotFiniteError, NotIntegerError, OutOfRangeError, ShapeMismatchError])
def test_every_refusal_is_a_model_error_and_a_value_error(error):
    assert issubclass(error, ModelError)
    assert issubclass(error, ValueError)


@pytest.mark.parametrize("size", [1e200, 1.7e308])
def test_a_number_whose_square_is_too_large_is_still_a_number(size):
    check_rows(np.full((2, 4), size), 4)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_none_among_many_is_found(number):
    x = np.ones((3, 4))
    x[2, 1] = number

    with pytest.raises(NotFiniteError, match=re.escape("first at index (2, 1)")):
        check_rows(x, 4)


def backwards():
    """Every backward of the book, as a function of its upstream alone, and the shape that this must have."""
    x, (Q, K, V), z = N(2, 3, 8), N(3, 2, 3, 4), N(2, 3, 6)
    matrices, widen = [BLOCK[name] for name in ("W_g", "W_u", "W_d")], (N(8, 6), N(6), N(6, 8), N(8))
    heads, gated, bent = multi_head_attention(x, BLOCK, 4, 2), swiglu(x, *matrices), mlp(x, *widen)
    one, other, ids = block(x, BLOCK, 4, 2), variant_block(x, BLOCK, 4, 2), np.array([[1, 2, 3], [4, 5, 6]])
    model, another = language_model(ids, WEIGHTS, 4, 2), variant_model(ids, WEIGHTS, 4, 2)
    turn, loss = rotation(np.arange(3), rope_frequencies(8)), cross_entropy(N(2, 3, 7), ids)

    def attend(upstream, trace):
        return multi_head_attention_backward(upstream, trace, BLOCK)

    def norm(upstream, x):
        return normalize_backward(upstream, x, BLOCK, "_1", LLAMA, 1e-5)

    return {
        softmax_backward: ((V,), softmax(V).shape),
        attention_backward: ((attention(Q, K, V),), V.shape),
        linear_backward: ((x, widen[0]), z.shape),
        project_backward: ((x, BLOCK, "k"), (2, 3, 4)),
        share_heads_backward: ((2,), (4, 3, 4)),
        multi_head_attention_backward: ((heads, BLOCK), x.shape),
        lookup_backward: ((ids, WEIGHTS["E"]), x.shape),
        layernorm_backward: ((x, N(8)), x.shape),
        cross_entropy_backward: ((loss,), ()),
        relu_backward: ((z,), z.shape),
        gelu_backward: ((z,), z.shape),
        gelu_erf_backward: ((z,), z.shape),
        mlp_backward: ((bent, *widen), x.shape),
        learned_backward: ((N(9, 8), 3), (3, 8)),
        rope_backward: ((np.arange(3),), (3, 8)),
        rotate_backward: ((turn,), (3, 8)),
        rmsnorm_backward: ((x, N(8)), x.shape),
        silu_backward: ((z,), z.shape),
        swiglu_backward: ((gated, *matrices), x.shape),
        block_backward: ((one, BLOCK), x.shape),
        stack_backward: (([one], [BLOCK]), x.shape),
        tied_head_backward: ((x, WEIGHTS["E"]), (2, 3, 7)),
        language_model_backward: ((model, WEIGHTS), (2, 3, 7)),
        normalize_backward: ((x, BLOCK, "_1", LLAMA, 1e-5), x.shape),
        feed_forward_backward: ((gated, BLOCK, LLAMA), x.shape),
        residual_backward: ((x, heads, attend, norm, True), x.shape),
        variant_block_backward: ((other, BLOCK), x.shape),
        variant_model_backward: ((another, WEIGHTS), (2, 3, 7)),
    }


BACKWARDS = backwards()
# These take any batch; rope_backward also takes rows of any even width.
ANY_BATCH = {learned_backward, rope_backward, rotate_backward}


def wrong_shapes(backward, right):
    """What broadcasting would let through, and what it would not."""
    if backward is share_heads_backward:
        return [(3, 3, 4), (2, 3, 3, 4), (3, 4), (4,), ()]
    if not right:
        return [(1,), (2, 3), (2, 3, 7)]
    wrong = [(*right[:-1], 1), right[-1:], (*right[:-2], right[-2] + 1, right[-1]), ()]
    wrong += [] if backward is rope_backward else [(*right[:-1], right[-1] + 2)]
    return wrong if backward in ANY_BATCH else [*wrong, (1, *right), (1, *right[1:]), right[::-1], (2, *right)]


def test_no_backward_of_the_book_is_missing_here():
    modules = [path.stem for path in SCRATCH.glob("*.py")]
    found = {
        function
        for module in map(importlib.import_module, modules)
        for name, function in vars(module).items()
        if name.endswith("_backward") and name != "check_backward"
    }

    assert found == set(BACKWARDS)


@pytest.mark.parametrize("backward", BACKWARDS, ids=lambda backward: backward.__name__)
def test_a_backward_takes_an_upstream_shaped_like_the_result(backward):
    arguments, right = BACKWARDS[backward]

    backward(N(*right), *arguments)


@pytest.mark.parametrize(
    ("backward", "shape"),
    [(backward, wrong) for backward, (_, right) in BACKWARDS.items() for wrong in wrong_shapes(backward, right)],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_an_upstream_of_another_shape_is_refused(backward, shape):
    with pytest.raises(ShapeMismatchError):
        backward(np.ones(shape), *BACKWARDS[backward][0])


def test_a_refused_upstream_is_told_both_shapes():
    with pytest.raises(ShapeMismatchError, match=re.escape("an upstream of shape (3, 1) for a result of (3, 8)")):
        rmsnorm_backward(N(3, 1), N(3, 8), N(8))
    with pytest.raises(ShapeMismatchError, match="expected an array of rows, not a list"):
        linear_backward([[1.0]], N(1, 1), N(1, 1))


@pytest.mark.parametrize("scores", [[0.0, -np.inf], [1e200, -1e200], [[-np.inf, 1.0], [2.0, -np.inf]]])
@pytest.mark.parametrize("share_out", [softmax, lambda scores: np.exp(log_softmax(np.array(scores)))])
def test_a_score_of_minus_infinity_or_a_huge_one_is_still_a_score(scores, share_out):
    np.testing.assert_allclose(share_out(scores).sum(axis=-1), 1.0)


def test_an_empty_batch_of_scores_has_no_row_to_refuse():
    assert softmax(np.zeros((0, 3))).shape == (0, 3)
