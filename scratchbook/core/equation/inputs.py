"""The numbers that an author gives to an equation: lines such as x = [1.0, 2.0] to values that fit its symbols."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .equation import Equation
from .errors import EquationError

Reader = Callable[[str], Any]


class Inputs(dict[str, Any]):
    """Numbers by their names in the code.  text: as the author wrote them, a line each."""

    def __init__(self, numbers: Mapping[str, Any], text: str = "") -> None:
        super().__init__(numbers)
        self.text = text

    def fault(self, name: str, said: str) -> EquationError:
        """A mistake in the line of one name."""
        offset = 0
        for line in self.text.split("\n"):
            if line.partition("=")[0].strip() == name:
                return line_fault(said, line, offset, self.text)
            offset += len(line) + 1
        return EquationError(said, field="where")


def line_fault(said: str, part: str, offset: int, text: str) -> EquationError:
    """A mistake in a part of the text."""
    return EquationError(said, offset=offset, end=offset + len(part), source=text, field="where")


def read_inputs(text: str, read: Reader | None = None) -> Inputs:
    """Read lines such as x = [1.0, 2.0]; `read` evaluates a right side that is no literal.

    Raises EquationError for a line that cannot be read.
    """
    found: dict[str, Any] = {}
    offset = 0
    for line in text.split("\n"):
        name, sign, right = (part.strip() for part in line.partition("="))
        if line.strip():
            if not sign or not name.isidentifier():
                raise line_fault(f"'{line.strip()}' is no value; write x = [1.0, 2.0]", line, offset, text)
            start = offset + line.index("=") + 1 + line.partition("=")[2].find(right)
            found[name] = read_value(right, start, text, read)
        offset += len(line) + 1
    return Inputs(found, text)


def read_value(right: str, start: int, text: str, read: Reader | None) -> Any:
    """Read one right side, which stands at `start` of the text.  Raises EquationError, there."""
    try:
        return ast.literal_eval(right)
    except (ValueError, SyntaxError):
        if read is None:
            raise line_fault(f"'{right}' is not a number or a list", right, start, text) from None
    try:
        return read(right)
    except EquationError as error:
        raise replace(error, offset=start, end=start + len(right), source=text) from error.__cause__


def inputs_of(equation: Equation, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by key, with the sizes that arrays have.

    Raises EquationError for a name that is no symbol, and a shape that does not fit its kind.
    """
    codes = equation.notation.by_code()
    found: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    given = values if isinstance(values, Inputs) else Inputs(values)
    for name, value in given.items():
        if name not in codes:
            raise given.fault(name, f"{name} is no symbol of the notation; it has {', '.join(sorted(codes))}")
        symbol = codes[name]
        array = np.asarray(value)
        if array.ndim != len(symbol.kind.shape):
            raise given.fault(name, f"{symbol.latex} is a {symbol.kind}, but its value has {array.ndim} axes")
        found[symbol.key] = (
            whole(array) if array.ndim == 0 else array if symbol.kind.name == "ints" else array.astype(float)
        )
        for text, size in zip(symbol.kind.shape, array.shape, strict=True):
            if text.isidentifier() and sizes.setdefault(text, size) != size:
                raise given.fault(name, f"{symbol.latex} gives {text} = {size}, another symbol {sizes[text]}")
    for text, size in sizes.items():
        if text in codes:
            found.setdefault(codes[text].key, size)
    return found


def whole(array: Any) -> int | float:
    """A number; a whole one stays whole."""
    return int(array) if array.dtype.kind in "iu" else float(array)
