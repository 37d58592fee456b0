r"""What an operator runs over without some elements, j \in S \setminus \{i\}, and outside of a set, j \notin S: put as
the conditions that say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .joined import with_members
from .letters import is_operator
from .notation import Notation
from .pieces import closing, join_commas, split_at, split_commas
from .statements import RawStatement
from .symbols import group, read_scripts
from .tokens import Token

WITHOUT = (r"\setminus", r"\backslash")


def with_conditions(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements with such conditions below their operators."""

    def changed(tokens: Sequence[Token]) -> Iterator[Token]:
        place = 0
        while place < len(tokens):
            end = place + 1
            yield tokens[place]
            if is_operator(tokens[place]) and end + 1 < len(tokens) and tokens[end].text == "_":
                sign, opener = tokens[end], replace(tokens[end], text="{")
                script, end = group(tokens, end + 1)
                pieces = [part for piece in split_commas(script) for part in parts_of(piece, notation)]
                yield from (sign, opener, *join_commas(pieces), replace(sign, text="}"))
            place = end

    return [with_members(statement, changed) for statement in statements]


def parts_of(piece: Sequence[Token], notation: Notation) -> Iterator[Sequence[Token]]:
    r"""Yield j \in S and j \ne i for j \in S \setminus \{i\}, j: S_{j} = 0 for j \notin S, and any other piece."""
    whole, *rest = split_at(piece, WITHOUT)
    letter = split_at(whole, (r"\in",))[0]
    is_listed = all(part and part[0].text == r"\{" and closing(part, 0) == len(part) - 1 for part in rest)
    outside = split_at(piece, (r"\notin",))
    if rest and is_listed and len(letter) < len(whole):
        unequal = replace(whole[len(letter)], text=r"\ne")
        yield whole
        yield from ([*letter, unequal, *element] for part in rest for element in split_commas(part[1:-1]))
    elif len(outside) == 2 and (beside := index_of(outside[1], notation)) is not None:
        at = outside[1][0]
        signs = {text: replace(at, kind="symbol", text=text) for text in ":_{}="}
        below = join_commas([*beside, outside[0]])
        zero = replace(at, kind="number", text="0")
        yield [*outside[0], signs[":"], at, signs["_"], signs["{"], *below, signs["}"], signs["="], zero]
    else:
        yield piece


def index_of(tokens: Sequence[Token], notation: Notation) -> list[list[Token]] | None:
    """The indices that a declared set has, those of N_i; None for anything else."""
    symbol = notation.symbols.get(tokens[0].text) if tokens else None
    scripts, end = read_scripts(tokens, 1)
    if symbol is None or symbol.kind.name != "set" or end != len(tokens) or scripts.above or scripts.primes:
        return None
    return split_commas(scripts.below)
