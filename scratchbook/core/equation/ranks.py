"""How many axes a part of an equation has, from kinds alone; None where only numbers can tell."""

from __future__ import annotations

from collections.abc import Sequence

from .equation import Equation
from .nodes import (
    Add,
    Call,
    Fraction,
    Index,
    Magnitude,
    Multiply,
    Name,
    Negate,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Reduce,
    Root,
    Transpose,
)
from .primitives import ELEMENTWISE, WITH_INDEX

MAX_DEPTH = 60


class Ranks:
    """The numbers of axes of one equation's parts."""

    def __init__(self, equation: Equation) -> None:
        self.notation = equation.notation
        self.indices = equation.lexicon.indices
        self.bodies = {}
        for statement in equation.statements:
            definition = statement.definition
            if definition is not None and definition.parameters is None:
                self.bodies[definition.key] = (len(definition.patterns), statement.members[1])
        self.waiting: set[str] = set()

    def of(self, node: Node) -> int | None:
        """The number of axes of a part."""
        if isinstance(node, Number | Norm | Magnitude):
            return 0
        if isinstance(node, Name):
            return self.of_name(node.key)
        if isinstance(node, Index):
            base = self.of(node.base)
            return None if base is None else max(0, base - len(node.indices))
        if isinstance(node, Negate | Root):
            return self.of(node.body)
        if isinstance(node, Power | Transpose):
            return self.of(node.base)
        if isinstance(node, Reduce):
            return 0 if node.operator in ("argmax", "argmin") else self.of(node.body)
        if isinstance(node, Call):
            elementwise = node.base in ELEMENTWISE or node.base in WITH_INDEX or node.base == "softmax"
            return self.of(node.arguments[0]) if elementwise else None
        return self.of_many(node)

    def of_many(self, node: Node) -> int | None:
        """The axes of a sum, product or fraction."""
        if isinstance(node, Add):
            parts = [self.of(term) for term in node.terms]
        elif isinstance(node, Fraction):
            parts = [self.of(node.upper), self.of(node.lower)]
        elif isinstance(node, Multiply):
            parts = [self.of(node.left), self.of(node.right)]
            if node.sign not in ("/", r"\odot") and all(parts):
                return None
        elif isinstance(node, Product):
            return self.of_product(node.factors)
        else:
            return None
        return None if None in parts else max(part or 0 for part in parts)

    def of_product(self, factors: Sequence[Node]) -> int | None:
        """The axes of factors side by side, of which each array meets the next; None where they do not meet."""
        arrays = [(rank, isinstance(factor, Transpose)) for factor in factors if (rank := self.of(factor)) != 0]
        found, is_row = arrays[0] if arrays else (0, False)
        for rank, is_next_row in arrays[1:]:
            match found, is_row, rank, is_next_row:
                case 1, True, 1, False:
                    found = 0
                case 1, False, 1, True:
                    found = 2
                case (2, _, 1, False) | (1, _, 2, _):
                    found, is_row = 1, is_row and found == 1
                case 2, _, 2, _:
                    found = 2
                case 0, _, _, _:
                    found, is_row = rank, is_next_row
                case _:
                    return None
        return found

    def of_name(self, key: str) -> int | None:
        """The axes of a symbol: by its kind, else by what defines it."""
        if key in self.notation.symbols:
            return len(self.notation.symbols[key].kind.shape)
        if key in self.indices:
            return 0
        if key not in self.bodies or key in self.waiting:
            return None
        self.waiting.add(key)
        count, body = self.bodies[key]
        inner = self.of(body)
        self.waiting.discard(key)
        return None if inner is None else count + inner
