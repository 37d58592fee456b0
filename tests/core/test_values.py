"""Values and claims in a sentence: where the format begins, and which text a reader sees."""

from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

from scratchbook.core.values import Formula, ValueMistake, check_claim, show_value, split_formula

NAMES = {
    "x": 2 / 3,
    "x32": np.float32(2 / 3),
    "x64": np.float64(2 / 3),
    "part": Fraction(2, 3),
    "tiny": 3.5e-8,
    "huge": 272e12,
    "count": np.int64(7),
    "yes": np.bool_(True),
    "array": np.array([0.25, 0.5]),
    "cube": np.zeros((2, 2, 2)),
    "drawing": Figure(),
    "zero_d": np.array(3.5),
    "pair": (np.float64(3.5), np.int64(2)),
    "words": {"a:b": "c!d"},
    "digits": 3,
    "nothing": None,
    "nan": float("nan"),
    "np": np,
    "empty": "",
}


def evaluate(expression):
    return eval(expression, dict(NAMES))


def shown(text):
    return show_value(text, evaluate)


def refusal(text):
    with pytest.raises(ValueMistake) as caught:
        shown(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("x", Formula("x")),
        (" x ", Formula("x")),
        ("x:.2f", Formula("x", "", ".2f")),
        ("x:", Formula("x", "", "")),
        ("x!r", Formula("x", "r")),
        ("x!r:>10", Formula("x", "r", ">10")),
        ("a[1:2]:d", Formula("a[1:2]", "", "d")),
        ("{1: 2}[1]:d", Formula("{1: 2}[1]", "", "d")),
        ("(y := 3):d", Formula("(y := 3)", "", "d")),
        ("y:=3", Formula("y", "", "=3")),
        ("(lambda n: n)(2)", Formula("(lambda n: n)(2)")),
        ("x != 1", Formula("x != 1")),
        ("x != 1!s:>5", Formula("x != 1", "s", ">5")),
        ("words['a:b']:s", Formula("words['a:b']", "", "s")),
        ("words['a:b'] + '!':s", Formula("words['a:b'] + '!'", "", "s")),
        ('"it\\"s: "', Formula('"it\\"s: "')),
        ("'''a'b:'''", Formula("'''a'b:'''")),
        ("t:%H:%M", Formula("t", "", "%H:%M")),
        ("x:{digits}.2f", Formula("x", "", "{digits}.2f")),
    ],
)
def test_the_format_begins_at_the_first_colon_outside_brackets_and_strings(text, formula):
    assert split_formula(text) == formula


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no expression; write one such as `loss:.4f`"),
        (":.2f", "there is no expression; write one such as `loss:.4f`"),
        ("x!q", "'!q' is no conversion; there are !r, !s and !a"),
    ],
)
def test_what_cannot_be_split_is_told(text, told):
    assert refusal(text) == told


@pytest.mark.parametrize(
    ("text", "reader_sees"),
    [
        ("x", "0.6666666666666666"),
        ("x32", "0.6666667"),
        ("x64", "0.6666666666666666"),
        ("part", "2/3"),
        ("tiny", "3.5e-08"),
        ("huge", "272000000000000.0"),
        ("1e-12", "1e-12"),
        ("count", "7"),
        ("yes", "True"),
        ("zero_d", "3.5"),
        ("pair", "(3.5, 2)"),
        ("array", "[0.25 0.5 ]"),
        ("'a|b'", "a|b"),
        ("len(pair)", "2"),
    ],
)
def test_without_a_format_a_reader_sees_what_print_shows(text, reader_sees):
    assert shown(text) == reader_sees


@pytest.mark.parametrize(
    ("text", "reader_sees"),
    [
        ("x:.2f", "0.67"),
        ("x32:.3f", "0.667"),
        ("zero_d:.1f", "3.5"),
        ("count:03d", "007"),
        ("tiny:.1e", "3.5e-08"),
        ("huge:,.0f", "272,000,000,000,000"),
        ("x:.{digits}f", "0.667"),
        ("words!r", "{'a:b': 'c!d'}"),
        ("nan:.2f", "nan"),
        ("x:.1%", "66.7%"),
    ],
)
def test_with_a_format_a_reader_sees_what_an_f_string_gives(text, reader_sees):
    assert shown(text) == reader_sees


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nothing", "`nothing` is None"),
        ("nan", "`nan` is nan; if that is meant, give it a format such as `:.2f`"),
        ("empty", "`empty` is empty"),
        ("'a\\nb'", "`'a\\nb'` takes 2 lines; a sentence has room for one"),
        ("cube", "`cube` takes 5 lines; a sentence has room for one"),
        ("'x' * 201", "`'x' * 201` takes 201 characters; a sentence has room for 200: name a part of it"),
        ("object()", "`object()` is an object that has no text of its own; name what to show of it"),
        ("print", "`print` is an object that has no text of its own; name what to show of it"),
        ("int", "`int` is an object that has no text of its own; name what to show of it"),
        ("drawing", "`drawing` is a drawing; show it with :figure: in a block"),
        ("array:.2f", "the format ':.2f' does not fit a value of type ndarray: unsupported format string passed to "
         "numpy.ndarray.__format__"),
        ("'x':d", "the format ':d' does not fit a value of type str: Unknown format code 'd' for object of type 'str'"),
    ],
)  # fmt: skip
def test_a_value_that_no_sentence_can_hold_is_told(text, told):
    assert refusal(text) == told


def test_a_claim_that_is_true_is_silent():
    assert check_claim("x < 1", evaluate) is None
    assert check_claim("yes", evaluate) is None


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("x > 1", "`x > 1` does not hold: the sides are 0.6666666666666666 and 1"),
        (
            "0 < x < digits < 1",
            "`0 < x < digits < 1` does not hold: the sides are 0 and 0.6666666666666666 and 3 and 1",
        ),
        ("not yes", "`not yes` does not hold"),
        ("array > 0", "`array > 0` gives 2 answers; say .all() or .any()"),
        ("x", "`x` is 0.6666666666666666, which is neither true nor false"),
        ("nothing", "`nothing` is None, which is neither true nor false"),
    ],
)
def test_a_claim_that_is_not_true_is_told_with_its_values(expression, told):
    with pytest.raises(ValueMistake) as caught:
        check_claim(expression, evaluate)

    assert str(caught.value) == told


def test_a_claim_whose_side_can_be_evaluated_once_only_is_told_without_its_values():
    answers = iter([False])
    names = {"next_answer": lambda: next(answers)}

    with pytest.raises(ValueMistake) as caught:
        check_claim("next_answer() == 1", lambda expression: eval(expression, names))

    assert str(caught.value) == "`next_answer() == 1` does not hold"
