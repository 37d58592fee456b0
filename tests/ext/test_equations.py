"""Equations on a page: checked against the code that the page shows, marked, repeated, listed, counted."""

import re

import pytest
from docutils import nodes

CODE = """
import numpy as np


# tag::rms[]
def rms(x, gain, epsilon=1e-5):
    return gain * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon)


def rms_backward(upstream, x, gain, epsilon=1e-5):
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon)
    z = gain * upstream
    c = np.sum(z * x, axis=-1, keepdims=True)
    return r * z - r**3 * x * c / x.shape[-1], (upstream * x * r).reshape(-1, x.shape[-1]).sum(axis=0)
# end::rms[]


# tag::other[]
def other(x):
    return 2 * x
# end::other[]


def hidden(x):
    return 3 * x
"""
NOTATION = """
```{notation}
x: vector(d) -- a row
g as gain: vector(d) -- the learned gain
\\epsilon: positive -- keeps the root from zero
```
"""
EQUATION = r"\operatorname{rms}(x)_i = g_i x_i \left(\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \epsilon\right)^{-1/2} ."
SHOWN = """
```{live} code.py
:tag: rms

print(rms(np.ones(2), np.ones(2)))
```
"""


def display(tex, options=":label: eq-rms\n:check: rms"):
    return f"\n```{{math}}\n{options}\n\n{tex}\n```\n"


def page(*parts):
    return "# Page\n" + "".join(parts)


def first(built, kind):
    return next(iter(built.doctree().findall(kind)))


def test_an_equation_above_its_code_is_checked_forward_and_backward(chapter):
    built = chapter(page(NOTATION, display(EQUATION), SHOWN), CODE)

    assert built.warnings == []
    assert "1 equation and 0 formulas: 1 checked, 0 excused, 0 failed; 2 gradients" in built.log


SEVERAL = "several stand one a line, in options between two lines of --- [scratchbook.option]"


@pytest.mark.parametrize(
    ("options", "line", "said"),
    [
        (":check: rms\n:check: other", 11, "option 'check' of {math} stands twice: take one of them away"),
        (":check: rms\n:grad:", 11, "option 'grad' of {math} is empty: write its value behind it"),
        (":check:\n    y == rms(x)", 10, "option 'check' of {math} is empty: write its value behind it"),
        ("---\ncheck: rms\ncheck: other\n---", 12, "option 'check' of {math} stands twice: take one of them away"),
    ],
)
def test_an_option_that_would_be_lost_is_one_message_at_its_line(chapter, options, line, said):
    built = chapter(page(NOTATION, display(EQUATION, options), SHOWN), CODE)

    assert built.warnings == [f"docs/index.md:{line}: WARNING: {said}; {SEVERAL}"]


def test_several_checks_stand_one_a_line(chapter):
    options = "---\nlabel: eq-rms\ncheck: |\n  y == rms(x, gain, epsilon)\n  z == other(x)\n---"
    other = "\n```{live} code.py\n:tag: other\n\nprint(other(1))\n```\n"
    tex = EQUATION.replace(r"\operatorname{rms}(x)_i", "y_i").rstrip(" .") + r", \quad z = 2 x"
    built = chapter(page(NOTATION, display(tex, options), SHOWN, other), CODE)

    assert built.warnings == []
    assert "1 equation and 0 formulas: 1 checked" in built.log


def test_a_dropped_epsilon_is_told_at_the_row_of_tex(chapter):
    built = chapter(page(NOTATION, display(EQUATION.replace(r" + \epsilon", "")), SHOWN), CODE)

    (warning,) = built.warnings
    assert warning.startswith("docs/index.md:13: WARNING: equation eq-rms")
    assert warning.endswith("[scratchbook.equation]")
    assert built.status == 1


def test_a_wrong_exponent_comes_with_what_would_mend_it(chapter):
    built = chapter(page(NOTATION, display(EQUATION.replace("-1/2", "1/2")), SHOWN), CODE)

    assert re.search(r"changing '.*1/2.*' to '.*-1/2.*' makes it agree", built.warnings[0])


def test_a_wrong_backward_in_the_code_is_found(chapter):
    built = chapter(page(NOTATION, display(EQUATION), SHOWN), CODE.replace("- r**3", "+ r**3"))

    assert "gradient of x" in built.warnings[0]


def test_the_equation_looks_as_without_a_check(chapter):
    checked = first(chapter(page(NOTATION, display(EQUATION), SHOWN), CODE), nodes.math_block)
    plain = first(chapter(page(NOTATION, display(EQUATION, ":label: eq-rms"), SHOWN), CODE), nodes.math_block)

    assert (checked.astext(), checked["label"], checked["number"]) == (plain.astext(), plain["label"], plain["number"])


def test_a_mark_beside_the_number_links_to_the_code_on_the_page(chapter):
    built = chapter(page(NOTATION, display(EQUATION), SHOWN), CODE)
    mark = first(built, nodes.math_block)["scratchbook_mark"]
    listing = next(node for node in built.doctree().findall(nodes.literal_block) if "def rms" in node.astext())

    assert mark["text"] == "✓ rms"
    assert mark["uri"].partition("#")[2] in listing["ids"]
    assert "random draws; the gradient by " in mark["title"]


def test_an_excused_equation_shows_nothing_and_is_counted(chapter):
    built = chapter(page(display("a = b", ":label: eq-a\n:nocheck: it is only a picture of the idea")))

    assert built.warnings == []
    assert "scratchbook_mark" not in first(built, nodes.math_block)
    assert "1 equation and 0 formulas: 0 checked, 1 excused, 0 failed" in built.log


def test_an_excuse_needs_its_reason(chapter):
    built = chapter(page(display("a = b", ":label: eq-a\n:nocheck:")))

    assert built.warnings == ["docs/index.md:3: WARNING: :nocheck: needs the reason why not [scratchbook.equation]"]


def test_a_check_and_an_excuse_contradict_each_other(chapter):
    built = chapter(page(display("a = b", ":check: rms\n:nocheck: no reason")))

    assert built.warnings == [
        "docs/index.md:3: WARNING: an equation is checked or excused, not both [scratchbook.equation]"
    ]


@pytest.mark.parametrize(
    ("source", "line"),
    [(display("a = b", ":label: eq-a"), 6), ("\n$$\na = b\n$$\n", 3), ("\n$$\na = b\n$$ (eq-a)\n", 3)],
)
def test_where_all_must_be_checked_each_display_counts(chapter, source, line):
    built = chapter(page(source), scratchbook_equations="all")

    (warning,) = built.warnings
    assert warning.startswith(f"docs/index.md:{line}: WARNING: equation ")
    assert "is neither checked nor excused; add :check: or :nocheck: with the reason" in warning


def test_an_environment_of_its_own_counts_too(chapter):
    source = page("\n\\begin{equation}\na = b\n\\end{equation}\n")
    built = chapter(source, scratchbook_equations="all", myst_enable_extensions=["amsmath"])

    (warning,) = built.warnings
    assert warning.startswith("docs/index.md:3: WARNING: equation at docs/index.md:3 is neither checked nor excused")


def test_environments_of_their_own_are_named_by_their_order(chapter):
    source = page("\n\\begin{equation}\na = b\n\\end{equation}\n" * 2)
    built = chapter(source, myst_enable_extensions=["amsmath"])
    blocks = list(built.doctree().findall(nodes.math_block))
    targets = [target["refid"] for target in built.doctree().findall(nodes.target)]

    assert [(block["label"], block["number"]) for block in blocks] == [("index:1", 1), ("index:2", 2)]
    assert [block["ids"] for block in blocks] == [["equation-index-1"], ["equation-index-2"]]
    assert targets == ["equation-index-1", "equation-index-2"]


def test_elsewhere_an_equation_may_stand_unchecked(chapter):
    assert chapter(page(display("a = b", ":label: eq-a"))).warnings == []


def test_code_that_no_page_shows_is_refused(chapter):
    equation = display("h(x) = 3x", ":label: eq-h\n:check: hidden")
    imports = "\n```{live}\nfrom code import hidden\n```\n"
    built = chapter(page("\n```{notation}\nx: vector(d)\n```\n", equation, SHOWN, imports), CODE)

    assert [warning for warning in built.warnings if "which no page shows" in warning]


TRIPLE = "def triple(x):\n    return 3 * x\n"


@pytest.mark.parametrize(
    ("block", "anchor"),
    [
        (f"```{{live}}\n{TRIPLE}```", "listing-index-code-1"),
        (f"```{{live}} code.py\n:tag: other\n:no-output: none\n\n{TRIPLE}```", "listing-index-code-other-shown"),
        (f"```{{live}}\n:hide-code:\n\n{TRIPLE}```", None),
        (f"```{{live}}\nx = 1\n#hide:start\n{TRIPLE}#hide:stop\n```", None),
        ("```{live} code.py\n:hide-code:\n:no-output: none\n```", None),
    ],
    ids=["a block", "a demonstration", "a hidden block", "hidden lines", "a hidden file"],
)
def test_code_of_the_page_counts_where_a_reader_sees_it(chapter, block, anchor):
    equation = display("t(x) = 3x", ":label: eq-t\n:check: triple")
    built = chapter(page("\n```{notation}\nx: vector(d)\n```\n", equation, f"\n{block}\n"), CODE + TRIPLE, "html")
    links = re.findall(r'href="#([^"]+)"[^>]*>✓ triple', built.file("index.html"))

    assert ["which no page shows" in warning for warning in built.warnings] == ([] if anchor else [True])
    assert links == ([anchor] if anchor else [])
    assert f'id="{anchor}"' in built.file("index.html") or not anchor


def test_a_name_that_the_page_does_not_know_is_told_at_the_option(chapter):
    built = chapter(page(NOTATION, display(EQUATION, ":label: eq-rms\n:check: rmz(x)"), SHOWN), CODE)

    assert "rmz is neither a symbol's Python name nor a name of the page" in built.warnings[0]


def test_a_notation_is_a_table_for_the_reader(chapter):
    built = chapter(page(NOTATION))
    rows = [
        [cell.astext() for cell in row.findall(nodes.entry)] for row in first(built, nodes.table).findall(nodes.row)
    ]

    assert rows[:2] == [["symbol", "what it is", "in the code", "meaning"], ["x", "vector (d)", "x", "a row"]]


def test_a_line_of_a_notation_that_cannot_be_read_is_told_there(chapter):
    built = chapter(page("\n```{notation}\nx: vector(d)\ny: vektor(d)\n```\n"))

    (warning,) = built.warnings
    assert warning.startswith("docs/index.md:5: WARNING: 'vektor' is not a kind; choose from ")
    assert warning.endswith("[scratchbook.notation]")


def test_a_chapter_changes_the_notation_of_the_book_aloud(project):
    project.write({"docs/index.md": "# Book\n\n```{toctree}\none\n```\n\n```{notation}\n:book:\n\nx: vector(d)\n```\n"})
    quiet = "# One\n\n```{notation}\nx: matrix(n, d)\n```\n\n```{math}\n:check: y == 2 * x\n\ny = 2x\n```\n"
    built = project.write({"docs/one.md": quiet}).build()

    assert built.warnings[0].startswith("docs/one.md:4: WARNING: x is declared as vector(d) before; write 'override x")


def test_key_equations_repeat_a_row_of_an_equation(chapter):
    tex = r"\begin{aligned} u &= x + 1, \\ v &= u + 2 \end{aligned}"
    built = chapter(page(display(tex, ":label: eq-two\n:nocheck: an example"), "\n:::{key-equations}\neq-two:2\n:::\n"))
    (_, repeated) = built.doctree().findall(nodes.math_block)

    assert repeated.astext() == "v = u + 2"
    assert built.warnings == []


def test_key_equations_name_the_labels_there_are(chapter):
    built = chapter(page(display("a = b", ":label: eq-a\n:nocheck: x"), "\n:::{key-equations}\neq-a\neq-b\n:::\n"))

    assert built.warnings == [
        "docs/index.md:12: WARNING: no equation 'eq-b' to repeat; the book has eq-a [scratchbook.equation]"
    ]


def test_the_page_of_equations_lists_each_with_its_state(chapter):
    built = chapter(page(NOTATION, display(EQUATION), display("a = b", ":label: eq-a\n:nocheck: a picture"), SHOWN,
                         "\n```{equations}\n```\n"), CODE)  # fmt: skip
    stories = [item.astext() for item in built.doctree().findall(nodes.definition)]

    assert stories == ["checked against rms, and its gradient by x, g", "excused: a picture"]


def test_a_formula_defines_a_name_for_the_next_equation(chapter):
    formula = r"Let {formula}`r = \left(\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \epsilon\right)^{-1/2}` be one number.\n"
    built = chapter(
        page(NOTATION, "\n" + formula.replace(r"\n", "\n"), display(r"\operatorname{rms}(x)_i = g_i x_i r ."), SHOWN),
        CODE,
    )

    assert built.warnings == []
    assert "1 equation and 1 formula: 2 checked" in built.log


def test_a_formula_that_is_wrong_is_told(chapter):
    built = chapter(page("\n```{notation}\nd: int(1..99)\n```\n\nIn all {formula}`4d^2 + 8d^2 = 13d^2` parameters.\n"))

    assert built.warnings[0].startswith("docs/index.md:7: WARNING: this formula")


def test_an_edit_of_the_code_checks_again(project):
    project.write({"docs/index.md": page(NOTATION, display(EQUATION), SHOWN), "scratch/code.py": CODE})
    assert project.build().warnings == []
    built = project.write({"scratch/code.py": CODE.replace("gain * x /", "2 * gain * x /")}).build()

    assert "eq-rms" in built.warnings[0]
    assert "0 added, 0 changed, 0 removed" in built.log


def test_an_equation_is_worked_with_numbers_down_to_its_value(chapter):
    built = chapter(
        page(
            NOTATION,
            display(EQUATION),
            SHOWN,
            "\n```{worked} eq-rms\nx = [3.0, 4.0]\ngain = [1.0, 1.0]\nepsilon = 0.5\n```\n",
        ),
        CODE,
    )
    _, first_row, second_row = (block.astext() for block in built.doctree().findall(nodes.math_block))

    assert built.warnings == []
    assert first_row.splitlines()[-2] == "&= 0.8321"  # 3 / sqrt((9 + 16) / 2 + 0.5)
    assert second_row.splitlines()[-2] == "&= 1.1094"


def test_a_fraction_keeps_its_distance_from_the_row_below(chapter):
    work = "\n```{worked} eq-rms\n:index: i=1\n\nx = [3.0, 4.0]\ngain = [1.0, 1.0]\nepsilon = 0.5\n```\n"
    built = chapter(page(NOTATION, display(EQUATION), SHOWN, work), CODE)
    *_, block = (block.astext().splitlines()[1:-2] for block in built.doctree().findall(nodes.math_block))

    assert {"frac" in row or "sqrt" in row: row.rpartition("[")[2] for row in block} == {True: "11pt]", False: "3pt]"}


def test_one_element_is_worked_alone(chapter):
    body = ":index: i=2\n\nx = [3.0, 4.0]\ngain = [1.0, 1.0]\nepsilon = 0.5"
    built = chapter(page(NOTATION, display(EQUATION), SHOWN, f"\n```{{worked}} eq-rms\n{body}\n```\n"), CODE)
    _, only = (block.astext() for block in built.doctree().findall(nodes.math_block))

    assert built.warnings == []
    assert only.splitlines()[-2] == "&= 1.1094"


def test_on_another_page_the_equation_stands_above_its_numbers(project):
    work = "\n```{worked} eq-rms\n:index: i=1\n\nx = [3.0, 4.0]\ngain = [1.0, 1.0]\nepsilon = 0.5\n```\n"
    chapter = page(NOTATION, display(EQUATION), SHOWN)
    project.write({"docs/index.md": f"{chapter}\n{{doc}}`b`\n", "docs/b.md": f"# B\n{work}", "scratch/code.py": CODE})
    built = project.build()
    printed, worked = (block.astext() for block in built.doctree("b").findall(nodes.math_block))

    assert printed.splitlines()[1].startswith(r"\operatorname{rms}(x)_i &= g_i x_i")
    assert worked.splitlines()[-2] == "&= 0.8321"


def test_numbers_of_a_worked_equation_may_come_from_the_page(chapter):
    values = "x = row\ngain = np.ones(2)\nepsilon = 0.5"
    code = "\n```{live}\nrow = np.array([3.0, 4.0])\n```\n"
    built = chapter(page(NOTATION, display(EQUATION), SHOWN, code, f"\n```{{worked}} eq-rms\n{values}\n```\n"), CODE)

    assert built.warnings == []
    assert "1.1094" in list(built.doctree().findall(nodes.math_block))[-1].astext()


PLAIN = "\n```{formulas}\n:check: rms\n\nrms(x) = gain * x / sqrt(mean(x*x) + epsilon)   # a row\n```\n"


def test_formulas_in_plain_text_are_shown_as_they_stand_and_checked(chapter):
    built = chapter(page(NOTATION, PLAIN, SHOWN), CODE)
    block = next(block for block in built.doctree().findall(nodes.literal_block) if "rms(x)" in block.astext())

    assert built.warnings == []
    assert block.astext() == "rms(x) = gain * x / sqrt(mean(x*x) + epsilon)   # a row"


def marks_beside(built):
    """The links beside formulas in plain text."""
    boxes = [box for box in built.doctree().findall(nodes.container) if "scratchbook-checked" in box["classes"]]
    return [link for box in boxes for link in box.findall(nodes.reference)]


def test_a_mark_beside_formulas_in_plain_text_links_to_the_code_on_the_page(chapter):
    built = chapter(page(NOTATION, PLAIN, SHOWN), CODE, builder="html")
    (link,) = marks_beside(built)

    assert link.astext() == "✓ rms"
    assert "random draws; the gradient by x, g too" in link["reftitle"]
    assert f'id="{link["refuri"].partition("#")[2]}"' in built.file("index.html")


@pytest.mark.parametrize("builder", ["text", "man", "dummy"])
def test_where_nothing_can_stand_beside_an_equation_its_mark_stands_below(chapter, builder):
    built = chapter(page(NOTATION, display(EQUATION), PLAIN, SHOWN), CODE, builder=builder)
    files = {"text": "index.txt", "man": "book.1"}
    text = built.file(files[builder]) if builder in files else built.doctree().astext()

    assert text.count("✓ rms") == 2


def test_a_mark_in_a_book_of_one_file_leads_to_the_code(project):
    index = "# Book\n\n```{toctree}\nchapter\n```\n"
    files = {"docs/index.md": index, "docs/chapter.md": page(NOTATION, display(EQUATION), SHOWN)}
    shown = project.write({**files, "scratch/code.py": CODE}).build("singlehtml").file("index.html")

    (name,) = re.findall(r'class="equation-mark" href="#([^"]+)"', shown)
    assert f'id="{name}"' in shown


def test_excused_formulas_in_plain_text_have_no_mark(chapter):
    excused = PLAIN.replace(":check: rms", ":nocheck: it is a sketch")

    assert marks_beside(chapter(page(NOTATION, excused, SHOWN), CODE, builder="html")) == []


@pytest.mark.parametrize(("options", "said"), [(":nocheck:", "needs the reason"), (":nocheck: a\n:check: rms", "both")])
def test_an_excuse_of_formulas_needs_a_reason_and_no_check(chapter, options, said):
    built = chapter(page(NOTATION, PLAIN.replace(":check: rms", options), SHOWN), CODE)

    assert len(built.warnings) == 1
    assert said in built.warnings[0]


def test_a_wrong_formula_in_plain_text_is_told_at_its_line(chapter):
    built = chapter(page(NOTATION, PLAIN.replace("+ epsilon", "- epsilon"), SHOWN), CODE)

    assert len(built.warnings) == 1
    assert built.warnings[0].startswith("docs/index.md:12: WARNING: this equation: differs from rms(")


def test_empty_formulas_are_a_message(chapter):
    built = chapter(page("\n```{formulas}\n```\n"))

    assert built.warnings == [
        "docs/index.md:3: WARNING: {formulas} is empty: write lines such as H = X + F(X) in it [scratchbook.equation]"
    ]


def test_a_worked_equation_follows_the_state_of_its_page(chapter):
    states = "\n```{states} size\n3, 4\n```\n"
    work = "\n```{worked} eq-rms\n:index: i=1\n\nx = [float(size), 4.0]\ngain = [1.0, 1.0]\nepsilon = 0.5\n```\n"
    built = chapter(page(states, NOTATION, display(EQUATION), SHOWN, work), CODE)
    three, four = (block for block in built.doctree().findall(nodes.math_block) if "frac{1}{2}" in block.astext())

    assert built.warnings == []
    assert [block.parent["classes"][-1] for block in (three, four)] == ["scratchbook-state-1", "scratchbook-state-2"]
    assert [block.astext().splitlines()[-2] for block in (three, four)] == ["&= 0.8321", "&= 0.9847"]


def test_an_equation_that_fails_in_one_state_of_its_page_has_no_mark(chapter):
    states = "\n```{states} pet\ncat, dog\n```\n"
    broken = "\n```{live}\nif pet == 'dog':\n    rms.__code__ = (lambda x, gain, epsilon: gain * x).__code__\n```\n"
    built = chapter(page(states, NOTATION, display(EQUATION), SHOWN, broken), CODE, builder="html")

    assert "where pet = dog" in built.messages
    assert "0 checked, 0 excused, 1 failed" in built.log
    assert "equation-mark" not in built.file("index.html")


def test_an_equation_that_is_gone_is_told_where_it_is_worked(project):
    work = "# Work\n\n```{worked} eq-rms\nx = [3.0, 4.0]\ngain = [1.0, 1.0]\nepsilon = 0.5\n```\n"
    shown = page("\n```{toctree}\nwork\n```\n", NOTATION, display(EQUATION), SHOWN)
    project.write({"docs/index.md": shown, "docs/work.md": work, "scratch/code.py": CODE})
    assert project.build().warnings == []
    built = project.write({"docs/index.md": shown.replace("eq-rms", "eq-norm")}).build()

    assert built.warnings == [
        "docs/work.md:3: WARNING: no equation 'eq-rms' to work; the book has eq-norm [scratchbook.equation]"
    ]


def test_a_label_that_two_equations_have_is_named_once(chapter):
    twice = display("a = b", ":label: eq-a\n:nocheck: x") * 2
    keys, work = "\n:::{key-equations}\neq-b\n:::\n", "\n```{worked} eq-b\nx = 1\n```\n"
    built = chapter(page(twice, keys, work))

    told = [text.partition("; ")[2] for text in built.warnings if "no equation 'eq-b'" in text]
    assert told == ["the book has eq-a [scratchbook.equation]"] * 2


@pytest.mark.parametrize(
    ("digits", "told"),
    [("-1", "it must be a whole number of digits, 0 or more"), ("99", "there can be 12 digits at most")],
)
def test_digits_that_no_number_has_are_told(chapter, digits, told):
    work = f"\n```{{worked}} eq-rms\n:digits: {digits}\n\nx = [3.0, 4.0]\n```\n"
    built = chapter(page(NOTATION, display(EQUATION), SHOWN, work), CODE)

    assert f"option 'digits' of {{worked}} is '{digits}': {told}" in built.messages


def test_an_unknown_label_to_work_is_told(chapter):
    built = chapter(page(display("a = b", ":label: eq-a\n:nocheck: x"), "\n```{worked} eq-b\nx = 1\n```\n"))

    assert built.warnings == [
        "docs/index.md:10: WARNING: no equation 'eq-b' to work; the book has eq-a [scratchbook.equation]"
    ]
