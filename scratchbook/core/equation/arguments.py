"""Refuse what the brackets of a left side say and nothing heeds: an argument that nobody reads, or one that a name
beside the function reads instead."""

from __future__ import annotations

from collections.abc import Iterator

from .definitions import Clause
from .errors import fault
from .nodes import Call, Name, walk
from .prepared import Prepared
from .symbols import latex_of


def check_arguments(prepared: Prepared) -> None:
    """Raise EquationError for the y of f(x, y) = 2x, and for h = x^2 beside g(x) = x h where g is called with
    something else than x."""
    for key, clauses in prepared.definitions.clauses.items():
        for clause in clauses:
            if clause.statement in prepared.definitions.statements and clause.definition.parameters:
                check_unread(prepared, key, clause)
                check_scope(prepared, key, clause)


def letters_of(clause: Clause) -> list[Name]:
    """The arguments that are a letter."""
    return [part for part in clause.definition.parameters or () if isinstance(part, Name)]


def check_unread(prepared: Prepared, key: str, clause: Clause) -> None:
    """Refuse a declared argument that neither the right side nor the code takes."""
    target = next((target for target in prepared.targets if key in target.keys), None)
    if target is None:
        return
    read = set().union(*(prepared.definitions.names_behind(member) for member in clause.statement.members[1:]))
    for letter in letters_of(clause):
        symbol = prepared.notation.symbols.get(letter.key)
        if symbol is None or letter.key in read or symbol.code in target.reads:
            continue
        fact = f"{symbol.latex} stands in the brackets on the left, and neither the right side nor {target.text} reads"
        raise fault(f"{fact} it; drop it, or name what is read", letter)


def check_scope(prepared: Prepared, key: str, clause: Clause) -> None:
    """Refuse a defined name in a function's body that reads the letter of its argument, where that is a symbol too:
    of g(2x) it could mean either."""
    letters = {letter.key for letter in letters_of(clause) if letter.key in prepared.notation.symbols}
    if not letters or not any(is_elsewhere(call, clause) for call in calls_of(prepared, key)):
        return
    for part in walk(clause.body):
        if not isinstance(part, Name) or part.key in letters:
            continue
        own = prepared.definitions.clauses.get(part.key, ())
        if not own or own[0].definition.parameters is not None:
            continue
        behind = letters & prepared.definitions.names_behind(part)
        if behind:
            name, letter = latex_of(part.key), latex_of(min(behind))
            fact = f"{name} reads {letter}, which is the argument of {latex_of(key)} here and a symbol elsewhere"
            raise fault(f"ambiguous: {fact}; define {name}({letter}) = ..., or give the argument another letter", part)


def calls_of(prepared: Prepared, key: str) -> Iterator[Call]:
    """Yield every call of a function on right sides."""
    for statement in prepared.definitions.statements:
        for member in statement.members[1:]:
            yield from (part for part in walk(member) if isinstance(part, Call) and part.function == key)


def is_elsewhere(call: Call, clause: Clause) -> bool:
    """Is a function called with something else than its own letters?"""
    return call.arguments != clause.definition.parameters
