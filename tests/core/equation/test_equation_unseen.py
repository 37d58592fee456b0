"""Equations that the parser had not seen pass as they stand or as its advice says, and no slip in one passes."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from scratchbook.core.equation.checker import check
from scratchbook.core.equation.equation import parse_equation
from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.notation import read_notation
from scratchbook.core.equation.options import Request

DATA = Path(__file__).parent / "data"
CASES = {
    f"{path.stem}-{name}": case
    for path in sorted(DATA.glob("unseen_*.toml"))
    for name, case in tomllib.loads(path.read_text(encoding="utf-8")).items()
}
REFUSED = {name: case for name, case in CASES.items() if "said" in case}


def a_tenth(names):
    """Every tenth by itself, and the others in the long run: each takes a tenth of a second."""
    later = pytest.mark.soak
    return [pytest.param(name, marks=later if number % 10 else ()) for number, name in enumerate(names)]


def said(case, latex):
    """What is wrong with an equation as the case declares and checks it; nothing when it passes."""
    namespace = {"np": np}
    exec(compile(case["code"], "code of the case", "exec"), namespace)
    options = {name: str(case[name]).strip("\n") for name in ("check", "where", "base", "rtol") if name in case}
    try:
        equation = parse_equation(latex, read_notation(case["notation"]))
    except EquationError as error:
        return error.text
    with np.errstate(all="ignore"):
        verdict = check(equation, Request(label="eq", **options), namespace, suggests=False)
    assert verdict.passed or verdict.text
    return verdict.text


def rewritten(case):
    """The case as the advice of its refusal says."""
    return {**case, **case["rewritten"]}


def test_there_are_one_thousand_and_fifty_nine():
    assert len(CASES) == 1059


@pytest.mark.parametrize("name", a_tenth([name for name in CASES if name not in REFUSED]))
def test_it_passes_as_it_stands(name):
    assert said(CASES[name], CASES[name]["math"]) == ""


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_advice_that_passes(name):
    assert REFUSED[name]["said"].strip("\n") in said(REFUSED[name], REFUSED[name]["math"])
    assert said(rewritten(REFUSED[name]), rewritten(REFUSED[name])["math"]) == ""


@pytest.mark.parametrize("name", a_tenth(CASES))
def test_a_slip_is_refused(name):
    assert said(CASES[name], CASES[name]["wrong"]) != ""


@pytest.mark.parametrize("name", REFUSED)
def test_a_slip_is_refused_where_the_advice_was_followed(name):
    assert said(rewritten(REFUSED[name]), rewritten(REFUSED[name])["wrong"]) != ""
