"""Apply functions: those bound to code, those that the display defines, and those that everybody knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import primitives, reductions
from .algebra import Array, Row, Value
from .defined import assemble
from .errors import EquationError, VectorsError, fault
from .known import LETTERS, WORDS
from .nodes import Call, Name, Node, children, free_names, walk
from .parameters import given
from .render import write
from .symbols import latex_of

if TYPE_CHECKING:
    from .definitions import Clause
    from .evaluator import Bound, Evaluator

KNOWN = frozenset(
    ["identity", "ones", "factorial", "binomial", "inner", "members", "size", "length", *WORDS, *LETTERS.values()]
)


def called(self: Evaluator, node: Call, bound: Bound) -> Value:
    """A function at its arguments: a binding to code wins, then a definition, then what everybody knows."""
    if self.functions.has(node.function) or self.functions.has_family(node.base):
        arguments = reductions.listed(self, node.arguments, bound)
        indices = [] if self.functions.has(node.function) else [self.value(index, bound) for index in node.indices]
        return self.functions.call(node.function, node.base, arguments, indices, self, bound)
    clauses = self.definitions.clauses.get(node.function) or self.definitions.families.get(node.base, [])
    clauses = [clause for clause in clauses if clause.definition.parameters is not None]
    if clauses and ("body", id(clauses[0])) not in self.active:
        return defined(self, clauses, node, bound)
    if node.base not in KNOWN:
        shown = latex_of(node.function)
        if clauses and node.indices:
            raise fault(f"{write(node)} is not declared; declare it: '{write(node)}: ...', or define it", node)
        if clauses:
            raise fault(f"{shown} is defined by itself; give its values where that ends with cases", node)
        symbols = self.ranges.notation.symbols.values()
        other = next((symbol for symbol in symbols if symbol.key.startswith(f"{node.function}(")), None)
        if other is not None:
            advice = f"declare '{write(node)}: ...' in its place"
            raise fault(f"{other.latex} is declared, and {write(node)} is read; {advice}", node)
        raise fault(
            f"{shown} is not declared; bind it to code with ':using: {shown} = function_name', or define it", node
        )
    return known(self, node, bound)


def is_known(self: Evaluator, node: Call) -> bool:
    """Has a function a value, by a binding, a definition, or since everybody knows it?"""
    defined_ones = {*self.definitions.clauses, *self.definitions.families}
    is_bound = self.functions.has(node.function) or self.functions.has_family(node.base)
    return is_bound or bool({node.function, node.base} & defined_ones) or node.base in KNOWN


def known_value(self: Evaluator, left: Node, bound: Bound) -> Value:
    r"""What a left side is by itself, as \langle A, B \rangle is; None for \log p(x), of which only code knows p."""
    try:
        return self.value(left, bound)
    except EquationError:
        if is_all_known(self, left, bound):
            raise
        return None


def is_all_known(self: Evaluator, node: Node, bound: Bound) -> bool:
    """Has every name of an expression a value, and every function?"""
    for part in walk(node):
        if isinstance(part, Name) and part.key not in bound and not self.is_known(part.key):
            return False
        if isinstance(part, Call) and not is_known(self, part):
            return False
    return True


def known(self: Evaluator, node: Call, bound: Bound) -> Value:
    """A function that everybody knows."""
    arguments = reductions.listed(self, node.arguments, bound)
    indices = [self.value(index, bound) for index in node.indices]
    result = primitives.apply(node.base, arguments, indices)
    if node.base in ("max", "min", "clip") and len(arguments) == len(node.arguments) > 1:
        self.budget.choices.note(node, arguments, result)
    return result + self.base if node.base in ("argmax", "argmin", "members") else result


def defined(self: Evaluator, clauses: list[Clause], node: Call, bound: Bound) -> Value:
    """A function that the display defines, at other arguments or at its own."""
    first = clauses[0]
    parameters = first.definition.parameters or ()
    if node.arguments == parameters and not any(is_read(self, parameter, clauses) for parameter in parameters):
        return apply(self, clauses, members(self, first, node, bound) if first.definition.members else {})
    arguments = reductions.listed(self, node.arguments, bound)
    if len(parameters) != len(arguments):
        wanted = f"{len(parameters)} argument{'s' * (len(parameters) != 1)}"
        raise fault(f"{latex_of(node.function)} takes {wanted}, not {len(arguments)}", node)
    inputs = given(self, parameters, arguments, node.arguments)
    if first.definition.members:
        inputs |= members(self, first, node, bound)
    if len(arguments) != 1 or not isinstance(arguments[0], np.ndarray):
        return apply(self, clauses, inputs)
    if is_of_numbers(self, parameters[0]):
        return by_elements(self, clauses, inputs, parameters, arguments[0])
    try:
        return apply(self, clauses, inputs)
    except VectorsError:  # \operatorname{Swish}(x) = x \sigma(x) is said of a number
        return by_elements(self, clauses, inputs, parameters, arguments[0])


def by_elements(
    self: Evaluator, clauses: list[Clause], inputs: dict[str, Value], parameters: Sequence[Node], argument: Array
) -> Array:
    """A function of one number at every element of an array."""
    flat = [apply(self, clauses, inputs | given(self, parameters, [item])) for item in argument.ravel()]
    return np.asarray(flat).reshape(argument.shape)


def is_read(self: Evaluator, parameter: Node, clauses: list[Clause], seen: frozenset[str] = frozenset()) -> bool:
    """Does a definition read a parameter, or has it a value?  J(\\theta) may be no more than a name with its habit."""
    if not isinstance(parameter, Name) or self.is_known(parameter.key):
        return True
    return any(reads(self, clause.body, parameter.key, seen) for clause in clauses)


def reads(self: Evaluator, node: Node, key: str, seen: frozenset[str]) -> bool:
    """Does a tree read a name, but for the habit of other definitions, as the n of e(n) = 2k(n) beside k(n) = x?"""
    if key not in free_names(node):
        return False
    if isinstance(node, Call) and node.function not in seen:
        clauses = self.definitions.clauses.get(node.function, [])
        if clauses and clauses[0].definition.parameters == node.arguments:
            within = seen | {node.function}
            return any(is_read(self, one, clauses, within) for one in node.arguments if key in free_names(one))
    return isinstance(node, Name) or any(reads(self, child, key, seen) for _, child in children(node))


def is_of_numbers(self: Evaluator, parameter: object) -> bool:
    """Is a function declared of a number, so that it goes through an array element by element?"""
    key = getattr(parameter, "key", "")
    symbol = self.ranges.notation.symbols.get(key)
    return symbol is not None and not symbol.kind.shape and symbol.kind.name != "dim"


def members(self: Evaluator, clause: Clause, node: Call, bound: Bound) -> dict[str, Value]:
    """The indices that pick a function of a family."""
    found = {}
    own, indices = clause.definition.members, node.indices
    if len(indices) != len(own):
        fact = (
            f"{write(node)} has {len(indices)} indices, and {latex_of(clause.definition.key)} is given with {len(own)}"
        )
        raise fault(f"{fact}; write as many, and a product with \\cdot", node)
    for pattern, index in zip(own, indices, strict=True):
        if isinstance(pattern, Name):
            found[pattern.key] = self.value(index, bound)
    return found


def apply(self: Evaluator, clauses: list[Clause], inputs: dict[str, Value]) -> Value:
    """The body of a defined function with its parameters put in; at the draw's own values once only."""
    memo = ("call", id(clauses[0]), *known_values(self, inputs))
    if len(memo) == len(inputs) + 2 and memo in self.memo:
        return self.memo[memo]
    inner = self.with_inputs({key: value.array if isinstance(value, Row) else value for key, value in inputs.items()})
    inner.active.add(("body", id(clauses[0])))
    value = assemble(inner, clauses[0].definition.key, clauses)
    if len(memo) == len(inputs) + 2:
        self.memo[memo] = value
    return value


def known_values(self: Evaluator, inputs: dict[str, Value]) -> Iterator[object]:
    """Yield what tells arguments apart, for those that are numbers or drawn values; the others come only once."""
    for key, value in sorted(inputs.items()):
        if isinstance(value, int | float):
            yield key, value
        elif any(value is other for other in self.inputs.values()):
            yield key, id(value)
