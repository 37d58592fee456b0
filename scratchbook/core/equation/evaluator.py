"""Compute an equation's parts with numbers.  Indices are looped over; sizes are small and nothing broadcasts unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from . import algebra, arithmetic, blocks, calls, defined, differentiation, indexing, primitives, reductions, stretches
from .algebra import Ones, Row, Value
from .decided import Choices
from .definitions import Definitions
from .errors import EquationError, StepsError, fault
from .nodes import (
    Add,
    Call,
    Cases,
    Compare,
    Constant,
    Derivative,
    Family,
    Fraction,
    Index,
    Indicator,
    Join,
    Literal,
    Logic,
    Magnitude,
    Matrix,
    Multiply,
    Name,
    Negate,
    Node,
    Norm,
    Number,
    Parity,
    Power,
    Product,
    Reduce,
    Root,
    Slice,
    Stretch,
    Transpose,
)
from .ranges import Ranges, undeclared
from .symbols import latex_of

MAX_STEPS: Final = 200_000
MAX_CALLS: Final = 30

Bound = dict[str, Any]


class Functions(Protocol):
    """Functions that the notation binds to code."""

    def has(self, key: str) -> bool: ...

    def has_family(self, base: str) -> bool: ...

    def call(
        self, key: str, base: str, arguments: list[Value], indices: list[Value], evaluator: Evaluator, bound: Bound
    ) -> Value: ...


class NoFunctions:
    """No function is bound."""

    def has(self, key: str) -> bool:
        return False

    def has_family(self, base: str) -> bool:
        return False

    def call(
        self, key: str, base: str, arguments: list[Value], indices: list[Value], evaluator: Evaluator, bound: Bound
    ) -> Value:
        raise AssertionError(f"{key} was called, and no function is bound")


@dataclass
class Budget:
    """How many steps an evaluation has taken, and what its choices chose."""

    steps: int = 0
    choices: Choices = field(default_factory=Choices)


@dataclass
class Evaluator:
    """The values of one draw.

    inputs: drawn values by key; they win over definitions.   base: the first index.   depth: calls within calls.
    """

    definitions: Definitions
    inputs: dict[str, Value]
    ranges: Ranges
    functions: Functions = field(default_factory=NoFunctions)
    base: int = 1
    budget: Budget = field(default_factory=Budget)
    depth: int = 0
    is_plain: bool = False
    elements: dict[tuple[str, tuple[int, ...]], Value] = field(default_factory=dict)
    wholes: dict[str, Value] = field(default_factory=dict)
    active: set[object] = field(default_factory=set)
    memo: dict[object, Any] = field(default_factory=dict)

    def with_inputs(self, inputs: dict[str, Value]) -> Evaluator:
        """The same with other values: nothing remembered, the same budget."""
        if self.depth >= MAX_CALLS:
            raise fault(f"definitions call each other deeper than {MAX_CALLS}; is one of them circular?")
        return Evaluator(
            self.definitions, self.inputs | inputs, self.ranges, self.functions, self.base, self.budget,
            self.depth + 1, self.is_plain,
            active=set(self.active),
        )  # fmt: skip

    def value(self, node: Node, bound: Bound) -> Value:
        """The value of a node, with the indices and parameters that are bound here.

        Raises EquationError at the innermost node that has none.
        """
        self.budget.steps += 1
        if self.budget.steps > MAX_STEPS:
            raise StepsError(f"over {MAX_STEPS} steps; {self.fewer}", offset=node.start, end=node.end)
        try:
            return RULES[type(node)](self, node, bound)
        except EquationError as error:
            if error.offset is None and node.end:
                error.offset, error.end = node.start, node.end
            raise
        except (OverflowError, ZeroDivisionError) as error:
            raise fault(f"cannot be computed here: {error}", node) from None
        except (TypeError, ValueError, IndexError, AttributeError):
            # The kinds of values that may meet have no end, so what NumPy refuses is refused here, at its place.
            text = "these values do not go together; give their shapes in the notation, or write it by elements"
            raise fault(text, node) from None

    @property
    def fewer(self) -> str:
        """How the author may make it less: a smaller kind of the largest size, or sums that end sooner."""
        symbols = self.ranges.notation.symbols.values()
        sizes = [symbol for symbol in symbols if symbol.kind.name in ("dim", "int") and symbol.key in self.inputs]
        if not sizes:
            return "let the sums end sooner"
        largest = max(sizes, key=lambda symbol: float(self.inputs[symbol.key]))
        return f"declare smaller sizes, as in '{largest.latex}: {largest.kind.name}(2..3)'"

    def integer(self, node: Node, bound: Bound, what: str) -> int:
        """The value of a node that must be a whole number."""
        value = self.value(node, bound)
        if type(value) is int:  # as nearly always; this is where most of the time goes
            return value
        is_array = isinstance(value, Row | Ones) or np.ndim(value) or np.iscomplexobj(value)
        if is_array or not np.isfinite(value) or float(value) != int(value):
            shown = f"a {algebra.shown(value)}" if is_array else f"{float(value):g}"
            label = "; if it is part of a name, write \\text{...} or declare that name" if what == "an index" else ""
            raise fault(f"{what} is {shown}; it must be a whole number{label}", node)
        return int(value)

    # Names

    def name(self, node: Name, bound: Bound) -> Value:
        """A bound index, a drawn value, or what a definition gives."""
        if node.key in bound:
            return bound[node.key]
        if node.key in self.inputs:
            return self.inputs[node.key]
        if self.definitions.defines(node.key):
            return defined.whole(self, node.key)
        if node.key.startswith(r"\frac"):
            return differentiation.named_derivative(self, node)
        if node.key in self.ranges.indices:
            shown = latex_of(node.key)
            raise fault(
                f"the index {shown} runs nowhere here; sum over {shown}, put the sum's body into brackets, or put "
                f"{shown} on the left",
                node,
            )
        raise fault(undeclared(node.key, self.ranges.notation), node)

    def is_known(self, key: str) -> bool:
        """Has the name a value, so that it is no index?"""
        return key in self.inputs or self.definitions.defines(key)

    # Conditions

    def truth(self, node: Node, bound: Bound) -> Any:
        """Whether a condition holds; an array of truths for arrays."""
        if isinstance(node, Logic):
            parts = [self.truth(part, bound) for part in node.parts]
            combine = np.logical_and if node.word == "and" else np.logical_or
            result = combine.reduce(parts) if len(parts) > 1 else parts[0]
            return bool(result) if np.ndim(result) == 0 else result
        if isinstance(node, Parity):
            return (self.integer(node.body, bound, "what is even or odd") % 2 == 0) == node.is_even
        assert isinstance(node, Compare)
        values = [self.value(member, bound) for member in node.members]
        result = True
        for left, sign, right in zip(values, node.relations, values[1:], strict=False):
            result = np.logical_and(result, reductions.holds(left, sign, right))
        return bool(result) if np.ndim(result) == 0 else result


Rule = Callable[[Evaluator, Any, Bound], Value]
RULES: Final[dict[type[Node], Rule]] = {
    Number: lambda self, node, bound: node.value,
    Literal: lambda self, node, bound: node.value,
    Constant: arithmetic.constant,
    Name: Evaluator.name,
    Index: indexing.indexed,
    Negate: lambda self, node, bound: algebra.negate(self.value(node.body, bound)),
    Add: arithmetic.added,
    Product: arithmetic.produced,
    Multiply: arithmetic.multiplied,
    Fraction: lambda self, node, bound: algebra.divide(self.value(node.upper, bound), self.value(node.lower, bound)),
    Power: arithmetic.raised,
    Transpose: lambda self, node, bound: algebra.transpose(self.value(node.base, bound)),
    Root: arithmetic.rooted,
    Norm: lambda self, node, bound: primitives.norm(self.value(node.body, bound), node.order),
    Magnitude: lambda self, node, bound: primitives.magnitude(self.value(node.body, bound)),
    Call: calls.called,
    Reduce: reductions.reduced,
    Cases: arithmetic.chosen,
    Matrix: blocks.matrix,
    Join: arithmetic.joined,
    Family: reductions.family,
    Indicator: lambda self, node, bound: 1 * self.truth(node.condition, bound),
    Compare: lambda self, node, bound: self.truth(node, bound),
    Logic: lambda self, node, bound: self.truth(node, bound),
    Parity: lambda self, node, bound: self.truth(node, bound),
    Derivative: differentiation.derived,
    Slice: indexing.unplaced,
    Stretch: stretches.stretched,
}
