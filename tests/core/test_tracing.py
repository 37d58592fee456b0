"""What a session used: each file by its content, each one it looked for in vain, and whatever leaves a doubt."""

import hashlib
from importlib import metadata

import pytest

from scratchbook.core.digests import file_digest, folder_digest
from tests.core.pages import block, shown, value


def uses(project, *texts):
    outcome = project.run(*(block(text, 10 * number) for number, text in enumerate(texts, 1)))
    assert not outcome.failed
    return outcome.uses


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        "open('data.txt').read()",
        "import pathlib; pathlib.Path('data.txt').read_text()",
        "import numpy as np; np.loadtxt('data.txt')",
        "import numpy as np; np.fromfile('data.txt', sep=' ')",
        "import numpy as np; np.memmap('data.txt', dtype='u1', mode='r')",
        "import os; os.close(os.open('data.txt', os.O_RDONLY))",
        "import os; os.chdir('scratch'); open('../data.txt')",
        "open(__import__('os').path.abspath('data.txt'))",
        "open(b'data.txt')",
        "open('data.txt', 'r+')",
        "open('data.txt', 'a')",
    ],
)
def test_a_file_that_is_read_is_recorded_with_what_it_held(project, text):
    project.write("data.txt", "1 2 3")

    assert uses(project, text).files == {"data.txt": digest("1 2 3")}


@pytest.mark.parametrize(
    "text",
    [
        "import os; os.path.exists('data.txt')",
        "import os; os.path.getsize('data.txt')",
        "import os; os.access('data.txt', os.R_OK)",
        "import pathlib; pathlib.Path('data.txt').is_file()",
        "import os; os.stat(path='data.txt')",
    ],
)
def test_a_file_that_is_asked_for_is_recorded_like_one_that_is_read(project, text):
    project.write("data.txt", "1 2 3")

    assert uses(project, text).files == {"data.txt": digest("1 2 3")}


@pytest.mark.parametrize("question", ["os.path.isdir", "os.path.islink", "pathlib.Path.exists"])
def test_a_file_that_is_asked_for_in_vain_is_recorded_as_absent(project, question):
    assert "gone" in uses(project, f"import os, pathlib\n{question}(pathlib.Path('gone'))").absent


def test_what_os_can_do_is_what_it_could(project):
    asked = "os.stat in os.supports_fd, os.stat in os.supports_dir_fd, os.access in os.supports_effective_ids"

    assert project.output(block(f"import os\nprint({asked})")) == "True True True\n"


@pytest.mark.parametrize(
    "text",
    [
        "import os\nif not os.path.exists('out.txt'):\n    open('out.txt', 'w').write('x')",
        "try:\n    open('out.txt')\nexcept OSError:\n    open('out.txt', 'w').write('x')",
        "open('out.txt', 'a').write('x')",
        "open('out.txt', 'x').write('x')",
    ],
)
def test_a_file_that_was_missing_before_the_page_wrote_it_was_missing(project, text):
    assert "out.txt" in uses(project, text).absent


def test_a_file_that_changes_while_the_page_runs_is_recorded_as_it_was_first_read(project):
    project.write("data.txt", "old")

    assert uses(project, "open('data.txt').read()\nopen('data.txt', 'w').write('new')").files == {
        "data.txt": digest("old")
    }


@pytest.mark.parametrize(
    "text",
    [
        "open('out.txt', 'w').write('x')\nopen('out.txt').read()",
        "open('new.txt', 'w').write('x')\nimport os\nos.rename('new.txt', 'out.txt')\nopen('out.txt').read()",
        "import tempfile\nwith tempfile.TemporaryFile() as file: file.write(b'x')",
        "import os\nopen(os.path.expanduser('~/x'), 'w').write('x')\nopen(os.path.expanduser('~/x'))",
        "open('/dev/null').read()",
    ],
)
def test_what_the_page_has_written_itself_is_no_input(project, text):
    used = uses(project, text)
    absent = [path for path in used.absent if not path.startswith("scratch/")]  # there an import has looked

    assert (used.files, absent, used.unsure) == ({}, [], ())


def test_a_file_that_the_page_empties_before_it_reads_it_is_no_input(project):
    project.write("out.txt", "old")

    assert uses(project, "open('out.txt', 'w').write('new')\nopen('out.txt').read()").files == {}


def test_an_imported_file_is_recorded_with_the_places_where_it_was_looked_for_first(project):
    project.write("scratch/helper.py", "x = 1\n")

    used = uses(project, "import helper")

    assert used.files == {"scratch/helper.py": digest("x = 1\n")}
    assert used.absent == ("scratch/helper/__init__.py",)


def test_a_module_that_could_take_the_place_of_an_installed_one_is_recorded_as_absent(project):
    assert "scratch/colorsys.py" in uses(project, "import colorsys").absent


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    open('gone.txt')\nexcept OSError:\n    pass",
        "import contextlib\nwith contextlib.suppress(OSError):\n    open('gone.txt', 'rb')",
    ],
)
def test_a_file_that_is_not_there_is_recorded_as_absent(project, text):
    assert "gone.txt" in uses(project, text).absent


@pytest.mark.parametrize(
    "text",
    [
        "import os; os.listdir('data')",
        "import os; list(os.scandir('data'))",
        "import pathlib; list(pathlib.Path('data').glob('*'))",
    ],
)
def test_a_folder_that_is_listed_is_recorded_with_its_names(project, text):
    project.write("data/a.txt", "")
    project.write("data/b.txt", "")

    assert uses(project, text).folders == {"data": folder_digest(project.root / "data")}


def test_importing_lists_no_folder(project):
    project.write("scratch/helper.py", "")

    assert uses(project, "import helper, colorsys, xml.dom.minidom").folders == {}


def test_the_digests_are_those_of_the_store(project):
    project.write("data.txt", "x")

    assert uses(project, "open('data.txt')").files == {"data.txt": file_digest(project.root / "data.txt")}


def test_installed_packages_are_recorded_by_version_and_their_files_are_not(project):
    used = uses(project, "import pygments, numpy")

    assert {name: used.modules.get(name) for name in ("numpy", "pygments")} == {
        "numpy": metadata.version("numpy"),
        "pygments": metadata.version("pygments"),
    }
    assert used.files == {}
    assert used.unsure == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import subprocess; subprocess.run(['true'])", "starts a process"),
        ("import os; os.system('true')", "starts a process"),
        ("import os\nif os.fork() == 0: os._exit(0)\nos.wait();", "starts a process"),
        ("import ctypes; ctypes.CDLL(None)", "loads a foreign library"),
        ("import socket\ntry: socket.create_connection(('127.0.0.1', 9))\nexcept OSError: pass", "uses the network"),
        ("import socket\ntry: socket.getaddrinfo('a.invalid', 80)\nexcept OSError: pass", "uses the network"),
        ("import sqlite3; sqlite3.connect(':memory:').close()", "opens a database"),
        ("open('/etc/passwd').read()", "reads /etc/passwd, which is outside the project"),
    ],
)
def test_what_leaves_no_trace_makes_the_record_unsure(project, text, why):
    assert why in uses(project, text).unsure


def test_a_file_outside_that_is_opened_to_read_and_write_is_read(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "data.txt"
    outside.write_text("1")

    assert (
        f"reads {outside}, which is outside the project" in uses(project, f"open({str(outside)!r}, 'r+').read()").unsure
    )
    assert uses(project, f"open({str(outside)!r}, 'w').write('2')").unsure == ()


def test_a_process_that_is_started_without_an_event_is_noticed(project):
    project.write("scratch/worker.py", "def f(x):\n    return x\n")
    text = (
        "import multiprocessing, worker\nwith multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "    pool.map(worker.f, [1])\npool.join()"
    )

    assert uses(project, text).unsure == ("starts a process",)


def test_a_quiet_page_is_sure(project):
    project.write("scratch/shown.py", "import json, random, numpy as np\nprint(np.ones(2))\n")

    outcome = project.run(shown("shown.py"), block("import matplotlib.pyplot"), value("np.pi"))

    assert outcome.uses.unsure == ()
    assert outcome.uses.files == {}


def test_a_page_that_did_not_end_is_unsure(project):
    assert project.run(block("import os; os._exit(1)")).uses.unsure == ("did not come to its end",)
