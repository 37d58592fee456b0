"""Hold the code's gradients of one draw against the equation's derivative, and find the element that is wrong.

A gradient counts only where it is larger than rounding.  Matrices as large as the draws make them drive a softmax to
where nothing moves it, so they are made smaller until every gradient counts.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .codecalls import CodeCall, own, plain_call
from .comparison import shown_values
from .draws import seed_of
from .errors import EquationError
from .gradient import (
    BY_DIFFERENCES,
    EXACT,
    Backward,
    Slope,
    direction,
    find_backward,
    name_gradients,
    run_backward,
    shape_fault,
    stepped,
    weighted,
    written_gradients,
)
from .options import Expression
from .origins import named_function
from .prepared import Prepared
from .sides import Side, Sides
from .symbols import latex_of
from .verdict import Disagreement, Mismatch

if TYPE_CHECKING:
    from .comparing import Comparer

GRADIENT_DRAWS: Final = 3
MAX_ELEMENTS: Final = 100
# Of the drawn matrices; the first at which every gradient counts.
SCALES: Final = (1.0, 0.5, 0.25, 0.125, 0.0625)
# What a gradient must have of the largest one: below, rounding in the others' digits would be read as its own.
COUNTS: Final = 1e-6


def settle(prepared: Prepared, *, is_small: bool = False) -> Sides:
    """The code's sides at the first scale at which every gradient counts at every draw, else at the best one.

    is_small: of small sizes.   Raises EquationError for whatever the code raises.
    """
    tried: list[tuple[float, int, Sides]] = []
    for scale in SCALES:
        sides = Sides(prepared, scale, is_small=is_small)
        counts = [weakest(prepared, side) for number in gradient_draws(prepared) for side in sides.of(number)]
        smallest = min(counts, default=1.0)
        if smallest >= COUNTS:
            return sides
        tried.append((max(counts), -len(tried), sides))
    return max(tried, key=lambda item: item[:2])[2]


def gradient_draws(prepared: Prepared) -> range:
    """The draws whose gradients are compared."""
    return range(gradient_count(prepared)) if target_of(prepared) else range(0)


def gradient_count(prepared: Prepared) -> int:
    """How many draws have their gradients compared: all where there are branches, each with a slope of its own."""
    return prepared.draws if prepared.has_branches else min(GRADIENT_DRAWS, prepared.draws)


def weakest(prepared: Prepared, side: Side) -> float:
    """The smallest of the code's gradients in units of the largest; 1 where there is none."""
    _, gradients = returned_gradients(prepared, side)
    sizes = [float(np.sum(np.abs(gradient))) for gradient in gradients.values()]
    return min(sizes) / max(sizes) if sizes and max(sizes) > 0 else float(not sizes)


def target_of(prepared: Prepared) -> str:
    """The one name whose gradient can be compared; "" when there is none."""
    keys = [key for target in prepared.targets for key in target.keys]
    return keys[0] if len(keys) == 1 and prepared.definitions.defines(keys[0]) else ""


def check_slopes(comparer: Comparer, side: Side) -> None:
    """Compare every gradient that the code gives.  Raises Disagreement at the first that differs."""
    prepared = comparer.prepared
    target = target_of(prepared)
    if not target:
        if prepared.request.grad.strip():
            text = "gradients need one target that the equation gives as NAME = ..."
            raise grad_fault(prepared, text)
        return
    name, gradients = returned_gradients(prepared, side)
    largest = max((float(np.sum(np.abs(gradient))) for gradient in gradients.values()), default=0.0)
    for key, gradient in gradients.items():
        compare_one(comparer, side, key, gradient, name, COUNTS * largest)


def grad_fault(prepared: Prepared, text: str, name: str = "") -> EquationError:
    """A mistake in ':grad:', at a name in it."""
    grad = prepared.request.grad
    offset = max(0, grad.find(name))
    end = offset + len(name) if name in grad and name else len(grad)
    return EquationError(text, offset=offset, end=end, source=grad, field="grad")


def upstream_of(prepared: Prepared, side: Side) -> Any:
    """What arrives at the result of a draw: random numbers of its shape."""
    value = side.values[target_of(prepared)]
    upstream = seed_of(prepared.request.label + "/up", side.number).normal(0.2, 1.3, np.shape(value))
    return float(upstream) if np.ndim(upstream) == 0 else upstream


def returned_gradients(prepared: Prepared, side: Side) -> tuple[str, dict[str, Any]]:
    """The gradients that the author wrote, or those of the backward function found by its name.

    They are kept with the side: every mutant of the equation meets the same ones.
    """
    if side.gradients is None:
        side.gradients = run_gradients(prepared, side)
    return side.gradients


def run_gradients(prepared: Prepared, side: Side) -> tuple[str, dict[str, Any]]:
    """Run the code of the gradients."""
    upstream = upstream_of(prepared, side)
    if prepared.request.grad.strip():
        environment = {**prepared.namespace, **own({**side.environment, "up": upstream})}
        return as_gradients("the code", written_gradients(prepared.request, environment, prepared.macros))
    source = prepared.targets[0].source
    call = call_of(source, prepared)
    backward = find_backward(call, prepared.namespace) if call is not None else None
    if backward is None or call is None or (call is not source and not is_fed(backward, call, side.environment)):
        return "", {}
    with prepared.targets[0].blamed():
        returned = run_backward(backward, call, own(upstream), side.raw[0], own(side.environment))
        try:
            return as_gradients(backward.name, name_gradients(backward, call, returned, prepared.notation))
        except EquationError:
            if call is source:
                raise
            return "", {}  # of another form, as one that has gradients of numbers too


def call_of(source: Expression | CodeCall, prepared: Prepared) -> CodeCall | None:
    """The call of one function that a target is; None where it is a computation, which has no backward."""
    if isinstance(source, CodeCall):
        return source
    function = named_function(source.calls[0], prepared.namespace) if len(source.calls) == 1 else None
    return plain_call(source.text, function, prepared.notation)


def is_fed(backward: Backward, call: CodeCall, environment: Mapping[str, Any]) -> bool:
    """Has a backward all that it takes, behind what arrives?  One of another form is not meant for a written call."""
    parameters = list(inspect.signature(backward.function).parameters.values())[1:]
    known = {*call.arguments, *environment, "trace"}
    return all(parameter.name in known or parameter.default is not parameter.empty for parameter in parameters)


def as_gradients(name: str, gradients: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The gradients as arrays, with who gave them.  Raises EquationError for what is no number."""
    found = {}
    for key, gradient in gradients.items():
        try:
            # NumPy would make a NaN of None.
            found[key] = np.asarray("none" if gradient is None else gradient, dtype=float)
        except (TypeError, ValueError):
            text = f"{name} returns a {type(gradient).__name__} as the gradient of {latex_of(key)}; return an array"
            raise EquationError(text, field="check") from None
    return name, found


def compare_one(comparer: Comparer, side: Side, key: str, gradient: Any, name: str, least: float) -> None:
    """Compare the gradient of one input along a random direction.

    least: what it must be larger than to count; below, a difference is measured by that instead.
    """
    evidence, prepared = comparer.evidence, comparer.prepared
    is_row = bool(side.rows) and key in comparer.sides.row_keys
    if key not in side.cases[0]:
        raise grad_fault(prepared, f"{latex_of(key)} is no input of this equation", latex_of(key))
    values = np.stack([case[key] for case in side.cases]) if is_row else side.cases[0][key]
    wrong = shape_fault(key, gradient, values)
    if wrong:
        disagree(comparer, side, key, wrong, "", "", float("inf"))
    along = direction(seed_of(f"{prepared.request.label}/{key}", side.number), values)
    by_equation = slope_along(comparer, side, key, along, is_row=is_row)
    products = np.asarray(gradient) * along
    size = float(np.sum(np.abs(products))) + abs(by_equation)
    slope = Slope(by_equation, float(np.sum(products)), max(size, least))
    allowed = BY_DIFFERENCES if prepared.functions.called else EXACT
    if not slope.difference <= allowed or not np.isfinite(slope.code):
        element, one, other = worst_element(comparer, side, key, gradient, is_row=is_row)
        fact = f"the gradient of {latex_of(key)} by {name} differs from the equation's"
        reason = f"{fact} by {slope.difference:.2g} of its size (allowed {allowed:g})"
        disagree(comparer, side, key, reason, one, other, slope.difference, element)
    counts = size > max(least, 1e-12)
    evidence.slopes[key] = evidence.slopes.get(key, False) or counts
    shown = prepared.notation.symbols[key].latex
    if counts and shown not in evidence.tally.gradients:
        evidence.tally.gradients.append(shown)
    evidence.tally.compared += counts


def slope_along(comparer: Comparer, side: Side, key: str, along: Any, *, is_row: bool) -> float:
    """The equation's derivative along a direction, weighted by what arrives, over all rows."""
    target, upstream, total = target_of(comparer.prepared), upstream_of(comparer.prepared, side), 0.0
    for case, values in enumerate(side.cases):
        step = along[case] if is_row else along
        moved: Mapping[str, Any] = values | {key: stepped(values[key], step)}
        evaluator = comparer.evaluator(moved, side.spans, side.of_case(case))
        total += weighted(upstream[case] if side.rows else upstream, comparer.target_value(evaluator, target))
    return total


def worst_element(
    comparer: Comparer, side: Side, key: str, gradient: Any, *, is_row: bool
) -> tuple[dict[str, int], str, str]:
    """The element of a gradient that differs most: its place, the code's value, the equation's."""
    shape = np.shape(gradient)
    best: tuple[float, tuple[int, ...], float, float] = (-1.0, (), float("nan"), float("nan"))
    for place in list(np.ndindex(shape))[:MAX_ELEMENTS]:
        along = np.zeros(shape)
        along[place] = 1.0
        one = float(np.asarray(gradient)[place])
        other = slope_along(comparer, side, key, along, is_row=is_row)
        if abs(one - other) > best[0]:
            best = (abs(one - other), place, one, other)
    names = {f"element {axis + 1}": number + comparer.prepared.base for axis, number in enumerate(best[1])}
    return names, f"{best[2]:.6g}", f"{best[3]:.6g}"


def disagree(
    comparer: Comparer,
    side: Side,
    key: str,
    reason: str,
    one: str,
    other: str,
    difference: float,
    indices: dict[str, int] | None = None,
) -> None:
    """Stop with the gradient that differs."""
    prepared = comparer.prepared
    values = shown_values(side.cases[0], prepared.notation)
    body = prepared.definitions.clauses[target_of(prepared)][0].body
    of = f"gradient of {latex_of(key)}"
    raise Disagreement(
        Mismatch(side.number, of, indices or {}, one, other, difference, values, body.start, body.end), reason
    )
