"""The bibliography style `author_year`: lists whose labels are what the sentences say, "Vaswani et al., 2017".

Pybtex sets and names all works of all lists anew in each build, which takes a quarter of a build after a small edit;
here that is done once and kept.  And it goes through all installed packages for each part of a style that it looks up,
ten milliseconds a time; here that is done once a build.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn

import pybtex
import pybtex.plugin
import pybtex.richtext
from pybtex.plugin import register_plugin
from pybtex.scanner import PybtexSyntaxError
from pybtex.style import FormattedEntry
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.names.plain import NameStyle
from pybtex.style.sorting.author_year_title import SortingStyle
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from scratchbook.core.errors import Mistake, Place
from scratchbook.core.kept import Kept, key_of
from scratchbook.ext.directive import path_from_root
from scratchbook.ext.incremental import own_digest
from scratchbook.ext.report import Met, say

LETTERS = "abcdefghijklmnopqrstuvwxyz"
COMMAND: Final = re.compile(r"\\[A-Za-z]+")
TEXTS: Final = {"Text", "String", "Tag", "HRef", "Protected", "Symbol"}


class TextReader(pickle.Unpickler):
    """Read a text of pybtex that was kept; whatever else a file may name is not made, since making it can run code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of pybtex's texts.  Raises UnpicklingError for anything else."""
        if module == pybtex.richtext.__name__ and name in TEXTS:
            return getattr(pybtex.richtext, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no text")


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]  # pybtex has no types
    """Label a work by its first author and its year; works that would share a label get a, b, c."""

    def format_labels(self, sorted_entries: list[Any]) -> Iterator[str]:
        """Yield a label for each entry, in their order."""
        labels = [AuthorYearStyle.label_of(entry) for entry in sorted_entries]
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
        text = self._once("work", entry, lambda: super(AuthorYearStyle, self).format_entry(label, entry, bib_data).text)
        return FormattedEntry(entry.key, text, label)

    @classmethod
    def label_of(cls, entry: Any) -> str:
        """Return what a sentence calls a work, or take it as it was found before."""
        return str(cls._once("label", entry, lambda: author_year(entry)))

    @classmethod
    def _once(cls, kind: str, entry: Any, make: Callable[[], Any]) -> Any:
        """Return what was made of an entry before, else make it and keep it."""
        persons = {role: list(map(str, persons)) for role, persons in entry.persons.items()}
        key = key_of(
            kind, own_digest(), pybtex.__version__, entry.key, entry.type, sorted(entry.fields.items()), persons
        )
        if key not in cls.known:
            cls.known[key] = cls._read(key) or cls._write(key, make())
        return cls.known[key]

    @classmethod
    def _read(cls, key: str) -> Any:
        """Return what was kept, None when there is nothing that can be read."""
        data = cls.kept.get(key) if cls.kept else None
        if data is not None:
            with contextlib.suppress(Exception):  # of another version of pybtex, whatever reading it raises
                return TextReader(io.BytesIO(data)).load()
        return None

    @classmethod
    def _write(cls, key: str, made: Any) -> Any:
        """Keep what was made and return it."""
        if cls.kept:
            cls.kept.put(key, pickle.dumps(made))
        return made


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


def read_works(app: Sphinx) -> None:
    """Read the bibliography.  One that cannot be read ends the build with its line; Sphinx would not name the file."""
    from sphinxcontrib.bibtex.bibfile import process_bibdata

    known, encoding = app.env.domaindata["cite"], app.config.bibtex_encoding
    paths = [(app.confdir / name).resolve() for name in app.config.bibtex_bibfiles or ()]
    for path in filter(Path.is_file, paths):
        try:
            path.read_bytes().decode(encoding)
        except UnicodeDecodeError as error:
            fact = f"byte 0x{error.object[error.start]:02x} at offset {error.start} is not {encoding}"
            line = error.object[: error.start].count(b"\n") + 1
            end_build(app, f"{fact}; save the file so, or name its encoding in bibtex_encoding", path, line)
    try:
        known["bibdata"] = process_bibdata(known["bibdata"], paths, encoding)
    except PybtexSyntaxError as error:
        end_build(app, f"no BibTeX: {str(error).partition(': ')[2]}", Path(error.filename), error.lineno)
    style = pybtex.plugin.find_plugin("pybtex.style.formatting", app.config.bibtex_default_style)
    for entry in known["bibdata"].data.entries.values():
        if not hasattr(style, f"get_{entry.type}_template"):
            entry.type = "misc"


def end_build(app: Sphinx, text: str, path: Path, line: int) -> NoReturn:
    """Say what is wrong in a file, and end the build without the traceback that Sphinx prints for an exception."""
    place = Place(path_from_root(app.env, str(path)), line)
    say(app, [Met(Mistake("source", text, place), place)])
    raise SystemExit(2)


def tell_works(app: Sphinx, env: BuildEnvironment) -> None:
    """Tell of works that a list shows otherwise than meant: pybtex knows some kinds, and of LaTeX accents alone."""
    for cited in {cited.entry.key: cited for cited in env.domaindata["cite"]["citations"]}.values():
        key, kind = cited.entry.key, cited.entry.original_type
        place = place_of_work(env, key)
        if cited.entry.type != kind.lower():
            fact = f"@{kind} is no kind of work that the style knows, so '{key}' is shown as @misc"
            say(app, [Met(Mistake("output", f"{fact}; write @book, @article, @techreport or @misc", place), place)])
        if command := COMMAND.search(str(cited.formatted_entry.text)):
            fact = f"'{command[0]}' of '{key}' is not understood, and stands in the list of works as it is"
            say(app, [Met(Mistake("output", f"{fact}; write the words without it", place), place)])


def place_of_work(env: BuildEnvironment, key: str) -> Place:
    """Return the line of the bibliography at which a work begins."""
    head = re.compile(rf"\s*@\w+\s*[{{(]\s*{re.escape(key)}\s*,", re.IGNORECASE)
    for path in map(Path, env.domaindata["cite"]["bibdata"].bibfiles):
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
            if head.match(line):
                return Place(path_from_root(env, str(path)), number)
    return Place("conf.py", 1)


def listen(app: Sphinx, config: Config) -> None:
    """Look at the works of a project that has a bibliography: before they are read, and once they are set."""
    if "sphinxcontrib.bibtex" in app.extensions:
        app.connect("builder-inited", read_works, priority=490)
        app.connect("env-updated", tell_works, priority=900)


def register(app: Sphinx) -> None:
    """Tell pybtex the style; conf.py chooses it with `bibtex_default_style = "author_year"`."""
    app.connect("config-inited", listen)
    pybtex.plugin.entry_points = find_plugins
    register_plugin("pybtex.style.formatting", "author_year", AuthorYearStyle)
