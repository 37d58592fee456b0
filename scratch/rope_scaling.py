"""Slow RoPE's turns down, so that a model reads further than it was trained to.  Frequencies in, frequencies out."""

import numpy as np

from refusals import OutOfRangeError


# tag::slow-down[]
def slow_down(theta, factor, kept=0.0):
    """Divide each frequency by the factor, but for the share of it that is kept.

    theta: [d/2], radians a position   factor: how many times longer the context gets   kept: [d/2], 0 to 1
    Raises OutOfRangeError if factor is below 1.
    Source: chen2023pi, eq. 4 (nothing kept: position interpolation).
    """
    if factor < 1:
        raise OutOfRangeError(f"factor is the new length over the trained one, at least 1, not {factor}")
    return kept * theta + (1 - kept) * theta / factor
# end::slow-down[]


# tag::llama3[]
def llama3_frequencies(theta, factor, trained_length, low=1.0, high=4.0):
    """Keep the pairs that turn at least high times within the trained length, slow those under low turns.

    theta: [d/2]   trained_length: tokens   low, high: turns   ->   [d/2]
    Source: grattafiori2024llama3, section 3.2; the released code has the bounds.
    """
    turns = trained_length * theta / (2 * np.pi)
    return slow_down(theta, factor, kept=np.clip((turns - low) / (high - low), 0, 1))
# end::llama3[]


# tag::yarn[]
def yarn_frequencies(theta, factor, trained_length, base=10_000.0, slow=1.0, fast=32.0):
    """Keep fast pairs, slow down slow ones, and fade from one to the other by the pair's number.

    theta: [d/2]   trained_length: tokens   slow, fast: turns within it   ->   [d/2]
    Source: peng2023yarn, section 3.2.
    """
    n_pairs = len(theta)

    def pair_that_turns(times):
        return n_pairs * np.log(trained_length / (times * 2 * np.pi)) / np.log(base)

    first = max(np.floor(pair_that_turns(fast)), 0)
    last = min(np.ceil(pair_that_turns(slow)), 2 * n_pairs - 1)
    # Where both are one pair, a thousandth keeps the fade a step instead of a division by zero.
    faded = (np.arange(n_pairs) - first) / max(last - first, 0.001)
    return slow_down(theta, factor, kept=1 - np.clip(faded, 0, 1))


def yarn_attention_factor(factor):
    """How much longer YaRN makes queries and keys, no unit: scores over a longer context need sharper contrasts.

    Source: peng2023yarn, eq. 22.
    """
    return 0.1 * np.log(factor) + 1
# end::yarn[]
