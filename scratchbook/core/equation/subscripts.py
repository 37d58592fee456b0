"""Read what stands in subscripts: lists of indices, and slices.  Declared numbers and axes decide what is one index."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from .errors import fault
from .known import REDUCERS
from .nodes import Add, Node, Number, Slice
from .pieces import closing, join_commas, split_at, split_commas, unwrapped
from .symbols import key_of, read_scripts
from .tokens import Token

if TYPE_CHECKING:
    from .parser import Parser

EVERYTHING: Final = (":", r"\cdot", "*", r"\bullet")


def read_sizes(parser: Parser, tokens: Sequence[Token]) -> tuple[Node, ...]:
    r"""The sizes under a vector or a matrix of ones or a unit matrix: n, or n \times m."""
    return read_index_list(parser, join_commas(split_at(tokens, (r"\times",))))


def read_index_list(parser: Parser, tokens: Sequence[Token], axes: int | None = None) -> tuple[Node, ...]:
    """The indices of a subscript: with commas or without, ij being two of them.

    axes: how many indices the array takes; None where the notation does not say.
    """
    written, tokens = tokens, unwrapped(tokens)
    pieces = split_commas(tokens)
    if not pieces:
        raise fault("an empty subscript; write an index", written[0])
    if len(pieces) > 1:
        pieces = spread(parser, pieces, axes)
    is_single = len(pieces) > 1 or axes == 1
    if len(pieces) == 1 and not (axes == 1 and is_product(parser, pieces[0])):
        piece = pieces[0]
        atoms = side_by_side(parser, piece) or letters_and_digits(parser, piece, axes) or in_brackets(piece, axes)
        if len(atoms) > 1:
            return tuple(read_index(parser, atom, is_single=True) for atom in atoms)
    return tuple(read_index(parser, piece, is_single=is_single) for piece in pieces)


def in_brackets(tokens: Sequence[Token], axes: int | None) -> list[Sequence[Token]]:
    """The i+1 and j-1 of x_{(i+1)(j-1)}, where an array has as many axes; nothing for anything else."""
    atoms: list[Sequence[Token]] = []
    place = 0
    while place < len(tokens) and tokens[place].text == "(":
        end = closing(tokens, place)
        atoms.append(tokens[place + 1 : end])
        place = end + 1
    return atoms if place >= len(tokens) and len(atoms) == axes else []


def spread(parser: Parser, pieces: list[list[Token]], axes: int | None) -> list[list[Token]]:
    """The pieces with each letter alone, as in Q_{j,ia} of a tensor with three axes, which leave no other reading."""
    running = parser.scope | parser.lexicon.indices
    atoms = [side_by_side(parser, piece) or [piece] for piece in pieces]
    doubled = [atom for group in atoms if len(group) > 1 for atom in group]
    if sum(map(len, atoms)) != axes or any(atom_key(parser, atom) not in running for atom in doubled):
        return pieces
    return [list(atom) for group in atoms for atom in group]


def side_by_side(parser: Parser, tokens: Sequence[Token]) -> list[Sequence[Token]]:
    r"""The names that stand side by side, each with its scripts; nothing when anything else is there, as in
    \operatorname{argmax}_a q_a, which is one index."""
    atoms: list[Sequence[Token]] = []
    place = 0
    while place < len(tokens):
        start = place
        if tokens[place].kind != "name":
            if tokens[place].text in EVERYTHING and len(tokens) > 1 and tokens[place].text != ":":
                atoms.append(tokens[place : place + 1])
                place += 1
                continue
            return []
        word, place = parser.lexicon.word_at(tokens, place)
        if word in REDUCERS and place < len(tokens) and tokens[place].text == "_":
            return []
        _, place = read_scripts(tokens, place)
        atoms.append(tokens[start:place])
    return atoms if all(atom[0].kind == "name" for atom in atoms[1:-1]) else []


def letters_and_digits(parser: Parser, tokens: Sequence[Token], axes: int | None) -> list[Sequence[Token]]:
    """The n and 1 of x_{n1}, where an array has as many axes; nothing where a factor stands first, as in 2n."""
    digits = [number for number, token in enumerate(tokens) if token.kind == "number" and len(token.text) == 1]
    is_factor = tokens[0].kind == "number" and tokens[0].text not in ("0", "1")
    if not digits or is_factor or any(tokens[number - 1].kind != "name" for number in digits if number):
        return []
    starts = [0, *(place for number in digits for place in (number, number + 1))]
    parts = [tokens[start:end] for start, end in pairwise([*starts, len(tokens)]) if start < end]
    atoms = [atom for part in parts for atom in ([part] if part[0].kind == "number" else side_by_side(parser, part))]
    return atoms if len(atoms) == axes and all(len(part) == 1 for part in atoms) else []


def read_index(parser: Parser, tokens: Sequence[Token], *, is_single: bool) -> Node:
    """One index: an expression, or a slice such as :, 1:t or <t.

    is_single: nothing here can be a second index, since a comma or the array's only axis says so.
    """
    if len(tokens) == 1 and tokens[0].text in EVERYTHING:
        return Slice(None, None, start=tokens[0].start, end=tokens[0].end)
    first = tokens[0]
    if first.text in ("<", r"\le") and len(tokens) > 1:
        high = parser.inside(tokens[1:]).whole()
        return Slice(
            None, high if first.text == r"\le" else Add((high, Number(1)), ("+", "-")), start=first.start, end=high.end
        )
    if first.text in (">", r"\ge") and len(tokens) > 1:
        low = parser.inside(tokens[1:]).whole()
        return Slice(
            low if first.text == r"\ge" else Add((low, Number(1)), ("+", "+")), None, start=first.start, end=low.end
        )
    colon = next((place for place, token in enumerate(tokens) if token.text == ":"), None)
    if colon is not None:
        low_side = parser.inside(tokens[:colon]).whole() if colon else None
        high_side = parser.inside(tokens[colon + 1 :]).whole() if colon + 1 < len(tokens) else None
        return Slice(low_side, high_side, start=first.start, end=tokens[-1].end)
    check_single(parser, tokens, is_single=is_single)
    return parser.inside(tokens).whole()


def check_single(parser: Parser, tokens: Sequence[Token], *, is_single: bool) -> None:
    r"""Refuse what may be several indices: a + bj in A_{i+1j}, and si+j unless s is a number and one index stands
    here."""
    parts = split_signs(tokens)
    doubtful = next((part for part in parts if len(side_by_side(parser, part)) > 1), None)
    if doubtful is not None and not (is_single and is_product(parser, doubtful)):
        shown = "".join(token.text for token in doubtful)
        raise fault(
            f"ambiguous subscript: {shown} is a product, several indices or one word; write \\cdot in a product, part "
            f"indices with commas, or declare the word: '{shown}: index(1..n)'",
            doubtful[0],
        )
    for before, after in pairwise(tokens):
        if before.kind == "name" and after.kind == "number":
            shown = f"{before.text}{after.text}"
            advice = f"write \\text{{{shown}}} for a name of its own, {before.text},{after.text} for two indices"
            raise fault(f"ambiguous subscript: {shown} is a name or two indices; {advice}", before)
        follows_sign = before is not tokens[0] and before.kind == "number" and after.kind == "name"
        if follows_sign and not is_single:
            raise fault(
                f"ambiguous subscript: {before.text}{after.text} is a product or two indices; write "
                f"{before.text},{after.text} for two indices, {before.text} \\cdot {after.text} for a product",
                before,
            )


def is_product(parser: Parser, tokens: Sequence[Token]) -> bool:
    """Are names side by side one index: declared numbers with one running index at most, as si for a stride s?"""
    atoms = [atom for atom in side_by_side(parser, tokens) if atom[0].kind == "name"]
    numbers = [atom for atom in atoms if atom_key(parser, atom) in parser.lexicon.numbers]
    return len(atoms) > 1 and len(numbers) >= len(atoms) - 1


def atom_key(parser: Parser, tokens: Sequence[Token]) -> str:
    """The key of one name with its scripts."""
    base, place = parser.lexicon.word_at(tokens, 0)
    scripts, _ = read_scripts(tokens, place)
    return key_of(base, scripts.below, scripts.above, scripts.primes)


def split_signs(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The parts between the signs + and - of the top level."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in ("{", "(", "[")) - (token.text in ("}", ")", "]"))
        if depth == 0 and token.text in ("+", "-"):
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def is_index_list(
    parser: Parser, tokens: Sequence[Token], axes: int | None = None, *, is_numbered: bool = False
) -> bool:
    """Are the arguments behind an array nothing but running indices, numbers, + and -?

    axes: how many indices the array still takes; where each is one name, declared whole numbers are indices too.
    is_numbered: may they be numbers alone?
    """
    names = parser.lexicon.names_in(tokens)
    running = parser.scope | parser.lexicon.indices
    if len(names) == len(split_commas(tokens)) == axes and all(token.text not in ("+", "-") for token in tokens):
        running |= parser.lexicon.integers
    rest = [
        token for token in tokens if token.kind not in ("name", "number") and token.text not in (",", "+", "-", "'")
    ]
    is_placed = bool(names) or (is_numbered and bool(tokens))
    return is_placed and not rest and all(name in running or name + "'" in running for name in names)
