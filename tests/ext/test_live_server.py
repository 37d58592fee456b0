"""`make live`: a save is a build, forked from a process that has everything loaded, and the page is fresh."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest

from scratchbook import live as live_server
from scratchbook.core.processes import descendants_of
from tests.ext.conftest import make_project

BUILT_BY = """
import sys
from docutils import nodes

def setup(app):
    how = mark + ("-warm" if "--serve" in sys.argv else "-cold")
    app.add_role("built-by", lambda *words: ([nodes.literal("", how)], []))

mark = "first"
"""
PAGE = "# Book\n\nProse, {built-by}`x`.\n\n```{live} code.py\n```\n"


@pytest.fixture
def live(tmp_path):
    """A book that is shown while it is edited."""
    project = make_project(tmp_path)
    conf = (tmp_path / "conf.py").read_text().replace('"scratchbook"]', '"scratchbook", "built_by"]')
    conf = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n" + "\n".join(
        line for line in conf.splitlines() if "executor" not in line
    )
    project.write({"conf.py": conf, "built_by.py": BUILT_BY, "docs/index.md": PAGE})
    project.write({"scratch/code.py": "print('one')\n"})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--conf-dir", ".", "--watch", "scratch", "--ignore", "build"]
    process = subprocess.Popen(
        [sys.executable, "-m", "scratchbook.live", *options, "docs", "build/live"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    yield Live(project, process, f"http://127.0.0.1:{port}/index.html")
    below = descendants_of(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    assert not re.search("changed: .*(4913|~|#|sw[px])", said)
    assert below
    end = time.monotonic() + 5
    while any(map(is_alive, below)):
        assert time.monotonic() < end, "a process is left"
        time.sleep(0.02)


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


class Live:
    """The running server."""

    def __init__(self, project, process, address):
        self.project, self.process, self.address = project, process, address

    def page(self, word, seconds=60):
        """Wait until the page says a word, and return it."""
        end = time.monotonic() + seconds
        while True:
            try:
                page = urlopen(self.address).read().decode()
            except (HTTPException, OSError):  # while it is being written, too
                page = ""
            if word in page:
                return page
            assert time.monotonic() < end, f"no '{word}' in {page[-3000:]}"
            assert self.process.poll() is None
            time.sleep(0.05)


def test_what_is_saved_is_shown_by_builds_forked_from_one_process(live):
    assert "first-warm" in live.page("one")
    live.project.write({"scratch/code.py": "print('two')\n"})
    live.page("two")
    live.project.write({f"docs/{name}": "x" for name in ("4913", "index.md~", "#index.md#", ".index.md.swp", ".a.swx")})
    live.project.write({"docs/index.md": PAGE + "\nMore words.\n"})
    page = live.page("More words.")

    assert "two" in page
    assert "first-warm" in page


def test_code_that_is_loaded_and_edited_is_loaded_again(live):
    live.page("one")
    live.project.write({"docs/index.md": PAGE + "\nWords.\n"})
    live.page("Words.")
    live.project.write({"built_by.py": BUILT_BY.replace('"first"', '"second"')})
    live.project.write({"docs/index.md": PAGE + "\nMore words.\n"})

    assert "second-cold" in live.page("More words.")  # a new interpreter

    live.project.write({"docs/index.md": PAGE + "\nFewer words.\n"})

    assert "second-" in live.page("Fewer words.")


@pytest.mark.parametrize(("status", "said"), [(0, ["before", "build", "after"]), (1, ["before", "build"])])
def test_commands_run_before_a_build_and_after_one_that_is_well(tmp_path, monkeypatch, status, said):
    log = tmp_path / "log"
    note = "import sys; open(sys.argv[1], 'a').write(sys.argv[2] + '\\n')"
    before, after = ([[sys.executable, "-c", note, str(log), word]] for word in ("before", "after"))
    build = [sys.executable, "-c", f"{note}; sys.exit({status})", str(log), "build"]
    monkeypatch.setattr(live_server, "ask", lambda address, arguments: live_server.run([build]))
    live_server.Builder("", [], "http://127.0.0.1", before, after)(changed_paths=())

    assert log.read_text().split() == said
