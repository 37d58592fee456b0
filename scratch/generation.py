"""Continue a text: choose a token from its scores, append it, and read on, without reading anything twice."""

from time import perf_counter

import numpy as np

from attention import softmax
from positions import interleaved, rope_frequencies, rotation
from refusals import (
    ShapeMismatchError,
    check_count,
    check_heads,
    check_ids,
    check_keys_and_values,
    check_length,
    check_logits,
    check_lookup,
    check_model_names,
    check_parts,
    check_same,
    check_sampling,
    check_scores,
    check_temperature,
    check_top_k,
    check_top_p,
)
from transformer import language_model, split_layers


# tag::greedy[]
def greedy(logits):
    """Take the token with the highest score; of equals, the first.

    logits: [n_vocab]   ->   id
    """
    check_one_row(logits)
    return int(np.argmax(logits))
# end::greedy[]


def check_one_row(logits):
    """Refuse anything but the scores of one next token."""
    check_logits(logits)
    if np.ndim(logits) != 1:
        raise ShapeMismatchError(f"expected the scores of one next token, [n_vocab], not shape {np.shape(logits)}")


# tag::temperature[]
def apply_temperature(logits, temperature):
    """Sharpen scores (below 1) or flatten them (above 1), [..., n_vocab].

    temperature: > 0, no unit
    """
    check_temperature(temperature)
    return check_scores(logits) / temperature

# end::temperature[]


# tag::top-k[]
def keep_top_k(logits, k):
    """Keep the k highest scores and what equals the last; else minus infinity.

    logits: [..., n_vocab]   ->   [..., n_vocab]
    """
    logits = check_logits(logits)
    check_top_k(k, logits.shape[-1])
    last_kept = np.sort(logits, axis=-1)[..., -k, None]
    return np.where(logits < last_kept, -np.inf, logits)

# end::top-k[]


# tag::top-p[]
def keep_top_p(logits, p):
    """Drop all but the likeliest tokens that together reach a probability of p.

    logits: [..., n_vocab]   ->   [..., n_vocab], minus infinity where dropped
    Source: holtzman2020nucleus, section 3.1.
    """
    logits = check_logits(logits)
    check_top_p(p)
    order = np.argsort(-logits, axis=-1, kind="stable")
    probabilities = softmax(np.take_along_axis(logits, order, axis=-1))
    # A token stays if those before it do not reach p yet; so the likeliest stays.
    is_kept = np.cumsum(probabilities, axis=-1) - probabilities < p
    kept = np.empty_like(is_kept)
    np.put_along_axis(kept, order, is_kept, axis=-1)
    return np.where(kept, logits, -np.inf)
# end::top-p[]


# tag::distribution[]
def distribution(logits, temperature=1.0, top_k=None, top_p=None):
    """Turn scores into the probabilities to draw from: temperature, then the cuts.

    logits: [..., n_vocab]   ->   [..., n_vocab]
    Raises OutOfRangeError for a setting that keeps nothing, NotFiniteError for NaN.
    """
    logits = apply_temperature(check_logits(logits), temperature)
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return softmax(logits)

# end::distribution[]


# tag::sample[]
def sampler(seed=0, temperature=1.0, top_k=None, top_p=None):
    """Make a function that draws a token from scores; same seed, same tokens.

    Raises OutOfRangeError for a setting that keeps nothing.
    """
    check_sampling(temperature, top_k, top_p)
    generator = np.random.default_rng(seed)

    def sample(logits):
        check_one_row(logits)
        probabilities = distribution(logits, temperature, top_k, top_p)
        return int(generator.choice(len(probabilities), p=probabilities))

    return sample
# end::sample[]


# tag::cache[]
class KeyValueCache:
    """The keys and values of every token read so far, of one block.

    max_context: the most tokens that it can hold
    """

    def __init__(self, max_context):
        check_count("max_context", max_context)
        self.max_context, self.n_tokens = max_context, 0
        self.K = self.V = None

    def extend(self, K, V):
        """Add the keys and values of the next tokens, and give those of all.

        K, V: [..., kv_heads, tokens, d_head]   ->   windows on all of them so far
        """
        check_keys_and_values(K, V)
        start, end = self.n_tokens, self.n_tokens + K.shape[-2]
        check_length(end, self.max_context)
        if self.K is None:
            shape = (*K.shape[:-2], self.max_context, K.shape[-1])
            self.K, self.V = np.empty(shape, K.dtype), np.empty(shape, V.dtype)
        check_same("all keys", K.shape, self.K[..., start:end, :].shape)
        self.K[..., start:end, :], self.V[..., start:end, :] = K, V
        self.n_tokens = end
        return self.K[..., :end, :], self.V[..., :end, :]
# end::cache[]


# tag::reader[]
class Reader:
    """A model with a memory: what it has read once it need not read again.

    weights: as language_model takes them   max_context: the most tokens it can read
    frequencies, pairs: how RoPE turns, if unusual   settings: n_kv_heads, epsilon
    """

    def __init__(
        self, weights, n_heads, max_context=256, frequencies=None,
        pairs=interleaved, **settings,
    ):
        check_model_names(weights, "E", "gain")
        layers = split_layers(weights)
        check_parts(layers[0], "W_q")
        check_heads(layers[0]["W_q"].shape[-1], n_heads, n_heads)
        if frequencies is None:
            frequencies = rope_frequencies(layers[0]["W_q"].shape[-1] // n_heads)
        self.frequencies, self.pairs = frequencies, pairs
        self.weights, self.n_heads, self.settings = weights, n_heads, settings
        self.n_tokens, self.max_context = 0, max_context
        self.caches = [KeyValueCache(max_context) for _ in layers]

# end::reader[]

    # tag::read[]
    def read(self, ids):
        """Read the next tokens, [tokens], and score what could follow each.

        -> logits: [tokens, n_vocab]
        Raises OutOfRangeError for no token, an unknown id, or a full context.
        """
        check_ids(ids, len(self.weights["E"]))
        if np.ndim(ids) != 1:
            found = np.shape(ids)
            raise ShapeMismatchError(f"expected one list of ids, not shape {found}")
        end = self.n_tokens + len(ids)
        check_length(end, self.max_context)
        turn = rotation(np.arange(self.n_tokens, end), self.frequencies, self.pairs)
        trace = language_model(
            np.asarray(ids), self.weights, self.n_heads, rotation=turn,
            caches=self.caches, **self.settings,
        )
        self.n_tokens = end
        return trace.result

    # end::read[]


def check_end(end_id, weights):
    """Refuse an end that no token is: it would never come."""
    check_parts(weights, "E")
    if end_id is not None:
        check_ids(end_id, len(weights["E"]))


# tag::generate[]
def generate(reader, ids, n_new, choose=greedy, end_id=None):
    """Continue ids by up to n_new tokens: a list of new ids, the end included.

    ids: [tokens]   end_id: where to stop, if it comes
    choose: takes the scores of the next token and gives its id
    """
    check_count("n_new", n_new, least=0)
    check_end(end_id, reader.weights)
    new, logits = [], reader.read(ids)
    for _ in range(n_new):
        new.append(choose(logits[-1]))
        if new[-1] == end_id or len(new) == n_new:
            break
        logits = reader.read(new[-1:])
    return new
# end::generate[]


# tag::generate-slowly[]
def generate_slowly(
    weights, ids, n_new, n_heads, choose=greedy, end_id=None, **settings
):
    """Continue ids as generate does, but read everything again for every token."""
    check_count("n_new", n_new, least=0)
    check_end(end_id, weights)
    check_lookup(ids, weights["E"])
    context = list(ids)
    for _ in range(n_new):
        ids_so_far = np.array(context)
        logits = language_model(ids_so_far, weights, n_heads, **settings).result
        context.append(choose(logits[-1]))
        if context[-1] == end_id:
            break
    return context[len(ids):]
# end::generate-slowly[]


# tag::speed[]
def tokens_per_second(continue_by, n_new):
    """Measure how fast a function makes new tokens.

    continue_by: takes a number of tokens and makes as many
    """
    start = perf_counter()
    continue_by(n_new)
    return n_new / (perf_counter() - start)
# end::speed[]


if __name__ == "__main__":
    # tag::demonstration[]
    from training import decode, encode, new_model

    weights, prompt = new_model(), encode("\nann")
    with_cache = generate(Reader(weights, n_heads=4), prompt, 8)
    print("with a cache:   ", repr(decode(with_cache)))
    without = generate_slowly(weights, prompt, 8, n_heads=4)
    print("without a cache:", repr(decode(without)))
    for seed in range(3):
        sample = sampler(seed, temperature=0.8, top_p=0.9)
        drawn = generate(Reader(weights, n_heads=4), prompt, 8, sample)
        print(f"drawn, seed {seed}: ", repr(decode(drawn)))
    # end::demonstration[]
