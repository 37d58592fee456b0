"""Tie symbols to code: the page's functions by their signatures, and functions within an equation by a Python
expression."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .algebra import Identity, Ones, Row, Value, shown
from .codecalls import as_numbers, environment_of, own, result_of
from .errors import EquationError, fault
from .notation import Function, Notation
from .options import Expression, read_expression
from .symbols import split_key

PLACEHOLDER: Final = re.compile(r"_\d?$")
ALONE: Final = re.compile(r"(?<![\w.])_(?!\w)")
STEP: Final = 1e-3


@dataclass
class BoundFunctions:
    """The functions that the notation binds, ready to be called by the evaluator.

    namespace: the page's names.   environment: code values of this draw.   used: the code that was called.
    """

    notation: Notation
    namespace: Mapping[str, Any]
    functions: dict[str, Bound] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for key, function in self.notation.functions.items():
            self.functions[key] = read_bound(function, self.notation)

    def has(self, key: str) -> bool:
        """Is the function bound, and is it no family?"""
        return key in self.functions and self.functions[key].member is None

    def has_family(self, base: str) -> bool:
        """Is there a family of this base, such as R_m?"""
        return any(bound.member is not None and bound.base == base for bound in self.functions.values())

    def find(self, key: str, base: str) -> Bound:
        """The binding of a function, or of the family that it belongs to."""
        if self.has(key):
            return self.functions[key]
        return next(bound for bound in self.functions.values() if bound.member is not None and bound.base == base)

    def call(
        self,
        key: str,
        base: str,
        arguments: list[Value],
        indices: list[Value],
        evaluator: Any,
        bound: Mapping[str, Any],
    ) -> Value:
        """Call the code; a complex step goes through it by differences."""
        binding = self.find(key, base)
        self.called.add(binding.key)
        plain = [plain_argument(argument, binding.latex) for argument in arguments]
        environment = dict(self.environment)
        inputs = environment_of(self.notation, evaluator.inputs)
        environment.update(inputs)
        if binding.member is not None:
            if len(indices) != 1:
                raise fault(f"{binding.latex} takes one index")
            environment[binding.member] = indices[0]
        return binding.run(plain, environment, self.namespace)


@dataclass(frozen=True)
class Bound:
    """One function of the notation.  member: the code name of a family's index, m of R_m."""

    key: str
    latex: str
    base: str
    member: str | None
    expression: Expression
    is_name: bool

    def run(self, arguments: list[Any], environment: dict[str, Any], namespace: Mapping[str, Any]) -> Value:
        """The value of the code, by a step of both sizes where an argument carries a complex step."""
        varying = {f"@{number}": value for number, value in enumerate(arguments)} | environment
        scale = largest_step(varying)
        if scale == 0:
            return self.real(arguments, environment, namespace)

        def at(step: float) -> Any:
            moved = [shift(value, step / scale) for value in arguments]
            return np.asarray(
                self.real(moved, {name: shift(value, step / scale) for name, value in environment.items()}, namespace),
                dtype=float,
            )

        slope = (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP)
        return at(0.0) + 1j * scale * slope

    def real(self, arguments: list[Any], environment: dict[str, Any], namespace: Mapping[str, Any]) -> Any:
        """Call the code with real numbers, which it may change."""
        arguments, environment = [own(argument) for argument in arguments], own(environment)
        if self.is_name:
            function = namespace.get(self.expression.text, environment.get(self.expression.text))
            if not callable(function):
                raise self.expression.fault(f"{self.expression.text} is not a function of the page; import it there")
            return self.checked(self.filled(function, arguments, environment))
        placed: dict[str, Any] = {"_": arguments[0] if arguments else None}
        placed |= {f"_{number}": value for number, value in enumerate(arguments, start=1)}
        return self.checked(self.placed(len(arguments)).value({**namespace, **environment, **placed}))

    def placed(self, count: int) -> Expression:
        """The code with a mark of its own for each of several arguments: f(_, _) takes them in their order.

        Raises EquationError for other numbers of marks.
        """
        if count < 2 or "_" not in self.expression.names:
            return self.expression
        if len(ALONE.findall(self.expression.text)) != count or self.expression.names & {"_1", "_2"}:
            marks = ", ".join(f"_{number}" for number in range(1, count + 1))
            text = f"{self.latex} has {count} arguments here, and '_' is one; write {marks} where each goes"
            raise self.expression.fault(text)
        numbers = itertools.count(1)
        text = ALONE.sub(lambda _: f"_{next(numbers)}", self.expression.text)
        return read_expression(text, field_name=self.expression.field_name)

    def checked(self, value: Any) -> Any:
        """What the code computed, as numbers.  Raises EquationError, at the binding, for anything else."""
        try:
            return as_numbers(result_of(value), self.expression.text)
        except EquationError as error:
            raise self.expression.fault(error.text) from None

    def filled(self, function: Callable[..., Any], arguments: list[Any], environment: dict[str, Any]) -> Any:
        """Call a named function: the equation's arguments first, further parameters by their names."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except ValueError:
            parameters = []
        further = {
            p.name: environment[p.name]
            for p in parameters[len(arguments) :]
            if p.name in environment and p.default is p.empty
        }
        try:
            return function(*arguments, **further)
        except Exception as error:  # the code under test may raise anything; the author must see what
            raise self.expression.fault(f"{self.expression.text} raised {type(error).__name__}: {error}") from error


def read_bound(function: Function, notation: Notation) -> Bound:
    """Read the Python of one function of the notation."""
    expression = read_expression(function.code, field_name="using")
    base, below, _, _ = split_key(function.key)
    member = next((symbol.code for symbol in notation.symbols.values() if below and symbol.key == below), None)
    if member is None and below and below in expression.names:
        member = below
    uses_argument = any(PLACEHOLDER.match(name) for name in expression.names)
    if not uses_argument and not expression.text.replace(".", "").isidentifier():
        raise expression.fault(f"the binding of {function.latex} does not use its argument; write _ where it goes")
    is_member = member is not None and member in expression.names
    return Bound(function.key, function.latex, base, member if is_member else None, expression, not uses_argument)


def plain_argument(value: Value, name: str) -> Any:
    """An argument as the code takes it."""
    if isinstance(value, Row):
        return value.array
    if isinstance(value, Ones | Identity):
        raise fault(f"{name} of a {shown(value)}; write its size")
    return value


def largest_step(values: Mapping[str, Any]) -> float:
    """The largest imaginary part among values, dicts included."""
    largest = 0.0
    for value in values.values():
        if isinstance(value, dict):
            largest = max(largest, largest_step(value))
        elif np.iscomplexobj(value):
            largest = max(largest, float(np.max(np.abs(np.imag(value)), initial=0.0)))
    return largest


def shift(value: Any, factor: float) -> Any:
    """A value moved along its imaginary part, real again."""
    if isinstance(value, dict):
        return {key: shift(item, factor) for key, item in value.items()}
    if not np.iscomplexobj(value):
        return value
    moved = np.real(value) + factor * np.imag(value)
    return float(moved) if np.ndim(moved) == 0 else moved
