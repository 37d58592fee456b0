"""The selector gives what the real Asciidoctor gave, for every case that was run through it."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scratchbook.core.selection import Selection, find_tag_lines, select, split_lines
from tests.core.asciidoctor import Case, our_outcome, random_cases, written_cases

WRITTEN = written_cases()
RANDOM = random_cases()
LINES = st.sampled_from(
    ["x = 1", "", "    y = 2", "# tag::a[]", "# tag::b[]", "# tag::c[]", "# end::a[]", "# end::b[]", "# end::c[]"]
)
FILES = st.lists(LINES, max_size=14).map(lambda lines: "".join(f"{line}\n" for line in lines))
EXPRESSIONS = st.lists(
    st.sampled_from(["a", "b", "c", "!a", "!b", "!c", "*", "!*", "**", "!**"]), min_size=1, max_size=4
).map(";".join)


def test_no_case_was_lost():
    assert (len(WRITTEN), len(RANDOM)) == (162, 400)


def test_most_cases_select_something():
    assert sum(bool(case.lines) for case in WRITTEN + RANDOM) > 350


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: f"{case.path}-{WRITTEN.index(case) + 1}")
def test_a_written_case_selects_what_asciidoctor_selects(case: Case):
    assert our_outcome(case) == case.outcome


def test_every_random_case_selects_what_asciidoctor_selects():
    assert [case for case in RANDOM if our_outcome(case) != case.outcome] == []


@settings(max_examples=60, deadline=None)
@given(FILES, EXPRESSIONS)
def test_a_selection_is_lines_of_the_file_in_order_and_never_a_marker(text: str, tags: str):
    lines = split_lines(text)
    markers = {mark.line for mark in find_tag_lines(lines)}

    region = select(text, "m.py", Selection(tags=tags))

    assert region.lines == tuple(lines[number - 1] for number in region.numbers)
    assert list(region.numbers) == sorted(set(region.numbers) - markers)


@settings(max_examples=60, deadline=None)
@given(FILES, EXPRESSIONS)
def test_a_selection_does_not_depend_on_how_lines_end(text: str, tags: str):
    windows = "\ufeff" + text.replace("\n", "\r\n")

    assert select(windows, "m.py", Selection(tags=tags)) == select(text, "m.py", Selection(tags=tags))


@settings(max_examples=60, deadline=None)
@given(FILES)
def test_both_stars_and_all_regions_with_the_rest_are_the_same(text: str):
    everything = select(text, "m.py", Selection(tags="**"))

    assert select(text, "m.py", Selection(tags="**;*")).lines == everything.lines


def test_a_region_is_text_again():
    region = select("# tag::a[]\n1\n# tag::b[]\n2\n# end::b[]\n# end::a[]\n", "m.py", Selection(tag="a"))

    assert region.text == "1\n2\n"
    assert region.numbers == (2, 4)


def test_a_selection_crosses_json_unchanged():
    selection = Selection(tags="a;!b", indent=0, optional=True, tabsize=4)

    assert Selection(**json.loads(json.dumps(dataclasses.asdict(selection)))) == selection
