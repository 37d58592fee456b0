"""Show each checked equation of a book as one test item.  Starts nothing unless `--scratchbook` is given."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that turns the collection on."""
    parser.getgroup("scratchbook").addoption(
        "--scratchbook", action="store_true", help="collect each checked equation of the book as a test"
    )
