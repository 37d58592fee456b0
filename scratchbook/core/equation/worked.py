"""Work an equation with numbers: put them in, then compute what can be computed, line by line, down to the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from . import defined
from .algebra import Row, Value
from .binding import BoundFunctions
from .codecalls import environment_of
from .definitions import Clause, collect
from .draws import span_of
from .equation import Equation
from .errors import EquationError, fault
from .evaluator import Bound, Evaluator
from .inputs import inputs_of
from .known import known_function
from .nodes import (
    Add,
    Call,
    Cases,
    Constant,
    Family,
    Fraction,
    Index,
    Indicator,
    Literal,
    Multiply,
    Name,
    Negate,
    Node,
    Number,
    Product,
    Reduce,
    Slice,
    Stretch,
    children,
    put,
    walk,
    with_parts,
)
from .ranges import Ranges
from .render import Renderer
from .targets import mentioned
from .vocabulary import WORDS

MAX_LINES: Final = 12
MAX_TERMS: Final = 8
MAX_INDEX_VALUES: Final = 8


@dataclass(frozen=True)
class Step:
    """One left side with everything that it equals: as printed, with numbers, and so on down to the value.

    left, sides: LaTeX.   value: the number or array, as nested lists; None for the equation as printed.
    """

    left: str
    sides: tuple[str, ...]
    value: Any


def work(
    equation: Equation,
    values: Mapping[str, Any],
    namespace: Mapping[str, Any] | None = None,
    *,
    base: int = 1,
    digits: int = 4,
    only: Mapping[str, int] | None = None,
) -> tuple[Step, ...]:
    """Work every statement that defines a name, in the order in which each needs the others.

    values: by the symbols' names in the code; sizes follow from arrays.   namespace: the page's names, for functions
    bound to code.   only: values of indices on the left, when not all are wanted.
    Raises EquationError for a value that is missing or does not fit.
    """
    try:
        return tuple(Worker(equation, values, namespace or {}, base, digits).steps(only or {}))
    except EquationError as error:
        raise error.within(equation.source, "latex") from None


def evaluate(
    equation: Equation, values: Mapping[str, Any], namespace: Mapping[str, Any] | None = None, *, base: int = 1
) -> dict[str, Value]:
    """The value of every name that the equation defines, by key, at the given values.

    Raises EquationError like `work`.
    """
    try:
        worker = Worker(equation, values, namespace or {}, base, 4)
        keys = [key for key, group in worker.definitions.clauses.items() if group[0].definition.parameters is None]
        return {key: defined.whole(worker.evaluator, key) for key in keys}
    except EquationError as error:
        raise error.within(equation.source, "latex") from None


class Worker:
    """The values of one working, and the statements in order."""

    def __init__(
        self, equation: Equation, values: Mapping[str, Any], namespace: Mapping[str, Any], base: int, digits: int
    ) -> None:
        self.equation = equation
        self.definitions = collect(equation)
        inputs = inputs_of(equation, values)
        functions = BoundFunctions(equation.notation, namespace)
        functions.environment = environment_of(equation.notation, inputs)
        spans = {
            symbol.key: span_of(symbol, functions.environment)
            for symbol in equation.notation.symbols.values()
            if symbol.kind.name == "index" and symbol.kind.arguments and symbol.key in equation.names
        }
        ranges = Ranges(equation.notation, equation.ranges, equation.conditions, spans, {}, equation.lexicon.indices)
        known = {key: value for key, value in inputs.items() if not self.definitions.defines(key)}
        self.evaluator = Evaluator(self.definitions, known, ranges, functions, base, is_plain=equation.is_plain)
        latex = {symbol.key: symbol.latex for symbol in equation.notation.symbols.values()} | spellings(equation)
        self.renderer = Renderer(lambda key: latex.get(key) or shown(key), digits=digits)

    def steps(self, only: Mapping[str, int]) -> Iterator[Step]:
        """Yield the steps of every defining statement; what others need comes first."""
        clauses = [
            clause
            for group in self.definitions.clauses.values()
            for clause in group
            if clause.statement in self.definitions.statements
        ]
        own = [clause for clause in clauses if clause.body is clause.statement.members[1]]
        if not own:
            first = self.equation.statements[0].members[0]
            raise fault("nothing here defines a value; write left = right with a name on the left", first)
        found = dict.fromkeys(only, False)
        for clause in ordered(own):
            wanted = []
            for bound in defined.assignments_of(self.evaluator, clause):
                if all(bound[key] == value for key, value in only.items() if key in bound):
                    wanted.append(bound)
                    found |= {key: True for key in only if key in bound}
            yield from self.steps_of(clause, wanted[:MAX_INDEX_VALUES])
        missed = next((key for key, is_found in found.items() if not is_found), None)
        if missed is not None:
            first = own[0].statement.members[0]
            raise fault(f"no left side has an element {missed} = {only[missed]}; drop it from ':index:'", first)

    def steps_of(self, clause: Clause, wanted: Sequence[Bound]) -> Iterator[Step]:
        """The steps of one statement, once for each value of its indices; first as printed, when it has any."""
        first = clause.statement.members[0]
        if wanted and wanted[0]:
            yield Step(self.printed(first), (self.printed(clause.body),), None)
        for bound in wanted:
            left = self.renderer.write(self.placed(first, bound))
            lines = [] if bound else [self.printed(clause.body)]
            tree = self.put_in(clause.body, bound)
            for _ in range(MAX_LINES):
                lines.append(self.renderer.write(tree))
                if isinstance(tree, Literal):
                    break
                tree = self.reduce(tree, is_whole=True)
            value = self.evaluator.value(clause.body, bound)
            lines.append(self.renderer.write(Literal(value)))
            yield Step(left, tuple(dict.fromkeys(lines)), plain_value(value))

    def printed(self, body: Node) -> str:
        """A right side as the author wrote it, when it stands in one piece."""
        text = self.equation.source[body.start : body.end]
        return text if text and "&" not in text and r"\\" not in text else self.renderer.write(body)

    def is_size(self, key: str) -> bool:
        """Is a name a size or a whole number?"""
        symbol = self.equation.notation.symbols.get(key)
        return symbol is not None and symbol.kind.name in ("dim", "int")

    def placed(self, left: Node, bound: Bound) -> Node:
        """A left side with the values of its indices."""
        if isinstance(left, Name):
            return Number(bound[left.key]) if left.key in bound else left
        if isinstance(left, Call):
            return left
        return with_parts(left, lambda child: self.placed(child, bound))

    def put_in(self, node: Node, bound: Bound) -> Node:
        """The tree with every name's value; sums are written out while they are short."""
        if isinstance(node, Number | Literal | Slice):
            return node
        if isinstance(node, Name | Index | Indicator | Constant):
            if isinstance(node, Name) and self.is_size(node.key):
                return Number(int(self.evaluator.value(node, bound)))
            keeps = isinstance(node, Constant) and node.name in ("e", "infinity", "ones", "zero", "identity")
            return node if keeps else Literal(self.evaluator.value(node, bound))
        if isinstance(node, Reduce):
            return self.spread(node, bound)
        if isinstance(node, Family | Stretch):
            return Literal(self.evaluator.value(node, bound))
        if isinstance(node, Cases):
            for row in node.rows:
                if row.condition is None or np.all(self.evaluator.truth(row.condition, bound)):
                    return self.put_in(row.value, bound)
        if isinstance(node, Call) and not known_function(node.base):
            return Literal(self.evaluator.value(node, bound))
        return with_parts(node, lambda child: self.put_in(child, bound))

    def spread(self, node: Reduce, bound: Bound) -> Node:
        """A sum, product or extreme written out; long ones and others as their value."""
        places = list(self.evaluator.ranges.members_of(node, bound, self.evaluator))
        writes_out = node.operator in ("sum", "prod", "max", "min") and 1 < len(places) <= MAX_TERMS
        if not writes_out:
            return Literal(self.evaluator.value(node, bound))
        terms = tuple(self.put_in(node.body, place) for place in places)
        if node.operator == "sum":
            return Add(terms, ("+",) * len(terms))
        return Product(terms) if node.operator == "prod" else Call(node.operator, terms, node.operator)

    def reduce(self, node: Node, *, is_whole: bool = False) -> Node:
        """Compute every part whose own parts are values."""
        if is_done(node) and not is_whole:
            return node
        parts = list(children(node))
        if all(is_done(child) for _, child in parts):
            return Literal(self.evaluator.value(node, {}))
        for path, child in parts:
            node = put(node, path, self.reduce(child))
        return node


def is_done(node: Node) -> bool:
    """Is a part a value, or a plain number as written, such as -1/2?"""
    if isinstance(node, Negate | Fraction) or (isinstance(node, Multiply) and node.sign == "/"):
        return all(
            isinstance(part, Number | Negate | Fraction | Multiply) and is_done(part) for _, part in children(node)
        )
    return isinstance(node, Number | Literal | Constant)


def shown(key: str) -> str:
    """A function that everybody knows by its command, any other name as LaTeX."""
    from .symbols import latex_of

    return f"\\{key}" if key in WORDS else latex_of(key)


def plain_value(value: Value) -> Any:
    """A number or nested lists."""
    value = value.array if isinstance(value, Row) else value
    return np.asarray(np.real(value)).tolist()


def ordered(clauses: list[Clause]) -> list[Clause]:
    """The statements so that each comes after those that it needs."""
    done: list[Clause] = []
    waiting = list(clauses)
    while waiting:
        ready = [
            c
            for c in waiting
            if not any(o is not c and o.definition.key in mentioned(c.body) - {c.definition.key} for o in waiting)
        ]
        chosen = ready or waiting[:1]
        done += chosen
        waiting = [clause for clause in waiting if not any(clause is other for other in chosen)]
    return done


def spellings(equation: Equation) -> dict[str, str]:
    r"""How the author writes each name that stands without an index, such as \vx for x."""
    found: dict[str, str] = {}
    for root in equation.roots():
        indexed = {id(part.base) for part in walk(root) if isinstance(part, Index)}
        for part in walk(root):
            text = equation.source[getattr(part, "start", 0) : getattr(part, "end", 0)].strip()
            if isinstance(part, Name) and id(part) not in indexed and text and not text.endswith("'"):
                found.setdefault(part.key, text)
    return found
