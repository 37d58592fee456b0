"""Find the one-edit changes of a wrong equation after which it agrees with the code; never guess which side is
wrong."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from .codecalls import CodeCall
from .definitions import collect
from .errors import EquationError
from .mutator import Mutant, Mutator
from .nodes import (
    Add,
    Call,
    Fraction,
    Index,
    Magnitude,
    Name,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Reduce,
    Root,
    places,
    put,
)
from .notation import Symbol
from .prepared import row_keys
from .render import write
from .vacuity import check_vacuity
from .verdict import Disagreement, Suggestion

if TYPE_CHECKING:
    from .comparing import Comparer
    from .prepared import Prepared

MOST: Final = 3
MAX_TRIED: Final = 1_500
MAX_STEPS: Final = 1_500_000


def suggest(prepared: Prepared, comparer: Comparer) -> list[Suggestion]:
    """At most three edits that make both sides agree at every draw; nothing when none does."""
    found: dict[str, Suggestion] = {}
    left = MAX_STEPS
    for number, mutant in enumerate(candidates(prepared)):
        if number >= MAX_TRIED or left <= 0 or (found and mutant.operator == "restore"):
            break
        agrees, steps = agreement(prepared, comparer, mutant)
        left -= steps
        if agrees:
            suggestion = Suggestion(mutant.old, mutant.new, mutant.start, mutant.end)
            found.setdefault(str(suggestion), suggestion)
    return sorted(found.values(), key=lambda edit: len(edit.old) + len(edit.new))[:MOST]


def candidates(prepared: Prepared) -> Iterator[Mutant]:
    """Every changed equation: one that a slip could have come from, then one with a lost symbol put back."""
    mutator = Mutator(prepared.equation)
    mutator.used = mutator.used | {symbol.key for symbol in prepared.symbols}
    yield from mutator.mutants()
    yield from edited(prepared, squared)
    mentioned = prepared.equation.names
    lost = [symbol for symbol in prepared.symbols if symbol.key not in mentioned and symbol.kind.name != "index"]
    for symbol in [*sorted(lost, key=lambda symbol: symbol.kind.name == "dim"), *optional(prepared)]:
        name = Name(symbol.key)
        elements = [Index(name, (Name(key),)) for key in mutator.running if len(symbol.kind.shape) == 1]
        for part in (name, *elements):
            yield from edited(prepared, partial(with_part, part=part))


def optional(prepared: Prepared) -> list[Symbol]:
    """The symbols that the code would take as well, and has a default for: an epsilon that the equation lost."""
    codes, found = prepared.notation.by_code(), []
    for target in prepared.targets:
        if isinstance(target.source, CodeCall):
            names = [name for name in inspect.signature(target.source.function).parameters if name in codes]
            found += [codes[name] for name in names if name not in target.source.arguments]
    return found


def edited(prepared: Prepared, edits: Callable[[Node], Iterator[Node]]) -> Iterator[Mutant]:
    """The equation with what it may have lost put back at one place."""
    equation = prepared.equation
    mutator = Mutator(equation)
    for number, statement in enumerate(equation.statements):
        for place, member in enumerate(statement.members[1:], start=1):
            for path, node in places(member):
                for new in edits(node):
                    members = (*statement.members[:place], put(member, path, new), *statement.members[place + 1 :])
                    statements = list(equation.statements)
                    statements[number] = replace(statement, members=members)
                    changed = replace(equation, statements=tuple(statements))
                    yield Mutant("restore", changed, mutator.source_of(node), write(new), node.start, node.end, number)


def squared(node: Node) -> Iterator[Node]:
    """The square of a part that has lost it."""
    if isinstance(node, Name | Index | Add | Norm | Magnitude | Call):
        yield Power(node, Number(2))


def with_part(node: Node, part: Node) -> Iterator[Node]:
    """A part of the equation with what the code reads, a symbol or its element, added, multiplied or divided."""
    if not isinstance(node, Add | Root | Power | Product | Reduce | Fraction | Name | Index):
        return
    if isinstance(node, Root):
        yield Root(Add((node.body, part), ("+", "+")), node.degree)
        return
    yield Add((node, part), ("+", "+"))
    yield Product((part, node))
    if not (isinstance(node, Fraction) and node.lower == Number(1)):
        yield Fraction(node, part)


def agreement(prepared: Prepared, comparer: Comparer, mutant: Mutant) -> tuple[bool, int]:
    """Does a changed equation agree at every draw, and how many steps did that take?"""
    steps, takes_more = 0, any(symbol.key in mutant.equation.names for symbol in optional(prepared))
    try:
        changed = prepared_anew(prepared, mutant) if takes_more else with_equation(prepared, mutant)
        if row_keys(changed) != comparer.sides.row_keys:
            return False, 0  # other numbers are drawn then, so an agreement would mend nothing
        check_vacuity(changed)
        trial = type(comparer)(changed, None if takes_more else comparer.sides)
        try:
            trial.run()
        finally:
            steps = trial.steps
    except (Disagreement, EquationError, RecursionError):
        return False, steps + 200
    return True, steps


def with_equation(prepared: Prepared, mutant: Mutant) -> Prepared:
    """The same check of a changed equation."""
    return replace(prepared, equation=mutant.equation, definitions=collect(mutant.equation))


def prepared_anew(prepared: Prepared, mutant: Mutant) -> Prepared:
    """The check of a changed equation that gives the code an argument more."""
    from .checker import prepare_read

    return prepare_read(mutant.equation, prepared.request, prepared.namespace, prepared.macros)
