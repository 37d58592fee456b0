"""The checks of the book can fail: changes of equations and code are noticed, or listed with a reason."""

from pathlib import Path

import pytest

from scratchbook.cli import main
from scratchbook.mutation import read_equivalents

ROOT = Path(__file__).parents[2]

# What Sphinx and its extensions deprecate is no matter of the book's.
pytestmark = pytest.mark.filterwarnings("ignore")

EQUIVALENTS = ROOT / "tests" / "book" / "equivalents.toml"


def test_every_listed_equivalent_has_its_reason():
    listed = read_equivalents(EQUIVALENTS)

    assert listed
    assert [change for change, reason in listed.items() if len(reason.split()) < 4] == []


def test_no_change_of_an_equation_is_listed():
    assert [change for change in read_equivalents(EQUIVALENTS) if change.where == "equation"] == []


def run_mutate(tmp_path, capsys, *pages):
    options = ["--conf", str(ROOT), "--source", str(ROOT / "docs"), "--build", str(tmp_path / "build")]
    status = main(["mutate", *pages, "--equivalents", str(EQUIVALENTS), *options])
    return status, capsys.readouterr().out


def test_a_chapter_misses_no_change(tmp_path, capsys):
    status, told = run_mutate(tmp_path, capsys, "generation")

    assert status == 0, told  # what is listed for other chapters is not asked for
    assert "changes of equations" in told


@pytest.mark.soak
def test_the_book_misses_no_change(tmp_path, capsys):
    status, told = run_mutate(tmp_path, capsys)

    assert status == 0, told
