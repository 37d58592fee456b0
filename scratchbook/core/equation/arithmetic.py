"""Compute sums, products, powers, roots, lists and cases from the values of their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import algebra, powers, primitives, reductions
from .algebra import Ones, Row, Value
from .errors import EquationError, RangeError, StepsError, fault
from .nodes import Add, Call, Case, Cases, Constant, Fraction, Join, Multiply, Name, Node, Power, Product, Root
from .render import write

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator

SIGNS: Final[dict[str, Callable[[Value, Value], Value]]] = {
    r"\cdot": algebra.dot, r"\times": algebra.cross, "/": algebra.divide,
}  # fmt: skip
CONSTANTS: Final[dict[str, Value]] = {
    "pi": np.pi, "e": np.e, "infinity": np.inf, "ones": algebra.Ones(), "zero": algebra.Zero(),
    "identity": algebra.Identity(),
}  # fmt: skip


def multiplied(self: Evaluator, node: Multiply, bound: Bound) -> Value:
    """A written product sign."""
    if node.sign == r"\odot":
        return algebra.elementwise(*alike(self, (node.left, node.right), bound))
    left, right = self.value(node.left, bound), self.value(node.right, bound)
    if node.sign == "*":
        return algebra.star(left, right, is_plain=self.is_plain)
    if node.sign == r"\bmod":
        return algebra.remainder(left, right)
    return SIGNS[node.sign](left, right)


def added(self: Evaluator, node: Add, bound: Bound) -> Value:
    """A sum of terms."""
    first, *others = alike(self, node.terms, bound)
    total = first if node.signs[0] == "+" else algebra.negate(first)
    values = [first, *others]
    if {1, 2} <= {np.ndim(value) for value in values if isinstance(value, np.ndarray)}:
        for term, value in zip(node.terms, values, strict=True):
            if is_vector(value) and is_diagonal(self, term, bound):
                fact = "ambiguous: diag of a matrix is the vector of its diagonal, and it is added to a matrix here"
                raise fault(f"{fact}; for the matrix with that diagonal write I \\odot A", term)
    for term, sign in zip(others, node.signs[1:], strict=True):
        total = algebra.add(total, term, sign)
    return total


def is_diagonal(self: Evaluator, node: Node, bound: Bound) -> bool:
    """Is it the diagonal of a matrix, named or times a number?"""
    match node:
        case Call(function="diag"):
            return is_vector(self.value(node, bound))
        case Name(key=key) if self.definitions.defines(key):
            return is_diagonal(self, self.definitions.clauses[key][0].body, bound)
        case Product(factors=factors):
            return any(is_diagonal(self, factor, bound) for factor in factors)
    return False


def alike(self: Evaluator, nodes: Sequence[Node], bound: Bound) -> list[Value]:
    r"""The values of what must have one shape.

    A name whose indices nothing gives a range, as those of M_{ij} = ... in QK^\top + M, has the shape of the others.
    """
    values: dict[int, Value] = {}
    missing: dict[int, RangeError] = {}
    for place, node in enumerate(nodes):
        try:
            values[place] = self.value(node, bound)
        except RangeError as error:
            if not isinstance(node, Name) or not self.definitions.defines(node.key):
                raise
            missing[place] = error
    for place, lack in missing.items():
        key = getattr(nodes[place], "key", "")
        axes = len(self.definitions.clauses[key][0].definition.patterns)
        shapes = {np.shape(value) for value in values.values() if isinstance(value, np.ndarray) and value.ndim == axes}
        if len(shapes) != 1:
            raise lack
        self.ranges.targets.setdefault(key, shapes.pop())
        values[place] = self.value(nodes[place], bound)
    return [values[place] for place in range(len(nodes))]


def produced(self: Evaluator, node: Product, bound: Bound) -> Value:
    r"""Factors side by side, from the left; of vectors \frac{a}{x} y is \frac{a y}{x}, as of numbers.

    x W y^\top is a number: who writes x W has rows for vectors.
    """
    total = self.value(node.factors[0], bound)
    vector: Node | None = node.factors[0]  # the factor that is all of the total but numbers
    for place, factor in enumerate(node.factors[1:], start=1):
        value = between(self, total, factor, node.factors[place + 1 :], bound)
        if is_vector(total) and isinstance(value, Row) and is_lying(self, node.factors[:place], bound):
            total, vector = algebra.dot(total, value.array), None
            continue
        if is_vector(total) and is_vector(value) and any(is_over(self, part, bound) for part in (vector, factor)):
            total, vector = algebra.elementwise(total, value), None
            continue
        vector = factor if algebra.is_number(total) else vector if algebra.is_number(value) else None
        total = algebra.multiply(total, value)
    return total


def between(self: Evaluator, before: Value, node: Node, behind: Sequence[Node], bound: Bound) -> Value:
    r"""A factor; a name whose indices nothing gives a range, as those of H_{ij} = ... in KHL, fits the matrices beside
    it."""
    try:
        return self.value(node, bound)
    except RangeError:
        if not behind or not isinstance(node, Name) or not self.definitions.defines(node.key):
            raise
        after = self.value(behind[0], bound)
        axes = len(self.definitions.clauses[node.key][0].definition.patterns)
        if not all(isinstance(value, np.ndarray) and value.ndim == axes == 2 for value in (before, after)):
            raise
        self.ranges.targets.setdefault(node.key, (before.shape[1], after.shape[0]))
        return self.value(node, bound)


def is_vector(value: Value) -> bool:
    """Is it a vector that has no direction?"""
    return isinstance(value, np.ndarray) and value.ndim == 1


def is_lying(self: Evaluator, factors: Sequence[Node], bound: Bound) -> bool:
    """Is a vector written as a row, as x W is, or a sum or a quotient of such?"""
    if len(factors) > 1:
        values = [value for factor in factors if not algebra.is_number(value := self.value(factor, bound))]
        return len(values) > 1 and is_vector(values[0]) and all(algebra.is_matrix(value) for value in values[1:])
    match factors[0]:
        case Product(factors=inner):
            return is_lying(self, inner, bound)
        case Add(terms=terms):
            return any(is_lying(self, (term,), bound) for term in terms)
        case Fraction(upper=upper):
            return is_lying(self, (upper,), bound)
    return False


def is_over(self: Evaluator, node: Node | None, bound: Bound) -> bool:
    """Is a vector something over a vector, which goes element by element?"""
    return isinstance(node, Fraction) and is_vector(self.value(node.lower, bound))


def raised(self: Evaluator, node: Power, bound: Bound) -> Value:
    """A power; of e the exponential function."""
    exponent = self.value(node.exponent, bound)
    if isinstance(node.base, Constant) and node.base.name == "e":
        return primitives.apply("exp", [exponent], [])
    base = self.value(node.base, bound)
    if isinstance(node.base, Name) and isinstance(node.exponent, Name) and node.exponent.key in bound:
        check_index_above(node, base)
    return powers.power(base, exponent, is_elementwise=node.is_elementwise)


def check_index_above(node: Power, base: Value) -> None:
    r"""Refuse W^k of a square matrix, with a k that runs."""
    if np.ndim(base) > 1 and not node.is_elementwise and not powers.is_diagonal(base):
        name, letter = write(node.base), write(node.exponent)
        advice = f"write {name}^{{({letter})}} for the index, {name}^{{\\odot {letter}}} for powers of its elements"
        raise fault(f"ambiguous: {letter} above the matrix {name} is a power or an index; {advice}", node)


def rooted(self: Evaluator, node: Root, bound: Bound) -> Value:
    """A square root, or the root of a degree."""
    body = self.value(node.body, bound)
    if isinstance(body, Ones | algebra.Identity) or (np.ndim(body) >= 2 if not isinstance(body, Row) else False):
        raise fault(f"ambiguous: the root of a {algebra.shown(body)}; index it", node)
    if node.degree is None:
        return primitives.apply("sqrt", [body], [])
    return powers.power(body, algebra.divide(1.0, self.value(node.degree, bound)))


def constant(self: Evaluator, node: Constant, bound: Bound) -> Value:
    """A constant."""
    return CONSTANTS[node.name]


def joined(self: Evaluator, node: Join, bound: Bound) -> Value:
    """A list."""
    values = reductions.listed(self, node.parts, bound)
    return primitives.one_above_other(values) if node.is_vertical else primitives.side_by_side(values)


def chosen(self: Evaluator, node: Cases, bound: Bound) -> Value:
    """The value of the case whose condition holds, or of the first where they agree; of arrays element by element."""
    result: Value = None
    decided: Any = None
    for place, row in enumerate(node.rows):
        truth = True if row.condition is None else self.truth(row.condition, bound)
        if np.ndim(truth) == 0 and decided is None:
            if truth:
                self.budget.choices.note_case(node, place)
                value = self.value(row.value, bound)
                check_others(self, node.rows[place + 1 :], value, bound)
                return value
            continue
        value = self.value(row.value, bound)
        if np.ndim(value) and np.shape(value) != np.shape(truth):
            text = f"a case of {algebra.shown(value)} where its condition has another shape; index both"
            raise fault(text, row.value)
        if np.any(truth if decided is None else np.logical_and(truth, ~decided)):
            self.budget.choices.note_case(node, place)
        if decided is None:
            result, decided = np.where(truth, value, np.nan), np.asarray(truth)
            continue
        if row.condition is not None and not row.is_else:
            both = np.logical_and(truth, decided)
            check_same(np.where(both, value, 0), np.where(both, result, 0), row)
        result = np.where(np.logical_and(truth, ~decided), value, result)
        decided = np.logical_or(decided, truth)
    if decided is None or not np.all(decided):
        raise fault("no case applies here; add one with \\text{otherwise}", node)
    return result


def check_others(self: Evaluator, rows: Sequence[Case], value: Value, bound: Bound) -> None:
    """Refuse a further case that applies as well and has another value; one that has no value here does not apply."""
    for row in rows:
        if row.condition is None or row.is_else:
            return
        try:
            truth = self.truth(row.condition, bound)
            other = self.value(row.value, bound) if np.ndim(truth) == 0 and truth else value
        except StepsError:
            raise
        except EquationError:
            continue
        check_same(value, other, row)


def check_same(one: Value, other: Value, row: Case) -> None:
    """Refuse two values of two cases that both apply."""
    if not algebra.same(one, other):
        text = "this case applies where one before it does, and differs; part their conditions, or write 'else if'"
        raise fault(text, row)
