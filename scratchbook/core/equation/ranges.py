"""Where each index runs: from its operator, from "i = 1, ..., n", from its kind, or from the arrays that it indexes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from . import defined
from .algebra import Row
from .definitions import Clause, target_of
from .ellipsis import KEY
from .errors import EquationError, RangeError, fault
from .nodes import (
    Binding,
    Compare,
    Index,
    Logic,
    Name,
    Node,
    Reduce,
    Slice,
    free_names,
    walk,
)
from .notation import Notation
from .render import write
from .symbols import latex_of
from .uses import described, first_place, indexed_by, neighbours, place_of, stepped_by

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator

MAX_MEMBERS: Final = 100_000

Span = tuple[int, int]


@dataclass
class Ranges:
    """What the display and the notation say about indices.

    declared: spans of kinds such as index(1..h), evaluated.   targets: shapes of the arrays that code gives to left
    sides.
    indices: the letters that run somewhere in the display.
    """

    notation: Notation = field(default_factory=Notation)
    stated: tuple[Binding, ...] = ()
    conditions: tuple[Node, ...] = ()
    declared: dict[str, Span] = field(default_factory=dict)
    targets: dict[str, tuple[int, ...]] = field(default_factory=dict)
    indices: set[str] = field(default_factory=set)

    def free_indices(self, nodes: Sequence[Node], evaluator: Evaluator) -> list[str]:
        """The names in patterns that have no value, in order.  Raises EquationError for one that is no index either."""
        found: list[str] = []
        for node in nodes:
            for key in sorted(free_names(node)):
                if evaluator.is_known(key) or key in found or key.startswith(r"\frac"):
                    continue
                if key not in self.indices and key != KEY:
                    raise fault(undeclared(key, self.notation), place_of(node, key))
                found.append(key)
        return found

    def assignments(self, keys: Sequence[str], roots: Sequence[Node], evaluator: Evaluator) -> Iterator[Bound]:
        """Every value of free indices that meets the stated conditions."""
        spans = [self.span(key, roots, evaluator) for key in keys]
        count = int(np.prod([len(span) for span in spans])) if spans else 1
        if count > MAX_MEMBERS:
            said = f"{count} values of the indices {', '.join(keys)} are over the limit of {MAX_MEMBERS}"
            raise fault(said, first_place(roots, keys[0]))
        for values in itertools.product(*spans):
            bound = dict(zip(keys, values, strict=True))
            if all(self.meets(condition, bound, evaluator) for condition in self.conditions):
                yield bound

    def meets(self, condition: Node, bound: Bound, evaluator: Evaluator) -> bool:
        """Does a stated condition hold?  One about other indices does not count."""
        missing = [key for key in free_names(condition) if key not in bound and not evaluator.is_known(key)]
        return bool(missing) or is_met(condition, bound, evaluator)

    def span(self, key: str, roots: Sequence[Node], evaluator: Evaluator) -> Sequence[int]:
        """The values of a free index."""
        memo = ("span", key, tuple(map(id, roots)))
        if memo not in evaluator.memo:
            evaluator.memo[memo] = self.find_span(key, roots, evaluator)
        found: Sequence[int] = evaluator.memo[memo]
        return found

    def find_span(self, key: str, roots: Sequence[Node], evaluator: Evaluator) -> Sequence[int]:
        """The values of a free index: stated, declared, from arrays, or from conditions; the first that says
        anything."""
        for binding in self.stated:
            if binding.key == key and (binding.high is not None or binding.members is not None):
                return self.explicit(binding, {}, evaluator)
        if key in self.declared:
            low, high = self.declared[key]
            return range(low, high + 1)
        try:
            found = self.from_arrays(key, roots, {}, evaluator)
        except EquationError:
            found = self.from_steps(key, roots, evaluator)
            if found is None:
                raise
        if found is not None:
            return range(found[0], found[1] + 1)
        soft = self.from_conditions(key, self.conditions, {}, evaluator)
        if soft[0] is not None and soft[1] is not None:
            return range(soft[0], soft[1] + 1)
        found = self.from_steps(key, roots, evaluator)
        if found is not None:
            return range(found[0], found[1] + 1)
        shown, size = latex_of(key), "N" if key == "n" else "n"
        advice = f"write \\quad {shown} = 1, \\ldots, {size}, or declare '{shown}: index(1..{size})'"
        at = first_place(roots, key)
        advice += self.as_name(key, roots)
        raise RangeError(
            f"the index {shown} has no range; {advice}", offset=getattr(at, "start", None), end=getattr(at, "end", None)
        )

    def as_name(self, key: str, roots: Sequence[Node]) -> str:
        """What to do where a letter runs over nothing, but is part of names, as the t of w_{t+1} and g_t is."""
        parts = [part for root in roots for part in walk(root) if isinstance(part, Index)]
        of = [part for part in parts if isinstance(part.base, Name) and part.base.key in self.notation.symbols]
        named = next((part for part in of if any(key in free_names(index) for index in part.indices)), None)
        return f"; if {write(named)} is no element, declare it: '{write(named)}: ...'" if named else ""

    def explicit(self, binding: Binding, bound: Bound, evaluator: Evaluator) -> Sequence[int]:
        """The values from low to high, or of a set."""
        if binding.members is not None:
            return self.members(binding.members, bound, evaluator)
        assert binding.high is not None
        low = evaluator.base
        if binding.low is not None:
            low = evaluator.integer(binding.low, bound, f"the start of {latex_of(binding.key)}")
        elif low == 0:
            shown = latex_of(binding.key)
            raise fault(
                f"ambiguous: where indices count from 0, an end alone may or may not be reached; write {shown}=0",
                binding.high,
            )
        high = evaluator.integer(binding.high, bound, f"the end of {latex_of(binding.key)}")
        if high - low >= MAX_MEMBERS:
            raise fault(f"{high - low + 1} terms are over the limit of {MAX_MEMBERS}; use smaller sizes", binding.high)
        return range(low, high + 1)

    def members(self, node: Node, bound: Bound, evaluator: Evaluator) -> Sequence[int]:
        """The values of a set: a declared vector of whole numbers, or a size that stands for all up to it."""
        value = evaluator.value(node, bound)
        if np.ndim(value) == 0 and float(value) == int(value):
            return range(evaluator.base, int(value) + evaluator.base)
        array = np.asarray(value)
        if array.ndim != 1 or not np.all(array == np.round(array)):
            raise fault("a set must hold whole numbers; declare it as ints(n, V), or as a size", node)
        return [int(item) for item in array]

    def members_of(self, node: Reduce, bound: Bound, evaluator: Evaluator) -> Iterator[Bound]:
        """Every value of an operator's indices that meets its condition."""
        for number, inner in enumerate(self.bind(node, node.bindings, bound, evaluator)):
            if number > MAX_MEMBERS:
                raise fault(f"over {MAX_MEMBERS} terms; use smaller sizes", node)
            yield inner

    def bind(self, node: Reduce, bindings: Sequence[Binding], bound: Bound, evaluator: Evaluator) -> Iterator[Bound]:
        """Bind one index after another."""
        if not bindings:
            if node.condition is None or is_met(node.condition, bound, evaluator):
                yield bound
            return
        rest = {binding.key for binding in bindings[1:]}
        for value in self.values(node, bindings[0], rest, bound, evaluator):
            yield from self.bind(node, bindings[1:], bound | {bindings[0].key: value}, evaluator)

    def values(
        self, node: Reduce, binding: Binding, rest: set[str], bound: Bound, evaluator: Evaluator
    ) -> Sequence[int]:
        """The values of one bound index."""
        key = binding.key
        if binding.members is not None or binding.high is not None:
            return self.explicit(binding, bound, evaluator)
        roots = [node.body, *([node.weights] if node.weights else [])]
        if node.weights is not None:
            weights = evaluator.value(node.weights, bound)
            if np.ndim(weights) == 0:
                raise fault("the weights of an expectation must be a vector over its one index", node.weights)
            return range(evaluator.base, evaluator.base + np.shape(weights)[0])
        found = self.from_arrays(key, roots, bound, evaluator, hidden=rest)
        if found is None and key in self.declared:
            found = self.declared[key]
        if found is None:
            stated = [b for b in self.stated if b.key == key and (b.high is not None or b.members is not None)]
            if stated:
                return self.explicit(stated[0], bound, evaluator)
        conditions = [node.condition] if node.condition else []
        soft = self.from_conditions(key, conditions, bound, evaluator)
        if found is None and soft[1] is None:  # what is counted, as in \sum_{i: y_i = k} 1, is seen in the condition
            found = self.from_arrays(key, conditions, bound, evaluator, hidden=rest)
        low = found[0] if found else soft[0] if soft[0] is not None else evaluator.base if soft[1] is not None else None
        high = found[1] if found else soft[1]
        if binding.low is not None:
            low = evaluator.integer(binding.low, bound, f"the start of {latex_of(key)}")
        if low is None or high is None:
            raise fault(
                f"the index {latex_of(key)} has no range; write {latex_of(key)}=1 below and its end above the operator",
                node,
            )
        return range(low, high + 1)

    def from_conditions(
        self, key: str, conditions: Sequence[Node], bound: Bound, evaluator: Evaluator
    ) -> tuple[int | None, int | None]:
        """The bounds that chains such as 1 \\le i < d/2 give."""
        low: int | None = None
        high: int | None = None
        for condition in conditions:
            for part in condition.parts if isinstance(condition, Logic) and condition.word == "and" else (condition,):
                if not isinstance(part, Compare):
                    continue
                for place, member in enumerate(part.members):
                    if isinstance(member, Name) and member.key == key:
                        for sign, other, is_left in neighbours(part, place):
                            limit = self.limit(other, bound, evaluator)
                            if limit is None or sign in ("=", r"\ne"):
                                continue
                            if is_left == (sign in ("<", r"\le")):
                                low = int(np.floor(limit)) + 1 if sign in ("<", ">") else int(np.ceil(limit))
                            else:
                                high = int(np.ceil(limit)) - 1 if sign in ("<", ">") else int(np.floor(limit))
        return low, high

    def limit(self, node: Node, bound: Bound, evaluator: Evaluator) -> float | None:
        """The value of a bound, when all its names have one."""
        if any(key not in bound and not evaluator.is_known(key) for key in free_names(node)):
            return None
        value = np.real(evaluator.value(node, bound))
        return float(value) if np.ndim(value) == 0 and np.isfinite(value) else None

    def from_arrays(
        self, key: str, roots: Sequence[Node], bound: Bound, evaluator: Evaluator, hidden: set[str] | None = None
    ) -> Span | None:
        """The span of the axes that an index runs along; they must agree."""
        memo = ("arrays", key, tuple(map(id, roots)))
        if memo in evaluator.memo:
            cached: Span | None = evaluator.memo[memo]
            return cached
        if memo in evaluator.active:
            return None
        evaluator.active.add(memo)
        try:
            uses = [use for root in roots for use in indexed_by(root, key)]
            spans: dict[Span, str] = {}
            is_fixed = True
            for index, axis in uses:
                is_fixed = is_fixed and isinstance(index.base, Name)
                span = self.axis(index, axis, bound, evaluator, (hidden or set()) | {key})
                if span is not None:
                    spans.setdefault(span, f"{described(index.base)} axis {axis}: {span[0]}..{span[1]}")
        finally:
            evaluator.active.discard(memo)
        if len(spans) > 1:
            advice = self.as_name(key, roots) if hidden is None else ""
            raise fault(
                f"index '{latex_of(key)}' has different ranges: {', '.join(spans.values())}{advice}", uses[0][0]
            )
        found = next(iter(spans), None)
        if is_fixed:
            evaluator.memo[memo] = found
        return found

    def from_steps(self, key: str, roots: Sequence[Node], evaluator: Evaluator) -> Span | None:
        """The values at which x_t and its neighbours x_{t+1}, x_{2t} all exist, when all arrays agree on them."""
        spans: dict[tuple[Node, int], Span] = {}
        plain = set[tuple[Node, int]]()
        for index, axis, factor, step in (use for root in roots for use in stepped_by(root, key)):
            if (factor, step) == (1, 0):
                plain.add((index.base, axis))
            span = self.axis(index, axis, {}, evaluator, {key})
            if span is not None:
                own = -((step - span[0]) // factor), (span[1] - step) // factor
                low, high = spans.get((index.base, axis), own)
                spans[index.base, axis] = max(low, own[0]), min(high, own[1])
        # What t itself indexes decides; of x_{t+1} alone an element outside is an error.
        found = {span for place, span in spans.items() if place in plain} or set(spans.values())
        return found.pop() if len(found) == 1 else None

    def axis(self, index: Index, axis: int, bound: Bound, evaluator: Evaluator, missing: set[str]) -> Span | None:
        """The span of one axis of what is indexed; None when it cannot be known before the index is."""
        base = index.base
        if isinstance(base, Index) and not any(isinstance(part, Slice) for part in base.indices):
            return self.axis(base, axis + len(base.indices), bound, evaluator, missing)
        if isinstance(base, Name):
            if base.key in self.targets and base.key not in evaluator.inputs:
                shape = self.targets[base.key]
                return self.target_axis(base.key, axis, shape[axis], evaluator) if axis < len(shape) else None
            if not evaluator.is_known(base.key) and any(key.startswith(f"{base.key}_{{") for key in evaluator.inputs):
                return None  # Q_i with no Q, but Q_1 and Q_2
            if base.key not in bound and base.key not in evaluator.inputs and evaluator.definitions.defines(base.key):
                return self.defined_axis(base.key, axis, evaluator)
        elif (
            any(name not in bound and not evaluator.is_known(name) for name in free_names(base))
            or free_names(base) & missing
        ):
            return None
        value = evaluator.value(base, bound)
        shape = np.shape(value.array if isinstance(value, Row) else value)
        return (evaluator.base, evaluator.base + shape[axis] - 1) if axis < len(shape) else None

    def target_axis(self, key: str, axis: int, size: int, evaluator: Evaluator) -> Span:
        """The span of an axis of what code gives, with the elements beside it that the display fixes, as h_0 = a."""
        clauses = evaluator.definitions.clauses.get(key, ())
        fixed = [defined.fixed(evaluator, clause) for clause in clauses]
        given = [number for numbers in fixed if axis < len(numbers) for number in [numbers[axis]] if number is not None]
        return min([evaluator.base, *given]), max([evaluator.base + size - 1, *given])

    def defined_axis(self, key: str, axis: int, evaluator: Evaluator) -> Span | None:
        """The span of an axis of a defined name: that of its index, or of the whole array."""
        clauses = evaluator.definitions.clauses[key]
        definition = clauses[0].definition
        if definition.parameters is not None or ("whole", key) in evaluator.active:
            return None
        patterns = [clause.definition.patterns[axis : axis + 1] for clause in clauses]
        names = [part[0].key for part in patterns if part and isinstance(part[0], Name)]
        if len(names) == len(clauses) and not any(evaluator.is_known(name) for name in names):
            spans = {self.clause_span(clause, name, evaluator) for clause, name in zip(clauses, names, strict=True)}
            told = spans - {None}  # p_{ii} = 0 has the range of p_{ij}
            return told.pop() if len(told) == 1 else None
        if len(clauses) == 1 and axis < len(definition.patterns):
            return None
        if any(memo[0] == "arrays" for memo in evaluator.active if isinstance(memo, tuple)) and len(clauses) > 1:
            return None
        try:
            shape = np.shape(defined.whole(evaluator, key))
        except EquationError as error:
            if "has no range" in error.text or "by itself" in error.text:
                return None
            raise
        return (evaluator.base, evaluator.base + shape[axis] - 1) if axis < len(shape) else None

    def clause_span(self, clause: Clause, key: str, evaluator: Evaluator) -> Span | None:
        """The span of an index of a definition; None when only its uses could tell."""
        memo = ("clause", id(clause), key)
        if memo in evaluator.active:
            return None
        evaluator.active.add(memo)
        try:
            is_target = clause.definition.key in self.targets and clause.definition.key not in evaluator.inputs
            values = self.span(key, [clause.body, *([target_of(clause)] if is_target else [])], evaluator)
        except EquationError as error:
            if "has no range" in error.text:
                return None
            raise
        finally:
            evaluator.active.discard(memo)
        return (values[0], values[-1]) if len(values) else None

    def within(self, clause: Clause, bound: Bound, evaluator: Evaluator) -> bool:
        """Are these indices in the ranges of a definition, as far as it states any?"""
        for key, value in bound.items():
            span = self.clause_span(clause, key, evaluator)
            if span is not None and not span[0] <= value <= span[1]:
                return False
        return True


def is_met(condition: Node, bound: Bound, evaluator: Evaluator) -> bool:
    """Does a condition on indices hold?  Raises EquationError for one about an array."""
    truth = evaluator.truth(condition, bound)
    if np.ndim(truth):
        raise fault("a condition on an index compares an array; index it", condition)
    return bool(truth)


def undeclared(key: str, notation: Notation) -> str:
    """What to say about a name that nothing gives a value."""
    text = f"{latex_of(key)} is not declared; declare it in the notation, or define it"
    if key.startswith(r"\mathcal{"):
        return f"{text}: '{key}: dim' for all indices, '{key}: set(n)' for some"
    symbol = notation.symbols.get(key.rstrip("'"))
    if symbol is None or symbol.key == key or len(symbol.kind.shape) not in (1, 2):
        return text
    return f"{text}; for the transpose write {symbol.latex}^\\top"
