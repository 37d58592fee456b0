"""Count what a transformer costs in parameters, arithmetic and memory.  Sizes in, exact counts out."""

from architectures import MODELS
from refusals import check_count, check_positive


# tag::block_parameters[]
def key_width(architecture):
    """Give how many numbers of a token are keys: below d if heads share them."""
    return architecture.n_model // architecture.n_heads * architecture.n_kv_heads


def count_block(architecture):
    """Count the parameters of one block, part by part.

    Attention has 2 d d + 2 d d_k weights; the feed-forward 2 d h, gated 3 d h.
    """
    d, h, d_k = architecture.n_model, architecture.n_hidden, key_width(architecture)
    attention = 2 * d * d + 2 * d * d_k
    feed_forward = (3 if architecture.is_gated else 2) * d * h
    norms = 2 * d
    if architecture.biases in ("queries", "all"):
        attention += d + 2 * d_k
    if architecture.biases == "all":
        attention, feed_forward = attention + d, feed_forward + h + d
        norms += 2 * d * architecture.is_centred
    return {"attention": attention, "feed_forward": feed_forward, "norms": norms}
# end::block_parameters[]


# tag::parameters[]
def count_parameters(architecture):
    """Count the parameters of a model, part by part; their sum is the model's size.

    -> attention, feed_forward, norms, embeddings, positions, head: whole numbers
    """
    d, L = architecture.n_model, architecture.n_layers
    parts = {name: L * count for name, count in count_block(architecture).items()}
    has_norm_bias = architecture.is_centred and architecture.biases == "all"
    parts["norms"] += 2 * d if has_norm_bias else d
    parts["embeddings"] = architecture.n_vocab * d
    parts["positions"] = architecture.n_positions * d
    parts["head"] = 0 if architecture.is_tied else architecture.n_vocab * d
    return parts


def count(architecture):
    """Count all parameters of a model."""
    return sum(count_parameters(architecture).values())
# end::parameters[]


# tag::rule[]
def rule_of_thumb(architecture):
    """Estimate a model's size: 12 d d for each block, and d for each token.

    Source: kaplan2020scaling, section 2.1 (12 d d L, without the embedding).
    """
    d = architecture.n_model
    return 12 * architecture.n_layers * d**2 + architecture.n_vocab * d


def explain_rule(architecture):
    """Say where the rule is wrong; with the differences it is the exact count."""
    d, L = architecture.n_model, architecture.n_layers
    parts = count_parameters(architecture)
    return {
        "rule of thumb": rule_of_thumb(architecture),
        "head of its own": parts["head"],
        "feed-forward is not 8 d d": parts["feed_forward"] - 8 * L * d**2,
        "attention is not 4 d d": parts["attention"] - 4 * L * d**2,
        "norms": parts["norms"],
        "learned positions": parts["positions"],
    }
# end::rule[]


# tag::arithmetic[]
def count_forward(architecture, n_context):
    """Count the floating-point operations of one token going forward, part by part.

    n_context: keys that the token is compared with
    -> blocks, attention, head: a multiply-add is two
    Norms, biases and softmax are left out.
    Source: hoffmann2022training, appendix F.
    """
    check_count("n_context", n_context)
    d, h, L = architecture.n_model, architecture.n_hidden, architecture.n_layers
    matrices = 3 if architecture.is_gated else 2
    weights = 2 * d * d + 2 * d * key_width(architecture) + matrices * d * h
    return {
        "blocks": 2 * L * weights,
        "attention": 2 * L * (d * n_context + d * n_context),  # scores, and mixture
        "head": 2 * architecture.n_vocab * d,
    }


def training_operations(n_parameters, n_tokens):
    """Estimate what training costs: two operations a parameter forward, four back.

    Source: kaplan2020scaling, section 2.1 (n_parameters without embeddings);
    hoffmann2022training, appendix F (with them).
    """
    return 6 * n_parameters * n_tokens
# end::arithmetic[]


# tag::estimates[]
def kaplan_forward(architecture, n_context):
    """Estimate a token's forward pass as Kaplan does, 2 N + 2 L T d.

    Of attention's two terms he counts one.
    Source: kaplan2020scaling, table 1.
    """
    check_count("n_context", n_context)
    parts = count_block(architecture)
    L, per_block = architecture.n_layers, parts["attention"] + parts["feed_forward"]
    return 2 * L * per_block + 2 * L * n_context * architecture.n_model


def palm_training(architecture, n_context):
    """Estimate the training operations of a sequence: 6 N + 12 L d T a token.

    N leaves out biases and learned positions, which are in no matrix product.
    """
    check_count("n_context", n_context)
    n_parameters = count(architecture._replace(n_positions=0, biases="none"))
    attention = 12 * architecture.n_layers * architecture.n_model * n_context
    return n_context * (6 * n_parameters + attention)


def crossing_context(architecture):
    """Give the context at which comparing keys costs as much as 12 d d: 6 d."""
    return 6 * architecture.n_model
# end::estimates[]


# tag::hoffmann[]
def hoffmann_ratio(
    n_layers, n_model, n_hidden, n_heads, head_width, vocabulary_terms,
    n_vocab=32000, n_context=2048,
):
    """Compare appendix F's count of one sequence with 6 N D.

    vocabulary_terms: 2 as printed (embedding, logits), 1 as executed (logits),
    0 as in the paper's table A4
    Source: hoffmann2022training, appendix F; vocabulary and context are assumed.
    """
    # kh: numbers of a token that are keys, over all heads
    L, d, S, kh = n_layers, n_model, n_context, n_heads * head_width
    projections = 2 * 3 * S * d * kh + 2 * S * kh * d
    comparing = 2 * S * S * kh + 3 * n_heads * S * S + 2 * S * S * kh
    layer = projections + comparing + 2 * S * 2 * d * n_hidden
    forward = L * layer + vocabulary_terms * 2 * S * n_vocab * d
    # The fifth d kh is the matrix of relative positions that these models have.
    n_parameters = L * (5 * d * kh + 2 * d * n_hidden) + n_vocab * d
    return 3 * forward / (6 * n_parameters * S)
# end::hoffmann[]


# tag::memory[]
def cache_bytes(architecture, n_tokens=1, bytes_each=2):
    """Count the bytes that the cached keys and values of n_tokens tokens take.

    bytes_each: 2 for numbers of 16 bits   Source: shazeer2019fast; ainslie2023gqa.
    """
    check_count("n_tokens", n_tokens)
    check_positive("bytes_each", bytes_each)
    per_token = 2 * architecture.n_layers * key_width(architecture) * bytes_each
    return per_token * n_tokens


def weight_bytes(n_parameters, bits_each=16):
    """Count the bytes of weights of bits_each bits, with nothing beside them."""
    check_positive("n_parameters", n_parameters)
    check_positive("bits_each", bits_each)
    return n_parameters * bits_each // 8


def bits_per_weight(n_bytes, n_parameters):
    """Measure how many bits a file really spends on a weight."""
    check_positive("n_bytes", n_bytes)
    check_positive("n_parameters", n_parameters)
    return 8 * n_bytes / n_parameters
# end::memory[]


if __name__ == "__main__":
    # tag::demonstration[]
    for name, architecture in MODELS.items():
        exact = count(architecture)
        error = rule_of_thumb(architecture) / exact - 1
        memory = cache_bytes(architecture)
        print(f"{name:16} {exact:>15,}   12 L d d + V d: {error:+6.1%}   "
              f"{memory:>9,} bytes a token")
    # end::demonstration[]
