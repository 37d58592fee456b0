"""Compute an equation's parts with numbers.  Indices are looped over; sizes are small and nothing broadcasts unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from . import algebra, calls, differentiation, primitives, reductions
from .algebra import Ones, Row, Value
from .definitions import Clause, Definitions
from .errors import EquationError, fault
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
    Transpose,
)
from .ranges import Ranges, target_of, undeclared
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
    """How many steps an evaluation has taken."""

    steps: int = 0


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
    range_memo: dict[object, Any] = field(default_factory=dict)

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
            raise fault(f"over {MAX_STEPS} steps; use smaller sizes or a simpler form", node)
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

    def integer(self, node: Node, bound: Bound, what: str) -> int:
        """The value of a node that must be a whole number."""
        value = self.value(node, bound)
        if isinstance(value, Row | Ones) or np.ndim(value) or np.iscomplexobj(value):
            raise fault(f"{what} is a {algebra.shown(value)}; it must be a whole number", node)
        if not np.isfinite(value) or float(value) != int(value):
            raise fault(f"{what} is {float(value):g}; it must be a whole number", node)
        return int(value)

    # Names

    def name(self, node: Name, bound: Bound) -> Value:
        """A bound index, a drawn value, or what a definition gives."""
        if node.key in bound:
            return bound[node.key]
        if node.key in self.inputs:
            return self.inputs[node.key]
        if self.definitions.defines(node.key):
            return self.whole(node.key)
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

    def whole(self, key: str) -> Value:
        """The value of a defined name; of one with indices the whole array."""
        if key not in self.wholes:
            clauses = self.definitions.clauses[key]
            if clauses[0].definition.parameters is not None:
                raise fault(f"{latex_of(key)} is a function here; write its arguments")
            if ("whole", key) in self.active:
                raise fault(f"{latex_of(key)} is defined by itself; write \\leftarrow for an assignment")
            self.active.add(("whole", key))
            try:
                self.wholes[key] = self.assemble(key, clauses)
            finally:
                self.active.discard(("whole", key))
        return self.wholes[key]

    def assemble(self, key: str, clauses: Sequence[Clause]) -> Value:
        """One value from clauses: the body, or an array over the patterns."""
        if not clauses[0].definition.patterns:
            if len(clauses) > 1:
                raise fault(f"{latex_of(key)} is defined twice; keep one", clauses[1].body)
            return self.value(clauses[0].body, {})
        found: dict[tuple[int, ...], Value] = {}
        for clause in clauses:
            for bound in self.assignments_of(clause):
                place = tuple(self.integer(pattern, bound, "an index") for pattern in clause.definition.patterns)
                if place in found:
                    raise fault(f"element {place} of {latex_of(key)} is defined twice", clause.body)
                found[place] = self.value(clause.body, bound)
        return self.stacked(key, found)

    def stacked(self, key: str, found: dict[tuple[int, ...], Value]) -> Value:
        """The elements as one array, when none is missing."""
        if not found:
            raise fault(f"no element of {latex_of(key)} is defined")
        ends = [max(place[axis] for place in found) for axis in range(len(next(iter(found))))]
        shape = tuple(end - self.base + 1 for end in ends)
        total = int(np.prod(shape))
        if total != len(found) or min(min(place) for place in found) < self.base:
            raise fault(f"only {len(found)} of {total} elements of {latex_of(key)} are defined")
        values = [value.array if isinstance(value, Row) else value for value in found.values()]
        if len({np.shape(value) for value in values}) > 1:
            raise fault(f"the elements of {latex_of(key)} have different shapes")
        is_complex = any(np.iscomplexobj(value) for value in values)
        is_whole = all(isinstance(value, int) for value in values)
        array = np.empty(shape + np.shape(values[0]), dtype=complex if is_complex else int if is_whole else float)
        for place, value in zip(found, values, strict=True):
            array[tuple(number - self.base for number in place)] = value
        return algebra.checked(array)

    def assignments_of(self, clause: Clause) -> Iterator[Bound]:
        """Every value of the indices of a clause's left side."""
        definition = clause.definition
        keys = self.ranges.free_indices(definition.patterns, self)
        roots = [clause.body, *clause.statement.members[2:]]
        if definition.key in self.ranges.targets and definition.patterns:
            roots.append(target_of(clause))
        others = self.closer_clauses(clause)
        for bound in self.ranges.assignments(keys, roots, self):
            if not others or not self.is_given(others, clause, bound):
                yield bound

    def closer_clauses(self, clause: Clause) -> list[tuple[int | None, ...]]:
        """The fixed indices of the other clauses of a name that fix more of them, as h_1 = a beside h_t = ..."""
        own = sum(number is not None for number in self.fixed(clause))
        clauses = self.definitions.clauses.get(clause.definition.key, ())
        alike = [other for other in clauses if len(other.definition.patterns) == len(clause.definition.patterns)]
        others = [self.fixed(other) for other in alike]
        return [numbers for numbers in others if sum(number is not None for number in numbers) > own]

    def fixed(self, clause: Clause) -> tuple[int | None, ...]:
        """The value of each index on a left side that runs nowhere, and None for those that run."""
        memo = ("fixed", clause.definition)
        if memo not in self.range_memo:
            patterns = clause.definition.patterns
            self.range_memo[memo] = tuple(
                None if self.ranges.free_indices([pattern], self) else self.integer(pattern, {}, "an index")
                for pattern in patterns
            )
        found: tuple[int | None, ...] = self.range_memo[memo]
        return found

    def is_given(self, others: Sequence[tuple[int | None, ...]], clause: Clause, bound: Bound) -> bool:
        """Does a clause that fixes more indices give the element at these values?"""
        place = [self.integer(pattern, bound, "an index") for pattern in clause.definition.patterns]
        return any(
            all(number in (None, wanted) for number, wanted in zip(numbers, place, strict=True)) for numbers in others
        )

    def element(self, key: str, place: tuple[int, ...], node: Node) -> Value:
        """One element of a defined name, computed alone."""
        memo = (key, place)
        if memo in self.elements:
            return self.elements[memo]
        if memo in self.active:
            raise fault(f"{latex_of(key)} at {place} is defined by itself", node)
        start = f"{key}_{{{','.join(map(str, place))}}}"
        if start in self.inputs:  # h_0, declared beside h_t = ..., is where the recurrence begins
            return self.inputs[start]
        if min(place) < self.base - 1 and any(part[0] == key for part in self.active if isinstance(part, tuple)):
            raise fault(f"{latex_of(key)} begins nowhere; define its first element, as in h_0 = ...", node)
        self.active.add(memo)
        try:
            for clause in sorted(self.definitions.clauses[key], key=lambda clause: self.fixed(clause).count(None)):
                bound = self.match(clause, place)
                if bound is not None:
                    value = self.value(clause.body, bound)
                    is_zero = isinstance(clause.body, Number) and value == 0 and None not in self.fixed(clause)
                    self.elements[memo] = algebra.Zero() if is_zero else value
                    return self.elements[memo]
        finally:
            self.active.discard(memo)
        shown = f"{latex_of(key)}_{{{', '.join(map(str, place))}}}"
        raise fault(f"{shown} is not defined; define it, as in {shown} = ..., or declare it", node)

    def match(self, clause: Clause, place: tuple[int, ...]) -> Bound | None:
        """The indices at which a clause gives this element; None when it does not."""
        if len(clause.definition.patterns) != len(place):
            raise fault(
                f"{latex_of(clause.definition.key)} has {len(place)} indices in one place and "
                f"{len(clause.definition.patterns)} in another; write the same number everywhere",
                clause.body,
            )
        bound: Bound = {}
        for pattern, wanted in zip(clause.definition.patterns, place, strict=True):
            if isinstance(pattern, Name) and pattern.key not in bound and not self.is_known(pattern.key):
                bound[pattern.key] = wanted
        for key in self.ranges.free_indices(clause.definition.patterns, self):
            if key not in bound:
                solved = self.solve(clause, place, key)
                if solved is None:
                    return None
                bound[key] = solved
        fits = all(
            self.integer(p, bound, "an index") == wanted
            for p, wanted in zip(clause.definition.patterns, place, strict=True)
        )
        if not fits:
            return None
        return bound if self.ranges.within(clause, bound, self) else None

    def solve(self, clause: Clause, place: tuple[int, ...], key: str) -> int | None:
        """The value of an index at which a pattern such as 2i+1 gives the wanted number."""
        for pattern, wanted in zip(clause.definition.patterns, place, strict=True):
            if self.ranges.free_indices([pattern], self) == [key]:
                start = self.integer(pattern, {key: 0}, "an index")
                step = self.integer(pattern, {key: 1}, "an index") - start
                if step and (wanted - start) % step == 0:
                    return (wanted - start) // step
                return None
        return None

    def is_known(self, key: str) -> bool:
        """Has the name a value, so that it is no index?"""
        return key in self.inputs or self.definitions.defines(key)

    # Elements

    def index(self, node: Index, bound: Bound) -> Value:
        """An element, a row or a slice."""
        base = node.base
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
                value = self.element(base.key, place, node)
                return self.pick(value, node.indices[count:], bound, node) if len(node.indices) > count else value
        return self.pick(self.value(base, bound), node.indices, bound, node)

    def pick(self, value: Value, indices: Sequence[Node], bound: Bound, node: Index) -> Value:
        """Index an array, with every index within its range."""
        name = latex_of(node.base.key) if isinstance(node.base, Name) else "this"
        if isinstance(value, Row):
            value = value.array
        if not isinstance(value, np.ndarray) or value.ndim < len(indices):
            axes = np.ndim(value) if not isinstance(value, algebra.Identity | Ones) else 0
            raise fault(
                f"{name} is a {algebra.shown(value)} with {axes} axes, but has {len(indices)} indices here", node
            )
        if value.ndim > 1 and len(indices) == 1 and isinstance(indices[0], Number) and indices[0].value >= 10:
            raise fault("ambiguous: two digits under a matrix; part the indices with a comma", node)
        picked = value[tuple(self.position(i, axis, value.shape[axis], bound, name) for axis, i in enumerate(indices))]
        if np.ndim(picked) == 0 and isinstance(picked, np.integer):
            return int(picked)
        return picked

    def position(self, index: Node, axis: int, size: int, bound: Bound, name: str) -> int | slice:
        """Where an index points, 0-based."""
        if isinstance(index, Slice):
            low = self.integer(index.low, bound, "an index") - self.base if index.low else 0
            high = self.integer(index.high, bound, "an index") - self.base if index.high else size - 1
            if low < 0 or high >= size or high < low - 1:
                raise fault(
                    f"the slice {low + self.base}..{high + self.base} is outside {self.base}..{size - 1 + self.base} "
                    f"of {name}",
                    index,
                )
            return slice(low, high + 1)
        number = self.integer(index, bound, "an index")
        if not 0 <= number - self.base < size:
            raise fault(f"index {number} is outside {self.base}..{size - 1 + self.base} of {name}", index)
        return number - self.base

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


def multiplied(self: Evaluator, node: Multiply, bound: Bound) -> Value:
    """A written product sign."""
    left, right = self.value(node.left, bound), self.value(node.right, bound)
    if node.sign == "*":
        return algebra.star(left, right, is_plain=self.is_plain)
    if node.sign == r"\bmod":
        return algebra.remainder(left, right)
    return SIGNS[node.sign](left, right)


SIGNS: Final[dict[str, Callable[[Value, Value], Value]]] = {
    r"\cdot": algebra.dot, r"\times": algebra.cross, r"\odot": algebra.elementwise, "/": algebra.divide,
}  # fmt: skip


def added(self: Evaluator, node: Add, bound: Bound) -> Value:
    """A sum of terms."""
    first = self.value(node.terms[0], bound)
    total = first if node.signs[0] == "+" else algebra.negate(first)
    for term, sign in zip(node.terms[1:], node.signs[1:], strict=True):
        total = algebra.add(total, self.value(term, bound), sign)
    return total


def produced(self: Evaluator, node: Product, bound: Bound) -> Value:
    """Factors side by side, from the left."""
    total = self.value(node.factors[0], bound)
    for factor in node.factors[1:]:
        total = algebra.multiply(total, self.value(factor, bound))
    return total


def raised(self: Evaluator, node: Power, bound: Bound) -> Value:
    """A power; of e the exponential function."""
    exponent = self.value(node.exponent, bound)
    if isinstance(node.base, Constant) and node.base.name == "e":
        return primitives.apply("exp", [exponent], [])
    return algebra.power(self.value(node.base, bound), exponent, is_elementwise=node.is_elementwise)


def rooted(self: Evaluator, node: Root, bound: Bound) -> Value:
    """A square root, or the root of a degree."""
    body = self.value(node.body, bound)
    if isinstance(body, Ones | algebra.Identity) or (np.ndim(body) >= 2 if not isinstance(body, Row) else False):
        raise fault(f"ambiguous: the root of a {algebra.shown(body)}; index it", node)
    if node.degree is None:
        return primitives.apply("sqrt", [body], [])
    return algebra.power(body, algebra.divide(1.0, self.value(node.degree, bound)))


def constant(self: Evaluator, node: Constant, bound: Bound) -> Value:
    """A constant."""
    return CONSTANTS[node.name]


CONSTANTS: Final[dict[str, Value]] = {
    "pi": np.pi, "e": np.e, "infinity": np.inf, "ones": algebra.Ones(), "zero": algebra.Zero(),
    "identity": algebra.Identity(),
}  # fmt: skip


def matrix(self: Evaluator, node: Matrix, bound: Bound) -> Value:
    """A matrix; one column is a vector, one row a transposed vector; blocks are joined."""
    rows = [[self.value(cell, bound) for cell in row] for row in node.rows]
    if node.is_determinant:
        return primitives.apply("det", [np.asarray(rows)], [])
    if all(algebra.is_number(cell) for row in rows for cell in row):
        array = np.asarray(rows)
        if array.shape[1] == 1:
            return array[:, 0]
        return Row(array[0]) if array.shape[0] == 1 else array
    return primitives.one_above_other([primitives.side_by_side(row) if len(row) > 1 else row[0] for row in rows])


def joined(self: Evaluator, node: Join, bound: Bound) -> Value:
    """A list."""
    values = reductions.listed(self, node.parts, bound)
    return primitives.one_above_other(values) if node.is_vertical else primitives.side_by_side(values)


def chosen(self: Evaluator, node: Cases, bound: Bound) -> Value:
    """The value of the first case whose condition holds; of arrays element by element."""
    result: Value = None
    decided: Any = None
    for row in node.rows:
        truth = True if row.condition is None else self.truth(row.condition, bound)
        if np.ndim(truth) == 0 and decided is None:
            if truth:
                return self.value(row.value, bound)
            continue
        value = self.value(row.value, bound)
        if np.ndim(value) and np.shape(value) != np.shape(truth):
            text = f"a case of {algebra.shown(value)} where its condition has another shape; index both"
            raise fault(text, row.value)
        if decided is None:
            result, decided = np.where(truth, value, np.nan), np.asarray(truth)
        else:
            result = np.where(np.logical_and(truth, ~decided), value, result)
            decided = np.logical_or(decided, truth)
    if decided is None or not np.all(decided):
        raise fault("no case applies here; add one with \\text{otherwise}", node)
    return result


def unplaced(self: Evaluator, node: Slice, bound: Bound) -> Value:
    """A slice is no value, whatever a change makes of its place."""
    raise fault("a slice such as ':' stands alone in a subscript", node)


Rule = Callable[[Evaluator, Any, Bound], Value]
RULES: Final[dict[type[Node], Rule]] = {
    Number: lambda self, node, bound: node.value,
    Literal: lambda self, node, bound: node.value,
    Constant: constant,
    Name: Evaluator.name,
    Index: Evaluator.index,
    Negate: lambda self, node, bound: algebra.negate(self.value(node.body, bound)),
    Add: added,
    Product: produced,
    Multiply: multiplied,
    Fraction: lambda self, node, bound: algebra.divide(self.value(node.upper, bound), self.value(node.lower, bound)),
    Power: raised,
    Transpose: lambda self, node, bound: algebra.transpose(self.value(node.base, bound)),
    Root: rooted,
    Norm: lambda self, node, bound: primitives.norm(self.value(node.body, bound), node.order),
    Magnitude: lambda self, node, bound: primitives.magnitude(self.value(node.body, bound)),
    Call: calls.called,
    Reduce: reductions.reduced,
    Cases: chosen,
    Matrix: matrix,
    Join: joined,
    Family: reductions.family,
    Indicator: lambda self, node, bound: 1 * self.truth(node.condition, bound),
    Compare: lambda self, node, bound: self.truth(node, bound),
    Logic: lambda self, node, bound: self.truth(node, bound),
    Parity: lambda self, node, bound: self.truth(node, bound),
    Derivative: differentiation.derived,
    Slice: unplaced,
}
