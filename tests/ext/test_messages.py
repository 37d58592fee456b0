"""Every message: its text, its line, wherever in a chapter it stands; and again while the mistake is there."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from scratchbook.core.cells import Limits
from scratchbook.ext import settings

# A chapter with a bad option in every place where a directive may stand; the comment is the line.
EVERYWHERE = """\
# Book

```{live}
:bad: line 4
print(1)
```

```{live}
:caption: a caption
:bad: line 10

print(1)
```

- item

  ```{live}
  :bad: line 18
  print(1)
  ```

:::{note}
In a note.

```{live}
:bad: line 26
print(1)
```
:::

1. one

   - two

     ```{live}
     :bad: line 36
     print(1)
     ```

```{include} parts/part.inc
```

```{eval-rst}
Text.

.. live::
   :bad: line 47

   print(1)
```

````{live}
---
bad: line 54
---
print(1)
````
"""
PAGE_RST = """\
Page
====

.. live::
   :bad: line 5

   print(1)

.. note::

   .. live::
      :bad: line 12

      print(:)
"""


@pytest.fixture(scope="module")
def everywhere(new_project):
    project = new_project().write(
        {
            "docs/index.md": EVERYWHERE,
            "docs/parts/part.inc": "In a part.\n\n```{live}\n:bad: line 4\nprint(1)\n```\n",
            "docs/page.rst": ":orphan:\n\n" + PAGE_RST,
        }
    )
    return project.build("dummy")


@pytest.mark.parametrize("line", [4, 10, 18, 26, 36, 47, 54])
def test_an_option_is_told_at_its_own_line(everywhere, line):
    start = f"docs/index.md:{line}: WARNING: {{live}} has no option 'bad'; it has tag, tags, lines"

    assert [warning for warning in everywhere.warnings if warning.startswith(start)]


@pytest.mark.parametrize("place", ["docs/parts/part.inc:4", "docs/page.rst:7", "docs/page.rst:14"])
def test_an_option_is_told_in_parts_and_in_other_markup(everywhere, place):
    assert [warning for warning in everywhere.warnings if warning.startswith(f"{place}: WARNING: {{live}} has no")]


def test_code_in_other_markup_has_its_true_line(everywhere):
    assert [warning for warning in everywhere.warnings if warning.startswith("docs/page.rst:16: WARNING: SyntaxError")]


def test_there_is_one_message_a_place(everywhere):
    assert len(everywhere.warnings) == 11


def test_code_below_options_has_its_true_line(chapter):
    built = chapter("# Book\n\n- list\n\n  ```{live}\n  :linenos:\n\n  x = 1\n\n  x / 0\n  ```\n")

    assert built.warnings == ["docs/index.md:10: WARNING: ZeroDivisionError: division by zero [scratchbook.run]"]


def test_a_skipped_line_does_not_move_the_others(chapter):
    built = chapter("# Book\n\n```{live}\n# skip: start\nshown = 1\n# skip: stop\nunknown\n```\n")

    assert built.warnings[0].startswith("docs/index.md:7: WARNING: NameError: name 'unknown' is not defined")


def test_an_unclosed_marker_is_told_at_the_marker(chapter):
    built = chapter("# Book\n\n```{live}\nx = 1\n#hide:start\ny = 2\n```\n")

    assert built.warnings[0].startswith("docs/index.md:5: WARNING: '#hide:start' is never closed")
    assert "y = 2" in built.text()


VALUES = """\
# Book

A paragraph with
a value on its second line {value}`one`,
and on its third {value}`two`.

| a | b |
| - | - |
| 1 | 2 |
| 3 | {value}`three` |

> quoted
> {claim}`four`

term
: {value}`five`

Footnote.[^1]

[^1]: Note {value}`six`.
"""


@pytest.fixture(scope="module")
def values(new_project):
    return new_project().write({"docs/index.md": VALUES}).build(myst_enable_extensions=["deflist"])


@pytest.mark.parametrize(
    ("name", "line"), [("one", 4), ("two", 5), ("three", 10), ("four", 13), ("five", 16), ("six", 20)]
)
def test_a_value_is_told_at_its_own_line(values, name, line):
    start = f"docs/index.md:{line}: WARNING: `{name}` cannot be evaluated"

    assert [warning for warning in values.warnings if warning.startswith(start)], values.messages


# markdown -> the one message; the directive stands on line 3.
MESSAGES = {
    "first line": (
        "```{live} print(1)\n```",
        "docs/index.md:3: WARNING: 'print(1)' on the first line of {live} is not the name of a Python file; "
        "code begins on the next line [scratchbook.option]",
    ),
    "nothing": (
        "```{live}\n```",
        "docs/index.md:3: WARNING: {live} has neither a file nor code: name a file behind it, or write code in it "
        "[scratchbook.option]",
    ),
    "tag without file": (
        "```{live}\n:tag: part\nprint(1)\n```",
        "docs/index.md:3: WARNING: option 'tag' selects lines of a file, and this {live} names none "
        "[scratchbook.option]",
    ),
    "figure of a file": (
        "```{live} code.py\n:figure: words\n```",
        "docs/index.md:3: WARNING: option 'figure' is about code of the page: write some in the block "
        "[scratchbook.option]",
    ),
    "figure and table": (
        "```{live}\n:figure: words\n:table:\n1\n```",
        "docs/index.md:3: WARNING: a block shows a figure or a table, not both: use two blocks [scratchbook.option]",
    ),
    "caption without code": (
        "```{live}\n:caption: words\n:hide-code:\nprint(1)\n```",
        "docs/index.md:3: WARNING: option 'caption' stands above code, and :hide-code: takes the code away "
        "[scratchbook.option]",
    ),
    "bad number": (
        "```{live}\n:lineno-start: two\nprint(1)\n```",
        "docs/index.md:4: WARNING: option 'lineno-start' of {live} is 'two': "
        "it must be a whole number [scratchbook.option]",
    ),
    "no time": (
        "```{live}\n:timeout: 0\nprint(1)\n```",
        "docs/index.md:4: WARNING: option 'timeout' of {live} is '0': it must be a number of seconds, more than 0 "
        "[scratchbook.option]",
    ),
    "time in words": (
        "```{live}\n:timeout: soon\nprint(1)\n```",
        "docs/index.md:4: WARNING: option 'timeout' of {live} is 'soon': it must be a number of seconds, more than 0 "
        "[scratchbook.option]",
    ),
    "half a byte": (
        "```{live}\n:shown-bytes: 1.5\nprint(1)\n```",
        "docs/index.md:4: WARNING: option 'shown-bytes' of {live} is '1.5': it must be a whole number of bytes, "
        "more than 0 [scratchbook.option]",
    ),
    "a number without end": (
        f"```{{live}}\n:captured-bytes: {'9' * 5000}\nprint(1)\n```",
        f"docs/index.md:4: WARNING: option 'captured-bytes' of {{live}} is '{'9' * 79}…': it must be a whole number of "
        "bytes, more than 0 [scratchbook.option]",
    ),
    "negative indent": (
        "```{live} code.py\n:tag: part\n:indent: -1\n```",
        "docs/index.md:5: WARNING: option 'indent' of {live} is '-1': it must be a whole number of blanks, 0 or more "
        "[scratchbook.option]",
    ),
    "an indent out of the page": (
        "```{live} code.py\n:tag: part\n:indent: 99999999999\n```",
        "docs/index.md:5: WARNING: option 'indent' of {live} is '99999999999': there can be 100 blanks at most "
        "[scratchbook.option]",
    ),
    "an option where there are none": (
        "```{api} code.py\n:bad: 1\n```",
        "docs/index.md:4: WARNING: {api} has no option 'bad'; it has none [scratchbook.option]",
    ),
    "no reason for a region": (
        "```{live} code.py\n:tag: mute\n:no-output:\n```",
        "docs/index.md:5: WARNING: option 'no-output' of {live} is '': it needs a value [scratchbook.option]",
    ),
    "no value": (
        "```{live}\n:show-value:\nx = 1\n```",
        "docs/index.md:3: WARNING: the last line has no value, which :show-value: was to show; end it with an "
        "expression that has one [scratchbook.output]",
    ),
    "the value None": (
        "```{live}\n:show-value:\nprint(1)\n```",
        "docs/index.md:3: WARNING: the last line has no value, which :show-value: was to show; drop :show-value: "
        "[scratchbook.output]",
    ),
    "part of a statement": (
        "```{live} half.py\n:tag: body\n```",
        "scratch/half.py:1: WARNING: only a part of the statement at scratch/half.py:1 is shown, so that what it "
        "prints is not; take the whole statement in (run by docs/index.md:3) [scratchbook.output]",
    ),
    "claim without a word": (
        "It holds. {claim}` `",
        "docs/index.md:3: WARNING: there is no expression; write one that is true or false [scratchbook.claim]",
    ),
    "value that prints and is nothing": (
        "It is {value}`print(1)`.",
        "docs/index.md:3: WARNING: `print(1)` is None [scratchbook.value]",
    ),
    "value behind hard breaks": (
        "a  \nb\\\nc {value}`zz`",
        "docs/index.md:5: WARNING: `zz` cannot be evaluated: NameError: name 'zz' is not defined [scratchbook.value]",
    ),
    "flag with a value": (
        "```{live}\n:hide-code: no\nprint(1)\n```",
        "docs/index.md:4: WARNING: option 'hide-code' of {live} is 'no': it takes no value [scratchbook.option]",
    ),
    "no reason": (
        "```{live}\n:no-output:\nx = 1\n```",
        "docs/index.md:4: WARNING: option 'no-output' of {live} is '': it needs a value [scratchbook.option]",
    ),
    "emphasis beyond the end": (
        "```{live}\n:emphasize-lines: 3\nprint(1)\n```",
        "docs/index.md:3: WARNING: option 'emphasize-lines' is '3', and the block has 1 line; "
        "they are counted from its first [scratchbook.option]",
    ),
    "emphasis in words": (
        "```{live}\n:emphasize-lines: first\nprint(1)\n```",
        "docs/index.md:3: WARNING: option 'emphasize-lines' is 'first': write it as 1,3-5 [scratchbook.option]",
    ),
    "emphasis beyond a region": (
        "```{live} code.py\n:tag: part\n:emphasize-lines: 2-9\n```",
        "docs/index.md:3: WARNING: option 'emphasize-lines' is '2-9', and the block has 1 line; "
        "they are counted from its first [scratchbook.option]",
    ),
    "mute region": (
        "```{live} code.py\n:tag: mute\n```",
        "docs/index.md:3: WARNING: this block shows no output; print in a demonstration in its body, "
        "or give the reason in :no-output: [scratchbook.output]",
    ),
    "mute demonstration": (
        "```{live} code.py\n:tag: mute\nx = 1\n```",
        "docs/index.md:3: WARNING: this block shows no output; print in a demonstration in its body, "
        "or give the reason in :no-output: [scratchbook.output]",
    ),
    "hidden output": (
        "```{live} code.py\n:tag: part\n:hide-output:\n```",
        "docs/index.md:3: WARNING: this block shows no output; print in a demonstration in its body, "
        "or give the reason in :no-output: [scratchbook.output]",
    ),
    "output against the reason": (
        "```{live} code.py\n:tag: part\n:no-output: it is long\n```",
        "docs/index.md:3: WARNING: this block has an output, and :no-output: says that it has none "
        "[scratchbook.output]",
    ),
    "value in a title": (
        "## The {value}`1 + 1` rows",
        "docs/index.md:3: WARNING: {value} cannot stand in a title: write it in the sentence below [scratchbook.value]",
    ),
    "claim in a title": (
        "## Rows {claim}`True`",
        "docs/index.md:3: WARNING: {claim} cannot stand in a title: write it in the sentence below [scratchbook.claim]",
    ),
    "false claim": (
        "It holds. {claim}`1 > 2`",
        "docs/index.md:3: WARNING: `1 > 2` does not hold: the sides are 1 and 2 [scratchbook.claim]",
    ),
    "states without a name": (
        "```{states} the pet\ncat, dog\n```",
        "docs/index.md:3: WARNING: {states} needs the name of a variable, not 'the pet' [scratchbook.option]",
    ),
    "one state": (
        "```{states} pet\ncat\n```",
        "docs/index.md:3: WARNING: {states} needs 2 to 8 different values with commas between them "
        "[scratchbook.option]",
    ),
    "states twice": (
        "```{states} pet\na, b\n```\n\n```{states} pet\na, b\n```",
        "docs/index.md:7: WARNING: a page has one {states}, and this one has it at docs/index.md:3 "
        "[scratchbook.option]",
    ),
    "states below code": (
        "```{live}\nprint(1)\n```\n\n```{states} pet\na, b\n```",
        "docs/index.md:7: WARNING: {states} stands before all that a page runs or checks; move it above "
        "docs/index.md:3 [scratchbook.option]",
    ),
    "states in a list": (
        "- item\n\n  ```{states} pet\n  a, b\n  ```",
        "docs/index.md:5: WARNING: {states} stands right below the chapter's title, outside lists and boxes "
        "[scratchbook.option]",
    ),
    "file outside": (
        "```{live} ../../outside.py\n```",
        "docs/index.md:3: WARNING: '../../outside.py' is outside the project's root, and nothing there is shown or "
        "run [scratchbook.source]",
    ),
    "absolute file": (
        "```{live} /etc/passwd.py\n```",
        "docs/index.md:3: WARNING: no file '/etc/passwd.py'; looked for scratch/etc/passwd.py and "
        "docs/etc/passwd.py [scratchbook.source]",
    ),
    "link outside": (
        "```{live} link.py\n```",
        "docs/index.md:3: WARNING: 'link.py' is outside the project's root, and nothing there is shown or run "
        "[scratchbook.source]",
    ),
    "exec_code first line": (
        "```{exec_code} print(1)\n```",
        "docs/index.md:3: WARNING: 'print(1)' on the first line of {exec_code} does not run: begin on the next line "
        "[scratchbook.option]",
    ),
    "exec_code without file": (
        "```{exec_code}\n:filename: none.py\n```",
        "docs/index.md:3: WARNING: no file 'none.py' in . [scratchbook.source]",
    ),
    "exec_code outside": (
        "```{exec_code}\n:filename: ../outside.py\n```",
        "docs/index.md:3: WARNING: '../outside.py' is outside the project's root, and does not run "
        "[scratchbook.source]",
    ),
    "exec_code with both": (
        "```{exec_code}\n:filename: scratch/code.py\nprint(1)\n```",
        "docs/index.md:3: WARNING: the code of this block does not run, since it names the file 'scratch/code.py' "
        "[scratchbook.option]",
    ),
}


@pytest.fixture(scope="module")
def all_messages(new_project):
    """Build all chapters above as pages of one book, twice."""
    project = new_project()
    outside = project.root.parent / "outside.py"
    outside.write_text("print('secret')\n")
    (project.root / "scratch/link.py").symlink_to(outside)
    names = {name: f"p{number}" for number, name in enumerate(MESSAGES)}
    index = "# Book\n\n```{toctree}\n" + "\n".join(names.values()) + "\n```\n"
    project.write({"docs/index.md": index})
    project.write({"scratch/code.py": "# tag::part[]\nprint(1)\n# end::part[]\n# tag::mute[]\nX = 1\n# end::mute[]\n"})
    project.write({"scratch/half.py": "for i in range(3):\n    # tag::body[]\n    print(i)\n    # end::body[]\n"})
    project.write({f"docs/{names[name]}.md": f"# Book\n\n{text}\n" for name, (text, _) in MESSAGES.items()})
    return names, project.build("dummy"), project.build("dummy")


@pytest.mark.parametrize("name", MESSAGES)
def test_a_mistake_gives_its_one_message_in_every_build(all_messages, name):
    names, first, second = all_messages
    for built in (first, second):
        found = [warning for warning in built.warnings if re.search(rf"docs/{names[name]}\.md\b", warning)]
        assert [warning.replace(f"docs/{names[name]}.md", "docs/index.md") for warning in found] == [MESSAGES[name][1]]
        assert built.status == 1


def test_a_mistake_of_one_state_names_the_state(chapter):
    built = chapter("# Book\n\n```{states} pet\ncat, dog\n```\n\nThree. {claim}`pet == 'cat'`\n\n{claim}`not pet`\n")

    assert built.warnings == [
        "docs/index.md:7: WARNING: `pet == 'cat'` does not hold: the sides are dog and cat (where pet = dog) "
        "[scratchbook.claim]",
        "docs/index.md:9: WARNING: `not pet` does not hold [scratchbook.claim]",
    ]


def test_one_place_gives_one_message_however_many_pages_meet_it(project):
    page = "# Page\n\n```{live} code.py\n:no-output: a test\n```\n"
    project.write({f"docs/{name}.md": page for name in ("one", "two", "three")})
    project.write({"docs/index.md": "# Book\n\n```{toctree}\none\ntwo\nthree\n```\n", "scratch/code.py": "1 / 0\n"})

    assert project.build().warnings == [
        "scratch/code.py:1: WARNING: ZeroDivisionError: division by zero (run by docs/one.md:3 and 2 more) "
        "[scratchbook.run]"
    ]


def test_pages_whose_names_have_blanks_share_a_message_too(project):
    page = "# Page\n\n```{live}\nimport own\nown.fail()\n```\n"
    project.write({f"docs/page {name}.md": page for name in ("one", "two")})
    project.write({"scratch/own.py": "def fail():\n    1 / 0\n"})
    project.write({"docs/index.md": "# Book\n\n```{toctree}\npage one\npage two\n```\n"})

    assert project.build().warnings == [
        "scratch/own.py:2: WARNING: ZeroDivisionError: division by zero (run by docs/page one.md:3 and 1 more) "
        "[scratchbook.run]"
    ]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("strict", [False, True])
def test_the_build_fails_in_every_way_of_building(project, jobs, strict):
    project.write({"docs/index.md": "# Book\n\n{claim}`False`\n"})

    assert project.build(jobs=jobs, strict=strict).status == 1
    assert project.build(jobs=jobs, strict=strict).status == 1


def test_a_project_may_choose_not_to_hear_a_kind(chapter):
    built = chapter("# Book\n\n{claim}`False`\n", suppress_warnings=["scratchbook.claim"])

    assert built.warnings == []
    assert built.status == 0


def test_what_sphinx_warned_about_is_said_again_by_the_next_build(project):
    project.write({"docs/index.md": "# Book\n\n{ref}`nowhere`\n\n```{note}\n:nothing: 1\nText\n```\n"})
    first = project.build("html")

    assert len(first.warnings) == 2
    assert project.build("html").warnings == first.warnings
    assert project.write({"docs/index.md": "# Book\n"}).build("html").warnings == []
    assert "0 added, 0 changed" in project.build("html").log


NAMED = "# {}\n\n(lab)=\n## Part\n\n```{{math}}\n:label: e\na = b\n```\n"
CONTENTS = "# Book\n\n```{toctree}\na\nb\n```\n"


def test_what_two_pages_name_alike_is_said_again_by_the_next_build(project):
    project.write({"docs/index.md": CONTENTS, "docs/a.md": NAMED.format("A"), "docs/b.md": NAMED.format("B")})
    first = project.build()

    assert [text.partition("docs/")[2] for text in first.warnings] == [
        "b.md:6: WARNING: duplicate label of equation e, other instance in a [ref.equation]",
        f"b.md:4: WARNING: duplicate label lab, other instance in {project.root}/docs/a.md",
    ]
    assert project.build().warnings == first.warnings


def test_a_name_that_moves_to_an_earlier_page_is_there_once(project):
    project.write({"docs/index.md": CONTENTS, "docs/a.md": "# A\n", "docs/b.md": NAMED.format("B")}).build()

    assert project.write({"docs/a.md": NAMED.format("A"), "docs/b.md": "# B\n"}).build().warnings == []


SETTINGS = {
    "scratchbook_folders": (["nowhere"], "scratchbook_folders: there is no folder 'nowhere' in the root"),
    "scratchbook_block_seconds": (-1, "scratchbook_block_seconds: -1 leaves no room; it must be more than 0"),
    "scratchbook_executor": (
        "no.such.factory",
        "scratchbook_executor: 'no.such.factory' cannot be imported: No module named 'no'; "
        "write it as package.module.factory",
    ),
    "scratchbook_root": ("../gone", "scratchbook_root: there is no folder '../gone' beside conf.py"),
    "scratchbook_print_options": (
        {"precision": "two"},
        "scratchbook_print_options: NumPy refuses them: precision must be an integer",
    ),
    "scratchbook_source": (
        "https://x.example/{file}",
        "scratchbook_source: 'https://x.example/{file}' cannot be filled in; the names within braces are path, first "
        "and last",
    ),
    "exec_code_working_dir": ("gone", "exec_code_working_dir: there is no folder 'gone' beside conf.py"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_cannot_be_used_is_told_at_its_line(project, name):
    value, text = SETTINGS[name]
    conf = (project.root / "conf.py").read_text()
    project.write({"conf.py": conf.replace("scratchbook_executor =", "unused =") + f"{name} = {value!r}\n"})
    line = len(conf.splitlines()) + 1

    project.write({"docs/index.md": "# Book\n\n```{live}\nprint(6 * 7)\n```\n"})
    built = project.build("html", scratchbook_preload=[])

    assert built.warnings == [f"conf.py:{line}: WARNING: {text} [scratchbook.setting]"]
    assert "42" in built.text()


WRONG_TYPES = {
    "scratchbook_folders": 3,
    "scratchbook_execute": "sometimes",
    "scratchbook_block_seconds": "long",
    "scratchbook_shown_bytes": None,
    "scratchbook_print_options": [1],
    "scratchbook_environment": "HOME",
    "scratchbook_preload": "numpy",
    "scratchbook_jobs": "all",
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_a_setting_of_a_wrong_type_is_told_and_the_book_is_built(project, name):
    conf = (project.root / "conf.py").read_text()
    project.write({"conf.py": conf + f"{name} = {WRONG_TYPES[name]!r}\n", "docs/index.md": "# Book\n\n{value}`1`\n"})
    built = project.build()

    assert name in built.messages
    assert built.text() == "Book\n\n1"


def test_a_file_that_cannot_be_read_is_told(chapter, monkeypatch):
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) if path.name != "code.py" else refuse())

    assert chapter("# Book\n\n```{live} code.py\n```\n").warnings == [
        "docs/index.md:3: WARNING: 'code.py' cannot be read: Permission denied [scratchbook.source]"
    ]


def refuse():
    raise PermissionError(13, "Permission denied")


def test_every_limit_is_a_setting_with_the_same_default():
    defaults = {name.removeprefix("scratchbook_"): default for name, (default, _, _) in settings.SETTINGS.items()}

    assert {limit.name: limit.default for limit in fields(Limits)}.items() <= defaults.items()


def test_every_setting_stands_in_the_guide():
    guide = (Path(__file__).parents[2] / "docs/guide/settings.md").read_text("utf-8")

    assert [name for name in settings.SETTINGS if not re.search(rf"`{name}( = [^`]+)?`", guide)] == []


def test_the_guide_gives_every_setting_the_default_that_it_has():
    guide = (Path(__file__).parents[2] / "docs/guide/settings.md").read_text("utf-8")
    written = {name: eval(default) for name, default in re.findall(r"\| `(scratchbook_\w+) = ([^`]+)`", guide)}

    known = {name: default for name, (default, _, _) in settings.SETTINGS.items() if name in written}

    assert len(known) > 15
    assert {name: written[name] for name in known} == known


def test_a_source_folder_outside_the_root_is_told(project):
    built = project.build(scratchbook_folders=["../elsewhere"])

    assert built.warnings[0].endswith(
        "WARNING: scratchbook_folders: '../elsewhere' is outside the project's root [scratchbook.setting]"
    )


def test_loading_the_stock_extension_too_is_one_message(project):
    built = project.build(extensions=["myst_parser", "sphinx_exec_code", "scratchbook"])

    assert built.warnings == [
        "conf.py:1: WARNING: extensions: both scratchbook and sphinx_exec_code bring {exec_code}; "
        "take sphinx_exec_code out, its pages work without a change [scratchbook.setting]"
    ]
