"""{teach}, {in-practice}, {question} and {quiz}: boxes in every builder, and messages for what they miss."""

import re

import pytest
from docutils import nodes

TEACH = """
# Book

::::{teach}
**In one sentence:** It scales $x$.

**Analogy.** A knob.

**At the board.**

1. Draw it.

**Common misconceptions.**

* *"It centres."* No.

**Check for understanding.** What stays?

:::{solution}
The direction.
:::
::::
"""
QUIZ = """
# Book

::::{quiz} Which scale a *row*?
- [x] RMSNorm

  By its root mean square.
- [ ] Addition

  It adds.
::::
"""


def boxes(built, kind):
    return [box for box in built.doctree().findall(nodes.admonition) if kind in box["classes"]]


def facts(built):
    return [warning.partition(": WARNING: ")[2] for warning in built.warnings]


def test_a_whole_teach_box_has_its_five_lead_ins_in_the_words_of_all_books(chapter):
    built = chapter(TEACH)

    (box,) = boxes(built, "teach")
    lead_ins = [node.astext() for node in box.findall(nodes.strong) if "lead-in" in node["classes"]]
    assert lead_ins == ["One sentence.", "Analogy.", "At the board.", "Misconceptions.", "Check."]
    assert built.warnings == []


def test_the_answer_of_a_teach_box_folds(chapter):
    html = chapter(TEACH, builder="html").file("index.html")

    answer = html[html.index("<details") : html.index("</details>")]
    assert re.search(r"<summary[^>]*>Answer</summary>", answer)
    assert "The direction." in answer


@pytest.mark.parametrize(
    ("lost", "fact"),
    [
        ("**In one sentence:**", "{teach} has no part 'One sentence': begin one with **One sentence.**"),
        ("**Analogy.**", "{teach} has no part 'Analogy': begin one with **Analogy.**"),
        ("**At the board.**\n\n", "{teach} has no part 'At the board': begin one with **At the board.**"),
        ("1. Draw it.", "the part 'At the board' of {teach} needs an ordered list (1. 2. 3.)"),
        ('* *"It centres."* No.', "the part 'Misconceptions' of {teach} needs a bulleted list"),
        (
            ":::{solution}\nThe direction.\n:::",
            "the part 'Check' of {teach} has no answer: put {solution} below the question",
        ),
    ],
)
def test_a_teach_box_says_what_it_misses(chapter, lost, fact):
    built = chapter(TEACH.replace(lost, ""))

    assert facts(built) == [f"{fact} [scratchbook.exercise]"]
    assert built.status == 1


def test_all_parts_that_a_teach_box_misses_are_one_message(chapter):
    built = chapter("# Book\n\n::::{teach}\n**One sentence.** Words.\n\n**Analogy.** Words.\n::::\n")

    assert facts(built) == [
        "{teach} has no parts 'At the board', 'Misconceptions' and 'Check': begin the first with **At the board.** "
        "[scratchbook.exercise]"
    ]


def test_a_part_of_the_wrong_form_is_told_at_its_line(chapter):
    (warning,) = chapter(TEACH.replace("1. Draw it.", "Draw it.")).warnings

    assert warning.startswith("docs/index.md:8: ")


def test_the_parts_of_a_teach_box_stand_in_one_order(chapter):
    swapped = TEACH.replace("**Analogy.** A knob.", "").replace(
        ":::{solution}", "**Analogy.** A knob.\n\n:::{solution}"
    )

    assert "{teach} stand in the order One sentence, Analogy" in "\n".join(facts(chapter(swapped)))


def test_a_note_from_practice_has_any_title(chapter):
    built = chapter("# Book\n\n:::{in-practice} At *work*, with $x$\nText.\n:::\n")

    (box,) = boxes(built, "in-practice")
    assert box[0].astext() == "At work, with x"
    assert len(list(box[0].findall(nodes.math))) == 1


def test_a_question_folds_its_answer(chapter):
    html = chapter("# Book\n\n:::{question} Why *so*?\nBecause.\n:::\n", builder="html").file("index.html")

    assert re.search(r"<details[^>]*>\n<summary[^>]*>Why <em>so</em>\?</summary>\n<p>Because.</p>\n</details>", html)


@pytest.mark.parametrize(
    ("markdown", "fact"),
    [
        (":::{question}\nBecause.\n:::", "{question} needs the question behind it and the answer in it"),
        (":::{question} Why?\n:::", "{question} is empty: write the answer in it"),
        (":::{in-practice}\n:::", "{in-practice} is empty: say in it how the idea is used"),
        (":::{quiz} Which?\nNone.\n:::", "{quiz} has no options: list them as - [x] right and - [ ] wrong"),
        (":::{quiz} Which?\n- right\n:::", "an option of {quiz} begins with [x] or [ ], not 'right'"),
        (":::{quiz} Which?\n- [ ] a\n\n  No.\n:::", "{quiz} marks 0 options as right with [x]"),
        (":::{quiz} Which?\n- [x] a\n:::", "the option 'a' of {quiz} has no explanation: write one below it"),
        (":::{in-practice}\n:colour: red\n\nText.\n:::", "{in-practice} has no option 'colour'"),
    ],
)
def test_a_box_that_says_too_little_is_one_message(chapter, markdown, fact):
    (found,) = facts(chapter(f"# Book\n\n{markdown}\n"))

    assert found.startswith(fact)


def test_a_box_that_failed_keeps_the_authors_text_on_the_page(chapter):
    assert "None of these." in chapter("# Book\n\n:::{quiz} Which?\nNone of these.\n:::\n").text()


def test_each_option_of_a_quiz_opens_to_its_explanation(chapter):
    html = chapter(QUIZ, builder="html").file("index.html")

    assert re.search(r"<summary[^>]*>RMSNorm</summary>\n<p><strong[^>]*>Right.</strong> By its root", html)
    assert re.search(r"<summary[^>]*>Addition</summary>\n<p><strong[^>]*>Not so.</strong> It adds.", html)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("- [x] True\n\n  So.\n- [ ] False\n\n  No.", "True or false?"),
        ("- [x] a\n\n  So.\n- [ ] b\n\n  No.", "One of these is right."),
        ("- [x] a\n\n  So.\n- [x] b\n\n  So.\n- [ ] c\n\n  No.", "Several of these are right."),
    ],
)
def test_a_quiz_says_how_many_options_are_right(chapter, options, said):
    assert said in chapter(f"# Book\n\n::::{{quiz}} Which?\n{options}\n::::\n").text()


def test_a_quiz_whose_kind_is_not_what_the_author_said_is_a_message(chapter):
    (found,) = facts(chapter(QUIZ.replace("*row*?", "*row*?\n:kind: several\n")))

    assert found.startswith("{quiz} says kind 'several' and its options make it 'one'")


@pytest.mark.parametrize(
    "builder", ["html", "dirhtml", "singlehtml", "epub", "latex", "text", "man", "texinfo", "gettext"]
)
def test_boxes_stand_in_every_builder(chapter, builder):
    built = chapter(TEACH + QUIZ.replace("# Book", ""), builder=builder)

    assert [warning for warning in built.warnings if "epub" not in warning] == []


def test_plain_text_keeps_paragraphs_of_a_box_apart(chapter):
    text = chapter(TEACH, builder="text").file("index.txt")

    assert "**One sentence.** It scales x.\n\n   **Analogy.** A knob.\n" in text


def test_payloads_in_titles_and_options_stay_text(chapter):
    payload = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    markdown = f"# Book\n\n:::{{question}} `{payload}`\n`{payload}`\n:::\n"
    html = chapter(markdown, builder="html").file("index.html")

    assert "<img src=x" not in html
    assert "<script>alert" not in html


@pytest.mark.parametrize(("heading", "titles"), [("Teach it", []), ("For teachers", ["Teach it"])])
def test_a_box_does_not_say_again_what_the_title_of_its_section_says(chapter, heading, titles):
    built = chapter(f"# Book\n\n## {heading}\n" + TEACH.replace("# Book\n", ""), builder="html")
    box = built.file("index.html").partition("box teach")[2].partition("<details")[0]

    assert re.findall(r'<p class="admonition-title">(.*?)</p>', box) == titles


@pytest.mark.parametrize(("builder", "file"), [("text", "index.txt"), ("latex", "book.tex"), ("man", "book.1")])
def test_the_title_of_a_section_stands_once_in_other_builders_too(chapter, builder, file):
    built = chapter("# Book\n\n## Teach it\n" + TEACH.replace("# Book\n", ""), builder=builder)

    assert len(re.findall("teach it", built.file(file), re.IGNORECASE)) == 1


def test_texinfo_whose_boxes_begin_with_a_title_keeps_it(chapter):
    built = chapter("# Book\n\n## Teach it\n" + TEACH.replace("# Book\n", ""), builder="texinfo")

    assert "@quotation Teach it" in built.file("book.texi")
