"""What is wrong with a region is said once, at the line to open; what would mislead is not shown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scratchbook.core.errors import Place
from scratchbook.core.regions import Selection, diagnose, region_names, select, show
from scratchbook.core.selection import find_tag_lines, split_lines

TWO = "top = 0\n# tag::alpha[]\na = 1\n# end::alpha[]\nmid = 0\n# tag::beta[]\nb = 2\n# end::beta[]\nbot = 0\n"
NESTED = "# tag::outer[]\nx = 1\n# tag::inner[]\ny = 2\n# end::inner[]\n# end::outer[]\nz = 3\n"
THREE = "".join(f"# tag::{name}[]\n{name} = 1\n# end::{name}[]\n" for name in ("block", "rmsnorm", "swiglu"))
MANY = "".join(f"# tag::layer{n}[]\nx = {n}\n# end::layer{n}[]\n" for n in range(10))


def said(text: str, path: str = "m.py", **options: object) -> list[tuple[int | None, str]]:
    """Return each message with its line in the file; no line where it is about the page's own."""
    mistakes = diagnose(text, path, Selection(**options))
    return [(mistake.place.line if mistake.place else None, mistake.text) for mistake in mistakes]


def shown(text: str, path: str = "m.py", **options: object) -> tuple[int, ...]:
    return show(text, path, Selection(**options))[0].numbers


# What a page asks for


def test_a_missing_name_lists_the_names_that_there_are():
    (mistake,) = diagnose(THREE, "scratch/transformer.py", Selection(tag="rmsnrom"))

    assert mistake.text == "no region 'rmsnrom' in scratch/transformer.py; it has block, rmsnorm, swiglu"
    assert (mistake.kind, mistake.place) == ("region", None)


def test_among_many_names_the_nearest_come_first():
    ((_, text),) = said(MANY, tag="layr3")

    assert text.startswith("no region 'layr3' in m.py; nearest layer3, layer9, layer8; it has layer0, layer1, ")


def test_two_missing_names_are_one_message():
    assert said(TWO, tags="gamma;alpha;delta") == [(None, "no regions 'gamma', 'delta' in m.py; it has alpha, beta")]


def test_a_missing_name_to_leave_out_is_said():
    assert said(TWO, tags="alpha;!gama") == [(None, "no region 'gama' to leave out in m.py; it has alpha, beta")]


def test_a_file_without_regions_says_so():
    assert said("x = 1\n", tag="a") == [(None, "no region 'a' in m.py; it has no region")]


def test_a_name_matches_whole():
    text = "# tag::ab[]\nAB = 1\n# end::ab[]\n# tag::a[]\nA = 1\n# end::a[]\n"

    assert show(text, "m.py", Selection(tag="a"))[0].text == "A = 1\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tags": "alpha; beta"}, "name ' beta' in tags has blanks round it; write 'beta'"),
        ({"tag": "alpha "}, "name 'alpha ' in tag has blanks round it; write 'alpha'"),
        ({"tags": "alpha beta"}, "name 'alpha beta' in tags has a blank inside; separate names with ';' in tags"),
        (
            {"tag": "alpha;beta"},
            "no region 'alpha;beta' in m.py; it has alpha, beta; tag takes one name, tags several",
        ),
        (
            {"tags": "alpha;beta,gamma"},
            "no regions 'alpha;beta', 'gamma' in m.py; it has alpha, beta; "
            "tags splits at ',' if it holds one, else at ';'",
        ),
        ({"tag": ""}, "tag '' names no region of m.py; it has alpha, beta"),
        ({"tag": "!"}, "tag '!' names no region of m.py; it has alpha, beta"),
        ({"tags": ";"}, "tags ';' names no region of m.py; it has alpha, beta"),
        ({"tags": "!**"}, "tags '!**' selects no line to show of m.py; it has alpha, beta"),
        ({"tags": "**;alpha"}, "'alpha' beside '**' changes nothing in m.py; drop one of them"),
        ({"tags": "alpha;*"}, "'alpha' beside '*' changes nothing in m.py; drop one of them"),
        ({"tags": "alpha;!alpha"}, "'alpha' and '!alpha' both stand in tags, and only the last counts; drop one"),
        ({"tag": "alpha", "tags": "beta"}, "give tag or tags, not both: tag alone would count"),
        ({"tag": "alpha", "lines": "3"}, "give lines or tag, not both: lines alone would count"),
        ({"lines": ""}, "lines '' names no line of m.py; write lines such as 2, 2..4 or 2.."),
        ({"lines": "3;1-2"}, "lines '1-2' is no line or range counted from 1; write 2, 2..4 or 2.."),
        ({"lines": "..3"}, "lines '..3' is no line or range counted from 1; write 2, 2..4 or 2.."),
        ({"lines": "0..3"}, "lines '0..3' is no line or range counted from 1; write 2, 2..4 or 2.."),
        ({"lines": "-1"}, "lines '-1' is no line or range counted from 1; write 2, 2..4 or 2.."),
        ({"lines": "5..2"}, "lines '5..2' runs backward; write 2..5"),
        ({"lines": "10"}, "lines '10' leaves m.py, which has 9 lines"),
        ({"lines": "10.."}, "lines '10..' leaves m.py, which has 9 lines"),
        ({"lines": "7..10"}, "lines '7..10' leaves m.py, which has 9 lines"),
        ({"lines": "2"}, "lines '2' selects no line to show of m.py; it has alpha, beta"),
    ],
    ids=str,
)
def test_a_mistaken_request_is_one_message_and_shows_nothing(options: dict[str, str], text: str):
    assert said(TWO, **options) == [(None, text)]
    assert shown(TWO, **options) == ()


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"tags": "!*;alpha"}, (1, 3, 5, 9)),
        ({"tags": "**;!*;alpha"}, (1, 3, 5, 9)),
        ({"tags": "**;!alpha"}, (1, 5, 7, 9)),
        ({"tags": "alpha,beta"}, (3, 7)),
        ({"lines": "1, 7 .. -1"}, (1, 7, 9)),
        ({"lines": "9"}, (9,)),
    ],
    ids=str,
)
def test_a_right_request_is_shown_without_a_message(options: dict[str, str], numbers: tuple[int, ...]):
    assert said(TWO, **options) == []
    assert shown(TWO, **options) == numbers


def test_a_name_that_brings_an_excluded_inner_region_back_is_no_mistake():
    text = NESTED.replace("outer", "o").replace("inner", "i")

    assert said(text, tags="**;!o;i") == []


def test_a_file_of_markers_and_blanks_has_nothing_to_show():
    assert said("\n\n") == [(None, "m.py has no line to show")]


def test_without_a_filter_the_markers_go_and_the_numbers_stay():
    region, mistakes = show(TWO, "m.py", Selection())

    assert region.text == "top = 0\na = 1\nmid = 0\nb = 2\nbot = 0\n"
    assert (region.numbers, mistakes) == ((1, 3, 5, 7, 9), ())


def test_lines_show_no_marker_either():
    assert shown(TWO, lines="1..3") == (1, 3)


def test_a_region_may_come_in_several_parts():
    assert said("# tag::a[]\n1\n# end::a[]\n2\n# tag::a[]\n3\n# end::a[]\n", tag="a") == []


def test_a_comment_after_a_region_is_not_part_of_it():
    text = "# tag::a[]\nx = 1\n# end::a[]\n# about b\n# tag::b[]\ny = 2\n# end::b[]\n"

    assert shown(text, tag="a") == (2,)


def test_the_first_number_is_the_line_after_the_marker():
    assert shown("\n" * 56 + "# tag::a[]\nx = 1\n# end::a[]\n", tag="a") == (58,)


def test_blank_lines_take_no_part_in_the_common_indent():
    text = "class A:\n    # tag::m[]\n    def f(self):\n\n        #\n        return 1\n    # end::m[]\n"
    region, mistakes = show(text, "m.py", Selection(tag="m", indent=0))

    assert (region.text, mistakes) == ("def f(self):\n\n    #\n    return 1\n", ())


def test_tabs_and_blanks_in_one_common_indent_are_said():
    text = "if x:\n# tag::a[]\n\ta = 1\n        b = 1\n# end::a[]\n"
    fact = "this line and line 3 are indented differently, there with a TAB; set tabsize or use only blanks"

    assert said(text, tag="a", indent=0) == [(4, fact)]
    assert shown(text, tag="a", indent=0) == ()


def test_with_a_tabsize_tabs_and_blanks_agree():
    text = "if x:\n# tag::a[]\n\ta = 1\n        b = 1\n# end::a[]\n"

    assert show(text, "m.py", Selection(tag="a", indent=0, tabsize=8))[0].text == "a = 1\nb = 1\n"


# What is wrong in the file, whoever asks


def test_a_region_that_is_never_closed_is_said_at_its_start_and_not_shown():
    text = "x = 0\ny = 1\n# tag::s[]\n" + "z = 1\n" * 40

    assert said(text, tag="s") == [(3, "region 's' is opened here and never closed; add 'end::s[]'")]
    assert shown(text, tag="s") == ()


def test_an_unclosed_region_is_said_though_another_is_asked_for_and_shown():
    text = "# tag::a[]\nx = 1\n# end::a[]\n# tag::b[]\ny = 2\n"

    assert said(text, tag="a") == [(4, "region 'b' is opened here and never closed; add 'end::b[]'")]
    assert shown(text, tag="a") == (2,)


def test_without_a_request_the_file_alone_is_judged():
    (mistake,) = diagnose("# tag::b[]\ny = 2\n", "scratch/m.py", None)

    assert (mistake.place, mistake.kind) == (Place("scratch/m.py", 1), "region")


def test_opening_a_region_twice_is_said_with_both_places_and_not_shown():
    text = "# tag::s[]\na=1\n# tag::s[]\nb=2\n# end::s[]\nc=3\n"

    assert said(text, tag="s") == [(3, "region 's' is opened again while open since m.py:1; close it first")]
    assert shown(text, tag="s") == ()


def test_crossing_regions_are_said_at_the_end_that_comes_too_early():
    text = "# tag::a[]\nla = 1\n# tag::b[]\nlab = 2\n# end::a[]\nlb = 3\n# end::b[]\nafter = 4\n"
    fact = "region 'a' ends inside region 'b' of m.py:3; close that one first"

    assert said(text, tags="*") == [(5, fact)]
    assert shown(text, tags="*") == ()


def test_an_end_that_closes_nothing_is_said():
    text = "# tag::a[]\nx = 1\n# end::a[]\n# end::a[]\ny = 2\n"

    assert said(text) == [(4, "'end::a[]' closes nothing; no region 'a' is open here")]


def test_a_mistyped_end_is_one_message():
    text = "# tag::attention[]\na = 1\n# end::atention[]\n"

    assert said(text, tag="attention") == [(3, "'end::atention[]' closes nothing; open here is 'attention'")]
    assert shown(text, tag="attention") == ()


@pytest.mark.parametrize("middle", ["", "\n  \n", "# tag::u[]\n# end::u[]\n"])
def test_a_region_without_code_is_empty(middle: str):
    messages = said(f"x = 0\n# tag::s[]\n{middle}# end::s[]\n", tag="s")

    assert messages[0] == (2, "region 's' is empty; put lines between its markers or remove both")


def test_a_name_that_reads_as_an_expression_can_never_be_asked_for():
    text = "# tag::!x[]\nx = 1\n# end::!x[]\n"

    assert said(text) == [(1, "region '!x' can never be asked for; choose a name that starts with a letter")]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        (
            "# tag: s []",
            "'# tag: s []' looks like a marker and is none: it has one colon and a blank inside; write 'tag::s[]'",
        ),
        ("# Tag::s[]", "'Tag::s[]' looks like a marker and is none: it has a capital; write 'tag::s[]'"),
        ("# TAG::s[]", "'TAG::s[]' looks like a marker and is none: it has a capital; write 'tag::s[]'"),
        ("# tag:s[]", "'tag:s[]' looks like a marker and is none: it has one colon; write 'tag::s[]'"),
        ("# tag::s []", "'tag::s []' looks like a marker and is none: it has a blank inside; write 'tag::s[]'"),
        ("# tag:: s[]", "'tag:: s[]' looks like a marker and is none: it has a blank inside; write 'tag::s[]'"),
        ("# tag ::s[]", "'tag ::s[]' looks like a marker and is none: it has a blank inside; write 'tag::s[]'"),
        ("# tag::s[]\t", "'tag::s[]' looks like a marker and is none: a TAB follows it; put a blank there"),
        ("# tag::s[]x", "'tag::s[]x' looks like a marker and is none: text is glued to it; put a blank after '[]'"),
        ("# tag::s[x]", "'tag::s[x]' looks like a marker and is none: its brackets are not empty; write 'tag::s[]'"),
        ("# tag::s", "'# tag::s' looks like a marker and is none: it has no '[]'; write 'tag::s[]'"),
        ("# tag::s the core", "'# tag::s' looks like a marker and is none: it has no '[]'; write 'tag::s[]'"),
        ("# tags::s[]", "'tags::s[]' looks like a marker and is none: the words are 'tag' and 'end'; write 'tag::s[]'"),
        ("# my_tag::s[]", "'my_tag::s[]' looks like a marker and is none: text is glued before it; write 'tag::s[]'"),
        ("x = 1  # Tag::s[]", "'Tag::s[]' looks like a marker and is none: it has a capital; write 'tag::s[]'"),
    ],
)
def test_what_looks_like_a_marker_is_one_message_and_hides_its_region(line: str, fact: str):
    text = f"{line}\na = 1\n# end::s[]\n"

    assert said(text, tag="s") == [(1, fact)]
    assert shown(text, tag="s") == ()


def test_a_marker_without_a_name_is_said():
    fact = "'tag::[]' looks like a marker and is none: it has no name; write 'tag::name[]'"

    assert said("# tag::[]\na = 1\n") == [(1, fact)]


def test_a_near_miss_hides_no_other_mistake_of_its_region():
    text = "# tag::a[]\n# end::a[]\n# Tag::a[]\n"

    assert [line for line, _ in said(text, tag="a")] == [1, 3]


def test_a_near_miss_in_another_language_is_said():
    fact = "'tag::x[]-->' looks like a marker and is none: text is glued to it; put a blank after '[]'"

    assert said("<!--tag::x[]-->\n<b/>\n", path="page.html") == [(1, fact)]


@pytest.mark.parametrize(
    "line",
    ["#tag::s[]", "#  tag::s[]", "# tag::s[]  # noqa", "# tag::s[] -->", "#### my-tag::s[]", "    # tag::s[] core"],
)
def test_an_accepted_spelling_is_a_marker(line: str):
    assert said(f"{line}\na = 1\n# end::s[]\n", tag="s") == []
    assert shown(f"{line}\na = 1\n# end::s[]\n", tag="s") == (2,)


@pytest.mark.parametrize(
    "line", ["# end: of the loop", "# append: x[]", "x = a[tag::2]", "s = 'Tag::s[]'", "# a list, tag: int[]"]
)
def test_what_only_resembles_a_marker_from_afar_is_left_alone(line: str):
    assert said(f"{line}\n") == []


def test_a_cplusplus_name_is_no_near_miss():
    assert said("// the tag::value of it\n*tag::value = 3;\n", path="m.cpp") == []


def test_a_second_marker_on_a_line_is_said():
    text = "# tag::a[] tag::b[]\nx = 1\n# end::a[]\n# end::b[]\n"

    assert said(text, tag="a") == [
        (1, "'tag::b[]' stands behind 'tag::a[]' and is not seen; give it a line of its own")
    ]


def test_a_marker_in_a_string_is_said_and_its_region_not_shown():
    text = '"""How to mark:\n# tag::s[]\n"""\n# tag::s[]\na = 1\n# end::s[]\n'
    fact = "'tag::s[]' stands in a string and still counts as a marker; write it with a blank inside there"

    assert said(text, tag="s") == [(2, fact)]
    assert shown(text, tag="s") == ()


@pytest.mark.parametrize(("path", "line"), [("m.py", "y = 1  # tag::t[]"), ("m.css", "b {} /* tag::t[] */")])
def test_a_marker_after_code_is_said_and_its_region_not_shown(path: str, line: str):
    text = f"{line}\nz = 2\n# end::t[]\n"
    fact = "'tag::t[]' stands after code, which goes with the marker's line; give it a line of its own"

    assert (1, fact) in said(text, path, tag="t")
    assert shown(text, path, tag="t") == ()


def test_code_before_a_marker_stays_when_the_whole_file_is_shown():
    assert shown("y = 1  # tag::t[]\nz = 2\n# end::t[]\n") == (1, 2)


def test_a_file_that_python_cannot_read_still_has_its_regions():
    text = "def f(:\n# tag::a[]\na = 1\n# end::a[]\n'''\n"

    assert shown(text, tag="a") == (3,)


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE in column 6; remove it or write it as '\\u202e'"),
        ("\u200b", "U+200B ZERO WIDTH SPACE in column 6; remove it or write it as '\\u200b'"),
        ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE in column 6; remove it or write it as '\\u2066'"),
        ("\x1b", "U+001B CONTROL CHARACTER in column 6; remove it or write it as '\\x1b'"),
        ("\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A in column 6; remove it or write it as '\\U000e0041'"),
    ],
)
def test_a_hidden_character_is_said_where_it_stands(character: str, name: str):
    (mistake,) = diagnose(f"x = 1\na = '{character}'\n", "m.py", None)

    assert mistake.text == f"hidden character {name}"
    assert (mistake.kind, mistake.place) == ("source", Place("m.py", 2))


def test_letters_and_symbols_of_every_script_are_not_hidden():
    assert diagnose("größe = 'שלום 你好 Δ→∑ café 🙂'\n\tx = 1\n", "m.py", None) == ()


# Names and promises


def test_names_come_once_in_the_order_of_the_file():
    text = '"""# tag::example[]"""\n' + NESTED + NESTED

    assert region_names(text, "m.py") == ("outer", "inner")


MARKERS = st.sampled_from(
    [
        *("x = 1", "    y = 2", "", "s = 'tag::a[] '", "z = 3  # end::b[]", '"""', "# Tag::a[]", "# end:b[]"),
        *("# tag::a[]", "# tag::b[]", "# tag::c[]", "# end::a[]", "# end::b[]", "# end::c[]", "# tag::a[] tag::b[]"),
    ]
)
FILES = st.lists(MARKERS, max_size=12).map(lambda lines: "".join(f"{line}\n" for line in lines))
SELECTIONS = st.one_of(
    st.lists(st.sampled_from(["a", "b", "!a", "!c", "*", "!*", "**", "!**", "zz", " a"]), min_size=1, max_size=3).map(
        lambda names: Selection(tags=";".join(names))
    ),
    st.sampled_from([Selection(), Selection(lines="2..3"), Selection(lines="5..2"), Selection(tag="")]),
)


@settings(max_examples=150, deadline=None)
@given(FILES, SELECTIONS)
def test_what_shows_nothing_or_warns_always_says_why(text: str, selection: Selection):
    region, mistakes = show(text, "m.py", selection)

    assert mistakes or (region.text.strip() and not region.warnings)


@settings(max_examples=150, deadline=None)
@given(FILES, SELECTIONS)
def test_what_is_shown_is_asciidoctors_selection_at_most_without_markers(text: str, selection: Selection):
    chosen = select(text, "m.py", selection)
    region, _ = show(text, "m.py", selection)
    lost = set(chosen.numbers) - set(region.numbers)

    assert set(region.numbers) <= set(chosen.numbers)
    assert not region.numbers or lost <= {mark.line for mark in find_tag_lines(split_lines(text))}
