"""Optimisers equal the recorded steps; training on names goes where it went before, to the same digits."""

import platform
import subprocess
import sys
from pathlib import Path

import loops
import numpy as np
import pytest

from loss import cross_entropy, cross_entropy_backward
from optimisers import AdamW, Momentum, clip, pack, scheduled_rate, unpack
from refusals import NotFiniteError, OutOfRangeError, ShapeMismatchError
from training import (
    SYMBOLS,
    Batch,
    decode,
    encode,
    loss_and_gradients,
    make_batch,
    measure,
    new_model,
    progress,
    random_batches,
    read_names,
    train,
    train_on_names,
)
from transformer import language_model

VECTORS = Path(__file__).parent / "vectors"
STEPS = np.load(VECTORS / "optimizers.npz")
RUN = np.load(VECTORS / "train_adamw_tiny_llama.npz")
EXACTLY = {"rtol": 1e-9, "atol": 1e-11}
ADAM = {"beta_1": float(STEPS["beta1"]), "beta_2": float(STEPS["beta2"]), "epsilon": float(STEPS["eps"])}


def recorded_weights(moment):
    """The recorded weights of one moment, under the names that the model uses."""
    parts = {"g1": "gain_1", "g2": "gain_2"} | {f"W{c}": f"W_{c}" for c in "qkvogud"}
    blocks = {
        f"blocks.{layer}.{ours}": RUN[f"l{layer}_{theirs}_{moment}"]
        for layer in range(2)
        for theirs, ours in parts.items()
    }
    return {"E": RUN[f"E_{moment}"], **blocks, "gain": RUN[f"gain_f_{moment}"]}


@pytest.fixture(scope="module")
def recorded_run():
    ids = RUN["ids"]
    batch = Batch(ids[:, :-1], ids[:, 1:], np.ones_like(ids[:, 1:], dtype=bool))
    optimiser = AdamW(*(float(RUN[name]) for name in ("beta1", "beta2", "eps", "weight_decay")))
    settings = {"n_heads": int(RUN["n_heads"]), "epsilon": float(RUN["eps_norm"])}
    run = train(
        recorded_weights("init"),
        [batch] * 20,
        [float(RUN["lr"])] * 20,
        optimiser=optimiser,
        limit=float(RUN["clip"]),
        **settings,
    )
    return run, measure(run.weights, batch, **settings)


@pytest.fixture(scope="module")
def names_run():
    return train_on_names()


@pytest.fixture(scope="module")
def held_out():
    return make_batch(read_names()[1])


@pytest.mark.parametrize(
    ("name", "optimiser"),
    [
        ("adam", AdamW(**ADAM, weight_decay=0)),
        ("adamw", AdamW(**ADAM, weight_decay=float(STEPS["weight_decay"]))),
        ("sgd", Momentum()),
        ("sgd_momentum09", Momentum(0.9)),
    ],
)
def test_an_optimiser_takes_the_recorded_steps(name, optimiser):
    weights, places = STEPS["p0"], []
    for gradient in STEPS["grads"]:
        weights = optimiser.step(weights, gradient, float(STEPS["lr"]))
        places.append(weights)

    np.testing.assert_allclose(places, STEPS[f"p_after_{name}"], **EXACTLY)


def test_adamw_is_the_algorithm_weight_by_weight():
    gradients = np.random.default_rng(0).normal(size=(5, 3))
    optimiser, weights = AdamW(0.8, 0.9, 1e-3, 0.2), np.array([1.0, -2.0, 0.5])
    slow = [
        loops.adamw(weight, column.tolist(), 0.05, 0.8, 0.9, 1e-3, 0.2)
        for weight, column in zip(weights, gradients.T, strict=True)
    ]
    for gradient in gradients:
        weights = optimiser.step(weights, gradient, 0.05)

    np.testing.assert_allclose(weights, slow, rtol=1e-12)


def test_a_long_vector_is_stepped_as_its_pieces_are():
    weights, gradient = np.random.default_rng(0).normal(size=(2, 40_000))
    pieces = [AdamW().step(*piece, 0.1) for piece in zip(np.split(weights, 8), np.split(gradient, 8), strict=True)]

    np.testing.assert_array_equal(AdamW().step(weights, gradient, 0.1), np.concatenate(pieces))


@pytest.mark.parametrize("optimiser", [AdamW(), Momentum(0.9)])
def test_a_step_leaves_its_arguments_as_they_are(optimiser):
    weights, gradient = np.ones(3), np.array([1.0, -2.0, 3.0])
    optimiser.step(weights, gradient, 0.1)

    assert weights.tolist() == [1, 1, 1]
    assert gradient.tolist() == [1, -2, 3]


def test_the_first_adam_step_is_the_learning_rate_whatever_the_gradient():
    step = AdamW(weight_decay=0).step(np.zeros(3), np.array([1e-3, 1.0, -1e3]), 0.01)

    np.testing.assert_allclose(step, [-0.01, -0.01, 0.01], rtol=1e-4)


def test_without_a_gradient_only_decay_is_left():
    assert AdamW(weight_decay=0.1).step(np.ones(1), np.zeros(1), 0.5)[0] == 0.95


def test_clipping_equals_the_recorded_one():
    arrays = {"a": STEPS["clip_in_0"], "b": STEPS["clip_in_1"]}
    clipped, length = clip(pack(arrays), 1.0)
    clipped = unpack(clipped, arrays)

    assert length == pytest.approx(float(STEPS["clip_total_norm"]), rel=1e-9)
    np.testing.assert_allclose(clipped["a"], STEPS["clip_out_0"], **EXACTLY)
    np.testing.assert_allclose(clipped["b"], STEPS["clip_out_1"], **EXACTLY)


def test_a_short_gradient_is_not_clipped():
    gradient = np.array([0.3, -0.4])

    assert clip(gradient, 1.0)[0].tolist() == gradient.tolist()


@pytest.mark.parametrize("length", [0.5, 1 - 5e-7, 1.0, 7.0])
@pytest.mark.parametrize("limit", [1.0, 0.3])
def test_clipping_is_the_formula_number_by_number(length, limit):
    gradient = np.random.default_rng(0).normal(size=50)
    gradient *= length / np.linalg.norm(gradient)
    clipped, found = clip(gradient, limit)
    slow, slow_length = loops.clip(gradient.tolist(), limit)

    np.testing.assert_allclose(clipped, slow, rtol=1e-12)
    assert found == pytest.approx(slow_length, rel=1e-12)


@pytest.mark.parametrize("limit", [0.01, 1.0, 30.0])
def test_a_clipped_gradient_points_the_same_way_and_is_no_longer_than_the_limit(limit):
    gradient = np.random.default_rng(0).normal(size=1000)
    clipped, length = clip(gradient, limit)

    np.testing.assert_allclose(clipped / np.linalg.norm(clipped), gradient / length, rtol=1e-12)
    assert 0.999 * limit < np.linalg.norm(clipped) <= limit


def test_packing_goes_by_name_and_comes_back():
    arrays = {"b": np.arange(6.0).reshape(2, 3), "a": np.array([9.0])}
    back = unpack(pack(arrays), arrays)

    assert pack(arrays).tolist() == [9, 0, 1, 2, 3, 4, 5]
    assert pack({"a": arrays["a"], "b": arrays["b"]}).tolist() == pack(arrays).tolist()
    np.testing.assert_array_equal(back["b"], arrays["b"])
    np.testing.assert_array_equal(back["a"], arrays["a"])


def test_the_schedule_climbs_and_then_falls_to_its_floor():
    rates = [scheduled_rate(step, 101, peak=2.0, n_warmup=10) for step in range(101)]

    np.testing.assert_allclose(rates[:10], 0.2 * np.arange(1, 11))
    assert rates[10] == max(rates) == 2.0
    assert (np.diff(rates[10:]) < 0).all()
    assert rates[55] == pytest.approx((2.0 + 0.2) / 2)
    assert rates[100] == pytest.approx(0.2)


SCHEDULES = [(101, 10, 0.1), (20, 0, 0.0), (7, 6, 0.5), (1, 0, 0.1), (50, 49, 1.0), (30, 3, 1.0)]


@pytest.mark.parametrize(("n_steps", "n_warmup", "floor"), SCHEDULES)
def test_the_schedule_is_the_formula_step_by_step(n_steps, n_warmup, floor):
    rates = [scheduled_rate(step, n_steps, 2.0, n_warmup, floor) for step in range(n_steps)]
    slow = [loops.scheduled_rate(step, n_steps, 2.0, n_warmup, floor) for step in range(n_steps)]

    np.testing.assert_allclose(rates, slow, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("n_steps", "n_warmup", "floor"), SCHEDULES)
def test_the_schedule_has_no_jump_at_the_peak_and_never_rises_after_it(n_steps, n_warmup, floor):
    rates = np.array([scheduled_rate(step, n_steps, 2.0, n_warmup, floor) for step in range(n_steps)])

    assert rates[n_warmup] == 2.0
    assert (np.diff(rates[: n_warmup + 1]) <= 2.0 / max(1, n_warmup) + 1e-12).all()
    assert (rates[n_warmup - 1 : n_warmup] == 2.0).all()
    assert (np.diff(rates[n_warmup:]) <= 0).all()
    assert rates.min() >= min(floor * 2.0, rates[0]) - 1e-12


def test_the_recorded_run_had_the_settings_of_ours():
    assert RUN["n_kv_heads"] == RUN["n_heads"]
    assert RUN["n_layers"] == 2
    assert RUN["base"] == 10_000.0


def test_a_recorded_run_of_twenty_steps_loses_the_same(recorded_run):
    run, last_loss = recorded_run

    np.testing.assert_allclose([*run.losses, last_loss], RUN["losses"], **EXACTLY)
    np.testing.assert_allclose(run.lengths, RUN["grad_norms"], **EXACTLY)


@pytest.mark.parametrize("name", recorded_weights("final"))
def test_a_recorded_run_of_twenty_steps_ends_at_the_same_weights(recorded_run, name):
    np.testing.assert_allclose(recorded_run[0].weights[name], recorded_weights("final")[name], **EXACTLY)


def test_text_comes_back_from_its_ids():
    assert decode(encode("\nanna\n")) == "\nanna\n"
    assert encode("\naz").tolist() == [0, 1, 26]


def test_a_batch_shows_each_prefix_and_what_came_next():
    batch = make_batch(["bob", "al"])

    assert [decode(row) for row in batch.ids] == ["\nbob", "\nal\n"]
    assert [decode(row) for row in batch.targets] == ["bob\n", "al\n\n"]
    assert batch.kept.tolist() == [[True] * 4, [True, True, True, False]]


def test_what_could_not_come_at_an_ignored_place_does_not_count():
    logits = np.array([[1.0, 2.0, 0.5], [-np.inf, 0.0, 0.0]])
    alone, trace = cross_entropy(logits[:1], [1]), cross_entropy(logits, [1, 0], [True, False])

    assert trace.result == alone.result
    np.testing.assert_array_equal(cross_entropy_backward(1.0, trace), [*cross_entropy_backward(1.0, alone), [0, 0, 0]])


def test_what_stands_after_a_name_does_not_count():
    weights = new_model()
    alone, beside_longer = make_batch(["al"]), make_batch(["al", "bartholomew"])
    logits = language_model(beside_longer.ids, weights, 4).result[:1]

    assert measure(weights, alone, 4) == pytest.approx(
        float(cross_entropy(logits, beside_longer.targets[:1], beside_longer.kept[:1]).result), rel=1e-12
    )


def test_names_held_back_are_not_trained_on():
    kept, held = read_names()

    assert len(kept) == 4646
    assert len(held) == 517
    assert not set(kept) & set(held)
    assert set("".join(kept + held)) == set(SYMBOLS) - {"\n"}


def test_a_batch_holds_no_name_twice_and_is_drawn_again_by_its_seed():
    names = read_names()[0]
    first, again = (next(random_batches(names, 1, seed=3)).ids for _ in range(2))

    assert len(np.unique(first, axis=0)) == 32
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, next(random_batches(names, 1, seed=4)).ids)


def test_a_new_model_is_about_as_surprised_as_a_guess_among_27(held_out):
    surprise = measure(new_model(), held_out, 4)

    assert np.log(27) < surprise < np.log(27) + 0.5
    assert sum(array.size for array in new_model().values()) == 21_504


def test_training_on_names_goes_from_3_6_to_below_2_nats_on_names_never_seen(names_run, held_out):
    before, after = measure(new_model(), held_out, 4), measure(names_run.weights, held_out, 4)

    assert f"{before:.4f} {after:.4f}" == "3.6310 1.9678"


def test_the_trained_model_has_not_learned_its_names_by_heart(names_run, held_out):
    seen = measure(names_run.weights, make_batch(read_names()[0][:517]), 4)

    assert 1.7 < seen < measure(names_run.weights, held_out, 4)


def test_two_runs_are_the_same_bytes():
    first, second = (train_on_names(n_steps=20) for _ in range(2))

    assert first.losses.tobytes() == second.losses.tobytes()
    assert pack(first.weights).tobytes() == pack(second.weights).tobytes()


def test_training_leaves_the_first_weights_as_they_are():
    weights = new_model()
    train(weights, random_batches(read_names()[0], 3), [0.01] * 3, n_heads=4)

    assert pack(weights).tobytes() == pack(new_model()).tobytes()


def test_a_step_along_the_gradient_surprises_the_model_less():
    weights, batch = new_model(), make_batch(read_names()[0][:64])
    loss, gradients = loss_and_gradients(weights, batch, 4)
    moved = unpack(Momentum().step(pack(weights), pack(gradients), 1e-3), weights)
    expected = 1e-3 * pack(gradients) @ pack(gradients)

    assert loss - measure(moved, batch, 4) == pytest.approx(expected, rel=0.05)


def test_progress_gives_every_batch_and_is_silent_when_nobody_watches(capsys):
    assert list(progress([1, 2, 3])) == [1, 2, 3]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("optimiser", [AdamW(), Momentum()])
@pytest.mark.parametrize(
    ("gradient", "rate", "error", "message"),
    [
        (np.array([1.0, np.nan]), 0.1, NotFiniteError, "the gradient holds NaN or infinity"),
        (np.ones(3), 0.1, ShapeMismatchError, r"weights of shape \(2,\) but a gradient of \(3,\)"),
        (np.ones(2), 0.0, OutOfRangeError, "the learning rate must be positive and finite, not 0.0"),
        (np.ones(2), np.nan, OutOfRangeError, "the learning rate must be positive and finite, not nan"),
    ],
)
def test_a_step_that_would_spoil_the_weights_is_refused(optimiser, gradient, rate, error, message):
    with pytest.raises(error, match=message):
        optimiser.step(np.ones(2), gradient, rate)


def test_a_gradient_of_nan_is_refused_before_it_is_clipped():
    with pytest.raises(NotFiniteError, match="the gradient's length is nan"):
        clip(np.array([np.nan, 1.0]))


def test_a_vector_that_does_not_fit_is_refused():
    with pytest.raises(ShapeMismatchError, match=r"expected a vector of 3 numbers, not shape \(4,\)"):
        unpack(np.ones(4), {"a": np.ones(3)})


@pytest.mark.parametrize(("step", "n_warmup"), [(10, 2), (-1, 2), (0, 10)])
def test_a_step_outside_the_run_has_no_rate(step, n_warmup):
    with pytest.raises(OutOfRangeError, match=r"must lie in 0..9"):
        scheduled_rate(step, 10, 1.0, n_warmup)


def test_a_character_without_an_id_is_refused():
    with pytest.raises(OutOfRangeError, match="no id for 'é'"):
        encode("andré")


SCRATCH = Path(__file__).parents[2] / "scratch"
COUNT_PAGES = """
import resource
import numpy as np
from training import keep_memory

def fetched():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(2**17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(fetched(), keep_memory(), fetched(), fetched())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="says how the C library of Linux behaves")
def test_memory_that_is_kept_is_not_fetched_again_page_by_page():
    run = subprocess.run([sys.executable, "-c", COUNT_PAGES], cwd=SCRATCH, capture_output=True, text=True, check=True)
    before, result, _, after = run.stdout.split()

    assert result == "None"
    assert int(after) < int(before) / 10
