"""Pick elements, rows and slices.  An index counts from the base, and never runs round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import algebra, defined
from .algebra import Ones, Row, Value
from .errors import fault
from .nodes import Index, Name, Node, Number, Slice, free_names
from .render import write
from .symbols import latex_of

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator


def indexed(self: Evaluator, node: Index, bound: Bound) -> Value:
    """An element, a row or a slice."""
    base = node.base
    if node.is_doubtful and isinstance(value := self.value(base, bound), int | float | np.number | complex):
        return algebra.multiply(value, self.value(node.indices[0], bound))
    if (
        isinstance(base, Name)
        and base.key not in bound
        and base.key not in self.inputs
        and self.definitions.defines(base.key)
    ):
        clause = self.definitions.clauses[base.key][0]
        count = len(clause.definition.patterns)
        if (
            clause.definition.parameters is None
            and 0 < count <= len(node.indices)
            and not any(isinstance(i, Slice) for i in node.indices[:count])
        ):
            place = tuple(self.integer(i, bound, "an index") for i in node.indices[:count])
            value = defined.element(self, base.key, place, node)
            return pick(self, value, node.indices[count:], bound, node) if len(node.indices) > count else value
    named = named_elements(self, node, bound)
    return pick(self, self.value(base, bound), node.indices, bound, node) if named is None else named


def named_elements(self: Evaluator, node: Index, bound: Bound) -> Value:
    """The value of Q_i, or of the element Q_{i,j}, where the notation declares Q_1 and Q_2 and no Q; None where it does
    not."""
    base = node.base
    if not isinstance(base, Name) or base.key in bound or self.is_known(base.key):
        return None
    names = [key for key in self.inputs if key.startswith(f"{base.key}_{{")]
    if not names or any(isinstance(index, Slice) for index in node.indices):
        return None
    places = [str(self.integer(index, bound, "an index")) for index in node.indices]
    for count in range(len(places), 0, -1):
        value = self.inputs.get(f"{base.key}_{{{','.join(places[:count])}}}")
        if value is not None:
            return value if count == len(places) else pick(self, value, node.indices[count:], bound, node)
    return None


def pick(self: Evaluator, value: Value, indices: Sequence[Node], bound: Bound, node: Index) -> Value:
    """Index an array, with every index within its range."""
    if isinstance(value, Row):
        value = value.array
    if not isinstance(value, np.ndarray) or value.ndim < len(indices):
        axes = np.ndim(value) if not isinstance(value, algebra.Identity | Ones) else 0
        fact = f"{name_of(node)} is a {algebra.shown(value)} with {axes} axes"
        kept = "; write \\operatorname{clip}(z, a, b) for what is kept between two numbers"
        raise fault(f"{fact}, but has {len(indices)} indices here" + kept * (not isinstance(node.base, Name)), node)
    if value.ndim > 1 and len(indices) == 1 and isinstance(indices[0], Number) and indices[0].value >= 10:
        raise fault("ambiguous: two digits under a matrix; part the indices with a comma", node)
    picked = value[tuple(position(self, i, axis, value.shape[axis], bound, node) for axis, i in enumerate(indices))]
    if np.ndim(picked) == 0 and isinstance(picked, np.integer):
        return int(picked)
    return picked


def position(self: Evaluator, index: Node, axis: int, size: int, bound: Bound, node: Index) -> int | slice:
    """Where an index points, 0-based."""
    if isinstance(index, Slice):
        low = self.integer(index.low, bound, "an index") - self.base if index.low else 0
        high = self.integer(index.high, bound, "an index") - self.base if index.high else size - 1
        if low < 0 or high >= size or high < low - 1:
            raise fault(
                f"the slice {low + self.base}..{high + self.base} is outside {self.base}..{size - 1 + self.base} "
                f"of {name_of(node)}",
                index,
            )
        return slice(low, high + 1)
    number = self.integer(index, bound, "an index")
    if not 0 <= number - self.base < size:
        fact = f"index {number} is outside {self.base}..{size - 1 + self.base} of {name_of(node)}"
        letters = free_names(index)
        is_step = bool(letters) and isinstance(node.base, Name) and all(letter in self.inputs for letter in letters)
        raise fault(fact + f"; if {write(node)} is no element, declare it: '{write(node)}: ...'" * is_step, index)
    return number - self.base


def name_of(node: Index) -> str:
    """What messages call the indexed part."""
    return latex_of(node.base.key) if isinstance(node.base, Name) else "this"


def unplaced(self: Evaluator, node: Slice, bound: Bound) -> Value:
    """A slice is no value, whatever a change makes of its place."""
    raise fault("a slice such as ':' stands alone in a subscript", node)
