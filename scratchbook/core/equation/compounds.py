r"""Names of several parts where they stand in a display: \nabla_x \log p, P_{i \cdot}, |H(j\omega)|, \delta_t V; and
whether a left side makes one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .known import known_function
from .pieces import closing, split_commas, unwrapped
from .statements import RawStatement
from .symbols import LOGARITHMS, MARGIN, MEANS, flat, group, hessian_key, mean_at, read_scripts, split_key, written
from .tokens import Token

DOTS: Final = frozenset([r"\cdot", "+", "*"])


@dataclass(frozen=True)
class Found:
    """A name of several parts.  of: the name within it.   tokens: what stands for it.   end: the place behind it."""

    name: str
    of: str
    tokens: tuple[Token, ...]
    end: int


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


def hessian_at(tokens: Sequence[Token], place: int) -> Found | None:
    r"""\nabla^2 \phi, \nabla_x^2 \phi and \nabla\nabla \phi."""
    found = hessian_key(tokens, place)
    if found is None:
        return None
    name, end = found
    of = tokens[end - 1]
    return Found(name, of.text, (replace(of, text=name, start=tokens[place].start),), end)


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


def barred_at(tokens: Sequence[Token], place: int) -> Found | None:
    r"""|H(j\omega)|, where nothing says what H is."""
    if tokens[place].text not in ("|", r"\lvert") or place + 1 >= len(tokens) or tokens[place + 1].kind != "name":
        return None
    opener = read_scripts(tokens, place + 2)[1]
    if opener >= len(tokens) or tokens[opener].text != "(":
        return None
    end = closing(tokens, opener) + 1
    if end >= len(tokens) or tokens[end].text not in ("|", r"\rvert"):
        return None
    of = tokens[place + 1]
    name = f"|{written(tokens[place + 1 : end])}|"
    return Found(name, of.text, (replace(of, text=name, start=tokens[place].start, end=tokens[end].end),), end + 1)


def is_barred(found: Found, statements: Sequence[RawStatement], declared: Collection[str]) -> bool:
    """Does a name stand between bars at one argument alone, so that this is the name?"""
    members = [member for statement in statements for member in statement.members]
    uses = [own for member in members for place in range(len(member)) if (own := barred_at(member, place))]
    count = sum(token.text == found.of for member in members for token in member)
    if known_function(found.of):
        return False
    is_given = any(split_key(key)[0] == found.of for key in declared)
    return not is_given and count == sum(own.name == found.name for own in uses)


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
