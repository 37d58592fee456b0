"""Compare one training step of scratch/ with PyTorch's, and decoding with a cache with decoding without.

Run with a Python that has NumPy and PyTorch:  python bench/model.py [seconds a size]
One thread, float64, the same model, weights and tokens; both libraries take turns in one process, and a ratio is the
median over pairs of neighbours.  Without PyTorch only the second table is printed.
"""
# ruff: noqa: E402 (the number of threads must be set before NumPy is imported)

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy loads its own library of matrix products

import platform
import statistics
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scratch"))

from generation import Reader
from initialization import initial_weights, weight_shapes
from optimisers import AdamW, clip, pack, unpack
from positions import rope_frequencies
from training import Batch, keep_memory, loss_and_gradients
from transformer import language_model

# name: n_vocab, n_model, n_hidden, n_layers, n_heads, sequences, tokens
SIZES = {
    "3k": (27, 16, 32, 1, 4, 8, 16),
    "20k": (27, 32, 64, 2, 4, 16, 16),
    "170k": (64, 64, 200, 3, 4, 16, 32),
    "660k": (128, 128, 384, 3, 4, 16, 32),
}
RATE, LIMIT = 1e-3, 1.0


def make_problem(n_vocab, n_model, n_hidden, n_layers, n_heads, n_sequences, n_tokens):
    """Draw a model and tokens: weights, ids [sequences, tokens + 1], n_heads."""
    generator = np.random.default_rng(0)
    weights = initial_weights(generator, weight_shapes(n_vocab, n_model, n_hidden, n_layers))
    return weights, generator.integers(0, n_vocab, (n_sequences, n_tokens + 1)), n_heads


def numpy_step(weights, ids, n_heads):
    """Make a function that takes one training step in NumPy and gives the loss before it."""
    batch = Batch(ids[:, :-1], ids[:, 1:], np.ones_like(ids[:, 1:], dtype=bool))
    optimiser, state = AdamW(), {"vector": pack(weights)}

    def step():
        loss, gradients = loss_and_gradients(unpack(state["vector"], weights), batch, n_heads)
        gradient, _ = clip(pack(gradients), LIMIT)
        state["vector"] = optimiser.step(state["vector"], gradient, RATE)
        return loss

    return step


def torch_loss(torch, parameters, ids, n_heads):
    """Make a function that computes the same loss in PyTorch, with its own fused parts where it has them."""
    functional = torch.nn.functional
    inputs, targets = torch.tensor(ids[:, :-1]), torch.tensor(ids[:, 1:])
    n_layers, d = sum(name.endswith("W_q") for name in parameters), parameters["E"].shape[1]
    angles = np.outer(np.arange(inputs.shape[1]), rope_frequencies(d // n_heads))
    units = torch.tensor(np.exp(1j * angles))

    def norm(x, gain):
        return functional.rms_norm(x, (d,), gain, 1e-5)

    def heads(x):
        return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)

    def turn(x):
        # A tenth of the step faster than sines and cosines of even and odd columns.
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * units).flatten(-2)

    def block(x, w):
        z = norm(x, w["gain_1"])
        Q, K, V = turn(heads(z @ w["W_q"])), turn(heads(z @ w["W_k"])), heads(z @ w["W_v"])
        mixed = functional.scaled_dot_product_attention(Q, K, V, is_causal=True)
        x = x + mixed.transpose(-2, -3).flatten(-2) @ w["W_o"]
        z = norm(x, w["gain_2"])
        return x + (functional.silu(z @ w["W_g"]) * (z @ w["W_u"])) @ w["W_d"]

    layers = [{name.removeprefix(f"blocks.{i}."): p for name, p in parameters.items()} for i in range(n_layers)]

    def loss():
        x = parameters["E"][inputs]
        for w in layers:
            x = block(x, w)
        logits = norm(x, parameters["gain"]) @ parameters["E"].T
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return loss


def torch_step(torch, weights, ids, n_heads):
    """Make a function that takes the same step in PyTorch, with its fused optimiser."""
    parameters = {name: torch.tensor(array, requires_grad=True) for name, array in weights.items()}
    optimiser = torch.optim.AdamW(
        parameters.values(), lr=RATE, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, fused=True
    )
    compute_loss = torch_loss(torch, parameters, ids, n_heads)

    def step():
        optimiser.zero_grad()
        loss = compute_loss()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters.values(), LIMIT)
        optimiser.step()
        return loss.item()

    return step


def take_turns(first, second, seconds):
    """Time two functions alternately for some seconds: median milliseconds of each, and the median ratio."""
    pairs, end = [], perf_counter() + seconds
    while perf_counter() < end or len(pairs) < 5:
        pairs.append((timed(first), timed(second)))
    ratios = [a / b for a, b in pairs]
    return *(1e3 * statistics.median(column) for column in zip(*pairs, strict=True)), statistics.median(ratios)


def timed(function):
    """Time one call, in seconds."""
    start = perf_counter()
    function()
    return perf_counter() - start


def compare_steps(seconds):
    """Print a row for each size: both times, and how much of PyTorch's time ours is."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: no training steps compared")
        return
    torch.set_num_threads(1)
    print(f"one training step, one thread, float64: NumPy {np.__version__}, PyTorch {torch.__version__}")
    print(f"{'size':>6} {'parameters':>10} {'NumPy':>10} {'PyTorch':>10} {'NumPy / PyTorch':>16}")
    for name, sizes in SIZES.items():
        weights, ids, n_heads = make_problem(*sizes)
        ours, theirs = numpy_step(weights, ids, n_heads), torch_step(torch, weights, ids, n_heads)
        for _ in range(3):  # which also warms both up
            np.testing.assert_allclose(ours(), theirs(), rtol=1e-9)
        ours_ms, theirs_ms, ratio = take_turns(ours, theirs, seconds)
        n_parameters = sum(array.size for array in weights.values())
        print(f"{name:>6} {n_parameters:>10,} {ours_ms:>7.2f} ms {theirs_ms:>7.2f} ms {ratio:>16.2f}")


def compare_decoding(seconds, n_tokens=256):
    """Print, for each size, what the last of n_tokens tokens costs with a cache and without."""
    print(f"\ntoken {n_tokens}, one thread, float64")
    print(f"{'size':>6} {'full':>10} {'cache':>10} {'full / cache':>16}")
    for name, sizes in SIZES.items():
        weights, _, n_heads = make_problem(*sizes)
        ids = np.random.default_rng(1).integers(0, sizes[0], n_tokens)
        reader = Reader(weights, n_heads, max_context=n_tokens)
        reader.read(ids[:-1])

        def full(ids=ids, weights=weights, n_heads=n_heads):
            return language_model(ids, weights, n_heads).result[-1]

        def cached(ids=ids, reader=reader):
            logits = reader.read(ids[-1:])[-1]
            reader.n_tokens -= 1  # forget it again, so that every call reads the same last token
            for cache in reader.caches:
                cache.n_tokens -= 1
            return logits

        np.testing.assert_allclose(full(), cached(), rtol=1e-9, atol=1e-11)
        full_ms, cached_ms, ratio = take_turns(full, cached, seconds)
        print(f"{name:>6} {full_ms:>7.2f} ms {cached_ms:>7.2f} ms {ratio:>16.1f}")


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
    print(f"{platform.machine()}, Python {platform.python_version()}")
    keep_memory()  # as training does; PyTorch, in the same process, has the same of it
    compare_steps(seconds)
    compare_decoding(seconds / 4)
