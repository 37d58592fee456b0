"""The package as others install it: whole, and enough for a book elsewhere with a theme of its own."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/guide/first-chapter.md"


def run(*words, cwd, **variables):
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-P", *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder with what the wheel holds, made without a network from what git would give away."""
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", ROOT, cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def files_of(folder):
    found = [path.relative_to(folder) for path in (folder / "scratchbook").rglob("*") if path.is_file()]
    return {path for path in found if "__pycache__" not in path.parts}


def test_the_wheel_holds_every_file_of_the_package(installed):
    assert files_of(installed) == files_of(ROOT)


@pytest.fixture(scope="module")
def book(installed, tmp_path_factory):
    """Begin a book with the first command of the guide, and return its folder."""
    folder = tmp_path_factory.mktemp("new")
    (name,) = re.findall(r"^scratchbook new (\S+)\ncd \1$", GUIDE.read_text("utf-8"), re.MULTILINE)
    command = "import sys; from scratchbook.cli import main; sys.exit(main())"
    said = run("-c", command, "new", name, cwd=folder, PYTHONPATH=str(installed)).stdout
    assert said.splitlines()[-1].strip() in GUIDE.read_text("utf-8").splitlines()
    return folder / name


def test_the_first_book_is_the_three_files_that_the_guide_shows(book):
    include = r"^```\{literalinclude\} \.\./\.\./scratchbook/template/(\S+)\.txt$"
    shown = re.findall(include, GUIDE.read_text("utf-8"), re.MULTILINE)
    names = {path.relative_to(book).as_posix() for path in book.rglob("*") if path.is_file()}

    assert names == set(shown) == {"conf.py", "docs/index.md", "scratch/softmax.py"}


def test_the_wheel_builds_the_guides_first_book_with_another_theme(installed, book):
    command, *_ = re.findall(r"^python (-m sphinx .*)$", GUIDE.read_text("utf-8"), re.MULTILINE)
    words = [*command.split(), "--fail-on-warning", "--nitpicky"]
    where = "import scratchbook; print(scratchbook.__file__)"

    assert run("-c", where, cwd=book, PYTHONPATH=str(installed)).stdout.startswith(str(installed))
    log = run(*words, cwd=book, PYTHONPATH=str(installed)).stdout
    page = re.sub(r"<[^>]+>", "", (book / "build/html/index.html").read_text("utf-8"))
    assert "1 session: 1 run, 0 cached, 0 failed" in log
    assert "alabaster" in "".join(path.name for path in (book / "build/html/_static").iterdir())
    assert "[0.09003057 0.24472847 0.66524096]" in page
    assert "The largest takes 0.665 of the whole." in page
