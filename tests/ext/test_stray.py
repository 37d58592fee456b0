"""Markup that the parser takes for words: each is told at its line, and what is meant as words is not."""

import pytest

END = "and stands on the page as it is;"
TICK = "close its backtick"
# markdown below the title -> line, what it names, and what to do
STRAY = {
    "open": ("First\nand {value}`x.mean", 4, "'{value}' is no role here", TICK),
    "open in emphasis": ("First\n*and\n{claim}`x*", 5, "'{claim}' is no role here", TICK),
    "of others": ("See {ref}`there.", 3, "'{ref}' is no role here", TICK),
    "pipe": (
        "| a | b |\n| - | - |\n| 1 | 2 |\n| {value}`1|2` | 3 |", 6, "'{value}' is no role here",
        "close its backtick, and write | as \\| in a table",
    ),
    "formula": ("It is $a + {value}`x`$.", 3, "'{value}' is no role here", "a formula has no roles"),
    "markup of another kind": ("<div>\n{value}`x`\n</div>", 4, "'{value}' is no role here", TICK),
    "blank": ("It is {value} `x`.", 3, "'{value}' is no role here", "write {value} with the backtick right behind it"),
    "blanks": ("It is { value }`x`.", 3, "'{ value }' is no role here", "write {value} with the backtick"),
    "other style": ("It is :claim:`x`.", 3, "':claim:' is no role here", "write {claim} with the backtick"),
    "in other markup": ("```{eval-rst}\nIt is {value}`x`.\n```", 4, "'{value}' is no role here", TICK),
    "fence": (
        "```{admonition} The `x`\nWords\n```", 3, "'```{admonition}' begins no block here",
        "begin a line with it, write no backtick behind it, and enable colon_fence for one of colons",
    ),
    "torn formula": ("| a | b |\n| - | - |\n| $P(A|B)$ | 2 |", 5, "'$P(A' is torn", "write | as \\| in a table"),
    "torn code": ("| a | b |\n| - | - |\n| 1 | 2 |\n| `a|b` | 2 |", 6, "'`a' is torn", "write | as \\| in a table"),
    "fence in a table": ("| a |\n| - |\n| ```{live} |", 5, "'```{live}' begins no block here", "begin a line with it"),
}  # fmt: skip


@pytest.mark.parametrize("name", STRAY)
def test_markup_that_became_words_is_told_at_its_line(chapter, name):
    text, line, fact, choice = STRAY[name]
    built = chapter(f"# Book\n\n{text}\n")

    (warning,) = built.warnings
    between = " in two, since a cell ends at |;" if "torn" in name else f" {END}"
    assert warning.startswith(f"docs/index.md:{line}: WARNING: {fact}{between} {choice}")
    assert built.status == 1


def test_a_box_of_colons_is_told_where_the_project_has_none(chapter):
    built = chapter("# Book\n\n:::{note}\nWords\n:::\n", myst_enable_extensions=[])

    (warning,) = built.warnings
    assert warning.startswith("docs/index.md:3: WARNING: ':::{note}' begins no block here")


HEAD = "is no directive; write its name within braces without a blank, and a blank behind them"


@pytest.mark.parametrize("name", ["live", "note"])
def test_a_directive_of_other_markup_is_told_at_its_line(chapter, name):
    (warning,) = chapter(f"# Book\n\nFirst\n\n.. {name}::\n\n   x = 1\n").warnings

    assert warning == (
        f"docs/index.md:5: WARNING: '.. {name}::' begins no block in Markdown {END} write ```{{{name}}} on a line, its "
        "content, and ``` below [scratchbook.markup]"
    )


DISPLAY = "'$$' begins and ends no display here and stands on the page as it is; enable dollarmath, and end each "
LATEX = (
    "begins no display here and stands on the page as it is; write $$ around it, or enable amsmath and begin a "
    "paragraph with it"
)
MISSPELT = {
    "no blank": ("```{live}print(1)\n```", 3, f"'```{{live}}print(1)' {HEAD}"),
    "blanks within": ("```{ live }\nprint(1)\n```", 3, f"'```{{' {HEAD}"),
    "colons": ("Words.\n\n:::{note}x\nWords\n:::", 5, f"':::{{note}}x' {HEAD}"),
    "no braces": ("```live\nprint(1)\n```", 3, "'```live' is code in a language that nobody knows; write ```{live}"),
    "never ended": ("First\n\n$$\nx = 1\n\nMore.", 5, f"{DISPLAY}display with $$ before the next begins"),
    "of LaTeX": ("First\n\\begin{align*}\na &= 1\n\\end{align*}", 4, f"'\\begin{{align*}}' {LATEX}"),
    "ended once too often": ("$$\nx\n\nMore.\n\n$$\ny\n$$", 10, f"{DISPLAY}display with $$ before the next begins"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSPELT)
def test_a_head_that_begins_no_directive_or_display_is_told_at_its_line(project, name):
    text, line, said = MISSPELT[name]
    project.write({"docs/index.md": f"# Book\n\n{text}\n"})

    assert project.build("html").warnings == [f"docs/index.md:{line}: WARNING: {said} [scratchbook.markup]"]


OPTIONS = {
    "picture": "```{image} a.png\n:alt: of {value}`x`\n```",
    "figure": "```{live}\n:figure: of {value}`x`\n'<svg xmlns=\"http://www.w3.org/2000/svg\"/>'\n```",
    "contents": "```{toctree}\n:caption: all {value}`x`\n\nself\n```",
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_role_in_a_plain_option_is_told(project, name):
    project.write({"docs/a.png": b"\x89PNG", "docs/index.md": f"# Book\n\n{OPTIONS[name]}\n"})

    assert project.build().warnings == [
        "docs/index.md:3: WARNING: '{value}' is no role in a text that is not typeset, such as :alt:; write its words "
        "there [scratchbook.markup]"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Beside .. note:: or\n.. nothing:: of ours, `.. live::`\n\n```rst\n.. live::\n```",
        "Written `` {value}`x` `` with {value}`1 + 1`.",
        "````markdown\n{value}`x and\n```{live}\n````",
        "% {value}`x\n\n<!-- {value}`x -->",
        "```python\nx\n```\n\n```text\nx\n```\n\n```\nx\n```\n\n:::aside\nx\n:::",
        "$$\nx\n$$\n\n$$x$$ and $$y$$, `$$`.\n\n- $$\n  x\n  $$",
        "`\\begin{align}`, $\\begin{pmatrix}1\\end{pmatrix}$\n\n```{raw} latex\n\\begin{center}\\end{center}\n```",
        "The set {value} of {x}, of `{y}` and $\\{value\\}$.",
        "| a |\n| - |\n| {value}`1\\|2` |",
        "| a | b | c |\n| - | - | - |\n| $P(A\\|B)$ | `a\\|b` | 2 |\n| \\$5 | costs $10 | $20 |\n| 5$ | 7$ | $x$ |",
    ],
)
def test_what_is_shown_and_not_meant_is_left_alone(chapter, text):
    assert chapter(f"# Book\n\n{text}\n").messages == ""
