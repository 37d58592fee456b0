r"""Statements that name in another form: of a tuple, of an inverse, with a name given last, and of \mu as \mu(x)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .known import known_function
from .leftsides import read_left
from .lexicon import Lexicon
from .notation import Notation
from .pieces import closing, split_commas
from .statements import RawStatement
from .symbols import Scripts, flat, key_of, read_scripts, split_key, written
from .tokens import Token

# What makes of a name a script, or what is derived.
BEFORE: Final = ("_", "^", r"\nabla")

Members = tuple[tuple[Token, ...], ...]


def plainly(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements of a display with one name on each left side that gives one."""
    parted = [part for statement in statements for part in parts_of_tuple(statement)]
    unnamed = [without_name_given(statement, parted, notation) for statement in parted]
    unargued = [part for one in without_habits(unnamed, notation) for part in with_twins(one, unnamed, notation)]
    return [with_inverse(statement, unargued, notation) for statement in unargued]


def parts_of_tuple(statement: RawStatement) -> list[RawStatement]:
    """(a, b) = (c, d) as a = c and b = d."""
    lists = [items_of(member) for member in statement.members]
    is_equal = {token.text for token in statement.relations} <= {"=", ":="} and len(statement.members) > 1
    if not is_equal or len(lists[0]) < 2 or len(set(map(len, lists))) > 1:
        return [statement]
    return [replace(statement, members=tuple(map(tuple, parts))) for parts in zip(*lists, strict=True)]


def items_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """What stands between the commas of a member that is one list in round brackets."""
    if tokens[0].text != "(" or closing(tokens, 0) != len(tokens) - 1 or tokens[-1].text != ")":
        return []
    return split_commas(tokens[1:-1])


def without_name_given(statement: RawStatement, statements: Sequence[RawStatement], notation: Notation) -> RawStatement:
    r"""A chain without the name that it gives at its end, as y = ax + b \equiv \operatorname{BN}_{a,b}(x) does.

    Nothing declares that name, and nothing else mentions it.
    """
    if len(statement.members) < 3 or statement.relations[-1].text != ":=":
        return statement
    named = read_left(statement.members[-1], Lexicon())
    declared = {split_key(key)[0] for key in [*notation.symbols, *notation.functions]}
    if named is None or named.base in declared or known_function(named.base):
        return statement
    if texts_of(statements).count(statement.members[-1][0].text) > 1:
        return statement
    return replace(statement, members=statement.members[:-1], relations=statement.relations[:-1])


@dataclass(frozen=True)
class Called:
    """A name with brackets behind it.  key: of the name.   said: what stands in them.   start, end: where they are."""

    key: str
    said: str
    member: tuple[Token, ...]
    start: int
    end: int
    is_number: bool

    @property
    def letters(self) -> list[str]:
        """The names in the brackets."""
        return [token.text for token in self.member[self.start + 1 : self.end] if token.kind == "name"]


def without_habits(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    r"""The statements with \mu for \mu(x) and p_i for p_i(x), where \mu and p_i are numbers and x stands for nothing.

    Nothing declares x, and it stands in such brackets alone, and in those of left sides; they say everywhere the same.
    """
    calls = [call for one in statements for member in one.members for call in calls_in(member, notation)]
    lefts = {id(statement.members[0]) for statement in statements}
    declared = {split_key(key)[0] for key in [*notation.symbols, *notation.functions]}
    habits = set[str]()
    for said in {call.said for call in calls if call.is_number}:
        own = [call for call in calls if call.said == said]
        letters = own[0].letters
        is_left = all(call.is_number or (id(call.member) in lefts and call.end == len(call.member) - 1) for call in own)
        is_alone = all(texts_of(statements).count(letter) == len(own) * letters.count(letter) for letter in letters)
        is_same = not {call.key for call in own} & {call.key for call in calls if call not in own}
        if letters and is_left and is_alone and is_same and not declared & set(letters):
            habits.add(said)
    return [
        replace(one, members=tuple(tuple(without_brackets(part, habits, notation)) for part in one.members))
        for one in statements
    ]


def calls_in(tokens: tuple[Token, ...], notation: Notation) -> Iterator[Called]:
    """Yield each name with brackets behind it."""
    for place, token in enumerate(tokens):
        scripts, start = read_scripts(tokens, place + 1) if token.kind == "name" else (Scripts(), len(tokens))
        if start >= len(tokens) or tokens[start].text != "(" or (place and tokens[place - 1].text in BEFORE):
            continue
        end = closing(tokens, start)
        key = key_of(token.text, scripts.below, scripts.above, scripts.primes)
        is_number = is_of_number(token.text, scripts, key, notation)
        yield Called(key, written(tokens[start + 1 : end]), tokens, start, end, is_number)


def is_of_number(base: str, scripts: Scripts, key: str, notation: Notation) -> bool:
    """Is a name declared as a number, or an array with all its indices?"""
    symbol = notation.symbols.get(key)
    if symbol is not None:
        return not symbol.kind.shape and symbol.kind.name != "index"
    array = notation.symbols.get(key_of(base, (), scripts.above, scripts.primes))
    pieces = split_commas(scripts.below)
    count = len(pieces) if len(pieces) > 1 else max(len(pieces), sum(token.kind == "name" for token in scripts.below))
    return array is not None and 0 < count == len(array.kind.shape)


def without_brackets(tokens: tuple[Token, ...], habits: set[str], notation: Notation) -> Iterator[Token]:
    """Yield the tokens without what is said in brackets behind a number by habit alone."""
    dropped = set[int]()
    for call in calls_in(tokens, notation):
        dropped |= set(range(call.start, call.end + 1)) if call.is_number and call.said in habits else set()
    yield from (token for place, token in enumerate(tokens) if place not in dropped)


def with_twins(
    statement: RawStatement, statements: Sequence[RawStatement], notation: Notation
) -> Iterator[RawStatement]:
    r"""Yield \lambda_s = \alpha_s / \sigma_s before \lambda_t = \alpha_t / \sigma_t, where \lambda_s is read, and all
    that has a t on the right is declared with both letters, neither of which is anything alone."""
    left = statement.members[0]
    if len(left) == 3 and left[0].kind == "name" and left[1].text == "_" and len(statement.members) == 2:
        name, letter, right = left[0].text, left[2].text, statement.members[1]
        bases = names_before(right, letter)
        is_whole = 0 < len(bases) == [token.text for token in right].count(letter)
        for twin in twins_of(name, letter, statements) if is_whole else ():
            needed = {key_of(base, (at,)) for base in bases for at in (left[2], twin)}
            free = {letter, twin.text, key_of(name, (twin,))}
            if needed <= set(notation.symbols) and not free & set(notation.symbols):
                put = [tuple(twin if part.text == letter else part for part in one) for one in statement.members]
                yield replace(statement, members=tuple(put))
    yield statement


def twins_of(name: str, letter: str, statements: Sequence[RawStatement]) -> list[Token]:
    """The other letters with which right sides read a name, and with which no left side gives it."""
    given = {flat(statement.members[0]) for statement in statements}
    found = {
        script.text: script
        for statement in statements
        for member in statement.members[1:]
        for base, sign, script in zip(member, member[1:], member[2:], strict=False)
        if base.text == name and sign.text == "_" and script.kind == "name" and script.text != letter
    }
    return [script for text, script in found.items() if f"{name}_{text}" not in given]


def names_before(tokens: Sequence[Token], letter: str) -> list[str]:
    """The names that have nothing but a letter below them."""
    return [
        name.text
        for name, sign, script in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if name.kind == "name" and sign.text == "_" and script.text == letter
    ]


def with_inverse(statement: RawStatement, statements: Sequence[RawStatement], notation: Notation) -> RawStatement:
    r"""\Sigma^{-1} = A as \Sigma = A^{-1}, where \Sigma is read elsewhere and nothing else gives it."""
    left = statement.members[0]
    scripts, end = read_scripts(left, 1) if left[0].kind == "name" else (None, 0)
    if scripts is None or end != len(left) or flat(scripts.above) != "-1" or scripts.primes:
        return statement
    if {token.text for token in statement.relations} - {"=", ":="} or not statement.relations:
        return statement
    name = key_of(left[0].text, scripts.below)
    lefts = [read_left(other.members[0], Lexicon()) for other in statements if other is not statement]
    is_given = any(other and key_of(other.base, other.scripts.below, other.scripts.above) == name for other in lefts)
    if name in notation.symbols or is_given or not is_read(left[0], scripts.below, statements):
        return statement
    at = left[-1]
    below = (mark("_", at), mark("{", at), *scripts.below, mark("}", at)) if scripts.below else ()
    power = (
        mark(")", at),
        mark("^", at),
        mark("{", at),
        mark("-", at),
        replace(at, kind="number", text="1"),
        mark("}", at),
    )
    rights = tuple((mark("(", at), *right, *power) for right in statement.members[1:])
    return replace(statement, members=((left[0], *below), *rights))


def mark(text: str, at: Token) -> Token:
    """A sign where another token stands."""
    return replace(at, kind="symbol", text=text)


def is_read(name: Token, below: Sequence[Token], statements: Sequence[RawStatement]) -> bool:
    """Does a right side read a name without the power -1?"""
    for statement in statements:
        for member in statement.members[1:]:
            for place, token in enumerate(member):
                if token.kind == "name" and token.text == name.text:
                    scripts, _ = read_scripts(member, place + 1)
                    if flat(scripts.below) == flat(below) and flat(scripts.above) != "-1":
                        return True
    return False


def texts_of(statements: Sequence[RawStatement]) -> list[str]:
    """The texts of all tokens."""
    return [token.text for statement in statements for member in statement.members for token in member]
