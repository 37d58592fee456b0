"""A check that was read and can be run: the equation, the code that it is held against, and the symbols to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from .binding import BoundFunctions
from .codecalls import CodeCall
from .definitions import Definitions
from .equation import Equation
from .errors import EquationError
from .evaluator import Budget, Evaluator
from .nodes import Call, Cases, Indicator, Name, Node, Reduce, walk
from .notation import Notation, Symbol
from .options import Request
from .ranges import Ranges, Span
from .targets import Target
from .tokens import Macros

DRAWS: Final = 5
SCALAR_DRAWS: Final = 8
# With branches, each of which must be met: of numbers alone a draw costs little.
BRANCHED_DRAWS: Final = 12
BRANCHED_SCALAR_DRAWS: Final = 200
# Of kinds of few values, where a dozen draws still leave an element of a product at 0 throughout, once in thirty.
COARSE_DRAWS: Final = 24
COARSE: Final = frozenset(["binary", "sign", "onehot"])
BRANCHED: Final = frozenset(["max", "min", "argmax", "argmin", "clip", "relu", "floor", "ceil", "round", "sign", "mod"])


@dataclass(frozen=True)
class Prepared:
    """A check that was read and can be run, also for a mutant of its equation."""

    equation: Equation
    request: Request
    namespace: Mapping[str, Any]
    macros: Macros | None
    definitions: Definitions
    functions: BoundFunctions
    targets: tuple[Target, ...]
    symbols: tuple[Symbol, ...]
    rtol: float
    points: tuple[dict[str, float], ...]
    base: int

    @property
    def notation(self) -> Notation:
        return self.equation.notation

    @property
    def draws(self) -> int:
        """How many draws: one a point, else a few; more of numbers than of arrays, and more where there are
        branches or kinds of few values."""
        if self.points:
            return len(self.points)
        if all(is_rotated(symbol) for symbol in self.symbols):
            return SCALAR_DRAWS  # sizes come back after a few draws, whatever branches there are
        has_arrays = any(symbol.kind.shape for symbol in self.symbols)
        if any(symbol.kind.name in COARSE and symbol.kind.shape for symbol in self.symbols):
            return COARSE_DRAWS
        if self.has_branches:
            return BRANCHED_DRAWS if has_arrays else BRANCHED_SCALAR_DRAWS
        return DRAWS if has_arrays else SCALAR_DRAWS

    @cached_property
    def has_branches(self) -> bool:
        """Is there a formula that depends on the values, such as a maximum or cases?"""
        return any(is_branched(part) for root in self.equation.roots() for part in walk(root))

    def point(self, number: int) -> dict[str, float]:
        """The values that ':at:' gives to one draw.  Raises EquationError for a name that is no symbol here."""
        point = self.points[number] if self.points else {}
        codes = {symbol.code for symbol in self.symbols}
        for name in point:
            if name not in codes:
                said = f"the point names {name}, which this equation does not use; it uses {', '.join(sorted(codes))}"
                at = self.request.at.find(f"{name}=")
                raise EquationError(said, offset=at, end=at + len(name), source=self.request.at, field="at")
        return point

    @property
    def call(self) -> str:
        """The code as messages name it."""
        return ", ".join(dict.fromkeys(target.text for target in self.targets))

    def evaluator(
        self, values: Mapping[str, Any], spans: Mapping[str, Span], targets: Mapping[str, Any], budget: Budget
    ) -> Evaluator:
        """An evaluator with the drawn values of everything that the equation does not define.

        spans: where declared indices run.   targets: the code's arrays, whose shapes say how far indices run.
        """
        inputs = {key: value for key, value in values.items() if not self.definitions.defines(key)}
        equation = self.equation
        shapes = {key: np.shape(value) for key, value in targets.items()}
        indices = equation.lexicon.indices.union(*(given.lexicon.indices for given in equation.given))
        ranges = Ranges(self.notation, equation.ranges, equation.conditions, dict(spans), shapes, indices)
        return Evaluator(
            self.definitions, inputs, ranges, self.functions, self.base, budget, is_plain=equation.is_plain
        )


def is_rotated(symbol: Symbol) -> bool:
    """Has a symbol one of a few sizes at each draw, in turn, rather than a number by chance?"""
    return symbol.kind.name == "dim" and symbol.kind.arguments in ((), ("even",), ("odd",))


def has_free_sizes(prepared: Prepared) -> bool:
    """Is there a size that the draws choose, rather than a kind or ':at:'?"""
    return not prepared.points and any(is_rotated(symbol) for symbol in prepared.symbols)


def is_branched(node: Node) -> bool:
    """Does the formula of a value depend on the values that it is given?"""
    if isinstance(node, Reduce):
        return node.operator in BRANCHED
    return isinstance(node, Cases | Indicator) or (isinstance(node, Call) and node.base in BRANCHED)


def row_keys(prepared: Prepared) -> tuple[str, ...]:
    """The keys of the vectors that the code also takes as rows: those in the brackets on the left, else its first
    argument."""
    if len(prepared.targets) != 1 or not isinstance(prepared.targets[0].source, CodeCall):
        return ()
    call, keys = prepared.targets[0].source, prepared.targets[0].keys
    codes = prepared.notation.by_code()
    arguments = [
        codes[name].key for name in call.arguments.values() if name in codes and len(codes[name].kind.shape) == 1
    ]
    first = next(iter(call.arguments.values()), "")
    inside: Sequence[str] = ()
    if len(keys) == 1 and prepared.definitions.defines(keys[0]):
        parameters = prepared.definitions.clauses[keys[0]][0].definition.parameters or ()
        inside = [part.key for part in parameters if isinstance(part, Name)]
    chosen = [key for key in arguments if key in inside] or [
        codes[first].key for _ in [0] if first in codes and codes[first].key in arguments
    ]
    return tuple(
        key
        for key in chosen
        if prepared.notation.symbols[key].kind.name not in ("ints", "mask") and not prepared.definitions.defines(key)
    )
