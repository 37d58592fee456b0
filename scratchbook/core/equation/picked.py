"""Refuse to compare one element of what code gives where the left side is one element too: nobody sees the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from .codecalls import result_of
from .options import Expression, read_expression
from .targets import Target

ELEMENT: Final = re.compile(r"_\{[0-9]+\}$")


def check_picked(targets: Iterable[Target], environment: Mapping[str, Any], namespace: Mapping[str, Any]) -> None:
    """Raise EquationError for y_1 == f(x)[0] of a function that gives more elements than are compared."""
    picked: dict[str, list[Target]] = {}
    for target in targets:
        whole = whole_of(target.source.text) if isinstance(target.source, Expression) else ""
        if whole and len(target.keys) == 1 and ELEMENT.search(target.keys[0]):
            picked.setdefault(whole, []).append(target)
    for whole, found in picked.items():
        value = result_of(read_expression(whole).value({**namespace, **environment}))
        if isinstance(value, np.ndarray) and len(value) > len(found):
            fact = f"{whole} gives {len(value)} elements, and {len(found)} of them is compared here"
            raise found[0].fault(f"{fact}; give every element, as in y_i = ..., and compare {whole}")


def whole_of(text: str) -> str:
    """The call of f(x)[0]; "" where no number picks an element of a call."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Call):
        return ""
    number = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
    return ast.unparse(node.value) if isinstance(number, ast.Constant) else ""
