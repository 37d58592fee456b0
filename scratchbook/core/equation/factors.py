"""Refuse what ':check:' adds to the call of a project's function: it would stand in neither the equation nor the
code."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import numpy as np

from .notation import Notation
from .options import Expression
from .origins import called_functions, named_function

# Functions and methods that compute with a number that they are given, rather than pick an axis by it.
ARITHMETIC: Final = frozenset(
    ["add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "power", "float_power", "mod", "fmod",
     "remainder", "maximum", "minimum", "fmax", "fmin", "clip", "round", "around", "dot", "matmul", "where", "negative"]
)  # fmt: skip


def check_factors(
    expression: Expression, namespace: Mapping[str, Any], notation: Notation, used: Collection[str]
) -> None:
    """Raise EquationError for 2 * f(x), f(x) + 1, f(x) + f(x) and -f(x) of a project's f; 1 / f(x) only turns round.

    used: keys that the equation mentions.
    """
    if not called_functions(expression, namespace):
        return
    part = next(Factors(namespace, notation, used).within(ast.parse(expression.text, mode="eval").body), "")
    if part:
        fact = f"the check trusts {part}, which stands in neither the equation nor the code"
        raise expression.fault(f"{fact}; write it into one of them")


class Factors:
    """What an expression has besides the project's calls, their indices and the equation's symbols."""

    def __init__(self, namespace: Mapping[str, Any], notation: Notation, used: Collection[str]) -> None:
        self.namespace = namespace
        self.codes = notation.by_code()
        self.used = used

    def within(self, node: ast.expr) -> Iterator[str]:
        """Yield the numbers, signs and names that are trusted."""
        if isinstance(node, ast.BinOp):
            yield from self.twice(node)
            turns = isinstance(node.op, ast.Div) and isinstance(node.left, ast.Constant) and node.left.value == 1
            for side in (node.right,) if turns else (node.left, node.right):
                yield from self.operand(side)
        elif isinstance(node, ast.UnaryOp):
            yield f"the sign of {ast.unparse(node)}"
        elif isinstance(node, ast.Attribute | ast.Subscript):
            yield from self.within(node.value)
        elif isinstance(node, ast.List | ast.Tuple):
            yield from self.repeated(node.elts)
            for part in node.elts:
                yield from self.within(part)
        elif isinstance(node, ast.Call) and named_function(ast.unparse(node.func), self.namespace) is None:
            yield from self.around(node)

    def around(self, call: ast.Call) -> Iterator[str]:
        """Yield what a function of NumPy or a method adds to the project's call that it is given."""
        if isinstance(call.func, ast.Attribute):
            yield from self.within(call.func.value)
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
        for part in [*call.args, *(keyword.value for keyword in call.keywords)]:
            yield from self.operand(part) if name in ARITHMETIC else self.within(part)
        if name == "negative":
            yield f"the sign of {ast.unparse(call)}"

    def operand(self, node: ast.expr) -> Iterator[str]:
        """Yield a number or a name that a project's call is computed with."""
        if isinstance(node, ast.Constant):
            yield f"the number {node.value!r}"
        elif isinstance(node, ast.Name):
            symbol, value = self.codes.get(node.id), self.namespace.get(node.id)
            if symbol.key not in self.used if symbol else isinstance(value, int | float | np.number | np.ndarray):
                yield node.id
        else:
            yield from self.within(node)

    def twice(self, node: ast.BinOp) -> Iterator[str]:
        """Yield f(x) of f(x) + f(x), which is its double."""
        if isinstance(node.op, ast.Add | ast.Sub):
            yield from self.repeated(terms(node))

    def repeated(self, parts: list[ast.expr]) -> Iterator[str]:
        """Yield what stands among some parts more than once."""
        texts = [ast.unparse(part) for part in parts]
        yield from (f"{text} a second time" for text in texts if texts.count(text) > 1)


def terms(node: ast.expr) -> list[ast.expr]:
    """The parts of a sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return [*terms(node.left), *terms(node.right)]
    return [node]
