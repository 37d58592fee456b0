"""Refuse a number or a sign around the call in ':check:': it would stand in neither the equation nor the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from .options import Expression
from .origins import called_functions


def check_factors(expression: Expression, namespace: Mapping[str, Any]) -> None:
    """Raise EquationError for 2 * f(x), f(x) + 1 and -f(x) of a project's f; 1 / f(x) only turns a quotient round."""
    if not called_functions(expression, namespace):
        return
    part = next(trusted(ast.parse(expression.text, mode="eval").body), "")
    if part:
        fact = f"the check trusts {part}, which stands in neither the equation nor the code"
        raise expression.fault(f"{fact}; write it into one of them")


def trusted(node: ast.expr) -> Iterator[str]:
    """Yield the numbers and signs of an expression that no call and no index takes."""
    if isinstance(node, ast.BinOp):
        turns = isinstance(node.op, ast.Div) and isinstance(node.left, ast.Constant) and node.left.value == 1
        for side in (node.right,) if turns else (node.left, node.right):
            yield from (f"the number {side.value!r}",) if isinstance(side, ast.Constant) else trusted(side)
    elif isinstance(node, ast.UnaryOp):
        yield f"the sign of {ast.unparse(node)}"
    elif isinstance(node, ast.Attribute | ast.Subscript):
        yield from trusted(node.value)
