r"""Operators over names that only a number within their label tells apart, as \min_{i=1,2} Q_{\theta_i}(s, a) of two
declared ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .joined import with_members
from .letters import is_operator
from .lexicon import Lexicon, words_of
from .notation import Notation
from .pieces import closing, split_at, split_commas, unwrapped
from .sites import use_at
from .statements import RawStatement
from .symbols import at_point, read_scripts
from .tokens import Token


def with_listed(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    r"""The statements with [f_{w_1}, f_{w_2}]_j for the f_{w_j} under \min_{j=1,2}, where f_{w_1} and f_{w_2} are
    declared numbers; a Q_j of declared Q_1 and Q_2 is found when it is evaluated."""
    lexicon = Lexicon(words=words_of(notation.symbols))
    return [with_members(one, lambda member: put_lists(tuple(member), notation, lexicon)) for one in statements]


def put_lists(tokens: tuple[Token, ...], notation: Notation, lexicon: Lexicon) -> Iterator[Token]:
    """Yield the tokens with lists for such names behind the operator that numbers them."""
    counted = dict[str, list[Token]]()
    place = 0
    while place < len(tokens):
        if is_operator(tokens[place]) and place + 2 < len(tokens) and tokens[place + 1].text == "_":
            scripts, end = read_scripts(tokens, place + 1)
            counted |= numbers_of(scripts.below)
            yield from tokens[place:end]
            place = end
            continue
        found = next(filter(None, (listed(tokens, place, *item, notation, lexicon) for item in counted.items())), None)
        yield from found[0] if found else tokens[place : place + 1]
        place = found[1] if found else place + 1


def numbers_of(script: Sequence[Token]) -> dict[str, list[Token]]:
    r"""The numbers over which a letter runs, of j=1,2 or j \in \{1, 2\}."""
    sides = split_at(unwrapped(script), ("=", r"\in"))
    if len(sides) != 2 or len(sides[0]) != 1 or sides[0][0].kind != "name":
        return {}
    inside = [token for token in sides[1] if token.text not in (r"\{", r"\}")]
    numbers = [piece[0] for piece in split_commas(inside) if len(piece) == 1 and piece[0].kind == "number"]
    return {sides[0][0].text: numbers} if len(numbers) > 1 and len(numbers) * 2 - 1 == len(inside) else {}


def listed(
    tokens: tuple[Token, ...], place: int, letter: str, numbers: list[Token], notation: Notation, lexicon: Lexicon
) -> tuple[list[Token], int] | None:
    """The list for a name at a place whose scripts hold the letter, and the place behind the name."""
    if tokens[place].kind != "name" or use_at(tokens, place, notation, lexicon) is not None:
        return None
    _, end = read_scripts(tokens, place + 1)
    scripts = tokens[place + 1 : end]
    if not any(token.text == letter for token in scripts[2:]):
        return None
    end = closing(tokens, end) + 1 if end < len(tokens) and tokens[end].text == "(" else end
    variants = [with_number(tokens[place:end], letter, number) for number in numbers]
    if not all(is_declared_number(variant, notation, lexicon) for variant in variants):
        return None
    first = tokens[place]

    def sign(text: str) -> Token:
        return replace(first, kind="symbol", text=text)

    parts = [part for variant in variants for part in (sign(","), *variant)][1:]
    return [sign("["), *parts, sign("]"), sign("_"), replace(first, text=letter)], end


def with_number(tokens: Sequence[Token], letter: str, number: Token) -> tuple[Token, ...]:
    """The tokens with a number for a letter."""
    return tuple(replace(number, start=one.start, end=one.end) if one.text == letter else one for one in tokens)


def is_declared_number(tokens: tuple[Token, ...], notation: Notation, lexicon: Lexicon) -> bool:
    """Are these tokens one declared number?"""
    point, use = at_point(tokens, 0), use_at(tokens, 0, notation, lexicon)
    symbol = notation.symbols.get(point[0]) if point is not None and point[1] == len(tokens) else None
    if symbol is None and use is not None and use.end == len(tokens) and not use.rest:
        symbol = use.symbol
    return symbol is not None and not symbol.kind.shape
