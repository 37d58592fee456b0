r"""What stands in brackets behind a name and is no argument: the habit of \mu(x), the element of V(s_t), and the event
of p(y = k | x)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .letters import bound_letters
from .lexicon import Lexicon
from .notation import Notation
from .pieces import closing, letters_in, split_at
from .statements import RawStatement
from .symbols import Scripts, flat, group, key_of, read_scripts, split_key, written
from .tokens import Token

# What makes of a name a script, or what is derived.
BEFORE: Final = ("_", "^", r"\nabla")


@dataclass(frozen=True)
class Called:
    """A name with brackets behind it.  name: its place.   key: of it.   said: what stands in them.   start, end: where
    they are.   axes: how many the notation says that it has, or its indices leave; None for what is not declared."""

    name: int
    key: str
    said: str
    member: tuple[Token, ...]
    start: int
    end: int
    axes: int | None

    @property
    def is_number(self) -> bool:
        """Is it declared as a number, or an array with all its indices?"""
        return self.axes == 0

    @property
    def letters(self) -> list[str]:
        """The names in the brackets."""
        return [token.text for token in self.member[self.start + 1 : self.end] if token.kind == "name"]


def without_said(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    """The statements with plain names for such ones."""
    return without_habits(with_elements(with_events(statements, notation), notation), notation)


def with_events(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    r"""The statements with p_k for p(y = k \mid x), which a left side gives, where y is nothing else, and k is a letter
    that nothing declares; what stands behind the bar is everywhere the same."""
    lefts = [statement.members[0] for statement in statements]
    calls = [call for one in statements for member in one.members for call in calls_in(member, notation)]
    names = set[str]()
    for call in calls:
        own = [other for other in calls if other.key == call.key]
        events = [event for event in map(event_of, own) if event is not None]
        if len(events) < len(own) or len({(of, flat(rest)) for of, _, rest in events}) != 1:
            continue
        of, _, rest = events[0]
        counted = sum(call.letters.count(of) for call in own)
        has_scripts = any(token.text in BEFORE for token in rest)
        is_left = any(call.member is left and call.end == len(left) - 1 for call in own for left in lefts)
        is_free = not {of, *(flat(letter) for _, letter, _ in events)} & set(notation.symbols)
        if is_left and is_free and not has_scripts and texts_of(statements).count(of) == counted:
            names.add(call.key)
    return changed(statements, notation, lambda call: event_index(call) if call.key in names else None)


def event_of(call: Called) -> tuple[str, tuple[Token, ...], tuple[Token, ...]] | None:
    """The y, the k and what stands behind the bar of (y = k | x)."""
    event, *rest = split_at(call.member[call.start + 1 : call.end], ("|", r"\mid"))
    sides = split_at(event, ("=",))
    if len(rest) > 1 or len(sides) != 2 or len(sides[0]) != 1 or not sides[1] or sides[1][0].kind != "name":
        return None
    is_letter = sides[0][0].kind == "name" and all(token.text == "'" for token in sides[1][1:])
    return (sides[0][0].text, tuple(sides[1]), tuple(rest[0] if rest else ())) if is_letter else None


def event_index(call: Called) -> tuple[Token, ...]:
    """The k of p(y = k) as an index."""
    event = event_of(call)
    assert event is not None
    at = call.member[call.start]
    return (replace(at, text="_"), replace(at, text="{"), *event[1], replace(at, text="}"))


def with_elements(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    r"""The statements with V(t) for V(s_t) and r(t) for r(s_t, a_t), where V and r are declared vectors, and s and a
    stand in such brackets alone."""
    calls = [call for one in statements for member in one.members for call in calls_in(member, notation)]
    vectors = {key for key, symbol in notation.symbols.items() if len(symbol.kind.shape) == 1}
    own = [call for call in calls if call.key in vectors and script_of(call)]
    declared = {split_key(key)[0] for key in [*notation.symbols, *notation.functions]}
    bases = {name for call in own for name in names_of(call)}
    lefts = [call for call in calls if call not in own and any(call.member is one.members[0] for one in statements)]
    said = [
        name
        for call in [*own, *(call for call in lefts if call.key not in notation.symbols)]
        for name in names_of(call)
    ]
    free = {name for name in bases - declared if texts_of(statements).count(name) == said.count(name)}

    def index(call: Called) -> tuple[Token, ...] | None:
        if call.key not in vectors or not script_of(call) or not set(names_of(call)) <= free:
            return None
        return (call.member[call.start], *script_of(call), call.member[call.end])

    return changed(statements, notation, index)


def script_of(call: Called) -> tuple[Token, ...]:
    """The one index that all names in the brackets have below, but for what is said to have come before; empty where
    they have others."""
    event, *conditions = split_at(call.member[call.start + 1 : call.end], ("|", r"\mid"))
    scripts = [script_below(piece) for piece in split_at(event, (",", ";"))]
    first = flat(scripts[0])
    past = [piece for condition in conditions for piece in split_at(condition, (",", ";"))]
    if any(flat(piece) == r"\ldots" for piece in past) and flat(script_below(past[-1])) == f"{first}-1":
        past = []
    scripts += [script_below(piece) for piece in past if not is_past(piece, first)]
    return scripts[0] if {flat(script) for script in scripts} == {first} else ()


def script_below(piece: Sequence[Token]) -> tuple[Token, ...]:
    """The script of tokens that are one name with nothing but that."""
    if len(piece) < 3 or piece[0].kind != "name" or piece[1].text != "_":
        return ()
    script, end = group(piece, 2)
    return script if end == len(piece) else ()


def is_past(piece: Sequence[Token], letter: str) -> bool:
    r"""Is it what came before x_t, as x_{<t} and x_{1:t-1}, or a letter alone?"""
    below = flat(script_below(piece))
    return below in (f"<{letter}", f"1:{letter}-1", f"0:{letter}-1") or (len(piece) == 1 and piece[0].kind == "name")


def names_of(call: Called) -> list[str]:
    """The names in the brackets, but those in scripts."""
    inside = call.member[call.start + 1 : call.end]
    return [token.text for _, token in names_in(inside)]


def names_in(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Yield the names that stand in no subscript, with their places."""
    place = 0
    while place < len(tokens):
        if tokens[place].kind == "name":
            yield place, tokens[place]
        place = group(tokens, place + 1)[1] if tokens[place].text == "_" and place + 1 < len(tokens) else place + 1


def changed(
    statements: Sequence[RawStatement], notation: Notation, index: Callable[[Called], tuple[Token, ...] | None]
) -> list[RawStatement]:
    """The statements with other tokens for the brackets of some calls."""
    return [
        replace(one, members=tuple(tuple(put_indices(member, notation, index)) for member in one.members))
        for one in statements
    ]


def put_indices(
    tokens: tuple[Token, ...], notation: Notation, index: Callable[[Called], tuple[Token, ...] | None]
) -> Iterator[Token]:
    """Yield the tokens with other ones for the brackets of some calls."""
    place = 0
    for call in calls_in(tokens, notation):
        other = index(call) if call.start >= place else None
        if other is not None:
            yield from (*tokens[place : call.start], *other)
            place = call.end + 1
    yield from tokens[place:]


def without_habits(statements: Sequence[RawStatement], notation: Notation) -> list[RawStatement]:
    r"""The statements with \mu for \mu(x) and p_i for p_i(x), where \mu and p_i are numbers and x stands for nothing.

    Nothing declares x, and it stands in such brackets alone, and in those of left sides; they say everywhere the same.
    Of x_t, no operator runs over t.
    """
    running = bound_letters(statements, Lexicon())
    calls = [call for one in statements for member in one.members for call in calls_in(member, notation)]
    lefts = {id(statement.members[0]) for statement in statements}
    declared = {split_key(key)[0] for key in [*notation.symbols, *notation.functions]}
    habits = set[str]()
    for said in {call.said for call in calls if call.is_number}:
        own = [call for call in calls if call.said == said]
        letters = names_of(own[0])
        is_left = all(call.is_number or (id(call.member) in lefts and call.end == len(call.member) - 1) for call in own)
        is_alone = all(texts_of(statements).count(letter) == len(own) * letters.count(letter) for letter in letters)
        is_same = not {call.key for call in own} & {call.key for call in calls if call not in own}
        is_free = not (declared | running) & set(own[0].letters)
        if letters and is_left and is_alone and is_same and is_free:
            habits.add(said)
    lists = lists_behind_vectors(calls, notation)

    def nothing(call: Called) -> tuple[Token, ...] | None:
        return () if call.key in lists or (call.is_number and call.said in habits) else None

    return changed(statements, notation, nothing)


def lists_behind_vectors(calls: Sequence[Called], notation: Notation) -> set[str]:
    r"""The vectors with one list behind them everywhere that has a value in it, as \epsilon_\theta(x_t, t): neither an
    index nor a factor, but what they are of."""
    values = {split_key(key)[0] for key, symbol in notation.symbols.items() if symbol.kind.name not in ("int", "index")}
    vectors = {key for key, symbol in notation.symbols.items() if len(symbol.kind.shape) == 1}
    own = [call for call in calls if call.key in vectors]
    return {
        call.key
        for call in own
        if len(split_at(call.member[call.start + 1 : call.end], (",", ";", "|", r"\mid"))) > 1
        and values & set(names_of(call))
        and len({other.said for other in own if other.key == call.key}) == 1
    }


def calls_in(tokens: tuple[Token, ...], notation: Notation) -> Iterator[Called]:
    """Yield each name with brackets behind it."""
    for place, token in enumerate(tokens):
        scripts, start = read_scripts(tokens, place + 1) if token.kind == "name" else (Scripts(), len(tokens))
        if start >= len(tokens) or tokens[start].text != "(" or (place and tokens[place - 1].text in BEFORE):
            continue
        end = closing(tokens, start)
        key = key_of(token.text, scripts.below, scripts.above, scripts.primes)
        axes = axes_of(token.text, scripts, key, notation)
        yield Called(place, key, written(tokens[start + 1 : end]), tokens, start, end, axes)


def axes_of(base: str, scripts: Scripts, key: str, notation: Notation) -> int | None:
    """How many axes the notation says that a name has, or that its indices leave; None for one that it does not say."""
    symbol = notation.symbols.get(key)
    if symbol is not None:
        return None if symbol.kind.name == "index" else len(symbol.kind.shape)
    array = notation.symbols.get(key_of(base, (), scripts.above, scripts.primes))
    return len(array.kind.shape) - len(list(letters_in(scripts.below))) if array is not None else None


def texts_of(statements: Sequence[RawStatement]) -> list[str]:
    """The texts of all tokens."""
    return [token.text for statement in statements for member in statement.members for token in member]
