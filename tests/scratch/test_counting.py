"""The published counts, one row a test: sizes come from the papers, integers from two independent counts."""

import math

import pytest

from architectures import MODELS, gpt, hidden_width, llama
from counting import (
    bits_per_weight,
    cache_bytes,
    count,
    count_block,
    count_forward,
    count_parameters,
    crossing_context,
    explain_rule,
    hoffmann_ratio,
    kaplan_forward,
    key_width,
    palm_training,
    rule_of_thumb,
    training_operations,
    weight_bytes,
)
from initialization import weight_shapes
from refusals import OutOfRangeError, ShapeMismatchError
from variants import LLAMA, VARIANTS

EXACT = {
    "GPT-2 small": 124_439_808,
    "GPT-2 medium": 354_823_168,
    "GPT-2 large": 774_030_080,
    "GPT-2 XL": 1_557_611_200,
    "GPT-3 175B": 174_604_259_328,
    "Llama 2 7B": 6_738_415_616,
    "Llama 2 13B": 13_015_864_320,
    "Llama 1 33B": 32_528_943_616,
    "Llama 1 65B": 65_285_660_672,
    "Llama 2 70B": 68_976_648_192,
    "Llama 3 8B": 8_030_261_248,
    "Llama 3 70B": 70_553_706_496,
    "Llama 3.1 405B": 405_853_388_800,
    "Llama 3.2 1B": 1_235_814_400,
    "Mistral 7B": 7_241_732_096,
    "Qwen2.5-0.5B": 494_032_768,
    "Qwen2.5-1.5B": 1_543_714_304,
    "Qwen2.5-7B": 7_615_616_512,
    "SmolLM2-135M": 134_515_008,
    "stories15M": 15_191_712,
    "stories260K": 260_032,
}


@pytest.mark.parametrize(
    ("name", "variant", "settings"),
    [
        ("GPT-2 small", VARIANTS["GPT-2"], {"max_context": 1024}),
        ("Llama 3 8B", LLAMA._replace(is_tied=False), {"n_keys": 1024}),
        ("Qwen2.5-0.5B", VARIANTS["Qwen"], {"n_keys": 128}),
        ("stories260K", LLAMA, {"n_keys": 32}),
    ],
)
def test_the_arrays_of_a_model_hold_as_many_numbers_as_are_counted(name, variant, settings):
    model = MODELS[name]
    shapes = weight_shapes(model.n_vocab, model.n_model, model.n_hidden, model.n_layers, variant=variant, **settings)

    assert sum(map(math.prod, shapes.values())) == EXACT[name]


@pytest.mark.parametrize(("name", "exact"), EXACT.items())
def test_the_count_is_the_published_integer(name, exact):
    assert count(MODELS[name]) == exact


def test_every_described_model_has_a_published_integer():
    assert set(MODELS) == set(EXACT)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("GPT-2 small", 123_532_032),
        ("GPT-2 medium", 353_453_056),
        ("GPT-2 large", 772_117_760),
        ("GPT-2 XL", 1_554_971_200),
        ("GPT-3 175B", 174_563_733_504),
        ("Llama 3 8B", 6_967_787_520),
    ],
)
def test_the_rule_of_thumb_is_twelve_squares_a_block_and_one_row_a_token(name, rule):
    assert rule_of_thumb(MODELS[name]) == rule


@pytest.mark.parametrize(
    ("name", "billions"),
    [("Llama 2 7B", 6.574), ("Llama 2 13B", 12.747), ("Llama 2 70B", 64.687), ("Llama 3 70B", 65.475),
     ("Llama 3.1 405B", 407.976), ("Mistral 7B", 6.574), ("SmolLM2-135M", 0.148)],
)
def test_the_rule_of_thumb_in_billions(name, billions):
    assert round(rule_of_thumb(MODELS[name]) / 1e9, 3) == billions


@pytest.mark.parametrize(
    ("name", "percent", "digits"),
    [("GPT-2 small", -0.73, 2), ("GPT-2 medium", -0.39, 2), ("GPT-2 large", -0.25, 2), ("GPT-2 XL", -0.17, 2),
     ("GPT-3 175B", -0.02, 2), ("Llama 2 7B", -2.4, 1), ("Llama 2 13B", -2.1, 1), ("Llama 2 70B", -6.2, 1),
     ("Llama 3 8B", -13.2, 1), ("Llama 3 70B", -7.2, 1), ("Llama 3.1 405B", 0.5, 1), ("Mistral 7B", -9.2, 1),
     ("SmolLM2-135M", 10, 0)],
)
def test_how_far_the_rule_of_thumb_is_off(name, percent, digits):
    architecture = MODELS[name]

    assert round(100 * (rule_of_thumb(architecture) / count(architecture) - 1), digits) == percent


@pytest.mark.parametrize("name", EXACT)
def test_the_explained_differences_add_up_to_the_exact_count(name):
    assert sum(explain_rule(MODELS[name]).values()) == count(MODELS[name])


def test_llama_3_8b_differs_from_the_rule_by_four_choices():
    assert explain_rule(MODELS["Llama 3 8B"]) == {
        "rule of thumb": 6_967_787_520,
        "head of its own": 525_336_576,
        "feed-forward is not 8 d d": 1_342_177_280,
        "attention is not 4 d d": -805_306_368,
        "norms": 266_240,
        "learned positions": 0,
    }


@pytest.mark.parametrize(
    ("name", "attention", "feed_forward", "embeddings"),
    [("GPT-2 small", 22.8, 45.5, 31.0), ("GPT-3 175B", 33.2, 66.4, 0.4),
     ("Llama 3 8B", 16.7, 70.2, 13.1), ("SmolLM2-135M", 19.7, 59.2, 21.0)],
)
def test_where_the_parameters_are(name, attention, feed_forward, embeddings):
    parts, total = count_parameters(MODELS[name]), count(MODELS[name])

    assert round(100 * parts["attention"] / total, 1) == attention
    assert round(100 * parts["feed_forward"] / total, 1) == feed_forward
    assert round(100 * (parts["embeddings"] + parts["head"]) / total, 1) == embeddings


def test_learned_positions_are_a_small_part_of_gpt_2():
    assert round(100 * count_parameters(MODELS["GPT-2 small"])["positions"] / EXACT["GPT-2 small"], 1) == 0.6


@pytest.mark.parametrize(
    ("name", "percent"),
    [("GPT-2 small", 66.7), ("GPT-3 175B", 66.7), ("Llama 3 8B", 80.8), ("SmolLM2-135M", 75.0)],
)
def test_the_feed_forward_share_of_a_block_beside_its_norms(name, percent):
    parts = count_block(MODELS[name])

    assert round(100 * parts["feed_forward"] / (parts["feed_forward"] + parts["attention"]), 1) == percent


def test_qwen_without_its_embedding_is_the_advertised_360_million():
    assert EXACT["Qwen2.5-0.5B"] - count_parameters(MODELS["Qwen2.5-0.5B"])["embeddings"] == 357_898_112


@pytest.mark.parametrize(("hidden", "squares"), [(4 * 96, 16), (8 * 96 // 3, 12)])
def test_a_gated_block_has_four_squares_and_three_hidden_matrices(hidden, squares):
    block = count_block(llama(1, 96, 4, 4, hidden, 10))

    assert block["attention"] + block["feed_forward"] == 4 * 96**2 + 3 * 96 * hidden == squares * 96**2


def test_shared_keys_make_attention_smaller():
    assert count_block(llama(1, 64, 8, 2, 64, 10))["attention"] == 2 * 64**2 * (1 + 2 / 8)


@pytest.mark.parametrize(
    ("n_model", "multiplier", "multiple_of", "width"),
    [(4096, 1, 256, 11008), (4096, 1.3, 1024, 14336), (8192, 1.3, 4096, 28672)],
)
def test_the_width_rule_gives_the_published_widths(n_model, multiplier, multiple_of, width):
    assert hidden_width(n_model, multiplier, multiple_of) == width


@pytest.mark.parametrize(
    ("name", "context", "share", "digits"),
    [("GPT-2 small", 1024, 0.222, 3), ("GPT-3 175B", 2048, 0.028, 3), ("Llama 3 8B", 8192, 0.31, 2),
     ("Llama 3 8B", 131072, 4.9, 1)],
)
def test_the_share_of_comparing_keys_grows_with_the_context(name, context, share, digits):
    operations = count_forward(MODELS[name], context)

    assert round(operations["attention"] / operations["blocks"], digits) == share


def test_one_token_of_gpt_2_small_at_1024():
    operations = count_forward(MODELS["GPT-2 small"], 1024)
    total = sum(operations.values())

    assert total == 284_812_800
    assert 1024 * total == 291_648_307_200
    assert round(total / (2 * EXACT["GPT-2 small"]), 3) == 1.144


@pytest.mark.parametrize(("part", "percent"), [("blocks", 60), ("attention", 13), ("head", 27)])
def test_the_parts_of_one_token_of_gpt_2_small(part, percent):
    operations = count_forward(MODELS["GPT-2 small"], 1024)

    assert round(100 * operations[part] / sum(operations.values())) == percent


def test_the_palm_formula_counts_a_sequence_of_gpt_2_within_two_ten_thousandths():
    small = MODELS["GPT-2 small"]
    exact = 3 * 1024 * sum(count_forward(small, 1024).values())

    assert palm_training(small, 1024) == 875_062_886_400
    assert exact == 874_944_921_600
    assert round(palm_training(small, 1024) / exact, 4) == 1.0001


def test_the_palm_formula_is_over_by_the_gains_only():
    small = MODELS["GPT-2 small"]
    exact = 3 * 1024 * sum(count_forward(small, 1024).values())

    assert palm_training(small, 1024) - exact == 6 * 1024 * 25 * 768


def test_kaplan_counts_one_of_the_two_attention_terms():
    plain = gpt(2, 64, 4)._replace(biases="none")
    operations = count_forward(plain, 128)

    assert kaplan_forward(plain, 128) == operations["blocks"] + operations["attention"] / 2


def test_attention_adds_four_operations_for_each_key_number_and_layer():
    assert count_forward(MODELS["GPT-3 175B"], 2048)["attention"] == 4 * 2048 * 12288 * 96


@pytest.mark.parametrize(
    ("name", "context"), [("GPT-2 small", 4608), ("Llama 2 7B", 24576), ("GPT-3 175B", 73728)]
)
def test_comparing_keys_costs_as_much_as_twelve_squares_at_six_widths(name, context):
    d, L = MODELS[name].n_model, MODELS[name].n_layers

    assert crossing_context(MODELS[name]) == context
    assert count_forward(MODELS[name], context)["attention"] == 2 * L * 12 * d**2


@pytest.mark.parametrize(
    ("n_parameters", "n_tokens", "operations"), [(280e9, 300e9, 5.04e23), (70e9, 1.4e12, 5.88e23)]
)
def test_six_n_d_gives_the_published_budgets(n_parameters, n_tokens, operations):
    assert training_operations(n_parameters, n_tokens) == pytest.approx(operations, rel=1e-12)


TABLE_A4 = {
    (10, 640, 2560, 10, 64): (1.582, 1.304, 1.026),
    (20, 1024, 4096, 16, 64): (1.317, 1.209, 1.102),
    (24, 1280, 5120, 10, 128): (1.232, 1.158, 1.084),
    (26, 1792, 7168, 14, 128): (1.145, 1.095, 1.045),
    (28, 2048, 8192, 16, 128): (1.116, 1.075, 1.033),
    (40, 3584, 14336, 28, 128): (1.028, 1.011, 0.994),
}


@pytest.mark.parametrize(("sizes", "ratios"), TABLE_A4.items())
def test_the_paper_s_own_ratios_come_out_only_without_its_vocabulary_terms(sizes, ratios):
    found = [hoffmann_ratio(*sizes, vocabulary_terms=terms) for terms in (2, 1, 0)]

    assert found == pytest.approx(ratios, abs=6e-4)


@pytest.mark.parametrize(
    ("name", "bytes_each_token", "context", "gibibytes"),
    [
        ("GPT-2 small", 36_864, 1024, 36 / 1024),
        ("GPT-3 175B", 4_718_592, 2048, 9),
        ("Llama 2 7B", 524_288, 4096, 2),
        ("Llama 2 70B", 327_680, 4096, 1.25),
        ("Llama 3 8B", 131_072, 8192, 1),
        ("Llama 3 8B", 131_072, 131072, 16),
        ("Mistral 7B", 131_072, 4096, 0.5),
        ("Llama 3 70B", 327_680, 8192, 2.5),
        ("Qwen2.5-0.5B", 12_288, 32768, 0.375),
    ],
)
def test_the_cache_of_keys_and_values(name, bytes_each_token, context, gibibytes):
    assert cache_bytes(MODELS[name]) == bytes_each_token
    assert cache_bytes(MODELS[name], context) == gibibytes * 2**30


def test_a_key_head_for_every_head_would_take_eight_times_the_cache():
    assert cache_bytes(MODELS["Llama 2 70B"]._replace(n_kv_heads=64), 4096) == 10 * 2**30


def test_weights_of_seven_billion():
    assert weight_bytes(7_000_000_000) == 14_000_000_000
    assert weight_bytes(7_000_000_000, bits_each=4) == 3_500_000_000
    assert round(weight_bytes(EXACT["Llama 2 7B"]) / 1e9, 2) == 13.48


@pytest.mark.parametrize(
    ("name", "n_bytes"), [("Llama 3 8B", 16_060_522_496), ("Mistral 7B", 14_483_464_192)]
)
def test_published_files_of_16_bit_numbers_have_the_counted_bytes(name, n_bytes):
    assert weight_bytes(count(MODELS[name])) == n_bytes


def test_a_real_file_of_four_bit_blocks_spends_almost_six_bits():
    assert round(bits_per_weight(98_362_432, EXACT["SmolLM2-135M"]), 2) == 5.85


def test_key_width_is_the_width_of_the_shared_heads():
    assert key_width(MODELS["SmolLM2-135M"]) == 3 * 64


def test_the_misprinted_row_of_gpt_3_is_refused():
    with pytest.raises(ShapeMismatchError, match="head count must divide model width, but 40 does not divide 5140"):
        gpt(40, 5140, 40)


def test_key_heads_that_do_not_divide_the_heads_are_refused():
    with pytest.raises(ShapeMismatchError, match="key-value heads must divide heads, but 3 do not divide 8"):
        llama(1, 64, 8, 3, 64, 10)


@pytest.mark.parametrize("size", [0, -1, 2.0, True])
def test_a_size_that_is_not_a_positive_whole_number_is_refused(size):
    with pytest.raises(OutOfRangeError, match="n_layers must be a whole number of at least 1, not"):
        llama(size, 64, 8, 8, 64, 10)
