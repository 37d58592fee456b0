r"""Names of several parts that a left side makes one: \nabla_x \log p of \nabla_x \log p(x) = ..., the margin
P_{i \cdot} = \sum_j P_{ij} of a matrix P, and \delta_t V = ... of a declared V; or that the notation makes one:
\nabla f(x_t)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final

from .compounds import (
    Found,
    applied_at,
    barred_at,
    gradient_at,
    hessian_at,
    is_applied,
    is_barred,
    is_marginal,
    margin_at,
    marginal_at,
    means_in,
    named_mean_at,
)
from .errors import fault
from .pieces import Change, closing, split_at, with_found
from .spelling import spell
from .statements import RawStatement
from .symbols import (
    LOGARITHMS,
    at_point,
    flat,
    group,
    latex_of,
    read_scripts,
    split_key,
    written,
)
from .tokens import Token, read_tokens

Rule = Callable[[Sequence[Token], int], Found | None]


def join_names(statements: Sequence[RawStatement], declared: Mapping[str, int]) -> list[RawStatement]:
    """The statements with every such name as one token, wherever a left side gives it.

    declared: how many axes each name of the notation has.
    """
    points = [spell(read_tokens(key, None)) for key in declared if key.endswith(")")]
    statements = [with_members(statement, partial(put_transposes, points=points)) for statement in statements]
    given = {statement.members[0][0].text for statement in statements if statement.relations}
    logarithms = partial(put_logarithms, declared=declared, given=given)
    joined = [with_members(statement, logarithms) for statement in statements]
    joined = join_points(joined, {*declared, *told_apart(statements, declared)})
    firsts = {statement.members[0][0].text for statement in joined}
    for rule in RULES:
        lefts = [found for statement in joined if (found := rule(statement.members[0], 0)) is not None]
        # A gradient of what the display defines is held against that.
        names = {found.name for found in lefts if rule not in (gradient_at, hessian_at) or found.of not in firsts}
        if rule is barred_at:
            names = {found.name for found in lefts if is_barred(found, joined, declared)}
        if rule is hessian_at:
            names |= {key for key in declared if key.startswith(r"\nabla")}
        if rule is margin_at:
            rights = {token.text for one in joined for member in one.members[1:] for token in member}
            names = {own.name for own in lefts if all(t.kind != "name" or t.text in rights for t in own.tokens[1:])}
        if rule is marginal_at:
            names = {found.name for found in lefts if is_marginal(found, joined, declared)}
        if rule is applied_at:
            names = {found.name for found in lefts if is_applied(found, joined, declared)}
        if rule is named_mean_at:
            names = means_in(declared)
        if names:
            joined = [with_members(statement, partial(put_names, names=names)) for statement in joined]
    return joined


def put_transposes(tokens: Sequence[Token], points: Sequence[Sequence[Token]]) -> Iterator[Token]:
    r"""Yield the tokens with u(n-1)^T for the u^T(n-1) of a declared u(n)."""
    known = [(written(point[:start]), names_in(point[start:])) for point in points if (start := opener_of(point))]

    def moved_at(tokens: Sequence[Token], place: int) -> Change:
        scripts, end = read_scripts(tokens, place + 1)
        if flat(scripts.above) not in (r"\top", "T") or end >= len(tokens) or tokens[end].text != "(":
            return None
        sign = next(number for number in range(place, end) if tokens[number].text == "^")
        after, closer = group(tokens, sign + 1)[1], closing(tokens, end) + 1
        base = [*tokens[place:sign], *tokens[after:end]]
        is_own = (written(base), names_in(tokens[end:closer])) in known
        return ((*base, *tokens[end:closer], *tokens[sign:after]), closer) if is_own else None

    return with_found(tokens, moved_at)


def opener_of(point: Sequence[Token]) -> int:
    """Where the brackets of a name at its argument open; 0 where it has none."""
    return next((number for number, token in enumerate(point) if token.text == "("), 0)


def names_in(tokens: Sequence[Token]) -> set[str]:
    """The names among tokens."""
    return {token.text for token in tokens if token.kind == "name"}


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


RULES: Final[tuple[Rule, ...]] = (named_mean_at, barred_at, margin_at, marginal_at, hessian_at, gradient_at, applied_at)
