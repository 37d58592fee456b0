r"""Where a display reads sets: what an operator runs over, \sum_{j \in P_i}, how many |P_i| there are, and whether j
is in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .described import (
    BARS,
    COLONS,
    Described,
    Unit,
    Use,
    check_letters,
    mark,
    read_described,
    unit_of,
    use_at,
    within_braces,
)
from .errors import fault
from .notation import Notation
from .pieces import Change, closes, closing, opens, split_at, split_commas, unwrapped, with_found
from .statements import RawStatement
from .symbols import BESIDE, flat, group, latex_of, read_scripts
from .tokens import Token
from .unions import OUTSIDE, WITHOUT, any_of, is_made, member_condition, one_at, opposite


def with_sets(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements with every such set as its condition, and without those that only describe one.

    Raises EquationError for a set that is declared or described twice, one that reads a letter that is none of its
    own, and one that is read as anything but what an operator runs over.
    """
    sets: dict[str, Described] = {}
    kept = list[RawStatement]()
    for statement in statements:
        own = read_described(statement, notation)
        if own is None:
            kept.append(statement)
            continue
        if own.name in sets:
            raise fault(f"the set {latex_of(own.name)} is described twice; keep one", statement.members[0][0])
        check_letters(own, statements, notation)
        sets[own.name] = own
    for statement in kept:
        use = use_at(statement.members[0], 1) if statement.members[0][0].text in BARS else None
        if use and own_of(use, sets) and use.end == len(statement.members[0]) - 1:
            name = latex_of(use.name)
            said = f"the size of {name} is given twice, by the set and here"
            raise fault(f"{said}; drop one, or name this by another letter", statement.members[0][0])
    changed = [
        replace(one, members=tuple(tuple(put_sets(part, sets, notation)) for part in one.members)) for one in kept
    ]
    for token in (token for statement in changed for member in statement.members for token in member):
        if token.kind == "name" and token.text in {name.partition("_")[0] for name in sets}:
            name = latex_of(token.text)
            raise fault(
                f"the set {name} is read as what an operator runs over, at as many letters as it has, or as its size; "
                f"write \\sum_{{j \\in {name}}} or |{name}|",
                token,
            )
    return changed


def put_sets(tokens: Sequence[Token], sets: Mapping[str, Described], notation: Notation) -> Iterator[Token]:
    r"""Yield the tokens with \sum_{j \in P_i} as \sum_{j, y_j = y_i}, and with |P_i| as the sum of ones there; so with
    |\{ j : y_j = y_i \}|."""

    def found_at(tokens: Sequence[Token], place: int) -> Change:
        if tokens[place].text != "_" or place + 1 == len(tokens) or tokens[place + 1].text != "{":
            return size_at(tokens, place, sets, notation) or membership_at(tokens, place, sets, notation)
        inside, end = group(tokens, place + 1)
        return [*tokens[place : place + 2], *put_members(inside, sets, notation), tokens[end - 1]], end

    yield from with_found(tokens, found_at)


def size_at(
    tokens: Sequence[Token], place: int, sets: Mapping[str, Described], notation: Notation
) -> tuple[list[Token], int] | None:
    r"""The count of |P|, |P \cup Q| or |\{ j : y_j = y_i \}| at a place, with the place behind it; None for others."""
    bar = tokens[place]
    if bar.text not in BARS or place + 1 == len(tokens):
        return None
    use = read_at(tokens, place + 1)
    own = own_of(use, sets) or (within_braces(tokens[place + 1 : use.end], notation) if use else None)
    if use and own and use.end < len(tokens) and tokens[use.end].text == BARS[bar.text]:
        return size_of(own, use, bar), use.end + 1
    end = next((end for end in range(place + 1, len(tokens)) if tokens[end].text == BARS[bar.text]), place)
    letter = (replace(bar, kind="name", text=f"j{BESIDE}"),)
    whole = tokens[place + 1 : end]
    condition = met_by(letter, whole, sets, notation) if is_made(whole) else None
    return (count_of(letter, condition, bar), end + 1) if condition else None


def membership_at(
    tokens: Sequence[Token], place: int, sets: Mapping[str, Described], notation: Notation
) -> tuple[list[Token], int] | None:
    r"""The condition of j \in P \cup Q or j \notin P at a place, with the place behind it; None for others."""
    start = place + 1
    while start < len(tokens) and tokens[start].text == "'":
        start += 1
    element = tuple(tokens[place:start])
    if element[0].kind not in ("name", "number") or start >= len(tokens) or tokens[start].text not in (r"\in", OUTSIDE):
        return None
    rest = tokens[start + 1 :]
    ends = (number for number in range(len(rest)) if closes_set(rest[: number + 1]))
    whole = rest[: next(ends, len(rest))]
    condition = met_by(element, whole, sets, notation) if whole else None
    if condition and tokens[start].text == OUTSIDE:
        condition = opposite(condition)
    use = read_at(whole, 0) if whole else None
    is_described = own_of(use, sets) or (within_braces(whole, notation) if whole else None)
    if not condition or not (is_described or is_made(whole) or tokens[start].text == OUTSIDE):
        return None
    return [mark("(", element[0]), *condition, mark(")", element[0])], start + 1 + len(whole)


def closes_set(tokens: Sequence[Token]) -> bool:
    """Does the last of these tokens stand behind the set that they begin with?"""
    last, depth = tokens[-1], sum(opens(token) - closes(token) for token in tokens)
    return depth < 0 or (
        depth == 0 and (last.kind in ("text", "newline") or last.text in (",", r"\wedge", r"\vee", "&"))
    )


def put_members(script: Sequence[Token], sets: Mapping[str, Described], notation: Notation) -> Iterator[Token]:
    r"""Yield an operator's subscript with j \in P_i as j and the condition of P_i; so for P_i \cup \{i\} and \notin."""
    for number, piece in enumerate(split_at(script, (",",))):
        if number:
            yield replace(script[0], kind="symbol", text=",")
        if not piece:
            continue  # what is missing is told where the script is read
        sign = next((place for place, token in enumerate(piece) if token.text in (r"\in", OUTSIDE)), 0)
        use = use_at(piece, sign + 1) if 0 < sign < len(piece) - 1 else None
        own = own_of(use, sets) if piece[sign].text == r"\in" else None
        members = [unit_of(part) for part in split_commas(unwrapped(piece[:sign]))] if sign else []
        letters = [unit for unit in members if unit is not None]
        if use and own and use.end == len(piece) and len(letters) == len(members) == len(own.members):
            comma = replace(piece[sign], kind="symbol", text=",")
            yield from (*piece[:sign], comma, *own.at(letters, use.arguments, piece[sign]))
        elif len(letters) == len(members) == 1:
            yield from limited(letters[0], piece[sign], piece[sign + 1 :], sets, notation)
        else:
            yield from put_sets(piece, sets, notation)


def limited(
    letter: Unit, sign: Token, tokens: Sequence[Token], sets: Mapping[str, Described], notation: Notation
) -> Iterator[Token]:
    r"""Yield j with what it meets, for j \in A \cup B and j \notin A; j \in \{1, \ldots, n\} and j \ne i for what is
    without some; and any other as it is."""
    comma = mark(",", sign)
    condition = met_by(letter, tokens, sets, notation) if sign.text == OUTSIDE or is_made(tokens) else None
    condition = opposite(condition) if condition and sign.text == OUTSIDE else condition
    whole, *rest = split_at(tokens, WITHOUT)
    without = [met_by(letter, piece, sets, notation) for piece in rest]
    if condition:
        yield from (*letter, comma, *condition)
    elif rest and all(without) and sign.text != OUTSIDE:
        yield from (*letter, sign, *whole)
        for part in without:
            yield from (comma, *(opposite(part or ()) or ()))
    else:
        yield from (*letter, sign, *tokens)


def met_by(
    element: Unit, tokens: Sequence[Token], sets: Mapping[str, Described], notation: Notation
) -> list[Token] | None:
    """What an element of a set meets, also of one that is made of others; None where that is not known."""

    def atom(tokens: Sequence[Token]) -> list[Token] | None:
        use = read_at(tokens, 0) if tokens else None
        own = own_of(use, sets) or (within_braces(tokens, notation) if tokens else None)
        if use and own and use.end == len(tokens):
            return own.at([element], use.arguments, tokens[0]) if len(own.members) == 1 else None
        is_listed = bool(tokens) and tokens[0].text == r"\{" and closing(tokens, 0) == len(tokens) - 1
        if is_listed and not any(token.text in (r"\ldots", *COLONS) for token in tokens):
            return any_of(element, split_commas(tokens[1:-1]))
        symbol = notation.symbols.get(tokens[0].text) if tokens else None
        scripts, end = read_scripts(tokens, 1)
        is_set = symbol is not None and symbol.kind.name == "set" and end == len(tokens) and not scripts.above
        return one_at(tokens[0], split_commas(scripts.below), element) if is_set and not scripts.primes else None

    return member_condition(tokens, atom)


def size_of(own: Described, use: Use, at: Token) -> list[Token]:
    """How many members a set has, counted with letters that nothing else has."""
    letters = [(replace(unit[0], text=f"{flat(unit)}{BESIDE}", start=at.start, end=at.end),) for unit in own.members]
    listed = [part for unit in letters for part in (mark(",", at), *unit)][1:]
    return count_of(listed, own.at(letters, use.arguments, at), at)


def count_of(letters: Sequence[Token], condition: Sequence[Token], at: Token) -> list[Token]:
    """The sum of ones where a condition holds."""
    one = replace(at, kind="number", text="1")
    script = [mark("_", at), mark("{", at), *letters, mark(",", at), *condition, mark("}", at)]
    return [mark("(", at), replace(at, kind="symbol", text=r"\sum"), *script, one, mark(")", at)]


def own_of(use: Use | None, sets: Mapping[str, Described]) -> Described | None:
    """The set that is read, at as many letters as it has."""
    own = sets.get(use.name) if use else None
    return own if own and use and len(own.arguments) == len(use.arguments) else None


def read_at(tokens: Sequence[Token], place: int) -> Use | None:
    """A set where it is read, by its name or in its braces."""
    if tokens[place].text == r"\{":
        return Use("", (), closing(tokens, place) + 1)
    return use_at(tokens, place)
