r"""What a display defines: for each name the clauses that give it, with assignments \leftarrow told apart by their
order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from .differentiation import parts_of
from .equation import Definition, Equation, Statement
from .known import LETTERS, WORDS
from .nodes import Add, Call, Derivative, Index, Name, Node, Root, renamed, walk
from .symbols import split_key


@dataclass(frozen=True)
class Clause:
    """One statement as a definition: key at these patterns is the body."""

    definition: Definition
    body: Node
    statement: Statement


@lru_cache(maxsize=500)
def target_of(clause: Clause) -> Node:
    """A left side as an element of the array that code gives, whether it is x_i or f(x)_i."""
    return Index(Name(clause.definition.key), clause.definition.patterns)


@dataclass
class Definitions:
    """The clauses of every defined name.

    last: the final version of each name that \\leftarrow assigns.   statements: the equation's own, in their versions.
    """

    clauses: dict[str, list[Clause]] = field(default_factory=dict)
    families: dict[str, list[Clause]] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)

    def add(self, clause: Clause) -> None:
        """Add one clause; a square such as \\sigma^2 also gives its root."""
        definition = clause.definition
        self.clauses.setdefault(definition.key, []).append(clause)
        if definition.family:
            self.families.setdefault(definition.family, []).append(clause)

    def names_behind(self, body: Node) -> set[str]:
        """The names that a body needs, with those that their definitions need."""
        found, waiting = set[str](), [body]
        while waiting:
            fresh = {part.key for part in walk(waiting.pop()) if isinstance(part, Name)} - found
            found |= fresh
            waiting += [clause.body for key in fresh for clause in self.clauses.get(key, ())]
        return found

    def defines(self, key: str) -> bool:
        """Does the display give this name a value?"""
        return key in self.clauses


def collect(equation: Equation) -> Definitions:
    """The definitions of an equation and of those given to it; its own come last."""
    found = Definitions()
    for given in equation.given:
        for clauses in collect(given).clauses.values():
            for clause in clauses:
                found.add(clause)
    own = {statement.definition.key for statement in equation.statements if statement.definition}
    for key in own:
        found.clauses.pop(key, None)
    found.statements, found.last = versions(equation.statements)
    for statement in found.statements:
        if statement.definition is not None and not is_bound(statement.definition, equation):
            found.add(Clause(statement.definition, statement.members[1], statement))
    add_roots(found)
    return found


def is_bound(definition: Definition, equation: Equation) -> bool:
    """Does the notation bind this function to code, so that a formula of it is something to check?"""
    return definition.parameters is not None and definition.key in equation.notation.functions


def add_roots(found: Definitions) -> None:
    """\\sigma as the root of a defined \\sigma^2, unless it is defined itself."""
    for key in list(found.clauses):
        base, _, above, primes = split_key(key) if not key.startswith(r"\frac") else ("", "", "", "")
        root = key.removesuffix("^{2}")
        if above == "2" and base and not primes and root not in found.clauses:
            for clause in found.clauses[key]:
                found.add(Clause(replace(clause.definition, key=root), Root(clause.body), clause.statement))


def as_recurrence(statement: Statement) -> Statement:
    r"""x_t \leftarrow ... x_{t-1} ... with '=': its index tells the values of x apart, so nothing is overwritten."""
    definition = statement.definition
    if definition is None or statement.relations[0] != r"\leftarrow" or not definition.patterns:
        return statement
    parts = [part for member in statement.members[1:] for part in walk(member)]
    names = [part for part in parts if isinstance(part, Name) and part.key == definition.key]
    read = [part.indices for part in parts if isinstance(part, Index) and part.base in names]
    if not read or len(read) != len(names) or not all(is_earlier(indices, definition.patterns) for indices in read):
        return statement
    return replace(statement, relations=("=", *statement.relations[1:]))


def as_function(statement: Statement) -> Statement:
    r"""Q'(s, a) \leftarrow ... Q(s, a) ... with '=': a function of which its own right side reads nothing."""
    definition = statement.definition
    if definition is None or definition.parameters is None or statement.relations[0] != r"\leftarrow":
        return statement
    parts = [part for member in statement.members[1:] for part in walk(member)]
    if any(isinstance(part, Call) and part.function == definition.key for part in parts):
        return statement
    return replace(statement, relations=("=", *statement.relations[1:]))


def is_earlier(indices: Sequence[Node], patterns: Sequence[Node]) -> bool:
    """Is it x_{t-1,i} beside x_{t,i}: one index stepped back from what it is on the left?"""
    return len(indices) == len(patterns) and any(
        isinstance(index, Add) and index.terms[0] == pattern and index.signs == ("+", "-") and isinstance(pattern, Name)
        for index, pattern in zip(indices, patterns, strict=True)
    )


def versions(statements: Iterable[Statement]) -> tuple[list[Statement], dict[str, str]]:
    """Name every assignment's result apart, so that what stands later reads the latest."""
    current: dict[str, str] = {}
    result = []
    for number, written in enumerate(statements):
        statement = as_function(as_recurrence(written))
        members = [renamed(member, current) for member in statement.members]
        definition = statement.definition
        if definition is not None and statement.relations[0] == r"\leftarrow":
            fresh = f"{definition.key}←{number + 1}"
            members[0] = renamed(statement.members[0], current | {definition.key: fresh})
            current[definition.key] = fresh
        result.append(replace(statement, members=tuple(members)))
    return result, current


def is_derivable(statement: Statement, definition: Definition, definitions: Definitions) -> bool:
    """Is the left side a derivative of something that the display defines, or f'(x)?"""
    if isinstance(statement.members[0], Derivative) or gradient_of(definition, definitions):
        return True
    return definition.key.startswith(r"\frac") and definitions.defines(parts_of(definition.key)[0])


def gradient_of(definition: Definition, definitions: Definitions) -> str:
    r"""The f of \nabla f(z) = ... where the display defines f(z) as well; "" for anything else."""
    of = definition.key.removeprefix(r"\nabla{").removesuffix("}")
    if of == definition.key or len(definition.parameters or ()) != 1 or not definitions.defines(of):
        return ""
    clauses = definitions.clauses[of]
    is_alone = len(clauses) == 1 and not clauses[0].definition.patterns
    return of if is_alone and len(clauses[0].definition.parameters or ()) == 1 else ""


def is_formula_of_known(statement: Statement, definitions: Definitions) -> bool:
    r"""Is it a formula such as \tanh(x) = ..., for a function that everybody knows and nothing else here uses?"""
    left = statement.members[0]
    while isinstance(left, Index):
        left = left.base
    if not isinstance(left, Call) or left.base not in {*WORDS, *LETTERS.values()}:
        return False
    others = [
        member
        for other in definitions.statements
        for member in (other.members[1:] if other is statement else other.members)
    ]
    return not any(
        isinstance(part, Call) and part.function == left.function for member in others for part in walk(member)
    )
