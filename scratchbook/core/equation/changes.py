"""Change sums, products, quotients, powers and roots in one place, as a slip of the pen would.

Nothing is generated that means the same: no swap of numbers that commute, no exponent of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .nodes import (
    Add,
    Binding,
    Case,
    Constant,
    Fraction,
    Multiply,
    Negate,
    Node,
    Number,
    Power,
    Product,
    Root,
    Transpose,
)
from .render import write

if TYPE_CHECKING:
    from .mutator import Mutator


@dataclass(frozen=True)
class Change:
    """What one node becomes.  old, new, at: a shorter way to say it, when there is one."""

    operator: str
    node: Node | Binding | Case
    old: str = ""
    new: str = ""
    at: Node | None = None


def added(self: Mutator, node: Add) -> Iterator[Change]:
    """Drop a term, flip a sign."""
    for place in range(len(node.terms)):
        terms, signs = drop(node.terms, place), drop(node.signs, place)
        term, sign = self.source_of(node.terms[place]), node.signs[place]
        rest = Add(terms, signs) if len(terms) > 1 else terms[0] if signs[0] == "+" else Negate(terms[0])
        yield Change("drop-term", rest, f"{sign} {term}", at=node.terms[place])
        root = node.terms[place]
        if isinstance(root, Root) and root.degree is None and len(node.terms) == 2:
            inside = Add(
                tuple(t.body if isinstance(t, Root) and t is node.terms[place] else t for t in node.terms), node.signs
            )
            yield Change("sqrt", Root(inside))
        flipped = "+" if sign == "-" else "-"
        changed = Add(node.terms, (*node.signs[:place], flipped, *node.signs[place + 1 :]))
        yield Change("swap-sign", changed, f"{sign} {term}", f"{flipped} {term}", node.terms[place])


def drop(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    """A tuple without one item."""
    return (*items[:place], *items[place + 1 :])


def negated(self: Mutator, node: Negate) -> Iterator[Change]:
    yield Change("swap-sign", node.body)


def produced(self: Mutator, node: Product) -> Iterator[Change]:
    """Drop a factor, add instead of multiply, divide, swap matrices, multiply element by element."""
    factors = node.factors
    for place in range(len(factors)):
        rest = drop(factors, place)
        yield Change("drop-factor", rest[0] if len(rest) == 1 else Product(rest), at=factors[place])
    others = factors[1] if len(factors) == 2 else Product(factors[1:])
    yield Change("mul-to-add", Add((factors[0], others), ("+", "+")))
    for place in range(1, len(factors)):
        left, right = factors[place - 1], factors[place]
        if self.ranks.of(right) == 0:
            divided = Multiply(left, "/", right)
            yield Change(
                "mul-to-div",
                Product((*factors[: place - 1], divided, *factors[place + 1 :])) if len(factors) > 2 else divided,
            )
        if self.ranks.of(left) and self.ranks.of(right):
            yield Change("swap-operands", Product((*factors[: place - 1], right, left, *factors[place + 1 :])))
            if len(factors) == 2:
                yield Change("matmul-to-odot", Multiply(left, r"\odot", right))
    yield from regrouped(factors)
    yield from contracted(self, factors)


def contracted(self: Mutator, factors: tuple[Node, ...]) -> Iterator[Change]:
    """x y^T of two columns, which is a matrix, meant as the number that it is of two rows."""
    last, others = factors[-1], factors[:-1]
    before = others[0] if len(others) == 1 else Product(others)
    if isinstance(last, Transpose) and self.ranks.of(before) == self.ranks.of(last.base) == 1:
        yield Change("outer-to-inner", Multiply(before, r"\cdot", last.base))


def regrouped(factors: tuple[Node, ...]) -> Iterator[Change]:
    """a(b + c) read as ab + c."""
    last = factors[-1]
    if isinstance(last, Add) and len(factors) > 1:
        yield Change("regroup", Add((Product((*factors[:-1], last.terms[0])), *last.terms[1:]), last.signs))


def multiplied(self: Mutator, node: Multiply) -> Iterator[Change]:
    """The same for products with a sign."""
    yield Change("drop-factor", node.left)
    if node.sign == "/":
        yield Change("div-to-mul", Product((node.left, node.right)))
        yield Change("invert", Multiply(node.right, "/", node.left))
        return
    yield Change("drop-factor", node.right)
    yield Change("mul-to-add", Add((node.left, node.right), ("+", "+")))
    if node.sign == r"\odot":
        yield Change("odot-to-matmul", Product((node.left, node.right)))
    elif self.ranks.of(node.right) == 0:
        yield Change("mul-to-div", Multiply(node.left, "/", node.right))
    elif node.sign == r"\cdot" and self.ranks.of(node.left) != 0:
        yield Change("dot-to-odot", replace(node, sign=r"\odot"))


def divided(self: Mutator, node: Fraction) -> Iterator[Change]:
    """Drop a side, multiply or invert instead of divide, take the root of what is below."""
    yield Change("drop-factor", node.upper)
    if not isinstance(node.lower, Root | Number):
        yield Change("sqrt", replace(node, lower=Root(node.lower)))
    yield Change("div-to-mul", Product((node.upper, node.lower)))
    if node.upper != Number(1):
        yield Change("invert", Fraction(node.lower, node.upper))
        yield Change("drop-factor", Fraction(Number(1), node.lower))


def raised(self: Mutator, node: Power) -> Iterator[Change]:
    """Drop, negate or raise an exponent."""
    if isinstance(node.base, Constant) and node.base.name == "e":
        yield Change("drop-function", node.exponent)
        flipped = node.exponent.body if isinstance(node.exponent, Negate) else Negate(node.exponent)
        yield exponent_change(self, node, flipped)
        return
    yield Change("exponent", node.base, f"^{{{self.source_of(node.exponent)}}}", at=node.exponent)
    flipped = node.exponent.body if isinstance(node.exponent, Negate) else Negate(node.exponent)
    if isinstance(node.exponent, Multiply) and isinstance(node.exponent.left, Negate):
        flipped = replace(node.exponent, left=node.exponent.left.body)
    yield exponent_change(self, node, flipped)
    if isinstance(node.exponent, Number):
        yield exponent_change(self, node, Number(node.exponent.value + 1))
        if node.exponent.value > 2:
            yield exponent_change(self, node, Number(node.exponent.value - 1))
    else:
        yield exponent_change(self, node, Add((node.exponent, Number(1)), ("+", "+")))


def exponent_change(self: Mutator, node: Power, exponent: Node) -> Change:
    """A power with another exponent."""
    old, new = f"^{{{self.source_of(node.exponent)}}}", f"^{{{write(exponent)}}}"
    return Change("exponent", replace(node, exponent=exponent), old, new, node.exponent)


def transposed(self: Mutator, node: Node) -> Iterator[Change]:
    """Drop a transpose; add one where it could make a difference."""
    if isinstance(node, Transpose):
        yield Change("transpose", node.base)
    elif isinstance(node, Product):
        for place, factor in enumerate(node.factors):
            # A vector has no direction until it is transposed: x A and x^T A are one row.
            is_leading = all(self.ranks.of(before) == 0 for before in node.factors[:place])
            if (
                self.ranks.of(factor)
                and not isinstance(factor, Transpose)
                and not (is_leading and self.ranks.of(factor) == 1)
            ):
                yield Change(
                    "transpose", Product((*node.factors[:place], Transpose(factor), *node.factors[place + 1 :]))
                )


def rooted(self: Mutator, node: Root) -> Iterator[Change]:
    """No root; epsilon outside the root."""
    yield Change("sqrt", node.body)
    if isinstance(node.body, Add):
        yield Change("sqrt", Add((Root(node.body.terms[0], node.degree), *node.body.terms[1:]), node.body.signs))
