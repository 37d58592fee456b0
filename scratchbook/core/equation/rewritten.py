r"""Statements that name in another form: a tuple, an inverse, a column, a name given last, a letter for another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .bracketed import texts_of, without_said
from .cells import with_cells
from .known import known_function
from .leftsides import read_left
from .lexicon import Lexicon
from .notation import Notation
from .pieces import closing, split_commas
from .statements import RawStatement, rows_of
from .symbols import flat, key_of, read_scripts, split_key
from .tokens import Token

Members = tuple[tuple[Token, ...], ...]


def plainly(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements of a display with one name on each left side that gives one."""
    columns = [part for one in statements for part in parts_of_column(one, statements, notation)]
    parted = [part for statement in columns for part in parts_of_tuple(statement)]
    unnamed = [without_name_given(statement, parted, notation) for statement in parted]
    elements = without_said(with_cells(unnamed, notation), notation)
    unargued = [part for one in elements for part in with_twins(one, unnamed, notation)]
    return [with_inverse(statement, unargued, notation) for statement in unargued]


def parts_of_tuple(statement: RawStatement) -> list[RawStatement]:
    """(a, b) = (c, d) as a = c and b = d."""
    lists = [items_of(member) for member in statement.members]
    is_equal = {token.text for token in statement.relations} <= {"=", ":="} and len(statement.members) > 1
    if not is_equal or len(lists[0]) < 2 or len(set(map(len, lists))) > 1:
        return [statement]
    return [replace(statement, members=tuple(map(tuple, parts))) for parts in zip(*lists, strict=True)]


def parts_of_column(
    statement: RawStatement, statements: Sequence[RawStatement], notation: Notation
) -> Iterator[RawStatement]:
    r"""Yield (u, v)^\top = A x as a name for A x and its elements u and v, where those are names that nothing else
    gives and that are read elsewhere."""
    left = statement.members[0]
    is_column = left[0].text.startswith(r"\begin{") and left[-1].text == left[0].text.replace("begin", "end")
    rows = [tuple(row) for row in rows_of(left[1:-1])] if is_column else []
    lefts = [read_left(other.members[0], Lexicon()) for other in statements]
    given = {key_of(own.base, own.scripts.below, own.scripts.above, own.scripts.primes) for own in lefts if own}
    named = [read_left(row, Lexicon()) for row in rows]
    keys = [key_of(own.base, own.scripts.below, (), own.scripts.primes) for own in named if own and not own.arguments]
    is_fresh = not {*keys, *(own.base for own in named if own)} & {*notation.symbols, *given}
    bases = [own.base for own in named if own]
    is_read = all(texts_of(statements).count(base) > bases.count(base) for base in bases)
    if len(rows) < 2 or len(set(keys)) < len(rows) or not is_fresh or not is_read or len(statement.members) != 2:
        yield statement
        return
    at = left[0]
    whole = replace(at, kind="name", text=f"({','.join(map(flat, rows))})", end=left[-1].end)
    yield replace(statement, members=((whole,), statement.members[1]))
    for number, row in enumerate(rows):
        picks = [mark("," if place % 2 else str(int(place == 2 * number)), at) for place in range(2 * len(rows) - 1)]
        picks = [part if part.text == "," else replace(part, kind="number") for part in picks]
        right = (mark("[", at), *picks, mark("]", at), mark(r"\cdot", at), whole)
        yield replace(statement, members=(row, right))


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
