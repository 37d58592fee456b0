"""What running a page means: one namespace, ordered output, true lines, and one mistake for whatever goes wrong."""

import time
from dataclasses import replace

import pytest

from scratchbook.core.cells import Limits, State
from scratchbook.core.errors import Place
from tests.core.pages import CHAPTER, block, branch, claim, shown, value

QUICK = Limits(block_seconds=0.4, page_seconds=5.0)


def test_blocks_of_a_page_share_one_namespace(project):
    assert project.output(block("x = 3"), block("print(x + 1)", 20)) == "4\n"


def test_two_pages_share_nothing(project):
    project.run(block("import numpy as np, builtins\nnp.set_printoptions(precision=2)\nbuiltins.leak = 1"))

    assert project.output(
        block("import numpy as np\nprint(np.array([np.pi]))\nprint('leak' in dir(__builtins__))")
    ) == ("[3.14159265]\nFalse\n")


def test_generators_without_a_seed_of_their_own_draw_the_same_in_every_page(project):
    draw = block("import random, numpy as np\nprint(random.random(), np.random.random())")

    assert project.output(draw) == project.output(draw)


def test_a_state_is_set_before_the_first_block(project):
    assert project.output(block("print(last_token)"), state=State("last_token", "cat")) == "cat\n"


def test_print_options_are_those_of_the_settings(project):
    shown_array = block("import numpy as np\nprint(np.array([1 / 3]))")

    assert project.output(shown_array, print_options=(("precision", 3),)) == "[0.333]\n"


def test_every_way_to_print_lands_in_one_ordered_stream(project):
    text = "\n".join(
        [
            "import os, sys, logging, subprocess, warnings",
            "print('print')",
            "sys.stdout.buffer.write(b'buffer\\n')",
            "os.write(1, b'write\\n')",
            "print('error', file=sys.stderr)",
            "logging.warning('log')",
            "subprocess.run(['echo', 'child'])",
            "warnings.warn('careful')",
            "print('last')",
        ]
    )

    assert project.output(block(text)) == (
        "print\nbuffer\nwrite\nerror\nWARNING:root:log\nchild\n"
        f"{CHAPTER}:18: UserWarning: careful\n  warnings.warn('careful')\nlast\n"
    )


def test_a_thread_prints_into_the_block_that_started_it(project):
    start = (
        "import threading, time\n"
        "def late():\n    time.sleep(0.05)\n    print('late')\n"
        "threading.Thread(target=late).start()"
    )

    outcome = project.run(block(start), block("print('next')", 20))

    assert outcome.cells["block-10"].part("text")["text"] == "late\n"
    assert outcome.cells["block-20"].part("text")["text"] == "next\n"


def test_what_takes_the_place_of_stdout_goes_with_its_block(project):
    assert (
        project.output(block("import io, sys\nsys.stdout = io.StringIO()\nprint('lost')"), block("print(1)", 20))
        == "1\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
        "os.close(1); os.close(2)",
        "sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
        "del sys.stdout",
    ],
)
def test_what_a_block_does_to_its_output_is_over_with_it(project, text):
    first = block(f"import os, sys\n{text}")

    assert project.output(first, block("print('on')\nos.write(1, b'again\\n');", 20)) == "on\nagain\n"


def test_text_is_utf8_whatever_the_builders_locale(project, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")

    assert project.output(block("print('● ♞ ∑')")) == "● ♞ ∑\n"


def test_the_working_folder_is_the_projects_root_and_a_change_lasts_for_the_page_only(project):
    change = block("import os\nprint(os.getcwd())\nos.chdir('docs')")

    assert project.output(change, block("print(os.listdir('..'))", 20)).count("docs") == 1
    assert project.output(change) == ".\n"


def test_a_module_that_a_block_writes_can_be_imported_by_the_next(project):
    write = block("open('fresh.py', 'w').write('x = 5')")

    assert project.output(write, block("import fresh\nprint(fresh.x)", 20)) == "5\n"


def test_a_future_import_holds_for_the_later_blocks(project):
    first = block("from __future__ import annotations")

    assert project.output(first, block("def f(x: unknown): pass\nprint(f.__annotations__)", 20)) == "{'x': 'unknown'}\n"


def test_a_class_of_the_page_can_be_pickled(project):
    text = "import pickle\nclass Token:\n    pass\nprint(type(pickle.loads(pickle.dumps(Token()))).__name__, __name__)"

    assert project.output(block(text)) == "Token __main__\n"


def test_the_last_expression_is_shown_as_a_console_does(project):
    text = "print('first')\nimport numpy as np\nnp.float64(3.5)"

    assert project.output(block(text, show_value=True)) == "first\n3.5\n"


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("x = None\nx", "drop :show-value:"),
        ("print(1)", "drop :show-value:"),
        ("x = 1", "end it with an expression that has one"),
    ],
)
def test_a_block_that_ends_without_a_value_cannot_show_one(project, text, choice):
    mistake = project.mistake(block(text, show_value=True))

    assert mistake.kind == "output"
    assert mistake.text == f"the last line has no value, which :show-value: was to show; {choice}"


def test_addresses_are_the_same_in_every_run(project):
    assert project.output(block("print(object())")) == "<object object at 0x…>\n"


def test_the_order_of_a_set_is_the_same_in_every_run(project):
    ordered = block("print({'a', 'b', 'c', 'd'})")

    assert project.output(ordered) == project.output(ordered)


def test_code_of_any_size_runs(project):
    text = "x = [\n" + "    1234567890,\n" * 12_000 + "]\nprint(len(x))"

    assert project.output(block(text)) == "12000\n"


# --- failures --------------------------------------------------------------------------------------------------


def test_an_exception_is_told_at_its_line_with_a_short_traceback(project):
    mistake = project.mistake(block("x = 1\nx / 0"))

    assert (mistake.kind, mistake.text, mistake.place) == (
        "run",
        "ZeroDivisionError: division by zero",
        Place(CHAPTER, 12),
    )
    assert mistake.detail == (
        "Traceback (most recent call last):\n"
        f'  File "{CHAPTER}", line 12, in <module>\n    x / 0\n    ~~^~~\n'
        "ZeroDivisionError: division by zero\n"
    )


def test_an_exception_in_a_file_is_told_there_with_the_block_that_ran_it(project):
    project.write("scratch/maths.py", "def divide(a, b):\n    return a / b\n")

    mistake = project.mistake(block("import maths\nmaths.divide(1, 0)"))

    assert mistake.place == Place("scratch/maths.py", 2)
    assert mistake.text == f"ZeroDivisionError: division by zero (run by {CHAPTER}:10)"


def test_an_exception_of_an_earlier_blocks_function_says_which_block_called_it(project):
    mistake = project.mistake(block("def f():\n    return undefined"), block("f()", 20))

    assert mistake.place == Place(CHAPTER, 12)
    assert mistake.text == f"NameError: name 'undefined' is not defined (run by {CHAPTER}:20)"


def test_after_a_failed_block_the_later_cells_are_not_run_and_say_nothing(project):
    outcome = project.run(block("1 / 0"), block("print(1)", 20), value("1"), branch("any:task"))

    assert [cell.status for cell in outcome.cells.values()] == ["failed", "not run", "not run", "not run"]
    assert [len(cell.mistakes) for cell in outcome.cells.values()] == [1, 0, 0, 0]


def test_output_before_a_failure_is_kept(project):
    outcome = project.run(block("print('before')\n1 / 0"))

    assert outcome.cells["block-10"].part("text")["text"] == "before\n"


def test_wrong_syntax_is_told_at_its_line(project):
    mistake = project.mistake(block("x = 1\ny = = 2"))

    assert (mistake.text, mistake.place) == ("SyntaxError: invalid syntax", Place(CHAPTER, 12))


def test_lines_taken_out_of_a_block_do_not_move_the_places_of_the_others(project):
    cell = block("x = 1\nx / 0")
    skipped = type(cell)(cell.id, cell.place, type(cell.code)(CHAPTER, cell.code.text, (11, 17)))

    assert project.mistake(skipped).place == Place(CHAPTER, 17)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import os\nos.kill(os.getpid(), 9)", "killed by signal 9 (SIGKILL)"),
        ("import ctypes\nctypes.string_at(0)", "killed by signal 11 (SIGSEGV)"),
        ("import os\nos.abort()", "killed by signal 6 (SIGABRT)"),
        ("import os\nos._exit(0)", "ended early: its process exited with status 0"),
        ("print('a')\nimport sys; sys.exit(0)", "ended early: sys.exit(0)"),
        ("print('a')\nexit()", "ended early: sys.exit()"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_every_end_but_the_last_line_is_one_mistake(project, text, told):
    started = time.monotonic()

    outcome = project.run(block(text), block("print('ok')", 20))

    assert [mistake.text for cell in outcome.cells.values() for mistake in cell.mistakes] == [told]
    assert outcome.mistakes == ()
    assert outcome.cells["block-20"].status == "not run"
    assert time.monotonic() - started < 2


def test_a_crash_is_told_at_the_line_where_it_happened(project):
    project.write("scratch/deep.py", "import ctypes\ndef crash():\n    ctypes.string_at(0)\n")

    mistake = project.mistake(block("import deep\ndeep.crash()"))

    assert mistake.place == Place("scratch/deep.py", 3)
    assert mistake.text == f"killed by signal 11 (SIGSEGV) (run by {CHAPTER}:10)"


def test_bytes_that_are_no_text_are_replaced_and_told(project):
    outcome = project.run(block("import os\nos.write(1, b'a\\xff\\xfe')"), block("print('ok')", 20))

    assert outcome.cells["block-10"].part("text")["text"] == "a\ufffd\ufffd"
    assert outcome.cells["block-10"].mistakes[0].text == (
        "printed 2 bytes that are not UTF-8, shown as \ufffd; decode what you print first"
    )
    assert outcome.cells["block-20"].status == "ok"


def test_an_endless_block_ends_at_its_limit_and_says_where_it_was(project):
    started = time.monotonic()

    outcome = project.run(block("print('a')\nwhile True:\n    pass"), block("print('ok')", 20), limits=QUICK)

    assert time.monotonic() - started < 1.5
    (mistake,) = outcome.cells["block-10"].mistakes
    assert mistake.text == (
        "ran longer than 0.4 s and was stopped; raise it with :timeout: or scratchbook_block_seconds"
    )
    assert mistake.place.path == CHAPTER
    assert 12 <= mistake.place.line <= 13
    assert outcome.cells["block-10"].part("text")["text"] == "a\n"
    assert outcome.cells["block-20"].status == "not run"


def test_a_block_may_have_a_limit_of_its_own_beyond_that_of_the_page(project):
    limits = Limits(block_seconds=0.1, page_seconds=0.2)

    assert project.output(block("import time\ntime.sleep(0.3)\nprint('done')", seconds=5.0), limits=limits) == "done\n"


def test_a_page_ends_at_its_limit(project):
    blocks = [block("import time; time.sleep(0.2)", line) for line in (10, 20, 30)]

    mistake = project.mistake(*blocks, limits=Limits(block_seconds=5.0, page_seconds=0.3))

    assert mistake.text == (
        "the page ran longer than 0.3 s and was stopped here; raise it with scratchbook_page_seconds"
    )
    assert mistake.place == Place(CHAPTER, 21)


def test_output_beyond_what_is_shown_is_cut_between_two_lines_and_counted(project):
    limits = Limits(shown_bytes=1000)

    outcome = project.run(block("for i in range(100):\n    print('x' * 19)"), limits=limits)

    part = outcome.cells["block-10"].part("text")
    assert (len(part["text"]), part["text"][-1], part["cut"]) == (1000, "\n", 1000)
    assert not outcome.failed


def test_endless_output_is_stopped_at_what_is_kept(project):
    started = time.monotonic()

    outcome = project.run(block("while True:\n    print('x' * 99)"))

    assert time.monotonic() - started < 3
    assert outcome.cells["block-10"].mistakes[0].text == (
        "printed more than 1 MiB and was stopped; raise it with :captured-bytes: or scratchbook_captured_bytes"
    )
    assert len(outcome.cells["block-10"].part("text")["text"]) <= 64 * 1024


def test_a_block_may_keep_and_show_more_or_less_than_the_page(project):
    endless = block("while True:\n    print('x' * 99)", captured_bytes=2000, shown_bytes=250)
    outcome = project.run(block("print('y' * 999)", shown_bytes=10), replace(endless, id="endless"))

    assert outcome.cells["block-10"].part("text") == {"text": "y" * 10, "cut": 990}
    assert outcome.cells["endless"].part("text")["text"] == f"{'x' * 99}\n" * 2
    assert outcome.cells["endless"].mistakes[0].text == (
        "printed more than 1.953 KiB and was stopped; raise it with :captured-bytes: or scratchbook_captured_bytes"
    )


@pytest.mark.parametrize("pause", ["", "import time\ntime.sleep(0.3)\n"])
def test_what_prints_too_much_has_failed_however_soon_it_ends(project, pause):
    """Whether it is stopped in time depends on the machine, and a page must not."""
    much = block(f"print('é' * 200)\n{pause}", captured_bytes=100)
    outcome = project.run(much, block("print('later')", line=20))

    assert outcome.cells["block-10"].part("text") == {"text": "é" * 50, "cut": 0}
    assert outcome.cells["block-10"].mistakes[0].text.startswith("printed more than 100 bytes and was stopped")
    assert [cell.status for cell in outcome.cells.values()] == ["failed", "not run"]


@pytest.mark.parametrize("end", ["import os\nos._exit(3)", "while True:\n    pass"])
def test_what_was_printed_before_the_process_ended_stays_also_after_an_import(project, end):
    project.write("scratch/helper.py", "x = 1\nprint('in the file')\ny = 2\n")
    outcome = project.run(block(f"print('one')\nimport helper\nprint('two')\n{end}"), limits=Limits(block_seconds=0.5))

    assert outcome.cells["block-10"].part("text")["text"] == "one\nin the file\ntwo\n"


def test_what_a_file_printed_before_the_process_ended_stays(project):
    project.write("scratch/ending.py", "print('one')\nx = 1\nprint('two')\nimport os\nos._exit(2)\n")

    assert project.run(shown("ending.py")).cells["file-5"].part("text")["text"] == "one\ntwo\n"


def test_what_takes_no_options_is_told_the_setting_alone(project):
    mistake = project.mistake(value("[1 for _ in iter(int, 1)]"), limits=Limits(block_seconds=0.2))

    assert mistake.text == "ran longer than 0.2 s and was stopped; raise it with scratchbook_block_seconds"


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nchild = subprocess.Popen(['sleep', '600']).pid",
        "import subprocess\nchild = subprocess.Popen(['sleep', '600'], start_new_session=True).pid",
        "import os\nnear, far = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    child = os.fork()\n"
        "    if child == 0:\n        os.execlp('sleep', 'sleep', '600')\n"
        "    os.write(far, str(child).encode())\n    os._exit(0)\nos.wait()\nchild = int(os.read(near, 20))",
    ],
    ids=["child", "group of its own", "daemon"],
)
def test_a_process_that_outlives_its_block_is_told_there_and_stopped(project, text):
    started = time.monotonic()

    # A process has the name of what started it until it is another program, which nothing else tells.
    wait = "while b'600' not in open(f'/proc/{child}/cmdline', 'rb').read():\n    pass\nprint('on')"
    outcome = project.run(block("import time"), block(text, 20), block(wait, 40))

    assert time.monotonic() - started < 3
    assert [mistake.text for mistake in outcome.cells["block-20"].mistakes] == [
        "left a process running, which was stopped: sleep 600; wait for it or end it"
    ]
    assert outcome.cells["block-40"].part("text")["text"] == "on\n"


FORK = "import os\nchild = os.fork()\nprint(child == 0)\nif child:\n    os.waitpid(child, 0)"


def test_a_copy_of_the_page_that_a_block_forks_ends_with_it_and_is_told(project):
    outcome = project.run(block(FORK), block("print('next')", 30))

    assert [mistake.text for mistake in outcome.cells["block-10"].mistakes] == [
        "forked, and the copy ran on to the end of the block; end it there with os._exit()"
    ]
    text = outcome.cells["block-10"].part("text")["text"]  # both print at once, so even within a line
    assert sorted(text.replace("\n", "")) == sorted("FalseTrue")
    assert outcome.cells["block-30"].part("text")["text"] == "next\n"


def test_what_a_copy_prints_late_is_not_laid_to_a_value(project):
    late = block("import os, time\nif os.fork() == 0:\n    time.sleep(0.2)\n    print('late')")
    outcome = project.run(late, value("time.sleep(0.5) or 3"))

    assert [mistake.kind for mistake in outcome.cells["block-10"].mistakes] == ["run"]
    assert outcome.cells["value-50"].mistakes == ()


def test_a_process_that_comes_late_is_told_where_its_maker_was_started(project):
    start = "import subprocess\nsubprocess.Popen('sleep 0.2; sleep 601 & sleep 602', shell=True)"
    outcome = project.run(block(start), block("import time\ntime.sleep(0.6)", 20))

    assert len(outcome.cells["block-10"].mistakes) == 1
    assert outcome.cells["block-20"].mistakes == ()


def test_what_goes_wrong_in_a_copy_of_the_page_is_told_at_its_line(project):
    outcome = project.run(block(f"{FORK}\nelse:\n    1 / 0\nprint('on')"))

    (mistake,) = outcome.cells["block-10"].mistakes
    assert (mistake.text, mistake.place.line) == ("ZeroDivisionError: division by zero", 17)
    assert outcome.cells["block-10"].part("text")["text"].endswith("on\n")


NOISE = ["[1]", '{"begin": {}}', '{"begin": "block-10", "mark": "x"}', '{"end": "block-10", "spans": 3}', "null", "{"]


@pytest.mark.parametrize("noise", NOISE)
def test_what_code_writes_into_every_descriptor_is_not_taken_for_a_report(project, noise):
    text = f"import os\nfor handle in range(3, 40):\n    try:\n        os.write(handle, b'{noise}')\n"
    text += "    except OSError:\n        pass\nprint('done')"

    assert project.output(block(text), block("print('on')", 30)) == "on\n"


def test_a_process_may_serve_several_blocks_of_a_page(project):
    start = block("import subprocess\ncat = subprocess.Popen(['cat'], stdin=subprocess.PIPE)")

    assert project.output(start, block("cat.communicate(b'through\\n');", 20)) == "through\n"


def test_a_pool_of_processes_works_and_leaves_nothing(project):
    project.write("scratch/square.py", "def square(x):\n    return x * x\n")
    text = (
        "import multiprocessing, square\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    print(pool.map(square.square, [1, 2, 3]))\npool.join()"
    )

    assert project.output(block(text)) == "[1, 4, 9]\n"


# --- exceptions that are meant ----------------------------------------------------------------------------------


def test_an_exception_that_is_meant_is_shown_as_the_last_line_of_its_traceback(project):
    meant = block("print('first')\nint('x')", raises="ValueError")

    assert project.output(meant, block("print('on')", 20)) == "on\n"
    assert project.run(meant).cells["block-10"].part("text")["text"] == (
        "first\nValueError: invalid literal for int() with base 10: 'x'\n"
    )


def test_a_subclass_of_the_exception_that_is_meant_passes(project):
    assert project.output(block("{}['x']", raises="LookupError")) == "KeyError: 'x'\n"


def test_another_exception_than_the_one_meant_is_a_mistake(project):
    mistake = project.mistake(block("1 / 0", raises="ValueError"))

    assert mistake.text == "ZeroDivisionError: division by zero, where :raises: says ValueError must come"


def test_no_exception_where_one_is_meant_is_a_mistake(project):
    assert project.mistake(block("1", raises="ValueError")).text == (
        "ended without ValueError, which :raises: says must come"
    )


# --- values and claims ------------------------------------------------------------------------------------------


def test_a_value_is_evaluated_where_it_stands(project):
    outcome = project.run(block("x = 2 / 3"), value("x:.2f", 15), block("x = 5", 20), value("x", 25))

    assert outcome.cells["value-15"].part("value") == {"text": "0.67"}
    assert outcome.cells["value-25"].part("value") == {"text": "5"}


def test_an_undefined_name_is_told_with_those_that_are_near(project):
    outcome = project.run(block("loss = 1"), value("los"), block("print('on')", 55))

    assert outcome.cells["value-50"].mistakes[0].text == (
        "`los` cannot be evaluated: NameError: name 'los' is not defined; did you mean loss"
    )
    assert outcome.cells["block-55"].status == "ok"


def test_a_claim_that_does_not_hold_is_told_with_its_values_and_the_page_goes_on(project):
    outcome = project.run(block("x = 3"), claim("x == 4"), block("print('on')", 65))

    assert (outcome.cells["claim-60"].mistakes[0].kind, outcome.cells["claim-60"].mistakes[0].text) == (
        "claim",
        "`x == 4` does not hold: the sides are 3 and 4",
    )
    assert outcome.cells["block-65"].status == "ok"


def test_a_value_or_claim_that_prints_is_told(project):
    outcome = project.run(value("print('x') or 3"), claim("print('y') is None"), block("print('on')", 70))

    assert outcome.cells["value-50"].part("value") == {"text": "3"}
    for cell, expression in (("value-50", "print('x') or 3"), ("claim-60", "print('y') is None")):
        (mistake,) = outcome.cells[cell].mistakes
        assert (mistake.kind, mistake.text) == (
            cell.split("-")[0],
            f"`{expression}` also prints something, which a sentence cannot show; print it in a block",
        )


@pytest.mark.parametrize(
    ("expression", "told"),
    [("1) + (2", "unmatched ')'"), ("[", "'[' was never closed"), ("1 == 1) or (0", "unmatched ')'")],
)
@pytest.mark.parametrize("make", [value, claim])
def test_an_expression_with_a_bracket_too_many_or_too_few_is_told(project, make, expression, told):
    assert project.mistake(make(expression)).text == f"`{expression}` cannot be evaluated: SyntaxError: {told}"


def test_an_expression_may_go_on_in_the_next_line(project):
    assert project.run(value("1\n+ 2", 50)).cells["value-50"].part("value") == {"text": "3"}


@pytest.mark.parametrize("expression", ["chr(0)", "'\\x1b[31m'"])
def test_a_value_without_a_letter_that_shows_is_told(project, expression):
    assert project.mistake(value(expression)).text == f"`{expression}` has no letter that shows"


def test_a_surrogate_is_written_as_its_number_wherever_it_stands(project):
    outcome = project.run(value("'a' + chr(0xD800)"), block("[['b' + chr(0xDFFF)]]", wants="table"))

    assert outcome.cells["value-50"].part("value") == {"text": "a\\ud800"}
    assert outcome.cells["block-10"].part("table")["rows"] == [["b\\udfff"]]


def test_the_last_value_is_shown_whatever_the_page_does_with_print(project):
    text = "import builtins\nbuiltins.print = None\n3"

    assert project.output(block(text, show_value=True)) == "3\n"


def test_a_claim_that_holds_is_silent(project):
    assert project.output(block("x = 3"), claim("x == 3")) == ""


# --- figures and tables -----------------------------------------------------------------------------------------


def test_a_table_is_what_a_block_ends_with(project):
    outcome = project.run(block("[{'a': 1 / 3, 'b': 'x'}]", wants="table"), print_options=(("precision", 3),))

    assert outcome.cells["block-10"].part("table") == {"header": ["a", "b"], "rows": [["0.333", "x"]]}


def test_no_table_is_told(project):
    mistake = project.mistake(block("3", wants="table"))

    assert mistake.kind == "output"
    assert mistake.text.startswith("the block ends with a value of type int, which is no table; end it with")


def test_a_figure_is_drawn_the_same_every_time_and_the_next_block_starts_with_none(project):
    draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])"

    first = project.run(block(draw, wants="figure"), block("print(plt.get_fignums())", 20))
    again = project.run(block(draw, wants="figure"))

    assert first.cells["block-10"].parts == again.cells["block-10"].parts
    assert [part.kind for part in first.cells["block-10"].parts] == ["svg", "pdf"]
    assert first.cells["block-20"].part("text")["text"] == "[]\n"


def test_a_figure_that_is_not_what_was_meant_is_told_and_the_next_block_starts_with_none(project):
    draw = block("import matplotlib.pyplot as plt\nplt.title('日')", wants="figure")
    outcome = project.run(draw, block("print(plt.get_fignums())", 20))

    (mistake,) = outcome.cells["block-10"].mistakes
    assert mistake.text.startswith("the figure is not what was meant: Glyph 26085 ")
    assert (mistake.kind, outcome.cells["block-10"].part("text")) == ("output", None)
    assert outcome.cells["block-20"].part("text")["text"] == "[]\n"


def test_no_figure_is_told(project):
    assert project.mistake(block("1", wants="figure")).text == (
        "drew no figure; draw with matplotlib, or end with a figure, an SVG text or _repr_svg_()"
    )


def test_a_page_gives_the_same_from_every_working_folder(project, monkeypatch):
    project.write("scratch/data.csv", "1,2\n")
    read = block("print(open('scratch/data.csv').read(), end='')")
    monkeypatch.chdir("/")

    assert project.output(read) == "1,2\n"


def test_a_file_and_a_block_share_names(project):
    project.write("scratch/names.py", "# tag::x[]\nx = 41\n# end::x[]\n")

    assert project.output(shown("names.py", "x"), block("print(x + 1)")) == "42\n"


DRAW = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"


@pytest.mark.parametrize("code", [DRAW, f"{DRAW}plt.show()", f"{DRAW}print(1)"])
def test_a_figure_that_nobody_sees_is_told(project, code):
    mistake = project.mistake(block(code))

    choice = "say what it shows with :figure: of {live}, save it, or close it"
    assert mistake.text == f"drew a figure that no block shows; {choice}"


@pytest.mark.parametrize(
    "cells",
    [
        [block(DRAW), block("plt.title('both')", 20, wants="figure")],
        [block(f"{DRAW}plt.close()")],
        [block(f"{DRAW}plt.savefig('/dev/null', format='svg')")],
        [block(f"{DRAW}plt.show()", wants="figure"), block("plt.show()", 20)],
    ],
    ids=["shown later", "closed", "saved", "shown"],
)
def test_a_figure_that_is_shown_closed_or_saved_is_none_that_is_lost(project, cells):
    assert [cell.mistakes for cell in project.run(*cells).cells.values()] == [()] * len(cells)


def test_a_thread_that_does_not_end_is_named(project):
    code = "import threading\nthreading.Thread(target=threading.Event().wait, name='waiter').start()\nprint(1)"
    mistake = project.mistake(block(code, seconds=0.5))

    assert mistake.text == (
        "its thread 'waiter' ran longer than 0.5 s and was stopped; let it end, make it a daemon, or raise it with "
        ":timeout: or scratchbook_block_seconds"
    )


@pytest.mark.parametrize("text", ["raise RuntimeError('mine')", "x = 1"])
def test_a_project_may_have_a_module_named_as_the_one_that_finds_near_names(project, text):
    project.write("scratch/difflib.py", text)

    mistake = project.mistake(block("loss = 3"), value("los"))

    # Which it is depends on what the pages before have loaded.
    assert mistake.text.split("; did you mean")[0] == "`los` cannot be evaluated: NameError: name 'los' is not defined"
