"""A check in a fork of its page: plain data in, a verdict or mistakes as plain data out."""

import numpy as np

from scratchbook.core.equation.branch import run_check, run_worked


def tied_head(hidden, E):
    return hidden @ E.T


def payload(latex, request, notations=(), **more):
    """What the Sphinx side leaves for one equation."""
    texts = [{"text": text, "path": "docs/notation.md", "line": 7} for text in notations]
    place = {"label": "eq-one", "path": "docs/one.md", "line": 20, "position": 0, "is_formula": False}
    place["is_plain"] = False
    return {**place, "latex": latex, "notations": texts, "macros": [], "formulas": [], "request": request, **more}


def test_an_equation_is_read_with_the_notation_that_only_it_declares():
    book = "h: dim\nE: matrix(V, d)"
    request = {"check": "tied_head", "where": "override h as hidden: matrix(T, d)"}

    outcome = run_check({"tied_head": tied_head}, payload(r"y_t = h_t E^\top", request, [book]))

    assert outcome["mistakes"] == []
    assert outcome["parts"][0]["data"]["code"][0]["name"] == "tied_head"


def test_a_mistake_in_it_is_told_at_its_line():
    request = {"check": "y == 2 * x", "where": "x: vectr(d)"}

    outcome = run_check({}, payload("y = 2x", request))

    (mistake,) = outcome["mistakes"]
    assert mistake["text"].startswith("equation eq-one: 'vectr' is not a kind; choose from ")
    assert mistake["detail"].splitlines() == ["    x: vectr(d)", "    ^^^^^^^^^^^"]


def test_a_mistake_in_the_tex_is_told_at_its_row():
    latex = "\\begin{aligned}\ny &= 2x \\\\\nz &= 2 x y 3\n\\end{aligned}"

    outcome = run_check({}, payload(latex, {"check": "y == 1"}))

    (mistake,) = outcome["mistakes"]
    assert mistake["place"] == ["docs/one.md", 22]
    assert mistake["text"] == "equation eq-one: ambiguous: the number 3 follows a factor; put it first or write \\cdot"


def test_a_mistake_in_a_notation_is_told_where_that_stands():
    outcome = run_check({}, payload("y = 2x", {"check": "y == 1"}, ["a: scalar\nx: vectr(d)"]))

    (mistake,) = outcome["mistakes"]
    assert (mistake["kind"], mistake["place"]) == ("notation", ["docs/notation.md", 8])
    assert mistake["detail"].splitlines() == ["    x: vectr(d)", "    ^^^^^^^^^^^"]


def test_a_size_that_only_a_draw_shows_to_be_wrong_is_told_where_that_stands():
    outcome = run_check({}, payload("y = kx", {"check": "y == 1"}, ["x: scalar", "a: scalar\nk: int(5..2)"]))

    (mistake,) = outcome["mistakes"]
    assert (mistake["kind"], mistake["place"]) == ("notation", ["docs/notation.md", 8])
    assert mistake["text"] == "the range 5..2 of k is empty"
    assert mistake["detail"].splitlines() == ["    k: int(5..2)", "           ^^^^"]


def test_a_difference_shows_the_draw_the_place_and_the_numbers():
    request = {"check": "y == 2 * x", "where": "x: vector(d)"}

    outcome = run_check({"np": np}, payload("y_i = 3x_i", request))

    (mistake,) = outcome["mistakes"]
    line, caret, numbers, drawn = mistake["detail"].splitlines()
    assert line[caret.index("^") :] == "3x_i"
    assert numbers.startswith("    draw 0, i=1: y: one side ")
    assert drawn.startswith("    with x = [")


def test_plain_text_is_read_as_code_is_and_says_where_it_is_wrong():
    request = {"check": "y == 2 * x", "where": "x: vector(d)\nW_1: scalar"}
    text = "y = W₁ x   # W₁ x, not 2 x"

    outcome = run_check({}, payload(text, request, is_plain=True))

    (mistake,) = outcome["mistakes"]
    assert mistake["text"].startswith("equation eq-one: differs from 2 * x by ")
    assert mistake["detail"].splitlines()[:2] == [f"    {text}", "        ^^^^"]


def test_a_check_of_the_project_that_raises_is_told_as_its_own():
    outcome = run_check({}, payload("y = 2x", {"check-with": "math.sqrt"}))

    (mistake,) = outcome["mistakes"]
    text = "equation eq-one: the check 'math.sqrt' raised TypeError: math.sqrt() takes exactly one argument (2 given)"
    assert mistake["text"] == text


def bent(x):
    return 2 * x if x.max() < 100 else x


SUM = r"y_i = x_i + \sum_{j=1}^{d} x_j"


def working(latex, values, check="", index=""):
    """The steps, or the mistakes, of an equation with numbers put in."""
    notation = ["x: vector(d)"]
    work = payload(latex, {"check": check}, notation, values=values, index=index, digits=4)
    outcome = run_worked({"bent": bent}, work)
    return outcome["parts"][0]["data"]["steps"] if outcome["parts"] else outcome["mistakes"]


def test_one_element_can_be_worked_alone():
    printed, second = working(SUM, "x = [1.0, 2.0]", index="i=2")

    assert printed == {"left": "y_i", "sides": [r"x_i + \sum_{j=1}^{d} x_j"], "is_worked": False}
    assert second == {"left": "y_{2}", "sides": ["2 + (1 + 2)", "2 + 3", "5"], "is_worked": True}


def test_an_element_that_is_not_there_is_told():
    (mistake,) = working(SUM, "x = [1.0, 2.0]", index="i=3")

    assert mistake["text"].endswith("no left side has an element i = 3; drop it from ':index:'")


def test_a_small_number_is_shown_without_needless_digits():
    (step,) = working("y = x_1 + x_2", "x = [1e-5, 2.5e-6]")

    assert step["sides"][1] == r"10^{-5} + 2.5 \cdot 10^{-6}"


def test_what_is_no_element_is_told():
    (mistake,) = working(SUM, "x = [1.0, 2.0]", index="second")

    assert mistake["text"].endswith("'second' is no element; write ':index: i=1'")


def test_numbers_at_which_the_code_gives_another_value_are_told():
    (mistake,) = working("y = 2x", "x = [200.0]", check="y == bent(x)")

    assert mistake["text"].endswith("these numbers give 400 by the equation, and 200 by bent(x)")


def test_code_that_takes_more_than_the_numbers_given_is_not_run():
    notation = ["x, m: vector(d)"]
    request = {"check": "y == bent(x) + 0 * m"}

    work = payload("y = 2x", request, notation, values="x = [200.0]", index="", digits=4)

    outcome = run_worked({"bent": bent, "m": "of the page"}, work)

    assert outcome["mistakes"] == []


def test_numbers_are_put_in_step_by_step():
    request = {"check": "y == h * h", "where": "override h: scalar"}
    work = payload("y = h^2", request, ["h: dim"], values="h = 3.0", index="", digits=4)

    outcome = run_worked({}, work)

    assert outcome["parts"][0]["data"]["steps"] == [{"left": "y", "sides": ["h^2", "3^{2}", "9"], "is_worked": True}]
