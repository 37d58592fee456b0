"""Large books: what ten times the pages cost, three hundred blocks on a page, a thousand pages."""

import sys

import pytest

from bench import books
from bench.books import Book, write_files
from bench.check import check
from bench.measure import measure

COMMAND = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", "built/doctrees", ".", "built/html"]


def build(folder, book, *, samples_memory=False):
    """Build a generated book, see that all is right on it, and return what it took."""
    write_files(books.ours(book), folder)
    cost = measure(COMMAND, folder, samples_memory=samples_memory)
    assert cost.status == 0, cost.said
    verdict = check(folder / "built" / "html", book.outputs, book.outputs)
    assert (verdict.right, verdict.wrong) == (book.pages * book.blocks, 0)
    return cost


@pytest.mark.soak
def test_three_hundred_blocks_stand_on_one_page(tmp_path):
    """Takes about five seconds."""
    build(tmp_path, Book(1, 300))


@pytest.mark.soak
def test_ten_times_the_pages_cost_eleven_times_the_time_and_twice_the_memory_at_most(tmp_path):
    """Takes about a minute."""
    small = build(tmp_path / "small", Book(20, 5), samples_memory=True)
    large = build(tmp_path / "large", Book(200, 5), samples_memory=True)

    assert large.cpu < 11 * small.cpu
    assert large.memory < 2 * small.memory


@pytest.mark.soak
def test_a_thousand_pages_are_built(tmp_path):
    """Takes about ten minutes, most of them Sphinx's for the side bar of each page."""
    build(tmp_path, Book(1000, 2))
