"""One code for every decoder of this family: what differs between them are six choices.  Forward and backward.

A name that ends in _bar is the gradient of the loss by what the name says.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from attention import MultiHeadTrace, linear, linear_backward, multi_head_attention, multi_head_attention_backward
from embeddings import lookup, lookup_backward
from layernorm import layernorm, layernorm_backward
from mlp import ACTIVATIONS, mlp, mlp_backward
from positions import (
    half_split,
    interleaved,
    learned,
    learned_backward,
    rope_frequencies,
    rotation,
    sinusoidal,
)
from refusals import (
    ATTENTION_NAMES,
    GATED,
    OutOfRangeError,
    check_choice,
    check_count,
    check_heads,
    check_known,
    check_model_names,
    check_parts,
)
from transformer import (
    join_layers,
    rmsnorm,
    rmsnorm_backward,
    split_layers,
    stack,
    stack_backward,
    swiglu,
    swiglu_backward,
    tied_head_backward,
)


# tag::variant[]
class Variant(NamedTuple):
    """The choices that make decoders differ; each default is today's usual one."""

    norm: str = "rmsnorm"  # or layernorm
    norm_first: bool = True  # before each sublayer; false: after each sum
    positions: str = "rope"  # or rope_half, sinusoidal, learned, none
    feed_forward: str = "swiglu"  # or relu, gelu, gelu_erf
    is_tied: bool = True  # the head reuses E; false: it has a matrix of its own
    biases: str = "none"  # or queries (and keys, values), all (but SwiGLU, head)


LLAMA = Variant()
VARIANTS = {
    "Llama": LLAMA,
    "Qwen": Variant(biases="queries"),
    "GPT-2": Variant("layernorm", True, "learned", "gelu", biases="all"),
    "small LayerNorm-ReLU": Variant(
        "layernorm", True, "sinusoidal", "relu", is_tied=False, biases="all"
    ),
    "first transformer": Variant(
        "layernorm", False, "sinusoidal", "relu", biases="all"
    ),
}
# end::variant[]


# tag::norms[]
NORMS = {
    "rmsnorm": (rmsnorm, rmsnorm_backward, ("gain",)),
    "layernorm": (layernorm, layernorm_backward, ("gain", "bias")),
}


def normalize(x, weights, place, variant, epsilon):
    """Apply the variant's norm of one place: "_1", "_2", or "" for the last.

    x: [..., d]   ->   [..., d]
    """
    norm, _, parts = NORMS[variant.norm]
    return norm(x, *(weights[part + place] for part in parts), epsilon)


def normalize_backward(upstream, x, weights, place, variant, epsilon):
    """Give the x gradient, and a dict with those of the gain (and bias).

    upstream: [..., d]   ->   x gradient: [..., d], and the dict
    """
    _, norm_backward, parts = NORMS[variant.norm]
    gain = weights["gain" + place]
    x_bar, *gradients = norm_backward(upstream, x, gain, epsilon)
    names = (part + place for part in parts)
    return x_bar, dict(zip(names, gradients, strict=True))
# end::norms[]


CHOICES = {
    "norm": NORMS,
    "positions": ("rope", "rope_half", "sinusoidal", "learned", "none"),
    "feed_forward": ("swiglu", *ACTIVATIONS),
    "biases": ("none", "queries", "all"),
    "norm_first": (True, False),
    "is_tied": (True, False),
}


def check_variant(variant):
    """Refuse a choice that there is not, and a name where the choices themselves are needed."""
    if not hasattr(variant, "norm_first"):
        raise OutOfRangeError(f"expected a Variant, such as VARIANTS['Llama'], not {variant!r}")
    for choice, allowed in CHOICES.items():
        check_choice(choice, getattr(variant, choice), allowed)


def check_layer(weights, variant):
    """Refuse weights of a block that lack an array of this variant, or hold one that it would not read."""
    check_variant(variant)
    needed, also = (GATED, ()) if variant.feed_forward == "swiglu" else (("W_1", "W_2"), ("b_1", "b_2"))
    needed += tuple(part + place for part in NORMS[variant.norm][2] for place in ("_1", "_2"))
    check_parts(weights, "W_q", *needed)
    check_known(tuple(weights), ATTENTION_NAMES.union(needed, also))


def check_model(weights, variant, n_heads, start):
    """Refuse weights that were not made for this variant, heads that do not divide them, and a start before 0."""
    check_variant(variant)
    check_count("start", start, least=0)
    names = ["E", *(NORMS[variant.norm][2] if variant.norm_first else ())]
    names += [] if variant.is_tied else ["head"]
    names += ["P"] if variant.positions == "learned" else []
    check_model_names(weights, *names)
    for layer in split_layers(weights):
        check_layer(layer, variant)
        check_heads(layer["W_q"].shape[-1], n_heads, n_heads)


# tag::feed-forward[]
def feed_forward(x, weights, variant):
    """Apply the variant's feed-forward: SwiGLU, or an MLP with some activation.

    x: [..., d]   ->   trace with result: [..., d]
    """
    if variant.feed_forward == "swiglu":
        return swiglu(x, *(weights[name] for name in ("W_g", "W_u", "W_d")))
    parts = (weights.get(name) for name in ("W_1", "b_1", "W_2", "b_2"))
    return mlp(x, *parts, variant.feed_forward)


def feed_forward_backward(upstream, trace, weights, variant):
    """Give the x gradient, and a dict with those of the weights that are there.

    upstream: [..., d]   ->   x gradient: [..., d], and the dict
    """
    is_gated = variant.feed_forward == "swiglu"
    names = ("W_g", "W_u", "W_d") if is_gated else ("W_1", "b_1", "W_2", "b_2")
    backward = swiglu_backward if is_gated else mlp_backward
    arrays = (weights.get(name) for name in names)
    x_bar, *gradients = backward(upstream, trace, *arrays)
    pairs = zip(names, gradients, strict=True)
    return x_bar, {name: g for name, g in pairs if g is not None}
# end::feed-forward[]


# tag::residual[]
def residual(x, sublayer, norm, norm_first):
    """Add what a sublayer has to say to the rows it read.

    x: [..., tokens, d]   ->   the sublayer's trace, and new rows: [..., tokens, d]
    Source: vaswani2017attention, section 3.1 (norm last);
    xiong2020layer, section 3 (norm first).
    """
    if norm_first:
        trace = sublayer(norm(x))
        return trace, x + trace.result
    trace = sublayer(x)
    return trace, norm(x + trace.result)
# end::residual[]


# tag::residual-backward[]
def residual_backward(
    upstream, x, trace, sublayer_backward, norm_backward, norm_first
):
    """Let the gradient go both ways through the sum.

    Only with the norm first is one of the two ways untouched.

    upstream: [..., tokens, d]   ->   x gradient, and a dict of those of the weights
    """
    if norm_first:
        inside, gradients = sublayer_backward(upstream, trace)
        through, norm_gradients = norm_backward(inside, x)
        return upstream + through, gradients | norm_gradients
    at_sum, norm_gradients = norm_backward(upstream, x + trace.result)
    through, gradients = sublayer_backward(at_sum, trace)
    return at_sum + through, gradients | norm_gradients
# end::residual-backward[]


# tag::variant-trace[]
class VariantBlockTrace(NamedTuple):
    """Every array of one block; what a sublayer read is its trace's x."""

    x: np.ndarray  # [..., tokens, d]
    attention: MultiHeadTrace
    u: np.ndarray
    feed_forward: object  # SwigluTrace or MlpTrace
    result: np.ndarray
    variant: Variant
    epsilon: float
# end::variant-trace[]


# tag::variant-block[]
def variant_block(
    x, weights, n_heads, n_kv_heads=None, rotation=None, epsilon=1e-5, cache=None,
    variant=LLAMA,
):
    """Let every token read the earlier ones, then work on it, in the variant's way.

    weights: gain_1, W_q ... as the variant has them (weight_shapes lists them)
    rotation: RoPE's turn of each token; none: rows are not turned
    -> trace with result: [..., tokens, d]
    Raises ShapeMismatchError for weights of another variant.
    """
    check_layer(weights, variant)
    attend = partial(
        multi_head_attention, weights=weights, n_heads=n_heads,
        n_kv_heads=n_kv_heads, rotation=rotation, cache=cache,
    )
    settings = {"weights": weights, "variant": variant, "epsilon": epsilon}

    def norm(place):
        return partial(normalize, place=place, **settings)

    attention, u = residual(x, attend, norm("_1"), variant.norm_first)
    work = partial(feed_forward, weights=weights, variant=variant)
    worked, result = residual(u, work, norm("_2"), variant.norm_first)
    return VariantBlockTrace(x, attention, u, worked, result, variant, epsilon)
# end::variant-block[]


# tag::variant-block-backward[]
def variant_block_backward(upstream, trace, weights):
    """Give the x gradient, and a dict of gradients keyed like weights.

    upstream: [..., tokens, d]   ->   x gradient: [..., tokens, d], and the dict
    """
    x, attention, u, worked, _, variant, epsilon = trace
    settings = {"weights": weights, "variant": variant, "epsilon": epsilon}

    def norm(place):
        return partial(normalize_backward, place=place, **settings)

    back = partial(feed_forward_backward, weights=weights, variant=variant)
    u_bar, gradients = residual_backward(
        upstream, u, worked, back, norm("_2"), variant.norm_first
    )
    back = partial(multi_head_attention_backward, weights=weights)
    x_bar, more = residual_backward(
        u_bar, x, attention, back, norm("_1"), variant.norm_first
    )
    return x_bar, gradients | more
# end::variant-block-backward[]


# tag::positions[]
def turn(variant, start, n_tokens, d_head, base=10_000.0):
    """Give RoPE's turn of positions start, start + 1, ..., if anything turns."""
    if variant.positions not in ("rope", "rope_half"):
        return None
    pairs = half_split if variant.positions == "rope_half" else interleaved
    positions = np.arange(start, start + n_tokens)
    return rotation(positions, rope_frequencies(d_head, base), pairs)


def add_positions(x, weights, variant, start):
    """Add to every row what the variant adds for its position, if anything.

    x: [..., tokens, d]   start: position of the first row   ->   [..., tokens, d]
    """
    end = start + x.shape[-2]
    if variant.positions == "sinusoidal":
        return x + sinusoidal(end, x.shape[-1])[start:]
    if variant.positions == "learned":
        return x + learned(weights["P"], end)[start:]
    return x
# end::positions[]


# tag::variant-model-trace[]
class VariantModelTrace(NamedTuple):
    """Every array of a language model, in the order in which they are made."""

    ids: np.ndarray  # [..., tokens]
    blocks: list  # a VariantBlockTrace each
    hidden: np.ndarray  # [..., tokens, d], after the last norm, if there is one
    result: np.ndarray  # [..., tokens, n_vocab]: logits
    variant: Variant
    epsilon: float
# end::variant-model-trace[]


# tag::variant-model[]
def variant_model(
    ids, weights, n_heads, n_kv_heads=None, variant=LLAMA, epsilon=1e-5,
    caches=None, start=0, base=10_000.0,
):
    """Score every token that could come next, everywhere, in the variant's way.

    ids: [..., tokens]   start: position of the first, if caches hold earlier ones
    -> trace with result, the logits: [..., tokens, n_vocab]
    """
    check_model(weights, variant, n_heads, start)
    x = add_positions(lookup(ids, weights["E"]), weights, variant, start)
    layers = split_layers(weights)
    d_head = layers[0]["W_q"].shape[-1] // n_heads
    rotation = turn(variant, start, x.shape[-2], d_head, base)
    step = partial(variant_block, variant=variant)
    blocks = stack(x, layers, n_heads, n_kv_heads, rotation, epsilon, caches, step)
    x = blocks[-1].result
    hidden = x
    if variant.norm_first:
        hidden = normalize(x, weights, "", variant, epsilon)
    head = weights["E"].T if variant.is_tied else weights["head"]
    logits = linear(hidden, head)
    return VariantModelTrace(ids, blocks, hidden, logits, variant, epsilon)
# end::variant-model[]


# tag::variant-model-backward[]
def variant_model_backward(upstream, trace, weights):
    """Give a dict of gradients keyed like weights; a tied E gets a sum of two.

    upstream: [..., tokens, n_vocab]
    """
    gradients, variant, epsilon = {}, trace.variant, trace.epsilon
    if variant.is_tied:
        x_bar, E_bar = tied_head_backward(upstream, trace.hidden, weights["E"])
    else:
        head = weights["head"]
        x_bar, gradients["head"], _ = linear_backward(upstream, trace.hidden, head)
        E_bar = 0.0  # E scores nothing
    if variant.norm_first:
        last = trace.blocks[-1].result
        x_bar, of_norm = normalize_backward(
            x_bar, last, weights, "", variant, epsilon
        )
        gradients |= of_norm
    layers = split_layers(weights)
    x_bar, layer_bars = stack_backward(
        x_bar, trace.blocks, layers, variant_block_backward
    )
    if variant.positions == "learned":
        gradients["P"] = learned_backward(x_bar, weights["P"], x_bar.shape[-2])
    gradients["E"] = E_bar + lookup_backward(x_bar, trace.ids, weights["E"])
    return gradients | join_layers(layer_bars)
# end::variant-model-backward[]


if __name__ == "__main__":
    from initialization import initial_weights, weight_shapes

    # tag::run-variants[]
    for name, variant in VARIANTS.items():
        sizes = {"n_vocab": 7, "n_model": 8, "n_hidden": 16, "n_layers": 2}
        shapes = weight_shapes(**sizes, variant=variant, max_context=8)
        weights = initial_weights(np.random.default_rng(0), shapes)
        model = variant_model([1, 2, 3], weights, n_heads=2, variant=variant)
        numbers, logit = sum(a.size for a in weights.values()), model.result[0, 0]
        print(f"{name:22}{numbers:6} numbers   first logit {logit:+.4f}")
    # end::run-variants[]
