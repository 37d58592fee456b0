"""Random expressions in many LaTeX styles have the value that NumPy gives directly; mutilated text never surprises."""

import random
import time
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from equation_examples import CODE, MACROS, equation_of, read_cases, request_of
from equation_generator import NOTATION, Generator

from scratchbook.core.equation.checker import check
from scratchbook.core.equation.equation import parse_equation
from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.notation import read_notation
from scratchbook.core.equation.options import Request
from scratchbook.core.equation.worked import evaluate

SUITE, SOAK = 2_000, 20_000
MAX_REFUSED = 0.02
SECONDS_FOR_1000_CHARACTERS = 0.05


def fates(first, last):
    """The seeds whose equation has a wrong value, and those that are refused."""
    notation = read_notation(NOTATION, MACROS)
    wrong, refused = [], []
    for seed in range(first, last):
        latex, value, values = Generator(seed).equation()
        try:
            found = evaluate(parse_equation(latex, notation, MACROS), values)["u"]
        except EquationError as error:
            refused.append(f"{seed}: {latex}: {error}")
            continue
        if np.shape(found) != np.shape(value) or not np.allclose(found, value, rtol=1e-9, atol=1e-9, equal_nan=True):
            wrong.append(f"{seed}: {latex}: {found} is not {value}")
    return wrong, refused


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_expressions_have_the_value_that_numpy_gives():
    wrong, refused = fates(0, SUITE)

    assert not wrong, wrong[:5]
    assert len(refused) <= MAX_REFUSED * SUITE, refused[:5]


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_twenty_thousand_random_expressions_have_the_value_that_numpy_gives():
    wrong, refused = fates(SUITE, SOAK)

    assert not wrong, wrong[:5]
    assert len(refused) <= MAX_REFUSED * SOAK, refused[:5]


PIECES = [
    *r"{}()[]^_&|/+-=,.'1209xyijd",
    r"\frac",
    r"\sum",
    r"\left(",
    r"\right)",
    r"\begin{cases}",
    r"\end{cases}",
    r"\\",
    r"\text{if }",
]


def mutilated(latex, chance):
    """A text with a few characters dropped, doubled, swapped or put in."""
    text = latex
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(text) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            text = text[:place] + text[place + chance.randint(1, 3) :]
        elif kind == 1:
            text = text[:place] + chance.choice(PIECES) + text[place:]
        elif kind == 2:
            text = text[:place] + text[place : place + 4] * 2 + text[place + 4 :]
        else:
            text = text[:place] + text[place + 2 : place + 4] + text[place : place + 2] + text[place + 4 :]
    return text


def subjects():
    """Yield what is mutilated: the LaTeX of every case and of every unseen equation, notation, request and code."""
    for case in read_cases("cases.toml"):
        if "latex" in case:
            yield case["latex"], equation_of(case).notation, request_of(case), CODE
    for path in sorted((Path(__file__).parent / "data").glob("unseen_*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8")).values():
            case |= case.get("rewritten", {})
            namespace = {"np": np}
            exec(compile(case["code"], "code of the case", "exec"), namespace)
            options = {name: str(case[name]).strip("\n") for name in ("check", "where", "base", "rtol") if name in case}
            yield case["math"], read_notation(case["notation"]), Request(label="eq", **options), namespace


def surprises(seconds, seed):
    """What mutilated text does besides a verdict or our own error: other exceptions, and slow reading."""
    chance, whole, found = random.Random(seed), list(subjects()), []
    end = time.process_time() + seconds
    while time.process_time() < end:
        text, notation, request, code = chance.choice(whole)
        latex = mutilated(text, chance)
        start = time.process_time()
        try:
            equation = parse_equation(latex, notation, MACROS)
        except EquationError:
            equation = None
        except Exception as error:  # any other exception is the surprise that this test looks for
            found.append(f"{latex!r}: {error!r}")
            continue
        spent = time.process_time() - start
        if spent > max(SECONDS_FOR_1000_CHARACTERS, SECONDS_FOR_1000_CHARACTERS * len(latex) / 1000):
            found.append(f"{latex!r}: {spent:.3f} s")
        if equation is not None:
            found += surprise_of_check(equation, request, code)
    return found


def surprise_of_check(equation, request, code):
    """What a check raises; it should raise nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(equation, request, code, MACROS, suggests=False)
    except Exception as error:  # any exception is the surprise that this test looks for
        return [f"{equation.source!r}: {error!r}"]
    return []


def test_mutilated_text_ends_in_a_verdict_or_in_our_own_error():
    assert not surprises(seconds=4, seed=0)


@pytest.mark.soak
def test_five_minutes_of_mutilated_text_end_in_verdicts_or_our_own_errors():
    assert not surprises(seconds=300, seed=1)


def test_deep_nesting_is_refused_by_name_and_at_once():
    notation = read_notation("x: scalar")
    texts = [
        "y = " + "(" * 5000 + "x" + ")" * 5000,
        "y = " + r"\frac{1}{" * 200 + "x" + "}" * 200,
        "y = " + "{" * 50 + "x" + "}" * 50,
    ]
    start = time.process_time()
    messages = [refusal(text, notation) for text in texts[:2]]

    assert [message.partition(";")[0] for message in messages] == [
        "the expression nests deeper than 40",
        "braces nest deeper than 64",
    ]
    assert time.process_time() - start < 5  # it would be minutes
    assert parse_equation(texts[2], notation)


@pytest.mark.parametrize("latex", ["y = [x]_{}", "y = x^{[x]_{}}", "y_{} = x", "y = |x|_{}"])
def test_an_empty_script_is_refused_in_words(latex):
    assert refusal(latex, read_notation("x: vector(d)"))


def refusal(latex, notation):
    """The message with which a text is refused."""
    with pytest.raises(EquationError) as caught:
        parse_equation(latex, notation)
    return str(caught.value)


@pytest.mark.parametrize(
    ("latex", "message"),
    [
        (r"y = 9^{9^{9^9}}", "over the limit of 1000 bits"),
        (r"y = 10^{100000000}", "over the limit of 1000 bits"),
        (r"y = \sum_{i=1}^{1000000000} i", "are over the limit of 100000"),
        (r"y = \sum_{i=1}^{1000}\sum_{j=1}^{1000}\sum_{k=1}^{1000} ijk", "over 200000 steps"),
    ],
)
def test_a_computation_without_end_is_refused_by_the_bound_that_it_breaks(latex, message):
    start = time.process_time()
    verdict = check(parse_equation(latex, read_notation("")), Request(label="eq", check="y == 1"), {}, MACROS)

    assert message in verdict.reason
    assert time.process_time() - start < 2.0


def test_a_sum_of_six_hundred_terms_is_read():
    notation = read_notation("a: scalar")

    assert evaluate(parse_equation("u = " + " + ".join(["a"] * 600), notation), {"a": 0.5})["u"] == 300


def test_a_macro_that_calls_itself_is_refused():
    with pytest.raises(EquationError, match="nests deeper than 40"):
        parse_equation(r"y = \loop", read_notation(""), {"loop": r"\loop"})


def test_a_macro_that_explodes_is_refused():
    macros = {"a": r"\b\b\b\b", "b": r"\c\c\c\c", "c": r"\d\d\d\d", "d": r"\e\e\e\e", "e": "xxxxxxxxxxxxxxxxxxxxxxxxx"}

    with pytest.raises(EquationError, match="tokens"):
        parse_equation(r"y = \a\a", read_notation(""), macros)
