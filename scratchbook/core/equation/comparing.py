"""Compare every statement of an equation at every draw: code on one side, the equation on the other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np

from . import calls, defined
from .algebra import Row, Value
from .codecalls import environment_of, own
from .comparison import plain
from .decided import Choices, check_choices, is_bound_waiting
from .definitions import Clause, gradient_of, is_derivable, is_formula_of_known
from .differentiation import gradient_at, named_derivative
from .draws import seed_of
from .equation import Definition, Statement
from .errors import EquationError, StepsError, fault
from .evaluator import Bound, Budget, Evaluator
from .evidence import Evidence, Pair
from .nodes import Derivative, Index, Name, Node, free_names, walk
from .picked import check_picked
from .prepared import Prepared, has_free_sizes
from .ranges import Span
from .sides import Side, Sides
from .slopes import check_slopes, gradient_count, settle
from .symbols import BESIDE, latex_of
from .targets import expression_key
from .verdict import Disagreement, NothingThere

# How many times as many draws there are at most, where neither side has a value at some.
MOST: Final = 4
# Where a gradient is compared whose argument the notation does not declare.
POINTS: Final = (0.7, np.array([0.3, -0.8, 1.1]))


class Comparer:
    """One run of a check.  The code's side of every draw is kept, for mutants of the equation."""

    def __init__(self, prepared: Prepared, sides: Sides | None = None) -> None:
        self.prepared = prepared
        self.is_first = sides is None
        self.sides = settle(prepared) if sides is None else sides.for_check(prepared)
        self.evidence = Evidence(prepared)
        self.budgets: list[Budget] = []

    def run(self) -> None:
        """Compare everything at every draw; where that takes too long, once more with small sizes.

        Raises Disagreement where two sides differ, EquationError for what cannot be evaluated or proves nothing.
        """
        try:
            self.run_draws()
        except StepsError as error:
            if not self.is_first or not has_free_sizes(self.prepared):
                raise
            self.sides = settle(self.prepared, is_small=True)
            self.evidence = Evidence(self.prepared)
            try:
                self.run_draws()
            except StepsError:
                raise error from None  # the sizes that it names are those that an author may make smaller

    def run_draws(self) -> None:
        """Compare everything at every draw; that code gives the same once more explains a difference, and is asked
        at the end."""
        try:
            self.compare_draws()
        except Disagreement:
            if self.is_first:
                self.sides.check_repeats()
            raise
        if self.is_first:
            self.sides.check_repeats()
            environment = self.sides.of(0)[0].environment
            check_picked(self.prepared.targets, own({**environment}), self.prepared.namespace)

    def compare_draws(self) -> None:
        """Compare everything at every draw, those that chance does not make last."""
        numbers, draws = itertools.count(), self.prepared.draws
        for done in range(draws):
            while not self.compare_draw(number := next(numbers), done, is_last=number + 1 >= MOST * draws):
                pass
        self.evidence.finish()
        for side in self.sides.arranged():
            self.compare(side)
        if not self.prepared.points:  # those are the author's choice
            far = self.sides.far()
            while is_bound_waiting(budget.choices for budget in self.budgets) and (further := next(far, None)):
                self.compare(further)
            choices = (budget.choices for budget in self.budgets)
            check_choices(choices, self.prepared.draws, has_ties=self.sides.ties > 0)

    def compare_draw(self, number: int, done: int, *, is_last: bool) -> bool:
        """Compare everything at one draw, of which so many were before; False where neither side has a value there,
        which is then as if it had not been drawn."""
        before, budgets = self.evidence.copy(), len(self.budgets)
        try:
            for side in self.sides.of(number):
                self.compare(side)
                if done < gradient_count(self.prepared):
                    check_slopes(self, side)
                if side.rows and side.rows not in self.evidence.tally.rows:
                    self.evidence.tally.rows.append(side.rows)
        except NothingThere:
            if is_last or self.prepared.points:
                raise
            self.evidence = before
            del self.budgets[budgets:]
            return False
        return True

    @property
    def steps(self) -> int:
        """How many steps all evaluations took."""
        return sum(budget.steps for budget in self.budgets)

    def evaluator(
        self,
        values: Mapping[str, Any],
        spans: Mapping[str, Span],
        targets: Mapping[str, Any],
        *,
        is_arranged: bool = False,
    ) -> Evaluator:
        """An evaluator of one case of a draw, whose steps are counted."""
        self.budgets.append(Budget(choices=Choices(is_arranged)))
        return self.prepared.evaluator(values, spans, targets, self.budgets[-1])

    def compare(self, side: Side) -> None:
        """Compare every statement at every row."""
        for case, values in enumerate(side.cases):
            targets = side.of_case(case)
            evaluator = self.evaluator(values, side.spans, targets, is_arranged=side.is_arranged and not side.is_far)
            self.prepared.functions.environment = environment_of(self.prepared.notation, values)
            self.check_shapes(evaluator)
            for statement in self.prepared.definitions.statements:
                if not side.is_arranged:
                    self.statement(statement, evaluator, targets, side)
                    continue
                with suppress(EquationError):  # where the equation has no value, as a / b of b = 0, it says nothing
                    self.statement(statement, evaluator, targets, side)

    def check_shapes(self, evaluator: Evaluator) -> None:
        r"""x \in \mathbb{R}^{d}: the shape that the symbol has."""
        for shape in self.prepared.equation.shapes:
            value = evaluator.value(shape.name, {})
            sizes = tuple(evaluator.integer(size, {}, "a size") for size in shape.sizes)
            if np.shape(plain(value)) != sizes:
                raise fault(f"{latex_of(shape.name.key)} has shape {np.shape(plain(value))}, not {sizes}", shape.name)
            self.evidence.tally.compared += 1

    def statement(self, statement: Statement, evaluator: Evaluator, targets: Mapping[str, Any], side: Side) -> None:
        """Compare one statement in the way that its left side asks for."""
        definition = statement.definition
        key = expression_key(self.prepared.definitions.statements.index(statement))
        if definition is None and key in targets:
            self.expression_target(statement, key, evaluator, targets[key], side)
            return
        if (
            definition is not None
            and is_derivable(statement, definition, self.prepared.definitions)
            and definition.key not in targets
        ):
            self.derivative(statement, definition, evaluator, side)
        elif definition is not None and definition.key in targets:
            self.bound_target(statement, definition, evaluator, targets[definition.key], side)
            if is_derivable(statement, definition, self.prepared.definitions):
                self.derivative(statement, definition, evaluator, side)
        elif definition is not None and is_formula_of_known(statement, self.prepared.definitions):
            clause = self.prepared.definitions.clauses[definition.key][0]
            evaluator.active.add(("body", id(clause)))
            self.identity(statement, evaluator, targets, side)
            evaluator.active.discard(("body", id(clause)))
        elif definition is not None and self.prepared.definitions.defines(definition.key):
            self.local_definition(statement, definition, evaluator, side)
        else:
            self.identity(statement, evaluator, targets, side)

    def derivative(self, statement: Statement, definition: Definition, evaluator: Evaluator, side: Side) -> None:
        """A printed derivative against the one that the definitions have."""
        if isinstance(statement.members[0], Derivative):
            self.identity(statement, evaluator, {}, side)
            return
        of = gradient_of(definition, self.prepared.definitions)
        if of:
            self.gradient(statement, definition, of, evaluator, side)
            return
        value = named_derivative(evaluator, Name(definition.key))
        self.bound_target(statement, definition, evaluator, value, side)

    def gradient(self, statement: Statement, definition: Definition, of: str, evaluator: Evaluator, side: Side) -> None:
        r"""\nabla f(z) = ... against the gradient of the f(z) beside it, where that is a number."""
        (parameter,) = definition.parameters or ()
        key = getattr(parameter, "key", "")
        points = [evaluator.inputs[key]] if key in evaluator.inputs else list(POINTS)
        for at in points if key else ():
            inner = evaluator.with_inputs({key: at})
            try:
                slopes = gradient_at(inner, of, at)
                right = inner.value(statement.members[1], {})
            except StepsError:
                raise
            except EquationError:
                continue  # f, or its gradient, is of an array of another shape, or has no value here
            if slopes is not None:
                pair = Pair("", slopes, right, statement.relations[0], statement, statement.members[1], {})
                self.evidence.compare(pair, side)

    def bound_target(
        self, statement: Statement, definition: Definition, evaluator: Evaluator, code: Value, side: Side
    ) -> None:
        """The code's array against the right sides, element by element."""
        clause = Clause(definition, statement.members[1], statement)
        evaluator.ranges.targets[definition.key] = np.shape(code)
        for bound in defined.assignments_of(evaluator, clause):
            place = tuple(
                evaluator.integer(pattern, bound, "an index") - evaluator.base for pattern in definition.patterns
            )
            if is_start(clause, place, code, evaluator):
                continue
            if np.ndim(code) == 1 and len(place) > 1 and len(set(definition.patterns)) == 1:
                place = place[:1]  # h_{ii}: the code gives the diagonal
            if np.ndim(code) < len(place) and None not in defined.fixed(evaluator, clause):
                place = ()  # Q_{s,a} with values of s and a: the code gives this one element
            expected = self.element(code, place, latex_of(definition.key), evaluator, statement)
            self.evidence.cover(definition.key, code, place)
            for member, relation in zip(statement.members[1:], statement.relations, strict=True):
                right = evaluator.value(member, bound)
                self.evidence.compare(Pair(definition.key, expected, right, relation, statement, member, bound), side)

        self.declared_starts(statement, definition, code, evaluator, side)

    def declared_starts(
        self, statement: Statement, definition: Definition, code: Value, evaluator: Evaluator, side: Side
    ) -> None:
        """The code's first elements against those that the notation declares, as h_1 beside h_{t+1} = ..."""
        if len(definition.patterns) != 1 or np.ndim(code) == 0:
            return
        for place in range(len(code)):
            start = f"{definition.key.removesuffix(BESIDE)}_{{{place + evaluator.base}}}"
            if start in evaluator.inputs:
                self.evidence.cover(definition.key, code, (place,))
                left, right = np.asarray(code)[place], evaluator.inputs[start]
                member = statement.members[0]
                self.evidence.compare(Pair(definition.key, left, right, "=", statement, member, {}), side)

    def expression_target(self, statement: Statement, key: str, evaluator: Evaluator, code: Value, side: Side) -> None:
        r"""Code against the right sides of a left side that is an expression, such as \log p(x); its indices in their
        order."""
        left = statement.members[0]
        free = evaluator.ranges.free_indices(statement.members[1:], evaluator)
        order = [part.key for part in walk(left) if isinstance(part, Name) and part.key in free]
        keys = list(dict.fromkeys(order))
        for bound in evaluator.ranges.assignments(keys, list(statement.members[1:]), evaluator):
            place = tuple(bound[name] - evaluator.base for name in keys)
            expected = self.element(code, place, "the left side", evaluator, statement)
            self.evidence.cover(key, code, place)
            own = calls.known_value(evaluator, left, bound)
            if own is not None and np.shape(plain(own)) == np.shape(plain(expected)):  # d(u, v) is no product d (u, v)
                self.evidence.compare(Pair(key, expected, own, "=", statement, left, bound), side)
            for member, relation in zip(statement.members[1:], statement.relations, strict=True):
                right = evaluator.value(member, bound)
                self.evidence.compare(Pair(key, expected, right, relation, statement, member, bound), side)

    def element(
        self, code: Value, place: tuple[int, ...], name: str, evaluator: Evaluator, statement: Statement
    ) -> Value:
        """One element of the code's array, never by wrap-around."""
        if not place:
            return code
        shape = np.shape(code)
        if len(place) > len(shape) or any(not 0 <= number < size for number, size in zip(place, shape, strict=False)):
            shown = tuple(number + evaluator.base for number in place)
            fact = f"index {shown} of {name} is outside the shape {shape} that the code gives"
            patterns = statement.definition.patterns if statement.definition else ()
            letters = sorted(set().union(*map(free_names, patterns)))
            advice = ""
            if patterns and len(place) > len(shape):
                advice = f"; if that is one element, name it: ':check: {name}_n == ...'"
            elif letters and all(evaluator.is_known(letter) for letter in letters):
                advice = f"; if that is a later {name} and no element of it, declare '{name}_{letters[0]}: ...'"
            elif evaluator.base == 1 and 0 in shown:
                advice = "; where indices count from 0, write ':base: 0'"
            raise fault(fact + advice, statement.members[0])
        return np.asarray(code)[place]

    def local_definition(self, statement: Statement, definition: Definition, evaluator: Evaluator, side: Side) -> None:
        """Further members of a chain against the first right side."""
        if len(statement.members) < 3:
            return
        clause = Clause(definition, statement.members[1], statement)
        for bound in defined.assignments_of(evaluator, clause):
            first = evaluator.value(statement.members[1], bound)
            for member, relation in zip(statement.members[2:], statement.relations[1:], strict=True):
                right = evaluator.value(member, bound)
                self.evidence.compare(Pair(definition.key, first, right, relation, statement, member, bound), side)

    def identity(self, statement: Statement, evaluator: Evaluator, targets: Mapping[str, Any], side: Side) -> None:
        """Two expressions against each other; targets within the left one have the code's values."""
        left = statement.members[0]
        within = {
            part.key
            for part in walk(left)
            if isinstance(part, Name) and part.key in targets and not self.prepared.definitions.defines(part.key)
        }
        inner = evaluator.with_inputs({key: targets[key] for key in within}) if within else evaluator
        keys = inner.ranges.free_indices([left], inner)
        extra = [key for key in inner.ranges.free_indices(statement.members[1:], inner) if key not in keys]
        if extra:
            raise fault(
                f"the index {latex_of(extra[0])} stands on the right only; sum over it, or put it on the left",
                place_of(statement, extra[0]),
            )
        for bound in inner.ranges.assignments(keys, list(statement.members), inner):
            first = inner.value(left, bound)
            if within and not side.is_arranged:
                moved = evaluator.with_inputs({key: noisy(targets[key], side.number) for key in within})
                with suppress(EquationError):
                    self.evidence.heed(left, within, first, moved.value(left, bound))
            self.cover_within(left, within, targets, inner, bound)
            for member, relation in zip(statement.members[1:], statement.relations, strict=True):
                right = inner.value(member, bound)
                self.evidence.compare(Pair("", first, right, relation, statement, member, bound), side)
        for key in within:
            self.evidence.finite[key] = self.evidence.finite.get(key, 0) + 1

    def cover_within(
        self, left: Node, within: set[str], targets: Mapping[str, Any], evaluator: Evaluator, bound: Bound
    ) -> None:
        """Note which elements of targets an expression on the left reaches."""
        whole = {part.key for part in walk(left) if isinstance(part, Name)}
        for part in walk(left):
            if isinstance(part, Index) and isinstance(part.base, Name) and part.base.key in within:
                whole.discard(part.base.key)
                place = tuple(evaluator.integer(index, bound, "an index") - evaluator.base for index in part.indices)
                self.evidence.cover(part.base.key, targets[part.base.key], place)
        for key in whole & within:
            self.evidence.cover(key, targets[key], ())

    def target_value(self, evaluator: Evaluator, key: str) -> Value:
        """A target's value by the equation, for derivatives."""
        clauses = self.prepared.definitions.clauses[key]
        value = defined.assemble(evaluator, key, clauses)
        return value.array if isinstance(value, Row) else value


def is_start(clause: Clause, place: tuple[int, ...], code: Value, evaluator: Evaluator) -> bool:
    """Is it where a recurrence begins, an element that the code does not give, as h_0 = a beside h_t = ... h_{t-1}?"""
    key, shape = clause.definition.key, np.shape(code)
    if not place or len(place) > len(shape) or None in defined.fixed(evaluator, clause):
        return False
    is_outside = any(not 0 <= number < size for number, size in zip(place, shape, strict=False))
    others = [other for other in evaluator.definitions.clauses[key] if other.body is not clause.body]
    return is_outside and any(key in evaluator.definitions.names_behind(other.body) for other in others)


def place_of(statement: Statement, key: str) -> Node:
    """Where a name stands in a statement."""
    for member in statement.members:
        for part in walk(member):
            if isinstance(part, Name) and part.key == key:
                return part
    return statement.members[0]


def noisy(value: Value, number: int) -> Any:
    """A value that code might have given instead: of its shape, and in no order of it."""
    array = np.asarray(value, dtype=float)
    return array + seed_of("noisy", number).normal(0.2, 1.3, array.shape) * (1 + np.abs(array))
