"""A fence that nothing closes is told at its line, and a page whose fences all close is left alone."""

import pytest

END = "is never closed, so all that follows stands in it; end it with a line of"
# markdown below the title -> line, what it names, and what closes it
UNCLOSED = {
    "box": (":::{teach}\n:one: It is.\n\nMore.", 3, ":::{teach}", ":::"),
    "box within a box": ("::::{note}\nOne.\n\n:::{tip}\nTwo.\n::::", 6, ":::{tip}", ":::"),
    "code": ("```python\nx = 1\n\nMore.", 3, "```", "```"),
    "code with tildes": ("Words.\n\n~~~\nx = 1", 5, "~~~", "~~~"),
    "live": ("```{live}\nprint(1)\n``", 3, "```{live}", "```"),
    "longer fence": ("````{live}\nprint(1)\n```", 3, "````{live}", "````"),
    "in a list": ("- One\n\n  ```python\n  x = 1\n\nTwo.", 5, "```", "```"),
    "in a list, ended outside": ("1. One\n\n   ```python\n   x = 1\n```\n\nMore.", 5, "```", "```"),
    "in a list, ended half outside": ("1. One\n2. Two\n   ```python\n   x = 1\n ```\n\nMore.", 5, "```", "```"),
    "in a box of backticks": ("````{note}\n```python\nx = 1\n\nMore.\n````", 4, "```", "```"),
}  # fmt: skip
CLOSED = {
    "boxes": "::::{note}\n:::{tip}\nOne.\n:::\n::::\n\n```python\nx = 1\n```",
    "longer end": ":::{note}\nOne.\n:::::",
    "shown": "````markdown\n:::{note}\n```{live}\n````",
    "shown in a box of backticks": "`````{note}\n````markdown\n```{live}\n````\n`````",
    "shown in a check": "````{check}\n```python\n````",
    "ended farther left": "  ```python\n  x = 1\n```\n\nMore.",
    "shown in a box": ":::::{note}\n````markdown\n:::{note}\n````\n:::::",
    "shown in a block of colons": ":::{code-block} markdown\n```python\n:::",
    "in a list": "- ```python\n  x = 1\n  ```\n- Two.",
    "in a quotation": "> ```python\n> x = 1\n> ```\n\nWords.",
    "indented": "Words:\n\n    ```python\n\nMore.",
    "in a comment": "<!--\n```python\n-->\n\nMore.",
    "within a sentence": "Three ticks,\n``` ` ```, are a fence.",
    "end without a beginning": "Words.\n:::\n",
    "in a string": '```python\ntext = """\n~~~\n"""\n```',
}


@pytest.mark.parametrize("name", UNCLOSED)
def test_a_fence_that_nothing_closes_is_told_at_its_line(chapter, name):
    text, line, said, marks = UNCLOSED[name]
    built = chapter(f"# Book\n\n{text}\n")

    assert f"docs/index.md:{line}: WARNING: '{said}' {END} {marks} [scratchbook.markup]" in built.warnings
    assert built.status == 1


@pytest.mark.parametrize("head", ["{live}", "{exec_code}", "{math}\n:check: f"])
def test_what_a_block_without_end_swallows_is_no_second_message(chapter, head):
    (warning,) = chapter(f"# Book\n\n```{head}\n\nx = 1\n\nMore words.\n").warnings

    assert END in warning


@pytest.mark.parametrize(
    "text",
    [":::{note}\nOne.\n\n:::{tip}\nTwo.\n:::\n\nThree.", ":::{note}\nOne.\n\n:::{tip}\nTwo.\n:::\n:::"],
    ids=["forgotten", "too short"],
)
@pytest.mark.parametrize("marks", [":::", "```"])
def test_a_box_that_ends_with_the_next_one_is_told_at_its_own_line(chapter, text, marks):
    fact = f"'{marks}{{note}}' ends where '{marks}{{tip}}' of line 6 should, since its fence is not longer"
    choice = f"close it before that line, or begin and end it with {marks}{marks[0]}"

    (warning,) = chapter(f"# Book\n\n{text}\n".replace(":::", marks)).warnings
    assert warning == f"docs/index.md:3: WARNING: {fact}; {choice} [scratchbook.markup]"


@pytest.mark.parametrize("name", CLOSED)
def test_a_page_whose_fences_close_is_left_alone(chapter, name):
    assert [warning for warning in chapter(f"# Book\n\n{CLOSED[name]}\n").warnings if "closed" in warning] == []
