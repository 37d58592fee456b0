"""The names nearest to one that is not there."""

from __future__ import annotations

from collections.abc import Iterable


def near_names(name: str, names: Iterable[str], most: int = 3, likeness: float = 0.6) -> list[str]:
    """Return the names most like another one, the likest first.

    most: how many at the most.   likeness: 1 for equal ones, 0 for those that share nothing.
    """
    try:
        from difflib import get_close_matches  # a page without a mistake goes without it
    except Exception:  # within a page it may be a file of the project that has this name
        return []
    return get_close_matches(name, list(names), most, likeness)
