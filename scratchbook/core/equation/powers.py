"""Powers of what `algebra` adds and multiplies: of numbers, element by element, and the inverse of a matrix."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from .algebra import Array, Identity, Ones, Row, Value, is_number, shown
from .errors import fault

MAX_BITS: Final = 1_000


def power(base: Value, exponent: Value, *, is_elementwise: bool = False) -> Value:
    """base^exponent: of numbers, of vectors element by element, and the inverse of a square matrix."""
    if isinstance(base, Identity) and is_number(exponent):
        if base.ones:
            raise fault("a power of a matrix of ones whose size is not known; write \\mathbf{1}_n")
        return Identity(power(base.scale, exponent))
    if isinstance(base, Row | Ones) or isinstance(exponent, Row | Ones | Identity):
        raise fault(f"a power of a {shown(base)}; take the power before the transpose")
    if np.ndim(base) >= 2 and not is_elementwise:
        if np.ndim(exponent) == 0 and exponent == -1:
            return inverse(base)
        if is_diagonal(base) and np.ndim(exponent) == 0:
            return np.diag(power(np.diag(base), exponent))
        if np.ndim(exponent) == 0 and float(np.real(exponent)) % 1 and is_positive_definite(base):
            return root(base, exponent)
        raise fault("ambiguous: a power of a matrix; write A A (product) or A^{\\odot 2} (elementwise)")
    if np.ndim(exponent) and np.ndim(base) and np.shape(base) != np.shape(exponent):
        raise fault(f"shapes differ: {shown(base)} to the power {shown(exponent)}")
    if isinstance(base, int) and isinstance(exponent, int):
        return power_of_integers(base, exponent)
    if is_number(base) and is_number(exponent) and not isinstance(base, complex) and not isinstance(exponent, complex):
        return (
            np.float64(base) ** np.float64(np.real(exponent))
            if not np.iscomplexobj(base) and not np.iscomplexobj(exponent)
            else complex_power(base, exponent)
        )
    return complex_power(base, exponent)


def is_diagonal(value: Value) -> bool:
    """Is it a square matrix with nothing beside its diagonal, whose powers are those of its elements?"""
    if np.ndim(value) != 2 or value.shape[0] != value.shape[1]:
        return False
    return not np.any(value[~np.eye(len(value), dtype=bool)])  # whatever stands on it, infinity too


def is_positive_definite(value: Value) -> bool:
    """Is it a symmetric matrix with positive eigenvalues, which has one root of its own kind?"""
    real = np.real(value)
    if real.ndim != 2 or real.shape[0] != real.shape[1] or not np.all(np.isfinite(real)):
        return False
    size = np.max(np.abs(real))
    return bool(np.max(np.abs(real - real.T)) <= 1e-12 * size and np.linalg.eigvalsh(real)[0] > 1e-12 * size)


def root(matrix: Array, exponent: Value) -> Array:
    """A power, such as 1/2, of a symmetric positive definite matrix: that of its eigenvalues; with a complex step its
    derivative by the divided differences of Daleckii and Krein."""
    values, vectors = np.linalg.eigh(np.real(matrix))
    raised = complex_power(values, exponent)
    found = (vectors * raised) @ vectors.T
    if not np.iscomplexobj(matrix):
        return np.asarray(found)
    gaps = values[:, None] - values
    slopes = np.real(exponent * complex_power(values, exponent - 1))
    is_same = np.abs(gaps) < 1e-9 * values[-1]
    rates = np.where(is_same, (slopes[:, None] + slopes) / 2, np.real(raised[:, None] - raised) / (gaps + is_same))
    return np.asarray(found + 1j * (vectors @ (rates * (vectors.T @ np.imag(matrix) @ vectors)) @ vectors.T))


def complex_power(base: Value, exponent: Value) -> Value:
    """A power that keeps a complex step exact: integers by repeated products, others through the logarithm of NumPy."""
    if is_number(exponent) and not np.iscomplexobj(exponent) and float(exponent).is_integer() and abs(exponent) < 1000:
        return np.asarray(base) ** int(exponent) if exponent >= 0 else 1 / (np.asarray(base) ** int(-exponent))
    if np.iscomplexobj(base) or np.iscomplexobj(exponent):
        return np.asarray(base, dtype=complex) ** exponent
    return np.asarray(base, dtype=float) ** np.asarray(exponent, dtype=float)


def power_of_integers(base: int, exponent: int) -> Value:
    """An exact power, when it is not too long to write."""
    if exponent < 0:
        return np.float64(base) ** exponent
    if abs(base) > 1 and exponent * math.log2(abs(base)) > MAX_BITS:
        raise fault(f"the power {base}^{exponent} is over the limit of {MAX_BITS} bits; write a smaller one")
    return base**exponent


def inverse(matrix: Array) -> Array:
    """The inverse of a square matrix."""
    if np.ndim(matrix) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise fault(f"the inverse of a {shown(matrix)}; only a square matrix has one")
    if not np.all(np.isfinite(matrix)):
        raise fault(
            "the inverse of a matrix that is not finite; a mask holds 0 and -inf, so declare one of 0 and 1 as binary"
        )
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise fault("the matrix has no inverse at these values") from None
