"""Change an equation in one place, in every way that an author's slip could: the proof that a check can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from . import changes, renamings
from .changes import Change
from .equation import Equation
from .nodes import (
    Add,
    Binding,
    Call,
    Case,
    Cases,
    Compare,
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
    names,
    places,
    put,
)
from .notation import Notation
from .ranks import Ranks
from .render import write


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
                yield from ((path, change) for change in changes.transposed(self, node))

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


Rules = tuple[tuple[type[Node], Callable[[Mutator, Any], Iterator[Change]]], ...]
RULES: Final[Rules] = (
    (Add, changes.added),
    (Negate, changes.negated),
    (Product, changes.produced),
    (Multiply, changes.multiplied),
    (Fraction, changes.divided),
    (Power, changes.raised),
    (Root, changes.rooted),
    (Index, renamings.indexed),
    (Name, renamings.named),
    (Call, renamings.called),
    (Reduce, renamings.reduced),
    (Compare, renamings.compared),
    (Cases, renamings.decided),
    (Number, renamings.numbered),
    (Norm, renamings.measured),
    (Join, renamings.joined),
    (Family, renamings.spread),
)
LEFT_RULES: Final[Rules] = (
    (Index, renamings.indexed),
    (Name, renamings.named),
    (Power, changes.raised),
    (Number, renamings.numbered),
    (Product, changes.produced),
)


def mutate(equation: Equation) -> list[Mutant]:
    """Every equation with one change."""
    return list(Mutator(equation).mutants())
