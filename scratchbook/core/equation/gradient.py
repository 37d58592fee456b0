"""Compare a backward function with the equation's own derivative, found by a complex step through it.

One random direction an input: the sum of all elements of a gradient, each with its own weight, so that no error hides;
only after a difference is the wrong element looked for.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .codecalls import CodeCall, root_of
from .errors import EquationError
from .notation import Notation, Symbol
from .options import Request, lines_of, read_expression, split_line
from .symbols import latex_of, read_symbol
from .tokens import Macros

STEP: Final = 1e-30
EXACT: Final = 1e-8
BY_DIFFERENCES: Final = 1e-6
NOT_DIFFERENTIABLE: Final = frozenset(["ints", "onehot", "binary", "set", "sign", "mask", "int", "dim", "index"])


@dataclass(frozen=True)
class Backward:
    """A backward function that was found by its name.  name: as messages show it."""

    function: Callable[..., Any]
    name: str


def find_backward(call: CodeCall, namespace: Mapping[str, Any]) -> Backward | None:
    """NAME_backward on the page, or beside the function in its module."""
    name = f"{call.code.name.rpartition('.')[2]}_backward"
    function = namespace.get(name)
    if function is None:
        function = getattr(sys.modules.get(call.code.module), name, None) or getattr(
            call.function, "__globals__", {}
        ).get(name)
    return Backward(function, name) if callable(function) else None


def run_backward(backward: Backward, call: CodeCall, upstream: Any, raw: Any, environment: Mapping[str, Any]) -> Any:
    """Call a backward: what arrives first, then the forward's arguments and its `trace` by name."""
    arguments: dict[str, Any] = {}
    parameters = list(inspect.signature(backward.function).parameters.values())
    for number, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if number == 0:
            arguments[parameter.name] = upstream
        elif parameter.name == "trace":
            arguments[parameter.name] = raw
        elif parameter.name in call.arguments:
            arguments[parameter.name] = environment[call.arguments[parameter.name]]
        elif parameter.name in environment:
            arguments[parameter.name] = environment[parameter.name]
        elif parameter.default is parameter.empty:
            fact = f"{backward.name} takes '{parameter.name}'"
            choice = f"it is neither an argument of {call.code.name} nor 'trace'; write ':grad: x = ...'"
            raise EquationError(f"{fact}, and {choice}", field="check")
    try:
        return backward.function(**arguments)
    except Exception as error:  # the code under test may raise anything; the author must see what
        raise EquationError(f"{backward.name} raised {type(error).__name__}: {error}", field="check") from error


def name_gradients(backward: Backward, call: CodeCall, returned: Any, notation: Notation) -> dict[str, Any]:
    """Give every gradient that a backward returned to its symbol.

    Raises EquationError when there are more or fewer than array arguments.
    """
    codes = notation.by_code()
    inputs = [name for name, code in call.arguments.items() if is_differentiable(code, call, name, codes)]
    if isinstance(returned, dict) and len(inputs) > 1:
        return flat_gradients({**returned}, call, inputs, codes, backward)
    parts = returned if isinstance(returned, tuple | list) else (returned,)
    if len(parts) != len(inputs):
        wanted = ", ".join(inputs) or "no array"
        raise EquationError(
            f"{backward.name} returns {len(parts)} gradients, but {call.code.name} takes {wanted}; write ':grad: x = "
            f"...'",
            field="check",
        )
    found: dict[str, Any] = {}
    for name, part in zip(inputs, parts, strict=True):
        if name in call.rooted:
            found |= rooted_gradients(part, call.rooted[name], codes, backward, name)
        else:
            found[codes[call.arguments[name]].key] = part
    return found


def flat_gradients(
    returned: dict[str, Any], call: CodeCall, inputs: list[str], codes: Mapping[str, Symbol], backward: Backward
) -> dict[str, Any]:
    """Gradients in one dict, keyed by argument names and by the keys of a dict of weights.

    Raises EquationError for one that is missing.
    """
    found: dict[str, Any] = {}
    for name in inputs:
        if name in call.rooted:
            found |= rooted_gradients(returned.get(name, returned), call.rooted[name], codes, backward, name)
        elif name in returned:
            found[codes[call.arguments[name]].key] = returned[name]
        else:
            fact = f"{backward.name} returns no gradient of {name}, but of {', '.join(map(str, returned)) or 'nothing'}"
            raise EquationError(f"{fact}; return it, or write ':grad: x = ...' for those there are", field="check")
    return found


def rooted_gradients(
    part: Any, paths: Sequence[str], codes: Mapping[str, Symbol], backward: Backward, name: str
) -> dict[str, Any]:
    """The gradients of a dict of weights, by the paths of its symbols."""
    found = {}
    for path in paths:
        if codes[path].kind.name in NOT_DIFFERENTIABLE:
            continue
        try:
            found[codes[path].key] = eval(compile(path, "<path>", "eval"), {"__builtins__": {}}, {root_of(path): part})
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise EquationError(
                f"{backward.name} returns no gradient of {path} ({type(error).__name__}: {error}) within its '{name}'",
                field="check",
            ) from None
    return found


def is_differentiable(code: str, call: CodeCall, name: str, codes: Mapping[str, Symbol]) -> bool:
    """Is an argument an array of numbers, or a dict of them?"""
    if name in call.rooted:
        return True
    symbol = codes.get(code)
    return symbol is not None and bool(symbol.kind.shape) and symbol.kind.name not in NOT_DIFFERENTIABLE


def written_gradients(request: Request, environment: Mapping[str, Any], macros: Macros | None) -> dict[str, Any]:
    """The gradients of ':grad:', evaluated; `up` is what arrives.

    Raises EquationError for a line that is not NAME = PYTHON.
    """
    found: dict[str, Any] = {}
    for offset, line in lines_of(request.grad):
        left, right, start = split_line(line, "=")
        if not left:
            raise EquationError(
                f"'{line.strip()}' is no gradient; write 'x = rmsnorm_backward(up, x)'",
                offset=offset,
                source=request.grad,
                field="grad",
            )
        value = read_expression(right, request.grad, "grad", offset + start).value(environment)
        keys = [read_symbol(name.strip(), macros) for name in left.split(",")]
        parts = [value] if len(keys) == 1 else list(value)
        if len(parts) != len(keys):
            raise EquationError(
                f"{right.strip()} gives {len(parts)} gradients for {len(keys)} names",
                offset=offset,
                source=request.grad,
                field="grad",
            )
        found |= dict(zip(keys, parts, strict=True))
    return found


@dataclass(frozen=True)
class Slope:
    """How an input's gradient compares along a random direction."""

    equation: float
    code: float
    size: float

    @property
    def difference(self) -> float:
        """The relative difference, by the sum of the magnitudes."""
        return abs(self.equation - self.code) / max(self.size, 1e-12)


def direction(generator: np.random.Generator, value: Any) -> Any:
    """A random direction of a value's shape."""
    return generator.uniform(0.5, 1.5, np.shape(value)) * generator.choice([-1.0, 1.0], np.shape(value))


def stepped(value: Any, along: Any) -> Any:
    """A value with a complex step along a direction."""
    moved = value + 1j * STEP * along
    return complex(moved) if np.ndim(moved) == 0 else moved


def weighted(upstream: Any, value: Any) -> float:
    """The sum of a value's slope, each element weighted by what arrives there."""
    return float(np.sum(np.asarray(upstream) * np.imag(np.asarray(value)))) / STEP


def shape_fault(key: str, gradient: Any, value: Any) -> str:
    """What to say when a gradient has another shape than its input; empty when not."""
    if np.shape(gradient) == np.shape(value):
        return ""
    return f"the gradient of {latex_of(key)} has shape {np.shape(gradient)}, the input {np.shape(value)}"
