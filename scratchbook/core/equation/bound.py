r"""Letters with a script over which operators run, as the x_1 of \sum_{x_1} \mu(x_1), each as one token."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from .joined import with_members
from .letters import bound_letters, is_operator
from .lexicon import Lexicon
from .notation import Notation
from .pieces import Change, split_commas, unwrapped, with_found
from .statements import RawStatement
from .symbols import key_of, read_scripts, split_key
from .tokens import Token


def with_bound(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    r"""The statements with x_1 and x_2 as one token each where an operator runs over one of them.

    The notation declares no x, and what stands below x runs nowhere, as the t of \sum_t \sum_{x_t} does.
    """
    declared = {split_key(key)[0] for key in [*notation.symbols, *notation.functions] if not key.startswith(r"\frac")}
    running = bound_letters(statements, Lexicon())
    bases = set[str]()
    for member in (member for one in statements for member in one.members):
        for place, token in enumerate(member[:-1]):
            below = read_scripts(member, place + 1)[0].below if is_operator(token) else ()
            for piece in filter(None, split_commas(unwrapped(below))):
                found = scripted_at(piece, 0)
                follower = piece[found[1]].text if found and found[1] < len(piece) else ""
                is_letter = found is not None and follower in ("", "=", r"\in") and piece[0].text not in declared
                if is_letter and not running & {part.text for part in piece[1:]}:
                    bases.add(piece[0].text)
    return [with_members(one, partial(together, bases=bases)) for one in statements] if bases else [*statements]


def scripted_at(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    """The key of a letter that has a subscript and nothing above, and the place behind it; None for others."""
    if tokens[place].kind != "name":
        return None
    scripts, end = read_scripts(tokens, place + 1)
    if not scripts.below or scripts.above:
        return None
    return key_of(tokens[place].text, scripts.below, (), scripts.primes), end


def together(tokens: Sequence[Token], bases: Collection[str]) -> Iterator[Token]:
    """Yield the tokens with one for each of these letters with its script."""

    def found_at(tokens: Sequence[Token], place: int) -> Change:
        found = scripted_at(tokens, place)
        if found is None or tokens[place].text not in bases:
            return None
        return (replace(tokens[place], text=found[0], end=tokens[found[1] - 1].end),), found[1]

    yield from with_found(tokens, found_at)
