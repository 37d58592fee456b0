"""Slow RoPE's turns down, so that a model reads further than it was trained to.  Frequencies in, frequencies out."""

from numbers import Real

import numpy as np

from refusals import OutOfRangeError, ShapeMismatchError, as_floats, check_frequencies, check_positive


# tag::slow-down[]
def slow_down(theta, factor, kept=0.0):
    """Divide each frequency by the factor, but for the share of it that is kept.

    theta: [d/2], radians a position   kept: [d/2] or one number, 0 to 1
    factor: how many times longer the context gets   ->   [d/2]
    Raises OutOfRangeError if factor is below 1 or kept is no share.
    Source: chen2023pi, eq. 4 (nothing kept: position interpolation).
    """
    check_frequencies(theta)
    check_factor(factor)
    check_kept(kept, theta)
    return kept * theta + (1 - kept) * theta / factor
# end::slow-down[]


# tag::llama3[]
def llama3_frequencies(theta, factor, trained_length, low=1.0, high=4.0):
    """Keep pairs that turn often within the trained length, slow those that do not.

    Between low and high turns, the share that is kept grows from none to all.

    theta: [d/2]   trained_length: tokens   low, high: turns   ->   [d/2]
    Source: the code released with Llama 3.1, the model of grattafiori2024llama3.
    """
    check_frequencies(theta)
    check_positive("trained_length", trained_length)
    check_positive("low", low)
    check_positive("high", high)
    check_positive("high - low", high - low)
    turns = trained_length * theta / (2 * np.pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return slow_down(theta, factor, kept)
# end::llama3[]


# tag::yarn[]
def yarn_frequencies(
    theta, factor, trained_length, base=10_000.0, slow=1.0, fast=32.0
):
    """Keep fast pairs, slow down slow ones, and fade between by the pair's number.

    theta: [d/2]   trained_length: tokens   slow, fast: turns within it   ->   [d/2]
    Source: peng2023yarn, section 3.2; its released code fades by number.
    """
    check_frequencies(theta)
    check_yarn(trained_length, base, slow, fast)
    n_pairs = len(theta)

    def pair_that_turns(times):
        return n_pairs * np.log(trained_length / (times * 2 * np.pi)) / np.log(base)

    first = max(np.floor(pair_that_turns(fast)), 0)
    # The released code holds this one below d, not below the number of pairs.
    last = min(np.ceil(pair_that_turns(slow)), 2 * n_pairs - 1)
    # Where both are one pair, a thousandth keeps the fade from dividing by zero.
    faded = (np.arange(n_pairs) - first) / max(last - first, 0.001)
    return slow_down(theta, factor, kept=1 - np.clip(faded, 0, 1))

# end::yarn[]


# tag::yarn-attention[]
def yarn_attention_factor(factor):
    """How much longer YaRN makes queries and keys, for sharper shares; no unit.

    Source: peng2023yarn, eq. 22.
    """
    check_factor(factor)
    return 0.1 * np.log(factor) + 1
# end::yarn-attention[]


def check_yarn(trained_length, base, slow, fast):
    """Refuse a length, a base and numbers of turns between which no pair can fade."""
    settings = {"trained_length": trained_length, "base": base, "slow": slow, "fast": fast}
    for name, number in settings.items():
        check_positive(name, number)
    check_positive("base - 1", base - 1)
    check_positive("fast - slow", fast - slow)


def check_factor(factor):
    """Refuse a context that shrinks: nothing has to be slowed down for it."""
    if not isinstance(factor, Real) or not 1 <= factor < np.inf:
        raise OutOfRangeError(f"factor is the new length over the trained one, at least 1, not {factor}")


def check_kept(kept, theta):
    """Refuse shares that are not one a frequency, or not in 0..1."""
    if np.shape(kept) not in ((), np.shape(theta)):
        raise ShapeMismatchError(f"kept has shape {np.shape(kept)}, but there are frequencies of {np.shape(theta)}")
    kept = as_floats(kept)
    if not ((kept >= 0) & (kept <= 1)).all():
        raise OutOfRangeError(f"kept must lie in 0..1, not {kept}")
