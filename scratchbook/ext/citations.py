"""The bibliography style `author_year`: lists whose labels are what the sentences say, "Vaswani et al., 2017".

Pybtex sets all works of all lists anew in each build, which takes a quarter of a build after a small edit; here each
is set once and kept.  And it goes through all installed packages for each part of a style that it looks up, ten
milliseconds a time; here that is done once a build.
"""

from __future__ import annotations

import contextlib
import pickle
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from typing import Any, ClassVar

import pybtex
import pybtex.plugin
from pybtex.plugin import register_plugin
from pybtex.style import FormattedEntry
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.names.plain import NameStyle
from pybtex.style.sorting.author_year_title import SortingStyle
from sphinx.application import Sphinx

from scratchbook.core.kept import Kept, key_of

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

    default_name_style = NameStyle
    default_label_style = AuthorYearLabels
    default_sorting_style = SortingStyle
    kept: ClassVar[Kept | None] = None
    known: ClassVar[dict[str, Any]] = {}

    def format_entry(self, label: str, entry: Any, bib_data: Any = None) -> FormattedEntry:
        """Set one work, or take it as it was set before."""
        persons = {role: list(map(str, persons)) for role, persons in entry.persons.items()}
        key = key_of("work", pybtex.__version__, entry.key, entry.type, sorted(entry.fields.items()), persons)
        if key not in self.known:
            self.known[key] = self._read(key) or self._write(key, super().format_entry(label, entry, bib_data).text)
        return FormattedEntry(entry.key, self.known[key], label)

    def _read(self, key: str) -> Any:
        """Return a text that was kept, None when there is none that can be read."""
        data = self.kept.get(key) if self.kept else None
        if data is not None:
            with contextlib.suppress(Exception):  # of another version of pybtex, whatever reading it raises
                return pickle.loads(data)
        return None

    def _write(self, key: str, text: Any) -> Any:
        """Keep a text and return it."""
        if self.kept:
            self.kept.put(key, pickle.dumps(text))
        return text


@cache
def find_plugins(**wanted: Any) -> tuple[metadata.EntryPoint, ...]:
    """Do what `importlib.metadata.entry_points` does for the name and the group that are wanted."""
    return tuple(installed().select(**wanted))


@cache
def installed() -> Any:  # it is of a type of its own until Python 3.12
    """Return what all installed packages offer, read once."""
    return metadata.entry_points()


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
    pybtex.plugin.entry_points = find_plugins
    register_plugin("pybtex.style.formatting", "author_year", AuthorYearStyle)
