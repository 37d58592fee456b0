"""Who runs a session: a fork server shared by threads, an interpreter of its own, or any executor's process."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, wait
from multiprocessing import get_context

import pytest

from scratchbook.core import runner
from scratchbook.core.cells import CellOutcome, Limits
from scratchbook.core.processes import children_of, descendants_of
from scratchbook.core.runner import ForkServer, run_session, show_session
from tests.core.pages import Project, block, branch, shown, value


def parts_of(outcome):
    return {name: (cell.status, cell.parts, cell.mistakes) for name, cell in outcome.cells.items()}


@pytest.fixture
def session(project):
    project.write("scratch/names.py", "# tag::x[]\nx = 3\nprint(x)\n# end::x[]\n")
    check = branch("scratchbook.core.branches:check_code", codes=[])
    return project.session(shown("names.py", "x"), block("print(x + 1)"), value("x:.1f"), check)


def test_nothing_starts_before_the_first_session():
    before = descendants_of(os.getpid())

    with ForkServer():
        assert descendants_of(os.getpid()) == before


def test_a_session_gives_the_same_in_an_interpreter_of_its_own(server, session):
    with ForkServer(alone=True) as alone:
        assert parts_of(alone.run(session)) == parts_of(server.run(session))


def test_a_session_gives_the_same_in_another_process(server, session):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        outcome = pool.submit(run_session, pickle.loads(pickle.dumps(session))).result()

    assert parts_of(outcome) == parts_of(server.run(session))


def test_threads_run_sessions_side_by_side(project):
    slow = project.session(block("import time\ntime.sleep(0.5)\nprint('done')"))
    project.run(block("pass"))
    started = time.monotonic()

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(project.server.run, [slow] * 4))

    assert time.monotonic() - started < 1.5
    assert [outcome.cells["block-10"].part("text")["text"] for outcome in outcomes] == ["done\n"] * 4


@pytest.mark.parametrize(("patience", "processes"), [(0.0, 3), (0.1, 3), (30.0, 1)])
def test_sessions_wait_for_one_another_as_long_as_the_patience(project, patience, processes):
    slow = [project.session(block(f"import os, time; time.sleep(0.6); print({n}, os.getppid())")) for n in range(3)]
    with ForkServer(patience=patience) as server, ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(server.run, slow))

    told = [cell.parts[0].data["text"].split() for outcome in outcomes for cell in outcome.cells.values()]
    assert [number for number, _ in told] == ["0", "1", "2"]
    assert len({parent for _, parent in told}) == processes


def processes_of(server):
    """The server's process, the page that runs in it, and what it has forked for further pages, with theirs."""
    pid = server._servers[False].process.pid
    return pid, descendants_of(pid)


def test_a_session_that_waits_runs_when_the_process_it_waits_for_is_killed(project):
    long, short = project.session(block("import time; time.sleep(60)")), project.session(block("print(1)"))
    with ForkServer(patience=30.0) as server, ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.run, long)
        wait_until(lambda: server._servers and processes_of(server)[1])
        second = pool.submit(server.run, short)
        os.kill(processes_of(server)[0], signal.SIGKILL)

        assert "has ended" in first.result(timeout=10).mistakes[0].text
        assert not second.result(timeout=10).failed


def test_the_server_outlives_a_process_that_it_has_forked(project):
    long, short = project.session(block("import time; time.sleep(60)")), project.session(block("print(1)"))
    with ForkServer() as server, ThreadPoolExecutor(2) as pool:
        running = [pool.submit(server.run, long) for _ in range(2)]
        wait_until(lambda: server._servers and len(processes_of(server)[1]) == 3)  # two pages, and one like itself
        (forked,) = filter(children_of, children_of(processes_of(server)[0]))
        os.kill(forked, signal.SIGKILL)

        ended, others = wait(running, timeout=10, return_when=FIRST_COMPLETED)
        assert "has ended" in ended.pop().result().mistakes[0].text
        assert not server.run(short).failed
        assert not others.pop().done()
        os.kill(processes_of(server)[0], signal.SIGKILL)


def test_what_runs_beside_a_page_is_none_of_its_processes(project):
    """The first page runs in the server, which has forked the second's: it is not counted, not named, not ended."""
    first = project.session(
        block("import os, time; time.sleep(0.8)\nif os.fork() == 0: time.sleep(60)"), limits=Limits(processes=2)
    )
    second = project.session(block("import time; time.sleep(2.5); print('done')"))
    with ForkServer() as server, ThreadPoolExecutor(2) as pool:
        ended = pool.submit(server.run, first)
        wait_until(lambda: server._servers and processes_of(server)[1])
        other = pool.submit(server.run, second)

        (mistake,) = ended.result(timeout=10).cells["block-10"].mistakes
        assert mistake.text.startswith("left a process running, which was stopped: a fork of itself;")
        assert other.result(timeout=10).cells["block-10"].part("text")["text"] == "done\n"


def test_a_page_that_draws_finds_matplotlib_loaded_and_the_next_one_too(project):
    draws = project.session(
        block("import os, sys, matplotlib\nprint(os.getppid(), 'matplotlib.pyplot' in sys.modules)")
    )
    with ForkServer() as server:
        told = [server.run(draws).cells["block-10"].part("text")["text"] for _ in range(2)]

        assert told == [f"{processes_of(server)[0]} True\n"] * 2


def test_threads_that_begin_at_once_share_the_server_of_their_process(project):
    session = project.session(block("print('done')"))
    runner._close_own_server()

    with ThreadPoolExecutor(8) as pool:
        servers = set(pool.map(lambda _: id(runner._own_server(os.getpid())), range(200)))
        outcomes = list(pool.map(run_session, [session] * 8))

    assert len(servers) == 1
    assert [outcome.failed for outcome in outcomes] == [False] * 8


def test_a_time_limit_for_sockets_does_not_reach_sessions(project):
    socket.setdefaulttimeout(0.2)  # as Sphinx's link checker does
    try:
        with ForkServer() as server:
            outcome = server.run(project.session(block("import time\ntime.sleep(0.6)\nprint('done')")))
    finally:
        socket.setdefaulttimeout(None)

    assert not outcome.failed


def test_a_closed_server_leaves_no_process_and_can_start_again(tmp_path):
    server = ForkServer()
    project = Project(tmp_path, server)
    project.run(block("pass"))
    process = server._servers[False].process
    server.close()

    assert process.poll() is not None
    assert project.output(block("print('again')")) == "again\n"
    server.close()


def test_closing_ends_the_sessions_that_still_run(tmp_path):
    with ThreadPoolExecutor(1) as pool:
        with ForkServer() as server:
            project = Project(tmp_path, server)
            project.run(block("pass"))
            running = pool.submit(project.run, block("open('begun', 'w').close()\nimport time\ntime.sleep(600)"))
            wait_until((tmp_path / "begun").exists)
            pid = server._servers[False].process.pid
            below = descendants_of(pid)
        outcome = running.result(timeout=5)

    assert outcome.failed
    assert below
    assert not any(is_alive(process) for process in [pid, *below])


def test_a_server_that_is_killed_is_told_and_the_next_session_runs(tmp_path):
    with ThreadPoolExecutor(1) as pool, ForkServer() as server:
        project = Project(tmp_path, server)
        project.run(block("pass"))
        server._servers[False].process.kill()
        server._servers[False].process.wait()

        assert pool.submit(project.output, block("print('on')")).result(timeout=10) == "on\n"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_all_processes_end_with_their_parent(tmp_path, end):
    text = (
        "from tests.core.pages import *\nfrom pathlib import Path\n"
        f"project = Project(Path({str(tmp_path)!r}), ForkServer())\n"
        'project.run(block(\'import os, time\\nif os.fork() == 0:\\n    os.setsid()\\nopen("begun", "a").write("x")\\n'
        "time.sleep(600)'))"
    )
    parent = subprocess.Popen([sys.executable, "-c", text], cwd=os.getcwd(), stderr=subprocess.DEVNULL)
    wait_until(lambda: (tmp_path / "begun").exists() and (tmp_path / "begun").stat().st_size == 2)
    below = descendants_of(parent.pid)
    parent.send_signal(end)
    parent.wait()

    assert len(below) == 3  # the server, its page, and the fork of that
    wait_until(lambda: not any(map(is_alive, below)))


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def wait_until(is_true, seconds=10):
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_a_session_leaves_no_folder_behind(project, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with ForkServer() as server:
        own = Project(project.root, server)
        places = f"print(os.listdir({str(folder)!r}) == [os.environ['TMPDIR'].split(os.sep)[-2]])"
        text = f"import os, tempfile\nopen(os.path.expanduser('~/x'), 'w').close()\ntempfile.mkdtemp()\n{places}"

        assert own.output(block(text)) == "True\n"
        assert own.output(block("print('nothing')")) == "nothing\n"
    assert list(folder.iterdir()) == []


def test_another_hash_seed_gives_another_order_of_sets(project):
    ordered = block("print({'a', 'b', 'c', 'd', 'e', 'f'})")
    with ForkServer(hash_seed=3) as other:
        assert Project(project.root, other).output(ordered) != project.output(ordered)


def test_blas_has_one_thread(project):
    text = (
        "import numpy as np, os\nnp.ones((300, 300)) @ np.ones((300, 300))\nprint(len(os.listdir('/proc/self/task')))"
    )

    assert project.output(block(text)) == "1\n"


def test_showing_a_session_gives_its_listings_and_runs_nothing(session):
    outcome = show_session(session)

    assert outcome.cells["file-5"].part("listing")["text"] == "x = 3\nprint(x)\n"
    assert outcome.cells["block-10"] == CellOutcome("not run")


def test_a_page_of_300_blocks_runs(project):
    cells = [block(f"x = {line}\nprint(x)", line) for line in range(10, 3010, 10)]

    outcome = project.run(*cells, limits=Limits(page_seconds=30))

    assert [outcome.cells[cell.id].part("text")["text"] for cell in cells] == [
        f"{line}\n" for line in range(10, 3010, 10)
    ]


def test_the_process_that_pages_are_forked_from_loads_nothing_that_only_some_pages_need():
    text = (
        "import sys, numpy.random; before = set(sys.modules); import scratchbook.core.worker; "
        "heavy = {'difflib', 'importlib.abc', 'pathlib', 'shutil', 'tempfile', 'unicodedata', 'urllib.parse'}; "
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )

    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout == "[]\n"
