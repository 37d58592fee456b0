"""Change names, indices, functions, operators and cases in one place, as a slip of the pen would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .changes import Change
from .nodes import (
    Add,
    Call,
    Cases,
    Compare,
    Family,
    Index,
    Join,
    Name,
    Norm,
    Number,
    Product,
    Reduce,
    free_names,
)

if TYPE_CHECKING:
    from .mutator import Mutator

SWAPPED_FUNCTIONS: Final = {
    "sin": "cos", "cos": "sin", "exp": "log", "log": "exp", "tanh": "sigmoid", "sigmoid": "tanh", "max": "min",
    "min": "max", "silu": "relu",
    "relu": "silu", "gelu": "silu", "softmax": "log_softmax", "argmax": "argmin", "argmin": "argmax", "ln": "exp",
    "mean": "sum", "var": "std",
    "sinh": "cosh", "cosh": "sinh", "erf": "tanh", r"\Phi": "sigmoid", "floor": "ceil", "ceil": "floor",
}  # fmt: skip
SWAPPED_OPERATORS: Final = {
    "sum": "prod",
    "prod": "sum",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "argmin": "argmax",
    "mean": "sum",
}
SWAPPED_RELATIONS: Final = {"<": r"\le", r"\le": "<", ">": r"\ge", r"\ge": ">", "=": r"\ne", r"\ne": "="}


def indexed(self: Mutator, node: Index) -> Iterator[Change]:
    """Another index, a neighbour, two indices swapped."""
    for place, part in enumerate(node.indices):
        before, after = node.indices[:place], node.indices[place + 1 :]
        for sign in ("+", "-"):
            yield Change("index-shift", replace(node, indices=(*before, Add((part, Number(1)), ("+", sign)), *after)))
        for key in self.running:
            if isinstance(part, Name) and key != part.key:
                yield Change("index", replace(node, indices=(*before, Name(key), *after)))
    if len(node.indices) > 1:
        yield Change("index-swap", replace(node, indices=(node.indices[1], node.indices[0], *node.indices[2:])))


def named(self: Mutator, node: Name) -> Iterator[Change]:
    """Another symbol of the same kind and shape."""
    for key in self.alike(node.key):
        yield Change("swap-name", replace(node, key=key))


def called(self: Mutator, node: Call) -> Iterator[Change]:
    """Another function, none, its arguments swapped."""
    if node.base in SWAPPED_FUNCTIONS:
        other = SWAPPED_FUNCTIONS[node.base]
        yield Change("function", replace(node, function=other, base=other))
    if (
        len(node.arguments) == 1
        and node.function not in ("identity", "ones", "factorial")
        and not isinstance(node.arguments[0], Family)
    ):
        yield Change("drop-function", node.arguments[0])
    if len(node.arguments) > 1 and node.function not in ("max", "min", "inner", "logaddexp"):
        first, second, *rest = node.arguments
        yield Change("swap-args", replace(node, arguments=(second, first, *rest)))
    if node.function in ("max", "min"):
        for argument in node.arguments:
            yield Change("drop-function", argument)


def reduced(self: Mutator, node: Reduce) -> Iterator[Change]:
    """Another operator, other ends, a body that ends earlier."""
    if node.operator in SWAPPED_OPERATORS:
        yield Change("reduction", replace(node, operator=SWAPPED_OPERATORS[node.operator], weights=None))
    for place, binding in enumerate(node.bindings):
        for side in ("low", "high"):
            end = getattr(binding, side)
            if end is not None:
                for sign in ("+", "-"):
                    shifted = Add((end, Number(1)), ("+", sign))
                    moved = replace(binding, low=shifted) if side == "low" else replace(binding, high=shifted)
                    yield Change(
                        "bound", replace(node, bindings=(*node.bindings[:place], moved, *node.bindings[place + 1 :]))
                    )
    if node.condition is not None:
        yield Change("condition", replace(node, condition=None))
    if isinstance(node.body, Add):
        yield Change("regroup", Add((replace(node, body=node.body.terms[0]), *node.body.terms[1:]), node.body.signs))
    if node.operator == "sum" and isinstance(node.body, Product) and len(node.body.factors) == 2:
        first, second = node.body.factors
        if not free_names(second) & {binding.key for binding in node.bindings}:
            return
        yield Change(
            "regroup",
            Product((replace(node, body=first), second))
            if free_names(first) & {b.key for b in node.bindings}
            else node,
        )


def compared(self: Mutator, node: Compare) -> Iterator[Change]:
    for place, sign in enumerate(node.relations):
        if sign in SWAPPED_RELATIONS:
            relations = (*node.relations[:place], SWAPPED_RELATIONS[sign], *node.relations[place + 1 :])
            yield Change("condition", replace(node, relations=relations))


def decided(self: Mutator, node: Cases) -> Iterator[Change]:
    """Two values swapped, a case dropped."""
    for place in range(len(node.rows) - 1):
        one, other = node.rows[place], node.rows[place + 1]
        rows = (
            *node.rows[:place],
            replace(one, value=other.value),
            replace(other, value=one.value),
            *node.rows[place + 2 :],
        )
        yield Change("cases", replace(node, rows=rows))
    yield Change("cases", node.rows[0].value)


def numbered(self: Mutator, node: Number) -> Iterator[Change]:
    """One more; for a decimal the last digit too."""
    yield Change("constant", replace(node, value=node.value + 1))
    if isinstance(node.value, float):
        digits = len(f"{node.value!r}".partition(".")[2])
        yield Change("constant", replace(node, value=node.value + 10.0**-digits))


def measured(self: Mutator, node: Norm) -> Iterator[Change]:
    yield Change("norm", replace(node, order="1" if node.order != "1" else "2"))


def joined(self: Mutator, node: Join) -> Iterator[Change]:
    if len(node.parts) > 1:
        yield Change("swap-args", replace(node, parts=(node.parts[1], node.parts[0], *node.parts[2:])))


def spread(self: Mutator, node: Family) -> Iterator[Change]:
    """Dots that begin later or end earlier."""
    yield Change("bound", replace(node, low=Add((node.low, Number(1)), ("+", "+"))))
    yield Change("bound", replace(node, high=Add((node.high, Number(1)), ("+", "-"))))
