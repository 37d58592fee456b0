"""Show each equation of a book as one test item: the same outcomes as a build, in another report.

`pytest --scratchbook` collects the conf.py of the project; without the option nothing of this is loaded.  The name of a
test, such as `conf.py::attention::eq-softmax`, chooses it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from scratchbook.ext.checked import Finding


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that turns the collection on, and where the chapters are."""
    group = parser.getgroup("scratchbook")
    group.addoption("--scratchbook", action="store_true", help="collect each equation of the book as a test")
    parser.addini("scratchbook_source", "the folder of the book's chapters, from conf.py", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Have conf.py collected, wherever the tests are."""
    conf = config.rootpath / "conf.py"
    named = {config.invocation_params.dir / argument.partition("::")[0] for argument in config.args}
    if config.getoption("--scratchbook") and conf.is_file() and conf not in named:
        config.args.append(str(conf))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take conf.py for a book."""
    if file_path.name == "conf.py" and parent.config.getoption("--scratchbook"):
        return BookFile.from_parent(parent, path=file_path)
    return None


class BookFile(pytest.File):
    """A book: its equations are its tests."""

    def collect(self) -> Iterator[pytest.Collector]:
        """Read the book, run what is not stored, and yield each page that has equations."""
        from scratchbook.cli import default_build, default_source
        from scratchbook.ext.book import BookError, open_book
        from scratchbook.ext.checked import equation_mistakes, findings
        from scratchbook.ext.domain import domain_of

        conf = self.path.parent
        source = self.config.getini("scratchbook_source") or default_source(str(conf))
        worker = os.environ.get("PYTEST_XDIST_WORKER", "")  # each reads chapters for itself
        try:
            # What a project makes of warnings is about its own code, not about Sphinx's.
            with (
                warnings.catch_warnings(),
                open_book(conf, conf / source, Path(default_build(str(conf))), "run", reader=f"pytest{worker}") as book,
            ):
                warnings.simplefilter("ignore")
                book.read()
                domain = domain_of(book.app.env)
                mistakes = equation_mistakes(domain)
                found = [(finding, mistakes.get(finding.equation, [])) for finding in findings(domain)]
        except BookError as error:
            raise self.CollectError(str(error)) from error
        for docname, group in groupby(found, lambda pair: pair[0].docname):
            yield PageNode.from_parent(self, name=docname, found=list(group))


class PageNode(pytest.Collector):
    """A page: its equations are named by their labels, or by their places where they have none."""

    def __init__(self, *, found: list[tuple[Finding, list[str]]], **named: Any) -> None:
        super().__init__(**named)
        self.found = found

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each equation."""
        for finding, texts in self.found:
            name = finding.equation.label or f"line {finding.equation.place.line}"
            yield EquationItem.from_parent(self, name=name, finding=finding, texts=texts)


class EquationFailure(Exception):
    """An equation that differs from its code."""


class EquationItem(pytest.Item):
    """One equation."""

    def __init__(self, *, finding: Finding, texts: list[str], **named: Any) -> None:
        super().__init__(**named)
        self.finding, self.texts = finding, texts

    def runtest(self) -> None:
        """Report what the check found."""
        if self.texts:
            raise EquationFailure("\n".join(self.texts))
        if self.finding.state == "excused":
            pytest.skip(self.finding.equation.excuse or "checked by a function of the project")
        if self.finding.state == "open":
            pytest.skip("neither checked nor excused")
        if self.finding.state in ("failed", "not run"):
            raise EquationFailure(f"the check has {self.finding.state.replace('not run', 'not been run')}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the messages of the build instead of our own traceback."""
        return str(excinfo.value) if excinfo.errisinstance(EquationFailure) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the equation stands."""
        place = self.finding.equation.place
        return self.path.parent / place.path, place.line - 1, self.name
