"""Describe the sizes of known models.  Published sizes only; what they cost is counted elsewhere."""

from typing import NamedTuple

from refusals import check_choice, check_count, check_heads, check_positive


# tag::architecture[]
class Architecture(NamedTuple):
    """The sizes that decide what a model costs.

    n_kv_heads: heads with keys and values of their own
    n_positions: rows of a learned table, or 0   is_centred: LayerNorm, not RMSNorm
    biases: "none", "queries" (on Q, K and V) or "all"
    """

    n_layers: int
    n_model: int
    n_heads: int
    n_kv_heads: int
    n_hidden: int
    n_vocab: int
    n_positions: int = 0
    is_gated: bool = True
    is_tied: bool = False
    biases: str = "none"
    is_centred: bool = False
# end::architecture[]


# tag::families[]
def gpt(n_layers, n_model, n_heads, n_vocab=50257, n_positions=1024):
    """Describe a model of the GPT-2 kind: biases, learned positions, 4 d inside.

    Source: radford2019language, section 2.3; brown2020language, table 2.1.
    """
    return checked(Architecture(
        n_layers, n_model, n_heads, n_heads, 4 * n_model, n_vocab, n_positions,
        is_gated=False, is_tied=True, biases="all", is_centred=True,
    ))


def llama(
    n_layers, n_model, n_heads, n_kv_heads, n_hidden, n_vocab, is_tied=False,
    biases="none",
):
    """Describe a model of the Llama kind: RMSNorm, RoPE, SwiGLU, no biases.

    Qwen is of this kind too, with biases on queries, keys and values.

    Source: touvron2023llama, section 2.2; grattafiori2024llama3, table 3.
    """
    return checked(
        Architecture(n_layers, n_model, n_heads, n_kv_heads, n_hidden, n_vocab,
                     is_tied=is_tied, biases=biases)
    )

# end::families[]


def checked(architecture):
    """Refuse sizes that no model can have.

    Raises ModelError, naming the size and its value.
    """
    for name in ("n_layers", "n_model", "n_heads", "n_kv_heads", "n_hidden", "n_vocab"):
        check_count(name, getattr(architecture, name))
    check_count("n_positions", architecture.n_positions, least=0)
    check_heads(architecture.n_model, architecture.n_heads, architecture.n_kv_heads)
    check_choice("biases", architecture.biases, ("none", "queries", "all"))
    return architecture


# tag::hidden_width[]
def hidden_width(n_model, multiplier=1, multiple_of=256):
    """Give the width h of Meta's models: two thirds of 4 d, stretched, rounded up.

    multiplier: no unit   ->   a multiple of multiple_of
    Source: touvron2023llama, section 2.2.
    """
    check_count("n_model", n_model)
    check_count("multiple_of", multiple_of)
    check_positive("multiplier", multiplier)
    width = int(multiplier * (2 * 4 * n_model // 3))
    return -(-width // multiple_of) * multiple_of
# end::hidden_width[]


# tag::models[]
MODELS = {
    "GPT-2 small": gpt(12, 768, 12),
    "GPT-2 medium": gpt(24, 1024, 16),
    "GPT-2 large": gpt(36, 1280, 20),
    "GPT-2 XL": gpt(48, 1600, 25),
    "GPT-3 175B": gpt(96, 12288, 96, n_positions=2048),
    "Llama 2 7B": llama(32, 4096, 32, 32, 11008, 32000),
    "Llama 2 13B": llama(40, 5120, 40, 40, 13824, 32000),
    "Llama 1 33B": llama(60, 6656, 52, 52, 17920, 32000),
    "Llama 1 65B": llama(80, 8192, 64, 64, 22016, 32000),
    "Llama 2 70B": llama(80, 8192, 64, 8, 28672, 32000),
    "Llama 3 8B": llama(32, 4096, 32, 8, 14336, 128256),
    "Llama 3 70B": llama(80, 8192, 64, 8, 28672, 128256),
    "Llama 3.1 405B": llama(126, 16384, 128, 8, 53248, 128256),
    "Llama 3.2 1B": llama(16, 2048, 32, 8, 8192, 128256, is_tied=True),
    "Mistral 7B": llama(32, 4096, 32, 8, 14336, 32000),
    "Qwen2.5-0.5B": llama(24, 896, 14, 2, 4864, 151936, True, "queries"),
    "Qwen2.5-1.5B": llama(28, 1536, 12, 2, 8960, 151936, True, "queries"),
    "Qwen2.5-7B": llama(28, 3584, 28, 4, 18944, 152064, False, "queries"),
    "SmolLM2-135M": llama(30, 576, 9, 3, 1536, 49152, is_tied=True),
    "stories15M": llama(6, 288, 6, 6, 768, 32000, is_tied=True),
    "stories260K": llama(5, 64, 8, 4, 172, 512, is_tied=True),
}
# end::models[]
