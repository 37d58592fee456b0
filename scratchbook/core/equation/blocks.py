r"""Compute a matrix from its cells: numbers, or blocks, where I and 0 have the size that their neighbours leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import algebra, primitives
from .algebra import Identity, Row, Value, Zero
from .errors import EquationError, fault
from .nodes import Matrix

if TYPE_CHECKING:
    from .evaluator import Bound, Evaluator


def matrix(self: Evaluator, node: Matrix, bound: Bound) -> Value:
    """A matrix; one column is a vector, one row a transposed vector; blocks are joined."""
    rows = [[self.value(cell, bound) for cell in row] for row in node.rows]
    if node.is_determinant:
        return primitives.apply("det", [np.asarray(rows)], [])
    if all(algebra.is_number(cell) for row in rows for cell in row):
        array = np.asarray(rows)
        if array.shape[1] == 1:
            return array[:, 0]
        return Row(array[0]) if array.shape[0] == 1 else array
    if any(is_bordered(row) for row in rows):
        rows = [[as_block(cell) for cell in row] for row in rows]
    if all(is_open(cell) or algebra.is_matrix(cell) for row in rows for cell in row):
        rows = filled(rows, node)
    return primitives.one_above_other([primitives.side_by_side(row) if len(row) > 1 else row[0] for row in rows])


def is_bordered(row: list[Value]) -> bool:
    """Does a vector stand beside a matrix in one row, which it can do as a column alone?"""
    return any(algebra.is_matrix(cell) for cell in row) and any(is_column(cell) for cell in row)


def is_column(cell: Value) -> bool:
    """Is it a vector that is not transposed?"""
    return isinstance(cell, np.ndarray) and cell.ndim == 1


def as_block(cell: Value) -> Value:
    """A vector as a matrix of one column, a transposed one of one row, a number of one element; 0 stays open."""
    if isinstance(cell, Row):
        return cell.array[None, :]
    if is_column(cell):
        return cell[:, None]
    return np.array([[cell]]) if algebra.is_number(cell) and not is_open(cell) else cell


def is_open(cell: Value) -> bool:
    """Is it I or 0, which take their size from what stands beside them?"""
    return isinstance(cell, Identity | Zero) or (isinstance(cell, int) and cell == 0)


def filled(rows: list[list[Value]], node: Matrix) -> list[list[Value]]:
    """The cells with every I and 0 as large as its place.  Raises EquationError where that is not known."""
    heights, widths = sizes_of(rows)
    if len(heights) < len(rows) or len(widths) < len(rows[0]):
        raise fault("the size of I or 0 in this matrix is not known; write I_n, or declare the block", node)
    return [
        [block(cell, heights[place], widths[column], node) for column, cell in enumerate(row)]
        for place, row in enumerate(rows)
    ]


def sizes_of(rows: list[list[Value]]) -> tuple[dict[int, int], dict[int, int]]:
    """The heights of rows and the widths of columns, as far as matrices say them and squares carry them on."""
    cells = [(r, c, cell) for r, row in enumerate(rows) for c, cell in enumerate(row)]
    heights = {r: cell.shape[0] for r, _, cell in cells if algebra.is_matrix(cell)}
    widths = {c: cell.shape[1] for _, c, cell in cells if algebra.is_matrix(cell)}
    squares = [(r, c) for r, c, cell in cells if isinstance(cell, Identity) and cell.scale]
    for r, c in squares * len(cells):
        size = heights.get(r, widths.get(c))
        if size is not None:
            heights.setdefault(r, size)
            widths.setdefault(c, size)
    return heights, widths


def block(cell: Value, height: int, width: int, node: Matrix) -> Value:
    """A cell at its size.  Raises EquationError for an identity that is not square there."""
    if not isinstance(cell, Identity):
        return np.zeros((height, width)) if is_open(cell) else cell
    try:
        return cell.like((height, width))
    except EquationError as error:
        raise fault(error.text, node) from None
