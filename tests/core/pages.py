"""Small pages for tests: cells with places that tests can name, and a project to run them in."""

from dataclasses import dataclass
from pathlib import Path

from scratchbook.core.cells import (
    BranchCell,
    ClaimCell,
    Code,
    CodeCell,
    FileCell,
    Limits,
    Outcome,
    Selection,
    Session,
    ValueCell,
)
from scratchbook.core.errors import Place
from scratchbook.core.runner import ForkServer

CHAPTER = "docs/page.md"


def block(text: str, line: int = 10, **options) -> CodeCell:
    """A block whose directive stands at a line; its code begins on the next."""
    numbers = tuple(range(line + 1, line + 1 + text.count("\n") + 1))
    return CodeCell(f"block-{line}", Place(CHAPTER, line), Code(CHAPTER, text, numbers), **options)


def value(expression: str, line: int = 50) -> ValueCell:
    return ValueCell(f"value-{line}", Place(CHAPTER, line), expression)


def claim(expression: str, line: int = 60) -> ClaimCell:
    return ClaimCell(f"claim-{line}", Place(CHAPTER, line), expression)


def shown(file: str, tag: str | None = None, line: int = 5, folder: str = "scratch") -> FileCell:
    return FileCell(f"file-{line}", Place(CHAPTER, line), file, Selection(tag=tag), f"{folder}/{file}")


def branch(task: str, line: int = 70, seconds: float | None = None, **payload) -> BranchCell:
    return BranchCell(f"branch-{line}", Place(CHAPTER, line), task, payload, seconds)


@dataclass(frozen=True)
class Project:
    """A folder with a `scratch/`, and the server that runs its pages."""

    root: Path
    server: ForkServer

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def session(self, *cells, **options) -> Session:
        """The session of these cells, with what the files that they show hold."""
        paths = dict.fromkeys(cell.path for cell in cells if isinstance(cell, FileCell) and cell.path)
        sources = tuple((path, (self.root / path).read_bytes()) for path in paths)
        limits = options.pop("limits", Limits())
        return Session("page", cells, str(self.root), sources=sources, folders=("scratch",), limits=limits, **options)

    def run(self, *cells, **options) -> Outcome:
        return self.server.run(self.session(*cells, **options))

    def output(self, *cells, **options) -> str:
        """What the last of these cells printed; the page must run without a mistake."""
        outcome = self.run(*cells, **options)
        assert [cell.mistakes for cell in outcome.cells.values() if cell.mistakes] == []
        assert outcome.mistakes == ()
        part = outcome.cells[cells[-1].id].part("text")
        return part["text"] if part else ""

    def mistake(self, *cells, **options):
        """The only mistake that these cells make."""
        outcome = self.run(*cells, **options)
        (mistake,) = [*outcome.mistakes, *(one for cell in outcome.cells.values() for one in cell.mistakes)]
        return mistake
