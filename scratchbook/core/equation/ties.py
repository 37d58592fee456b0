"""Make some numbers of a draw equal on purpose: 0, one another, and the numbers that the equation names.

Chance draws no two real numbers alike, so nothing else would tell > from \\ge, or meet a case such as a = 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeGuard

import numpy as np

from .draws import Draw
from .nodes import Call, Compare, Negate, Node, Number, Reduce, walk
from .notation import Symbol

# Numbers at which code may bend that the equation does not name.
COMMON: Final = (0.0, 1.0, -1.0, 2.0, -2.0, 10.0, -10.0)
# How many draws have ties: of arrays, and of numbers alone.
ARRAY_TIES: Final = 6
SCALAR_TIES: Final = 60
LARGEST: Final = 100
SMALL: Final = 1e-3
# What one kind may be besides any number.
LIMITS: Final = {"scalar": (-np.inf, np.inf), "vector": (-np.inf, np.inf), "matrix": (-np.inf, np.inf)}
LIMITS_OF: Final = {**LIMITS, "tensor": (-np.inf, np.inf), "positive": (0.0, np.inf), "unit": (0.0, 1.0)}
# Which of two equal numbers is the largest is nobody's mistake.
UNDECIDED: Final = frozenset(["argmax", "argmin"])


def bends_of(roots: Iterable[Node]) -> tuple[float, ...]:
    """The numbers that an equation compares with something, as the 6 of x > 6 and of min(x, 6)."""
    found: set[float] = set()
    for root in roots:
        for part in walk(root):
            if isinstance(part, Compare) or (isinstance(part, Call) and part.base in ("max", "min", "clip")):
                members = part.members if isinstance(part, Compare) else part.arguments
                found |= {float(inner.value) for member in members for inner in walk(member) if is_number(inner)}
                signed = [member.body for member in members if isinstance(member, Negate)]
                found |= {-float(body.value) for body in signed if is_number(body)}
    return tuple(sorted(found))


def is_number(node: Node) -> TypeGuard[Number]:
    """Is it a number near enough to those that are drawn?"""
    return isinstance(node, Number) and abs(node.value) <= LARGEST


def is_decided(roots: Iterable[Node]) -> bool:
    """Has an equation one value also where numbers are equal?"""
    parts = [part for root in roots for part in walk(root)]
    operators = {part.operator for part in parts if isinstance(part, Reduce)}
    return not UNDECIDED & (operators | {part.base for part in parts if isinstance(part, Call)})


def smaller(drawn: Draw, symbols: Sequence[Symbol]) -> Draw:
    """The draw with every number of a kind without ends a thousandth of what it was.

    Positive ones stay: by a temperature one divides.
    """
    ends = {s.key for s in symbols if s.kind.bounds is None and -np.inf in LIMITS_OF.get(s.kind.name, ())}
    return replace(drawn, values={key: value * SMALL if key in ends else value for key, value in drawn.values.items()})


def with_ties(drawn: Draw, symbols: Sequence[Symbol], bends: Sequence[float], generator: np.random.Generator) -> Draw:
    """The draw with about half of its numbers equal to something: to a bend of the equation rather than to others."""
    values = dict(drawn.values)
    pool = [*COMMON, *(float(values[s.key]) for s in symbols if s.kind.name in ("int", "dim") and s.key in values)]
    done: dict[tuple[int, ...], list[Any]] = {}
    for symbol in sorted(symbols, key=lambda symbol: len(symbol.kind.shape)):
        limits = symbol.kind.bounds or LIMITS_OF.get(symbol.kind.name)
        if limits is None or symbol.key not in values:
            continue
        fits = [
            float(number)
            for part in (bends, pool)
            for number in generator.permutation(list(part))
            if limits[0] < number < limits[1]
        ]
        value = np.array(values[symbol.key], dtype=float)
        others = [other for other in done.get(value.shape, []) if np.all((limits[0] < other) & (other < limits[1]))]
        tied = array_with_ties(value, fits, others, generator)
        done.setdefault(value.shape, []).append(tied)
        values[symbol.key] = tied if symbol.kind.shape else float(tied)
        if not symbol.kind.shape:
            pool.append(float(tied))
    return replace(drawn, values=values)


def array_with_ties(value: Any, fits: Sequence[float], others: Sequence[Any], generator: np.random.Generator) -> Any:
    """An array, or a number, of which some elements are equal to a number or to another's element at their place.

    No two of its own are: which of them comes first is nobody's mistake.
    """
    flat, left = value.ravel().copy(), list(dict.fromkeys(fits))
    for place in range(flat.size):
        if generator.random() > 1 / 2:
            continue
        if others and generator.random() < 1 / 3:
            flat[place] = others[int(generator.integers(0, len(others)))].ravel()[place]
        elif left:
            flat[place] = left.pop(left.index(0.0) if 0.0 in left and generator.random() < 1 / 3 else 0)
    return flat.reshape(value.shape)
