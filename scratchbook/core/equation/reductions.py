r"""Compute what runs over indices: sums, products, extremes, expectations and lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import algebra, primitives
from .algebra import Row, Value
from .errors import fault
from .nodes import Family, Node, Reduce
from .symbols import latex_of

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator


def holds(left: Value, sign: str, right: Value) -> Any:
    """Whether a relation holds, element by element."""
    if sign == r"\in":
        return bool(np.any(np.asarray(right) == left))
    if (
        isinstance(left, Row)
        or isinstance(right, Row)
        or (np.ndim(left) and np.ndim(right) and np.shape(left) != np.shape(right))
    ):
        raise fault(f"a condition compares {algebra.shown(left)} and {algebra.shown(right)}; index them")
    one, other = np.real(left), np.real(right)
    if sign == "=":
        return one == other
    if sign == r"\ne":
        return one != other
    if sign == "<":
        return one < other
    if sign == r"\le":
        return one <= other
    return one > other if sign == ">" else one >= other


def listed(self: Evaluator, nodes: Sequence[Node], bound: Bound) -> list[Value]:
    """The values of a list, with every family spread out."""
    values: list[Value] = []
    for node in nodes:
        if isinstance(node, Family) and node.operator == ",":
            values += members(self, node, bound)
        else:
            values.append(self.value(node, bound))
    return values


def members(self: Evaluator, node: Family, bound: Bound) -> list[Value]:
    """The members that dots stand for."""
    low, high = self.integer(node.low, bound, "where dots begin"), self.integer(node.high, bound, "where dots end")
    if high - low > 10_000:
        raise fault("dots for over 10000 members; use smaller sizes", node)
    return [self.value(node.template, bound | {node.key: number}) for number in range(low, high + 1)]


def family(self: Evaluator, node: Family, bound: Bound) -> Value:
    """A sum, a product or a list with dots."""
    values = members(self, node, bound)
    if node.operator == ",":
        return primitives.side_by_side(values)
    return folded("sum" if node.operator == "+" else "prod", values)


def folded(operator: str, values: Sequence[Value]) -> Value:
    """A sum or a product of values; of none 1, or the zero of whatever shape the terms would have."""
    if not values:
        return algebra.Zero() if operator == "sum" else 1
    total = values[0]
    for value in values[1:]:
        total = algebra.add(total, value) if operator == "sum" else algebra.multiply(total, value)
    return total


def reduced(self: Evaluator, node: Reduce, bound: Bound) -> Value:
    """A big operator over every value of its indices."""
    places = list(self.ranges.members_of(node, bound, self))
    self.budget.choices.note_members(node, len(places))
    if node.weights is not None:
        return expected(self, node, places)
    values = [self.value(node.body, inner) for inner in places]
    if node.operator in ("sum", "prod"):
        return folded(node.operator, values)
    if not values:
        raise fault(f"{node.operator} over nothing; its indices have no value here", node)
    if node.operator == "elements":
        check_first(self, node, places[0])
    if node.operator in ("list", "elements"):
        return primitives.side_by_side(values) if np.ndim(values[0]) == 0 else np.asarray(values)
    if node.operator == "mean":
        return algebra.divide(folded("sum", values), len(values))
    if node.operator in ("max", "min"):
        return primitives.choose(1 if node.operator == "max" else -1, *values) if len(values) > 1 else values[0]
    return first_extreme(node, values, places)


def check_first(self: Evaluator, node: Reduce, place: Bound) -> None:
    """Refuse a list, whose elements an index picks, that begins elsewhere than where indices count from."""
    key = node.bindings[0].key
    if place[key] != self.base:
        fact = f"{latex_of(key)} runs from {place[key]} here, and an element is picked from {self.base} on"
        raise fault(f"{fact}; name its range", node)


def expected(self: Evaluator, node: Reduce, places: list[Bound]) -> Value:
    r"""\mathbb{E}_{i \sim p}: values weighted by p."""
    assert node.weights is not None
    weights = self.value(
        node.weights, {key: value for key, value in places[0].items() if key != node.bindings[0].key} if places else {}
    )
    if len(node.bindings) != 1 or np.ndim(weights) != 1 or len(weights) != len(places):
        raise fault("the weights of an expectation must be a vector over its one index", node)
    if abs(np.sum(np.real(weights)) - 1) > 1e-6:
        fact = "the weights of an expectation must sum to one, as those of a simplex do"
        raise fault(
            f"{fact}; for the mean of a sample write \\frac1n \\sum_i or \\hat{{\\mathbb{{E}}}}_i", node.weights
        )
    return folded(
        "sum",
        [algebra.multiply(weight, self.value(node.body, inner)) for weight, inner in zip(weights, places, strict=True)],
    )


def first_extreme(node: Reduce, values: list[Value], places: list[Bound]) -> int:
    r"""The index of the largest or smallest value."""
    if any(np.ndim(value) for value in values) or len(node.bindings) != 1:
        raise fault(f"{node.operator} needs one index and a number at each", node)
    reals = np.real(np.asarray(values))
    best = int(np.argmax(reals) if node.operator == "argmax" else np.argmin(reals))
    return int(places[best][node.bindings[0].key])
