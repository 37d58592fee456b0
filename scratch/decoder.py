"""A decoder small enough to follow number by number: one block, four numbers a token, every array kept.

LayerNorm, two heads, ReLU, positions added, a vocabulary matrix of its own.  Nothing here is trained.
"""

from typing import NamedTuple

import numpy as np

from attention import causal_mask, merge_heads, softmax, split_heads
from layernorm import layernorm
from positions import sinusoidal
from refusals import (
    NotFiniteError,
    ShapeMismatchError,
    as_ids,
    check_count,
    check_ids,
    check_length,
    check_positive,
    check_width_is_even,
)


# tag::trace[]
class Response(NamedTuple):
    """Every array on the way from ids to scores: what it is, and one row a token.

    All are read-only: what a page has shown stays what the model computed.
    """

    positioned: np.ndarray  # [tokens, d] embedding + position
    attention: np.ndarray  # [heads, tokens, tokens] shares: a row sums to one
    after_attention: np.ndarray  # [tokens, d] positioned + what attention wrote
    feed_forward: np.ndarray  # [tokens, d] what the feed-forward wrote
    hidden: np.ndarray  # [tokens, d] after_attention + feed_forward
    logits: np.ndarray  # [tokens, n_vocab]


class Step(NamedTuple):
    """One turn of the generating loop: what it read, its odds, and what it took."""

    context: tuple  # ids
    distribution: np.ndarray  # [n_vocab]
    token_id: int
# end::trace[]


# tag::normal[]
def normal(x):
    """Bring every row to mean 0 and variance 1: LayerNorm before it has learned.

    x: [..., d]   ->   [..., d]
    """
    return layernorm(x, gain=1.0, bias=0.0)
# end::normal[]


# tag::attention[]
def causal_attention(x, projections, n_heads):
    """Let every token read itself and what came before it.

    x: [tokens, d]   projections: [4 d, d], four matrices stacked: q, k, v, and back
    -> shares: [heads, tokens, tokens] and what is written: [tokens, d]
    Each matrix is (out, in): a row makes one output number, hence the transpose.
    Source: vaswani2017attention, section 3.2.
    """
    W_q, W_k, W_v, W_o = np.split(projections, 4)
    Q, K, V = (split_heads(x @ W.T, n_heads) for W in (W_q, W_k, W_v))
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    shares = softmax(scores + causal_mask(len(x)))
    return shares, merge_heads(shares @ V) @ W_o.T
# end::attention[]


# tag::feed-forward[]
def feed_forward(x, expand, contract):
    """Ask each token the same questions, drop answers below zero, write the rest.

    x: [tokens, d]   expand: [d, h]   contract: [h, d]   ->   [tokens, d]
    Each matrix is (in, out), unlike attention's: shapes, not letters, decide.
    Source: vaswani2017attention, section 3.3.
    """
    return np.maximum(x @ expand, 0) @ contract
# end::feed-forward[]


# tag::model[]
class CausalLanguageModel:
    """A decoder whose weights are drawn once and never trained.

    n_vocab: symbols   n_model: numbers a token   max_context: tokens, at most
    Raises ShapeMismatchError or OutOfRangeError if no decoder has these sizes.
    """

    def __init__(self, n_vocab, n_model=4, n_heads=2, max_context=32, seed=7):
        check_sizes(n_vocab, n_model, n_heads, max_context)
        self.n_heads, self.max_context = n_heads, max_context
        n_hidden, generator = 2 * n_model, np.random.default_rng(seed)

        def draw(n_in, *shape):
            return generator.normal(0, 1 / np.sqrt(n_in), shape)

        self.embeddings = draw(n_model, n_vocab, n_model)
        self.projections = draw(n_model, 4 * n_model, n_model)
        self.expand = draw(n_model, n_model, n_hidden)
        self.contract = draw(n_hidden, n_hidden, n_model)
        self.output = draw(n_model, n_model, n_vocab)
# end::model[]

    # tag::respond[]
    def respond_to(self, ids):
        """Score every next token after every prefix of ids.

        ids: [tokens], 0-based   ->   Response
        Raises OutOfRangeError (no token, too many, an unknown id), NotIntegerError,
        NotFiniteError.
        """
        ids = self.checked_prefix(ids)
        n_model = self.embeddings.shape[1]
        positioned = self.embeddings[ids] + sinusoidal(len(ids), n_model)
        shares, written = causal_attention(
            normal(positioned), self.projections, self.n_heads
        )
        after_attention = positioned + written
        answers = feed_forward(normal(after_attention), self.expand, self.contract)
        hidden = after_attention + answers
        logits = normal(hidden) @ self.output
        response = Response(
            positioned, shares, after_attention, answers, hidden, logits
        )
        for array in response:
            array.flags.writeable = False
        return response
    # end::respond[]

    # tag::generate[]
    def generate(
        self, ids, max_new_tokens, seed=0, end_id=None, greedy=False,
        temperature=1.0,
    ):
        """Append tokens, each drawn from the distribution after all before it.

        temperature: > 0, no unit   ->   a list of Step
        Stops at end_id, after max_new_tokens, or when the context is full.
        """
        context = self.checked_prefix(ids)
        check_generation(max_new_tokens, end_id, temperature, len(self.embeddings))
        generator, steps = np.random.default_rng(seed), []
        while len(steps) < max_new_tokens and len(context) < self.max_context:
            logits = self.respond_to(context).logits[-1]
            odds = softmax(logits / temperature)
            drawn = odds.argmax() if greedy else generator.choice(len(odds), p=odds)
            steps.append(Step(tuple(context.tolist()), odds, int(drawn)))
            if drawn == end_id:
                break
            context = np.append(context, drawn)
        return steps
    # end::generate[]

    def checked_prefix(self, ids):
        """Give the ids as an array, or refuse them at the door; weights that a reader spoiled too."""
        ids = as_ids(ids)
        if ids.ndim != 1:
            raise ShapeMismatchError(f"expected one sequence of ids, [tokens], not shape {ids.shape}")
        check_length(len(ids), self.max_context)
        check_ids(ids, len(self.embeddings))
        for name in ("embeddings", "projections", "expand", "contract", "output"):
            if not np.isfinite(getattr(self, name)).all():
                raise NotFiniteError(f"{name} holds NaN or infinity")
        return ids


def check_sizes(n_vocab, n_model, n_heads, max_context):
    """Refuse sizes that no decoder has, before a weight is drawn."""
    sizes = {"n_vocab": n_vocab, "n_model": n_model, "n_heads": n_heads, "max_context": max_context}
    for name, size in sizes.items():
        check_count(name, size)
    check_width_is_even(n_model, "the model width")
    if n_model % n_heads:
        raise ShapeMismatchError(f"head count must divide model width, but {n_heads} heads share {n_model} columns")


def check_generation(max_new_tokens, end_id, temperature, n_vocab):
    """Refuse a loop that cannot run as asked."""
    check_count("max_new_tokens", max_new_tokens, least=0)
    if end_id is not None:
        check_ids(end_id, n_vocab)
    check_positive("temperature", temperature)


if __name__ == "__main__":
    # tag::demonstration[]
    words = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"]
    model = CausalLanguageModel(len(words))
    response = model.respond_to([0, 1, 2])
    print("shares of the last token, head by head")
    print(response.attention[:, -1].round(4))
    for step in model.generate([0, 1, 2], max_new_tokens=5, end_id=6):
        context, token = (words[i] for i in step.context), words[step.token_id]
        odds = step.distribution[step.token_id]
        print(f"{' '.join(context)} -> {token} ({odds:.4f})")
    # end::demonstration[]
