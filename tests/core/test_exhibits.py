"""Files that a page shows: one module each, run once and whole, and each region with the output of its statements."""

import subprocess
import sys

import pytest

from scratchbook.core.errors import Place
from tests.core.pages import CHAPTER, block, shown

PARTS = '''"""A file in all its parts."""
from __future__ import annotations
import sys
# tag::data[]
from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """A point."""

    x: float
    y: Undefined = 0.0


print(Point(1.5))
# end::data[]
# tag::function[]
def half(x):
    print("half of", x)
    return x / 2
# end::function[]
# tag::two[]
print("one"); print("two")
for i in range(3):
    print(i, end=" ")
print()
# end::two[]
print(half.__name__, Point.__doc__, __doc__, file=sys.stderr)
if __name__ == "__main__":
    # tag::demo[]
    print(half(3.0))
    # end::demo[]
    # tag::more[]
    for i in range(2):
        print("more", i)
    # end::more[]
'''
OUTPUTS = {
    "data": "Point(x=1.5, y=0.0)\n",
    "function": "",
    "two": "one\ntwo\n0 1 2 \n",
    "demo": "half of 3.0\n1.5\n",
    "more": "more 0\nmore 1\n",
}


def text_of(outcome, cell):
    part = outcome.cells[cell.id].part("text")
    return part["text"] if part else ""


@pytest.mark.parametrize("tag", OUTPUTS)
def test_a_region_shows_what_its_statements_printed(project, tag):
    project.write("scratch/parts.py", PARTS)

    assert project.output(shown("parts.py", tag)) == OUTPUTS[tag]


def test_regions_of_one_file_run_it_once_whatever_their_order(project):
    project.write("scratch/parts.py", PARTS)
    cells = [shown("parts.py", tag, line) for line, tag in enumerate(("demo", "two", "data", "two"), 1)]

    outcome = project.run(*cells)

    assert [text_of(outcome, cell) for cell in cells] == [OUTPUTS[tag] for tag in ("demo", "two", "data", "two")]
    assert not outcome.failed


def test_a_whole_file_shows_exactly_what_python_prints(project):
    project.write("scratch/parts.py", PARTS)
    command = [sys.executable, "-u", "scratch/parts.py"]
    plain = subprocess.run(command, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    assert project.output(shown("parts.py")) == plain.stdout


@pytest.mark.parametrize(
    "text",
    [
        "import pickle\nclass A:\n    x = 1\nprint(pickle.loads(pickle.dumps(A())).x)\n",
        "def twice(f):\n    return lambda n: f(f(n))\n@twice\ndef add(n):\n    return n + 1\nprint(add(1))\n",
        "'''doc'''\nprint(__doc__)\nx: int = 3\nprint(__annotations__)\n",
        "print(sorted(name for name in globals() if 'mark' in name))\n",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    print(error)\nelse:\n    print('no')\n",
        "import warnings\nwarnings.warn('careful')\n",
        "from __future__ import annotations\nif '__main__' == __name__:\n"
        "    def f(x: Later): pass\n    print(f.__annotations__)\n",
        "x = 1\nif __name__ == '__main__':\n    x = 2\n    print(x)\n",
        "'''only a docstring'''\n",
        "# only a comment",
        "with open(__file__) as file: print(file.readline(), end='')\n",
        "\ufeff" + "print('marked')\r\nprint('lines')\r\n",
        "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))\n",
        "match [1, 2]:\n    case [a, b]:\n        print(a, b)\n",
        "print('no newline at the end')\nif __name__ == '__main__': print('in one line')",
    ],
)
def test_a_file_prints_what_python_prints(project, text):
    (project.root / "scratch" / "file.py").write_bytes(text.encode())
    command = [sys.executable, "-u", "-X", "utf8", "scratch/file.py"]
    plain = subprocess.run(command, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    assert project.output(shown("file.py")) == plain.stdout.replace(f"{project.root}/", "")


def test_a_file_is_one_module_for_the_page_and_for_every_import(project):
    project.write("scratch/model.py", "class Model:\n    pass\n")
    project.write("scratch/train.py", "import model\nmade = model.Model()\n")

    assert (
        project.output(
            shown("model.py", line=1),
            block("import sys, model, train", 2),
            block("print(isinstance(train.made, Model), sys.modules['model'] is model, Model.__module__)", 20),
        )
        == "True True model\n"
    )


def test_two_files_that_import_each_other_run_once_each(project):
    project.write(
        "scratch/one.py", "print('one begins')\nimport two\ndef f():\n    return two.g()\nprint('one ends')\n"
    )
    project.write("scratch/two.py", "import one\ndef g():\n    return 'g'\n")
    first, second = shown("one.py", line=1), shown("two.py", line=2)

    outcome = project.run(first, second, block("print(f(), one is two.one)", 10), block("import one", 5))

    assert text_of(outcome, first) == "one begins\none ends\n"
    assert text_of(outcome, second) == ""


def test_what_an_imported_file_prints_belongs_to_the_statement_that_imports_it(project):
    project.write("scratch/outer.py", "print('before')\n# tag::x[]\nimport inner\n# end::x[]\n")
    project.write("scratch/inner.py", "print('inner')\n")

    assert project.output(shown("outer.py", "x")) == "inner\n"


def test_a_file_that_has_printed_before_it_is_shown_is_told(project):
    project.write("scratch/loud.py", "print('loud')\n")

    mistake = project.mistake(block("import loud", 1), shown("loud.py"))

    assert (mistake.kind, mistake.text) == (
        "output",
        "scratch/loud.py was imported before it is shown here, and what it printed is shown there; "
        "show it first, or print under its __main__ guard",
    )


def test_a_quiet_file_may_be_imported_before_it_is_shown(project):
    project.write("scratch/quiet.py", "x = 1\nif __name__ == '__main__':\n    print(x)\n")

    assert project.output(block("import quiet", 1), shown("quiet.py")) == "1\n"


def test_a_guard_that_is_not_shown_does_not_run(project):
    project.write(
        "scratch/train.py", "# tag::f[]\ndef f(): return 1\n# end::f[]\nif __name__ == '__main__':\n    1 / 0\n"
    )

    assert project.output(shown("train.py", "f"), block("print(f())")) == "1\n"


def test_the_names_of_a_shown_file_are_the_pages(project):
    project.write("scratch/names.py", "x = 1\n_hidden = 2\n")

    assert project.output(shown("names.py"), block("print(x, '_hidden' in dir())")) == "1 False\n"


def test_names_of_a_guard_are_the_pages_once_it_is_shown(project):
    guard = "if __name__ == '__main__':\n    # tag::g[]\n    n = f()\n    # end::g[]\n"
    project.write("scratch/late.py", f"# tag::f[]\ndef f(): return 1\n# end::f[]\n{guard}")

    assert project.output(shown("late.py", "f"), shown("late.py", "g", line=2), block("print(n)")) == "1\n"


def test_a_name_that_the_page_has_changed_stays_when_more_of_its_file_is_shown(project):
    project.write("scratch/twice.py", "# tag::a[]\nx = 1\n# end::a[]\n# tag::b[]\ny = 2\n# end::b[]\n")
    cells = shown("twice.py", "a"), block("x = 5", 5), shown("twice.py", "b", line=7), block("print(x)", 20)

    assert project.output(*cells) == "5\n"


def test_dunder_all_says_which_names_are_public(project):
    project.write("scratch/names.py", "__all__ = ['x']\nx = 1\ny = 2\n")

    assert project.output(shown("names.py"), block("print(x, 'y' in dir())")) == "1 False\n"


def test_a_name_that_means_two_things_is_told_and_the_first_stays(project):
    project.write("scratch/one.py", "import sys\nwidth = 4\ndef f(): return 'one'\n")
    project.write("scratch/two.py", "import sys\nwidth = 4\ndef f(): return 'two'\n")

    outcome = project.run(shown("one.py", line=1), shown("two.py", line=2), block("print(f())"))

    (mistake,) = outcome.cells["file-2"].mistakes
    assert mistake.text == (
        "'f' already means something else in scratch/one.py than in scratch/two.py; "
        "give one of them another name, or leave it out of __all__ of scratch/two.py"
    )
    assert outcome.cells["block-10"].part("text")["text"] == "one\n"


def test_a_name_of_the_page_is_not_changed_by_a_file(project):
    project.write("scratch/two.py", "x = 2\n")

    assert project.mistake(block("x = 1", 1), shown("two.py")).text.startswith(
        "'x' already means something else on the page than in scratch/two.py"
    )


def test_a_failing_file_is_told_at_its_line_and_stops_the_page(project):
    project.write("scratch/bad.py", "print('start')\nx = 1\nx / 0\nprint('end')\n")

    outcome = project.run(shown("bad.py"), block("print(1)"))

    (mistake,) = outcome.cells["file-5"].mistakes
    assert mistake.place == Place("scratch/bad.py", 3)
    assert mistake.text == f"ZeroDivisionError: division by zero (run by {CHAPTER}:5)"
    assert text_of(outcome, shown("bad.py")) == "start\n"
    assert outcome.cells["block-10"].status == "not run"


def test_wrong_syntax_in_a_file_is_told_at_its_line(project):
    project.write("scratch/bad.py", "x = 1\ndef f(:\n")

    mistake = project.mistake(shown("bad.py"))

    assert (mistake.place, mistake.text) == (
        Place("scratch/bad.py", 2),
        f"SyntaxError: invalid syntax (run by {CHAPTER}:5)",
    )


def test_a_mistyped_region_is_told_and_the_page_still_has_the_files_names(project):
    project.write("scratch/names.py", "# tag::width[]\nx = 1\n# end::width[]\n")

    outcome = project.run(shown("names.py", "wdith"), block("print(x)"))

    assert outcome.cells["file-5"].status == "failed"
    assert outcome.cells["file-5"].part("listing") is None
    assert outcome.cells["file-5"].mistakes[0].kind == "region"
    assert outcome.cells["block-10"].part("text")["text"] == "1\n"


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(2):\n    # tag::x[]\n    print(i)\n    # end::x[]\n",
        "# tag::x[]\nfor i in range(2):\n    print(i)\n    # end::x[]\n    print(i)\n",
    ],
    ids=["its inside", "its beginning"],
)
def test_a_region_that_tears_a_printing_statement_is_told(project, text):
    project.write("scratch/torn.py", text)
    first = text[: text.index("for")].count("\n") + 1

    outcome = project.run(shown("torn.py", "x"))

    (mistake,) = outcome.cells["file-5"].mistakes
    assert mistake.place == Place("scratch/torn.py", first)
    assert mistake.text == (
        f"only a part of the statement at scratch/torn.py:{first} is shown, so that what it prints is not; "
        "take the whole statement in"
    )
    assert text_of(outcome, shown("torn.py", "x")) == ""


def test_a_file_that_is_not_python_is_shown_and_not_run(project):
    project.write("scratch/settings.toml", "# tag::x[]\nx = 1\n# end::x[]\n")

    outcome = project.run(shown("settings.toml", "x"))

    assert outcome.cells["file-5"].part("listing")["text"] == "x = 1\n"
    assert not outcome.failed


def test_a_file_beside_its_chapter_is_run_and_can_be_imported(project):
    project.write("docs/beside.py", "x = 3\nprint(x)\n")

    outcome = project.run(shown("beside.py", folder="docs"), block("import beside\nprint(beside.x)"))

    assert [text_of(outcome, cell) for cell in (shown("beside.py"), block(""))] == ["3\n", "3\n"]


def test_a_package_is_imported_from_its_folder(project):
    project.write("scratch/parts/__init__.py", "from . import norm\n")
    project.write("scratch/parts/norm.py", "# tag::x[]\nscale = 2\nprint(__name__, __package__)\n# end::x[]\n")

    assert project.output(shown("parts/norm.py", "x")) == "parts.norm parts\n"


def test_a_file_that_something_else_is_imported_for_is_told(project):
    project.write("scratch/sys.py", "x = 1\n")

    assert project.mistake(shown("sys.py")).text == (
        "scratch/sys.py cannot be run: `import sys` means another module, a built-in one; give the file another name"
    )


def test_the_bytes_that_are_shown_are_those_that_run(project):
    project.write("scratch/now.py", "x = 1\nprint(x)\n")
    session = project.session(shown("now.py"))
    project.write("scratch/now.py", "x = 2\nprint(x)\n")

    outcome = project.server.run(session)

    assert outcome.cells["file-5"].part("listing")["text"] == "x = 1\nprint(x)\n"
    assert text_of(outcome, shown("now.py")) == "1\n"


def test_two_edits_of_one_size_within_a_second_are_both_seen(project):
    seen = []
    for number in (1, 2, 3):
        project.write("scratch/helper.py", f"x = {number}\n")
        seen.append(project.output(block("import helper\nprint(helper.x)")))

    assert seen == ["1\n", "2\n", "3\n"]
    assert not list(project.root.rglob("__pycache__"))


def test_a_file_beside_a_module_is_a_resource_of_its_package(project):
    project.write("scratch/pack/__init__.py", "")
    project.write("scratch/pack/words.txt", "some words\n")
    text = "from importlib import resources\nprint(resources.files('pack').joinpath('words.txt').read_text(), end='')"

    assert project.output(block(text)) == "some words\n"


def test_processes_that_are_spawned_import_the_file_anew(project):
    text = (
        "import multiprocessing\ndef f(x):\n    return x\n"
        "if __name__ == '__main__':\n    context = multiprocessing.get_context('spawn')\n"
        "    with context.Pool(2) as pool:\n        print(pool.map(f, [1, 2]))\n"
    )
    project.write("scratch/spawning.py", text)

    assert project.output(shown("spawning.py")) == "[1, 2]\n"


def test_a_file_with_the_name_of_pythons_own_is_told_without_a_path_of_this_machine(project):
    project.write("scratch/json.py", "x = 1\n")

    assert project.mistake(shown("json.py")).text == (
        "scratch/json.py cannot be run: `import json` means another module, json/__init__.py; "
        "give the file another name"
    )
