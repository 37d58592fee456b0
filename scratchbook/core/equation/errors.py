"""What is wrong with an equation, and the exact character of the author's text where it shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scratchbook.core.errors import ScratchbookError


@dataclass
class EquationError(ScratchbookError):
    """A fact and a choice about one equation.

    offset: 0-based character in the text named by `field`; None before the place is known, and for facts without one.
    source: that whole text, from which row, column and the caret follow.
    """

    offset: int | None = None
    end: int | None = None
    source: str = ""
    field: str = "latex"

    def __post_init__(self) -> None:
        self.kind = "equation"

    def __str__(self) -> str:
        return self.text

    @property
    def row(self) -> int:
        """0-based line of the text; 0 when there is no place."""
        return self.source.count("\n", 0, self.offset or 0)

    @property
    def column(self) -> int:
        """0-based character within that line."""
        offset = self.offset or 0
        return offset - (self.source.rfind("\n", 0, offset) + 1)

    @property
    def caret(self) -> str:
        """The line of the text with a caret under the place; empty when there is none."""
        if self.offset is None or not self.source.strip():
            return ""
        line = self.source.split("\n")[self.row]
        width = max(1, min((self.end or self.offset + 1) - self.offset, len(line) - self.column))
        return f"{line}\n{' ' * self.column}{'^' * width}"

    def within(self, source: str, field: str) -> EquationError:
        """The same mistake, told where it is; a text that is known already stays."""
        if self.source:
            return self
        return replace(self, source=source, field=field)


class StepsError(EquationError):
    """An evaluation that takes too long at these sizes."""


class VectorsError(EquationError):
    """Two vectors side by side, which is a product only where it goes element by element."""


class RangeError(EquationError):
    """An index on a left side that nothing says where it runs."""


def fault(text: str, at: object = None) -> EquationError:
    """Make an error at anything that has `start` and `end`: a token or a node."""
    return EquationError(text, offset=getattr(at, "start", None), end=getattr(at, "end", None))
