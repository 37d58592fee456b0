"""Draw the numbers of a check: distinct sizes, values that are never zero, one or centred."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .errors import EquationError
from .kinds import RANGE, sizes_named
from .notation import Notation, Symbol
from .options import read_expression
from .ranges import Span

# The first are those of most checks; one of them is even, since a half of a size is rounded.
SIZES: Final = (5, 7, 3, 4, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)
# Of many sizes the product would be too large; these differ too.
SMALL: Final = (5, 3, 4, 2, 7, 6, 8, 9, *SIZES[4:])
# Of nested sums the terms would be too many; nothing here is 1.
TINY: Final = (3, 2, 4, *SMALL[:1], *SMALL[4:])
MANY: Final = 5
EVEN: Final = (6, 10, 14, 22, 26, 34)
ODD: Final = (5, 7, 9, 11)
# How many sizes of a list come up in turn, at least.
LEAST: Final[dict[tuple[int, ...], int]] = {SMALL: 8, TINY: 3}
MAX_SIZE: Final = 4_000
MAX_WHOLE: Final = 2**62


@dataclass
class Draw:
    """The numbers of one draw.  values: by key.   spans: where declared indices run."""

    values: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)


def seed_of(label: str, number: int) -> np.random.Generator:
    """A generator of its own for each label and draw, so that no equation changes another's numbers."""
    return np.random.default_rng([zlib.crc32(label.encode()), number])


def needed(notation: Notation, keys: Iterable[str]) -> list[Symbol]:
    """The symbols that these keys need, with the sizes that their kinds name, in the order of the notation."""
    codes = notation.by_code()
    found: dict[str, Symbol] = {}
    waiting = [key for key in keys if key in notation.symbols]
    while waiting:
        symbol = notation.symbols[waiting.pop()]
        if symbol.key in found:
            continue
        found[symbol.key] = symbol
        waiting += [codes[name].key for name in sizes_named(symbol.kind) if name in codes]
    return [symbol for key, symbol in notation.symbols.items() if key in found]


# The power of shares that makes them as unequal as they are drawn.
MOST_UNEQUAL: Final = 3.0


def draw(
    symbols: list[Symbol],
    label: str,
    number: int,
    base: int,
    point: Mapping[str, float] | None = None,
    scale: float = 1.0,
    *,
    is_small: bool = False,
    stretch: float = 1.0,
) -> Draw:
    """Draw every symbol: sizes first, then numbers, then arrays.

    scale: of matrices and tensors, whose kind does not bound their values.   is_small: let sizes be small.
    stretch: of all numbers that are any, scalars and vectors too.
    Raises EquationError for a size that cannot be computed or is out of bounds.
    """
    generator = seed_of(label, number)
    result = Draw()
    sizes: dict[str, Any] = dict(point or {})
    free = [symbol for symbol in symbols if symbol.kind.name == "dim" and symbol.code not in sizes]
    is_many = sum(symbol.kind.name == "dim" for symbol in symbols) >= MANY
    draw_sizes(free, sizes, number, TINY if is_small else SMALL if is_many else SIZES)
    waiting = [symbol for symbol in symbols if symbol.kind.name in ("int", "dim") and symbol.code not in sizes]
    settle(waiting, sizes, generator)
    for symbol in symbols:
        if symbol.kind.name == "index":
            if symbol.kind.arguments:
                result.spans[symbol.key] = span_of(symbol, sizes)
        elif symbol.code in sizes:
            result.values[symbol.key] = sizes[symbol.code]
        else:
            shape = tuple(size_of(text, sizes, symbol) for text in symbol.kind.shape)
            value = array_of(symbol, shape, sizes, generator, base)
            if symbol.kind.name == "simplex" and stretch != 1.0:
                value = unequal(value, 1 / stretch)
            is_any = symbol.kind.name in ("scalar", "vector", "matrix", "tensor") and symbol.kind.bounds is None
            value = stretch * value if is_any else value
            result.values[symbol.key] = scale * value if symbol.kind.name in ("matrix", "tensor") else value
    return result


def unequal(shares: Any, power: float) -> Any:
    """Shares further from each other, or nearer."""
    raised = shares ** min(power, MOST_UNEQUAL)
    return raised / raised.sum(axis=-1, keepdims=True)


def draw_sizes(free: list[Symbol], sizes: dict[str, Any], number: int, plain: tuple[int, ...]) -> None:
    """Give plain, even and odd sizes their values: distinct, and rotated from draw to draw."""
    for rule, pool in (("", plain), ("even", EVEN), ("odd", ODD)):
        members = [symbol for symbol in free if "".join(symbol.kind.arguments) == rule]
        least = LEAST.get(pool, 4)
        few = pool[: max(len(members) + 1, least)]
        for place, symbol in enumerate(members):
            sizes[symbol.code] = few[(place + number) % len(few)]


def settle(waiting: list[Symbol], sizes: dict[str, Any], generator: np.random.Generator) -> None:
    """Compute whole numbers whose bounds name others, until none is left."""
    while waiting:
        ready = [
            symbol
            for symbol in waiting
            if all(name in sizes or name not in {other.code for other in waiting} for name in sizes_named(symbol.kind))
        ]
        if not ready:
            names = ", ".join(symbol.latex for symbol in waiting)
            raise waiting[0].fault(f"the sizes of {names} depend on each other")
        for symbol in ready:
            sizes[symbol.code] = whole_of(symbol, sizes, generator)
        waiting = [symbol for symbol in waiting if symbol not in ready]


def whole_of(symbol: Symbol, sizes: Mapping[str, Any], generator: np.random.Generator) -> int:
    """A whole number of int(a..b), dim(a..b) or dim(expression)."""
    match = RANGE.match(symbol.kind.arguments[0])
    if match is None:
        return size_of(symbol.kind.arguments[0], sizes, symbol)
    low, high = number_of(match[1], sizes, symbol), number_of(match[2], sizes, symbol)
    if max(-low, high) > MAX_WHOLE:
        raise symbol.fault(f"the range {low}..{high} of {symbol.latex} leaves 64 bits", symbol.kind.arguments[0])
    if high < low:
        raise symbol.fault(f"the range {low}..{high} of {symbol.latex} is empty", symbol.kind.arguments[0])
    return int(generator.integers(low, high + 1))


def span_of(symbol: Symbol, sizes: Mapping[str, Any]) -> Span:
    """The first and last value of index(a..b)."""
    match = RANGE.match(symbol.kind.arguments[0])
    if match is None:
        text = symbol.kind.arguments[0]
        raise symbol.fault(f"the range of {symbol.latex} is '{text}'; write index(1..n)", text)
    return number_of(match[1], sizes, symbol), number_of(match[2], sizes, symbol)


def number_of(text: str, sizes: Mapping[str, Any], symbol: Symbol) -> int:
    """A whole number in sizes, such as d//2-1."""
    try:
        value = int(text) if is_digits(text) else read_expression(text).value(sizes)
    except EquationError as error:
        raise symbol.fault(error.text, text) from None
    if not isinstance(value, int | float | np.integer) or not np.isfinite(float(value)) or value != int(value):
        raise symbol.fault(f"'{text}' of {symbol.latex} is {value}; it must be a whole number", text)
    return int(value)


def is_digits(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text.strip()), int)
    except (ValueError, SyntaxError):
        return False


def size_of(text: str, sizes: Mapping[str, Any], symbol: Symbol) -> int:
    """A size within bounds."""
    value = number_of(text, sizes, symbol)
    if not 0 < value <= MAX_SIZE:
        raise symbol.fault(f"the size {text} of {symbol.latex} is {value}; it must lie between 1 and {MAX_SIZE}", text)
    return value


def array_of(
    symbol: Symbol, shape: tuple[int, ...], sizes: Mapping[str, Any], generator: np.random.Generator, base: int
) -> Any:
    """The values of one symbol by its kind."""
    if int(np.prod(shape)) > 1_000_000:
        raise symbol.fault(f"{symbol.latex} has over 1000000 elements; give smaller sizes")
    name = symbol.kind.name
    if symbol.kind.bounds is not None:
        drawn = generator.uniform(*symbol.kind.bounds, shape)
        return drawn if shape else float(drawn)
    if name == "positive":
        return generator.uniform(0.3, 1.7, shape) if shape else float(generator.uniform(0.3, 1.7))
    if name == "unit":
        return generator.uniform(0.05, 0.95, shape) if shape else float(generator.uniform(0.05, 0.95))
    if name == "simplex":
        weights = generator.uniform(0.1, 1.0, shape)
        return weights / weights.sum(axis=-1, keepdims=True)
    if name == "onehot":
        return np.eye(shape[-1])[generator.integers(0, shape[-1], shape[:-1])]
    if name == "ints":
        return generator.integers(base, number_of(symbol.kind.arguments[-1], sizes, symbol) + base, shape)
    if name in ("binary", "set"):
        bits = with_ones(generator.integers(0, 2, shape), generator)
        if len(shape) == 1 and shape[0] > 1 and bits.all():
            bits[generator.integers(0, shape[0])] = 0  # what divides by the zeros has a value too
        return bits.astype(float)
    if name == "sign":
        return 2.0 * generator.integers(0, 2, shape) - 1.0
    if name == "mask":
        late = np.arange(shape[1]) - max(0, shape[1] - shape[0]) > np.arange(shape[0])[:, None]
        return np.where(late, -np.inf, 0.0)
    values = generator.normal(0.2, 1.3, shape)
    return (
        squared(name, values)
        if name in ("symmetric", "posdef", "diagonal", "orthogonal")
        else values
        if shape
        else float(values)
    )


def with_ones(bits: Any, generator: np.random.Generator) -> Any:
    """The same zeros and ones, with a one in each row and each column: what divides by their sums has a value."""
    for axis in range(bits.ndim):
        place = generator.integers(0, bits.shape[axis], np.sum(bits, axis=axis, keepdims=True).shape)
        one = np.take_along_axis(bits, place, axis) | ~bits.any(axis=axis, keepdims=True)
        np.put_along_axis(bits, place, one, axis)
    return bits


def squared(name: str, values: Any) -> Any:
    """A square matrix of a special kind."""
    if name == "symmetric":
        return (values + values.T) / 2
    if name == "posdef":
        return values @ values.T / len(values) + 0.5 * np.eye(len(values))
    if name == "diagonal":
        return np.diag(np.diag(values))
    return np.linalg.qr(values)[0]
