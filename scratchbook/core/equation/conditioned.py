r"""Bars in subscripts: p_{j|i} is the element of shares that p(j | i) is, and x_{t|t-1} a name that says what is known.

The letters of the first run, and those of the second count steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .errors import fault
from .joined import with_members
from .letters import bound_letters, running_letters
from .lexicon import Lexicon, words_of
from .notation import Notation
from .pieces import is_conditioned, split_at
from .sites import Use, uses_in, with_uses
from .statements import RawStatement
from .steps import Step, mark, named, plain, several
from .symbols import group, latex_of
from .tokens import Token

BARS = ("|", r"\mid")


def without_bars(statements: Sequence[RawStatement], notation: Notation) -> tuple[list[RawStatement], set[str]]:
    r"""The statements with p_{i,j} for p_{j|i}, with a name of its own for P_{t|t-1} = ..., and with a declared P for
    the one P_{t-1|t-1} that nothing gives; and the letters that count steps so.

    Raises EquationError for p_{j|i} of an array that is not declared as shares, and for several steps that are read.
    """
    scripts = [found for one in statements for member in one.members for found in scripts_in(member)]
    if not scripts:
        return list(statements), set()
    lexicon = Lexicon(
        variables=set(notation.symbols),
        arrays={key for key, symbol in notation.symbols.items() if symbol.kind.shape},
        words=words_of(notation.symbols),
    )
    running = running_letters(statements, lexicon) | bound_letters(statements, lexicon)
    pairs = {base.text for base, script in scripts if is_pair(script, running)}
    for base in (base for base, _ in scripts if base.text in pairs):
        symbol = notation.symbols.get(base.text)
        if symbol is not None and symbol.kind.name != "simplex":
            name = latex_of(base.text)
            fact = f"ambiguous: which axis is the condition of {name}_{{j|i}}? write the indices in the array's order"
            raise fault(f"{fact}, or declare shares, whose last axis sums to one: '{name}: simplex(m, n)'", base)
    kept = [with_members(one, lambda member: put_pairs(member, pairs)) for one in statements]
    lefts = [found for one in kept if one.relations for found in scripts_in(one.members[0])]
    counted = {token.text for _, script in lefts for token in script if token.kind == "name"}
    return without_conditions(kept, notation, lexicon) if counted else kept, counted


def scripts_in(tokens: Sequence[Token]) -> Iterator[tuple[Token, tuple[Token, ...]]]:
    """Yield the names with a bar below them, and what stands there."""
    for place, token in enumerate(tokens[:-2]):
        if token.kind == "name" and tokens[place + 1].text == "_":
            script, _ = group(tokens, place + 2)
            if is_conditioned(script):
                yield token, script


def is_pair(script: Sequence[Token], running: set[str]) -> bool:
    """Is it j|i with two letters of which one runs?"""
    sides = [[token.text for token in side] for side in split_at(script, BARS)]
    letters = {side[0] for side in sides if side and set(side[1:]) <= {"'"}}
    return len(sides) == 2 and len(letters) == 2 and bool(letters & running)


def put_pairs(tokens: Sequence[Token], pairs: set[str]) -> Iterator[Token]:
    """Yield the tokens with i,j for the j|i below these names."""
    place = 0
    while place < len(tokens):
        token, sign = tokens[place], tokens[place + 1] if place + 2 < len(tokens) else None
        yield token
        place += 1
        if token.text in pairs and sign is not None and sign.text == "_":
            script, end = group(tokens, place + 1)
            sides = split_at(script, BARS)
            if is_conditioned(script) and len(sides) == 2:
                yield from (sign, mark("{", sign), *sides[1], mark(",", sign), *sides[0], mark("}", sign))
                place = end


def without_conditions(statements: Sequence[RawStatement], notation: Notation, lexicon: Lexicon) -> list[RawStatement]:
    r"""The statements with a name of its own for P_{t|t-1} = ..., and the declared P for P_{t-1|t-1}."""
    given, read = set[str](), dict[str, list[Step]]()
    for statement in statements:
        for number, member in enumerate(statement.members):
            for step in (step for use in uses_in(member, notation, lexicon) if (step := condition_of(use))):
                if number == 0 and step.use.start == 0:
                    given.add(step.name)
                else:
                    read.setdefault(step.use.symbol.key, []).append(step)
    for own in read.values():
        others = [step for step in own if step.name not in given]
        if len({step.name for step in others}) > 1:
            raise several(others, "")

    def changed(use: Use) -> list[Token] | None:
        step = condition_of(use)
        return None if step is None else named(step) if step.name in given else plain(step)

    return [
        with_members(one, lambda member: with_uses(tuple(member), notation, lexicon, changed)) for one in statements
    ]


def condition_of(use: Use) -> Step | None:
    """The t|t-1 of x_{t|t-1}."""
    place = next((place for place, piece in enumerate(use.rest) if is_conditioned(piece)), None)
    return None if place is None else Step(use, "", 0, place, use.rest[place])
