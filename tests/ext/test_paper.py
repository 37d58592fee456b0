"""The book on paper: every box, label, number and work stands in the LaTeX, and in the PDF where LaTeX is there."""

import re
import subprocess

import pytest

from scratchbook.typesetting import losses, missing_packages, typeset

PAGE = r"""
# Chapter

```{states} pet
cat, dog
```

See {ref}`ex-count` and {eq}`eq-sum`. ★ is a star, and ✓ a check. A {value}`pet` sits.

```{math}
:label: eq-sum

s = \sum_i x_i \lt \vx
```

:::{key-equations}
eq-sum
:::

```{notation}
x: scalar -- a number
```

```{math}
:label: eq-scale
:check: scale

\operatorname{scale}(x) = 3 x
```

$$
\begin{align}
u &= 1 \nonumber \\
v &= 2
\end{align}
$$

$$
\begin{aligned} w &= 1 \\ &= 2 \end{aligned} \tag{*}
$$

\begin{gather*}
u = 3 \tag{first} \\
v = 4 \tag{second}
\end{gather*}

\begin{align}
u &= 5 \\
v &= 6
\end{align}

```{math}
:label: eq-last

z = 7
```

**Listings**

```{live} code.py
:tag: scale
:name: code-scale
:caption: A region

print(scale(len(pet)), pet)
```

```{live}
:figure: A rising line.
:caption: Drawn
:name: fig-line

import matplotlib.pyplot as plt

figure, axis = plt.subplots(figsize=(3, 2))
axis.plot([0, 1])
```

```{figure} drawing.svg
:alt: A box.

By hand.
```

::::{teach}
**One sentence.** One.

**Analogy.** Two.

**At the board.**

1. Three.

**Misconceptions.**

- Four, and `a_long_name_in_code`.

  ```{live}
  print("in a list")
  ```

**Check.** Five?

:::{solution}
Six.
:::
::::

:::{question} Why?
Because.
:::

::::{exercise} Count
:name: ex-count
:stars: 2
:kind: count

How many?

```{starter}
n = ...
```

```{check}
n == 3
```

:::{solution}
```python
n = 3
```
:::
::::

::::{quiz} Which?
- [x] This

  Right so.
- [ ] That

  No.
::::

:::{in-practice} In practice
Use it.
:::
"""
CODE = """
# tag::scale[]
def scale(x):
    return 3 * x
# end::scale[]
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20" fill="none"/></svg>'
SETTINGS = {
    "latex_engine": "xelatex",
    "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath"],
    "scratchbook_macros": {"vx": r"\mathbf{x}"},
    "numfig": True,
}


@pytest.fixture(scope="module")
def book(module_project):
    module_project.settings = SETTINGS
    module_project.write({"docs/index.md": PAGE, "scratch/code.py": CODE, "docs/drawing.svg": SVG})
    return module_project.build("latex")


@pytest.fixture(scope="module")
def tex(book):
    return book.file("book.tex")


def environment(tex, name, prefix="scratchbook-"):
    return re.search(rf"\\begin{{sphinxuseclass}}{{{prefix}{name}}}(.*?)\\end{{sphinxuseclass}}", tex, re.DOTALL)[1]


@pytest.mark.parametrize("kind", ["teach", "question", "exercise", "quiz", "in-practice", "key-equations", "solution"])
def test_each_box_is_an_environment_of_its_kind_with_its_title(tex, kind):
    assert r"\DUrole{scratchbook-title}{" in environment(tex, kind)


def test_an_exercise_can_be_referred_to(tex):
    assert r"\label{\detokenize{index:ex-count}}" in tex
    assert r"\hyperref[\detokenize{index:ex-count}]" in tex


def test_stars_and_kind_stand_in_the_title(tex):
    title = environment(tex, "exercise").partition("\n\n")[0]

    assert r"\(\star\star\)" in title
    assert "difficulty 2 of 3" in title
    assert r"\DUrole{exercise-kind}{count}" in title


def test_a_repeated_equation_has_its_number_beside_it(tex):
    assert r"\tag{\ref{equation:index:eq-sum}}\end{equation*}" in environment(tex, "key-equations")


def test_an_environment_of_rows_has_one_number_or_none_as_on_the_page(book, tex):
    displays = re.findall(r"\\begin\{(?:equation|align|gather)(\*?)\}", tex)

    assert displays == ["", "*", "", "*", "*", "*", "", ""]
    assert displays.count("") == book.app.env.domains.math_domain.get_equation_number_for("eq-last")


def test_a_box_is_one_environment_and_not_one_for_each_of_its_classes(tex):
    assert r"\begin{sphinxuseclass}{box}" not in tex


def test_what_an_equation_was_checked_against_stands_below_it_on_the_same_page(tex):
    mark = environment(tex[tex.index(r"\bookmarked") :], "equation-mark", prefix="")

    assert tex.index(r"\bookmarked") < tex.index(r"\label{equation:index:eq-scale}") < tex.index("{equation-mark}")
    assert re.search(r"\\hyperref\[\S*listing-index-code-scale\S*\].* scale", mark, re.DOTALL)


def test_a_line_in_bold_stays_with_what_it_leads_to(tex):
    assert re.search(r"\\sphinxstylestrong{Listings}\s*\\nopagebreak", tex), tex[tex.index("{Listings}") - 60 :][:200]


def test_a_table_as_high_as_a_page_goes_on_over_it_in_columns_as_wide_as_their_words(chapter):
    row = "| `scratchbook_some_setting` | 1 | " + "words and " * 20 + "|\n"
    built = chapter("# Book\n\n| a | b | c |\n| --- | --- | --- |\n" + 20 * row, builder="latex")
    widths = re.search(r"\\begin{longtable}{(.*)}", built.file("book.tex"))[1]

    first, second, third = (int(width) for width in re.findall(r"\\X{(\d+)}", widths))
    assert second < first < third


def test_a_table_higher_than_half_a_page_goes_on_over_it_too(chapter):
    built = chapter("# Book\n\n| a | b |\n| --- | --- |\n" + 26 * "| 1 | 2 |\n", builder="latex")

    assert "longtable" in built.file("book.tex").partition("begin{document}")[2]


def test_a_low_table_stays_whole(chapter):
    built = chapter("# Book\n\n| a | b |\n| --- | --- |\n" + 20 * "| 1 | 2 |\n", builder="latex")

    assert "longtable" not in built.file("book.tex").partition("begin{document}")[2]


def test_solutions_stand_in_a_section_at_the_end_of_the_chapter(tex):
    end = tex[tex.index(r"{Hints and solutions}") :]

    assert "Solution to Exercise" in end
    assert r"\PYG{n}{n} \PYG{o}{=} \PYG{l+m+mi}{3}" in end
    assert "Six." not in end  # the answer of the teach box stays in it


def test_states_are_labelled(tex):
    assert "computed for each pet: cat, dog." in tex
    for state in ("pet = cat", "pet = dog"):
        assert re.search(rf"{{scratchbook-state-name}}\s*\\sphinxAtStartPar\s*{state}", tex)


def test_a_figure_with_a_caption_needs_no_label_of_an_output(tex):
    before = tex[: tex.index(r"\caption{Drawn}")]

    assert r"\begin{sphinxuseclass}{scratchbook-drawn}" in before
    assert "scratchbook-output" not in before[before.rindex("scratchbook-drawn") :]


def test_a_drawing_by_hand_is_there_as_pdf(book, tex):
    assert r"\sphinxincludegraphics{{drawing}.pdf}" in tex


def test_a_sign_that_only_katex_knows_is_defined(tex):
    assert r"\providecommand{\lt}{<}" in tex


def test_a_macro_of_the_settings_is_defined(tex):
    assert r"\renewcommand{\vx}{\mathbf{x}}" in tex


def test_what_a_page_prints_cannot_break_the_tex(chapter):
    built = chapter("# Book\n\n```{live}\nprint('\\x1b[31mred\\x1b[0m\\a \\\\end{document}')\n```\n", builder="latex")

    text = built.file("book.tex")
    assert [letter for letter in text if ord(letter) < 32 and letter not in "\n\t"] == []
    assert r"\PYGZbs{}end\PYGZob{}document\PYGZcb{}" in text or r"\textbackslash{}end\{document\}" in text


@pytest.mark.skipif(bool(missing_packages()), reason="LaTeX is missing: make pdf names the packages")
def test_the_pdf_loses_nothing(book, tex, tmp_path):
    pdf, log = typeset(book.app.outdir)

    assert list(losses(log)) == []
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    expected = ["★", "✓", "pet = dog", "Hints and solutions", "Listing 1", "Fig. 1", "Right so."]
    for words in (*expected, "A cat (pet = dog: dog) sits"):
        assert words in text, words
    lines = text.splitlines()
    in_list, in_box = (next(line for line in lines if words in line) for words in ('print("in a list")', "Analogy."))
    assert in_list.index("print") > in_box.index("Analogy.")


@pytest.mark.parametrize("drawing", ["<svg", '<svg xmlns="http://www.w3.org/2000/svg"/>'])
def test_a_drawing_that_paper_cannot_have_is_its_words_and_told(project, drawing):
    page = "# Book\n\n```{image} drawing.svg\n:alt: A box.\n```\n\nAnd ![words](drawing.svg) within a sentence.\n"
    built = project.write({"docs/index.md": page, "docs/drawing.svg": drawing}).build("latex")

    assert len(built.warnings) == 2
    assert all("WARNING: drawing.svg cannot be drawn on paper: " in line for line in built.warnings)
    assert (built.warnings[0].partition(" ")[0], built.status) == ("docs/index.md:3:", 1)
    assert re.search(r"A box\.\S*\s+\\sphinxAtStartPar\s+And \S*words\S*\s+within", built.file("book.tex"))


def test_a_drawing_without_a_converter_is_its_words_and_told(project, monkeypatch):
    monkeypatch.setenv("PATH", "nowhere")
    page = "# Book\n\n```{image} drawing.svg\n:alt: A box.\n```\n"
    built = project.write({"docs/index.md": page, "docs/drawing.svg": SVG}).build("latex")

    (warning,) = built.warnings
    assert "docs/index.md:3: WARNING: rsvg-convert is missing, so this drawing is left out of the PDF" in warning
    assert "{[}A box.{]}" in built.file("book.tex")
