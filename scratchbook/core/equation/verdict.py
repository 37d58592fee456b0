"""What a check found, as plain data that crosses a process boundary."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import EquationError
from .origins import CodeObject


@dataclass(frozen=True)
class Suggestion:
    """One edit of the author's LaTeX after which both sides agree.  start, end: characters of the text."""

    old: str
    new: str
    start: int
    end: int

    def __str__(self) -> str:
        if not self.new:
            return f"dropping '{self.old}'"
        return f"changing '{self.old}' to '{self.new}'"


@dataclass(frozen=True)
class Mismatch:
    """Where two sides differ first.

    draw: its number.   indices: values of the running indices.   code, equation: the two values.   of: what was
    compared.
    values: the numbers of the draw, shortened.
    """

    draw: int
    of: str
    indices: dict[str, int]
    code: str
    equation: str
    difference: float
    values: dict[str, str]
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        place = f", {', '.join(f'{key}={value}' for key, value in self.indices.items())}" if self.indices else ""
        draw = f"draw {self.draw}" if self.draw >= 0 else "small numbers" if self.draw == -1 else "equal numbers"
        return f"{draw}{place}: {self.of}: one side {self.code}, the other {self.equation}"


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check.

    passed: every comparison agreed.   reason: one line, lower case, why not.   offset, row, column, line, caret:
    where, in `field`.
    source: the text of that field, where the mistake was found before a comparison.
    draws: how many.   compared: finite numbers compared.   rows: how many rows the code was given besides one.
    gradients: the LaTeX of every input whose gradient was compared.   largest: relative difference.   allowed:
    relative tolerance.
    code: the functions that ran.   call: how they were called.
    """

    passed: bool
    reason: str = ""
    field: str = "latex"
    offset: int | None = None
    row: int = 0
    column: int = 0
    caret: str = ""
    draws: int = 0
    compared: int = 0
    rows: tuple[int, ...] = ()
    gradients: tuple[str, ...] = ()
    largest: float = 0.0
    allowed: float = 0.0
    code: tuple[CodeObject, ...] = ()
    call: str = ""
    targets: tuple[str, ...] = ()
    mismatch: Mismatch | None = None
    suggestions: tuple[Suggestion, ...] = ()
    source: str = ""

    @property
    def text(self) -> str:
        """The reason with what would mend it."""
        if not self.suggestions:
            return self.reason
        return f"{self.reason}; {' or '.join(map(str, self.suggestions))} makes it agree"

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Verdict:
        """Read back what `to_json` wrote, also after a way through JSON."""
        mismatch = Mismatch(**data["mismatch"]) if data["mismatch"] else None
        lists = {name: tuple(data[name]) for name in ("rows", "gradients", "targets")}
        code = tuple(CodeObject(**item) for item in data["code"])
        suggestions = tuple(Suggestion(**item) for item in data["suggestions"])
        return cls(**{**data, **lists, "mismatch": mismatch, "code": code, "suggestions": suggestions})


@dataclass
class Tally:
    """What a check counts while it runs."""

    compared: int = 0
    largest: float = 0.0
    gradients: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def note(self, count: int, difference: float) -> None:
        """Count finite comparisons, and keep the largest relative difference."""
        self.compared += count
        self.largest = max(self.largest, difference)


class Disagreement(Exception):
    """Two sides differ; carries the mismatch and the sentence about it."""

    def __init__(self, mismatch: Mismatch, reason: str) -> None:
        super().__init__(reason)
        self.mismatch = mismatch
        self.reason = reason


class NothingThere(Disagreement):
    """Neither side has a finite value at a draw, which says nothing about another one."""


def failed(error: EquationError) -> Verdict:
    """The verdict on an equation that could not be checked."""
    place = (error.offset, error.row, error.column, error.caret)
    return Verdict(False, error.text, error.field, *place, source=error.source)
