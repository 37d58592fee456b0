"""Where declared names stand in a display, each with its label, its indices, what is above it, brackets behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .lexicon import Lexicon, letters_of
from .notation import Notation, Symbol
from .pieces import closing, join_commas, split_at, split_commas
from .symbols import group, key_of, read_scripts
from .tokens import Token

Piece = tuple[Token, ...]


@dataclass(frozen=True)
class Use:
    """A declared name with all that stands at it.

    label, raised: what stands below and above it as part of the name.   rest: its indices below.   above: what else
    stands above it.   inside: the brackets behind it, where they hold indices.   start, behind: the places where it
    begins and where its scripts end.
    """

    symbol: Symbol
    base: Token
    label: tuple[Piece, ...]
    raised: Piece
    primes: int
    rest: tuple[Piece, ...]
    above: Piece
    inside: Piece
    start: int
    behind: int

    @property
    def end(self) -> int:
        """The place behind all of it."""
        return self.behind + len(self.inside)

    @property
    def arguments(self) -> list[Piece]:
        """The indices in the brackets."""
        return [tuple(piece) for piece in split_at(self.inside[1:-1], (",", "|", r"\mid")) if piece]


def uses_in(tokens: Piece, notation: Notation, lexicon: Lexicon) -> Iterator[Use]:
    """Yield the declared names among tokens, those in exponents too, but none that stands in a subscript."""
    place = 0
    while place < len(tokens):
        if tokens[place].text == "_" and place + 1 < len(tokens):
            _, place = group(tokens, place + 1)
            continue
        use = use_at(tokens, place, notation, lexicon)
        if use is not None:
            yield use
        place = use.behind if use is not None and use.raised else place + 1


def use_at(tokens: Piece, place: int, notation: Notation, lexicon: Lexicon) -> Use | None:
    """The declared name at a place; the longest wins."""
    first = tokens[place]
    if first.kind != "name":
        return None
    base, after = lexicon.word_at(tokens, place)
    scripts, end = read_scripts(tokens, after)
    pieces = [tuple(piece) for piece in split_commas(scripts.below)]
    for count in range(len(pieces), -1, -1):
        for above in dict.fromkeys((scripts.above, ())):
            symbol = notation.symbols.get(key_of(base, join_commas(pieces[:count]), above, scripts.primes))
            if symbol is not None:
                rest = [tuple(letter) for letter in letters_of(pieces[count])] if len(pieces) == count + 1 else []
                inside = indices_at(tokens, end, symbol, notation)
                return Use(
                    symbol,
                    replace(first, text=base),
                    tuple(pieces[:count]),
                    above,
                    scripts.primes,
                    tuple(rest or pieces[count:]),
                    () if above else scripts.above,
                    inside,
                    place,
                    end,
                )
    return None


def indices_at(tokens: Piece, place: int, symbol: Symbol, notation: Notation) -> Piece:
    """The brackets behind an array that hold nothing but letters, whole numbers and steps such as t + 1."""
    if not symbol.kind.shape or place >= len(tokens) or tokens[place].text not in ("(", "["):
        return ()
    brackets = tokens[place : closing(tokens, place) + 1]
    declared = {key for key, other in notation.symbols.items() if other.kind.name not in ("int", "index")}
    pieces = split_at(brackets[1:-1], (",", "|", r"\mid"))
    is_listed = all(is_index(piece) and piece[0].text not in declared for piece in pieces)
    return brackets if is_listed else ()


def is_index(piece: Sequence[Token]) -> bool:
    """Is it one letter with its primes, one number, or a letter and how far it is off?"""
    texts = [token.text for token in piece]
    if not piece or piece[0].kind not in ("name", "number"):
        return False
    return set(texts[1:]) <= {"'"} or (len(piece) == 3 and texts[1] in ("+", "-") and piece[2].kind == "number")


def with_uses(
    tokens: Piece, notation: Notation, lexicon: Lexicon, changed: Callable[[Use], list[Token] | None]
) -> Iterator[Token]:
    """Yield the tokens with others for some uses, in exponents and brackets too."""
    place = 0
    while place < len(tokens):
        end = place + 1
        if tokens[place].text == "_" and end < len(tokens):
            _, end = group(tokens, end)
        elif (use := use_at(tokens, place, notation, lexicon)) is not None:
            other = changed(use)
            if other is not None:
                tokens = (*tokens[:place], *other, *tokens[use.end :])
            elif use.raised:
                end = use.behind
        yield from tokens[place:end]
        place = end
