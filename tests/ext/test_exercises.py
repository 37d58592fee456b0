"""{exercise} and what belongs to it: numbers, stars, references, lists, and code that is judged."""

import re

import pytest
from docutils import nodes

EXERCISE = """
:::::{exercise} How wide
:name: ex-wide
:kind: count
:stars: 2

Task.

```{starter}
x = 0
```

```{check}
x == 3
```

:::{hint}
Look.
:::

:::{solution}
```python
x = 3
```
:::
:::::
"""
TOCTREE = (
    "# Book\n\n{ref}`ex-wide`, {numref}`ex-wide`, {ref}`that one <ex-wide>`.\n\n```{toctree}\n:numbered:\n\na\nb\n```\n"
)


def facts(built):
    return [warning.partition(": WARNING: ")[2] for warning in built.warnings]


def titles(built, docname="index"):
    return [box[0].astext() for box in built.doctree(docname).findall(nodes.admonition) if "box" in box["classes"]]


def test_an_exercise_has_a_number_a_title_stars_in_words_and_a_kind(chapter):
    built = chapter(f"# Book\n{EXERCISE}")

    assert titles(built)[0] == "Exercise 1. How wide ★★☆ (difficulty 2 of 3) count"
    assert built.warnings == []


def test_in_html_the_stars_are_words_that_the_style_sheet_draws(chapter):
    html = chapter(f"# Book\n{EXERCISE}", builder="html").file("index.html")

    assert '<span class="stars stars-2">difficulty 2 of 3</span>' in html
    assert "★" not in html


def test_exercises_are_numbered_by_chapter_and_referred_to_by_number(project):
    first = "# A\n\n:::{exercise}\nFirst.\n:::\n"
    built = project.write({"docs/index.md": TOCTREE, "docs/a.md": first, "docs/b.md": f"# B\n{EXERCISE}"}).build()

    assert built.warnings == []
    assert "Exercise 2.1, Exercise 2.1, that one." in built.text("index")
    assert titles(built, "a") == ["Exercise 1.1"]


@pytest.mark.parametrize("numfig", [True, False])
def test_a_reference_leads_to_its_exercise(project, numfig):
    built = project.write({"docs/index.md": TOCTREE, "docs/a.md": "# A\n", "docs/b.md": f"# B\n{EXERCISE}"})

    html = built.build("html", numfig=numfig).file("index.html")
    assert '<a class="reference internal" href="b.html#ex-wide"><span>Exercise 2.1</span></a>' in html


def test_hints_and_solutions_fold_within_their_exercise(chapter):
    html = chapter(f"# Book\n{EXERCISE}", builder="html").file("index.html")

    assert re.findall(r"<summary[^>]*>(\w+)</summary>", html) == ["Hint", "Solution"]


def test_a_solution_far_away_names_its_exercise(project):
    far = "# A\n\n:::{solution} ex-wide\nThree.\n:::\n"
    built = project.write({"docs/index.md": TOCTREE, "docs/a.md": far, "docs/b.md": f"# B\n{EXERCISE}"}).build()

    assert titles(built, "a") == ["Solution to Exercise 2.1"]


def test_a_solution_of_no_exercise_lists_the_labels_there_are(chapter):
    built = chapter(f"# Book\n{EXERCISE}\n:::{{solution}} ex-wode\nThree.\n:::\n")

    assert facts(built) == ["there is no exercise 'ex-wode'; there are ex-wide [scratchbook.exercise]"]


def test_a_solution_of_no_exercise_says_that_none_has_a_label(chapter):
    built = chapter("# Book\n\n::::{exercise} A\n\nWhy?\n\n:::{solution} ex-a\nSo.\n:::\n::::\n")

    assert facts(built) == ["there is no exercise 'ex-a'; there are none with a label [scratchbook.exercise]"]


def test_a_mended_label_is_told_no_more(project):
    project.write({"docs/index.md": f"# Book\n{EXERCISE}\n:::{{solution}} ex-wode\nThree.\n:::\n"}).build()
    mended = project.write({"docs/index.md": f"# Book\n{EXERCISE}\n:::{{solution}} ex-wide\nThree.\n:::\n"}).build()

    assert mended.warnings == []


def test_a_solution_nowhere_says_where_it_may_stand(chapter):
    (found,) = facts(chapter("# Book\n\n:::{solution}\nThree.\n:::\n"))

    assert found.startswith(
        "{solution} stands in no exercise: move it into one or write the exercise's label behind it"
    )


def test_an_ordinary_hint_stays_what_docutils_makes_of_it(chapter):
    built = chapter("# Book\n\n:::{hint}\nLook.\n:::\n\n:::{hint} Look here.\n:::\n")

    assert [node.astext() for node in built.doctree().findall(nodes.hint)] == ["Look.", "Look here."]
    assert built.warnings == []


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        (":stars: 2", ":stars: 4", "option 'stars' of {exercise} is '4': it must be 1 to 3"),
        (":stars: 2", ":stars: two", "option 'stars' of {exercise} is 'two': it must be a whole number"),
        (":kind: count", ":kind: guess", "option 'kind' of {exercise} is 'guess': it must be one of explain, derive"),
        ("x = 0", "x = 3", "the starter of exercise 'ex-wide' passes the check already: leave something to do"),
        ("x = 0", "x = 0)", "the starter of exercise 'ex-wide' is no Python: SyntaxError: unmatched ')'"),
        ("x = 3", "x = 4", "the solution of exercise 'ex-wide' does not pass its check: the sides are 4 and 3; mend "),
        ("x = 3", "x = y", "the solution of exercise 'ex-wide' ends with NameError: name 'y' is not defined"),
        (
            "```{check}\nx == 3\n```",
            "",
            "exercise 'ex-wide' has a {starter} and no {check}: nobody knows when it is done",
        ),
        ("```python\nx = 3\n```", "Three.", "exercise 'ex-wide' has a {check} and no {solution} with Python in it; "),
    ],
)
def test_an_exercise_that_cannot_be_right_is_one_message(chapter, old, new, fact):
    (found,) = facts(chapter(f"# Book\n{EXERCISE.replace(old, new)}"))

    assert found.startswith(fact)


def test_a_check_may_be_an_expression_over_several_lines(chapter):
    check = "x == 3  # the first\nand x > 2  # the second"

    assert chapter(f"# Book\n{EXERCISE.replace('x == 3', check)}").warnings == []
    (fact,) = facts(chapter(f"# Book\n{EXERCISE.replace('x == 3', check).replace('x = 3', 'x = 4')}"))
    assert fact.startswith("the solution of exercise 'ex-wide' does not pass its check: mend the one or the other")


def test_an_unfulfilled_check_shows_no_traceback_of_ours(chapter):
    built = chapter(f"# Book\n{EXERCISE.replace('x = 3', 'x = 4')}")

    assert "Traceback" not in built.messages


def test_a_failing_solution_is_told_at_its_own_line(chapter):
    (warning,) = chapter(f"# Book\n{EXERCISE.replace('x = 3', 'x = y')}").warnings

    assert warning.startswith("docs/index.md:24: ")


SOLVED = ":::{solution}\n```python\nx = 3\n```\n:::\n"


def far(code):
    return f":::{{solution}} ex-wide\n```python\n{code}\n```\n:::\n"


@pytest.mark.parametrize(
    "exercise", [EXERCISE, EXERCISE.replace(SOLVED, "")], ids=["solved within too", "solved here only"]
)
def test_a_solution_away_from_its_exercise_is_run(chapter, exercise):
    assert chapter(f"# Book\n{exercise}\n{far('x = 3')}").warnings == []


def test_a_wrong_solution_away_from_its_exercise_is_told_at_its_own_line(project):
    pages = {"docs/a.md": f"# A\n{EXERCISE.replace(SOLVED, '')}", "docs/b.md": f"# B\n\n{far('x = y')}"}
    (warning,) = project.write({"docs/index.md": TOCTREE, **pages}).build().warnings

    assert warning.startswith(
        "docs/b.md:5: WARNING: the solution of exercise 'ex-wide' ends with NameError: name 'y' is"
    )


def test_a_solution_away_from_its_exercise_uses_the_page_of_the_exercise(project):
    before = "# A\n\n```{live}\n:no-output: it only prepares\n\nthree = 3\n```\n"
    pages = {"docs/a.md": before + EXERCISE, "docs/b.md": f"# B\n\n{far('x = three')}"}

    assert project.write({"docs/index.md": TOCTREE, **pages}).build().warnings == []


def test_a_changed_solution_away_from_its_exercise_is_run_again(project):
    pages = {"docs/a.md": f"# A\n{EXERCISE}", "docs/b.md": f"# B\n\n{far('x = 3')}"}
    project.write({"docs/index.md": TOCTREE, **pages}).build()
    wrong = project.write({"docs/b.md": f"# B\n\n{far('x = 4')}"}).build()
    mended = project.write({"docs/b.md": f"# B\n\n{far('x = 3')}"}).build()

    (fact,) = facts(wrong)
    assert fact.startswith("the solution of exercise 'ex-wide' does not pass its check")
    assert mended.warnings == []


def test_a_check_may_be_several_statements_and_use_the_page(chapter):
    check = "```{check}\nfor value in values:\n    assert x + value == 3 + value\n```"
    page = "# Book\n\n```{live}\n:no-output: it only prepares\n\nvalues = [1, 2]\n```\n"
    built = chapter(page + EXERCISE.replace("```{check}\nx == 3\n```", check))

    assert built.warnings == []


def test_the_code_of_an_exercise_never_changes_the_page(chapter):
    built = chapter(f"# Book\n{EXERCISE}\n```{{live}}\nx = 7\nprint(x)\n```\n")

    assert built.warnings == []
    assert "7" in built.text()


def test_the_list_of_exercises_has_all_of_the_book_in_its_order(project):
    pages = {
        "docs/b.md": "# B\n\n:::{exercise} Late\nDo.\n:::\n\n```{exercises}\n```\n",
        "docs/a.md": f"# A\n{EXERCISE}",
    }
    built = project.write({"docs/index.md": TOCTREE, **pages}).build()

    (place,) = [node for node in built.doctree("b").findall(nodes.container) if "exercise-list" in node["classes"]]
    assert place.astext().split("\n\n") == [
        "1. A",
        "Exercise 1.1. How wide (count, difficulty 2 of 3)",
        "2. B",
        "Exercise 2.1. Late",
    ]


def test_the_list_of_exercises_leads_to_each_chapter_and_follows_its_title(project):
    pages = {"docs/b.md": "# B\n\n```{exercises}\n```\n", "docs/a.md": f"# A\n{EXERCISE}"}
    project.write({"docs/index.md": TOCTREE, **pages})
    assert '<a class="reference internal" href="a.html"><span>1. A</span></a></p>' in project.build("html").file(
        "b.html"
    )
    project.write({"docs/a.md": f"# Anew\n{EXERCISE}"})

    assert "<span>1. Anew</span></a></p>" in project.build("html").file("b.html")


def test_on_the_site_the_list_of_exercises_shows_stars(project):
    page = f"# A\n{EXERCISE}\n```{{exercises}}\n```\n"
    pages = {"docs/index.md": TOCTREE, "docs/a.md": page, "docs/b.md": "# B\n"}
    html = project.write(pages).build("html").file("a.html")

    listed = html[html.index('<p class="exercise-list-chapter">') :].partition("</li>")[0]
    assert '<span class="stars stars-2">difficulty 2 of 3</span>' in listed


def test_on_paper_solutions_stand_at_the_end_of_their_chapter(project):
    page = f"# A\n{EXERCISE}\nThe last sentence.\n"
    built = project.write({"docs/index.md": TOCTREE, "docs/a.md": page, "docs/b.md": "# B\n\nBeyond.\n"}).build("latex")

    (tex,) = [path.read_text("utf-8") for path in built.app.outdir.glob("*.tex")]
    order = [tex.index(text) for text in ("Task.", "The last sentence.", "Solution to Exercise 1.1", "Beyond.")]
    assert order == sorted(order)


@pytest.mark.parametrize(
    "builder", ["html", "dirhtml", "singlehtml", "epub", "latex", "text", "man", "texinfo", "gettext"]
)
def test_exercises_stand_in_every_builder(chapter, builder):
    built = chapter(f"# Book\n{EXERCISE}\n```{{exercises}}\n```\n", builder=builder)

    assert [warning for warning in built.warnings if "epub" not in warning] == []


def test_a_page_is_written_again_when_the_number_of_an_exercise_that_it_names_has_changed(project):
    project.write({"docs/index.md": TOCTREE, "docs/a.md": "# A\n", "docs/b.md": f"# B\n{EXERCISE}"}).build("html")
    project.write({"docs/b.md": f"# B\n\n:::{{exercise}}\nBefore.\n:::\n{EXERCISE}"})

    assert "Exercise 2.2" in project.build("html").file("index.html")


def test_serial_and_parallel_builds_number_the_same(project):
    pages = {f"docs/p{n}.md": f"# P{n}\n{EXERCISE.replace('ex-wide', f'ex-{n}')}\n{{ref}}`ex-3`\n" for n in range(6)}
    toctree = "# Book\n\n```{toctree}\n:numbered:\n\n" + "\n".join(f"p{n}" for n in range(6)) + "\n```\n"
    project.write({**pages, "docs/index.md": toctree})
    serial = project.build("html")
    texts = [serial.file(f"p{n}.html") for n in range(6)]
    project.clean()
    parallel = project.build("html", jobs=2)

    assert [parallel.file(f"p{n}.html") for n in range(6)] == texts
