"""Accepted outcomes: what counts as a difference, and a file that reads back as it was written."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scratchbook.core.cells import CellOutcome, Code, CodeCell, Part, State
from scratchbook.core.errors import Place, ScratchbookError
from scratchbook.core.pins import Pin, compare, make_pin, pin_name, read_pins, write_pins


def pins(text):
    return {"live-1": Pin("print(x)", {"text": text})}


def differences(before, after, rtol=1e-6):
    return [str(difference) for difference in compare(pins(before), pins(after), rtol)]


def test_the_same_output_is_no_difference():
    assert differences("[0.6 1.1]\n", "[0.6 1.1]\n") == []


def test_another_number_is_told_old_beside_new():
    assert differences("loss 0.61\n", "loss 0.62\n") == [
        "output was 'loss 0.61' when it was accepted and is 'loss 0.62'"
    ]


def test_the_last_digit_of_a_float_may_differ():
    assert differences("0.123456789", "0.123456788") == []


def test_a_cell_may_have_a_tolerance_of_its_own():
    accepted = {"live-1": Pin("print(x)", {"text": "loss 2.9 after 60"}, rtol=0.1)}

    assert compare(accepted, pins("loss 3.1 after 60"), 1e-6) == ()
    assert compare(accepted, pins("loss 3.3 after 60"), 1e-6) != ()
    assert compare(accepted, pins("loss 2.9 after 61"), 1e-6) != ()


def test_a_float_may_change_its_width():
    assert differences("[ 1.0000001 2.]", "[1.        2.]") == []


def test_a_count_may_not_differ_at_all():
    assert differences("1000000001 rows", "1000000000 rows") != []


def test_a_number_in_a_name_is_no_number():
    assert differences("x1.5y", "x1.500000001y") != []


def test_another_word_is_a_difference():
    assert differences("True", "False") == ["output was 'True' when it was accepted and is 'False'"]


def test_a_line_more_is_a_difference():
    assert differences("a\n", "a\nb\n") == ["output was '' when it was accepted and is 'b'"]


def test_a_new_cell_has_no_accepted_outcome():
    (difference,) = compare({}, pins("a\nb\n"), 1e-6)

    assert str(difference) == "output has no accepted outcome: 'a' and 1 more line"


def test_a_cell_that_is_gone_is_told():
    (difference,) = compare(pins("a"), {}, 1e-6)

    assert str(difference) == "output is gone; accepted was 'a'"


def test_the_diff_shows_the_changed_line():
    (difference,) = compare(pins("a\nb\n"), pins("a\nc\n"), 1e-6)

    assert difference.diff().splitlines()[-3:] == [" a", "-b", "+c"]


def test_a_cell_is_pinned_with_all_that_a_reader_sees():
    cell = CodeCell("live-1", Place("docs/a.md", 3), Code("docs/a.md", "\nx = 1\nprint(x)", (4, 5, 6)))
    outcome = CellOutcome(
        "ok",
        (
            Part("listing", {"path": "m.py", "text": "x", "numbers": [1]}),
            Part("text", {"text": "1\n", "cut": 0}),
            Part("table", {"header": ["a"], "rows": [["1"]]}),
            Part("svg", {"svg": "<svg/>", "sketch": ["words: loss", "curve of 20 numbers"]}),
        ),
    )

    pin = make_pin(cell, outcome)

    assert pin.shows == "x = 1"
    assert pin.parts == {
        "text": "1\n",
        "table": [["a"], ["1"]],
        "figure": "words: loss\ncurve of 20 numbers\n",
    }


def test_a_cell_that_shows_nothing_is_not_pinned():
    cell = CodeCell("live-1", Place("docs/a.md", 3), Code("docs/a.md", "x = 1", (4,)))

    assert make_pin(cell, CellOutcome("ok", (Part("text", {"text": "", "cut": 0}),))) is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("value = 0.5", "`value` of [value-1] is 0.5; write it in quotes"),
        ("table = [1, 2]", "`table` of [value-1] is [1, 2]; write it in quotes"),
        ("table = [[1]]", "`table` of [value-1] is [[1]]; write it in quotes"),
        ('cut = [["1"]]', "`cut` of [value-1] is [['1']]; write it in quotes"),
        ("frozen = 2026-01-01", "`frozen` of [value-1] is datetime.date(2026, 1, 1); write it in quotes"),
        ("rtol = -0.1", "`rtol` of [value-1] is -0.1; write a number such as 0.1"),
        ("rtol = inf", "`rtol` of [value-1] is inf; write a number such as 0.1"),
        ('rtol = "0.1"', "`rtol` of [value-1] is '0.1'; write a number such as 0.1"),
    ],
)
def test_what_a_hand_has_written_wrongly_is_told(line, told):
    with pytest.raises(ScratchbookError) as error:
        read_pins(f'format = 1\n[value-1]\nshows = "x"\n{line}\n', "pins/a.toml")

    assert error.value.text == f"pins/a.toml cannot be read as accepted outcomes: {told}"


@pytest.mark.parametrize("line", ["value-1 = 3", "[value-1]"])
def test_a_cell_without_its_code_is_told(line):
    with pytest.raises(ScratchbookError, match=r"\[value-1\] is no table with `shows = ...`"):
        read_pins(f"format = 1\n{line}\n", "pins/a.toml")


def test_states_have_pins_of_their_own():
    assert pin_name("live-1", State("token", "cat")) == "live-1 token=cat"


def test_the_file_is_readable():
    written = write_pins({"live-1": Pin("print(x)", {"text": "a\nb\n"})}, "docs/a.md")

    assert written.splitlines()[2:] == [
        "format = 1",
        "",
        "[live-1]",
        'shows = "print(x)"',
        "text = '''",
        "a",
        "b",
        "'''",
    ]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=10).filter(lambda name: name != "format"),
        st.builds(
            Pin,
            st.text(),
            st.fixed_dictionaries(
                {},
                optional={
                    "text": st.text(max_size=20),
                    "table": st.lists(st.lists(st.text(max_size=5), max_size=3), max_size=3),
                    "value": st.text(max_size=20),
                },
            ),
            st.text(max_size=10),
            st.text(max_size=10),
            st.floats(min_value=0, allow_infinity=False),
        ),
        max_size=4,
    )
)
def test_what_is_written_reads_back(pins):
    assert read_pins(write_pins(pins, "docs/a.md"), "a.toml") == pins


@pytest.mark.parametrize(
    "text", ["", "format = 2", "format = 1\nx = 3", "format = 1\n[x]\n", "?", "format = 1\n[x]\nshows = 1\nrtol = 'a'"]
)
def test_anything_else_is_one_clear_message(text):
    with pytest.raises(ScratchbookError, match=r"^a\.toml ") as caught:
        read_pins(text, "a.toml")

    assert caught.value.kind == "pin"
