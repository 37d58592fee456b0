"""Make the listing of each file that a page shows, with its mistakes.  Text in, parts out; runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from scratchbook.core import regions
from scratchbook.core.cells import FileCell, Part, Session
from scratchbook.core.errors import Mistake, ScratchbookError
from scratchbook.core.sources import read_text


@dataclass(frozen=True)
class Listing:
    """What a page shows of a file.

    part: the lines, when there are any.   numbers: their 1-based lines in the file.
    text: the whole file, None when it cannot be read.   mistakes: all that is wrong with it or with the request.
    """

    part: Part | None = None
    numbers: tuple[int, ...] = ()
    text: str | None = None
    mistakes: tuple[Mistake, ...] = ()


def make_listings(session: Session) -> dict[str, Listing]:
    """Return the listing of each file cell, by the cell's id."""
    sources = dict(session.sources)
    return {cell.id: make_listing(cell, sources) for cell in session.cells if isinstance(cell, FileCell)}


def make_listing(cell: FileCell, sources: dict[str, bytes]) -> Listing:
    """Select the lines that a cell shows.  A missing file is told by whoever looked for it."""
    if not cell.path or cell.path not in sources:
        return Listing()
    try:
        text = read_text(sources[cell.path], cell.path)
    except ScratchbookError as error:
        return Listing(mistakes=(error.mistake,))
    region, mistakes = regions.show(text, cell.path, regions.Selection(**asdict(cell.selection)))
    if not region.numbers:
        return Listing(None, (), text, mistakes)
    lines, numbers = without_blank_edges(region.lines, region.numbers)
    data = {"path": cell.path, "text": "".join(f"{line}\n" for line in lines), "numbers": list(numbers)}
    return Listing(Part("listing", data), region.numbers, text, mistakes)


def without_blank_edges(lines: Sequence[str], numbers: Sequence[int]) -> tuple[Sequence[str], Sequence[int]]:
    """Leave out blank lines at both ends, as Asciidoctor does when it shows what a region holds."""
    shown = [place for place, line in enumerate(lines) if line.strip()]
    first, end = (shown[0], shown[-1] + 1) if shown else (0, len(lines))
    return lines[first:end], numbers[first:end]
