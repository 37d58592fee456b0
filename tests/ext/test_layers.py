"""Which room may know which: the arrows between modules go one way."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import scratchbook
import scratchbook.core.equation

ROOT = Path(__file__).parents[2]
CORE = sorted((ROOT / "scratchbook/core").rglob("*.py"))
EXT = sorted((ROOT / "scratchbook/ext").glob("*.py"))
# Each may know those before it, and none of the rooms that stand on them.
FOUNDATION = ["options", "settings", "domain", "directive"]


def imported(path):
    """Return the dotted names that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def rooms_of_ext(path):
    names = {path.stem for path in EXT}
    return {name.split(".")[2] for name in imported(path) if name.startswith("scratchbook.ext.")} & names


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_the_core_knows_no_sphinx_and_no_room_of_ext(path):
    assert [name for name in imported(path) if name.startswith(("scratchbook.ext", "sphinx", "docutils", "myst"))] == []


def test_importing_the_core_costs_no_sphinx():
    code = "import scratchbook.core.runner, sys; sys.exit('sphinx' in sys.modules or 'docutils' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_rooms_of_ext_know_each_other_in_one_direction():
    TopologicalSorter({path.stem: rooms_of_ext(path) for path in EXT}).prepare()  # raises CycleError


@pytest.mark.parametrize("room", FOUNDATION)
def test_the_foundation_knows_no_room_above_it(room):
    known = rooms_of_ext(ROOT / f"scratchbook/ext/{room}.py")

    assert known <= set(FOUNDATION[: FOUNDATION.index(room)])


def test_the_map_names_every_room_of_ext():
    named = {line.split()[0] for line in scratchbook.__doc__.splitlines() if line.startswith("    ")}

    assert named == {path.stem for path in EXT} - {"__init__"}


def test_the_map_of_equations_names_every_room():
    words = {word.strip(",") for word in scratchbook.core.equation.__doc__.split()}
    rooms = {path.stem for path in (ROOT / "scratchbook/core/equation").glob("*.py")} - {"__init__"}

    assert rooms <= words


def test_scratch_knows_nothing_of_the_generator():
    names = {name for path in (ROOT / "scratch").rglob("*.py") for name in imported(path)}

    assert [name for name in names if name.startswith(("scratchbook", "sphinx"))] == []


def test_what_reads_equations_is_loaded_by_a_book_that_has_some():
    code = "import scratchbook, sys; from importlib import import_module\n"
    code += "for room in scratchbook.ROOMS: import_module(f'scratchbook.ext.{room}')\n"
    code += "sys.exit(str([name for name in sys.modules if name.startswith('scratchbook.core.equation')] or ''))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.strip() == ""
