r"""Sets that a display describes, as P_i = \{ j : y_j = y_i \}: what runs over one runs where its condition holds, and
|P_i| counts there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .errors import fault
from .leftsides import read_left
from .lexicon import Lexicon
from .notation import Notation
from .pieces import closing, split_commas, top_level, units_of, unwrapped
from .statements import RawStatement
from .symbols import flat, latex_of, read_scripts, split_key
from .tokens import Token
from .vocabulary import RELATIONS

Unit = tuple[Token, ...]
BARS = {"|": "|", r"\lvert": r"\rvert"}
COLONS = (":", r"\mid", "|")


@dataclass(frozen=True)
class Described:
    """A set.

    name: its letter, with a script that is no letter.   arguments: the letters of P_i and P(i).
    members: the letters of what it holds.   condition: what they must meet.
    """

    name: str
    arguments: tuple[Unit, ...]
    members: tuple[Unit, ...]
    condition: tuple[Token, ...]

    def at(self, members: Sequence[Unit], arguments: Sequence[Unit], place: Token) -> list[Token]:
        """The condition with other letters in the place of its own, all at once."""
        letters = [*self.members, *self.arguments]
        put = dict(zip(map(flat, letters), [*members, *arguments], strict=True))
        return [replace(part, start=place.start, end=place.end) for part in put_in(self.condition, put)]


@dataclass(frozen=True)
class Use:
    """A set where it is read: its name, the letters at it, and the place behind it."""

    name: str
    arguments: tuple[Unit, ...]
    end: int


def read_described(statement: RawStatement, notation: Notation) -> Described | None:
    r"""The set of P(i) = \{ p \ne i : y_p = y_i \}; None for any other statement."""
    if len(statement.members) != 2 or statement.relations[0].text not in ("=", ":="):
        return None
    left, right = statement.members
    use = use_at(left, 0)
    own = within_braces(right, notation) if use is not None and use.end == len(left) else None
    if use is None or own is None:
        return None
    if left[0].text in notation.symbols:
        raise fault(f"the set {latex_of(left[0].text)} is declared as well; give one of both another letter", left[0])
    return replace(own, name=use.name, arguments=use.arguments)


def within_braces(tokens: Sequence[Token], notation: Notation) -> Described | None:
    r"""The set of \{ p \ne i : y_p = y_i \}, without a name; None for anything else."""
    if tokens[0].text != r"\{" or closing(tokens, 0) != len(tokens) - 1:
        return None
    inside = tokens[1:-1]
    sign = next((token for token in top_level(inside) if token.text in COLONS), None)
    if sign is None:
        return None
    number = next(number for number, token in enumerate(inside) if token is sign)
    first, condition = inside[:number], inside[number + 1 :]
    relation = next((place for place, token in enumerate(first) if token.text in RELATIONS), len(first))
    members = [unit_of(piece) for piece in split_commas(unwrapped(first[:relation]))]
    is_joined = any(token.text in (r"\vee", "or") for token in condition) and any(t.text == "," for t in condition)
    if not condition or is_joined or not members or any(unit is None or runs_not(unit, notation) for unit in members):
        return None
    if relation < len(first):
        condition = [*first, replace(sign, text=",", kind="symbol"), *condition]
    return Described("", (), tuple(filter(None, members)), tuple(condition))


def runs_not(unit: Unit, notation: Notation) -> bool:
    """Is a letter declared as anything but an index?"""
    symbol = notation.symbols.get(flat(unit))
    return symbol is not None and symbol.kind.name != "index"


def check_letters(own: Described, statements: Sequence[RawStatement], notation: Notation) -> None:
    """Refuse a set that reads a letter which is neither its own nor has a value: it may run where the set is read."""
    lefts = [read_left(statement.members[0], Lexicon()) for statement in statements]
    known = {left.base for left in lefts if left} | {flat(unit) for unit in (*own.members, *own.arguments)}
    for key in [*notation.symbols, *notation.functions]:
        known |= {key, *split_key(key)[:3]} if not key.startswith(r"\frac") else {key}
    for unit in units_of(own.condition):
        if unit[0].kind == "name" and len(unit[0].text) == 1 and flat(unit) not in known and unit[0].text not in known:
            name = latex_of(own.name)
            said = f"the set {name} reads {flat(unit)}, which has no value and is no letter of {name}"
            raise fault(f"{said}; write {name}_{flat(unit)} = ...", unit[0])


def use_at(tokens: Sequence[Token], place: int) -> Use | None:
    r"""P, P_i, P(i), S_+ and \mathcal{N}_k(i), read with their letters."""
    first = tokens[place]
    if first.kind != "name":
        return None
    scripts, place = read_scripts(tokens, place + 1)
    if scripts.above or scripts.primes:
        return None
    pieces = split_commas(unwrapped(scripts.below))
    is_label = bool(pieces) and any(token.kind != "name" and token.text != "'" for token in scripts.below)
    if place < len(tokens) and tokens[place].text == "(":
        end = closing(tokens, place)
        pieces = [*([] if is_label else pieces), *split_commas(tokens[place + 1 : end])]
        place = end + 1
    elif is_label:
        pieces = []
    units = [unit_of(piece) for piece in pieces]
    name = f"{first.text}_{{{flat(scripts.below)}}}" if is_label else first.text
    return Use(name, tuple(filter(None, units)), place) if all(units) else None


def unit_of(tokens: Sequence[Token]) -> Unit | None:
    """One letter with its primes, or one number."""
    units = list(units_of(tokens))
    return units[0] if len(units) == 1 and units[0][0].kind in ("name", "number") else None


def put_in(tokens: Sequence[Token], put: Mapping[str, Unit]) -> Iterator[Token]:
    """Yield tokens with other letters for some, in braces where primes need them."""
    for unit in units_of(tokens):
        other = put.get(flat(unit), unit) if unit[0].kind == "name" else unit
        yield from other if other is unit or len(other) == 1 else (mark("{", unit[0]), *other, mark("}", unit[0]))


def mark(text: str, at: Token) -> Token:
    """A sign where another token stands."""
    return replace(at, kind="symbol", text=text)
