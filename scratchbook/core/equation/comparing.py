"""Run one prepared check draw by draw: code on one side, the equation on the other, every element reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .algebra import Row, Value
from .binding import BoundFunctions, CodeCall, environment_of
from .comparison import Result, compare, plain
from .definitions import Clause, Definitions
from .differentiation import named_derivative, parts_of
from .draws import Draw, draw
from .equation import Definition, Equation, Statement
from .errors import EquationError, fault
from .evaluator import Bound, Budget, Evaluator
from .known import LETTERS, WORDS
from .nodes import Call, Constant, Derivative, Index, Name, Node, walk
from .notation import Notation, Symbol
from .options import Request
from .ranges import Ranges
from .reductions import holds
from .symbols import latex_of
from .targets import Target, expression_key, is_expression_key
from .tokens import Macros
from .verdict import Disagreement, Mismatch, Tally, Verdict

DRAWS: Final = 5
SCALAR_DRAWS: Final = 8
ROWS: Final = 3
ROW_DRAWS: Final = 2
GRADIENT_DRAWS: Final = 3


@dataclass(frozen=True)
class Prepared:
    """A check that was read and can be run, also for a mutant of its equation."""

    equation: Equation
    request: Request
    namespace: Mapping[str, Any]
    macros: Macros | None
    definitions: Definitions
    functions: BoundFunctions
    targets: tuple[Target, ...]
    symbols: tuple[Symbol, ...]
    rtol: float
    points: tuple[dict[str, float], ...]
    base: int

    @property
    def notation(self) -> Notation:
        return self.equation.notation

    @property
    def draws(self) -> int:
        """How many draws: one a point, five, or eight when all is numbers."""
        if self.points:
            return len(self.points)
        return DRAWS if any(symbol.kind.shape for symbol in self.symbols) else SCALAR_DRAWS

    @property
    def call(self) -> str:
        """The code as messages name it."""
        return ", ".join(dict.fromkeys(target.text for target in self.targets))


@dataclass
class Side:
    """The code's side of one draw.

    cases: the drawn values, once for each row.   environment: the values as the code takes them.   raw: what each
    target returned.
    values: the value of every target key.   rows: 0 for a single one.
    """

    number: int
    rows: int
    cases: list[dict[str, Any]]
    environment: dict[str, Any]
    spans: dict[str, tuple[int, int]]
    raw: list[Any] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def of_case(self, case: int) -> dict[str, Any]:
        """The targets of one row."""
        return {key: value[case] for key, value in self.values.items()} if self.rows else self.values


class Comparer:
    """What one check has found so far.  The code's side of every draw is kept, for mutants of the equation."""

    def __init__(self, prepared: Prepared, sides: dict[tuple[int, int], Side | None] | None = None) -> None:
        self.prepared = prepared
        self.sides = {} if sides is None else sides
        self.tally = Tally()
        self.finite: dict[str, int] = {}
        self.covered: dict[str, Any] = {}
        self.budgets: list[Budget] = []
        self.allows_infinity = any(
            isinstance(part, Constant) and part.name == "infinity"
            for root in prepared.equation.roots()
            for part in walk(root)
        )
        self.row_keys = row_keys(prepared)

    # The code's side

    def draw(self, number: int) -> None:
        """Compare everything at one draw: a single row, then several where the code takes them."""
        from .slopes import check_slopes

        for rows in (0, ROWS) if self.row_keys and number < ROW_DRAWS else (0,):
            side = self.side(number, rows)
            if side is None:
                continue
            self.compare(side)
            if number < GRADIENT_DRAWS:
                check_slopes(self, side)
            if rows and rows not in self.tally.rows:
                self.tally.rows.append(rows)

    def side(self, number: int, rows: int) -> Side | None:
        """The code's side of a draw; None when the code does not take several rows."""
        if (number, rows) not in self.sides:
            self.sides[number, rows] = self.run_code(number, rows)
        return self.sides[number, rows]

    def run_code(self, number: int, rows: int) -> Side | None:
        """Draw the values and run the code."""
        prepared = self.prepared
        point = prepared.points[number] if prepared.points else None
        drawn = draw(list(prepared.symbols), prepared.request.label, number, prepared.base, point)
        cases = [drawn.values]
        if rows:
            extra = [
                draw(list(prepared.symbols), f"{prepared.request.label}/{row}", number, prepared.base, point)
                for row in range(1, rows)
            ]
            cases += [drawn.values | {key: other.values[key] for key in self.row_keys} for other in extra]
        values = dict(drawn.values)
        if rows:
            values |= {key: np.stack([case[key] for case in cases]) for key in self.row_keys}
        side = Side(number, rows, cases, environment_of(prepared.notation, values), drawn.spans)
        side.environment |= self.defined_values(drawn) if not rows else {}
        try:
            for target in prepared.targets:
                side.raw.append(target.run(side.environment, prepared.namespace))
                side.values |= target.values(side.raw[-1])
        except EquationError:
            if rows:
                return None
            raise
        if rows and not self.has_rows(side):
            return None
        return side

    def defined_values(self, drawn: Draw) -> dict[str, Any]:
        """The values of names that the equation defines and the code reads as well."""
        found: dict[str, Any] = {}
        wanted = (
            set().union(*(getattr(t.source, "names", set()) for t in self.prepared.targets))
            if self.prepared.targets
            else set()
        )
        own = {key for target in self.prepared.targets for key in target.keys}
        for symbol in self.prepared.symbols:
            if symbol.code in wanted and symbol.key not in own and self.prepared.definitions.defines(symbol.key):
                found[symbol.code] = plain(self.evaluator(drawn.values, drawn.spans, {}).whole(symbol.key))
        return found

    def has_rows(self, side: Side) -> bool:
        """Did the code give one result a row?"""
        single = self.side(side.number, 0)
        assert single is not None
        return all(np.shape(value) == (side.rows, *np.shape(single.values[key])) for key, value in side.values.items())

    # The equation's side

    def evaluator(
        self, values: Mapping[str, Any], spans: Mapping[str, tuple[int, int]], targets: Mapping[str, Any]
    ) -> Evaluator:
        """An evaluator with the drawn values of everything that the equation does not define."""
        prepared, equation = self.prepared, self.prepared.equation
        inputs = {key: value for key, value in values.items() if not prepared.definitions.defines(key)}
        ranges = Ranges(
            prepared.notation, equation.ranges, equation.conditions, dict(spans), {key: np.shape(value) for key,
            value in targets.items()},
            equation.lexicon.indices,
        )  # fmt: skip
        budget = Budget()
        self.budgets.append(budget)
        return Evaluator(
            prepared.definitions, inputs, ranges, prepared.functions, prepared.base, budget, is_plain=equation.is_plain
        )

    @property
    def steps(self) -> int:
        """How many steps all evaluations took."""
        return sum(budget.steps for budget in self.budgets)

    def compare(self, side: Side) -> None:
        """Compare every statement at every row."""
        for case, values in enumerate(side.cases):
            targets = side.of_case(case)
            evaluator = self.evaluator(values, side.spans, targets)
            self.prepared.functions.environment = environment_of(self.prepared.notation, values)
            self.check_shapes(evaluator)
            for statement in self.prepared.definitions.statements:
                self.statement(statement, evaluator, targets, side)

    def check_shapes(self, evaluator: Evaluator) -> None:
        r"""x \in \mathbb{R}^{d}: the shape that the symbol has."""
        for shape in self.prepared.equation.shapes:
            value = evaluator.value(shape.name, {})
            sizes = tuple(evaluator.integer(size, {}, "a size") for size in shape.sizes)
            if np.shape(plain(value)) != sizes:
                raise fault(f"{latex_of(shape.name.key)} has shape {np.shape(plain(value))}, not {sizes}", shape.name)
            self.tally.compared += 1

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
        value = named_derivative(evaluator, Name(definition.key))
        self.bound_target(statement, definition, evaluator, value, side)

    def bound_target(
        self, statement: Statement, definition: Definition, evaluator: Evaluator, code: Value, side: Side
    ) -> None:
        """The code's array against the right sides, element by element."""
        clause = Clause(definition, statement.members[1], statement)
        evaluator.ranges.targets[definition.key] = np.shape(code)
        for bound in evaluator.assignments_of(clause):
            place = tuple(
                evaluator.integer(pattern, bound, "an index") - evaluator.base for pattern in definition.patterns
            )
            expected = self.element(code, place, definition, evaluator, statement)
            self.cover(definition.key, code, place)
            for member, relation in zip(statement.members[1:], statement.relations, strict=True):
                self.pair(
                    definition.key, expected, evaluator.value(member, bound), relation, statement, member, bound, side
                )

    def expression_target(self, statement: Statement, key: str, evaluator: Evaluator, code: Value, side: Side) -> None:
        r"""Code against the right sides of a left side that is an expression, such as \log p(x); its indices in their
        order."""
        left = statement.members[0]
        free = evaluator.ranges.free_indices(statement.members[1:], evaluator)
        order = [part.key for part in walk(left) if isinstance(part, Name) and part.key in free]
        keys = list(dict.fromkeys(order))
        for bound in evaluator.ranges.assignments(keys, list(statement.members[1:]), evaluator):
            place = tuple(bound[name] - evaluator.base for name in keys)
            self.cover(key, code, place)
            expected = np.asarray(code)[place] if place else code
            for member, relation in zip(statement.members[1:], statement.relations, strict=True):
                self.pair(key, expected, evaluator.value(member, bound), relation, statement, member, bound, side)

    def element(
        self, code: Value, place: tuple[int, ...], definition: Definition, evaluator: Evaluator, statement: Statement
    ) -> Value:
        """One element of the code's array, never by wrap-around."""
        if not place:
            return code
        shape = np.shape(code)
        if len(place) > len(shape) or any(not 0 <= number < size for number, size in zip(place, shape, strict=False)):
            shown = tuple(number + evaluator.base for number in place)
            raise fault(
                f"index {shown} of {latex_of(definition.key)} is outside the shape {shape} that the code gives",
                statement.members[0],
            )
        return np.asarray(code)[place]

    def cover(self, key: str, code: Value, place: tuple[int, ...]) -> None:
        """Note that an element of a target was reached."""
        mask = self.covered.get(key)
        if mask is None or np.shape(mask) != np.shape(code):
            mask = self.covered[key] = np.zeros(np.shape(code), dtype=bool)
        mask[place] = True

    def local_definition(self, statement: Statement, definition: Definition, evaluator: Evaluator, side: Side) -> None:
        """Further members of a chain against the first right side."""
        if len(statement.members) < 3:
            return
        clause = Clause(definition, statement.members[1], statement)
        for bound in evaluator.assignments_of(clause):
            first = evaluator.value(statement.members[1], bound)
            for member, relation in zip(statement.members[2:], statement.relations[1:], strict=True):
                self.pair(
                    definition.key, first, evaluator.value(member, bound), relation, statement, member, bound, side
                )

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
            self.cover_within(left, within, targets, inner, bound)
            for member, relation in zip(statement.members[1:], statement.relations, strict=True):
                self.pair("", first, inner.value(member, bound), relation, statement, member, bound, side)
        for key in within:
            self.finite[key] = self.finite.get(key, 0) + 1

    def cover_within(
        self, left: Node, within: set[str], targets: Mapping[str, Any], evaluator: Evaluator, bound: Bound
    ) -> None:
        """Note which elements of targets an expression on the left reaches."""
        whole = {part.key for part in walk(left) if isinstance(part, Name)}
        for part in walk(left):
            if isinstance(part, Index) and isinstance(part.base, Name) and part.base.key in within:
                whole.discard(part.base.key)
                place = tuple(evaluator.integer(index, bound, "an index") - evaluator.base for index in part.indices)
                self.cover(part.base.key, targets[part.base.key], place)
        for key in whole & within:
            self.cover(key, targets[key], ())

    # Comparing and counting

    def pair(
        self,
        key: str,
        left: Value,
        right: Value,
        relation: str,
        statement: Statement,
        member: Node,
        bound: Bound,
        side: Side,
    ) -> None:
        """Compare two values by their relation, and count."""
        if relation in ("<", ">", r"\le", r"\ge", r"\ne"):
            if not np.all(holds(plain(left), relation, plain(right))):
                self.disagree(
                    Result(0, 0.0, f"'{relation}' does not hold"), key, left, right, statement, member, bound, side
                )
            self.tally.note(int(np.size(plain(left))), 0.0)
            return
        rtol = self.prepared.rtol
        result = compare(left, right, rtol, allows_infinity=self.allows_infinity)
        if result.reason:
            self.disagree(result, key, left, right, statement, member, bound, side)
        self.tally.note(result.finite, result.difference)
        if key:
            self.finite[key] = self.finite.get(key, 0) + result.finite

    def disagree(
        self,
        result: Result,
        key: str,
        left: Value,
        right: Value,
        statement: Statement,
        member: Node,
        bound: Bound,
        side: Side,
    ) -> None:
        """Stop with what differs and where."""
        target = next((target for target in self.prepared.targets if key in target.keys), None)
        against = target.text if target else ""
        size = (
            f" by {result.difference:.2g} (allowed {self.prepared.rtol:g})"
            if result.reason == "differ"
            else f": {result.reason}"
        )
        reason = (
            f"differs from {against}{size}"
            if against
            else f"the two sides {'differ' if result.reason == 'differ' else 'disagree'}{size}"
        )
        base = self.prepared.base
        indices = {latex_of(name): value for name, value in bound.items() if isinstance(value, int)}
        indices |= {f"element {axis + 1}": number + base for axis, number in enumerate(result.place)}
        of = latex_of(key) if key and not is_expression_key(key) else statement.text
        mismatch = Mismatch(
            side.number, of, indices, number_at(left, result.place), number_at(right, result.place), result.difference,
            shown_values(side.cases[0], self.prepared.notation), member.start, member.end,
        )  # fmt: skip
        raise Disagreement(mismatch, reason)

    def finish(self) -> None:
        """Refuse a check that compared nothing, or not every element."""
        for target in self.prepared.targets:
            for key in target.keys:
                mask = self.covered.get(key)
                if mask is not None and not np.all(mask):
                    raise fault(
                        f"only {int(np.sum(mask))} of {np.size(mask)} elements of {latex_of(key)} are defined; add "
                        f"the others"
                    )
                if self.finite.get(key, 0) == 0:
                    raise fault(f"nothing finite of {latex_of(key)} was compared")
        if self.tally.compared == 0:
            raise fault("nothing finite was compared; bind a left side with ':check:'")

    def verdict(self, *, passed: bool, reason: str = "", mismatch: Mismatch | None = None) -> Verdict:
        """What was found, as plain data."""
        prepared = self.prepared
        error = EquationError(
            reason,
            offset=mismatch.start if mismatch else None,
            end=mismatch.end if mismatch else None,
            source=prepared.equation.source,
        )
        return Verdict(
            passed, reason, "latex", error.offset, error.row if mismatch else 0, error.column if mismatch else 0,
            error.caret if mismatch else "",
            prepared.draws, self.tally.compared, tuple(self.tally.rows), tuple(self.tally.gradients),
            self.tally.largest, prepared.rtol,
            (), prepared.call, tuple(latex_of(key) for target in prepared.targets for key in target.keys), mismatch,
        )  # fmt: skip

    def target_value(self, evaluator: Evaluator, key: str) -> Value:
        """A target's value by the equation, for derivatives."""
        clauses = self.prepared.definitions.clauses[key]
        value = evaluator.assemble(key, clauses)
        return value.array if isinstance(value, Row) else value


def is_derivable(statement: Statement, definition: Definition, definitions: Definitions) -> bool:
    """Is the left side a derivative of something that the display defines, or f'(x)?"""
    if isinstance(statement.members[0], Derivative):
        return True
    return definition.key.startswith(r"\frac") and definitions.defines(parts_of(definition.key)[0])


def is_formula_of_known(statement: Statement, definitions: Definitions) -> bool:
    r"""Is it a formula such as \tanh(x) = ..., for a function that everybody knows and nothing else here uses?"""
    left = statement.members[0]
    while isinstance(left, Index):
        left = left.base
    if not isinstance(left, Call) or left.base not in {*WORDS, *LETTERS.values()}:
        return False
    others = [
        member
        for other in definitions.statements
        for member in (other.members[1:] if other is statement else other.members)
    ]
    return not any(
        isinstance(part, Call) and part.function == left.function for member in others for part in walk(member)
    )


def row_keys(prepared: Prepared) -> tuple[str, ...]:
    """The keys of the vectors that the code also takes as rows: those in the brackets on the left, else its first
    argument."""
    if len(prepared.targets) != 1 or not isinstance(prepared.targets[0].source, CodeCall):
        return ()
    call, keys = prepared.targets[0].source, prepared.targets[0].keys
    codes = prepared.notation.by_code()
    arguments = [
        codes[name].key for name in call.arguments.values() if name in codes and len(codes[name].kind.shape) == 1
    ]
    first = next(iter(call.arguments.values()), "")
    inside: Sequence[str] = ()
    if len(keys) == 1 and prepared.definitions.defines(keys[0]):
        parameters = prepared.definitions.clauses[keys[0]][0].definition.parameters or ()
        inside = [part.key for part in parameters if isinstance(part, Name)]
    chosen = [key for key in arguments if key in inside] or [
        codes[first].key for _ in [0] if first in codes and codes[first].key in arguments
    ]
    return tuple(
        key
        for key in chosen
        if prepared.notation.symbols[key].kind.name not in ("ints", "mask") and not prepared.definitions.defines(key)
    )


def place_of(statement: Statement, key: str) -> Node:
    """Where a name stands in a statement."""
    for member in statement.members:
        for part in walk(member):
            if isinstance(part, Name) and part.key == key:
                return part
    return statement.members[0]


def number_at(value: Value, place: tuple[int, ...]) -> str:
    """One number of a value for a message."""
    array = np.asarray(plain(value)) if not isinstance(value, Row) else value.array
    if array.dtype == object:
        return str(type(value).__name__)
    if place and array.ndim == len(place):
        array = array[place]
    if array.ndim == 0:
        return f"{np.real(array):.6g}"
    return (
        "["
        + ", ".join(f"{number:.4g}" for number in np.real(array.ravel()[:4]))
        + (", ..." if array.size > 4 else "")
        + "]"
    )


def shown_values(values: Mapping[str, Any], notation: Notation) -> dict[str, str]:
    """The numbers of a draw, shortened, by the symbols' LaTeX."""
    return {
        notation.symbols[key].latex: number_at(value, ()) for key, value in values.items() if key in notation.symbols
    }
