"""The guide's page on what equations may say is what the parser and the evaluator do."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from scratchbook.core.equation import algebra, draws, evaluator, parser, powers, ranges, spelling, tokens
from scratchbook.core.equation.checker import check
from scratchbook.core.equation.draws import draw
from scratchbook.core.equation.equation import parse_equation
from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.known import WORDS
from scratchbook.core.equation.notation import read_notation
from scratchbook.core.equation.options import Request
from scratchbook.core.equation.worked import evaluate

PAGE = (Path(__file__).parents[3] / "docs/guide/grammar.md").read_text("utf-8")
NOTATION = read_notation(re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1])
DRAWN = draw(list(NOTATION.symbols.values()), "grammar", 0, 1).values
VALUES = {NOTATION.symbols[key].code: value for key, value in DRAWN.items()}


def rows(count):
    """The rows of every table with so many columns of code, a pipe within code as Markdown wants it."""
    cell = r" `((?:\\\||[^`|])+)` \|"
    found = re.findall(rf"^\|{cell * count}$", PAGE, re.MULTILINE)
    return [tuple(text.replace(r"\|", "|") for text in row) for row in found]


MEANINGS, REFUSALS = rows(2), rows(3)
BOUNDS = re.findall(r"^\| ([a-z][^|]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE)


def statement(latex):
    """A display of one value: an expression gets a left side."""
    is_display = re.match(r"\\begin\{aligned\}|u(_\S+)? =", latex) or ", \\quad u = " in latex
    return latex if is_display else f"u = {latex}"


def value_of(latex):
    """What an equation gives to u."""
    return evaluate(parse_equation(statement(latex), NOTATION), VALUES)["u"]


def test_the_page_has_its_tables():
    assert len(MEANINGS) > 110
    assert len(REFUSALS) > 30


@pytest.mark.parametrize(("latex", "meaning"), MEANINGS, ids=[latex for latex, _ in MEANINGS])
def test_a_row_has_the_value_of_its_numpy(latex, meaning):
    found = value_of(latex)

    expected = eval(meaning, {"np": np, "math": math, **VALUES})
    found = found.array if isinstance(found, algebra.Row) else found
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(("latex", "said", "instead"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_a_refusal_says_so_and_what_it_asks_for_is_read(latex, said, instead):
    try:
        verdict = check(parse_equation(f"u = {latex}", NOTATION), Request(label="u", check="u == 0"), {})
        text = verdict.reason
    except EquationError as error:
        text = error.text

    assert text == said
    assert np.isfinite(value_of(instead)).all()


def test_every_known_function_is_named():
    listed = re.search(r"Known without a declaration:(.*?)in any capitals", PAGE, re.DOTALL)[1]

    assert re.findall(r"`(\w+)`", listed) == WORDS


def test_every_bound_is_named_with_its_number():
    limits = [tokens.MAX_CHARACTERS, tokens.MAX_TOKENS, tokens.MAX_MACRO_DEPTH, spelling.MAX_BRACES, parser.MAX_DEPTH]
    limits += [ranges.MAX_MEMBERS, evaluator.MAX_STEPS, evaluator.MAX_CALLS, powers.MAX_BITS, draws.MAX_SIZE]
    limits += [algebra.MAX_ELEMENTS]

    assert [int(number.replace(",", "")) for _, number in BOUNDS] == limits
