"""A mistake: its place, the fact, and the author's choice.  Knows no Sphinx and prints nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

KINDS: Final = {
    "option": "a directive or role was given something it does not take",
    "source": "a file cannot be read: missing, outside the project, or not text",
    "region": "a tagged region is missing, empty, torn, or a marker looks mistyped",
    "run": "code failed, ended early, ran too long or printed too much",
    "value": "an inline value has no name, no finite form, or a format that does not fit",
    "claim": "a claim in the prose does not hold",
    "output": "what a block should have shown is not there: output, figure or table",
    "equation": "an equation cannot be read, or differs from the code that it describes",
    "notation": "a symbol is declared twice, in words that cannot be read, or with a size that cannot be",
    "exercise": "a starter that passes, a solution that fails, or a box with a part missing",
    "math": "TeX that cannot be drawn",
    "markup": "markup that the parser took for words, or a fence that nothing closes",
    "tally": "a count that nobody keeps",
    "pin": "an outcome differs from the one that was accepted",
    "cache": "the store of outcomes cannot be used",
    "setting": "a setting in conf.py that cannot be used",
}


@dataclass(frozen=True, order=True)
class Place:
    """Where an editor should jump to.

    path: from the project's root, with forward slashes.   line: 1-based.
    """

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Mistake:
    """One message to the author, as plain data that crosses a process boundary.

    kind: a key of KINDS.   text: one line, lower case, no full stop: the fact with its values, then the choice.
    place: what to open; None means the line of the directive that asked.
    detail: further lines for the log, such as a traceback with shortened paths.
    """

    kind: str
    text: str
    place: Place | None = None
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data that `from_json` reads back."""
        place = [self.place.path, self.place.line] if self.place else None
        return {"kind": self.kind, "text": self.text, "place": place, "detail": self.detail}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Mistake:
        """Read back what `to_json` wrote."""
        place = Place(*data["place"]) if data["place"] else None
        return cls(data["kind"], data["text"], place, data["detail"])


@dataclass
class ScratchbookError(Exception):
    """What `core` raises when the author must act; `ext.directive` turns it into one warning."""

    text: str
    place: Place | None = None
    kind: str = field(default="option", kw_only=True)

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text

    @property
    def mistake(self) -> Mistake:
        """Return the same as plain data."""
        return Mistake(self.kind, self.text, self.place)
