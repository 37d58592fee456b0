"""Train a small model on a list of names: batches, loss, gradients, and the loop that turns them into better weights.

As a script it trains for about six seconds on one core.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from initialization import initial_weights, weight_shapes
from loss import cross_entropy, cross_entropy_backward
from optimisers import AdamW, clip, pack, scheduled_rate, unpack
from refusals import OutOfRangeError, check_count, check_same, check_some, check_tokens
from transformer import language_model, language_model_backward

# tag::symbols[]
SYMBOLS = "\nabcdefghijklmnopqrstuvwxyz"  # the line end opens a name and closes it


def encode(text):
    """Turn text into ids: [characters].

    Raises OutOfRangeError for a character without an id.
    """
    for character in text:
        if character not in SYMBOLS:
            allowed = "there are ids for a to z and the line end"
            raise OutOfRangeError(f"no id for {character!r}; {allowed}")
    return np.array([SYMBOLS.index(character) for character in text], dtype=int)


def decode(ids):
    """Turn ids, [characters], back into text."""
    check_tokens(ids, len(SYMBOLS))
    return "".join(SYMBOLS[i] for i in ids)
# end::symbols[]


# tag::corpus[]
def read_names():
    """Read the names beside this file: nine in ten to train on, one to test on."""
    names = Path(__file__).with_name("names.txt").read_text().split()
    return [name for i, name in enumerate(names) if i % 10], names[::10]

# end::corpus[]


# tag::batch[]
class Batch(NamedTuple):
    """Prefixes, what came next, and which positions count."""

    ids: np.ndarray  # [names, tokens]
    targets: np.ndarray  # [names, tokens]: ids, one place further
    kept: np.ndarray  # [names, tokens]: false after a name's end


def make_batch(names):
    """Lay names in a rectangle, one a row; beyond a name's end nothing counts."""
    check_some("names", names)
    n_tokens = 1 + max(map(len, names))
    rows = np.array([encode("\n" + name.ljust(n_tokens, "\n")) for name in names])
    lengths = np.array([len(name) for name in names])
    return Batch(rows[:, :-1], rows[:, 1:], np.arange(n_tokens) <= lengths[:, None])


def random_batches(names, n_batches, n_names=32, seed=0):
    """Draw the names of each batch, no name twice in one."""
    check_count("n_names", n_names)
    if n_names > len(names):
        raise OutOfRangeError(f"no {n_names} different names among {len(names)}")
    generator = np.random.default_rng(seed)
    for _ in range(n_batches):
        chosen = generator.choice(len(names), n_names, replace=False)
        yield make_batch([names[i] for i in chosen])
# end::batch[]


# tag::gradients[]
def measure(weights, batch, n_heads, **settings):
    """Measure the mean surprise over a batch: nats a token."""
    logits = language_model(batch.ids, weights, n_heads, **settings).result
    return float(cross_entropy(logits, batch.targets, batch.kept).result)


def loss_and_gradients(weights, batch, n_heads, **settings):
    """Measure the mean surprise over a batch, and how each weight would change it.

    -> loss: nats a token, and a dict of gradients keyed like weights
    """
    trace = language_model(batch.ids, weights, n_heads, **settings)
    loss = cross_entropy(trace.result, batch.targets, batch.kept)
    upstream = cross_entropy_backward(1.0, loss)
    return float(loss.result), language_model_backward(upstream, trace, weights)
# end::gradients[]


# tag::run[]
class Training(NamedTuple):
    """What a training run leaves behind."""

    weights: dict
    losses: np.ndarray  # [steps], nats a token: of each batch, before its step
    lengths: np.ndarray  # [steps]: of the gradient, before clipping

# end::run[]


# tag::train[]
def train(weights, batches, rates, n_heads, optimiser=None, limit=1.0, **settings):
    """Take one step for every batch: measure, clip, step.

    weights: a dict of arrays, left as it is   rates: a learning rate for each batch
    limit: of the gradient's length
    settings: n_kv_heads, rotation, epsilon of the model   ->   Training
    Raises NotFiniteError when a step is too long and the numbers run away.
    """
    keep_memory()
    batches, rates = list(batches), list(rates)
    check_some("batches", batches)
    check_same("batches and rates", (len(batches),), (len(rates),))
    optimiser = optimiser or AdamW()
    vector, losses, lengths = pack(weights), [], []
    for batch, rate in zip(batches, rates, strict=True):
        loss, gradients = loss_and_gradients(weights, batch, n_heads, **settings)
        gradient, length = clip(pack(gradients), limit)
        vector = optimiser.step(vector, gradient, rate)
        weights = unpack(vector, weights)
        losses.append(loss)
        lengths.append(length)
    return Training(weights, np.array(losses), np.array(lengths))

# end::train[]


# tag::keep-memory[]
def keep_memory():
    """Let the C library keep the memory that arrays give back, for the next ones.

    A step is then up to a tenth faster.

    Otherwise it returns it to the system and fetches it anew, page by page.  It
    keeps as much as the largest block that was ever freed, if that was below
    32 MiB; so one is freed here.
    """
    np.empty(31 * 2**20, dtype=np.uint8)
# end::keep-memory[]


# tag::train-on-names[]
def new_model(seed=0, n_model=32, n_hidden=64, n_layers=2):
    """Draw the weights of a model for names: 21,504 numbers."""
    shapes = weight_shapes(len(SYMBOLS), n_model, n_hidden, n_layers)
    return initial_weights(np.random.default_rng(seed), shapes)


def train_on_names(n_steps=1000, peak=0.01, n_heads=4, seed=0, progress=iter):
    """Train a new model on nine names in ten; about six seconds on one core.

    progress: gives the batches back one by one, to show how far the run is
    """
    check_count("n_steps", n_steps)
    names, _ = read_names()
    batches = progress(list(random_batches(names, n_steps, seed=seed)))
    warmup = n_steps // 10
    rates = [scheduled_rate(i, n_steps, peak, warmup) for i in range(n_steps)]
    return train(new_model(seed), batches, rates, n_heads)
# end::train-on-names[]


# tag::progress[]
def progress(batches, width=40):
    """Give the batches back one by one, and draw a bar if somebody is watching."""
    is_watched = sys.stderr.isatty()
    for i, batch in enumerate(batches, start=1):
        yield batch
        if is_watched:
            done = width * i // len(batches)
            bar = "#" * done + "." * (width - done)
            text = f"\r[{bar}] {i}/{len(batches)}"
            print(text, end="", file=sys.stderr, flush=True)
    if is_watched:
        print(file=sys.stderr)
# end::progress[]


if __name__ == "__main__":
    # tag::demonstration[]
    run = train_on_names(progress=progress)
    for step in (0, 10, 100, 300, 999):
        print(f"step {step:4}: {run.losses[step]:.4f} nats")
    held_out = make_batch(read_names()[1])
    before = measure(new_model(), held_out, n_heads=4)
    after = measure(run.weights, held_out, n_heads=4)
    print(f"names never seen: {before:.4f} nats before, {after:.4f} after")
    # end::demonstration[]
