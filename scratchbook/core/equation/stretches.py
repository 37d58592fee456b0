r"""Stretches on the left, y_{1:d} = x_{1:d} and A_{:,j} = v: for every index within, the element of the right side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .algebra import Row, Value, is_number, shown
from .errors import fault
from .lexicon import Lexicon
from .nodes import Binding, Index, Name, Node, Slice, Stretch
from .symbols import BESIDE

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator


def part_stretches(members: Sequence[Node], lexicon: Lexicon, number: int) -> tuple[list[Node], list[Binding]]:
    """The members of one statement with a letter for each slice on its left, and where those letters run.

    number: of the statement, for letters of its own.   Raises EquationError for a slice with one end.
    """
    left, *rights = members
    if not isinstance(left, Index) or not any(isinstance(part, Slice) for part in left.indices):
        return list(members), []
    indices: list[Node] = []
    bindings: list[Binding] = []
    for axis, part in enumerate(left.indices):
        if not isinstance(part, Slice):
            indices.append(part)
            continue
        if part.low is not None and part.high is None:
            raise fault("a stretch on the left needs its end too; write y_{a:b}", part)
        letter = Name(f"i{BESIDE * (2 + number + axis)}", start=part.start, end=part.end)
        lexicon.indices.add(letter.key)
        indices.append(letter)
        if part.high is not None:
            bindings.append(Binding(letter.key, part.low, part.high))
        rights = [Stretch(right, letter, part.low, part.high, start=right.start, end=right.end) for right in rights]
    return [Index(left.base, tuple(indices), start=left.start, end=left.end), *rights], bindings


def stretched(self: Evaluator, node: Stretch, bound: Bound) -> Value:
    """The element of the body at a place of the left side's stretch.  Raises EquationError where their sizes differ."""
    value: Any = self.value(node.body, bound)
    if isinstance(value, Row):
        value = value.array
    if is_number(value):
        return value
    low = self.base if node.low is None else self.integer(node.low, bound, "the start of a slice")
    size = np.shape(value)[0] if np.ndim(value) else -1
    wanted = size if node.high is None else self.integer(node.high, bound, "the end of a slice") - low + 1
    if size != wanted or size < 0:
        raise fault(f"the stretch on the left has {wanted} elements, and its value is a {shown(value)}", node)
    return value[self.integer(node.place, bound, "an index") - low]
