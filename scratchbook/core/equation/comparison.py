"""Compare two values: shape first, then every number; infinity and NaN are no agreement by default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .algebra import Identity, Ones, Row, Value, Zero, equal_rows, shown
from .notation import Notation

ATOL: Final = 1e-12
REAL: Final = frozenset([int, float, np.float64])


@dataclass(frozen=True)
class Result:
    """How two values compare.  finite: numbers compared.   difference: largest relative one.   reason: why they
    differ, or empty.   is_nothing: is it that neither has a value there?"""

    finite: int
    difference: float
    reason: str = ""
    place: tuple[int, ...] = ()
    is_nothing: bool = False


def plain(value: Value, like: Any = None) -> Any:
    """A value as an array: a row as its vector, ones and the identity as large as their neighbour."""
    if isinstance(value, Row):
        return value.array
    if isinstance(value, Zero) and np.ndim(like):
        return np.zeros(np.shape(like))
    if isinstance(value, Identity) and np.ndim(like) == 2 and (not value.scale or like.shape[0] == like.shape[1]):
        return value.like(np.shape(like))
    if isinstance(value, Ones) and value.outer is None and np.ndim(like) == 1:
        return value.scale * np.ones(np.shape(like))
    if isinstance(value, Ones) and value.outer is not None and np.ndim(like) == 2:
        return value.scale * equal_rows(value.outer, like, is_row=value.is_row)
    return value


def compare(left: Value, right: Value, rtol: float, *, allows_infinity: bool = False) -> Result:
    """Compare two values, number by number."""
    if type(left) in REAL and type(right) in REAL and math.isfinite(left) and math.isfinite(right):
        return compare_numbers(float(left), float(right), rtol)
    left, right = plain(left, right), plain(right, left)
    if isinstance(left, Identity | Ones) or isinstance(right, Identity | Ones):
        return Result(0, 0.0, "the size of ones or an identity is not known; write \\mathbf{1}_n or I_n")
    one, other = np.asarray(left), np.asarray(right)
    if one.shape != other.shape:
        return Result(0, 0.0, f"shapes differ: {shown(one)} and {shown(other)}")
    return compare_arrays(one, other, rtol, allows_infinity=allows_infinity)


def compare_numbers(one: float, other: float, rtol: float) -> Result:
    """Compare two finite numbers, as `compare_arrays` does, which takes long for one."""
    gap, size = abs(one - other), max(abs(one), abs(other))
    if gap > ATOL + rtol * size:
        return Result(1, gap, "differ")
    return Result(1, gap / max(size, ATOL) if gap > ATOL else 0.0)


def compare_arrays(one: Any, other: Any, rtol: float, *, allows_infinity: bool) -> Result:
    """Compare arrays of one shape."""
    one, other = np.real(one).astype(float), np.real(other).astype(float)
    finite = np.isfinite(one) & np.isfinite(other)
    same_infinity = np.isinf(one) & (one == other)
    odd = ~finite & ~(same_infinity if allows_infinity else np.zeros_like(finite))
    if odd.any():
        place = first_true(odd)
        word = "NaN" if np.isnan(one[place]) or np.isnan(other[place]) else "infinite"
        said = f"a value is {word}, which compares with nothing; keep what divides from 0, as in \\max(1, n)"
        is_alike = same_infinity | (np.isnan(one) & np.isnan(other))
        return Result(int(finite.sum()), float("inf"), said, place, is_nothing=not (odd & ~is_alike).any())
    gap = np.where(finite, np.abs(np.where(finite, one, 0) - np.where(finite, other, 0)), 0.0)
    size = np.maximum(np.abs(np.where(finite, one, 0)), np.abs(np.where(finite, other, 0)))
    wrong = gap > ATOL + rtol * size
    relative = np.where(gap > ATOL, gap / np.maximum(size, ATOL), 0.0)
    largest = float(relative.max(initial=0.0))
    if wrong.any():
        place = first_true(wrong)
        return Result(int(finite.sum()), float(gap[wrong].max()), "differ", place)
    return Result(int(finite.sum()), largest)


def first_true(mask: Any) -> tuple[int, ...]:
    """The first place at which a mask is true."""
    if np.ndim(mask) == 0:
        return ()
    return tuple(int(number) for number in np.argwhere(mask)[0])


def number_at(value: Value, place: tuple[int, ...]) -> str:
    """One number of a value for a message."""
    array = np.asarray(plain(value))
    if array.dtype == object:
        return type(value).__name__
    if place and array.ndim == len(place):
        array = array[place]
    if array.ndim == 0:
        return f"{np.real(array):.6g}"
    return (
        "["
        + ", ".join(f"{number:.4g}" for number in np.real(array.ravel()[:4]))
        + (", ..." if array.size > 4 else "")
        + "]"
    )


def shown_values(values: Mapping[str, Any], notation: Notation) -> dict[str, str]:
    """The numbers of a draw, shortened, by the symbols' LaTeX."""
    return {
        notation.symbols[key].latex: number_at(value, ()) for key, value in values.items() if key in notation.symbols
    }
