"""Where an exception's own words name no cure, the message does: each at the author's line."""

import pytest

from scratchbook.core.sandbox import missing_guards
from tests.core.pages import CHAPTER, block

needs_guards = pytest.mark.skipif(bool(missing_guards()), reason=f"this system does not guard {missing_guards()}")

INPUT = "; nobody answers input() while a page is built: write the answer into the code"
DEBUGGER = "; nobody answers a debugger while a page is built: take breakpoint() out"
NOTEBOOK = "; a line that begins with ! or % is a command of notebooks: write Python, or take it out"
PACKAGE = "; install it beside scratchbook, or name the folder of its file in scratchbook_folders"
NETWORK = "; code reaches no other machine unless scratchbook_network = True"
# code -> the exception's own words, the choice behind them, the line of the block that fails
ADVICE = {
    "input": ("print(1)\nname = input('Who? ')", "EOFError: EOF when reading a line", INPUT, 2),
    "shell": ("x = 1\n!pip install numpy", "SyntaxError: invalid syntax", NOTEBOOK, 2),
    "magic": ("%matplotlib inline", "SyntaxError: invalid syntax", NOTEBOOK, 1),
    "magic of a line": ("def f():\n    %timeit x", "SyntaxError: invalid syntax", NOTEBOOK, 2),
    "console": (
        ">>> print(1)\n1",
        "SyntaxError: invalid syntax",
        "; >>> and what a console printed are no code: leave them out",
        1,
    ),
    "package": ("import nowhere.to_be_found", "ModuleNotFoundError: No module named 'nowhere'", PACKAGE, 1),
    "await": (
        "import asyncio\nawait asyncio.sleep(0)",
        "SyntaxError: 'await' outside function",
        "; a page has no event loop: write asyncio.run(...) around it",
        2,
    ),
    "file beside the chapter": (
        "open('rows.csv')",
        "FileNotFoundError: [Errno 2] No such file or directory: 'rows.csv'",
        "; paths count from the working folder, so write 'docs/rows.csv'",
        1,
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_the_message_says_what_to_do(project, name):
    code, fact, choice, line = ADVICE[name]
    (project.root / "docs/rows.csv").write_text("1\n")
    mistake = project.mistake(block(code))

    assert mistake.text == fact + choice
    assert (mistake.place.path, mistake.place.line - block(code).place.line) == (CHAPTER, line)


def test_a_file_beside_the_code_that_looks_for_it_is_named(project):
    project.write("scratch/rows.csv", "1\n")
    project.write("scratch/maths.py", "def load():\n    return open('rows.csv')\n")
    mistake = project.mistake(block("import maths\nmaths.load()"))

    choice = "; paths count from the working folder, so write 'scratch/rows.csv'"
    assert mistake.text.endswith(f"{choice} (run by {CHAPTER}:10)")


def test_a_debugger_waits_for_nobody(project):
    mistake = project.mistake(block("breakpoint()\nprint(1)"))

    assert mistake.text == f"bdb.BdbQuit{DEBUGGER}"
    assert mistake.place.path == CHAPTER  # before Python 3.13 it stops one line later


@needs_guards
def test_an_error_of_a_library_that_stems_from_the_network_names_the_setting(project):
    mistake = project.mistake(block("from urllib.request import urlopen\nurlopen('http://198.51.100.1')"))

    assert mistake.text == f"urllib.error.URLError: <urlopen error [Errno 101] Network is unreachable>{NETWORK}"


@pytest.mark.parametrize(
    "code", ["raise EOFError('the file is short')", "open('gone.csv')", "x = (1 +", "raise OSError('full')"]
)
def test_an_exception_that_says_enough_stands_alone(project, code):
    assert ";" not in project.mistake(block(code)).text
