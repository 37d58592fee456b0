"""What the head of a chapter says about its run."""

import pytest

SLOW = "# Page\n\n```{live}\nimport time\ntime.sleep(0.4)\nprint('done')\n```\n"


def head(*lines):
    return "\n".join(["---", *lines, "---", ""])


def test_a_page_may_have_less_time_than_others(project):
    project.write({"docs/index.md": "# Book\n\n```{toctree}\na\nb\n```\n", "docs/b.md": SLOW})
    built = project.write({"docs/a.md": head("scratchbook_page_seconds: 0.1") + SLOW}).build()

    assert built.warnings == [
        "docs/a.md:8: WARNING: the page ran longer than 0.1 s and was stopped here; "
        "raise it with scratchbook_page_seconds [scratchbook.run]"
    ]
    assert "done" in built.text("b")


def test_a_page_may_have_more_time_than_others(chapter):
    built = chapter(head("scratchbook_page_seconds: 60") + SLOW, scratchbook_page_seconds=0.1)

    assert built.messages == ""


def test_a_limit_of_a_page_does_not_outlive_its_line(chapter):
    assert chapter(head("scratchbook_page_seconds: 0.1") + SLOW).status == 1
    assert chapter(SLOW).messages == ""


def test_a_field_list_says_the_same(project):
    project.write({"docs/index.md": "# Book\n\n```{toctree}\na\n```\n"})
    built = project.write({"docs/a.rst": ":orphan:\n:scratchbook_page_seconds: -2\n\nPage\n====\n"}).build()

    assert built.warnings == [
        "docs/a.rst:2: WARNING: scratchbook_page_seconds is '-2'; "
        "write a number of seconds that is more than 0 [scratchbook.option]"
    ]


@pytest.mark.parametrize("value", ["soon", "0", "-1", ".nan", ".inf", "[1]", "", "true", "1 s"])
def test_what_is_no_number_of_seconds_is_told_at_its_line(chapter, value):
    built = chapter(head("level: beginner", f"scratchbook_page_seconds: {value}") + SLOW)

    (warning,) = built.warnings
    assert warning.startswith("docs/index.md:3: WARNING: scratchbook_page_seconds is '")
    assert warning.endswith("; write a number of seconds that is more than 0 [scratchbook.option]")


def test_a_mistyped_name_is_told(chapter):
    assert chapter(head("scratchbook_page_second: 9") + SLOW).warnings == [
        "docs/index.md:2: WARNING: the head of a chapter has no 'scratchbook_page_second'; "
        "it may set scratchbook_page_seconds [scratchbook.option]"
    ]


@pytest.mark.parametrize("level", ["beginer", "Beginner", "3", "[beginner]"])
def test_a_level_that_there_is_not_is_told_at_its_line(chapter, level):
    (warning,) = chapter(head(f"level: {level}") + "# Page\n").warnings

    assert warning.startswith("docs/index.md:2: WARNING: level is '")
    assert warning.endswith("'; write beginner, intermediate, advanced or reference [scratchbook.option]")


@pytest.mark.parametrize("level", ["beginner", "intermediate", "advanced", "reference"])
def test_a_level_that_there_is_passes(chapter, level):
    assert chapter(head(f"level: {level}") + "# Page\n").messages == ""
