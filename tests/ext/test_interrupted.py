"""Builds that are killed, and stores that fail under them: the next build is a clean one, and none is lost."""

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scratchbook.core import cache
from tests.ext.changing_book import ChangingBook, write_book
from tests.ext.test_incremental import contents

OWN_EXECUTOR = 'scratchbook_executor = "concurrent.futures.ThreadPoolExecutor"\n'


def start_build(root, builder="html"):
    """Start a build of its own process, as an author does."""
    (root / "conf.py").write_text((root / "conf.py").read_text().replace(OWN_EXECUTOR, ""))
    words = ["-b", builder, "-c", root, root / "docs", "-d", root / "build" / "doctrees", root / "build" / builder]
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "sphinx", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def finish(process):
    """Return a build's exit status and all that it said."""
    said, _ = process.communicate(timeout=120)
    return process.returncode, said


def kill_builds(root, times, sign=signal.SIGKILL):
    """Kill builds at random moments, each after an edit; return the files that differ from a clean build's then."""
    chance = random.Random(0)
    book = ChangingBook(chance)
    for _ in range(4):
        book.add_page()
    write_book(book, root)
    started = time.monotonic()
    assert finish(start_build(root))[0] == 0
    seconds = time.monotonic() - started
    for _ in range(times):
        before = dict(book.files())
        chance.choice([book.edit_code, book.edit_title, book.add_equation, book.edit_shown_module, book.edit_prose])()
        write_book(book, root)
        process = start_build(root)
        time.sleep(seconds * (0.3 + 0.7 * chance.random()))
        process.send_signal(sign)
        process.communicate()
        if chance.random() < 0.5:
            for name, content in before.items():  # the author takes the edit back
                (root / name).write_bytes(content)
        status, said = finish(start_build(root))
        assert (status, "WARNING" in said) == (0, False), said
        if differing := compare_with_clean(root):
            return differing
    return []


def compare_with_clean(root):
    clean = root.with_name("clean")
    shutil.rmtree(clean, ignore_errors=True)
    shutil.copytree(root, clean, ignore=shutil.ignore_patterns("build"))
    assert finish(start_build(clean))[0] == 0
    found, wanted = contents(root / "build" / "html"), contents(clean / "build" / "html")
    return sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))


def test_after_a_killed_build_the_next_is_a_clean_one(tmp_path):
    assert kill_builds(tmp_path / "book", 1) == []


@pytest.mark.soak
def test_after_sixty_killed_builds_the_next_is_a_clean_one(tmp_path):
    """Takes about six minutes."""
    assert kill_builds(tmp_path / "book", 60) == []


@pytest.mark.soak
def test_after_forty_interrupted_builds_the_next_is_a_clean_one(tmp_path):
    """Takes about four minutes."""
    assert kill_builds(tmp_path / "book", 40, signal.SIGINT) == []


@pytest.mark.soak
def test_eight_builds_at_once_share_one_store(tmp_path):
    """Takes about a quarter of a minute on two idle processors."""
    book = ChangingBook(random.Random(0))
    for _ in range(6):
        book.add_page()
    roots = [tmp_path / f"book-{number}" for number in range(8)]
    for root in roots:
        write_book(book, root)
        with (root / "conf.py").open("a") as conf:
            conf.write(f"scratchbook_cache = {str(tmp_path / 'store')!r}\n")
    ended = [finish(process) for process in [start_build(root) for root in roots]]
    outputs = [contents(root / "build" / "html") for root in roots]

    assert [(status, "WARNING" in said) for status, said in ended] == [(0, False)] * 8
    assert [output == outputs[0] for output in outputs] == [True] * 8
    assert "0 run" in finish(start_build(roots[0]))[1]


def test_a_killed_build_leaves_no_process(project):
    marker = f"marker-{os.getpid()}"
    project.write({"docs/index.md": f"# Page\n\n```{{live}}\nimport time  # {marker}\ntime.sleep(15)\n```\n"})
    process = start_build(project.root)
    root = str(project.root)
    assert wait_until(lambda: any(root in where for where in working_folders()))
    process.kill()
    process.communicate()

    assert wait_until(lambda: not any(root in where for where in working_folders()))


def test_an_interrupted_build_ends_at_once_and_leaves_no_process(project):
    page = "# Page\n\n```{live}\nimport time\ntime.sleep(40)\n```\n"
    project.write({"docs/index.md": page, **{f"docs/page-{number}.md": f":orphan:\n\n{page}" for number in range(3)}})
    process = start_build(project.root)
    root = str(project.root)
    assert wait_until(lambda: sum(root in where for where in working_folders()) >= 2)
    for _ in range(2):  # Python loses one that comes while a hook of its own runs, such as before a fork
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=8)
            break

    assert process.returncode == 2
    assert wait_until(lambda: not any(root in where for where in working_folders()))


def working_folders():
    """Yield where each process works that runs a page."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"scratchbook.core.worker" in (folder / "cmdline").read_bytes():
                yield os.readlink(folder / "cwd")
        except OSError:
            continue


def wait_until(claim, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if claim():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def page(project):
    return project.write({"docs/index.md": "# Page\n\n```{live}\nprint('an', 'output')\n```\n"})


def cache_warnings(built):
    return [line for line in built.warnings if "scratchbook.cache" in line]


def test_a_store_that_is_a_file_costs_one_message_and_no_output(page):
    page.write({"store": "not a folder"})
    built = page.build(scratchbook_cache="store")

    assert "an output" in built.text()
    assert len(built.warnings) == 1
    assert built.warnings[0].startswith("WARNING: outcomes cannot be kept in ")
    assert "Not a directory; free that folder, or choose another in scratchbook_cache" in built.warnings[0]


def test_a_store_that_cannot_be_written_costs_one_message_and_no_output(page, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(cache.tempfile, "mkstemp", refuse)
    built = page.build()

    assert "an output" in built.text()
    assert len(built.warnings) == 1
    assert "Read-only file system" in built.warnings[0]


def test_a_store_that_is_removed_while_it_is_used_loses_no_build(page, monkeypatch):
    folder = page.root / "build" / ".scratchbook"
    save = cache.Store.save

    def save_without_folder(store, session, outcome):
        shutil.rmtree(folder, ignore_errors=True)
        return save(store, session, outcome)

    monkeypatch.setattr(cache.Store, "save", save_without_folder)
    built = page.build("html")

    assert built.messages == ""
    assert "1 cached" in page.build("html").log


@pytest.mark.parametrize("content", [b"junk", b"", b"\x80\x04N.", b"\x80\x04\x8c\x02os\x94\x8c\x06getcwd\x93)R."])
def test_an_environment_that_cannot_be_used_is_made_anew_with_a_line_of_notice(page, content):
    page.build()
    pickle = page.root / "build" / "doctrees-dummy" / "environment.pickle"
    pickle.write_bytes(content)
    built = page.build()

    assert "an output" in built.text()
    assert built.warnings == []
    assert "0 run, 1 cached" in built.log
    assert "failed" in built.log


def test_an_environment_of_an_older_version_is_made_anew(page, monkeypatch):
    from scratchbook.ext.domain import LiveDomain

    with monkeypatch.context() as patch:
        patch.setattr(LiveDomain, "data_version", 1)
        page.build()
    built = page.build()

    assert "an output" in built.text()
    assert built.messages == ""
    assert "0 run, 1 cached" in built.log


@pytest.mark.parametrize("part", [0, 0.3, 0.9])
def test_half_a_record_of_sphinx_is_forgotten(page, part):
    path = Path(page.build("html").app.outdir) / ".buildinfo"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])

    assert page.build("html").messages == ""
    assert path.read_bytes() == whole


def test_what_cannot_be_copied_stays_where_it_is(page):
    page.settings |= {"html_theme": "own", "html_theme_path": [str(page.root / "themes")]}
    page.write({"themes/own/theme.toml": '[theme]\ninherit = "basic"\n', "themes/own/static/own.css": "p {}\n"})
    (page.root / "build" / "html" / "_static" / "own.css" / "in-the-way").mkdir(parents=True)
    built = page.build("html")

    assert "own.css" in built.messages
    assert (page.root / "themes" / "own" / "static" / "own.css").read_text() == "p {}\n"
    assert built.status == 1


def test_a_page_that_cannot_be_written_fails_the_build_and_leaves_no_half_of_it(page, monkeypatch):
    page.build("html")
    page.write({"docs/index.md": "# Another title\n"})

    class Full:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, text):
            self.file.write(text[:100])
            raise OSError(errno.ENOSPC, "No space left on device")

    def full_open(name, mode="r", *arguments, **options):
        file = open_file(name, mode, *arguments, **options)
        return Full(file) if str(name).endswith("index.html") and "w" in mode else file

    open_file = open
    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", full_open)
        patch.setattr("io.open", full_open)
        built = page.build("html")

    assert built.status == 1
    assert "index.html: [Errno 28] No space left on device" in built.messages
    assert not (page.root / "build" / "html" / "index.html").exists()
    assert "Another title" in page.build("html").file("index.html")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_page_that_cannot_be_written_is_written_by_the_next_build(page, jobs):
    page.write({f"docs/page{number}.md": f"# Page {number}\n" for number in range(3)})
    page.write({"docs/index.md": "# Book\n\n```{toctree}\n:glob:\n*\n```\n"})
    in_the_way = page.root / "build" / "html" / "page1.html"
    in_the_way.mkdir(parents=True)
    failed = page.build("html", jobs=jobs)
    in_the_way.rmdir()

    assert "page1.html: [Errno 21] Is a directory" in failed.messages
    assert failed.status == 1
    assert "Page 1" in page.build("html", jobs=jobs).file("page1.html")


def test_a_record_that_cannot_be_written_makes_the_next_build_write_every_page(page, monkeypatch):
    write_text = Path.write_text

    def refuse(path, *arguments, **options):
        if path.name.startswith("scratchbook-html"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", refuse)
        built = page.build("html")
    (page.root / "build" / "html" / "index.html").unlink()

    assert len(built.warnings) == 1
    assert "No space left on device; the next build writes every page" in built.warnings[0]
    assert "an" in page.build("html").file("index.html")
