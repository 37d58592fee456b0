"""Change an equation in one place, in every way that an author's slip could: the proof that a check can fail.

Nothing is generated that means the same: no swap of numbers that commute, no exponent of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from .equation import Equation
from .nodes import (
    Add,
    Binding,
    Call,
    Case,
    Cases,
    Compare,
    Constant,
    Family,
    Fraction,
    Index,
    Join,
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
    free_names,
    names,
    places,
    put,
)
from .notation import Notation
from .ranks import Ranks
from .render import write

SWAPPED_FUNCTIONS: Final = {
    "sin": "cos", "cos": "sin", "exp": "log", "log": "exp", "tanh": "sigmoid", "sigmoid": "tanh", "max": "min",
    "min": "max", "silu": "relu",
    "relu": "silu", "gelu": "silu", "softmax": "log_softmax", "argmax": "argmin", "argmin": "argmax", "ln": "exp",
    "mean": "sum", "var": "std",
    "sinh": "cosh", "cosh": "sinh", "erf": "tanh", r"\Phi": "sigmoid", "floor": "ceil", "ceil": "floor",
}  # fmt: skip
SWAPPED_OPERATORS: Final = {
    "sum": "prod",
    "prod": "sum",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "argmin": "argmax",
    "mean": "sum",
}
SWAPPED_RELATIONS: Final = {"<": r"\le", r"\le": "<", ">": r"\ge", r"\ge": ">", "=": r"\ne", r"\ne": "="}


@dataclass(frozen=True)
class Change:
    """What one node becomes.  old, new, at: a shorter way to say it, when there is one."""

    operator: str
    node: Node | Binding | Case
    old: str = ""
    new: str = ""
    at: Node | None = None


@dataclass(frozen=True)
class Mutant:
    """An equation with one change.  old, new: LaTeX of what changed.   start, end: where it stands in the author's
    text."""

    operator: str
    equation: Equation
    old: str
    new: str
    start: int
    end: int
    statement: int


class Mutator:
    """The changes of each kind of node in one equation."""

    def __init__(self, equation: Equation) -> None:
        self.equation = equation
        self.notation: Notation = equation.notation
        self.ranks = Ranks(equation)
        self.used = equation.names
        self.running: list[str] = sorted(
            equation.lexicon.indices & set().union(*(names(root) for root in equation.roots()))
        )

    def mutants(self) -> Iterator[Mutant]:
        """Every changed equation, statement by statement."""
        for number, statement in enumerate(self.equation.statements):
            for place, member in enumerate(statement.members):
                seen = {member}
                is_left = place == 0 and statement.definition is not None
                for path, change in self.changes(member, is_left=is_left):
                    changed = put(member, path, change.node)
                    if changed not in seen:
                        seen.add(changed)
                        yield self.mutant(number, place, path, change, changed)

    def mutant(self, number: int, place: int, path: tuple[Any, ...], change: Change, changed: Node) -> Mutant:
        """The equation with one member changed."""
        statement = self.equation.statements[number]
        members = (*statement.members[:place], changed, *statement.members[place + 1 :])
        statements = list(self.equation.statements)
        statements[number] = replace(statement, members=members)
        old = change.at or node_at(statement.members[place], path)
        shown = change.old or self.source_of(old)
        new = change.new or (
            "" if change.at is not None or isinstance(change.node, Binding | Case) else write(change.node)
        )
        return Mutant(
            change.operator,
            replace(self.equation, statements=tuple(statements)),
            shown,
            new,
            old.start,
            old.end,
            number,
        )

    def source_of(self, node: Node) -> str:
        """The author's LaTeX of a node."""
        text = self.equation.source[node.start : node.end]
        return text if text and not text.startswith("\\v") else write(node)

    def changes(self, member: Node, *, is_left: bool) -> Iterator[tuple[tuple[Any, ...], Change]]:
        """Every change inside one side, with its path."""
        for path, node in places(member):
            if names_function(member, path):
                continue
            rules = LEFT_RULES if is_left else RULES
            for kind, rule in rules:
                if isinstance(node, kind):
                    for change in rule(self, node):
                        yield path, change
            if not is_left:
                yield from ((path, change) for change in transposed(self, node, is_whole=not path))

    def alike(self, key: str) -> list[str]:
        """Other used symbols of the same kind and shape; sizes and whole numbers are alike."""
        symbol = self.notation.symbols.get(key)
        if symbol is None:
            return []
        whole = ("dim", "int")
        return [
            other.key
            for other in self.notation.symbols.values()
            if other.key != key
            and other.key in self.used
            and (
                other.kind == symbol.kind
                or (other.kind.name in whole and symbol.kind.name in whole)
                or same_shape(other.kind, symbol.kind)
            )
        ]


def names_function(member: Node, path: tuple[Any, ...]) -> bool:
    """Is it the number in R_1(x)?  The whole name says which function that is; `called` puts another in its place."""
    if len(path) < 2 or path[-2] != "indices":
        return False
    return isinstance(node_at(member, path[:-2]), Call) and isinstance(node_at(member, path), Number)


def same_shape(one: Any, other: Any) -> bool:
    """Have two kinds one shape?"""
    return (
        bool(one.shape == other.shape)
        and one.name not in ("dim", "int", "index", "ints", "mask")
        and other.name not in ("dim", "int", "index", "ints", "mask")
    )


def node_at(node: Any, path: tuple[Any, ...]) -> Node:
    """The node at a path."""
    for step in path:
        node = node[step] if isinstance(step, int) else getattr(node, step)
    assert isinstance(node, Node)
    return node


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


def transposed(self: Mutator, node: Node, *, is_whole: bool) -> Iterator[Change]:
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


def indexed(self: Mutator, node: Index) -> Iterator[Change]:
    """Another index, a neighbour, two indices swapped."""
    for place, part in enumerate(node.indices):
        before, after = node.indices[:place], node.indices[place + 1 :]
        for sign in ("+", "-"):
            yield Change("index-shift", replace(node, indices=(*before, Add((part, Number(1)), ("+", sign)), *after)))
        for key in self.running:
            if isinstance(part, Name) and key != part.key:
                yield Change("index", replace(node, indices=(*before, Name(key), *after)))
    if len(node.indices) > 1:
        yield Change("index-swap", replace(node, indices=(node.indices[1], node.indices[0], *node.indices[2:])))


def named(self: Mutator, node: Name) -> Iterator[Change]:
    """Another symbol of the same kind and shape."""
    for key in self.alike(node.key):
        yield Change("swap-name", replace(node, key=key))


def called(self: Mutator, node: Call) -> Iterator[Change]:
    """Another function, none, its arguments swapped."""
    if node.base in SWAPPED_FUNCTIONS:
        other = SWAPPED_FUNCTIONS[node.base]
        yield Change("function", replace(node, function=other, base=other))
    if (
        len(node.arguments) == 1
        and node.function not in ("identity", "ones", "factorial")
        and not isinstance(node.arguments[0], Family)
    ):
        yield Change("drop-function", node.arguments[0])
    if len(node.arguments) > 1 and node.function not in ("max", "min", "inner", "logaddexp"):
        first, second, *rest = node.arguments
        yield Change("swap-args", replace(node, arguments=(second, first, *rest)))
    if node.function in ("max", "min"):
        for argument in node.arguments:
            yield Change("drop-function", argument)


def reduced(self: Mutator, node: Reduce) -> Iterator[Change]:
    """Another operator, other ends, a body that ends earlier."""
    if node.operator in SWAPPED_OPERATORS:
        yield Change("reduction", replace(node, operator=SWAPPED_OPERATORS[node.operator], weights=None))
    for place, binding in enumerate(node.bindings):
        for side in ("low", "high"):
            end = getattr(binding, side)
            if end is not None:
                for sign in ("+", "-"):
                    shifted = Add((end, Number(1)), ("+", sign))
                    moved = replace(binding, low=shifted) if side == "low" else replace(binding, high=shifted)
                    yield Change(
                        "bound", replace(node, bindings=(*node.bindings[:place], moved, *node.bindings[place + 1 :]))
                    )
    if node.condition is not None:
        yield Change("condition", replace(node, condition=None))
    if isinstance(node.body, Add):
        yield Change("regroup", Add((replace(node, body=node.body.terms[0]), *node.body.terms[1:]), node.body.signs))
    if node.operator == "sum" and isinstance(node.body, Product) and len(node.body.factors) == 2:
        first, second = node.body.factors
        if not free_names(second) & {binding.key for binding in node.bindings}:
            return
        yield Change(
            "regroup",
            Product((replace(node, body=first), second))
            if free_names(first) & {b.key for b in node.bindings}
            else node,
        )


def rooted(self: Mutator, node: Root) -> Iterator[Change]:
    """No root; epsilon outside the root."""
    yield Change("sqrt", node.body)
    if isinstance(node.body, Add):
        yield Change("sqrt", Add((Root(node.body.terms[0], node.degree), *node.body.terms[1:]), node.body.signs))


def compared(self: Mutator, node: Compare) -> Iterator[Change]:
    for place, sign in enumerate(node.relations):
        if sign in SWAPPED_RELATIONS:
            relations = (*node.relations[:place], SWAPPED_RELATIONS[sign], *node.relations[place + 1 :])
            yield Change("condition", replace(node, relations=relations))


def decided(self: Mutator, node: Cases) -> Iterator[Change]:
    """Two values swapped, a case dropped."""
    for place in range(len(node.rows) - 1):
        one, other = node.rows[place], node.rows[place + 1]
        rows = (
            *node.rows[:place],
            replace(one, value=other.value),
            replace(other, value=one.value),
            *node.rows[place + 2 :],
        )
        yield Change("cases", replace(node, rows=rows))
    yield Change("cases", node.rows[0].value)


def numbered(self: Mutator, node: Number) -> Iterator[Change]:
    """One more; for a decimal the last digit too."""
    yield Change("constant", replace(node, value=node.value + 1))
    if isinstance(node.value, float):
        digits = len(f"{node.value!r}".partition(".")[2])
        yield Change("constant", replace(node, value=node.value + 10.0**-digits))


def measured(self: Mutator, node: Norm) -> Iterator[Change]:
    yield Change("norm", replace(node, order="1" if node.order != "1" else "2"))


def joined(self: Mutator, node: Join) -> Iterator[Change]:
    if len(node.parts) > 1:
        yield Change("swap-args", replace(node, parts=(node.parts[1], node.parts[0], *node.parts[2:])))


def spread(self: Mutator, node: Family) -> Iterator[Change]:
    """Dots that begin later or end earlier."""
    yield Change("bound", replace(node, low=Add((node.low, Number(1)), ("+", "+"))))
    yield Change("bound", replace(node, high=Add((node.high, Number(1)), ("+", "-"))))


Rules = tuple[tuple[type[Node], Callable[[Mutator, Any], Iterator[Change]]], ...]
RULES: Final[Rules] = (
    (Add, added), (Negate, negated), (Product, produced), (Multiply, multiplied), (Fraction, divided), (Power,
    raised), (Index, indexed),
    (Name, named), (Call, called), (Reduce, reduced), (Root, rooted), (Compare, compared), (Cases, decided), (Number,
    numbered),
    (Norm, measured), (Join, joined), (Family, spread),
)  # fmt: skip
LEFT_RULES: Final[Rules] = ((Index, indexed), (Name, named), (Power, raised), (Number, numbered), (Product, produced))


def mutate(equation: Equation) -> list[Mutant]:
    """Every equation with one change."""
    return list(Mutator(equation).mutants())
