"""Arithmetic with shapes that a reader would accept: no silent broadcasting, and a product only where sizes meet.

A vector has no direction until it is transposed; then it is a Row, and x^T y is inner, x y^T outer, x^T A a row again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from .errors import VectorsError, fault

MAX_ELEMENTS: Final = 1_000_000
# How near two values must be that the display gives to one name at one place.
SAME: Final = 1e-9

Array = np.ndarray[Any, np.dtype[Any]]
Value = Any  # int, float, complex, Array, Row, Ones or Identity


@dataclass(frozen=True)
class Row:
    """A transposed vector."""

    array: Array


@dataclass(frozen=True)
class Ones:
    r"""The vector of ones, times a number, of whatever length its neighbour asks for.

    outer: the vector of \mathbf{1} x^\top, whose rows are all x, or as a row of x \mathbf{1}^\top.
    """

    scale: Any = 1
    is_row: bool = False
    outer: Array | None = None


@dataclass(frozen=True)
class Identity:
    """The identity matrix times a number, of whatever size its neighbour asks for.

    ones: the number by which a matrix of ones, as \\mathbf{1} \\mathbf{1}^\\top, is added to it.
    """

    scale: Any = 1
    ones: Any = 0

    def like(self, shape: tuple[int, ...]) -> Array:
        """This matrix at a size.  Raises EquationError where a unit matrix must be square and is not."""
        if self.scale and shape[0] != shape[1]:
            raise fault(f"the unit matrix stands where a block of {shape[0]} rows and {shape[1]} columns must")
        ones: Array = self.ones * np.ones(shape)
        return ones + self.scale * np.eye(shape[0]) if self.scale else ones


class Zero(int):
    """The zero of whatever shape its neighbour has: the bold 0, and the 0 at which a recurrence begins."""


PLAIN: Final = frozenset([int, float, complex, np.float64, np.complex128])


def is_number(value: Value) -> bool:
    """Is it a single number?"""
    return type(value) in PLAIN or (not isinstance(value, Row | Ones | Identity) and np.ndim(value) == 0)


def is_matrix(value: Value) -> bool:
    """Is it a matrix of a known size?"""
    return not isinstance(value, Row | Ones | Identity) and np.ndim(value) == 2


def same(one: Value, other: Value) -> bool:
    """Are two values of one name the same, but for rounding?"""
    if isinstance(one, Ones | Identity) or isinstance(other, Ones | Identity):
        return bool(one == other)
    if isinstance(one, Row) or isinstance(other, Row):
        return isinstance(one, Row) and isinstance(other, Row) and same(one.array, other.array)
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=SAME, atol=SAME, equal_nan=True)


def shown(value: Value) -> str:
    """A value's kind and shape, for messages."""
    if isinstance(value, Row):
        return f"transposed vector({len(value.array)})"
    if isinstance(value, Ones):
        return "vector of ones" if value.outer is None else "matrix of equal rows or columns"
    if isinstance(value, Identity):
        return "unit matrix" if value.scale else "matrix of ones"
    names = {0: "number", 1: "vector", 2: "matrix"}
    if np.ndim(value) == 0:
        return "number"
    return f"{names.get(np.ndim(value), 'tensor')}({', '.join(map(str, np.shape(value)))})"


def checked(value: Value) -> Value:
    """A result that is not too large."""
    if isinstance(value, np.ndarray) and value.size > MAX_ELEMENTS:
        raise fault(f"an array of {value.size} elements is over the limit of {MAX_ELEMENTS}; use smaller sizes")
    return value


def add(left: Value, right: Value, sign: str = "+") -> Value:
    """left + right or left - right: equal shapes, a number with anything, a matrix with a bias for its rows."""
    if type(left) in PLAIN and type(right) in PLAIN:
        return left - right if sign == "-" else left + right
    if sign == "-":
        right = negate(right)
    if isinstance(left, Identity) or isinstance(right, Identity):
        return add_identity(left, right)
    if isinstance(left, Ones) or isinstance(right, Ones):
        return add_ones(left, right)
    if isinstance(left, Row) and isinstance(right, Row) and left.array.shape == right.array.shape:
        return Row(left.array + right.array)
    if isinstance(left, Row) or isinstance(right, Row):
        row, other = (left, right) if isinstance(left, Row) else (right, left)
        if is_number(other):
            return Row(row.array + other)
        if not isinstance(other, Row) and np.ndim(other) == 2 and other.shape[1] == len(row.array):
            return other + row.array
        raise fault(f"{shown(left)} plus {shown(right)}: only one of them is transposed; transpose both or neither")
    if is_number(left) or is_number(right) or np.shape(left) == np.shape(right):
        return left + right
    matrix, vector = (left, right) if np.ndim(left) > np.ndim(right) else (right, left)
    if np.ndim(vector) == 1 and np.ndim(matrix) >= 2 and np.shape(matrix)[-1] == len(vector):
        return matrix + vector
    raise fault(f"shapes differ: {shown(left)} plus {shown(right)}; index them, or transpose one")


def add_identity(left: Value, right: Value) -> Value:
    """I + A."""
    if isinstance(left, Identity) and isinstance(right, Identity):
        return Identity(left.scale + right.scale, left.ones + right.ones)
    eye, other = (left, right) if isinstance(left, Identity) else (right, left)
    if not is_matrix(other) or (eye.scale and other.shape[0] != other.shape[1]):
        square = "square " if eye.scale else ""
        raise fault(f"the {shown(eye)} plus {shown(other)}; it adds to a {square}matrix only")
    return eye.like(other.shape) + other


def add_ones(left: Value, right: Value) -> Value:
    """The vector of ones plus a vector, or equal rows plus a matrix."""
    if isinstance(left, Ones) and isinstance(right, Ones) and left.is_row == right.is_row and left.outer is right.outer:
        return Ones(left.scale + right.scale, left.is_row, left.outer)
    ones, other = (left, right) if isinstance(left, Ones) else (right, left)
    if ones.outer is not None:
        return other + ones.scale * equal_rows(ones.outer, other, is_row=ones.is_row)
    if isinstance(other, Row) and ones.is_row:
        return Row(ones.scale + other.array)
    if isinstance(other, Row | Ones) or np.ndim(other) != 1 or ones.is_row:
        raise fault(f"the vector of ones plus {shown(other)}; give its size: \\mathbf{{1}}_n")
    return ones.scale + other


def equal_rows(vector: Array, other: Value, *, is_row: bool) -> Array:
    """The matrix with a vector as every row, or as every column, that is as large as another."""
    axis = 0 if is_row else 1
    if isinstance(other, Row | Ones | Identity) or np.ndim(other) != 2 or np.shape(other)[axis] != len(vector):
        raise fault(f"shapes differ: a matrix of equal vectors({len(vector)}) plus {shown(other)}")
    return (vector[:, None] if is_row else vector) * np.ones(np.shape(other))


def negate(value: Value) -> Value:
    """-value."""
    return scale(-1, value)


def scale(number: Any, value: Value) -> Value:
    """A number times anything."""
    if isinstance(value, Zero):
        return value
    if isinstance(value, Row):
        return Row(number * value.array)
    if isinstance(value, Ones):
        return replace(value, scale=number * value.scale)
    if isinstance(value, Identity):
        return Identity(number * value.scale, number * value.ones)
    return number * value


def multiply(left: Value, right: Value) -> Value:
    """Factors side by side: scaling, or the product of matrices and vectors that meet in size."""
    if type(left) in PLAIN and type(right) in PLAIN:
        return left * right
    if isinstance(left, Zero) or isinstance(right, Zero):
        return Zero()
    if is_number(left):
        return scale(left, right)
    if is_number(right):
        return scale(right, left)
    if isinstance(left, Identity) or isinstance(right, Identity):
        return multiply_identity(left, right)
    if isinstance(left, Ones) or isinstance(right, Ones):
        return multiply_ones(left, right)
    if isinstance(left, Row):
        return multiply_row(left, right)
    if isinstance(right, Row):
        if np.ndim(left) == 1:
            return checked(np.multiply.outer(left, right.array))
        raise fault(f"{shown(left)} times {shown(right)}; drop the transpose of the vector")
    if np.ndim(left) == 1 and np.ndim(right) == 1:
        raise VectorsError(
            "ambiguous: two vectors side by side; write \\odot (elementwise), \\cdot or x^\\top y (inner), or x "
            "y^\\top (outer)"
        )
    return matrix_product(left, right)


def multiply_identity(left: Value, right: Value) -> Value:
    """(a I + b 1 1^T) x and x (a I + b 1 1^T), each part alone; 1 1^T x is 1 times a sum."""
    eye, other = (left, right) if isinstance(left, Identity) else (right, left)
    if not eye.ones:
        return scale(eye.scale, other)
    if isinstance(other, Identity) and not other.ones:
        return scale(other.scale, eye)
    column, row = Ones(eye.ones), Ones(is_row=True)
    if isinstance(other, Identity | Ones) or (isinstance(other, Row) and eye is left):
        raise fault(f"{shown(left)} times {shown(right)}: the size of these ones is not known; write \\mathbf{{1}}_n")
    if eye is left:
        part = multiply(column, multiply(row, other))
    elif np.ndim(other) == 1:
        part = scale(np.sum(other), column)
    else:
        part = multiply(multiply(other, column), row)
    return add(scale(eye.scale, other), part) if eye.scale else part


def multiply_row(left: Row, right: Value) -> Value:
    """x^T y and x^T A."""
    if isinstance(right, Row):
        raise fault(f"{shown(left)} times {shown(right)}; transpose one of them")
    product = matrix_product(left.array, right)
    return product if np.ndim(right) == 1 else Row(product)


def multiply_ones(left: Value, right: Value) -> Value:
    """1^T x, A 1 and their like: sums; 1 1^T, a matrix of ones."""
    if isinstance(left, Ones) and isinstance(right, Ones) and left.outer is None and right.outer is None:
        if not left.is_row and right.is_row:
            return Identity(0, left.scale * right.scale)
        raise fault("the size of these ones is not known; write \\mathbf{1}_n")
    if any(isinstance(side, Ones) and side.outer is not None for side in (left, right)):
        return multiply_outer(left, right)
    if isinstance(left, Ones) and isinstance(right, Row) and not left.is_row:
        return replace(left, outer=right.array)
    if isinstance(right, Ones) and right.is_row and np.ndim(left) == 1 and not isinstance(left, Row):
        return replace(right, outer=left)
    if isinstance(left, Ones):
        if isinstance(right, Row) or ((np.ndim(right) == 1) != left.is_row and np.ndim(right) == 1):
            raise fault("the size of these ones is not known; write \\mathbf{1}_n")
        if np.ndim(right) == 1:
            return left.scale * np.sum(right)
        total = left.scale * np.sum(right, axis=0)
        return Row(total) if left.is_row else total
    if isinstance(left, Row) and not right.is_row:
        return right.scale * np.sum(left.array)
    if not isinstance(left, Row) and np.ndim(left) == 2 and not right.is_row:
        return right.scale * np.sum(left, axis=1)
    raise fault("the size of these ones is not known; write \\mathbf{1}_n")


def multiply_outer(left: Value, right: Value) -> Value:
    r"""(1 x^\top) y and A (x 1^\top) and their like, from the pair of vectors that makes a matrix of equal ones."""
    if isinstance(left, Ones) and left.outer is not None:
        column, row = (left.outer, Ones(is_row=True)) if left.is_row else (Ones(), Row(left.outer))
        return scale(left.scale, multiply(column, multiply(row, right)))
    column, row = (right.outer, Ones(is_row=True)) if right.is_row else (Ones(), Row(right.outer))
    return scale(right.scale, multiply(multiply(left, column), row))


def matrix_product(left: Array, right: Array) -> Value:
    """The product of two arrays over the last axis of the left and the first of the right."""
    if np.ndim(left) > 2 or np.ndim(right) > 2:
        raise fault(f"{shown(left)} times {shown(right)}; give the tensor an index")
    if left.shape[-1] != right.shape[0]:
        hint = (
            "; x y^\\top is the outer product, x^\\top y or x \\cdot y the inner"
            if 1 in (np.ndim(left), np.ndim(right))
            else "; transpose one or swap them"
        )
        raise fault(f"inner dimensions differ: {shown(left)} times {shown(right)}{hint}")
    return left @ right


def dot(left: Value, right: Value) -> Value:
    r"""left \cdot right: of two vectors the inner product, else as side by side."""
    if (
        not isinstance(left, Row | Ones | Identity)
        and not isinstance(right, Row | Ones | Identity)
        and np.ndim(left) == 1
        and np.ndim(right) == 1
    ):
        return matrix_product(left, right)
    if isinstance(left, Row) and isinstance(right, Row):
        return matrix_product(left.array, right.array)
    return multiply(left, right)


def cross(left: Value, right: Value) -> Value:
    r"""left \times right: a product of numbers, or of matrices."""
    if is_number(left) or is_number(right) or (np.ndim(left) == 2 and np.ndim(right) == 2):
        return multiply(left, right)
    raise fault("ambiguous: \\times between vectors; write \\odot, \\cdot or x y^\\top")


def star(left: Value, right: Value, *, is_plain: bool = False) -> Value:
    """left * right: numbers, or vectors element by element."""
    if is_number(left) or is_number(right):
        return multiply(left, right)
    if is_plain or (np.ndim(left) == 1 and np.ndim(right) == 1):
        return elementwise(left, right)
    raise fault("ambiguous: '*' between matrices; write \\odot (elementwise), or the matrices side by side (product)")


def elementwise(left: Value, right: Value) -> Value:
    r"""left \odot right: equal shapes, or a vector with every row of a matrix."""
    if isinstance(left, Zero) or isinstance(right, Zero):
        return Zero()
    if isinstance(left, Row) and isinstance(right, Row):
        return Row(elementwise(left.array, right.array))
    if isinstance(left, Identity) and is_matrix(right):
        return left.like(right.shape) * right
    if isinstance(right, Identity) and is_matrix(left):
        return left * right.like(left.shape)
    if isinstance(left, Row | Ones | Identity) or isinstance(right, Row | Ones | Identity):
        raise fault(f"{shown(left)} \\odot {shown(right)}; both must be vectors or matrices")
    if np.ndim(left) == 0 or np.ndim(right) == 0:
        if np.ndim(left) == np.ndim(right):
            return left * right
        raise fault(f"{shown(left)} \\odot {shown(right)}: a number scales, so write it without \\odot")
    if np.shape(left) == np.shape(right):
        return left * right
    big, small = (left, right) if np.ndim(left) > np.ndim(right) else (right, left)
    if np.ndim(small) == 1 and np.ndim(big) == 2 and big.shape[-1] == len(small):
        return big * small
    raise fault(f"shapes differ: {shown(left)} \\odot {shown(right)}; both must have the same")


def divide(left: Value, right: Value) -> Value:
    """left / right: by a number, a number by each element, or element by element."""
    if isinstance(right, Row | Ones | Identity):
        raise fault(f"a division by a {shown(right)}; write the inverse as a power -1")
    if isinstance(left, Zero) and np.all(right):
        return left
    if np.ndim(right) == 0:
        if isinstance(left, int) and isinstance(right, int) and right != 0 and left % right == 0:
            return left // right
        return divide_number(left, right)
    if is_number(left):
        return left / right
    if isinstance(left, Row | Ones | Identity) or np.shape(left) != np.shape(right):
        raise fault(f"shapes differ: {shown(left)} divided by {shown(right)}; index them")
    return left / right


def remainder(left: Value, right: Value) -> Value:
    r"""left \bmod right: of numbers, or element by element."""
    shapes = {np.shape(value) for value in (left, right) if not is_number(value)}
    if len(shapes) > 1 or isinstance(left, Row | Ones | Identity) or isinstance(right, Row | Ones | Identity):
        raise fault(f"shapes differ: {shown(left)} modulo {shown(right)}; index them")
    return left % right


def divide_number(left: Value, right: Any) -> Value:
    """Anything over a number; zero gives infinity, as in NumPy."""
    right = right if isinstance(right, complex | np.complexfloating) else np.float64(right)
    if isinstance(left, int):
        return np.float64(left) / right
    return scale(1 / right, left) if isinstance(left, Row | Ones | Identity) else left / right


def transpose(value: Value) -> Value:
    """The transpose; of a vector the row."""
    if isinstance(value, Row):
        return value.array
    if isinstance(value, Ones):
        return replace(value, is_row=not value.is_row)
    if isinstance(value, Identity):
        return value
    if np.ndim(value) == 0:
        raise fault("the transpose of a number; drop it, or declare T as a name if it is a power")
    if np.ndim(value) == 1:
        return Row(value)
    if np.ndim(value) > 2:
        raise fault(f"the transpose of a {shown(value)}; give the tensor an index")
    return value.T
