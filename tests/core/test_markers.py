"""Hide and skip markers split a page's code as sphinx-exec-code does, and none stays open unnoticed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sphinx_exec_code.code_format import VisibilityMarkerError, get_show_exec_code

from scratchbook.core.markers import Line, MarkerError, split_code


def texts(code: str) -> tuple[str, str]:
    shown, run = split_code(code)
    return "\n".join(line.text for line in shown), "\n".join(line.text for line in run)


def mistake_of(code: str) -> tuple[int, str]:
    with pytest.raises(MarkerError) as caught:
        split_code(code)
    assert caught.value.mistake.kind == "region"
    return caught.value.line, caught.value.text


def test_hidden_lines_run_and_skipped_lines_are_shown():
    code = "a = 1\n#hide:start\nb = 2\n#hide:stop\nc = 3\n#skip:start\nd = 4\n#skip:stop\n"

    assert texts(code) == ("a = 1\nc = 3\nd = 4", "a = 1\nb = 2\nc = 3")


def test_each_line_keeps_its_number():
    shown, run = split_code("\n#hide:start\nimport os\n#hide:stop\n\n    x = 1\n\n    y = 2\n")

    assert shown == (Line("x = 1", 6), Line("", 7), Line("y = 2", 8))
    assert [line.number for line in run] == [3, 5, 6, 7, 8]


@pytest.mark.parametrize(
    "marker", ["#hide:start", "# hide: start", "#HIDE:START", "# ----- Hide : start -----", "   #hide:start"]
)
def test_blanks_dashes_and_case_are_ignored(marker: str):
    assert texts(f"a = 1\n{marker}\nb = 2\n#hide:stop") == ("a = 1", "a = 1\nb = 2")


def test_a_toggle_switches_off_and_on():
    assert texts("#skip:toggle\na = 1\n#skip:toggle\nb = 2")[1] == "b = 2"


def test_hiding_and_skipping_may_overlap():
    code = "#hide:start\na = 1\n#skip:start\nb = 2\n#hide:stop\nc = 3\n#skip:stop\nd = 4"

    assert texts(code) == ("c = 3\nd = 4", "a = 1\nd = 4")


def test_code_that_is_indented_throughout_runs():
    assert texts("    if x:\n        y = 1\n    z = 2")[1] == "if x:\n    y = 1\nz = 2"


def test_a_body_runs_without_its_skipped_head():
    assert texts("#skip:start\nif True:\n#skip:stop\n    print(1)\nx = 1")[1] == "print(1)\nx = 1"


def test_nothing_is_nothing():
    assert split_code("\n  \n") == ((), ())


@pytest.mark.parametrize(
    ("code", "line", "text"),
    [
        (
            "a = 1\n#hide:start\nb = 2\nc = 3",
            2,
            "'#hide:start' is never closed, so all that follows is hidden; add '#hide:stop'",
        ),
        (
            "#skip:toggle\nb = 2",
            1,
            "'#skip:toggle' is never closed, so all that follows is skipped; add '#skip:stop'",
        ),
        (
            "#hide:start\na = 1\n#hide:start",
            3,
            "hide:start comes where lines are hidden already; write hide:stop before it",
        ),
        ("a = 1\n#skip:stop", 2, "skip:stop comes where no line is skipped; write skip:start before it"),
    ],
)
def test_a_marker_out_of_order_is_said_at_its_line(code: str, line: int, text: str):
    assert mistake_of(code) == (line, text)


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("# hide:end", "# hide:end"),
        ("#hide:strt", "#hide:strt"),
        ("# skip start", "# skip start"),
        ("#hidden:start", "#hidden:start"),
        ("x = 1  # hide:start", "# hide:start"),
        ("#hide:\tstart", "#hide:\tstart"),
        ("#skip::start", "#skip::start"),
        ("#hide:start of set-up", "#hide:start"),
    ],
)
def test_what_looks_like_a_marker_is_said_at_its_line(line: str, seen: str):
    fact = f"'{seen}' looks like a marker and is none"
    choice = "write #hide or #skip with :start, :stop or :toggle, on a line of its own"

    assert mistake_of(f"a = 1\n{line}\nb = 2") == (2, f"{fact}; {choice}")


@pytest.mark.parametrize(
    "line",
    [
        *("# skip the first row", "# hide and seek", "x = d['skip']", "# skip: the first row", "# skip start of it"),
        *("s = '# hide:start'", '"""\n# hide:\n"""', "# skip: warmup"),
    ],
)
def test_a_comment_that_speaks_of_skipping_is_a_comment(line: str):
    assert texts(line) == (line, line)


CODE = st.lists(
    st.sampled_from(
        [
            *("a = 1", "", "    b = 2", "c = 3   ", "  ", "# hide: start", "#hide:stop", "#HIDE:toggle"),
            *("#skip:start", "# --- skip: stop ---", "#skip:toggle", "\tx"),
        ]
    ),
    max_size=14,
).map("\n".join)


# Most mixtures of markers are refused, and those that are not are worth the search.
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(CODE)
def test_valid_code_is_split_as_sphinx_exec_code_splits_it(code: str):
    try:
        ours = texts(code)
    except MarkerError:
        assume(False)
    shown, run = get_show_exec_code(code.split("\n"))

    assert ours[0] == shown
    # They dedent after stripping the first line, so code that is indented throughout differs, and does not run there.
    assert ours[1] == run or all(line[:1] in ("", " ", "\t") for line in run.split("\n")[1:])


@settings(max_examples=80, deadline=None)
@given(CODE)
def test_what_sphinx_exec_code_refuses_is_refused(code: str):
    try:
        get_show_exec_code(code.split("\n"))
    except VisibilityMarkerError:
        with pytest.raises(MarkerError):
            split_code(code)
