"""Branches: tasks in forks of a page's namespace, which never change it and never hurt each other."""

import pytest

from scratchbook.core.cells import Code, Limits
from scratchbook.core.errors import Place
from scratchbook.core.records import to_json
from tests.core.pages import CHAPTER, block, branch

CHECK = "scratchbook.core.branches:check_code"
TASKS = """
from scratchbook.core.errors import Place, ScratchbookError


def part(**data):
    return {"parts": [{"kind": "data", "data": data}], "mistakes": []}


def add(namespace, payload):
    namespace["x"] += payload["n"]
    return part(x=namespace["x"])


def told(namespace, payload):
    raise ScratchbookError("it differs", Place("docs/page.md", 3), kind="equation")


def broken(namespace, payload):
    return 1 / 0


def strange(namespace, payload):
    return part(x=object())


def unending(namespace, payload):
    while True:
        pass


def killed(namespace, payload):
    import os
    os.kill(os.getpid(), 9)


def leaving(namespace, payload):
    import os
    os._exit(0)


def loud(namespace, payload):
    print("in a branch")
    return part(path=__file__)


def reading(namespace, payload):
    return part(text=open("data.txt").read())
"""


@pytest.fixture
def tasks(project):
    project.write("scratch/tasks.py", TASKS)
    return project


def code(text, line=80):
    numbers = tuple(range(line, line + text.count("\n") + 1))
    return to_json(Code(CHAPTER, text, numbers))


def test_a_branch_sees_the_names_of_the_whole_page_wherever_it_stands(tasks):
    outcome = tasks.run(branch("tasks:add", 1, n=1), block("x = 1"), block("x = 10", 20))

    assert outcome.cells["branch-1"].part("data") == {"x": 11}


def test_a_branch_changes_nothing_for_the_others(tasks):
    cells = [branch("tasks:add", line, n=line) for line in (71, 72)]

    outcome = tasks.run(block("x = 0"), *cells)

    assert [outcome.cells[cell.id].part("data") for cell in cells] == [{"x": 71}, {"x": 72}]


def test_a_branch_runs_beside_a_thread_of_a_page_that_makes_errors_of_warnings(tasks):
    text = (
        "import threading, time, warnings\nwarnings.simplefilter('error')\nx = 1\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    )

    assert tasks.run(block(text), branch("tasks:add", n=1)).cells["branch-70"].part("data") == {"x": 2}


def test_a_mistake_of_a_task_is_the_cells(tasks):
    mistake = tasks.mistake(branch("tasks:told"))

    assert (mistake.kind, mistake.text, mistake.place) == ("equation", "it differs", Place(CHAPTER, 3))


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("tasks:broken", "tasks:broken failed: ZeroDivisionError: division by zero"),
        ("tasks:strange", "tasks:strange failed: TypeError: Object of type object is not JSON serializable"),
        ("tasks:missing", "tasks:missing failed: AttributeError: module 'tasks' has no attribute 'missing'"),
        ("nowhere:f", "nowhere:f failed: ModuleNotFoundError: No module named 'nowhere'"),
        ("tasks:killed", "killed by signal 9 (SIGKILL)"),
        ("tasks:leaving", "ended early: its process exited with status 0"),
    ],
)
def test_a_task_that_fails_is_one_mistake_and_the_next_one_runs(tasks, task, told):
    bad, good = branch(task, 71), branch("tasks:add", 72, n=1)

    outcome = tasks.run(block("x = 1"), bad, good)

    assert [mistake.text for mistake in outcome.cells[bad.id].mistakes] == [told]
    assert outcome.cells[bad.id].status == "failed"
    assert outcome.cells[good.id].part("data") == {"x": 2}


def test_a_task_has_a_limit_of_its_own_and_the_next_one_runs(tasks):
    slow, good = branch("tasks:unending", 71, seconds=0.3), branch("tasks:add", 72, n=1)

    outcome = tasks.run(block("x = 1"), slow, good, limits=Limits(block_seconds=5))

    (mistake,) = outcome.cells[slow.id].mistakes
    assert mistake.text == (
        "ran longer than 0.3 s and was stopped; raise it with scratchbook_block_seconds "
        f"(run by {CHAPTER}:71)"
    )
    assert mistake.place.path == "scratch/tasks.py"
    assert outcome.cells[good.id].part("data") == {"x": 2}


def test_what_a_task_prints_is_not_the_pages_and_its_paths_are_the_projects(tasks):
    outcome = tasks.run(branch("tasks:loud"))

    assert [part.kind for part in outcome.cells["branch-70"].parts] == ["data"]
    assert outcome.cells["branch-70"].part("data") == {"path": "scratch/tasks.py"}


def test_what_a_task_reads_is_recorded(tasks):
    tasks.write("data.txt", "1")

    outcome = tasks.run(branch("tasks:reading"))

    assert set(outcome.uses.files) == {"data.txt", "scratch/tasks.py"}
    assert outcome.uses.unsure == ()


def test_code_that_runs_is_told_as_such(project):
    solution = branch(CHECK, codes=[code("def f(x):\n    return x + y"), code("assert f(1) == 3", 90)])

    outcome = project.run(block("y = 2"), solution)

    assert outcome.cells[solution.id].part("data") == {
        "ok": True,
        "failed": None,
        "text": "",
        "place": None,
        "detail": "",
    }


def test_code_that_fails_is_told_with_its_place_and_is_no_mistake(project):
    starter = branch(CHECK, codes=[code("def f(x):\n    return None"), code("\nassert f(1) == 3, 'not yet'", 90)])

    outcome = project.run(starter)

    data = outcome.cells[starter.id].part("data")
    assert (data["ok"], data["failed"], data["text"]) == (False, 1, "AssertionError: not yet")
    assert data["place"] == [CHAPTER, 91]
    assert not outcome.failed


@pytest.mark.parametrize("text", ["def f(:", "import sys; sys.exit(0)", "raise SystemExit"])
def test_code_that_leaves_or_cannot_be_read_has_failed(project, text):
    outcome = project.run(branch(CHECK, codes=[code(text)]))

    assert outcome.cells["branch-70"].part("data")["ok"] is False
