r"""Which parts of each \\max(a, b) and \\min(a, b) ever were its value: one that never was has not been compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .algebra import Row
from .errors import fault
from .nodes import Call


@dataclass
class Choice:
    """What one call chose so far.  waiting: the places of the parts that never were its value."""

    call: Call
    waiting: set[int]


@dataclass
class Choices:
    """The choices of one evaluation, by call."""

    found: dict[int, Choice] = field(default_factory=dict)

    def note(self, call: Call, values: Sequence[Any], result: Any) -> None:
        """Note which parts of a call have its value somewhere."""
        choice = self.found.get(id(call))
        if choice is None:
            choice = self.found[id(call)] = Choice(call, set(range(len(values))))
        best = np.real(result)
        choice.waiting -= {place for place in choice.waiting if np.any(real(values[place]) == best)}


def real(value: Any) -> Any:
    """The real numbers of a value, which carries a complex step in a derivative."""
    return np.real(value.array if isinstance(value, Row) else value)


def check_choices(all_choices: Iterable[Choices], draws: int) -> None:
    """Raise EquationError for a part that was never the value of its max or min in any evaluation."""
    never: dict[int, Choice] = {}
    for choices in all_choices:
        for key, choice in choices.found.items():
            kept = never.setdefault(key, Choice(choice.call, set(choice.waiting)))
            kept.waiting &= choice.waiting
    for choice in never.values():
        for place in sorted(choice.waiting):
            fact = f"this part of {choice.call.base} decides at none of {draws} draws, so nothing of it is compared"
            text = f"{fact}; choose other kinds, such as int(1..9), or name points with ':at:'"
            raise fault(text, choice.call.arguments[place])
