"""Every message about an equation: its words, the token under its caret, and that none is left without a case."""

import re

import pytest
from equation_messages import cases_of, matches, name_of, read_cases, sites, what_is_said, witnessed

from scratchbook.core.equation.vocabulary import REFUSED

CASES = read_cases()
# Messages that no text reaches, since the parser reads it otherwise before; a change that a mutation makes may.
NOT_DECLARED = "\0 is not declared; declare it in the notation, or define it"
GUARDS = {
    ("defined", "\0 is a function here; write its arguments"),
    ("indexing", "a slice such as ':' stands alone in a subscript"),
    ("ranges", NOT_DECLARED),
    ("ranges", f"{NOT_DECLARED}; for the transpose write \0^\\top"),
    ("ranges", f"{NOT_DECLARED}: '\0: dim' for all indices, '\0: set(n)' for some"),
}


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_mistake_is_told_in_these_words_at_this_token(case):
    said, caret = what_is_said(case)

    assert said == case["says"]
    assert "%" in "".join(case.values()) or caret == case.get("caret", "")


@pytest.fixture(scope="module")
def reached():
    """Every template with whether a case makes it."""
    seen = witnessed(CASES)
    found = {}
    for module, first, last, templates in sites():
        told = [text for place, line, text in seen if place == module and first <= line <= last]
        for template in templates:
            key = (module, template)
            found[key] = found.get(key, False) or any(matches(template, text) for text in told)
    return found


def test_no_message_is_without_a_case(reached):
    assert [key for key, is_reached in reached.items() if not is_reached and key not in GUARDS] == []


def test_a_guard_is_a_message_that_nothing_reaches(reached):
    assert [key for key in GUARDS if reached.get(key, True)] == []


# Of no text, of the place that asks for a row, and of the whole.
NOWHERE = re.compile(r"an empty equation; |no row \d|the (equation|formula) nests too deep; ")


def test_every_mistake_has_its_caret():
    without = [case["says"] for case in CASES if "caret" not in case and "%" not in "".join(case.values())]

    assert [text for text in without if not NOWHERE.match(text)] == []


@pytest.mark.parametrize("sign", sorted(REFUSED))
def test_a_sign_without_a_value_is_refused_by_name(sign):
    case = next(cases_of(f"latex  y = a {sign} b"))

    said, caret = what_is_said(case)

    line, mark = caret.split("\n")
    assert said.startswith(f"{sign} ")
    assert line[mark.index("^") :].startswith(sign)


# TeX's own name, its delimiter \right., and what Python says.
ALLOWED = r"^TeX |\\right\.$|: invalid syntax$"


def test_the_words_are_lower_case_without_a_full_stop():
    said = [re.sub(ALLOWED, "", case["says"]) for case in CASES]

    assert [text for text in said if re.search(r"[^.]\.$|^[A-Z][a-z ]|please|invalid", text)] == []
