"""What became of a cell, as its process tells it to its supervisor.  Plain data; runs nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from scratchbook.core.cells import Part
from scratchbook.core.errors import Mistake

Span = tuple[int, int]


class OutputError(ValueError):
    """What a block ends with is no figure or no table that a page can show; the message is the author's."""


@dataclass(frozen=True)
class Check:
    """A mistake if anything was printed between these marks, which only the supervisor can see."""

    spans: list[Span]
    mistake: Mistake


@dataclass
class Ending:
    """What became of a cell so far.

    spans: the marks around the output that the page shows.   stops: the later cells cannot run.
    """

    status: Literal["ok", "failed"] = "ok"
    parts: list[Part] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    stops: bool = False

    def fail(self, mistake: Mistake, *, stops: bool = False) -> None:
        """Note a mistake."""
        self.status = "failed"
        self.stops = self.stops or stops
        self.mistakes.append(mistake)

    def line(self, cell: str) -> dict[str, Any]:
        """Return the line that the supervisor reads."""
        return {
            "end": cell,
            "status": self.status,
            "parts": [{"kind": part.kind, "data": part.data} for part in self.parts],
            "mistakes": [mistake.to_json() for mistake in self.mistakes],
            "spans": self.spans,
            "checks": [[check.spans, check.mistake.to_json()] for check in self.checks],
        }
