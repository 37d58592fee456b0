"""Find where an index stands in a tree: which axis of which array it runs along, and how far it is shifted there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .nodes import Add, Compare, Index, Name, Node, Number, Product, Reduce, children, free_names, walk
from .symbols import latex_of


def neighbours(chain: Compare, place: int) -> Iterator[tuple[str, Node, bool]]:
    """The relations of a member of a chain: sign, other side, and whether that stands on its left."""
    if place > 0:
        yield chain.relations[place - 1], chain.members[place - 1], True
    if place < len(chain.relations):
        yield chain.relations[place], chain.members[place + 1], False


def indexed_by(node: Node, key: str) -> Iterator[tuple[Index, int]]:
    """Where a name alone is an index: the indexed part and the axis."""
    if isinstance(node, Reduce) and any(binding.key == key for binding in node.bindings):
        return
    if isinstance(node, Index):
        for axis, part in enumerate(node.indices):
            if isinstance(part, Name) and part.key == key:
                yield node, axis
    for _, child in children(node):
        yield from indexed_by(child, key)


def stepped_by(node: Node, key: str) -> Iterator[tuple[Index, int, int, int]]:
    """Where a name, such as the t of x_{2t+1}, is in an index: the indexed part, the axis, the factor and the step."""
    if isinstance(node, Reduce) and any(binding.key == key for binding in node.bindings):
        return
    if isinstance(node, Index):
        for axis, part in enumerate(node.indices):
            line = line_of(part, key)
            if line is not None:
                yield node, axis, *line
    for _, child in children(node):
        yield from stepped_by(child, key)


def line_of(node: Node, key: str) -> tuple[int, int] | None:
    """2 and 1 of 2t + 1, 1 and -1 of t - 1; None for anything else."""
    if isinstance(node, Name):
        return (1, 0) if node.key == key else None
    if isinstance(node, Product) and len(node.factors) == 2:
        factor, line = whole(node.factors[0]), line_of(node.factors[1], key)
        return (factor, 0) if factor and factor > 0 and line == (1, 0) else None
    if isinstance(node, Add) and len(node.terms) == 2 and node.signs[0] == "+":
        step, line = whole(node.terms[1]), line_of(node.terms[0], key)
        if step is not None and line is not None and line[1] == 0:
            return line[0], step if node.signs[1] == "+" else -step
    return None


def whole(node: Node) -> int | None:
    """The value of a whole number."""
    return node.value if isinstance(node, Number) and isinstance(node.value, int) else None


def first_place(roots: Sequence[Node], key: str) -> Node:
    """Where a name stands in the first of several trees that has it."""
    return place_of(next((root for root in roots if key in free_names(root)), roots[0]), key)


def place_of(node: Node, key: str) -> Node:
    """Where a name stands within a tree."""
    return next((part for part in walk(node) if isinstance(part, Name) and part.key == key), node)


def described(node: Node) -> str:
    """An array's name for a message."""
    return latex_of(node.key) if isinstance(node, Name) else "an expression"
