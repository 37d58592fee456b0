r"""Arrays that are declared with the letter of their index, W_i^Q and f(x_i): where such a letter runs, that is their
first index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from .bracketed import script_below
from .joined import with_members
from .letters import bound_letters, is_range
from .lexicon import Lexicon
from .notation import Notation
from .pieces import closing, split_at
from .spelling import spell
from .statements import RawStatement
from .symbols import LOGARITHMS, flat, read_scripts, split_key
from .tokens import Token, read_tokens

BARS: Final = (",", "|", r"\mid")
LOGARITHM: Final = r"\log{"


@dataclass(frozen=True)
class Shown:
    """An array declared as W_i^Q or f(x_i).  key: that.   base: W or f.   above: Q.   within: the names in brackets.

    is_logarithm: is it \\log p(x_i), so that p(x_i) is the exponential?
    """

    key: str
    base: str
    above: str = ""
    within: tuple[str, ...] = ()
    is_logarithm: bool = False


def with_shown(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements with one name for such an array, and what stands at its letter as an index.

    It is so where a letter that an operator or a range lets run stands there, where nothing else is declared or given
    by the name without the letter.
    """
    running = bound_letters(statements, Lexicon())
    running |= {token.text for one in statements if is_range(one) for token in one.members[0] if token.kind == "name"}
    members = [member for one in statements for member in one.members]
    found = []
    for own in map(shown_by, [key for key, symbol in notation.symbols.items() if symbol.kind.shape] if running else ()):
        if own is None or is_taken(own, statements, notation):
            continue
        uses = [use for member in members for place in range(len(member)) if (use := use_at(own, member, place))]
        if any(len(script) == 1 and script[0].text in running for script, _ in uses):
            found.append(own)
    return [with_members(one, partial(put_indices, arrays=found)) for one in statements] if found else [*statements]


def shown_by(key: str) -> Shown | None:
    """What a declared name shows of its index; None for one that shows no letter."""
    is_logarithm = key.startswith(LOGARITHM)
    text = key.removeprefix(LOGARITHM).replace("}", "", 1) if is_logarithm else key
    if key.endswith(")"):
        name, _, inside = text.removesuffix(")").partition("(")  # a word such as IDF is one name
        if not inside or any(sign in name for sign in "_^'"):
            return None
        pieces = [piece for piece in split_at(spell(read_tokens(inside, None)), BARS) if piece]
        within, letter = tuple(piece[0].text for piece in pieces), one_script(pieces)
        is_letter = len(letter) == 1 and letter[0].kind == "name"
        return Shown(key, name, "", within, is_logarithm) if is_letter else None
    base, below, above, primes = split_key(key)
    is_letter = len(below) == 1 and below.isalpha() and not key.startswith((r"\frac", LOGARITHM))
    return Shown(key, base, above + primes) if is_letter else None


def one_script(pieces: Sequence[Sequence[Token]]) -> tuple[Token, ...]:
    """The one script that names have below, but for those that stand alone; empty where they have others."""
    scripts = [script_below(piece) for piece in pieces if len(piece) != 1 or piece[0].kind != "name"]
    return scripts[0] if len({flat(script) for script in scripts}) == 1 else ()


def is_taken(own: Shown, statements: Sequence[RawStatement], notation: Notation) -> bool:
    """Is another thing declared or given by the name without the letter, or by that letter's other values?"""
    for key in [*notation.symbols, *notation.functions]:
        base, _, above, primes = split_key(key.removeprefix(LOGARITHM).replace("}", "", 1).partition("(")[0])
        if key != own.key and (base, above + primes) == (own.base, own.above):
            return True
    for left in (one.members[0] for one in statements if one.relations):
        scripts, _ = read_scripts(left, 1)
        if left[0].text == own.base and flat(scripts.above) + "'" * scripts.primes == own.above:
            return True
    return False


def use_at(own: Shown, tokens: Sequence[Token], place: int) -> tuple[tuple[Token, ...], int] | None:
    """What stands at the letter of an array here, and the place behind the array; None for anything else."""
    if tokens[place].text != own.base or tokens[place].kind != "name":
        return None
    scripts, end = read_scripts(tokens, place + 1)
    if not own.within:
        is_own = scripts.below and flat(scripts.above) + "'" * scripts.primes == own.above
        return (scripts.below, end) if is_own else None
    if end != place + 1 or end >= len(tokens) or tokens[end].text != "(":
        return None
    closer = closing(tokens, end)
    pieces = split_at(tokens[end + 1 : closer], BARS)
    script = one_script(pieces)
    return (script, closer + 1) if script and tuple(piece[0].text for piece in pieces) == own.within else None


def put_indices(tokens: Sequence[Token], arrays: Sequence[Shown]) -> Iterator[Token]:
    """Yield the tokens with each of these arrays as one name with an index."""
    place = 0
    while place < len(tokens):
        at = tokens[place]
        start = place + (at.text in LOGARITHMS and place + 1 < len(tokens))
        uses = [(own, use) for own in arrays if (use := use_at(own, tokens, start))]
        if not uses or (start > place and not uses[0][0].is_logarithm):
            yield at
            place += 1
            continue
        own, (script, place) = uses[0]
        mark = partial(replace, at, kind="symbol")
        name = replace(at, kind="name", text=own.key, end=tokens[place - 1].end)
        element = (name, mark(text="_"), mark(text="{"), *script, mark(text="}"))
        if own.is_logarithm and at is tokens[start]:
            element = (replace(at, text="exp"), mark(text="("), *element, mark(text=")"))
        yield from element
