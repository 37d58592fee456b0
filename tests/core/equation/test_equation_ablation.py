"""The settings of a check earn their place: with any of them weakened, wrong equations pass.

The weak settings are those of a usual test: one draw, square shapes, ones, an epsilon of 1e-5 with a wide tolerance.
"""

import numpy as np
import pytest
from equation_examples import CODE, MACROS, equation_of, read_cases, request_of

from scratchbook.core.equation import draws, evidence, options, prepared, sides
from scratchbook.core.equation.score import score

CASES = {case["name"]: case for case in read_cases("cases.toml")}
ARRAY_OF = draws.array_of


@pytest.fixture
def by_chance(monkeypatch):
    """No draws of small or equal numbers, which a usual test has not."""
    monkeypatch.setattr(sides.Sides, "arranged", lambda self: [])


def survivors(name):
    """The wrong changes of a case that pass its check."""
    with np.errstate(all="ignore"):
        return score(equation_of(CASES[name]), request_of(CASES[name]), CODE, MACROS).survivors


def small_epsilon(symbol, shape, *rest):
    """The draw of a symbol, with positive numbers as small as an epsilon in code."""
    is_number = symbol.kind.name == "positive" and not shape
    return 1e-5 if is_number else ARRAY_OF(symbol, shape, *rest)


def all_ones(symbol, shape, *rest):
    """The draw of a symbol, with arrays of ones."""
    is_array = symbol.kind.name in ("vector", "matrix", "tensor")
    return np.ones(shape) if is_array else ARRAY_OF(symbol, shape, *rest)


SOME = ["rmsnorm", "layernorm", "lm-loss", "rmsnorm-exercise", "softmax-bwd", "clip", "noam-lr"]


@pytest.mark.parametrize("name", SOME)
def test_no_change_of_these_passes_with_the_settings_as_they_are(name):
    assert survivors(name) == ()


@pytest.mark.usefixtures("by_chance")
def test_with_one_draw_some_pass(monkeypatch):
    monkeypatch.setattr(prepared, "DRAWS", 1)

    assert survivors("clip")


@pytest.mark.usefixtures("by_chance")
def test_with_one_draw_of_numbers_some_pass(monkeypatch):
    monkeypatch.setattr(prepared, "SCALAR_DRAWS", 1)

    assert survivors("noam-lr")


@pytest.mark.usefixtures("by_chance")
def test_with_square_shapes_some_pass(monkeypatch):
    monkeypatch.setattr(draws, "SIZES", (4,) * 17)

    assert survivors("lm-loss")


@pytest.mark.usefixtures("by_chance")
def test_with_an_epsilon_as_in_code_and_a_wide_tolerance_a_lost_epsilon_passes(monkeypatch):
    monkeypatch.setattr(draws, "array_of", small_epsilon)
    for room in (options, evidence):
        monkeypatch.setattr(room, "RTOL", 1e-4)
    monkeypatch.setattr(options, "RTOL", 1e-4)

    assert [change for change in survivors("rmsnorm-exercise") if "epsilon" in change.old]


@pytest.mark.usefixtures("by_chance")
def test_with_ones_some_pass(monkeypatch):
    monkeypatch.setattr(draws, "array_of", all_ones)
    monkeypatch.setattr(draws, "SIZES", (5, 7, 3, 11))  # of a power of 2 the gradient is 0 to the last digit

    assert survivors("softmax-bwd")
