"""What an equation is made of: frozen trees, equal when they mean the same, each part with its place in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Node:
    """A part of an equation.  start, end: characters of the author's text (0-based, end outside)."""

    start: int = field(default=0, compare=False, kw_only=True)
    end: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True)
class Number(Node):
    value: int | float


@dataclass(frozen=True)
class Literal(Node):
    """A value put in while an equation is worked: a number or an array."""

    value: Any = field(compare=False)


@dataclass(frozen=True)
class Constant(Node):
    """pi, e, infinity, ones or identity."""

    name: str


@dataclass(frozen=True)
class Name(Node):
    """A symbol or an index.  key: its one spelling, W_{g} for W_g and for \\mathbf W_{g}."""

    key: str


@dataclass(frozen=True)
class Slice(Node):
    """A range inside a subscript, both ends included; none means from the first, to the last."""

    low: Node | None
    high: Node | None


@dataclass(frozen=True)
class Index(Node):
    """An element, a row or a slice of an array.

    is_doubtful: written as m(i), which of a number m is a product.
    """

    base: Node
    indices: tuple[Node, ...]
    is_doubtful: bool = False


@dataclass(frozen=True)
class Stretch(Node):
    """The element of a value that stands at a place of y_{low:high}, of which the value is all."""

    body: Node
    place: Node
    low: Node | None
    high: Node | None


@dataclass(frozen=True)
class Negate(Node):
    body: Node


@dataclass(frozen=True)
class Add(Node):
    """A sum of terms; signs: '+' or '-' of each."""

    terms: tuple[Node, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Product(Node):
    """Factors side by side."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Multiply(Node):
    """Two factors with a sign between them: \\cdot, \\times, *, \\odot, / or \\bmod."""

    left: Node
    sign: str
    right: Node


@dataclass(frozen=True)
class Fraction(Node):
    upper: Node
    lower: Node


@dataclass(frozen=True)
class Power(Node):
    base: Node
    exponent: Node
    is_elementwise: bool = False  # x^{\odot 2}


@dataclass(frozen=True)
class Transpose(Node):
    base: Node


@dataclass(frozen=True)
class Root(Node):
    body: Node
    degree: Node | None = None


@dataclass(frozen=True)
class Norm(Node):
    """order: '', '1', '2', a number, 'F' or '\\infty'."""

    body: Node
    order: str


@dataclass(frozen=True)
class Magnitude(Node):
    body: Node


@dataclass(frozen=True)
class Call(Node):
    """A function at its arguments.

    function: its whole name, R_{m}.  base, indices: the same name read as member m of a family R.
    is_bare: written without brackets, as in \\cos m\\theta.
    """

    function: str
    arguments: tuple[Node, ...]
    base: str = field(default="", compare=False)
    indices: tuple[Node, ...] = ()
    is_bare: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Compare(Node):
    """A chain of relations between expressions."""

    members: tuple[Node, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True)
class Logic(Node):
    """Conditions joined by 'and' or 'or'."""

    word: str
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Parity(Node):
    body: Node
    is_even: bool


@dataclass(frozen=True)
class Binding(Node):
    """An index that an operator runs: from low to high, over a declared set, or over what it indexes."""

    key: str
    low: Node | None = None
    high: Node | None = None
    members: Node | None = None


@dataclass(frozen=True)
class Reduce(Node):
    """A big operator: sum, prod, max, min, argmax, argmin, mean, or a function such as softmax_j.

    weights: the distribution p of \\mathbb{E}_{i \\sim p}.
    """

    operator: str
    bindings: tuple[Binding, ...]
    condition: Node | None
    body: Node
    weights: Node | None = None


@dataclass(frozen=True)
class Case(Node):
    """A value with its condition, None for otherwise.  is_else: it stands where none before it holds, as by else if."""

    value: Node
    condition: Node | None
    is_else: bool = False


@dataclass(frozen=True)
class Cases(Node):
    rows: tuple[Case, ...]


@dataclass(frozen=True)
class Matrix(Node):
    rows: tuple[tuple[Node, ...], ...]
    is_determinant: bool = False


@dataclass(frozen=True)
class Join(Node):
    """Parts put side by side, [a, b], or one above the other, [a; b]."""

    parts: tuple[Node, ...]
    is_vertical: bool = False


@dataclass(frozen=True)
class Family(Node):
    """What an ellipsis stands for: the template at every value of its index from low to high.

    operator: ',' for a list, '+' for a sum, '' for a product.
    """

    template: Node
    key: str
    low: Node
    high: Node
    operator: str


@dataclass(frozen=True)
class Indicator(Node):
    condition: Node


@dataclass(frozen=True)
class Derivative(Node):
    """\\frac{\\partial L}{\\partial z_i}: the name that code may bind, and the derivative that it means."""

    key: str
    of: Node
    by: Node


def children(node: Node) -> Iterator[tuple[tuple[Any, ...], Node]]:
    """Yield each part of a node with its path: a field's name, and positions within tuples."""
    for name in names_of_parts(type(node)):  # type: ignore[arg-type]  # mypy takes a class for one without a hash
        yield from parts(getattr(node, name), (name,))


@cache
def names_of_parts(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields of a kind of node, but for its place."""
    return tuple(item.name for item in fields(kind) if item.name not in ("start", "end"))


def parts(value: object, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Node]]:
    """Yield the nodes inside a field."""
    if isinstance(value, Node):
        yield path, value
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from parts(item, (*path, number))


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything inside it, outside first."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed([child for _, child in children(node)]))


def places(node: Node, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Node]]:
    """Yield every path inside a node with the node there, outside first."""
    yield path, node
    for step, child in children(node):
        yield from places(child, path + step)


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return the tree with what stands at the path exchanged."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, tuple):
        return (*value[:step], put(value[step], rest, new), *value[step + 1 :])
    return replace(value, **{step: put(getattr(value, step), rest, new)})


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the node with each of its parts changed; the same one where nothing does."""
    for path, child in list(children(node)):
        changed = change(child)
        if changed is not child:
            node = put(node, path, changed)
    return node


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """Return the tree with other keys for some names, wherever they stand."""
    if isinstance(node, Name):
        return replace(node, key=names[node.key]) if node.key in names else node
    return with_parts(node, lambda child: renamed(child, names)) if names else node


def substitute(node: Node, key: str, new: Node) -> Node:
    """Return the tree with every free occurrence of a name exchanged."""
    if isinstance(node, Name):
        return new if node.key == key else node
    if isinstance(node, Reduce) and any(binding.key == key for binding in node.bindings):
        return node
    return with_parts(node, lambda child: substitute(child, key, new))


def names(node: Node) -> set[str]:
    """The keys of all names inside, bound ones included."""
    return {part.key for part in walk(node) if isinstance(part, Name)}


def free_names(node: Node) -> set[str]:
    """The keys of all names inside that no operator binds."""
    if isinstance(node, Name):
        return {node.key}
    found = set[str]()
    for _, child in children(node):
        found |= free_names(child)
    if isinstance(node, Reduce):
        found -= {binding.key for binding in node.bindings}
    if isinstance(node, Family):
        found.discard(node.key)
    return found
