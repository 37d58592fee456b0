r"""Which parts of each choice ever were its value: one that never was has not been compared.

Choices are \\max(a, b), \\min(a, b) and clips, cases, and operators over indices, which may run over nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .algebra import Row
from .errors import fault
from .nodes import Call, Case, Cases, Compare, Node, Reduce, walk


@dataclass
class Choice:
    """What one node chose so far.  waiting: the places of the parts that never were its value."""

    node: Call | Cases | Reduce
    waiting: set[int]


@dataclass
class Choices:
    """The choices of one evaluation, by node.  is_arranged: may numbers be equal on purpose, so that both of two
    are the largest?"""

    is_arranged: bool = False
    found: dict[int, Choice] = field(default_factory=dict)

    def of(self, node: Call | Cases | Reduce, parts: Iterable[int]) -> Choice:
        """The choice of a node with these parts."""
        choice = self.found.get(id(node))
        if choice is None:
            choice = self.found[id(node)] = Choice(node, set(parts))
        return choice

    def note(self, call: Call, values: Sequence[Any], result: Any) -> None:
        """Note which parts of a call have its value somewhere."""
        if self.is_arranged:
            return
        choice = self.of(call, range(len(values)))
        best = np.real(result)
        choice.waiting -= {place for place in choice.waiting if np.any(real(values[place]) == best)}

    def note_case(self, node: Cases, place: int) -> None:
        """Note which case applies."""
        self.of(node, range(len(node.rows))).waiting.discard(place)

    def note_members(self, node: Reduce, count: int) -> None:
        """Note over how many members an operator runs."""
        choice = self.of(node, (0,))
        if count:
            choice.waiting.clear()


def is_by_chance(rows: Sequence[Case], place: int) -> bool:
    """Should chance meet a case?  Numbers are never equal by it, and what is left beside > and < may be that."""
    condition = rows[place].condition
    if condition is None:
        return len(rows) == 2 and is_by_chance(rows, 0)
    return not any(isinstance(part, Compare) and {"=", r"\ne"} & {*part.relations} for part in walk(condition))


def real(value: Any) -> Any:
    """The real numbers of a value, which carries a complex step in a derivative."""
    return np.real(value.array if isinstance(value, Row) else value)


def never_chosen(all_choices: Iterable[Choices]) -> list[Choice]:
    """The choices with the parts that were the value in none of these evaluations."""
    never: dict[int, Choice] = {}
    for choices in all_choices:
        for key, choice in choices.found.items():
            kept = never.setdefault(key, Choice(choice.node, set(choice.waiting)))
            kept.waiting &= choice.waiting
    return [choice for choice in never.values() if choice.waiting]


def is_bound_waiting(all_choices: Iterable[Choices]) -> bool:
    """Is there a part of a maximum, a minimum or a clip that never decided?"""
    return any(isinstance(choice.node, Call) for choice in never_chosen(all_choices))


def check_choices(all_choices: Iterable[Choices], draws: int, *, has_ties: bool) -> None:
    """Raise EquationError for a part that was never the value of its choice in any evaluation.

    has_ties: were numbers also made equal?
    """
    for choice in never_chosen(all_choices):
        for place in sorted(choice.waiting):
            if isinstance(choice.node, Cases) and not has_ties and not is_by_chance(choice.node.rows, place):
                continue
            fact, at = told(choice.node, place)
            text = f"{fact} at none of {draws} draws, so nothing of it is compared; choose other kinds, such as "
            raise fault(f"{text}int(1..9), name points with ':at:', or leave out what no value reaches", at)


def told(node: Call | Cases | Reduce, place: int) -> tuple[str, Node]:
    """What a part does not do, and where it stands."""
    if isinstance(node, Call):
        return f"this part of {node.base} decides", node.arguments[place]
    if isinstance(node, Cases):
        return "this case applies", node.rows[place].value
    return f"this {node.operator} runs over anything", node
