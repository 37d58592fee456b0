r"""Elements of arrays at what stands in brackets: Q(s, a'), \gamma(z_{nk}) and g_t(x_i), where z and x are nothing
else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .bracketed import Called, calls_in, script_below, texts_of
from .joined import with_members
from .notation import Notation
from .pieces import Change, join_commas, split_at, with_found
from .statements import RawStatement
from .symbols import group, key_of, read_scripts, split_key
from .tokens import Token

Piece = tuple[Token, ...]


def with_cells(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    r"""The statements with Q_{s,a'} for Q(s, a'), \gamma_{nk} for \gamma(z_{nk}), and g_{t,i} for g_t(x_i), where Q,
    \gamma and g_t are declared arrays; and with h(i) for the h(x_i) that a left side gives then.

    What stands there is a whole number, a letter that nothing declares, or a name that stands in such brackets alone,
    with its indices.
    """
    calls = [call for one in statements for member in one.members for call in calls_in(member, notation)]
    arrays = [call for call in calls if (call.axes or 0) > 0]
    lefts = {id(one.members[0]) for one in statements}
    names = {call.key for call in calls if id(call.member) in lefts and call.key not in notation.symbols}
    given = [call for call in calls if call.key in names]
    said = Counter(base for call in [*arrays, *given] for base in map(base_of, pieces_of(call)) if base)
    of_arrays = {base for call in arrays for base in map(base_of, pieces_of(call))}
    declared = {split_key(key)[0] for key in [*notation.symbols, *notation.functions]}
    texts = Counter(texts_of(statements))
    free = {base for base in of_arrays & {*said} - declared if texts[base] == said[base]}

    def cells(tokens: Sequence[Token]) -> Iterator[Token]:
        place = 0
        for call in calls_in(tuple(tokens), notation):
            indices = [index_of(piece, free, notation) for piece in pieces_of(call)]
            if call.start < place or not all(indices):
                continue
            if len(indices) <= (call.axes or 0) and (len(indices) > 1 or base_of(pieces_of(call)[0])):
                yield from (*tokens[place : call.name + 1], *behind(call, join_commas(indices)))
            elif call.key in names and free & set(map(base_of, pieces_of(call))):
                yield from (*tokens[place : call.start + 1], *join_commas(indices), tokens[call.end])
            else:
                continue
            place = call.end + 1
        yield from tokens[place:]

    strangers = {text for text, count in texts.items() if count == 1} - declared
    found = [without_strangers(with_members(one, cells), strangers, names) for one in statements]
    windows = {name for one in found if one.relations and (name := window_at(one.members[0], 0))} - declared
    return [with_members(one, lambda member: without_windows(member, windows)) for one in found]


def without_strangers(statement: RawStatement, strangers: set[str], names: set[str]) -> RawStatement:
    r"""Q(s, a) = v + w_a as Q(a), where a is an index.

    strangers: the s that nothing declares, and that stands nowhere else.   names: what left sides give.
    """
    left = statement.members[0]
    call = next(calls_in(left, Notation()), None) if statement.relations else None
    if call is None or call.name or call.end != len(left) - 1 or call.key not in names:
        return statement
    pieces = pieces_of(call)
    if not all(len(piece) == 1 and piece[0].kind == "name" for piece in pieces):
        return statement
    kept = [piece for piece in pieces if piece[0].text in indices_in(statement.members[1:])]
    is_rest_unknown = all(piece[0].text in strangers for piece in pieces if piece not in kept)
    if not 0 < len(kept) < len(pieces) or not is_rest_unknown:
        return statement
    shorter = (*left[: call.start + 1], *join_commas(kept), left[call.end])
    return replace(statement, members=(shorter, *statement.members[1:]))


def window_at(tokens: Sequence[Token], place: int) -> str:
    """The G of G_{t:t+n}; nothing for other names."""
    if tokens[place].kind != "name" or place + 2 >= len(tokens) or tokens[place + 1].text != "_":
        return ""
    script = [token.text for token in group(tokens, place + 2)[0]]
    is_window = len(script) > 4 and script[1] == ":" and script[0] == script[2] and script[3] == "+"
    return tokens[place].text if is_window else ""


def without_windows(tokens: Sequence[Token], names: set[str]) -> Iterator[Token]:
    """Yield the tokens with G_t for each G_{t:t+n}: where a window begins says which it is."""

    def found_at(tokens: Sequence[Token], place: int) -> Change:
        if window_at(tokens, place) not in names:
            return None
        script, end = group(tokens, place + 2)
        return (tokens[place], tokens[place + 1], script[0]), end

    yield from with_found(tokens, found_at)


def indices_in(members: Sequence[Piece]) -> set[str]:
    """The names that stand alone in a subscript."""
    found = set[str]()
    for member in members:
        for place, token in enumerate(member[:-1]):
            script = group(member, place + 1)[0] if token.text == "_" else ()
            found |= {script[0].text} if len(script) == 1 else set()
    return found


def pieces_of(call: Called) -> list[Piece]:
    """What stands in the brackets, part by part; a part with a bar is no index, since its order is another matter."""
    return [tuple(piece) for piece in split_at(call.member[call.start + 1 : call.end], (",", ";"))]


def base_of(piece: Piece) -> str:
    """The z of z_{nk}; nothing for what is no name with a subscript alone."""
    return piece[0].text if script_below(piece) else ""


def index_of(piece: Piece, free: set[str], notation: Notation) -> Piece:
    """What stands for an index; nothing where it is none."""
    if len(piece) == 1 and piece[0].kind == "number":
        return piece if piece[0].text.isdecimal() else ()
    if not piece or piece[0].kind != "name":
        return ()
    if base_of(piece) in free:
        return script_below(piece)
    scripts, end = read_scripts(piece, 1)
    key = key_of(piece[0].text, scripts.below, scripts.above, scripts.primes)
    symbol = notation.symbols.get(key) or notation.symbols.get(key_of(piece[0].text, (), scripts.above, scripts.primes))
    is_letter = symbol is None and not scripts.below and not scripts.above and key not in notation.functions
    is_whole = symbol is not None and symbol.kind.name in ("int", "ints", "index")
    return piece if end == len(piece) and (is_letter or is_whole) else ()


def behind(call: Called, indices: Piece) -> Iterator[Token]:
    """Yield the scripts of a name with the indices among them, in the place of its brackets."""
    scripts, _ = read_scripts(call.member, call.name + 1)
    at = call.member[call.start]
    below = join_commas([scripts.below, indices]) if scripts.below else indices
    yield from (replace(at, text="_"), replace(at, text="{"), *below, replace(at, text="}"))
    if scripts.above:
        yield from (replace(at, text="^"), replace(at, text="{"), *scripts.above, replace(at, text="}"))
    for _ in range(scripts.primes):
        yield replace(at, text="'")
