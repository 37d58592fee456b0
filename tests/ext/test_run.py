"""The run phase: which sessions run, which pages are written anew, and what is said about it."""

import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from scratchbook.core import runner
from scratchbook.ext.run import run_jobs


def page(file):
    return f"# Page\n\n```{{live}} {file}\n:tag: part\n```\n\nText.\n"


def code(value):
    return f"# tag::part[]\nprint('value {value}')\n# end::part[]\n"


@pytest.fixture
def pair(project):
    project.write(
        {
            "docs/index.md": "# Book\n\n```{toctree}\none\ntwo\n```\n",
            "docs/one.md": page("one.py"),
            "docs/two.md": page("two.py"),
            "scratch/one.py": code(1),
            "scratch/two.py": code(2),
        }
    )
    return project


def contents(built):
    outdir = Path(built.app.outdir)
    return {path.name: path.read_bytes() for path in outdir.glob("*.html")}


def test_an_edit_of_code_changes_the_pages_that_show_it_and_reads_no_chapter_again(pair):
    before = contents(pair.build("html"))
    again = pair.write({"scratch/one.py": code(10)}).build("html")

    after = contents(again)
    assert [name for name in after if after[name] != before[name]] == ["one.html"]
    assert "0 added, 0 changed, 0 removed" in again.log
    assert b"value 10" in after["one.html"]
    assert "writing output... [100%] one" in again.log


def test_nothing_is_written_when_nothing_changed(pair):
    pair.build("html")

    assert "writing output... [" not in pair.build("html").log


def test_an_edit_of_an_imported_file_changes_the_page_too(pair):
    pair.write({"scratch/one.py": "# tag::part[]\nfrom two import *\nprint('got', NUMBER)\n# end::part[]\n"})
    pair.write({"scratch/two.py": "NUMBER = 5\n", "docs/two.md": "# Two\n"}).build("html")
    again = pair.write({"scratch/two.py": "NUMBER = 6\n"}).build("html")

    assert b"got 6" in contents(again)["one.html"]
    assert "0 added, 0 changed, 0 removed" in again.log


def test_stored_outcomes_are_not_run_again(pair, tmp_path):
    pair.settings = {"scratchbook_cache": str(tmp_path / "cache")}
    first = pair.build("html")
    pair.write({"scratch/one.py": code(10)})
    second = pair.build("html")
    other = pair.build("text")

    assert "2 sessions: 2 run, 0 cached, 0 failed" in first.log
    assert "2 sessions: 1 run, 1 cached, 0 failed" in second.log
    assert "2 sessions: 0 run, 2 cached, 0 failed" in other.log


def test_never_shows_code_and_runs_nothing(pair):
    built = pair.build("text", scratchbook_execute="never")

    assert "print('value 1')" in built.file("one.txt")
    assert "Output" not in built.file("one.txt")
    assert built.warnings == []


def test_cache_only_tells_what_is_not_stored(pair):
    built = pair.build("text", scratchbook_execute="cache-only")

    assert built.warnings[0] == (
        "docs/one.md:3: WARNING: this page has no stored outcome, and scratchbook_execute is 'cache-only'; "
        "build once with 'run' [scratchbook.cache]"
    )
    assert len(built.warnings) == 2
    assert built.status == 1


def test_our_own_fork_server_gives_the_same_pages(pair):
    theirs = contents(pair.build("html"))
    pair.clean()

    assert contents(pair.build("html", scratchbook_executor="")) == theirs


def broken_executor():
    """Return an executor that has been shut down, as one whose machine is gone."""
    from concurrent.futures import Executor, Future

    class Broken(Executor):
        def submit(self, function, /, *arguments, **named):
            future = Future()
            future.set_exception(ConnectionError("no worker"))
            return future

    return Broken()


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (f"{Path(__file__).stem}.broken_executor", "ConnectionError: no worker"),
        ("operator.length_hint", "TypeError: "),
        ("os.getpid", "TypeError: "),
    ],
)
def test_a_broken_executor_is_one_message_a_page(pair, monkeypatch, factory, said):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    built = pair.build("html", scratchbook_executor=factory)

    assert built.warnings[0].startswith(f"docs/one.md:3: WARNING: the session could not be run: {said}")
    assert len(built.warnings) == 2


def test_the_progress_names_pages_on_plain_lines(pair):
    log = pair.build("html").log

    assert re.search(r"running pages\.\.\. \[ 50%\] (one|two)( \(\d+ s left\))?\nrunning pages\.\.\. \[100%\] \w+", log)


def test_a_deleted_page_leaves_no_outcome(pair):
    pair.build("html")
    (pair.root / "docs/two.md").unlink()
    built = pair.write({"docs/index.md": "# Book\n\n```{toctree}\none\n```\n"}).build("html")

    assert sorted(built.app.env.domains["scratchbook"].outcomes) == ["one"]
    assert "1 session: " in built.log


def test_pages_do_not_share_names(pair):
    pair.write({"docs/one.md": "# One\n\n```{live}\nsecret = 1\n```\n", "docs/two.md": "# Two\n\n{value}`secret`\n"})
    built = pair.build("html")

    assert len(built.warnings) == 1
    assert built.warnings[0].startswith("docs/two.md:3: WARNING: `secret` cannot be evaluated")


# A system without what Unix alone has; `subprocess` and the rest of Python stay as they are.
WITHOUT_FORK = """
import os, signal, socket, sys
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
for place, names in (
    (os, ("fork", "register_at_fork", "setsid", "sched_getaffinity", "getuid", "killpg")),
    (socket, ("send_fds",)),
    (signal, ("SIGUSR1", "SIGKILL", "SIGCHLD")),
):
    for name in names:
        if hasattr(place, name):
            delattr(place, name)
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_system_that_cannot_fork_is_one_message_and_shows_the_code(pair):
    conf = (pair.root / "conf.py").read_text().replace("scratchbook_executor =", "unused =")
    pair.write({"conf.py": conf, "without_fork.py": WITHOUT_FORK})
    command = [sys.executable, "without_fork.py", "--conf-dir", ".", "-b", "text", "docs", "build/text"]
    done = subprocess.run(command, cwd=pair.root, capture_output=True, text=True, check=False)

    assert done.stderr.count("WARNING") == 1
    assert done.stderr.startswith("conf.py:1: WARNING: code cannot run on this system, which cannot fork a process;")
    assert done.returncode == 1
    assert "print('value 1')" in (pair.root / "build/text/one.txt").read_text()


@pytest.mark.parametrize("name", ["page", "c#"])
def test_the_names_of_pages_and_states_may_hold_any_sign(project, name):
    states = "```{states} colour\n#ff0000, #00ff00\n```\n"
    block = "```{live} own.py\n:tag: shown\n\nprint(colour, x)\n```\n"
    project.write({"scratch/own.py": "# tag::shown[]\nx = 1\n# end::shown[]\n"})
    project.write({"docs/index.md": f"# Book\n\n```{{toctree}}\n{name}\n```\n"})
    built = project.write({f"docs/{name}.md": f"# Page\n\n{states}\n{block}"}).build()

    assert built.warnings == []
    assert all(words in built.text(name) for words in ("x = 1", "#ff0000 1", "#00ff00 1"))


@pytest.mark.parametrize("executor", ["", "concurrent.futures.ThreadPoolExecutor"])
def test_what_a_system_does_not_guard_is_said_once(pair, monkeypatch, executor):
    read, unguarded = runner.read_outcome, ("the network", "the environment of other processes")
    monkeypatch.setattr(runner, "read_outcome", lambda *given: replace(read(*given), unguarded=unguarded))
    built = pair.build("text", scratchbook_executor=executor)

    assert built.log.count("this system does not guard") == 1
    assert f"this system does not guard {' and '.join(unguarded)} from the code of pages" in built.log
    assert (built.messages, built.status) == ("", 0)
    assert "does not guard" not in pair.build("text", scratchbook_executor=executor).log


CHECKED = """
    # Book

    {prose}

    ```{{notation}}
    x: scalar -- {meaning}
    ```

    ```{{live}} code.py
    print(double(2))
    ```

    {{formula}}`k = 2`

    ```{{math}}
    :label: eq-double
    :check: double

    \\operatorname{{double}}(x) = k x
    ```

    ```{{worked}} eq-double
    x = 3
    ```

    :::::{{exercise}} Three
    :name: ex-three

    ```{{starter}}
    answer = 0
    ```

    ```{{check}}
    answer == 3
    ```

    :::{{solution}}
    ```python
    answer = 3
    ```
    :::
    :::::
    """


def test_an_edit_of_prose_checks_no_equation_and_judges_no_exercise_anew(project):
    project.write({"docs/index.md": CHECKED.format(prose="One.", meaning="a number")})
    project.write({"scratch/code.py": "def double(x):\n    return 2 * x\n"})
    first = project.build()
    project.write({"docs/index.md": CHECKED.format(prose="One.\n\n    Two.", meaning="any number")})
    second = project.build()

    assert (first.warnings, "1 session: 1 run, 0 cached" in first.log) == ([], True)
    assert "1 session: 0 run, 1 cached" in second.log


def test_an_interrupt_while_sessions_are_begun_stops_those_that_run(monkeypatch):
    closed = threading.Event()
    engine = SimpleNamespace(run=lambda session: closed.wait(5), close=closed.set)
    jobs = [SimpleNamespace(session=number) for number in range(2)]
    submit = ThreadPoolExecutor.submit

    def submit_one(pool, run, number):
        if number:
            raise KeyboardInterrupt
        return submit(pool, run, number)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_one)
    with pytest.raises(KeyboardInterrupt):
        list(run_jobs(jobs, SimpleNamespace(executor=None, jobs=2), engine, 0))

    assert closed.is_set()
