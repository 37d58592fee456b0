"""Measure how surprised a model is by the tokens that came: cross-entropy in nats, forward and backward.

Logits are a model's scores for every token that could come next; surprise is minus the logarithm of a probability.
"""

from typing import NamedTuple

import numpy as np

from refusals import NotFiniteError, check_highest, check_scores, check_targets, check_upstream


# tag::log-softmax[]
def log_softmax(logits):
    """Turn logits into logarithms of probabilities, even of tiny ones.

    logits: [..., n_vocab]   ->   [..., n_vocab], nats
    """
    logits = check_scores(logits)
    highest = logits.max(axis=-1, keepdims=True)
    check_highest(highest)
    shifted = logits - highest
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

# end::log-softmax[]


# tag::cross-entropy[]
class LossTrace(NamedTuple):
    """What the loss keeps for its backward."""

    log_probabilities: np.ndarray  # [..., tokens, n_vocab]
    targets: np.ndarray  # [..., tokens, 1]
    share: np.ndarray  # [..., tokens]: what each weighs in the mean; 0 if ignored
    result: float  # nats a token


def cross_entropy(logits, targets, kept=None):
    """Average, over all kept positions, how surprising the token was that came.

    logits: [..., tokens, n_vocab]   targets: [..., tokens], ids
    kept: [..., tokens], true or false; none: all are kept
    -> trace with result: nats a token
    Raises ModelError for targets that are no ids, do not fit, or are all ignored,
    and for logits that give no finite loss.
    """
    targets, kept = check_targets(logits, targets, kept)
    log_probabilities = log_softmax(logits)
    share, targets = kept / kept.sum(), targets[..., None]
    surprise = -np.take_along_axis(log_probabilities, targets, axis=-1)[..., 0]
    loss = surprise[kept].mean()
    check_loss(loss)
    return LossTrace(log_probabilities, targets, share, loss)
# end::cross-entropy[]


def check_loss(loss):
    """Refuse an infinite mean surprise.  Every row has a finite highest score, but a token that came may have none."""
    if not np.isfinite(loss):
        raise NotFiniteError(f"the loss is {loss}: what came had a score of minus infinity")


# tag::cross-entropy-backward[]
def cross_entropy_backward(upstream, trace):
    """Push every probability down by its own size, and that of what came up by one.

    upstream: one number, 1 for the loss itself
    -> logits gradient: [..., tokens, n_vocab]
    """
    check_upstream(upstream, shape=())
    came = np.zeros_like(trace.log_probabilities)
    np.put_along_axis(came, trace.targets, 1.0, axis=-1)
    share = (upstream * trace.share)[..., None]
    return share * (np.exp(trace.log_probabilities) - came)
# end::cross-entropy-backward[]


if __name__ == "__main__":
    # tag::run-loss[]
    logits = np.array([[4.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    trace = cross_entropy(logits, np.array([0, 2]))
    of_each = np.take_along_axis(trace.log_probabilities, trace.targets, axis=-1)
    print("surprise of each", -of_each[:, 0].round(4))
    print("mean", trace.result.round(4), "nats")
    print("gradient", cross_entropy_backward(1.0, trace).round(4).tolist())
    # end::run-loss[]
