"""A GPT with four layers and eight numbers a token, from ids to a guess.  Forward only; drawn, not trained."""

import numpy as np

from attention import multi_head_attention, softmax
from embeddings import lookup
from layernorm import layernorm
from mlp import gelu
from positions import rope, sinusoidal


# tag::embeddings[]
def draw_embeddings(generator, n_vocab=50, d=8):
    """Draw a row for every token, small so that no token starts out loud.

    -> E: [n_vocab, d]; the 0.02 is from the code of GPT-2, src/model.py
    """
    return generator.normal(0, 0.02, (n_vocab, d))


def embed(ids, E):
    """Look a token's row up, and add where it stands: [tokens] -> [tokens, d]."""
    return lookup(ids, E) + sinusoidal(len(ids), E.shape[1])
# end::embeddings[]


# tag::score[]
def score(q, k, q_position, k_position):
    """Compare a query with a key, both turned to where they stand: one number.

    q, k: [d]   positions: 0-based
    """
    turned_q = rope(q[None], [q_position])[0]
    turned_k = rope(k[None], [k_position])[0]
    return float(turned_q @ turned_k)
# end::score[]


# tag::norm[]
def norm(x):
    """Bring every row to mean 0 and variance 1; gain and bias are still 1 and 0.

    x: [..., d]   ->   [..., d]
    """
    return layernorm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))
# end::norm[]


# tag::weights[]
def draw_weights(generator, d=8):
    """Draw a block's four matrices, so that numbers of size one come out again.

    -> W_qkv: [d, 3 d], queries, keys and values side by side
    W_o: [d, d]   W_1: [d, 4 d]   W_2: [4 d, d]
    """
    small, half = d**-0.5, 0.5 * d**-0.5
    return {
        "W_qkv": generator.normal(0, small, (d, 3 * d)),
        "W_o": generator.normal(0, small, (d, d)),
        "W_1": generator.normal(0, small, (d, 4 * d)),
        # Four times as many numbers come in here, so each counts half.
        "W_2": generator.normal(0, half, (4 * d, d)),
    }
# end::weights[]


# tag::feed-forward[]
def widen_and_narrow(x, W_1, W_2):
    """Work on each token alone: four times wider, bent by GELU, and back.

    x: [tokens, d]   ->   [tokens, d]
    """
    return gelu(x @ W_1) @ W_2
# end::feed-forward[]


# tag::attention[]
def fused_attention(x, W_qkv, W_o, n_heads, is_causal=True):
    """Let every token read the earlier ones; three matrices are kept as one.

    x: [tokens, d]   W_qkv: [d, 3 d]   W_o: [d, d]   ->   [tokens, d]
    Raises ModelError if heads do not divide d or x is not finite.
    """
    W_q, W_k, W_v = np.split(W_qkv, 3, axis=-1)
    weights = {"W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o}
    return multi_head_attention(x, weights, n_heads, causal=is_causal).result

# end::attention[]


# tag::block[]
def gpt_block(x, weights, n_heads=2, is_causal=True):
    """Add to every row what it read from earlier ones, then what it made of that.

    x: [tokens, d]   ->   [tokens, d]
    """
    W_qkv, W_o = weights["W_qkv"], weights["W_o"]
    x = x + fused_attention(norm(x), W_qkv, W_o, n_heads, is_causal)
    return x + widen_and_narrow(norm(x), weights["W_1"], weights["W_2"])
# end::block[]


# tag::gpt[]
def tiny_gpt(ids, E, layers, n_heads=2):
    """Go from ids to a score for every next token; E is the table and the head.

    ids: [tokens]   E: [n_vocab, d]   layers: a dict of weights for each block
    -> [tokens, n_vocab]
    """
    x = embed(ids, E)
    for weights in layers:
        x = gpt_block(x, weights, n_heads)
    return norm(x) @ E.T
# end::gpt[]


# tag::count[]
def approximate_parameters(n_layers, d, n_vocab):
    """Estimate a GPT's size: 12 d d for each block, and E, also the head."""
    return 12 * n_layers * d**2 + n_vocab * d
# end::count[]


if __name__ == "__main__":
    # tag::run-embeddings[]
    np.set_printoptions(precision=3, suppress=True)
    generator = np.random.default_rng(0)
    ids = np.array([7, 23, 7, 41])  # the first token comes again
    E = draw_embeddings(generator)
    print("tokens", lookup(ids, E).shape)
    print("same token, same row?         ", np.array_equal(E[ids[0]], E[ids[2]]))
    x = embed(ids, E)
    print("and with positions added?     ", np.array_equal(x[0], x[2]))
    # end::run-embeddings[]

    # tag::run-score[]
    q, k = generator.normal(size=8), generator.normal(size=8)
    print("query at 5, key at 2:  ", round(score(q, k, 5, 2), 5))
    print("query at 13, key at 10:", round(score(q, k, 13, 10), 5))
    # end::run-score[]

    # tag::run-norm[]
    row = np.array([[2.0, 4.0, 400.0, 8.0]])
    print("row", row[0], "-> norm", norm(row)[0])
    mean, variance = float(norm(row).mean()), float(norm(row).var())
    print("mean", round(mean, 6), " variance", round(variance, 6))
    # end::run-norm[]

    # tag::run-feed-forward[]
    layers = [draw_weights(generator) for _ in range(4)]
    W_1, W_2 = layers[0]["W_1"], layers[0]["W_2"]
    wide, out = norm(x) @ W_1, widen_and_narrow(norm(x), W_1, W_2)
    print("in", x.shape, " wide", wide.shape, " out", out.shape)
    # end::run-feed-forward[]

    # tag::run-gpt[]
    logits = tiny_gpt(ids, E, layers)
    probabilities = softmax(logits[-1])
    guess = int(probabilities.argmax())
    print("logits", logits.shape)
    probability, uniform = probabilities[guess], 1 / len(E)
    print(f"guess: token {guess}, probability {probability:.3f} "
          f"(uniform would be {uniform:.3f})")
    # end::run-gpt[]

    # tag::run-count[]
    sizes = {"GPT-2 small": (12, 768), "GPT-2 XL": (48, 1600), "GPT-3": (96, 12288)}
    for name, (n_layers, d) in sizes.items():
        size = approximate_parameters(n_layers, d, n_vocab=50257)
        size = f"{size / 1e9:6.2f} B"
        print(f"{name:12} L={n_layers:<3} d={d:<6} ≈ {size} parameters")
    # end::run-count[]
