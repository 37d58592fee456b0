"""Every recorded array of PyTorch and Hugging Face comes out of our code, values and gradients."""

import json

import numpy as np
import pytest
from reference import BLOCK_NAMES, FOLDER, MODEL_NAMES, Reference

from attention import multi_head_attention, multi_head_attention_backward
from layernorm import centre_and_scale, layernorm, layernorm_backward
from loss import cross_entropy, cross_entropy_backward
from mlp import mlp, mlp_backward
from positions import (
    half_split,
    interleaved,
    interleaved_to_half,
    rope,
    rope_backward,
    rope_frequencies,
    rotation,
    sinusoidal,
)
from rope_scaling import llama3_frequencies, slow_down, yarn_attention_factor, yarn_frequencies
from transformer import (
    block,
    block_backward,
    inverse_rms,
    language_model,
    language_model_backward,
    rmsnorm,
    rmsnorm_backward,
    swiglu,
    swiglu_backward,
)
from variants import VARIANTS, Variant, variant_block, variant_block_backward, variant_model, variant_model_backward

PAIRS = {"interleaved": interleaved, "half": half_split}
ATTENTION_FILES = (
    "mha_0",
    "mha_bias_0",
    "mha_rope_half_0",
    "mha_rope_interleaved_0",
    "gqa_1",
    "gqa_rope_half_1",
    "gqa_rope_interleaved_1",
)
BLOCKS = {
    "gpt2_block": VARIANTS["GPT-2"],
    "ln_relu_block": VARIANTS["small LayerNorm-ReLU"],
    "postnorm_relu_block": VARIANTS["first transformer"],
    "llama_block_interleaved": VARIANTS["Llama"],
    "llama_block_half": Variant(positions="rope_half"),
}
MODELS = {
    "tiny_llama_interleaved_tied_0": VARIANTS["Llama"],
    "tiny_llama_interleaved_untied_0": Variant(is_tied=False),
    "tiny_llama_half_tied_0": Variant(positions="rope_half"),
    "tiny_llama_half_untied_0": Variant(positions="rope_half", is_tied=False),
    "tiny_gpt_gpt2_0": VARIANTS["GPT-2"],
    "tiny_gpt_seed003_0": VARIANTS["GPT-2"]._replace(positions="sinusoidal"),
}
TIED_MODELS = [name for name, variant in MODELS.items() if variant.is_tied]
ELSEWHERE = {"optimizers", "sampling", "train_adamw_tiny_llama", "seed001_live_block", "seed003_tiny_gpt"}


def turn_of(recorded, pairs, n_tokens):
    d_head = recorded["Wq"].shape[1] // recorded["n_heads"]
    return rotation(np.arange(n_tokens), rope_frequencies(d_head, recorded["base"]), PAIRS[pairs])


@pytest.mark.parametrize("case", [0, 1, 2])
def test_rmsnorm_is_that_of_pytorch(case):
    recorded = Reference(f"rmsnorm_{case}")
    x, gain, epsilon = recorded["x"], recorded["gain"], recorded["eps"]
    x_gradient, gain_gradient = rmsnorm_backward(recorded["gy"], x, gain, epsilon)

    recorded.agrees(y=rmsnorm(x, gain, epsilon), inv_rms=inverse_rms(x, epsilon))
    recorded.agrees(g_x=x_gradient, g_gain=gain_gradient)
    assert not recorded.untouched


@pytest.mark.parametrize("case", [0, 1, 2])
def test_layernorm_is_that_of_pytorch(case):
    recorded = Reference(f"layernorm_{case}")
    x, gain, bias, epsilon = recorded["x"], recorded["gain"], recorded["bias"], recorded["eps"]
    x_gradient, gain_gradient, bias_gradient = layernorm_backward(recorded["gy"], x, gain, epsilon)

    recorded.agrees(y=layernorm(x, gain, bias, epsilon))
    recorded.agrees(g_x=x_gradient, g_gain=gain_gradient, g_bias=bias_gradient)
    normal, r = centre_and_scale(x, epsilon)
    recorded.agrees(mean=(x - normal / r)[..., :1], var=r**-2 - epsilon)
    assert not recorded.untouched


def test_swiglu_is_that_of_llama():
    recorded = Reference("swiglu_0")
    matrices = [recorded[name] for name in ("Wg", "Wu", "Wd")]
    trace = swiglu(recorded["x"], *matrices)
    gradients = swiglu_backward(recorded["gy"], trace, *matrices)

    recorded.agrees(y=trace.result, gate_pre=trace.z, gate=trace.gate, up=trace.up)
    recorded.agrees(**dict(zip(("g_x", "g_Wg", "g_Wu", "g_Wd"), gradients, strict=True)))
    assert not recorded.untouched


@pytest.mark.parametrize(("file", "activation"), [("relu", "relu"), ("gelu_tanh", "gelu"), ("gelu_erf", "gelu_erf")])
def test_the_mlp_is_that_of_pytorch(file, activation):
    recorded = Reference(f"{file}_mlp_0")
    weights = [recorded[name] for name in ("W1", "b1", "W2", "b2")]
    trace = mlp(recorded["x"], *weights, activation)
    gradients = mlp_backward(recorded["gy"], trace, *weights)

    recorded.agrees(y=trace.result, hidden_pre=trace.z, hidden=trace.hidden)
    recorded.agrees(**dict(zip(("g_x", "g_W1", "g_b1", "g_W2", "g_b2"), gradients, strict=True)))
    assert not recorded.untouched


@pytest.mark.parametrize("file", ATTENTION_FILES)
def test_attention_is_that_of_pytorch(file):
    recorded = Reference(file)
    weights = recorded.weights(BLOCK_NAMES)
    x, n_heads, n_kv_heads = recorded["x"], recorded["n_heads"], recorded["n_kv_heads"]
    recorded.arrays["base"] = np.float64(10_000.0)
    turn = turn_of(recorded, file.split("_")[2], x.shape[1]) if "rope" in file else None
    trace = multi_head_attention(x, weights, n_heads, n_kv_heads, turn)
    x_gradient, gradients = multi_head_attention_backward(recorded["gy"], trace, weights)

    recorded.agrees(y=trace.result, q=trace.heads.Q, k=trace.K, v=trace.V, g_x=x_gradient)
    recorded.agrees(scores=trace.heads.scores, probs=trace.heads.shares, context=trace.heads.result)
    recorded.gradients_agree(gradients, BLOCK_NAMES)
    assert not recorded.untouched


@pytest.mark.parametrize("case", [0, 1])
@pytest.mark.parametrize("pairs", ["half", "interleaved"])
def test_rope_turns_as_meta_and_hugging_face_do(pairs, case):
    recorded = Reference(f"rope_{case}")
    q, k, positions, base = recorded["q"], recorded["k"], recorded["positions"], recorded["base"]
    turned = [rope(x, positions, base, PAIRS[pairs]) for x in (q, k)]
    back = [rope_backward(recorded[g], positions, base, PAIRS[pairs]) for g in ("gq_rot", "gk_rot")]
    turn = rotation(positions, rope_frequencies(q.shape[-1], base))

    recorded.agrees(inv_freq=rope_frequencies(q.shape[-1], base), cos=turn.units.real, sin=turn.units.imag)
    recorded.agrees(**{f"q_rot_{pairs}": turned[0], f"k_rot_{pairs}": turned[1]})
    recorded.agrees(**{f"g_q_{pairs}": back[0], f"g_k_{pairs}": back[1]})
    # The recorded scores are not yet divided by the root of the width.
    recorded.agrees(**{f"scores_{pairs}": turned[0] @ turned[1].swapaxes(-1, -2)})
    recorded.agrees(perm_interleaved_to_half=interleaved_to_half(q.shape[-1]))
    other = "half" if pairs == "interleaved" else "interleaved"
    assert all(name.endswith(other) for name in recorded.untouched)


@pytest.mark.parametrize(
    ("name", "frequencies", "attention_factor"),
    [
        ("default_like_linear1", slow_down(rope_frequencies(16), 1.0), 1.0),
        ("linear4", slow_down(rope_frequencies(16), 4.0), 1.0),
        ("yarn4", yarn_frequencies(rope_frequencies(16), 4.0, trained_length=64), yarn_attention_factor(4.0)),
        ("llama3_8", llama3_frequencies(rope_frequencies(16, 500_000.0), 8.0, trained_length=64), 1.0),
    ],
)
def test_rope_is_slowed_down_as_hugging_face_does(name, frequencies, attention_factor):
    recorded = Reference("rope_scaling_float32")

    recorded.agrees(rtol=1e-6, atol=0, **{f"{name}_inv_freq": frequencies})
    recorded.agrees(rtol=1e-6, atol=0, **{f"{name}_attention_factor": attention_factor})


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("default_like_linear1", {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 1.0}),
        ("linear4", {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 4.0}),
        ("yarn4", {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 64}),
        (
            "llama3_8",
            {
                "rope_type": "llama3",
                "rope_theta": 500_000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            },
        ),
    ],
)
def test_what_slows_rope_down_was_asked_with_the_recorded_settings(name, config):
    recorded = json.loads(Reference("rope_scaling_float32")[f"{name}_config"])

    assert (recorded["dh"], recorded["params"]) == (16, config)


def test_sinusoidal_positions_are_those_of_the_first_transformer():
    Reference("sinusoidal_positions").agrees(pe=sinusoidal(12, 8))


@pytest.mark.parametrize("case", [0, 1])
def test_cross_entropy_is_that_of_pytorch(case):
    recorded = Reference(f"cross_entropy_{case}")
    trace = cross_entropy(recorded["logits"], recorded["targets"])
    kept = cross_entropy(recorded["logits"], recorded["targets"], recorded["keep_mask"])

    recorded.agrees(log_probs=trace.log_probabilities, loss=trace.result, loss_masked=kept.result)
    recorded.agrees(g_logits=cross_entropy_backward(1.0, trace), g_logits_masked=cross_entropy_backward(1.0, kept))
    recorded.agrees(perplexity=np.exp(trace.result))
    assert not recorded.untouched


def block_arrays(trace, **more):
    return {
        "attn_out": trace.attention.result,
        "u": trace.u,
        "ffn_out": trace.feed_forward.result,
        "y": trace.result,
        "q": trace.attention.heads.Q,
        "k": trace.attention.K,
        "v": trace.attention.V,
        "probs": trace.attention.heads.shares,
        "norm1": trace.attention.x,
        "norm2": trace.feed_forward.x,
        **more,
    }


@pytest.mark.parametrize("case", [0, 1])
@pytest.mark.parametrize("pairs", ["half", "interleaved"])
def test_the_block_is_that_of_llama(pairs, case):
    recorded = Reference(f"llama_block_{pairs}_{case}")
    weights, x = recorded.weights(BLOCK_NAMES), recorded["x"]
    turn = turn_of(recorded, pairs, x.shape[1])
    trace = block(x, weights, recorded["n_heads"], recorded["n_kv_heads"], turn, recorded["eps"])
    x_gradient, gradients = block_backward(recorded["gy"], trace, weights)

    recorded.agrees(**block_arrays(trace, norm1=trace.norm_1, norm2=trace.norm_2), g_x=x_gradient)
    recorded.gradients_agree(gradients, BLOCK_NAMES)
    assert not recorded.untouched


@pytest.mark.parametrize("case", [0, 1])
@pytest.mark.parametrize("file", BLOCKS)
def test_one_code_gives_every_block(file, case):
    recorded = Reference(f"{file}_{case}")
    weights, x = recorded.weights(BLOCK_NAMES), recorded["x"]
    turn = turn_of(recorded, file.split("_")[2], x.shape[1]) if "llama" in file else None
    heads = recorded["n_heads"], recorded.get("n_kv_heads")
    trace = variant_block(x, weights, *heads, turn, recorded["eps"], variant=BLOCKS[file])
    x_gradient, gradients = variant_block_backward(recorded["gy"], trace, weights)

    recorded.agrees(**{name: array for name, array in block_arrays(trace).items() if name in recorded}, g_x=x_gradient)
    recorded.gradients_agree(gradients, BLOCK_NAMES)
    assert not recorded.untouched


def run_model(recorded, weights, variant):
    heads, base = (recorded["n_heads"], recorded.get("n_kv_heads")), recorded.get("base", 10_000.0)
    trace = variant_model(recorded["input_ids"], weights, *heads, variant, recorded["eps"], base=base)
    loss = cross_entropy(trace.result, recorded["targets"])
    return trace, loss, variant_model_backward(cross_entropy_backward(1.0, loss), trace, weights)


@pytest.mark.parametrize("file", MODELS)
def test_one_code_gives_every_model(file):
    recorded = Reference(file)
    trace, loss, gradients = run_model(recorded, recorded.weights(MODEL_NAMES), MODELS[file])

    recorded.agrees(logits=trace.result, loss=loss.result, n_layers=len(trace.blocks))
    recorded.gradients_agree(gradients, MODEL_NAMES)


@pytest.mark.parametrize("file", TIED_MODELS)
def test_the_gradient_of_a_tied_embedding_is_the_sum_of_its_two_uses(file):
    recorded = Reference(file)
    weights = recorded.weights(MODEL_NAMES)
    _, _, gradients = run_model(recorded, weights | {"head": weights["E"].T}, MODELS[file]._replace(is_tied=False))

    recorded.agrees(g_E_input=gradients["E"], g_E_output=gradients["head"].T)
    recorded.agrees(g_E=gradients["E"] + gradients["head"].T)


@pytest.mark.parametrize("pairs", ["half", "interleaved"])
def test_the_language_model_is_that_of_llama(pairs):
    recorded = Reference(f"tiny_llama_{pairs}_tied_0")
    weights, ids = recorded.weights(MODEL_NAMES), recorded["input_ids"]
    turn = rotation(np.arange(6), rope_frequencies(4, recorded["base"]), PAIRS[pairs])
    trace = language_model(ids, weights, recorded["n_heads"], recorded["n_kv_heads"], turn, recorded["eps"])
    loss = cross_entropy(trace.result, recorded["targets"])
    gradients = language_model_backward(cross_entropy_backward(1.0, loss), trace, weights)

    recorded.agrees(logits=trace.result, loss=loss.result)
    recorded.gradients_agree(gradients, MODEL_NAMES)


class Kept:
    """The keys and values of one layer, joined as they come."""

    def __init__(self):
        self.K = self.V = None

    def extend(self, K, V):
        self.K = K if self.K is None else np.concatenate([self.K, K], axis=-2)
        self.V = V if self.V is None else np.concatenate([self.V, V], axis=-2)
        return self.K, self.V


@pytest.mark.parametrize("file", MODELS)
def test_reading_one_token_at_a_time_with_kept_keys_gives_the_same_logits(file):
    recorded = Reference(file)
    weights, ids, caches = recorded.weights(MODEL_NAMES), recorded["input_ids"], [Kept(), Kept()]
    heads, start = (recorded["n_heads"], recorded.get("n_kv_heads")), recorded["cache_prompt_len"]
    pieces = [ids[:, :start], *np.split(ids[:, start:], ids.shape[1] - start, axis=1)]
    starts = [0, *range(start, ids.shape[1])]
    logits = [
        variant_model(piece, weights, *heads, MODELS[file], recorded["eps"], caches, start).result
        for piece, start in zip(pieces, starts, strict=True)
    ]

    recorded.agrees(logits=np.concatenate(logits, axis=1))
    recorded.agrees(cache_l0_k=caches[0].K, cache_l0_v=caches[0].V, cache_l1_k=caches[1].K, cache_l1_v=caches[1].V)


@pytest.mark.parametrize("file", [name for name in MODELS if "llama" in name])
def test_the_likeliest_tokens_are_those_that_llama_takes(file):
    recorded = Reference(file)
    weights, ids = recorded.weights(MODEL_NAMES), recorded["input_ids"][0, : recorded["cache_prompt_len"]]
    for _ in recorded["greedy_from_prompt_row0"]:
        logits = variant_model(ids, weights, recorded["n_heads"], recorded["n_kv_heads"], MODELS[file], recorded["eps"])
        ids = np.append(ids, logits.result[-1].argmax())

    recorded.agrees(greedy_from_prompt_row0=ids[recorded["cache_prompt_len"] :])


def test_every_recorded_file_has_its_test():
    numbered = {"cross_entropy": 2, "layernorm": 3, "rmsnorm": 3, "rope": 2, **dict.fromkeys(BLOCKS, 2)}
    single = {
        "swiglu_0",
        "relu_mlp_0",
        "gelu_tanh_mlp_0",
        "gelu_erf_mlp_0",
        "rope_scaling_float32",
        "sinusoidal_positions",
        *ATTENTION_FILES,
        *MODELS,
    }
    tested = single | {f"{stem}_{i}" for stem, count in numbered.items() for i in range(count)}

    assert tested == {path.stem for path in FOLDER.glob("*.npz")} - ELSEWHERE
