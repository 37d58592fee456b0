"""Cut lists of tokens: at their commas and other signs, and out of the brackets that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from .tokens import Token

OPENERS: Final = frozenset(["(", "[", "{", r"\{", r"\left.", r"\lfloor", r"\lceil", r"\langle", r"\lvert", r"\lVert"])
# What stands for a part of a list of tokens, and the place behind that part.
Change = tuple[Sequence[Token], int] | None

CLOSERS: Final = frozenset([")", "]", "}", r"\}", r"\right.", r"\rfloor", r"\rceil", r"\rangle", r"\rvert", r"\rVert"])


def top_level(tokens: Sequence[Token]) -> list[Token]:
    """The tokens that stand in no bracket and no environment."""
    depth, found = 0, []
    for token in tokens:
        depth = max(0, depth - closes(token))
        if depth == 0:
            found.append(token)
        depth += opens(token)
    return found


def opens(token: Token) -> bool:
    return token.text in OPENERS or token.text.startswith(r"\begin{")


def closes(token: Token) -> bool:
    return token.text in CLOSERS or token.text.startswith(r"\end{")


def split_at(tokens: Sequence[Token], signs: tuple[str, ...]) -> list[list[Token]]:
    """Part tokens at signs of the top level."""
    pieces: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in ("{", "(", "[", r"\{")) - (token.text in ("}", ")", "]", r"\}"))
        if depth == 0 and token.text in signs:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def split_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Part tokens at the commas of their top level; empty pieces go."""
    return [piece for piece in split_at(tokens, (",",)) if piece]


def join_commas(pieces: Iterable[Sequence[Token]]) -> tuple[Token, ...]:
    """The pieces as one list of tokens again."""
    joined: list[Token] = []
    for piece in pieces:
        if joined:
            joined.append(Token("symbol", ",", piece[0].start, piece[0].start))
        joined.extend(piece)
    return tuple(joined)


def unwrapped(tokens: Sequence[Token]) -> Sequence[Token]:
    """Tokens without brackets that hold all of them."""
    while len(tokens) > 1 and (tokens[0].text, tokens[-1].text) in (("(", ")"), ("{", "}")):
        depth = 0
        for number, token in enumerate(tokens):
            depth += (token.text == tokens[0].text) - (token.text == tokens[-1].text)
            if depth == 0 and number < len(tokens) - 1:
                return tokens
        tokens = tokens[1:-1]
    return tokens


def units_of(tokens: Iterable[Token]) -> Iterator[tuple[Token, ...]]:
    """Yield the tokens, each with the primes behind it."""
    unit: tuple[Token, ...] = ()
    for token in tokens:
        if unit and token.text != "'":
            yield unit
            unit = ()
        unit = (*unit, token)
    if unit:
        yield unit


def letters_in(script: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
    """Yield the letters side by side in a script, or what stands there between commas."""
    for piece in split_commas(unwrapped(script)):
        units = list(units_of(piece))
        is_run = all(unit[0].kind in ("name", "number") or unit[0].text == "*" for unit in units)
        yield from units if is_run else [tuple(piece)]


def with_found(tokens: Sequence[Token], find: Callable[[Sequence[Token], int], Change]) -> Iterator[Token]:
    """Yield the tokens with others for what is found at a place.  find: gives those, and the place behind it."""
    place = 0
    while place < len(tokens):
        found = find(tokens, place)
        yield from found[0] if found else (tokens[place],)
        place = found[1] if found else place + 1


def closing(tokens: Sequence[Token], place: int) -> int:
    """The place of the bracket that closes the one here; the last place when none does."""
    depth = 0
    for number in range(place, len(tokens)):
        text = tokens[number].text
        depth += (text in ("(", "[", r"\{", "{")) - (text in (")", "]", r"\}", "}"))
        if depth == 0:
            return number
    return len(tokens) - 1


def is_bracketed(tokens: Sequence[Token]) -> bool:
    """Is a superscript an index in brackets, as in x^{(i)}?"""
    return len(tokens) > 2 and (tokens[0].text, tokens[-1].text) in (("(", ")"), ("[", "]"))


def is_conditioned(tokens: Sequence[Token]) -> bool:
    """Is a subscript no index, but says of when something is known, as the t|t-1 of x_{t|t-1}?"""
    return any(token.text in ("|", r"\mid") for token in tokens[1:-1])


def words_of(token: Token) -> set[str]:
    """The words of a text, lower case and without their punctuation."""
    if token.kind != "text":
        return set()
    return {word.strip(".,;:()").lower() for word in token.text.split()}
