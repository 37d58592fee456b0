"""The functions that every reader knows, written so that a complex step passes through them exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .algebra import Array, Identity, Ones, Row, Value, add, is_number, shown
from .errors import fault

Function = Callable[..., Value]


def lifted(function: Callable[[float], float], slope: Callable[[Array], Array]) -> Function:
    """A real function of one number, for arrays; a complex step goes through its slope."""
    vectorized = np.vectorize(function, otypes=[float])

    def lift(value: Value) -> Value:
        real = np.real(value)
        result = vectorized(real) if np.ndim(real) else np.float64(function(float(real)))
        return result + 1j * np.imag(value) * slope(real) if np.iscomplexobj(value) else result

    return lift


erf: Final = lifted(math.erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-(x**2)))


def normal_cdf(z: Value) -> Value:
    """The share of a standard normal below z."""
    return 0.5 * (1 + erf(z / math.sqrt(2)))


def sigmoid(z: Value) -> Value:
    return 1 / (1 + np.exp(-z))


def relu(z: Value) -> Value:
    return np.where(np.real(z) > 0, z, 0.0) if np.ndim(z) else (z if np.real(z) > 0 else 0.0)


def magnitude(z: Value) -> Value:
    """|z| of each element; of a square matrix the determinant."""
    if np.ndim(z) == 2 and not isinstance(z, Row | Ones | Identity) and z.shape[0] == z.shape[1]:
        return np.linalg.det(z)
    if isinstance(z, Row | Ones | Identity) or np.ndim(z) >= 2:
        raise fault(f"bars around a {shown(z)}; write \\lVert A \\rVert_F or an index")
    return z * np.sign(np.real(z))


def norm(z: Value, order: str) -> Value:
    """A norm of a vector, or the Frobenius norm of a matrix."""
    z = z.array if isinstance(z, Row) else z
    if isinstance(z, Ones | Identity) or (np.ndim(z) >= 2 and order not in ("", "F")):
        raise fault(f"the norm {order or '2'} of a {shown(z)}; write \\lVert A \\rVert_F or the formula")
    if np.ndim(z) == 2 and order == "":
        raise fault("ambiguous: the norm of a matrix; write \\lVert A \\rVert_F")
    if np.ndim(z) == 0:
        return magnitude(z)
    if order in ("", "2", "F"):
        return np.sqrt(np.sum(z * z))
    if order == "1":
        return np.sum(magnitude(z))
    if order == r"\infty":
        return extreme(magnitude(z), 1)
    if order == "0":
        return int(np.sum(np.real(z) != 0))
    return np.sum(magnitude(z) ** float(order)) ** (1 / float(order))


def extreme(z: Array, sign: int) -> Value:
    """The largest element (sign 1) or the smallest (sign -1), compared by real parts."""
    flat = np.ravel(z)
    return flat[np.argmax(sign * np.real(flat))]


def choose(sign: int, *values: Value) -> Value:
    """max(a, b, ...) and min: element by element; of one vector its extreme element."""
    if len(values) == 1:
        only = plain_vector(values[0], "max" if sign > 0 else "min")
        return extreme(only, sign)
    best = values[0]
    for value in values[1:]:
        if np.ndim(best) and np.ndim(value) and np.shape(best) != np.shape(value):
            raise fault(f"shapes differ: max or min of {shown(best)} and {shown(value)}")
        picked = sign * np.real(value) > sign * np.real(best)
        best = np.where(picked, value, best) if np.ndim(picked) else (value if picked else best)
    return best


def plain_vector(value: Value, name: str) -> Array:
    """A vector that is reduced to one number; a matrix must say along which index."""
    value = value.array if isinstance(value, Row) else value
    if isinstance(value, Ones | Identity) or np.ndim(value) != 1:
        raise fault(f"{name} of a {shown(value)}; say over which indices, as in {name}_{{i,j}}(x_{{ij}})")
    return np.asarray(value)


def mean(z: Value) -> Value:
    z = plain_vector(z, "mean")
    return np.sum(z) / len(z)


def variance(z: Value) -> Value:
    """The mean squared distance from the mean."""
    z = plain_vector(z, "Var")
    return np.sum((z - mean(z)) ** 2) / len(z)


def softmax(z: Value) -> Value:
    """Of a vector, or of every row of a matrix."""
    z = z.array if isinstance(z, Row) else z
    if isinstance(z, Ones | Identity) or np.ndim(z) not in (1, 2):
        raise fault(
            f"softmax of a {shown(z)}; it takes a vector, or a matrix row by row; an inner product is x \\cdot y"
        )
    powers = np.exp(z - np.max(np.real(z), axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def logsumexp(*values: Value) -> Value:
    z = plain_vector(values[0] if len(values) == 1 else np.asarray(values), "logsumexp")
    top = np.max(np.real(z))
    return top + np.log(np.sum(np.exp(z - top)))


def logarithm(z: Value, base: Value = None) -> Value:
    """The natural logarithm, or that of a written base."""
    z = float(z) if isinstance(z, int) else z
    result = np.log(z)
    return result if base is None else result / np.log(float(np.real(base)))


def diagonal(*values: Value) -> Value:
    """The matrix with a vector or a list of numbers on its diagonal, or the diagonal of a matrix."""
    value = side_by_side(list(values)) if len(values) > 1 else values[0]
    if isinstance(value, Row | Ones | Identity) or np.ndim(value) not in (1, 2):
        raise fault(f"diag of a {shown(value)}; it takes a vector or a matrix")
    return np.diag(value)


def square(value: Value, name: str) -> Array:
    """A square matrix, or an error that names who asks."""
    if isinstance(value, Ones | Identity):
        raise fault(f"{name} of a {shown(value)} whose size is not known; write \\mathbf{{1}}_n or I_n")
    if isinstance(value, Row | Ones | Identity) or np.ndim(value) != 2 or value.shape[0] != value.shape[1]:
        raise fault(f"{name} of a {shown(value)}; it takes a square matrix")
    return np.asarray(value)


def concatenate(*values: Value) -> Value:
    """Vectors end to end, matrices side by side, numbers as a vector."""
    if len(values) == 1 and np.ndim(values[0]) <= 2:
        return values[0]
    return side_by_side(list(values))


def side_by_side(values: list[Value]) -> Value:
    """[a, b]: along the last axis."""
    if all(isinstance(value, Row) for value in values):
        return Row(np.concatenate([value.array for value in values]))
    if any(isinstance(value, Row | Ones | Identity) for value in values):
        raise fault("a list of different kinds; use all vectors, all rows or all matrices")
    ranks = {np.ndim(value) for value in values}
    if ranks == {0}:
        return np.asarray(values)
    if ranks == {0, 1}:
        return np.concatenate([np.atleast_1d(value) for value in values])
    if len(ranks) > 1 or (ranks == {2} and len({value.shape[0] for value in values}) > 1):
        raise fault(f"a list of {', '.join(map(shown, values))}; their rows must agree")
    return np.concatenate(values, axis=-1)


def one_above_other(values: list[Value]) -> Value:
    """[a; b]: along the first axis."""
    if any(isinstance(value, Ones | Identity) for value in values):
        raise fault("a list of different kinds; use all vectors, all rows or all matrices")
    arrays = [value.array[None, :] if isinstance(value, Row) else np.asarray(value) for value in values]
    if {array.ndim for array in arrays} == {0, 1} or {array.ndim for array in arrays} == {0}:
        return np.concatenate([np.atleast_1d(array) for array in arrays])
    if len({array.ndim for array in arrays}) > 1 or (
        arrays[0].ndim == 2 and len({array.shape[1] for array in arrays}) > 1
    ):
        raise fault(f"a list of {', '.join(map(shown, values))}; their columns must agree")
    return np.concatenate(arrays, axis=0)


def factorial(n: Value) -> Value:
    if not isinstance(n, int) or not 0 <= n <= 100:
        raise fault("a factorial takes a whole number from 0 to 100")
    return math.factorial(n)


def binomial(n: Value, k: Value) -> Value:
    if not isinstance(n, int) or not isinstance(k, int) or not 0 <= n <= 200:
        raise fault("a binomial takes whole numbers, the upper from 0 to 200")
    return math.comb(n, k) if k >= 0 else 0


def rounded(function: Callable[[Any], Any]) -> Function:
    """A rounding; a whole number stays one."""

    def rounding(z: Value) -> Value:
        result = function(np.real(z))
        return int(result) if np.ndim(result) == 0 and abs(result) < 2**53 else result

    return rounding


def inner(a: Value, b: Value) -> Value:
    r"""\langle a, b \rangle of two vectors, or of two matrices element by element."""
    a, b = (value.array if isinstance(value, Row) else value for value in (a, b))
    if np.shape(a) != np.shape(b) or np.ndim(a) == 0:
        raise fault(f"the inner product of {shown(a)} and {shown(b)}; both must have one shape")
    return np.sum(a * b)


def swish(z: Value, beta: Value = 1) -> Value:
    return z * sigmoid(beta * z)


def elu(z: Value, alpha: Value = 1) -> Value:
    bent = alpha * (np.exp(choose(-1, z, 0.0)) - 1)
    return np.where(np.real(z) > 0, z, bent) if np.ndim(z) else (z if np.real(z) > 0 else bent)


def gelu(z: Value) -> Value:
    return z * normal_cdf(z)


def ones(*sizes: Value) -> Array:
    if any(not isinstance(size, int) or not 0 < size < 10_000 for size in sizes):
        raise fault("the size of the ones must be a whole number")
    return np.ones(sizes)


def identity(*sizes: Value) -> Array:
    if any(not isinstance(size, int) or not 0 < size < 1_000 for size in sizes):
        raise fault("the size of the identity must be a whole number")
    return np.eye(*sizes)


def gaussian(at: Value, mean: Value, spread: Value) -> Value:
    """The density of a normal distribution: of a number with its variance, of a vector with its covariance."""
    gap = add(at, mean, "-")
    if isinstance(spread, Identity) and isinstance(gap, np.ndarray) and gap.ndim == 1:
        spread = spread.like((len(gap), len(gap)))
    if is_number(gap) and is_number(spread):
        return np.exp(-(gap**2) / (2 * spread)) / np.sqrt(2 * np.pi * spread)
    if not isinstance(spread, np.ndarray) or np.shape(spread) != 2 * np.shape(gap):
        raise fault(
            f"a normal density of a {shown(gap)} with a {shown(spread)}; write \\mathcal{{N}}(x; \\mu, \\Sigma)"
        )
    square_of = gap @ np.linalg.solve(spread, gap)
    return np.exp(-square_of / 2) / np.sqrt(np.linalg.det(2 * np.pi * spread))


def members(bits: Value) -> Array:
    """The zeros and ones that say which numbers are in one set."""
    if not isinstance(bits, np.ndarray) or bits.ndim != 1:
        raise fault(f"a {shown(bits)} of sets is not one set; index it")
    return np.real(bits)


ELEMENTWISE: Final[dict[str, Function]] = {
    "exp": np.exp, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "cot": lambda z: 1 / np.tan(z), "sec": lambda z: 1 / np.cos(z), "csc": lambda z: 1 / np.sin(z),
    "coth": lambda z: 1 / np.tanh(z),
    "sech": lambda z: 1 / np.cosh(z), "arcsin": np.arcsin, "arccos": np.arccos, "arctan": np.arctan,
    "arsinh": np.arcsinh, "arcosh": np.arccosh, "artanh": np.arctanh, "sqrt": np.sqrt,
    "erf": erf,
    r"\Phi": normal_cdf, "sigmoid": sigmoid, "logit": lambda z: np.log(z / (1 - z)), "relu": relu, "silu": swish,
    "gelu": gelu,
    "softplus": lambda z: np.log(1 + np.exp(z)), "softsign": lambda z: z / (1 + z * np.sign(np.real(z))),
    "hardtanh": lambda z: choose(1, choose(-1, z, 1.0), -1.0), "sign": lambda z: np.sign(np.real(z)), "abs": magnitude,
    "floor": rounded(np.floor), "ceil": rounded(np.ceil), "round": rounded(np.round),
}  # fmt: skip
# Elementwise too, with a number that may stand as an index: \log_2, Swish_\beta, ELU_\alpha.
WITH_INDEX: Final[dict[str, Function]] = {
    "log": logarithm, "ln": logarithm, "lg": lambda z: logarithm(z, 10), "swish": swish, "elu": elu,
}  # fmt: skip
# Functions of one vector, which may be written as a list of numbers.
OF_LISTS: Final = frozenset(["sum", "mean", "var", "std"])
# Functions of whole values, with the least and the largest number of their arguments.
WHOLE: Final[dict[str, tuple[int, int, Function]]] = {
    "max": (1, 20, lambda *values: choose(1, *values)), "min": (1, 20, lambda *values: choose(-1, *values)),
    "argmax": (1, 1, lambda z: int(np.argmax(np.real(plain_vector(z, "argmax"))))),
    "argmin": (1, 1, lambda z: int(np.argmin(np.real(plain_vector(z, "argmin"))))),
    "sum": (1, 1, lambda z: np.sum(plain_vector(z, "sum"))), "mean": (1, 1, mean), "var": (1, 1, variance),
    "std": (1, 1, lambda z: np.sqrt(variance(z))), "softmax": (1, 1, softmax), "log_softmax": (1, 1,
    lambda z: np.log(softmax(z))),
    "logsumexp": (1, 20, logsumexp), "logaddexp": (2, 2, logsumexp), "tr": (1, 1, lambda a: np.trace(square(a, "tr"))),
    "det": (1, 1, lambda a: np.linalg.det(square(a, "det"))), "logdet": (1, 1,
    lambda a: np.log(np.linalg.det(square(a, "logdet")))),
    "diag": (1, 10_000, diagonal), "concat": (1, 50, concatenate), "norm": (1, 1, lambda z: norm(z, "")),
    "clip": (3, 3, lambda z, low, high: choose(-1, choose(1, z, low), high)), "mod": (2, 2, lambda a, b: a % b),
    "inner": (2, 2, inner), "factorial": (1, 1, factorial), "binomial": (2, 2, binomial), "ones": (1, 2, ones),
    "identity": (1, 2, identity), "gaussian": (3, 3, gaussian),
    "members": (1, 1, lambda bits: np.flatnonzero(members(bits))),
    "size": (1, 1, lambda bits: int(np.count_nonzero(members(bits)))), "length": (1, 1, len),
    r"\Gamma": (1, 1, lifted(math.gamma, lambda x: np.nan * x)),
}  # fmt: skip


def apply(name: str, arguments: list[Value], indices: list[Value]) -> Value:
    """A known function at its arguments.

    Raises EquationError for a wrong number of arguments or a kind that the function does not take.
    """
    if name in OF_LISTS and len(arguments) > 1 and all(is_number(argument) for argument in arguments):
        arguments = [side_by_side(arguments)]  # mean(r_1, ..., r_G)
    if name in WHOLE:
        low, high, function = WHOLE[name]
        check_count(name, len(arguments), low, high)
        if indices:
            raise fault(f"{name} with this index is not known; write its formula")
        return function(*arguments)
    table = ELEMENTWISE if name in ELEMENTWISE else WITH_INDEX
    check_count(name, len(arguments), 1, 1)
    if indices and table is ELEMENTWISE:
        raise fault(f"{name} with an index is not known; write its formula")
    if len(indices) > 1:
        raise fault(f"{name} takes one index")
    if any(np.ndim(index) or isinstance(index, Row | Ones | Identity) for index in indices):
        raise fault(f"the index of {name} is a {shown(indices[0])}; it must be a number")
    argument = arguments[0]
    if isinstance(argument, Ones | Identity):
        raise fault(f"{name} of a {shown(argument)}; write its size or its elements")
    if isinstance(argument, Row):
        return Row(table[name](argument.array, *indices))
    return table[name](argument, *indices)


def check_count(name: str, count: int, low: int, high: int) -> None:
    """Refuse a wrong number of arguments."""
    if not low <= count <= high:
        wanted = f"{low} to {high} arguments" if low != high else f"{low} argument{'s' * (low != 1)}"
        raise fault(f"{name} takes {wanted}, not {count}")
