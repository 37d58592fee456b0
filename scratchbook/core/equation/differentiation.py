r"""Differentiate a definition or a function by a complex step: exact, without a step size to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .algebra import Value, shown
from .errors import fault
from .nodes import Call, Derivative, Name

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator

STEP: Final = 1e-30


def derived(self: Evaluator, node: Derivative, bound: Bound) -> Value:
    r"""f'(x), and \frac{\partial}{\partial x} of an expression."""
    at = self.value(node.by, bound)
    of = node.of if isinstance(node.of, Call) and node.of.arguments == (node.by,) else None
    if of is not None and isinstance(at, np.ndarray) and not np.iscomplexobj(at):
        inner = Call(of.function, (Name("†"),), of.base, of.indices)
        slopes = [np.imag(self.value(inner, bound | {"†": stepped})) / STEP for stepped in steps(at)]
        if any(np.ndim(slope) for slope in slopes):
            raise fault("the gradient of what is no number; write the derivative of an element", node)
        return np.asarray(slopes).reshape(np.shape(at))
    if np.ndim(at) or np.iscomplexobj(at):
        raise fault(f"a derivative by a {shown(at)}; derive by a number, or declare the derivative as a name", node)
    stepped = complex(at, STEP)
    if isinstance(node.of, Call) and node.of.arguments == (node.by,) and not isinstance(node.by, Name):
        inner = Call(node.of.function, (Name("†"),), node.of.base, node.of.indices)
        return np.imag(self.value(inner, bound | {"†": stepped})) / STEP
    if not isinstance(node.by, Name):
        raise fault("derive by a name", node.by)
    outer = {key: value for key, value in bound.items() if key != node.by.key}
    return np.imag(self.with_inputs({node.by.key: stepped}).value(node.of, outer)) / STEP


def named_derivative(self: Evaluator, node: Name) -> Value:
    r"""\frac{\partial L}{\partial z} of a defined L: an array over the elements of L, then of z."""
    of, by = parts_of(node.key)
    if not (self.definitions.defines(of) and (by in self.inputs or self.definitions.defines(by))):
        raise fault(
            f"the derivative of {of} by {by} is neither bound to code nor can it be derived; define {of} here", node
        )
    at = self.value(Name(by), {})
    if np.iscomplexobj(at):
        raise fault("a derivative within a gradient; declare it as a name", node)
    if self.definitions.clauses[of][0].definition.parameters is not None:
        target = Call(of, (Name(by),), of)
        slopes = [np.imag(self.with_inputs({by: stepped}).value(target, {})) / STEP for stepped in steps(at)]
    else:
        slopes = [np.imag(self.with_inputs({by: stepped}).value(Name(of), {})) / STEP for stepped in steps(at)]
    stacked = np.moveaxis(np.asarray(slopes), 0, -1)
    result = stacked.reshape(np.shape(slopes[0]) + np.shape(at))
    return result if result.ndim else np.float64(result)


def gradient_at(self: Evaluator, of: str, at: Value) -> Value:
    r"""The gradient of a defined f of one argument at a value; None where f is no number."""
    call = Call(of, (Name("†"),), of)
    slopes = [np.imag(self.value(call, {"†": stepped})) / STEP for stepped in steps(at)]
    if any(np.ndim(slope) for slope in slopes):
        return None
    return np.asarray(slopes).reshape(np.shape(at)) if np.ndim(at) else np.float64(slopes[0])


def parts_of(key: str) -> tuple[str, str]:
    """The two names of a derivative's key."""
    upper, _, lower = key.removeprefix(r"\frac{\partial ").partition(r"}{\partial ")
    return upper, lower.removesuffix("}")


def steps(at: Value) -> list[Value]:
    """The value with a step at one element after another."""
    if np.ndim(at) == 0:
        return [complex(at, STEP)]
    found = []
    for place in np.ndindex(np.shape(at)):
        stepped = np.array(at, dtype=complex)
        stepped[place] += 1j * STEP
        found.append(stepped)
    return found
