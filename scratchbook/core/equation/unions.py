r"""Sets made of others, A \cup B, A \cap B and A \setminus \{i\}: what a member of one meets, as a condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from .errors import fault
from .pieces import join_commas, split_at, top_level, unwrapped
from .tokens import Token
from .vocabulary import RELATIONS

WITHOUT: Final = (r"\setminus", r"\backslash")
MADE: Final = ((r"\cup",), (r"\cap",), WITHOUT)
SIGNS: Final = frozenset(sign for signs in MADE for sign in signs)
OUTSIDE: Final = r"\notin"
# Signs of conditions, and what joins their opposites.
JOINED: Final = (((r"\vee", "or"), r"\wedge"), ((r"\wedge", "and", ","), r"\vee"))
OPPOSITE: Final = {"=": r"\ne", r"\ne": "=", "<": r"\ge", r"\ge": "<", ">": r"\le", r"\le": ">"}

Condition = list[Token] | None
# What a member of one set that is made of no others meets; None for what is no set.
Atom = Callable[[Sequence[Token]], Condition]


def is_made(tokens: Sequence[Token]) -> bool:
    """Is it a set that is made of others?"""
    return any(token.text in SIGNS for token in top_level(unwrapped(tokens)))


def member_condition(tokens: Sequence[Token], atom: Atom) -> Condition:
    r"""What a member of a set meets; None where that is not known.

    Raises EquationError for A \cup B \cap C, which says no order.
    """
    tokens = unwrapped(tokens)
    ways = [signs for signs in MADE if any(token.text in signs for token in top_level(tokens))]
    if len(ways) > 1:
        first, second = ways[0][0], ways[1][0]
        at = next(token for token in tokens if token.text in ways[1])
        raise fault(f"ambiguous: {second} beside {first}; put brackets around one of them", at)
    if not ways:
        return atom(tokens)
    parts = [member_condition(piece, atom) if piece else None for piece in split_at(tokens, ways[0])]
    if ways[0] == WITHOUT:
        parts = [parts[0], *(opposite(part) if part else None for part in parts[1:])]
    return joined(parts, r"\vee" if ways[0] == MADE[0] else r"\wedge")


def joined(parts: Sequence[Condition], sign: str) -> Condition:
    """Conditions as one; None where one is not known."""
    found = list[Token]()
    for part in parts:
        if not part:
            return None
        found += [replace(part[0], kind="symbol", text=sign)] if found else []
        found += [replace(part[0], kind="symbol", text="("), *part, replace(part[0], kind="symbol", text=")")]
    return found


def opposite(condition: Sequence[Token]) -> Condition:
    """The condition that holds where another does not; None where that is not known."""
    condition = unwrapped(condition)
    for signs, other in JOINED:
        pieces = split_at(condition, signs)
        if len(pieces) > 1:
            return joined([opposite(piece) if piece else None for piece in pieces], other)
    relations = [token for token in top_level(condition) if token.text in RELATIONS]
    places = [-1, *(number for number, token in enumerate(condition) if any(token is own for own in relations))]
    if not relations or not {token.text for token in relations} <= {*OPPOSITE}:
        return None
    members = [condition[first + 1 : last] for first, last in pairwise([*places, len(condition)])]
    parts = [
        [*left, replace(sign, text=OPPOSITE[sign.text]), *right]
        for (left, right), sign in zip(pairwise(members), relations, strict=True)
    ]
    return parts[0] if len(parts) == 1 else joined(parts, r"\vee")


def any_of(element: Sequence[Token], members: Sequence[Sequence[Token]]) -> Condition:
    """That an element is one of those listed."""
    equal = replace(element[0], kind="symbol", text="=")
    parts: list[Condition] = [[*element, equal, *member] for member in members]
    return parts[0] if len(parts) == 1 else joined(parts, r"\vee")


def one_at(base: Token, indices: Sequence[Sequence[Token]], element: Sequence[Token]) -> Condition:
    """That N_{i,j} = 1, where j is in a declared set N_i."""
    signs = {text: replace(base, kind="symbol", text=text) for text in "_{}="}
    below = join_commas([*indices, element])
    return [base, signs["_"], signs["{"], *below, signs["}"], signs["="], replace(base, kind="number", text="1")]
