"""Refuse a check that could not fail: nothing compared, a side read back, a name declared and not used."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from .arguments import check_arguments
from .definitions import is_derivable, is_formula_of_known
from .differentiation import parts_of
from .equation import Statement
from .errors import EquationError, fault
from .kinds import RANGE
from .nodes import Name, walk
from .notation import read_notation
from .prepared import Prepared
from .render import write
from .symbols import latex_of
from .targets import bases_used, mentioned

FAMOUS: Final = frozenset(
    ["exp", "log", "ln", "lg", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan"]
)


def check_vacuity(prepared: Prepared) -> None:
    """Raise EquationError for every way in which a check could pass without a comparison."""
    check_own_names(prepared)
    check_known(prepared)
    check_kinds(prepared)
    bound = {key for target in prepared.targets for key in target.keys}
    statements = prepared.definitions.statements
    compared = [statement for statement in statements if is_compared(statement, bound, prepared)]
    if not compared:
        raise fault(
            "nothing here is compared; bind a left side with ':check: NAME == PYTHON', or excuse it with ':nocheck: "
            "reason'",
            statements[0].members[0],
        )
    for statement in statements:
        check_sides(statement, bound, prepared)
    check_local_names(prepared, bound)
    check_arguments(prepared)


def check_kinds(prepared: Prepared) -> None:
    """Refuse a whole number that is always the same: of 2 nothing tells k^2 from 2k."""
    for symbol in prepared.symbols:
        match = (
            RANGE.match(symbol.kind.arguments[0])
            if symbol.kind.name in ("int", "dim") and symbol.kind.arguments
            else None
        )
        if match is not None and match[1].strip() == match[2].strip():
            fact = f"{symbol.latex} is always {match[1].strip()}, where other equations agree too"
            raise symbol.fault(f"{fact}; give it a range, or write the number", symbol.kind.arguments[0])


def check_known(prepared: Prepared) -> None:
    """Refuse to let \\exp be a function of the page: no reader would take it for another than the one they know."""
    for key, bound in prepared.functions.functions.items():
        if key in FAMOUS and key in prepared.equation.names:
            fact = f"every reader knows {bound.latex}; give the function '{bound.expression.text}' another name"
            raise bound.expression.fault(fact)


def check_own_names(prepared: Prepared) -> None:
    """Every name of ':where:' must occur."""
    if not prepared.request.where.strip():
        return
    used = {symbol.key for symbol in prepared.symbols} | prepared.equation.names
    for symbol in read_notation(prepared.request.where, prepared.macros).symbols.values():
        if symbol.key not in used:
            text = f"{symbol.latex} is declared for this equation and does not occur in it; drop it"
            raise EquationError(
                text,
                source=prepared.request.where,
                field="where",
                offset=max(0, prepared.request.where.find(symbol.latex)),
            )


def is_compared(statement: Statement, bound: set[str], prepared: Prepared) -> bool:
    """Does a statement compare anything, rather than only define?"""
    definition = statement.definition
    if definition is None:
        return True
    if definition.key in bound:
        return True
    if is_derivable(statement, definition, prepared.definitions) or is_formula_of_known(
        statement, prepared.definitions
    ):
        return True
    return len(statement.members) > 2 or not prepared.definitions.defines(definition.key)


def check_sides(statement: Statement, bound: set[str], prepared: Prepared) -> None:
    """Refuse two equal sides, and a right side that reads what code gives to its left."""
    left, *rights = statement.members
    definition = statement.definition
    for right in rights:
        if right == left and statement.relations[0] != r"\leftarrow":
            raise fault("both sides are the same, so this compares nothing", right)
        if definition is None:
            inside = {part.key for part in walk(left) if isinstance(part, Name)} & bound
            for part in walk(right):
                if isinstance(part, Name) and part.key in inside and not prepared.definitions.defines(part.key):
                    raise fault(f"the right side reads {latex_of(part.key)}, which it should give", part)
    for one, other in pairwise(rights):
        if one == other:
            raise fault("two members of the chain are the same, so this compares nothing", other)


def check_local_names(prepared: Prepared, bound: set[str]) -> None:
    """Every local definition must be bound, or serve one that is compared."""
    statements = prepared.definitions.statements
    needed = set[str]()
    defined = {statement.definition.key for statement in statements if statement.definition is not None}
    waiting = [statement for statement in statements if is_compared(statement, bound, prepared)]
    seen: list[Statement] = []
    while waiting:
        statement = waiting.pop()
        if statement in seen:
            continue
        seen.append(statement)
        definition = statement.definition
        members = statement.members[1:] if definition is not None else statement.members
        names = set().union(*(mentioned(member) for member in members)) | bases_used(members, defined)
        derivatives = [*names, *([definition.key] if definition is not None else [])]
        names |= {part for name in derivatives if name.startswith(r"\frac") for part in parts_of(name)}
        names |= {name[len(r"\nabla{") : -1] for name in derivatives if name.startswith(r"\nabla{")}
        if definition is not None:
            names |= set().union(set(), *(mentioned(pattern) for pattern in definition.patterns))
        needed |= names
        waiting += [other for other in statements if other.definition and gives(other, names) and other not in seen]
    for symbol_names in (target.source for target in prepared.targets):
        needed |= {symbol.key for symbol in prepared.symbols if symbol.code in getattr(symbol_names, "names", ())}
    for statement in statements:
        definition = statement.definition
        if definition is None or statement in seen or gives(statement, needed):
            continue
        shown = latex_of(definition.key)
        advice = f"write ':check: {shown} == PYTHON' for it"
        if statement.relations[0] == r"\leftarrow" and is_read_above(statement, statements):
            advice = f"{advice}, or what reads it below it: \\leftarrow holds from there on"
        if prepared.definitions.defines(f"{definition.key}^{{2}}") and definition.patterns:
            start = write(statement.members[0])
            advice = f"the display gives {shown}^2, so write {start}^2 = ... here too"
        if definition.key.endswith("^{+}"):
            advice = "drop it where it says what (...)^+ is, the positive part"
        raise fault(f"{shown} is defined and neither bound to code nor used by what is; {advice}", statement.members[0])


def is_read_above(statement: Statement, statements: list[Statement]) -> bool:
    r"""Does a right side above an assignment read what it gives?"""
    assert statement.definition is not None
    key = statement.definition.key.partition("←")[0]
    above = statements[: statements.index(statement)]
    return any(key in mentioned(member) for other in above for member in other.members[1:])


def gives(statement: Statement, names: set[str]) -> bool:
    """Does a statement define one of these names?"""
    definition = statement.definition
    if definition is None:
        return False
    return definition.key in names or definition.key.removesuffix("^{2}") in names or definition.family in names - {""}
