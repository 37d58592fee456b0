"""What a page's code cannot reach, and the limit that each excess meets."""

import os
import socket

import pytest

from scratchbook.core import runner, sandbox
from scratchbook.core.cells import Limits
from scratchbook.core.runner import ForkServer
from scratchbook.core.sandbox import missing_guards
from tests.core.pages import CHAPTER, Project, block

needs_guards = pytest.mark.skipif(bool(missing_guards()), reason=f"this system does not guard {missing_guards()}")


@needs_guards
@pytest.mark.parametrize(
    ("broken", "named"),
    [("leave_network", ("the network",)), ("forbid_other_processes", ("the environment of other processes",))],
)
def test_a_guard_that_this_system_does_not_give_is_named_alone(monkeypatch, broken, named):
    monkeypatch.setattr(sandbox, broken, lambda: False)

    assert missing_guards() == named


@needs_guards
@pytest.mark.parametrize(("network", "named"), [(False, ("the network",)), (True, ())])
def test_an_outcome_tells_what_was_not_guarded_and_should_have_been(project, monkeypatch, tmp_path, network, named):
    (tmp_path / "sitecustomize.py").write_text(
        "from scratchbook.core import sandbox\nsandbox.leave_network = lambda: False\n"
    )
    environment = runner.worker_environment(0)
    environment["PYTHONPATH"] += os.pathsep + str(tmp_path)
    with monkeypatch.context() as patched, ForkServer() as server:
        patched.setattr(runner, "worker_environment", lambda hash_seed: environment)
        assert Project(project.root, server).run(block("print(1)"), network=network).unguarded == named
    assert project.run(block("print(1)"), network=network).unguarded == ()


def test_the_builders_variables_are_not_the_codes(project, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "hunter2")

    printed = project.output(block("import os\nprint(dict(os.environ), open('/proc/self/environ').read())"))

    assert "hunter2" not in printed
    assert "'TZ': 'UTC'" in printed


def test_named_variables_are_the_codes(project):
    assert project.output(block("import os\nprint(os.environ['RATE'])"), environment=(("RATE", "3"),)) == "3\n"


@needs_guards
@pytest.mark.parametrize("what", ["environ", "mem", "maps", "cwd"])
def test_the_builders_memory_and_variables_cannot_be_read_in_proc(project, what):
    text = f"try:\n    open('/proc/{os.getpid()}/{what}')\nexcept PermissionError:\n    print('no')"

    assert project.output(block(text)) == "no\n"


@needs_guards
def test_the_builder_cannot_be_killed(project):
    text = f"import os\ntry:\n    os.kill({os.getpid()}, 15)\nexcept PermissionError:\n    print('no')"

    assert project.output(block(text)) == "no\n"


@needs_guards
def test_a_page_that_kills_all_it_can_does_not_hurt_the_next(project):
    project.run(block("import os\nos.kill(-1, 9)"))

    assert project.output(block("print('on')")) == "on\n"


def test_files_can_still_be_moved_between_folders(project):
    project.write("a/x.txt", "")

    assert project.output(block("import os\nos.rename('a/x.txt', 'scratch/x.txt')\nprint('moved')")) == "moved\n"


@needs_guards
def test_nobody_outside_can_be_reached_over_the_network(project):
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(type=socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.1)
        port, datagram_port = listener.getsockname()[1], receiver.getsockname()[1]
        text = (
            "import socket\n"
            f"try:\n    socket.create_connection(('127.0.0.1', {port}))\nexcept OSError:\n    print('no stream')\n"
            f"socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {datagram_port}))\n"
            "try:\n    socket.getaddrinfo('example.com', 80)\nexcept OSError:\n    print('no name')"
        )

        assert project.output(block(text)) == "no stream\nno name\n"
        with pytest.raises(TimeoutError):
            receiver.recv(1)


def test_a_page_has_a_loopback_of_its_own(project):
    text = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()\nserver.close()\nprint('through')"
    )

    assert project.output(block(text)) == "through\n"


def test_the_network_can_be_allowed(project):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        text = (
            f"import socket\nsocket.create_connection(('127.0.0.1', {listener.getsockname()[1]})).close()\nprint('yes')"
        )

        assert project.output(block(text), network=True) == "yes\n"


SMALL = Limits(block_seconds=5, memory_bytes=2 * 1024**3, file_bytes=1024**2, open_files=64, processes=8)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import numpy as np\nx = np.ones(10**9)", "; a page has 2 GiB, more with scratchbook_memory_bytes"),
        ("x = bytearray(8 * 1024**3)", "MemoryError; a page has 2 GiB, more with scratchbook_memory_bytes"),
        (
            "with open('big', 'wb') as file:\n    file.write(bytes(2 * 1024**2))",
            "OSError: [Errno 27] File too large; a file may have 1 MiB, more with scratchbook_file_bytes",
        ),
        (
            "kept = [open('/dev/null') for _ in range(100)]",
            "; a page may open 64 files, more with scratchbook_open_files",
        ),
    ],
    ids=["array", "memory", "file", "open files"],
)
def test_each_excess_meets_its_own_limit_and_names_the_setting(project, text, told):
    mistake = project.mistake(block(text), limits=SMALL)

    assert mistake.text.endswith(told)
    assert mistake.place.path == CHAPTER


@pytest.mark.parametrize(
    "text",
    [
        "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n        time.sleep(60)\ntime.sleep(60)",
        "import os\nwhile True:\n    os.fork()",
    ],
    ids=["many", "storm"],
)
def test_too_many_processes_are_stopped_together(project, text):
    mistake = project.mistake(block(text), limits=SMALL)

    assert mistake.text == "started more than 8 processes and was stopped; raise it with scratchbook_processes"


def test_a_crash_leaves_no_core_file(project):
    project.run(block("import os\nos.abort()"))

    assert [path.name for path in project.root.iterdir() if "core" in path.name] == []
