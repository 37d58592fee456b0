r"""Names that a set in their subscript tells apart: h_{\mathcal{N}(v)} = ... is a name with the index v."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .compounds import Found
from .described import mark, read_described, use_at
from .joined import with_members
from .notation import Notation
from .pieces import Change, unwrapped, with_found
from .statements import RawStatement
from .symbols import flat, key_of, read_scripts
from .tokens import Token


def with_names_of_sets(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements with one token for the base and the set of such a name, wherever a left side gives it."""
    sets = {key for key, symbol in notation.symbols.items() if symbol.kind.name == "set"}
    sets |= {own.name for statement in statements if (own := read_described(statement, notation)) is not None}
    names = set[str]()
    for left in (statement.members[0] for statement in statements if sets):
        found = name_at(left, 0, sets)
        letters = [token.text for token in found.tokens if token.kind == "name"][1:] if found else []
        if found and found.end == len(left) and not set(letters) & set(notation.symbols):
            names.add(found.name)

    def found_at(tokens: Sequence[Token], place: int) -> Change:
        found = name_at(tokens, place, sets)
        return (found.tokens, found.end) if found and found.name in names else None

    return [with_members(one, lambda member: with_found(member, found_at)) for one in statements]


def name_at(tokens: Sequence[Token], place: int, sets: Collection[str]) -> Found | None:
    r"""h^k_{\mathcal{N}(v)} and h_{\mathcal{N}_v}; the power stays behind them."""
    base = tokens[place]
    if base.kind != "name":
        return None
    scripts, end = read_scripts(tokens, place + 1)
    below = unwrapped(scripts.below)
    use = use_at(below, 0) if below else None
    if use is None or use.end != len(below) or use.name not in sets or not use.arguments or scripts.primes:
        return None
    name, at = key_of(base.text, below[:1]), below[0]
    letters = [part for unit in use.arguments for part in (mark(",", at), *unit)][1:]
    index = (mark("_", at), mark("{", at), *letters, mark("}", at))
    above = (mark("^", at), mark("{", at), *scripts.above, mark("}", at)) if scripts.above else ()
    return Found(name, flat(below), (replace(base, text=name, end=at.end), *index, *above), end)
