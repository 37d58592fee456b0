"""Compare one training step of scratch/ with PyTorch's, and decoding with a cache with decoding without.

Run with a Python that has NumPy and PyTorch:  python bench/model.py [seconds a size]
One thread, float64, the same model, weights and tokens.  All take turns in one process, times are of the processor,
and a ratio is the median over neighbours.  PyTorch runs eagerly, with its fused norm, attention, loss and optimiser.
Its RoPE is written in both ways that are in use: with real numbers, as torchtune has it, and with complex ones, as
Meta's code of Llama and this book have it, which is quicker.  Other spellings are no quicker at any of these sizes:
attention or norm by hand, attention's plain path, functional.linear with matrices that are (out, in), AdamW or clipping
by foreach.  Without PyTorch only the second table is printed.
"""
# ruff: noqa: E402 (the number of threads must be set before NumPy is imported)

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy loads its own library of matrix products

import platform
import statistics
import sys
from pathlib import Path
from time import perf_counter, process_time

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


def real_turn(torch, angles):
    """Make PyTorch's RoPE as torchtune writes it: sines and cosines of even and odd columns."""
    cos, sin = torch.tensor(np.cos(angles)), torch.tensor(np.sin(angles))

    def turn(x):
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)

    return turn


def complex_turn(torch, angles):
    """Make PyTorch's RoPE as Meta writes it: a pair of columns is a complex number."""
    units = torch.tensor(np.exp(1j * angles))

    def turn(x):
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * units).flatten(-2)

    return turn


def torch_loss(torch, parameters, ids, n_heads, make_turn):
    """Make a function that computes the same loss in PyTorch, with its own fused parts where it has them."""
    functional = torch.nn.functional
    inputs, targets = torch.tensor(ids[:, :-1]), torch.tensor(ids[:, 1:])
    n_layers, d = sum(name.endswith("W_q") for name in parameters), parameters["E"].shape[1]
    angles = np.outer(np.arange(inputs.shape[1]), rope_frequencies(d // n_heads))
    turn = make_turn(torch, angles[:, None])  # of every token, for all of its heads

    def norm(x, gain):
        return functional.rms_norm(x, (d,), gain, 1e-5)

    def heads(x):
        return x.unflatten(-1, (n_heads, -1))

    def block(x, w):
        z = norm(x, w["gain_1"])
        Q, K, V = turn(heads(z @ w["W_q"])), turn(heads(z @ w["W_k"])), heads(z @ w["W_v"])
        Q, K, V = (rows.transpose(-2, -3) for rows in (Q, K, V))  # after the turn, as in torchtune
        mixed = functional.scaled_dot_product_attention(Q, K, V, is_causal=True)
        x = x + mixed.transpose(-2, -3).flatten(-2) @ w["W_o"]
        z = norm(x, w["gain_2"])
        return x + (functional.silu(z @ w["W_g"]) * (z @ w["W_u"])) @ w["W_d"]

    layers = [{name.removeprefix(f"blocks.{i}."): p for name, p in parameters.items()} for i in range(n_layers)]

    def loss():
        x = functional.embedding(inputs, parameters["E"])
        for w in layers:
            x = block(x, w)
        logits = norm(x, parameters["gain"]) @ parameters["E"].T
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return loss


def torch_step(torch, weights, ids, n_heads, make_turn):
    """Make a function that takes the same step in PyTorch, with its fused optimiser."""
    parameters = {name: torch.tensor(array, requires_grad=True) for name, array in weights.items()}
    optimiser = torch.optim.AdamW(
        parameters.values(), lr=RATE, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, fused=True
    )
    compute_loss = torch_loss(torch, parameters, ids, n_heads, make_turn)

    def step():
        optimiser.zero_grad()
        loss = compute_loss()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters.values(), LIMIT)
        optimiser.step()
        return loss.item()

    return step


def take_turns(seconds, *functions):
    """Time functions alternately for some seconds: median milliseconds of each, and the first's ratio to each other."""
    rounds, end = [], perf_counter() + seconds
    while perf_counter() < end or len(rounds) < 5:
        rounds.append([timed(function) for function in functions])
    first, *others = (list(column) for column in zip(*rounds, strict=True))
    ratios = [statistics.median(a / b for a, b in zip(first, other, strict=True)) for other in others]
    return [1e3 * statistics.median(column) for column in (first, *others)], ratios


def timed(function):
    """Time one call, in seconds of processor time: waiting for other programs does not count.

    A call before it is not timed: in training a step follows its own kind, and not one that has filled the caches.
    """
    function()
    start = process_time()
    function()
    return process_time() - start


def compare_steps(seconds):
    """Print a row for each size: both times, and how much of PyTorch's time ours is."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: no training steps compared")
        return
    torch.set_num_threads(1)
    print(f"one training step, one thread, float64: NumPy {np.__version__}, PyTorch {torch.__version__}")
    print(f"{'':17} {'':>10} {'PyTorch, RoPE':>21} {'NumPy / PyTorch':>17}")
    print(f"{'size':>6} {'parameters':>10} {'NumPy':>10} {'real':>10} {'complex':>10} {'real':>9} {'complex':>7}")
    for name, sizes in SIZES.items():
        weights, ids, n_heads = make_problem(*sizes)
        steps = [numpy_step(weights, ids, n_heads)]
        steps += [torch_step(torch, weights, ids, n_heads, turn) for turn in (real_turn, complex_turn)]
        for _ in range(3):  # which also warms all up
            ours, *theirs = (step() for step in steps)
            np.testing.assert_allclose(theirs, ours, rtol=1e-9)
        times, ratios = take_turns(seconds, *steps)
        n_parameters = sum(array.size for array in weights.values())
        columns = " ".join(f"{time:>7.2f} ms" for time in times)
        print(f"{name:>6} {n_parameters:>10,} {columns} {ratios[0]:>9.2f} {ratios[1]:>7.2f}")


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
        (full_ms, cached_ms), [ratio] = take_turns(seconds, full, cached)
        print(f"{name:>6} {full_ms:>7.2f} ms {cached_ms:>7.2f} ms {ratio:>16.1f}")


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
    print(f"{platform.machine()}, Python {platform.python_version()}")
    keep_memory()  # as training does; PyTorch, in the same process, has the same of it
    compare_steps(seconds)
    compare_decoding(seconds / 4)
