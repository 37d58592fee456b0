"""Compute what a display defines: a whole array from its clauses, or one element alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import algebra
from .algebra import Row, Value, Zero
from .definitions import Clause, target_of
from .errors import fault
from .nodes import Index, Name, Node, Number, free_names
from .render import write
from .symbols import BESIDE, latex_of

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator


def whole(self: Evaluator, key: str) -> Value:
    """The value of a defined name; of one with indices the whole array."""
    if key not in self.wholes:
        clauses = self.definitions.clauses[key]
        if clauses[0].definition.parameters is not None:
            raise fault(f"{latex_of(key)} is a function here; write its arguments")
        if ("whole", key) in self.active:
            fact = "is declared, and defined by itself; give one of the two another letter, or"
            fact = fact if key in self.ranges.notation.symbols else "is defined by itself;"
            raise fault(f"{latex_of(key)} {fact} write \\leftarrow for an assignment")
        self.active.add(("whole", key))
        try:
            self.wholes[key] = assemble(self, key, clauses)
        finally:
            self.active.discard(("whole", key))
    return self.wholes[key]


def assemble(self: Evaluator, key: str, clauses: Sequence[Clause]) -> Value:
    """One value from clauses: the body, or an array over the patterns."""
    if not clauses[0].definition.patterns:
        if len(clauses) > 1:
            raise fault(f"{latex_of(key)} is defined twice; keep one", clauses[1].body)
        return self.value(clauses[0].body, {})
    found: dict[tuple[int, ...], Value] = {}
    for clause in clauses:
        for bound in assignments_of(self, clause):
            place = tuple(self.integer(pattern, bound, "an index") for pattern in clause.definition.patterns)
            if len(clauses) > 1 and min(place) < self.base and None not in fixed(self, clause):
                continue  # h_0 is where the recurrence begins, and no element
            if place in found:
                raise fault(f"element {place} of {latex_of(key)} is defined twice", clause.body)
            found[place] = self.value(clause.body, bound)
    return stacked(self, key, found)


def stacked(self: Evaluator, key: str, found: dict[tuple[int, ...], Value]) -> Value:
    """The elements as one array, when none is missing."""
    if not found:
        raise fault(f"no element of {latex_of(key)} is defined")
    if all(len(place) > 1 and len(set(place)) == 1 for place in found):
        found = diagonal(found)
    ends = [max(place[axis] for place in found) for axis in range(len(next(iter(found))))]
    shape = tuple(end - self.base + 1 for end in ends)
    total = int(np.prod(shape))
    if total != len(found) or min(min(place) for place in found) < self.base:
        raise fault(f"only {len(found)} of {total} elements of {latex_of(key)} are defined")
    values = [value.array if isinstance(value, Row) else value for value in found.values()]
    like = next((value for value in values if not isinstance(value, Zero)), 0)
    values = [np.zeros(np.shape(like)) if isinstance(value, Zero) and np.ndim(like) else value for value in values]
    if len({np.shape(value) for value in values}) > 1:
        raise fault(f"the elements of {latex_of(key)} have different shapes")
    is_complex = any(np.iscomplexobj(value) for value in values)
    is_whole = all(isinstance(value, int) for value in values)
    array = np.empty(shape + np.shape(values[0]), dtype=complex if is_complex else int if is_whole else float)
    for place, value in zip(found, values, strict=True):
        array[tuple(number - self.base for number in place)] = value
    return algebra.checked(array)


def diagonal(found: dict[tuple[int, ...], Value]) -> dict[tuple[int, ...], Value]:
    """The elements of a matrix of which only D_{ii} is defined: zeros beside its diagonal."""
    numbers = sorted(place[0] for place in found)
    places = itertools.product(numbers, repeat=len(next(iter(found))))
    return {place: found.get(place, 0) for place in places}


def assignments_of(self: Evaluator, clause: Clause) -> Iterator[Bound]:
    """Every value of the indices of a clause's left side."""
    definition = clause.definition
    keys = self.ranges.free_indices(definition.patterns, self)
    roots = [clause.body, *clause.statement.members[2:]]
    if definition.key in self.ranges.targets and definition.patterns:
        roots.append(target_of(clause))
    if not any(key in free_names(clause.body) for key in keys):  # B_{i,1} = 1 goes as far as B_{i,2} = x_i
        alike = self.definitions.clauses.get(definition.key, ())
        roots += [
            other.body for other in alike if {*keys} <= {*self.ranges.free_indices(other.definition.patterns, self)}
        ]
    others = closer_clauses(self, clause)
    for bound in self.ranges.assignments(keys, roots, self):
        if not others or not is_given(self, others, clause, bound):
            yield bound


def closer_clauses(self: Evaluator, clause: Clause) -> list[Clause]:
    """The other clauses of a name that say more of their indices, as h_1 = a beside h_t = ... and A_{ii} beside
    A_{ij}."""
    clauses = self.definitions.clauses.get(clause.definition.key, ())
    alike = [other for other in clauses if len(other.definition.patterns) == len(clause.definition.patterns)]
    return [other for other in alike if closeness(self, other) > closeness(self, clause)]


def closeness(self: Evaluator, clause: Clause) -> int:
    """How many indices of a left side are a number, or a letter that stood there before."""
    running = [
        pattern
        for pattern, number in zip(clause.definition.patterns, fixed(self, clause), strict=True)
        if number is None
    ]
    return len(clause.definition.patterns) - len(set(running))


def fixed(self: Evaluator, clause: Clause) -> tuple[int | None, ...]:
    """The value of each index on a left side that runs nowhere, and None for those that run."""
    memo = ("fixed", clause.definition)
    if memo not in self.memo:
        patterns = clause.definition.patterns
        self.memo[memo] = tuple(
            None if self.ranges.free_indices([pattern], self) else self.integer(pattern, {}, "an index")
            for pattern in patterns
        )
    found: tuple[int | None, ...] = self.memo[memo]
    return found


def is_given(self: Evaluator, others: Sequence[Clause], clause: Clause, bound: Bound) -> bool:
    """Does a clause that says more of its indices give the element at these values?"""
    place = tuple(self.integer(pattern, bound, "an index") for pattern in clause.definition.patterns)
    return any(match(self, other, place) is not None for other in others)


def element(self: Evaluator, key: str, place: tuple[int, ...], node: Node) -> Value:
    """One element of a defined name, computed alone."""
    memo = (key, place)
    if memo in self.elements:
        return self.elements[memo]
    if memo in self.active:
        raise fault(f"{latex_of(key)} at {place} is defined by itself; write \\leftarrow for an assignment", node)
    start = f"{key.removesuffix(BESIDE)}_{{{','.join(map(str, place))}}}"
    if start in self.inputs:  # h_0, declared beside h_t = ..., is where the recurrence begins
        return self.inputs[start]
    if min(place) < self.base - 1 and any(part[0] == key for part in self.active if isinstance(part, tuple)):
        raise fault(f"{latex_of(key)} begins nowhere; define its first element, as in h_0 = ...", node)
    self.active.add(memo)
    try:
        clauses = sorted(self.definitions.clauses[key], key=lambda clause: -closeness(self, clause))
        for number, clause in enumerate(clauses):
            bound = match(self, clause, place)
            if bound is not None:
                value = self.value(clause.body, bound)
                check_once(self, clause, value, clauses[number + 1 :], place)
                is_zero = isinstance(clause.body, Number) and value == 0 and None not in fixed(self, clause)
                self.elements[memo] = algebra.Zero() if is_zero else value
                return self.elements[memo]
    finally:
        self.active.discard(memo)
    shown = f"{latex_of(key)}_{{{', '.join(map(str, place))}}}"
    if isinstance(node, Index) and all(name in self.inputs for name in free_names(node) - {key}):
        shown = write(node)  # m_{t-1} with a declared t
    if key in self.ranges.notation.symbols and isinstance(node, Index):
        shown = write(node)
        raise fault(f"{shown} is not defined, though {latex_of(key)} is declared; declare '{shown}: ...'", node)
    raise fault(f"{shown} is not defined; define it, as in {shown} = ..., or declare it", node)


def check_once(self: Evaluator, clause: Clause, value: Value, others: Sequence[Clause], place: tuple[int, ...]) -> None:
    """Refuse another clause, with as many indices that run, that gives the same element another value."""
    own = closeness(self, clause)
    for other in others:
        bound = match(self, other, place) if closeness(self, other) == own else None
        if bound is not None and not algebra.same(value, self.value(other.body, bound)):
            raise fault(f"element {place} of {latex_of(clause.definition.key)} is defined twice", other.body)


def match(self: Evaluator, clause: Clause, place: tuple[int, ...]) -> Bound | None:
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
            solved = solve(self, clause, place, key)
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


def solve(self: Evaluator, clause: Clause, place: tuple[int, ...], key: str) -> int | None:
    """The value of an index at which a pattern such as 2i+1 gives the wanted number."""
    for pattern, wanted in zip(clause.definition.patterns, place, strict=True):
        if self.ranges.free_indices([pattern], self) == [key]:
            start = self.integer(pattern, {key: 0}, "an index")
            step = self.integer(pattern, {key: 1}, "an index") - start
            if step and (wanted - start) % step == 0:
                return (wanted - start) // step
            return None
    return None
