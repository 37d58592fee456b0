r"""Names of several parts that a left side makes one: \nabla_x \log p of \nabla_x \log p(x) = ..., the margin
P_{i \cdot} = \sum_j P_{ij} of a matrix P, and \delta_t V = ... of a declared V; or that the notation makes one:
\nabla f(x_t)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Final

from .errors import fault
from .pieces import Change, closing, split_at, split_commas, unwrapped, with_found
from .statements import RawStatement
from .symbols import (
    LOGARITHMS,
    MARGIN,
    MEANS,
    at_point,
    flat,
    group,
    latex_of,
    mean_at,
    read_scripts,
    split_key,
    written,
)
from .tokens import Token

DOTS: Final = frozenset([r"\cdot", "+", "*"])


@dataclass(frozen=True)
class Found:
    """A name of several parts.  of: the name within it.   tokens: what stands for it.   end: the place behind it."""

    name: str
    of: str
    tokens: tuple[Token, ...]
    end: int


Rule = Callable[[Sequence[Token], int], "Found | None"]


def join_names(statements: Sequence[RawStatement], declared: Mapping[str, int]) -> list[RawStatement]:
    """The statements with every such name as one token, wherever a left side gives it.

    declared: how many axes each name of the notation has.
    """
    given = {statement.members[0][0].text for statement in statements if statement.relations}
    logarithms = partial(put_logarithms, declared=declared, given=given)
    joined = [with_members(statement, logarithms) for statement in statements]
    joined = join_points(joined, {*declared, *told_apart(statements, declared)})
    firsts = {statement.members[0][0].text for statement in joined}
    for rule in RULES:
        lefts = [found for statement in joined if (found := rule(statement.members[0], 0)) is not None]
        # A gradient of what the display defines is held against that.
        names = {found.name for found in lefts if rule is not gradient_at or found.of not in firsts}
        if rule is margin_at:
            rights = {token.text for one in joined for member in one.members[1:] for token in member}
            names = {own.name for own in lefts if all(t.kind != "name" or t.text in rights for t in own.tokens[1:])}
        if rule is marginal_at:
            names = {found.name for found in lefts if is_marginal(found, joined, declared)}
        if rule is applied_at:
            names = {found.name for found in lefts if is_applied(found, joined, declared)}
        if rule is named_mean_at:
            names = means_in(declared)
        joined = [with_members(statement, partial(put_names, names=names)) for statement in joined]
    return joined


def join_points(statements: Sequence[RawStatement], names: Collection[str]) -> list[RawStatement]:
    r"""The statements with each name at its argument, as \phi(x), as one token."""
    points = {key for key in names if key.endswith(")")}
    return [with_members(statement, partial(put_points, points=points)) for statement in statements]


def with_members(statement: RawStatement, change: Callable[[Sequence[Token]], Iterable[Token]]) -> RawStatement:
    """The statement with each member changed."""
    return replace(statement, members=tuple(tuple(change(member)) for member in statement.members))


def put_points(tokens: Sequence[Token], points: Collection[str]) -> Iterator[Token]:
    r"""Yield the tokens with each declared name at its argument, as \phi(x) and \nabla f(x_t), as one name, with
    Q(s, a) as the element a of a declared Q(s, \cdot), and with \nabla_i f(x_t) as the element i of that gradient.

    Raises EquationError where Q(s, a) and Q(s, \cdot) are both declared.
    """
    place = 0
    while place < len(tokens):
        token, found = tokens[place], at_point(tokens, place) if points else None
        slot = slot_at(tokens, place, points) if points and token.kind == "name" else partial_at(tokens, place, points)
        place += 1
        if found is not None and found[0] in points:
            if slot is not None and slot.name != found[0]:
                raise fault(f"ambiguous: {found[0]} is declared, and an element of {slot.name}; declare one", token)
            name, place = found
            token = replace(token, kind="name", text=name, end=tokens[place - 1].end)
        elif slot is not None:
            yield slot.tokens[0]
            yield from put_points(slot.tokens[1:], points)
            place = slot.end
            continue
        yield token


def slot_at(tokens: Sequence[Token], place: int, points: Collection[str]) -> Found | None:
    r"""Q(s, a) as the element a of a declared Q(s, \cdot)."""
    first, start = tokens[place], read_scripts(tokens, place + 1)[1]
    if start >= len(tokens) or tokens[start].text != "(" or not any(r"\cdot" in name for name in points):
        return None
    end = closing(tokens, start)
    cuts = [start]
    for piece in split_at(tokens[start + 1 : end], (",", ";", "|", r"\mid")):
        cuts.append(cuts[-1] + len(piece) + 1)
    for before, after in pairwise(cuts):
        dot = replace(first, kind="symbol", text=r"\cdot")
        name = written([*tokens[place : before + 1], dot, *tokens[after : end + 1]])
        if name in points and before + 1 < after:
            # In brackets it is one index, however many names it holds.
            signs = ("_", "{", "(", ")", "}") if after - before > 2 else ("_", "{", "}")
            script = [replace(tokens[start], text=text) for text in signs]
            half = (len(script) + 1) // 2
            inside = (*script[:half], *tokens[before + 1 : after], *script[half:])
            made = (replace(first, text=name, end=tokens[end].end), *inside)
            return Found(name, first.text, made, end + 1)
    return None


def partial_at(tokens: Sequence[Token], place: int, points: Collection[str]) -> Found | None:
    r"""\nabla_i f(x) as the element i of a declared \nabla f(x)."""
    if tokens[place].text != r"\nabla" or not any(name.startswith(r"\nabla{") for name in points):
        return None
    scripts, middle = read_scripts(tokens, place + 1)
    if not scripts.below or scripts.above or scripts.primes or middle >= len(tokens) or tokens[middle].kind != "name":
        return None
    whole = replace(tokens[middle], text=rf"\nabla{{{tokens[middle].text}}}")
    found = at_point([whole, *tokens[middle + 1 :]], 0)
    if found is None or found[0] not in points:
        return None
    if {token.text for token in scripts.below} & {token.text for token in tokens[middle : middle + found[1]]}:
        return None  # \nabla_w f(w) is by w
    name = replace(whole, text=found[0], start=tokens[place].start, end=tokens[middle + found[1] - 1].end)
    return Found(found[0], tokens[middle].text, (name, *tokens[place + 1 : middle]), middle + found[1])


def told_apart(statements: Sequence[RawStatement], declared: Collection[str]) -> set[str]:
    r"""The H(X), H(Y) and H(X, Y) that left sides give, where letters that are nothing else tell them apart."""
    lefts = [statement.members[0] for statement in statements if statement.relations]
    found: dict[str, set[str]] = {}
    letters = set[str]()
    for left in lefts:
        point = at_point(left, 0)
        if point is None or point[1] != len(left) or left[0].text in declared or left[0].text.startswith(r"\nabla"):
            continue
        inside = [token for token in left[read_scripts(left, 1)[1] :] if token.kind == "name"]
        if inside and all(len(token.text) == 1 and token.text.isupper() for token in inside):
            found.setdefault(left[0].text, set()).add(point[0])
            letters |= {token.text for token in inside}
    ways = set().union(*found.values())
    rest = [token.text for one in statements for member in one.members for token in put_points(member, ways)]
    return {name for own in found.values() if len(own) > 1 and not letters & {*rest, *declared} for name in own}


def put_logarithms(tokens: Sequence[Token], declared: Collection[str], given: Collection[str]) -> Iterator[Token]:
    r"""Yield the tokens with a declared \log \pi as one name, and with its exponential for the \pi that nothing gives.

    Raises EquationError where \pi is declared too.
    """
    logarithms = [key for key in declared if key.startswith(r"\log{")]
    bases = {split_key(key)[0] for key in declared if not key.startswith(r"\frac")} if logarithms else set()
    place = 0
    while place < len(tokens) and logarithms:
        token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
        place += 1
        if after is not None and token.text in LOGARITHMS and after.kind == "name":
            name = rf"\log{{{after.text}}}"
            is_declared = any(key.startswith(name) for key in logarithms)
            if is_declared and after.text in bases:
                raise fault(f"ambiguous: {latex_of(name)} is declared, and {after.text} too; declare one", token)
            if is_declared:
                token = replace(token, kind="name", text=name, end=after.end)
                place += 1
        own = [key for key in logarithms if key.startswith(rf"\log{{{token.text}}}")]
        if own and token.kind == "name" and token.text not in {*bases, *given}:
            name, end = rf"\log{{{token.text}}}", read_scripts(tokens, place)[1]
            is_at = any(key.endswith(")") for key in own)
            end = closing(tokens, end) + 1 if is_at and end < len(tokens) and tokens[end].text == "(" else end
            brackets = [replace(token, kind="symbol", text=text) for text in "()"]
            yield from (replace(token, text="exp"), brackets[0], replace(token, text=name))
            yield from (*tokens[place:end], brackets[1])
            place = end
            continue
        yield token
    yield from tokens[place:]


def put_names(tokens: Sequence[Token], names: Collection[str]) -> list[Token]:
    """The tokens with each of these names as one."""
    names = {*names, *means_in(names)}

    def found_at(tokens: Sequence[Token], place: int) -> Change:
        found = next((found for rule in RULES if (found := rule(tokens, place)) and found.name in names), None)
        return (found.tokens, found.end) if found else None

    return list(with_found(tokens, found_at))


def means_in(names: Iterable[str]) -> set[str]:
    r"""The bases such as \mathbb{E}[g^2] of names."""
    return {split_key(name)[0] for name in names if name.startswith(tuple(f"{mean}[" for mean in MEANS))}


def named_mean_at(tokens: Sequence[Token], place: int) -> Found | None:
    r"""\mathbb{E}[g^2]_t, a running mean: the scripts stay."""
    found = mean_at(tokens, place)
    if found is None:
        return None
    name, end = found
    return Found(name, name, (replace(tokens[place], text=name, end=tokens[end - 1].end),), end)


def gradient_at(tokens: Sequence[Token], place: int) -> Found | None:
    r"""\nabla_x \log p and \nabla_w L before brackets; \nabla f is one token already."""
    first, start = tokens[place], place
    name = first.text
    if first.text == r"\nabla":
        scripts, place = read_scripts(tokens, place + 1)
        if not scripts.below or scripts.above:
            return None
        name = rf"\nabla_{flat(scripts.below)}"
    elif first.text not in {rf"\nabla{{{word}}}" for word in LOGARITHMS}:
        return None
    else:
        name, place = r"\nabla", place + 1
    is_logarithm = first.text != r"\nabla" or (place < len(tokens) and tokens[place].text in LOGARITHMS)
    place += is_logarithm and first.text == r"\nabla"
    if place >= len(tokens) or tokens[place].kind != "name":
        return None
    of, end = tokens[place], read_scripts(tokens, place + 1)[1]
    if end >= len(tokens) or tokens[end].text != "(":
        return None
    name += rf"{{\log {of.text}}}" if is_logarithm else f"{{{of.text}}}"
    return Found(name, of.text, (replace(of, text=name, start=tokens[start].start),), place + 1)


def margin_at(tokens: Sequence[Token], place: int) -> Found | None:
    r"""P_{i \cdot}, n_{+j} and N_{\cdot \cdot}: what runs stays an index, and the dots make another name."""
    base = tokens[place]
    if base.kind != "name" or place + 2 >= len(tokens) or tokens[place + 1].text != "_":
        return None
    script, end = group(tokens, place + 2)
    pieces = split_commas(unwrapped(script))
    atoms = [token for piece in pieces for token in piece]
    dots = [number for number, token in enumerate(atoms) if token.text in DOTS]
    is_listed = len(pieces) == len(atoms) or dots in ([0], [len(atoms) - 1]) or len(dots) == len(atoms)
    if len(atoms) < 2 or not dots or not is_listed:
        return None
    if any(token.kind != "name" and token.text not in DOTS for token in atoms):
        return None
    name = base.text + MARGIN * sum(2**number for number in dots)
    rest = [token for token in atoms if token.text not in DOTS]
    comma, sign = replace(base, kind="symbol", text=","), tokens[place + 1]
    listed = [part for token in rest for part in (comma, token)][1:]
    below = (sign, replace(sign, text="{"), *listed, replace(sign, text="}")) if rest else ()
    return Found(name, base.text, (replace(base, text=name, end=tokens[end - 1].end), *below), end)


def marginal_at(tokens: Sequence[Token], place: int) -> Found | None:
    """p(x) beside a p(x, y): the letter is an index, and tells the margin from p(y)."""
    base = tokens[place]
    inside = tokens[place + 1 : place + 4]
    if base.kind != "name" or [token.text for token in inside][::2] != ["(", ")"]:
        return None
    letter = inside[1]
    if letter.kind != "name" or len(letter.text) != 1 or not letter.text.isascii():
        return None
    name = base.text + MARGIN * ord(letter.text)
    below = (replace(inside[0], text="_"), replace(inside[0], text="{"), letter, replace(inside[2], text="}"))
    return Found(name, base.text, (replace(base, text=name, end=inside[2].end), *below), place + 4)


def is_marginal(found: Found, statements: Sequence[RawStatement], axes: Mapping[str, int]) -> bool:
    """Is a name given at one letter by a sum: over an array of that name with two axes, or at another letter too?"""
    given: dict[str, bool] = {}
    for statement in statements:
        left, right = statement.members[0], statement.members[1:2]
        own = marginal_at(left, 0)
        if own is not None and own.end == len(left) and own.of == found.of and right:
            is_sum = [token.text for token in right[0][:2]] == [r"\sum", "_"]
            is_own = any(token.text == found.of for token in right[0])
            given[own.name] = is_sum and (is_own or found.of not in axes)
    if axes.get(found.of, 2) != 2 or not given.get(found.name):
        return False
    return found.of in axes or (len(given) > 1 and all(given.values()))


def applied_at(tokens: Sequence[Token], place: int) -> Found | None:
    r"""\delta_t V and T z_j: a name and another behind it, one of them with an index."""
    first = tokens[place]
    if first.kind != "name" or place + 1 >= len(tokens):
        return None
    middle = read_scripts(tokens, place + 1)[1]
    if middle >= len(tokens) or tokens[middle].kind != "name":
        return None
    of, end = tokens[middle], read_scripts(tokens, middle + 1)[1]
    is_first = middle > place + 1
    if is_first == (end > middle + 1) or tokens[middle - 1 if is_first else end - 1].text == "'":
        return None
    name = f"{first.text}{{{of.text}}}" if first.text.startswith("\\") else rf"\mathcal{{{first.text}{of.text}}}"
    scripts = tokens[place + 1 : middle] if is_first else tokens[middle + 1 : end]
    return Found(name, of.text, (replace(first, text=name, end=of.end), *scripts), end)


def is_applied(found: Found, statements: Sequence[RawStatement], declared: Collection[str]) -> bool:
    """Is a name followed by another all of a left side, the first standing for nothing and the second declared?"""
    lefts = [statement.members[0] for statement in statements]
    whole = [left for left in lefts if (own := applied_at(left, 0)) and own.name == found.name and own.end == len(left)]
    if not whole or found.of not in declared:
        return False
    first = whole[0][0].text
    others = [left[0].text for left in lefts if left not in whole]
    return first not in others and not any(split_key(key)[0] == first for key in declared)


RULES: Final[tuple[Rule, ...]] = (named_mean_at, margin_at, marginal_at, gradient_at, applied_at)
