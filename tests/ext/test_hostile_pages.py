"""Hidden characters, letters that no file can hold, code that is no Python: each is told, and none ends a build."""

import re
import subprocess
import sys

import pytest

LATIN = "# Café\n\n{value}`1 + 1`\n".encode("latin-1")


def page(*lines, options=(), file=""):
    return "\n".join(["# Book", "", f"```{{live}} {file}".rstrip(), *options, *lines, "```", ""])


@pytest.mark.parametrize("builder", ["html", "text", "latex", "man", "epub"])
def test_a_letter_that_no_file_can_hold_ends_no_build(project, builder):
    text = page("[['x' + chr(0xD800)]]", options=[":table:"]) + "\n{value}`chr(0xDFFF)`\n"
    built = project.write({"docs/index.md": text}).build(builder)

    assert built.messages == ""
    assert "x\\ud800" in built.text()
    assert "\\udfff" in built.text()


@pytest.mark.parametrize(
    ("letter", "name"),
    [
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2028", "U+2028 LINE SEPARATOR"),
        ("\x0c", "U+000C CONTROL CHARACTER"),
        ("\x85", "U+0085 CONTROL CHARACTER"),
        ("\u200b", "U+200B ZERO WIDTH SPACE"),
    ],
)
@pytest.mark.parametrize("directive", ["{live}", "{exec_code}", "{live} code.py"])
def test_a_hidden_character_in_code_of_a_page_is_told_at_its_line(chapter, directive, letter, name):
    text = f"# Book\n\n```{directive}\n:caption: Code\n\nprint(1)\nx = 'a{letter}b'\nprint(2)\n```\n"
    built = chapter(text, "# tag::a[]\nprint(1)\n# end::a[]\n")

    escape = f"\\x{ord(letter):02x}" if letter < "\u0100" else f"\\u{ord(letter):04x}"
    assert built.warnings == [
        f"docs/index.md:7: WARNING: hidden character {name} in column 7; remove it or write it as '{escape}' "
        "[scratchbook.source]"
    ]


def test_a_hidden_character_in_an_option_is_not_in_the_code(chapter):
    assert chapter(page("print(1)", options=[":caption: a\u200db"])).messages == ""


@pytest.mark.parametrize("line", ["print(“hello”)", "print(1)?", "x = $1", "print(1)\x00"])
def test_code_that_is_no_python_is_one_message(chapter, line):
    (warning,) = chapter(page("x = 1", line), builder="html").warnings

    assert warning.startswith("docs/index.md:5: WARNING: SyntaxError: ")


def test_a_file_that_is_no_python_is_one_message(chapter):
    (warning,) = chapter(page(file="code.py"), "x = 1\nprint(“hello”)\n", builder="html").warnings

    assert warning.startswith("scratch/code.py:2: WARNING: SyntaxError: ")


def test_skipped_code_that_cannot_be_coloured_is_told(chapter):
    built = chapter(page("print(1)", "#skip:start", "print(“hello”)", "#skip:stop"), builder="html")

    assert ["misc.highlighting_failure" in line for line in built.warnings] == [True]


def test_a_block_of_which_nothing_is_left_is_told(chapter):
    built = chapter(page("#hide:start", "#skip:start", "print(1)", "#skip:stop", "#hide:stop"))

    assert built.warnings == [
        "docs/index.md:3: WARNING: every line of this block is hidden and skipped, so nothing is left of it "
        "[scratchbook.option]"
    ]


def test_each_place_where_a_file_was_looked_for_is_said_once(chapter):
    (warning,) = chapter(page(file="../../gone.py")).warnings

    assert "no file '../../gone.py'; looked for ../gone.py [" in warning


def test_a_name_too_long_for_a_file_is_that_of_none(chapter):
    name = "a" * 300 + ".py"
    built = chapter(f"{page(file=name)}\n```{{exec_code}}\n:filename: {name}\n```\n\n```{{api}} {name}\n```\n")

    assert [warning.partition(": WARNING: ")[2][:12] for warning in built.warnings] == ["no file 'aaa"] * 3


@pytest.mark.parametrize("name", ["class", "a b", "1", ""])
def test_what_cannot_be_a_variable_cannot_be_a_state(chapter, name):
    assert chapter(f"# Book\n\n```{{states}} {name}\na, b\n```\n").warnings == [
        f"docs/index.md:3: WARNING: {{states}} needs the name of a variable, not '{name}' [scratchbook.option]"
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_chapter_that_is_not_utf8_is_told_and_the_others_are_built(project, jobs):
    message = "docs/latin.md:1: WARNING: docs/latin.md is not UTF-8: byte 0xe9 at offset 5; save it as UTF-8"
    project.write({"docs/latin.md": LATIN, "docs/good.md": "# Good\n\n{value}`1 + 1`\n"})
    project.write({"docs/index.md": "# Book\n\n```{toctree}\n:glob:\n*\n```\n"})
    for built in (project.build("html", jobs=jobs), project.build("html", jobs=jobs)):
        assert [line for line in built.warnings if "[toc" not in line] == [f"{message} [scratchbook.source]"]
        assert built.status == 1
        assert ">2<" in built.file("good.html")
    mended = project.write({"docs/latin.md": LATIN.decode("latin-1")}).build("html", jobs=jobs)

    assert (mended.messages, mended.status) == ("", 0)
    assert ">2<" in mended.file("latin.html")


def test_a_chapter_that_becomes_unreadable_is_told_until_it_is_mended(project):
    project.write({"docs/index.md": "# Book\n\n```{toctree}\nlatin\n```\n", "docs/latin.md": "# Fine\n"})
    project.build("html")
    project.write({"docs/latin.md": LATIN})

    assert [project.build("html").status, project.build("html").status] == [1, 1]


@pytest.mark.parametrize(
    ("code", "lost"),
    [
        ("import os; os.remove('docs/other.md')", "docs/other.md"),
        ("import shutil; shutil.rmtree('docs')", "docs/index.md"),
        ("import shutil; shutil.rmtree('build')", "build/html/.doctrees/index.doctree"),
    ],
)
def test_code_that_removes_what_the_build_needs_ends_it_with_one_line(project, code, lost):
    project.write({"docs/index.md": f"# Book\n\n```{{toctree}}\nother\n```\n\n{page(code)[8:]}"})
    project.write({"docs/other.md": "# Other\n"})

    command = [sys.executable, "-m", "sphinx", "--conf-dir", ".", "docs", "build/html"]
    done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)
    fact = f"{lost} is gone since the code of pages ran; let no code remove what a build needs"
    assert done.stderr == f"{lost}:1: WARNING: {fact} [scratchbook.run]\n"
    assert done.returncode == 2


SUBSTITUTIONS = """\
---
myst:
  substitutions:
    inline: "{value}`zz`"
    around: "words {{ inline }}"
    block: |
      ```{live}
      1 / 0
      ```
---
# Book

First line
and {{ inline }}

{{ around }}
"""


def test_a_value_from_a_substitution_is_told_where_that_is_filled_in(chapter):
    found = chapter(SUBSTITUTIONS, myst_enable_extensions=["substitution"]).warnings

    assert [line.partition(": NameError")[0] for line in found] == [
        f"docs/index.md:{line}: WARNING: `zz` cannot be evaluated" for line in (14, 16)
    ]


def test_code_from_a_substitution_is_told_below_where_that_is_filled_in(chapter):
    text = SUBSTITUTIONS.partition("First")[0] + "{{ block }}\n"

    (warning,) = chapter(text, myst_enable_extensions=["substitution"]).warnings
    assert warning.startswith("docs/index.md:14: WARNING: ZeroDivisionError")


def test_a_part_of_other_markup_has_its_path_from_the_root(project, monkeypatch):
    monkeypatch.chdir(project.root.parent)
    project.write({"docs/parts/part.txt": "Words.\n\n.. live::\n\n   1 / 0\n"})
    built = project.write({"docs/index.md": "# Book\n\n```{eval-rst}\n.. include:: parts/part.txt\n```\n"}).build()

    (warning,) = built.warnings
    assert warning.startswith("docs/parts/part.txt:5: WARNING: ZeroDivisionError")


def test_a_link_that_would_run_something_is_told_and_left_out(project):
    uris = ["javascript:alert(1)", "JavaScript:alert(2)", "data:text/html,x", "https://a.b/"]
    links = " ".join(f"`word{number} <{uri}>`__" for number, uri in enumerate(uris))
    bib = "@book{k, title={T}, author={A, B}, year={1931}, publisher={P}, url={javascript:alert(4)}}\n"
    project.write({"docs/index.rst": f"Book\n====\n\n{links}\n\n:cite:p:`k`\n\n.. bibliography::\n", "s.bib": bib})
    (project.root / "docs/index.md").unlink()
    settings = {"extensions": ["scratchbook", "sphinxcontrib.bibtex"], "bibtex_bibfiles": ["s.bib"]}
    built = project.build("html", **settings)
    told = re.findall("the link to '(.+)' is left out", built.messages)

    assert sorted(told) == ["JavaScript:alert(2)", "data:text/html,x", "javascript:alert(1)", "javascript:alert(4)"]
    assert re.findall(r'external" href="([^"]*)"', built.file("index.html")) == ["https://a.b/"]
    assert "word0" in built.file("index.html")
    again = project.build("html", **settings)
    assert (again.status, again.messages) == (1, built.messages)
