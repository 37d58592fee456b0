"""Run a check on every mutant of its equation: which are killed by a value, which by an error, and which survive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .checker import prepare
from .comparing import Comparer
from .definitions import collect
from .equation import Equation
from .errors import EquationError, fault
from .mutator import Mutant, mutate
from .options import Request
from .prepared import Prepared
from .sides import Sides
from .tokens import Macros
from .vacuity import check_vacuity
from .verdict import Disagreement


@dataclass(frozen=True)
class Fate:
    """What became of one mutant: value, error or survived.  reason: the message that killed it."""

    operator: str
    old: str
    new: str
    fate: str
    reason: str = ""

    @property
    def is_killed(self) -> bool:
        return self.fate != "survived"


@dataclass(frozen=True)
class Score:
    """The fates of one equation's mutants."""

    label: str
    fates: tuple[Fate, ...]

    @property
    def killed(self) -> int:
        return sum(fate.is_killed for fate in self.fates)

    @property
    def survivors(self) -> tuple[Fate, ...]:
        return tuple(fate for fate in self.fates if not fate.is_killed)


def score(equation: Equation, request: Request, namespace: Mapping[str, Any], macros: Macros | None = None) -> Score:
    """Check every mutant of an equation whose own check passes.

    Raises EquationError when the equation itself cannot be checked or does not agree.
    """
    prepared = prepare(equation, request, namespace, macros)
    comparer = Comparer(prepared)
    reason = why_not(comparer)
    if reason:
        first = equation.statements[0].members[0]
        raise fault(f"the equation itself does not agree: {reason[1]}", first).within(equation.source, "latex")
    fates = (fate_of(mutant, prepared, comparer.sides) for mutant in mutate(prepared.equation))
    return Score(request.label, tuple(fates))


def fate_of(mutant: Mutant, prepared: Prepared, sides: Sides) -> Fate:
    """Run one mutant."""
    reason = why_not(Comparer(changed(prepared, mutant.equation), sides))
    return Fate(
        mutant.operator, mutant.old, mutant.new, reason[0] if reason else "survived", reason[1] if reason else ""
    )


def changed(prepared: Prepared, equation: Equation) -> Prepared:
    """The same check of another equation."""
    return replace(prepared, equation=equation, definitions=collect(equation))


def why_not(comparer: Comparer) -> tuple[str, str] | None:
    """Why a check does not pass: (value or error, message); None when it does."""
    try:
        check_vacuity(comparer.prepared)
        comparer.run()
    except Disagreement as disagreement:
        return "value", disagreement.reason
    except EquationError as error:
        return "error", error.text
    except RecursionError:
        return "error", "nests too deep"
    return None
