"""Statements that name in another form: of a tuple, of an inverse, and with a name given last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .known import known_function
from .leftsides import read_left
from .lexicon import Lexicon
from .notation import Notation
from .pieces import closing, split_commas
from .statements import RawStatement
from .symbols import flat, key_of, read_scripts, split_key
from .tokens import Token

Members = tuple[tuple[Token, ...], ...]


def plainly(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements of a display with one name on each left side that gives one."""
    parted = [part for statement in statements for part in parts_of_tuple(statement)]
    unnamed = [without_name_given(statement, parted, notation) for statement in parted]
    return [with_inverse(statement, unnamed, notation) for statement in unnamed]


def parts_of_tuple(statement: RawStatement) -> list[RawStatement]:
    """(a, b) = (c, d) as a = c and b = d."""
    lists = [items_of(member) for member in statement.members]
    is_equal = {token.text for token in statement.relations} <= {"=", ":="} and len(statement.members) > 1
    if not is_equal or len(lists[0]) < 2 or len(set(map(len, lists))) > 1:
        return [statement]
    return [replace(statement, members=tuple(map(tuple, parts))) for parts in zip(*lists, strict=True)]


def items_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """What stands between the commas of a member that is one list in round brackets."""
    if tokens[0].text != "(" or closing(tokens, 0) != len(tokens) - 1 or tokens[-1].text != ")":
        return []
    return split_commas(tokens[1:-1])


def without_name_given(statement: RawStatement, statements: Sequence[RawStatement], notation: Notation) -> RawStatement:
    r"""A chain without the name that it gives at its end, as y = ax + b \equiv \operatorname{BN}_{a,b}(x) does.

    Nothing declares that name, and nothing else mentions it.
    """
    if len(statement.members) < 3 or statement.relations[-1].text != ":=":
        return statement
    named = read_left(statement.members[-1], Lexicon())
    declared = {split_key(key)[0] for key in [*notation.symbols, *notation.functions]}
    if named is None or named.base in declared or known_function(named.base):
        return statement
    if texts_of(statements).count(statement.members[-1][0].text) > 1:
        return statement
    return replace(statement, members=statement.members[:-1], relations=statement.relations[:-1])


def with_inverse(statement: RawStatement, statements: Sequence[RawStatement], notation: Notation) -> RawStatement:
    r"""\Sigma^{-1} = A as \Sigma = A^{-1}, where \Sigma is read elsewhere and nothing else gives it."""
    left = statement.members[0]
    scripts, end = read_scripts(left, 1) if left[0].kind == "name" else (None, 0)
    if scripts is None or end != len(left) or flat(scripts.above) != "-1" or scripts.primes:
        return statement
    if {token.text for token in statement.relations} - {"=", ":="} or not statement.relations:
        return statement
    name = key_of(left[0].text, scripts.below)
    lefts = [read_left(other.members[0], Lexicon()) for other in statements if other is not statement]
    is_given = any(other and key_of(other.base, other.scripts.below, other.scripts.above) == name for other in lefts)
    if name in notation.symbols or is_given or not is_read(left[0], scripts.below, statements):
        return statement
    at = left[-1]
    below = (mark("_", at), mark("{", at), *scripts.below, mark("}", at)) if scripts.below else ()
    power = (
        mark(")", at),
        mark("^", at),
        mark("{", at),
        mark("-", at),
        replace(at, kind="number", text="1"),
        mark("}", at),
    )
    rights = tuple((mark("(", at), *right, *power) for right in statement.members[1:])
    return replace(statement, members=((left[0], *below), *rights))


def mark(text: str, at: Token) -> Token:
    """A sign where another token stands."""
    return replace(at, kind="symbol", text=text)


def is_read(name: Token, below: Sequence[Token], statements: Sequence[RawStatement]) -> bool:
    """Does a right side read a name without the power -1?"""
    for statement in statements:
        for member in statement.members[1:]:
            for place, token in enumerate(member):
                if token.kind == "name" and token.text == name.text:
                    scripts, _ = read_scripts(member, place + 1)
                    if flat(scripts.below) == flat(below) and flat(scripts.above) != "-1":
                        return True
    return False


def texts_of(statements: Sequence[RawStatement]) -> list[str]:
    """The texts of all tokens."""
    return [token.text for statement in statements for member in statement.members for token in member]
