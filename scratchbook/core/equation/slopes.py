"""Hold the code's gradients of one draw against the equation's derivative, and find the element that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .binding import CodeCall
from .draws import seed_of
from .errors import EquationError
from .gradient import (
    BY_DIFFERENCES,
    EXACT,
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
from .symbols import latex_of
from .verdict import Disagreement, Mismatch

if TYPE_CHECKING:
    from .comparing import Comparer, Side

MAX_ELEMENTS = 100


def check_slopes(comparer: Comparer, side: Side) -> None:
    """Compare every gradient that the code gives.  Raises Disagreement at the first that differs."""
    prepared = comparer.prepared
    keys = [key for target in prepared.targets for key in target.keys]
    if len(keys) != 1 or not prepared.definitions.defines(keys[0]):
        if prepared.request.grad.strip():
            raise EquationError(
                "gradients need one target that the equation gives as NAME = ...",
                source=prepared.request.grad,
                field="grad",
            )
        return
    value = side.values[keys[0]]
    upstream = seed_of(prepared.request.label + "/up", side.number).normal(0.2, 1.3, np.shape(value))
    upstream = float(upstream) if np.ndim(upstream) == 0 else upstream
    name, gradients = returned_gradients(comparer, side, upstream)
    for key, gradient in gradients.items():
        compare_one(comparer, side, keys[0], key, gradient, upstream, name)


def returned_gradients(comparer: Comparer, side: Side, upstream: Any) -> tuple[str, dict[str, Any]]:
    """The gradients that the author wrote, or those of the backward function found by its name."""
    prepared = comparer.prepared
    if prepared.request.grad.strip():
        environment = {**prepared.namespace, **side.environment, "up": upstream}
        return "the code", written_gradients(prepared.request, environment, prepared.macros)
    source = prepared.targets[0].source
    backward = find_backward(source, prepared.namespace) if isinstance(source, CodeCall) else None
    if backward is None or not isinstance(source, CodeCall):
        return "", {}
    returned = run_backward(backward, source, upstream, side.raw[0], side.environment)
    return backward.name, name_gradients(backward, source, returned, prepared.notation)


def compare_one(comparer: Comparer, side: Side, target: str, key: str, gradient: Any, upstream: Any, name: str) -> None:
    """Compare the gradient of one input along a random direction."""
    is_row = bool(side.rows) and key in comparer.row_keys
    if key not in side.cases[0]:
        raise EquationError(
            f"{latex_of(key)} is no input of this equation", source=comparer.prepared.request.grad, field="grad"
        )
    values = np.stack([case[key] for case in side.cases]) if is_row else side.cases[0][key]
    wrong = shape_fault(key, gradient, values)
    if wrong:
        disagree(comparer, side, key, wrong, "", "", float("inf"))
    along = direction(seed_of(f"{comparer.prepared.request.label}/{key}", side.number), values)
    by_equation = slope_along(comparer, side, target, key, along, upstream, is_row=is_row)
    products = np.asarray(gradient) * along
    slope = Slope(by_equation, float(np.sum(products)), float(np.sum(np.abs(products))) + abs(by_equation))
    allowed = BY_DIFFERENCES if comparer.prepared.functions.called else EXACT
    if not slope.difference <= allowed or not np.isfinite(slope.code):
        element, one, other = worst_element(comparer, side, target, key, gradient, upstream, is_row=is_row)
        fact = f"the gradient of {latex_of(key)} by {name} differs from the equation's"
        reason = f"{fact} by {slope.difference:.2g} of its size (allowed {allowed:g})"
        disagree(comparer, side, key, reason, one, other, slope.difference, element)
    shown = comparer.prepared.notation.symbols[key].latex
    if shown not in comparer.tally.gradients:
        comparer.tally.gradients.append(shown)
    comparer.tally.compared += 1


def slope_along(
    comparer: Comparer, side: Side, target: str, key: str, along: Any, upstream: Any, *, is_row: bool
) -> float:
    """The equation's derivative along a direction, weighted by what arrives, over all rows."""
    total = 0.0
    for case, values in enumerate(side.cases):
        step = along[case] if is_row else along
        moved: Mapping[str, Any] = values | {key: stepped(values[key], step)}
        evaluator = comparer.evaluator(moved, side.spans, side.of_case(case))
        total += weighted(upstream[case] if side.rows else upstream, comparer.target_value(evaluator, target))
    return total


def worst_element(
    comparer: Comparer, side: Side, target: str, key: str, gradient: Any, upstream: Any, *, is_row: bool
) -> tuple[dict[str, int], str, str]:
    """The element of a gradient that differs most: its place, the code's value, the equation's."""
    shape = np.shape(gradient)
    best: tuple[float, tuple[int, ...], float, float] = (-1.0, (), float("nan"), float("nan"))
    for place in list(np.ndindex(shape))[:MAX_ELEMENTS]:
        along = np.zeros(shape)
        along[place] = 1.0
        one = float(np.asarray(gradient)[place])
        other = slope_along(comparer, side, target, key, along, upstream, is_row=is_row)
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
    from .comparing import shown_values

    values = shown_values(side.cases[0], comparer.prepared.notation)
    raise Disagreement(
        Mismatch(side.number, f"gradient of {latex_of(key)}", indices or {}, one, other, difference, values), reason
    )
