"""The bibliography style `author_year`: lists whose labels are what the sentences say, "Vaswani et al., 2017"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]  # pybtex has no types
    """Label a work by its first author and its year; works that would share a label get a, b, c."""

    def format_labels(self, sorted_entries: list[Any]) -> Iterator[str]:
        """Yield a label for each entry, in their order."""
        labels = [author_year(entry) for entry in sorted_entries]
        total, seen = Counter(labels), Counter[str]()
        for label in labels:
            yield f"{label}{LETTERS[seen[label]]}" if total[label] > 1 else label
            seen[label] += 1


class AuthorYearStyle(UnsortedStyle):  # type: ignore[misc]
    """Pybtex's plain entries, sorted by author and labelled by author and year."""

    default_label_style = AuthorYearLabels
    default_sorting_style = "author_year_title"


def author_year(entry: Any) -> str:
    """Return what a sentence calls a work: one author, two, or the first and "et al.", and the year."""
    persons = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [" ".join(map(str, person.rich_prelast_names + person.rich_last_names)) for person in persons]
    year = entry.fields.get("year", "")
    if not names:
        return ", ".join(filter(None, [entry.fields.get("organization") or entry.key, year]))
    said = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
    return ", ".join(filter(None, [said, year]))


def register(app: Sphinx) -> None:
    """Tell pybtex the style; conf.py chooses it with `bibtex_default_style = "author_year"`."""
    register_plugin("pybtex.style.formatting", "author_year", AuthorYearStyle)
